//! The directory of a run to be resumed is the user's: what he keeps there stays.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};

const STEPS: usize = 120;

/// A run that crashes at one of its reversals, or in the loop.
fn run(directory: &Path, crash: usize) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    let mut calls = 0;
    let mut reversed = 0;
    TimeLoop::new(start(50))
        .steps(STEPS)
        .slots(3)
        .disk_slots(directory, 10)
        .schedule(Strategy::Periodic(15))
        .resume(directory)
        .save_every(12)
        .gradient(
            move |n, state| {
                calls += 1;
                assert!(calls != crash, "crash");
                step(n, state);
            },
            seed,
            move |n, state, adjoint| {
                reversed += 1;
                assert!(STEPS + reversed != crash, "crash");
                pullback(n, state, adjoint);
            },
        )
}

fn crash(directory: &Path, at: usize) {
    assert!(catch_unwind(AssertUnwindSafe(|| run(directory, at))).is_err(), "at {at}");
}

/// Everything below a directory: files with what is in them, links with where they lead.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_symlink() {
            found.insert(name, fs::read_link(&path).unwrap().to_string_lossy().into_owned().into());
        } else if kind.is_dir() {
            let below = contents(&path);
            found
                .extend(below.into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
            found.insert(name, Vec::new());
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Files, links and directories with names that runs use, or used to.
fn settle(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::create_dir_all(directory).unwrap();
    let token = "0123456789abcdef0123456789abcdef";
    for name in [
        "snapshot-",
        "snapshot-0-0",
        "snapshot-15-2",
        "final-0",
        "final-report",
        "adjoint-1",
        "adjoint-notes.txt",
    ] {
        fs::write(directory.join(name), format!("the user's {name}")).unwrap();
    }
    for name in ["manifest", "manifest.new", "lock", "stratape-notes", "stratape-"] {
        fs::write(directory.join(name), format!("the user's {name}")).unwrap();
    }
    for kind in ["snapshot-0-0", "final-0", "adjoint-0", "manifest.new"] {
        let name = format!("stratape-{token}-{kind}");
        fs::write(directory.join(name), "of a run elsewhere").unwrap();
    }
    symlink("snapshot-0-0", directory.join("snapshot-link")).unwrap();
    symlink("/nowhere/at/all", directory.join("final-link")).unwrap();
    for name in ["snapshot-directory", "adjoint-7", "stratape-run"] {
        fs::create_dir(directory.join(name)).unwrap();
        fs::write(directory.join(name).join("final-1"), "inside").unwrap();
    }
    contents(directory)
}

/// `resume` once deleted all files whose names began like those of a run, emptied a file called `lock`, and failed on a directory
/// called `final-…`.
#[test]
fn files_of_the_user_stay() {
    let place = tempfile::tempdir().unwrap();
    let expected = plain(&start(50), STEPS);
    // In the loop, where it ends, in the reversal; and not at all.
    for at in [5, 50, STEPS, STEPS + 1, STEPS + 2, STEPS + 60, 0] {
        let directory = place.path().join(at.to_string());
        let before = settle(&directory);
        if at > 0 {
            crash(&directory, at);
            let during = contents(&directory);
            assert!(before.iter().all(|(name, bytes)| during.get(name) == Some(bytes)), "{at}");
            // And what comes later.
            fs::write(directory.join("snapshot-30-1"), "more").unwrap();
            crash(&directory, 10_usize.min(at));
        }
        let (last, adjoint, _) = run(&directory, usize::MAX).unwrap();
        assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{at}");
        let mut after = contents(&directory);
        after.remove("snapshot-30-1");
        assert_eq!(after, before, "{at}");
    }
}

/// Links in the place of our own files lead to files that are not ours.
#[test]
fn links_and_directories_in_our_place_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let precious = place.path().join("precious");
    for name in ["stratape.lock", "stratape.manifest"] {
        for kind in ["link", "broken", "directory", "text"] {
            let directory = place.path().join(kind).join(name);
            fs::create_dir_all(&directory).unwrap();
            fs::write(&precious, "precious").unwrap();
            match kind {
                "link" => symlink(&precious, directory.join(name)).unwrap(),
                "broken" => symlink(place.path().join("new"), directory.join(name)).unwrap(),
                "directory" => fs::create_dir(directory.join(name)).unwrap(),
                _ => fs::write(directory.join(name), "the user's").unwrap(),
            }
            let before = fs::symlink_metadata(directory.join(name)).unwrap().len();
            let error = run(&directory, usize::MAX).unwrap_err();
            assert!(error.to_string().contains("director"), "{name} {kind}: {error}");
            assert_eq!(fs::read(&precious).unwrap(), b"precious");
            assert_eq!(fs::symlink_metadata(directory.join(name)).unwrap().len(), before);
            assert!(!place.path().join("new").exists());
        }
    }
}

/// Files of the layout before this one had no token; guessing which were ours is what lost those of the user.
#[test]
fn a_run_of_the_layout_before_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let manifest = "stratape checkpointed run, format 1\nstate f64\nleft 0\nchecksum 0\n";
    fs::write(place.path().join("manifest"), manifest).unwrap();
    fs::write(place.path().join("snapshot-15-2"), "a state").unwrap();
    let before = contents(place.path());
    let error = run(place.path(), usize::MAX).unwrap_err();
    assert!(error.to_string().contains("earlier version"), "{error}");
    assert_eq!(contents(place.path()), before);
}

/// A process that is killed before its first manifest leaves a file that only the lock tells from others.
#[test]
fn what_is_left_of_the_first_moment_is_cleaned_up() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("run");
    crash(&directory, 50);
    let lock = fs::read_to_string(directory.join("stratape.lock")).unwrap();
    let token = lock.trim().rsplit(' ').next().unwrap();
    fs::write(directory.join(format!("stratape-{token}-manifest.new")), "torn").unwrap();
    fs::remove_file(directory.join("stratape.manifest")).unwrap();
    run(&directory, usize::MAX).unwrap();
    assert!(!directory.exists(), "{:?}", contents(&directory));
}
