//! `tabulate`: lists of different lengths behind branches, operations that panic, indices that are guarded, zero times infinity.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { shorter_list_in_the_other_arm in ANY; (a, b, k, x) {
    // The second list has no element for those that are positive.
    let mut s = 0.0;
    for i in 0..k.len() { if a[k[i]] > 0.0 { s += a[k[i]].ln() * x[i]; } else { s += b[k[i]]; } }
    s
} }
table! { shorter_list_of_odd_elements in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { if k[i] % 2 == 0 { s += a[k[i]].exp() * x[i]; } else { s += b[k[i] / 2] * a[k[i]].cos(); } }
    s
} }
table! { shorter_list_of_other_elements in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += if k[i] >= b.len() { a[k[i]].exp() } else { b[k[i]].sin().exp() * a[k[i]] } * x[i]; }
    s
} }
table! { shorter_first_list in ANY; (a, b, k, x) {
    // The other way round: the list of the slow operation is the shorter one.
    let mut s = 0.0;
    for i in 0..k.len() { if a[k[i]] > 0.0 { s += a[k[i]] * x[i]; } else { s += b[k[i]].exp() * x[i]; } }
    s
} }
table! { shorter_list_of_a_marked_element in ANY; (a, b, k, x) {
    let marked: Vec<bool> = (0..a.len()).map(|g| g < b.len()).collect();
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        s += if marked[k[i]] { b[k[i]].exp() * x[i] + e } else { e };
    }
    s
} }
table! { shorter_list_in_an_inner_loop in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        let rounds = if a[k[i]] > 0.0 { 0 } else { 2 };
        for j in 0..rounds { s += e * b[k[i]] * x[i]; }
        s += e;
    }
    s
} }
table! { shorter_list_after_continue in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        s += a[k[i]].exp() * x[i];
        if a[k[i]] > 0.0 { continue; }
        s += b[k[i]].cos();
    }
    s
} }
table! { shorter_list_in_nested_branches in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        if x[i] > -1.0 {
            if a[k[i]] > 0.0 { s += a[k[i]].ln() * x[i]; } else if a[k[i]] > -0.5 { s += b[k[i]].exp(); }
        }
    }
    s
} }
table! { index_list_too_short in ANY; (a, b, k, x) {
    // As many iterations as numbers: where the index list is shorter, by the branch none is missing.
    let q = &k[..k.len() - k.len() / 4];
    let mut s = 0.0;
    for i in 0..k.len() { if i < q.len() { s += a[q[i]].exp() * x[i]; } else { s += b[0].cos(); } }
    s
} }
table! { shorter_list_in_one_iteration in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        s += a[k[i]].exp() * x[i];
        if x[i] > 0.9 { s += b[k[i]]; }
    }
    s
} }
table! { shorter_list_behind_its_length in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        s += a[k[i]].exp() * x[i];
        if k[i] < b.len() { s += b[k[i]].cos() * x[i]; }
    }
    s
} }
table! { shorter_list_by_get in ANY; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].exp() * x[i] + b.get(k[i]).copied().unwrap_or(0.5); }
    s
} }
table! { shorter_list_written in ANY; (a, b, k, x) {
    let mut c = vec![0.0; b.len()];
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        s += e * x[i];
        if a[k[i]] < 0.0 { c[k[i]] += e; }
    }
    s + c.iter().map(|v| v * v).sum::<f64>()
} }
table! { shorter_fixed_array in ANY; (a, b, k, x) {
    let c = [0.5, 1.5];
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].exp() * x[i] + if k[i] < 2 { c[k[i]] } else { 0.0 }; }
    s
} }
table! { shorter_integer_list in POSITIVE; (a, b, k, x) {
    let c: Vec<usize> = (0..a.len() / 2).collect();
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].exp() * x[i] + if k[i] < c.len() { a[c[k[i]]].ln() } else { 0.0 }; }
    s
} }
table! { index_guarded_by_the_iteration in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..x.len() + 3 { if i < k.len() { s += a[k[i]].exp() * x[i] / b[k[i]].sqrt(); } }
    s
} }
table! { remainder_by_zero_guarded in POSITIVE; (a, b, k, x) {
    let g = b.len().saturating_sub(2);
    let mut s = 0.0;
    for i in 0..x.len() { if g > 0 { s += a[i % g].exp() * x[i] + a[i / g % g].ln(); } else { s += x[i]; } }
    s
} }
table! { subtraction_guarded in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { if k[i] > 0 { s += a[k[i] - 1].exp() * x[i] + (a[k[i]] / a[k[i] - 1]).ln(); } }
    s
} }
table! { integer_quotient_of_the_element in POSITIVE; (a, b, k, x) {
    // Panics where a quotient is by zero, in iterations that reach it only.
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = (a[k[i]].exp() - 1.0) as usize;
        if x[i] > 1.0 { s += (6 / e) as f64 * x[i]; }
        s += a[k[i]].ln() * e as f64;
    }
    s
} }
table! { integer_overflow_of_the_element in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = (a[k[i]].exp() * 40.0) as u8;
        let t = if a[k[i]] < 1.0 { e + 130 } else { e };
        s += t as f64 * x[i] + a[k[i]].sqrt().ln();
    }
    s
} }
table! { unwrap_of_the_element in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let r = if a[k[i]] > 0.4 { Some((a[k[i]] - 0.4).ln()) } else { None };
        if x[i] > 0.5 { s += r.unwrap() * x[i]; }
    }
    s
} }
table! { element_by_two_levels in POSITIVE; (a, b, k, x) {
    // The slow operation picks another element by its result.
    let mut s = 0.0;
    for i in 0..k.len() {
        let j = (3.0 * a[k[i]].sqrt()) as usize;
        s += (a[k[i]] * b[j % b.len()]).exp() * x[i] + b[k[i]].ln() * a[j.min(a.len() - 1)].ln();
    }
    s
} }
table! { edges in POSITIVE; (a, b, k, x) {
    let e: Vec<(usize, usize)> = (1..k.len()).map(|i| (k[i - 1], k[i])).collect();
    let mut s = 0.0;
    for (i, &(p, q)) in e.iter().enumerate() { s += (a[p].exp() - a[q].exp()) * x[i] + (b[p] * b[q]).sqrt() / a[p]; }
    s
} }
table! { lists_by_two_indices in POSITIVE; (a, b, k, x) {
    let p: Vec<Vec<f64>> = vec![a.to_vec(), b.to_vec()];
    let mut s = 0.0;
    for i in 0..k.len() { s += p[i % 2][k[i]].exp() * x[i]; }
    s
} }
table! { length_of_a_list_that_is_picked in POSITIVE; (a, b, k, x) {
    let p: Vec<Vec<f64>> = (0..a.len()).map(|g| a[..g].to_vec()).collect();
    let mut s = 0.0;
    for i in 0..k.len() { s += p[k[i]].iter().map(|v| v.exp()).sum::<f64>() * x[i] + a[k[i]].ln(); }
    s
} }
table! { sum_over_a_row in POSITIVE; (a, b, k, x) {
    // A loop of the element alone, over a list.
    let mut s = 0.0;
    for i in 0..k.len() {
        let mut z = 0.0;
        for j in 0..b.len() { z += (a[k[i]] * b[j]).exp(); }
        s += (x[i] - z.ln()) * a[k[i]].exp() / z;
    }
    s
} }
table! { assertion_about_the_table in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        if x[i] > 1.0 { assert!(e < 5.0, "too large"); }
        s += e * x[i];
    }
    s
} }
table! { effects_before_a_panic in POSITIVE; (a, b, k, x) {
    let mut y = vec![0.0; 2];
    for i in 0..k.len() { y[(a[k[i]].exp() * 0.5) as usize] += x[i] * a[k[i]].ln(); }
    y[0] * y[1]
} }
twice! { guarded; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() {
        if x[i] > 0.0 { s += a[k[i]].sqrt() * x[i] + 1.0 / a[k[i]]; } else { s += x[i] * x[i]; }
    }
    s
} }
twice! { guarded_inner; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        s += c.exp() * x[i];
        if x[i] > 0.0 { for j in 0..2 { s += c.sqrt().ln() * x[i] * j as f64; } }
    }
    s
} }
twice! { guarded_continue; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() {
        if x[i] <= 0.0 { continue; }
        let c = a[k[i]];
        s += c.sqrt() * x[i] + c.ln();
    }
    s
} }
twice! { guarded_filter; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    k.iter().zip(x).filter(|(_, x)| **x > 0.0).map(|(g, x)| a[*g].sqrt() * x + a[*g].ln()).sum()
} }
macro_rules! guards {
    ($($name:ident $test:ident)*) => { $(
        #[test]
        fn $test() {
            for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324] {
                for n in [2, 7, 8, 20, 50] {
                    let mut rng = Rng::new(n as u64);
                    let k = rng.picks(n, 4);
                    let mut v = rng.fill(4 + n, 0.2, 1.0);
                    if bad.is_nan() && stringify!($name) == "guarded_inner" { continue; }
                    v[2] = bad;
                    for i in 0..n { if k[i] == 2 { v[4 + i] = -v[4 + i]; } }
                    let tag = format!("{} {bad} {n}", stringify!($name));
                    compare!($name, Case { tag: &tag, v: v.clone(), differences: false, tolerance: 1e-10 },
                        |v| f(&v[..4], &k, &v[4..]),
                        |v, dv, w| { let (da, dx) = dv.split_at_mut(4); f_grad(&v[..4], da, &k, &v[4..], dx, w[0]) });
                    let (mut da, mut dx) = (vec![0.0; 4], vec![0.0; n]);
                    $name::fast::f_grad(&v[..4], &mut da, &k, &v[4..], &mut dx, 1.0);
                    if bad.is_finite() { assert!(da.iter().chain(&dx).all(|v| v.is_finite()), "{tag}: {da:?} {dx:?}"); }
                }
            }
        }
    )* };
}
guards! { guarded guarded_by_a_branch guarded_inner guarded_in_an_inner_loop guarded_continue guarded_by_continue guarded_filter guarded_by_a_filter }
