//! Manifests that have been tampered with, their checksum made right again: refused, or no harm is done.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};
use stratape_tape::checksum;

const STEPS: usize = 60;
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
enum Crash {
    Never,
    Loop(usize),
    Reversal(usize),
}

fn run(
    directory: &Path,
    until: bool,
    crash: Crash,
) -> Result<(State, Vec<f64>, Report), CheckpointError> {
    let time_loop = TimeLoop::new(start(20));
    let time_loop = match until {
        true => time_loop.until(|state| state.1 == STEPS as u64).at_most(10 * STEPS),
        false => time_loop.steps(STEPS),
    };
    let (mut calls, mut reversed) = (0, 0);
    time_loop
        .slots(4)
        .disk_slots(directory, 6)
        .schedule(Strategy::Periodic(15))
        .resume(directory)
        .save_every(if matches!(crash, Crash::Never) { 1000 } else { 5 })
        .gradient(
            |n, state| {
                calls += 1;
                if matches!(crash, Crash::Loop(at) if at == calls) {
                    // Snapshots are noted in the loop every two seconds.
                    std::thread::sleep(Duration::from_millis(2100));
                }
                assert!(!matches!(crash, Crash::Loop(at) if at + 16 == calls), "crash");
                step(n, state);
            },
            seed,
            |n, state, adjoint| {
                reversed += 1;
                assert!(!matches!(crash, Crash::Reversal(at) if at == reversed), "crash");
                pullback(n, state, adjoint);
            },
        )
}

/// The lines of a manifest between its first and its checksum, as words.
fn lines(text: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let words = |line: &&str| line.split(' ').map(ToOwned::to_owned).collect();
    lines[1..lines.len() - 1].iter().map(words).collect()
}

fn text(head: &str, lines: &[Vec<String>]) -> String {
    let mut body = head.to_owned();
    for line in lines {
        body += "\n";
        body += &line.join(" ");
    }
    format!("{body}\nchecksum {}\n", checksum(body.as_bytes()))
}

/// Every field changed, every line left out, doubled or moved, every two fields of a kind exchanged.
fn mutations(lines: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let mut all = Vec::new();
    let mut with = |line: usize, word: usize, value: String| {
        let mut changed = lines.to_vec();
        changed[line][word] = value;
        all.push(changed);
    };
    for (l, words) in lines.iter().enumerate() {
        for (w, word) in words.iter().enumerate() {
            with(l, w, format!("{word}0"));
            with(l, w, String::new());
            if let Ok(value) = word.parse::<u64>() {
                let near = [value.wrapping_sub(1), value + 1, value + 15, 0, 1, STEPS as u64];
                for value in near.into_iter().chain([1 << 38, u64::MAX >> 1, u64::MAX]) {
                    with(l, w, value.to_string());
                }
            }
        }
    }
    for (l, words) in lines.iter().enumerate() {
        let mut without = lines.to_vec();
        without.remove(l);
        all.push(without);
        let mut twice = lines.to_vec();
        twice.insert(l, words.clone());
        all.push(twice);
        for other in l + 1..lines.len() {
            let mut moved = lines.to_vec();
            moved.swap(l, other);
            all.push(moved);
            for w in 1..words.len().min(lines[other].len()) {
                let mut exchanged = lines.to_vec();
                let kept = exchanged[l][w].clone();
                exchanged[l][w] = std::mem::replace(&mut exchanged[other][w], kept);
                all.push(exchanged);
            }
        }
    }
    for word in ["", "0", "more"] {
        let mut longer = lines.to_vec();
        longer.push(vec!["left".to_owned(), word.to_owned()]);
        all.push(longer);
    }
    all.retain(|mutated| mutated != lines);
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// A manifest whose line for one step named the snapshot of another gave a wrong gradient without a word; more steps left than the loop has, or
/// an absurd size, kept the program busy for ever.
#[test]
fn every_change_of_a_manifest_is_refused_or_harmless() {
    let expected = plain(&start(20), STEPS);
    for (until, crash) in [
        (false, Crash::Loop(35)),
        (true, Crash::Loop(35)),
        (false, Crash::Reversal(2)),
        (true, Crash::Reversal(2)),
        (false, Crash::Reversal(18)),
        (true, Crash::Reversal(18)),
    ] {
        let place = tempfile::tempdir().unwrap();
        let begun = place.path().join("begun");
        assert!(catch_unwind(AssertUnwindSafe(|| run(&begun, until, crash))).is_err());
        let manifest = fs::read_to_string(begun.join("stratape.manifest")).unwrap();
        let (head, _) = manifest.split_once('\n').unwrap();
        let whole = lines(&manifest);
        assert_eq!(text(head, &whole), manifest);
        assert!(whole.iter().filter(|line| line[0] == "snapshot").count() >= 3, "{manifest}");
        let (mut refused, mut harmless) = (0, 0);
        for (number, mutated) in mutations(&whole).into_iter().enumerate() {
            let directory = place.path().join(number.to_string());
            copy(&begun, &directory);
            let changed = text(head, &mutated);
            fs::write(directory.join("stratape.manifest"), &changed).unwrap();
            let (tell, told) = mpsc::channel();
            let there = directory.clone();
            std::thread::spawn(move || tell.send(run(&there, until, Crash::Never)).is_ok());
            match told.recv_timeout(LIMIT) {
                Ok(Ok((last, adjoint, report))) => {
                    let same = (&last, &adjoint) == (&expected.0, &expected.1);
                    assert!(same, "{crash:?} {until}\n{changed}\n{report}");
                    harmless += 1;
                }
                Ok(Err(CheckpointError::OtherRun { .. })) => refused += 1,
                Ok(Err(error)) => panic!("{crash:?} {until}\n{changed}\n{error}"),
                Err(error) => panic!("{crash:?} {until}\n{changed}\n{error}"),
            }
            fs::remove_dir_all(&directory).ok();
        }
        assert!(refused > 50 && harmless > 10, "{refused} refused, {harmless} harmless");
    }
}

/// The loop was run again because its last state was damaged, and the process crashed once more before it had saved an adjoint: the one of the
/// process before stayed in the manifest, with all steps left to be reversed from it.
#[test]
fn an_adjoint_does_not_outlive_the_last_state_it_came_from() {
    for until in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("run");
        let crash = |crash| {
            assert!(catch_unwind(AssertUnwindSafe(|| run(&directory, until, crash))).is_err());
        };
        crash(Crash::Reversal(18));
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains("-final-") {
                fs::write(path, b"nothing").unwrap();
            }
        }
        crash(Crash::Reversal(2));
        let (last, adjoint, _) = run(&directory, until, Crash::Never).unwrap();
        assert_eq!((last, adjoint), plain(&start(20), STEPS));
    }
}
