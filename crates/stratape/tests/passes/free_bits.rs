//! `free_bits`, `reciprocal`: values computed again whose last bits decide something.
use crate::oracle::*;
use stratape::gradient;

/// Pairs (x, d) whose quotients by a product with the reciprocal differ from the quotient.
fn quotients() -> Vec<(f64, f64)> {
    let mut v = vec![];
    for k in 1..60_u32 {
        for d in [3.0, 7.0, 0.1, 0.3, 49.0, 1.1, 0.7, 10.0, 41.0] {
            let x = k as f64 * d;
            if x / d == k as f64 && x * (1.0 / d) != k as f64 {
                v.push((x, d));
            }
        }
    }
    assert!(v.len() > 10);
    v
}

// 1: remainders: the derivative with respect to the divisor is a whole number, which jumps.
#[gradient]
fn remainders(x: &[f64], y: &[f64], d: f64, m: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += (p % m) * q + q;
    }
    s * s
}
#[test]
fn free_bits_remainder() {
    for (x, d) in quotients() {
        for m in [1.0, 2.0, 0.5] {
            let (xs, ys) = (vec![x; 3], vec![d, 2.0 * d, 3.0 * d]);
            let (mut dx, mut dy) = (vec![0.0; 3], vec![0.0; 3]);
            let (r, _, dm) = remainders_grad(&xs, &mut dx, &ys, &mut dy, d, m, 1.0);
            assert_eq!(r.to_bits(), remainders(&xs, &ys, d, m).to_bits());
            let mut s = 0.0;
            let mut want = 0.0;
            for i in 0..3 {
                let (p, q) = (xs[i] / d, ys[i] / d);
                s += (p % m) * q + q;
                want -= (p / m).trunc() * q;
            }
            close(&format!("{x} {d} {m}"), &[dm], &[2.0 * s * want]);
            close(
                &format!("dx {x} {d} {m}"),
                &dx,
                &ys.iter().map(|y| 2.0 * s * y / d / d).collect::<Vec<_>>(),
            );
        }
    }
}

// 2: the same, Euclidean, and `fract`, `floor`, casts as factors.
#[gradient]
fn wholes(x: &[f64], y: &[f64], d: f64, m: f64, how: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += match how {
            0 => p.rem_euclid(m) * q,
            1 => p.floor() * q,
            2 => p.fract() * q + q,
            3 => (p as i64) as f64 * q,
            4 => p.ceil() * q,
            5 => p.trunc() * q,
            6 => (p - 0.5).round() * q,
            7 => y[p as usize % y.len()] * q,
            _ => p.div_euclid(m) * q,
        };
    }
    s.sin() + s
}
#[test]
fn free_bits_whole_numbers() {
    for how in 0..8 {
        for (x, d) in quotients() {
            let m = 1.0;
            let (xs, ys) = (vec![x; 3], vec![d, 2.0 * d, 3.0 * d]);
            let (mut dx, mut dy) = (vec![0.0; 3], vec![0.0; 3]);
            let (r, _, dm) = wholes_grad(&xs, &mut dx, &ys, &mut dy, d, m, how, 1.0);
            assert_eq!(r.to_bits(), wholes(&xs, &ys, d, m, how).to_bits());
            let mut s = 0.0;
            let (mut wm, mut wx, mut wy) = (0.0, vec![0.0; 3], vec![0.0; 3]);
            for i in 0..3 {
                let (p, q) = (xs[i] / d, ys[i] / d);
                match how {
                    0 => {
                        s += p.rem_euclid(m) * q;
                        wm -= (p / m).floor() * q;
                        wx[i] = q / d;
                        wy[i] = p.rem_euclid(m) / d;
                    }
                    2 => {
                        s += p.fract() * q + q;
                        wx[i] = q / d;
                        wy[i] = (p.fract() + 1.0) / d;
                    }
                    7 => {
                        let k = p as usize % 3;
                        s += ys[k] * q;
                        wy[i] += ys[k] / d;
                        wy[k] += q;
                    }
                    _ => {
                        let k = match how {
                            1 => p.floor(),
                            3 => (p as i64) as f64,
                            4 => p.ceil(),
                            5 => p.trunc(),
                            _ => (p - 0.5).round(),
                        };
                        s += k * q;
                        wy[i] = k / d;
                    }
                }
            }
            let c = s.cos() + 1.0;
            for v in wx.iter_mut().chain(wy.iter_mut()) {
                *v *= c;
            }
            let tag = format!("how {how}: {x} / {d}");
            close(&tag, &[dm], &[wm * c]);
            close(&tag, &dx, &wx);
            close(&tag, &dy, &wy);
        }
    }
}

