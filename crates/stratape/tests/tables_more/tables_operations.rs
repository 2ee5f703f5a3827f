//! `tabulate`: every slow operation, and what is used of it where.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { exponential in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].exp() * x[i]; }
    s
} }
table! { rotation in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let (sin, cos) = a[k[i]].sin_cos();
        s += cos * x[i] - sin * x[i] * x[i];
    }
    s
} }
table! { root_and_quotient in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let r = 1.0 / (1.0 + a[k[i]].sqrt());
        s += r * x[i] * b[k[i]] / a[k[i]];
    }
    s
} }
table! { power in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].powf(b[k[i]]) * x[i]; }
    s
} }
table! { logarithm_of_exponentials in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let g = k[i];
        let h = (a[g].exp() + b[g].exp()).ln();
        s += (h - x[i]) * (h - x[i]) / b[g].exp();
    }
    s
} }
table! { power_of_the_iteration in POSITIVE; (a, b, k, x) {
    // The exponent is the iteration's: only the logarithm can be in a table.
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].powf(x[i]) + a[k[i]].ln() * x[i]; }
    s
} }
table! { with_a_scalar_of_outside in POSITIVE; (a, b, k, x) {
    let t = x.first().copied().unwrap_or(0.5);
    let mut s = 0.0;
    for i in 0..k.len() { s += (-t * a[k[i]]).exp() * x[i] + (t / b[k[i]]).tanh(); }
    s
} }
table! { scalar_that_is_carried in POSITIVE; (a, b, k, x) {
    // The exponential depends on what the iterations before it left.
    let (mut s, mut t) = (0.0, 0.3);
    for i in 0..k.len() {
        let e = (-t * a[k[i]]).exp();
        s += e * x[i] + a[k[i]].exp();
        t = 0.5 * t + 0.1 * e;
    }
    s + t
} }
table! { recurrence in POSITIVE; (a, b, k, x) {
    let mut s = 0.2;
    for i in 0..k.len() { s = s * (-a[k[i]].exp()).exp() + b[k[i]].ln() * x[i]; }
    s
} }
table! { normal_density in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..x.len() {
        let (mean, sigma) = (a[k[i]], b[k[i]].exp());
        let z = (x[i] - mean) / sigma;
        s -= 0.5 * z * z + sigma.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
    }
    s
} }
table! { hyperbolic in ANY; (a, b, k, x) {
    let mut s = 1.0;
    for i in 0..k.len() { s += a[k[i]].tanh() * b[k[i]].sinh() - x[i] * a[k[i]].atan2(b[k[i]]) + a[k[i]].hypot(b[k[i]]); }
    s
} }
table! { iterated in ANY; (a, b, k, x) {
    // A loop that depends on the element alone.
    let mut s = 0.0;
    for i in 0..k.len() {
        let mut t = a[k[i]];
        for _ in 0..4 { t = t.cos() + 0.1 * b[k[i]]; }
        s += t * x[i];
    }
    s
} }
table! { newton in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        let mut t = 1.0;
        while (t * t * t - c) * (t * t * t - c) > 1e-26 { t -= (t * t * t - c) / (3.0 * t * t); }
        s += t * x[i];
    }
    s
} }
table! { only_in_an_inner_loop in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        let r = b[k[i]].sqrt() / a[k[i]];
        for j in 0..3 { s += e * x[i] * (j as f64 + r); }
    }
    s
} }
table! { only_in_an_inner_loop_that_may_not_run in ANY; (a, b, k, x) {
    // The roots of negative numbers are NaN, and are used by nobody.
    let mut s = 0.0;
    for i in 0..k.len() {
        let r = a[k[i]].sqrt();
        let rounds = if a[k[i]] > 0.0 { 2 } else { 0 };
        for j in 0..rounds { s += r * x[i] * (j as f64 + 1.0); }
    }
    s
} }
table! { element_itself_too in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        s += c * x[i] + c.exp() * c.ln() + a[0].exp();
    }
    s
} }
table! { product_of_all in POSITIVE; (a, b, k, x) {
    let mut p = 1.0;
    for i in 0..k.len() { p *= (0.1 * a[k[i]]).exp() * (1.0 + 0.01 * x[i]).sqrt(); }
    p
} }
table! { greatest in POSITIVE; (a, b, k, x) {
    let mut best = f64::NEG_INFINITY;
    for i in 0..k.len() { best = best.max(a[k[i]].exp() * x[i] + b[k[i]].ln()); }
    if k.is_empty() { 0.0 } else { best }
} }
table! { two_sums in POSITIVE; (a, b, k, x) {
    let (mut s, mut t) = (0.0, 0.0);
    for i in 0..k.len() { s += a[k[i]].exp() * x[i]; }
    for i in 0..k.len() { t += a[k[i]].exp() * x[i] * x[i] + b[k[i]].exp(); }
    s * t.sqrt()
} }
table! { means in POSITIVE; (a, b, k, x) {
    // Two divisions, no function.
    let mut s = 0.0;
    for i in 0..k.len() { s += x[i] / a[k[i]] + 1.0 / (a[k[i]] + b[k[i]]) + b[k[i]] / a[k[i]]; }
    s / k.len().max(1) as f64
} }
table! { printed_and_asserted in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        assert!(e > 1.0, "{e} is too small at {i}");
        assert!(x[i].is_finite());
        s += e * x[i];
    }
    s
} }
table! { asserted_of_the_element in ANY; (a, b, k, x) {
    // Panics at the first negative element that is picked.
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        assert!(c > -1.2, "element {} is {c}", k[i]);
        s += (c + 1.2).ln() * x[i];
    }
    s
} }
