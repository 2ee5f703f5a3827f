//! Snapshots in memory: all that is not steps and pullbacks.

use stratape::checkpoint::{Report, Strategy, TimeLoop};

use super::heat::Plate;
use super::{Figure, Scale, gradient};
use crate::error::BenchError;
use crate::measure::{least, sink, time};
use crate::runner::Runner;

pub(super) fn run(runner: &mut Runner<'_>, scale: Scale) -> Result<(), BenchError> {
    let case = format!("{}_{}_slots_in_RAM_Revolve", scale.name(), scale.slots);
    if !runner.wants(&case) {
        return Ok(());
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut last = Report::default();
    for _ in 0..scale.rounds {
        let time_loop = TimeLoop::new(Plate::new(scale.side))
            .steps(scale.steps)
            .slots(scale.slots)
            .schedule(Strategy::Revolve);
        let (adjoint, report) =
            gradient(time_loop).map_err(|error| runner.failed(&case, 0, error))?;
        sink(adjoint);
        theirs.push(plain(scale, report.advanced, report.reversed));
        ours.push(report.total_time.as_secs_f64());
        last = report;
    }
    let unit = "s";
    let measured = Figure {
        case: case.clone(),
        ours: least(ours),
        against: "as many steps and pullbacks, nothing stored".to_owned(),
        theirs: least(theirs),
        unit,
        aim: Some("<= 1.03"),
    };
    measured.tell(runner)?;
    // Both from one run, so that no neighbour comes between them.
    let own = last.step_time + last.pullback_time;
    let by_itself = Figure {
        case: format!("{case}_by_its_own_report"),
        ours: last.total_time.as_secs_f64(),
        against: "the steps and pullbacks of the same run".to_owned(),
        theirs: own.as_secs_f64(),
        unit,
        aim: None,
    };
    by_itself.tell(runner)?;
    let each =
        |time: std::time::Duration, count: u64| time.as_secs_f64() * 1e3 / count.max(1) as f64;
    runner.remark(&format!(
        "{case}: {} steps of {:.3} ms, {} pullbacks of {:.3} ms, {} snapshots stored, {} taken up, {:.3} s copying",
        last.advanced,
        each(last.step_time, last.advanced),
        last.reversed,
        each(last.pullback_time, last.reversed),
        last.writes[0],
        last.reads[0],
        last.copy_time.as_secs_f64()
    ));
    Ok(())
}

/// Seconds for so many steps and pullbacks, spread evenly over as many states as a run has slots: they come out of the cache no
/// more often than there.
fn plain(scale: Scale, steps: u64, pullbacks: u64) -> f64 {
    let mut plates = vec![Plate::new(scale.side); scale.slots];
    let mut adjoint = plates[0].seed();
    // Once untimed: the first touch of scratch memory is not the subject.
    plates.iter_mut().for_each(Plate::step);
    adjoint.pull_back(&plates[0]);
    let mut left = steps;
    let seconds = time(|| {
        for n in (0..pullbacks).rev() {
            let plate = &mut plates[n as usize % scale.slots];
            let share = left / (n + 1);
            (0..share).for_each(|_| plate.step());
            left -= share;
            adjoint.pull_back(plate);
        }
    });
    sink((plates, adjoint));
    seconds
}