// 3: kinks that are hit exactly: abs, max, min, clamp, signum, copysign.
#[gradient]
fn kinks(x: &[f64], y: &[f64], d: f64, k: f64, how: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        s += match how {
            0 => (p - k).abs() * q + q,
            1 => p.max(k) * q,
            2 => p.min(k) * q,
            3 => p.clamp(k, k + 1.0) * q,
            4 => (p - k).signum() * q,
            5 => q.copysign(p - k),
            6 => k.max(p) * q,
            _ => {
                if p >= k {
                    p * q
                } else {
                    -q
                }
            }
        };
    }
    s * s
}
#[test]
fn free_bits_kinks() {
    for how in 0..8 {
        for (x, d) in quotients() {
            let k = x / d;
            let (xs, ys) = (vec![x; 3], vec![d, 2.0 * d, 3.0 * d]);
            let (mut dx, mut dy) = (vec![0.0; 3], vec![0.0; 3]);
            let (r, _, dk) = kinks_grad(&xs, &mut dx, &ys, &mut dy, d, k, how, 1.0);
            assert_eq!(r.to_bits(), kinks(&xs, &ys, d, k, how).to_bits());
            let (mut s, mut wk, mut wx, mut wy) = (0.0, 0.0, vec![], vec![]);
            for i in 0..3 {
                let q = ys[i] / d;
                let (v, on_k, on_p, on_q) = match how {
                    0 => (q, 0.0, 0.0, 1.0),
                    1 | 2 | 3 => (k * q, 0.0, q, k),
                    4 => (q, 0.0, 0.0, 1.0),
                    5 => (q, 0.0, 0.0, 1.0),
                    6 => (k * q, q, 0.0, k),
                    _ => (k * q, 0.0, q, k),
                };
                s += v;
                wk += on_k;
                wx.push(on_p / d);
                wy.push(on_q / d);
            }
            let c = 2.0 * s;
            let tag = format!("how {how}: {x} / {d}");
            close(&tag, &[dk], &[wk * c]);
            close(&tag, &dx, &wx.iter().map(|v| v * c).collect::<Vec<_>>());
            close(&tag, &dy, &wy.iter().map(|v| v * c).collect::<Vec<_>>());
        }
    }
}

// 4: the edge of where a function is defined: powf of a difference that is exactly 0, atanh, acosh, asin, ln_1p, hypot.
#[gradient]
fn edges(x: &[f64], y: &[f64], d: f64, k: f64, e: f64, how: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        let z = p - k;
        s += match how {
            0 => z.powf(1.5) * q,
            1 => z.powf(e) * q,
            2 => (-z).powf(e) * q,
            3 => z.hypot(z) * q,
            4 => z.powi(3) * q,
            5 => z.atan2(z * 2.0) * q,
            6 => (z * z * z).powf(1.0 / 3.0 + 1.0) * q,
            _ => z.max(0.0).powf(1.25) * q,
        } + q;
    }
    s * s
}
#[test]
fn free_bits_edges_of_definition() {
    for how in 0..8 {
        for (x, d) in quotients() {
            let k = x / d;
            let (xs, ys) = (vec![x; 3], vec![d, 2.0 * d, 3.0 * d]);
            let (mut dx, mut dy) = (vec![0.0; 3], vec![0.0; 3]);
            let (r, _, dk, de) = edges_grad(&xs, &mut dx, &ys, &mut dy, d, k, 1.5, how, 1.0);
            assert_eq!(r.to_bits(), edges(&xs, &ys, d, k, 1.5, how).to_bits());
            let tag = format!("how {how}: {x} / {d}");
            if how == 5 {
                continue; // atan2(0, 0): the derivative is not defined
            }
            close(&tag, &[dk, de], &[0.0, 0.0]);
            close(&tag, &dx, &[0.0; 3]);
            close(&tag, &dy, &[12.0 / d; 3]);
        }
    }
}

// 5: a division guarded by a comparison: p and q are neighbours, computed again they may be equal.
#[gradient]
fn guarded(x: &[f64], y: &[f64], d: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let q = y[i] / d;
        let z = p - q;
        if z != 0.0 {
            s += (z * 1e12).atan() + (z * 1e9).ln_1p().abs().min(1.0) + 1e-20 / z;
        } else {
            s += p;
        }
    }
    s * s
}
#[test]
fn free_bits_guarded_division() {
    for (x, d) in quotients() {
        for sign in [1, -1] {
            let near = f64::from_bits(x.to_bits().wrapping_add_signed(sign));
            for (a, b) in [(x, near), (near, x), (x, x)] {
                let xs = [a, b, a];
                let ys = [b, a, b];
                let (mut dx, mut dy) = ([0.0; 3], [0.0; 3]);
                let (r, dd) = guarded_grad(&xs, &mut dx, &ys, &mut dy, d, 1.0);
                assert_eq!(r.to_bits(), guarded(&xs, &ys, d).to_bits());
                for v in dx.iter().chain(&dy).chain([&dd]) {
                    assert!(v.is_finite(), "{a} {b} {d}: {dx:?} {dy:?} {dd}");
                }
            }
        }
    }
}

