//! Small bodies with panics, overflow, out-of-bounds indices, zero trips: the gradient panics where the function does.
use crate::oracle::*;
use stratape::gradient;

fn run(
    tag: &str,
    f: impl Fn(&[f64], &mut [f64], f64, usize, i32) -> f64,
    g: impl Fn(&[f64], &mut [f64], &mut [f64], &mut [f64], f64, usize, i32, f64) -> (f64, f64),
) {
    for l in [5, 0, 1, 2, 3, 17] {
        for n in [0, 1, 2, 3, 4, 5, 6, 17, 18, 64, usize::MAX] {
            for k in [0, 1, -1, 3, i32::MIN, i32::MAX] {
                if n > 3 && !(k == 0 || k == 3)
                    || n == usize::MAX
                        && [
                            "pow",
                            "ipow_u32",
                            "iprod",
                            "label",
                            "queue",
                            "tri_rev",
                            "isum_u8_tri",
                            "short",
                            "assert_in",
                            "while_sub",
                            "zip3",
                        ]
                        .contains(&tag)
                    || tag == "powi_k" && k.unsigned_abs() > 3
                {
                    continue;
                }
                outputs(
                    &format!("{tag}: l {l}, n {n}, k {k}"),
                    2 * l + 1,
                    (-1.2, 1.2),
                    |v| {
                        let mut y = v[l..2 * l].to_vec();
                        let r = f(&v[..l], &mut y, v[2 * l], n, k);
                        y.push(r);
                        y
                    },
                    |v, dv, w| {
                        let mut y = v[l..2 * l].to_vec();
                        let mut dy = w[..l].to_vec();
                        let (r, da) =
                            g(&v[..l], &mut dv[..l], &mut y, &mut dy, v[2 * l], n, k, w[l]);
                        for (a, b) in dv[l..].iter_mut().zip(&dy) {
                            *a += b;
                        }
                        dv[2 * l] += da;
                        y.push(r);
                        y
                    },
                );
            }
        }
    }
}

#[gradient]
fn copy_self(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c = y.to_vec();
    y[n..].copy_from_slice(&c[1..]);
    s += y[0];
    s
}
#[test]
fn panics_copy_self() {
    run("copy_self", copy_self, copy_self_grad);
}

#[gradient]
fn split(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let (c, d) = x.split_at(n);
    s += c.iter().sum::<f64>() * d.iter().sum::<f64>();
    s
}
#[test]
fn panics_split() {
    run("split", split, split_grad);
}

#[gradient]
fn split_mut(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let (c, d) = y.split_at_mut(n);
    c[0] += d[0] * a;
    d[0] *= c[0];
    s += c[0];
    s
}
#[test]
fn panics_split_mut() {
    run("split_mut", split_mut, split_mut_grad);
}

#[gradient]
fn remove(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    s += c.remove(n) * c[0];
    s
}
#[test]
fn panics_remove() {
    run("remove", remove, remove_grad);
}

#[gradient]
fn insert(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    c.insert(n, a);
    for (i, v) in c.iter().enumerate() {
        s += v * i as f64;
    }
    s
}
#[test]
fn panics_insert() {
    run("insert", insert, insert_grad);
}

#[gradient]
fn drain(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    let d: Vec<f64> = c.drain(n..3).collect();
    s += d.iter().sum::<f64>() * c.len() as f64;
    s
}
#[test]
fn panics_drain() {
    run("drain", drain, drain_grad);
}

#[gradient]
fn split_off(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    let d = c.split_off(n);
    s += d.iter().sum::<f64>() * c.iter().sum::<f64>();
    s
}
#[test]
fn panics_split_off() {
    run("split_off", split_off, split_off_grad);
}

#[gradient]
fn truncate(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    c.truncate(n);
    s += c.iter().sum::<f64>() * c[0];
    s
}
#[test]
fn panics_truncate() {
    run("truncate", truncate, truncate_grad);
}

#[gradient]
fn pop(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    for _ in 0..n {
        s += c.pop().unwrap() * a;
    }
    s
}
#[test]
fn panics_pop() {
    run("pop", pop, pop_grad);
}

#[gradient]
fn vec_huge(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c = vec![a; n.wrapping_sub(1)];
    s += c[0];
    s
}
#[test]
fn panics_vec_huge() {
    run("vec_huge", vec_huge, vec_huge_grad);
}

#[gradient]
fn first(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += *x.first().unwrap() * *x.last().unwrap();
    s
}
#[test]
fn panics_first() {
    run("first", first, first_grad);
}

#[gradient]
fn expect(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x.get(n).expect("no such element") * a;
    s
}
#[test]
fn panics_expect() {
    run("expect", expect, expect_grad);
}

#[gradient]
fn nth(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x.iter().nth(n).unwrap() * x.iter().rev().nth(n).unwrap();
    s
}
#[test]
fn panics_nth() {
    run("nth", nth, nth_grad);
}

#[gradient]
fn arr(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c = [a, 2.0 * a, a * a];
    s += c[n];
    s
}
#[test]
fn panics_arr() {
    run("arr", arr, arr_grad);
}

