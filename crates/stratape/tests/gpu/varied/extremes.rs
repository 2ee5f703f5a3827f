//! Modules, extremes, additions in a fixed order, loops, kernels that change their input.

#![allow(
    unused_qualifications,
    reason = "a module with inner modules names what it emits by whole paths"
)]

use crate::differences::{agree, numbers, weights};
use stratape::gpu::{Device, Grid, fresh};

use super::{holds, lines};

#[stratape::differentiable]
mod model {
    pub(crate) const STRIDE: usize = 3;
    const TABLE: [f64; 4] = [0.5, -1.5, 2.0, 0.25];

    pub(crate) mod inner {
        pub(crate) const HALF: f64 = 0.5;

        #[derive(Clone, Copy)]
        pub(crate) struct Law {
            pub(crate) power: i32,
            pub(crate) factor: f64,
            pub(crate) offsets: [f64; 2],
        }

        impl Law {
            pub(crate) const SHIFT: f64 = 0.125;

            pub(crate) fn of(&self, x: f64, k: usize) -> f64 {
                self.factor * (x + Self::SHIFT).powi(self.power) + self.offsets[k % 2] * HALF
            }

            pub(crate) fn scaled(self, by: f64) -> Self {
                Law { factor: by * self.factor, ..self }
            }
        }

        pub(crate) fn square(x: f64) -> f64 {
            x * x
        }
    }

    use inner::Law;
    use stratape::gpu;

    #[device]
    fn own() -> usize {
        thread_idx().x + block_idx().x * block_dim().x
    }

    fn mean(x: &[f64], around: usize) -> f64 {
        let (from, to) = (around.saturating_sub(1), (around + 2).min(x.len()));
        x[from..to].iter().sum::<f64>() / (to - from) as f64
    }

    #[stratape::kernel]
    #[gradient]
    pub(crate) fn applied(y: &mut [f64], x: &[f64], law: Law) {
        let mut i = own();
        let stride = block_dim().x * grid_dim().x;
        while i < y.len() {
            let v = mean(x, i);
            let law = if v > 1.0 { law.scaled(v) } else { law };
            y[i] +=
                law.of(v, i) + TABLE[i % 4] * inner::square(x[i]) * inner::square(law.offsets[1]);
            i += stride;
        }
    }

    #[gradient]
    pub(crate) fn whole(
        gpu: &gpu::Device,
        x: &[f64],
        law: &Law,
        times: usize,
    ) -> Result<f64, gpu::GpuError> {
        let mut now = gpu.upload(x)?;
        for k in 0..times {
            let mut next = gpu.zeros(now.len())?;
            let grid = gpu::Grid::blocks(2).threads(STRIDE);
            applied::launch(gpu, grid, (&mut next, &now, law.scaled(0.5 + k as f64 * 0.1)))?;
            now = next;
        }
        gpu::sum(&now)
    }
}

#[test]
fn kernels_of_a_module() {
    use model::inner::Law;
    let of = |v: &[f64]| Law { power: 3, factor: v[0], offsets: [v[1], v[2]] };
    holds(
        &lines(),
        14,
        &numbers(31),
        |gpu, grid, y, v| {
            let x = gpu.upload(&v[3..]).unwrap();
            model::applied::launch(gpu, grid, (y, &x, of(v))).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let x = gpu.upload(&v[3..]).unwrap();
            let (mut dlaw, mut dx) = (gpu.zeros(3).unwrap(), gpu.zeros(14).unwrap());
            model::applied_grad::launch(gpu, grid, (y, dy, &x, &mut dx, of(v), &mut dlaw)).unwrap();
            [dlaw.download().unwrap(), dx.download().unwrap()].concat()
        },
    );
}

#[test]
fn host_functions_of_a_module() {
    use model::inner::Law;
    let gpu = Device::new().unwrap();
    let of = |v: &[f64]| Law { power: 2, factor: v[0], offsets: [v[1], v[2]] };
    let at: Vec<f64> = numbers(10).iter().map(|v| 0.5 * v).collect();
    for times in [0, 1, 3] {
        let mut dlaw = of(&[0.0; 3]);
        let mut dx = vec![0.0; 7];
        let value =
            model::whole_grad(&gpu, &at[3..], &mut dx, &of(&at), &mut dlaw, times, 1.0).unwrap();
        let run = |at: &[f64]| model::whole(&gpu, &at[3..], &of(at), times).unwrap();
        assert_eq!(value, run(&at));
        let found = [&[dlaw.factor, dlaw.offsets[0], dlaw.offsets[1]], &dx[..]].concat();
        agree(run, &at, &found, 1e-6);
    }
}

// Extremes.

