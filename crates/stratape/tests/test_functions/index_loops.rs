//! Loops over indices, variables that change.

#![allow(
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::panic,
    clippy::unwrap_used,
    reason = "as people write them"
)]

use std::f64::consts::{E, PI};
use stratape::gradient;

#[gradient]
pub fn zero(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += 0.0 * x[i];
    }
    sum
}

#[gradient]
pub fn sphere(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * x[i];
    }
    return sum;
}

#[gradient]
pub fn ackley(x: &[f64]) -> f64 {
    let n = x.len();
    let mut squares = 0.0;
    let mut cosines = 0.0;
    for i in 0..n {
        squares += x[i].powi(2);
        cosines += (2.0 * PI * x[i]).cos();
    }
    let nf = n as f64;
    -20.0 * (-0.2 * (squares / nf).sqrt()).exp() - (cosines / nf).exp() + 20.0 + E
}

#[gradient]
pub fn rastrigin(x: &[f64]) -> f64 {
    let a = 10.0;
    let mut sum = a * x.len() as f64;
    let mut i = 0;
    while i < x.len() {
        sum = sum + x[i] * x[i] - a * (2.0 * PI * x[i]).cos();
        i += 1;
    }
    sum
}

#[gradient]
pub fn rosenbrock(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        let e = 1.0 - x[i];
        sum += 100.0 * d * d + e * e;
    }
    sum
}

#[gradient]
pub fn styblinski_tang(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        let s = x[i] * x[i];
        sum += s * s - 16.0 * s + 5.0 * x[i];
    }
    0.5 * sum
}

#[gradient]
pub fn levy(x: &[f64]) -> f64 {
    let n = x.len();
    let mut w = vec![0.0; n];
    for i in 0..n {
        w[i] = 1.0 + (x[i] - 1.0) / 4.0;
    }
    let mut sum = (PI * w[0]).sin().powi(2);
    for i in 1..n - 1 {
        sum += (w[i] - 1.0).powi(2) * (1.0 + 10.0 * (PI * w[i] + 1.0).sin().powi(2));
    }
    sum + (w[n - 1] - 1.0).powi(2) * (1.0 + (2.0 * PI * w[n - 1]).sin().powi(2))
}

#[gradient]
pub fn levy_n13(x: &[f64; 2]) -> f64 {
    let mut y = [0.0; 3];
    y[0] = (3.0 * PI * x[0]).sin();
    y[1] = (3.0 * PI * x[1]).sin();
    y[2] = (2.0 * PI * x[1]).sin();
    for i in 0..3 {
        y[i] *= y[i];
    }
    let mut sum = y[0];
    for i in 0..2 {
        sum += (x[i] - 1.0) * (x[i] - 1.0) * (1.0 + y[i + 1]);
    }
    sum
}

#[gradient]
pub fn beale(x: &[f64; 2]) -> f64 {
    const C: [f64; 3] = [1.5, 2.25, 2.625];
    let mut power = 1.0;
    let mut sum = 0.0;
    for i in 0..3 {
        power *= x[1];
        let t = C[i] - x[0] + x[0] * power;
        sum += t * t;
    }
    sum
}

#[gradient]
pub fn booth(x: &[f64; 2]) -> f64 {
    let m = [[1.0, 2.0], [2.0, 1.0]];
    let b = [7.0, 5.0];
    let mut sum = 0.0;
    for i in 0..2 {
        let mut r = -b[i];
        for j in 0..2 {
            r += m[i][j] * x[j];
        }
        sum += r * r;
    }
    sum
}

#[gradient]
pub fn bukin_n6(x: &[f64; 2]) -> f64 {
    let mut d = x[1] - 0.01 * x[0] * x[0];
    if d < 0.0 {
        d = -d;
    }
    100.0 * d.sqrt() + 0.01 * (x[0] + 10.0).abs()
}

#[gradient]
pub fn cross_in_tray(x: &[f64; 2]) -> f64 {
    let mut r = 0.0;
    let mut waves = 1.0;
    for i in 0..2 {
        r += x[i] * x[i];
        waves *= x[i].sin();
    }
    let t = waves * (100.0 - r.sqrt() / PI).abs().exp();
    -0.0001 * (t.abs() + 1.0).powf(0.1)
}

