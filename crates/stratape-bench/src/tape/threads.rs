//! Lanes, and the shared tape.

use std::hint::black_box;
use std::path::Path;
use std::sync::{Barrier, Mutex};
use std::thread;

use stratape::tape::{LayeredTape, SharedTape, TapeError, TapeOptions};

use super::memory::Chain;
use super::per_element;
use crate::error::BenchError;
use crate::measure::{best_of, sink, try_time};
use crate::runner::{Line, Runner};

pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    lanes(runner)?;
    shared(runner)
}

/// Pushes and pops `n` elements `times` over.
fn work(lane: &mut LayeredTape<f64>, n: usize, times: usize) -> Result<(), TapeError> {
    let chain = Chain::new();
    for _ in 0..times {
        let mut x = 1.0;
        for _ in 0..n {
            lane.push(x)?;
            x = chain.forward(x);
        }
        let mut adjoint = x;
        while let Some(x) = lane.pop()? {
            adjoint = chain.reverse(adjoint, x);
        }
        black_box(adjoint);
    }
    Ok(())
}

/// Throughput of two lanes on two threads against one lane on one.
fn lanes(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let case = "lanes_two_threads";
    if !runner.wants(case) {
        return Ok(());
    }
    let (n, times) = if runner.quick() { (200_000, 10) } else { (1_000_000, 20) };
    let (alone, together) =
        throughput(runner.directory(), n, times).map_err(|error| runner.failed(case, 0, error))?;
    let (ours, theirs) = (together / 1e6, alone / 1e6);
    let (against, unit, aim) = ("one lane, one thread", "million elements/s", Some(">= 1.85"));
    runner.tell(&Line { bench: "tape", case, ours, against, theirs, unit, aim })
}

/// Elements a second, on one lane and on two together.
fn throughput(directory: &Path, n: usize, times: usize) -> Result<(f64, f64), TapeError> {
    let options = || TapeOptions::new().memory(256 << 20).spill_to(directory);
    let mut one = options().open_lanes::<f64>(1)?;
    let mut two = options().open_lanes::<f64>(2)?;
    let elements = (n * times) as f64;
    let (mut alone, mut together) = (0_f64, 0_f64);
    work(&mut one[0], n, 1)?;
    two.iter_mut().try_for_each(|lane| work(lane, n, 1))?;
    for _ in 0..7 {
        let seconds = try_time(|| work(&mut one[0], n, times))?;
        alone = alone.max(elements / seconds);
        let seconds = try_time(|| {
            thread::scope(|scope| {
                let threads: Vec<_> =
                    two.iter_mut().map(|lane| scope.spawn(|| work(lane, n, times))).collect();
                threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
            })
        })?;
        together = together.max(2.0 * elements / seconds);
    }
    Ok((alone, together))
}

fn shared(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    const N: usize = 20_000;
    let tape = SharedTape::new();
    let vec = Mutex::new(Vec::new());
    let push_pop_tape = || {
        (0..N).for_each(|i| tape.push(i as f64));
        (0..N).for_each(|_| sink(tape.pop()));
    };
    let push_pop_vec = || {
        (0..N).for_each(|i| vec.lock().expect("unpoisoned").push(i as f64));
        (0..N).for_each(|_| sink(vec.lock().expect("unpoisoned").pop()));
    };
    let case = "shared_tape_one_thread";
    if runner.wants(case) {
        let [ours, theirs] = best_of(15, [&mut || push_pop_tape(), &mut || push_pop_vec()]);
        per_element(runner, case, "Mutex<Vec>", N, ours, theirs, Some("<= 1"))?;
    }
    let case = "shared_tape_two_threads";
    if runner.wants(case) {
        let rounds = if runner.quick() { 15 } else { 41 };
        let [ours, theirs] = best_of(
            rounds,
            [&mut || on_two_threads(&push_pop_tape), &mut || on_two_threads(&push_pop_vec)],
        );
        per_element(runner, case, "Mutex<Vec>", 2 * N, ours, theirs, Some("<= 1"))?;
    }
    Ok(())
}

fn on_two_threads(work: &(impl Fn() + Sync)) {
    let together = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                together.wait();
                work();
            });
        }
    });
}
