//! The gradient of a simulation whose tape is larger than its memory budget.
//!
//! A driven pendulum with friction is stepped many times; the loss is its mean energy, and the
//! gradient is by its first angle and speed, the friction, and the drive. The gradient runs twice: with its tape
//! in RAM, and with 1 GiB of tape through a budget of 128 MiB, spilled to disk in the background. The
//! two must have the same bits, and agree with central differences.
//!
//! ```text
//! cargo run --release --example spill -p stratape
//! cargo run --release --example spill -p stratape -- DIRECTORY [TAPE_MIB [BUDGET_MIB]]
//! ```

use std::error::Error;
use std::time::Instant;

use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient};

const STEP: f64 = 1e-3;

/// The mean energy of a pendulum over `steps` small steps.
#[gradient]
fn mean_energy(angle: f64, speed: f64, friction: f64, drive: f64, steps: usize) -> f64 {
    let mut q = angle;
    let mut v = speed;
    let mut total = 0.0;
    for k in 0..steps {
        let push = drive * (0.7 * STEP * k as f64).cos();
        v += STEP * (push - friction * v - q.sin());
        q += STEP * v;
        total += 0.5 * v * v + 1.0 - q.cos();
    }
    total / steps as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let tape_mib: usize = arguments.next().map_or(Ok(1024), |text| text.parse())?;
    let budget_mib: usize = arguments.next().map_or(Ok(128), |text| text.parse())?;
    let (angle, speed, friction, drive) = (1.0, 0.0, 0.3, 0.2);

    // What a step saves, seen on a short run, tells how many steps fill the tape.
    let mut workspace = Workspace::new();
    mean_energy_grad_in(&mut workspace, angle, speed, friction, drive, 1000, 1.0)?;
    let bytes = workspace.last_bytes() as usize / 1000;
    let steps = (tape_mib << 20) / bytes;
    println!(
        "{steps} steps, {bytes} bytes of tape each: {tape_mib} MiB, {budget_mib} MiB of it in RAM"
    );

    let options = TapeOptions::new().memory(budget_mib << 20).spill_to(directory);
    let mut workspace = Workspace::with(options)?;
    let start = Instant::now();
    let spilled = mean_energy_grad_in(&mut workspace, angle, speed, friction, drive, steps, 1.0)?;
    println!("gradient, spilled  {:6.2} s", start.elapsed().as_secs_f64());
    println!("\n{}\n", workspace.stats());
    drop(workspace);

    let start = Instant::now();
    let in_ram = mean_energy_grad(angle, speed, friction, drive, steps, 1.0);
    println!("gradient, in RAM   {:6.2} s", start.elapsed().as_secs_f64());
    if spilled != in_ram {
        return Err(format!("spilled {spilled:?} differs from in RAM {in_ram:?}").into());
    }
    let start = Instant::now();
    let value = mean_energy(angle, speed, friction, drive, steps);
    println!("the function alone {:6.2} s", start.elapsed().as_secs_f64());
    if value != in_ram.0 {
        return Err("the gradient's value is not the function's".into());
    }
    let h = 1e-5;
    let by_friction = (mean_energy(angle, speed, friction + h, drive, steps)
        - mean_energy(angle, speed, friction - h, drive, steps))
        / (2.0 * h);
    let (_, _, _, d_friction, d_drive) = in_ram;
    println!("mean energy {value:.6}; d/d(friction) {d_friction:.6}, d/d(drive) {d_drive:.6}");
    let error = (d_friction - by_friction).abs() / by_friction.abs();
    if error > 1e-4 {
        return Err(format!("central differences say {by_friction}: off by {error:e}").into());
    }
    println!("spilled and in RAM: the same bits; central differences agree to {error:.1e}");
    Ok(())
}
