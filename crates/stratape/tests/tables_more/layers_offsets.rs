//! `unroll_and_jam` beside other work: what is read and written are parts of one list whose places are arguments.
use crate::oracle::*;

layer! { last_row_as_the_start; (w, x, b, y) {
    let m = x.len();
    for i in 1..y.len() {
        let mut s = y[i - 1] + b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { next_row_as_the_start; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len().saturating_sub(1) {
        let mut s = y[i + 1] + b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { own_element_as_a_factor; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j] * y[i]; }
        y[i] = s.tanh();
    }
} }
layer! { first_element_as_a_factor; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j] * y[0]; }
        y[i] = s.tanh();
    }
} }
layer! { permuted_rows; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let p: Vec<usize> = (0..n).map(|i| (i + n / 2) % n).collect();
    for i in 0..n {
        let mut s = b[p[i]];
        for j in 0..m { s += w[p[i] * m + j] * x[j]; }
        y[p[i]] = s.tanh();
    }
} }
layer! { permuted_rows_in_place; (w, x, b, y) {
    let n = y.len();
    let p: Vec<usize> = (0..n).map(|i| (i * 2) % n).collect();
    for i in 0..n {
        let mut s = b[i];
        for j in 0..n / 2 { s += 0.2 * y[j] * b[j]; }
        y[p[i]] = s.tanh();
    }
} }
layer! { swapped_in_the_rows; (w, x, b, y) {
    let m = x.len();
    let (mut u, mut v) = (x.to_vec(), vec![0.3; m]);
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * u[j]; }
        y[i] = s.tanh();
        std::mem::swap(&mut u, &mut v);
    }
} }
twice! { parts; fn f(h: &mut [f64], w: &[f64], from: usize, m: usize, to: usize, n: usize) {
    for i in 0..n {
        let mut s = 0.1;
        for j in 0..m { s += w[i * m + j] * h[from + j]; }
        h[to + i] = s.tanh();
    }
} }
twice! { parts_behind; fn f(h: &mut [f64], w: &[f64], from: usize, m: usize, gap: usize, n: usize) {
    // The part that is written starts `gap` behind the end of what is read.
    let to = from + m + gap;
    for i in 0..n {
        let mut s = h[to + i];
        for j in 0..m { s -= w[i * m + j] * h[from + j]; }
        h[to + i] = s.tanh() + h[from];
    }
} }
twice! { parts_one_too_near; fn f(h: &mut [f64], w: &[f64], from: usize, m: usize, gap: usize, n: usize) {
    // Starts at the last element that is read.
    let to = from + m - 1;
    for i in 0..n {
        let mut s = 0.1;
        for j in 0..m { s += w[i * m + j] * h[from + j]; }
        h[to + i + gap] = s.tanh();
    }
} }
twice! { parts_before; fn f(h: &mut [f64], w: &[f64], to: usize, m: usize, gap: usize, n: usize) {
    let from = to + n;
    for i in 0..n {
        let mut s = 0.1;
        for j in 0..m { s += w[i * m + j] * h[from + j]; }
        h[to + i] = s.tanh();
    }
    for i in 0..n {
        let mut s = 0.2;
        for j in 0..m { s += w[i * m + j] * h[from - gap.min(from) + j]; }
        h[to + i] += s.sin();
    }
} }
twice! { parts_backwards; fn f(h: &mut [f64], w: &[f64], from: usize, m: usize, to: usize, n: usize) {
    // Downwards from `to`, in time steps.
    for t in 0..2 {
        for i in 0..n {
            let mut s = 0.1 * t as f64;
            for j in 0..m { s += w[i * m + j] * h[from + j]; }
            h[to + n - 1 - i] = s.tanh();
        }
    }
} }
twice! { parts_with_strides; fn f(h: &mut [f64], w: &[f64], from: usize, m: usize, to: usize, n: usize) {
    // Even elements are read, and what is written may be odd.
    for i in 0..n {
        let mut s = 0.1;
        for j in 0..m { s += w[i * m + j] * h[(from + 2 * j) % h.len()]; }
        h[(to + 2 * i) % h.len()] = s.tanh();
    }
} }
macro_rules! offsets {
    ($($name:ident $test:ident)*) => { $(
        #[test]
        fn $test() {
            let mut ran = 0;
            for (n, m) in [(0, 2), (3, 2), (8, 3), (9, 4), (17, 1), (10, 0), (16, 5)] {
                for from in [0, 1, 4] { for to in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12] {
                    let l = 26;
                    let v = Rng::new((n * 7 + m + from) as u64).fill(l + n * m, -1.0, 1.0);
                    let tag = format!("{} {n} {m} {from} {to}", stringify!($name));
                    ran += compare!($name, Case { tag: &tag, v, differences: from == 1, tolerance: 1e-10 },
                        |v| { let mut h = v[..l].to_vec(); f(&mut h, &v[l..], from, m, to, n); h },
                        |v, dv, w| {
                            let (mut h, mut dh) = (v[..l].to_vec(), w[..l].to_vec());
                            let (d, dw) = dv.split_at_mut(l);
                            f_grad(&mut h, &mut dh, &v[l..], dw, from, m, to, n);
                            for (a, b) in d.iter_mut().zip(&dh) { *a += b; }
                            h
                        }) as usize;
                } }
            }
            assert!(ran > 20, "{ran}");
        }
    )* };
}
offsets! { parts parts_anywhere parts_behind parts_that_follow parts_one_too_near parts_that_touch parts_before parts_in_front parts_backwards parts_downwards parts_with_strides parts_in_strides }
