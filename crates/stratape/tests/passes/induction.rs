//! Positions that grow: packed triangles, steps, signs, overflow.
use crate::oracle::*;
use stratape::gradient;

fn tri(n: usize) -> usize {
    n * (n + 1) / 2
}

// 1: lower triangle, one position.
#[gradient]
fn lower(p: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    let mut at = 0;
    let mut s = 0.0;
    for i in 0..n {
        for j in 0..=i {
            s += p[at] * x[i] * x[j].sin();
            at += 1;
        }
    }
    s * s + at as f64
}
// 2: strict upper triangle by rows, position at the row's start.
#[gradient]
fn upper(p: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    let mut row = 0;
    let mut s = 0.0;
    for i in 0..n {
        for j in i + 1..n {
            s += p[row + j - i - 1] * x[i] * (x[j] + s * 0.1);
        }
        row += n - i - 1;
    }
    s.sin() * 3.0 + row as f64 * x[0]
}
#[test]
fn induction_triangles() {
    for n in SIZES {
        let m = tri(n);
        scalar(
            &format!("n {n}"),
            m + n,
            |v| lower(&v[..m], &v[m..]),
            |v, dv, w| {
                let (a, b) = dv.split_at_mut(m);
                lower_grad(&v[..m], a, &v[m..], b, w)
            },
        );
        for short in [0, 1] {
            let m = (n * n.saturating_sub(1) / 2).saturating_sub(short);
            scalar(
                &format!("upper n {n}"),
                m + n,
                |v| upper(&v[..m], &v[m..]),
                |v, dv, w| {
                    let (a, b) = dv.split_at_mut(m);
                    upper_grad(&v[..m], a, &v[m..], b, w)
                },
            );
        }
    }
}

// 3: a range that begins anywhere, also beyond its end; what the position is afterwards.
#[gradient]
fn ranges(x: &[f64], lo: usize, hi: usize) -> f64 {
    let n = x.len();
    let mut at = 3;
    let mut on = 1;
    let mut s = 1.0;
    for i in lo..hi {
        s += x[at % n] * x[(on + i) % n] * s * 0.1;
        at += i;
        on += 5;
    }
    for i in lo..=hi {
        s += x[on % n] * 0.5;
        on += 2 * i + 1;
    }
    s * (at as f64 + 0.5 * on as f64) * 0.01
}
#[test]
fn induction_ranges_that_do_not_begin_at_zero() {
    for n in [0, 1, 3, 17] {
        for lo in 0..7 {
            for hi in [0, 1, 2, 3, 5, 8, 11] {
                scalar(
                    &format!("n {n} {lo}..{hi}"),
                    n,
                    |v| ranges(v, lo, hi),
                    |v, dv, w| ranges_grad(v, dv, lo, hi, w),
                );
            }
        }
    }
}

// 4: downwards, and the position shrinks.
#[gradient]
fn downwards(p: &[f64], n: usize) -> f64 {
    let mut at = n * (n + 1) / 2;
    let mut s = 0.0;
    for i in (0..n).rev() {
        at -= i + 1;
        let mut t = 1.0;
        for j in (0..=i).rev() {
            t *= p[at + j] + 0.1 * j as f64;
        }
        s += t * t + 0.1 * s * p[at];
    }
    s + at as f64
}
#[test]
fn induction_reversed() {
    for n in SIZES {
        for short in [0, 1] {
            let m = tri(n).saturating_sub(short);
            scalar(
                &format!("n {n}"),
                m,
                |v| downwards(v, n),
                |v, dv, w| downwards_grad(v, dv, n, w),
            );
        }
    }
}

// 5: subtraction below zero in the last iteration: the plain function panics (dev) or wraps (release).
#[gradient]
fn below(x: &[f64], n: usize, start: usize) -> f64 {
    let mut at = start;
    let mut s = 0.0;
    for _ in 0..n {
        s += x[at] * x[at];
        at -= 1;
    }
    s
}
#[test]
fn induction_subtraction_at_zero() {
    for n in [0, 1, 2, 3, 17] {
        for start in [0, 1, 2, 3, 16] {
            scalar(
                &format!("n {n} {start}"),
                17,
                |v| below(v, n, start),
                |v, dv, w| below_grad(v, dv, n, start, w),
            );
        }
    }
}

