//! `unroll_and_jam` beside other work: the number of rows is an argument, and the lists are shorter or longer than it.
use crate::oracle::*;

twice! { counted; fn f(w: &[f64], x: &[f64], y: &mut [f64], n: usize) -> f64 {
    let m = x.len();
    for i in 0..n {
        let mut s = 0.1;
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
    let t: f64 = y.iter().map(|v| v * v).sum();
    for v in y.iter_mut() { *v *= t; }
    t
} }
twice! { columns; fn f(w: &[f64], x: &[f64], y: &mut [f64], n: usize) -> f64 {
    for i in 0..n {
        let mut s = 0.1;
        for j in 0..x.len() { s += w[j] * x[j]; }
        y[i] = s.tanh() * y[i];
    }
    let t: f64 = y.iter().map(|v| v * v).sum();
    for v in y.iter_mut() { *v *= t; }
    t
} }
macro_rules! counts {
    ($($name:ident $test:ident)*) => { $(
        #[test]
        fn $test() {
            for (l, n) in [(0, 0), (0, 1), (3, 2), (3, 4), (9, 9), (9, 8), (9, 10), (20, 30), (30, 20), (20, 1 << 20), (9, usize::MAX)] {
                for m in [0, 1, 3] {
                    let q = 24 * m;
                    let v = Rng::new((n % 999 * 7 + m) as u64).fill(q + m + l, -1.0, 1.0);
                    let tag = format!("{} {l} {n} {m}", stringify!($name));
                    compare!($name, Case { tag: &tag, v, differences: true, tolerance: 1e-10 },
                        |v| { let mut y = v[q + m..].to_vec(); let t = f(&v[..q], &v[q..q + m], &mut y, n); y.push(t); y },
                        |v, dv, w| {
                            let (mut y, mut dy) = (v[q + m..].to_vec(), w[..l].to_vec());
                            let (dw, dv) = dv.split_at_mut(q);
                            let (dx, dv) = dv.split_at_mut(m);
                            let t = f_grad(&v[..q], dw, &v[q..q + m], dx, &mut y, &mut dy, n, w[l]);
                            for (a, b) in dv.iter_mut().zip(&dy) { *a += b; }
                            y.push(t);
                            y
                        });
                }
            }
        }
    )* };
}
counts! { counted rows_by_an_argument columns equal_rows_by_an_argument }

#[test]
fn far_too_many_rows() {
    let (w, x, n) = (vec![0.1; 27], vec![0.2; 3], 1 << 40);
    let (mut y, mut dy) = (vec![0.0; 9], vec![1.0; 9]);
    let got = caught(|| {
        counted::fast::f_grad(
            &w,
            &mut vec![0.0; 27],
            &x,
            &mut vec![0.0; 3],
            &mut y,
            &mut dy,
            n,
            1.0,
        )
    });
    assert!(got.unwrap_err().starts_with("index out of bounds"));
}
