//! The potential energy of points that attract each other, all pairs, and its gradient: the forces.
//!
//! `cargo run --release --example n_body -p stratape` runs on the first CUDA device, or on the emulator; `-- POINTS` chooses how many.

use std::time::Instant;

use stratape::gpu::{Device, Grid, fresh};

const THREADS: usize = 128;
const SOFTENING: f64 = 1e-3;

/// A thread for each point; the threads of a block add their sums once, together.
#[stratape::kernel]
#[gradient(wrt(energy, point))]
fn potential(energy: &mut [f64], point: &[[f64; 3]]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let mut sum = 0.0;
    if i < point.len() {
        let p = point[i];
        for j in 0..point.len() {
            let q = point[j];
            let (dx, dy, dz) = (p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            sum -= 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
        }
    }
    block_add(&mut energy[0], sum);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { 300 } else { 16_384 };
    let n: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => usual,
    };
    println!("on {gpu}: {n} points");
    let one = |k: usize, seed: usize| ((k * 7919 + seed) % 1009) as f64 / 1009.0;
    let points: Vec<[f64; 3]> = (0..n).map(|k| [one(k, 1), one(3 * k, 2), one(5 * k, 7)]).collect();
    let point = gpu.upload(&points)?;
    let (mut energy, mut denergy) = (gpu.zeros(1)?, gpu.upload(&[1.0])?);
    let mut dpoint = gpu.alloc_like(&point)?;
    let grid = Grid::blocks(n.div_ceil(THREADS)).threads(THREADS);
    let start = Instant::now();
    let arguments = (&mut energy, &mut denergy, &point, fresh(&mut dpoint));
    potential_grad::launch(&gpu, &grid, arguments)?;
    gpu.synchronize()?;
    println!("energy and gradient: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
    println!("energy {:.6}", energy.download()?[0]);

    let (found, mut worst) = (dpoint.download()?, 0.0_f64);
    // Each pair is met twice: d/dpᵢ = 2 Σⱼ (pᵢ − pⱼ) / rᵢⱼ³.
    for i in (0..n).step_by((n / 50).max(1)) {
        let mut force = [0.0; 3];
        for q in &points {
            let d = [points[i][0] - q[0], points[i][1] - q[1], points[i][2] - q[2]];
            let square: f64 = d.iter().map(|d| d * d).sum::<f64>() + SOFTENING;
            for (force, d) in force.iter_mut().zip(d) {
                *force += 2.0 * d / (square * square.sqrt());
            }
        }
        for (found, force) in found[i].iter().zip(force) {
            worst = worst.max((found - force).abs() / (1.0 + force.abs()));
        }
    }
    println!("largest difference from sums of forces: {worst:.1e}");
    if worst > 1e-9 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
