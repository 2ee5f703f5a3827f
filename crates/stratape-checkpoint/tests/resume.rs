//! Runs that are killed and go on: the same bits as without.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};

const STEPS: usize = 300;

fn run(directory: &Path, pause: Duration) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    run_with(TimeLoop::new(start(50)).steps(STEPS), directory, pause)
}

fn run_with(
    time_loop: TimeLoop<State>,
    directory: &Path,
    pause: Duration,
) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    time_loop
        .slots(3)
        .disk_slots(directory, 10)
        .schedule(Strategy::Periodic(40))
        .resume(directory)
        .save_every(2)
        .gradient(
            |n, state| {
                std::thread::sleep(pause);
                step(n, state);
            },
            seed,
            |n, state, adjoint| {
                std::thread::sleep(pause);
                pullback(n, state, adjoint);
            },
        )
}

/// Run as a process of its own by the tests below.
#[test]
#[ignore = "the process that is killed"]
fn child() {
    let directory = std::env::var("RUN_DIRECTORY").unwrap();
    let (last, adjoint, _) = run(directory.as_ref(), Duration::from_micros(300)).unwrap();
    let bits = format!("{:?}", (last, adjoint));
    // Under another name first: whoever sees the result sees all of it.
    let result = std::env::var("RESULT").unwrap();
    let unfinished = format!("{result}.unfinished");
    fs::write(&unfinished, bits).unwrap();
    fs::rename(unfinished, result).unwrap();
}

#[test]
fn killed_at_any_moment_the_run_goes_on() {
    let expected = format!("{:?}", plain(&start(50), STEPS));
    let place = tempfile::tempdir().unwrap();
    let (directory, result) = (place.path().join("run"), place.path().join("result"));
    let (mut kills, mut seen_late) = (0_u64, false);
    for round in 0.. {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "child", "--quiet"])
            .env("RUN_DIRECTORY", &directory)
            .env("RESULT", &result)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A little longer each time, and never at the same moment.
        std::thread::sleep(Duration::from_millis(20 + kills * 13 + (kills * 7919) % 11));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let manifest = fs::read_to_string(directory.join("stratape.manifest")).unwrap_or_default();
        seen_late |= manifest.contains("adjoint-file");
        if result.exists() || round > 200 {
            break;
        }
    }
    assert_eq!(fs::read_to_string(&result).unwrap(), expected, "after {kills} kills");
    assert!(seen_late && kills > 3, "killed {kills} times, in the reversal: {seen_late}");
    let left: Vec<_> = fs::read_dir(&directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(!directory.exists(), "a complete run leaves nothing, not {left:?}");
}

/// Does what a crash in the middle of the reversal leaves behind.
fn begun(directory: &Path) {
    let panicked = std::panic::catch_unwind(|| {
        let mut reversed = 0;
        TimeLoop::new(start(50))
            .steps(STEPS)
            .slots(3)
            .disk_slots(directory, 10)
            .schedule(Strategy::Periodic(40))
            .resume(directory)
            .save_every(2)
            .gradient(step, seed, |n, state, adjoint| {
                reversed += 1;
                assert!(reversed < 100, "crash");
                pullback(n, state, adjoint);
            })
    });
    assert!(panicked.is_err());
    assert!(directory.join("stratape.manifest").exists());
}

#[test]
fn what_was_reversed_is_not_reversed_again() {
    let place = tempfile::tempdir().unwrap();
    begun(place.path());
    let (last, adjoint, report) = run(place.path(), Duration::ZERO).unwrap();
    assert_eq!((last, adjoint), plain(&start(50), STEPS));
    assert_eq!((report.resumed, report.reversed), (Some(98), 202));
}

#[test]
fn snapshots_that_are_damaged_or_gone_are_made_again() {
    for gone in [false, true] {
        let place = tempfile::tempdir().unwrap();
        begun(place.path());
        let snapshots: Vec<_> = fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().contains("snapshot-"))
            .collect();
        assert!(snapshots.len() > 3);
        for path in snapshots {
            if gone {
                fs::remove_file(path).unwrap();
            } else {
                let mut bytes = fs::read(&path).unwrap();
                bytes[100] ^= 4;
                fs::write(path, bytes).unwrap();
            }
        }
        let (last, adjoint, report) =
            run(place.path(), Duration::ZERO).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((last, adjoint), plain(&start(50), STEPS));
        assert!(!report.mended.is_empty());
    }
}

