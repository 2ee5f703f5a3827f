//! Integers, two precisions and several arrays in shared memory; memory that is only read.

use crate::common::*;

// reads of a &mut that nobody writes, several threads for an element
#[stratape::kernel]
#[gradient]
fn read_mut(z: &mut [f64], y: &mut [f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < z.len() {
        z[i] = y[i / 2] * y[i / 2];
    }
}
// integers in shared memory as indices and counts, overwritten later
#[stratape::kernel]
#[gradient]
fn int_scan(y: &mut [f64], x: &[f64]) {
    let mut c = shared::<[u32; 64]>();
    let mut v = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    let keep = x[o + t] > 0.0;
    c[t] = if keep { 1 } else { 0 };
    v[t] = 0.0;
    sync_threads();
    let mut d = 1;
    while d < n {
        let add = if t >= d { c[t - d] } else { 0 };
        sync_threads();
        c[t] += add;
        sync_threads();
        d *= 2;
    }
    if keep {
        v[c[t] as usize - 1] = x[o + t] * x[o + t];
    }
    let total = c[n - 1];
    sync_threads();
    c[t] = 0;
    let mut s = 0.0;
    for k in 0..total as usize {
        s += v[k] * (k as f64 + 1.0) * v[(k + t) % n];
    }
    y[o + t] = s;
}
#[stratape::kernel]
#[gradient]
fn argmin_atomic(y: &mut [f64], x: &[f64], key: &[u32]) {
    let mut m = shared::<[u32; 2]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    if t == 0 {
        m[0] = 1000;
        m[1] = 0;
    }
    sync_threads();
    atomic_min(&mut m[0], key[o + t]);
    atomic_max(&mut m[1], key[o + t]);
    sync_threads();
    y[o + t] = x[m[0] as usize] * x[m[1] as usize] + x[o + t] * x[m[0] as usize];
}
#[stratape::kernel]
#[gradient]
fn two_dyn(y: &mut [f64], x: &[f32]) {
    let n = block_dim().x;
    let a = dynamic_shared::<f32>(n);
    let t = thread_idx().x;
    let o = block_idx().x * n;
    a[t] = x[o + t] * x[o + t];
    sync_threads();
    y[o + t] = (a[(t + 1) % n] * a[t]) as f64;
}
#[stratape::kernel]
#[gradient]
fn dyn_and_static(y: &mut [f64], x: &[f64], a: f64) {
    let n = block_dim().x;
    let mut st = shared::<[f64; 40]>();
    let d = dynamic_shared::<f64>(2 * n);
    let t = thread_idx().x;
    let o = block_idx().x * n;
    st[t] = x[o + t] * a;
    d[t] = x[o + t] * x[o + t];
    d[n + t] = st[t].sin();
    sync_threads();
    y[o + t] = d[(t + 1) % n] * d[2 * n - 1 - t] + st[(t + 3) % n] * a;
}
// uniform conditions of several kinds around barriers
#[stratape::kernel]
#[gradient]
fn uniform_branches(y: &mut [f64], x: &[f64], m: usize, a: f64) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    let mut v = x[o + t];
    let mut b = a;
    let mut k = 0;
    s[t] = v;
    sync_threads();
    while b < 8.0 {
        if block_idx().x % 2 == 0 {
            v = v * 0.5 + s[(t + 1) % n] * a;
            sync_threads();
            s[t] = v;
            sync_threads();
        }
        k += 1;
        if k == m {
            break;
        }
        b *= 1.7;
        if k % 2 == 1 {
            continue;
        }
        v += s[(t + k) % n];
        sync_threads();
    }
    y[o + t] = v * b;
}
#[stratape::kernel]
#[gradient]
fn uniform_return(y: &mut [f64], x: &[f64], m: usize) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    s[t] = x[o + t];
    sync_threads();
    for k in 0..9 {
        let v = s[(t + 1) % n] * s[t];
        sync_threads();
        s[t] = v + 0.5;
        y[o + t] += v;
        if k == m {
            return;
        }
        sync_threads();
    }
    y[o + t] *= s[n - 1 - t];
}
// shuffles with amounts that differ or are large
#[stratape::kernel]
#[gradient]
fn shuffle_big(y: &mut [f64], x: &[f64], by: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let v = x[i];
    y[i] = shuffle_up(v * v, by) + shuffle_down(v.sin(), by) * v;
}
#[stratape::kernel]
#[gradient]
fn shuffle_xor_n(y: &mut [f64], x: &[f64], by: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let v = x[i];
    y[i] = shuffle_xor(v * v, by) * v;
}
#[stratape::kernel]
#[gradient]
fn shuffle_int(y: &mut [f64], x: &[f64], k: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = shuffle_down(k[i], 1) as usize;
    let f = shuffle_xor(x[i] as f32, 3);
    y[i] = x[j] * x[j] * f as f64;
}
#[stratape::device]
fn warp_dot(a: f64, b: f64) -> f64 {
    let mut v = a * b;
    let mut by = 16;
    while by > 0 {
        v += shuffle_xor(v, by);
        by /= 2;
    }
    v
}
#[stratape::kernel]
#[gradient]
fn shuffle_dev(y: &mut [f64], x: &[f64], a: f64, n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut v = x[i];
    for _ in 0..n {
        let d = warp_dot(v, x[i]);
        v = v / (1.0 + d * d) + a;
    }
    y[i] = v;
}
// 2-D blocks and warps
#[stratape::kernel]
#[gradient]
fn shuffle_2d(y: &mut [f64], x: &[f64], a: f64) {
    let l = thread_idx().x + thread_idx().y * block_dim().x;
    let i = l + block_idx().x * block_dim().x * block_dim().y;
    let v = x[i] * a;
    y[i] = shuffle_up(v * v, 1) * shuffle_xor(v, 8);
}
// local arrays
#[stratape::device]
fn sort3(v: &mut [f64; 3]) {
    for i in 0..2 {
        for j in 0..2 - i {
            if v[j] > v[j + 1] {
                v.swap(j, j + 1);
            }
        }
    }
}
#[stratape::device]
fn solve2(a: &mut [[f64; 3]; 2], x: &mut [f64]) -> bool {
    if a[0][0].abs() < 1e-9 {
        return false;
    }
    let f = a[1][0] / a[0][0];
    for k in 0..3 {
        a[1][k] -= f * a[0][k];
    }
    x[1] = a[1][2] / a[1][1];
    x[0] = (a[0][2] - a[0][1] * x[1]) / a[0][0];
    true
}
#[stratape::kernel]
#[gradient]
fn locals(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= y.len() {
        return;
    }
    let n = x.len();
    let mut v = [x[i], x[(i + 1) % n], x[(i + 2) % n]];
    sort3(&mut v);
    let mut a = [[v[0] + 3.0, v[1], v[2]], [v[1] * v[2], v[0] - 4.0, x[i]]];
    let mut s = [0.0; 2];
    let ok = solve2(&mut a, &mut s);
    let mut hist = [0.0; 4];
    for k in 0..6 {
        let b = (i * 7 + k * 3) % 4;
        hist[b] = hist[b] * 0.5 + x[(i + k) % n];
        hist[(b + 1) % 4] += hist[b];
    }
    y[i] = if ok { s[0] * v[0] + s[1] * v[2] } else { 0.0 } + hist[i % 4] * hist[(i + 2) % 4];
}
#[stratape::device]
fn axpy_into(out: &mut [f64], x: &[f64], a: f64) {
    for (o, v) in out.iter_mut().zip(x) {
        *o += a * v;
    }
}
#[stratape::device]
fn twice_into(out: &mut [f64], x: &[f64], a: f64) {
    axpy_into(out, x, a);
    axpy_into(&mut out[1..], x, a * a);
}
#[stratape::kernel]
#[gradient]
fn nested_slices(y: &mut [f64], x: &[f64], a: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i * 4 + 4 <= y.len() {
        let out = &mut y[i * 4..i * 4 + 4];
        twice_into(out, &x[i..i + 3], a);
        out[0] = out[3] * out[0];
    }
}
// data-dependent loops, newton, tapes
#[stratape::kernel]
#[gradient]
fn newton(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= y.len() {
        return;
    }
    let mut v = 1.0 + x[i] * 0.1;
    let mut it = 0;
    loop {
        let f = v * v * v - x[i] - 2.0;
        if f.abs() < 1e-13 || it >= 30 {
            break;
        }
        v -= f / (3.0 * v * v);
        it += 1;
    }
    y[i] = v;
}
#[stratape::kernel]
#[gradient]
fn mandel(y: &mut [f64], c: &[[f64; 2]], w: usize) {
    let px = thread_idx().x + block_idx().x * block_dim().x;
    let py = thread_idx().y + block_idx().y * block_dim().y;
    if px >= w {
        return;
    }
    let i = py * w + px;
    if i >= y.len() {
        return;
    }
    let (mut a, mut b) = (0.0, 0.0);
    let mut k = 0;
    while k < 30 {
        let t = a * a - b * b + c[i][0];
        b = 2.0 * a * b + c[i][1];
        a = t;
        if a * a + b * b > 16.0 {
            break;
        }
        k += 1;
    }
    y[i] = k as f64 + 1.0 - ((a * a + b * b + 1.0).ln() * 0.5).ln() / 2.0_f64.ln();
}
#[stratape::device]
#[derive(Clone, Copy)]
struct State {
    p: [f64; 2],
    v: [f64; 2],
}
#[stratape::device]
fn rhs(s: &State, g: f64, m: f64) -> State {
    let r2 = s.p[0] * s.p[0] + s.p[1] * s.p[1] + 0.1;
    let f = -g * m / (r2 * r2.sqrt());
    State { p: s.v, v: [f * s.p[0], f * s.p[1]] }
}
#[stratape::device]
fn step(s: &State, d: &State, h: f64) -> State {
    State {
        p: [s.p[0] + h * d.p[0], s.p[1] + h * d.p[1]],
        v: [s.v[0] + h * d.v[0], s.v[1] + h * d.v[1]],
    }
}
#[stratape::kernel]
#[gradient]
fn rk4(out: &mut [[f64; 4]], s0: &[[f64; 4]], g: f64, h: f64, steps: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= out.len() {
        return;
    }
    let mut s = State { p: [s0[i][0], s0[i][1]], v: [s0[i][2], s0[i][3]] };
    for k in 0..steps {
        let m = 1.0 + k as f64 * 0.01;
        let k1 = rhs(&s, g, m);
        let k2 = rhs(&step(&s, &k1, h / 2.0), g, m);
        let k3 = rhs(&step(&s, &k2, h / 2.0), g, m);
        let k4 = rhs(&step(&s, &k3, h), g, m);
        for c in 0..2 {
            s.p[c] += h / 6.0 * (k1.p[c] + 2.0 * k2.p[c] + 2.0 * k3.p[c] + k4.p[c]);
            s.v[c] += h / 6.0 * (k1.v[c] + 2.0 * k2.v[c] + 2.0 * k3.v[c] + k4.v[c]);
        }
    }
    out[i] = [s.p[0], s.p[1], s.v[0], s.v[1]];
}
// LBM D2Q9, pull scheme
#[stratape::device]
const CX: [i32; 9] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
#[stratape::device]
const CY: [i32; 9] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
#[stratape::device]
const WT: [f64; 9] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];
#[stratape::kernel]
#[gradient]
fn lbm(f1: &mut [f64], f0: &[f64], omega: f64, w: usize, h: usize) {
    let x = thread_idx().x + block_idx().x * block_dim().x;
    let y = thread_idx().y + block_idx().y * block_dim().y;
    if x >= w || y >= h {
        return;
    }
    let mut f = [0.0; 9];
    let (mut rho, mut ux, mut uy) = (0.0, 0.0, 0.0);
    for q in 0..9 {
        let xs = (x as i32 - CX[q]).rem_euclid(w as i32) as usize;
        let ys = (y as i32 - CY[q]).rem_euclid(h as i32) as usize;
        f[q] = f0[q * w * h + ys * w + xs];
        rho += f[q];
        ux += f[q] * CX[q] as f64;
        uy += f[q] * CY[q] as f64;
    }
    ux /= rho;
    uy /= rho;
    let u2 = ux * ux + uy * uy;
    for q in 0..9 {
        let cu = CX[q] as f64 * ux + CY[q] as f64 * uy;
        let eq = WT[q] * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * u2);
        f1[q * w * h + y * w + x] = f[q] * (1.0 - omega) + omega * eq;
    }
}
#[stratape::kernel]
#[gradient]
fn spline(y: &mut [f64], at: &[f64], knots: &[f64], c: &[[f64; 4]]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= y.len() {
        return;
    }
    let (mut lo, mut hi) = (0, knots.len() - 1);
    while hi - lo > 1 {
        let m = (lo + hi) / 2;
        if knots[m] > at[i] {
            hi = m;
        } else {
            lo = m;
        }
    }
    let u = at[i] - knots[lo];
    let mut s = 0.0;
    for k in (0..4).rev() {
        s = s * u + c[lo][k];
    }
    y[i] = s;
}
#[stratape::kernel]
#[gradient]
fn pieces(y: &mut [f64], x: &[f64], lo: f64, hi: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let v = x[i];
        y[i] = v.clamp(lo, hi) * v.abs()
            + v.min(0.3).max(-0.2)
            + v.signum() * v.powi(2)
            + v.abs().powf(2.5)
            + (v + 1.5).powi(-2)
            + (v * 3.0).rem_euclid(1.3)
            + v.fract()
            + v.copysign(-1.0)
            + v.hypot(0.3)
            + (v + 2.0).log(3.0)
            + v.atan2(0.4)
            + v.cbrt()
            + v.tanh();
    }
}
#[stratape::kernel]
#[gradient]
fn iterators(y: &mut [f64], x: &[f64], w: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let s: f64 = x.iter().zip(w).skip(i).step_by(2).map(|(a, b)| a * b).sum();
        let p = x.windows(2).take(3).map(|c| c[0] * c[1]).fold(1.0, |a, b| a * 0.5 + b);
        let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let f = x.iter().find(|v| **v > 0.2).copied().unwrap_or(0.5);
        let scale = |v: f64| v * m;
        y[i] = match i % 3 {
            0 => scale(s) + p,
            1 | 4 => p * p,
            _ => {
                if let Some(v) = x.get(i + 3) {
                    v * f
                } else {
                    f * f
                }
            }
        };
    }
}
#[stratape::kernel]
#[gradient]
fn prefix_one(y: &mut [f64], x: &[f64], n: usize) {
    // thread does a row serially in place
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i * n < x.len() {
        y[i * n] = x[i * n];
        for j in 1..n {
            y[i * n + j] = y[i * n + j - 1] * x[i * n + j] + y[i * n];
        }
        for j in (0..n - 1).rev() {
            y[i * n + j] += y[i * n + j + 1] * 0.3;
        }
    }
}
#[stratape::kernel]
#[gradient]
fn nested_tape(y: &mut [f64], x: &[f64], m: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= y.len() {
        return;
    }
    let mut s = x[i];
    'outer: for a in 0..m {
        let mut t = 1.0;
        let mut k = 0;
        while t < 3.0 {
            t += (s * s + 0.3) * (1.0 + x[(i + k + a) % x.len()].abs());
            k += 1;
            if k > 6 {
                continue 'outer;
            }
        }
        s = (s * t).sin() + x[k % x.len()];
        for b in 0..k {
            if b == 2 && s > 0.5 {
                break 'outer;
            }
            s = s * 0.9 + t * 0.01;
        }
    }
    y[i] += s;
}
#[stratape::kernel]
#[gradient]
fn cond_writes(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= y.len() {
        return;
    }
    if x[i] > 0.0 {
        y[i] = x[i] * x[i];
    }
    if x[i] > 0.5 {
        y[i] = y[i] * 2.0 + x[i];
    } else if x[i] < -0.5 {
        y[i] *= y[i];
    }
    let old = y[i];
    y[i] = 0.0;
    if i % 2 == 0 {
        y[i] = old;
    }
    if i % 5 == 0 {
        y[i] = old;
        y[i] += x[0];
    }
}

