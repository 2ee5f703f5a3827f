//! Programs whose gradients were once wrong, without a sign of it, because a pass reordered or fused what must keep its order. Each
//! test names the claim that did not hold.

#![allow(clippy::all, reason = "the constructs under test, also in ways nobody should write them")]

both! {
    // A sum whose value is used inside its own loop was taken for one that nothing looks at: its loop ran forward where it had
    // to run backward.
    #[gradient]
    pub(crate) fn sum_of_sums(u: &[T]) -> T {
        let (mut x, mut v) = (0.0, 0.0);
        for i in 0..u.len() {
            v += u[i];
            x += v;
        }
        x
    }

    #[gradient]
    pub(crate) fn walk(u: &[T], drift: T) -> T {
        let (mut s, mut sum) = (0.0, 0.0);
        for i in 0..u.len() {
            s += drift + 0.1 * u[i];
            sum += s.exp();
        }
        sum / u.len() as T
    }

    #[gradient]
    pub(crate) fn prefix_sums(u: &[T], out: &mut [T]) {
        let mut s = 0.0;
        for i in 0..u.len() {
            s += u[i] * u[i];
            out[i] = s * 0.5;
        }
    }

    #[gradient]
    pub(crate) fn sliding_window(u: &[T], width: usize) -> T {
        let (mut s, mut best) = (0.0, 0.0);
        for i in 0..u.len() {
            s += u[i];
            if i >= width {
                s -= u[i - width];
            }
            best += s * s;
        }
        best
    }

    #[gradient]
    pub(crate) fn trapezoid(u: &[T]) -> T {
        let (mut area, mut total) = (0.0, 0.0);
        for i in 1..u.len() {
            area += 0.5 * (u[i] + u[i - 1]);
            total -= area;
        }
        total
    }

    #[gradient]
    pub(crate) fn inner_walks(u: &[T], y: &mut [T], n: usize) {
        #[parallel]
        for i in 0..y.len() {
            let (mut s, mut t) = (0.0, 0.0);
            for j in 0..n {
                s += u[i * n + j];
                t += s;
            }
            y[i] += t;
        }
    }

    // A backward half that runs early read back a value from memory where it was not stored yet.
    #[gradient]
    pub(crate) fn tanh_after_sum(x: &[T], out: &mut [T], w: T) -> T {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += x[i] * x[i];
        }
        for i in 0..x.len() {
            out[i] = (w * x[i]).tanh();
        }
        s
    }

    #[gradient]
    pub(crate) fn root_after_sum(x: &[T], out: &mut [T], w: T) -> T {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += x[i] * w;
        }
        let mut y = vec![0.0; x.len()];
        for i in 0..x.len() {
            y[i] = (4.0 + w * x[i]).sqrt();
            y[i] -= 0.2;
        }
        for i in 0..x.len() {
            out[i] = y[i] * 2.0;
        }
        s
    }

    #[gradient]
    pub(crate) fn logistic_after_sum(x: &[T], out: &mut [T], w: T) -> T {
        let mut s = 0.0;
        for v in x {
            s += v;
        }
        for i in 0..x.len() {
            out[i] -= 0.2;
            out[i] = 1.0 / (1.0 + (-w * out[i] * x[i]).exp());
        }
        s
    }

    // Loops that reset a shadow which they also add to were fused: the reset came after the addition of another iteration.
    #[gradient]
    pub(crate) fn sold_out(stock: &mut [T], k: &[usize], price: &[T]) -> T {
        let mut income = 0.0;
        for i in 0..k.len() {
            income += stock[k[i]] * price[i];
            stock[k[i]] = 0.0;
        }
        income
    }

    #[gradient]
    pub(crate) fn replaced(w: &mut [T], x: &[T]) -> T {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += w[0] * x[i];
            w[0] = 0.5;
        }
        sum
    }

    #[gradient]
    pub(crate) fn moved_on(w: &mut [T], x: &[T]) -> T {
        let mut sum = 0.0;
        for i in 1..x.len() {
            sum += w[i] * x[i];
            w[i - 1] = 2.0;
        }
        sum
    }

    // A copy of the loop named the object of the original: what lists of arrays are filled with was overlooked.
    #[gradient]
    pub(crate) fn lists_at_edges(x: &[T], y: &mut [T]) -> T {
        let mut s = 0.0;
        for i in 0..y.len() {
            if i > 0 {
                s += y[i - 1];
            }
            let mut g = vec![[x[i] * 2.0; 2]; 3];
            g[1][0] *= y[i];
            s += g[1][0] * g[2][1];
            y[i] = g[0][1];
        }
        s
    }

    // The checker refused what was made of two edges, one in a loop around the other.
    #[gradient]
    pub(crate) fn nested_edges(z: &[T], y: &mut [T], n: usize, m: usize) {
        for i in 0..n {
            if i > 0 {
                let mut b = 0.0;
                for j in 0..m {
                    if j == 0 {
                        b = z[i * m];
                    } else {
                        b = T::max(b, z[i * m + j]);
                    }
                }
                y[i] += b;
            }
        }
    }
}

