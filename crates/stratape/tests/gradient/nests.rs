//! Programs that save in nests, branches and loops that end when they will: with the tape as it is by default, and with every value saved in columns of
//! small layers. Both agree with the function to the bit, with differences, and with each other, in memory and on a tape that leaves it.

#![allow(clippy::expect_used, reason = "tests")]

mod exits;
mod shapes;
mod states;

use stratape::Workspace;
use stratape::tape::{TapeError, TapeOptions};

type Function = fn(&[f64], &mut [f64], f64, f64, usize) -> f64;
type Gradient = fn(
    &mut Workspace,
    &[f64],
    &mut [f64],
    &mut [f64],
    &mut [f64],
    f64,
    f64,
    usize,
    f64,
) -> Result<(f64, f64, f64), TapeError>;

/// A program with two settings of its tape, and the test that compares them.
macro_rules! both_tapes {
    ($test:ident, |$x:ident, $y:ident, $a:ident, $b:ident, $n:ident| $body:block) => {
        mod $test {
            use super::*;

            #[stratape::gradient]
            fn default($x: &[f64], $y: &mut [f64], $a: f64, $b: f64, $n: usize) -> f64 $body

            #[stratape::gradient(tape(saved = "all", layout = "soa", layer_bytes = 256))]
            fn columns($x: &[f64], $y: &mut [f64], $a: f64, $b: f64, $n: usize) -> f64 $body

            #[test]
            fn $test() {
                check(default, [default_grad_in, columns_grad_in]);
            }
        }
    };
}
use both_tapes;

/// Numbers between 0 and 1.
fn number(i: usize, k: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (k as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// What a gradient is: the slopes of `x` and `y`, then those of the two scalars.
fn slopes(
    gradient: Gradient,
    workspace: &mut Workspace,
    (x, y, w): (&[f64], &[f64], &[f64]),
    n: usize,
) -> (f64, Vec<f64>, Vec<f64>) {
    let (mut out, mut dx, mut dy) = (y.to_vec(), vec![0.0; x.len()], w.to_vec());
    let figures = gradient(workspace, x, &mut dx, &mut out, &mut dy, A, B, n, 1.25);
    let (value, da, db) = figures.expect("a gradient");
    dx.extend(dy);
    dx.extend([da, db]);
    (value, out, dx)
}

const A: f64 = 0.7;
const B: f64 = 0.45;

fn check(function: Function, gradients: [Gradient; 2]) {
    for n in [0, 1, 2, 5, 17, 60] {
        let m = n + 3;
        let x: Vec<f64> = (0..m)
            .map(|i| {
                0.35 + 0.1 * ((number(i, 1) * 9.0) as usize).min(8) as f64
                    + 0.02 * (number(i, 2) - 0.5)
            })
            .collect();
        let y: Vec<f64> = (0..m).map(|i| 0.5 + 0.5 * number(i, 3)).collect();
        let w: Vec<f64> =
            (0..m).map(|i| (number(i, 4) - 0.5) / (1.0 + (n as f64).sqrt())).collect();
        let mut out = y.clone();
        let value = function(&x, &mut out, A, B, n);
        if !value.is_finite() {
            continue;
        }
        let mut first: Option<Vec<f64>> = None;
        for gradient in gradients {
            let tiny =
                TapeOptions::new().memory(16384).slab_bytes(4096).spill_to(std::env::temp_dir());
            for mut workspace in [Workspace::new(), Workspace::with(tiny).expect("a tape")] {
                let (found, after, all) = slopes(gradient, &mut workspace, (&x, &y, &w), n);
                assert_eq!(found.to_bits(), value.to_bits(), "n = {n}");
                assert!(after.iter().zip(&out).all(|(p, q)| p.to_bits() == q.to_bits()), "n = {n}");
                let largest = all.iter().fold(0.0_f64, |most, slope| most.max(slope.abs()));
                let Some(first) = &first else {
                    differences(function, (&x, &y, &w), n, &all);
                    first = Some(all);
                    continue;
                };
                for (p, q) in first.iter().zip(&all) {
                    assert!((p - q).abs() <= 1e-9 * (1e-300 + largest), "n = {n}: {p} {q}");
                }
            }
        }
    }
}

/// Compares a gradient with differences, in three directions.
fn differences(function: Function, (x, y, w): (&[f64], &[f64], &[f64]), n: usize, all: &[f64]) {
    let m = x.len();
    for d in 0..3 {
        let direction: Vec<f64> = (0..2 * m + 2).map(|i| 2.0 * number(i, 10 + d) - 1.0).collect();
        let at = |t: f64| {
            let moved = |values: &[f64], from: usize| -> Vec<f64> {
                values.iter().enumerate().map(|(i, v)| v + t * direction[from + i]).collect()
            };
            let (x, mut y) = (moved(x, 0), moved(y, m));
            let (a, b) = (A + t * direction[2 * m], B + t * direction[2 * m + 1]);
            let value = function(&x, &mut y, a, b, n);
            value * 1.25 + y.iter().zip(w).map(|(p, q)| p * q).sum::<f64>()
        };
        let ours: f64 = all.iter().zip(&direction).map(|(p, q)| p * q).sum();
        let size: f64 = all.iter().zip(&direction).map(|(p, q)| (p * q).abs()).sum();
        let off = |h: f64| {
            let slope = (at(-2.0 * h) - 8.0 * at(-h) + 8.0 * at(h) - at(2.0 * h)) / (12.0 * h);
            (slope - ours).abs() / (1.0 + size)
        };
        // A kink may lie within the larger steps.
        let least = [1e-3, 1e-4, 1e-5].map(off).into_iter().fold(f64::INFINITY, f64::min);
        assert!(least < 1e-6, "n = {n}: off by {least} of {ours}");
    }
}