many! { r;
    t_read_mut { for (b, t) in bt() { check!(read_mut, read_mut_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, mut f64,]); } }
    t_int_scan { for (b, t) in [(1, 40), (3, 7), (2, 33)] { let n = (b * t) as usize; check!(int_scan, int_scan_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_argmin { for (b, t) in [(1, 40), (3, 7)] { let n = (b * t) as usize; let k: Vec<u32> = (0..n).map(|_| r.below(n) as u32).collect(); check!(argmin_atomic, argmin_atomic_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
    t_two_dyn { for (b, t) in [(1, 41), (3, 7)] { let n = (b * t) as usize; check!(two_dyn, two_dyn_grad, g(b, t).shared(4 * t as usize), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f32,]); } }
    t_dyn_and_static { for (b, t) in [(1, 40), (3, 7)] { let n = (b * t) as usize; check!(dyn_and_static, dyn_and_static_grad, g(b, t).shared(16 * t as usize), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.), vec![0.8]], [mut f64, in f64, val f64,]); } }
    t_uniform_branches { for m in [1usize, 2, 3, 100] { for (b, t) in [(1, 40), (3, 7)] { let n = (b * t) as usize; check!(uniform_branches, uniform_branches_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.), vec![0.8]], [mut f64, in f64, raw(m), val f64,]); } } }
    t_uniform_return { for m in [0usize, 2, 8, 100] { for (b, t) in [(1, 40), (3, 7)] { let n = (b * t) as usize; check!(uniform_return, uniform_return_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64, raw(m),]); } } }
    t_shuffle_big { for by in [0usize, 1, 31] { check!(shuffle_big, shuffle_big_grad, g(2, 64), vec![r.vec(128, -1., 1.), r.vec(128, -1., 1.)], [mut f64, in f64, raw(by),]); } }
    t_shuffle_xor_n { for by in [0usize, 1, 31] { check!(shuffle_xor_n, shuffle_xor_n_grad, g(2, 64), vec![r.vec(128, -1., 1.), r.vec(128, -1., 1.)], [mut f64, in f64, raw(by),]); } }
    t_shuffle_int { let k: Vec<u32> = (0..128).map(|_| r.below(128) as u32).collect(); let gpu = Device::emulator(); let _ = gpu;
        // f32 inside: coarse
        check!(shuffle_int, shuffle_int_grad, g(2, 64), vec![r.vec(128, -1., 1.), r.vec(128, -1., 1.)], [mut f64, in f64, buf(&k),]); }
    t_shuffle_dev { check!(shuffle_dev, shuffle_dev_grad, g(2, 64), vec![r.vec(128, -1., 1.), r.vec(128, -1., 1.), vec![0.3]], [mut f64, in f64, val f64, raw(3usize),]); }
    t_shuffle_2d { check!(shuffle_2d, shuffle_2d_grad, Grid::blocks(2).threads((8, 8)), vec![r.vec(128, -1., 1.), r.vec(128, -1., 1.), vec![0.3]], [mut f64, in f64, val f64,]); }
    t_locals { for (b, t) in bt() { check!(locals, locals_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64,]); } }
    t_nested_slices { for (b, t) in bt() { check!(nested_slices, nested_slices_grad, g(b, t), vec![r.vec(24, -1., 1.), r.vec(17, -1., 1.), vec![0.6]], [mut f64, in f64, val f64,]); } }
    t_newton { for (b, t) in bt() { check!(newton, newton_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64,]); } }
    t_pieces { for (b, t) in bt() { check!(pieces, pieces_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), vec![-0.33], vec![0.41]], [mut f64, in f64, val f64, val f64,]); } }
    t_iterators { for (b, t) in bt() { check!(iterators, iterators_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), r.vec(15, -1., 1.)], [mut f64, in f64, in f64,]); } }
    t_prefix_one { for (b, t) in bt() { check!(prefix_one, prefix_one_grad, g(b, t), vec![r.vec(30, -1., 1.), r.vec(30, -1., 1.)], [mut f64, in f64, raw(5usize),]); } }
    t_nested_tape { for (b, t) in bt() { check!(nested_tape, nested_tape_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64, raw(5usize),]); } }
    t_cond_writes { for (b, t) in bt() { check!(cond_writes, cond_writes_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64,]); } }
    t_lbm { for (b, t) in [((2u32, 2u32), (3u32, 3u32)), ((1, 1), (8, 8))] { check!(lbm, lbm_grad, Grid::blocks(b).threads(t), vec![r.vec(180, 0.1, 1.), r.vec(180, 0.1, 1.), vec![0.9]], [mut f64, in f64, val f64, raw(5usize), raw(4usize),]); } }
}
// arrays of arrays: through flat slots
fn chunk<const N: usize>(v: &[f64]) -> Vec<[f64; N]> {
    v.chunks_exact(N).map(|c| c.try_into().unwrap()).collect()
}
fn flat<const N: usize>(v: Vec<[f64; N]>) -> Vec<f64> {
    v.into_iter().flatten().collect()
}
#[test]
fn t_rk4() {
    let mut r = Rng(3);
    for (b, t) in bt() {
        let slots = vec![r.vec(4 * 9, -1., 1.), r.vec(4 * 9, -1., 1.), vec![0.8], vec![0.05]];
        let run = |gpu: &Device, v: &Slots| -> Result<Slots, GpuError> {
            let mut o = gpu.upload(&chunk::<4>(&v[0]))?;
            let s = gpu.upload(&chunk::<4>(&v[1]))?;
            rk4::launch(gpu, g(b, t), (&mut o, &s, v[2][0], v[3][0], 5usize))?;
            Ok(vec![flat(o.download()?), v[1].clone(), v[2].clone(), v[3].clone()])
        };
        let grad = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut o = gpu.upload(&chunk::<4>(&v[0]))?;
            let x = gpu.upload(&chunk::<4>(&v[1]))?;
            let mut d_o = gpu.upload(&chunk::<4>(&s[0]))?;
            let mut dx = gpu.upload(&chunk::<4>(&s[1]))?;
            let mut dg = gpu.upload(&s[2])?;
            let mut dh = gpu.upload(&s[3])?;
            rk4_grad::launch(
                gpu,
                g(b, t),
                (&mut o, &mut d_o, &x, &mut dx, v[2][0], &mut dg, v[3][0], &mut dh, 5usize),
            )?;
            Ok((
                vec![flat(o.download()?), v[1].clone(), v[2].clone(), v[3].clone()],
                vec![flat(d_o.download()?), flat(dx.download()?), dg.download()?, dh.download()?],
            ))
        };
        let fre = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut s = s.clone();
            for k in 1..4 {
                for x in &mut s[k] {
                    *x = 0.0;
                }
            }
            grad(gpu, v, &s)
        };
        verify(
            "rk4",
            "",
            &slots,
            &[(true, false), (false, false), (false, false), (false, false)],
            &run,
            &grad,
            &fre,
        );
    }
}
#[test]
fn t_mandel() {
    let mut r = Rng(3);
    for (b, t) in [((2u32, 3u32), (4u32, 2u32)), ((1, 1), (8, 8))] {
        let slots = vec![r.vec(42, -1., 1.), r.vec(84, -2., 2.)];
        let run = |gpu: &Device, v: &Slots| -> Result<Slots, GpuError> {
            let mut o = gpu.upload(&v[0])?;
            let s = gpu.upload(&chunk::<2>(&v[1]))?;
            mandel::launch(gpu, Grid::blocks(b).threads(t), (&mut o, &s, 7usize))?;
            Ok(vec![o.download()?, v[1].clone()])
        };
        let grad = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut o = gpu.upload(&v[0])?;
            let x = gpu.upload(&chunk::<2>(&v[1]))?;
            let mut d_o = gpu.upload(&s[0])?;
            let mut dx = gpu.upload(&chunk::<2>(&s[1]))?;
            mandel_grad::launch(
                gpu,
                Grid::blocks(b).threads(t),
                (&mut o, &mut d_o, &x, &mut dx, 7usize),
            )?;
            Ok((vec![o.download()?, v[1].clone()], vec![d_o.download()?, flat(dx.download()?)]))
        };
        let fre = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut s = s.clone();
            for x in &mut s[1] {
                *x = 0.0;
            }
            grad(gpu, v, &s)
        };
        verify("mandel", "", &slots, &[(true, false), (false, false)], &run, &grad, &fre);
    }
}
#[test]
fn t_spline2() {
    let mut r = Rng(3);
    for (b, t) in bt() {
        let knots: Vec<f64> = (0..9).map(|k| k as f64 / 8.0).collect();
        let slots = vec![r.vec(20, -1., 1.), r.vec(20, 0., 1.), knots, r.vec(36, -1., 1.)];
        let run = |gpu: &Device, v: &Slots| -> Result<Slots, GpuError> {
            let mut o = gpu.upload(&v[0])?;
            let (a, k, c) =
                (gpu.upload(&v[1])?, gpu.upload(&v[2])?, gpu.upload(&chunk::<4>(&v[3]))?);
            spline::launch(gpu, g(b, t), (&mut o, &a, &k, &c))?;
            Ok(vec![o.download()?, v[1].clone(), v[2].clone(), v[3].clone()])
        };
        let grad = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut o = gpu.upload(&v[0])?;
            let (a, k, c) =
                (gpu.upload(&v[1])?, gpu.upload(&v[2])?, gpu.upload(&chunk::<4>(&v[3]))?);
            let mut d_o = gpu.upload(&s[0])?;
            let (mut da, mut dk, mut dc) =
                (gpu.upload(&s[1])?, gpu.upload(&s[2])?, gpu.upload(&chunk::<4>(&s[3]))?);
            spline_grad::launch(
                gpu,
                g(b, t),
                (&mut o, &mut d_o, &a, &mut da, &k, &mut dk, &c, &mut dc),
            )?;
            Ok((
                vec![o.download()?, v[1].clone(), v[2].clone(), v[3].clone()],
                vec![d_o.download()?, da.download()?, dk.download()?, flat(dc.download()?)],
            ))
        };
        let fre = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut s = s.clone();
            for k in 1..4 {
                for x in &mut s[k] {
                    *x = 0.0;
                }
            }
            grad(gpu, v, &s)
        };
        verify(
            "spline",
            "",
            &slots,
            &[(true, false), (false, false), (false, false), (false, false)],
            &run,
            &grad,
            &fre,
        );
    }
}
