//! A tape on an object store does what a `Vec` does, within its budget, and leaves no object behind.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::sync::Arc;

use common::{hasty, on_every_store, wait_until};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stratape_remote::{RemoteStats, RemoteTier};
use stratape_tape::tier::{DiskOptions, DiskTier, MemoryTier, StackedTier, Tier};
use stratape_tape::{LayeredTape, RecordTape, TapeOptions};

const SLAB: usize = 16 << 10;

fn options(tier: &Arc<RemoteTier>) -> TapeOptions {
    on_tier(Arc::clone(tier) as Arc<dyn Tier>)
}

fn on_tier(tier: Arc<dyn Tier>) -> TapeOptions {
    TapeOptions::new().memory(8 * SLAB).slab_bytes(SLAB).tier(tier)
}

#[test]
fn up_and_down_far_beyond_the_budget() {
    on_every_store(|url| {
        let tier = Arc::new(RemoteTier::open_with(url, hasty()).unwrap());
        let mut tape: LayeredTape<u64> = options(&tier).open().unwrap();
        // Sixty slabs on a budget of eight.
        let most = 60 * SLAB as u64 / 8;
        for value in 0..most {
            tape.push(value).unwrap();
        }
        wait_until("nothing is under way", || {
            let stats = tier.stats();
            stats.in_flight == 0 && stats.objects_written * SLAB as u64 == tier.stored_bytes()
        });
        let stats = tape.stats();
        assert!(stats.resident_peak <= 8 * SLAB as u64);
        assert!(stats.tier.contains("object store") && stats.tier.contains("requests"), "{stats}");
        let RemoteStats { objects_written, bytes_written, in_flight_peak, .. } = tier.stats();
        assert!(objects_written >= 50 && bytes_written == objects_written * SLAB as u64);
        assert!((1..=32).contains(&in_flight_peak), "{in_flight_peak}");
        assert_eq!(tier.stored_bytes(), stats.tier_bytes);
        for value in (0..most).rev() {
            assert_eq!(tape.pop().unwrap(), Some(value));
        }
        assert_eq!(tape.pop().unwrap(), None);
        let stats = tier.stats();
        assert!(stats.objects_read >= 50 && stats.retries == 0, "{stats}");
        wait_until("objects are deleted as the tape shrinks", || {
            tier.stats().objects_deleted >= tier.stats().objects_written - 8
        });
        drop(tape);
        tier.close().unwrap();
        assert_eq!(tier.stored_bytes(), 0);
    });
}

#[test]
fn records_regions_and_lanes() {
    on_every_store(|url| {
        let tier = Arc::new(RemoteTier::open_with(url, hasty()).unwrap());
        let mut lanes = options(&tier).memory(32 * SLAB).open_lanes::<f64>(4).unwrap();
        std::thread::scope(|scope| {
            for (number, lane) in lanes.iter_mut().enumerate() {
                scope.spawn(move || {
                    for i in 0..40_000 {
                        lane.push(f64::from(i) + number as f64).unwrap();
                    }
                    for i in (0..40_000).rev() {
                        assert_eq!(lane.pop().unwrap(), Some(f64::from(i) + number as f64));
                    }
                });
            }
        });
        let mut records: RecordTape = options(&tier).open_records().unwrap();
        for i in 0..20_000_u32 {
            records.push([i, i + 1, i + 2, i + 3]).unwrap();
        }
        for i in (0..20_000_u32).rev() {
            assert_eq!(records.pop::<[u32; 4]>().unwrap(), [i, i + 1, i + 2, i + 3]);
        }
        drop((lanes, records));
        tier.close().unwrap();
    });
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
    Get(u16),
    Truncate(u16),
    SetMemory(usize),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..4000_usize).prop_map(Step::Push),
        4 => (0..4000_usize).prop_map(Step::Pop),
        3 => any::<u16>().prop_map(Step::Get),
        1 => any::<u16>().prop_map(Step::Truncate),
        1 => (3..9_usize).prop_map(Step::SetMemory),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 1..40)
}

fn compare(steps: &[Step], tier: Arc<dyn Tier>) {
    let small = TapeOptions::new().memory(4 * 4096).slab_bytes(4096).tier(tier);
    let mut tape: LayeredTape<u64> = small.open().unwrap();
    let mut model: Vec<u64> = Vec::new();
    let mut next = 0_u64;
    for step in steps {
        match *step {
            Step::Push(count) => {
                for _ in 0..count {
                    next = next.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    tape.push(next).unwrap();
                    model.push(next);
                }
            }
            Step::Pop(count) => {
                for _ in 0..count {
                    assert_eq!(tape.pop().unwrap(), model.pop());
                }
            }
            Step::Get(at) if !model.is_empty() => {
                let at = at as usize % model.len();
                assert_eq!(tape.get(at).unwrap(), Some(model[at]));
            }
            Step::Truncate(at) if !model.is_empty() => {
                let at = at as usize % model.len();
                tape.truncate(at).unwrap();
                model.truncate(at);
            }
            Step::SetMemory(slabs) => tape.set_memory(slabs * 4096).unwrap(),
            Step::Clear => {
                tape.clear();
                model.clear();
            }
            Step::Get(_) | Step::Truncate(_) => {}
        }
        assert_eq!(tape.len(), model.len());
    }
    while let Some(value) = model.pop() {
        assert_eq!(tape.pop().unwrap(), Some(value));
    }
    assert!(tape.is_empty());
}

#[test]
fn random_operations_against_a_vec() {
    on_every_store(|url| {
        let cases = if url.starts_with("memory") { 60 } else { 15 };
        let mut runner = TestRunner::new(Config { cases, ..Config::default() });
        let tier = Arc::new(RemoteTier::open_with(url, hasty().in_flight(5)).unwrap());
        let outcome = runner.run(&steps(), |steps| {
            compare(&steps, Arc::clone(&tier) as Arc<dyn Tier>);
            Ok(())
        });
        outcome.unwrap();
        tier.close().unwrap();
    });
}

#[test]
fn below_a_disk_and_below_memory() {
    on_every_store(|url| {
        let directory = tempfile::tempdir().unwrap();
        let uppers: [Arc<dyn Tier>; 2] = [
            Arc::new(DiskTier::open(DiskOptions::new(directory.path())).unwrap()),
            Arc::new(MemoryTier::new()),
        ];
        for upper in uppers {
            let remote = Arc::new(RemoteTier::open_with(url, hasty()).unwrap());
            let below = Arc::clone(&remote) as Arc<dyn Tier>;
            let tier = Arc::new(StackedTier::new(upper, 6 * SLAB as u64, below));
            let mut tape: LayeredTape<u64> = on_tier(tier).open().unwrap();
            let most = 50 * SLAB as u64 / 8;
            for value in 0..most {
                tape.push(value).unwrap();
            }
            let stats = remote.stats();
            assert!(stats.objects_written >= 30, "{stats}");
            for value in (0..most).rev() {
                assert_eq!(tape.pop().unwrap(), Some(value));
            }
            drop(tape);
            remote.close().unwrap();
        }
    });
}

#[test]
fn a_closed_tier_says_so() {
    let tier = Arc::new(RemoteTier::open("memory:///closed").unwrap());
    let mut tape: LayeredTape<u64> = options(&tier).open().unwrap();
    for value in 0..60 * SLAB as u64 / 8 {
        tape.push(value).unwrap();
    }
    tier.close().unwrap();
    tier.close().unwrap();
    let error = loop {
        match tape.pop() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("what was deleted came back"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("closed"), "{error}");
}
