//! A child of `fork` has a copy of the tape, and neither its threads nor a file of its own.
//!
//! Such a child once waited for ever for a slab, and what it gave up was given up in its parent's file.
//!
//! A single test, since a process should fork while it does little else.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::sync::Arc;

use common::{PAGE, wait_until};
use rustix::process::{Pid, WaitOptions, waitpid};
use stratape_tape::tier::{MemoryTier, TierError};
use stratape_tape::{ErrorKind, IoEngine, LayeredTape, Stash, TapeError, TapeOptions};

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
}

/// Runs `child` in a child, and waits for it. It must not hang: the alarm of the parent is the test's end.
fn in_child(child: impl FnOnce()) {
    // SAFETY: the other threads of this process wait for work and hold no lock that the child takes.
    let pid = unsafe { fork() };
    if pid == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).is_ok();
        // SAFETY: ends the child without running what belongs to its parent.
        unsafe { _exit(i32::from(!done)) };
    }
    let pid = Pid::from_raw(pid).expect("a child");
    let mut status = None;
    wait_until("the child has ended", || {
        status = waitpid(Some(pid), WaitOptions::NOHANG).unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().1.exit_status(), Some(0));
}

fn is_forked(error: &TapeError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Spill { source: TierError::Forked, .. }
            | ErrorKind::Fetch { source: TierError::Forked, .. }
    )
}

const ELEMENTS: u64 = 50_000;

fn use_it_here(tape: &mut LayeredTape<u64>, settled: bool) {
    // What is in memory is the child's own.
    let mut next = tape.len() as u64;
    let error = loop {
        match tape.pop() {
            Ok(value) => {
                next -= 1;
                assert_eq!(value, Some(next));
            }
            Err(error) => break error,
        }
    };
    assert!(is_forked(&error), "{error:?}");
    assert!(settled || next > 0);
    let error = (0..ELEMENTS).find_map(|i| tape.push(i).err()).expect("a budget");
    assert!(is_forked(&error), "{error:?}");
    tape.clear();
    // A tape of its own works.
    let mut own = TapeOptions::new().memory(8 * PAGE).slab_bytes(PAGE).open::<u64>().unwrap();
    (0..ELEMENTS).for_each(|i| own.push(i).unwrap());
    (0..ELEMENTS).rev().for_each(|i| assert_eq!(own.pop().unwrap(), Some(i)));
}

#[test]
fn a_child_gets_an_error_and_leaves_the_parents_data_alone() {
    if common::is_sanitized() {
        println!("not tested: ThreadSanitizer does not survive a fork");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let options = TapeOptions::new().memory(8 * PAGE).slab_bytes(PAGE).spill_to(directory.path());
    let mut setups = vec![options.clone().tier(Arc::new(MemoryTier::new()))];
    for engine in common::engines(directory.path()) {
        setups.push(options.clone().engine(engine));
    }
    setups.push(options.clone().engine(IoEngine::Auto));
    for options in setups {
        let mut tape = options.clone().open::<u64>().unwrap();
        (0..ELEMENTS).for_each(|i| tape.push(i).unwrap());
        wait_until("nothing moves", || {
            tape.shrink_to_fit();
            tape.stats().slabs_moving == 0
        });
        in_child(|| {
            use_it_here(&mut tape, true);
            drop(options.clone().open::<u64>().unwrap());
        });
        (0..ELEMENTS).rev().for_each(|i| assert_eq!(tape.pop().unwrap(), Some(i)));

        // Nothing was ever sent down before the fork.
        let mut fresh = options.clone().open::<u64>().unwrap();
        fresh.push(0).unwrap();
        in_child(|| {
            let error = (0..ELEMENTS).find_map(|i| fresh.push(i).err()).expect("a budget");
            assert!(is_forked(&error), "{error:?}");
        });

        let mut stash = Stash::open(&options).unwrap();
        let block = stash.block(PAGE).unwrap();
        let ticket = stash.put(0, block, PAGE);
        stash.settle();
        in_child(|| {
            assert!(matches!(stash.take(ticket), Err(TierError::Forked)));
            let block = stash.block(PAGE).unwrap();
            let ticket = stash.put(0, block, PAGE);
            stash.settle();
            assert!(stash.is_unwritten(ticket));
            stash.forget(ticket);
        });
        stash.take(ticket).unwrap();
    }
}
