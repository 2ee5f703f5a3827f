//! The tape's benchmarks.

mod access;
mod fresh;
mod memory;
mod references;
mod spill;
mod threads;

use crate::error::BenchError;
use crate::runner::{Line, Runner};

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    memory::run(runner)?;
    access::run(runner)?;
    threads::run(runner)?;
    fresh::run(runner)?;
    spill::run(runner)
}

/// Tells a time an element: both figures are seconds for `elements` elements.
fn per_element(
    runner: &mut Runner<'_>,
    case: &str,
    against: &str,
    elements: usize,
    ours: f64,
    theirs: f64,
    aim: Option<&str>,
) -> Result<(), BenchError> {
    let nanoseconds = 1e9 / elements as f64;
    let (ours, theirs) = (ours * nanoseconds, theirs * nanoseconds);
    let unit = "ns/element";
    runner.tell(&Line { bench: "tape", case, ours, against, theirs, unit, aim })
}
