//! Dropping a tape with transfers under way neither waits for them nor leaks: memory, threads and
//! files go once the transfers end.
//!
//! A single test, since it counts the threads and files of the whole process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{PAGE, tape_threads, wait_until};
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation, Tier};
use stratape_tape::{IoEngine, LayeredTape, Pool, TapeOptions};

const PER_SLAB: u64 = 8;

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn options(pool: &Pool) -> TapeOptions {
    TapeOptions::new().pool(pool).slab_bytes(PER_SLAB as usize * 8).memory(8 * PAGE).in_flight(2)
}

/// A tier that withholds writes, or reads, from the moment the switch is set.
fn holding(kind: Operation) -> (Arc<FaultyTier<MemoryTier>>, Arc<AtomicBool>) {
    let hold = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&hold);
    let plan = move |_, operation| {
        if operation == kind && switch.load(Ordering::SeqCst) { Fault::Hold } else { Fault::Pass }
    };
    (Arc::new(FaultyTier::new(MemoryTier::new(), plan)), hold)
}

fn held_writes(pool: &Pool) {
    let (tier, hold) = holding(Operation::Write);
    let mut tape: LayeredTape<u64> = options(pool).tier(tier.clone()).open().unwrap();
    hold.store(true, Ordering::SeqCst);
    (0..8 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    wait_until("writes are held", || tier.operations() > 0);
    let resident = tape.stats().resident as usize;
    drop(tape);
    assert!(pool.idle_bytes() < resident, "the blocks in transit cannot be back yet");
    wait_until("all memory is back in the pool", || {
        // Again and again: an operation may reach the tier only now.
        tier.release();
        pool.idle_bytes() == resident
    });
    wait_until("nothing is stored", || tier.stored_bytes() == 0);
}

fn held_reads(pool: &Pool) {
    let (tier, hold) = holding(Operation::Read);
    let mut tape: LayeredTape<u64> = options(pool).tier(tier.clone()).open().unwrap();
    (0..30 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    wait_until("the writes have ended", || {
        tape.shrink_to_fit();
        tape.stats().slabs_moving == 0
    });
    hold.store(true, Ordering::SeqCst);
    // Popping writes nothing, so what moves next is a slab that is read ahead.
    while tape.stats().slabs_moving == 0 {
        tape.pop().unwrap();
    }
    let resident = tape.stats().resident as usize + pool.idle_bytes();
    drop(tape);
    wait_until("all memory is back in the pool", || {
        // Again and again: an operation may reach the tier only now.
        tier.release();
        pool.idle_bytes() == resident
    });
    wait_until("nothing is stored", || tier.stored_bytes() == 0);
}

fn held_lanes(pool: &Pool) {
    let (tier, hold) = holding(Operation::Write);
    let options = options(pool).memory(3 * 8 * PAGE);
    let mut lanes = options.tier(tier.clone()).open_lanes::<u64>(3).unwrap();
    hold.store(true, Ordering::SeqCst);
    for lane in lanes.iter_mut() {
        (0..8 * PER_SLAB).for_each(|i| lane.push(i).unwrap());
    }
    wait_until("writes are held", || tier.operations() > 2);
    let resident = lanes.stats().resident as usize;
    drop(lanes);
    wait_until("all memory is back in the pool", || {
        // Again and again: an operation may reach the tier only now.
        tier.release();
        pool.idle_bytes() == resident
    });
    wait_until("nothing is stored", || tier.stored_bytes() == 0);
}

fn held_records(pool: &Pool) {
    let (tier, hold) = holding(Operation::Write);
    let mut tape = options(pool).tier(tier.clone()).open_records().unwrap();
    hold.store(true, Ordering::SeqCst);
    for i in 0..7_u64 {
        tape.reserve::<u64>(5).unwrap().fill(i);
    }
    wait_until("writes are held", || tier.operations() > 0);
    let resident = tape.stats().resident as usize;
    drop(tape);
    wait_until("all memory is back in the pool", || {
        // Again and again: an operation may reach the tier only now.
        tier.release();
        pool.idle_bytes() == resident
    });
}

fn busy_disk(pool: &Pool, directory: &Path, engine: IoEngine) {
    for pops in [0, 1, 50, 300] {
        let options = options(pool).spill_to(directory).engine(engine);
        let mut tape: LayeredTape<u64> = options.open().unwrap();
        (0..50 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
        for _ in 0..pops {
            tape.pop().unwrap();
        }
        let resident = tape.stats().resident as usize;
        drop(tape);
        wait_until("all memory is back in the pool", || pool.idle_bytes() >= resident);
        pool.trim(0);
    }
}

fn busy_lanes(pool: &Pool, directory: &Path) {
    let options = options(pool).spill_to(directory).memory(4 * 8 * PAGE);
    let mut lanes = options.open_lanes::<u64>(4).unwrap();
    for lane in lanes.iter_mut() {
        (0..50 * PER_SLAB).for_each(|i| lane.push(i).unwrap());
    }
    // One by one, each with transfers under way.
    lanes.into_iter().for_each(drop);
}

fn busy_saved_tape(pool: &Pool, directory: &Path) {
    let path = directory.join("a.tape");
    let options = options(pool).spill_to(directory);
    let mut tape: LayeredTape<u64> = options.clone().open().unwrap();
    (0..50 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    tape.save(&path).unwrap();
    drop(tape);
    let mut tape = LayeredTape::<u64>::load(&path, options).unwrap();
    for _ in 0..60 {
        tape.pop().unwrap();
    }
}

#[test]
fn nothing_is_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert_eq!(tape_threads(), [""; 0]);
    let files = open_files();
    let engines = common::engines(path);
    type Scenario<'a> = (&'a str, Box<dyn Fn(&Pool) + 'a>);
    let mut scenarios: Vec<Scenario<'_>> = vec![
        ("held writes", Box::new(held_writes)),
        ("held reads", Box::new(held_reads)),
        ("held lanes", Box::new(held_lanes)),
        ("held records", Box::new(held_records)),
        ("busy lanes", Box::new(|pool| busy_lanes(pool, path))),
        ("a busy saved tape", Box::new(|pool| busy_saved_tape(pool, path))),
    ];
    for engine in engines {
        scenarios.push(("a busy disk", Box::new(move |pool| busy_disk(pool, path, engine))));
    }
    for (name, scenario) in scenarios {
        for _ in 0..5 {
            let pool = Pool::new(1 << 30);
            scenario(&pool);
            wait_until(&format!("{name}: the threads are gone"), || tape_threads().is_empty());
            // A sanitizer opens files of its own.
            wait_until(&format!("{name}: the files are closed"), || {
                open_files() == files || common::is_sanitized()
            });
        }
    }
    assert_eq!(
        fs::read_dir(path).unwrap().count(),
        1,
        "only the saved tape has a name: {:?}",
        common::files_in(path)
    );
}
