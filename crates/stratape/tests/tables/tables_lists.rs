//! `tabulate`: lists of arrays, tuples and structs, lists that change, arrays of fixed size.
use crate::oracle::*;

const ANY: (f64, f64) = (-1.5, 1.5);
const POSITIVE: (f64, f64) = (0.3, 1.7);

table! { list_of_pairs in POSITIVE; (a, b, k, x) {
    let p: Vec<(f64, f64)> = a.iter().zip(b).map(|(a, b)| (*a, *b)).collect();
    let mut s = 0.0;
    for i in 0..k.len() {
        let (c, d) = p[k[i]];
        s += c.exp() * x[i] + (c / d).ln();
    }
    s
} }
table! { list_of_arrays in POSITIVE; (a, b, k, x) {
    let p: Vec<[f64; 3]> = a.iter().zip(b).map(|(a, b)| [*a, *b, a * b]).collect();
    let mut s = 0.0;
    for i in 0..k.len() {
        let c = p[k[i]];
        let r = 1.0 / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]).sqrt();
        s += r * (c[0] * x[i] - c[1]) + c[i % 3].ln();
    }
    s
} }
table! { list_of_structs in POSITIVE; {
    #[derive(Clone, Copy)]
    struct Camera { angle: [f64; 3], focal: f64 }
    impl Camera {
        fn turned(&self, x: f64) -> f64 {
            let r = (self.angle[0] * self.angle[0] + self.angle[1] * self.angle[1]).sqrt();
            let (s, c) = r.sin_cos();
            self.focal * (c * x + s * self.angle[2] / r)
        }
    }
} (a, b, k, x) {
    let p: Vec<Camera> = a.iter().zip(b).map(|(a, b)| Camera { angle: [*a, *b, a - b], focal: a * b }).collect();
    let mut s = 0.0;
    for i in 0..k.len() { s += p[k[i]].turned(x[i]); }
    s
} }
table! { list_of_lists in POSITIVE; (a, b, k, x) {
    let p: Vec<Vec<f64>> = a.iter().zip(b).map(|(a, b)| vec![*a, *b]).collect();
    let mut s = 0.0;
    for i in 0..k.len() { s += p[k[i]][0].exp() * x[i] + p[k[i]][1].ln(); }
    s
} }
table! { rows_of_a_matrix in POSITIVE; (a, b, k, x) {
    // Rows of two in one list.
    let h = a.len() / 2;
    let mut s = 0.0;
    for i in 0..k.len() {
        if h == 0 { continue; }
        let row = &a[2 * (k[i] % h)..2 * (k[i] % h) + 2];
        s += (row[0] - row[1]).exp() * x[i] / row[1].sqrt();
    }
    s
} }
table! { part_of_a_list in POSITIVE; (a, b, k, x) {
    let c = &a[a.len() / 2..];
    let mut s = 0.0;
    for i in 0..k.len() { s += c[k[i] / 2].exp() * x[i]; }
    s
} }
table! { fixed_array in POSITIVE; (a, b, k, x) {
    let c = [0.5, a.first().copied().unwrap_or(1.0), x.first().copied().unwrap_or(2.0)];
    let mut s = 0.0;
    for i in 0..k.len() { s += c[k[i] % 3].exp() * x[i] + c[k[i] % 3].ln(); }
    s
} }
table! { constants in POSITIVE; {
    const RATES: [f64; 4] = [0.5, -1.0, 0.0, 2.0];
} (a, b, k, x) {
    let mut s = 0.0;
    for i in 0..k.len() { s += RATES[k[i] % 4].exp() * x[i] + (RATES[k[i] % 4] * a[k[i]]).exp(); }
    s
} }
table! { list_written_in_the_loop in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += c[k[i]].exp() * x[i];
        c[k[i]] *= 0.9;
    }
    s
} }
table! { list_written_in_a_branch in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += c[k[i]].exp() * x[i] + b[k[i]].ln();
        if x[i] > 1.6 { c[0] = x[i]; }
    }
    s
} }
table! { list_replaced in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += c[k[i]].exp() * x[i];
        if i == 2 { c = b.to_vec(); }
    }
    s
} }
table! { lists_swapped in POSITIVE; (a, b, k, x) {
    let (mut c, mut d) = (a.to_vec(), b.to_vec());
    let mut s = 0.0;
    for i in 0..k.len() {
        s += c[k[i]].exp() * x[i] + d[k[i]].ln();
        std::mem::swap(&mut c, &mut d);
    }
    s
} }
table! { list_that_grows in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += c[k[i]].exp() * x[i];
        c.push(x[i]);
    }
    s + c[c.len() - 1]
} }
table! { list_that_shrinks in POSITIVE; (a, b, k, x) {
    let mut c = a.to_vec();
    let mut s = 0.0;
    for i in 0..k.len() {
        s += c[k[i]].exp() * x[i];
        if i % 4 == 3 { c.pop(); }
    }
    s
} }
table! { list_of_one_of_two in POSITIVE; (a, b, k, x) {
    let c = if x.len() > 6 { a } else { b };
    let mut s = 0.0;
    for i in 0..k.len() { s += c[k[i]].exp() * x[i]; }
    s
} }
table! { results_in_a_list in POSITIVE; (a, b, k, x) {
    let mut y = vec![0.0; k.len()];
    for i in 0..k.len() { y[i] = a[k[i]].exp() * x[i]; }
    let mut s = 0.0;
    for i in 1..y.len() { s += y[i] * y[i - 1].sin(); }
    s
} }
table! { histogram in POSITIVE; (a, b, k, x) {
    let mut y = vec![0.0; a.len()];
    for i in 0..k.len() { y[k[i]] += a[k[i]].exp() * x[i] / b[k[i]].sqrt(); }
    y.iter().map(|v| v * v).sum()
} }
table! { histogram_that_is_read in POSITIVE; (a, b, k, x) {
    // The exponential is of what the loop writes.
    let mut y = b.to_vec();
    for i in 0..k.len() { y[k[i]] += 0.1 * (-y[k[i]]).exp() * x[i] + 0.1 * a[k[i]].ln(); }
    y.iter().sum()
} }
table! { options_in_a_list in POSITIVE; (a, b, k, x) {
    let p: Vec<Option<f64>> = a.iter().map(|v| (*v > 0.8).then_some(*v)).collect();
    let mut s = 0.0;
    for i in 0..k.len() { if let Some(c) = p[k[i]] { s += c.exp() * x[i]; } }
    s
} }
table! { three_lists in POSITIVE; (a, b, k, x) {
    let c: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + 2.0 * b).collect();
    let mut s = 0.0;
    for i in 0..k.len() {
        let g = k[i];
        s += x[i] * (a[g] * b[g] / c[g]).sqrt() + (c[g] - a[g]).ln();
    }
    s
} }
table! { lists_of_different_lengths in POSITIVE; (a, b, k, x) {
    // Elements beyond the shorter list are not picked, or panic.
    let c = &b[..b.len() - b.len() / 3];
    let mut s = 0.0;
    for i in 0..k.len() { s += (a[k[i]] / c[k[i]]).exp() * x[i]; }
    s
} }
twice! { shared; fn f(a: &mut [f64], k: &[usize], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() { s += a[k[i]].exp() * x[i]; }
    for v in a.iter_mut() { *v *= s; }
    for i in 0..k.len() { s += (0.01 * a[k[i]]).exp() * x[i]; }
    s
} }
#[test]
fn list_changed_between_loops() {
    for (m, n) in SHAPES {
        let mut rng = Rng::new((m * 31 + n) as u64);
        let k = rng.picks(n, m);
        let v = rng.fill(m + n, 0.3, 1.2);
        compare!(
            shared,
            Case { tag: &format!("{m} {n}"), v, differences: true, tolerance: 1e-10 },
            |v| {
                let mut a = v[..m].to_vec();
                let s = f(&mut a, &k, &v[m..]);
                a.push(s);
                a
            },
            |v, dv, w| {
                let (mut a, mut da) = (v[..m].to_vec(), w[..m].to_vec());
                let (d, dx) = dv.split_at_mut(m);
                let s = f_grad(&mut a, &mut da, &k, &v[m..], dx, w[m]);
                for (d, a) in d.iter_mut().zip(&da) {
                    *d += a;
                }
                a.push(s);
                a
            }
        );
    }
}
twice! { given_arrays; fn f(p: &[[f64; 3]], q: &[(f64, usize)], c: &[f64; 5], k: &[usize]) -> f64 {
    let mut s = 0.0;
    for i in 0..k.len() {
        let v = p[k[i]];
        let (t, j) = q[k[i]];
        s += (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt() * c[j] + (t * v[1]).exp() / c[i % 5].sqrt() + c[k[i] % 5].ln();
    }
    s
} }
#[test]
fn given_lists_of_arrays() {
    for (m, n) in SHAPES {
        let mut rng = Rng::new((m * 31 + n) as u64);
        let (k, j) = (rng.picks(n, m), rng.picks(m, 5));
        let v = rng.fill(4 * m + 5, 0.3, 1.2);
        let parts = |v: &[f64]| {
            let p: Vec<[f64; 3]> = v[..3 * m].chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
            let q: Vec<(f64, usize)> =
                v[3 * m..4 * m].iter().zip(&j).map(|(v, j)| (*v, *j)).collect();
            let c: [f64; 5] = v[4 * m..].try_into().unwrap();
            (p, q, c)
        };
        compare!(
            given_arrays,
            Case { tag: &format!("{m} {n}"), v, differences: true, tolerance: 1e-10 },
            |v| {
                let (p, q, c) = parts(v);
                f(&p, &q, &c, &k)
            },
            |v, dv, w| {
                let (p, q, c) = parts(v);
                let (mut dp, mut dq, mut dc) = (vec![[0.0; 3]; m], vec![(0.0, 0); m], [0.0; 5]);
                for (a, b) in dq.iter_mut().zip(&q) {
                    a.1 = b.1;
                }
                let s = f_grad(&p, &mut dp, &q, &mut dq, &c, &mut dc, &k, w[0]);
                let all = dp.iter().flatten().copied().chain(dq.iter().map(|q| q.0)).chain(dc);
                for (d, a) in dv.iter_mut().zip(all) {
                    *d += a;
                }
                s
            }
        );
    }
}