macro_rules! tests {
    ($module:ident, $float:ty) => {
        use super::$module::*;
        use crate::common::{check, check_within};

        type T = $float;

        #[test]
        fn running_sums() {
            for n in [0, 1, 2, 3, 7, 8, 9, 17] {
                let u = vec![0.0 as T; n];
                check(u.clone(), |u| sum_of_sums(u), |u, du, seed| sum_of_sums_grad(u, du, seed));
                check(u.clone(), |u| trapezoid(u), |u, du, seed| trapezoid_grad(u, du, seed));
                check(
                    u.clone(),
                    |u| sliding_window(u, 3),
                    |u, du, seed| sliding_window_grad(u, du, 3, seed),
                );
                check(
                    (u.clone(), u.clone()),
                    |(u, out)| prefix_sums(u, out),
                    |(u, out), (du, dout), ()| prefix_sums_grad(u, du, out, dout),
                );
                if n > 0 {
                    check_within(
                        -0.5..0.5,
                        (u, 0.0 as T),
                        |(u, drift)| walk(u, *drift),
                        |(u, drift), (du, ddrift), seed| {
                            let (value, d) = walk_grad(u, du, *drift, seed);
                            *ddrift += d;
                            value
                        },
                    );
                }
            }
        }

        #[test]
        fn running_sums_in_parallel() {
            check(
                (vec![0.0 as T; 35], vec![0.0 as T; 5]),
                |(u, y)| inner_walks(u, y, 7),
                |(u, y), (du, dy), ()| inner_walks_grad(u, du, y, dy, 7),
            );
        }

        #[test]
        fn halves_that_run_early() {
            for n in [0, 1, 2, 9] {
                let point = (vec![0.0 as T; n], vec![0.0 as T; n], 0.0 as T);
                macro_rules! one {
                    ($f:ident, $grad:ident) => {
                        check(
                            point.clone(),
                            |(x, out, w)| $f(x, out, *w),
                            |(x, out, w), (dx, dout, dw), seed| {
                                let (value, d) = $grad(x, dx, out, dout, *w, seed);
                                *dw += d;
                                value
                            },
                        );
                    };
                }
                one!(tanh_after_sum, tanh_after_sum_grad);
                one!(root_after_sum, root_after_sum_grad);
                one!(logistic_after_sum, logistic_after_sum_grad);
            }
        }

        #[test]
        fn elements_that_are_cleared() {
            let k = [0, 2, 0, 1, 2, 2, 0];
            check(
                (vec![0.0 as T; 3], vec![0.0 as T; 7]),
                |(stock, price)| sold_out(stock, &k, price),
                |(stock, price), (dstock, dprice), seed| {
                    sold_out_grad(stock, dstock, &k, price, dprice, seed)
                },
            );
            for n in [1, 2, 9] {
                let point = (vec![0.0 as T; n], vec![0.0 as T; n]);
                check(
                    point.clone(),
                    |(w, x)| replaced(w, x),
                    |(w, x), (dw, dx), seed| replaced_grad(w, dw, x, dx, seed),
                );
                check(
                    point,
                    |(w, x)| moved_on(w, x),
                    |(w, x), (dw, dx), seed| moved_on_grad(w, dw, x, dx, seed),
                );
            }
        }

        #[test]
        fn lists_of_arrays_at_edges() {
            for n in [0, 1, 2, 5] {
                check(
                    (vec![0.0 as T; n], vec![0.0 as T; n]),
                    |(x, y)| lists_at_edges(x, y),
                    |(x, y), (dx, dy), seed| lists_at_edges_grad(x, dx, y, dy, seed),
                );
            }
        }

        #[test]
        fn edges_in_nested_loops() {
            for (n, m) in [(0, 3), (1, 1), (2, 1), (3, 4), (5, 9)] {
                check(
                    (vec![0.0 as T; n * m], vec![0.0 as T; n]),
                    |(z, y)| nested_edges(z, y, n, m),
                    |(z, y), (dz, dy), ()| nested_edges_grad(z, dz, y, dy, n, m),
                );
            }
        }
    };
}

