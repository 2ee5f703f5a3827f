//! Oracle: five-point finite differences, the plain gradient, bits of the outputs, equality of panics.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Elements of the lists and iterations of the loops: fewer and more than two for each element.
pub const SHAPES: [(usize, usize); 13] = [
    (0, 0),
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 3),
    (2, 4),
    (3, 6),
    (3, 7),
    (8, 7),
    (8, 16),
    (8, 33),
    (5, 40),
    (4, 9),
];
/// Rows and columns.
pub const ROWS: [(usize, usize); 12] = [
    (0, 3),
    (3, 0),
    (9, 0),
    (1, 1),
    (7, 2),
    (8, 3),
    (9, 4),
    (10, 1),
    (15, 2),
    (16, 3),
    (17, 2),
    (26, 5),
];

pub struct Rng(pub u64);
impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut r = Rng(seed.wrapping_mul(0x9E3779B97F4A7C15) ^ 0x1234567);
        r.next();
        r.next();
        r
    }
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
    pub fn picks(&mut self, n: usize, of: usize) -> Vec<usize> {
        (0..n).map(|_| if of == 0 { 0 } else { (self.next() >> 20) as usize % of }).collect()
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
            let bits = |v: &[f64]| {
                v.iter().map(|v| if v.is_nan() { 1 } else { v.to_bits() }).collect::<Vec<_>>()
            };
            assert!(bits(a) == bits(b), "{tag}: value: plain {a:?}, gradient {b:?}");
        }
        (Err(a), Err(b)) => {
            if a != b {
                println!("NOTE {tag}: messages differ: plain {a:?}, gradient {b:?}")
            }
        }
        (a, b) => panic!("{tag}: panic differs: function {a:?}, gradient {b:?}"),
    }
}

/// What a program returns.
pub trait Outputs {
    fn list(self) -> Vec<f64>;
}
impl Outputs for f64 {
    fn list(self) -> Vec<f64> {
        vec![self]
    }
}
impl Outputs for f32 {
    fn list(self) -> Vec<f64> {
        vec![self as f64]
    }
}
impl Outputs for Vec<f64> {
    fn list(self) -> Vec<f64> {
        self
    }
}

/// The same numbers up to rounding, infinities where the other has them, and no NaN that the other does not have. (Passes may take zero times infinity away.)
pub fn alike(tag: &str, got: &[f64], plain: &[f64], tolerance: f64) {
    let scale = plain.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    for (k, (a, b)) in got.iter().zip(plain).enumerate() {
        let same = a == b || b.is_nan() || (a - b).abs() <= tolerance * scale;
        assert!(
            same,
            "{tag}: input {k}: gradient {a}, plain gradient {b}; all: {got:?}, plain {plain:?}"
        );
    }
}

pub struct Case<'a> {
    pub tag: &'a str,
    pub v: Vec<f64>,
    pub differences: bool,
    pub tolerance: f64,
}

/// `f(v)`: all outputs; `g(v, dv, w)` and `plain`: add the adjoints for weights `w` of the outputs to `dv`, return the outputs.
pub fn examine(
    case: Case,
    f: &dyn Fn(&[f64]) -> Vec<f64>,
    g: &dyn Fn(&[f64], &mut [f64], &[f64]) -> Vec<f64>,
    plain: &dyn Fn(&[f64], &mut [f64], &[f64]) -> Vec<f64>,
) -> bool {
    let Case { tag, v, differences, tolerance } = case;
    let dims = v.len();
    let mut rng = Rng::new(dims as u64 + 77);
    let a = caught(|| f(&v));
    let w: Vec<f64> =
        (0..a.as_ref().map_or(256, |a| a.len())).map(|_| rng.unit() * 2.0 - 1.0).collect();
    let (mut dv, mut dp) = (vec![0.25; dims], vec![0.25; dims]);
    let b = caught(|| g(&v, &mut dv, &w));
    let c = caught(|| plain(&v, &mut dp, &w));
    same_panic(&format!("{tag}: PLAIN"), &a, &c);
    same_panic(tag, &a, &b);
    let Ok(a) = a else { return false };
    alike(tag, &dv, &dp, tolerance);
    if !differences {
        return true;
    }
    let dot =
        |v: &[f64]| caught(|| f(v)).map(|o| o.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>());
    let scale: f64 = a.iter().map(|v| v.abs()).sum();
    for k in 0..dims {
        let got = dv[k] - 0.25;
        let at = |d: f64| {
            let mut u = v.clone();
            u[k] += d;
            dot(&u)
        };
        let mut tried = vec![];
        let ok = [1e-4, 1e-5, 1e-3].iter().any(|&h| {
            let (Ok(a), Ok(b), Ok(c), Ok(d)) = (at(h), at(-h), at(2.0 * h), at(-2.0 * h)) else {
                return true;
            };
            let fd = (8.0 * (a - b) - (c - d)) / (12.0 * h);
            tried.push(fd);
            (fd - got).abs() <= 2e-6 * (1.0 + fd.abs()) + 1e-8 * scale
        });
        assert!(
            ok,
            "{tag}: input {k} of {dims}: gradient {got}, plain {}, differences {tried:?}, v = {v:?}",
            dp[k] - 0.25
        );
    }
    true
}

