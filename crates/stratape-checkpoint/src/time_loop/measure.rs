//! What steps, copies and transfers of a loop take, for `Auto` to choose by.

use std::time::Instant;

use crate::run::Steps;
use crate::slots::Below;
use crate::snapshot::Snapshot;
use crate::strategy::Costs;

/// Measuring stops after a try that took so long: what makes a first try slow is a matter of microseconds.
const LONG: f64 = 2e-3;

/// Times a few steps, a copy, a write and a read, on a copy of the state.
pub(super) fn measure<S: Snapshot>(
    start: &S,
    few: usize,
    steps: &mut Steps<'_, S>,
    below: Option<&mut Below<S>>,
) -> Costs {
    let mut state = start.clone();
    let forward = least(few, |n| timed(|| (steps.step)(n, &mut state)));
    let copy = least(3, |_| timed(|| state.copy_from(start)));
    let Some(below) = below else {
        return Costs { forward, copy, ..Costs::UNKNOWN };
    };
    let (write, read) = below.measure(start, copy);
    Costs { forward, copy, write, read }
}

/// The shortest of a few tries.
fn least(tries: usize, mut time: impl FnMut(usize) -> f64) -> f64 {
    let mut least = f64::INFINITY;
    for number in 0..tries {
        let took = time(number);
        least = least.min(took);
        if took > LONG {
            break;
        }
    }
    least.clamp(1e-9, 1e9)
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
