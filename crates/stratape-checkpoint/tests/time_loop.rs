//! The driver: every strategy gives the gradient of a plain reversal, to the last bit.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::{Arc, Mutex};

use common::{State, plain, pullback, seed, start, step};
use proptest::prelude::*;
use stratape_checkpoint::{CheckpointError, Doing, Progress, Report, Strategy, TimeLoop};
use stratape_tape::tier::MemoryTier;

fn run(time_loop: TimeLoop<State>) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    time_loop.gradient(step, seed, pullback)
}

fn strategies() -> Vec<Strategy> {
    vec![
        Strategy::Auto,
        Strategy::StoreAll,
        Strategy::Revolve,
        Strategy::Multistage,
        Strategy::HRevolve { forward: 1.0, backward: 2.0, write: 1.5, read: 0.5 },
        Strategy::Mixed,
        Strategy::Periodic(7),
        Strategy::Online,
    ]
}

#[test]
fn the_pullback_of_these_tests_is_right() {
    let begin = start(4);
    let (_, gradient) = plain(&begin, 12);
    let value = |state: &State| {
        let mut state = state.clone();
        (0..12).for_each(|n| step(n, &mut state));
        state.0.iter().map(|x| x * x).sum::<f64>()
    };
    for (i, known) in gradient.iter().enumerate() {
        let (mut up, mut down) = (begin.clone(), begin.clone());
        up.0[i] += 1e-6;
        down.0[i] -= 1e-6;
        let slope = (value(&up) - value(&down)) / 2e-6;
        assert!((slope - known).abs() < 1e-6 * slope.abs().max(1.0), "{slope} {known}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_strategy_gives_the_same_bits(
        steps in 0_usize..150,
        slots in 1_usize..20,
        disk in 0_usize..20,
        which in 0_usize..8,
        until: bool,
        check: bool,
        synchronous: bool,
    ) {
        let strategy = strategies()[which];
        let begin = start(5);
        let mut time_loop =
            TimeLoop::new(begin.clone()).slots(slots).schedule(strategy).check(check).synchronous(synchronous);
        if disk > 0 {
            time_loop = time_loop.disk_slots(std::env::temp_dir(), disk).tier(Arc::new(MemoryTier::new()));
        }
        let time_loop = match until {
            true => time_loop.until(move |state| state.1 >= steps as u64),
            false => time_loop.steps(steps),
        };
        match run(time_loop) {
            Ok((last, adjoint, report)) => {
                let expected = plain(&begin, steps);
                prop_assert_eq!((last, adjoint), expected, "{}", report);
                prop_assert_eq!(report.steps, steps);
                prop_assert_eq!(report.reversed as usize, steps);
                prop_assert!(report.mended.is_empty());
            }
            Err(CheckpointError::Schedule(_)) => {
                prop_assert!(matches!(strategy, Strategy::StoreAll | Strategy::Periodic(_)), "{:?}", strategy);
            }
            Err(CheckpointError::Settings(_)) => prop_assert!(until),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn records_of_the_user_are_a_stack(steps in 0_usize..120, slots in 1_usize..20, which in 0_usize..8) {
        let begin = start(3);
        let tape = Mutex::new(Vec::new());
        let record = |n: usize, state: &mut State| {
            tape.lock().unwrap().push((n, state.clone()));
            step(n, state);
        };
        let reverse = |n: usize, adjoint: &mut Vec<f64>| {
            let (taped, state) = tape.lock().unwrap().pop().unwrap();
            assert_eq!(taped, n);
            pullback(n, &state, adjoint);
        };
        let time_loop = TimeLoop::new(begin.clone()).steps(steps).slots(slots).schedule(strategies()[which]);
        match time_loop.gradient_taped(step, record, seed, reverse) {
            Ok((last, adjoint, _)) => prop_assert_eq!((last, adjoint), plain(&begin, steps)),
            Err(CheckpointError::Schedule(_)) => prop_assert!(steps > slots),
            Err(error) => prop_assert!(false, "{error}"),
        }
        prop_assert!(tape.lock().unwrap().is_empty());
    }
}

#[test]
fn a_real_disk_and_what_the_report_says() {
    let begin = start(20_000);
    let directory = tempfile::tempdir().unwrap();
    let time_loop = TimeLoop::new(begin.clone())
        .steps(60)
        .slots(2)
        .disk_slots(directory.path(), 6)
        .schedule(Strategy::Multistage);
    let plan = time_loop.plan().unwrap();
    let (last, adjoint, report) = run(time_loop).unwrap();
    assert_eq!((last, adjoint), plain(&begin, 60));
    assert_eq!(report.writes[1] * 163_840, report.bytes_written);
    assert_eq!(plan.advanced, report.advanced - 1, "the last step is run to know the last state");
    assert!(report.disk_peak <= 6 && report.disk_peak > 2);
    assert!(report.tier.contains("disk"), "{report}");
    assert!(plan.memory_peak >= report.memory_peak);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    assert!(report.to_string().contains("Multistage"));
    assert!(plan.to_string().contains("times one plain gradient"));
}

#[test]
fn one_is_not_written_as_several() {
    let loop_of = |steps: usize, schedule: Strategy| {
        TimeLoop::new(start(3)).steps(steps).slots(1).schedule(schedule)
    };
    let told = run(loop_of(1, Strategy::Revolve)).unwrap().2.to_string();
    assert!(told.starts_with("1 step reversed by Revolve, 1 slot in memory\n"), "{told}");
    let plan = loop_of(1, Strategy::Revolve).plan().unwrap().to_string();
    assert!(plan.contains(": 1 step run, 1 reversed"), "{plan}");
    let told = run(loop_of(9, Strategy::Auto)).unwrap().2.to_string();
    assert!(told.contains("with 1 slot in memory and no disk"), "{told}");
    assert!(told.contains("9 steps reversed by Revolve, 1 slot in memory"), "{told}");
}

#[test]
fn states_kept_for_every_step_are_counted_and_recorded() {
    let time_loop =
        || TimeLoop::new(start(1000)).steps(5000).schedule(Strategy::StoreAll).record(true);
    let report = run(time_loop()).unwrap().2;
    assert_eq!(report.memory_peak, 5000 * 8016, "{report}");
    assert_eq!((report.writes, report.reads), ([5000, 0], [5000, 0]));
    assert_eq!(time_loop().plan().unwrap().memory_peak, report.memory_peak);
    let course = report.course.unwrap();
    let held: Vec<_> =
        course.spans.iter().filter(|span| matches!(span.doing, Doing::Hold(_))).collect();
    // From the first to the last, and not more than can be seen.
    assert!((200..1024).contains(&held.len()), "{}", held.len());
    assert!(held.iter().any(|span| span.from == 0) && held.iter().any(|span| span.from > 4000));

    // Records that the user keeps are no snapshots.
    let pulled = Mutex::new(Vec::new());
    let taped = time_loop().gradient_taped(
        step,
        |n, state: &mut State| {
            pulled.lock().unwrap().push(state.clone());
            step(n, state);
        },
        seed,
        |n, adjoint: &mut Vec<f64>| pullback(n, &pulled.lock().unwrap().pop().unwrap(), adjoint),
    );
    assert_eq!(taped.unwrap().2.memory_peak, 0);
}

#[test]
fn auto_says_what_it_chose_and_why() {
    let begin = start(1000);
    let report = |time_loop: TimeLoop<State>| run(time_loop).unwrap().2;
    let all = report(TimeLoop::new(begin.clone()).steps(10));
    assert!(all.schedule.starts_with("StoreAll") && all.why.contains("room in memory"), "{all}");
    let few = report(TimeLoop::new(begin.clone()).steps(100).slots(5));
    assert!(few.schedule.starts_with("Revolve") && few.why.contains("no disk"), "{few}");
    let disk =
        TimeLoop::new(begin.clone()).steps(100).slots(2).disk_slots(std::env::temp_dir(), 50);
    let disk = report(disk);
    assert!(disk.why.contains("a step takes") && disk.why.contains("times as long"), "{disk}");
    let unknown = TimeLoop::new(begin).until(|state| state.1 == 50).slots(5);
    assert!(report(unknown).schedule.starts_with("Online"));
}

#[test]
fn budgets_in_bytes() {
    let begin = start(1000); // 8016 bytes
    let refused = TimeLoop::new(begin.clone()).steps(10).memory(8000);
    assert!(matches!(refused.plan(), Err(CheckpointError::Budget { snapshot: 8016, .. })));
    assert!(run(refused).unwrap_err().to_string().contains("raise it with `memory`"));
    let one = TimeLoop::new(begin.clone()).steps(10).memory(8016).schedule(Strategy::Revolve);
    let (_, adjoint, report) = run(one).unwrap();
    assert_eq!(adjoint, plain(&begin, 10).1);
    assert_eq!((report.advanced, report.memory_peak), (46, 8016));
    // Two on their way, none to stay: all snapshots are on disk.
    let disk = TimeLoop::new(begin.clone())
        .steps(30)
        .memory(2 * 8016)
        .disk(std::env::temp_dir(), 5 * 8192)
        .schedule(Strategy::Multistage);
    let (_, adjoint, report) = run(disk).unwrap();
    assert_eq!(adjoint, plain(&begin, 30).1);
    assert!(report.memory_peak == 0 && report.disk_peak == 5, "{report}");
}

/// All of a budget of two states was set aside for transfers to a disk without slots, and the loop refused for want of memory.
#[test]
fn a_disk_without_room_takes_no_memory() {
    let begin = start(1000); // 8016 bytes
    for states in 1..5 {
        for disk in [None, Some(0), Some(8015)] {
            for strategy in [Strategy::Auto, Strategy::Multistage, Strategy::Revolve] {
                let mut time_loop = TimeLoop::new(begin.clone()).steps(20).memory(states * 8016);
                time_loop = match disk {
                    None => time_loop.disk_slots(std::env::temp_dir(), 0),
                    Some(bytes) => time_loop.disk(std::env::temp_dir(), bytes),
                };
                let time_loop = time_loop.schedule(strategy);
                let plan = time_loop.plan().unwrap();
                let (_, adjoint, report) = run(time_loop).unwrap();
                assert_eq!(adjoint, plain(&begin, 20).1);
                assert_eq!(report.memory_peak as u64, states * 8016, "{report}");
                assert_eq!((report.writes[1], plan.memory_peak), (0, report.memory_peak));
            }
        }
    }
}

#[test]
fn loops_that_do_not_end_and_settings_that_cannot_be() {
    let endless = TimeLoop::new(start(3)).until(|_| false).slots(4).at_most(1000);
    assert!(matches!(run(endless), Err(CheckpointError::TooManySteps { limit: 1000 })));
    let ends = TimeLoop::new(start(3)).until(|state| state.1 == 1000).slots(4).at_most(1000);
    assert_eq!(run(ends).unwrap().2.steps, 1000);
    let no_length = run(TimeLoop::new(start(3)).slots(4)).unwrap_err();
    assert!(no_length.to_string().contains("how long is the loop"));
    let unknown = TimeLoop::new(start(3)).until(|_| true).slots(4).schedule(Strategy::Revolve);
    assert!(run(unknown).unwrap_err().to_string().contains("must know the number of steps"));
    let few = TimeLoop::new(start(3)).steps(10).slots(4).schedule(Strategy::StoreAll);
    assert!(run(few).unwrap_err().to_string().contains("needs 10 slots and has 4"));
    let none = TimeLoop::new(start(3)).steps(10).slots(0);
    assert!(run(none).unwrap_err().to_string().contains("without slots"));
}

#[test]
fn progress_goes_from_nothing_to_all() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let time_loop = TimeLoop::new(start(3))
        .steps(200)
        .slots(4)
        .on_progress(move |progress| kept.lock().unwrap().push(*progress));
    run(time_loop).unwrap();
    let told = told.lock().unwrap();
    let fractions: Vec<f64> = told.iter().filter_map(Progress::fraction).collect();
    assert!(fractions.is_sorted() && fractions.len() == told.len());
    assert!(fractions.last().unwrap() > &0.99, "{:?}", told.last());
    assert_eq!(told.last().unwrap().reversed, 200);
}

#[test]
fn a_step_that_depends_on_something_else_is_named() {
    let drifting = |from: usize| {
        let mut calls = 0;
        move |n: usize, state: &mut State| {
            calls += 1;
            step(n, state);
            if n >= from && calls > 60 {
                state.0[1] += 1e-12;
            }
        }
    };
    let time_loop = || TimeLoop::new(start(4)).steps(50).slots(3).check(true);
    let found = time_loop().gradient(drifting(20), seed, pullback).unwrap_err();
    assert!(matches!(found, CheckpointError::NotReproducible { step: 20.., .. }), "{found}");
    assert!(found.to_string().contains("outside its state"));
    time_loop().gradient(drifting(1000), seed, pullback).unwrap();
    let mut first = true;
    let once = |n: usize, state: &mut State| {
        step(n, state);
        state.0[2] += f64::from(u8::from(std::mem::take(&mut first)));
    };
    let found = time_loop().gradient(once, seed, pullback).unwrap_err();
    // Eight bytes of length, then the third number; where in it depends on its bits.
    assert!(
        matches!(found, CheckpointError::NotReproducible { step: 0, byte: Some(24..32) }),
        "{found}"
    );
}

#[test]
fn a_panic_of_a_step_comes_through_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let panicked = std::panic::catch_unwind(move || {
        let mut calls = 0;
        let failing = |n: usize, state: &mut State| {
            calls += 1;
            assert!(calls < 70, "enough");
            step(n, state);
        };
        TimeLoop::new(start(1000))
            .steps(50)
            .slots(1)
            .disk_slots(path, 4)
            .gradient(failing, seed, pullback)
    });
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"enough"));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_loop_in_the_middle_of_a_program() {
    let begin = start(6);
    let swept = TimeLoop::new(begin.clone()).steps(40).slots(5).forward(step).unwrap();
    let (last, adjoint) = plain(&begin, 40);
    assert_eq!((swept.state(), swept.steps()), (&last, 40));
    let first = seed(swept.state());
    assert_eq!(swept.reverse(step, first, pullback).unwrap().0, adjoint);
}
