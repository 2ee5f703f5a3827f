//! Lists that are kept or rewound as a whole: what they take on the tape, and that they are right, in memory and on a tape that leaves it, whatever the size.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops as people write them")]
#![allow(clippy::expect_used, reason = "tests")]

use stratape::tape::{TapeError, TapeOptions};
use stratape::{Workspace, gradient};

type Gradient = fn(&mut Workspace, &[f64], &mut [f64], usize, f64) -> Result<f64, TapeError>;

/// Checks the value, the gradient against differences, a tape that spills, and the bytes of the tape: at most so many for each element and step.
fn check(function: fn(&[f64], usize) -> f64, gradient: Gradient, bytes: Option<f64>) {
    for len in [2, 3, 4, 7, 16, 33] {
        for steps in [0, 1, 2, 5, 9] {
            let x: Vec<f64> =
                (0..len * len).map(|i| 0.3 + 0.2 * ((7 * i + 3) as f64).sin()).collect();
            let mut workspace = Workspace::new();
            let mut dx = vec![0.0; x.len()];
            let value = gradient(&mut workspace, &x, &mut dx, steps, 1.0).expect("memory");
            assert_eq!(value.to_bits(), function(&x, steps).to_bits(), "{len} {steps}");
            if let (Some(bytes), true) = (bytes, len >= 16 && steps >= 5) {
                let most = bytes * (x.len() * steps) as f64;
                let found = workspace.last_bytes() as f64;
                assert!(found <= most, "{len} {steps}: {found} bytes of tape, {most} expected");
            }
            let directory = std::env::temp_dir();
            let options = TapeOptions::new().memory(16 << 10).slab_bytes(4096).spill_to(directory);
            let mut small = Workspace::with(options).expect("a tape");
            let mut spilled = vec![0.0; x.len()];
            gradient(&mut small, &x, &mut spilled, steps, 1.0).expect("a disk");
            // Slabs of another size may change the last bits of sums.
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * (1.0 + a.abs());
            assert!(dx.iter().zip(&spilled).all(close), "{len} {steps}");
            for at in [0, x.len() / 2, x.len() - 1] {
                let h = 1e-3;
                let moved = |by: f64| {
                    let mut x = x.clone();
                    x[at] += by * h;
                    function(&x, steps)
                };
                let slope =
                    (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * h);
                let scale = 1.0 + slope.abs();
                assert!(
                    (dx[at] - slope).abs() < 1e-6 * scale,
                    "{len} {steps} {at}: {} {slope}",
                    dx[at]
                );
            }
        }
    }
}

#[gradient(wrt(x))]
fn copied(x: &[f64], steps: usize) -> f64 {
    let mut u = x.to_vec();
    let mut next = x.to_vec();
    for _ in 0..steps {
        for i in 1..u.len() - 1 {
            let k = 1.0 + u[i] * u[i];
            next[i] = u[i] + 0.1 * k * (u[i - 1] * u[i + 1] - u[i]);
        }
        u.copy_from_slice(&next);
    }
    u.iter().map(|u| u * u).sum()
}

#[test]
fn a_state_is_saved_once_before_it_is_overwritten() {
    check(copied, copied_grad_in, Some(9.0));
}

#[gradient(wrt(x))]
fn exchanged(x: &[f64], steps: usize) -> f64 {
    let mut u = x.to_vec();
    let mut next = x.to_vec();
    for _ in 0..steps {
        for i in 1..u.len() - 1 {
            next[i] = u[i] + 0.1 * (u[i - 1] * u[i + 1] - u[i] * u[i]);
        }
        std::mem::swap(&mut u, &mut next);
    }
    u.iter().zip(&next).map(|(u, v)| u * u * v).sum()
}

#[test]
fn lists_that_are_exchanged_go_back_together() {
    check(exchanged, exchanged_grad_in, Some(9.0));
}

#[gradient(wrt(x))]
fn exchanged_sometimes(x: &[f64], steps: usize) -> f64 {
    let mut u = x.to_vec();
    let mut next = x.to_vec();
    for t in 0..steps {
        for i in 1..u.len() - 1 {
            next[i] = u[i] + 0.1 * (u[i - 1] * u[i + 1] - u[i] * u[i]);
        }
        if t % 3 != 1 {
            std::mem::swap(&mut u, &mut next);
        }
    }
    u.iter().zip(&next).map(|(u, v)| u * u * v).sum()
}

#[test]
fn exchanges_in_branches_are_right() {
    check(exchanged_sometimes, exchanged_sometimes_grad_in, None);
}

#[gradient(wrt(x))]
fn directions(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let (mut r, mut p, mut sum) = (x.to_vec(), x.to_vec(), 1.0);
    for _ in 0..steps {
        let mut curvature = 0.0;
        for i in 0..n {
            curvature += p[i] * p[(i + 1) % n] * p[(i + 2) % n];
        }
        let alpha = 0.1 / (2.0 + curvature * curvature);
        for i in 0..n {
            r[i] -= alpha * p[i] * p[i];
        }
        let beta = 0.2 / (1.0 + alpha);
        for i in 0..n {
            p[i] = r[i] + beta * p[i] * p[i];
        }
        sum += alpha;
    }
    p.iter().map(|p| p * p * sum).sum()
}

#[test]
fn what_a_statement_overwrites_is_there_before_it() {
    // The remainders are dearer to compute again than to save.
    check(directions, directions_grad_in, Some(25.0));
}

