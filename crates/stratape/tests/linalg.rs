//! The algebra of `stratape::linalg` inside gradients, against differences.

#![cfg(feature = "linalg")]
#![allow(unreachable_pub, unused_qualifications, clippy::all, clippy::pedantic)]

use stratape::linalg::{self, single};
use stratape::{differentiable, gradient};

/// Numbers in (-1, 1).
fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// A matrix with large numbers on its diagonal.
fn solid(n: usize, seed: u64) -> Vec<f64> {
    let mut a = random(n * n, seed);
    (0..n).for_each(|i| a[i * n + i] += 2.0 * n as f64);
    a
}

/// Compares the gradient of `f` in `x` with differences.
fn check(f: impl Fn(&[f64]) -> f64, x: &[f64], dx: &[f64], tolerance: f64) {
    for i in 0..x.len() {
        let at = |h: f64| {
            let mut x = x.to_vec();
            x[i] += h;
            f(&x)
        };
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        let error = (dx[i] - difference).abs();
        assert!(error < tolerance * (1.0 + difference.abs()), "{i}: {} {difference}", dx[i]);
    }
}

/// A network whose layers are products, in buffers that are used again.
#[gradient]
fn network(x: &[f64], w: &[f64], n: usize, layers: usize) -> f64 {
    let mut h = x.to_vec();
    let mut z = vec![0.0; n];
    for k in 0..layers {
        linalg::matvec(&w[k * n * n..(k + 1) * n * n], &h, &mut z, n, n);
        for i in 0..n {
            h[i] = z[i].tanh();
        }
    }
    h.iter().sum()
}

#[test]
fn a_network_of_products() {
    for (n, layers) in [(1, 1), (3, 4), (5, 2), (4, 0)] {
        let (x, w) = (random(n, 1), random(n * n * layers, 2));
        let (mut dx, mut dw) = (vec![0.0; n], vec![0.0; w.len()]);
        let value = network_grad(&x, &mut dx, &w, &mut dw, n, layers, 1.0);
        assert_eq!(value, network(&x, &w, n, layers));
        check(|x| network(x, &w, n, layers), &x, &dx, 1e-7);
        check(|w| network(&x, w, n, layers), &w, &dw, 1e-7);
    }
}

#[gradient]
fn product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> f64 {
    let mut c = vec![7.0; m * n];
    linalg::matmul(a, b, &mut c, m, k, n);
    let mut sum = 0.0;
    for i in 0..m * n {
        sum += (c[i] * (1.0 + i as f64)).sin();
    }
    sum
}

#[test]
fn products_of_any_shape() {
    for [m, k, n] in [[1, 1, 1], [2, 3, 4], [4, 1, 2], [5, 6, 3], [3, 0, 2], [0, 2, 2]] {
        let (a, b) = (random(m * k, 3), random(k * n, 4));
        let (mut da, mut db) = (vec![0.0; m * k], vec![0.0; k * n]);
        let value = product_grad(&a, &mut da, &b, &mut db, m, k, n, 1.0);
        assert_eq!(value, product(&a, &b, m, k, n));
        check(|a| product(a, &b, m, k, n), &a, &da, 1e-7);
        check(|b| product(&a, b, m, k, n), &b, &db, 1e-7);
    }
}

/// Both factors are one matrix, and the result is read where it was overwritten before.
#[gradient]
fn powers(a: &[f64], n: usize, times: usize) -> f64 {
    let mut p = a.to_vec();
    let mut q = vec![0.0; n * n];
    for _ in 0..times {
        linalg::matmul(&p, &p, &mut q, n, n, n);
        for i in 0..n * n {
            p[i] = 0.25 * q[i] + p[i];
        }
    }
    let mut sum = 0.0;
    for v in p.iter() {
        sum += v * v;
    }
    sum
}

