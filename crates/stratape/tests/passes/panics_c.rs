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
fn tri_mut(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        for j in 0..i {
            y[i] -= y[j] * x[i - j - 1];
        }
        y[i] /= 2.0 + x[i];
    }
    s += y[0];
    s
}
#[test]
fn panics_tri_mut() {
    run("tri_mut", tri_mut, tri_mut_grad);
}

#[gradient]
fn stencil(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 1..n {
        y[i] = y[i - 1] * x[i] + y[i + 1];
        s += y[i];
    }
    s
}
#[test]
fn panics_stencil() {
    run("stencil", stencil, stencil_grad);
}

#[gradient]
fn zip_mut(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for (v, w) in y.iter_mut().skip(n).zip(x) {
        *v = *v * w + a;
        s += *v;
    }
    s
}
#[test]
fn panics_zip_mut() {
    run("zip_mut", zip_mut, zip_mut_grad);
}

#[gradient]
fn zip3(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for ((v, w), i) in x.iter().zip(y.iter()).zip(n..) {
        s += v * w * i as f64;
    }
    s
}
#[test]
fn panics_zip3() {
    run("zip3", zip3, zip3_grad);
}

#[gradient]
fn enum_rev(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for (i, v) in x.iter().enumerate().rev() {
        s = s * v + i as f64 * a;
    }
    s
}
#[test]
fn panics_enum_rev() {
    run("enum_rev", enum_rev, enum_rev_grad);
}

#[gradient]
fn chunk_rev(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for c in x.chunks(n + 1).rev() {
        s += c[0] * c[c.len() - 1];
    }
    s
}
#[test]
fn panics_chunk_rev() {
    run("chunk_rev", chunk_rev, chunk_rev_grad);
}

#[gradient]
fn rchunks(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for c in x.rchunks(n) {
        s += c[0] * a;
    }
    s
}
#[test]
fn panics_rchunks() {
    run("rchunks", rchunks, rchunks_grad);
}

#[gradient]
fn take_skip(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x.iter().skip(n).take(2).product::<f64>() * x.iter().take(n).sum::<f64>();
    s
}
#[test]
fn panics_take_skip() {
    run("take_skip", take_skip, take_skip_grad);
}

#[gradient]
fn cond_idx(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        s += if i + 1 < x.len() { x[i + 1] } else { x[i - n] };
    }
    s
}
#[test]
fn panics_cond_idx() {
    run("cond_idx", cond_idx, cond_idx_grad);
}

#[gradient]
fn short(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        if i < x.len() && x[i] > 0.0 {
            s += x[i] * a;
        } else if i >= x.len() || x[i] < -0.5 {
            s -= a;
        }
    }
    s
}
#[test]
fn panics_short() {
    run("short", short, short_grad);
}

#[gradient]
fn mod_n(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..x.len() {
        s += x[i % n] * x[i];
    }
    s
}
#[test]
fn panics_mod_n() {
    run("mod_n", mod_n, mod_n_grad);
}

#[gradient]
fn isub(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let j = k - n as i32;
    s += x[j.unsigned_abs() as usize % 4] * j as f64;
    s
}
#[test]
fn panics_isub() {
    run("isub", isub, isub_grad);
}

#[gradient]
fn iprod(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut p = 1_usize;
    for i in 0..n {
        p *= i + 200;
        s += x[p % 5];
    }
    s
}
#[test]
fn panics_iprod() {
    run("iprod", iprod, iprod_grad);
}

#[gradient]
fn ipow_u32(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut p = 1_u32;
    for _ in 0..n {
        p *= 70000;
    }
    s += x[(p % 5) as usize];
    s
}
#[test]
fn panics_ipow_u32() {
    run("ipow_u32", ipow_u32, ipow_u32_grad);
}

#[gradient]
fn isum_u8(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut p = 250_u8;
    for i in 0..n {
        p += i as u8;
        s += x[i];
    }
    s += p as f64 * a;
    s
}
#[test]
fn panics_isum_u8() {
    run("isum_u8", isum_u8, isum_u8_grad);
}

#[gradient]
fn isum_u8_tri(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut p = 0_u8;
    for i in 0..40 * n {
        p += i as u8;
        s += x[p as usize % 3] * 0.01;
    }
    s
}
#[test]
fn panics_isum_u8_tri() {
    run("isum_u8_tri", isum_u8_tri, isum_u8_tri_grad);
}

#[gradient]
fn inot(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[!n & 3] + x[(n ^ 3) % 4] + (!k & 7) as f64 * a;
    s
}
#[test]
fn panics_inot() {
    run("inot", inot, inot_grad);
}

