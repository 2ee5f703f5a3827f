//! More values that are computed again; the plain gradient of the same function is the oracle, within a few digits.
use crate::oracle::*;
use stratape::gradient;

fn near(k: f64, d: f64) -> Vec<f64> {
    let mut v = vec![];
    for u in -3_i64..=3 {
        v.push(f64::from_bits(((k * d).to_bits() as i64 + u) as u64));
    }
    v
}
fn same(tag: &str, fast: &[f64], plain: &[f64], tol: f64) {
    for (a, b) in fast.iter().zip(plain) {
        assert!(
            (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= tol * b.abs().max(1e-300),
            "{tag}: {fast:?}, plain {plain:?}"
        );
    }
}

// 1: functions at the ends of their domains.
#[gradient]
fn ends(x: &[f64], y: &[f64], d: f64, how: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += q * match how {
            0 => p.acosh(),
            1 => p.acos(),
            2 => p.asin(),
            3 => p.atanh(),
            4 => (p - 1.0).sqrt(),
            5 => (p - 1.0).ln(),
            6 => (-p).ln_1p(),
            7 => (p - 1.0).powf(0.3),
            8 => (1.0 - p * p).sqrt(),
            9 => (p - 1.0).cbrt(),
            10 => (p - 1.0).log2(),
            11 => (p - 1.0).hypot(p - 1.0),
            _ => p.log(q),
        };
    }
    s.sin() + s
}
#[gradient(plain)]
fn ends_p(x: &[f64], y: &[f64], d: f64, how: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += q * match how {
            0 => p.acosh(),
            1 => p.acos(),
            2 => p.asin(),
            3 => p.atanh(),
            4 => (p - 1.0).sqrt(),
            5 => (p - 1.0).ln(),
            6 => (-p).ln_1p(),
            7 => (p - 1.0).powf(0.3),
            8 => (1.0 - p * p).sqrt(),
            9 => (p - 1.0).cbrt(),
            10 => (p - 1.0).log2(),
            11 => (p - 1.0).hypot(p - 1.0),
            _ => p.log(q),
        };
    }
    s.sin() + s
}
#[test]
fn free_bits_ends_of_domains() {
    for how in 0..13 {
        for d in [3.0, 7.0, 49.0, 0.3, 1.1, 41.0, 0.7] {
            for x in near(1.0, d) {
                let y = [2.0 * d; 1];
                let (mut a, mut b) = (vec![0.0; 2], vec![0.0; 2]);
                {
                    let (dx, dy) = a.split_at_mut(1);
                    let (r, dd) = ends_grad(&[x], dx, &y, dy, d, how, 1.0);
                    let p = ends(&[x], &y, d, how);
                    assert!(r.to_bits() == p.to_bits() || r.is_nan() && p.is_nan());
                    a.push(dd);
                }
                {
                    let (dx, dy) = b.split_at_mut(1);
                    let (_, dd) = ends_p_grad(&[x], dx, &y, dy, d, how, 1.0);
                    b.push(dd);
                }
                same(&format!("how {how}: {x:e} / {d} = {:e}", x / d), &a, &b, 1e-3);
            }
        }
    }
}

// 2: a quotient by a difference, guarded by the inputs being different.
#[gradient]
fn differences(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if x[i] != y[i] {
            s += 1e-30 / (x[i] / d - y[i] / d);
        }
    }
    s + s * s
}
#[gradient(plain)]
fn differences_p(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if x[i] != y[i] {
            s += 1e-30 / (x[i] / d - y[i] / d);
        }
    }
    s + s * s
}
#[test]
fn free_bits_difference_of_quotients() {
    for d in [3.0, 7.0, 49.0, 0.3, 1.1, 41.0, 0.7] {
        for k in [1.0, 3.0, 5.0, 9.0] {
            for x in near(k, d) {
                let y = [k * d];
                if x / d == y[0] / d {
                    continue;
                }
                let (mut a, mut b) = ([0.0_f64; 2], [0.0_f64; 2]);
                {
                    let (dx, dy) = a.split_at_mut(1);
                    differences_grad(&[x], dx, &y, dy, d, 1.0);
                    let (dx, dy) = b.split_at_mut(1);
                    differences_p_grad(&[x], dx, &y, dy, d, 1.0);
                }
                assert!(
                    a.iter().all(|v| v.is_finite()) || b.iter().any(|v| !v.is_finite()),
                    "{x:e} {y:?} / {d}: {a:?}, plain {b:?}"
                );
            }
        }
    }
}

// 3: periodic functions of long distances (a phase).
#[gradient]
fn phases(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += p.sin() * q.cos();
    }
    s + s * s
}
#[gradient(plain)]
fn phases_p(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += p.sin() * q.cos();
    }
    s + s * s
}
#[test]
fn free_bits_phases() {
    for (at, tol) in [(1e3, 1e-9), (1e6, 1e-6), (1e9, 1e-4), (1e12, 0.1)] {
        for d in [3.0, 7.0, 49.0, 0.3, 1.1, 41.0, 0.7] {
            for k in 1..20 {
                let x = [at * (k as f64).sqrt() * d];
                let y = [at * (k as f64 + 0.3).sqrt() * d];
                let (mut a, mut b) = ([0.0_f64; 2], [0.0_f64; 2]);
                {
                    let (dx, dy) = a.split_at_mut(1);
                    phases_grad(&x, dx, &y, dy, d, 1.0);
                    let (dx, dy) = b.split_at_mut(1);
                    phases_p_grad(&x, dx, &y, dy, d, 1.0);
                }
                let scale = a[0].abs().max(a[1].abs());
                for i in 0..2 {
                    assert!(
                        (a[i] - b[i]).abs() <= tol * scale,
                        "{x:?} {y:?} / {d}: {a:?}, plain {b:?}"
                    );
                }
            }
        }
    }
}