mod of_double {
    tests!(double, f64);
}

mod of_single {
    tests!(single, f32);
}

/// What a function leaves in memory is summed in its own order: no bit of it may differ.
mod bits {
    use stratape::gradient;

    #[gradient]
    fn summed_from_the_end(x: &[f64], y: &mut [f64]) {
        for i in (0..x.len()).rev() {
            y[0] += x[i];
        }
    }

    // Additions to neighbours were kept aside by blocks of iterations, in the primal as well.
    #[gradient]
    fn neighbours(x: &[f64], y: &mut [f64]) {
        for i in 0..x.len() {
            y[i] += x[i];
            y[i + 1] += 3.0 * x[i];
        }
    }

    #[gradient]
    fn counted(x: &[f64], count: &mut [usize]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            count[i] += 1;
            count[i + 1] += 2;
            s += x[i] / 3.0;
        }
        s
    }

    // The early adjoint of `%` and the primal compute the same quotient: sharing it must not make it one whose bits are free.
    #[gradient]
    fn shared_with_adjoint(x: &[f64], out: &mut [f64], b: f64) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += x[i] % b;
            out[i] = x[i] / b;
        }
        s
    }

    #[test]
    fn memory_keeps_its_bits() {
        let (x, mut dx) = ([1.0, 1e16, -1e16], [0.0; 3]);
        let (mut y, mut again) = ([0.0], [0.0]);
        summed_from_the_end(&x, &mut y);
        summed_from_the_end_grad(&x, &mut dx, &mut again, &mut [1.0]);
        assert_eq!((y, again, dx), ([1.0], [1.0], [1.0; 3]));

        let n = 41;
        let x: Vec<f64> = (0..n).map(|i| [1.0, 1e16, -3.0, 0.1, -1e16][i % 5]).collect();
        let (mut y, mut again) = (vec![0.3; n + 1], vec![0.3; n + 1]);
        neighbours(&x, &mut y);
        neighbours_grad(&x, &mut vec![0.0; n], &mut again, &mut vec![1.0; n + 1]);
        assert_eq!(y, again);

        let mut count = vec![0; n + 1];
        let (mut dx, mut again) = (vec![0.0; n], vec![0; n + 1]);
        let value = counted(&x, &mut count);
        assert_eq!(counted_grad(&x, &mut dx, &mut again, 1.0), value);
        assert_eq!((again, dx), (count, vec![1.0 / 3.0; n]));

        let (mut out, mut again) = (vec![0.0; n], vec![0.0; n]);
        let value = shared_with_adjoint(&x, &mut out, 0.3);
        let (found, _) = shared_with_adjoint_grad(
            &x,
            &mut vec![0.0; n],
            &mut again,
            &mut vec![0.0; n],
            0.3,
            1.0,
        );
        assert_eq!((found, again), (value, out));
    }
}