// 6: sqrt, ln, acos at the ends of their domains, through a norm: (a/n)² + (b/n)² ≤ 1.
#[gradient]
fn norms(v: &[[f64; 3]], t: f64) -> f64 {
    let mut s = 0.0;
    for p in v {
        let n = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
        let (a, b, c) = (p[0] / n, p[1] / n, p[2] / n);
        let dot = a * t + b * 0.3 + c * 0.2;
        let out = 1.0 - a * a - b * b - c * c;
        let clipped = if out > 0.0 { out.sqrt() } else { 0.0 };
        s += dot.clamp(-1.0, 1.0).acos() * (1.0 + 0.0 * clipped) + (a * b).abs().sqrt() * c;
    }
    s.sin() + s
}
#[test]
fn free_bits_norms() {
    for n in SIZES {
        positive(
            &format!("{n}"),
            3 * n + 1,
            |v| {
                norms(&v[1..].chunks(3).map(|c| [c[0], c[1], c[2]]).collect::<Vec<_>>(), v[0] * 0.4)
            },
            |v, dv, w| {
                let p: Vec<_> = v[1..].chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
                let mut dp = vec![[0.0; 3]; n];
                let (r, dt) = norms_grad(&p, &mut dp, v[0] * 0.4, w);
                dv[0] += 0.4 * dt;
                for (a, b) in dv[1..].iter_mut().zip(dp.iter().flatten()) {
                    *a += b;
                }
                r
            },
        );
    }
}

// 7: an index, and a count of iterations, from numbers that are computed again in the backward pass.
#[gradient]
fn table(x: &[f64], d: f64, t: &[f64]) -> f64 {
    let mut all = 0.0;
    for i in 0..x.len() {
        let p = x[i] / d;
        let w = t[0] / d;
        let k = p.floor();
        let f = p - k;
        let i0 = k as usize % t.len();
        let i1 = (k as usize + 1) % t.len();
        let mut u = w;
        for j in 0..(p as usize) % 4 {
            u *= 1.0 + 0.1 * f + 0.05 * j as f64 * t[i0];
        }
        all += (t[i0] * (1.0 - f) + t[i1] * f) * u;
    }
    all * all
}
#[test]
fn free_bits_table() {
    for m in [1, 2, 5] {
        let t = Rng(m as u64 + 3).fill(m, 0.5, 1.5);
        for (x, d) in quotients() {
            let xs = [x; 2];
            let (mut dx, mut dt) = ([0.0; 2], vec![0.0; m]);
            let (r, _) = table_grad(&xs, &mut dx, d, &t, &mut dt, 1.0);
            assert_eq!(r.to_bits(), table(&xs, d, &t).to_bits());
            // Differences to the right, on which side p = k is continued; and of the table.
            let h = 1e-6;
            for i in 0..2 {
                let mut u = xs;
                let at = |u: &[f64; 2]| table(u, d, &t);
                u[i] += h * d;
                let a = at(&u);
                u[i] += h * d;
                let b = at(&u);
                let fd = (4.0 * a - b - 3.0 * r) / (2.0 * h * d);
                assert!(
                    (fd - dx[i]).abs() < 1e-4 * (1.0 + fd.abs() + r.abs() / d),
                    "dx {x}/{d} m {m}: {fd} {dx:?}"
                );
            }
            for k in 0..m {
                let mut u = t.clone();
                u[k] += h;
                let a = table(&xs, d, &u);
                u[k] -= 2.0 * h;
                let b = table(&xs, d, &u);
                let fd = (a - b) / (2.0 * h);
                assert!(
                    (fd - dt[k]).abs() < 1e-4 * (1.0 + fd.abs() + r.abs()),
                    "dt {x}/{d} m {m} {k}: {fd} {dt:?}"
                );
            }
        }
    }
}

// 8: a Newton iteration whose end is asked by a difference of quotients; a sum that cancels.
#[gradient]
fn newton(x: &[f64], d: f64) -> f64 {
    let mut s = 0.0;
    for v in x {
        let a = v / d;
        let mut r = 1.0 / d + a;
        let mut turns = 0;
        loop {
            let next = 0.5 * (r + a / r);
            let same = next == r;
            r = next;
            turns += 1;
            if same || turns == 40 {
                break;
            }
        }
        s += r * a;
    }
    s * s
}
#[test]
fn free_bits_newton() {
    for n in SIZES {
        positive(
            &format!("{n}"),
            n + 1,
            |v| newton(&v[..n], v[n]),
            |v, dv, w| {
                let (r, d) = newton_grad(&v[..n], &mut dv[..n], v[n], w);
                dv[n] += d;
                r
            },
        );
    }
}
