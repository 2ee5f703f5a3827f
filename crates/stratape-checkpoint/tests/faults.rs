//! Disks that fail: the gradient is right all the same, or the error says what to do.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::io::ErrorKind;
use std::sync::Arc;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};
use stratape_tape::tier::{
    Block, Done, Fault, FaultyTier, MemoryTier, Operation, SlabKey, Tier, TierError,
};

const STEPS: usize = 120;

fn on(
    strategy: Strategy,
    slots: usize,
    plan: impl Fn(u64, Operation) -> Fault + Send + Sync + 'static,
) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    TimeLoop::new(start(5))
        .steps(STEPS)
        .slots(slots)
        .disk_slots(std::env::temp_dir(), 8)
        .tier(Arc::new(FaultyTier::new(MemoryTier::new(), plan)))
        .schedule(strategy)
        .gradient(step, seed, pullback)
}

fn strategies() -> [Strategy; 3] {
    [
        Strategy::Multistage,
        Strategy::HRevolve { forward: 1.0, backward: 1.0, write: 0.1, read: 0.1 },
        Strategy::Periodic(15),
    ]
}

/// Every operation in turn is the first that fails, and all writes after it.
#[test]
fn a_disk_that_fills_up_at_any_moment() {
    let expected = plain(&start(5), STEPS);
    for strategy in strategies() {
        for slots in [1, 3] {
            let mut mended = 0;
            for full_from in 0..40 {
                let plan = move |number, operation| match operation {
                    Operation::Write if number >= full_from => Fault::Fail(ErrorKind::StorageFull),
                    _ => Fault::Pass,
                };
                let (last, adjoint, report) = on(strategy, slots, plan).unwrap();
                assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{full_from}: {report}");
                mended += report.mended.len();
            }
            assert!(mended > 0);
        }
    }
}

#[test]
fn a_damaged_snapshot_is_made_again_from_an_earlier_one() {
    let expected = plain(&start(5), STEPS);
    for strategy in strategies() {
        let mut mended = 0;
        for (damaged, width) in (0..40).flat_map(|damaged| [(damaged, 1), (damaged, 2)]) {
            let plan = move |number, operation| match operation {
                Operation::Read if number >= damaged && number < damaged + width => Fault::FlipBit,
                _ => Fault::Pass,
            };
            match on(strategy, 2, plan) {
                Ok((last, adjoint, report)) => {
                    assert_eq!(
                        (&last, &adjoint),
                        (&expected.0, &expected.1),
                        "{damaged}: {report}"
                    );
                    mended += report.mended.len();
                }
                // The first state, and nothing before it.
                Err(CheckpointError::Lost { step: 0, .. }) => {}
                Err(error) => panic!("{damaged}: {error}"),
            }
        }
        assert!(mended > 0, "{strategy:?}");
    }
}

#[test]
fn without_a_slot_in_memory_a_full_disk_is_an_error() {
    let plan = |number, operation| match operation {
        Operation::Write if number >= 3 => Fault::Fail(ErrorKind::StorageFull),
        _ => Fault::Pass,
    };
    let error = on(Strategy::Multistage, 0, plan).unwrap_err();
    assert!(matches!(error, CheckpointError::DiskFailed { resumable: None, .. }), "{error}");
    assert!(error.to_string().contains("give some with `memory`"));
}

#[test]
fn a_directory_that_is_not_there() {
    let nowhere = TimeLoop::new(start(5)).steps(10).slots(2).disk_slots("/nowhere/at/all", 3);
    let error = nowhere.gradient(step, seed, pullback).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

#[test]
fn a_slow_disk_costs_time_and_nothing_else() {
    let plan = |_, _| Fault::Delay(std::time::Duration::from_millis(1));
    let (last, adjoint, report) = on(Strategy::Multistage, 1, plan).unwrap();
    assert_eq!((last, adjoint), plain(&start(5), STEPS));
    assert!(report.waited[1] > std::time::Duration::ZERO);
}

/// A tier that reports failures late.
struct Late {
    below: MemoryTier,
    failing_from: u64,
    delay: std::time::Duration,
    writes: std::sync::atomic::AtomicU64,
}

impl Tier for Late {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        if self.writes.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < self.failing_from {
            return self.below.write(key, block, done);
        }
        let delay = self.delay;
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            done(block, Err(TierError::Full { needed: 1, limit: None }));
        });
    }
    fn read(&self, key: SlabKey, block: Block, done: Done) {
        self.below.read(key, block, done);
    }
    fn forget(&self, key: SlabKey) {
        self.below.forget(key);
    }
    fn stored_bytes(&self) -> u64 {
        self.below.stored_bytes()
    }
    fn describe(&self) -> String {
        "late".to_owned()
    }
}

