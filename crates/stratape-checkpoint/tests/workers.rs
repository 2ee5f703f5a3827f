//! Workers ahead of the adjoint: the bits of the serial run, whatever the numbers.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{State, plain, pullback, seed, start, step};
use proptest::prelude::*;
use stratape_checkpoint::{CheckpointError, TimeLoop};
use stratape_tape::tier::MemoryTier;

type Lane = Vec<(usize, State)>;

fn record(n: usize, state: &mut State, lane: &mut Lane) {
    lane.push((n, state.clone()));
    step(n, state);
}

fn reverse(n: usize, lane: &mut Lane, adjoint: &mut Vec<f64>) {
    let (taped, state) = lane.pop().unwrap();
    assert_eq!(taped, n, "a lane of another segment");
    pullback(n, &state, adjoint);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn states_and_records_give_the_same_bits(
        steps in 0_usize..200,
        slots in 1_usize..60,
        disk in 0_usize..30,
        workers in 0_usize..4,
        segment in 0_usize..20,
    ) {
        let begin = start(4);
        let time_loop = || {
            let time_loop = TimeLoop::new(begin.clone()).steps(steps).slots(slots);
            match disk {
                0 => time_loop,
                _ => time_loop.disk_slots(".", disk).tier(Arc::new(MemoryTier::new())),
            }
        };
        let expected = plain(&begin, steps);
        let (last, adjoint, report) = time_loop().gradient_on(workers, step, seed, pullback).unwrap();
        prop_assert_eq!(&(last, adjoint), &expected);
        prop_assert_eq!(report.reversed as usize, steps);
        let taped = time_loop().gradient_taped_on(workers, segment, step, record, seed, reverse);
        let (last, adjoint, report) = taped.unwrap();
        prop_assert_eq!(&(last, adjoint), &expected, "{}", report);
    }
}

#[test]
fn panics_of_workers_and_of_the_adjoint_come_through() {
    for slots in [3, 100] {
        let calls = AtomicUsize::new(0);
        let failing = |n: usize, state: &mut State, lane: &mut Lane| {
            assert!(calls.fetch_add(1, Ordering::Relaxed) < 40, "enough");
            record(n, state, lane);
        };
        let run = || {
            let time_loop = TimeLoop::new(start(4)).steps(100).slots(slots);
            time_loop.gradient_taped_on(2, 2, step, failing, seed, reverse)
        };
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"enough"), "{slots} slots");
        let run = || {
            TimeLoop::new(start(4)).steps(100).slots(slots).gradient_on(2, step, seed, |n, _, _| {
                assert!(n > 50, "far enough");
            })
        };
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"far enough"), "{slots} slots");
        let run = || {
            let failing = |_: usize, _: &mut State| panic!("at once");
            TimeLoop::new(start(4)).steps(100).slots(slots).gradient_on(2, failing, seed, pullback)
        };
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"at once"), "{slots} slots");
    }
}

#[test]
fn what_workers_cannot_do_is_said() {
    let unknown = TimeLoop::new(start(4)).until(|_| true).slots(3);
    let error = unknown.gradient_on(1, step, seed, pullback).unwrap_err();
    assert!(error.to_string().contains("must know the number of steps"));
    let checked = TimeLoop::new(start(4)).steps(3).slots(3).check(true);
    assert!(
        checked.gradient_on(1, step, seed, pullback).unwrap_err().to_string().contains("neither")
    );
    let none = TimeLoop::new(start(4)).steps(30).slots(0);
    let error = none.gradient_taped_on(1, 5, step, record, seed, reverse).unwrap_err();
    assert!(matches!(error, CheckpointError::Schedule(_)), "{error}");
}
