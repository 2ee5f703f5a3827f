//! Tapes larger than their budget, against the bare disk.

use std::hint::black_box;
use std::path::Path;
use std::sync::mpsc;

use stratape::tape::tier::{Block, DiskOptions, DiskTier, SlabKey, Tier, TierError};
use stratape::tape::{DEFAULT_IN_FLIGHT, DEFAULT_SLAB, LayeredTape, Pool, TapeError, TapeOptions};

use super::per_element;
use crate::error::{Any, BenchError};
use crate::measure::{count_open_files, least, peak_memory, reset_peak_memory, settle, try_time};
use crate::runner::{Line, Runner};

const GIB: usize = 1 << 30;

/// Both sides take turns this often, and the best of each counts: a shared disk changes its speed by
/// a factor of two within minutes.
fn rounds(runner: &Runner<'_>) -> usize {
    if runner.quick() { 2 } else { 3 }
}

/// "8_GiB", "512_MiB".
fn size(bytes: usize) -> String {
    if bytes >= GIB { format!("{}_GiB", bytes / GIB) } else { format!("{}_MiB", bytes >> 20) }
}

pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (bytes, budget) = if runner.quick() { (GIB / 2, 32 << 20) } else { (8 * GIB, 256 << 20) };
    bandwidth(runner, bytes, budget)?;
    with_work(runner, bytes, budget)?;
    growth(runner)
}

fn open(directory: &Path, budget: usize) -> Result<LayeredTape<f64>, TapeError> {
    TapeOptions::new().memory(budget).spill_to(directory).open()
}

fn push_all(tape: &mut LayeredTape<f64>, n: usize) -> Result<(), TapeError> {
    for i in 0..n {
        tape.push(i as f64)?;
    }
    Ok(())
}

fn pop_all(tape: &mut LayeredTape<f64>) -> Result<(), TapeError> {
    let mut sum = 0.0;
    while let Some(value) = tape.pop()? {
        sum += value;
    }
    black_box(sum);
    Ok(())
}

/// Writes `blocks` slabs through the bare engine and reads them back in reverse order; seconds
/// for each direction.
fn bare_disk(directory: &Path, blocks: u64) -> Result<(f64, f64), Any> {
    let tier = DiskTier::open(DiskOptions::new(directory))?;
    let key = |depth| SlabKey { lane: 0, depth, serial: depth };
    let (send, back) = mpsc::channel::<(Block, Result<(), TierError>)>();
    let mut free = Vec::new();
    for _ in 0..DEFAULT_IN_FLIGHT {
        let mut block = Block::zeroed(DEFAULT_SLAB)?;
        block.bytes_mut().fill(1);
        free.push(block);
    }
    let returned = || -> Result<Block, Any> {
        let (block, result) = back.recv()?;
        result?;
        Ok(block)
    };
    let mut pass = |order: &mut dyn Iterator<Item = u64>, write: bool| {
        try_time(|| -> Result<(), Any> {
            for depth in order {
                let block = match free.pop() {
                    Some(block) => block,
                    None => returned()?,
                };
                let send = send.clone();
                let done = Box::new(move |block, result| {
                    // Nobody waits for the others once one has failed.
                    let _ = send.send((block, result));
                });
                if write {
                    tier.write(key(depth), block, done);
                } else {
                    tier.read(key(depth), block, done);
                }
            }
            while free.len() < DEFAULT_IN_FLIGHT {
                free.push(returned()?);
            }
            Ok(())
        })
    };
    let written = pass(&mut (0..blocks), true)?;
    let read = pass(&mut (0..blocks).rev(), false)?;
    Ok((written, read))
}

/// Seconds to push and to pop `n` elements.
fn there_and_back(directory: &Path, budget: usize, n: usize) -> Result<(f64, f64), TapeError> {
    let mut tape = open(directory, budget)?;
    let pushed = try_time(|| push_all(&mut tape, n))?;
    let popped = try_time(|| pop_all(&mut tape))?;
    Ok((pushed, popped))
}

