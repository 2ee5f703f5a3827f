//! A process that is killed while it saves leaves the tape it had saved before, or the new one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::{Dice, PAGE, wait_until};
use stratape_tape::tier::MemoryTier;
use stratape_tape::{LayeredTape, TapeOptions};

/// Set for the process that shall save until it is killed.
const SAVE_TO: &str = "STRATAPE_TEST_SAVE_TO";
const ELEMENTS: usize = 20_000;

fn options() -> TapeOptions {
    TapeOptions::new().tier(Arc::new(MemoryTier::new())).slab_bytes(PAGE).memory(8 * PAGE)
}

/// The generation a file holds, which must be complete.
fn generation(path: &Path) -> u64 {
    let mut tape = LayeredTape::<u64>::load(path, options()).unwrap();
    assert_eq!(tape.len(), ELEMENTS);
    let generation = tape.pop().unwrap().unwrap();
    while let Some(value) = tape.pop().unwrap() {
        assert_eq!(value, generation, "two generations in one file");
    }
    generation
}

/// Not a test of its own: what the killed process does. It goes on from what it finds.
#[test]
fn save_generations_when_told_to() {
    let Some(path) = std::env::var_os(SAVE_TO).map(PathBuf::from) else {
        return;
    };
    let first = if path.exists() { generation(&path) + 1 } else { 1 };
    for generation in first.. {
        let mut tape: LayeredTape<u64> = options().open().unwrap();
        tape.extend_from_slice(&vec![generation; ELEMENTS]).unwrap();
        tape.save(&path).unwrap();
    }
}

/// The file is also loaded while it is being replaced: loading once opened it twice, and could
/// read the table of one generation and the slabs of another.
#[test]
fn killed_while_saving() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    let mut dice = Dice::new(4);
    let mut reached = 0;
    for _ in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "save_generations_when_told_to"])
            .env(SAVE_TO, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the process has saved something", || {
            path.exists() && generation(&path) > reached
        });
        // At no particular moment.
        thread::sleep(Duration::from_micros(dice.below(30_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = generation(&path);
        assert!(now > reached, "a later generation was replaced by an earlier one");
        reached = now;
    }
}
