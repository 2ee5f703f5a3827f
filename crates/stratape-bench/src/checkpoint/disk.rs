//! Snapshots on disk, against as many in memory.

use stratape::checkpoint::{Report, Strategy, TimeLoop};

use super::heat::Plate;
use super::{Figure, Scale, gradient};
use crate::Settings;
use crate::measure::{count_open_files, least, settle, sink};

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

    fn run(&mut self, settings: &Settings, scale: Scale) {
        let open_files = count_open_files();
        let time_loop = TimeLoop::new(Plate::new(scale.side))
            .steps(scale.steps)
            .slots(FAST)
            .disk_slots(&settings.spill_to, scale.disk_slots);
        let (adjoint, report) = gradient((self.set)(time_loop));
        sink(adjoint);
        self.seconds.push(report.total_time.as_secs_f64());
        settle(open_files, report.disk_peak * report.snapshot_bytes);
        self.last = report;
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

pub(super) fn run(settings: &Settings, scale: Scale, tell: &mut dyn FnMut(Figure)) {
    let case = format!("{}_{FAST}_in_RAM_{}_on_disk", scale.name(), scale.disk_slots);
    if !settings.wants(&case) {
        return;
    }
    let mut candidates = [
        Candidate::new("Multistage", |it| it.schedule(Strategy::Multistage)),
        Candidate::new("Auto", |it| it.schedule(Strategy::Auto)),
        Candidate::new("Multistage_synchronous", |it| {
            it.schedule(Strategy::Multistage).synchronous(true)
        }),
    ];
    let mut in_memory = Vec::new();
    for _ in 0..scale.rounds {
        in_memory.push(all_in_memory(scale));
        candidates.iter_mut().for_each(|candidate| candidate.run(settings, scale));
    }
    let against = format!("{} slots in RAM", FAST + scale.disk_slots);
    let [multistage, auto, synchronous] = &candidates;
    tell(multistage.figure(&case, &in_memory, &against, Some("<= 1.10")));
    tell(auto.figure(&case, &in_memory, &against, Some("<= 1.10")));
    tell(synchronous.figure(&case, &multistage.seconds, "asynchronous", None));
    for candidate in &candidates {
        tell(Figure {
            case: format!("{case}_{}_waited", candidate.name),
            ours: candidate.waited(),
            against: "all of its time".to_owned(),
            theirs: candidate.last.total_time.as_secs_f64(),
            unit: "s",
            aim: None,
        });
        let indented = candidate.last.to_string().replace('\n', "\n#   ");
        eprintln!("# {case}_{}: {indented}", candidate.name);
    }
}

fn all_in_memory(scale: Scale) -> f64 {
    let time_loop = TimeLoop::new(Plate::new(scale.side))
        .steps(scale.steps)
        .slots(FAST + scale.disk_slots)
        .schedule(Strategy::Revolve);
    let (adjoint, report) = gradient(time_loop);
    sink(adjoint);
    report.total_time.as_secs_f64()
}
