//! Loops under `#[checkpoint]`: the value of the function to the last bit, and the gradient of the same function without it.

#![allow(
    clippy::needless_range_loop,
    clippy::panic,
    clippy::type_complexity,
    clippy::unwrap_used,
    clippy::useless_vec,
    missing_docs,
    unreachable_pub
)]

use stratape::{Workspace, gradient};

/// Two functions: one whose loop is taped, one whose loop is stored.
macro_rules! both {
    ($taped:ident $stored:ident ($($args:tt)*) [$($before:tt)*] [$($setting:tt)*] [$($repeat:tt)*] [$($after:tt)*]) => {
        #[gradient]
        fn $taped($($args)*) -> f64 { $($before)* $($repeat)* $($after)* }

        #[gradient]
        fn $stored($($args)*) -> f64 { $($before)* #[checkpoint($($setting)*)] $($repeat)* $($after)* }
    };
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

#[track_caller]
fn all_close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| close(*a, *b)), "{a:?}\n{b:?}");
}

fn numbers(len: usize) -> Vec<f64> {
    (0..len).map(|i| (i as f64 * 1.7 + 0.3).sin()).collect()
}

both! {
    scalars_taped scalars_stored (x0: f64, a: f64, n: usize)
    [let mut x = x0; let mut v = 0.1;]
    [slots = 4]
    [for t in 0..n {
        v += 0.01 * (a * x).sin() * (1.0 + 0.001 * t as f64);
        x += 0.1 * v;
    }]
    [x * x + v]
}

#[test]
fn carried_numbers() {
    for n in [0, 1, 2, 5, 100] {
        let (value, dx, da) = scalars_taped_grad(0.7, 1.3, n, 2.0);
        let stored = scalars_stored_grad(0.7, 1.3, n, 2.0);
        assert_eq!((value, value), (stored.0, scalars_stored(0.7, 1.3, n)));
        assert!(close(dx, stored.1) && close(da, stored.2), "{n}");
    }
}

both! {
    heat_taped heat_stored (u0: &[f64], k: &[f64], n: usize)
    [let mut u = u0.to_vec();]
    [slots = 3, schedule = Revolve]
    [for _ in 0..n {
        let old = u.clone();
        for i in 1..u.len() - 1 {
            u[i] = old[i] + k[i] * (old[i - 1] - 2.0 * old[i] + old[i + 1]) + 0.01 * old[i].sin();
        }
    }]
    [let mut sum = 0.0; for i in 0..u.len() { sum += u[i] * u[i]; } sum]
}

#[test]
fn lists_written_and_lists_read() {
    let (u, k) = (numbers(12), vec![0.2; 12]);
    for n in [0, 1, 7, 40] {
        let [mut du, mut dk] = [vec![0.0; 12], vec![0.0; 12]];
        let [mut eu, mut ek] = [vec![0.0; 12], vec![0.0; 12]];
        let taped = heat_taped_grad(&u, &mut du, &k, &mut dk, n, 1.0);
        let stored = heat_stored_grad(&u, &mut eu, &k, &mut ek, n, 1.0);
        assert_eq!((taped, taped), (stored, heat_stored(&u, &k, n)));
        all_close(&du, &eu);
        all_close(&dk, &ek);
    }
}

#[test]
fn against_central_differences() {
    let (mut u, k) = (numbers(8), vec![0.15; 8]);
    let [mut du, mut dk] = [vec![0.0; 8], vec![0.0; 8]];
    heat_stored_grad(&u, &mut du, &k, &mut dk, 30, 1.0);
    for i in 0..8 {
        let kept = u[i];
        u[i] = kept + 1e-6;
        let up = heat_stored(&u, &k, 30);
        u[i] = kept - 1e-6;
        let down = heat_stored(&u, &k, 30);
        u[i] = kept;
        assert!(((up - down) / 2e-6 - du[i]).abs() < 1e-7, "{i}");
    }
}

