//! Time loops: what checkpointing costs beside the steps and pullbacks it runs.

mod disk;
mod heat;
mod independent;
mod overhead;
mod schedules;
#[cfg(test)]
mod tests;
mod workers;

use stratape::checkpoint::{CheckpointError, Report, TimeLoop};

use crate::error::BenchError;
use crate::runner::{Line, Runner};
use heat::{Adjoint, Plate};

/// How large the cases are.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Cells along an edge of the plate, for the cases of a large state …
    side: usize,
    steps: usize,
    slots: usize,
    disk_slots: usize,
    rounds: usize,
    /// … and for those of a state that fits the cache of a core.
    small_side: usize,
    small_steps: usize,
    small_slots: usize,
    /// Actions of a schedule to go through.
    actions: usize,
}

impl Scale {
    /// A state of 8 MB. With the 10 000 steps of the design the suite would take half an hour.
    const FULL: Self = Self {
        side: 1000,
        steps: 2000,
        slots: 20,
        disk_slots: 200,
        rounds: 2,
        small_side: 100,
        small_steps: 4_000,
        small_slots: 64,
        actions: 100_000_000,
    };
    const QUICK: Self = Self {
        side: 256,
        steps: 400,
        slots: 20,
        disk_slots: 50,
        rounds: 2,
        small_side: 100,
        small_steps: 2_000,
        small_slots: 50,
        actions: 10_000_000,
    };

    /// "1000x1000_2000_steps"
    fn name(&self) -> String {
        format!("heat_{0}x{0}_{1}_steps", self.side, self.steps)
    }
}

/// A line of the report, with text of its own.
#[derive(Debug)]
struct Figure {
    case: String,
    ours: f64,
    against: String,
    theirs: f64,
    unit: &'static str,
    aim: Option<&'static str>,
}

impl Figure {
    fn tell(&self, runner: &mut Runner<'_>) -> Result<(), BenchError> {
        let Self { case, ours, against, theirs, unit, aim } = self;
        let (ours, theirs) = (*ours, *theirs);
        runner.tell(&Line { bench: "checkpoint", case, ours, against, theirs, unit, aim: *aim })
    }
}

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let scale = if runner.quick() { Scale::QUICK } else { Scale::FULL };
    run_at(runner, scale)
}

fn run_at(runner: &mut Runner<'_>, scale: Scale) -> Result<(), BenchError> {
    overhead::run(runner, scale)?;
    disk::run(runner, scale)?;
    workers::run(runner, scale)?;
    independent::run(runner, scale)?;
    schedules::run(runner, scale)
}

/// The gradient of the plate's energy after the loop, by the loop that was set up.
fn gradient(time_loop: TimeLoop<Plate>) -> Result<(Adjoint, Report), CheckpointError> {
    let (_, adjoint, report) = time_loop.gradient(
        |_, plate| plate.step(),
        Plate::seed,
        |_, plate, adjoint: &mut Adjoint| {
            adjoint.pull_back(plate);
        },
    )?;
    Ok((adjoint, report))
}
