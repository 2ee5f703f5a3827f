//! Index bounds, invariant code and checks, edges of rings, sums kept in registers.
use crate::oracle::*;
use stratape::gradient;

// 1: a part of a list is shorter than the list: indices beyond the part panic.
#[gradient]
fn parts(x: &[f64], m: usize, reach: usize, back: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() / m {
        let row = &x[i * m..(i + 1) * m];
        for j in 0..reach {
            s += row[j - back] * row[0];
        }
    }
    s
}
#[test]
fn bounds_parts() {
    for n in [0, 1, 4, 12, 17] {
        for m in [0, 1, 3, 4] {
            for reach in [0, 1, 2, 3, 4, 5] {
                for back in [0, 1, usize::MAX] {
                    scalar(
                        &format!("{n} {m} {reach} {back}"),
                        n,
                        |v| parts(v, m, reach, back),
                        |v, dv, w| parts_grad(v, dv, m, reach, back, w),
                    );
                }
            }
        }
    }
}

// 2: the same with indices that wrap by will.
#[gradient]
fn wrapping(x: &[f64], m: usize, back: usize) -> f64 {
    let mut s = 0.0;
    for i in 1..x.len() / m {
        let row = &x[i * m..(i + 1) * m];
        for j in 0..m {
            s += row[j] * row[j.wrapping_sub(back)] + row[j.wrapping_add(back).wrapping_sub(back)];
        }
        for j in 1..m {
            s += row[j.wrapping_sub(back)];
        }
    }
    s
}
#[test]
fn bounds_wrapping_indices() {
    for n in [0, 1, 4, 12, 17] {
        for m in [1, 3, 4] {
            for back in [0, 1, 2, usize::MAX] {
                scalar(
                    &format!("{n} {m} {back}"),
                    n,
                    |v| wrapping(v, m, back),
                    |v, dv, w| wrapping_grad(v, dv, m, back, w),
                );
            }
        }
    }
}

// 3: parts of parts, split_at, ends; parts that are not used.
#[gradient]
fn parts_of_parts(x: &[f64], y: &mut [f64], a: usize, b: usize, k: usize) -> f64 {
    let _unused = &x[a..];
    let (left, right) = x.split_at(b);
    let part = &right[a..][..k];
    let mut s = 0.0;
    for j in 0..part.len() {
        s += part[part.len() - 1 - j] * left[j];
    }
    let (p, q) = y.split_at_mut(a);
    for j in 0..k {
        q[j] += p[j] * s;
        p[j] = q[k - 1 - j];
    }
    s
}
#[test]
fn bounds_parts_of_parts() {
    for n in [0, 2, 5, 17] {
        for a in [0, 1, 2, 3, 8] {
            for b in [0, 1, 3, 8] {
                for k in [0, 1, 2, 3] {
                    outputs(
                        &format!("{n} {a} {b} {k}"),
                        2 * n,
                        (-1.2, 1.2),
                        |v| {
                            let mut y = v[n..].to_vec();
                            let r = parts_of_parts(&v[..n], &mut y, a, b, k);
                            y.push(r);
                            y
                        },
                        |v, dv, w| {
                            let mut y = v[n..].to_vec();
                            let mut dy = vec![0.0; n];
                            for (a, b) in dy.iter_mut().zip(w) {
                                *a = *b;
                            }
                            let r = parts_of_parts_grad(
                                &v[..n],
                                &mut dv[..n],
                                &mut y,
                                &mut dy,
                                a,
                                b,
                                k,
                                w.get(n).copied().unwrap_or(0.0),
                            );
                            for (a, b) in dv[n..].iter_mut().zip(&dy) {
                                *a += b;
                            }
                            y.push(r);
                            y
                        },
                    );
                }
            }
        }
    }
}

// 4: invariant loads, quotients, checks: not reached, or only behind a break or a condition.
#[gradient]
fn invariants(x: &[f64], n: usize, k: usize, d: usize, stop: usize) -> f64 {
    let mut s = 1.0;
    for i in 0..n {
        if i == stop {
            break;
        }
        s += x[k] * x[i % x.len()] * 0.1;
        if i > 1 {
            s += x[100 / d];
        }
        for _ in 0..k {
            assert!(x[0] < 1.0 || k > 2, "first is {}", k);
            s *= 1.0 + 0.01 * x[k];
        }
        if d == 3 && i == 1 {
            continue;
        }
        s += x[(7 % d) << k];
    }
    s
}
#[test]
fn licm_checks_that_are_not_reached() {
    for m in [0, 1, 4, 20] {
        for n in [0, 1, 2, 5] {
            for k in [0, 1, 3, 64] {
                for d in [0, 1, 3, 30] {
                    for stop in [0, 1, 9] {
                        scalar(
                            &format!("{m}: {n} {k} {d} {stop}"),
                            m,
                            |v| invariants(v, n, k, d, stop),
                            |v, dv, w| invariants_grad(v, dv, n, k, d, stop, w),
                        );
                    }
                }
            }
        }
    }
}