#[gradient]
fn arr_try(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c: [f64; 2] = x[n..].try_into().unwrap();
    s += c[0] * c[1];
    s
}
#[test]
fn panics_arr_try() {
    run("arr_try", arr_try, arr_try_grad);
}

#[gradient]
fn clamp_int(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[n.clamp(1, k.max(1) as usize) % 4];
    s
}
#[test]
fn panics_clamp_int() {
    run("clamp_int", clamp_int, clamp_int_grad);
}

#[gradient]
fn clamp_bad(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += a.clamp(x[0], x[1]);
    s
}
#[test]
fn panics_clamp_bad() {
    run("clamp_bad", clamp_bad, clamp_bad_grad);
}

#[gradient]
fn assert_in(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        assert!(x[i] < 0.9, "{i}");
        s += x[i] * a;
    }
    s
}
#[test]
fn panics_assert_in() {
    run("assert_in", assert_in, assert_in_grad);
}

#[gradient]
fn assert_eq(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    assert_eq!(n, x.len(), "lengths of {n}");
    s += a;
    s
}
#[test]
fn panics_assert_eq() {
    run("assert_eq", assert_eq, assert_eq_grad);
}

#[gradient]
fn debug(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    debug_assert!(n != 2, "two");
    s += a;
    s
}
#[test]
fn panics_debug() {
    run("debug", debug, debug_grad);
}

#[gradient]
fn debug_ov(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    debug_assert!(n - 1 < 9);
    s += a * a;
    s
}
#[test]
fn panics_debug_ov() {
    run("debug_ov", debug_ov, debug_ov_grad);
}

#[gradient]
fn unreach(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    match n {
        0 => s += a,
        1 => unreachable!("one"),
        2 => todo!(),
        _ => s -= a,
    }
    s
}
#[test]
fn panics_unreach() {
    run("unreach", unreach, unreach_grad);
}

#[gradient]
fn panic_late(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        if i == 2 {
            panic!("at {i}");
        }
        s += x[i];
    }
    s
}
#[test]
fn panics_panic_late() {
    run("panic_late", panic_late, panic_late_grad);
}

#[gradient]
fn let_else(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let Some(v) = x.get(n) else { panic!("short: {}", x.len()) };
    s += v * v;
    s
}
#[test]
fn panics_let_else() {
    run("let_else", let_else, let_else_grad);
}

#[gradient]
fn sort_nan(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = x.to_vec();
    c[0] = c[0] / (n as f64 - 1.0) * 0.0;
    c.sort_by(|v, w| v.partial_cmp(w).unwrap());
    s += a;
    s
}
#[test]
fn panics_sort_nan() {
    run("sort_nan", sort_nan, sort_nan_grad);
}

#[gradient]
fn step0(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in (0..x.len()).step_by(n) {
        s += x[i] * a;
    }
    s
}
#[test]
fn panics_step0() {
    run("step0", step0, step0_grad);
}

#[gradient]
fn step0_iter(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for v in x.iter().step_by(n) {
        s += v * a;
    }
    s
}
#[test]
fn panics_step0_iter() {
    run("step0_iter", step0_iter, step0_iter_grad);
}

#[gradient]
fn powi_zero(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += a.powi(n as i32 % 20);
    s
}
#[test]
fn panics_powi_zero() {
    run("powi_zero", powi_zero, powi_zero_grad);
}

#[gradient]
fn powi_k(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (a * a + 0.5).powi(k);
    s
}
#[test]
fn panics_powi_k() {
    run("powi_k", powi_k, powi_k_grad);
}

#[gradient]
fn while_sub(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut i = n;
    while i > 0 {
        i -= 1;
        s += x[i] * i as f64;
    }
    s
}
#[test]
fn panics_while_sub() {
    run("while_sub", while_sub, while_sub_grad);
}

#[gradient]
fn while_sub_bad(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut i = n;
    loop {
        s += x[i];
        if s > 9.0 {
            break;
        }
        i -= 2;
    }
    s
}
#[test]
fn panics_while_sub_bad() {
    run("while_sub_bad", while_sub_bad, while_sub_bad_grad);
}

#[gradient]
fn down(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in (0..n).rev() {
        s += x[i] * x[n - 1 - i];
    }
    s
}
#[test]
fn panics_down() {
    run("down", down, down_grad);
}

#[gradient]
fn down_bad(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in (0..=n).rev() {
        s += x[i] * x[n - i] * x[i - 1];
    }
    s
}
#[test]
fn panics_down_bad() {
    run("down_bad", down_bad, down_bad_grad);
}

#[gradient]
fn tri_bad(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        for j in 0..=i {
            s += x[i - j] * x[j + 1];
        }
    }
    s
}
#[test]
fn panics_tri_bad() {
    run("tri_bad", tri_bad, tri_bad_grad);
}

#[gradient]
fn tri_rev(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in (0..n).rev() {
        for j in (i + 1..n).rev() {
            y[i] += x[j] * y[j];
            s += y[i];
        }
    }
    s
}
#[test]
fn panics_tri_rev() {
    run("tri_rev", tri_rev, tri_rev_grad);
}