/// A helper that certainly returns early was taken for the end of its caller: the value was 0, and so was the gradient.
#[stratape::differentiable]
mod helpers {
    fn at_once(n: usize) {
        if n == 0 {
            return;
        }
    }

    fn always(y: &mut [f64]) {
        y[0] *= 2.0;
        return;
    }

    #[gradient]
    pub(crate) fn after_helpers(y: &mut [f64], b: f64) -> f64 {
        at_once(0);
        always(y);
        let through = |v: f64| {
            if v > -1e9 {
                return v * v;
            }
            v
        };
        through(b) * y[0]
    }

    #[gradient]
    pub(crate) fn single_after_helpers(b: f32) -> f32 {
        at_once(0);
        b * 3.0
    }
}

#[test]
fn helpers_that_return_at_once_come_back() {
    let (mut y, mut dy) = ([3.0], [0.0]);
    assert_eq!(helpers::after_helpers_grad(&mut y, &mut dy, 4.0, 1.0), (96.0, 48.0));
    assert_eq!((y, dy), ([6.0], [32.0]));
    assert_eq!(helpers::single_after_helpers_grad(2.0, 1.0), (6.0, 3.0));
}

/// What a branch that is not taken would compute must not reach the gradient, be it infinite or no number.
mod guards {
    use stratape::gradient;

    #[gradient]
    fn roots(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            if x[i] > 0.0 {
                s += x[i].sqrt();
            }
        }
        s
    }

    #[gradient]
    fn inverses(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            if *v != 0.0 {
                s += 1.0 / v;
            }
        }
        s
    }

    #[gradient]
    fn finite_weights(x: &[f64], w: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            if w[i] < 1e300 {
                s += x[i] * w[i];
            }
        }
        s
    }

    #[gradient]
    fn bounded(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            if v.exp() < 1e9 {
                s += v.exp();
            }
        }
        s
    }

    #[gradient]
    fn perhaps_none(a: f64, b: f64, x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            s += a * b * v;
        }
        s
    }

    #[gradient]
    fn length(a: f64, b: f64) -> f64 {
        a.hypot(b)
    }

    /// The ratios of a length were made of one reciprocal, which is infinite for the smallest numbers.
    #[test]
    fn lengths_of_denormal_vectors_have_slopes() {
        let least = 5e-324;
        assert_eq!(length_grad(least, 0.0, 1.0), (least, 1.0, 0.0));
        assert_eq!(length_grad(3.0, 4.0, 1.0), (5.0, 0.6, 0.8));
    }

    #[test]
    fn branches_not_taken_do_not_leak() {
        let mut dx = [0.0; 3];
        assert_eq!(roots_grad(&[0.0, 4.0, -1.0], &mut dx, 1.0), 2.0);
        assert_eq!(dx, [0.0, 0.25, 0.0]);

        let mut dx = [0.0; 2];
        assert_eq!(inverses_grad(&[0.0, 2.0], &mut dx, 1.0), 0.5);
        assert_eq!(dx, [0.0, -0.25]);

        let (mut dx, mut dw) = ([0.0; 2], [0.0; 2]);
        finite_weights_grad(&[1.0, 3.0], &mut dx, &[f64::INFINITY, 2.0], &mut dw, 1.0);
        assert_eq!((dx, dw), ([0.0, 2.0], [0.0, 3.0]));

        let mut dx = [0.0; 2];
        assert_eq!(bounded_grad(&[1000.0, 0.0], &mut dx, 1.0), 1.0);
        assert_eq!(dx, [0.0, 1.0]);

        assert_eq!(perhaps_none_grad(2.0, f64::INFINITY, &[], &mut [], 1.0), (0.0, 0.0, 0.0));
    }
}
