//! Runs what figures want, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};

use indicatif::{ProgressBar, ProgressStyle};
use stratape_console::failure::Failure;
use stratape_model::paper::{Results, Run};
use stratape_model::{ModelError, Program, Report};

use super::kept::Kept;

/// Machines that one run of the interpreter is told to at most. More would save little, and leave a core without work at the end.
const TOGETHER: usize = 4;

/// Some runs of one program.
struct Batch<'a> {
    runs: &'a [Run],
    program: &'a OnceLock<Result<Program, ModelError>>,
}

/// Runs all that is wanted and not kept.
pub(super) fn complete(results: &mut Results, kept: &Kept) -> Result<(), Failure> {
    let wanted = results.wanted();
    let groups: Vec<(&[Run], OnceLock<_>)> =
        wanted.chunk_by(Run::is_of_same_program).map(|runs| (runs, OnceLock::new())).collect();
    let batches: Vec<Batch<'_>> = groups
        .iter()
        .flat_map(|(runs, program)| runs.chunks(TOGETHER).map(move |runs| Batch { runs, program }))
        .collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(wanted.len() as u64).with_style(style);
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (done, reports) = mpsc::channel();
    let outcome = std::thread::scope(|scope| {
        for _ in 0..cores.min(batches.len()) {
            let (done, next, batches, bar) = (done.clone(), &next, &batches, &bar);
            scope.spawn(move || {
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    bar.set_message(batch.runs.first().map_or("", |run| run.program));
                    let reports = run(batch, kept);
                    bar.inc(batch.runs.len() as u64);
                    let failed = reports.is_err();
                    // The receiver goes away only after a failure.
                    if done.send((batch.runs, reports)).is_err() || failed {
                        return;
                    }
                }
            });
        }
        drop(done);
        for (runs, reports) in reports {
            for (run, report) in runs.iter().zip(reports.map_err(Failure::new)?) {
                results.insert(*run, report);
            }
        }
        Ok(())
    });
    bar.finish_and_clear();
    outcome
}

fn run(batch: &Batch<'_>, kept: &Kept) -> Result<Vec<Report>, ModelError> {
    let Some(first) = batch.runs.first() else { return Ok(Vec::new()) };
    let program = batch.program.get_or_init(|| first.program()).as_ref().map_err(Clone::clone)?;
    let names: Vec<String> =
        batch.runs.iter().map(|run| program.fingerprint(&run.machine, run.layout)).collect();
    let mut reports: Vec<Option<Report>> = names.iter().map(|name| kept.get(name)).collect();
    let missing: Vec<usize> = (0..reports.len()).filter(|at| reports[*at].is_none()).collect();
    if !missing.is_empty() {
        let machines: Vec<_> =
            missing.iter().map(|at| (batch.runs[*at].machine, batch.runs[*at].layout)).collect();
        for (at, report) in missing.into_iter().zip(program.run_on(&machines)?) {
            kept.put(&names[at], &report);
            reports[at] = Some(report);
        }
    }
    Ok(reports.into_iter().flatten().collect())
}
