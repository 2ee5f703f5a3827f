//! Tiles, scans and reductions in shared memory.

use crate::common::*;

#[stratape::kernel]
#[gradient]
fn block_sum(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let i = t + block_idx().x * block_dim().x;
    tile[t] = if i < x.len() { x[i] * x[i] } else { 0.0 };
    sync_threads();
    let mut s = block_dim().x / 2;
    while s > 0 {
        if t < s {
            tile[t] += tile[t + s];
        }
        sync_threads();
        s /= 2;
    }
    if t == 0 {
        y[block_idx().x] = tile[0] * tile[0];
    }
}
// interleaved addressing
#[stratape::kernel]
#[gradient]
fn block_prod(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let i = t + block_idx().x * block_dim().x;
    tile[t] = 1.0;
    if i < x.len() {
        tile[t] = x[i];
    }
    sync_threads();
    let mut s = 1;
    while s < block_dim().x {
        if t % (2 * s) == 0 && t + s < block_dim().x {
            tile[t] = tile[t] * tile[t + s];
        }
        s *= 2;
        sync_threads();
    }
    if t == 0 {
        y[block_idx().x] += tile[0].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn hillis(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let b = block_idx().x * block_dim().x;
    tile[t] = x[b + t];
    sync_threads();
    let mut d = 1;
    while d < block_dim().x {
        let v = if t >= d { tile[t - d] } else { 1.0 };
        sync_threads();
        tile[t] *= v;
        sync_threads();
        d *= 2;
    }
    y[b + t] = tile[t];
}
// double-buffered Hillis-Steele in one array with offset
#[stratape::kernel]
#[gradient]
fn hillis2(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 128]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let b = block_idx().x * n;
    let mut pin = 0;
    let mut pout = 1;
    tile[t] = x[b + t];
    sync_threads();
    let mut d = 1;
    while d < n {
        if t >= d {
            tile[pout * 64 + t] = tile[pin * 64 + t] * tile[pin * 64 + t - d];
        } else {
            tile[pout * 64 + t] = tile[pin * 64 + t];
        }
        sync_threads();
        let q = pin;
        pin = pout;
        pout = q;
        d *= 2;
    }
    y[b + t] = tile[pin * 64 + t] * x[b + t];
}
#[stratape::kernel]
#[gradient]
fn blelloch(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = 2 * block_dim().x;
    let b = block_idx().x * n;
    s[2 * t] = x[b + 2 * t];
    s[2 * t + 1] = x[b + 2 * t + 1];
    let mut off = 1;
    let mut d = n >> 1;
    while d > 0 {
        sync_threads();
        if t < d {
            let ai = off * (2 * t + 1) - 1;
            let bi = off * (2 * t + 2) - 1;
            s[bi] = s[bi] * s[ai];
        }
        off *= 2;
        d >>= 1;
    }
    if t == 0 {
        s[n - 1] = 1.0;
    }
    let mut d = 1;
    while d < n {
        off >>= 1;
        sync_threads();
        if t < d {
            let ai = off * (2 * t + 1) - 1;
            let bi = off * (2 * t + 2) - 1;
            let v = s[ai];
            s[ai] = s[bi];
            s[bi] = s[bi] * v;
        }
        d *= 2;
    }
    sync_threads();
    y[b + 2 * t] = s[2 * t];
    y[b + 2 * t + 1] = s[2 * t + 1];
}
#[stratape::kernel]
#[gradient]
fn tile_transpose(y: &mut [f64], x: &[f64], w: usize, h: usize) {
    let mut tile = shared::<[[f64; 5]; 4]>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let c = block_idx().x * 4 + tx;
    let r = block_idx().y * 4 + ty;
    if c < w && r < h {
        tile[ty][tx] = x[r * w + c] * x[r * w + c];
    }
    sync_threads();
    let c2 = block_idx().y * 4 + tx;
    let r2 = block_idx().x * 4 + ty;
    if c2 < h && r2 < w {
        y[r2 * h + c2] = tile[tx][ty].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn halo(y: &mut [f64], x: &[f64], a: f64) {
    let mut tile = shared::<[f64; 66]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let i = t + block_idx().x * n;
    let len = x.len();
    tile[t + 1] = if i < len { x[i] } else { 0.0 };
    if t == 0 {
        tile[0] = if i > 0 && i <= len { x[i - 1] } else { 0.0 };
    }
    if t == n - 1 {
        tile[n + 1] = if i + 1 < len { x[i + 1] } else { 0.0 };
    }
    sync_threads();
    if i < len {
        y[i] = a * tile[t] * tile[t + 2] + tile[t + 1] * tile[t + 1];
    }
}
#[stratape::kernel]
#[gradient]
fn matmul(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    let mut ta = shared::<[[f64; 4]; 4]>();
    let mut tb = shared::<[[f64; 4]; 4]>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let col = block_idx().x * 4 + tx;
    let row = block_idx().y * 4 + ty;
    let mut s = 0.0;
    for m in 0..(n + 3) / 4 {
        ta[ty][tx] = if row < n && m * 4 + tx < n { a[row * n + m * 4 + tx] } else { 0.0 };
        tb[ty][tx] = if col < n && m * 4 + ty < n { b[(m * 4 + ty) * n + col] } else { 0.0 };
        sync_threads();
        for k in 0..4 {
            s += ta[ty][k] * tb[k][tx];
        }
        sync_threads();
    }
    if row < n && col < n {
        c[row * n + col] += s * s;
    }
}
// Jacobi with tiles swapped by references
#[stratape::kernel]
#[gradient]
fn jacobi(u: &mut [f64], f: &[f64], steps: usize) {
    let mut p = shared::<[f64; 66]>();
    let mut q = shared::<[f64; 66]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let i = t + block_idx().x * n;
    p[t + 1] = u[i];
    q[t + 1] = 0.0;
    if t == 0 {
        p[0] = 0.0;
        p[n + 1] = 0.0;
        q[0] = 0.0;
        q[n + 1] = 0.0;
    }
    sync_threads();
    for k in 0..steps {
        if k % 2 == 0 {
            q[t + 1] = 0.5 * (p[t] + p[t + 2] + f[i] * p[t + 1]);
        } else {
            p[t + 1] = 0.5 * (q[t] + q[t + 2] + f[i] * q[t + 1]);
        }
        sync_threads();
    }
    u[i] = if steps % 2 == 0 { p[t + 1] } else { q[t + 1] };
}
#[stratape::kernel]
#[gradient]
fn jacobi_ref(u: &mut [f64], f: &[f64], steps: usize) {
    let mut p0 = shared::<[f64; 66]>();
    let mut q0 = shared::<[f64; 66]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let i = t + block_idx().x * n;
    p0[t + 1] = u[i];
    q0[t + 1] = 0.0;
    if t == 0 {
        p0[0] = 0.0;
        p0[n + 1] = 0.0;
        q0[0] = 0.0;
        q0[n + 1] = 0.0;
    }
    sync_threads();
    let (mut p, mut q) = (&mut p0, &mut q0);
    for _ in 0..steps {
        q[t + 1] = 0.5 * (p[t] + p[t + 2] + f[i] * p[t + 1]);
        sync_threads();
        std::mem::swap(&mut p, &mut q);
    }
    u[i] = p[t + 1];
}
// global in place with barriers, one block
#[stratape::kernel]
#[gradient]
fn global_inplace(u: &mut [f64], f: &[f64], steps: usize) {
    let t = thread_idx().x;
    let n = u.len();
    for _ in 0..steps {
        let v = if t > 0 && t + 1 < n {
            u[t - 1] * u[t + 1] + f[t] * u[t]
        } else if t < n {
            u[t]
        } else {
            0.0
        };
        sync_threads();
        if t < n {
            u[t] = v;
        }
        sync_threads();
    }
}
// odd-even transposition sort
#[stratape::kernel]
#[gradient]
fn oddeven(u: &mut [f64]) {
    let t = thread_idx().x;
    let n = u.len();
    for s in 0..n {
        let i = 2 * t + s % 2;
        if i + 1 < n {
            if u[i] > u[i + 1] {
                let v = u[i];
                u[i] = u[i + 1];
                u[i + 1] = v * 1.5;
            }
        }
        sync_threads();
    }
}
#[stratape::kernel]
#[gradient]
fn bitonic(x: &mut [f64], w: &[f64]) {
    let mut s = shared::<[f64; 32]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let b = block_idx().x * n;
    s[t] = x[b + t] * w[t];
    sync_threads();
    let mut k = 2;
    while k <= n {
        let mut j = k / 2;
        while j > 0 {
            let p = t ^ j;
            if p > t {
                if (t & k == 0) == (s[t] > s[p]) {
                    let v = s[t];
                    s[t] = s[p];
                    s[p] = v;
                }
            }
            sync_threads();
            j /= 2;
        }
        k *= 2;
    }
    x[b + t] = s[t] * s[(t + 1) % n];
}
#[stratape::kernel]
#[gradient]
fn warp_sum(y: &mut [f64], x: &[f64]) {
    let t = thread_idx().x;
    let i = t + block_idx().x * block_dim().x;
    let mut v = if i < x.len() { x[i].sin() } else { 0.0 };
    let mut by = 16;
    while by > 0 {
        v += shuffle_down(v, by) * 0.5;
        by /= 2;
    }
    if t % 32 == 0 {
        y[i / 32] = v * v;
    }
}
#[stratape::kernel]
#[gradient]
fn warp_xor(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut v = x[i];
    for k in 0..5 {
        let o = shuffle_xor(v, 1 << k);
        v = v * o + 0.1 * v;
    }
    y[i] = v;
}
#[stratape::kernel]
#[gradient]
fn warp_up(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let lane = thread_idx().x % 32;
    let mut v = x[i];
    let mut d = 1;
    while d < 32 {
        let o = shuffle_up(v, d);
        if lane >= d {
            v = v * (0.5 + o);
        }
        d *= 2;
    }
    y[i] = v;
}
#[stratape::kernel]
#[gradient]
fn warp_up_noguard(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let v = x[i];
    let o = shuffle_up(v * v, 3);
    let p = shuffle_down(v.sin(), 5);
    y[i] = o * p + shuffle_xor(o, 31);
}
#[stratape::kernel]
#[gradient]
fn warp_block_sum(y: &mut [f64], x: &[f64]) {
    let mut part = shared::<[f64; 32]>();
    let t = thread_idx().x;
    let i = t + block_idx().x * block_dim().x;
    let mut v = if i < x.len() { x[i] * x[i] } else { 0.0 };
    let mut by = warp_size() / 2;
    while by > 0 {
        v += shuffle_down(v, by);
        by /= 2;
    }
    if t % 32 == 0 {
        part[t / 32] = v;
    }
    sync_threads();
    if t == 0 {
        let mut s = 0.0;
        for k in 0..(block_dim().x + 31) / 32 {
            s += part[k];
        }
        atomic_add(&mut y[0], s.sqrt());
    }
}
#[stratape::kernel]
#[gradient]
fn weighted_hist(h: &mut [f64], x: &[f64], w: &[f64], k: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        atomic_add(&mut h[k[i] as usize], x[i] * w[i].sin());
    }
}
#[stratape::kernel]
#[gradient]
fn shared_hist(h: &mut [f64], x: &[f64], k: &[u32]) {
    let mut s = shared::<[f64; 8]>();
    let t = thread_idx().x;
    if t < 8 {
        s[t] = 0.0;
    }
    if block_dim().x < 8 {
        if t == 0 {
            for q in 0..8 {
                s[q] = 0.0;
            }
        }
    }
    sync_threads();
    let i = t + block_idx().x * block_dim().x;
    if i < x.len() {
        atomic_add(&mut s[k[i] as usize], x[i] * x[i]);
    }
    sync_threads();
    if t == 0 {
        for q in 0..8 {
            atomic_add(&mut h[q], s[q] * s[q]);
        }
    }
}
// atomics then read in the same kernel after a barrier (one block)
#[stratape::kernel]
#[gradient]
fn softmax_atomic(y: &mut [f64], x: &[f64], s: &mut [f64]) {
    let t = thread_idx().x;
    let b = block_idx().x;
    let n = block_dim().x;
    let e = x[b * n + t].exp();
    if t == 0 {
        s[b] = 0.0;
    }
    sync_threads();
    atomic_add(&mut s[b], e);
    sync_threads();
    y[b * n + t] = e / s[b];
}
// atomic count as index (compaction). Order nondeterministic, but y is summed symmetric...
#[stratape::kernel]
#[gradient(wrt(y, x))]
fn compact(y: &mut [f64], x: &[f64], slot: &mut [usize], n: &mut [u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() && x[i] > 0.0 {
        let k = atomic_add(&mut n[0], 1) as usize;
        slot[k] = i;
        y[k] = x[i] * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn dyn_shared(y: &mut [f64], x: &[f64], m: usize) {
    let s = dynamic_shared::<f64>(m);
    let t = thread_idx().x;
    let n = block_dim().x;
    let b = block_idx().x * n;
    s[t] = x[b + t];
    sync_threads();
    y[b + t] = s[(t + 1) % n] * s[(t + 2) % n];
    sync_threads();
    s[t] = y[b + t] * 2.0;
    sync_threads();
    y[b + t] += s[n - 1 - t] * x[b + t];
}
#[stratape::kernel]
#[gradient]
fn smith(hm: &mut [f64], sc: &[f64], gap: f64, n: usize) {
    // wavefront DP
    let t = thread_idx().x;
    let m = n + 1;
    for d in 0..(2 * n - 1) {
        if t < n && d >= t && d - t < n {
            let i = t + 1;
            let j = d - t + 1;
            let diag = hm[(i - 1) * m + j - 1] + sc[(i - 1) * n + j - 1];
            let up = hm[(i - 1) * m + j] - gap;
            let left = hm[i * m + j - 1] - gap;
            hm[i * m + j] = diag.max(up).max(left).max(0.0);
        }
        sync_threads();
    }
}
#[stratape::kernel]
#[gradient]
fn layernorm(y: &mut [f64], x: &[f64], gamma: &[f64], beta: &[f64], eps: f64) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let b = block_idx().x * n;
    let v = x[b + t];
    s[t] = v;
    sync_threads();
    let mut mean = 0.0;
    for k in 0..n {
        mean += s[k];
    }
    mean /= n as f64;
    sync_threads();
    s[t] = (v - mean) * (v - mean);
    sync_threads();
    let mut var = 0.0;
    for k in 0..n {
        var += s[k];
    }
    var /= n as f64;
    y[b + t] = (v - mean) / (var + eps).sqrt() * gamma[t] + beta[t];
}
#[stratape::kernel]
#[gradient]
fn softmax_tile(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let b = block_idx().x * n;
    s[t] = x[b + t];
    sync_threads();
    let mut m = s[0];
    for k in 1..n {
        m = m.max(s[k]);
    }
    sync_threads();
    s[t] = (x[b + t] - m).exp();
    sync_threads();
    let mut z = 0.0;
    for k in 0..n {
        z += s[k];
    }
    y[b + t] = s[t] / z;
}
#[stratape::kernel]
#[gradient]
fn attention(o: &mut [f64], q: &[f64], k: &[f64], v: &[f64], d: usize) {
    // one block a query, threads over keys
    let mut p = shared::<[f64; 32]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let b = block_idx().x;
    let mut s = 0.0;
    for j in 0..d {
        s += q[b * d + j] * k[t * d + j];
    }
    p[t] = (s / (d as f64).sqrt()).exp();
    sync_threads();
    let mut z = 0.0;
    for j in 0..n {
        z += p[j];
    }
    for c in (t..d).step_by(n) {
        let mut acc = 0.0;
        for j in 0..n {
            acc += p[j] / z * v[j * d + c];
        }
        o[b * d + c] = acc;
    }
}
#[stratape::kernel]
#[gradient]
fn matvec_warps(y: &mut [f64], a: &[f64], x: &[f64], cols: usize) {
    let t = thread_idx().x;
    let lane = t % 32;
    let row = (t + block_idx().x * block_dim().x) / 32;
    let mut s = 0.0;
    if row < y.len() {
        for j in (lane..cols).step_by(32) {
            s += a[row * cols + j] * x[j];
        }
    }
    let mut by = 16;
    while by > 0 {
        s += shuffle_xor(s, by);
        by /= 2;
    }
    if lane == 0 && row < y.len() {
        y[row] = s.tanh();
    }
}
// shared written by one thread, read by all; reused in a loop
#[stratape::kernel]
#[gradient]
fn broadcast_loop(y: &mut [f64], x: &[f64], n: usize) {
    let mut s = shared::<[f64; 1]>();
    let t = thread_idx().x;
    let i = t + block_idx().x * block_dim().x;
    let mut acc = y[i];
    for k in 0..n {
        if t == k % block_dim().x {
            s[0] = x[k] * acc;
        }
        sync_threads();
        acc += s[0] * (t as f64 + 1.0) * 0.1;
        sync_threads();
    }
    y[i] = acc * acc;
}
// shared overwritten without reading earlier part
#[stratape::kernel]
#[gradient]
fn shared_overwrite(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let i = t + block_idx().x * n;
    s[t] = x[i] * x[i];
    s[t] = s[t].sin() * s[t];
    sync_threads();
    let a = s[(t + 1) % n];
    sync_threads();
    s[t] = a * x[i];
    sync_threads();
    y[i] = s[(t + n - 1) % n] * a;
}
// 2-D convolution with halo and constant filter parameter slice
#[stratape::kernel]
#[gradient]
fn conv2d(y: &mut [f64], x: &[f64], f: &[f64], w: usize, h: usize) {
    let mut tile = shared::<[[f64; 6]; 6]>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let c0 = block_idx().x * 4;
    let r0 = block_idx().y * 4;
    let lin = ty * 4 + tx;
    for k in (lin..36).step_by(16) {
        let (r, c) = (k / 6, k % 6);
        let (gr, gc) = (r0 + r, c0 + c);
        tile[r][c] =
            if gr >= 1 && gc >= 1 && gr <= h && gc <= w { x[(gr - 1) * w + gc - 1] } else { 0.0 };
    }
    sync_threads();
    if c0 + tx < w && r0 + ty < h {
        let mut s = 0.0;
        for a in 0..3 {
            for b in 0..3 {
                s += f[a * 3 + b] * tile[ty + a][tx + b];
            }
        }
        y[(r0 + ty) * w + c0 + tx] = s.max(0.0);
    }
}

many! { r;
    t_block_sum { for (b, t) in [(1, 32), (3, 8), (2, 64), (37, 1)] { check!(block_sum, block_sum_grad, g(b, t), vec![r.vec(b as usize, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_block_prod { for (b, t) in [(1, 37), (3, 13), (2, 64), (37, 1)] { check!(block_prod, block_prod_grad, g(b, t), vec![r.vec(b as usize, -1., 1.), r.vec(37, 0.5, 1.5)], [mut f64, in f64,]); } }
    t_hillis { for (b, t) in [(1, 37), (3, 13), (2, 64), (7, 1)] { let n = (b * t) as usize; check!(hillis, hillis_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, 0.7, 1.3)], [mut f64, in f64,]); } }
    t_hillis2 { for (b, t) in [(1, 37), (3, 13), (2, 64), (7, 1)] { let n = (b * t) as usize; check!(hillis2, hillis2_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, 0.7, 1.3)], [mut f64, in f64,]); } }
    t_blelloch { for (b, t) in [(1, 32), (3, 8), (7, 1)] { let n = 2 * (b * t) as usize; check!(blelloch, blelloch_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, 0.7, 1.3)], [mut f64, in f64,]); } }
    t_tile_transpose { check!(tile_transpose, tile_transpose_grad, Grid::blocks((2, 3)).threads((4, 4)), vec![r.vec(70, -1., 1.), r.vec(70, -1., 1.)], [mut f64, in f64, raw(7usize), raw(10usize),]); }
    t_halo { for (b, t) in bt() { check!(halo, halo_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.), vec![0.4]], [mut f64, in f64, val f64,]); } }
    t_matmul { for n in [3usize, 7, 8] { let b = (n as u32 + 3) / 4; check!(matmul, matmul_grad, Grid::blocks((b, b)).threads((4, 4)), vec![r.vec(n * n, -1., 1.), r.vec(n * n, -1., 1.), r.vec(n * n, -1., 1.)], [mut f64, in f64, in f64, raw(n),]); } }
    t_jacobi { for (b, t) in [(1, 20), (4, 7), (3, 1)] { for st in [0usize, 1, 4, 5] { let n = (b * t) as usize; check!(jacobi, jacobi_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64, raw(st),]); } } }
    t_jacobi_ref { for (b, t) in [(1, 20), (4, 7), (3, 1)] { for st in [0usize, 1, 4, 5] { let n = (b * t) as usize; check!(jacobi_ref, jacobi_ref_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64, raw(st),]); } } }
    t_global_inplace { for t in [20, 33, 64] { for st in [0usize, 1, 4] { check!(global_inplace, global_inplace_grad, g(1, t), vec![r.vec(20, -1., 1.), r.vec(20, -1., 1.)], [mut f64, in f64, raw(st),]); } } }
    t_oddeven { for t in [10, 33] { check!(oddeven, oddeven_grad, g(1, t), vec![r.vec(20, -1., 1.)], [mut f64,]); } }
    t_bitonic { for (b, t) in [(1, 32), (3, 8)] { check!(bitonic, bitonic_grad, g(b, t), vec![r.vec((b * t) as usize, -1., 1.), r.vec(t as usize, 0.5, 1.)], [mut f64, in f64,]); } }
    t_warp_sum { for (b, t) in [(1, 32), (3, 64), (2, 96)] { check!(warp_sum, warp_sum_grad, g(b, t), vec![r.vec((b * t / 32) as usize, -1., 1.), r.vec(77, -1., 1.)], [mut f64, in f64,]); } }
    t_warp_xor { for (b, t) in [(1, 32), (3, 64)] { let n = (b * t) as usize; check!(warp_xor, warp_xor_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_warp_up { for (b, t) in [(1, 32), (3, 64)] { let n = (b * t) as usize; check!(warp_up, warp_up_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_warp_up_noguard { for (b, t) in [(1, 32), (3, 64)] { let n = (b * t) as usize; check!(warp_up_noguard, warp_up_noguard_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_warp_partial { for (b, t) in [(1, 32), (2, 64)] { let n = (b * t) as usize; check!(warp_up_partial, warp_up_partial_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_warp_block_sum { for (b, t) in [(1, 32), (3, 64), (2, 128)] { check!(warp_block_sum, warp_block_sum_grad, g(b, t), vec![vec![0.5], r.vec(77, 0.1, 1.)], [mut f64, in f64,]); } }
    t_weighted_hist { for (b, t) in bt() { let k: Vec<u32> = (0..37).map(|_| r.below(8) as u32).collect(); check!(weighted_hist, weighted_hist_grad, g(b, t), vec![r.vec(8, -1., 1.), r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64, in f64, buf(&k),]); } }
    t_shared_hist { for (b, t) in bt() { let k: Vec<u32> = (0..37).map(|_| r.below(8) as u32).collect(); check!(shared_hist, shared_hist_grad, g(b, t), vec![r.vec(8, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
    t_softmax_atomic { for (b, t) in bt() { let n = (b * t) as usize; check!(softmax_atomic, softmax_atomic_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.), r.vec(b as usize, -1., 1.)], [mut f64, in f64, mut f64,]); } }
    t_dyn_shared { for (b, t) in [(1, 20), (2, 33)] { let n = (b * t) as usize; check!(dyn_shared, dyn_shared_grad, g(b, t).shared(t as usize * 8), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64, raw(t as usize),]); } }
    t_smith { for t in [6, 32] { check!(smith, smith_grad, g(1, t), vec![vec![0.0; 49], r.vec(36, -0.5, 1.), vec![0.3123]], [mut f64, in f64, val f64, raw(6usize),]); } }
    t_layernorm { for (b, t) in [(1, 20), (3, 7), (2, 33)] { let n = (b * t) as usize; check!(layernorm, layernorm_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.), r.vec(t as usize, -1., 1.), r.vec(t as usize, -1., 1.), vec![1e-3]], [mut f64, in f64, in f64, in f64, val f64,]); } }
    t_softmax_tile { for (b, t) in [(1, 20), (3, 7), (2, 33)] { let n = (b * t) as usize; check!(softmax_tile, softmax_tile_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_attention { for (b, t, d) in [(2, 5, 7usize), (3, 8, 4)] { check!(attention, attention_grad, g(b, t), vec![r.vec(b as usize * d, -1., 1.), r.vec(b as usize * d, -1., 1.), r.vec(t as usize * d, -1., 1.), r.vec(t as usize * d, -1., 1.)], [mut f64, in f64, in f64, in f64, raw(d),]); } }
    t_matvec_warps { for (b, t) in [(3, 64), (6, 32), (1, 192)] { check!(matvec_warps, matvec_warps_grad, g(b, t), vec![r.vec(5, -1., 1.), r.vec(5 * 40, -0.3, 0.3), r.vec(40, -1., 1.)], [mut f64, in f64, in f64, raw(40usize),]); } }
    t_broadcast_loop { for (b, t) in [(1, 5), (3, 7)] { let n = (b * t) as usize; check!(broadcast_loop, broadcast_loop_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(9, -1., 1.)], [mut f64, in f64, raw(9usize),]); } }
    t_shared_overwrite { for (b, t) in [(1, 37), (3, 13), (4, 1)] { let n = (b * t) as usize; check!(shared_overwrite, shared_overwrite_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_conv2d { check!(conv2d, conv2d_grad, Grid::blocks((2, 3)).threads((4, 4)), vec![r.vec(70, -1., 1.), r.vec(70, -1., 1.), r.vec(9, -1., 1.)], [mut f64, in f64, in f64, raw(7usize), raw(10usize),]); }
    t_compact {
        let gpu = Device::emulator();
        let x = r.vec(50, -1., 1.);
        let (xb, mut y, mut slot, mut n) = (gpu.upload(&x).unwrap(), gpu.zeros::<f64>(50).unwrap(), gpu.zeros::<usize>(50).unwrap(), gpu.zeros::<u32>(1).unwrap());
        let mut dx = gpu.zeros::<f64>(50).unwrap();
        let dy0: Vec<f64> = (0..50).map(|i| i as f64 + 1.0).collect();
        let mut dy = gpu.upload(&dy0).unwrap();
        compact_grad::launch(&gpu, g(7, 8), (&mut y, &mut dy, &xb, &mut dx, &mut slot, &mut n)).unwrap();
        let (slot, n, dx, y, dy) = (slot.download().unwrap(), n.download().unwrap()[0] as usize, dx.download().unwrap(), y.download().unwrap(), dy.download().unwrap());
        assert_eq!(n, x.iter().filter(|v| **v > 0.0).count());
        let mut e = vec![0.0; 50];
        for k in 0..n { e[slot[k]] = dy0[k] * 2.0 * x[slot[k]]; assert_eq!(y[k], x[slot[k]] * x[slot[k]]); assert_eq!(dy[k], 0.0); }
        for i in 0..50 { assert!((e[i] - dx[i]).abs() < 1e-12, "{i} {} {}", e[i], dx[i]); }
    }
}
// shuffles without lane arithmetic on partial warps
#[stratape::kernel]
#[gradient]
fn warp_up_partial(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let v = x[i];
    let o = shuffle_up(v * v, 3);
    y[i] = o * v + shuffle_down(v.sin(), 5) * shuffle_xor(v, 1);
}
