//! Parallel loops: the same programs with the mark and without it give the same values, bit for bit, and the same
//! gradients; with the mark, the same bits from run to run and for any number of threads.

#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops as people write them")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity)]

mod programs;

use crate::common::{Random, check, same_panic};
use programs::{marked, serial};
use rayon::{ThreadPool, ThreadPoolBuilder};
use stratape::Workspace;
use stratape::tape::TapeOptions;

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.within(&(-1.2..1.2))).collect()
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Runs a gradient on several numbers of lanes and threads. It returns the value and what the program wrote, and the
/// adjoints; `serial` is the gradient of the program without the mark.
#[track_caller]
fn alike(
    serial: impl Fn(&mut Workspace) -> (Vec<f64>, Vec<f64>),
    marked: impl Fn(&mut Workspace) -> (Vec<f64>, Vec<f64>) + Sync,
) {
    let (value, gradient) = serial(&mut Workspace::new());
    let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let scale = gradient.iter().fold(1.0_f64, |most, v| most.max(v.abs()));
    let pools = [pool(1), pool(2), pool(4)];
    for lanes in [1, 2, 3, 8] {
        let mut first: Option<Vec<u64>> = None;
        for pool in &pools {
            let mut workspace = Workspace::new();
            workspace.set_lanes(lanes);
            for _ in 0..2 {
                let (again, adjoints) = pool.install(|| marked(&mut workspace));
                assert_eq!(bits(&value), bits(&again), "{lanes} lanes");
                assert_eq!(gradient.len(), adjoints.len());
                for (a, b) in gradient.iter().zip(&adjoints) {
                    assert!((a - b).abs() <= 1e-12 * scale, "{lanes} lanes: {a} {b}");
                }
                let found = bits(&adjoints);
                assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{lanes} lanes");
            }
        }
    }
}

fn join(parts: &[&[f64]]) -> Vec<f64> {
    parts.concat()
}

fn lanes(n: usize) -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set_lanes(n);
    workspace
}

macro_rules! map_with {
    ($grad:path, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut y) = (numbers($n, 1), numbers($n, 2));
            let (mut dx, mut dy) = (numbers($n, 3), numbers($n, 4));
            let da = $grad(w, &x, &mut dx, &mut y, &mut dy, 0.7).unwrap();
            (y, join(&[&dx, &dy, &[da]]))
        }
    };
}

#[test]
fn a_map_that_saves() {
    for n in [0, 1, 2, 9, 100, 331] {
        alike(map_with!(serial::map_grad_in, n), map_with!(marked::map_grad_in, n));
    }
    check(
        (vec![0.0; 40], vec![0.0; 40], 0.5),
        |(x, y, a)| marked::map(x, y, *a),
        |(x, y, a), (dx, dy, da), ()| {
            *da += marked::map_grad_in(&mut lanes(3), x, dx, y, dy, *a).unwrap();
        },
    );
}

