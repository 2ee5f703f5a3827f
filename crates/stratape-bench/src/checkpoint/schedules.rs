//! What deciding on an action costs.

use stratape::checkpoint::schedule::{
    Level, Online, Periodic, Revolve, Schedule, ScheduleError, count,
};

use super::{Figure, Scale};
use crate::error::BenchError;
use crate::measure::{least, sink, time};
use crate::runner::Runner;

const STEPS: usize = 1_000_000_000;
const SLOTS: usize = 1000;

pub(super) fn run(runner: &mut Runner<'_>, scale: Scale) -> Result<(), BenchError> {
    let mut case = |name: &str, nanoseconds: &mut dyn FnMut() -> Result<f64, ScheduleError>| {
        let case = format!("schedule_{name}");
        if !runner.wants(&case) {
            return Ok(());
        }
        let figures: Result<Vec<f64>, _> = (0..3).map(|_| nanoseconds()).collect();
        let ours = least(figures.map_err(|error| runner.failed(&case, 0, error))?);
        let against = "a budget of 50 ns".to_owned();
        let (unit, aim) = ("ns/action", Some("< 1"));
        Figure { case, ours, against, theirs: 50.0, unit, aim }.tell(runner)
    };
    case("Revolve_1e9_steps_1000_slots", &mut || {
        Ok(first_actions(Revolve::new(STEPS, SLOTS)?, scale.actions))
    })?;
    case("Periodic_1e9_steps_every_1e6_1000_slots_inside", &mut || {
        let period = STEPS / 1000;
        let periodic = Periodic::new(Some(STEPS), period, Level::DISK, SLOTS)?;
        Ok(first_actions(periodic, scale.actions))
    })?;
    // Its reversal begins when the end is known: a loop short enough to be gone through.
    case("Online_1000_slots", &mut || {
        let online = Online::new(SLOTS)?;
        let mut actions = 0;
        let seconds = time(|| actions = count(online, scale.actions / 6).actions);
        Ok(seconds * 1e9 / actions as f64)
    })
}

/// Nanoseconds an action, over the first ones.
fn first_actions(schedule: impl Schedule, actions: usize) -> f64 {
    let mut taken = 0_usize;
    let seconds = time(|| {
        for action in schedule.take(actions) {
            sink(action);
            taken += 1;
        }
    });
    seconds * 1e9 / taken as f64
}
