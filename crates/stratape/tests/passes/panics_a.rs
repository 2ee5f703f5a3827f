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
fn sub_dead(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let _d = n - 1;
    s += a;
    s
}
#[test]
fn panics_sub_dead() {
    run("sub_dead", sub_dead, sub_dead_grad);
}

#[gradient]
fn sub_index(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[n - 1];
    s
}
#[test]
fn panics_sub_index() {
    run("sub_index", sub_index, sub_index_grad);
}

#[gradient]
fn sub_len(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..x.len() - 1 {
        s += x[i] * x[i + 1];
    }
    s
}
#[test]
fn panics_sub_len() {
    run("sub_len", sub_len, sub_len_grad);
}

#[gradient]
fn sub_len_incl(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..=x.len() - 1 {
        s += x[i] * x[i];
    }
    s
}
#[test]
fn panics_sub_len_incl() {
    run("sub_len_incl", sub_len_incl, sub_len_incl_grad);
}

#[gradient]
fn sub_len2(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 1..x.len() - 2 {
        s += x[i] * x[i + 2] * x[i - 1];
    }
    s
}
#[test]
fn panics_sub_len2() {
    run("sub_len2", sub_len2, sub_len2_grad);
}

#[gradient]
fn shift(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[(1 << n) & 3] + a;
    s
}
#[test]
fn panics_shift() {
    run("shift", shift, shift_grad);
}

#[gradient]
fn shift_right(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[(64 >> n) % 5];
    s
}
#[test]
fn panics_shift_right() {
    run("shift_right", shift_right, shift_right_grad);
}

#[gradient]
fn shl_i32(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (1_i32 << k) as f64 * a;
    s
}
#[test]
fn panics_shl_i32() {
    run("shl_i32", shl_i32, shl_i32_grad);
}

#[gradient]
fn neg(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (-k) as f64 * a;
    s
}
#[test]
fn panics_neg() {
    run("neg", neg, neg_grad);
}

#[gradient]
fn abs(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += k.abs() as f64 * a;
    s
}
#[test]
fn panics_abs() {
    run("abs", abs, abs_grad);
}

#[gradient]
fn div_i32(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (k / (n as i32 - 1)) as f64 * a;
    s
}
#[test]
fn panics_div_i32() {
    run("div_i32", div_i32, div_i32_grad);
}

#[gradient]
fn rem_i32(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (7 % k) as f64 * a;
    s
}
#[test]
fn panics_rem_i32() {
    run("rem_i32", rem_i32, rem_i32_grad);
}

#[gradient]
fn div_min(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (i32::MIN / k) as f64 * a * 1e-9;
    s
}
#[test]
fn panics_div_min() {
    run("div_min", div_min, div_min_grad);
}

#[gradient]
fn mul_i32(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (k * 1000000) as f64 * a * 1e-6;
    s
}
#[test]
fn panics_mul_i32() {
    run("mul_i32", mul_i32, mul_i32_grad);
}

#[gradient]
fn pow(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += n.pow(2) as f64 * a + (k.pow(3)) as f64;
    s
}
#[test]
fn panics_pow() {
    run("pow", pow, pow_grad);
}

#[gradient]
fn isqrt(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += k.isqrt() as f64 * a;
    s
}
#[test]
fn panics_isqrt() {
    run("isqrt", isqrt, isqrt_grad);
}

#[gradient]
fn ilog(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += n.ilog2() as f64 * a;
    s
}
#[test]
fn panics_ilog() {
    run("ilog", ilog, ilog_grad);
}

#[gradient]
fn ilog10(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += n.ilog10() as f64 * a;
    s
}
#[test]
fn panics_ilog10() {
    run("ilog10", ilog10, ilog10_grad);
}

#[gradient]
fn cast_u8(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += (n as u8 + 250) as f64 * a;
    s
}
#[test]
fn panics_cast_u8() {
    run("cast_u8", cast_u8, cast_u8_grad);
}

#[gradient]
fn cast_neg(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[(a as usize) % 3] + (a as i8) as f64 * a;
    s
}
#[test]
fn panics_cast_neg() {
    run("cast_neg", cast_neg, cast_neg_grad);
}

#[gradient]
fn cast_i32(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[k as usize];
    s
}
#[test]
fn panics_cast_i32() {
    run("cast_i32", cast_i32, cast_i32_grad);
}

#[gradient]
fn add_usize(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[(n + k as usize) % 3];
    s
}
#[test]
fn panics_add_usize() {
    run("add_usize", add_usize, add_usize_grad);
}

#[gradient]
fn slice_ab(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c = &x[n..2];
    s += c.len() as f64 * a;
    for v in c {
        s += v * v;
    }
    s
}
#[test]
fn panics_slice_ab() {
    run("slice_ab", slice_ab, slice_ab_grad);
}

#[gradient]
fn slice_incl(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c = &x[0..=n];
    for v in c {
        s += v * a;
    }
    s
}
#[test]
fn panics_slice_incl() {
    run("slice_incl", slice_incl, slice_incl_grad);
}

#[gradient]
fn slice_from(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let c = &x[n + 1..];
    for v in c {
        s += v * a;
    }
    s
}
#[test]
fn panics_slice_from() {
    run("slice_from", slice_from, slice_from_grad);
}

#[gradient]
fn slice_dead(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let _c = &x[n..4];
    s += a;
    s
}
#[test]
fn panics_slice_dead() {
    run("slice_dead", slice_dead, slice_dead_grad);
}

#[gradient]
fn slice_zero(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        let c = &x[i..i + 2];
        s += c[0] * c[1];
    }
    s
}
#[test]
fn panics_slice_zero() {
    run("slice_zero", slice_zero, slice_zero_grad);
}

#[gradient]
fn chunks0(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for c in x.chunks_exact(n) {
        s += c[0] * c[n - 1];
    }
    s
}
#[test]
fn panics_chunks0() {
    run("chunks0", chunks0, chunks0_grad);
}

#[gradient]
fn chunks_mut(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for c in y.chunks_mut(n) {
        c[0] *= a;
    }
    s += y[0];
    s
}
#[test]
fn panics_chunks_mut() {
    run("chunks_mut", chunks_mut, chunks_mut_grad);
}

#[gradient]
fn windows(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for c in x.windows(n + 1) {
        s += c[0] * c[n];
    }
    s
}
#[test]
fn panics_windows() {
    run("windows", windows, windows_grad);
}

#[gradient]
fn rotate(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    y.rotate_left(n);
    s += y[0] * a;
    s
}
#[test]
fn panics_rotate() {
    run("rotate", rotate, rotate_grad);
}

#[gradient]
fn rotate_r(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    y.rotate_right(n);
    s += y[y.len() - 1] * a;
    s
}
#[test]
fn panics_rotate_r() {
    run("rotate_r", rotate_r, rotate_r_grad);
}

#[gradient]
fn swap(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    y.swap(n, 1);
    s += y[0] * a;
    s
}
#[test]
fn panics_swap() {
    run("swap", swap, swap_grad);
}

#[gradient]
fn copy_within(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    y.copy_within(0..n, 2);
    for v in y.iter() {
        s += v * v;
    }
    s
}
#[test]
fn panics_copy_within() {
    run("copy_within", copy_within, copy_within_grad);
}

#[gradient]
fn copy_len(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    y[..n].copy_from_slice(&x[1..3]);
    s += y[0];
    s
}
#[test]
fn panics_copy_len() {
    run("copy_len", copy_len, copy_len_grad);
}
