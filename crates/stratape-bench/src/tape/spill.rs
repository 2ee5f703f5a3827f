//! Tapes larger than their budget, against the bare disk.

use std::hint::black_box;
use std::sync::mpsc;

use stratape::tape::tier::{Block, DiskOptions, DiskTier, SlabKey, Tier};
use stratape::tape::{DEFAULT_IN_FLIGHT, DEFAULT_SLAB, LayeredTape, Pool, TapeOptions};

use super::per_element;
use crate::Settings;
use crate::measure::{count_open_files, least, peak_memory, reset_peak_memory, settle, time};
use crate::report::Line;

const GIB: usize = 1 << 30;

/// Both sides take turns this often, and the best of each counts: a shared disk changes its speed by
/// a factor of two within minutes.
fn rounds(settings: &Settings) -> usize {
    if settings.quick { 2 } else { 3 }
}

/// "8_GiB", "512_MiB".
fn size(bytes: usize) -> String {
    if bytes >= GIB { format!("{}_GiB", bytes / GIB) } else { format!("{}_MiB", bytes >> 20) }
}

pub(super) fn run(settings: &Settings) {
    let (bytes, budget) = if settings.quick { (GIB / 2, 32 << 20) } else { (8 * GIB, 256 << 20) };
    bandwidth(settings, bytes, budget);
    with_work(settings, bytes, budget);
    growth(settings);
}

fn open(settings: &Settings, budget: usize) -> LayeredTape<f64> {
    TapeOptions::new()
        .memory(budget)
        .spill_to(&settings.spill_to)
        .open()
        .expect("a spill file in the directory of --spill-to")
}

fn push_all(tape: &mut LayeredTape<f64>, n: usize) {
    for i in 0..n {
        tape.push(i as f64).expect("room on the disk");
    }
}

fn pop_all(tape: &mut LayeredTape<f64>) {
    let mut sum = 0.0;
    while let Some(value) = tape.pop().expect("a disk that reads") {
        sum += value;
    }
    black_box(sum);
}

/// Writes `blocks` slabs through the bare engine and reads them back in reverse order; seconds
/// for each direction.
fn bare_disk(settings: &Settings, blocks: u64) -> (f64, f64) {
    let tier = DiskTier::open(DiskOptions::new(&settings.spill_to)).expect("a spill file");
    let key = |depth| SlabKey { lane: 0, depth, serial: depth };
    let (send, back) = mpsc::channel();
    let idle = || {
        let mut block = Block::zeroed(DEFAULT_SLAB).expect("memory for a block");
        block.bytes_mut().fill(1);
        block
    };
    let mut free: Vec<Block> = (0..DEFAULT_IN_FLIGHT).map(|_| idle()).collect();
    let mut pass = |order: &mut dyn Iterator<Item = u64>, write: bool| {
        time(|| {
            for depth in order {
                let block =
                    free.pop().unwrap_or_else(|| back.recv().expect("a block still under way"));
                let send = send.clone();
                let done = Box::new(move |block, result: Result<(), _>| {
                    result.expect("a disk that works");
                    let _ = send.send(block);
                });
                if write {
                    tier.write(key(depth), block, done);
                } else {
                    tier.read(key(depth), block, done);
                }
            }
            while free.len() < DEFAULT_IN_FLIGHT {
                free.push(back.recv().expect("a block still under way"));
            }
        })
    };
    let written = pass(&mut (0..blocks), true);
    let read = pass(&mut (0..blocks).rev(), false);
    (written, read)
}