#[test]
fn every_lane_has_a_tape_and_all_are_counted() {
    let (x, mut y) = (numbers(100, 1), numbers(100, 2));
    let (mut dx, mut dy) = (vec![0.0; 100], vec![1.0; 100]);
    let mut bytes = Vec::new();
    for n in [1, 4] {
        let mut workspace = lanes(n);
        marked::map_grad_in(&mut workspace, &x, &mut dx, &mut y, &mut dy, 0.7).unwrap();
        bytes.push(workspace.last_bytes());
        assert_eq!((workspace.lanes(), workspace.stats().bytes), (n, 0));
        assert!(workspace.tape().is_empty());
    }
    assert!(bytes[0] >= 100 * 6 * 8, "{bytes:?}");
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn under_a_budget_the_lanes_spill() {
    let n = 4000;
    let run = |w: &mut Workspace| map_with!(marked::map_grad_in, n)(w);
    let options =
        TapeOptions::new().memory(128 << 10).slab_bytes(4 << 10).spill_to(std::env::temp_dir());
    let mut small = Workspace::with(options).unwrap();
    small.set_lanes(3);
    let expected = run(&mut lanes(3));
    for _ in 0..2 {
        assert_eq!(expected, run(&mut small));
    }
    assert!(small.stats().bytes_spilled > 0, "{}", small.stats());
    assert!(small.stats().resident_peak <= 128 << 10, "{}", small.stats());
}

#[test]
fn a_budget_too_small_for_the_lanes_is_an_error() {
    let options =
        TapeOptions::new().memory(64 << 10).slab_bytes(8 << 10).spill_to(std::env::temp_dir());
    let mut workspace = Workspace::with(options).unwrap();
    workspace.set_lanes(64);
    let (mut dx, mut dy) = ([0.0], [1.0]);
    let result = marked::map_grad_in(&mut workspace, &[0.5], &mut dx, &mut [0.5], &mut dy, 0.7);
    assert!(result.is_err());
}

macro_rules! rows_with {
    ($grad:path, $m:expr, $n:expr) => {
        |w: &mut Workspace| {
            let (m, x, mut y) = (numbers($m * $n, 1), numbers($n, 2), numbers($m, 3));
            let (mut dm, mut dx, mut dy) = (numbers($m * $n, 4), numbers($n, 5), numbers($m, 6));
            $grad(w, &m, &mut dm, &x, &mut dx, &mut y, &mut dy).unwrap();
            (y, join(&[&dm, &dx, &dy]))
        }
    };
}

#[test]
fn rows_with_edges() {
    for (m, n) in [(0, 3), (1, 5), (200, 1), (130, 2), (129, 3), (40, 33)] {
        let run = |grad: fn(
            &mut Workspace,
            &[f64],
            &mut [f64],
            &mut [f64],
            &mut [f64],
            usize,
        ) -> Result<(), stratape::tape::TapeError>| {
            move |w: &mut Workspace| {
                let (x, mut y) = (numbers(m * n, 1), numbers(m * n, 2));
                let (mut dx, mut dy) = (numbers(m * n, 3), numbers(m * n, 4));
                grad(w, &x, &mut dx, &mut y, &mut dy, n).unwrap();
                (y, join(&[&dx, &dy]))
            }
        };
        alike(run(serial::smooth_grad_in), run(marked::smooth_grad_in));
    }
}

#[test]
fn rows_share_a_vector() {
    for (m, n) in [(0, 3), (1, 5), (200, 7), (130, 0), (129, 1), (64, 33)] {
        alike(rows_with!(serial::rows_grad_in, m, n), rows_with!(marked::rows_grad_in, m, n));
    }
    check(
        (vec![0.0; 96], vec![0.0; 2], vec![0.0; 48]),
        |(m, x, y)| marked::rows(m, x, y),
        |(m, x, y), (dm, dx, dy), ()| {
            marked::rows_grad_in(&mut lanes(3), m, dm, x, dx, y, dy).unwrap();
        },
    );
}

macro_rules! pairs_with {
    ($grad:path, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut dx) = (numbers($n, 1), numbers($n, 2));
            let (value, dk) = $grad(w, &x, &mut dx, 0.8, 1.3).unwrap();
            (vec![value], join(&[&dx, &[dk]]))
        }
    };
}

#[test]
fn sums_keep_their_order() {
    for n in [0, 1, 5, 50, 203] {
        alike(pairs_with!(serial::pairs_grad_in, n), pairs_with!(marked::pairs_grad_in, n));
    }
    check(
        (vec![0.0; 40], 0.4),
        |(x, k)| marked::pairs(x, *k),
        |(x, k), (dx, dk), seed| {
            let (value, d) = marked::pairs_grad_in(&mut lanes(4), x, dx, *k, seed).unwrap();
            *dk += d;
            value
        },
    );
}

macro_rules! ordered_with {
    ($grad:path, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut dx) = (numbers($n, 1), numbers($n, 2));
            let value = $grad(w, &x, &mut dx, 1.3).unwrap();
            (vec![value], dx)
        }
    };
}

#[test]
fn sums_of_a_loop_that_runs_backward() {
    for n in [0, 2, 3, 4, 6, 100] {
        alike(ordered_with!(serial::ordered_grad_in, n), ordered_with!(marked::ordered_grad_in, n));
    }
}

macro_rules! steps_with {
    ($grad:path, $m:expr, $n:expr) => {
        |w: &mut Workspace| {
            let (mut y, mut dy) = (numbers($m, 1), numbers($m, 2));
            let (value, da) = $grad(w, &mut y, &mut dy, 0.9, $n, 1.1).unwrap();
            y.push(value);
            (y, join(&[&dy, &[da]]))
        }
    };
}

