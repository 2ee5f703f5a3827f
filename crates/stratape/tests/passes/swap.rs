//! Near misses of `swap_copies`: copies that may or may not become exchanges.
use crate::oracle::*;
use stratape::gradient;

// 1: the plain case: leapfrog with three lists.
#[gradient]
fn leapfrog(x: &[f64], c: f64, steps: usize) -> f64 {
    let n = x.len();
    let mut before = vec![0.0; n];
    let mut now = x.to_vec();
    for t in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = 1.2 * now[i] * c - before[i] * before[i] * 0.3 + 0.01 * t as f64;
        }
        before.copy_from_slice(&now);
        now.copy_from_slice(&next);
    }
    let mut s = 0.0;
    for i in 0..n {
        s += now[i] * (i + 1) as f64 + 0.5 * before[i] * now[i];
    }
    s
}
#[test]
fn swap_leapfrog() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 7] {
            scalar(
                &format!("n {n} steps {steps}"),
                n + 1,
                |v| leapfrog(&v[..n], v[n], steps),
                |v, dv, w| {
                    let (r, d) = leapfrog_grad(&v[..n], &mut dv[..n], v[n], steps, w);
                    dv[n] += d;
                    r
                },
            );
        }
    }
}

// 2: the origin is read after the copy (one element), by another index.
#[gradient]
fn read_after(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut s = 0.0;
    for t in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = (now[i] + 0.3 * t as f64).sin();
        }
        for i in 0..n {
            now[i] = next[i];
        }
        now[t % n] *= 1.5;
        s += next[t % n] * now[(t + 1) % n];
    }
    s
}
#[test]
fn swap_origin_read_after() {
    for n in SIZES {
        for steps in [0, 1, 2, 5] {
            scalar(
                &format!("n {n} steps {steps}"),
                n,
                |v| read_after(v, steps),
                |v, dv, w| read_after_grad(v, dv, steps, w),
            );
        }
    }
}

// 3: the list outlives the step, only its interior is filled anew: its edge keeps what it held.
#[gradient]
fn interior(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.5; n];
    for t in 0..steps {
        for i in 1..n - 1 {
            next[i] = now[i - 1] * now[i + 1] + 0.5 * now[i];
        }
        now.copy_from_slice(&next);
        now[0] += 0.1 * t as f64;
    }
    let mut s = 0.0;
    for i in 0..n {
        s += now[i] * next[i] * (i as f64 + 0.5);
    }
    s
}
#[test]
fn swap_interior_only() {
    for n in SIZES {
        for steps in [0, 1, 2, 5] {
            scalar(
                &format!("n {n} steps {steps}"),
                n,
                |v| interior(v, steps),
                |v, dv, w| interior_grad(v, dv, steps, w),
            );
        }
    }
}

// 4: copied in one arm only, and filled anew by a loop that is left early.
#[gradient]
fn one_arm(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = x.to_vec();
    for t in 0..steps {
        for i in 0..n {
            if now[i] > 1.2 {
                break;
            }
            next[i] = now[i] * 1.1 + 0.1 * next[i];
        }
        if t % 2 == 0 {
            now.copy_from_slice(&next);
        } else {
            for v in next.iter_mut() {
                *v *= 0.9;
            }
        }
    }
    let mut s = 0.0;
    for i in 0..n {
        s += now[i] * now[i] - next[i];
    }
    s
}
#[test]
fn swap_copy_in_one_arm_partial_fill() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("n {n} steps {steps}"),
                n,
                |v| one_arm(v, steps),
                |v, dv, w| one_arm_grad(v, dv, steps, w),
            );
        }
    }
}

// 5: only the first m elements are copied; m may be the length, or more.
#[gradient]
fn first_m(x: &[f64], m: usize, steps: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.25; n];
    for _ in 0..steps {
        for i in 0..n {
            next[i] = now[i] * now[n - 1 - i] + 0.2;
        }
        for j in 0..m {
            now[j] = next[j];
        }
    }
    now.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum::<f64>() + next.iter().sum::<f64>()
}
#[test]
fn swap_first_m() {
    for n in SIZES {
        for m in [0, 1, n, n + 1, n / 2] {
            for steps in [0, 1, 3] {
                scalar(
                    &format!("n {n} m {m} steps {steps}"),
                    n,
                    |v| first_m(v, m, steps),
                    |v, dv, w| first_m_grad(v, dv, m, steps, w),
                );
            }
        }
    }
}

