//! Lanes, and the shared tape.

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

use stratape::tape::{LayeredTape, SharedTape, TapeOptions};

use super::memory::Chain;
use super::per_element;
use crate::Settings;
use crate::measure::{best_of, sink};
use crate::report::Line;

pub(super) fn run(settings: &Settings) {
    lanes(settings);
    shared(settings);
}

/// Pushes and pops `n` elements `times` over.
fn work(lane: &mut LayeredTape<f64>, n: usize, times: usize) {
    let chain = Chain::new();
    for _ in 0..times {
        let mut x = 1.0;
        for _ in 0..n {
            lane.push(x).expect("in memory");
            x = chain.forward(x);
        }
        let mut adjoint = x;
        while let Some(x) = lane.pop().expect("in memory") {
            adjoint = chain.reverse(adjoint, x);
        }
        black_box(adjoint);
    }
}

/// Throughput of two lanes on two threads against one lane on one.
fn lanes(settings: &Settings) {
    let case = "lanes_two_threads";
    if !settings.wants(case) {
        return;
    }
    let (n, times) = if settings.quick { (200_000, 10) } else { (1_000_000, 20) };
    let options = || TapeOptions::new().memory(256 << 20).spill_to(&settings.spill_to);
    let mut one = options().open_lanes::<f64>(1).expect("a lane");
    let mut two = options().open_lanes::<f64>(2).expect("two lanes");
    let elements = (n * times) as f64;
    let (mut alone, mut together) = (0_f64, 0_f64);
    work(&mut one[0], n, 1);
    two.iter_mut().for_each(|lane| work(lane, n, 1));
    for _ in 0..7 {
        let start = Instant::now();
        work(&mut one[0], n, times);
        alone = alone.max(elements / start.elapsed().as_secs_f64());
        let start = Instant::now();
        thread::scope(|scope| {
            for lane in two.iter_mut() {
                scope.spawn(|| work(lane, n, times));
            }
        });
        together = together.max(2.0 * elements / start.elapsed().as_secs_f64());
    }
    let (ours, theirs) = (together / 1e6, alone / 1e6);
    let (against, unit, aim) = ("one lane, one thread", "million elements/s", Some(">= 1.85"));
    Line { bench: "tape", case, ours, against, theirs, unit, aim }.print();
}

fn shared(settings: &Settings) {
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
    if settings.wants(case) {
        let [ours, theirs] = best_of(15, [&mut || push_pop_tape(), &mut || push_pop_vec()]);
        per_element(case, "Mutex<Vec>", N, ours, theirs, Some("<= 1"));
    }
    let case = "shared_tape_two_threads";
    if settings.wants(case) {
        let rounds = if settings.quick { 15 } else { 41 };
        let [ours, theirs] = best_of(
            rounds,
            [&mut || on_two_threads(&push_pop_tape), &mut || on_two_threads(&push_pop_vec)],
        );
        per_element(case, "Mutex<Vec>", 2 * N, ours, theirs, Some("<= 1"));
    }
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
