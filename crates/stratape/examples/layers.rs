//! The layers of a tape, filling and draining during a gradient: `cargo run --release --example layers -p stratape`.
//!
//! The tape records how much each of its layers holds; `stratape::picture` draws that as `layers.svg`. Arguments: `FILE.svg STEPS`.

use std::error::Error;
use std::path::PathBuf;

use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient, picture};

const MEMORY: usize = 64 << 20;

/// Where a damped pendulum is after some steps. Each step saves what its reverse will need.
#[gradient]
fn pendulum(angle: f64, friction: f64, steps: usize) -> f64 {
    let (mut q, mut v) = (angle, 0.0);
    for _ in 0..steps {
        v -= 1e-4 * (friction * v * v * v + q.sin());
        q += 1e-4 * v;
    }
    q
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| "layers.svg".to_owned()));
    let steps = arguments.next().map_or(Ok(20_000_000), |steps| steps.parse())?;
    let memory = MEMORY.min(4 * steps).max(256 << 10);

    let options = TapeOptions::new().memory(memory).record(true).spill_to(".");
    let mut workspace = Workspace::with(options)?;
    let (value, by_angle, _) = pendulum_grad_in(&mut workspace, 1.0, 0.1, steps, 1.0)?;
    let (spilled, in_memory) = ((value, by_angle), pendulum_grad(1.0, 0.1, steps, 1.0));
    assert_eq!(spilled, (in_memory.0, in_memory.1), "spilled and in memory: the same bits");

    let (tape, budget) = (workspace.last_bytes() >> 20, memory >> 20);
    println!("{tape} MiB through {budget} MiB of memory");
    let title = format!("A tape of {tape} MiB with a memory budget of {budget} MiB");
    picture::tape(&workspace).title(title).save(&path)?;
    println!("drawn in {}", path.display());
    Ok(())
}
