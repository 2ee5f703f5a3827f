//! `fold_coefficients` in single precision: large and small numbers, compared with the plain gradient.
use crate::oracle::*;

macro_rules! numbers_single {
    ($name:ident; $($scale:expr),*; ($x:ident, $d:ident) $body:tt) => {
        twice! { $name; fn f($x: &[f32], $d: f32) -> f32 $body }
        #[test]
        fn $name() {
            for scale in [$($scale as f64),*] {
                for n in [0, 1, 2, 3, 8, 17] {
                    let mut v = Rng::new(n as u64).fill(n + 1, -1.5, 1.5);
                    for v in &mut v[..n] { *v *= scale; }
                    let low = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<f32>>();
                    compare!($name, Case { tag: &format!("{} {n} of {scale}", stringify!($name)), v, differences: false, tolerance: 2e-5 },
                        |v| { let v = low(v); f(&v[..n], v[n]) },
                        |v, dv, w| {
                            let v = low(v);
                            let mut dx = vec![0.0_f32; n];
                            let (s, d) = f_grad(&v[..n], &mut dx, v[n], w[0] as f32);
                            for (a, b) in dv.iter_mut().zip(dx.iter().chain([&d])) { *a = *b as f64; }
                            s
                        });
                }
            }
        }
    };
}

numbers_single! { quotients; 1.0, 1e-10, 1e10; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * d / 3.0 - x[i] / -0.5 / 7.0; }
    s / 3.0
} }
numbers_single! { small_divisors; 1.0, 1e-20, 1e-30; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * d / 1e-11 / 1e-11 * 1e-22; }
    s
} }
numbers_single! { chain_of_small_divisors; 1.0, 1e-25, 1e-35; (x, d) {
    // 1e44 overflows: each quotient does not.
    let mut s = 0.0;
    for i in 0..x.len() {
        let t = x[i] / 1e-11;
        let u = t * d / 1e-11;
        s += u * 1e-11 * 1e-11;
    }
    s
} }
numbers_single! { large_numbers; 1.0, 1e20, 1e30; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += x[i] * 1e-12 * d * 1e-12 * 1e11 * 1e11 + x[i] / 1e12 / 1e12 * d; }
    s
} }
numbers_single! { weights_at_the_limit; 1.0, 1e-15, 1e15; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += 1e12 * (1e12 * (1e12 * (x[i] * 1e-12) * 1e-12) * 1e-12) * d; }
    s
} }
numbers_single! { faces; 1.0, 1e15, 1e-15; (x, d) {
    let mut s = 0.0;
    for i in 1..x.len() {
        let f = 0.5 * (x[i] + x[i - 1]) * (x[i] - x[i - 1]);
        let g = -0.5 * (x[i] - x[i - 1]) * d;
        s += f * 2.0 + g / 0.25 - 0.5 * f;
    }
    s
} }
numbers_single! { squares_of_large_numbers; 1e10, 1e17; (x, d) {
    let mut s = 0.0;
    for i in 0..x.len() { s += (x[i] / 1e10) * (x[i] / 1e10) * 0.5 / 1e-3 * d; }
    s
} }
numbers_single! { shared_number; 1.0, 1e25, 1e-25; (x, d) {
    // (d·a)·c and (d·b)·c: the factor may not be taken to where it overflows or vanishes.
    let mut s = 0.0;
    for i in 1..x.len() { s += (d * x[i]) * 1e11 * x[i - 1] * 1e-11 + (d * x[i - 1]) * 1e-11 - (d * x[i]) * 1e-11; }
    s
} }
