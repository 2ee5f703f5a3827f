//! A tape that fits its budget starts no thread. Alone in its file, so that no other test's threads
//! are counted.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{tape_threads, wait_until};
use stratape_tape::{IoEngine, LayeredTape, TapeOptions};

#[test]
fn a_tape_that_fits_starts_no_thread() {
    let directory = tempfile::tempdir().unwrap();
    for engine in [IoEngine::Auto, IoEngine::Threads] {
        let options = TapeOptions::new().spill_to(directory.path()).engine(engine);
        let mut tape: LayeredTape<f64> = options.memory(1 << 20).open().unwrap();
        tape.extend_from_slice(&[1.0; 10_000]).unwrap();
        assert_eq!(tape.pop().unwrap(), Some(1.0));
        assert!(tape_threads().is_empty(), "{:?}", tape_threads());

        tape.extend_from_slice(&[2.0; 1_000_000]).unwrap();
        assert!(!tape_threads().is_empty(), "the test does not see the threads of a spilling tape");
        drop(tape);
        wait_until("its threads are gone", || tape_threads().is_empty());
    }
}