#[gradient(wrt(x))]
fn layers(x: &[f64], steps: usize) -> f64 {
    let width = x.len().isqrt();
    let mut loss = 0.0;
    for sample in 0..width {
        let mut units = vec![0.0; width];
        for j in 0..width {
            units[j] = x[sample * width + j];
        }
        for layer in 0..steps {
            let mut next = vec![0.0; width];
            for i in 0..width {
                let mut sum = 0.1 * layer as f64;
                for j in 0..width {
                    sum += x[i * width + j] * units[j] / width as f64;
                }
                next[i] = sum.tanh();
            }
            units.copy_from_slice(&next);
        }
        for j in 0..width {
            loss += units[j] * units[j];
        }
    }
    loss
}

#[test]
fn a_list_that_is_gone_is_kept_and_rewound() {
    check(layers, layers_grad_in, Some(20.0));
}

#[gradient(wrt(x))]
fn cholesky(x: &[f64], steps: usize) -> f64 {
    let n = x.len().isqrt();
    let mut l = x.to_vec();
    for i in 0..n {
        l[i * n + i] += (n + steps) as f64;
    }
    for j in 0..n {
        let mut diagonal = l[j * n + j];
        for k in 0..j {
            diagonal -= l[j * n + k] * l[j * n + k];
        }
        l[j * n + j] = diagonal.sqrt();
        for i in j + 1..n {
            let mut sum = l[i * n + j];
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = sum / l[j * n + j];
        }
    }
    (0..n).map(|i| l[i * n + i].ln() + l[i * n].sin()).sum()
}

#[test]
fn rows_and_columns_are_told_apart() {
    check(cholesky, cholesky_grad_in, Some(8.0));
}

#[gradient(wrt(x))]
fn overlapping(x: &[f64], steps: usize) -> f64 {
    // Columns reach beyond the width: rows overlap.
    let n = x.len().isqrt();
    let mut a = vec![0.5; n * (n + 2)];
    for t in 0..steps {
        for i in 0..n {
            for j in 0..2 * n {
                a[i * n + j] =
                    0.9 * a[i * n + j] + 0.1 * (a[i * n + j] * x[(i + j + t) % x.len()]).sin();
            }
        }
    }
    a.iter().map(|a| a * a).sum()
}

#[test]
fn rows_that_overlap_are_right() {
    check(overlapping, overlapping_grad_in, None);
}

#[gradient(wrt(x))]
fn in_place(x: &[f64], steps: usize) -> f64 {
    let mut u = x.to_vec();
    let n = u.len();
    for t in 0..steps {
        for i in 1..n - 1 {
            u[i] = u[i] * 0.8 + 0.1 * u[i - 1] * u[i + 1];
        }
        for i in (1..n - 1).rev() {
            u[i] -= 0.05 * u[i] * u[i + 1] * (1.0 + t as f64 * 0.01);
        }
    }
    u.iter().map(|u| u.sin()).sum()
}

#[test]
fn sweeps_in_place_are_right() {
    check(in_place, in_place_grad_in, None);
}

#[gradient(wrt(x))]
fn parts(x: &[f64], steps: usize) -> f64 {
    let n = x.len().isqrt();
    let mut a = x.to_vec();
    for t in 0..steps {
        let row = t % n;
        for j in 0..n {
            a[row * n + j] = a[row * n + j] * a[j] * 0.9 + a[((row + 1) % n) * n + j];
        }
        for j in 0..n / 2 {
            a[2 * j] = a[2 * j] * a[2 * j + 1] + 0.1;
        }
    }
    a.iter().map(|a| a.cos()).sum()
}

#[test]
fn parts_of_lists_are_right() {
    check(parts, parts_grad_in, None);
}

#[gradient]
fn relax(u: &mut [f64], steps: usize) -> f64 {
    let mut next = u.to_vec();
    for _ in 0..steps {
        for i in 1..next.len() - 1 {
            next[i] = u[i] + 0.1 * (u[i - 1] * u[i + 1] - u[i] * u[i]);
        }
        for i in 0..next.len() {
            u[i] = next[i];
        }
    }
    u[1] * u[2]
}

#[test]
fn an_argument_keeps_what_the_function_leaves_in_it() {
    let x: Vec<f64> = (0..20).map(|i| 0.3 + 0.2 * f64::from(i).sin()).collect();
    let (mut plain, mut u, mut du) = (x.clone(), x.clone(), vec![0.0; 20]);
    let value = relax(&mut plain, 6);
    assert_eq!(relax_grad(&mut u, &mut du, 6, 1.0).to_bits(), value.to_bits());
    assert_eq!(u, plain);
    for at in [0, 1, 5] {
        let moved = |by: f64| {
            let mut u = x.clone();
            u[at] += by;
            relax(&mut u, 6)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((du[at] - slope).abs() < 1e-7, "{at}: {} {slope}", du[at]);
    }
}

#[gradient(wrt(x, a))]
fn before_the_beginning(x: &[f64], a: f64, n: usize, by: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        sum += a * x[n + i - by];
    }
    for t in 0..by {
        let mut c = vec![0.0; n];
        for i in 0..n {
            c[n - 1 - i] = a * x[n - t + i];
            sum += c[n - 1 - i] * c[n - 1 - i];
        }
    }
    sum + a
}

#[test]
fn loops_that_do_not_run_begin_nowhere() {
    for (n, by) in [(0, 2), (0, 0), (2, 2), (3, 1)] {
        let x = [0.5; 8];
        let (value, _) = before_the_beginning_grad(&x, &mut [0.0; 8], 0.7, n, by, 1.0);
        assert_eq!(value.to_bits(), before_the_beginning(&x, 0.7, n, by).to_bits());
    }
}