// 5: sums at one place of memory, which the terms also read; a place that is out of bounds where nothing runs.
#[gradient]
fn places(x: &mut [f64], y: &[f64], i: usize, n: usize, l: usize) {
    for j in 0..n {
        x[i] += y[j];
        for k in 0..l {
            x[i] += x[k] * y[j] * 0.1;
        }
        for k in 0..l {
            x[j % 3] += y[k];
        }
        if y[j] > 0.0 {
            x[i] *= 0.5;
        }
    }
}
#[test]
fn licm_sums_at_one_place() {
    for m in [0, 1, 4] {
        for i in [0, 1, 3, 9] {
            for n in [0, 1, 3] {
                for l in [0, 1, 3, 4] {
                    outputs(
                        &format!("{m} {i} {n} {l}"),
                        m + 4,
                        (-1.2, 1.2),
                        |v| {
                            let mut x = v[..m].to_vec();
                            places(&mut x, &v[m..], i, n, l);
                            x
                        },
                        |v, dv, w| {
                            let mut x = v[..m].to_vec();
                            let mut dx = w[..m].to_vec();
                            places_grad(&mut x, &mut dx, &v[m..], &mut dv[m..], i, n, l);
                            for (a, b) in dv.iter_mut().zip(&dx) {
                                *a += b;
                            }
                            x
                        },
                    );
                }
            }
        }
    }
}

// 6: rings: neighbours on both sides, also further away than the ring is long.
#[gradient]
fn ring(x: &[f64], far: usize) -> f64 {
    let n = x.len();
    let mut s = 0.0;
    for i in 0..n {
        let left = x[(i + n - 1) % n];
        let right = x[(i + 1) % n];
        let more = x[(i + far) % n];
        let edge = if i == 0 {
            0.5
        } else if i == n - 1 {
            x[i - 1]
        } else {
            x[i + 1] - x[i - 1]
        };
        s += left * right * x[i]
            + more * edge
            + if i > 0 && i + 2 < n { x[i + 2] * x[i - 1] } else { x[n - 1 - i] };
    }
    s
}
#[test]
fn peel_ring() {
    for n in SIZES {
        for far in [0, 1, 2, 3, 40, usize::MAX] {
            scalar(&format!("{n} {far}"), n, |v| ring(v, far), |v, dv, w| ring_grad(v, dv, far, w));
        }
    }
}

// 7: zero for steps and chunks, arrays of known length, a place in them that is computed.
#[gradient]
fn zeros(x: &[f64], a: [f64; 4], by: usize, len: usize, at: usize) -> f64 {
    let mut s = 0.0;
    let mut b = [0.0; 4];
    if len != 2 {
        for i in (0..x.len()).step_by(by) {
            b[i % 4] += x[i] * a[(i + at) % 4];
        }
    }
    for (i, c) in x.chunks(len).enumerate() {
        s += c[0] * c[c.len() - 1] * b[i % 4];
    }
    for w in x.windows(by) {
        s += w[w.len() - 1] * a[at];
    }
    s + b[at] * a[3 - at]
}
#[test]
fn bounds_zero_steps() {
    for n in SIZES {
        for by in [0, 1, 2, 9] {
            for len in [0, 1, 2, 3] {
                for at in [0, 3, 4] {
                    scalar(
                        &format!("{n} {by} {len} {at}"),
                        n + 4,
                        |v| zeros(&v[..n], [v[n], v[n + 1], v[n + 2], v[n + 3]], by, len, at),
                        |v, dv, w| {
                            let (r, d) = zeros_grad(
                                &v[..n],
                                &mut dv[..n],
                                [v[n], v[n + 1], v[n + 2], v[n + 3]],
                                by,
                                len,
                                at,
                                w,
                            );
                            for k in 0..4 {
                                dv[n + k] += d[k];
                            }
                            r
                        },
                    );
                }
            }
        }
    }
}

// 8: a table for the inner loop; what it reads is out of bounds where the outer loop does not run, or changed by it.
#[gradient]
fn tables(p: &[f64], w: &[f64], n: usize, m: usize, change: bool) -> f64 {
    let mut q = p.to_vec();
    let mut s = 0.0;
    for i in 0..n {
        for j in 0..m {
            s += (q[j] / 3.0).exp() * w[i] + (p[m - 1 - j] * 0.5).sin() * w[i];
        }
        for j in i..m {
            s += (q[j] + 4.0).sqrt() * w[i] / (1.0 + j as f64);
        }
        if change {
            q[i] *= 0.5;
        }
    }
    s
}
#[test]
fn precompute_tables() {
    for n in [0, 1, 2, 3, 5] {
        for m in [0_usize, 1, 2, 3, 17] {
            for l in [m, m.saturating_sub(1), m + 2] {
                for change in [false, true] {
                    scalar(
                        &format!("{n} {m} {l} {change}"),
                        l + n,
                        |v| tables(&v[..l], &v[l..], n, m, change),
                        |v, dv, w| {
                            let (a, b) = dv.split_at_mut(l);
                            tables_grad(&v[..l], a, &v[l..], b, n, m, change, w)
                        },
                    );
                }
            }
        }
    }
}
