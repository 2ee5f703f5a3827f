//! `tabulate`: indices that are computed, indices of lists that change, several indices.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { remainder in ANY; (a, b, k, x) {
    let mut s = 0.0;
    let g = a.len();
    for i in 0..x.len() { s += a[i % g].exp() * x[i] + b[i % g].cos(); }
    s
} }
table! { quotient in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    let g = 3;
    for i in 0..x.len() { if i / g < a.len() { s += a[i / g].ln() * x[i]; } }
    s
} }
table! { quotient_unguarded in POSITIVE; (a, b, k, x) {
    // Panics where the list is shorter than a third of the loop.
    let mut s = 0.0;
    for i in 0..x.len() { s += a[i / 3].ln() * x[i] / b[i / 3].sqrt(); }
    s
} }
table! { clamped in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i].min(a.len() - 1)].powf(1.3) * x[i]; }
    s
} }
table! { neighbours in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let g = k[i];
        let l = if g == 0 { 0 } else { g - 1 };
        s += (a[g] / a[l]).ln() * x[i] + (a[g] * a[l]).sqrt().exp();
    }
    s
} }
table! { two_index_lists in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let j = k[k.len() - 1 - i];
        s += a[k[i]].exp() * b[j].ln() * x[i] + (a[j].sqrt() + b[k[i]].sin()) / a[k[i]];
    }
    s
} }
table! { two_indices_in_one_operation in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += (a[k[i]] - b[i % b.len()]).exp() * x[i]; }
    s
} }
table! { index_of_an_index in POSITIVE; (a, b, k, x) {
    let p: Vec<usize> = (0..a.len()).rev().collect();
    let mut s = 0.0;
    for i in 0..k.len() { s += a[p[k[i]]].exp() * x[i] + b[k[p[k[i]]] % a.len()].ln(); }
    s
} }
table! { index_list_written in POSITIVE; (a, b, k, x) {
    let mut q = k.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += a[q[i]].exp() * x[i];
        if i + 1 < q.len() { q[i + 1] = (q[i + 1] + q[i]) % a.len(); }
    }
    s
} }
table! { index_list_written_behind in POSITIVE; (a, b, k, x) {
    let mut q = k.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += a[q[i]].exp() * x[i];
        q[i] = 7;
    }
    s + q.iter().sum::<usize>() as f64
} }
table! { index_that_is_carried in POSITIVE; (a, b, k, x) {
    let (mut s, mut at) = (0.0, 0);
    for i in 0..k.len() {
        at = (at + k[i]) % a.len();
        s += a[at].exp() * x[i] + b[at].ln();
    }
    s
} }
table! { index_of_a_number in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..x.len() {
        let g = (x[i] * 10.0) as usize % a.len();
        s += a[g].exp() * x[i] + b[g].sqrt();
    }
    s
} }
table! { slow_result_as_an_index in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let r = (4.0 * a[k[i]].sqrt()) as usize;
        s += b[r % b.len()] * x[i] + a[k[i]].ln();
    }
    s
} }
table! { slow_result_as_an_index_unguarded in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += b[(a[k[i]].exp() * 1.5) as usize] * x[i] * a[k[i]].ln(); }
    s
} }
table! { integer_table in POSITIVE; (a, b, k, x) {
    // Integers and truth values of the element.
    let (mut s, mut count) = (0.0, 0);
    for i in 0..k.len() {
        let steps = (a[k[i]].exp() * 2.0).floor() as i32;
        let even = steps % 2 == 0;
        if even { count += steps; }
        s += x[i].powi(steps) + if even { a[k[i]].ln() } else { b[k[i]].exp() };
    }
    s + count as f64
} }
table! { number_of_rounds in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let rounds = (a[k[i]].exp()) as usize;
        let mut t = x[i];
        for _ in 0..rounds { t = t.sin() + b[k[i]].sqrt(); }
        s += t;
    }
    s
} }
table! { stride in POSITIVE; (a, b, k, x) {
    let g = a.len() / 2;
    let mut s = 0.0;
    for i in 0..x.len() {
        if g == 0 { continue; }
        let j = 2 * (i % g) + 1;
        s += (a[j - 1] - a[j]).exp() * x[i];
    }
    s
} }
table! { picked_by_bits in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..x.len() { s += a[(i ^ 1) & 1].exp() * x[i] + b[(i >> 1) % b.len()].ln(); }
    s
} }
table! { narrow_indices in POSITIVE; (a, b, k, x) {
    let q: Vec<u8> = k.iter().map(|v| (*v % 256) as u8).collect();
    let mut s = 0.0;
    for i in 0..q.len() { s += a[q[i] as usize].exp() * x[i] / b[q[i] as usize].sqrt(); }
    s
} }
table! { signed_indices in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    let last = a.len() as i64 - 1;
    for i in 0..k.len() {
        let j = last - (k[i] as i64).rem_euclid(a.len() as i64);
        s += a[j as usize].exp() * x[i];
    }
    s
} }
table! { index_that_underflows in POSITIVE; (a, b, k, x) {
    // `k[i] - 1` of zero overflows, or is beyond the list.
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i].wrapping_sub(1)].exp() * x[i]; }
    s
} }
table! { fixed_element in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..x.len() { s += a[0].exp() * x[i] + a[a.len() - 1].ln(); }
    s
} }
