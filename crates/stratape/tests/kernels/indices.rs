//! Indices of every kind.

use crate::common::*;

// ---- index expressions
#[stratape::kernel]
#[gradient]
fn gather(y: &mut [f64], x: &[f64], k: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[k[i] as usize].sin() * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn permute_write(y: &mut [f64], x: &[f64], k: &[usize]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let j = k[i];
        y[j] = y[j] * x[i] * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn halved(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[i / 2] * x[i / 2] + y[i] * x[i / 3];
    }
}
#[stratape::kernel]
#[gradient]
fn modulo(y: &mut [f64], x: &[f64], m: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[i % m].exp() * 0.5;
    }
}
#[stratape::kernel]
#[gradient]
fn modconst(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[i % 8] * x[i & 3] * x[i >> 2];
    }
}
#[stratape::kernel]
#[gradient]
fn transpose2d(y: &mut [f64], x: &[f64], w: usize, h: usize) {
    let c = thread_idx().x + block_idx().x * block_dim().x;
    let r = thread_idx().y + block_idx().y * block_dim().y;
    if c < w && r < h {
        y[c * h + r] = x[r * w + c] * x[r * w + c];
    }
}
// column guard missing on width: row*width+col where col may exceed width => overlapping reads
#[stratape::kernel]
#[gradient]
fn rowcol_wide(y: &mut [f64], x: &[f64], w: usize) {
    let c = thread_idx().x;
    let r = block_idx().x;
    let k = r * w + c;
    if k < x.len() {
        atomic_add(&mut y[r], x[k] * x[k]);
    }
}
#[stratape::kernel]
#[gradient]
fn const_stride(y: &mut [f64], x: &[f64]) {
    let t = thread_idx().x;
    let b = block_idx().x;
    // blocks overlap: b*4 + t with t up to block_dim 8
    let k = b * 4 + t;
    if k < x.len() {
        y[b * block_dim().x + t] = x[k].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn triangular(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let base = i * (i + 1) / 2;
        let mut s = 0.0;
        for j in 0..=i {
            s += x[base + j] * x[j];
        }
        y[i] = s;
    }
}
#[stratape::device]
fn idx(i: usize, n: usize) -> usize {
    n - 1 - i
}
#[stratape::kernel]
#[gradient]
fn reversed(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[idx(i, y.len())] = x[idx(i, x.len())] * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn reassigned(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut j = i;
    if i % 2 == 1 {
        j = i - 1;
    }
    if i < y.len() {
        y[i] = x[j] * x[j];
    }
}
#[stratape::kernel]
#[gradient]
fn clampidx(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = i.min(x.len() - 1);
    let v = x[j];
    if i < y.len() {
        y[i] = v * v;
    }
}
#[stratape::kernel]
#[gradient]
fn satidx(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let j = i.saturating_sub(3);
        y[i] = x[j] * x[j];
    }
}
#[stratape::kernel]
#[gradient]
fn countdown(y: &mut [f64], x: &[f64], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut j = n;
        let mut s = y[i];
        while j > 0 {
            j -= 1;
            s = s * 0.5 + x[i * n + j].sin() * s;
        }
        y[i] = s;
    }
}
#[stratape::kernel]
#[gradient]
fn revloop(y: &mut [f64], x: &[f64], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut s = y[i];
        for j in (0..n).rev() {
            s = s * x[j] + x[i + j];
        }
        y[i] = s;
    }
}
#[stratape::kernel]
#[gradient]
fn gridstride(y: &mut [f64], x: &[f64], a: f64) {
    let first = thread_idx().x + block_idx().x * block_dim().x;
    let mut i = first;
    while i < x.len() {
        y[i] = y[i] * a + x[i] * x[i];
        i += block_dim().x * grid_dim().x;
    }
}
// stride by block_dim only in many blocks: blocks read the same elements
#[stratape::kernel]
#[gradient]
fn blockstride(y: &mut [f64], x: &[f64]) {
    let mut s = 0.0;
    for i in (thread_idx().x..x.len()).step_by(block_dim().x) {
        s += x[i] * x[i];
    }
    y[thread_idx().x + block_idx().x * block_dim().x] = s * s;
}
// grid stride starting at block-local index with wrong stride (overlap)
#[stratape::kernel]
#[gradient]
fn overlapstride(y: &mut [f64], x: &[f64]) {
    let g = thread_idx().x + block_idx().x * block_dim().x;
    let mut s = 0.0;
    for i in (g..x.len()).step_by(block_dim().x) {
        s += x[i] * x[i];
    }
    y[g] = s;
}
// loop k below 3 with stride 2: overlapping
#[stratape::kernel]
#[gradient]
fn overlap3(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        for k in 0..3 {
            y[i] += x[i * 2 + k] * x[i * 2 + k];
        }
    }
}
#[stratape::kernel]
#[gradient]
fn triples(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        for k in 0..3 {
            y[i] += x[k + 3 * i] * x[k * y.len() + i];
        }
    }
}
// x index uses only x axis; launched with 2-D blocks
#[stratape::kernel]
#[gradient]
fn only_x(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = thread_idx().y + block_idx().y * block_dim().y;
    let w = block_dim().x * grid_dim().x;
    y[j * w + i] = x[i] * x[i] * (j as f64 + 1.0);
}
#[stratape::kernel]
#[gradient]
fn three_d(y: &mut [f64], x: &[f64], nx: usize, ny: usize, nz: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = thread_idx().y + block_idx().y * block_dim().y;
    let k = thread_idx().z + block_idx().z * block_dim().z;
    if i < nx && j < ny && k < nz {
        let at = (k * ny + j) * nx + i;
        let mut s = -6.0 * x[at];
        if i > 0 {
            s += x[at - 1] * x[at];
        }
        if i + 1 < nx {
            s += x[at + 1];
        }
        if j > 0 {
            s += x[at - nx];
        }
        if j + 1 < ny {
            s += x[at + nx].sin();
        }
        if k > 0 {
            s += x[at - nx * ny];
        }
        if k + 1 < nz {
            s += x[at + nx * ny] * x[at];
        }
        y[at] = s;
    }
}
#[stratape::kernel]
#[gradient]
fn stencil1(y: &mut [f64], x: &[f64], a: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i > 0 && i + 1 < x.len() {
        y[i] = a * (x[i - 1] - 2.0 * x[i] + x[i + 1]) * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn wrap(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let n = x.len();
    if i < n {
        y[i] = x[(i + 1) % n] * x[(i + n - 1) % n] + y[i] * x[i];
    }
}
// shift guard different from index guard: two branches touch different offset
#[stratape::kernel]
#[gradient]
fn branch_offset(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        if i % 2 == 0 {
            y[i] = x[i] * x[i];
        } else {
            y[i] = x[i - 1].sin();
        }
    }
}
#[stratape::kernel]
#[gradient]
fn evenodd(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[2 * i] * x[2 * i + 1];
    }
}
#[stratape::kernel]
#[gradient]
fn evenodd2(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[2 * i] * x[2 * i + 2];
    }
}
// swapped roles: block_idx + thread_idx * block_dim (wrong unless gridDim==blockDim): overlapping reads when grid > blockDim
#[stratape::kernel]
#[gradient]
fn swapped(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x + thread_idx().x * block_dim().x;
    let o = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        y[o] = x[i] * x[i];
    }
}
#[stratape::kernel]
#[gradient]
fn swapped_ok(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x + thread_idx().x * grid_dim().x;
    if i < x.len() {
        y[i] = y[i] * x[i] * x[i];
    }
}
// truncated index type
#[stratape::kernel]
#[gradient]
fn truncated(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = ((i * 64) as u8) as usize;
    if i < y.len() {
        y[i] = x[j] * x[j];
    }
}
#[stratape::kernel]
#[gradient]
fn i32idx(y: &mut [f64], x: &[f64]) {
    let i = (thread_idx().x + block_idx().x * block_dim().x) as i32;
    let n = x.len() as i32;
    let mut s = 0.0;
    for d in -2..=2_i32 {
        let j = i + d;
        if j >= 0 && j < n {
            s += x[j as usize] * x[j as usize] * (d as f64 + 0.5);
        }
    }
    if i < n {
        y[i as usize] = s;
    }
}
#[stratape::kernel]
#[gradient]
fn absidx(y: &mut [f64], x: &[f64]) {
    let i = (thread_idx().x + block_idx().x * block_dim().x) as i32;
    let j = (i - 5).abs() as usize;
    if (i as usize) < y.len() && j < x.len() {
        y[i as usize] = x[j] * x[j];
    }
}
#[stratape::kernel]
#[gradient]
fn wrapping(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = (i as u32).wrapping_mul(0x8000_0001) & 7;
    if i < y.len() {
        y[i] = x[j as usize] * x[j as usize];
    }
}
#[stratape::kernel]
#[gradient]
fn xoridx(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = x[i ^ 1] * x[i] + x[i ^ 5];
    }
}

