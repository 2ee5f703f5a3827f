//! Functions the compiler does not look into: derivatives by hand, and none.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops as people write them")]

#[stratape::differentiable]
mod model {
    /// Solves `a x = b` for a 2 by 2 matrix, as an external library might.
    pub(super) fn solve(a: &[f64], b: &[f64], x: &mut [f64]) {
        let det = a[0] * a[3] - a[1] * a[2];
        x[0] = (a[3] * b[0] - a[1] * b[1]) / det;
        x[1] = (a[0] * b[1] - a[2] * b[0]) / det;
    }

    #[stratape::pullback(of = solve)]
    pub(super) fn solve_back(
        a: &[f64],
        da: &mut [f64],
        _b: &[f64],
        db: &mut [f64],
        x: &mut [f64],
        dx: &mut [f64],
    ) {
        let transposed = [a[0], a[2], a[1], a[3]];
        let mut w = [0.0; 2];
        solve(&transposed, dx, &mut w);
        for i in 0..2 {
            db[i] += w[i];
            for j in 0..2 {
                da[2 * i + j] -= w[i] * x[j];
            }
            dx[i] = 0.0;
        }
    }

    /// A table the compiler need not understand.
    pub(super) fn table(t: f64, k: usize) -> f64 {
        [1.0, 2.0, 4.0][k % 3] * t.abs().sqrt()
    }

    #[pullback(of = table)]
    fn table_back(t: f64, k: usize, seed: f64) -> f64 {
        seed * [1.0, 2.0, 4.0][k % 3] * 0.5 / t.sqrt()
    }

    #[stratape::constant]
    pub(super) fn round_up(t: f64) -> f64 {
        t.ceil()
    }

    #[stratape::constant]
    pub(super) fn reset(y: &mut [f64]) {
        y.fill(0.5);
    }

    /// Steps in which the same memory is solved into again and again.
    #[gradient]
    pub(super) fn steps(a: &[f64], b: &[f64], n: usize) -> f64 {
        let mut x = vec![1.0, 1.0];
        let mut right = vec![0.0; 2];
        let mut sum = 0.0;
        for k in 0..n {
            right[0] = b[0] + 0.1 * x[1] * x[1];
            right[1] = b[1] - 0.2 * x[0];
            solve(a, &right, &mut x);
            sum += table(x[0] * x[0] + 1.0, k) * round_up(x[1]);
        }
        sum
    }

    #[gradient]
    pub(super) fn forgets(y: &mut [f64], w: f64) -> f64 {
        let before = y[0] * w;
        reset(y);
        before + y[0] * w
    }
}

use model::{forgets, forgets_grad, steps, steps_grad};

#[test]
fn a_solver_in_a_loop() {
    let (a, b) = ([3.0, 0.5, -0.25, 2.0], [1.0, -2.0]);
    let (mut da, mut db) = ([0.0; 4], [0.0; 2]);
    let value = steps_grad(&a, &mut da, &b, &mut db, 5, 1.0);
    assert_eq!(value, steps(&a, &b, 5));
    let h = 1e-6;
    for i in 0..4 {
        let (mut up, mut down) = (a, a);
        up[i] += h;
        down[i] -= h;
        let slope = (steps(&up, &b, 5) - steps(&down, &b, 5)) / (2.0 * h);
        assert!((da[i] - slope).abs() < 1e-6 * slope.abs().max(1.0), "{} {slope}", da[i]);
    }
    for i in 0..2 {
        let (mut up, mut down) = (b, b);
        up[i] += h;
        down[i] -= h;
        let slope = (steps(&a, &up, 5) - steps(&a, &down, 5)) / (2.0 * h);
        assert!((db[i] - slope).abs() < 1e-6 * slope.abs().max(1.0), "{} {slope}", db[i]);
    }
}

#[test]
fn what_a_constant_function_wrote_has_no_derivative() {
    let (mut y, mut dy) = ([3.0, 4.0], [1.0, 1.0]);
    let (value, dw) = forgets_grad(&mut y, &mut dy, 2.0, 1.0);
    let mut again = [3.0, 4.0];
    assert_eq!(value, forgets(&mut again, 2.0));
    assert_eq!((y, dw), (again, 3.5));
    assert_eq!(dy, [2.0, 0.0]);
}
