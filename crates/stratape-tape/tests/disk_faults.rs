//! System calls of the disk tier fail, are interrupted or fall short, each at every possible
//! moment and with every engine: no value is lost, and most of it is never heard of.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use common::{PAGE, damaged_disk, engines};
use stratape_tape::tier::{
    Block, DiskCall, DiskFault, DiskFaults, DiskOptions, DiskTier, IoEngine, SlabKey, Tier,
    TierError,
};
use stratape_tape::{ErrorKind, LayeredTape, TapeError, TapeOptions};

/// Two pages a slab, so that a transfer can fall short.
const PER_SLAB: usize = 2 * PAGE / size_of::<u64>();
const SLABS: usize = 12;

fn options(tier: DiskTier) -> TapeOptions {
    TapeOptions::new().tier(Arc::new(tier)).slab_bytes(2 * PAGE).memory(4 * 2 * PAGE)
}

fn insist<R>(mut call: impl FnMut() -> Result<R, TapeError>) -> (R, u64) {
    for failures in 0..3 {
        if let Ok(result) = call() {
            return (result, failures);
        }
    }
    panic!("a call went on failing after the fault was over");
}

/// Up, half down, up, all down. Returns how many transfers failed in the eyes of the tape.
fn run(tier: DiskTier) -> u64 {
    let mut tape: LayeredTape<u64> = options(tier).open().unwrap();
    let mut failures = 0;
    let mut push = |tape: &mut LayeredTape<u64>, to: usize| {
        while tape.len() < to {
            let start = tape.len() as u64;
            let room = PER_SLAB - tape.len() % PER_SLAB;
            let values: Vec<u64> = (start..start + room as u64).collect();
            failures += insist(|| tape.extend_from_slice(&values)).1;
        }
    };
    push(&mut tape, SLABS * PER_SLAB);
    let mut out = vec![0; PER_SLAB];
    let mut pop = |tape: &mut LayeredTape<u64>, to: usize| {
        let mut failures = 0;
        while tape.len() > to {
            let (count, failed) = insist(|| tape.pop_slice(&mut out));
            failures += failed;
            let start = tape.len() as u64;
            assert!(out[..count].iter().copied().eq(start..start + count as u64));
        }
        failures
    };
    let mut failed_pops = pop(&mut tape, SLABS / 2 * PER_SLAB);
    push(&mut tape, SLABS * PER_SLAB);
    failed_pops += pop(&mut tape, 0);
    let stats = tape.stats();
    let failed = stats.failed_writes + stats.failed_reads;
    assert!(failed > 0 || failures + failed_pops == 0, "a call failed for no reason");
    failed
}

/// Damages the call with number `at`, counted from zero, that `hits` agrees to.
fn once(at: u64, hits: fn(DiskCall) -> bool, fault: DiskFault) -> (DiskFaults, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&calls);
    let faults = move |call| {
        let due = hits(call) && counted.fetch_add(1, Ordering::SeqCst) == at;
        due.then_some(fault)
    };
    (Arc::new(faults), calls)
}

/// Returns how many transfers failed in all runs together.
fn sweep(directory: &Path, engine: IoEngine, hits: fn(DiskCall) -> bool, fault: DiskFault) -> u64 {
    let (count_only, calls) = once(u64::MAX, hits, fault);
    run(damaged_disk(directory, engine, count_only));
    let calls = calls.load(Ordering::SeqCst);
    assert!(calls > 0, "no such call was made");
    (0..calls).map(|at| run(damaged_disk(directory, engine, once(at, hits, fault).0))).sum()
}

fn any(_: DiskCall) -> bool {
    true
}

fn moves_data(call: DiskCall) -> bool {
    call != DiskCall::Reserve
}

#[test]
fn one_failed_call_at_any_moment() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        for kind in [io::ErrorKind::Other, io::ErrorKind::StorageFull] {
            let failed = sweep(directory.path(), engine, any, DiskFault::Fail(kind));
            assert!(failed > 0, "{engine:?}: nothing ever failed with {kind:?}");
        }
    }
}

#[test]
fn interrupted_and_short_calls_are_never_heard_of() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        for fault in [DiskFault::Interrupt, DiskFault::Short(PAGE)] {
            let failed = sweep(directory.path(), engine, moves_data, fault);
            assert_eq!(failed, 0, "{engine:?}, {fault:?}");
        }
    }
}

#[test]
fn every_call_short() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        let faults: DiskFaults = Arc::new(|_| Some(DiskFault::Short(1)));
        assert_eq!(run(damaged_disk(directory.path(), engine, faults)), 0);
    }
}

