//! [`Results`]: runs that figures are made of, each done once however many figures ask for it.

use stratape_compiler::driver::Saving;

use super::Benchmark;
use crate::{Barrier, Layout, Machine, ModelError, Program, Report};

/// A program on a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// One of the nine programs.
    pub program: &'static str,
    /// Which values are saved.
    pub saved: Saving,
    /// Whether with the smaller inputs.
    pub quick: bool,
    /// The machine.
    pub machine: Machine,
    /// How the tape lies in memory.
    pub layout: Layout,
}

impl Run {
    /// The paper's machine with so much cache and scratchpad. Without a scratchpad the tape is a struct of arrays.
    ///
    /// Only accesses to the tape wait at the end of a layer: with a barrier for everything the forward pass of a program that misses the cache would be
    /// slower than the baseline, which none of the published ones is.
    pub(super) fn new(
        program: &'static str,
        (saved, quick): (Saving, bool),
        (cache, scratchpad): (&str, u64),
    ) -> Self {
        let machine = Machine::default();
        // The texts are those of Table III, which are sizes.
        let machine = machine.with_cache(cache).unwrap_or(machine).with_scratchpad(scratchpad);
        let layout = if scratchpad == 0 { Layout::Columns } else { Layout::Records };
        let machine = Machine { barrier: Barrier::Tape, ..machine };
        Self { program, saved, quick, machine, layout }
    }

    /// Its gradient.
    ///
    /// # Errors
    /// If the compiler refuses it.
    pub fn program(&self) -> Result<Program, ModelError> {
        Benchmark::named(self.program)?.program(self.saved, self.quick)
    }

    /// Whether another run is of the same program with the same inputs.
    pub fn is_of_same_program(&self, other: &Self) -> bool {
        (self.program, self.saved, self.quick) == (other.program, other.saved, other.quick)
    }
}

/// The reports of runs, and which ones have been asked for that are not there.
///
/// A figure is made twice: first to learn which runs it needs, then from their reports.
///
/// ```
/// use stratape_model::paper::{Results, figure};
///
/// let mut results = Results::default();
/// figure(13, true, &mut results);
/// let wanted = results.wanted();
/// assert!(wanted.len() >= 18);
/// for run in wanted.into_iter().filter(|run| run.program == "mttkrp") {
///     let report = run.program()?.run(&run.machine, run.layout)?;
///     results.insert(run, report);
/// }
/// figure(13, true, &mut results);
/// assert!(results.wanted().iter().all(|run| run.program != "mttkrp"));
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Results {
    known: Vec<(Run, Report)>,
    wanted: Vec<Run>,
}

impl Results {
    /// The report of a run. One that is not there is noted as wanted; an empty report takes its place.
    pub fn get(&mut self, run: Run) -> Report {
        if let Some((_, report)) = self.known.iter().find(|(known, _)| *known == run) {
            return report.clone();
        }
        if !self.wanted.contains(&run) {
            self.wanted.push(run);
        }
        Report::default()
    }

    /// What has been asked for and was not there, since this was last asked. Runs of one program follow each other.
    pub fn wanted(&mut self) -> Vec<Run> {
        let mut wanted = std::mem::take(&mut self.wanted);
        let place = |run: &Run| super::BENCHMARKS.iter().position(|one| one.name == run.program);
        wanted.sort_by_key(|run| (place(run), run.saved == Saving::All, run.quick));
        wanted
    }

    /// Adds the report of a run.
    pub fn insert(&mut self, run: Run, report: Report) {
        self.known.push((run, report));
    }

    /// Runs all that is wanted, one program after the other.
    ///
    /// # Errors
    /// If the compiler refuses a program.
    pub fn complete(&mut self) -> Result<(), ModelError> {
        for runs in self.wanted().chunk_by(Run::is_of_same_program) {
            let Some(first) = runs.first() else { continue };
            let machines: Vec<_> = runs.iter().map(|run| (run.machine, run.layout)).collect();
            let reports = first.program()?.run_on(&machines)?;
            self.known.extend(runs.iter().copied().zip(reports));
        }
        Ok(())
    }
}
