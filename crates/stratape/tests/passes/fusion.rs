//! Near misses of `loop_fusion`, `combine_terms`, `argmax`, `precompute`.
use crate::oracle::*;
use stratape::gradient;

// 1: softmax: the second sum needs the first; the third may go with the second.
#[gradient]
fn softmax(x: &[f64], n: usize, m: usize) -> f64 {
    let mut all = 0.0;
    for i in 0..n {
        let row = &x[i * m..(i + 1) * m];
        let mut z = 0.0;
        for j in 0..m {
            z += row[j].exp();
        }
        let mut mean = 0.0;
        for j in 0..m {
            mean += row[j] * row[j].exp() / z;
        }
        let mut var = 0.0;
        for j in 0..m {
            var += (row[j] - mean) * (row[j] - mean);
        }
        let mut cube = 0.0;
        for j in 0..m {
            cube += row[j] * row[j] * row[j] * z;
        }
        all += var * cube + mean;
    }
    all
}
#[test]
fn fusion_softmax() {
    for n in [0, 1, 2, 3] {
        for m in SIZES {
            scalar(
                &format!("{n} {m}"),
                n * m,
                |v| softmax(v, n, m),
                |v, dv, w| softmax_grad(v, dv, n, m, w),
            );
        }
    }
}

// 2: memory that the second reads is written in between: one element, in a branch, by a swap.
#[gradient]
fn between(x: &[f64], w: &[f64], n: usize, how: usize) -> f64 {
    let m = w.len();
    let mut u = w.to_vec();
    let mut all = 0.0;
    for i in 0..n {
        let mut s = 0.0;
        for j in 0..m {
            s += x[i * m + j] * u[j];
        }
        if how == 1 {
            u[i % m] = s.sin();
        } else if how == 2 {
            u.swap(0, m - 1);
        } else if how == 3 && s > 0.0 {
            u[m - 1] *= 0.5;
        }
        let mut t = 0.0;
        for j in 0..m {
            t += x[i * m + m - 1 - j] * u[j];
        }
        all += s * t;
    }
    all
}
#[test]
fn fusion_written_between() {
    for n in [0, 1, 2, 3] {
        for m in SIZES {
            for how in 0..4 {
                scalar(
                    &format!("{n} {m} {how}"),
                    n * m + m,
                    |v| between(&v[..n * m], &v[n * m..], n, how),
                    |v, dv, w| {
                        let (a, b) = dv.split_at_mut(n * m);
                        between_grad(&v[..n * m], a, &v[n * m..], b, n, how, w)
                    },
                );
            }
        }
    }
}

// 3: other ranges: one less, one later, reversed, by two, inclusive.
#[gradient]
fn ranges(x: &[f64], n: usize, m: usize) -> f64 {
    let mut all = 0.0;
    for i in 0..n {
        let (mut a, mut b, mut c, mut d, mut e) = (1.0, 2.0, 0.1, 0.0, -0.0);
        for j in 0..m {
            a += x[i + j] * 1e3;
        }
        for j in 1..m {
            b += x[i + j] * x[i + j - 1];
        }
        for j in (0..m).rev() {
            c += x[i + j] * 1e-3 + 1e3;
        }
        for j in (0..m).step_by(2) {
            d += x[i + j] * x[i];
        }
        for j in 1..=m {
            e += x[i + j - 1] * x[i + m - j];
        }
        all += a * b + c * d * e;
    }
    all * 1e-6
}
#[test]
fn fusion_other_ranges() {
    for n in [0, 1, 2, 3] {
        for m in SIZES {
            for short in [0, 1] {
                let l = (n + m).saturating_sub(short);
                scalar(
                    &format!("{n} {m} {l}"),
                    l,
                    |v| ranges(v, n, m),
                    |v, dv, w| ranges_grad(v, dv, n, m, w),
                );
            }
        }
    }
}