#[test]
fn squares_of_a_matrix() {
    for (n, times) in [(2, 1), (3, 3), (4, 2)] {
        let a = random(n * n, 5);
        let mut da = vec![0.0; n * n];
        assert_eq!(powers_grad(&a, &mut da, n, times, 1.0), powers(&a, n, times));
        check(|a| powers(a, n, times), &a, &da, 1e-6);
    }
}

#[gradient]
fn solved(a: &[f64], b: &[f64], n: usize) -> f64 {
    let mut x = vec![0.0; b.len()];
    linalg::solve(a, b, &mut x, n);
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * x[i] * (1.0 + i as f64) + x[i].sin();
    }
    sum
}

#[gradient]
fn solved_spd(a: &[f64], b: &[f64], n: usize) -> f64 {
    let mut x = b.to_vec();
    linalg::solve_spd(a, b, &mut x, n);
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * x[i] * (1.0 + i as f64);
    }
    sum
}

#[gradient]
fn solved_lower(a: &[f64], b: &[f64], n: usize) -> f64 {
    let mut x = b.to_vec();
    linalg::solve_lower(a, b, &mut x, n);
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * x[i] * (1.0 + i as f64);
    }
    sum
}

#[test]
fn solutions() {
    for (n, columns) in [(1, 1), (3, 1), (4, 3), (6, 2)] {
        let (a, b) = (solid(n, 6), random(n * columns, 7));
        macro_rules! one {
            ($f:ident, $gradient:ident) => {{
                let (mut da, mut db) = (vec![0.0; n * n], vec![0.0; n * columns]);
                let value = $gradient(&a, &mut da, &b, &mut db, n, 1.0);
                assert_eq!(value, $f(&a, &b, n));
                check(|a| $f(a, &b, n), &a, &da, 1e-6);
                check(|b| $f(&a, b, n), &b, &db, 1e-6);
            }};
        }
        one!(solved, solved_grad);
        one!(solved_spd, solved_spd_grad);
        one!(solved_lower, solved_lower_grad);
    }
}

#[gradient]
fn factored(a: &[f64], n: usize) -> f64 {
    let mut l = vec![1.0; n * n];
    linalg::cholesky(a, &mut l, n);
    let mut sum = 0.0;
    // What stands above the diagonal is read as well.
    for i in 0..n * n {
        sum += l[i] * (1.0 + i as f64) + l[i] * l[i];
    }
    sum
}

#[gradient]
fn inverted(a: &[f64], n: usize) -> f64 {
    let mut b = vec![1.0; n * n];
    linalg::inverse(a, &mut b, n);
    let mut sum = 0.0;
    for i in 0..n * n {
        sum += b[i] * (1.0 + i as f64) + b[i].exp();
    }
    sum
}

#[gradient]
fn volume(a: &[f64], n: usize) -> f64 {
    0.5 * stratape::linalg::logdet(a, n) * a[0]
}

#[test]
fn factors_inverses_and_determinants() {
    for n in [1, 2, 3, 5] {
        let a = solid(n, 8);
        macro_rules! one {
            ($f:ident, $gradient:ident) => {{
                let mut da = vec![0.0; n * n];
                assert_eq!($gradient(&a, &mut da, n, 1.0), $f(&a, n));
                check(|a| $f(a, n), &a, &da, 1e-6);
            }};
        }
        one!(factored, factored_grad);
        one!(inverted, inverted_grad);
        one!(volume, volume_grad);
    }
}

/// Helpers of a module call them too.
#[differentiable]
mod filter {
    use stratape::linalg::{matvec, solve};

    pub struct Model {
        pub a: Vec<f64>,
        pub n: usize,
    }

    fn step(model: &Model, x: &mut [f64], work: &mut [f64]) {
        matvec(&model.a, x, work, model.n, model.n);
        solve(&model.a, work, x, model.n);
        for i in 0..model.n {
            x[i] = x[i].cos() + work[i] * 0.01;
        }
    }

    #[gradient]
    pub fn run(model: &Model, start: &[f64], steps: usize) -> f64 {
        let mut x = start.to_vec();
        let mut work = vec![0.0; model.n];
        for _ in 0..steps {
            step(model, &mut x, &mut work);
        }
        x.iter().map(|v| v * v).sum()
    }
}