// 6: lists of different lengths (n + 1 and n; equal where k is 0).
#[gradient]
fn lengths(x: &[f64], k: usize, steps: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.75; n + k];
    for t in 0..steps {
        for i in 0..n {
            next[i] = now[i].cos() + 0.2 * t as f64;
        }
        for j in 0..n {
            now[j] = next[j];
        }
    }
    let mut s = 0.0;
    for i in 0..now.len() {
        s += now[i] * now[i];
    }
    for v in &next {
        s -= v * 0.5;
    }
    s + next.len() as f64
}
#[test]
fn swap_different_lengths() {
    for n in SIZES {
        for k in [0, 1, 3] {
            for steps in [0, 1, 4] {
                scalar(
                    &format!("n {n} k {k} steps {steps}"),
                    n,
                    |v| lengths(v, k, steps),
                    |v, dv, w| lengths_grad(v, dv, k, steps, w),
                );
            }
        }
    }
}

// 7: one origin, two copies.
#[gradient]
fn twice(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    let mut b = vec![0.0; n];
    let mut c = vec![1.0; n];
    for _ in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = a[i] * c[i] + 0.5 * b[i];
        }
        b.copy_from_slice(&a);
        c.copy_from_slice(&a);
        a.copy_from_slice(&next);
        b[0] = a[n - 1];
        c[n - 1] *= 0.5;
    }
    let mut s = 0.0;
    for i in 0..n {
        s += a[i] * b[i] + c[i];
    }
    s
}
#[test]
fn swap_one_origin_two_copies() {
    for n in SIZES {
        for steps in [0, 1, 2, 4] {
            scalar(
                &format!("n {n} steps {steps}"),
                n,
                |v| twice(v, steps),
                |v, dv, w| twice_grad(v, dv, steps, w),
            );
        }
    }
}

// 8: there and back: b = a; a = b.
#[gradient]
fn there_and_back(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    let mut b = vec![2.0; n];
    for t in 0..steps {
        b.copy_from_slice(&a);
        if t % 3 != 1 {
            for i in 0..n {
                a[i] = b[i] * b[(i + 1) % n];
            }
        }
        a.copy_from_slice(&b);
        for i in 0..n {
            b[i] = a[i] * 1.1;
        }
        a[0] += b[n - 1];
    }
    a.iter().zip(&b).map(|(v, w)| v * w).sum::<f64>()
}
#[test]
fn swap_there_and_back() {
    for n in SIZES {
        for steps in [0, 1, 2, 4] {
            scalar(
                &format!("n {n} steps {steps}"),
                n,
                |v| there_and_back(v, steps),
                |v, dv, w| there_and_back_grad(v, dv, steps, w),
            );
        }
    }
}

// 9: the fill adds to what is there.
#[gradient]
fn adds(x: &[f64], steps: usize, clear: bool) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        if clear {
            next.fill(0.0);
        }
        for i in 0..n {
            next[i] += 0.5 * now[i] * now[n - 1 - i];
        }
        now.copy_from_slice(&next);
    }
    now.iter().map(|v| v * v).sum::<f64>() + now.iter().fold(1.0, |s, v| s * (1.0 + 0.1 * v))
}
#[test]
fn swap_fill_adds() {
    for n in SIZES {
        for steps in [0, 1, 2, 4] {
            for clear in [false, true] {
                scalar(
                    &format!("n {n} steps {steps} {clear}"),
                    n,
                    |v| adds(v, steps, clear),
                    |v, dv, w| adds_grad(v, dv, steps, clear, w),
                );
            }
        }
    }
}

// 10: not copies: reversed, rotated.
#[gradient]
fn not_copies(x: &[f64], steps: usize, how: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        for i in 0..n {
            next[i] = now[i] * 1.1 + 0.3 * now[(i + 2) % n] * now[i];
        }
        if how == 0 {
            for j in 0..n {
                now[n - 1 - j] = next[j];
            }
        } else if how == 1 {
            for j in 0..n {
                now[j] = next[(j + 1) % n];
            }
        } else if how == 2 {
            for (a, b) in now.iter_mut().rev().zip(&next) {
                *a = *b;
            }
        } else {
            for (a, b) in now.iter_mut().rev().zip(next.iter().rev()) {
                *a = *b;
            }
        }
    }
    now.iter().enumerate().map(|(i, v)| v * (i * i) as f64).sum()
}
#[test]
fn swap_reversed_and_rotated() {
    for n in SIZES {
        for steps in [0, 1, 2, 4] {
            for how in 0..4 {
                scalar(
                    &format!("n {n} steps {steps} how {how}"),
                    n,
                    |v| not_copies(v, steps, how),
                    |v, dv, w| not_copies_grad(v, dv, steps, how, w),
                );
            }
        }
    }
}

