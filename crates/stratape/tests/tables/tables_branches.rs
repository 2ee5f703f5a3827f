//! `tabulate`: branches that depend on the element, and on the iteration.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { of_the_element in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        let r = if c > 0.0 { c.sqrt() } else { -c };
        s += r * x[i];
    }
    s
} }
table! { nested in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let (c, d) = (a[k[i]], b[k[i]]);
        let r = if c > 0.0 {
            if d > 0.0 { c.ln() * d.sqrt() } else if d < -1.0 { c.exp() / d } else { c.powf(1.0 + d * d) }
        } else if d > c { (d - c).sqrt() } else { 0.0 };
        s += r * x[i];
    }
    s
} }
table! { of_the_iteration in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        s += if x[i] > 0.0 { c.exp() * x[i] } else { c.cos() * x[i] };
    }
    s
} }
table! { of_both in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        if c > 0.0 && x[i] > c { s += c.ln() * x[i]; } else if c > 0.0 { s -= c.sqrt(); }
        s += b[k[i]].exp();
    }
    s
} }
table! { of_the_iteration_then_of_the_element in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        if x[i] > 0.2 {
            if a[k[i]] > 0.0 { s += a[k[i]].ln() * x[i]; } else { s += (-a[k[i]]).powf(0.3); }
        }
    }
    s
} }
table! { inside_and_outside in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        let q = e / (1.0 + b[k[i]] * b[k[i]]);
        if x[i] > 0.0 { s += e * x[i]; }
        s += q;
    }
    s
} }
table! { root_of_negative_that_a_branch_skips in ANY; (a, b, k, x) {
    // The root is computed always, and used where it is a number.
    let mut s = 0.0;
    for i in 0..k.len() {
        let r = (a[k[i]] * a[k[i]] * a[k[i]].signum()).sqrt();
        if a[k[i]] > 0.0 { s += r * x[i]; }
    }
    s
} }
table! { skipped in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        if a[k[i]] <= 0.0 { continue; }
        s += a[k[i]].ln() * x[i] + a[k[i]].sqrt() / b[k[i]];
    }
    s
} }
table! { skipped_by_the_iteration in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        if x[i] < 0.0 { continue; }
        let e = a[k[i]].exp();
        if b[k[i]] < 0.0 { s += e; continue; }
        s += e * x[i] * b[k[i]].sqrt();
    }
    s
} }
table! { broken_off in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        if a[k[i]] > 1.2 { break; }
        s += a[k[i]].exp() * x[i];
        if s > 4.0 { break; }
    }
    s
} }
table! { returned_early in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp() / (1.0 + a[k[i]] * a[k[i]]);
        s += e * x[i];
        if s > 2.0 { return s * e; }
    }
    s
} }
table! { found in ANY; (a, b, k, x) {
    let mut hit = None;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        if e * x[i] > 1.0 { hit = Some(e * e + x[i]); break; }
    }
    hit.unwrap_or(0.5)
} }
table! { matched in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        s += x[i] * match (a[k[i]] > 0.0, k[i] % 3) {
            (true, 0) => a[k[i]].ln(),
            (true, _) => a[k[i]].sqrt() * b[k[i]].exp(),
            (false, 1) => a[k[i]].exp(),
            _ => 1.0 / a[k[i]] / b[k[i]],
        };
    }
    s
} }
table! { option in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let r = (a[k[i]] > 0.0).then(|| a[k[i]].ln());
        if let Some(r) = r { s += r * x[i]; } else { s += b[k[i]].cos(); }
    }
    s
} }
table! { get in ANY; (a, b, k, x) {
    // An index beyond the list is no panic here.
    let mut s = 0.0;
    for i in 0..k.len() { s += a.get(k[i]).map_or(0.1, |c| c.exp()) * x[i]; }
    s
} }
table! { guarded_index in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        if k[i] < a.len() { s += a[k[i]].exp() * x[i]; } else { s += 1.0; }
    }
    s
} }
table! { index_in_a_branch in ANY; (a, b, k, x) {
    // The element is looked at in some iterations only: where it is not, no index panics.
    let mut s = 0.0;
    for i in 0..k.len() { if x[i] > 0.0 { s += a[k[i]].exp() * x[i] + b[k[i]].sin().exp(); } }
    s
} }
table! { at_a_kink in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]].max(0.25).min(b[k[i]].abs() + 0.1);
        s += c.ln() * x[i] + a[k[i]].abs().powf(0.7);
    }
    s
} }
table! { last_choice in ANY; (a, b, k, x) {
    let mut last = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        if x[i] > 0.0 { last = e * x[i]; }
    }
    last
} }
table! { infinite_derivative_unused in ANY; (a, b, k, x) {
    // The root of zero has an infinite derivative: it is used for positive elements only.
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]].max(0.0);
        if c > 0.0 { s += c.sqrt() * x[i] + (c * b[k[i]].abs()).powf(0.25); }
    }
    s
} }
table! { branch_on_the_slow_result in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        let f = if e > 1.0 { e.ln_1p() } else { e.powf(1.5) };
        if f > x[i] { s += f * x[i]; } else { s += e / f; }
    }
    s
} }