#[test]
fn loops_in_a_loop_over_time() {
    for (m, n) in [(2, 3), (3, 1), (90, 0), (90, 1), (91, 5)] {
        alike(steps_with!(serial::steps_grad_in, m, n), steps_with!(marked::steps_grad_in, m, n));
    }
    check(
        (vec![0.0; 40], 0.4),
        |(y, a)| marked::steps(y, *a, 3),
        |(y, a), (dy, da), seed| {
            let (value, d) = marked::steps_grad_in(&mut lanes(4), y, dy, *a, 3, seed).unwrap();
            *da += d;
            value
        },
    );
}

macro_rules! triples_with {
    ($grad:path, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut y) = (numbers(2 * $n + 1, 1), numbers(3 * $n + 2, 2));
            let (mut dx, mut dy) = (numbers(2 * $n + 1, 3), numbers(3 * $n + 2, 4));
            $grad(w, &x, &mut dx, &mut y, &mut dy).unwrap();
            (y, join(&[&dx, &dy]))
        }
    };
}

#[test]
fn chunks_of_lists() {
    for n in [0, 1, 2, 40, 77] {
        alike(triples_with!(serial::triples_grad_in, n), triples_with!(marked::triples_grad_in, n));
    }
    check(
        (vec![0.0; 40], vec![0.0; 60]),
        |(x, y)| marked::triples(x, y),
        |(x, y), (dx, dy), ()| {
            marked::triples_grad_in(&mut lanes(3), x, dx, y, dy).unwrap();
        },
    );
}

macro_rules! product_with {
    ($grad:path, $n:expr, $m:expr) => {
        |space: &mut Workspace| {
            let (a, b, mut c) = (numbers($n * $m, 1), numbers($m * $m, 2), numbers($n * $m, 3));
            let (mut da, mut db, mut dc) =
                (numbers($n * $m, 4), numbers($m * $m, 5), numbers($n * $m, 6));
            $grad(space, &a, &mut da, &b, &mut db, &mut c, &mut dc, $n, $m).unwrap();
            (c, join(&[&da, &db, &dc]))
        }
    };
}

macro_rules! layers_with {
    ($grad:path, $p:expr, $n:expr, $m:expr) => {
        |space: &mut Workspace| {
            let (w, x, mut y) = (numbers($n * $m, 1), numbers($p * $m, 2), numbers($p * $n, 3));
            let (mut dw, mut dx, mut dy) =
                (numbers($n * $m, 4), numbers($p * $m, 5), numbers($p * $n, 6));
            $grad(space, &w, &mut dw, &x, &mut dx, &mut y, &mut dy, $n, $m).unwrap();
            (y, join(&[&dw, &dx, &dy]))
        }
    };
}

#[test]
fn nests_that_are_reshaped_elsewhere() {
    for (n, m) in [(0, 2), (1, 9), (40, 7), (33, 20)] {
        alike(
            product_with!(serial::product_grad_in, n, m),
            product_with!(marked::product_grad_in, n, m),
        );
    }
    for (p, n, m) in [(0, 3, 2), (1, 9, 10), (40, 17, 9)] {
        alike(
            layers_with!(serial::layers_grad_in, p, n, m),
            layers_with!(marked::layers_grad_in, p, n, m),
        );
    }
}

macro_rules! narrow_rows_with {
    ($grad:path, $n:expr, $w:expr) => {
        |space: &mut Workspace| {
            let (x, mut y) = (numbers($w, 1), numbers($n * $w + 1, 2));
            let (mut dx, mut dy) = (numbers($w, 3), numbers($n * $w + 1, 4));
            $grad(space, &x, &mut dx, &mut y, &mut dy, $w).unwrap();
            (y, join(&[&dx, &dy]))
        }
    };
}

#[test]
fn rows_whose_length_is_a_difference() {
    for (n, w) in [(0, 3), (1, 3), (40, 5), (77, 12)] {
        alike(
            narrow_rows_with!(serial::narrow_rows_grad_in, n, w),
            narrow_rows_with!(marked::narrow_rows_grad_in, n, w),
        );
    }
}