// 4: the last bit of what is compared, by way of memory, of a loop's count, of a match, of a sort.
#[gradient]
fn decided(x: &[f64], y: &[f64], d: f64) -> f64 {
    let n = x.len();
    let mut p = vec![0.0; n];
    let mut q = vec![0.0; n];
    for i in 0..n {
        p[i] = x[i] / d;
        q[i] = y[i] / d;
    }
    let mut s = 0.0;
    for i in 0..n {
        let z = match p[i] - q[i] {
            ..0.0 => 2.0 * q[i],
            0.0 => p[i] * q[i],
            _ => 5.0 * p[i],
        };
        let mut t = 1.0;
        let mut left = p[i];
        while left >= 1.0 {
            left -= 1.0;
            t *= 1.0 + 0.1 * z;
        }
        s += t * z;
        if p.iter().all(|v| *v <= q[i]) {
            s += q[i] * q[i];
        }
    }
    p.sort_by(|a, b| a.total_cmp(b));
    for i in 0..n {
        s += p[i] * i as f64;
    }
    s + s * s
}
#[gradient(plain)]
fn decided_p(x: &[f64], y: &[f64], d: f64) -> f64 {
    let n = x.len();
    let mut p = vec![0.0; n];
    let mut q = vec![0.0; n];
    for i in 0..n {
        p[i] = x[i] / d;
        q[i] = y[i] / d;
    }
    let mut s = 0.0;
    for i in 0..n {
        let z = match p[i] - q[i] {
            ..0.0 => 2.0 * q[i],
            0.0 => p[i] * q[i],
            _ => 5.0 * p[i],
        };
        let mut t = 1.0;
        let mut left = p[i];
        while left >= 1.0 {
            left -= 1.0;
            t *= 1.0 + 0.1 * z;
        }
        s += t * z;
        if p.iter().all(|v| *v <= q[i]) {
            s += q[i] * q[i];
        }
    }
    p.sort_by(|a, b| a.total_cmp(b));
    for i in 0..n {
        s += p[i] * i as f64;
    }
    s + s * s
}
#[test]
fn free_bits_decided() {
    for d in [3.0, 7.0, 49.0, 0.3, 1.1, 41.0, 0.7] {
        for k in [1.0, 3.0, 5.0] {
            let x = near(k, d);
            let mut y = near(k, d);
            y.rotate_left(2);
            y[0] = k * d;
            y[3] = x[3];
            let n = x.len();
            let (mut a, mut b) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
            let (dx, dy) = a.split_at_mut(n);
            let (r, da) = decided_grad(&x, dx, &y, dy, d, 1.0);
            assert_eq!(r.to_bits(), decided(&x, &y, d).to_bits());
            let (dx, dy) = b.split_at_mut(n);
            let (_, db) = decided_p_grad(&x, dx, &y, dy, d, 1.0);
            same(&format!("{k} {d}"), &a, &b, 1e-9);
            same(&format!("{k} {d}"), &[da], &[db], 1e-9);
        }
    }
}

// 5: numbers whose reciprocal or whose product with it leaves the range of floats (normal numbers only).
#[gradient]
fn far(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 1.0;
    for i in 0..x.len() {
        s += (x[i] / d) * (y[i] / d);
    }
    s.ln()
}
#[gradient(plain)]
fn far_p(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 1.0;
    for i in 0..x.len() {
        s += (x[i] / d) * (y[i] / d);
    }
    s.ln()
}
#[test]
fn free_bits_far_numbers() {
    for d in [1e308_f64, 1.7e308, 1e300, 2.3e-308, 1e-300] {
        for k in [1.0, 3.0, 0.1] {
            let (x, y) = ([k * d; 3], [d / 3.0; 3]);
            if !x[0].is_normal() || !y[0].is_normal() {
                continue;
            }
            let (mut a, mut b) = ([0.0; 6], [0.0; 6]);
            let (dx, dy) = a.split_at_mut(3);
            let (_, da) = far_grad(&x, dx, &y, dy, d, 1.0);
            let (dx, dy) = b.split_at_mut(3);
            let (_, db) = far_p_grad(&x, dx, &y, dy, d, 1.0);
            same(&format!("{k} {d:e}"), &a, &b, 1e-6);
            same(&format!("{k} {d:e}"), &[da], &[db], 1e-6);
        }
    }
}

// 6: the remainder where the quotient is rounded up to the next whole number: 1.0 % 0.1 is 0.0999…, 1.0 / 0.1 is 10.
#[gradient]
fn remainder(x: f64, m: f64) -> f64 {
    x % m
}
#[gradient]
fn euclid(x: f64, m: f64) -> f64 {
    x.rem_euclid(m)
}
#[test]
fn remainder_next_to_its_jump() {
    for (x, m) in [(1.0_f64, 0.1), (0.3, 0.1), (0.6, 0.2), (-1.0, 0.1), (7.0, 0.7)] {
        let want = -((x - x % m) / m).round();
        close(&format!("{x} % {m} = {}", x % m), &[remainder_grad(x, m, 1.0).2], &[want]);
    }
}
#[test]
fn euclidean_remainder_next_to_its_jump() {
    for (x, m) in [(1.0_f64, 0.1), (0.3, 0.1), (0.6, 0.2), (7.0, 0.7)] {
        let want = -((x - f64::rem_euclid(x, m)) / m).round();
        close(&format!("{x} rem_euclid {m}"), &[euclid_grad(x, m, 1.0).2], &[want]);
    }
}
