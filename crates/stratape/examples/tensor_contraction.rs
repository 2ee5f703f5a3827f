//! The contraction C[i, j, l, m] = Σₖ A[i, j, k] · B[k, l, m] on a device, and the gradient of Σ C² with respect to both.
//!
//! `cargo run --release --example tensor_contraction -p stratape` runs on the first CUDA device, or on the emulator; `-- 32` chooses the extent.

use std::time::Instant;

use stratape::gpu::{Device, GpuError, Grid, fresh};

#[stratape::kernel]
#[gradient(wrt(c, a, b))]
fn contract(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    let column = thread_idx().x + block_idx().x * block_dim().x;
    let row = thread_idx().y + block_idx().y * block_dim().y;
    if row < n * n && column < n * n {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * (n * n) + column];
        }
        c[row * (n * n) + column] = sum;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { 8 } else { 64 };
    let n = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => usual,
    };
    println!("on {gpu}, all extents {n}");
    let numbers = |seed: usize| -> Vec<f64> {
        (0..n * n * n).map(|k| ((k * 7919 + seed) % 1009) as f64 / 1009.0).collect()
    };
    let (left, right) = (numbers(1), numbers(2));
    let worst = run(&gpu, n, &left, &right)?;
    println!("largest difference from sums on the host, relative: {worst:.1e}");
    if worst > 1e-10 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}

fn run(gpu: &Device, n: usize, left: &[f64], right: &[f64]) -> Result<f64, GpuError> {
    let side = (n * n).div_ceil(16);
    let grid = Grid::blocks((side, side)).threads((16, 16));
    let (a, b) = (gpu.upload(left)?, gpu.upload(right)?);
    let mut c = gpu.zeros::<f64>(n * n * n * n)?;
    contract::launch(gpu, &grid, (&mut c, &a, &b, n))?;
    // The loss is the sum of squares: its derivative with respect to C is twice C.
    let product = c.download()?;
    let twice: Vec<f64> = product.iter().map(|c| 2.0 * c).collect();
    let mut dc = gpu.upload(&twice)?;
    let (mut da, mut db) = (gpu.zeros(n * n * n)?, gpu.zeros(n * n * n)?);
    for round in ["first", "second"] {
        dc.write(&twice)?;
        gpu.synchronize()?;
        let start = Instant::now();
        let arguments = (&mut c, &mut dc, &a, fresh(&mut da), &b, fresh(&mut db), n);
        contract_grad::launch(gpu, &grid, arguments)?;
        gpu.synchronize()?;
        println!("gradient, {round} launch: {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    let (da, db) = (da.download()?, db.download()?);
    let m = n * n;
    let mut worst = 0.0_f64;
    // Some of the elements, by their formulas.
    for at in (0..n * m).step_by((n * m / 50).max(1)) {
        let (row, k) = (at / n, at % n);
        let wanted: f64 = (0..m).map(|q| twice[row * m + q] * right[k * m + q]).sum();
        worst = worst.max((da[at] / wanted - 1.0).abs());
        let (k, column) = (at / m, at % m);
        let wanted: f64 = (0..m).map(|p| twice[p * m + column] * left[p * n + k]).sum();
        worst = worst.max((db[at] / wanted - 1.0).abs());
    }
    Ok(worst)
}