/// A program under `#[gradient]` in `fast` and once more under `#[gradient(plain)]` in `plain`; with the items in front of it in a `#[differentiable]` module.
macro_rules! twice {
    ($name:ident; { $($items:tt)* } fn f $args:tt $(-> $ret:tt)? { $($body:tt)* }) => {
        pub mod $name {
            #[stratape::differentiable]
            pub mod fast { $($items)* #[gradient] pub fn f $args $(-> $ret)? { $($body)* } }
            #[stratape::differentiable]
            pub mod plain { $($items)* #[gradient(plain)] pub fn f $args $(-> $ret)? { $($body)* } }
        }
    };
    ($name:ident; fn f $args:tt $(-> $ret:tt)? { $($body:tt)* }) => {
        pub mod $name {
            pub mod fast { #[stratape::gradient] pub fn f $args $(-> $ret)? { $($body)* } }
            pub mod plain { #[stratape::gradient(plain)] pub fn f $args $(-> $ret)? { $($body)* } }
        }
    };
}

/// Examines a program: the value and the gradient are expressions with `f` and `f_grad`.
macro_rules! compare {
    ($name:ident, $case:expr, |$v:ident| $value:expr, |$u:ident, $d:ident, $w:ident| $grad:expr) => {
        examine(
            $case,
            &|$v: &[f64]| {
                use $name::fast::*;
                ($value).list()
            },
            &|$u: &[f64], $d: &mut [f64], $w: &[f64]| {
                use $name::fast::*;
                ($grad).list()
            },
            &|$u: &[f64], $d: &mut [f64], $w: &[f64]| {
                use $name::plain::*;
                ($grad).list()
            },
        )
    };
}

/// A program of two lists, of which an index list picks elements, and a list of numbers; in all shapes, and with indices beyond the lists and lists that are too short.
macro_rules! table {
    ($name:ident in $range:expr; { $($items:tt)* } ($a:ident, $b:ident, $k:ident, $x:ident) $body:tt) => {
        twice! { $name; { $($items)* } fn f($a: &[f64], $b: &[f64], $k: &[usize], $x: &[f64]) -> f64 $body }
        table! { @test $name in $range }
    };
    ($name:ident in $range:expr; ($a:ident, $b:ident, $k:ident, $x:ident) $body:tt) => {
        twice! { $name; fn f($a: &[f64], $b: &[f64], $k: &[usize], $x: &[f64]) -> f64 $body }
        table! { @test $name in $range }
    };
    (@test $name:ident in $range:expr) => {
        #[test]
        fn $name() {
            let mut ran = 0;
            for (m, n) in SHAPES {
                for fault in 0..7 {
                    let mut rng = Rng::new((m * 100 + n * 10 + fault) as u64);
                    let mut k = rng.picks(n, m);
                    let (mut q, mut l) = (m, n);
                    if fault > 0 && n == 0 { continue; }
                    match fault {
                        1 => k[n - 1] = m,
                        2 => k[n / 2] = usize::MAX,
                        3 => q = m.saturating_sub(1),
                        4 => l = n - 1,
                        5 => q = m / 2,
                        6 => q = 0,
                        _ => {}
                    }
                    let v = rng.fill(m + q + l, $range.0, $range.1);
                    let tag = format!("{} {m} {n} fault {fault}", stringify!($name));
                    let case = Case { tag: &tag, v, differences: fault == 0, tolerance: 1e-10 };
                    ran += compare!($name, case,
                        |v| f(&v[..m], &v[m..m + q], &k, &v[m + q..]),
                        |v, dv, w| {
                            let (da, dv) = dv.split_at_mut(m);
                            let (db, dx) = dv.split_at_mut(q);
                            f_grad(&v[..m], da, &v[m..m + q], db, &k, &v[m + q..], dx, w[0])
                        }) as usize;
                }
            }
            assert!(ran > 4, "{ran}");
        }
    };
}

/// A program of weights by rows, an input, one number for each row and a list that it writes: alone, and with work behind it that needs what it wrote.
macro_rules! layer {
    ($name:ident; { $($items:tt)* } ($wt:ident, $x:ident, $b:ident, $y:ident) $body:tt) => {
        pub mod $name {
            use crate::oracle::*;
            twice! { alone; { $($items)* } fn f($wt: &[f64], $x: &[f64], $b: &[f64], $y: &mut [f64]) $body }
            twice! { used; { $($items)* } fn f($wt: &[f64], $x: &[f64], $b: &[f64], $y: &mut [f64]) {
                $body
                let tail_sum: f64 = $y.iter().map(|tail| tail * tail).sum();
                for tail in $y.iter_mut() { *tail *= 0.1 * tail_sum; }
            } }
            layer! { @test alone }
            layer! { @test used }
        }
    };
    ($name:ident; ($wt:ident, $x:ident, $b:ident, $y:ident) $body:tt) => {
        pub mod $name {
            use crate::oracle::*;
            twice! { alone; fn f($wt: &[f64], $x: &[f64], $b: &[f64], $y: &mut [f64]) $body }
            twice! { used; fn f($wt: &[f64], $x: &[f64], $b: &[f64], $y: &mut [f64]) {
                $body
                let tail_sum: f64 = $y.iter().map(|tail| tail * tail).sum();
                for tail in $y.iter_mut() { *tail *= 0.1 * tail_sum; }
            } }
            layer! { @test alone }
            layer! { @test used }
        }
    };
    (@test $name:ident) => {
        #[test]
        fn $name() {
            let mut ran = 0;
            for (n, m) in ROWS {
                for fault in 0..5 {
                    let mut rng = Rng::new((m * 100 + n * 10 + fault) as u64);
                    let (mut p, mut q, mut r, mut s) = (n * m, m, n, n);
                    match fault {
                        1 => p = p.saturating_sub(m / 2 + 1),
                        2 => q = q.saturating_sub(1),
                        3 => r = n / 2,
                        4 => p = n * m / 2,
                        _ => {}
                    }
                    let v = rng.fill(p + q + r + s, -0.9, 0.9);
                    let tag = format!("{} {n} {m} fault {fault}", stringify!($name));
                    let case = Case { tag: &tag, v, differences: fault == 0, tolerance: 1e-10 };
                    ran += compare!($name, case,
                        |v| { let mut y = v[p + q + r..].to_vec(); f(&v[..p], &v[p..p + q], &v[p + q..p + q + r], &mut y); y },
                        |v, dv, w| {
                            let mut y = v[p + q + r..].to_vec();
                            let mut dy = w[..s].to_vec();
                            let (dw, dv) = dv.split_at_mut(p);
                            let (dx, dv) = dv.split_at_mut(q);
                            let (db, dv) = dv.split_at_mut(r);
                            f_grad(&v[..p], dw, &v[p..p + q], dx, &v[p + q..p + q + r], db, &mut y, &mut dy);
                            for (a, b) in dv.iter_mut().zip(&dy) { *a += b; }
                            y
                        }) as usize;
                }
            }
            assert!(ran > 4, "{ran}");
        }
    };
}

/// A program of a list and a number.
macro_rules! numbers {
    ($name:ident in $range:expr; $tolerance:expr; $differences:expr; ($x:ident, $d:ident) $body:tt) => {
        twice! { $name; fn f($x: &[f64], $d: f64) -> f64 $body }
        #[test]
        fn $name() {
            for n in [0, 1, 2, 3, 7, 8, 9, 17, 40] {
                let v = Rng::new(n as u64).fill(n + 1, $range.0, $range.1);
                let tag = format!("{} {n}", stringify!($name));
                let case = Case { tag: &tag, v, differences: $differences, tolerance: $tolerance };
                compare!($name, case, |v| f(&v[..n], v[n]), |v, dv, w| {
                    let (dx, dd) = dv.split_at_mut(n);
                    let (value, d) = f_grad(&v[..n], dx, v[n], w[0]);
                    dd[0] += d;
                    value
                });
            }
        }
    };
}
