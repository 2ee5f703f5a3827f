//! Lanes: a tape a worker on one spill file, each on its own, all within one budget.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::path::Path;
use std::thread;

use common::{PAGE, engines, wait_until};
use rayon::prelude::*;
use stratape_tape::{IoEngine, Lanes, LayeredTape, TapeOptions};

const LANES: usize = 5;
const ELEMENTS: usize = 40 * PAGE / 8;
const MEMORY: usize = LANES * 4 * PAGE;

fn open(directory: &Path, engine: IoEngine) -> Lanes<f64> {
    TapeOptions::new()
        .spill_to(directory)
        .engine(engine)
        .slab_bytes(PAGE)
        .memory(MEMORY)
        .in_flight(2)
        .open_lanes(LANES)
        .unwrap()
}

fn value(lane: usize, i: usize) -> f64 {
    ((lane * 7919 + i) as f64).sin()
}

fn record(lane: &mut LayeredTape<f64>, number: usize) {
    for i in 0..ELEMENTS {
        lane.push(value(number, i)).unwrap();
    }
}

/// Pops everything, checks it, and sums it up.
fn reverse(lane: &mut LayeredTape<f64>, number: usize) -> f64 {
    let mut sum = 0.0;
    for i in (0..ELEMENTS).rev() {
        let popped = lane.pop().unwrap().unwrap();
        assert_eq!(popped.to_bits(), value(number, i).to_bits());
        sum += popped / (i + 1) as f64;
    }
    assert_eq!(lane.pop().unwrap(), None);
    sum
}

#[test]
fn in_rayon() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        let mut lanes = open(directory.path(), engine);
        let mut results = Vec::new();
        for _ in 0..3 {
            lanes.par_iter_mut().enumerate().for_each(|(number, lane)| record(lane, number));
            assert_eq!(lanes.stats().elements as usize, LANES * ELEMENTS);
            let sums: Vec<f64> = lanes
                .par_iter_mut()
                .enumerate()
                .map(|(number, lane)| reverse(lane, number))
                .collect();
            results.push(sums.iter().sum::<f64>().to_bits());
        }
        assert!(results.iter().all(|&result| result == results[0]), "{results:?}");
        let stats = lanes.stats();
        assert!(stats.resident_peak <= MEMORY as u64, "{stats}");
        assert!(stats.slabs_spilled > 0 && stats.slabs_read > 0, "{stats}");
        assert_eq!((stats.failed_writes, stats.failed_reads), (0, 0));
    }
}

#[test]
fn in_scoped_threads() {
    let directory = tempfile::tempdir().unwrap();
    let mut lanes = open(directory.path(), IoEngine::Auto);
    let mut results = Vec::new();
    for _ in 0..3 {
        thread::scope(|scope| {
            for (number, lane) in lanes.iter_mut().enumerate() {
                scope.spawn(move || record(lane, number));
            }
        });
        let sums = thread::scope(|scope| {
            let workers: Vec<_> = (&mut lanes)
                .into_iter()
                .enumerate()
                .map(|(number, lane)| scope.spawn(move || reverse(lane, number)))
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
        });
        results.push(sums.iter().fold(0.0, |sum, part| sum + part).to_bits());
    }
    assert!(results.iter().all(|&result| result == results[0]), "{results:?}");
}

#[test]
fn a_lane_goes_to_another_thread_with_its_contents() {
    let directory = tempfile::tempdir().unwrap();
    let mut lanes = open(directory.path(), IoEngine::Auto);
    lanes.par_iter_mut().enumerate().for_each(|(number, lane)| record(lane, number));
    let workers: Vec<_> = lanes
        .into_iter()
        .enumerate()
        .map(|(number, mut lane)| {
            thread::spawn(move || {
                reverse(&mut lane, number);
                record(&mut lane, number + 1);
                reverse(&mut lane, number + 1);
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// A lane dropped with finished writes that it had not heard of once left them in the shared file
/// for good.
#[test]
fn a_dropped_lane_gives_its_space_back() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        let mut lanes = open(directory.path(), engine);
        lanes.par_iter_mut().enumerate().for_each(|(number, lane)| record(lane, number));
        let mut lanes: Vec<_> = lanes.into_iter().collect();
        while lanes.len() > 1 {
            drop(lanes.pop().unwrap());
            // Each of those left stores at most what it has.
            let most = lanes.len() as u64 * (ELEMENTS * 8) as u64;
            wait_until("the lane's space is free", || lanes[0].stats().tier_bytes <= most);
        }
        reverse(&mut lanes[0], 0);
        wait_until("nothing is stored", || lanes[0].stats().tier_bytes == 0);
    }
}

#[test]
fn lanes_come_and_go_while_the_others_work() {
    let directory = tempfile::tempdir().unwrap();
    let lanes = open(directory.path(), IoEngine::Auto);
    let workers: Vec<_> = lanes
        .into_iter()
        .enumerate()
        .map(|(number, mut lane)| {
            thread::spawn(move || {
                record(&mut lane, number);
                // The others drop their lane while full.
                (number == 0).then(|| {
                    reverse(&mut lane, number);
                    lane
                })
            })
        })
        .collect();
    let left: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect();
    wait_until("nothing is stored", || left[0].stats().tier_bytes == 0);
}

#[test]
fn statistics_are_sums() {
    let directory = tempfile::tempdir().unwrap();
    let mut lanes = open(directory.path(), IoEngine::Threads);
    lanes.iter_mut().enumerate().for_each(|(number, lane)| record(lane, number));
    let total = lanes.stats();
    let each: Vec<_> = lanes.iter().map(LayeredTape::stats).collect();
    assert_eq!(total.elements, (LANES * ELEMENTS) as u64);
    assert_eq!(total.bytes, 8 * total.elements);
    assert_eq!(total.memory, MEMORY as u64);
    assert_eq!(total.slabs_spilled, each.iter().map(|lane| lane.slabs_spilled).sum());
    assert_eq!(total.resident_peak, each.iter().map(|lane| lane.resident_peak).sum());
    assert_eq!(total.slab_bytes, PAGE as u64);
    assert!(total.tier.contains("threads"), "{}", total.tier);
}