// A parameter that is changed in place, a list of arrays, an array, a mask of booleans, a counter.
both! {
    in_place_taped in_place_stored (y: &mut [f64], p: &mut [[f64; 3]], n: usize)
    [let mut w = [0.5, 0.25]; let mut hits = 0_u32; let mut mask = [false; 4];]
    [slots = 2]
    [for t in 0..n {
        let i = t % y.len();
        mask[t % 4] = y[i] > 0.0;
        if mask[(t + 1) % 4] { hits += 1; w[0] *= 1.01; } else { w[1] -= 0.01 * y[i]; }
        for c in 0..3 {
            p[i % p.len()][c] = 0.9 * p[i % p.len()][c] + w[0] * y[i] * (c as f64 + 1.0);
        }
        y[i] = (w[1] * p[i % p.len()][1] + y[i]).cos();
    }]
    [y[0] * w[0] + p[0][2] * w[1] + y[1] * hits as f64]
}

#[test]
fn parameters_changed_in_place() {
    for n in [0, 3, 17, 60] {
        let run = |grad: fn(
            &mut [f64],
            &mut [f64],
            &mut [[f64; 3]],
            &mut [[f64; 3]],
            usize,
            f64,
        ) -> f64| {
            let (mut y, mut p) = (numbers(4), vec![[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]]);
            let (mut dy, mut dp) = (vec![0.3, -0.1, 0.2, 0.7], vec![[0.5, 0.1, -0.2]; 2]);
            let value = grad(&mut y, &mut dy, &mut p, &mut dp, n, 1.5);
            let mut all = vec![value];
            all.extend(y);
            all.extend(p.as_flattened());
            (all, [dy, dp.as_flattened().to_vec()].concat())
        };
        let (taped, stored) = (run(in_place_taped_grad), run(in_place_stored_grad));
        assert_eq!(taped.0, stored.0);
        all_close(&taped.1, &stored.1);
    }
}

// The end is found on the way.
both! {
    until_taped until_stored (x0: f64, limit: f64)
    [let mut x = x0; let mut steps = 0;]
    [slots = 3]
    [while x < limit {
        x += 0.1 * x.sqrt() + 0.01;
        steps += 1;
    }]
    [x * steps as f64]
}

both! {
    broken_taped broken_stored (x: &[f64], bound: f64)
    [let mut sum = 0.0;]
    [slots = 2]
    [for (i, v) in x.iter().enumerate().rev() {
        if i % 3 == 1 { continue; }
        sum = (sum + v * v).sqrt() + 0.1 * v;
        if sum > bound { break; }
    }]
    [sum]
}

#[gradient]
fn returned_stored(x: &[f64], bound: f64) -> f64 {
    let mut sum = 1.0;
    #[checkpoint(slots = 2)]
    for i in (0..x.len()).step_by(2) {
        sum *= 1.0 + 0.1 * x[i];
        if sum > bound {
            return sum * sum;
        }
    }
    sum
}

#[gradient]
fn returned_taped(x: &[f64], bound: f64) -> f64 {
    let mut sum = 1.0;
    for i in (0..x.len()).step_by(2) {
        sum *= 1.0 + 0.1 * x[i];
        if sum > bound {
            return sum * sum;
        }
    }
    sum
}

#[test]
fn loops_that_end_early() {
    for limit in [0.1, 2.0, 9.0] {
        let (taped, stored) =
            (until_taped_grad(0.5, limit, 1.0), until_stored_grad(0.5, limit, 1.0));
        assert_eq!(taped.0, stored.0);
        assert!(close(taped.1, stored.1) && close(taped.2, stored.2), "{taped:?} {stored:?}");
    }
    let x = numbers(30);
    for bound in [0.5, 1.2, 100.0] {
        for (taped, stored) in [
            (
                broken_taped_grad as fn(&[f64], &mut [f64], f64, f64) -> (f64, f64),
                broken_stored_grad as _,
            ),
            (
                returned_taped_grad,
                returned_stored_grad as fn(&[f64], &mut [f64], f64, f64) -> (f64, f64),
            ),
        ] {
            let (mut dx, mut ex) = (vec![0.0; 30], vec![0.0; 30]);
            let (value, _) = taped(&x, &mut dx, bound, 1.0);
            assert_eq!(value, stored(&x, &mut ex, bound, 1.0).0);
            all_close(&dx, &ex);
        }
    }
}

