//! Layers of a spilled tape: asked for one by one, against the tape's own read-ahead.

use stratape::tape::{RecordTape, TapeError, TapeOptions};

use crate::error::BenchError;
use crate::measure::{count_open_files, least, settle, sink, try_time};
use crate::runner::{Line, Runner};

/// Numbers of a layer: 64 KiB.
const LAYER: usize = 8192;

/// Fills the layers of a tape, each with some work.
fn fill(tape: &mut RecordTape, layers: usize) -> Result<(), TapeError> {
    for layer in 0..layers {
        for (i, value) in tape.reserve::<f64>(LAYER)?.iter_mut().enumerate() {
            *value = ((layer + i) as f64).sqrt();
        }
    }
    Ok(())
}

/// Takes them, and asks for those before if told to: so many bytes ahead.
fn take(tape: &mut RecordTape, layers: usize, ahead: Option<usize>) -> Result<(), TapeError> {
    let mut sum = 0.0;
    for _ in 0..layers {
        if let Some(bytes) = ahead {
            tape.ahead(bytes);
        }
        for value in tape.take::<f64>()? {
            sum += (*value).sqrt();
        }
    }
    sink(sum);
    Ok(())
}

/// Runs the cases.
pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (layers, budget, rounds) =
        if runner.quick() { (512, 4 << 20, 2) } else { (32_768, 64 << 20, 3) };
    let cases = [("a layer ahead", Some(LAYER * 8)), ("four slabs ahead", Some(4 << 20))];
    if !cases.iter().any(|(name, _)| runner.wants(&format!("streams/{name}"))) {
        return Ok(());
    }
    let mut times = vec![Vec::new(); cases.len() + 1];
    let failed = |error: TapeError| runner.failed("streams", layers * LAYER * 8, error);
    for _ in 0..rounds {
        for (number, ahead) in [None].into_iter().chain(cases.map(|(_, ahead)| ahead)).enumerate() {
            let open_files = count_open_files();
            let options = TapeOptions::new().memory(budget).spill_to(runner.directory());
            let mut tape = options.open_records().map_err(failed)?;
            fill(&mut tape, layers).map_err(failed)?;
            times[number].push(try_time(|| take(&mut tape, layers, ahead)).map_err(failed)?);
            drop(tape);
            settle(open_files, layers * LAYER * 8);
        }
    }
    let mut times = times.into_iter().map(least);
    let alone = times.next().unwrap_or_default();
    for ((name, _), seconds) in cases.iter().zip(times) {
        runner.tell(&Line {
            bench: "tapeflow",
            case: &format!("streams/{name}"),
            ours: seconds * 1e3,
            against: "the tape's own read-ahead",
            theirs: alone * 1e3,
            unit: "ms",
            aim: None,
        })?;
    }
    Ok(())
}
