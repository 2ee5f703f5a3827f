//! A reverse pass written by hand, on a tape larger than its memory budget.
//!
//! A recurrence is run forward with its states pushed on a tape of 1 GiB that may keep 128 MiB in
//! RAM, then backward, where each state is popped and the gradient of their sum accumulated. The
//! popped states are compared with a second run from the start, bit by bit, and the gradient with
//! a run that carries the derivative forward.
//!
//! ```text
//! cargo run --release --example tape_by_hand -p stratape
//! cargo run --release --example tape_by_hand -p stratape -- DIRECTORY [TAPE_MIB [BUDGET_MIB]]
//! ```

use std::error::Error;
use std::time::Instant;

use stratape::tape::{LayeredTape, TapeOptions};

/// x ← a·sin x + b·x²: near its fixed point at 1, so that states stay of order one.
#[derive(Clone, Copy)]
struct Recurrence {
    a: f64,
    b: f64,
}

impl Recurrence {
    fn step(self, x: f64) -> f64 {
        self.a * x.sin() + self.b * x * x
    }

    fn by_x(self, x: f64) -> f64 {
        self.a * x.cos() + 2.0 * self.b * x
    }
}

const FOLD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of a sequence of states, in which every bit and the order count.
fn fold(hash: u64, x: f64) -> u64 {
    hash.wrapping_mul(FOLD).wrapping_add(x.to_bits())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let tape_mib: usize = arguments.next().map_or(Ok(1024), |text| text.parse())?;
    let budget_mib: usize = arguments.next().map_or(Ok(128), |text| text.parse())?;
    let steps = tape_mib << 17;
    // Chosen so that x = 1 is a fixed point with multiplier 0.95: a·sin 1 + b = 1.
    let b = (0.95 - 1.0 / 1_f64.tan()) / (2.0 - 1.0 / 1_f64.tan());
    let recurrence = Recurrence { a: (1.0 - b) / 1_f64.sin(), b };
    let x0 = 0.9;

    let mut tape: LayeredTape<f64> =
        TapeOptions::new().memory(budget_mib << 20).spill_to(directory).open()?;
    println!("{steps} steps, a tape of {tape_mib} MiB, {budget_mib} MiB of it in RAM");

    let start = Instant::now();
    let mut x = x0;
    for _ in 0..steps {
        tape.push(x)?;
        x = recurrence.step(x);
    }
    println!("forward  {:6.2} s", start.elapsed().as_secs_f64());

    let start = Instant::now();
    // Of the sum of all states after x0: each state adds its own seed of one.
    let (mut by_x, mut by_b) = (0.0, 0.0);
    let mut seen = 0_u64;
    while let Some(x) = tape.pop()? {
        by_x += 1.0;
        by_b += by_x * x * x;
        by_x *= recurrence.by_x(x);
        seen = fold(seen, x);
    }
    println!("reverse  {:6.2} s", start.elapsed().as_secs_f64());
    println!("\n{}", tape.stats());

    // The same states once more, and the derivative with respect to b carried along.
    let (mut x, mut tangent, mut forward_mode) = (x0, 0.0, 0.0);
    // The weights of `fold`, from its last state to its first.
    let (mut expected, mut weight) = (0_u64, 1_u64);
    for _ in 0..steps {
        expected = expected.wrapping_add(weight.wrapping_mul(x.to_bits()));
        weight = weight.wrapping_mul(FOLD);
        tangent = recurrence.by_x(x) * tangent + x * x;
        forward_mode += tangent;
        x = recurrence.step(x);
    }
    let error = ((by_b - forward_mode) / forward_mode).abs();
    println!("derivative with respect to b: {by_b:.6}; in forward mode: {forward_mode:.6}");
    if seen != expected {
        return Err("the popped states are not the pushed ones".into());
    }
    if error > 1e-9 {
        return Err(format!("the gradient is off by {error:e}").into());
    }
    println!("all {steps} states verified; the gradient agrees to {error:.1e}");
    Ok(())
}
