//! Copies of shared memory, references handed on.

use crate::common::*;
// a copy of shared memory is a copy
#[stratape::kernel]
#[gradient]
fn copy_of_shared(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 8]>();
    let t = thread_idx().x;
    let o = block_idx().x * 8;
    s[t] = x[o + t] * x[o + t];
    sync_threads();
    let c = s;
    let mut d = s;
    d[t] *= 3.0;
    sync_threads();
    s[t] = c[(t + 1) % 8] + d[t];
    sync_threads();
    y[o + t] = s[(t + 2) % 8] * c[t] * d[(t + 3) % 8];
}
#[stratape::device]
fn total(v: [f64; 8]) -> f64 {
    let mut v = v;
    v[0] *= 2.0;
    v.iter().map(|q| q * q).sum()
}
#[stratape::device]
fn total_ref(v: &[f64]) -> f64 {
    v.iter().map(|q| q * q).sum()
}
#[stratape::kernel]
#[gradient]
fn pass_shared(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 8]>();
    let t = thread_idx().x;
    let o = block_idx().x * 8;
    s[t] = x[o + t].sin();
    sync_threads();
    y[o + t] = total(s) * s[t]
        + total_ref(&s) * total_ref(&s[t..])
        + s.iter().rev().take(3).product::<f64>();
}
#[stratape::device]
fn bump(p: &mut f64, v: f64) {
    atomic_add(p, v * v);
}
#[stratape::kernel]
#[gradient]
fn atomics_by_ref(y: &mut [f64], x: &[f64], k: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let part = &mut y[4..];
        let j = k[i] as usize;
        atomic_add(&mut part[j], x[i] * x[i]);
        bump(&mut y[j], x[i]);
    }
}
#[stratape::kernel]
#[gradient]
fn split_tiles(y: &mut [f64], x: &[f64], n: usize) {
    let mut s = shared::<[f64; 16]>();
    let t = thread_idx().x;
    let o = block_idx().x * 8;
    let (a0, b0) = s.split_at_mut(8);
    a0[t] = x[o + t];
    b0[t] = 0.0;
    sync_threads();
    let (mut a, mut b) = (a0, b0);
    for _ in 0..n {
        b[t] = a[(t + 1) % 8] * a[t] + 0.2 * b[t];
        sync_threads();
        (a, b) = (b, a);
    }
    y[o + t] = a[t] + b[(t + 1) % 8];
}
#[stratape::kernel]
#[gradient]
fn rows(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[[f64; 4]; 4]>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let o = block_idx().x * 16;
    {
        let row = &mut s[ty];
        row[tx] = x[o + ty * 4 + tx];
        row[tx] *= row[tx];
    }
    sync_threads();
    let row = &s[ty];
    let other = s[3 - ty];
    let mut v = 0.0;
    for (k, q) in row.iter().enumerate() {
        v += q * other[k] * s[k][tx];
    }
    y[o + ty * 4 + tx] = v;
}
#[stratape::device]
fn scan_in(s: &mut [f64], t: usize, n: usize) {
    let mut d = 1;
    while d < n {
        let v = if t >= d { s[t - d] } else { 0.0 };
        sync_threads();
        s[t] += v * 0.5;
        sync_threads();
        d *= 2;
    }
}
#[stratape::kernel]
#[gradient]
fn dyn_dev(y: &mut [f64], x: &[f64]) {
    let n = block_dim().x;
    let s = dynamic_shared::<f64>(2 * n);
    let t = thread_idx().x;
    let o = block_idx().x * n;
    s[t] = x[o + t];
    s[n + t] = x[o + t].sin();
    sync_threads();
    scan_in(s, t, n);
    scan_in(&mut s[n..], t, n);
    y[o + t] = s[t] * s[2 * n - 1 - t];
}
#[stratape::kernel]
#[gradient]
fn int_shuffle_ops(y: &mut [f64], x: &[f64]) {
    let t = thread_idx().x;
    let o = block_idx().x * block_dim().x;
    let pos = x[o + t] > 0.0;
    let mut c = if pos { 1usize } else { 0 };
    let mut d = 1;
    while d < 32 {
        let q = shuffle_up(c, d);
        if t % 32 >= d {
            c += q;
        }
        d *= 2;
    }
    let base = o + (t / 32) * 32;
    y[o + t] = x[base + c - if c > 0 { 1 } else { 0 }] * x[o + t];
}
// accumulators in registers carried over barriers and loops with a uniform `continue`
#[stratape::kernel]
#[gradient]
fn gemv_tiles(y: &mut [f64], a: &[f64], x: &[f64], cols: usize, alpha: f64, beta: f64) {
    let mut tile = shared::<[f64; 8]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let row = t + block_idx().x * n;
    let rows = y.len();
    let mut acc = [0.0; 2];
    for base in (0..cols).step_by(n) {
        if base == 2 * n {
            continue;
        }
        tile[t] = if base + t < cols { x[base + t] } else { 0.0 };
        sync_threads();
        if row < rows {
            for k in 0..n.min(cols - base) {
                acc[k % 2] += a[row * cols + base + k] * tile[k];
            }
        }
        sync_threads();
    }
    if row < rows {
        y[row] = alpha * (acc[0] + acc[1] * acc[1]) + beta * y[row];
    }
}
many! { r;
  t_copy { check!(copy_of_shared, copy_of_shared_grad, g(3, 8), vec![r.vec(24, -1., 1.), r.vec(24, -1., 1.)], [mut f64, in f64,]); }
  t_pass { check!(pass_shared, pass_shared_grad, g(3, 8), vec![r.vec(24, -1., 1.), r.vec(24, -1., 1.)], [mut f64, in f64,]); }
  t_atomics_by_ref { for (b, t) in bt() { let k: Vec<u32> = (0..20).map(|_| r.below(8) as u32).collect(); check!(atomics_by_ref, atomics_by_ref_grad, g(b, t), vec![r.vec(12, -1., 1.), r.vec(20, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
  t_split_tiles { for n in [0usize, 1, 4, 5] { check!(split_tiles, split_tiles_grad, g(3, 8), vec![r.vec(24, -1., 1.), r.vec(24, -1., 1.)], [mut f64, in f64, raw(n),]); } }
  t_rows { check!(rows, rows_grad, Grid::blocks(2).threads((4, 4)), vec![r.vec(32, -1., 1.), r.vec(32, -1., 1.)], [mut f64, in f64,]); }
  t_dyn_dev { for (b, t) in [(2, 5), (1, 33)] { let n = (b * t) as usize; check!(dyn_dev, dyn_dev_grad, g(b, t).shared(16 * t as usize), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
  t_int_shuffle { check!(int_shuffle_ops, int_shuffle_ops_grad, g(2, 64), vec![r.vec(128, -1., 1.), r.vec(128, -1., 1.)], [mut f64, in f64,]); }
  t_gemv { for (b, t) in [(2, 8), (3, 5), (11, 1)] { check!(gemv_tiles, gemv_tiles_grad, g(b, t), vec![r.vec(11, -1., 1.), r.vec(11 * 19, -1., 1.), r.vec(19, -1., 1.), vec![0.7], vec![0.3]], [mut f64, in f64, in f64, raw(19usize), val f64, val f64,]); } }
}
#[stratape::kernel]
#[gradient]
fn z_axis(y: &mut [f64], x: &[f64], a: f64) {
    let (t, b, n, m) = (thread_idx(), block_idx(), block_dim(), grid_dim());
    let l = (t.z * n.y + t.y) * n.x + t.x;
    let q = (b.z * m.y + b.y) * m.x + b.x;
    let i = l + q * n.x * n.y * n.z;
    y[i] = a * x[t.x + b.x * n.x].sin() * x[t.z + b.z * n.z] + x[l];
}
#[test]
fn t_z_axis() {
    let mut r = Rng(9);
    for (b, t) in [
        ((2u32, 1u32, 3u32), (4u32, 1u32, 2u32)),
        ((1, 1, 1), (2, 3, 4)),
        ((1, 1, 4), (5, 1, 1)),
        ((3, 2, 1), (1, 1, 2)),
        ((1, 2, 1), (6, 1, 1)),
    ] {
        let n = (b.0 * b.1 * b.2 * t.0 * t.1 * t.2) as usize;
        check!(z_axis, z_axis_grad, Grid::blocks(b).threads(t), vec![r.vec(n, -1., 1.), r.vec(48, -1., 1.), vec![0.6]], [mut f64, in f64, val f64,]);
    }
}
#[test]
fn copy_of_shared_is_a_copy() {
    let gpu = Device::emulator();
    let x: Vec<f64> = (0..8).map(|k| k as f64 * 0.25 + 0.5).collect();
    let mut y = gpu.zeros::<f64>(8).unwrap();
    copy_of_shared::launch(&gpu, g(1, 8), (&mut y, &gpu.upload(&x).unwrap())).unwrap();
    let c: Vec<f64> = x.iter().map(|v| v * v).collect();
    let s: Vec<f64> = (0..8).map(|t| c[(t + 1) % 8] + 3.0 * c[t]).collect();
    let e: Vec<f64> = (0..8).map(|t| s[(t + 2) % 8] * c[t] * c[(t + 3) % 8]).collect();
    assert_eq!(y.download().unwrap(), e);
}
