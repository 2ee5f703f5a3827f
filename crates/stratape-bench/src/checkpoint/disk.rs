//! Snapshots on disk, against as many in memory.

use std::path::Path;

use stratape::checkpoint::{CheckpointError, Report, Strategy, TimeLoop};

use super::heat::Plate;
use super::{Figure, Scale, gradient};
use crate::error::{Any, BenchError};
use crate::measure::{count_open_files, least, settle, sink};
use crate::runner::Runner;

/// Slots in memory beside those on disk.
const FAST: usize = 2;

/// One way to do it, and how long it took each time.
struct Candidate {
    name: &'static str,
    set: fn(TimeLoop<Plate>) -> TimeLoop<Plate>,
    seconds: Vec<f64>,
    last: Report,
}

impl Candidate {
    fn new(name: &'static str, set: fn(TimeLoop<Plate>) -> TimeLoop<Plate>) -> Self {
        Self { name, set, seconds: Vec::new(), last: Report::default() }
    }

    fn run(&mut self, directory: &Path, scale: Scale) -> Result<(), Any> {
        let open_files = count_open_files();
        let time_loop = TimeLoop::new(Plate::new(scale.side))
            .steps(scale.steps)
            .slots(FAST)
            .disk_slots(directory, scale.disk_slots);
        let (adjoint, report) = gradient((self.set)(time_loop))?;
        sink(adjoint);
        // A run that went on without the disk says nothing about it.
        if let [mended, ..] = &report.mended[..] {
            return Err(mended.clone().into());
        }
        self.seconds.push(report.total_time.as_secs_f64());
        settle(open_files, report.disk_peak * report.snapshot_bytes);
        self.last = report;
        Ok(())
    }

    fn figure(
        &self,
        case: &str,
        theirs: &[f64],
        against: &str,
        aim: Option<&'static str>,
    ) -> Figure {
        Figure {
            case: format!("{case}_{}", self.name),
            ours: least(self.seconds.clone()),
            against: against.to_owned(),
            theirs: least(theirs.to_vec()),
            unit: "s",
            aim,
        }
    }

    fn waited(&self) -> f64 {
        self.last.waited.iter().sum::<std::time::Duration>().as_secs_f64()
    }
}

pub(super) fn run(runner: &mut Runner<'_>, scale: Scale) -> Result<(), BenchError> {
    let case = format!("{}_{FAST}_in_RAM_{}_on_disk", scale.name(), scale.disk_slots);
    if !runner.wants(&case) {
        return Ok(());
    }
    let mut candidates = [
        Candidate::new("Multistage", |it| it.schedule(Strategy::Multistage)),
        Candidate::new("Auto", |it| it.schedule(Strategy::Auto)),
        Candidate::new("Multistage_synchronous", |it| {
            it.schedule(Strategy::Multistage).synchronous(true)
        }),
    ];
    let disk = scale.disk_slots * scale.side * scale.side * size_of::<f64>();
    let mut in_memory = Vec::new();
    for _ in 0..scale.rounds {
        in_memory.push(all_in_memory(scale).map_err(|error| runner.failed(&case, 0, error))?);
        candidates
            .iter_mut()
            .try_for_each(|candidate| candidate.run(runner.directory(), scale))
            .map_err(|error| runner.failed(&case, disk, error))?;
    }
    let against = format!("{} slots in RAM", FAST + scale.disk_slots);
    let [multistage, auto, synchronous] = &candidates;
    multistage.figure(&case, &in_memory, &against, Some("<= 1.10")).tell(runner)?;
    auto.figure(&case, &in_memory, &against, Some("<= 1.10")).tell(runner)?;
    synchronous.figure(&case, &multistage.seconds, "asynchronous", None).tell(runner)?;
    for candidate in &candidates {
        let waited = Figure {
            case: format!("{case}_{}_waited", candidate.name),
            ours: candidate.waited(),
            against: "all of its time".to_owned(),
            theirs: candidate.last.total_time.as_secs_f64(),
            unit: "s",
            aim: None,
        };
        waited.tell(runner)?;
        let indented = candidate.last.to_string().replace('\n', "\n#   ");
        runner.remark(&format!("{case}_{}: {indented}", candidate.name));
    }
    Ok(())
}

fn all_in_memory(scale: Scale) -> Result<f64, CheckpointError> {
    let time_loop = TimeLoop::new(Plate::new(scale.side))
        .steps(scale.steps)
        .slots(FAST + scale.disk_slots)
        .schedule(Strategy::Revolve);
    let (adjoint, report) = gradient(time_loop)?;
    sink(adjoint);
    Ok(report.total_time.as_secs_f64())
}
