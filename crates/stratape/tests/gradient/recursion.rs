//! Functions that call themselves.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops as people write them")]

use stratape::gradient;

#[gradient]
fn power(x: f64, n: usize) -> f64 {
    if n == 0 {
        return 1.0;
    }
    let half = power(x, n / 2);
    if n.is_multiple_of(2) { half * half } else { x * half * half }
}

#[stratape::differentiable]
mod tree {
    /// A weighted sum over a binary tree stored in an array, each node a smooth function of its children.
    fn node(values: &[f64], weights: &[f64], at: usize, depth: usize) -> f64 {
        if at >= values.len() {
            return 0.5;
        }
        let left = node(values, weights, 2 * at + 1, depth + 1);
        let right = node(values, weights, 2 * at + 2, depth + 1);
        let scale = weights[depth] * weights[depth];
        (values[at] + scale * left * right).sin() + left
    }

    #[gradient]
    pub(super) fn root(values: &[f64], weights: &[f64]) -> f64 {
        3.0 * node(values, weights, 0, 0)
    }

    /// Sorts nothing, but halves its slice as quicksort would, changing it in place.
    fn fold(x: &mut [f64], rate: f64) -> f64 {
        let n = x.len();
        if n == 1 {
            x[0] = (rate * x[0]).tanh();
            return x[0];
        }
        let left = fold(&mut x[..n / 2], rate);
        let right = fold(&mut x[n / 2..], rate * left);
        for i in 0..n {
            x[i] += rate * left * right;
        }
        left * right + x[0]
    }

    #[gradient]
    pub(super) fn folded(x: &mut [f64], rate: f64) -> f64 {
        fold(x, rate)
    }

    fn even(x: f64, n: usize) -> f64 {
        if n == 0 { x } else { odd(x.sin() + x, n - 1) }
    }

    fn odd(x: f64, n: usize) -> f64 {
        if n == 0 { 2.0 * x } else { even(x * x, n - 1) }
    }

    #[gradient]
    pub(super) fn mutual(x: f64, n: usize) -> f64 {
        even(x, n)
    }
}

fn central(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-6;
    (f(h) - f(-h)) / (2.0 * h)
}

#[test]
fn a_power_by_halves() {
    for n in 0..12 {
        let (value, dx) = power_grad(1.3, n, 2.0);
        assert_eq!(value, power(1.3, n));
        let slope = 2.0 * central(|h| power(1.3 + h, n));
        assert!((dx - slope).abs() < 1e-6 * slope.abs().max(1.0), "{n}: {dx} {slope}");
    }
}

#[test]
fn a_tree() {
    let values: Vec<f64> = (0..11).map(|i| 0.3 + 0.1 * f64::from(i)).collect();
    let weights = [0.7, 0.4, 0.9, 0.2, 0.5];
    let (mut dv, mut dw) = (vec![0.0; 11], [0.0; 5]);
    let value = tree::root_grad(&values, &mut dv, &weights, &mut dw, 1.0);
    assert_eq!(value, tree::root(&values, &weights));
    for i in 0..11 {
        let slope = central(|h| {
            let mut values = values.clone();
            values[i] += h;
            tree::root(&values, &weights)
        });
        assert!((dv[i] - slope).abs() < 1e-6 * slope.abs().max(1.0));
    }
    for i in 0..5 {
        let slope = central(|h| {
            let mut weights = weights;
            weights[i] += h;
            tree::root(&values, &weights)
        });
        assert!((dw[i] - slope).abs() < 1e-6 * slope.abs().max(1.0));
    }
}

#[test]
fn slices_changed_in_place_on_the_way_down() {
    let start = [0.3, -0.8, 1.1, 0.5, 0.9];
    let seeds = [0.1, 0.2, -0.3, 0.4, 0.5];
    let weighted = |start: [f64; 5], rate: f64| {
        let mut x = start;
        let value = tree::folded(&mut x, rate);
        value + x.iter().zip(&seeds).map(|(a, b)| a * b).sum::<f64>()
    };
    let (mut x, mut dx) = (start, seeds);
    let (value, drate) = tree::folded_grad(&mut x, &mut dx, 0.8, 1.0);
    let mut again = start;
    assert_eq!(value, tree::folded(&mut again, 0.8));
    assert_eq!(x, again);
    let slope = central(|h| weighted(start, 0.8 + h));
    assert!((drate - slope).abs() < 1e-6 * slope.abs().max(1.0), "{drate} {slope}");
    for i in 0..5 {
        let slope = central(|h| {
            let mut start = start;
            start[i] += h;
            weighted(start, 0.8)
        });
        assert!((dx[i] - slope).abs() < 1e-6 * slope.abs().max(1.0), "{i}: {} {slope}", dx[i]);
    }
}

#[test]
fn functions_that_call_each_other() {
    for n in 0..6 {
        let (value, dx) = tree::mutual_grad(0.4, n, 1.0);
        assert_eq!(value, tree::mutual(0.4, n));
        let slope = central(|h| tree::mutual(0.4 + h, n));
        assert!((dx - slope).abs() < 1e-5 * slope.abs().max(1.0), "{n}: {dx} {slope}");
    }
}