#[gradient]
pub fn easom(x: &[f64; 2]) -> f64 {
    let mut waves = -1.0;
    let mut r = 0.0;
    for i in 0..2 {
        waves *= x[i].cos();
        r += (x[i] - PI) * (x[i] - PI);
    }
    waves * (-r).exp()
}

#[gradient]
pub fn eggholder(x: &[f64; 2]) -> f64 {
    let y = x[1] + 47.0;
    let a = (y + 0.5 * x[0]).abs().sqrt();
    let b = (x[0] - y).abs().sqrt();
    -y * a.sin() - x[0] * b.sin()
}

#[gradient]
pub fn goldsteinprice(x: &[f64; 2]) -> f64 {
    // Coefficients of 1, x, y, x², xy, y².
    let first = [19.0, -14.0, -14.0, 3.0, 6.0, 3.0];
    let second = [18.0, -32.0, 48.0, 12.0, -36.0, 27.0];
    let powers = [1.0, x[0], x[1], x[0] * x[0], x[0] * x[1], x[1] * x[1]];
    let mut a = 0.0;
    let mut b = 0.0;
    for i in 0..6 {
        a += first[i] * powers[i];
        b += second[i] * powers[i];
    }
    let s = x[0] + x[1] + 1.0;
    let d = 2.0 * x[0] - 3.0 * x[1];
    (1.0 + s * s * a) * (30.0 + d * d * b)
}

#[gradient]
pub fn himmelblau(x: &[f64; 2]) -> f64 {
    let mut sum = 0.0;
    for i in 0..2 {
        let r = x[i] * x[i] + x[1 - i] - if i == 0 { 11.0 } else { 7.0 };
        sum += r * r;
    }
    sum
}

#[gradient]
pub fn holder_table(x: &[f64; 2]) -> f64 {
    let r = (x[0] * x[0] + x[1] * x[1]).sqrt();
    let t = x[0].sin() * x[1].cos() * (1.0 - r / PI).abs().exp();
    if t < 0.0 { t } else { -t }
}

#[gradient]
pub fn matyas(x: &[f64; 2]) -> f64 {
    let a = [[0.26, -0.24], [-0.24, 0.26]];
    let mut sum = 0.0;
    for i in 0..2 {
        for j in 0..2 {
            sum += a[i][j] * x[i] * x[j];
        }
    }
    sum
}

#[gradient]
pub fn mccormick(x: &[f64; 2]) -> f64 {
    let s = x[0] + x[1];
    let d = x[0] - x[1];
    s.sin() + d * d - 1.5 * x[0] + 2.5 * x[1] + 1.0
}

#[gradient]
pub fn picheny(x: &[f64; 2]) -> f64 {
    let mut y = [0.0; 2];
    for i in 0..2 {
        y[i] = 4.0 * x[i] - 2.0;
    }
    (goldsteinprice(&y).log10() - 8.693) / 2.427
}

#[gradient]
pub fn schaffer_n2(x: &[f64; 2]) -> f64 {
    let (a, b) = (x[0] * x[0], x[1] * x[1]);
    let s = (a - b).sin();
    let d = 1.0 + 0.001 * (a + b);
    0.5 + (s * s - 0.5) / (d * d)
}

#[gradient]
pub fn schaffer_n4(x: &[f64; 2]) -> f64 {
    let (a, b) = (x[0] * x[0], x[1] * x[1]);
    let c = (a - b).abs().sin().cos();
    let d = 1.0 + 0.001 * (a + b);
    0.5 + (c * c - 0.5) / (d * d)
}

#[gradient]
pub fn threehumpcamel(x: &[f64; 2]) -> f64 {
    let c = [2.0, -1.05, 1.0 / 6.0];
    let mut sum = x[0] * x[1] + x[1] * x[1];
    let s = x[0] * x[0];
    let mut power = 1.0;
    for i in 0..3 {
        power *= s;
        sum += c[i] * power;
    }
    sum
}