// 4: exits: the first loop breaks, the second is skipped over, the third returns.
#[gradient]
fn exits(x: &[f64], n: usize, m: usize, most: f64) -> f64 {
    let mut all = 0.5;
    for i in 0..n {
        let mut s = 0.0;
        let mut end = 0;
        for j in 0..m {
            s += x[i * m + j].exp();
            if s > most {
                break;
            }
            end = j;
        }
        let mut t = 0.0;
        for j in 0..m {
            if j == end {
                continue;
            }
            t += x[i * m + j] * x[i * m + end];
        }
        let mut u = 0.0;
        for j in 0..m {
            u += x[i * m + j] * 0.5;
            if u < -most {
                return all * u + t;
            }
        }
        all += s * t * u;
    }
    all
}
#[test]
fn fusion_exits() {
    for n in [0, 1, 2, 3] {
        for m in SIZES {
            for most in [0.4, 1.5, 4.0, 100.0] {
                scalar(
                    &format!("{n} {m} {most}"),
                    n * m,
                    |v| exits(v, n, m, most),
                    |v, dv, w| exits_grad(v, dv, n, m, most, w).0,
                );
            }
        }
    }
}

// 5: empty sums of the library are -0.0; bits must stay.
#[gradient]
fn empty_sums(x: &[f64], n: usize) -> f64 {
    let mut all = -0.0;
    for i in 0..n {
        let part = &x[..x.len().saturating_sub(i)];
        let a: f64 = part.iter().sum();
        let b: f64 = part.iter().map(|v| v * v).sum();
        let c = part.iter().fold(-0.0, |s, v| s - v);
        all += if a.is_sign_negative() { a * b - c } else { a + b * c };
    }
    all + x.iter().map(|v| v * 0.0).sum::<f64>()
}
#[test]
fn fusion_negative_zero() {
    for n in [0, 1, 2, 3, 17] {
        for m in SIZES {
            scalar(
                &format!("{n} {m}"),
                m,
                |v| empty_sums(v, n),
                |v, dv, w| empty_sums_grad(v, dv, n, w),
            );
        }
    }
}

// 6: gates, one of which needs another; panics between them.
#[gradient]
fn gates(w: &[f64], x: &[f64], steps: usize, least: f64) -> f64 {
    let m = x.len();
    let mut h = x.to_vec();
    let mut c = 0.2;
    for t in 0..steps {
        let (mut f, mut g, mut o) = (0.1, 0.2, 0.3);
        for j in 0..m {
            f += w[j] * h[j];
        }
        assert!(f > least, "gate {t}");
        for j in 0..m {
            g += w[m + j] * h[j];
        }
        let k = (f.abs() * 10.0) as usize % 3;
        for j in 0..m {
            o += w[k * m + j] * h[j] * c;
        }
        c = f.tanh() * c + g.sin();
        for j in 0..m {
            h[j] = 0.5 * h[j] + (o * c).tanh() * w[2 * m + j];
        }
    }
    c + h.iter().sum::<f64>()
}
#[test]
fn fusion_gates() {
    for steps in [0, 1, 2, 5] {
        for m in SIZES {
            for least in [-100.0, 0.0] {
                scalar(
                    &format!("{steps} {m} {least}"),
                    4 * m,
                    |v| gates(&v[..3 * m], &v[3 * m..], steps, least),
                    |v, dv, w| {
                        let (a, b) = dv.split_at_mut(3 * m);
                        gates_grad(&v[..3 * m], a, &v[3 * m..], b, steps, least, w).0
                    },
                );
            }
        }
    }
}

// 7: a first loop that looks for the greatest, a second that sums what is near it, a third that finds the position again.
#[gradient]
fn nearest(x: &[f64], p: &[f64]) -> f64 {
    let mut all = 0.0;
    for q in p {
        let mut best = f64::INFINITY;
        let mut at = 0;
        for (j, v) in x.iter().enumerate() {
            let d = (v - q) * (v - q);
            if d < best {
                best = d;
                at = j;
            }
        }
        let mut s = 0.0;
        for v in x {
            s += (-(v - q) * (v - q) / (1.0 + best)).exp();
        }
        let mut last = 0.0;
        for j in 0..x.len() {
            if x[j] >= x[at] {
                last = x[j] * q;
            }
        }
        if best.is_finite() {
            all += s * best + last + x[at];
        }
    }
    all
}
#[test]
fn fusion_nearest() {
    for n in SIZES {
        for m in [0, 1, 3] {
            scalar(
                &format!("{n} {m}"),
                n + m,
                |v| nearest(&v[..n], &v[n..]),
                |v, dv, w| {
                    let (a, b) = dv.split_at_mut(n);
                    nearest_grad(&v[..n], a, &v[n..], b, w)
                },
            );
        }
    }
}

