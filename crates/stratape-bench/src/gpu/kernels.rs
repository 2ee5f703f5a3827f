//! The kernels, as a user writes them: a thread for each element, sums with `block_add`.

/// Σ (y + 2.5·x)²
#[stratape::kernel]
#[gradient(wrt(out, x, y), no_results)]
pub(super) fn axpy_sum(out: &mut [f64], x: &[f64], y: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut term = 0.0;
    if i < x.len() {
        let v = y[i] + 2.5 * x[i];
        term = v * v;
    }
    block_add(&mut out[0], term);
}

/// −Σ 1/√(|xᵢ − xⱼ|² + softening), over all pairs. Blocks along the second axis take a slice of the partners each.
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn n_body(out: &mut [f64], x: &[[f64; 3]], softening: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        let p = x[i];
        for j in from..to {
            let q = x[j];
            let (dx, dy, dz) = (p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            sum -= 1.0 / (dx * dx + dy * dy + dz * dz + softening).sqrt();
        }
    }
    block_add(&mut out[0], sum);
}

/// Σ (c + 0.1·k·l·c)² over the interior of a cube, l the sum of six neighbours − 6c.
#[stratape::kernel]
#[gradient(wrt(out, u, k), no_results)]
pub(super) fn stencil(out: &mut [f64], u: &[f64], k: &[f64], n: usize) {
    let x = thread_idx().x + block_idx().x * block_dim().x;
    let y = thread_idx().y + block_idx().y * block_dim().y;
    let z = thread_idx().z + block_idx().z * block_dim().z;
    let mut term = 0.0;
    if x > 0 && y > 0 && z > 0 && x + 1 < n && y + 1 < n && z + 1 < n {
        let i = (z * n + y) * n + x;
        let c = u[i];
        let l = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n] - 6.0 * c;
        let v = c + 0.1 * k[i] * l * c;
        term = v * v;
    }
    block_add(&mut out[0], term);
}

/// Σ C², where C[i, j, l, m] = Σₖ A[i, j, k]·B[k, l, m].
#[stratape::kernel]
#[gradient(wrt(out, a, b), no_results)]
pub(super) fn contraction(out: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    let column = thread_idx().x + block_idx().x * block_dim().x;
    let row = thread_idx().y + block_idx().y * block_dim().y;
    let mut term = 0.0;
    if row < n * n && column < n * n {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * (n * n) + column];
        }
        term = sum * sum;
    }
    block_add(&mut out[0], term);
}

/// Σ softmax(x)·s, a block of 256 threads for each row.
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn softmax(out: &mut [f64], x: &[f64], s: &[f64], n: usize) {
    let mut tops = shared::<[f64; 8]>();
    let mut sums = shared::<[f64; 8]>();
    let (t, row) = (thread_idx().x, block_idx().x * n);
    let mut top = -1e300;
    for j in (t..n).step_by(block_dim().x) {
        top = if x[row + j] > top { x[row + j] } else { top };
    }
    for k in 0..5 {
        let other = shuffle_xor(top, 1 << k);
        top = if other > top { other } else { top };
    }
    if t % 32 == 0 {
        tops[t / 32] = top;
    }
    sync_threads();
    for k in 0..8 {
        top = if tops[k] > top { tops[k] } else { top };
    }
    let (mut sum, mut weighted) = (0.0, 0.0);
    for j in (t..n).step_by(block_dim().x) {
        let e = (x[row + j] - top).exp();
        sum += e;
        weighted += e * s[row + j];
    }
    for k in 0..5 {
        sum += shuffle_xor(sum, 1 << k);
    }
    if t % 32 == 0 {
        sums[t / 32] = sum;
    }
    sync_threads();
    let mut total = 0.0;
    for k in 0..8 {
        total += sums[k];
    }
    block_add(&mut out[0], weighted / total);
}

/// Σ x²
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn squares(out: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut term = 0.0;
    if i < x.len() {
        term = x[i] * x[i];
    }
    block_add(&mut out[0], term);
}

/// Σ x², several elements for each thread.
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn many_squares(out: &mut [f64], x: &[f64]) {
    let first = thread_idx().x + block_idx().x * block_dim().x;
    let mut sum = 0.0;
    for i in (first..x.len()).step_by(block_dim().x * grid_dim().x) {
        sum += x[i] * x[i];
    }
    block_add(&mut out[0], sum);
}