many! { r;
    t_gather { for (b, t) in bt() { let k: Vec<u32> = (0..37).map(|_| r.below(37) as u32).collect(); check!(gather, gather_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
    t_permute { for (b, t) in bt() { let k = r.perm(37); check!(permute_write, permute_write_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
    t_halved { for (b, t) in bt() { check!(halved, halved_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_modulo { for (b, t) in bt() { for m in [1usize, 7, 40] { check!(modulo, modulo_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(40, -1., 1.)], [mut f64, in f64, raw(m),]); } } }
    t_modconst { for (b, t) in bt() { check!(modconst, modconst_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(20, -1., 1.)], [mut f64, in f64,]); } }
    t_transpose { for (b, t) in [((2u32, 3u32), (4u32, 4u32)), ((1, 1), (8, 12)), ((8, 12), (1, 1)), ((3, 4), (3, 5))] { check!(transpose2d, transpose2d_grad, Grid::blocks(b).threads(t), vec![r.vec(70, -1., 1.), r.vec(70, -1., 1.)], [mut f64, in f64, raw(7usize), raw(10usize),]); } }
    t_rowcol_wide { for (b, t) in bt() { for w in [1usize, 4, 40] { check!(rowcol_wide, rowcol_wide_grad, g(b, t), vec![r.vec(40, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64, raw(w),]); } } }
    t_const_stride { for (b, t) in bt() { check!(const_stride, const_stride_grad, g(b, t), vec![r.vec((b * t) as usize, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_triangular { for (b, t) in bt() { check!(triangular, triangular_grad, g(b, t), vec![r.vec(9, -1., 1.), r.vec(45, -1., 1.)], [mut f64, in f64,]); } }
    t_reversed { for (b, t) in bt() { check!(reversed, reversed_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_reassigned { for (b, t) in bt() { check!(reassigned, reassigned_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_clampidx { for (b, t) in bt() { check!(clampidx, clampidx_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(11, -1., 1.)], [mut f64, in f64,]); } }
    t_satidx { for (b, t) in bt() { check!(satidx, satidx_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_countdown { for (b, t) in bt() { check!(countdown, countdown_grad, g(b, t), vec![r.vec(13, -1., 1.), r.vec(52, -1., 1.)], [mut f64, in f64, raw(4usize),]); } }
    t_revloop { for (b, t) in bt() { check!(revloop, revloop_grad, g(b, t), vec![r.vec(13, -1., 1.), r.vec(18, -1., 1.)], [mut f64, in f64, raw(4usize),]); } }
    t_gridstride { for (b, t) in [(1, 3), (2, 5), (3, 33)] { check!(gridstride, gridstride_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.), vec![0.7]], [mut f64, in f64, val f64,]); } }
    t_blockstride { for (b, t) in bt() { check!(blockstride, blockstride_grad, g(b, t), vec![r.vec((b*t) as usize, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_overlapstride { for (b, t) in bt() { check!(overlapstride, overlapstride_grad, g(b, t), vec![r.vec((b*t) as usize, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_overlap3 { for (b, t) in bt() { check!(overlap3, overlap3_grad, g(b, t), vec![r.vec(13, -1., 1.), r.vec(27, -1., 1.)], [mut f64, in f64,]); } }
    t_triples { for (b, t) in bt() { check!(triples, triples_grad, g(b, t), vec![r.vec(13, -1., 1.), r.vec(39, -1., 1.)], [mut f64, in f64,]); } }
    t_only_x { for (b, t) in [((2u32, 3u32), (4u32, 4u32)), ((1, 1), (8, 3)), ((4, 2), (2, 1)), ((8, 1), (1, 1))] { let w = (b.0 * t.0) as usize; let h = (b.1 * t.1) as usize; check!(only_x, only_x_grad, Grid::blocks(b).threads(t), vec![r.vec(w * h, -1., 1.), r.vec(w, -1., 1.)], [mut f64, in f64,]); } }
    t_three_d { for (b, t) in [((2u32, 2u32, 2u32), (3u32, 2u32, 2u32)), ((1, 1, 1), (5, 4, 3)), ((5, 4, 3), (1, 1, 1))] { check!(three_d, three_d_grad, Grid::blocks(b).threads(t), vec![r.vec(60, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(5usize), raw(4usize), raw(3usize),]); } }
    t_stencil1 { for (b, t) in bt() { check!(stencil1, stencil1_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.), vec![0.3]], [mut f64, in f64, val f64,]); } }
    t_wrap { for (b, t) in bt() { check!(wrap, wrap_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_branch_offset { for (b, t) in bt() { check!(branch_offset, branch_offset_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_evenodd { for (b, t) in bt() { check!(evenodd, evenodd_grad, g(b, t), vec![r.vec(18, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_evenodd2 { for (b, t) in bt() { check!(evenodd2, evenodd2_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_swapped { for (b, t) in bt() { check!(swapped, swapped_grad, g(b, t), vec![r.vec((b*t) as usize, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_swapped_ok { for (b, t) in bt() { check!(swapped_ok, swapped_ok_grad, g(b, t), vec![r.vec(37, -1., 1.), r.vec(37, -1., 1.)], [mut f64, in f64,]); } }
    t_truncated { for (b, t) in bt() { check!(truncated, truncated_grad, g(b, t), vec![r.vec(20, -1., 1.), r.vec(256, -1., 1.)], [mut f64, in f64,]); } }
    t_i32idx { for (b, t) in bt() { check!(i32idx, i32idx_grad, g(b, t), vec![r.vec(21, -1., 1.), r.vec(21, -1., 1.)], [mut f64, in f64,]); } }
    t_absidx { for (b, t) in bt() { check!(absidx, absidx_grad, g(b, t), vec![r.vec(21, -1., 1.), r.vec(21, -1., 1.)], [mut f64, in f64,]); } }
    t_wrapping { for (b, t) in bt() { check!(wrapping, wrapping_grad, g(b, t), vec![r.vec(21, -1., 1.), r.vec(21, -1., 1.)], [mut f64, in f64,]); } }
    t_xoridx { for (b, t) in bt() { check!(xoridx, xoridx_grad, g(b, t), vec![r.vec(24, -1., 1.), r.vec(30, -1., 1.)], [mut f64, in f64,]); } }
}