#[stratape::kernel]
#[gradient]
fn both(y: &mut [f64], low: &mut [f64], x: &[f64], shift: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= x.len() {
        return;
    }
    let v = x[i] * x[i] - shift;
    if i % 3 != 1 {
        atomic_max(&mut y[i % y.len()], v.sin());
        atomic_min(&mut low[0], v * shift);
    } else {
        atomic_max(&mut y[(i + 1) % y.len()], 0.3);
        atomic_min(&mut low[1], -v);
    }
}

#[test]
fn two_lists() {
    holds(
        &lines(),
        3,
        &[&[-9.0, 0.1, -9.0], &[9.0, 5.0, 0.5][..], &numbers(17)].concat(),
        |gpu, grid, y, v| {
            let (mut low, x) = (gpu.upload(&v[..2]).unwrap(), gpu.upload(&v[3..]).unwrap());
            both::launch(gpu, grid, (&mut *y, &mut low, &x, v[2])).unwrap();
            let mut all = y.download().unwrap();
            let low = low.download().unwrap();
            all[0] += 2.0 * low[0];
            all[1] += 3.0 * low[1];
            y.write(&all).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (mut low, x) = (gpu.upload(&v[..2]).unwrap(), gpu.upload(&v[3..]).unwrap());
            let w = weights(3);
            let mut dlow = gpu.upload(&[2.0 * w[0], 3.0 * w[1]]).unwrap();
            let (mut dx, mut dshift) = (gpu.zeros(v.len() - 3).unwrap(), gpu.zeros(1).unwrap());
            both_grad::launch(
                gpu,
                grid,
                (&mut *y, dy, &mut low, &mut dlow, &x, fresh(&mut dx), v[2], fresh(&mut dshift)),
            )
            .unwrap();
            let mut all = y.download().unwrap();
            let l = low.download().unwrap();
            all[0] += 2.0 * l[0];
            all[1] += 3.0 * l[1];
            y.write(&all).unwrap();
            [dlow.download().unwrap(), dshift.download().unwrap(), dx.download().unwrap()].concat()
        },
    );
}

