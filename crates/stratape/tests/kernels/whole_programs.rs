//! Programs: by warps, by rows, in time.

use crate::common::*;
// the last warp alone reduces
#[stratape::kernel]
#[gradient]
fn last_warp(y: &mut [f64], x: &[f64]) {
    let mut part = shared::<[f64; 32]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let i = t + block_idx().x * n;
    let mut v = x[i] * x[i];
    let mut by = 16;
    while by > 0 {
        v += shuffle_down(v, by);
        by /= 2;
    }
    if t % 32 == 0 {
        part[t / 32] = v;
    }
    sync_threads();
    if t < 32 {
        let mut v = if t < n / 32 { part[t] } else { 0.0 };
        let mut by = 16;
        while by > 0 {
            v += shuffle_down(v, by);
            by /= 2;
        }
        if t == 0 {
            y[block_idx().x] = v.sqrt();
        }
    }
}
// rows by warps, a different number for each warp
#[stratape::kernel]
#[gradient]
fn warp_rows(y: &mut [f64], x: &[f64], cols: usize) {
    let lane = thread_idx().x % 32;
    let warp = thread_idx().x / 32;
    let warps = block_dim().x / 32;
    for row in (warp..y.len()).step_by(warps) {
        let mut s = 0.0;
        let mut c = lane;
        while c < cols {
            s += x[row * cols + c] * x[c];
            c += 32;
        }
        for k in 0..5 {
            s += shuffle_xor(s, 16 >> k);
        }
        if lane == 0 {
            y[row] = s * s;
        }
    }
}
// atomics and plain operations by one thread
#[stratape::kernel]
#[gradient]
fn atomic_own(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        atomic_add(&mut y[i], x[i] * x[i]);
        y[i] = y[i] * y[i];
        atomic_add(&mut y[i], x[0]);
        let v = y[i];
        y[i] = v * x[i];
        for k in 0..3 {
            atomic_add(&mut y[i], x[k] * v);
            if y[i] > 0.5 {
                y[i] *= 0.5;
            }
        }
    }
}
// index of counters
#[stratape::kernel]
#[gradient(wrt(y, x))]
fn tickets(y: &mut [f64], x: &[f64], n: &mut [u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let k = atomic_add(&mut n[0], 1);
        let mut v = x[i];
        for _ in 0..3 + 0 * k {
            v *= x[i];
        }
        if k < 1000 {
            y[i] = v;
        }
    }
}
#[stratape::kernel]
#[gradient]
fn u8index(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    y[i] = x[(i as u8) as usize].sin();
}
#[stratape::kernel]
#[gradient]
fn floatindex(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    y[i] = x[(i as f64 * 0.5) as usize].sin() + x[(i as f32) as usize];
}
#[stratape::kernel]
#[gradient]
fn wrapmul(y: &mut [f64], x: &[f64], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = i.wrapping_mul(n);
    if j < x.len() {
        y[i] = x[j].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn wrapadd32(y: &mut [f64], x: &[f64], n: u32) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let j = (i as u32).wrapping_mul(n) as usize;
    if j < x.len() {
        y[i] = x[j].sin();
    }
}
// shared memory by block index or by one axis
#[stratape::kernel]
#[gradient]
fn shared_by_block(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 8]>();
    let t = thread_idx().x;
    let b = block_idx().x;
    if t == 0 {
        s[b] = x[b] * x[b];
    }
    sync_threads();
    y[b * block_dim().x + t] = s[b] * x[b];
}
#[stratape::kernel]
#[gradient]
fn shared_by_axis(y: &mut [f64], x: &[f64]) {
    let mut s = shared::<[f64; 8]>();
    let mut r = shared::<[f64; 8]>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (nx, ny) = (block_dim().x, block_dim().y);
    let o = block_idx().x * nx * ny;
    if ty == 0 {
        s[tx] = x[o + tx] * x[o + tx];
    }
    if tx == 0 {
        r[ty] = x[o + ty * nx].sin();
    }
    sync_threads();
    y[o + ty * nx + tx] = s[tx] * r[ty];
}
// arrays in slices (flat test below)
#[stratape::kernel]
#[gradient]
fn arr2(y: &mut [[f64; 3]], x: &[[f64; 3]]) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    if t < y.len() {
        let p = x[t];
        for k in 0..3 {
            y[t][k] = p[k] * x[0][k] + x[(t + 1) % x.len()][2 - k];
        }
        y[t][0] += x[t / 3][t % 3];
        let q = y[t];
        y[t] = [q[1] * q[2], q[0], q[1] + p[0]];
    }
}
#[stratape::kernel]
#[gradient]
fn arr_flat(y: &mut [f64], x: &[[f64; 3]]) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    if t < y.len() {
        y[t] = x[0][t % 3].sin() + x[t / 3][t % 3] * x[t][0];
    }
}
// convergence in shared memory: the condition is the same for all, since it is shared
#[stratape::kernel]
#[gradient]
fn split_mut(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if (i + 1) * 4 <= y.len() {
        let (_, rest) = y.split_at_mut(i * 4);
        let (mine, _) = rest.split_at_mut(4);
        for (k, v) in mine.iter_mut().enumerate() {
            *v = *v * x[i] + x[k];
        }
        mine.swap(0, 3);
        mine[1] = mine[0] * mine[2];
    }
}
#[stratape::kernel]
#[gradient]
fn walker(y: &mut [f64], x: &[f64], jump: &[usize]) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    if t >= y.len() {
        return;
    }
    let mut i = t;
    let mut s = 0.0;
    while i < x.len() {
        s += x[i].sin() * (1.0 + s);
        i += jump[i];
        if i < x.len() {
            s += x[i] * 0.1;
        }
    }
    y[t] = s;
}
#[stratape::kernel]
#[gradient]
fn stride2d(y: &mut [f64], x: &[f64], w: usize, h: usize) {
    let (dx, dy) = (block_dim().x * grid_dim().x, block_dim().y * grid_dim().y);
    let mut r = thread_idx().y + block_idx().y * block_dim().y;
    while r < h {
        let mut c = thread_idx().x + block_idx().x * block_dim().x;
        while c < w {
            y[r * w + c] = y[r * w + c] * x[r * w + c] + x[c * h + r];
            c += dx;
        }
        r += dy;
    }
}
#[stratape::kernel]
#[gradient]
fn f32tile(y: &mut [f32], x: &[f32], a: f32) {
    let mut s = shared::<[[f32; 8]; 8]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    s[t / 8][t % 8] = x[o + t] * a;
    sync_threads();
    let mut v = 0.0;
    for k in 0..n {
        v += s[k / 8][k % 8] * s[t / 8][t % 8];
    }
    atomic_add(&mut y[block_idx().x], v.tanh());
}
// all threads take the same element; one thread writes in a loop with barriers; scalars in loops
#[stratape::kernel]
#[gradient]
fn power_iteration(v: &mut [f64], a: &[f64], lambda: &mut [f64], steps: usize, shift: f64) {
    let mut s = shared::<[f64; 32]>();
    let mut norm = shared::<[f64; 1]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    s[t] = v[t];
    sync_threads();
    for k in 0..steps {
        let mut w = shift * s[t];
        for j in 0..n {
            w += a[t * n + j] * s[j];
        }
        sync_threads();
        s[t] = w * w;
        sync_threads();
        if t == 0 {
            let mut q = 0.0;
            for j in 0..n {
                q += s[j];
            }
            norm[0] = q.sqrt();
            if k + 1 == steps {
                lambda[0] = norm[0];
            }
        }
        sync_threads();
        s[t] = w / norm[0];
        sync_threads();
    }
    v[t] = s[t];
}
// in-place LU without pivots, columns by threads
#[stratape::kernel]
#[gradient]
fn lu(a: &mut [f64], n: usize) {
    let t = thread_idx().x;
    for k in 0..n {
        sync_threads();
        if t > k && t < n {
            a[t * n + k] /= a[k * n + k];
        }
        sync_threads();
        if t > k && t < n {
            for j in k + 1..n {
                a[t * n + j] -= a[t * n + k] * a[k * n + j];
            }
        }
    }
}
#[stratape::kernel]
#[gradient]
fn cholesky(a: &mut [f64], n: usize) {
    let t = thread_idx().x;
    for k in 0..n {
        if t == k {
            a[k * n + k] = a[k * n + k].sqrt();
        }
        sync_threads();
        if t > k && t < n {
            a[t * n + k] = a[t * n + k] / a[k * n + k];
        }
        sync_threads();
        for j in k + 1..n {
            if t >= j && t < n {
                a[t * n + j] -= a[t * n + k] * a[j * n + k];
            }
        }
        sync_threads();
    }
}
// FFT butterflies in shared memory
#[stratape::kernel]
#[gradient]
fn fft(re: &mut [f64], im: &mut [f64]) {
    let mut s = shared::<[[f64; 2]; 16]>();
    let t = thread_idx().x;
    let n = 2 * block_dim().x;
    let o = block_idx().x * n;
    for k in 0..2 {
        let i = t + k * block_dim().x;
        s[i][0] = re[o + i];
        s[i][1] = im[o + i];
    }
    sync_threads();
    let mut half = n / 2;
    while half > 0 {
        let pos = t % half;
        let i = (t / half) * 2 * half + pos;
        let j = i + half;
        let ang = -std::f64::consts::PI * pos as f64 / half as f64;
        let (sn, cs) = ang.sin_cos();
        let (ar, ai) = (s[i][0], s[i][1]);
        let (br, bi) = (s[j][0], s[j][1]);
        s[i] = [ar + br, ai + bi];
        let (dr, di) = (ar - br, ai - bi);
        s[j] = [dr * cs - di * sn, dr * sn + di * cs];
        sync_threads();
        half /= 2;
    }
    for k in 0..2 {
        let i = t + k * block_dim().x;
        let p = s[i][0] * s[i][0] + s[i][1] * s[i][1];
        re[o + i] = p;
        im[o + i] = s[i][1] * p;
    }
}
#[stratape::kernel]
#[gradient]
fn nbody(acc: &mut [[f64; 3]], pos: &[[f64; 3]], m: &[f64], eps: f64) {
    let mut tile = shared::<[[f64; 4]; 8]>();
    let t = thread_idx().x;
    let n = pos.len();
    let i = t + block_idx().x * block_dim().x;
    let p = if i < n { pos[i] } else { [0.0; 3] };
    let mut f = [0.0; 3];
    let mut base = 0;
    while base < n {
        if base + t < n {
            let q = pos[base + t];
            tile[t] = [q[0], q[1], q[2], m[base + t]];
        } else {
            tile[t] = [0.0; 4];
        }
        sync_threads();
        for j in 0..block_dim().x {
            let d = [tile[j][0] - p[0], tile[j][1] - p[1], tile[j][2] - p[2]];
            let r2 = d.iter().map(|v| v * v).sum::<f64>() + eps;
            let w = tile[j][3] / (r2 * r2.sqrt());
            for c in 0..3 {
                f[c] += w * d[c];
            }
        }
        sync_threads();
        base += block_dim().x;
    }
    if i < n {
        acc[i] = f;
    }
}
// wave equation in time on global memory, one block, several elements for each thread
#[stratape::kernel]
#[gradient]
fn wave(u: &mut [f64], up: &mut [f64], c: &[f64], rec: &mut [f64], steps: usize, dt: f64) {
    let t = thread_idx().x;
    let n = u.len();
    let b = block_dim().x; // refused with block_dim().x in the loops: FINDINGS 8
    for s in 0..steps {
        for i in (t..n).step_by(b) {
            if i > 0 && i + 1 < n {
                up[i] = 2.0 * u[i] - up[i] + dt * dt * c[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
            }
        }
        sync_threads();
        for i in (t..n).step_by(b) {
            let v = u[i];
            u[i] = up[i];
            up[i] = v;
        }
        if t == 0 {
            rec[s] = 0.0;
        }
        sync_threads();
        if t == s % block_dim().x {
            rec[s] += u[n / 2] * u[n / 2];
        }
    }
}
#[stratape::kernel]
#[gradient]
fn uniform_loaded(y: &mut [f64], x: &[f64], trips: &[usize]) {
    let mut s = shared::<[f64; 64]>();
    let t = thread_idx().x;
    let n = block_dim().x;
    let o = block_idx().x * n;
    s[t] = x[o + t];
    sync_threads();
    for _ in 0..trips[block_idx().x] {
        let v = s[(t + 1) % n] * s[t];
        sync_threads();
        s[t] = v + 0.3;
        sync_threads();
    }
    y[o + t] = s[t];
}
fn chunk<const N: usize>(v: &[f64]) -> Vec<[f64; N]> {
    v.chunks_exact(N).map(|c| c.try_into().unwrap()).collect()
}
fn flat<const N: usize>(v: Vec<[f64; N]>) -> Vec<f64> {
    v.into_iter().flatten().collect()
}
many! { r;
    t_last_warp { for (b, t) in [(2, 64), (1, 128), (3, 32)] { check!(last_warp, last_warp_grad, g(b, t), vec![r.vec(b as usize, -1., 1.), r.vec((b * t) as usize, -1., 1.)], [mut f64, in f64,]); } }
    t_warp_rows { for (b, t) in [(1, 64), (1, 96), (1, 32)] { check!(warp_rows, warp_rows_grad, g(b, t), vec![r.vec(5, -1., 1.), r.vec(200, -1., 1.)], [mut f64, in f64, raw(40usize),]); } }
    t_atomic_own { for (b, t) in bt() { check!(atomic_own, atomic_own_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64,]); } }
    t_tickets { for (b, t) in bt() { check!(tickets, tickets_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64, bufmut(&[0u32]),]); } }
    t_u8index { check!(u8index, u8index_grad, g(3, 200), vec![r.vec(600, -1., 1.), r.vec(256, -1., 1.)], [mut f64, in f64,]); }
    t_floatindex { check!(floatindex, floatindex_grad, g(3, 20), vec![r.vec(60, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64,]); }
    t_wrapmul { for n in [0usize, 1, 1 << 63, (1 << 63) + 1, usize::MAX] { check!(wrapmul, wrapmul_grad, g(3, 20), vec![r.vec(60, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(n),]); } }
    t_wrapadd32 { for n in [0u32, 1, 1 << 31, (1 << 31) + 1, u32::MAX] { check!(wrapadd32, wrapadd32_grad, g(3, 20), vec![r.vec(60, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(n),]); } }
    t_shared_by_block { for (b, t) in [(5, 7), (8, 40), (1, 3)] { check!(shared_by_block, shared_by_block_grad, g(b, t), vec![r.vec((b * t) as usize, -1., 1.), r.vec(b as usize, -1., 1.)], [mut f64, in f64,]); } }
    t_shared_by_axis { for t in [(5u32, 7u32), (8, 8), (1, 3), (3, 1)] { let n = (2 * t.0 * t.1) as usize; check!(shared_by_axis, shared_by_axis_grad, Grid::blocks(2).threads(t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, in f64,]); } }
    t_split_mut { for (b, t) in bt() { check!(split_mut, split_mut_grad, g(b, t), vec![r.vec(24, -1., 1.), r.vec(17, -1., 1.)], [mut f64, in f64,]); } }
    t_walker { for (b, t) in bt() { let k: Vec<usize> = (0..30).map(|_| 1 + r.below(6)).collect(); check!(walker, walker_grad, g(b, t), vec![r.vec(11, -1., 1.), r.vec(30, -1., 1.)], [mut f64, in f64, buf(&k),]); } }
    t_stride2d { for (b, t) in [((2u32, 2u32), (3u32, 2u32)), ((1, 1), (4, 4)), ((1, 3), (1, 1))] { check!(stride2d, stride2d_grad, Grid::blocks(b).threads(t), vec![r.vec(63, -1., 1.), r.vec(63, -1., 1.)], [mut f64, in f64, raw(9usize), raw(7usize),]); } }
    t_f32tile { for (b, t) in [(2, 11), (3, 64)] { check!(f32tile, f32tile_grad, g(b, t), vec![r.vec(b as usize, -1., 1.), r.vec((b * t) as usize, -0.3, 0.3), vec![0.4]], [mut f32, in f32, val f32,]); } }
    t_power { for st in [1usize, 3] { check!(power_iteration, power_iteration_grad, g(1, 6), vec![r.vec(6, 0.1, 1.), r.vec(36, -1., 1.), vec![0.2], vec![0.5]], [mut f64, in f64, mut f64, raw(st), val f64,]); } }
    t_lu { for t in [6, 32] { let mut a = r.vec(36, -1., 1.); for k in 0..6 { a[7 * k] += 4.0; } check!(lu, lu_grad, g(1, t), vec![a], [mut f64, raw(6usize),]); } }
    t_cholesky { for t in [6, 33] { let mut a = r.vec(36, -1., 1.); for k in 0..6 { a[7 * k] += 6.0; } check!(cholesky, cholesky_grad, g(1, t), vec![a], [mut f64, raw(6usize),]); } }
    t_fft { for (b, t) in [(1, 8), (3, 4), (2, 1)] { let n = 2 * (b * t) as usize; check!(fft, fft_grad, g(b, t), vec![r.vec(n, -1., 1.), r.vec(n, -1., 1.)], [mut f64, mut f64,]); } }
    t_wave { for t in [5, 20, 33] { check!(wave, wave_grad, g(1, t), vec![r.vec(20, -1., 1.), r.vec(20, -1., 1.), r.vec(20, 0.5, 1.), r.vec(7, 0., 1.), vec![0.5]], [mut f64, mut f64, in f64, mut f64, raw(7usize), val f64,]); } }
    t_uniform_loaded { check!(uniform_loaded, uniform_loaded_grad, g(3, 7), vec![r.vec(21, -1., 1.), r.vec(21, -1., 1.)], [mut f64, in f64, buf(&[0usize, 3, 1]),]); }
}
macro_rules! arr_test {
    ($t:ident, $k:ident, $kg:ident, $grid:expr, $slots:expr, $y:expr, $yb:expr, $x:expr, $xb:expr) => {
        #[test]
        fn $t() {
            for (b, t) in bt() {
                let mut r = Rng(5);
                let _ = (&b, &t);
                let slots: Slots = $slots(&mut r);
                let run = |gpu: &Device, v: &Slots| -> Result<Slots, GpuError> {
                    let mut o = gpu.upload(&$y(&v[0]))?;
                    let s = gpu.upload(&$x(&v[1]))?;
                    $k::launch(gpu, g(b, t), (&mut o, &s))?;
                    Ok(vec![$yb(o.download()?), v[1].clone()])
                };
                let grad =
                    |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
                        let mut o = gpu.upload(&$y(&v[0]))?;
                        let x = gpu.upload(&$x(&v[1]))?;
                        let mut d = gpu.upload(&$y(&s[0]))?;
                        let mut dx = gpu.upload(&$x(&s[1]))?;
                        $kg::launch(gpu, g(b, t), (&mut o, &mut d, &x, &mut dx))?;
                        Ok((
                            vec![$yb(o.download()?), v[1].clone()],
                            vec![$yb(d.download()?), $xb(dx.download()?)],
                        ))
                    };
                let fre =
                    |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
                        let mut o = gpu.upload(&$y(&v[0]))?;
                        let x = gpu.upload(&$x(&v[1]))?;
                        let mut d = gpu.upload(&$y(&s[0]))?;
                        let mut dx = gpu.upload(&$x(&s[1]))?;
                        $kg::launch(gpu, g(b, t), (&mut o, &mut d, &x, fresh(&mut dx)))?;
                        Ok((
                            vec![$yb(o.download()?), v[1].clone()],
                            vec![$yb(d.download()?), $xb(dx.download()?)],
                        ))
                    };
                verify(
                    stringify!($k),
                    &format!("{b} {t}"),
                    &slots,
                    &[(true, false), (false, false)],
                    &run,
                    &grad,
                    &fre,
                );
            }
        }
    };
}
fn id(v: &[f64]) -> Vec<f64> {
    v.to_vec()
}
arr_test!(
    t_arr2,
    arr2,
    arr2_grad,
    0,
    |r: &mut Rng| vec![r.vec(33, -1., 1.), r.vec(33, -1., 1.)],
    chunk::<3>,
    flat::<3>,
    chunk::<3>,
    flat::<3>
);
arr_test!(
    t_arr_flat,
    arr_flat,
    arr_flat_grad,
    0,
    |r: &mut Rng| vec![r.vec(33, -1., 1.), r.vec(99, -1., 1.)],
    id,
    |v: Vec<f64>| v,
    chunk::<3>,
    flat::<3>
);
#[test]
fn t_nbody() {
    let mut r = Rng(5);
    for (b, t) in [(1, 8), (2, 8), (5, 3), (11, 1)] {
        let slots = vec![r.vec(33, -1., 1.), r.vec(33, -1., 1.), r.vec(11, 0.1, 1.), vec![0.1]];
        let run = |gpu: &Device, v: &Slots| -> Result<Slots, GpuError> {
            let mut o = gpu.upload(&chunk::<3>(&v[0]))?;
            let (s, m) = (gpu.upload(&chunk::<3>(&v[1]))?, gpu.upload(&v[2])?);
            nbody::launch(gpu, g(b, t), (&mut o, &s, &m, v[3][0]))?;
            Ok(vec![flat(o.download()?), v[1].clone(), v[2].clone(), v[3].clone()])
        };
        let grad = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut o = gpu.upload(&chunk::<3>(&v[0]))?;
            let (x, m) = (gpu.upload(&chunk::<3>(&v[1]))?, gpu.upload(&v[2])?);
            let mut d = gpu.upload(&chunk::<3>(&s[0]))?;
            let (mut dx, mut dm, mut de) =
                (gpu.upload(&chunk::<3>(&s[1]))?, gpu.upload(&s[2])?, gpu.upload(&s[3])?);
            nbody_grad::launch(
                gpu,
                g(b, t),
                (&mut o, &mut d, &x, &mut dx, &m, &mut dm, v[3][0], &mut de),
            )?;
            Ok((
                vec![flat(o.download()?), v[1].clone(), v[2].clone(), v[3].clone()],
                vec![flat(d.download()?), flat(dx.download()?), dm.download()?, de.download()?],
            ))
        };
        let fre = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> {
            let mut s = s.clone();
            for k in 1..4 {
                for q in &mut s[k] {
                    *q = 0.0;
                }
            }
            grad(gpu, v, &s)
        };
        verify(
            "nbody",
            &format!("{b} {t}"),
            &slots,
            &[(true, false), (false, false), (false, false), (false, false)],
            &run,
            &grad,
            &fre,
        );
    }
}
