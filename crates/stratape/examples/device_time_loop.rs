//! A time loop of kernels under `#[checkpoint]`: the gradient of a nonlinear diffusion on a device, by all initial values.
//!
//! Run with `cargo run --release --example device_time_loop -p stratape`. Without a GPU an emulator runs it.

use std::error::Error;

use stratape::gpu::{self, Device, GpuError, Grid};
use stratape::gradient;

/// One step: the conductivity grows with the temperature. Ends are kept as they are.
#[stratape::kernel]
#[gradient]
fn diffuse(next: &mut [f64], now: &[f64], rate: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < now.len() {
        let mut flow = 0.0;
        if i > 0 && i + 1 < now.len() {
            let right = (1.0 + now[i + 1] * now[i]) * (now[i + 1] - now[i]);
            let left = (1.0 + now[i] * now[i - 1]) * (now[i] - now[i - 1]);
            flow = right - left;
        }
        next[i] = now[i] + rate * flow;
    }
}

#[stratape::elementwise]
fn squared_error(found: f64, wanted: f64) -> f64 {
    (found - wanted) * (found - wanted)
}

/// How far the temperatures after so many steps are from what was measured.
#[gradient]
fn misfit(
    gpu: &Device,
    start: &[f64],
    wanted: &[f64],
    rate: f64,
    steps: usize,
) -> Result<f64, GpuError> {
    let n = start.len();
    let mut now = gpu.upload(start)?;
    let mut next = gpu.zeros(n)?;
    #[checkpoint(slots = 8)]
    for _ in 0..steps {
        diffuse::launch(gpu, Grid::blocks(n.div_ceil(64)).threads(64), (&mut next, &now, rate))?;
        std::mem::swap(&mut now, &mut next);
    }
    let errors = squared_error::map((&now, &gpu.upload(wanted)?))?;
    gpu::sum(&errors)
}

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = Device::new()?;
    let (n, steps, rate) = (256, 100, 0.2);
    let place = |i: usize| i as f64 / (n - 1) as f64;
    let start: Vec<f64> = (0..n).map(|i| (9.0 * place(i)).sin()).collect();
    let wanted: Vec<f64> = (0..n).map(|i| 0.2 * (3.0 * place(i)).cos()).collect();
    let mut dstart = vec![0.0; n];
    let (value, drate) =
        misfit_grad(&gpu, &start, &mut dstart, &wanted, &mut vec![0.0; n], rate, steps, 1.0)?;
    println!("{n} cells, {steps} steps from 8 snapshots, on {gpu}: misfit {value:.6}");

    let mut worst: f64 = 0.0;
    for i in [0, 17, n / 2, n - 1] {
        let of = |h: f64| {
            let mut moved = start.clone();
            moved[i] += h;
            misfit(&gpu, &moved, &wanted, rate, steps)
        };
        let difference = (of(1e-5)? - of(-1e-5)?) / 2e-5;
        worst = worst.max((dstart[i] - difference).abs());
    }
    let difference = (misfit(&gpu, &start, &wanted, rate + 1e-6, steps)?
        - misfit(&gpu, &start, &wanted, rate - 1e-6, steps)?)
        / 2e-6;
    worst = worst.max((drate - difference).abs() / (1.0 + difference.abs()));
    println!(
        "gradient with respect to 256 initial values and the rate; largest error against differences {worst:.1e}"
    );
    if worst > 1e-6 {
        return Err("the gradient is not that of differences".into());
    }
    Ok(())
}