// 6: the growth shrinks below zero: `n - i` over a range that may reach beyond n.
#[gradient]
fn growth_below(x: &[f64], n: usize, turns: usize) -> f64 {
    let mut at = 0;
    let mut s = 0.0;
    for i in 0..turns {
        s += x[at % 7] * (at % 3) as f64 + x[i % 7];
        at += n - i;
    }
    s * s + (at % 5) as f64
}
#[test]
fn induction_growth_below_zero() {
    for n in [0, 1, 2, 3, 9] {
        for turns in [0, 1, 2, 3, 4, 9, 10, 11, 12] {
            scalar(
                &format!("n {n} {turns}"),
                7,
                |v| growth_below(v, n, turns),
                |v, dv, w| growth_below_grad(v, dv, n, turns, w),
            );
        }
    }
}

// 7: conditional growth, `continue`, `break`.
#[gradient]
fn conditional(x: &[f64], y: &[f64], most: f64) -> f64 {
    let mut at = 0;
    let mut row = 0;
    let mut s = 0.0;
    for i in 0..y.len() {
        row += i;
        if y[i] < 0.0 {
            continue;
        }
        s += x[at] * y[i] + x[row % x.len()];
        if s > most {
            break;
        }
        at += 2;
    }
    s * s + at as f64 + row as f64
}
#[test]
fn induction_conditional() {
    for n in SIZES {
        for m in [n, 2 * n, n / 2 + 1] {
            for most in [0.5, 100.0] {
                scalar(
                    &format!("n {n} m {m}"),
                    m + n,
                    |v| conditional(&v[..m], &v[m..], most),
                    |v, dv, w| {
                        let (a, b) = dv.split_at_mut(m);
                        conditional_grad(&v[..m], a, &v[m..], b, most, w).0
                    },
                );
            }
        }
    }
}

// 8: step_by, tetrahedra (a growth that grows by a growth that grows).
#[gradient]
fn tetrahedra(x: &[f64], lo: usize, hi: usize, by: usize) -> f64 {
    let n = x.len();
    let (mut a, mut b, mut c) = (1_usize, 2_usize, 0_usize);
    let mut s = 0.3;
    for i in (lo..hi).step_by(by) {
        s += x[c % n] * x[b % n] * s + x[a % n];
        c += b;
        b += a;
        a += i;
    }
    for i in (lo..hi).rev().step_by(by) {
        s += x[c % n] * 0.3;
        c += i;
    }
    s + (a + b + c) as f64
}
#[test]
fn induction_step_by_and_tetrahedra() {
    for n in [1, 3, 17] {
        for (lo, hi) in [(0, 0), (0, 1), (0, 7), (3, 10), (5, 2), (4, 11)] {
            for by in [0, 1, 2, 3, 50] {
                scalar(
                    &format!("n {n} {lo}..{hi} by {by}"),
                    n,
                    |v| tetrahedra(v, lo, hi, by),
                    |v, dv, w| tetrahedra_grad(v, dv, lo, hi, by, w),
                );
            }
        }
    }
}

// 9: Cholesky of a packed matrix with a running position, and its solution.
#[gradient]
fn cholesky(a: &[f64], b: &[f64]) -> f64 {
    let n = b.len();
    let mut l = a.to_vec();
    let mut ri = 0;
    for i in 0..n {
        let mut rj = 0;
        for j in 0..=i {
            let mut s = l[ri + j];
            for k in 0..j {
                s -= l[ri + k] * l[rj + k];
            }
            if i == j {
                l[ri + i] = (s + 4.0).sqrt();
            } else {
                l[ri + j] = s / l[rj + j];
            }
            rj += j + 1;
        }
        ri += i + 1;
    }
    let mut y = b.to_vec();
    let mut at = 0;
    let mut logdet = 0.0;
    for i in 0..n {
        for j in 0..i {
            let v = y[j];
            y[i] -= l[at] * v;
            at += 1;
        }
        y[i] /= l[at];
        logdet += l[at].ln();
        at += 1;
    }
    let mut q = 0.0;
    for v in &y {
        q += v * v;
    }
    0.5 * q + logdet
}
#[test]
fn induction_packed_cholesky() {
    for n in SIZES {
        let m = tri(n);
        outputs(
            &format!("n {n}"),
            m + n,
            (-0.15, 0.15),
            |v| vec![cholesky(&v[..m], &v[m..])],
            |v, dv, w| {
                let (a, b) = dv.split_at_mut(m);
                vec![cholesky_grad(&v[..m], a, &v[m..], b, w[0])]
            },
        );
    }
}