// 8: combine_terms: scalars used many times, changed in some iterations, reset in others.
#[gradient]
fn scalars(x: &[f64], a: f64, b: f64, k: usize) -> f64 {
    let (mut a, mut b, mut s) = (a, b, 0.0);
    for i in 0..x.len() {
        s += a * x[i] - b * x[i] * x[i] + a * b - a.sin() * x[0];
        if i % 3 == k {
            a = a * 0.5 + x[i] * a - b;
        }
        if i % 5 == 4 {
            b = x[i];
        }
        (a, b) = if x[i] > 0.5 { (b, a + s * 0.01) } else { (a, b) };
    }
    s * a + b
}
#[test]
fn combine_scalars_that_change() {
    for n in SIZES {
        for k in [0, 1, 2, 3] {
            scalar(
                &format!("{n} {k}"),
                n + 2,
                |v| scalars(&v[..n], v[n], v[n + 1], k),
                |v, dv, w| {
                    let (r, a, b) = scalars_grad(&v[..n], &mut dv[..n], v[n], v[n + 1], k, w);
                    dv[n] += a;
                    dv[n + 1] += b;
                    r
                },
            );
        }
    }
}

// 9: sums of adjoints in nested triangular loops, some terms of which are infinite products of zero if moved.
#[gradient]
fn nested_terms(x: &[f64], a: f64, b: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let mut t = 1.0;
        for j in 0..i {
            let d = x[i] - x[j];
            t += a * d - b / (1.0 + d * d) + a * b * x[j];
            if d.abs() > a.abs() {
                t -= a / d + b * d.abs().sqrt();
            }
        }
        for j in (i + 1..x.len()).rev() {
            t += a * x[j] * x[i] - a * t * 0.1;
        }
        s += t * a - t * b;
    }
    s + (a - b) * x.len() as f64
}
#[test]
fn combine_nested_terms() {
    for n in SIZES {
        if n > 8 {
            continue;
        }
        scalar(
            &format!("{n}"),
            n + 2,
            |v| nested_terms(&v[..n], v[n], v[n + 1]),
            |v, dv, w| {
                let (r, a, b) = nested_terms_grad(&v[..n], &mut dv[..n], v[n], v[n + 1], w);
                dv[n] += a;
                dv[n + 1] += b;
                r
            },
        );
    }
}

// 10: branches that are not taken, with infinite derivatives: closed form.
#[gradient]
fn guarded(x: &[f64], a: f64, b: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += a * x[i];
        if x[i] > 0.0 {
            s += a * x[i].sqrt() + b / x[i];
        }
        if a > 0.0 {
            s -= b * a.ln();
        }
        if b != 0.0 {
            s += a / b;
        }
    }
    s
}
#[test]
fn combine_guarded_infinities() {
    for (x, a, b) in [
        (vec![0.0_f64, -0.0, 4.0, 0.0], 0.0_f64, 0.0_f64),
        (vec![0.0; 9], 2.0, 0.0),
        (vec![1.0, 0.0, 4.0], -0.0, 3.0),
        (vec![], 0.0, 0.0),
    ] {
        let (mut da, mut db) = (0.0, 0.0);
        let mut want = vec![];
        for &v in &x {
            let mut d = a;
            da += v;
            if v > 0.0 {
                da += v.sqrt();
                db += 1.0 / v;
                d += a * 0.5 / v.sqrt() - b / (v * v);
            }
            if a > 0.0 {
                db -= a.ln();
                da -= b / a;
            }
            if b != 0.0 {
                da += 1.0 / b;
                db -= a / (b * b);
            }
            want.push(d);
        }
        let mut dx = vec![0.0; x.len()];
        let (r, ga, gb) = guarded_grad(&x, &mut dx, a, b, 1.0);
        assert_eq!(r.to_bits(), guarded(&x, a, b).to_bits());
        dx.extend([ga, gb]);
        want.extend([da, db]);
        close(&format!("{x:?} {a} {b}"), &dx, &want);
    }
}

