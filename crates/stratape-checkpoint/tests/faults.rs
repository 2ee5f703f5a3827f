//! Disks that fail: the gradient is right all the same, or the error says what to do.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::io::ErrorKind;
use std::sync::Arc;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation};

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