#[gradient]
fn nested_stored(x: &mut [f64], n: usize, m: usize) -> f64 {
    let mut energy = 0.0;
    #[checkpoint(slots = 3)]
    for t in 0..n {
        #[checkpoint(slots = 2)]
        for s in 0..m {
            for i in 0..x.len() {
                x[i] += 0.05 * (x[(i + s) % x.len()] + t as f64).sin();
            }
        }
        energy += 0.1 * x[0] * x[t % x.len()];
    }
    energy
}

#[gradient]
fn nested_taped(x: &mut [f64], n: usize, m: usize) -> f64 {
    let mut energy = 0.0;
    for t in 0..n {
        for s in 0..m {
            for i in 0..x.len() {
                x[i] += 0.05 * (x[(i + s) % x.len()] + t as f64).sin();
            }
        }
        energy += 0.1 * x[0] * x[t % x.len()];
    }
    energy
}

#[test]
fn a_stored_loop_in_a_stored_loop() {
    for (n, m) in [(0, 3), (4, 0), (1, 1), (9, 7)] {
        let (mut x, mut y) = (numbers(5), numbers(5));
        let (mut dx, mut dy) = (vec![0.4; 5], vec![0.4; 5]);
        let value = nested_taped_grad(&mut x, &mut dx, n, m, 1.0);
        assert_eq!(value, nested_stored_grad(&mut y, &mut dy, n, m, 1.0));
        assert_eq!(x, y);
        all_close(&dx, &dy);
    }
}

#[gradient]
fn inside_stored(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for k in 0..x.len() {
        let mut z = x[k];
        if z > 0.0 {
            #[checkpoint(slots = 2)]
            for _ in 0..n {
                z = z.sin() + 0.1 * x[0];
            }
        }
        total += z * z;
    }
    total
}

#[gradient]
fn inside_taped(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for k in 0..x.len() {
        let mut z = x[k];
        if z > 0.0 {
            for _ in 0..n {
                z = z.sin() + 0.1 * x[0];
            }
        }
        total += z * z;
    }
    total
}

#[test]
fn a_stored_loop_in_a_branch_in_a_loop() {
    let x = numbers(9);
    let (mut dx, mut ex) = (vec![0.0; 9], vec![0.0; 9]);
    let value = inside_taped_grad(&x, &mut dx, 11, 1.0);
    assert_eq!(value, inside_stored_grad(&x, &mut ex, 11, 1.0));
    all_close(&dx, &ex);
}

// What the loop reads is overwritten afterwards, before the way back.
both! {
    overwritten_taped overwritten_stored (w: &mut [f64], n: usize)
    [let mut x = 0.3; let mut scale = vec![1.1, 0.9];]
    [slots = 2]
    [for t in 0..n { x = (x * w[t % w.len()] * scale[t % 2]).sin() + 0.5; }]
    [for i in 0..w.len() { w[i] = x * i as f64; } scale[0] = 7.0; x * w[1] * scale[0]]
}

#[test]
fn what_is_overwritten_later_was_kept() {
    let (mut w, mut v) = (numbers(3), numbers(3));
    let (mut dw, mut dv) = (vec![0.1; 3], vec![0.1; 3]);
    let value = overwritten_taped_grad(&mut w, &mut dw, 20, 1.0);
    assert_eq!(value, overwritten_stored_grad(&mut v, &mut dv, 20, 1.0));
    all_close(&dw, &dv);
}

#[stratape::differentiable]
mod physics {
    pub struct Fluid {
        pub density: Vec<f64>,
        pub time: f64,
        pub viscosity: f64,
    }

    const RATE: f64 = 0.05;

    fn advance(fluid: &mut Fluid, t: usize) {
        let last = fluid.density.len() - 1;
        for i in 0..last {
            let flow = fluid.viscosity * (fluid.density[i + 1] - fluid.density[i]);
            fluid.density[i] += RATE * flow;
            fluid.density[i + 1] -= RATE * flow * (fluid.time + t as f64 * 0.1).cos();
        }
        fluid.time += 0.1 * fluid.density[0];
    }