#[stratape::kernel]
#[gradient]
fn ends(most: &mut [f32], least: &mut [f32], x: &[f32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x + block_idx().y * 4;
    if i < x.len() {
        atomic_max(&mut most[0], x[i]);
        atomic_min(&mut least[0], x[i]);
    }
}

#[test]
fn signs_zeros_and_infinities() {
    let gpu = Device::new().unwrap();
    let cases: [(&[f32], f32, f32, Option<usize>, Option<usize>); 7] = [
        (&[-3.0, -1.0, -2.0, -1.0], f32::NEG_INFINITY, f32::INFINITY, Some(1), Some(0)),
        (&[-3.0, -1.0, -2.0, -1.0], -1.0, -3.0, None, None),
        (&[-0.0, 0.0, -0.0], 0.0, 0.0, None, None),
        (&[0.0, -0.0, 0.0], -0.0, -0.0, None, None),
        (&[1e-45, -1e-45, 0.0], 0.0, 0.0, Some(0), Some(1)),
        (&[f32::MAX, f32::MIN, f32::MAX], 0.0, 0.0, Some(0), Some(1)),
        (&[f32::INFINITY, f32::NEG_INFINITY], 0.0, 0.0, Some(0), Some(1)),
    ];
    for (k, (x, m, l, at_most, at_least)) in cases.iter().enumerate() {
        for grid in [Grid::blocks(4), Grid::blocks((1, 2)).threads(4), Grid::blocks(1).threads(8)] {
            let (mut most, mut least) = (gpu.upload(&[*m]).unwrap(), gpu.upload(&[*l]).unwrap());
            let (mut dm, mut dl) = (gpu.upload(&[2.0f32]).unwrap(), gpu.upload(&[3.0f32]).unwrap());
            let xs = gpu.upload(x).unwrap();
            let mut dx = gpu.zeros(x.len()).unwrap();
            ends_grad::launch(&gpu, &grid, (&mut most, &mut dm, &mut least, &mut dl, &xs, &mut dx))
                .unwrap();
            let mut wanted = vec![0.0; x.len()];
            let (mut wm, mut wl) = (2.0, 3.0);
            if let Some(i) = at_most {
                wanted[*i] += 2.0;
                wm = 0.0;
            }
            if let Some(i) = at_least {
                wanted[*i] += 3.0;
                wl = 0.0;
            }
            assert_eq!(dx.download().unwrap(), wanted, "case {k}");
            assert_eq!(
                (dm.download().unwrap(), dl.download().unwrap()),
                (vec![wm], vec![wl]),
                "case {k}"
            );
        }
    }
}

/// Several operations on one element, constants and numbers, with equals.
#[stratape::kernel]
#[gradient]
fn several(most: &mut [f64], x: &[f64], floor: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    atomic_max(&mut most[0], 1.25);
    atomic_max(&mut most[0], floor);
    if i < x.len() {
        atomic_max(&mut most[0], x[i]);
        atomic_max(&mut most[0], 2.0 * x[i] - 1.0);
    }
}

#[test]
fn constants_among_numbers() {
    let gpu = Device::new().unwrap();
    // What x, floor, before; adjoints of x, floor, before.
    let cases: [(&[f64], f64, f64, &[f64], f64, f64); 6] = [
        (&[0.5, 1.5, 1.25], 0.0, 0.0, &[0.0, 8.0, 0.0], 0.0, 0.0),
        (&[0.5, 0.9, 0.2], 0.0, 0.0, &[0.0; 3], 0.0, 0.0),
        (&[0.5, 0.9, 0.2], 1.5, 0.0, &[0.0; 3], 4.0, 0.0),
        (&[0.5, 0.9, 0.2], 1.5, 1.5, &[0.0; 3], 0.0, 4.0),
        (&[0.5, 1.25, 0.2], 2.0, 1.5, &[0.0; 3], 4.0, 0.0),
        (&[0.5, 0.2, 3.0], 2.0, 1.5, &[0.0, 0.0, 8.0], 0.0, 0.0),
    ];
    for (k, (x, floor, before, wx, wf, wb)) in cases.iter().enumerate() {
        for grid in lines().into_iter().skip(1) {
            let (xs, mut most) = (gpu.upload(x).unwrap(), gpu.upload(&[*before]).unwrap());
            let (mut dx, mut df, mut dm) =
                (gpu.zeros(3).unwrap(), gpu.zeros(1).unwrap(), gpu.upload(&[4.0]).unwrap());
            several_grad::launch(
                &gpu,
                &grid,
                (&mut most, &mut dm, &xs, fresh(&mut dx), *floor, fresh(&mut df)),
            )
            .unwrap();
            assert_eq!(dx.download().unwrap(), *wx, "case {k}");
            assert_eq!(
                (df.download().unwrap(), dm.download().unwrap()),
                (vec![*wf], vec![*wb]),
                "case {k}"
            );
        }
    }
}

// Order.

#[stratape::kernel]
#[gradient]
fn stencil(y: &mut [f64], x: &[f64], k: [f64; 3], at: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let n = x.len();
    if i < n {
        let v = k[0] * x[(i + n - 1) % n] + k[1] * x[i].sin() + k[2] * x[(i + 1) % n];
        atomic_add(&mut y[at[i] as usize % y.len()], v * v);
    }
}

#[test]
fn a_fixed_order() {
    let at: Vec<u32> = (0..19u32).map(|i| i * i + 3).collect();
    let grids: Vec<Grid> =
        lines().into_iter().flat_map(|grid| [grid.clone(), grid.deterministic()]).collect();
    holds(
        &grids,
        4,
        &numbers(4 + 3 + 19),
        |gpu, grid, y, v| {
            let (x, at) = (gpu.upload(&v[3..]).unwrap(), gpu.upload(&at).unwrap());
            stencil::launch(gpu, grid, (y, &x, [v[0], v[1], v[2]], &at)).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (x, at) = (gpu.upload(&v[3..]).unwrap(), gpu.upload(&at).unwrap());
            let (mut dx, mut dk) =
                (gpu.upload(&[5.0; 19]).unwrap(), gpu.upload(&[7.0; 3]).unwrap());
            let (before, seeds) = (y.download().unwrap(), dy.download().unwrap());
            for _ in 0..2 {
                y.write(&before).unwrap();
                dy.write(&seeds).unwrap();
                stencil_grad::launch(
                    gpu,
                    grid,
                    (
                        &mut *y,
                        &mut *dy,
                        &x,
                        fresh(&mut dx),
                        [v[0], v[1], v[2]],
                        fresh(&mut dk),
                        &at,
                    ),
                )
                .unwrap();
            }
            [dk.download().unwrap(), dx.download().unwrap()].concat()
        },
    );
}

#[stratape::kernel]
#[gradient]
fn loops(y: &mut [f64], x: &[f64], times: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let mut v = x[i];
        for k in 0..times[i] as usize {
            v += 0.1 * x[(i * 3 + k) % x.len()] * v;
            if v > 3.0 {
                break;
            }
        }
        atomic_add(&mut y[0], v);
    }
}