// 11: the loop is left between the copy and the fill; both are read afterwards.
#[gradient]
fn left(x: &[f64], steps: usize, most: f64) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.1; n];
    for t in 0..steps {
        for i in 0..n {
            next[i] = now[i] * 1.3 + 0.01;
        }
        let mut far = 0.0;
        for i in 0..n {
            far += (next[i] - now[i]) * (next[i] - now[i]);
        }
        now.copy_from_slice(&next);
        if far > most {
            break;
        }
        if t % 4 == 2 {
            continue;
        }
        next[0] = now[n - 1] * 0.5;
        now[0] -= next[0];
    }
    let mut s = 0.0;
    for i in 0..n {
        s += next[i] * now[i];
    }
    s
}
#[test]
fn swap_break_continue() {
    for n in SIZES {
        for steps in [0, 1, 3, 7] {
            for most in [0.0, 0.3, 1.0, 100.0] {
                scalar(
                    &format!("n {n} steps {steps} {most}"),
                    n,
                    |v| left(v, steps, most),
                    |v, dv, w| left_grad(v, dv, steps, most, w).0,
                );
            }
        }
    }
}

// 12: lists of integers and of floats together.
#[gradient]
fn integers(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut perm: Vec<usize> = (0..n).collect();
    let mut other = vec![0_usize; n];
    for t in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            other[i] = perm[(i + t + 1) % n];
            next[i] = now[perm[i]] * now[i] + 0.4;
        }
        perm.copy_from_slice(&other);
        now.copy_from_slice(&next);
        if t % 2 == 1 {
            other[0] = perm[n - 1];
        }
    }
    let mut s = 0.0;
    for i in 0..n {
        s += now[perm[i]] * (i + 1) as f64 + x[other[i]] * 0.3;
    }
    s
}
#[test]
fn swap_lists_of_integers() {
    for n in SIZES {
        for steps in [0, 1, 2, 4] {
            scalar(
                &format!("n {n} steps {steps}"),
                n,
                |v| integers(v, steps),
                |v, dv, w| integers_grad(v, dv, steps, w),
            );
        }
    }
}

// 13: returns between copy and end, from nested loops; the outer loop reads what the inner copied.
#[gradient]
fn nested_returns(x: &[f64], outer: usize, inner: usize, most: f64) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    let mut next = vec![0.0; n];
    let mut s = 0.0;
    for o in 0..outer {
        for k in 0..inner {
            for i in 0..n {
                next[i] = 0.9 * now[i] + 0.3 * now[(i + k) % n] * now[i];
            }
            now.copy_from_slice(&next);
            if now[0] > most {
                return s + next[n - 1] * now[0];
            }
        }
        s += next[o % n] + now[(o + 1) % n];
    }
    s
}
#[test]
fn swap_nested_returns() {
    for n in SIZES {
        for outer in [0, 1, 3] {
            for inner in [0, 1, 2, 3] {
                for most in [0.2, 9.0] {
                    scalar(
                        &format!("n {n} {outer} {inner} {most}"),
                        n,
                        |v| nested_returns(v, outer, inner, most),
                        |v, dv, w| nested_returns_grad(v, dv, outer, inner, most, w).0,
                    );
                }
            }
        }
    }
}

// 14: structs, tuples, and parameters behind `&mut`.
#[stratape::differentiable]
mod pairs {
    #[derive(Clone, Copy)]
    pub struct P {
        pub a: f64,
        pub b: f64,
    }
    #[gradient]
    pub fn step(y: &mut [f64], steps: usize) -> f64 {
        let n = y.len();
        let mut now: Vec<P> = y.iter().map(|v| P { a: *v, b: 1.0 }).collect();
        let mut next = vec![P { a: 0.5, b: 0.5 }; n];
        let mut old = y.to_vec();
        for t in 0..steps {
            for i in 0..n {
                next[i].a = now[i].a * now[i].b;
                if i != t {
                    next[i].b = now[(i + 1) % n].a + old[i];
                }
            }
            now.copy_from_slice(&next);
            old.copy_from_slice(y);
            for i in 0..n {
                y[i] = now[i].a * 0.5 + old[i];
            }
        }
        let mut s = 0.0;
        for i in 0..n {
            s += now[i].a * next[i].b + old[i] * y[i];
        }
        s
    }
}
#[test]
fn swap_structs_and_parameters() {
    for n in SIZES {
        for steps in [0, 1, 2, 4] {
            outputs(
                &format!("n {n} steps {steps}"),
                n,
                (-1.2, 1.2),
                |v| {
                    let mut y = v.to_vec();
                    let r = pairs::step(&mut y, steps);
                    y.push(r);
                    y
                },
                |v, dv, w| {
                    let mut y = v.to_vec();
                    let mut dy = w[..n].to_vec();
                    let r = pairs::step_grad(&mut y, &mut dy, steps, w[n]);
                    for (a, b) in dv.iter_mut().zip(&dy) {
                        *a += b;
                    }
                    y.push(r);
                    y
                },
            );
        }
    }
}