    #[gradient]
    pub fn stored(fluid: &mut Fluid, steps: usize, slots: usize) -> f64 {
        #[checkpoint(slots = slots + 1)]
        for t in 0..steps {
            advance(fluid, t);
        }
        fluid.density[1] * fluid.time
    }

    #[gradient]
    pub fn taped(fluid: &mut Fluid, steps: usize, _slots: usize) -> f64 {
        for t in 0..steps {
            advance(fluid, t);
        }
        fluid.density[1] * fluid.time
    }

    fn power(x: f64, n: usize) -> f64 {
        if n == 0 { 1.0 } else { x * power(x, n - 1) }
    }

    #[gradient]
    pub fn recursive_stored(x: f64, n: usize) -> f64 {
        let mut y = x;
        #[stratape::checkpoint(slots = 2)]
        for t in 0..n {
            y = 0.5 * power(y, t % 4) + 0.1;
        }
        y
    }

    #[gradient]
    pub fn recursive_taped(x: f64, n: usize) -> f64 {
        let mut y = x;
        for t in 0..n {
            y = 0.5 * power(y, t % 4) + 0.1;
        }
        y
    }
}

#[test]
fn structs_and_functions_of_a_module() {
    use physics::Fluid;
    let fluid = || Fluid { density: numbers(6), time: 0.2, viscosity: 0.7 };
    let shadow = || Fluid { density: vec![0.0; 6], time: 0.1, viscosity: 0.0 };
    let (mut a, mut b, mut da, mut db) = (fluid(), fluid(), shadow(), shadow());
    let value = physics::taped_grad(&mut a, &mut da, 25, 3, 1.0);
    assert_eq!(value, physics::stored_grad(&mut b, &mut db, 25, 3, 1.0));
    assert_eq!((a.density, a.time), (b.density, b.time));
    all_close(&da.density, &db.density);
    assert!(close(da.time, db.time) && close(da.viscosity, db.viscosity));
    let (taped, stored) =
        (physics::recursive_taped_grad(0.8, 15, 1.0), physics::recursive_stored_grad(0.8, 15, 1.0));
    assert_eq!(taped.0, stored.0);
    assert!(close(taped.1, stored.1));
}

#[gradient]
fn single(x: &[f32], n: usize) -> f32 {
    let mut u = [0.0_f32; 2];
    u[0] = x[0];
    u[1] = x[1];
    #[checkpoint(slots = 3, schedule = Online)]
    for _ in 0..n {
        u[0] = (u[0] + 0.1 * u[1]).sin();
        u[1] -= 0.1 * u[0];
    }
    u[0] * u[1]
}

#[test]
fn f32_too() {
    let mut dx = [0.0_f32; 2];
    let value = single_grad(&[0.5, 0.25], &mut dx, 20, 1.0);
    assert_eq!(value, single(&[0.5, 0.25], 20));
    let up = single(&[0.5 + 1e-2, 0.25], 20);
    let down = single(&[0.5 - 1e-2, 0.25], 20);
    assert!(((up - down) / 2e-2 - dx[0]).abs() < 1e-3, "{dx:?}");
}

#[gradient]
fn on_disk(u: &mut [f64], n: usize) -> f64 {
    #[checkpoint(slots = 1, disk = std::env::temp_dir(), disk_slots = 5, schedule = Multistage)]
    for t in 0..n {
        for i in 0..u.len() {
            u[i] += 0.1 * (u[i] + t as f64).sin();
        }
    }
    u[0] * u[1]
}

#[gradient]
fn without_slots(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(slots = n - n)]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn panicking(x: &[f64], n: usize) -> f64 {
    let mut y = 1.0;
    #[checkpoint(slots = 2)]
    for t in 0..n {
        assert!(t < 5, "step {t} is too far");
        y *= x[t];
    }
    y
}