#[gradient]
fn min_max(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[n.min(2).max(1)] + x[x.len().saturating_sub(n)];
    s
}
#[test]
fn panics_min_max() {
    run("min_max", min_max, min_max_grad);
}

#[gradient]
fn abs_diff(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x[n.abs_diff(2)] * a;
    s
}
#[test]
fn panics_abs_diff() {
    run("abs_diff", abs_diff, abs_diff_grad);
}

#[gradient]
fn checked(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    if let Some(i) = n.checked_sub(2) {
        s += x[i];
    } else {
        s += a;
    }
    s
}
#[test]
fn panics_checked() {
    run("checked", checked, checked_grad);
}

#[gradient]
fn get_rng(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    if let Some(c) = x.get(n..3) {
        s += c.iter().sum::<f64>() * a;
    } else {
        s -= a;
    }
    s
}
#[test]
fn panics_get_rng() {
    run("get_rng", get_rng, get_rng_grad);
}

#[gradient]
fn pos_unwrap(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let i = x.iter().position(|v| *v > 0.3).unwrap();
    s += x[i] * a;
    s
}
#[test]
fn panics_pos_unwrap() {
    run("pos_unwrap", pos_unwrap, pos_unwrap_grad);
}

#[gradient]
fn maxby(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x.iter().copied().max_by(|v, w| v.partial_cmp(w).unwrap()).unwrap() * a;
    s
}
#[test]
fn panics_maxby() {
    run("maxby", maxby, maxby_grad);
}

#[gradient]
fn reduce(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x.iter().copied().reduce(|v, w| v * w + a).unwrap();
    s
}
#[test]
fn panics_reduce() {
    run("reduce", reduce, reduce_grad);
}

#[gradient]
fn fold_br(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    s += x.iter().enumerate().fold(a, |t, (i, v)| if i == n { t * t } else { t + v });
    s
}
#[test]
fn panics_fold_br() {
    run("fold_br", fold_br, fold_br_grad);
}

#[gradient]
fn label(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    'o: for i in 0..n {
        for j in 0..x.len() {
            if x[j] > 0.7 {
                continue 'o;
            }
            if j > i {
                break 'o;
            }
            s += x[j] * x[i];
        }
        s *= 1.1;
    }
    s
}
#[test]
fn panics_label() {
    run("label", label, label_grad);
}

#[gradient]
fn retval(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        if x[i] > 0.6 {
            return x[i] * s * a;
        }
        s += x[i];
    }
    s
}
#[test]
fn panics_retval() {
    run("retval", retval, retval_grad);
}

#[gradient]
fn queue(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c: std::collections::VecDeque<f64> = x.iter().copied().collect();
    for _ in 0..n {
        let v = c.pop_front().unwrap();
        c.push_back(v * a);
    }
    s += c[0];
    s
}
#[test]
fn panics_queue() {
    run("queue", queue, queue_grad);
}

#[gradient]
fn lists(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = vec![vec![a; n]; 2];
    c[1][0] = x[0];
    c[0][n - 1] *= x[1];
    s += c[1][0] * c[0][0];
    s
}
#[test]
fn panics_lists() {
    run("lists", lists, lists_grad);
}

#[gradient]
fn fill_part(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    y[n..].fill(a);
    y[..n].fill(s);
    for v in y.iter() {
        s += v * v;
    }
    s
}
#[test]
fn panics_fill_part() {
    run("fill_part", fill_part, fill_part_grad);
}

#[gradient]
fn opt(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let mut c = None;
    for i in 0..n {
        if x[i] > 0.0 {
            c = Some(x[i] * a);
        }
    }
    s += c.unwrap() * c.unwrap_or(a);
    s
}
#[test]
fn panics_opt() {
    run("opt", opt, opt_grad);
}

#[gradient]
fn shadow(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let x = &x[1..];
    let n = n + 1;
    for n in 0..n {
        let a = a * n as f64;
        s += x[n] * a;
    }
    s
}
#[test]
fn panics_shadow() {
    run("shadow", shadow, shadow_grad);
}

#[gradient]
fn closure(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    let f = |i: usize| x[i] * x[i - 1];
    for i in 0..n {
        s += f(i + 1) + if i > 0 { f(i) } else { a };
    }
    s
}
#[test]
fn panics_closure() {
    run("closure", closure, closure_grad);
}

#[gradient]
fn early_sub(x: &[f64], y: &mut [f64], a: f64, n: usize, k: i32) -> f64 {
    let mut s = 0.5;
    if n == 0 {
        return a;
    }
    let m = n - 1;
    for i in 0..m {
        s += x[i] * x[m - i];
    }
    s
}
#[test]
fn panics_early_sub() {
    run("early_sub", early_sub, early_sub_grad);
}
