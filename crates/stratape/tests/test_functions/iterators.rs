//! Chains of iterators, closures, patterns.

#![allow(
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::panic,
    clippy::unwrap_used,
    reason = "as people write them"
)]

use std::f64::consts::{E, PI};
use std::iter;
use stratape::{differentiable, gradient};

#[gradient]
pub fn zero(x: &[f64]) -> f64 {
    x.iter().map(|_| 0.0).sum()
}

#[gradient]
pub fn sphere(x: &[f64]) -> f64 {
    x.iter().map(|x| x.powi(2)).sum()
}

#[differentiable]
fn mean(values: impl Iterator<Item = f64>, n: usize) -> f64 {
    values.sum::<f64>() / n as f64
}

#[gradient]
pub fn ackley(x: &[f64]) -> f64 {
    let n = x.len();
    let r = mean(x.iter().map(|x| x * x), n).sqrt();
    let c = mean(x.iter().map(|x| (2.0 * PI * x).cos()), n);
    -20.0 * (-0.2 * r).exp() - c.exp() + 20.0 + E
}

#[gradient]
pub fn rastrigin(x: &[f64]) -> f64 {
    let a = 10.0;
    x.iter().fold(a * x.len() as f64, |sum, &x| sum + x.powi(2) - a * (2.0 * PI * x).cos())
}

#[gradient]
pub fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0].powi(2)).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

#[gradient]
pub fn styblinski_tang(x: &[f64]) -> f64 {
    let term = |x: &f64| x.powi(4) - 16.0 * x.powi(2) + 5.0 * x;
    x.iter().map(term).sum::<f64>() / 2.0
}

#[gradient]
pub fn levy(x: &[f64]) -> f64 {
    let w: Vec<f64> = x.iter().map(|x| 1.0 + (x - 1.0) / 4.0).collect();
    let [first, .., last] = w[..] else { panic!("at least two arguments") };
    let middle = w.iter().skip(1).take(w.len() - 2);
    (PI * first).sin().powi(2)
        + middle
            .map(|w| (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2)))
            .sum::<f64>()
        + (last - 1.0).powi(2) * (1.0 + (2.0 * PI * last).sin().powi(2))
}

#[gradient]
pub fn levy_n13(&[x, y]: &[f64; 2]) -> f64 {
    let wave = |k: f64, v: f64| (k * PI * v).sin().powi(2);
    wave(3.0, x)
        + [(x, 3.0), (y, 2.0)]
            .iter()
            .map(|&(v, k)| (v - 1.0).powi(2) * (1.0 + wave(k, y)))
            .sum::<f64>()
}

#[gradient]
pub fn beale(x: &[f64; 2]) -> f64 {
    let [x, y] = *x;
    iter::successors(Some(y), |power| Some(power * y))
        .zip([1.5, 2.25, 2.625])
        .map(|(power, c)| (c - x + x * power).powi(2))
        .sum()
}

#[gradient]
pub fn booth(p: &[f64; 2]) -> f64 {
    let rows = [([1.0, 2.0], 7.0), ([2.0, 1.0], 5.0)];
    rows.iter()
        .map(|(row, b)| row.iter().zip(p).map(|(a, x)| a * x).sum::<f64>() - b)
        .map(|r| r * r)
        .sum()
}

#[gradient]
pub fn bukin_n6(&[x, y]: &[f64; 2]) -> f64 {
    let weighted = [(100.0, (y - 0.01 * x.powi(2)).abs().sqrt()), (0.01, (x + 10.0).abs())];
    weighted.into_iter().map(|(w, v)| w * v).sum()
}

#[gradient]
pub fn cross_in_tray(p: &[f64; 2]) -> f64 {
    let norm = p.iter().map(|x| x * x).sum::<f64>().sqrt();
    let waves = p.iter().map(|x| x.sin()).product::<f64>();
    -1e-4 * ((waves * (100.0 - norm / PI).abs().exp()).abs() + 1.0).powf(0.1)
}

#[gradient]
pub fn easom(p: &[f64; 2]) -> f64 {
    let (waves, far) =
        p.iter().fold((1.0, 0.0), |(waves, far), x| (waves * x.cos(), far + (x - PI).powi(2)));
    -waves * (-far).exp()
}

#[gradient]
pub fn eggholder(p: &[f64; 2]) -> f64 {
    let [x, y] = [p[0], p[1] + 47.0];
    [(y, y + x / 2.0), (x, x - y)].iter().map(|(by, at)| -by * at.abs().sqrt().sin()).sum()
}

#[gradient]
pub fn goldsteinprice(&[x, y]: &[f64; 2]) -> f64 {
    let powers = [1.0, x, y, x * x, x * y, y * y];
    let polynomial = |c: [f64; 6]| c.iter().zip(&powers).map(|(c, p)| c * p).sum::<f64>();
    let first = 1.0 + (x + y + 1.0).powi(2) * polynomial([19.0, -14.0, -14.0, 3.0, 6.0, 3.0]);
    let second =
        30.0 + (2.0 * x - 3.0 * y).powi(2) * polynomial([18.0, -32.0, 48.0, 12.0, -36.0, 27.0]);
    first * second
}

#[gradient]
pub fn himmelblau(p: &[f64; 2]) -> f64 {
    p.iter()
        .zip(p.iter().rev())
        .zip([11.0, 7.0])
        .map(|((a, b), c)| (a.powi(2) + b - c).powi(2))
        .sum()
}

#[gradient]
pub fn holder_table(p: &[f64; 2]) -> f64 {
    let far = p.iter().map(|x| x.powi(2)).sum::<f64>().sqrt();
    let [s, c] = [p[0].sin(), p[1].cos()];
    -[s, c, (1.0 - far / PI).abs().exp()].iter().product::<f64>().abs()
}

#[gradient]
pub fn matyas(p: &[f64; 2]) -> f64 {
    let squares: f64 = p.iter().map(|x| x.powi(2)).sum();
    0.26 * squares - 0.48 * p.iter().product::<f64>()
}

#[gradient]
pub fn mccormick(p: &[f64; 2]) -> f64 {
    let linear: f64 = p.iter().zip([-1.5, 2.5]).map(|(x, c)| c * x).sum();
    p.iter().sum::<f64>().sin()
        + p.iter().copied().reduce(|x, y| x - y).unwrap().powi(2)
        + linear
        + 1.0
}

#[gradient]
pub fn picheny(p: &[f64; 2]) -> f64 {
    let moved = p.map(|x| 4.0 * x - 2.0);
    (goldsteinprice(&moved).log10() - 8.693) / 2.427
}

#[gradient]
pub fn schaffer_n2(p: &[f64; 2]) -> f64 {
    let [a, b] = p.map(|x| x.powi(2));
    0.5 + ((a - b).sin().powi(2) - 0.5) / (1.0 + 0.001 * (a + b)).powi(2)
}

#[gradient]
pub fn schaffer_n4(p: &[f64; 2]) -> f64 {
    let squares: Vec<f64> = p.iter().map(|x| x.powi(2)).collect();
    let &[a, b] = &squares[..] else { unreachable!() };
    0.5 + ((a - b).abs().sin().cos().powi(2) - 0.5) / (1.0 + 0.001 * (a + b)).powi(2)
}

#[gradient]
pub fn threehumpcamel(&[x, y]: &[f64; 2]) -> f64 {
    let hump = [2.0, -1.05, 1.0 / 6.0].iter().rev().fold(0.0, |sum, c| (sum + c) * x * x);
    hump + x * y + y * y
}
