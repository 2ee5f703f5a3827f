//! A parallel loop whose gradient uses one lane a worker.
//!
//! Many independent trajectories are run forward with their states on the worker's lane, then
//! backward. The work is cut into fixed pieces, one a lane, and the pieces are added in the order
//! of the lanes: the result is the same bit for bit, whatever the scheduler does.
//!
//! ```text
//! cargo run --release --example lanes -p stratape [-- STEPS]
//! ```

use std::error::Error;

use rayon::prelude::*;
use stratape::tape::{LayeredTape, TapeError, TapeOptions};

const TRAJECTORIES: usize = 64;

/// Sum over a piece's trajectories of the final state, differentiated with respect to the parameter.
fn piece(
    lane: &mut LayeredTape<f64>,
    starts: &[f64],
    rate: f64,
    steps: usize,
) -> Result<f64, TapeError> {
    let mut by_rate = 0.0;
    for &start in starts {
        let mut x = start;
        for _ in 0..steps {
            lane.push(x)?;
            x += rate * (1.0 - x * x);
        }
        let mut adjoint = 1.0;
        while let Some(x) = lane.pop()? {
            by_rate += adjoint * (1.0 - x * x);
            adjoint *= 1.0 - 2.0 * rate * x;
        }
    }
    Ok(by_rate)
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps: usize = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let workers = rayon::current_num_threads();
    let starts: Vec<f64> = (0..TRAJECTORIES).map(|i| i as f64 / TRAJECTORIES as f64).collect();
    let rate = 1e-5;

    // With 100 000 steps 800 KB a trajectory through 256 KiB a lane: every lane spills, all into one file.
    let mut lanes = TapeOptions::new().memory(workers * (256 << 10)).open_lanes(workers)?;
    let share = TRAJECTORIES.div_ceil(workers);
    let mut gradient = || -> Result<f64, TapeError> {
        let pieces: Vec<f64> = lanes
            .par_iter_mut()
            .zip(starts.par_chunks(share))
            .map(|(lane, starts)| piece(lane, starts, rate, steps))
            .collect::<Result<_, _>>()?;
        Ok(pieces.iter().sum())
    };

    let by_rate = gradient()?;
    for _ in 0..3 {
        if gradient()?.to_bits() != by_rate.to_bits() {
            return Err("the result depends on the schedule".into());
        }
    }

    let value = |rate: f64| -> f64 {
        let end = |&start: &f64| (0..steps).fold(start, |x, _| x + rate * (1.0 - x * x));
        starts.iter().map(end).sum()
    };
    let h = 1e-4 * rate;
    let difference = (value(rate + h) - value(rate - h)) / (2.0 * h);
    println!("gradient {by_rate:.6}, by finite differences {difference:.6}");
    println!("the same bits in four runs on {workers} workers\n\n{}", lanes.stats());
    if ((by_rate - difference) / difference).abs() > 1e-6 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
