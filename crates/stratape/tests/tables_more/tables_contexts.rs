//! `tabulate`: helpers, recursion, loops under `#[checkpoint]` and `#[parallel]`, several functions.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { helper in POSITIVE; {
    fn scale(a: &[f64], at: usize) -> f64 { a[at].exp() / (1.0 + a[at]).sqrt() }
} (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += scale(a, k[i]) * x[i] + scale(b, k[i]); }
    s
} }
table! { loop_in_a_helper in POSITIVE; {
    fn total(a: &[f64], k: &[usize], x: &[f64], t: f64) -> f64 {
        let mut s = 0.0;
        for i in 0..k.len() { s += (t * a[k[i]]).exp() * x[i]; }
        s
    }
} (a, b, k, x) {
    let s = total(a, k, x, 0.5);
    total(a, k, x, s.sin()) + total(b, &k[k.len() / 2..], x, 1.0)
} }
table! { recursive_helper in POSITIVE; {
    fn power(x: f64, n: usize) -> f64 { if n == 0 { 1.0 } else { x * power(x, n - 1) } }
} (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += power(a[k[i]], k[i] % 4) * x[i] + b[k[i]].exp(); }
    s
} }
table! { recursion_over_the_loop in POSITIVE; {
    fn halves(a: &[f64], k: &[usize], x: &[f64]) -> f64 {
        if k.len() > 4 {
            let h = k.len() / 2;
            return halves(a, &k[..h], &x[..h]) * 0.5 + halves(a, &k[h..], &x[h..]);
        }
        let mut s = 0.0;
        for i in 0..k.len() { s += a[k[i]].exp() * x[i]; }
        s
    }
} (a, b, k, x) {
    halves(a, k, &x[..k.len()]) + halves(b, k, &x[..k.len()])
} }
table! { pullback in POSITIVE; {
    fn root(a: f64) -> f64 { a.sqrt() }
    #[stratape::pullback(of = root)]
    fn root_back(a: f64, seed: f64) -> f64 { seed * 0.5 / a.sqrt() }
    #[stratape::constant]
    fn level(a: f64) -> f64 { a.exp().floor() }
} (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += root(a[k[i]]) * x[i] * level(0.01 * a[k[i]]) + b[k[i]].ln(); }
    s
} }
table! { checkpointed in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    #[checkpoint(slots = 2)]
    for _ in 0..5 {
        for i in 0..k.len() { s += (-c[k[i]]).exp() * x[i] + b[k[i]].ln(); }
        for v in c.iter_mut() { *v = (*v + 0.1 * s.sin()).abs().sqrt(); }
    }
    s
} }
table! { checkpointed_itself in POSITIVE; (a, b, k, x) {
    let mut s = 0.1;
    #[checkpoint(slots = 3)]
    for i in 0..k.len() { s = (s + a[k[i]].exp() * x[i] / b[k[i]].sqrt()).sin(); }
    s
} }
table! { parallel in POSITIVE; (a, b, k, x) {
    let mut y = vec![0.0; k.len()];
    #[parallel]
    for i in 0..y.len() { y[i] = a[k[i]].exp() * x[i] + b[k[i]].ln(); }
    y.iter().map(|v| v * v).sum()
} }
table! { parallel_rows in POSITIVE; (a, b, k, x) {
    let mut y = vec![0.0; 3];
    #[parallel]
    for r in 0..y.len() {
        let mut s = 0.0;
        for i in 0..k.len() { s += a[k[i]].exp() * x[i] * (r + 1) as f64; }
        y[r] = s;
    }
    y[0] * y[1] + y[2]
} }
table! { traits in POSITIVE; {
    trait Law { fn at(&self, x: f64) -> f64; }
    #[derive(Clone, Copy)]
    struct Decay { rate: f64, order: f64 }
    impl Law for Decay { fn at(&self, x: f64) -> f64 { x * (-self.rate).exp() / self.order.powf(1.5) } }
} (a, b, k, x) {
    let laws: Vec<Decay> = a.iter().zip(b).map(|(a, b)| Decay { rate: *a, order: *b }).collect();
    k.iter().zip(x).map(|(g, x)| laws[*g].at(*x)).sum()
} }
table! { closure in POSITIVE; (a, b, k, x) {
    let t = 0.7;
    let weight = |g: usize| (-a[g] * t).exp() / b[g].sqrt();
    let mut s = 0.0;
    for i in 0..k.len() { s += weight(k[i]) * x[i]; }
    for i in 0..k.len() { s += weight(k[i]) * x[i] * x[i]; }
    s
} }
table! { generic in POSITIVE; {
    struct Grid<'a> { nodes: &'a [f64], sides: &'a [f64] }
    impl Grid<'_> {
        fn area(&self, at: usize) -> f64 { (self.nodes[at] * self.sides[at]).sqrt() / self.nodes[at].exp() }
    }
} (a, b, k, x) {
    let grid = Grid { nodes: a, sides: b };
    let mut s = 0.0;
    for (g, v) in k.iter().zip(x) { s += grid.area(*g) * v; }
    s
} }
table! { enums in POSITIVE; {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind { Exponential, Root, Nothing }
    fn kind(at: usize) -> Kind { match at % 3 { 0 => Kind::Exponential, 1 => Kind::Root, _ => Kind::Nothing } }
} (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() {
        s += x[i] * match kind(k[i]) { Kind::Exponential => a[k[i]].exp(), Kind::Root => b[k[i]].sqrt().ln(), Kind::Nothing => a[k[i]] };
    }
    s
} }
table! { mixed_effects in POSITIVE; (a, b, k, x) {
    // A model as statisticians write it: groups, a logistic link, a prior.
    let n = k.len();
    let mut log = 0.0;
    for g in 0..a.len() { log -= 0.5 * (a[g] / 0.8) * (a[g] / 0.8) + 0.8_f64.ln(); }
    for i in 0..n {
        let eta = a[k[i]] + x[i] * b[k[i]].exp();
        let p = 1.0 / (1.0 + (-eta).exp());
        log += if i % 2 == 0 { p.ln() } else { (1.0 - p).ln() };
    }
    log
} }
table! { springs in POSITIVE; (a, b, k, x) {
    // Ends of springs by index, masses by node: two indices into one list.
    let mut f = vec![0.0; a.len()];
    for e in 1..k.len() {
        let (p, q) = (k[e - 1], k[e]);
        let d = a[p] - a[q] + 0.01;
        let l = (d * d + 0.25).sqrt();
        let t = (l - x[e]) / l;
        f[p] += t * d / b[p].sqrt();
        f[q] -= t * d / b[q].sqrt();
    }
    f.iter().map(|v| v * v).sum()
} }
table! { mutable_parameters_of_helpers in POSITIVE; {
    fn add(y: &mut [f64], a: &[f64], k: usize, x: f64) { y[k] += a[k].exp() * x; }
} (a, b, k, x) {
    let mut y = vec![0.0; a.len()];
    for i in 0..k.len() { add(&mut y, a, k[i], x[i]); }
    for i in 0..k.len() { add(&mut y, b, k[i], x[i] * 0.5); }
    y.iter().map(|v| v.sin()).sum()
} }
