//! Softmax along the rows of a matrix, a block for each row, and its gradient. The threads of a block find the largest element and the sum together: by exchanges in a warp, and
//! through shared memory from warp to warp.
//!
//! `cargo run --release --example softmax -p stratape` runs on the first CUDA device, or on the emulator; `-- ROWS COLUMNS` chooses the size.

use std::time::Instant;

use stratape::gpu::{Device, Grid, fresh};

#[stratape::device]
const THREADS: usize = 128;
#[stratape::device]
const WARPS: usize = THREADS / 32;

/// The largest of the numbers of all threads of a block, for each of them.
#[stratape::device]
fn block_max(parts: &mut [f64; WARPS], own: f64) -> f64 {
    let mut most = own;
    for k in 0..5 {
        most = most.max(shuffle_xor(most, 16 >> k));
    }
    let (warp, lane) = (thread_idx().x / 32, thread_idx().x % 32);
    if lane == 0 {
        parts[warp] = most;
    }
    sync_threads();
    parts[0].max(parts[1]).max(parts[2]).max(parts[3])
}

/// The sum of the numbers of all threads of a block, for each of them.
#[stratape::device]
fn block_sum(parts: &mut [f64; WARPS], own: f64) -> f64 {
    let mut sum = own;
    for k in 0..5 {
        sum += shuffle_xor(sum, 16 >> k);
    }
    let (warp, lane) = (thread_idx().x / 32, thread_idx().x % 32);
    if lane == 0 {
        parts[warp] = sum;
    }
    sync_threads();
    parts[0] + parts[1] + parts[2] + parts[3]
}

#[stratape::kernel]
#[gradient]
fn softmax(y: &mut [f64], x: &[f64], columns: usize) {
    let mut most = shared::<[f64; 4]>();
    let mut sums = shared::<[f64; 4]>();
    let (row, t) = (block_idx().x * columns, thread_idx().x);
    let mut largest = f64::NEG_INFINITY;
    for k in (t..columns).step_by(THREADS) {
        largest = largest.max(x[row + k]);
    }
    let largest = block_max(&mut most, largest);
    let mut sum = 0.0;
    for k in (t..columns).step_by(THREADS) {
        sum += (x[row + k] - largest).exp();
    }
    let sum = block_sum(&mut sums, sum);
    for k in (t..columns).step_by(THREADS) {
        y[row + k] = (x[row + k] - largest).exp() / sum;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let mut sizes = if gpu.is_emulator() { [16, 300] } else { [8192, 4096] };
    for (size, text) in sizes.iter_mut().zip(std::env::args().skip(1)) {
        *size = text.parse()?;
    }
    let [rows, columns] = sizes;
    println!("on {gpu}: {rows} rows of {columns}");
    let wave = |seed: f64| -> Vec<f64> {
        (0..rows * columns).map(|k| 3.0 * (seed + 0.9 * k as f64).sin()).collect()
    };
    let (xs, weights) = (wave(0.4), wave(1.3));
    let (x, mut y) = (gpu.upload(&xs)?, gpu.zeros(rows * columns)?);
    // The loss is Σ y · weights.
    let (mut dy, mut dx) = (gpu.upload(&weights)?, gpu.zeros(rows * columns)?);
    let grid = Grid::blocks(rows).threads(THREADS);
    let start = Instant::now();
    softmax_grad::launch(&gpu, &grid, (&mut y, &mut dy, &x, fresh(&mut dx), columns))?;
    gpu.synchronize()?;
    println!("rows and gradient: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());

    // In closed form dxᵢ = yᵢ (wᵢ − Σ y w).
    let (found, mut worst) = (dx.download()?, 0.0_f64);
    for row in 0..rows {
        let at = row * columns..(row + 1) * columns;
        let (x, w) = (&xs[at.clone()], &weights[at.clone()]);
        let total: f64 = x.iter().map(|x| x.exp()).sum();
        let mean: f64 = x.iter().zip(w).map(|(x, w)| x.exp() / total * w).sum();
        for ((x, w), found) in x.iter().zip(w).zip(&found[at]) {
            let wanted = x.exp() / total * (w - mean);
            worst = worst.max((found - wanted).abs());
        }
    }
    println!("largest difference from the closed form: {worst:.1e}");
    if worst > 1e-12 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