#[test]
fn loops_of_unknown_length() {
    let times: Vec<u32> = (0..15u32).map(|i| i * 5 % 7).collect();
    let grids: Vec<Grid> = lines()
        .into_iter()
        .flat_map(|grid| [grid.clone(), grid.deterministic().tape_bytes(1 << 16)])
        .collect();
    holds(
        &grids,
        1,
        &numbers(16),
        |gpu, grid, y, v| {
            let (x, times) = (gpu.upload(v).unwrap(), gpu.upload(&times).unwrap());
            loops::launch(gpu, grid, (y, &x, &times)).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (x, times) = (gpu.upload(v).unwrap(), gpu.upload(&times).unwrap());
            let mut dx = gpu.zeros(15).unwrap();
            loops_grad::launch(gpu, grid, (y, dy, &x, &mut dx, &times)).unwrap();
            dx.download().unwrap()
        },
    );
}

/// Changes its own list before, and after, it finds the extreme.
#[stratape::kernel]
#[gradient]
fn in_place(y: &mut [f64], most: &mut [f64], count: &mut [u32], limit: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = y[i] * y[i] * limit;
        let v = y[i].min(limit * 2.0);
        if v > 0.5 {
            atomic_add(&mut count[0], 1);
            atomic_max(&mut most[(v * 4.0) as usize % most.len()], v.sin());
        }
        y[i] += v * v;
    }
}

#[test]
fn extremes_in_place() {
    holds(
        &lines().into_iter().flat_map(|g| [g.clone(), g.deterministic()]).collect::<Vec<_>>(),
        9,
        &[&numbers(9)[..], &[0.9, -1.0, 0.2, 0.1]].concat(),
        |gpu, grid, y, v| {
            let (mut most, mut count) =
                (gpu.upload(&v[1..]).unwrap(), gpu.upload(&[0u32]).unwrap());
            in_place::launch(gpu, grid, (&mut *y, &mut most, &mut count, v[0])).unwrap();
            let (mut all, m) = (y.download().unwrap(), most.download().unwrap());
            all[0] += m[0] - 2.0 * m[1] + 3.0 * m[2];
            y.write(&all).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (mut most, mut count) =
                (gpu.upload(&v[1..]).unwrap(), gpu.upload(&[0u32]).unwrap());
            let w = weights(9)[0];
            let (mut dmost, mut d) =
                (gpu.upload(&[w, -2.0 * w, 3.0 * w]).unwrap(), gpu.zeros(1).unwrap());
            in_place_grad::launch(
                gpu,
                grid,
                (&mut *y, dy, &mut most, &mut dmost, &mut count, v[0], &mut d),
            )
            .unwrap();
            let (mut all, m) = (y.download().unwrap(), most.download().unwrap());
            all[0] += m[0] - 2.0 * m[1] + 3.0 * m[2];
            y.write(&all).unwrap();
            let active = count.download().unwrap()[0];
            let mut again = gpu.upload(&[0u32]).unwrap();
            let (mut y2, mut most2) =
                (gpu.upload(&numbers(9)).unwrap(), gpu.upload(&v[1..]).unwrap());
            in_place::launch(gpu, grid, (&mut y2, &mut most2, &mut again, v[0])).unwrap();
            assert_eq!(active, again.download().unwrap()[0], "counted once");
            [d.download().unwrap(), dmost.download().unwrap()].concat()
        },
    );
}

#[stratape::kernel]
#[gradient(no_results)]
fn no_results(y: &mut [f64], x: &[f64], most: &mut [f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        y[i] = y[i] * x[i] * x[i];
        atomic_max(&mut most[0], x[i] * 2.0);
    }
}

#[test]
fn without_results() {
    let gpu = Device::new().unwrap();
    let at = numbers(11);
    let x = gpu.upload(&at).unwrap();
    let (mut y, mut dy, mut dx) = (
        gpu.upload(&[1.5; 11]).unwrap(),
        gpu.upload(&weights(11)).unwrap(),
        gpu.zeros(11).unwrap(),
    );
    let (mut m, mut dm) = (gpu.zeros(1).unwrap(), gpu.upload(&[4.0]).unwrap());
    no_results_grad::launch(
        &gpu,
        Grid::blocks(3).threads(4),
        (&mut y, &mut dy, &x, &mut dx, &mut m, &mut dm),
    )
    .unwrap();
    let top = (0..11).max_by(|a, b| at[*a].total_cmp(&at[*b])).unwrap();
    let (dx, dy) = (dx.download().unwrap(), dy.download().unwrap());
    for i in 0..11 {
        let w = weights(11)[i];
        let wanted = w * 1.5 * 2.0 * at[i] + if i == top { 8.0 } else { 0.0 };
        assert!((dx[i] - wanted).abs() < 1e-12, "{i}: {} not {wanted}", dx[i]);
        assert!((dy[i] - w * at[i] * at[i]).abs() < 1e-12);
    }
    assert_eq!(dm.download().unwrap(), [0.0]);
}
