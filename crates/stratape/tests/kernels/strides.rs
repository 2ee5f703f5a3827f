//! Strides and guards that almost determine a thread.

use crate::common::*;

// symbolic strides that may be zero or too small
#[stratape::kernel]
#[gradient]
fn stride_n(y: &mut [f64], x: &[f64], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[i * n] * x[i * n];
    }
}
#[stratape::kernel]
#[gradient]
fn stride_nm(y: &mut [f64], x: &[f64], n: usize, m: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut s = 0.0;
        for j in 0..m {
            s += x[i * n + j] * x[i * n + j];
        }
        y[i] = s;
    }
}
#[stratape::kernel]
#[gradient]
fn stride_ab(y: &mut [f64], x: &[f64], a: usize, b: usize) {
    let i = thread_idx().x;
    let j = thread_idx().y;
    y[j * block_dim().x + i] = x[i * a + j * b] * x[i * a + j * b];
}
// guard on <= instead of <
#[stratape::kernel]
#[gradient]
fn guard_le(y: &mut [f64], x: &[f64], w: usize) {
    let c = thread_idx().x;
    let r = block_idx().x;
    if c <= w {
        y[r * block_dim().x + c] = x[r * w + c].sin();
    }
}
// guard on a different width; width changes after the guard
#[stratape::kernel]
#[gradient]
fn guard_changed(y: &mut [f64], x: &[f64], w0: usize) {
    let c = thread_idx().x;
    let r = block_idx().x;
    let mut w = w0;
    if c < w {
        w = w / 2;
        y[r * block_dim().x + c] = x[r * w + c].sin();
    }
}
// width from data, differs among blocks
#[stratape::kernel]
#[gradient]
fn guard_data(y: &mut [f64], x: &[f64], ws: &[usize]) {
    let c = thread_idx().x;
    let r = block_idx().x;
    let w = ws[r];
    if c < w {
        y[r * block_dim().x + c] = x[r * w + c].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn guard_or(y: &mut [f64], x: &[f64], w: usize, all: bool) {
    let c = thread_idx().x;
    let r = block_idx().x;
    if c < w || all {
        y[r * block_dim().x + c] = x[r * w + c].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn guard_else(y: &mut [f64], x: &[f64], w: usize) {
    let c = thread_idx().x;
    let r = block_idx().x;
    if c < w {
        y[r * block_dim().x + c] = 1.0;
    } else {
        y[r * block_dim().x + c] = x[r * w + c].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn guard_var_changed(y: &mut [f64], x: &[f64], w: usize) {
    let mut c = thread_idx().x;
    let r = block_idx().x;
    let c0 = c;
    if c < w {
        c += c0;
        y[r * block_dim().x + c0] = x[r * w + c].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn guard_return(y: &mut [f64], x: &[f64], w: usize, h: usize, a: f64) {
    let c = thread_idx().x + block_idx().x * block_dim().x;
    let r = thread_idx().y + block_idx().y * block_dim().y;
    if c >= w || r >= h {
        return;
    }
    y[r * w + c] += a * x[r * w + c] * x[r * w + c];
}
#[stratape::kernel]
#[gradient]
fn guard_return_weak(y: &mut [f64], x: &[f64], w: usize, a: f64) {
    let c = thread_idx().x;
    let r = block_idx().x;
    if c >= w && r > 0 {
        return;
    }
    y[r * block_dim().x + c] += a * x[r * w + c] * x[r * w + c];
}
// loops whose variable goes beyond
#[stratape::kernel]
#[gradient]
fn loop_beyond(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut k = 0;
        let mut s = 0.0;
        while k < 3 {
            s += x[i * 3 + k].sin();
            k += 2;
            s += x[i * 3 + k].cos();
        }
        y[i] = s;
    }
}
#[stratape::kernel]
#[gradient]
fn loop_shift(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut s = 0.0;
        for k in 0..3 {
            let k = k + 1;
            s += x[i * 3 + k].sin();
        }
        for k in 1..=3 {
            s += x[i * 3 + k].cos();
        }
        for k in (0..6).step_by(3) {
            s *= x[i * 3 + k];
        }
        y[i] = s;
    }
}
// slices
#[stratape::kernel]
#[gradient]
fn sub_slice(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let p = &x[1..];
    if i < y.len() {
        y[i] = p[i] * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn sub_slice_block(y: &mut [f64], x: &[f64]) {
    let b = block_idx().x;
    let p = &x[b * 4..];
    let t = thread_idx().x;
    if t < p.len() {
        y[t + b * block_dim().x] = p[t] * p[t];
    }
}
#[stratape::kernel]
#[gradient]
fn sub_slice_own(y: &mut [f64], x: &[f64], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let p = &x[i * n..(i + 1) * n];
        y[i] = p.iter().map(|v| v * v).sum::<f64>() * p[0];
    }
}
#[stratape::kernel]
#[gradient]
fn chunk_nth(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let (l, r) = x.split_at(i);
        let mut s = 1.0;
        for v in l {
            s += v * 0.3;
        }
        for v in r {
            s *= v;
        }
        y[i] = s;
    }
}
#[stratape::device]
fn dot(a: &[f64], b: &[f64], n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        s += a[i] * b[i];
    }
    s
}
#[stratape::kernel]
#[gradient]
fn same_twice(y: &mut [f64], x: &[f64], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = dot(x, x, n) * dot(&x[i..], x, n);
    }
}
// scratch in global memory, several outputs
#[stratape::kernel]
#[gradient]
fn scratch(y: &mut [f64], z: &mut [f64], tmp: &mut [f64], x: &[f64], a: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        tmp[i] = x[i] * a;
        y[i] = tmp[i] * tmp[i];
        z[i] += y[i] * tmp[i];
        tmp[i] = z[i] * a;
        y[i] = y[i] + tmp[i].sin();
    }
}
// scalar with early return, odd uses
#[stratape::kernel]
#[gradient]
fn scalar_uses(y: &mut [f64], x: &[f64], a: f64, b: f64, n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= y.len() {
        return;
    }
    let mut s = a;
    for k in 0..n {
        if x[k] > b {
            continue;
        }
        if s > 4.0 {
            break;
        }
        s += a * x[k].abs() + b;
    }
    if s < b {
        return;
    }
    y[i] = s * b.powi(3) + a.powf(1.5) * x[i] + if i % 3 == 0 { a } else { b * b };
}
#[stratape::kernel]
#[gradient]
fn scalar_early(y: &mut [f64], x: &[f64], a: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i % 3 == 0 {
        return;
    }
    if i >= y.len() {
        return;
    }
    for k in 0..x.len() {
        if x[k] > 0.7 {
            return;
        }
        y[i] += a * x[k];
    }
}
#[stratape::kernel]
#[gradient]
fn scalar_only(y: &mut [f64], a: f64, b: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = a * (i as f64) + b.sin() * y[i];
    }
}
#[stratape::kernel]
#[gradient]
fn scalar_reassigned(y: &mut [f64], mut a: f64, n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    for k in 0..n {
        a = a * 0.9 + (k as f64) * a.sin() * 0.1;
    }
    if i < y.len() {
        y[i] *= a;
    }
}
// f32
#[stratape::kernel]
#[gradient]
fn f32s(y: &mut [f32], x: &[f32], a: f32) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = a * x[i].sin() + x[(i + 1) % x.len()].exp() * y[i] + (x[i] * x[i] + 1.0).sqrt();
    }
}
#[stratape::kernel]
#[gradient]
fn mixed(y: &mut [f64], x: &[f32], a: f32, b: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let v = x[i] as f64 * b;
        let w = (v * 2.0) as f32 * a;
        y[i] = (w * w) as f64 + v;
    }
}
// uniform early return before barriers; return after the last barrier
#[stratape::kernel]
#[gradient]
fn return_after(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    if block_idx().x > 2 {
        return;
    }
    s[t] = x[block_idx().x * n + t];
    sync_threads();
    if t != 0 {
        return;
    }
    let mut v = 1.0;
    for k in 0..n {
        v *= 1.0 + s[k] * 0.1;
    }
    y[block_idx().x] = v;
}
// shared without barrier
#[stratape::kernel]
#[gradient]
fn shared_private(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[[f64; 3]; 64]>();
    let t = thread_idx().x;
    let i = t + block_idx().x * block_dim().x;
    if i >= x.len() {
        return;
    }
    s[t][0] = x[i];
    s[t][1] = x[i] * x[i];
    s[t][2] = s[t][0] * s[t][1];
    let mut v = 0.0;
    for k in 0..3 {
        v += s[t][k] * s[t][(k + 1) % 3];
    }
    y[i] = v;
}
#[stratape::kernel]
#[gradient]
fn shared_3d(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[[[f64; 3]; 4]; 2]>();
    let (a, b, c) = (thread_idx().x, thread_idx().y, thread_idx().z);
    let i = (c * 4 + b) * 3 + a + 24 * block_idx().y;
    s[c][b][a] = x[i] * x[i];
    sync_threads();
    y[i] = s[1 - c][(b + 1) % 4][(a + 2) % 3] * s[c][0][0];
}
// barriers in uniform branches, in device functions
#[stratape::device]
fn block_total(s: &mut [f64], v: f64, t: usize, n: usize) -> f64 {
    s[t] = v;
    sync_threads();
    let mut r = 0.0;
    for k in 0..n {
        r += s[k] * s[k];
    }
    sync_threads();
    r
}
#[stratape::kernel]
#[gradient]
fn device_barrier(y: &mut [f64], x: &[f64], twice: bool) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let i = t + block_idx().x * n;
    let mut v = block_total(&mut s, x[i], t, n);
    if twice {
        v = block_total(&mut s, v * x[i], t, n) * v;
    }
    for _ in 0..2 {
        v += block_total(&mut s, v * x[i], t, n).sqrt();
    }
    y[i] = v;
}
// global data exchanged in a block: reads of neighbours, in another array
#[stratape::kernel]
#[gradient]
fn pingpong(u: &mut [f64], v: &mut [f64], steps: usize) {
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    for k in 0..steps {
        if k % 2 == 0 {
            v[o + t] = u[o + (t + 1) % n] * u[o + t];
        } else {
            u[o + t] = v[o + (t + 2) % n] + v[o + t].sin();
        }
        sync_threads();
    }
}
// histogram index computed from floats
#[stratape::kernel]
#[gradient]
fn splat(h: &mut [f64], p: &[f64], w: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < p.len() {
        let q = p[i] * h.len() as f64;
        let k = q.floor();
        let f = q - k;
        let j = k as usize;
        atomic_add(&mut h[j], w[i] * (1.0 - f));
        if j + 1 < h.len() {
            atomic_add(&mut h[j + 1], w[i] * f);
        }
    }
}
// index array changed in the kernel
#[stratape::kernel]
#[gradient(wrt(y, x))]
fn linked(y: &mut [f64], x: &[f64], next: &[i32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut j = i as i32;
        let mut s = 1.0;
        let mut k = 0;
        while j >= 0 && k < 6 {
            s = s * x[j as usize] + 0.5;
            j = next[j as usize];
            k += 1;
        }
        y[i] = s;
    }
}
#[stratape::kernel]
#[gradient(wrt(y, x))]
fn int_inplace(y: &mut [f64], x: &[f64], k: &mut [usize]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        for _ in 0..3 {
            y[i] += x[k[i]] * x[k[i]];
            k[i] = (k[i] * 3 + 1) % x.len();
        }
    }
}
many! { r;
    t_stride_n { for (b, t) in bt() { for n in [0usize, 1, 3] { check!(stride_n, stride_n_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(120, -1., 1.)], [mut f64, in f64, raw(n),]); } } }
    t_stride_nm { for (b, t) in bt() { for (n, m) in [(0usize, 2usize), (1, 3), (3, 3), (4, 2)] { check!(stride_nm, stride_nm_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(120, -1., 1.)], [mut f64, in f64, raw(n), raw(m),]); } } }
    t_stride_ab { for (n, m) in [(0usize, 1usize), (1, 3), (4, 1), (2, 2), (1, 5)] { check!(stride_ab, stride_ab_grad, Grid::blocks(1).threads((5, 4)), vec![r.vec(20, -1., 1.), r.vec(120, -1., 1.)], [mut f64, in f64, raw(n), raw(m),]); } }
    t_guard_le { for w in [3usize, 7] { check!(guard_le, guard_le_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(w),]); } }
    t_guard_changed { for w in [3usize, 8] { check!(guard_changed, guard_changed_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(w),]); } }
    t_guard_data { check!(guard_data, guard_data_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, buf(&[8usize, 8, 4, 1]),]); }
    t_guard_or { for a in [false, true] { check!(guard_or, guard_or_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(3usize), raw(a),]); } }
    t_guard_else { check!(guard_else, guard_else_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(3usize),]); }
    t_guard_var_changed { check!(guard_var_changed, guard_var_changed_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(5usize),]); }
    t_guard_return { for (b, t) in [((2u32, 3u32), (4u32, 4u32)), ((1, 1), (8, 12)), ((3, 4), (3, 5))] { check!(guard_return, guard_return_grad, Grid::blocks(b).threads(t), vec![r.vec(70, -1., 1.), r.vec(70, -1., 1.), vec![0.3]], [mut f64, in f64, raw(7usize), raw(10usize), val f64,]); } }
    t_guard_return_weak { check!(guard_return_weak, guard_return_weak_grad, g(4, 8), vec![r.vec(32, -1., 1.), r.vec(60, -1., 1.), vec![0.3]], [mut f64, in f64, raw(3usize), val f64,]); }
    t_loop_beyond { for (b, t) in bt() { check!(loop_beyond, loop_beyond_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64,]); } }
    t_loop_shift { for (b, t) in bt() { check!(loop_shift, loop_shift_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64,]); } }
    t_sub_slice { for (b, t) in bt() { check!(sub_slice, sub_slice_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64,]); } }
    t_sub_slice_block { for (b, t) in bt() { check!(sub_slice_block, sub_slice_block_grad, g(b, t), vec![r.vec((b * t) as usize, -1., 1.), r.vec(160, -1., 1.)], [mut f64, in f64,]); } }
    t_sub_slice_own { for (b, t) in bt() { check!(sub_slice_own, sub_slice_own_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(3usize),]); } }
    t_chunk_nth { for (b, t) in bt() { check!(chunk_nth, chunk_nth_grad, g(b, t), vec![r.vec(7, -1., 1.), r.vec(9, 0.5, 1.)], [mut f64, in f64,]); } }
    t_same_twice { for (b, t) in bt() { check!(same_twice, same_twice_grad, g(b, t), vec![r.vec(7, -1., 1.), r.vec(12, 0.5, 1.)], [mut f64, in f64, raw(5usize),]); } }
    t_scratch { for (b, t) in bt() { check!(scratch, scratch_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), r.vec(17, -1., 1.), r.vec(17, -1., 1.), vec![0.7]], [mut f64, mut f64, mut f64, in f64, val f64,]); } }
    t_scalar_uses { for (b, t) in bt() { check!(scalar_uses, scalar_uses_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), vec![0.7], vec![0.4]], [mut f64, in f64, val f64, val f64, raw(9usize),]); } }
    t_scalar_early { for (b, t) in bt() { check!(scalar_early, scalar_early_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), vec![0.7]], [mut f64, in f64, val f64,]); } }
    t_scalar_only { for (b, t) in [(1, 40), (5, 8), (3, 33), (40, 1), (2, 64), (3, 100)] { check!(scalar_only, scalar_only_grad, g(b, t), vec![r.vec(170, -1., 1.), vec![0.7], vec![0.4]], [mut f64, val f64, val f64,]); }
        check!(scalar_only, scalar_only_grad, Grid::blocks(2).threads((40, 1, 1)), vec![r.vec(70, -1., 1.), vec![0.7], vec![0.4]], [mut f64, val f64, val f64,]); }
    t_scalar_reassigned { for (b, t) in bt() { check!(scalar_reassigned, scalar_reassigned_grad, g(b, t), vec![r.vec(17, -1., 1.), vec![0.7]], [mut f64, val f64, raw(4usize),]); } }
    t_f32s { for (b, t) in bt() { check!(f32s, f32s_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), vec![0.7]], [mut f32, in f32, val f32,]); } }
    t_mixed { for (b, t) in bt() { check!(mixed, mixed_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.), vec![0.7], vec![1.2]], [mut f64, in f32, val f32, val f64,]); } }
    t_return_after { for (b, t) in [(5, 7), (2, 33), (1, 64)] { check!(return_after, return_after_grad, g(b, t), vec![r.vec(b as usize, -1., 1.), r.vec((b * t) as usize, -1., 1.)], [mut f64, in f64,]); } }
    t_shared_private { for (b, t) in bt() { check!(shared_private, shared_private_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_shared_3d { check!(shared_3d, shared_3d_grad, Grid::blocks((1, 3)).threads((3, 4, 2)), vec![r.vec(72, -1., 1.), r.vec(72, -1., 1.)], [mut f64, in f64,]); }
    t_device_barrier { for tw in [false, true] { for (b, t) in [(2, 5), (1, 40)] { let n = (b * t) as usize; check!(device_barrier, device_barrier_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, 0.1, 0.5)], [mut f64, in f64, raw(tw),]); } } }
    t_pingpong { for st in [1usize, 2, 5] { for (b, t) in [(2, 5), (1, 40)] { let n = (b * t) as usize; check!(pingpong, pingpong_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, mut f64, raw(st),]); } } }
    t_splat { for (b, t) in bt() { check!(splat, splat_grad, g(b, t), vec![r.vec(9, -1., 1.), r.vec(37, 0., 0.99), r.vec(37, -1., 1.)], [mut f64, in f64, in f64,]); } }
    t_linked { for (b, t) in bt() { let k: Vec<i32> = (0..20).map(|_| r.below(21) as i32 - 1).collect(); check!(linked, linked_grad, g(b, t), vec![r.vec(20, -1., 1.), r.vec(20, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
    t_int_inplace { for (b, t) in bt() { let k: Vec<usize> = (0..20).map(|_| r.below(20)).collect(); check!(int_inplace, int_inplace_grad, g(b, t), vec![r.vec(20, -1., 1.), r.vec(20, -1., 1.)], [mut f64, in f64, bufmut(&k),]); } }
}
