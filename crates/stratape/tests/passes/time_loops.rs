//! `#[checkpoint]` loops with two buffers and more.
use crate::oracle::*;
use stratape::gradient;

// 1: two lists, exchanged by std::mem::swap.
#[gradient]
fn swapped(x: &[f64], k: f64, steps: usize) -> f64 {
    let n = x.len();
    let mut u = x.to_vec();
    let mut v = vec![0.3; n];
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        for i in 1..n - 1 {
            v[i] = u[i]
                + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
                + 0.01 * (0.1 * t as f64 * u[i] * u[i]).sin();
        }
        std::mem::swap(&mut u, &mut v);
    }
    let mut s = 0.0;
    for i in 0..n {
        s += u[i] * u[i] + 0.5 * v[i] * u[n - 1 - i];
    }
    s
}
#[test]
fn time_swap() {
    for n in [0, 1, 2, 3, 17] {
        for steps in [0, 1, 2, 3, 4, 11, 30] {
            positive(
                &format!("{n} {steps}"),
                n + 1,
                |v| swapped(&v[..n], 0.2 * v[n], steps),
                |v, dv, w| {
                    let (r, d) = swapped_grad(&v[..n], &mut dv[..n], 0.2 * v[n], steps, w);
                    dv[n] += 0.2 * d;
                    r
                },
            );
        }
    }
}

// 2: three lists, rotated by copies.
#[gradient]
fn rotated(x: &[f64], k: f64, steps: usize) -> f64 {
    let n = x.len();
    let mut old = vec![0.1; n];
    let mut now = x.to_vec();
    let mut new = vec![0.0; n];
    #[checkpoint(slots = 3)]
    for t in 0..steps {
        for i in 0..n {
            new[i] = 1.1 * now[i] - 0.3 * old[i] + k * now[i] * now[(i + 1) % n];
        }
        if t % 4 != 3 {
            old.copy_from_slice(&now);
        }
        now.copy_from_slice(&new);
    }
    let mut s = 0.0;
    for i in 0..n {
        s += now[i] * old[i] + new[i] * k;
    }
    s
}
#[test]
fn time_copies() {
    for n in [0, 1, 2, 3, 17] {
        for steps in [0, 1, 2, 3, 4, 11, 30] {
            scalar(
                &format!("{n} {steps}"),
                n + 1,
                |v| rotated(&v[..n], 0.1 * v[n], steps),
                |v, dv, w| {
                    let (r, d) = rotated_grad(&v[..n], &mut dv[..n], 0.1 * v[n], steps, w);
                    dv[n] += 0.1 * d;
                    r
                },
            );
        }
    }
}

// 3: exchanged in some steps only, left early, a scalar and a packed position go along.
#[gradient]
fn sometimes(x: &[f64], most: f64, steps: usize) -> f64 {
    let n = x.len();
    let mut u = x.to_vec();
    let mut v = x.to_vec();
    let mut e = 0.0;
    let mut at = 0;
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        for i in 0..n {
            v[i] = (u[i] + 0.2 * v[(i + 1) % n]).sin() + 0.1 * x[at % n];
        }
        e += v[t % n] * u[0];
        if e > most {
            break;
        }
        if t % 3 != 0 {
            std::mem::swap(&mut u, &mut v);
        }
        at += t;
    }
    e + u.iter().zip(&v).map(|(a, b)| a * a * b).sum::<f64>() + at as f64
}
#[test]
fn time_swap_sometimes() {
    for n in [0, 1, 2, 3, 17] {
        for steps in [0, 1, 2, 3, 4, 11] {
            for most in [0.6, 2.0, 100.0] {
                scalar(
                    &format!("{n} {steps} {most}"),
                    n,
                    |v| sometimes(v, most, steps),
                    |v, dv, w| sometimes_grad(v, dv, most, steps, w).0,
                );
            }
        }
    }
}

// 4: `while`, nested, next made in the step and moved.
#[gradient]
fn moved(x: &[f64], y: &mut [f64], steps: usize, inner: usize) {
    let n = x.len();
    let mut u = y.to_vec();
    let mut t = 0;
    #[checkpoint(slots = 2)]
    while t < steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = u[i] * x[i] + 0.1;
        }
        u = next;
        #[checkpoint(slots = 1)]
        for k in 0..inner {
            let old = u.clone();
            for i in 0..n {
                u[i] = old[n - 1 - i] * 0.9 + 0.1 * old[(i + k) % n] * y[i];
            }
        }
        y[t % n] += u[0];
        t += 1;
    }
    for i in 0..n {
        y[i] *= u[i];
    }
}
#[test]
fn time_moved_and_nested() {
    for n in [0, 1, 2, 3, 17] {
        for steps in [0, 1, 2, 5] {
            for inner in [0, 1, 4] {
                outputs(
                    &format!("{n} {steps} {inner}"),
                    2 * n,
                    (-1.2, 1.2),
                    |v| {
                        let mut y = v[n..].to_vec();
                        moved(&v[..n], &mut y, steps, inner);
                        y
                    },
                    |v, dv, w| {
                        let mut y = v[n..].to_vec();
                        let mut dy = w[..n].to_vec();
                        moved_grad(&v[..n], &mut dv[..n], &mut y, &mut dy, steps, inner);
                        for (a, b) in dv[n..].iter_mut().zip(&dy) {
                            *a += b;
                        }
                        y
                    },
                );
            }
        }
    }
}

// 5: references exchanged, written through the one that is not current afterwards.
#[gradient]
fn references(x: &[f64], steps: usize, pad: usize) -> f64 {
    let n = x.len();
    let (mut a, mut b) = (x.to_vec(), vec![0.2; n + pad]);
    let (mut p, mut q) = (&mut a, &mut b);
    for t in 0..steps {
        for i in 0..n {
            q[i] = p[i] * 0.8 + p[(i + t) % n] * p[i];
        }
        if t == 2 {
            p[0] += 0.5;
        }
        std::mem::swap(&mut p, &mut q);
        if p[0] > 1.0 {
            q[n - 1] *= 0.7;
            std::mem::swap(&mut p, &mut q);
        }
    }
    let mut s = 0.0;
    for i in 0..p.len() {
        s += p[i] * (i + 1) as f64;
    }
    s + q.iter().map(|v| v * v).sum::<f64>() + a[0] * b[0]
}
#[test]
fn time_references() {
    for n in [0, 1, 2, 3, 17] {
        for steps in [0, 1, 2, 3, 4, 7] {
            for pad in [0, 1] {
                scalar(
                    &format!("{n} {steps} {pad}"),
                    n,
                    |v| references(v, steps, pad),
                    |v, dv, w| references_grad(v, dv, steps, pad, w),
                );
            }
        }
    }
}