// 15: the origin is made outside of the loop that copies it, in a block that ends later.
#[gradient]
fn block(x: &[f64], outer: usize, inner: usize) -> f64 {
    let n = x.len();
    let mut now = x.to_vec();
    for o in 0..outer {
        let mut next = vec![0.3; n];
        for i in 0..n {
            next[i] = now[i] * 0.8 + 0.1 * o as f64;
        }
        for _ in 0..inner {
            now.copy_from_slice(&next);
            for i in 0..n {
                now[i] *= now[n - 1 - i];
            }
        }
    }
    now.iter().map(|v| v * v).sum()
}
#[test]
fn swap_copied_again_in_inner_loop() {
    for n in SIZES {
        for outer in [0, 1, 3] {
            for inner in [0, 1, 2, 3] {
                scalar(
                    &format!("n {n} {outer} {inner}"),
                    n,
                    |v| block(v, outer, inner),
                    |v, dv, w| block_grad(v, dv, outer, inner, w),
                );
            }
        }
    }
}

// 16: convergence asks after the copy, `while`, local arrays.
#[gradient]
fn arrays(x: [f64; 4], tol: f64) -> f64 {
    let mut now = x;
    let mut next = [0.0; 4];
    let mut far = 1.0;
    let mut turns = 0;
    while far > tol && turns < 6 {
        for i in 0..4 {
            next[i] = (0.5 * now[i] + 0.2 * now[(i + 1) % 4]).sin();
        }
        far = 0.0;
        for i in 0..4 {
            far += (next[i] - now[i]).abs();
        }
        let keep = now;
        now = next;
        next = keep;
        turns += 1;
    }
    now[0] * next[1] + now[2] * now[3] * next[3] + far
}
#[test]
fn swap_arrays_while() {
    for tol in [1e9, 0.5, 0.1, 0.0] {
        scalar(
            &format!("{tol}"),
            4,
            |v| arrays([v[0], v[1], v[2], v[3]], tol),
            |v, dv, w| {
                let (r, d, _) = arrays_grad([v[0], v[1], v[2], v[3]], tol, w);
                for k in 0..4 {
                    dv[k] += d[k];
                }
                r
            },
        );
    }
}

// 17: the same in f32, against f64.
macro_rules! both {
    ($f:ident, $t:ty) => {
        #[gradient]
        fn $f(x: &[$t], steps: usize) -> $t {
            let n = x.len();
            let mut a = vec![0.5; n];
            let mut b = x.to_vec();
            for t in 0..steps {
                let mut c = vec![0.0; n];
                for i in 0..n {
                    c[i] = a[i] * b[i] + 0.25;
                }
                if t % 3 == 2 {
                    a.copy_from_slice(&c);
                } else {
                    a.copy_from_slice(&b);
                    b.copy_from_slice(&c);
                }
            }
            let mut s = 0.0;
            for i in 0..n {
                s += a[i] * b[i] * b[i];
            }
            s
        }
    };
}
both!(single, f32);
both!(double, f64);
#[test]
fn swap_f32() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("n {n} {steps}"),
                n,
                |v| double(v, steps),
                |v, dv, w| double_grad(v, dv, steps, w),
            );
            let v = Rng(n as u64 + 9).fill(n, -1.0, 1.0);
            let x: Vec<f32> = v.iter().map(|v| *v as f32).collect();
            let mut dx = vec![0.0_f32; n];
            let r = single_grad(&x, &mut dx, steps, 1.0);
            assert_eq!(r.to_bits(), single(&x, steps).to_bits());
            let mut dv = vec![0.0; n];
            double_grad(&v, &mut dv, steps, 1.0);
            for k in 0..n {
                assert!(
                    (dv[k] - dx[k] as f64).abs() < 1e-4 * (1.0 + dv[k].abs()),
                    "{n} {steps} {dv:?} {dx:?}"
                );
            }
        }
    }
}
