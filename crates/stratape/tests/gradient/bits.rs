//! What docs/bits.md says: which settings change no bit of a gradient.

#![allow(clippy::needless_range_loop, reason = "loops as people write them")]
#![allow(clippy::expect_used, reason = "tests")]

use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient};

#[gradient(wrt(x, a))]
fn steps(x: &[f64], a: f64, times: usize) -> f64 {
    let mut u = x.to_vec();
    let mut sum = 0.0;
    for _ in 0..times {
        for i in 0..u.len() {
            let y = (u[i] * a).sin();
            sum += y * y * a;
            u[i] = y + 0.1 * (y * a).exp();
        }
    }
    sum + u.iter().sum::<f64>()
}

#[gradient(wrt(x, a))]
fn parallel(x: &[f64], a: f64, times: usize) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        let mut y = x[i];
        for _ in 0..times {
            y = (y * a).sin() + 0.1 * y * a;
        }
        sum += y * y;
    }
    sum
}

fn input() -> Vec<f64> {
    (0..3001).map(|i| 0.4 + 0.3 * f64::from(7 * i).sin()).collect()
}

fn bits(workspace: &mut Workspace, gradient: Gradient) -> (u64, u64, Vec<u64>) {
    let x = input();
    let mut dx = vec![0.0; x.len()];
    let (value, da) = gradient(workspace, &x, &mut dx, 0.9, 40, 1.0).expect("a tape");
    (value.to_bits(), da.to_bits(), dx.iter().map(|d| d.to_bits()).collect())
}

type Gradient = fn(
    &mut Workspace,
    &[f64],
    &mut [f64],
    f64,
    usize,
    f64,
) -> Result<(f64, f64), stratape::tape::TapeError>;

#[test]
fn budgets_change_no_bit() {
    let in_memory = bits(&mut Workspace::new(), steps_grad_in);
    assert_eq!(in_memory.0, steps(&input(), 0.9, 40).to_bits());
    let mut workspace = Workspace::new();
    for _ in 0..3 {
        assert_eq!(bits(&mut workspace, steps_grad_in), in_memory);
    }
    for budget in [1 << 20, 3 << 20, 64 << 20] {
        let options = TapeOptions::new().memory(budget).spill_to(std::env::temp_dir());
        let mut workspace = Workspace::with(options).expect("a tape");
        assert_eq!(bits(&mut workspace, steps_grad_in), in_memory, "{budget}");
    }
    for slab in [128 << 10, 4 << 20] {
        let options = TapeOptions::new().memory(4 * slab).slab_bytes(slab);
        let mut workspace =
            Workspace::with(options.spill_to(std::env::temp_dir())).expect("a tape");
        assert_eq!(bits(&mut workspace, steps_grad_in), in_memory, "{slab}");
    }
}

#[test]
fn threads_change_no_bit_and_lanes_none_of_the_value() {
    let mut by_lanes = Vec::new();
    for lanes in [1, 2, 3, 8] {
        let mut first = None;
        for threads in [1, 2, 4] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let found = pool.install(|| {
                let mut workspace = Workspace::new();
                workspace.set_lanes(lanes);
                bits(&mut workspace, parallel_grad_in)
            });
            assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{lanes} {threads}");
        }
        by_lanes.extend(first);
    }
    assert!(by_lanes.iter().all(|found| found.0 == parallel(&input(), 0.9, 40).to_bits()));
}

mod by_snapshots {
    use stratape::gradient;

    #[gradient(wrt(x, a))]
    pub(super) fn run(x: f64, a: f64, times: usize) -> f64 {
        let mut y = x;
        #[checkpoint]
        for _ in 0..times {
            y = (y * a).sin() + 0.1 * y * a;
        }
        y * y
    }

    #[gradient(wrt(x, a))]
    pub(super) fn with_few(x: f64, a: f64, times: usize) -> f64 {
        let mut y = x;
        #[checkpoint(slots = 3)]
        for _ in 0..times {
            y = (y * a).sin() + 0.1 * y * a;
        }
        y * y
    }
}

#[test]
fn snapshots_change_no_bit() {
    let many = by_snapshots::run_grad(0.7, 1.1, 1000, 1.0);
    let few = by_snapshots::with_few_grad(0.7, 1.1, 1000, 1.0);
    assert_eq!(many.0.to_bits(), by_snapshots::run(0.7, 1.1, 1000).to_bits());
    assert_eq!(many, few);
}