/// Bytes through the tape and back, against the same bytes through the bare engine.
fn bandwidth(settings: &Settings, bytes: usize, budget: usize) {
    let case = format!("spill_{}_through_{}", size(bytes), size(budget));
    if !settings.wants(&case) {
        return;
    }
    let n = bytes / size_of::<f64>();
    let blocks = (bytes / DEFAULT_SLAB) as u64;
    let (mut ours, mut theirs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut peak = 0;
    let open_files = count_open_files();
    for _ in 0..rounds(settings) {
        let (written, read) = bare_disk(settings, blocks);
        settle(open_files, bytes);
        theirs[0].push(written);
        theirs[1].push(read);
        reset_peak_memory();
        let mut tape = open(settings, budget);
        ours[0].push(time(|| push_all(&mut tape, n)));
        ours[1].push(time(|| pop_all(&mut tape)));
        peak = peak.max(peak_memory().unwrap_or(0));
        drop(tape);
        settle(open_files, bytes);
    }
    for ((direction, ours), theirs) in ["push", "pop"].iter().zip(ours).zip(theirs) {
        let speed = |seconds| bytes as f64 / 1e9 / least(seconds);
        let (ours, theirs) = (speed(ours), speed(theirs));
        let case = format!("{case}_{direction}");
        let (case, against) = (case.as_str(), "bare I/O engine");
        let (unit, aim) = ("GB/s", Some(">= 0.9"));
        Line { bench: "tape", case, ours, against, theirs, unit, aim }.print();
    }
    if peak > 0 {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let case = format!("{case}_peak_memory");
        let (case, against) = (case.as_str(), "budget + 64 MiB");
        let (ours, theirs) = (mib(peak), mib(budget as u64 + (64 << 20)));
        Line { bench: "tape", case, ours, against, theirs, unit: "MiB", aim: Some("<= 1") }.print();
    }
}

/// About six nanoseconds of arithmetic that the next value depends on. The logistic map keeps the
/// values of order one.
#[inline(always)]
fn some_work(x: f64) -> f64 {
    let y = 3.3 * x * (1.0 - x);
    0.999 * y + 1e-4
}

/// A forward and a reverse pass with work between the pushes and between the pops.
fn both_passes(tape: &mut LayeredTape<f64>, n: usize) -> f64 {
    time(|| {
        let mut x = black_box(0.4);
        for _ in 0..n {
            tape.push(x).expect("room on the disk");
            x = some_work(x);
        }
        let mut adjoint = x;
        while let Some(x) = tape.pop().expect("a disk that reads") {
            adjoint = some_work(adjoint);
            black_box(x);
        }
        black_box(adjoint);
    })
}

/// The same passes in RAM and spilled.
fn with_work(settings: &Settings, bytes: usize, budget: usize) {
    let case = format!("spill_with_work_{}_through_{}", size(bytes), size(budget));
    if !settings.wants(&case) {
        return;
    }
    let n = bytes / size_of::<f64>();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut waited = 0.0;
    let open_files = count_open_files();
    for _ in 0..rounds(settings) {
        let mut tape = open(settings, bytes + (64 << 20));
        // Once untimed: page faults are not the subject here.
        both_passes(&mut tape, n);
        theirs.push(both_passes(&mut tape, n));
        drop(tape);
        Pool::global().trim(0);
        let mut tape = open(settings, budget);
        ours.push(both_passes(&mut tape, n));
        waited = tape.stats().waited().as_secs_f64();
        drop(tape);
        settle(open_files, bytes);
    }
    let (ours, theirs) = (least(ours), least(theirs));
    per_element(&case, "the same work, all in RAM", 2 * n, ours, theirs, Some("<= 1.15"));
    let (written, read) = bare_disk(settings, (bytes / DEFAULT_SLAB / 4).max(1) as u64);
    let speed = |seconds: f64| bytes as f64 / 4e9 / seconds;
    eprintln!(
        "# {case}: waited {waited:.3} s of {ours:.3} s; the disk writes {:.2} GB/s, reads {:.2} \
         GB/s, the passes ask for {:.2} GB/s",
        speed(written),
        speed(read),
        2.0 * bytes as f64 / 1e9 / theirs
    );
    settle(open_files, bytes / 4);
}

/// What an element costs as the tape grows. The budget is small beside the smallest tape: what stays
/// in RAM costs nothing, and would make that one look cheap.
fn growth(settings: &Settings) {
    let (budget, unit) = if settings.quick { (16 << 20, GIB / 4) } else { (64 << 20, GIB) };
    let times: &[usize] = if settings.quick { &[1, 2] } else { &[1, 2, 4, 8, 16] };
    if !settings.wants("spill_growth") {
        return;
    }
    let open_files = count_open_files();
    let cost = |bytes: usize| {
        let n = bytes / size_of::<f64>();
        let mut tape = open(settings, budget);
        let seconds = time(|| {
            push_all(&mut tape, n);
            pop_all(&mut tape);
        });
        drop(tape);
        settle(open_files, bytes);
        seconds / n as f64
    };
    for &times in times {
        let bytes = times * unit;
        // The disk's speed drifts over minutes: each size has its own neighbour of the first one.
        let pairs: Vec<(f64, f64)> =
            (0..rounds(settings)).map(|_| (cost(bytes), cost(unit))).collect();
        let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let case = format!("spill_growth_{}", size(bytes));
        let against = format!("its own figure at {}", size(unit));
        let aim = Some("within 0.9 to 1.1");
        per_element(&case, &against, 1, least(ours), least(theirs), aim);
    }
}
