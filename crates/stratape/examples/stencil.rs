//! A stencil in three dimensions whose blocks share tiles of the field, and its gradient, in which they share tiles of the adjoint.
//!
//! `cargo run --release --example stencil -p stratape` runs on the first CUDA device, or on the emulator; `-- SIDE` chooses the side of the cube.

use std::time::Instant;

use stratape::gpu::{Buffer, Device, GpuError, Grid, fresh};

/// The side of the cube that a block computes, and of its tile, which has a border of one cell.
const SIDE: usize = 4;
const WIDE: usize = SIDE + 2;

/// `out = c + 0.1 k l c` in the interior, where `c` is the field and `l` its Laplacian.
#[stratape::kernel]
#[gradient(wrt(out, u, k))]
fn stencil(out: &mut [f64], u: &[f64], k: &[f64], n: usize) {
    let mut tile = shared::<[f64; 216]>();
    let (t, b) = (thread_idx(), block_idx());
    let own = (t.z * SIDE + t.y) * SIDE + t.x;
    // The tile has more cells than the block has threads.
    for at in (own..WIDE * WIDE * WIDE).step_by(SIDE * SIDE * SIDE) {
        let (x, y, z) = (at % WIDE, at / WIDE % WIDE, at / WIDE / WIDE);
        let (x, y, z) = (b.x * SIDE + x, b.y * SIDE + y, b.z * SIDE + z);
        tile[at] = if x < n && y < n && z < n { u[(z * n + y) * n + x] } else { 0.0 };
    }
    sync_threads();
    let (x, y, z) = (b.x * SIDE + t.x + 1, b.y * SIDE + t.y + 1, b.z * SIDE + t.z + 1);
    if x < n - 1 && y < n - 1 && z < n - 1 {
        let (row, plane) = (WIDE, WIDE * WIDE);
        let at = (t.z + 1) * plane + (t.y + 1) * row + t.x + 1;
        let c = tile[at];
        let around = tile[at - 1] + tile[at + 1] + tile[at - row] + tile[at + row];
        let l = around + tile[at - plane] + tile[at + plane] - 6.0 * c;
        let i = (z * n + y) * n + x;
        out[i] = c + 0.1 * k[i] * l * c;
    }
}

/// Half the sum of the squares of the results.
fn loss(gpu: &Device, grid: &Grid, u: &[f64], k: &[f64], n: usize) -> Result<f64, GpuError> {
    let (u, k, mut out) = (gpu.upload(u)?, gpu.upload(k)?, gpu.zeros(n * n * n)?);
    stencil::launch(gpu, grid, (&mut out, &u, &k, n))?;
    Ok(0.5 * out.download()?.iter().map(|x| x * x).sum::<f64>())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { 11 } else { 256 };
    let n: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => usual,
    };
    if n < 3 {
        return Err("the cube has no interior".into());
    }
    println!("on {gpu}: {n} × {n} × {n} cells");
    let blocks = (n - 2).div_ceil(SIDE);
    let grid = Grid::blocks((blocks, blocks, blocks)).threads((SIDE, SIDE, SIDE));
    let all = n * n * n;
    let wave =
        |seed: f64| -> Vec<f64> { (0..all).map(|i| (seed + 0.7 * i as f64).sin()).collect() };
    let (us, ks) = (wave(0.3), wave(1.9));

    let (u, k) = (gpu.upload(&us)?, gpu.upload(&ks)?);
    let (mut out, mut dout): (Buffer<f64>, _) = (gpu.zeros(all)?, gpu.zeros(all)?);
    stencil::launch(&gpu, &grid, (&mut out, &u, &k, n))?;
    // The derivative of the loss with respect to the results are the results.
    dout.copy_from(&out)?;
    let (mut du, mut dk) = (gpu.zeros(all)?, gpu.zeros(all)?);
    let start = Instant::now();
    let arguments = (&mut out, &mut dout, &u, fresh(&mut du), &k, fresh(&mut dk), n);
    stencil_grad::launch(&gpu, &grid, arguments)?;
    gpu.synchronize()?;
    println!("gradient: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());

    // Along a direction in which all elements change, each by another amount.
    let (du, dk, by) = (du.download()?, dk.download()?, 1e-6);
    let (along_u, along_k) = (wave(4.1), wave(2.2));
    let moved = |by: f64| {
        let shifted = |x: &[f64], along: &[f64]| -> Vec<f64> {
            x.iter().zip(along).map(|(x, along)| x + by * along).collect()
        };
        loss(&gpu, &grid, &shifted(&us, &along_u), &shifted(&ks, &along_k), n)
    };
    let difference = (moved(by)? - moved(-by)?) / (2.0 * by);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let found = dot(&du, &along_u) + dot(&dk, &along_k);
    println!("along a direction: {found:.9}, from differences {difference:.9}");
    let mut worst = (found - difference).abs() / (1.0 + difference.abs());
    // With respect to `k` each result depends on one element.
    for i in (0..all).step_by((all / 50).max(1)) {
        let (x, y, z) = (i % n, i / n % n, i / n / n);
        let inside = [x, y, z].iter().all(|at| (1..n - 1).contains(at));
        let wanted = if inside {
            let around = us[i - 1] + us[i + 1] + us[i - n] + us[i + n];
            let l = around + us[i - n * n] + us[i + n * n] - 6.0 * us[i];
            (us[i] + 0.1 * ks[i] * l * us[i]) * 0.1 * l * us[i]
        } else {
            0.0
        };
        worst = worst.max((dk[i] - wanted).abs() / (1.0 + wanted.abs()));
    }
    println!("largest difference from differences and the closed form: {worst:.1e}");
    if worst > 1e-6 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
