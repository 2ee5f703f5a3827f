//! A worker that records ahead of the adjoint, against one thread that does everything.
//!
//! The state is one that fits the cache of a core: two cores that stream large states measure the memory they share.

use std::cell::RefCell;

use stratape::checkpoint::schedule::RunAhead;
use stratape::checkpoint::{CheckpointError, Report, Snapshot, Strategy, TimeLoop};

use super::heat::{Adjoint, Plate};
use super::{Figure, Scale};
use crate::error::BenchError;
use crate::measure::{best_of, least, sink};
use crate::runner::Runner;

/// A record: the states that steps started from. Making it is to cost twice a step, as recording by a tape does: a second plate
/// is stepped along.
#[derive(Default)]
struct Lane {
    states: Vec<Plate>,
    used: usize,
    beside: Option<Plate>,
}

impl Lane {
    fn record(&mut self, plate: &mut Plate) {
        match self.states.get_mut(self.used) {
            Some(place) => place.copy_from(plate),
            None => self.states.push(plate.clone()),
        }
        self.used += 1;
        self.beside.get_or_insert_with(|| plate.clone()).step();
        plate.step();
    }

    fn reverse(&mut self, adjoint: &mut Adjoint) {
        self.used -= 1;
        adjoint.pull_back(&self.states[self.used]);
    }
}

pub(super) fn run(runner: &mut Runner<'_>, scale: Scale) -> Result<(), BenchError> {
    let (side, steps, slots) = (scale.small_side, scale.small_steps, scale.small_slots);
    let case = format!("heat_{side}x{side}_{steps}_steps_{slots}_slots_one_worker_ahead");
    if !runner.wants(&case) {
        return Ok(());
    }
    let segment = steps.div_ceil(slots);
    // The worker's lane, the one that is reversed and the one between take memory as well.
    let room = slots + 3 * segment;
    let (mut ahead, mut mixed, mut revolve) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scale.rounds + 1 {
        let failed = |error: CheckpointError| runner.failed(&case, 0, error);
        ahead.push(with_a_worker(scale).map_err(failed)?);
        mixed.push(serial(scale, room, Strategy::Mixed).map_err(failed)?);
        revolve.push(serial(scale, slots, Strategy::Revolve).map_err(failed)?);
    }
    let ours = 1.0 / least(ahead);
    let references = [
        (mixed, format!("one thread, Mixed, {room} states or records in RAM"), Some(">= 1.4")),
        (revolve, format!("one thread, Revolve, {slots} slots"), None),
    ];
    for (seconds, against, aim) in references {
        let theirs = 1.0 / least(seconds);
        let (case, unit) = (case.clone(), "gradients/s");
        Figure { case, ours, against, theirs, unit, aim }.tell(runner)?;
    }
    runner.remark(&limit(scale, &case));
    Ok(())
}

fn with_a_worker(scale: Scale) -> Result<f64, CheckpointError> {
    let (_, adjoint, report) = TimeLoop::new(Plate::new(scale.small_side))
        .steps(scale.small_steps)
        .slots(scale.small_slots)
        .gradient_taped_on(
            1,
            0,
            |_, plate| plate.step(),
            |_, plate, lane: &mut Lane| lane.record(plate),
            Plate::seed,
            |_, lane, adjoint: &mut Adjoint| lane.reverse(adjoint),
        )?;
    Ok(finish(adjoint, &report))
}

fn serial(scale: Scale, slots: usize, strategy: Strategy) -> Result<f64, CheckpointError> {
    let lane = RefCell::new(Lane::default());
    let (_, adjoint, report) = TimeLoop::new(Plate::new(scale.small_side))
        .steps(scale.small_steps)
        .slots(slots)
        .schedule(strategy)
        .gradient_taped(
            |_, plate| plate.step(),
            |_, plate| lane.borrow_mut().record(plate),
            Plate::seed,
            |_, adjoint: &mut Adjoint| lane.borrow_mut().reverse(adjoint),
        )?;
    Ok(finish(adjoint, &report))
}

fn finish(adjoint: Adjoint, report: &Report) -> f64 {
    sink(adjoint);
    // The table of Mixed is one that a program would make once.
    (report.total_time - report.planning_time).as_secs_f64()
}

/// What the parts cost, and the gain that they allow.
fn limit(scale: Scale, case: &str) -> String {
    let start = Plate::new(scale.small_side);
    let mut adjoint = start.seed();
    let (mut stepped, mut recorded, mut lane) = (start.clone(), start.clone(), Lane::default());
    let [forward, record, reverse] = best_of(
        3,
        [
            &mut || stepped.step(),
            &mut || {
                lane.used = 0;
                lane.record(&mut recorded);
            },
            &mut || adjoint.pull_back(&start),
        ],
    );
    let steps = scale.small_steps;
    let segments = scale.small_slots;
    let run = RunAhead { forward, record, reverse, steps, segments, workers: 1, lanes: 3 };
    format!(
        "{case}: a step {:.1} µs, recording one {:.1}, reversing one {:.1}; at best {:.2} times one thread",
        forward * 1e6,
        record * 1e6,
        reverse * 1e6,
        run.serial() / run.parallel()
    )
}