macro_rules! forces_with {
    ($module:ident, $n:expr) => {
        |w: &mut Workspace| {
            let at = numbers(3 * $n, 1);
            let body = |k: usize| $module::Body {
                at: [at[3 * k], at[3 * k + 1]],
                mass: at[3 * k + 2],
                kind: k % 3,
            };
            let bodies: Vec<_> = (0..$n).map(body).collect();
            let zero = $module::Body { at: [0.0; 2], mass: 0.0, kind: 0 };
            let mut dbodies = vec![zero; $n];
            let law = $module::Law { strength: 0.7, soft: (0.2, [0.1, -1.0]) };
            let mut dlaw = $module::Law { strength: 0.0, soft: (0.0, [0.0; 2]) };
            let mut force = vec![[0.5, -0.5]; $n];
            let mut dforce = vec![[1.0, 2.0]; $n];
            let value = $module::forces_grad_in(
                w,
                &bodies,
                &mut dbodies,
                &law,
                &mut dlaw,
                &mut force,
                &mut dforce,
                1.2,
            )
            .unwrap();
            let mut values = force.concat();
            values.push(value);
            let mut adjoints = dforce.concat();
            for d in dbodies {
                adjoints.extend([d.at[0], d.at[1], d.mass]);
            }
            adjoints.extend([dlaw.strength, dlaw.soft.0, dlaw.soft.1[0], dlaw.soft.1[1]]);
            (values, adjoints)
        }
    };
}

#[test]
fn structs_that_are_shared() {
    for n in [0, 1, 2, 60, 131] {
        alike(forces_with!(serial, n), forces_with!(marked, n));
    }
}

macro_rules! guarded_with {
    ($grad:path, $m:expr, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut y) = (numbers($m, 1), numbers($m, 2));
            let (mut dx, mut dy) = (numbers($m, 3), numbers($m, 4));
            let value = $grad(w, &x, &mut dx, &mut y, &mut dy, $n, 0.7).unwrap();
            y.push(value);
            (y, join(&[&dx, &dy]))
        }
    };
}

#[test]
fn more_iterations_than_elements() {
    for (m, n) in [(0, 9), (10, 50), (50, 10), (40, 42), (3, 64)] {
        alike(
            guarded_with!(serial::guarded_grad_in, m, n),
            guarded_with!(marked::guarded_grad_in, m, n),
        );
    }
}

#[test]
fn a_mark_in_a_helper() {
    for n in [0, 1, 4, 37] {
        alike(ordered_with!(serial::lower_grad_in, n), ordered_with!(marked::lower_grad_in, n));
    }
}

macro_rules! calls_with {
    ($grad:path, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut y) = (numbers(3 * $n, 1), numbers($n, 2));
            let (mut dx, mut dy) = (numbers(3 * $n, 3), numbers($n, 4));
            let value = $grad(w, &x, &mut dx, &mut y, &mut dy, 0.7).unwrap();
            y.push(value);
            (y, join(&[&dx, &dy]))
        }
    };
}

#[test]
fn calls_from_iterations() {
    for n in [0, 1, 3, 20] {
        alike(calls_with!(serial::calls_grad_in, n), calls_with!(marked::calls_grad_in, n));
    }
}

macro_rules! inside_with {
    ($module:ident, $n:expr) => {
        |w: &mut Workspace| {
            let series = $module::Series { values: numbers($n + 3, 1) };
            let mut dseries = $module::Series { values: numbers($n + 3, 2) };
            let (mut y, mut dy) = (vec![0.0; $n], numbers($n, 3));
            $module::inside_grad_in(w, &series, &mut dseries, &mut y, &mut dy).unwrap();
            (y, join(&[&dseries.values, &dy]))
        }
    };
}

#[test]
fn what_cannot_be_divided_runs_serially() {
    for n in [0, 1, 40] {
        alike(inside_with!(serial, n), inside_with!(marked, n));
    }
}

macro_rules! grid_with {
    ($grad:path, $n:expr) => {
        |w: &mut Workspace| {
            let (x, mut y) = (numbers($n, 1), numbers($n * $n, 2));
            let (mut dx, mut dy) = (numbers($n, 3), numbers($n * $n, 4));
            let value = $grad(w, &x, &mut dx, &mut y, &mut dy, 0.7).unwrap();
            y.push(value);
            (y, join(&[&dx, &dy]))
        }
    };
}

#[test]
fn loops_in_loops() {
    for n in [0, 1, 3, 30] {
        alike(grid_with!(serial::grid_grad_in, n), grid_with!(marked::grid_grad_in, n));
    }
}

