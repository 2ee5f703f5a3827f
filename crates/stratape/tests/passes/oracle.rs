//! Oracle: five-point finite differences, bits of the outputs, equality of panics.
#![allow(dead_code)]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
pub const SIZES: [usize; 8] = [0, 17, 1, 2, 3, 4, 8, 5];

pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn fill(&mut self, n: usize, lo: f64, hi: f64) -> Vec<f64> {
        (0..n).map(|_| lo + (hi - lo) * self.unit()).collect()
    }
}

pub fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let old = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |i| {
            if std::env::var_os("LOUD").is_some()
                || i.location().is_some_and(|l| l.file().contains("oracle"))
            {
                old(i)
            }
        }))
    });
    catch_unwind(AssertUnwindSafe(f)).map_err(|e| {
        e.downcast_ref::<String>()
            .cloned()
            .or_else(|| e.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap_or_default()
    })
}

pub fn same_panic(tag: &str, a: &Result<Vec<f64>, String>, b: &Result<Vec<f64>, String>) {
    match (a, b) {
        (Ok(a), Ok(b)) => {
            let (x, y): (Vec<u64>, Vec<u64>) = (
                a.iter().map(|v| if v.is_nan() { 1 } else { v.to_bits() }).collect(),
                b.iter().map(|v| if v.is_nan() { 1 } else { v.to_bits() }).collect(),
            );
            assert!(x == y, "{tag}: value: plain {a:?}, gradient {b:?}");
        }
        (Err(a), Err(b)) => {
            if a != b {
                println!("NOTE {tag}: messages differ: plain {a:?}, gradient {b:?}")
            }
        }
        (a, b) => panic!("{tag}: panic differs: plain {a:?}, gradient {b:?}"),
    }
}

/// `f(v)`: all outputs; `g(v, dv, w)`: adds the adjoints for weights `w` of the outputs to `dv`, returns the outputs.
pub fn outputs(
    tag: &str,
    dims: usize,
    range: (f64, f64),
    f: impl Fn(&[f64]) -> Vec<f64>,
    g: impl Fn(&[f64], &mut [f64], &[f64]) -> Vec<f64>,
) -> bool {
    let mut ran = false;
    for seed in 1..=3u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9E3779B97F4A7C15) ^ (dims as u64 + 77));
        rng.next();
        let v = rng.fill(dims, range.0, range.1);
        let a = caught(|| f(&v));
        let w: Vec<f64> =
            (0..a.as_ref().map_or(64, |a| a.len())).map(|_| rng.unit() * 2.0 - 1.0).collect();
        let mut dv = vec![0.25; dims];
        let b = caught(|| g(&v, &mut dv, &w));
        same_panic(&format!("{tag}, seed {seed}"), &a, &b);
        if a.is_err() {
            continue;
        }
        ran = true;
        let dot =
            |v: &[f64]| caught(|| f(v)).map(|o| o.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>());
        let scale: f64 = a.unwrap().iter().map(|v| v.abs()).sum();
        for k in 0..dims {
            let got = dv[k] - 0.25;
            let at = |d: f64| {
                let mut u = v.clone();
                u[k] += d;
                dot(&u)
            };
            let mut tried = vec![];
            let ok = [1e-4, 1e-5, 1e-3].iter().any(|&h| {
                let (Ok(a), Ok(b), Ok(c), Ok(d)) = (at(h), at(-h), at(2.0 * h), at(-2.0 * h))
                else {
                    return true;
                };
                let fd = (8.0 * (a - b) - (c - d)) / (12.0 * h);
                tried.push(fd);
                (fd - got).abs() <= 2e-6 * (1.0 + fd.abs()) + 1e-8 * scale
            });
            assert!(
                ok,
                "{tag}, seed {seed}, input {k} of {dims}: gradient {got}, differences {tried:?}, v = {v:?}"
            );
        }
    }
    ran
}

pub fn scalar(
    tag: &str,
    dims: usize,
    f: impl Fn(&[f64]) -> f64,
    g: impl Fn(&[f64], &mut [f64], f64) -> f64,
) -> bool {
    outputs(tag, dims, (-1.5, 1.5), |v| vec![f(v)], |v, dv, w| vec![g(v, dv, w[0])])
}

pub fn positive(
    tag: &str,
    dims: usize,
    f: impl Fn(&[f64]) -> f64,
    g: impl Fn(&[f64], &mut [f64], f64) -> f64,
) -> bool {
    outputs(tag, dims, (0.3, 1.7), |v| vec![f(v)], |v, dv, w| vec![g(v, dv, w[0])])
}

/// The derivative is known: nothing is compared with differences.
pub fn close(tag: &str, got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{tag}");
    for (k, (a, b)) in got.iter().zip(want).enumerate() {
        assert!(
            (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= 1e-9 * (1.0 + b.abs()),
            "{tag}: entry {k}: got {a}, want {b}; all: {got:?}, want {want:?}"
        );
    }
}