/// A file system may refuse direct I/O in the middle of a run; the tape goes on without it.
#[test]
fn direct_io_refused_half_way() {
    let directory = tempfile::tempdir().unwrap();
    let invalid = DiskFault::Fail(io::ErrorKind::InvalidInput);
    let options = DiskOptions {
        engine: IoEngine::Threads,
        in_flight: 1,
        faults: Some(once(5, moves_data, invalid).0),
        ..DiskOptions::new(directory.path())
    };
    let tier = DiskTier::open(options).unwrap();
    if !tier.describe().contains("direct") {
        println!("not tested: no direct I/O here");
        return;
    }
    assert_eq!(run(tier), 0);
}

#[test]
fn the_disk_is_full_half_way() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        let full = Arc::new(AtomicBool::new(false));
        let faults: DiskFaults = {
            let full = Arc::clone(&full);
            Arc::new(move |call| {
                let fails = call == DiskCall::Reserve && full.load(Ordering::SeqCst);
                fails.then_some(DiskFault::Fail(io::ErrorKind::StorageFull))
            })
        };
        let tier = damaged_disk(directory.path(), engine, faults);
        let mut tape: LayeredTape<u64> = options(tier).open().unwrap();
        let mut pushed = 0_u64;
        let mut push_slab = |tape: &mut LayeredTape<u64>| -> Result<(), TapeError> {
            for _ in 0..PER_SLAB {
                tape.push(pushed)?;
                pushed += 1;
            }
            Ok(())
        };
        for _ in 0..20 {
            push_slab(&mut tape).unwrap();
        }
        full.store(true, Ordering::SeqCst);
        // The file has grown in steps, so there is some room left.
        let error = (0..1000).find_map(|_| push_slab(&mut tape).err()).unwrap();
        assert!(error.is_full(), "{error}");
        let needed = match error.kind() {
            ErrorKind::Spill { source: TierError::Full { needed, limit: None }, .. } => *needed,
            other => panic!("{other:?}"),
        };
        assert_eq!(needed, 2 * PAGE as u64);
        full.store(false, Ordering::SeqCst);
        push_slab(&mut tape).unwrap();
        for expected in (0..pushed).rev() {
            assert_eq!(tape.pop().unwrap(), Some(expected));
        }
        common::wait_until("all was forgotten", || tape.stats().tier_bytes == 0);
    }
}

fn write(tier: &DiskTier, key: SlabKey, byte: u8) {
    let mut block = Block::zeroed(PAGE).unwrap();
    block.bytes_mut().fill(byte);
    let (send, receive) = mpsc::channel();
    tier.write(key, block, Box::new(move |_, result| send.send(result).unwrap()));
    receive.recv().unwrap().unwrap();
}

fn read(tier: &DiskTier, key: SlabKey) -> Result<Block, TierError> {
    let (send, receive) = mpsc::channel();
    let done = move |block, result: Result<(), TierError>| {
        send.send(result.map(|()| block)).unwrap();
    };
    tier.read(key, Block::zeroed(PAGE).unwrap(), Box::new(done));
    receive.recv().unwrap()
}

/// Space once was given back to the file system after others could already take it, and what they
/// had written there became zeros. It took a forget on one thread and a write on another.
#[test]
fn space_given_back_is_not_taken_from_another_slab() {
    let directory = tempfile::tempdir().unwrap();
    for engine in engines(directory.path()) {
        let options = DiskOptions { engine, ..DiskOptions::new(directory.path()) };
        let tier = DiskTier::open(options).unwrap();
        std::thread::scope(|scope| {
            for lane in 0..3 {
                let tier = &tier;
                scope.spawn(move || {
                    for serial in 0..200 {
                        let key = SlabKey { lane, depth: 0, serial };
                        let byte = (serial % 255) as u8 + 1;
                        write(tier, key, byte);
                        let block = read(tier, key).unwrap();
                        let intact = block.bytes().iter().all(|&found| found == byte);
                        assert!(intact, "{key} was overwritten");
                        tier.forget(key);
                        tier.tidy();
                    }
                });
            }
        });
        assert_eq!(tier.stored_bytes(), 0);
    }
}

#[test]
fn what_is_not_stored_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let tier = DiskTier::open(DiskOptions::new(directory.path())).unwrap();
    let key = SlabKey { lane: 3, depth: 5, serial: 7 };
    let error = read(&tier, key).unwrap_err();
    assert!(matches!(error, TierError::Missing(missing) if missing == key));
    assert!(error.to_string().contains("slab 5 of lane 3"), "{error}");
    write(&tier, key, 1);
    read(&tier, key).unwrap();
    tier.forget(key);
    assert!(read(&tier, key).is_err());
}