#[test]
fn helpers_of_a_module() {
    let n = 3;
    let model = filter::Model { a: solid(n, 9), n };
    let (start, mut dstart) = (random(n, 10), vec![0.0; n]);
    let mut shadow = filter::Model { a: vec![0.0; n * n], n };
    let value = filter::run_grad(&model, &mut shadow, &start, &mut dstart, 4, 1.0);
    assert_eq!(value, filter::run(&model, &start, 4));
    check(|start| filter::run(&model, start, 4), &start, &dstart, 1e-6);
    let run = |a: &[f64]| filter::run(&filter::Model { a: a.to_vec(), n }, &start, 4);
    check(run, &model.a, &shadow.a, 1e-6);
}

#[gradient]
fn narrow(a: &[f32], b: &[f32], n: usize) -> f32 {
    let (mut x, mut l, mut y) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n]);
    single::solve(a, b, &mut x, n);
    single::cholesky(a, &mut l, n);
    single::matvec(&l, &x, &mut y, n, n);
    let mut sum = single::logdet(a, n);
    for v in &y {
        sum += v * v;
    }
    sum
}

#[gradient]
fn wide(a: &[f64], b: &[f64], n: usize) -> f64 {
    let (mut x, mut l, mut y) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n]);
    linalg::solve(a, b, &mut x, n);
    linalg::cholesky(a, &mut l, n);
    linalg::matvec(&l, &x, &mut y, n, n);
    let mut sum = linalg::logdet(a, n);
    for v in &y {
        sum += v * v;
    }
    sum
}

#[test]
fn narrow_floats_follow_the_wide_ones() {
    let n = 4;
    let (a, b) = (solid(n, 11), random(n, 12));
    let (mut da, mut db) = (vec![0.0; n * n], vec![0.0; n]);
    let value = wide_grad(&a, &mut da, &b, &mut db, n, 1.0);
    check(|a| wide(a, &b, n), &a, &da, 1e-6);
    let to_narrow = |list: &[f64]| list.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let (mut narrow_da, mut narrow_db) = (vec![0.0; n * n], vec![0.0; n]);
    let narrow_value =
        narrow_grad(&to_narrow(&a), &mut narrow_da, &to_narrow(&b), &mut narrow_db, n, 1.0);
    let close = |a: f32, b: f64| assert!((f64::from(a) - b).abs() < 1e-4 * (1.0 + b.abs()));
    close(narrow_value, value);
    narrow_da.iter().zip(&da).for_each(|(a, b)| close(*a, *b));
    narrow_db.iter().zip(&db).for_each(|(a, b)| close(*a, *b));
}

#[test]
fn what_has_no_solution_is_not_a_number() {
    let mut l = [0.0; 4];
    linalg::cholesky(&[1.0, 2.0, 2.0, 1.0], &mut l, 2);
    assert!(l.iter().all(|v| v.is_nan()));
    let mut x = [0.0; 2];
    linalg::solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0], &mut x, 2);
    assert!(x.iter().all(|v| !v.is_finite()));
    linalg::solve_spd(&[1.0, 2.0, 2.0, 1.0], &[1.0, 1.0], &mut x, 2);
    assert!(x.iter().all(|v| v.is_nan()));
    assert_eq!(linalg::logdet(&[1.0, 2.0, 2.0, 4.0], 2), f64::NEG_INFINITY);
    // A gradient of what is not there does not panic either.
    let mut da = [0.0; 4];
    assert!(factored_grad(&[1.0, 2.0, 2.0, 1.0], &mut da, 2, 1.0).is_nan());
}

#[test]
#[should_panic(expected = "`b` has 3 elements, not the 2 x 2")]
fn dimensions_are_checked() {
    linalg::matmul(&[0.0; 4], &[0.0; 3], &mut [0.0; 4], 2, 2, 2);
}