#[test]
fn a_damaged_adjoint_or_last_state_costs_time_and_nothing_else() {
    for file in ["adjoint-", "final-"] {
        let place = tempfile::tempdir().unwrap();
        begun(place.path());
        for entry in fs::read_dir(place.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains(file) {
                fs::write(path, b"nothing").unwrap();
            }
        }
        let (last, adjoint, _) = run(place.path(), Duration::ZERO).unwrap();
        assert_eq!((last, adjoint), plain(&start(50), STEPS), "{file}");
    }
}

#[test]
fn other_runs_are_refused() {
    let place = tempfile::tempdir().unwrap();
    begun(place.path());
    let refused = |time_loop: TimeLoop<State>| {
        let error = run_with(time_loop, place.path(), Duration::ZERO).unwrap_err();
        assert!(matches!(error, CheckpointError::OtherRun { .. }), "{error}");
        error.to_string()
    };
    assert!(refused(TimeLoop::new(start(51)).steps(STEPS)).contains("another state"));
    assert!(refused(TimeLoop::new(start(50)).steps(STEPS + 1)).contains("300 steps, not 301"));
    let other_adjoint = TimeLoop::new(start(50))
        .steps(STEPS)
        .slots(3)
        .resume(place.path())
        .gradient(step, |_| 0.0_f64, |_, _, _| ());
    assert!(other_adjoint.unwrap_err().to_string().contains("its adjoint is a"));
    fs::write(place.path().join("stratape.manifest"), "something else\n").unwrap();
    refused(TimeLoop::new(start(50)).steps(STEPS));
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let place = tempfile::tempdir().unwrap();
    let lock = fs::File::create(place.path().join("stratape.lock")).unwrap();
    lock.lock().unwrap();
    let error = run(place.path(), Duration::ZERO).unwrap_err();
    assert!(error.to_string().contains("another process"), "{error}");
    drop(lock);
    run(place.path(), Duration::ZERO).unwrap();
}

/// A run that saves after every reversal, and crashes at one of them.
fn crashing(
    time_loop: TimeLoop<State>,
    directory: &Path,
    crash_at: u32,
) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    let mut reversed = 0;
    time_loop.resume(directory).save_every(1).gradient(step, seed, move |n, state, adjoint| {
        reversed += 1;
        assert!(reversed < crash_at, "crash");
        pullback(n, state, adjoint);
    })
}

#[test]
fn a_run_in_memory_alone_is_resumable_too() {
    let place = tempfile::tempdir().unwrap();
    let time_loop = |crash_at: u32| {
        let time_loop = TimeLoop::new(start(20)).until(|state| state.1 == 100).slots(4);
        crashing(time_loop, place.path(), crash_at)
    };
    let crashed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| time_loop(40)));
    assert!(crashed.is_err());
    let (last, adjoint, report) = time_loop(u32::MAX).unwrap();
    assert_eq!((last, adjoint), plain(&start(20), 100));
    assert_eq!(report.resumed, Some(39));
}

/// What `Auto` writes to measure the disk once took the name of a snapshot of the run before.
#[test]
fn measuring_the_disk_leaves_the_snapshots_alone() {
    let place = tempfile::tempdir().unwrap();
    let time_loop = |crash_at: u32| {
        let time_loop = TimeLoop::new(start(20)).steps(100).slots(1);
        crashing(time_loop.disk_slots(place.path(), 12), place.path(), crash_at)
    };
    let crashed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| time_loop(30)));
    assert!(crashed.is_err());
    let (last, adjoint, report) = time_loop(u32::MAX).unwrap();
    assert_eq!((last, adjoint), plain(&start(20), 100));
    assert!(report.mended.is_empty(), "{report}");
}