// 11: two sums with NaN and infinities in what only one of them reads.
#[gradient]
fn nans(x: &[f64], y: &[f64], n: usize) -> f64 {
    let m = y.len();
    let mut all = 0.0;
    for i in 0..n {
        let (mut s, mut t) = (0.0, 0.0);
        for j in 0..m {
            s += x[i] * x[(i + j) % n];
        }
        for j in 0..m {
            t += y[j] * 0.5;
        }
        all += if t.is_finite() { t * s } else { s };
    }
    all
}
#[test]
fn fusion_nans() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for n in [1, 2, 3, 17] {
            for m in [1, 3, 17] {
                let mut y = vec![0.5; m];
                y[m / 2] = bad;
                let clean = vec![0.0; m];
                let x = Rng(n as u64 * 77 + 5).fill(n, 0.5, 1.5);
                let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; m]);
                let r = nans_grad(&x, &mut dx, &y, &mut dy, n, 1.0);
                assert_eq!(r.to_bits(), nans(&x, &y, n).to_bits());
                // ds/dx by hand
                let mut want = vec![0.0; n];
                for i in 0..n {
                    for j in 0..m {
                        want[i] += x[(i + j) % n];
                        want[(i + j) % n] += x[i];
                    }
                }
                close(&format!("{bad} {n} {m}"), &dx, &want);
                close(&format!("{bad} {n} {m} dy"), &dy, &clean);
            }
        }
    }
}

// 12: iterators: zip of different lengths, windows, chunks, enumerate, in one loop over rows.
#[gradient]
fn iterators(x: &[f64], y: &[f64], m: usize) -> f64 {
    let mut all = 0.0;
    for (r, row) in x.chunks(m).enumerate() {
        let a: f64 = row.iter().zip(y).map(|(v, w)| v * w).sum();
        let b: f64 = row.windows(2).map(|w| w[0] * w[1] - w[1]).sum();
        let c: f64 = row
            .iter()
            .zip(y.iter().rev())
            .enumerate()
            .map(|(i, (v, w))| (i + r) as f64 * v * w)
            .sum();
        let d =
            row.iter().zip(&y[..row.len().min(y.len())]).fold(1.0, |s, (v, w)| s + v * w * s * 0.1);
        let e: f64 = row.chunks_exact(2).map(|p| p[0] / (2.0 + p[1])).sum();
        all += a * b - c * d + e;
    }
    all
}
#[test]
fn fusion_iterators() {
    for n in SIZES {
        for l in [0, 1, 3, 6] {
            for m in [0, 1, 2, 4, 5] {
                scalar(
                    &format!("{n} {l} {m}"),
                    n + l,
                    |v| iterators(&v[..n], &v[n..], m),
                    |v, dv, w| {
                        let (a, b) = dv.split_at_mut(n);
                        iterators_grad(&v[..n], a, &v[n..], b, m, w)
                    },
                );
            }
        }
    }
}

// 13: terms of a sum in f32, a scalar three times; against f64.
macro_rules! both {
    ($f:ident, $t:ty) => {
        #[gradient]
        fn $f(x: &[$t], a: $t, b: $t) -> $t {
            let mut s = 0.0;
            for i in 0..x.len() {
                let (mut u, mut v) = (0.0, 0.0);
                for j in 0..x.len() {
                    u += a * x[j] - a * x[i] + b;
                }
                for j in 0..x.len() {
                    v -= b * x[j] * a - x[i] / (2.0 + b);
                }
                s += u * v * 0.1;
            }
            s
        }
    };
}
both!(single, f32);
both!(double, f64);
#[test]
fn combine_f32() {
    for n in SIZES {
        scalar(
            &format!("n {n}"),
            n + 2,
            |v| double(&v[..n], v[n], v[n + 1]),
            |v, dv, w| {
                let (r, a, b) = double_grad(&v[..n], &mut dv[..n], v[n], v[n + 1], w);
                dv[n] += a;
                dv[n + 1] += b;
                r
            },
        );
        let v = Rng(n as u64 + 9).fill(n + 2, -1.0, 1.0);
        let x: Vec<f32> = v.iter().map(|v| *v as f32).collect();
        let mut dx = vec![0.0_f32; n];
        let (r, da, db) = single_grad(&x[..n], &mut dx, x[n], x[n + 1], 1.0);
        assert_eq!(r.to_bits(), single(&x[..n], x[n], x[n + 1]).to_bits());
        let mut dv = vec![0.0; n];
        let (_, ea, eb) = double_grad(&v[..n], &mut dv, v[n], v[n + 1], 1.0);
        dv.extend([ea, eb]);
        dx.extend([da, db]);
        for k in 0..n + 2 {
            assert!((dv[k] - dx[k] as f64).abs() < 1e-3 * (1.0 + dv[k].abs()), "{n} {dv:?} {dx:?}");
        }
    }
}
