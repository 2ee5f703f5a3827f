//! `tabulate`: loops of every form, elements that nobody picks, single precision.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { backwards in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in (0..k.len()).rev() { s = 0.9 * s + a[k[i]].exp() * x[i]; }
    s
} }
table! { from_two in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 2..k.len() { s += a[k[i]].exp() * x[i - 2] + a[k[i - 1]].ln(); }
    s
} }
table! { by_three in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in (1..k.len()).step_by(3) { s += a[k[i]].exp() * x[i]; }
    s
} }
table! { zipped in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for (&g, x) in k.iter().zip(x) { s += a[g].exp() * x + b[g].sqrt().ln(); }
    s
} }
table! { summed_by_iterators in POSITIVE; (a, b, k, x) {
    k.iter().zip(x.iter()).map(|(g, v)| a[*g].exp() * v / b[*g].sqrt()).sum::<f64>() + k.iter().rev().map(|g| a[*g].ln()).fold(0.0, |s, v| s * 0.5 + v)
} }
table! { filtered in ANY; (a, b, k, x) {
    k.iter().zip(x).filter(|(g, _)| a[**g] > 0.0).map(|(g, v)| a[*g].ln() * v).sum()
} }
table! { enumerated in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for (i, g) in k.iter().enumerate().skip(1) { s += a[*g].exp() * x[i] * i as f64; }
    s
} }
table! { while_loop in POSITIVE; (a, b, k, x) {
    let (mut s, mut i) = (0.0, 0);
    while i < k.len() { s += a[k[i]].exp() * x[i]; i += 1; }
    s
} }
table! { inclusive in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 1..=k.len() { s += a[k[i - 1]].exp() * x[i - 1]; }
    s
} }
table! { empty_range in POSITIVE; (a, b, k, x) {
    let mut s = 1.0;
    let mut first = 5;
    if x.len() > 20 { first = 1; }
    for i in first..k.len().min(9) { s += a[k[i]].exp() * x[i]; }
    s
} }
table! { range_ends_before_it_starts in POSITIVE; (a, b, k, x) {
    let (lo, hi) = (k.len(), k.len() / 2);
    let mut s = 1.0;
    for i in lo..hi { s += a[k[i]].exp() * x[i]; }
    for i in hi..lo { s += a[k[i]].exp() * x[i]; }
    s
} }
table! { outer_loop_picks in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        for j in 0..x.len().min(4) { s += e * x[j] * b[k[i]].ln(); }
    }
    s
} }
table! { inner_loop_picks in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for j in 0..x.len().min(3) { for i in 0..k.len() { s += a[k[i]].exp() * x[j] * b[k[i]].sqrt(); } }
    s
} }
table! { both_loops_pick in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for j in 0..k.len().min(3) { for i in 0..k.len() { s += (a[k[i]] * b[k[j]]).exp() * x[i] + a[k[j]].ln(); } }
    s
} }
table! { triangle in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { for j in 0..i.min(6) { s += a[k[j]].exp() * x[i] * b[k[i]].ln(); } }
    s
} }
table! { list_changes_between_rounds in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    for _ in 0..3 {
        let mut t = 0.0;
        for i in 0..k.len() { t += (-c[k[i]]).exp() * x[i]; }
        for v in c.iter_mut() { *v = 0.5 * *v + 0.1 * t.sin(); }
        s += t;
    }
    s
} }
table! { index_changes_between_rounds in POSITIVE; (a, b, k, x) {
    let mut q = k.to_vec();
    let mut s = 0.0;
    for r in 0..3 {
        for i in 0..q.len() { s += (a[q[i]] * (r + 1) as f64).exp() * x[i]; }
        for g in q.iter_mut() { *g = (*g + 1) % a.len(); }
    }
    s
} }
table! { chunks_of_indices in POSITIVE; (a, b, k, x) {
    let mut s = 0.0;
    for (e, x) in k.chunks_exact(2).zip(x) { s += (a[e[0]] - a[e[1]]).exp() * x + b[e[0]].ln() * b[e[1]].sqrt(); }
    s
} }
twice! { unpicked; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].sqrt() * x[i] + a[k[i]].ln() / a[k[i]].powf(0.5) + 1.0 / a[k[i]]; }
    s
} }
#[test]
fn elements_that_nobody_picks() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0, 5e-324] {
        for n in [1, 3, 7, 8, 20, 50] {
            let mut rng = Rng::new(n as u64);
            let k: Vec<usize> = rng.picks(n, 3).iter().map(|g| g * 2).collect();
            let mut v = rng.fill(5 + n, 0.3, 1.5);
            (v[1], v[3]) = (bad, bad);
            let tag = format!("{bad} {n}");
            compare!(
                unpicked,
                Case { tag: &tag, v: v.clone(), differences: false, tolerance: 1e-10 },
                |v| f(&v[..5], &k, &v[5..]),
                |v, dv, w| {
                    let (da, dx) = dv.split_at_mut(5);
                    f_grad(&v[..5], da, &k, &v[5..], dx, w[0])
                }
            );
            let (mut da, mut dx) = (vec![0.0; 5], vec![0.0; n]);
            unpicked::fast::f_grad(&v[..5], &mut da, &k, &v[5..], &mut dx, 1.0);
            assert!(
                da[1] == 0.0 && da[3] == 0.0 && da.iter().all(|v| v.is_finite()),
                "{tag}: {da:?}"
            );
        }
    }
}
twice! { special; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        if c > 0.0 { s += c.sqrt() * x[i]; } else if c < 0.0 { s += (-c).ln() * x[i]; } else { s += x[i]; }
        if x[i] > 1.0 { s += (c * c).sqrt(); }
    }
    s
} }
#[test]
fn elements_behind_branches() {
    for bad in [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::NAN, 5e-324] {
        for n in [1, 3, 7, 8, 20, 50] {
            let mut rng = Rng::new(n as u64);
            let k = rng.picks(n, 4);
            let mut v = rng.fill(4 + n, -1.0, 1.0);
            v[1] = bad;
            compare!(
                special,
                Case { tag: &format!("{bad} {n}"), v, differences: false, tolerance: 1e-10 },
                |v| f(&v[..4], &k, &v[4..]),
                |v, dv, w| {
                    let (da, dx) = dv.split_at_mut(4);
                    f_grad(&v[..4], da, &k, &v[4..], dx, w[0])
                }
            );
        }
    }
}
twice! { unused; fn f(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
    // The exponential is used in some iterations: where it is infinite, in none.
    let mut s = 0.0;
    for i in 0..k.len() {
        let e = a[k[i]].exp();
        let r = a[k[i]].abs().sqrt();
        if x[i] > 0.0 { s += e * x[i] + r; } else { s -= x[i]; }
    }
    s
} }
#[test]
fn infinite_where_it_is_not_used() {
    for bad in [0.0, 800.0, -800.0, f64::INFINITY] {
        for n in [2, 7, 8, 20, 50] {
            let mut rng = Rng::new(n as u64);
            let k = rng.picks(n, 4);
            let mut v = rng.fill(4 + n, -1.0, 1.0);
            v[2] = bad;
            for i in 0..n {
                if k[i] == 2 {
                    v[4 + i] = -v[4 + i].abs();
                }
            }
            compare!(
                unused,
                Case { tag: &format!("{bad} {n}"), v, differences: false, tolerance: 1e-10 },
                |v| f(&v[..4], &k, &v[4..]),
                |v, dv, w| {
                    let (da, dx) = dv.split_at_mut(4);
                    f_grad(&v[..4], da, &k, &v[4..], dx, w[0])
                }
            );
        }
    }
}
twice! { single; fn f(a: &[f32], b: &[f32], k: &[usize], x: &[f32]) -> f32 {
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = a[k[i]];
        s += c.exp() * x[i] + if c > 1.0 { c.ln() / b[k[i]].sqrt() } else { c.powf(b[k[i]]) };
    }
    s
} }
#[test]
fn single_precision() {
    for (m, n) in SHAPES {
        let mut rng = Rng::new((m * 31 + n) as u64);
        let k = rng.picks(n, m);
        let v = rng.fill(2 * m + n, 0.3, 1.5);
        let low = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<f32>>();
        compare!(
            single,
            Case { tag: &format!("{m} {n}"), v, differences: false, tolerance: 1e-5 },
            |v| {
                let v = low(v);
                f(&v[..m], &v[m..2 * m], &k, &v[2 * m..])
            },
            |v, dv, w| {
                let v = low(v);
                let mut d = vec![0.0_f32; v.len()];
                let (da, dd) = d.split_at_mut(m);
                let (db, dx) = dd.split_at_mut(m);
                let s = f_grad(&v[..m], da, &v[m..2 * m], db, &k, &v[2 * m..], dx, w[0] as f32);
                for (a, b) in dv.iter_mut().zip(&d) {
                    *a += *b as f64;
                }
                s
            }
        );
    }
}