// 10: counters of other types, which go below zero.
#[gradient]
fn signed(x: &[f64], n: i32, start: i32, by: i32) -> f64 {
    let m = x.len() as i32;
    let mut at = start;
    let mut small: u8 = 200;
    let mut s = 0.0;
    for i in -2..n {
        s += x[at.rem_euclid(m) as usize] * i as f64 + x[small as usize % x.len()] * x[0];
        at += by * i;
        small = small.wrapping_add(37);
    }
    let mut long: i64 = -5;
    for i in (0..n).rev() {
        s += x[(long + 5) as usize % x.len()] * s * 0.1;
        long += i as i64;
    }
    s + at as f64
}
#[test]
fn induction_signed() {
    for n in [-5, -2, 0, 1, 6] {
        for start in [0, -7, 9] {
            for by in [-3, 0, 2] {
                scalar(
                    &format!("{n} {start} {by}"),
                    7,
                    |v| signed(v, n, start, by),
                    |v, dv, w| signed_grad(v, dv, n, start, by, w),
                );
            }
        }
    }
}

// 11: overflow near the top of usize: panics in dev, wraps in release, and not at all without an iteration.
#[gradient]
fn top(x: &[f64], n: usize, start: usize, by: usize) -> f64 {
    let mut at = start;
    let mut row = start;
    let mut s = 0.0;
    for i in 0..n {
        s += x[at % 5] * x[row % 5];
        at += by;
        row += i;
    }
    s * s
}
#[test]
fn induction_overflow() {
    for n in [0, 1, 2, 3, 6] {
        for start in [usize::MAX, usize::MAX - 1, usize::MAX - 3, 7] {
            for by in [0, 1, 2, usize::MAX / 2 + 1, usize::MAX] {
                scalar(
                    &format!("{n} {start} {by}"),
                    5,
                    |v| top(v, n, start, by),
                    |v, dv, w| top_grad(v, dv, n, start, by, w),
                );
            }
        }
    }
}

// 12: closed forms of positions, reversed and mirrored triangles, writes into a packed list.
#[gradient]
fn packed_out(x: &[f64], out: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        for j in (0..i).rev() {
            out[i * (i - 1) / 2 + j] *= x[i] - x[j];
        }
    }
    let mut at = 0;
    for i in 0..n {
        for j in (i + 1..n).rev() {
            out[at] += x[i] * x[j];
            at += 1;
        }
    }
    let mut down = at;
    for i in 0..n {
        for j in 0..i {
            down -= 1;
            let v = out[down];
            out[down] = v * v + x[j] * x[i];
        }
    }
}
#[test]
fn induction_packed_out() {
    for n in SIZES {
        for short in [0, 1] {
            let m = (n * n.saturating_sub(1) / 2).saturating_sub(short);
            outputs(
                &format!("n {n}"),
                n + m,
                (-1.2, 1.2),
                |v| {
                    let mut y = v[n..].to_vec();
                    packed_out(&v[..n], &mut y);
                    y
                },
                |v, dv, w| {
                    let mut y = v[n..].to_vec();
                    let mut dy = w[..m].to_vec();
                    packed_out_grad(&v[..n], &mut dv[..n], &mut y, &mut dy);
                    for (a, b) in dv[n..].iter_mut().zip(&dy) {
                        *a += b;
                    }
                    y
                },
            );
        }
    }
}

// 13: the growth is changed outside of the loop, the position is used by a third loop, `while`.
#[gradient]
fn strides(x: &[f64], n: usize, m: usize) -> f64 {
    let mut at = 0;
    let mut by = 1;
    let mut s = 0.0;
    for i in 0..n {
        let mut j = 0;
        while j < m {
            s += x[at % x.len()] * x[j] + 0.1 * s * x[i % x.len()];
            at += by;
            j += 2;
        }
        if i % 2 == 1 {
            by += i;
        }
        at += j;
    }
    s + at as f64 + by as f64
}
#[test]
fn induction_strides_that_change() {
    for n in [0, 1, 2, 3, 6] {
        for m in [0, 1, 2, 5, 6] {
            scalar(
                &format!("{n} {m}"),
                5,
                |v| strides(v, n, m),
                |v, dv, w| strides_grad(v, dv, n, m, w),
            );
        }
    }
}