#[test]
fn disks_errors_and_panics() {
    let (mut u, mut du) = (numbers(1000), vec![1.0; 1000]);
    let value = on_disk_grad(&mut u, &mut du, 30, 1.0);
    let mut plain = numbers(1000);
    assert_eq!(value, on_disk(&mut plain, 30));
    assert_eq!(plain, u);

    let mut workspace = Workspace::new();
    let error = without_slots_grad_in(&mut workspace, 0.5, 10, 1.0).unwrap_err();
    assert!(error.to_string().contains("without slots"), "{error}");
    assert_eq!(without_slots_grad_in(&mut workspace, 0.5, 0, 1.0).unwrap(), (0.5, 1.0));

    let x = numbers(20);
    let panic =
        std::panic::catch_unwind(|| panicking_grad(&x, &mut [0.0; 20], 10, 1.0)).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "step 5 is too far");
    let mut dx = vec![0.0; 20];
    assert_eq!(panicking_grad(&x, &mut dx, 4, 1.0), panicking(&x, 4));
    all_close(&dx[..1], &[x[1] * x[2] * x[3]]);
}

#[test]
fn the_tape_stays_small() {
    let mut workspace = Workspace::new();
    scalars_taped_grad_in(&mut workspace, 0.7, 1.3, 100_000, 1.0).unwrap();
    let taped = workspace.stats().resident_peak;
    let mut workspace = Workspace::new();
    scalars_stored_grad_in(&mut workspace, 0.7, 1.3, 100_000, 1.0).unwrap();
    assert!(
        workspace.stats().resident_peak * 10 < taped,
        "{} {taped}",
        workspace.stats().resident_peak
    );
}

#[gradient]
fn stored_in_parallel(x: &[f64], y: &mut [f64], n: usize) {
    #[parallel]
    for i in 0..x.len() {
        let mut z = x[i];
        let mut w = vec![0.1; 3];
        #[checkpoint(slots = 2)]
        for t in 0..n {
            w[t % 3] += 0.1 * z;
            z = (z + w[(t + 1) % 3] * x[i]).sin();
        }
        y[i] = z * w[0];
    }
}

#[gradient]
fn taped_one_by_one(x: &[f64], y: &mut [f64], n: usize) {
    for i in 0..x.len() {
        let mut z = x[i];
        let mut w = vec![0.1; 3];
        for t in 0..n {
            w[t % 3] += 0.1 * z;
            z = (z + w[(t + 1) % 3] * x[i]).sin();
        }
        y[i] = z * w[0];
    }
}

#[test]
fn stored_loops_in_parallel_ones() {
    let x = numbers(40);
    let (mut y, mut v) = (vec![0.0; 40], vec![0.0; 40]);
    let (mut dx, mut ex) = (vec![0.0; 40], vec![0.0; 40]);
    let (mut dy, mut ey) = (numbers(40), numbers(40));
    let mut workspace = Workspace::new();
    workspace.set_lanes(4);
    stored_in_parallel_grad_in(&mut workspace, &x, &mut dx, &mut y, &mut dy, 500).unwrap();
    taped_one_by_one_grad(&x, &mut ex, &mut v, &mut ey, 500);
    assert_eq!(y, v);
    all_close(&dx, &ex);
}

both! {
    divided_taped divided_stored (x: &[f64], n: usize)
    [let mut u = x.to_vec(); let mut sum = 0.0;]
    [slots = 3]
    [for t in 0..n {
        let old = u.clone();
        #[parallel]
        for i in 0..old.len() {
            u[i] = (old[i] + 0.1 * old[(i + t) % old.len()]).sin().exp() * 0.4;
        }
        let mut part = 0.0;
        #[parallel]
        for i in 0..old.len() {
            part += u[i] * old[i].exp();
        }
        sum += part;
    }]
    [sum]
}

#[test]
fn parallel_loops_in_stored_ones() {
    let x = numbers(3000);
    let (mut dx, mut ex) = (vec![0.0; 3000], vec![0.0; 3000]);
    let value = divided_taped_grad(&x, &mut dx, 12, 1.0);
    assert_eq!(value, divided_stored_grad(&x, &mut ex, 12, 1.0));
    assert_eq!(value, divided_stored(&x, 12));
    all_close(&dx, &ex);
}