#[test]
fn single_precision() {
    let x: Vec<f32> = numbers(70, 1).iter().map(|v| *v as f32).collect();
    let (mut y, mut dx, mut dy) = (vec![0.0; 70], vec![0.0; 70], vec![0.5; 70]);
    let run = |n| {
        let (mut y, mut dx, mut dy) = (y.clone(), dx.clone(), dy.clone());
        let (value, da) =
            marked::single_grad_in(&mut lanes(n), &x, &mut dx, 0.6, &mut y, &mut dy, 1.0).unwrap();
        (value, da, y, dx)
    };
    let found = run(5);
    assert_eq!(found, run(5));
    let (value, da) = serial::single_grad(&x, &mut dx, 0.6, &mut y, &mut dy, 1.0);
    assert_eq!((value, &y), (found.0, &found.2));
    assert!((da - found.1).abs() < 1e-3 * da.abs());
    for (a, b) in dx.iter().zip(&found.3) {
        assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn without_a_workspace() {
    let (x, mut dx) = (numbers(150, 1), vec![0.0; 150]);
    let (value, dk) = marked::pairs_grad(&x, &mut dx, 0.8, 1.0);
    let (mut again, n) = (vec![0.0; 150], Workspace::new().lanes());
    let found = marked::pairs_grad_in(&mut lanes(n), &x, &mut again, 0.8, 1.0).unwrap();
    assert_eq!((value, dk, dx), (found.0, found.1, again));
    assert_eq!(value, serial::pairs(&x, 0.8));
}

#[test]
fn a_panic_is_that_of_the_first_part_and_leaves_the_tapes_clean() {
    let mut workspace = lanes(4);
    let good = map_with!(marked::map_grad_in, 100)(&mut workspace);
    let x = numbers(100, 1);
    for len in [70, 10, 0] {
        let (mut y, mut dx, mut dy) = (vec![1.0; len], vec![0.0; 100], vec![1.0; len]);
        let message = same_panic(
            || serial::map(&x, &mut vec![1.0; len], 0.7),
            || {
                marked::map_grad_in(&mut workspace, &x, &mut dx, &mut y, &mut dy, 0.7).unwrap();
            },
        );
        assert_eq!(
            message,
            format!("index out of bounds: the len is {len} but the index is {len}")
        );
        assert_eq!(good, map_with!(marked::map_grad_in, 100)(&mut workspace));
    }
}

/// Every outermost loop that is independent.
#[stratape::gradient(parallel)]
fn automatic(x: &[f64], w: &[f64], n: usize) -> f64 {
    let m = x.len();
    let mut state = x.to_vec();
    let mut next = vec![0.0; m];
    for _ in 0..n {
        for i in 0..m {
            let mut sum = 0.0;
            for j in 0..m {
                sum += w[i * m + j] * state[j];
            }
            next[i] = sum.tanh();
        }
        for i in 0..m {
            state[i] = next[i];
        }
    }
    let mut sum = 0.0;
    for i in 0..m {
        sum += state[i] * state[i];
    }
    sum
}

#[stratape::gradient(name = plain_grad)]
fn plain(x: &[f64], w: &[f64], n: usize) -> f64 {
    let m = x.len();
    let mut state = x.to_vec();
    let mut next = vec![0.0; m];
    for _ in 0..n {
        for i in 0..m {
            let mut sum = 0.0;
            for j in 0..m {
                sum += w[i * m + j] * state[j];
            }
            next[i] = sum.tanh();
        }
        for i in 0..m {
            state[i] = next[i];
        }
    }
    let mut sum = 0.0;
    for i in 0..m {
        sum += state[i] * state[i];
    }
    sum
}

macro_rules! layers_with {
    ($grad:path, $m:expr, $n:expr) => {
        |w: &mut Workspace| {
            let (x, weights) = (numbers($m, 1), numbers($m * $m, 2));
            let (mut dx, mut dw) = (vec![0.0; $m], vec![0.0; $m * $m]);
            let value = $grad(w, &x, &mut dx, &weights, &mut dw, $n, 1.0).unwrap();
            (vec![value], join(&[&dx, &dw]))
        }
    };
}

#[test]
fn every_loop_that_is_independent() {
    for (m, n) in [(0, 2), (1, 3), (70, 4)] {
        alike(layers_with!(plain_grad_in, m, n), layers_with!(automatic_grad_in, m, n));
    }
}
