//! The kernels, as a user of CUDA writes them: sums by a tree in the block, one atomic addition for each block.

/// Adds the numbers of a block to memory.
#[stratape::device]
fn add_block(out: &mut [f64], part: &mut [f64; 256], value: f64) {
    let t = thread_idx().x + block_dim().x * (thread_idx().y + block_dim().y * thread_idx().z);
    part[t] = value;
    sync_threads();
    let mut by = block_dim().x * block_dim().y * block_dim().z / 2;
    while by > 0 {
        if t < by {
            part[t] += part[t + by];
        }
        sync_threads();
        by /= 2;
    }
    if t == 0 {
        atomic_add(&mut out[0], part[0]);
    }
}

/// Σ (y + 2.5·x)²
#[stratape::kernel]
#[gradient(wrt(out, x, y), no_results)]
pub(super) fn axpy_sum(out: &mut [f64], x: &[f64], y: &[f64]) {
    let mut part = shared::<[f64; 256]>();
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut term = 0.0;
    if i < x.len() {
        let v = y[i] + 2.5 * x[i];
        term = v * v;
    }
    add_block(out, &mut part, term);
}

/// −Σ 1/√(|xᵢ − xⱼ|² + softening), over all pairs.
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn n_body(out: &mut [f64], x: &[[f64; 3]], softening: f64) {
    let mut part = shared::<[f64; 256]>();
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut sum = 0.0;
    if i < x.len() {
        let p = x[i];
        for j in 0..x.len() {
            let q = x[j];
            let (dx, dy, dz) = (p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            sum -= 1.0 / (dx * dx + dy * dy + dz * dz + softening).sqrt();
        }
    }
    add_block(out, &mut part, sum);
}

/// Σ (c + 0.1·k·l·c)² over the interior of a cube, l the sum of six neighbours − 6c.
#[stratape::kernel]
#[gradient(wrt(out, u, k), no_results)]
pub(super) fn stencil(out: &mut [f64], u: &[f64], k: &[f64], n: usize) {
    let mut part = shared::<[f64; 256]>();
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
    add_block(out, &mut part, term);
}

/// Σ C², where C[i, j, l, m] = Σₖ A[i, j, k]·B[k, l, m].
#[stratape::kernel]
#[gradient(wrt(out, a, b), no_results)]
pub(super) fn contraction(out: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    let mut part = shared::<[f64; 256]>();
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
    add_block(out, &mut part, term);
}

/// Σ softmax(x)·s, a block for each row.
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn softmax(out: &mut [f64], x: &[f64], s: &[f64], n: usize) {
    let mut part = shared::<[f64; 256]>();
    let mut tops = shared::<[f64; 256]>();
    let mut sums = shared::<[f64; 256]>();
    let (t, row) = (thread_idx().x, block_idx().x * n);
    let mut top = -1e300;
    for j in (t..n).step_by(block_dim().x) {
        top = if x[row + j] > top { x[row + j] } else { top };
    }
    tops[t] = top;
    sync_threads();
    for k in 0..block_dim().x {
        top = if tops[k] > top { tops[k] } else { top };
    }
    let (mut sum, mut weighted) = (0.0, 0.0);
    for j in (t..n).step_by(block_dim().x) {
        let e = (x[row + j] - top).exp();
        sum += e;
        weighted += e * s[row + j];
    }
    sums[t] = sum;
    sync_threads();
    let mut total = 0.0;
    for k in 0..block_dim().x {
        total += sums[k];
    }
    add_block(out, &mut part, weighted / total);
}

/// Σ x²
#[stratape::kernel]
#[gradient(wrt(out, x), no_results)]
pub(super) fn squares(out: &mut [f64], x: &[f64]) {
    let mut part = shared::<[f64; 256]>();
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut term = 0.0;
    if i < x.len() {
        term = x[i] * x[i];
    }
    add_block(out, &mut part, term);
}
