//! The tape's benchmarks.

mod access;
mod memory;
mod references;
mod spill;
mod threads;

use crate::Settings;
use crate::report::Line;

/// Runs the suite.
pub fn run(settings: &Settings) {
    memory::run(settings);
    access::run(settings);
    threads::run(settings);
    spill::run(settings);
}

/// Prints a time an element: both figures are seconds for `elements` elements.
fn per_element(
    case: &str,
    against: &str,
    elements: usize,
    ours: f64,
    theirs: f64,
    aim: Option<&str>,
) {
    let nanoseconds = 1e9 / elements as f64;
    let (ours, theirs) = (ours * nanoseconds, theirs * nanoseconds);
    let unit = "ns/element";
    Line { bench: "tape", case, ours, against, theirs, unit, aim }.print();
}
