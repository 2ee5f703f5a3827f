//! `fold_coefficients`: quotients by numbers, halves and doubles, opposites.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

numbers! { thirds in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * x[i] / 3.0 - d * x[i] / 7.0; }
    s / 3.0
} }
numbers! { negative_quotients in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += (x[i] / -0.5 * d) / -4.0 - x[i] * x[i] / -2.0; }
    s / -1.0
} }
numbers! { tiny_divisor in ANY; 1e-11; false; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * x[i] / 1e-13 + d * x[i] / 1e-200 / 1e-100; }
    s * 1e-13
} }
numbers! { huge_divisor in ANY; 1e-11; false; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * x[i] / 1e300 * 1e300 + d * x[i] / 1e-300 / 1e300; }
    s
} }
numbers! { subnormal_divisor in ANY; 1e-11; false; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * d * 1e-310 / 1e-310 + x[i] / f64::MIN_POSITIVE * 1e-308; }
    s
} }
numbers! { overflows_in_between in ANY; 1e-11; false; (x, d) {
    // Numbers that multiply to one, whose products in another order overflow or vanish.
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * 1e200 * 1e-200 * d;
        s += x[i] * x[i] / 1e12 / 1e12 / 1e12 * 1e30 * 1e6;
        s += x[i] * x[i] / 1e11 * 1e11;
    }
    s
} }
numbers! { zero_divisor_behind_a_branch in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() {
        if x[i] > 5.0 { s += x[i] * d / 0.0; } else { s += x[i] * x[i] * d; }
    }
    s
} }
numbers! { zero_divisor in ANY; 1e-11; false; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * d / 0.0 - x[i] / -0.0; }
    s
} }
numbers! { zero_factor in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += 0.0 * x[i] * d + x[i] * x[i] * -0.0 + (x[i] * d) * 2.0 * 0.0; }
    s + d
} }
numbers! { infinite_and_nan_numbers in ANY; 1e-11; false; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * x[i] / f64::INFINITY + if x[i] > 1.0 { x[i] * d * f64::NAN } else { x[i] * d } + x[i] * f64::INFINITY / f64::INFINITY; }
    s
} }
numbers! { infinity_of_a_branch in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() {
        let far = x[i] > 10.0;
        s += if far { f64::INFINITY * x[i] * d } else { 0.5 * x[i] * d * 2.0 };
    }
    s
} }
numbers! { halves_and_doubles in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 1..x.len() {
        let (a, b) = (x[i - 1], x[i]);
        s += 0.5 * (a + b) * (a - b) * d + 2.0 * (0.5 * a * b) - 0.5 * (a * a + 2.0 * b * b);
        s -= (2.0 * a - 0.5 * b) * 0.5 * (b - a);
    }
    s
} }
numbers! { fluxes in ANY; 1e-11; true; (x, d) {
    // The flux through each face: mean velocity, difference of what it carries, on four faces.
    let n = x.len();
    let mut s = 0.0;
    for i in 2..n.saturating_sub(2) {
        let e = 0.5 * (x[i] + x[i + 1]) * (x[i + 1] - x[i]);
        let w = 0.5 * (x[i] + x[i - 1]) * (x[i] - x[i - 1]);
        let u = 0.5 * (x[i] + x[i + 2]) * (x[i + 2] - x[i]);
        let v = -0.5 * (x[i] + x[i - 2]) * (x[i] - x[i - 2]);
        let r = (e - w) / d.abs().max(0.5) + (u - v) / (2.0 * d.abs().max(0.5));
        s += 0.5 * r * r - 0.25 * e * w;
    }
    s
} }
numbers! { fluxes_into_lists in ANY; 1e-11; true; (x, d) {
    let n = x.len();
    let mut r = vec![0.0; n];
    for i in 1..n {
        let f = 0.5 * (x[i] + x[i - 1]) * (x[i] - x[i - 1]) - 0.5 * d * (x[i] - x[i - 1]);
        r[i] += f;
        r[i - 1] -= f;
    }
    let mut s = 0.0;
    for i in 0..n { s += r[i] * r[i] * 0.5; }
    s
} }
numbers! { upwind in ANY; 1e-11; true; (x, d) {
    let n = x.len();
    let mut s = 0.0;
    for i in 1..n {
        let v = 0.5 * (x[i] + x[i - 1]);
        let f = if v > 0.0 { v * x[i - 1] } else { v * x[i] };
        s += f * d / 3.0 - 0.5 * f * f;
    }
    s
} }
numbers! { opposites in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 1..x.len() {
        let r = x[i] - x[i - 1];
        s += (3.0 * r) * (-3.0 * r) + (0.25 * r * d).sin() - (-0.25 * r * d).cos() + 0.1 * r - 0.1 * d;
    }
    s
} }
numbers! { cancels_to_zero in ANY; 1e-11; true; (x, d) {
    // Coefficients whose sum is nothing.
    let mut s = 0.0;
    for i in 0..x.len() { s += 0.5 * x[i] * d + 0.5 * x[i] * d - x[i] * d + 2.0 * x[i] - x[i] - x[i] + x[i] * x[i] / 4.0; }
    s
} }
numbers! { horner in ANY; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += d * (1.0 + x[i] / 1.0 * (1.0 + x[i] / 2.0 * (1.0 + x[i] / 3.0 * (1.0 + x[i] / 4.0)))); }
    s
} }
numbers! { leapfrog in ANY; 1e-11; true; (x, d) {
    let n = x.len();
    let (mut p, mut q) = (x.to_vec(), vec![0.1; n]);
    for _ in 0..4 {
        for i in 1..n.saturating_sub(1) { q[i] += 0.05 * (p[i + 1] - 2.0 * p[i] + p[i - 1]) / 0.25 - 0.05 * d * p[i] * p[i] / 2.0; }
        for i in 0..n { p[i] += 0.05 * q[i] / 2.0 * 2.0; }
    }
    p.iter().map(|v| 0.5 * v * v).sum::<f64>() + q.iter().sum::<f64>() / 3.0
} }
numbers! { one_number_for_several in POSITIVE; 1e-11; true; (x, d) {
    // (d·x)·½, (d·y)·½, and the opposite number.
    let mut s = 0.0;
    for i in 2..x.len() {
        let (a, b, c) = (x[i - 2], x[i - 1], x[i]);
        s += 0.3 * (a * b * c) - 0.3 * (a * b / c) + -0.3 * (c * a).sqrt() + 0.3 * d * (a - b);
    }
    s
} }
numbers! { gravity in POSITIVE; 1e-11; true; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { for j in 0..i {
        let r = x[i] - x[j];
        let q = r * r + 0.01;
        s -= d * 6.674 * x[i] * x[j] / q.sqrt() / 2.0 + 0.5 * r * r / 1e-2;
    } }
    s
} }
numbers! { limits_of_the_coefficients in ANY; 1e-11; false; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * x[i] * 1e6 * 1e6 + x[i] * d * 1e6 * 1.000001e6 - x[i] / 1e6 / 1e6 * d - x[i] * x[i] / 1e6 / 1.1e6 / 1e300;
    }
    s
} }