/// A failure heard of between taking a snapshot up for the last time and dropping it once left its slot, with another state in it,
/// to the schedule that went on.
#[test]
fn a_failure_heard_of_at_any_moment() {
    let expected = plain(&start(5), STEPS);
    for strategy in strategies() {
        for number in 0..60 {
            let tier = Late {
                below: MemoryTier::new(),
                failing_from: number % 12,
                delay: std::time::Duration::from_micros(100 * number),
                writes: std::sync::atomic::AtomicU64::new(0),
            };
            let (last, adjoint, report) = TimeLoop::new(start(5))
                .steps(STEPS)
                .slots(2)
                .disk_slots(std::env::temp_dir(), 8)
                .tier(Arc::new(tier))
                .schedule(strategy)
                .gradient(step, seed, |n, state, adjoint| {
                    std::thread::sleep(std::time::Duration::from_micros(20));
                    pullback(n, state, adjoint);
                })
                .unwrap();
            assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{number}: {report}");
        }
    }
}

/// How a tier breaks its contract.
#[derive(Clone, Copy, Debug)]
enum Breach {
    DropsWrite,
    DropsRead,
    PanicsInWrite,
    PanicsInRead,
    OtherBlock,
}

struct Breaking {
    below: MemoryTier,
    breach: Breach,
    from: u64,
    calls: std::sync::atomic::AtomicU64,
}

impl Breaking {
    /// Three calls in a row are not as they should be.
    fn breaks(&self) -> bool {
        let call = self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (self.from..self.from + 3).contains(&call)
    }
}

impl Tier for Breaking {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        match self.breach {
            Breach::DropsWrite if self.breaks() => drop((block, done)),
            Breach::PanicsInWrite if self.breaks() => panic!("write"),
            Breach::OtherBlock if self.breaks() => done(Block::zeroed(1).unwrap(), Ok(())),
            _ => self.below.write(key, block, done),
        }
    }
    fn read(&self, key: SlabKey, block: Block, done: Done) {
        match self.breach {
            Breach::DropsRead if self.breaks() => drop((block, done)),
            Breach::PanicsInRead if self.breaks() => panic!("read"),
            _ => self.below.read(key, block, done),
        }
    }
    fn forget(&self, key: SlabKey) {
        self.below.forget(key);
    }
    fn stored_bytes(&self) -> u64 {
        self.below.stored_bytes()
    }
    fn describe(&self) -> String {
        "breaking".to_owned()
    }
}

/// A snapshot whose memory the tier keeps is gone; it is computed again like one that cannot be read.
#[test]
fn a_tier_that_breaks_its_contract_at_any_moment() {
    let expected = plain(&start(5), STEPS);
    let breaches = [
        Breach::DropsWrite,
        Breach::DropsRead,
        Breach::PanicsInWrite,
        Breach::PanicsInRead,
        Breach::OtherBlock,
    ];
    for breach in breaches {
        let mut mended = 0;
        for (strategy, from) in strategies().into_iter().flat_map(|s| (0..20).map(move |k| (s, k)))
        {
            let below = MemoryTier::new();
            let calls = std::sync::atomic::AtomicU64::new(0);
            let outcome = TimeLoop::new(start(5))
                .steps(STEPS)
                .slots(2)
                .disk_slots(std::env::temp_dir(), 8)
                .tier(Arc::new(Breaking { below, breach, from, calls }))
                .schedule(strategy)
                .gradient(step, seed, pullback);
            match outcome {
                Ok((last, adjoint, report)) => {
                    assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{breach:?} {from}");
                    mended += report.mended.len();
                }
                // The first state is among those that are gone.
                Err(CheckpointError::Lost { .. }) if from == 0 => {}
                Err(CheckpointError::Lost { step: 0, .. }) => {}
                Err(error) => panic!("{breach:?} {strategy:?} {from}: {error}"),
            }
        }
        assert!(mended > 0, "{breach:?}");
    }
}
