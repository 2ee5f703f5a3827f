//! Files of a run that have been tampered with: computed again, whatever they are now.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};
use stratape_tape::checksum;

const STEPS: usize = 80;
const LIMIT: Duration = Duration::from_secs(30);

/// With `crash_at` of the reversals; 0 is a crash in the loop.
fn run(
    directory: &Path,
    crash_at: Option<u32>,
) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    let (mut calls, mut reversed) = (0, 0);
    TimeLoop::new(start(50))
        .steps(STEPS)
        .slots(3)
        .disk_slots(directory, 8)
        .schedule(Strategy::Periodic(10))
        .resume(directory)
        .save_every(if crash_at.is_some() { 5 } else { 1000 })
        .gradient(
            |n, state| {
                calls += 1;
                if crash_at == Some(0) && calls == 55 {
                    // Snapshots are noted in the loop every two seconds.
                    std::thread::sleep(Duration::from_millis(2100));
                }
                assert!(crash_at != Some(0) || calls < 75, "crash");
                step(n, state);
            },
            seed,
            |n, state, adjoint| {
                reversed += 1;
                assert!(crash_at != Some(reversed), "crash");
                pullback(n, state, adjoint);
            },
        )
}

fn files(directory: &Path, kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.to_string_lossy().contains(kind)).collect();
    found.sort();
    found
}

/// Sets the length of the file, in the manifest too, as if it had always been so long.
fn lengthen(directory: &Path, path: &Path, len: u64) {
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let words: Vec<&str> = name.split('-').collect();
    let (kind, step, number) = (words[2], words[3], words[4]);
    let line = match kind {
        "snapshot" => format!("snapshot {step} {number} "),
        "final" => format!("last-state {number} "),
        _ => format!("adjoint-file {number} "),
    };
    let manifest = directory.join("stratape.manifest");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    lines.pop();
    for found in lines.iter_mut().filter(|found| found.starts_with(&line)) {
        *found = format!("{line}{len} 0");
    }
    let body = lines.join("\n");
    fs::write(manifest, format!("{body}\nchecksum {}\n", checksum(body.as_bytes()))).unwrap();
}

type Harm = fn(&Path, &Path, &Path);

/// What can become of a file; the second one is another of the kind, where there is one.
const HARMS: [(&str, Harm); 12] = [
    ("emptied", |_, path, _| fs::write(path, b"").unwrap()),
    ("cut short", |_, path, _| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    }),
    ("longer", |_, path, _| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, [&bytes[..], &[0]].concat()).unwrap();
    }),
    ("sparse", |_, path, _| {
        File::options().write(true).open(path).unwrap().set_len(200 << 30).unwrap();
    }),
    ("sparse and so in the manifest", |directory, path, _| {
        lengthen(directory, path, 200 << 30);
    }),
    ("beyond memory in the manifest", |directory, path, _| {
        lengthen(directory, path, 8 << 40);
    }),
    ("another one", |_, path, other| {
        let (one, two) = (fs::read(path).unwrap(), fs::read(other).unwrap());
        fs::write(path, two).unwrap();
        fs::write(other, one).unwrap();
    }),
    ("zeroes", |_, path, _| {
        let len = fs::metadata(path).unwrap().len() as usize;
        fs::write(path, vec![0; len]).unwrap();
    }),
    ("a directory", |_, path, _| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }),
    ("a pipe", |_, path, _| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a link", |directory, path, other| {
        let elsewhere = directory.with_extension("elsewhere");
        fs::copy(other, &elsewhere).unwrap();
        fs::remove_file(path).unwrap();
        symlink(elsewhere, path).unwrap();
    }),
    ("a link to a device without end", |_, path, _| {
        fs::remove_file(path).unwrap();
        symlink("/dev/zero", path).unwrap();
    }),
];

/// A pipe in the place of a snapshot was waited for; a sparse file of hundreds of gigabytes, its length in the manifest, was allocated and
/// read; the first state was lost with its file although the user had given it.
#[test]
fn whatever_becomes_of_a_file_the_gradient_is_right() {
    let expected = plain(&start(50), STEPS);
    for crash_at in [0, 3, 32] {
        let begun = tempfile::tempdir().unwrap();
        let crashed = catch_unwind(AssertUnwindSafe(|| run(begun.path(), Some(crash_at))));
        assert!(crashed.is_err());
        for kind in ["-snapshot-0-", "-snapshot-", "-final-", "-adjoint-"] {
            for (what, harm) in HARMS {
                let place = tempfile::tempdir().unwrap();
                let directory = place.path().join("run");
                fs::create_dir(&directory).unwrap();
                for path in files(begun.path(), "stratape") {
                    fs::copy(&path, directory.join(path.file_name().unwrap())).unwrap();
                }
                let found = files(&directory, kind);
                for (at, path) in found.iter().enumerate() {
                    harm(&directory, path, &found[(at + 1) % found.len()]);
                }
                let (tell, told) = mpsc::channel();
                let there = directory.clone();
                std::thread::spawn(move || tell.send(run(&there, None)).is_ok());
                let what = format!("{kind} {what}, crashed at {crash_at}");
                match told.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{what}: {error}")) {
                    Ok((last, adjoint, report)) => {
                        assert!(
                            (&last, &adjoint) == (&expected.0, &expected.1),
                            "{what}: {report}"
                        );
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
}

/// Files of ours that are no use any more are deleted at the end; what took their place is not ours.
#[test]
fn what_took_the_place_of_a_file_is_left() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("run");
    assert!(catch_unwind(AssertUnwindSafe(|| run(&directory, Some(3)))).is_err());
    let path = files(&directory, "-snapshot-").pop().unwrap();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    run(&directory, None).unwrap();
    let left: Vec<_> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [path]);
}
