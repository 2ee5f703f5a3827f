//! A time loop too long to be taped: `cargo run --release --example checkpoint -p stratape [-- STEPS]`.
//!
//! Two functions that differ in one line. The gradient of the first saves something at every step; that of the second keeps
//! twenty states and recomputes steps. The gradients agree.

use std::error::Error;

use stratape::checkpoint::schedule::extra_steps;
use stratape::{Workspace, gradient};

const STEP: f64 = 1e-3;
const SLOTS: usize = 20;

/// Where a damped pendulum is after many steps.
#[gradient]
fn taped(angle: f64, friction: f64, steps: usize) -> f64 {
    let (mut q, mut v) = (angle, 0.0);
    for _ in 0..steps {
        v -= STEP * (q.sin() + friction * v);
        q += STEP * v;
    }
    q
}

#[gradient]
fn checkpointed(angle: f64, friction: f64, steps: usize) -> f64 {
    let (mut q, mut v) = (angle, 0.0);
    #[checkpoint(slots = SLOTS)]
    for _ in 0..steps {
        v -= STEP * (q.sin() + friction * v);
        q += STEP * v;
    }
    q
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps: usize = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    let (angle, friction) = (1.0, 1e-3);
    let mut workspace = Workspace::new();
    let expected = taped_grad_in(&mut workspace, angle, friction, steps, 1.0)?;
    println!("{steps} steps");
    println!("taped         {:>10} bytes, every step run once", workspace.last_bytes());

    let mut workspace = Workspace::new();
    let found = checkpointed_grad_in(&mut workspace, angle, friction, steps, 1.0)?;
    // What the schedule runs again, for each step of the loop.
    let again = extra_steps(steps, SLOTS) as f64 / steps as f64;
    println!(
        "checkpointed  {:>10} bytes in {SLOTS} snapshots, every step run {:.1} times on average",
        SLOTS * 2 * size_of::<f64>(),
        1.0 + again
    );
    println!("angle {:.6}; d/d(first angle) {:.6}, d/d(friction) {:.6}", found.0, found.1, found.2);
    let apart = |a: f64, b: f64| (a - b).abs() / b.abs();
    let error = apart(found.1, expected.1).max(apart(found.2, expected.2));
    if found.0 != expected.0 || error > 1e-12 {
        return Err(format!("{found:?} differs from {expected:?}").into());
    }
    println!("the values have the same bits, the gradients agree to {error:.0e}");
    Ok(())
}
