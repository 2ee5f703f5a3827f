//! Compares the gradients of a function, made in several ways, with each other and with differences.

pub use Kind::*;
use stratape::Workspace;
use stratape::tape::TapeOptions;

/// A workspace whose tape spills after 64 KiB.
pub fn tiny() -> Workspace {
    let options = TapeOptions::new().memory(1 << 16).spill_to(std::env::temp_dir());
    Workspace::with(options).expect("a directory for temporary files")
}

use std::panic::{AssertUnwindSafe, catch_unwind};
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    In,
    Mut,
    Val,
    Const,
}
pub type Args = Vec<Vec<f64>>;
pub type F<'a> = &'a dyn Fn(&mut Args) -> f64;
pub type G<'a> = &'a dyn Fn(&mut Args, &mut Args, f64) -> f64;
/// Deterministic numbers in (-1, 1).
pub fn rnd(n: usize, seed: u64) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            s = s.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (s ^ (s >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let z = z ^ (z >> 31);
            (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}
/// In (0.5, 1.5).
pub fn pos(n: usize, seed: u64) -> Vec<f64> {
    rnd(n, seed).into_iter().map(|v| 1.0 + 0.5 * v).collect()
}
pub fn idx(n: usize, m: usize, seed: u64) -> Vec<usize> {
    rnd(n, seed)
        .into_iter()
        .map(|v| (((v + 1.0) / 2.0 * m as f64) as usize).min(m.saturating_sub(1)))
        .collect()
}
pub fn ints(n: usize, m: usize, seed: u64) -> Vec<i32> {
    idx(n, m, seed).into_iter().map(|v| v as i32).collect()
}

fn ridders(f: &dyn Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let mut best = (f64::NAN, f64::INFINITY);
    let mut h = 2e-3 * x.abs().max(0.5);
    let mut t: Vec<Vec<f64>> = vec![];
    for i in 0..8 {
        let (xp, xm) = (x + h, x - h);
        let mut row = vec![(f(xp) - f(xm)) / (xp - xm)];
        let mut fac = 4.0;
        for j in 0..i {
            let prev: &Vec<f64> = &t[i - 1];
            let v = (fac * row[j] - prev[j]) / (fac - 1.0);
            let e = (v - row[j]).abs().max((v - prev[j]).abs());
            if e < best.1 {
                best = (v, e);
            }
            row.push(v);
            fac *= 4.0;
        }
        t.push(row);
        h /= 2.0;
    }
    best
}

pub fn check(
    name: &str,
    case: &str,
    args: Args,
    kinds: &[Kind],
    ret: bool,
    fd: bool,
    tol: f64,
    f32_: bool,
    f: F,
    ffd: F,
    gs: &[(&str, G)],
) -> usize {
    let mut bad = 0;
    let mut say = |s: String| {
        bad += 1;
        if bad < 9 {
            eprintln!("WRONG {name} [{case}] {s}");
        }
    };
    let seed = if ret { 0.75 } else { 0.0 };
    let inc: Args = args.iter().enumerate().map(|(i, a)| rnd(a.len(), 1000 + i as u64)).collect();
    let inc: Args = if f32_ {
        inc.iter().map(|a| a.iter().map(|v| *v as f32 as f64).collect()).collect()
    } else {
        inc
    };
    let mut p = args.clone();
    let v0 = catch_unwind(AssertUnwindSafe(|| f(&mut p)));
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let mut results: Vec<(&str, Args)> = vec![];
    for (gn, g) in gs {
        let (mut pa, mut d) = (args.clone(), inc.clone());
        let v = catch_unwind(AssertUnwindSafe(|| g(&mut pa, &mut d, seed)));
        match (&v0, &v) {
            (Err(_), Err(_)) => continue,
            (Err(_), Ok(_)) => {
                say(format!("{gn}: function panics, gradient does not"));
                continue;
            }
            (Ok(_), Err(e)) => {
                say(format!(
                    "{gn}: gradient panics, function does not: {:?}",
                    e.downcast_ref::<String>()
                        .map(|s| s.as_str())
                        .or(e.downcast_ref::<&str>().copied())
                ));
                continue;
            }
            (Ok(a), Ok(b)) => {
                if !same(*a, *b) {
                    say(format!("{gn}: value {b:?} want {a:?}"));
                }
            }
        }
        for i in 0..args.len() {
            for j in 0..args[i].len() {
                if !same(pa[i][j], p[i][j]) {
                    say(format!("{gn}: arg {i}[{j}] after: {:?} want {:?}", pa[i][j], p[i][j]));
                }
            }
        }
        for i in 0..args.len() {
            if kinds[i] == Kind::In || kinds[i] == Kind::Val {
                for j in 0..args[i].len() {
                    d[i][j] -= inc[i][j];
                }
            }
        }
        results.push((gn, d));
    }
    if results.is_empty() {
        if v0.is_err() {
            return bad;
        }
        return bad;
    }
    let obj = |a: &Args| -> f64 {
        let mut p = a.clone();
        let v = ffd(&mut p);
        let mut l = seed * v;
        if !ret {
            l = 0.0;
        }
        for i in 0..a.len() {
            if kinds[i] == Kind::Mut {
                for j in 0..a[i].len() {
                    l += inc[i][j] * p[i][j];
                }
            }
        }
        l
    };
    let (last_n, base) = {
        let r = results.iter().find(|r| r.0 == "plain").unwrap_or(&results[0]);
        (r.0, r.1.clone())
    };
    for i in 0..args.len() {
        if kinds[i] == Kind::Const {
            continue;
        }
        let scale = base[i].iter().fold(if f32_ { 1e-3 } else { 1e-8 }, |m: f64, v| {
            if v.is_finite() { m.max(v.abs()) } else { m }
        });
        for j in 0..args[i].len() {
            let want = base[i][j];
            for (gn, r) in &results {
                let got = r[i][j];
                let t = if f32_ { 2e-4 } else { 1e-10 };
                // Zero times an infinite derivative: without it, where a branch was not taken, the gradient is better than the plain one.
                let left_out = case.ends_with("| finite") && want.is_nan() && got.is_finite();
                if !((got - want).abs() <= t * scale.max(0.01) || same(got, want) || left_out) {
                    say(format!("{gn} d{i}[{j}] = {got:e}, {last_n} {want:e}"));
                }
            }
            if fd {
                let (est, err) = ridders(
                    &|x| {
                        let mut a = args.clone();
                        a[i][j] = x;
                        obj(&a)
                    },
                    args[i][j],
                );
                let t = if f32_ { 1e-3f64.max(tol) } else { tol };
                if err > 1e-3 * (1.0 + est.abs()) || est.is_nan() {
                    eprintln!(
                        "note {name} [{case}] d{i}[{j}] difference unreliable: {est:e} ± {err:e}, gradient {want:e}"
                    );
                    if est.is_nan() || !want.is_nan() {
                        continue;
                    }
                }
                for (gn, r) in &results {
                    let got = r[i][j];
                    if !((got - est).abs() <= t * scale.max(est.abs()).max(0.01) + 20.0 * err)
                        && ![1e-4, 1e-5, 1e-6, 1e-7].iter().any(|h| {
                            let at = |x: f64| {
                                let mut a = args.clone();
                                a[i][j] = x;
                                obj(&a)
                            };
                            let c = (at(args[i][j] + h) - at(args[i][j] - h)) / (2.0 * h);
                            let at0 = at(args[i][j]);
                            let (l, r) =
                                ((at0 - at(args[i][j] - h)) / h, (at(args[i][j] + h) - at0) / h);
                            [c, l, r]
                                .iter()
                                .any(|c| (c - got).abs() < 1e-5 * scale.max(c.abs()).max(0.01))
                        })
                    {
                        say(format!("{gn} d{i}[{j}] = {got:e}, difference {est:e} ± {err:e}"));
                    }
                }
            }
        }
    }
    bad
}