/// Bytes through the tape and back, against the same bytes through the bare engine.
fn bandwidth(runner: &mut Runner<'_>, bytes: usize, budget: usize) -> Result<(), BenchError> {
    let case = format!("spill_{}_through_{}", size(bytes), size(budget));
    if !runner.wants(&case) {
        return Ok(());
    }
    let failed = |runner: &Runner<'_>, error: Any| runner.failed(&case, bytes, error);
    let n = bytes / size_of::<f64>();
    let blocks = (bytes / DEFAULT_SLAB) as u64;
    let (mut ours, mut theirs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut peak = 0;
    let open_files = count_open_files();
    for _ in 0..rounds(runner) {
        let (written, read) =
            bare_disk(runner.directory(), blocks).map_err(|error| failed(runner, error))?;
        settle(open_files, bytes);
        theirs[0].push(written);
        theirs[1].push(read);
        reset_peak_memory();
        let (pushed, popped) = there_and_back(runner.directory(), budget, n)
            .map_err(|error| failed(runner, error.into()))?;
        peak = peak.max(peak_memory().unwrap_or(0));
        ours[0].push(pushed);
        ours[1].push(popped);
        settle(open_files, bytes);
    }
    for ((direction, ours), theirs) in ["push", "pop"].iter().zip(ours).zip(theirs) {
        let speed = |seconds| bytes as f64 / 1e9 / least(seconds);
        let (ours, theirs) = (speed(ours), speed(theirs));
        let case = format!("{case}_{direction}");
        let (case, against) = (case.as_str(), "bare I/O engine");
        let (unit, aim) = ("GB/s", Some(">= 0.9"));
        runner.tell(&Line { bench: "tape", case, ours, against, theirs, unit, aim })?;
    }
    if peak > 0 {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let case = format!("{case}_peak_memory");
        let (case, against) = (case.as_str(), "budget + 64 MiB");
        let (ours, theirs) = (mib(peak), mib(budget as u64 + (64 << 20)));
        let (unit, aim) = ("MiB", Some("<= 1"));
        runner.tell(&Line { bench: "tape", case, ours, against, theirs, unit, aim })?;
    }
    Ok(())
}

/// About six nanoseconds of arithmetic that the next value depends on. The logistic map keeps the
/// values of order one.
#[inline(always)]
fn some_work(x: f64) -> f64 {
    let y = 3.3 * x * (1.0 - x);
    0.999 * y + 1e-4
}

/// A forward and a reverse pass with work between the pushes and between the pops.
fn both_passes(tape: &mut LayeredTape<f64>, n: usize) -> Result<f64, TapeError> {
    try_time(|| {
        let mut x = black_box(0.4);
        for _ in 0..n {
            tape.push(x)?;
            x = some_work(x);
        }
        let mut adjoint = x;
        while let Some(x) = tape.pop()? {
            adjoint = some_work(adjoint);
            black_box(x);
        }
        black_box(adjoint);
        Ok(())
    })
}

/// The same passes in RAM and spilled.
fn with_work(runner: &mut Runner<'_>, bytes: usize, budget: usize) -> Result<(), BenchError> {
    let case = format!("spill_with_work_{}_through_{}", size(bytes), size(budget));
    if !runner.wants(&case) {
        return Ok(());
    }
    let failed = |runner: &Runner<'_>, error: Any| runner.failed(&case, bytes, error);
    let n = bytes / size_of::<f64>();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut waited = 0.0;
    let open_files = count_open_files();
    for _ in 0..rounds(runner) {
        let (spilled, in_ram, waits) = spilled_and_in_ram(runner.directory(), bytes, budget)
            .map_err(|error| failed(runner, error.into()))?;
        ours.push(spilled);
        theirs.push(in_ram);
        waited = waits;
        settle(open_files, bytes);
    }
    let (ours, theirs) = (least(ours), least(theirs));
    per_element(runner, &case, "the same work, all in RAM", 2 * n, ours, theirs, Some("<= 1.15"))?;
    let blocks = (bytes / DEFAULT_SLAB / 4).max(1) as u64;
    let (written, read) =
        bare_disk(runner.directory(), blocks).map_err(|error| failed(runner, error))?;
    let speed = |seconds: f64| bytes as f64 / 4e9 / seconds;
    runner.remark(&format!(
        "{case}: waited {waited:.3} s of {ours:.3} s; the disk writes {:.2} GB/s, reads {:.2} \
         GB/s, the passes ask for {:.2} GB/s",
        speed(written),
        speed(read),
        2.0 * bytes as f64 / 1e9 / theirs
    ));
    settle(open_files, bytes / 4);
    Ok(())
}

/// Seconds of both passes spilled and in RAM, and those the spilled ones waited.
fn spilled_and_in_ram(
    directory: &Path,
    bytes: usize,
    budget: usize,
) -> Result<(f64, f64, f64), TapeError> {
    let n = bytes / size_of::<f64>();
    let mut tape = open(directory, bytes + (64 << 20))?;
    // Once untimed: page faults are not the subject here.
    both_passes(&mut tape, n)?;
    let in_ram = both_passes(&mut tape, n)?;
    drop(tape);
    Pool::global().trim(0);
    let mut tape = open(directory, budget)?;
    let spilled = both_passes(&mut tape, n)?;
    Ok((spilled, in_ram, tape.stats().waited().as_secs_f64()))
}

/// What an element costs as the tape grows. The budget is small beside the smallest tape: what stays
/// in RAM costs nothing, and would make that one look cheap.
fn growth(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (budget, unit) = if runner.quick() { (16 << 20, GIB / 4) } else { (64 << 20, GIB) };
    let times: &[usize] = if runner.quick() { &[1, 2] } else { &[1, 2, 4, 8, 16] };
    if !runner.wants("spill_growth") {
        return Ok(());
    }
    let open_files = count_open_files();
    let most = times.last().map_or(0, |times| times * unit);
    let directory = runner.directory();
    let cost = |bytes: usize| -> Result<f64, TapeError> {
        let n = bytes / size_of::<f64>();
        let (pushed, popped) = there_and_back(directory, budget, n)?;
        settle(open_files, bytes);
        Ok((pushed + popped) / n as f64)
    };
    for &times in times {
        let bytes = times * unit;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds(runner) {
            // The disk's speed drifts over minutes: each size has its own neighbour of the first one.
            for (figures, bytes) in [(&mut ours, bytes), (&mut theirs, unit)] {
                let seconds = cost(bytes);
                figures.push(seconds.map_err(|error| runner.failed("spill_growth", most, error))?);
            }
        }
        let case = format!("spill_growth_{}", size(bytes));
        let against = format!("its own figure at {}", size(unit));
        let aim = Some("within 0.9 to 1.1");
        per_element(runner, &case, &against, 1, least(ours), least(theirs), aim)?;
    }
    Ok(())
}
