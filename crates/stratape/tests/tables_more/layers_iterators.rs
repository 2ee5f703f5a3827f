//! `unroll_and_jam` beside other work: layers written with iterators, structs and several layers.
use crate::oracle::*;

layer! { chunks; (w, x, b, y) {
    let m = x.len().max(1);
    for ((row, y), b) in w.chunks_exact(m).zip(y.iter_mut()).zip(b) {
        let mut s = *b;
        for (w, x) in row.iter().zip(x) { s += w * x; }
        *y = s.tanh();
    }
} }
layer! { mapped_sums; (w, x, b, y) {
    let m = x.len();
    for (i, y) in y.iter_mut().enumerate() {
        let s = b[i] + w[i * m..(i + 1) * m].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        *y = s.tanh() * *y;
    }
} }
layer! { collected; (w, x, b, y) {
    let m = x.len();
    let h: Vec<f64> = (0..y.len()).map(|i| {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        s.tanh()
    }).collect();
    for i in 0..y.len() { y[i] = h[i] * h[y.len() - 1 - i]; }
} }
layer! { folded; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() { y[i] = (0..m).fold(b[i], |s, j| s + w[i * m + j] * x[j]).exp(); }
} }
layer! { split_weights; (w, x, b, y) {
    let (m, h) = (x.len(), y.len() / 2);
    let (u, v) = w.split_at(h * m);
    let (p, q) = y.split_at_mut(h);
    for i in 0..p.len() {
        let mut s = b[i];
        for j in 0..m { s += u[i * m + j] * x[j]; }
        p[i] = s.tanh();
    }
    for i in 0..q.len() {
        let mut s = b[h + i];
        for j in 0..m { s += v[i * m + j] * x[j]; }
        for j in 0..h { s += 0.1 * p[j]; }
        q[i] = s.tanh();
    }
} }
layer! { parts_of_one_list; (w, x, b, y) {
    // The second half of the list is computed from the first.
    let n = y.len();
    let (p, q) = y.split_at_mut(n / 2);
    for i in 0..q.len() {
        let mut s = b[i];
        for j in 0..p.len() { s += p[j] * b[j]; }
        q[i] = s.tanh();
    }
} }
layer! { helper; {
    fn dense(w: &[f64], b: &[f64], x: &[f64], y: &mut [f64]) {
        for i in 0..y.len() {
            let mut s = b[i];
            for j in 0..x.len() { s += w[i * x.len() + j] * x[j]; }
            y[i] = s.tanh();
        }
    }
} (w, x, b, y) {
    let mut h = vec![0.0; y.len()];
    dense(w, b, x, &mut h);
    dense(w, b, &h[..x.len().min(y.len())], y);
} }
layer! { network; {
    struct Layer<'a> { weights: &'a [f64], bias: &'a [f64] }
    impl Layer<'_> {
        fn apply(&self, x: &[f64]) -> Vec<f64> {
            self.bias.iter().enumerate().map(|(i, b)| {
                let row = &self.weights[i * x.len()..(i + 1) * x.len()];
                let s = row.iter().zip(x).fold(*b, |s, (w, x)| s + w * x);
                1.0 / (1.0 + (-s).exp())
            }).collect()
        }
    }
} (w, x, b, y) {
    let first = Layer { weights: w, bias: b };
    let h = first.apply(x);
    for (y, h) in y.iter_mut().zip(&h) { *y = h * h - 0.5 * *y; }
} }
layer! { several_steps; (w, x, b, y) {
    // Layers as slices of one list of parameters, states kept for the end.
    let m = x.len();
    let mut states = vec![x.to_vec()];
    for t in 0..2 {
        let last = states[t].clone();
        let mut next = vec![0.0; m];
        for i in 0..m.min(b.len()) {
            let mut s = b[i];
            for j in 0..m { s += w[(i * m + j + t) % w.len()] * last[j]; }
            next[i] = s.tanh();
        }
        states.push(next);
    }
    for i in 0..y.len().min(m) { y[i] = states[1][i] * states[2][i] + states[0][i]; }
} }
layer! { lists_of_rows; (w, x, b, y) {
    let m = x.len().max(1);
    let rows: Vec<Vec<f64>> = w.chunks(m).map(|c| c.to_vec()).collect();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..x.len() { s += rows[i][j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { gathered; (w, x, b, y) {
    let m = x.len();
    let at: Vec<usize> = (0..m).map(|j| (j * 5 + 2) % m).collect();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + at[j]] * x[at[m - 1 - j]]; }
        y[i] = s.tanh();
    }
} }
layer! { three_loops; (w, x, b, y) {
    // Samples, rows, columns; the rows of a sample are saved.
    let (n, m) = (y.len(), x.len());
    let mut all = vec![0.0; n];
    for t in 0..3 {
        let mut h = vec![0.0; n];
        for i in 0..n {
            let mut s = b[i];
            for j in 0..m { s += w[i * m + j] * x[(j + t) % m]; }
            h[i] = s.tanh();
        }
        for i in 0..n { all[i] += h[i] * h[(i + 1) % n]; }
    }
    y.copy_from_slice(&all);
} }
twice! { single; fn f(w: &[f32], x: &[f32], b: &[f32], y: &mut [f32]) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh() / (1.0 + s * s);
    }
} }
#[test]
fn single_precision() {
    for (n, m) in ROWS {
        let v = Rng::new((m * 31 + n) as u64).fill(n * m + m + n, -1.0, 1.0);
        let low = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<f32>>();
        compare!(
            single,
            Case { tag: &format!("{n} {m}"), v, differences: false, tolerance: 1e-5 },
            |v| {
                let v = low(v);
                let mut y = vec![0.0; n];
                f(&v[..n * m], &v[n * m..n * m + m], &v[n * m + m..], &mut y);
                y.iter().map(|v| *v as f64).collect::<Vec<f64>>()
            },
            |v, dv, w| {
                let v = low(v);
                let mut d = vec![0.0_f32; v.len()];
                let (dw, dd) = d.split_at_mut(n * m);
                let (dx, db) = dd.split_at_mut(m);
                let (mut y, mut dy) = (vec![0.0; n], low(&w[..n]));
                f_grad(
                    &v[..n * m],
                    dw,
                    &v[n * m..n * m + m],
                    dx,
                    &v[n * m + m..],
                    db,
                    &mut y,
                    &mut dy,
                );
                for (a, b) in dv.iter_mut().zip(&d) {
                    *a += *b as f64;
                }
                y.iter().map(|v| *v as f64).collect::<Vec<f64>>()
            }
        );
    }
}
