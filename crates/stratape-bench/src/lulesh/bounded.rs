//! A gradient whose tape would be tens of times the memory: how many steps were run, what they took, and the highest use of memory.

use stratape::Workspace;
use stratape::checkpoint::{CheckpointError, Report, TimeLoop};
use stratape_lulesh::{Problem, durable};

use super::tell;
use crate::error::BenchError;
use crate::measure::{cpu_time, peak_memory, reset_peak_memory, sink};
use crate::runner::Runner;

/// Steps by which the rest is predicted.
const FEW: usize = 6;

/// Memory that a step needs besides snapshots, an element: its tape, its lists, and all that is not a snapshot of the whole run.
const WORKING: u64 = 3000;

/// Runs the case.
pub(super) fn run(
    runner: &mut Runner<'_>,
    edge: usize,
    steps: usize,
    memory: u64,
) -> Result<(), BenchError> {
    let case = format!("size {edge}, {steps} steps/in {} MiB", memory >> 20);
    if !runner.wants(&case) {
        return Ok(());
    }
    let problem = Problem::generic(edge);
    let mut weights = vec![0.0; problem.energy.len()];
    weights[0] = 1.0;
    let mut workspace = Workspace::new();
    workspace.set_lanes(1);
    let mut gradient = |steps: usize, slots: usize| {
        durable::gradient(&mut workspace, &problem, &weights, steps, |one| one.slots(slots))
            .map(|found| found.report)
    };
    let failed = |error: CheckpointError| runner.failed(&case, 0, error);
    // All of these are kept, so that each is run once; the second time on warm memory.
    gradient(FEW, FEW).map_err(failed)?;
    let sample = gradient(FEW, FEW).map_err(failed)?;
    let working = WORKING * problem.mesh.elements() as u64;
    let slots = memory.saturating_sub(working) / sample.snapshot_bytes as u64;
    let slots = usize::try_from(slots).unwrap_or(usize::MAX).max(1);
    let schedule = of_nothing(steps, slots).map_err(failed)?;
    let predicted = predict(&sample, &schedule);
    reset_peak_memory();
    let before = cpu_time();
    let report = gradient(steps, slots).map_err(failed)?;
    let spent = cpu_time().zip(before).map_or(report.total_time, |(after, before)| after - before);
    let line = |what: &str| format!("{case}/{what}");
    let seconds = spent.as_secs_f64();
    tell(runner, &line("CPU time"), (seconds, "predicted", predicted), "s", Some("0.8 to 1.2"))?;
    let (ran, told) = (report.advanced as f64, schedule.advanced as f64);
    tell(runner, &line("steps run"), (ran, "the schedule's", told), "steps", Some("= 1"))?;
    if let Some(peak) = peak_memory() {
        let (peak, allowed) = (peak as f64 / 1e6, memory as f64 / 1e6);
        tell(runner, &line("memory"), (peak, "allowed", allowed), "MB", Some("<= 1"))?;
    }
    Ok(())
}

/// The schedule by itself: the same loop with a state of one number.
fn of_nothing(steps: usize, slots: usize) -> Result<Report, CheckpointError> {
    let nothing = TimeLoop::new(0_u64).until(move |step| *step >= steps as u64).at_most(steps);
    let (end, _, report) =
        nothing.slots(slots).gradient(|_, step| *step += 1, |_| (), |_, _, ()| ())?;
    sink(end);
    Ok(report)
}

/// Seconds that a schedule takes, from what its steps took in a short run.
fn predict(sample: &Report, schedule: &Report) -> f64 {
    let step = sample.step_time.as_secs_f64() / sample.advanced as f64;
    let pullback = sample.pullback_time.as_secs_f64() / sample.reversed as f64;
    step * schedule.advanced as f64 + pullback * schedule.reversed as f64
}
