//! A sandbox that lets a ring be made and then refuses to enter the kernel with it.
//!
//! The tape once handed its slabs to such a ring and waited for ever. Now `IoEngine::Auto` finds out when it is
//! opened, and a ring that is refused later gives its slabs to threads.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::ffi::{c_int, c_long};
use std::process::Command;

use common::PAGE;
use stratape_tape::tier::IoEngine;
use stratape_tape::{ErrorKind, LayeredTape, TapeOptions};

/// Set for the process that shall be sandboxed: when.
const REFUSE: &str = "STRATAPE_TEST_REFUSE_URING";

#[repr(C)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    operand: u32,
}

#[repr(C)]
struct Program {
    len: u16,
    instructions: *const Instruction,
}

unsafe extern "C" {
    fn prctl(option: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
const SECCOMP: c_long = 317;
#[cfg(not(target_arch = "x86_64"))]
const SECCOMP: c_long = 277;

/// From here on `io_uring_enter` fails with EPERM, in all threads.
fn refuse_to_enter() {
    let instruction =
        |code, if_true, if_false, operand| Instruction { code, if_true, if_false, operand };
    let instructions = [
        instruction(0x20, 0, 0, 0),           // load the number of the call
        instruction(0x15, 0, 1, 426),         // io_uring_enter?
        instruction(0x06, 0, 0, 0x0005_0001), // EPERM
        instruction(0x06, 0, 0, 0x7fff_0000), // allowed
    ];
    let program = Program { len: 4, instructions: instructions.as_ptr() };
    // SAFETY: numbers are passed and a pointer to a program that outlives the call.
    let refused = unsafe {
        prctl(38, 1_u64, 0_u64, 0_u64, 0_u64) != 0
            || syscall(SECCOMP, 1_u64, 1_u64, &raw const program) != 0
    };
    assert!(!refused, "the filter could not be set: {}", std::io::Error::last_os_error());
}

fn options(engine: IoEngine) -> TapeOptions {
    TapeOptions::new().engine(engine).slab_bytes(4 * PAGE).memory(32 * PAGE)
}

fn push(tape: &mut LayeredTape<u64>, to: u64) {
    (tape.len() as u64..to).for_each(|i| tape.push(i).unwrap());
}

/// Not a test of its own: what the sandboxed process does.
#[test]
fn spill_without_entering_when_told_to() {
    let Ok(when) = std::env::var(REFUSE) else { return };
    if when == "before" {
        refuse_to_enter();
        let error = options(IoEngine::Uring).open::<u64>().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::EngineUnavailable { .. }), "{error:?}");
        let mut tape = options(IoEngine::Auto).open::<u64>().unwrap();
        assert!(tape.stats().tier.contains("(threads,"), "{}", tape.stats());
        push(&mut tape, 200_000);
        (0..200_000).rev().for_each(|i| assert_eq!(tape.pop().unwrap(), Some(i)));
        return;
    }
    let mut tape = options(IoEngine::Uring).open::<u64>().unwrap();
    push(&mut tape, 100_000);
    assert!(tape.stats().tier.contains("(io_uring,"), "{}", tape.stats());
    if when == "at rest" {
        common::wait_until("nothing moves", || {
            tape.shrink_to_fit();
            tape.stats().slabs_moving == 0
        });
    }
    refuse_to_enter();
    push(&mut tape, 200_000);
    let stats = tape.stats();
    assert!(stats.tier.contains("threads, after io_uring was refused"), "{stats}");
    (0..200_000).rev().for_each(|i| assert_eq!(tape.pop().unwrap(), Some(i)));
    assert_eq!((tape.stats().failed_writes, tape.stats().failed_reads), (0, 0));
    drop(tape);
    common::wait_until("the threads are gone", || common::tape_threads().is_empty());
}

#[test]
fn a_tape_in_such_a_sandbox_spills_with_threads() {
    let directory = tempfile::tempdir().unwrap();
    if !common::engines(directory.path()).contains(&IoEngine::Uring) {
        return;
    }
    for when in ["before", "at rest", "busy"] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "spill_without_entering_when_told_to", "--nocapture"])
            .env(REFUSE, when)
            .status()
            .unwrap();
        assert!(status.success(), "{when}: {status}");
    }
}
