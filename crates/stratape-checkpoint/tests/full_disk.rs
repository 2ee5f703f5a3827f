//! A run to be resumed whose directory takes no files any more: it goes on in memory and says so.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};

const STEPS: usize = 60;

/// What happens to the directory of a run, counted in steps of the loop and then in reversals; 0 for never.
#[derive(Clone, Copy, Default)]
struct Fate {
    gone: usize,
    back: usize,
    crash: usize,
}

fn run(directory: &Path, fate: Fate) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    let away = directory.with_extension("away");
    let now = |moment: usize| {
        if moment == fate.gone {
            fs::rename(directory, &away).unwrap();
        }
        if moment == fate.back {
            fs::rename(&away, directory).unwrap();
        }
        assert!(moment != fate.crash, "crash");
    };
    let mut calls = 0;
    TimeLoop::new(start(20))
        .steps(STEPS)
        .slots(5)
        .schedule(Strategy::Revolve)
        .resume(directory)
        .save_every(1)
        .gradient(
            |n, state| {
                calls += 1;
                if calls <= STEPS {
                    now(calls);
                }
                step(n, state);
            },
            seed,
            |n, state, adjoint| {
                now(STEPS + STEPS - n);
                // Longer than the pause before a save is tried again.
                std::thread::sleep(Duration::from_millis(3));
                pullback(n, state, adjoint);
            },
        )
}

/// Saves that failed once ended the run, with all its work, although it needed nothing but memory.
#[test]
fn a_save_that_fails_is_no_end() {
    let expected = plain(&start(20), STEPS);
    for gone in [1, 30, STEPS, STEPS + 1, STEPS + 2, STEPS + 40] {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("run");
        let (last, adjoint, report) = run(&directory, Fate { gone, ..Fate::default() }).unwrap();
        assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{gone}");
        assert!(report.failed_saves > 0, "{gone}: {report}");
        assert!(report.mended.iter().any(|told| told.contains("could not be saved")), "{report}");
    }
}

#[test]
fn what_was_saved_before_and_after_is_there() {
    let expected = plain(&start(20), STEPS);
    for gone in [1, STEPS, STEPS + 2, STEPS + 10] {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("run");
        // There is no room until the end.
        let fate = Fate { gone, back: 0, crash: STEPS + 40 };
        assert!(catch_unwind(AssertUnwindSafe(|| run(&directory, fate))).is_err());
        fs::rename(directory.with_extension("away"), &directory).unwrap();
        // There is room again, and the run is saved as it should have been.
        let fate = Fate { gone: STEPS + 12, back: STEPS + 22, crash: STEPS + 50 };
        assert!(catch_unwind(AssertUnwindSafe(|| run(&directory, fate))).is_err());
        let (last, adjoint, report) = run(&directory, Fate::default()).unwrap();
        assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{gone}");
        assert!(report.resumed >= Some(45), "{gone}: {report}");
        assert!(!directory.exists());
    }
}

/// Run as a process of its own, whose files may not grow, by the test below.
#[test]
#[ignore = "the process with little room"]
fn child() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("run");
    let time_loop = || {
        TimeLoop::new(start(300))
            .steps(STEPS)
            .slots(3)
            .disk_slots(&directory, 4)
            .schedule(Strategy::Multistage)
            .resume(&directory)
            .save_every(1)
    };
    let mut reversed = 0;
    let crashed = catch_unwind(AssertUnwindSafe(|| {
        time_loop().gradient(step, seed, |n, state, adjoint| {
            reversed += 1;
            assert!(reversed < 20, "crash");
            pullback(n, state, adjoint);
        })
    }));
    assert!(crashed.is_err());
    let (last, adjoint, report) = time_loop().gradient(step, seed, pullback).unwrap();
    assert_eq!((last, adjoint), plain(&start(300), STEPS));
    println!("failed saves: {}", report.failed_saves);
    println!("{report}");
    assert!(!directory.exists());
}

/// States are 2416 bytes and take blocks of 4096: first nothing can be written, then the manifest, then the states, then all.
#[test]
fn a_disk_without_room() {
    for (kib, fails) in [(0, true), (1, true), (2, true), (3, false), (4, false)] {
        let output = Command::new("bash")
            .args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", &kib.to_string()])
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "child", "--nocapture"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{kib}: {told}{errors}");
        assert_eq!(!told.contains("failed saves: 0\n"), fails, "{kib}: {told}");
    }
}
