//! What is done wrong from C is a status; two threads on one object never reach it at once.

#![allow(clippy::expect_used, clippy::panic)]

mod support;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use stratape_capi::stratape_status::{
    STRATAPE_BUSY, STRATAPE_CLOSED, STRATAPE_OK, STRATAPE_WRONG_THREAD,
};
use stratape_capi::*;
use support::{SANITIZE, compile_and_run, sanitizes, tool};

#[test]
fn of_every_kind_from_c() {
    let Some(compiler) = tool("gcc", "gcc") else { return };
    let mut flags = vec!["-std=c99", "-pedantic"];
    if sanitizes(&compiler) {
        flags.extend(SANITIZE);
    }
    compile_and_run(&compiler, "c/misuse.c", &flags);
}

/// A handle as a number, which may go to another thread.
fn open() -> usize {
    let mut tape: *mut stratape_tape = null_mut();
    // SAFETY: `tape` has room for a handle.
    assert_eq!(unsafe { stratape_tape_open_in_memory(8, 8, &raw mut tape) }, STRATAPE_OK);
    tape as usize
}

fn push(tape: usize, value: u64) -> stratape_status {
    let value: *const c_void = (&raw const value).cast();
    // SAFETY: eight bytes lie there.
    unsafe { stratape_tape_push(tape as *mut stratape_tape, value, 8) }
}

#[test]
fn a_tape_of_another_thread_is_refused_in_debug_builds_until_it_is_adopted() {
    let tape = open();
    let other = std::thread::spawn(move || {
        let first = push(tape, 1);
        let adopted = stratape_tape_adopt(tape as *mut stratape_tape);
        (first, adopted, push(tape, 2))
    });
    let (first, adopted, second) = other.join().expect("no panic crosses");
    let refused = if cfg!(debug_assertions) { STRATAPE_WRONG_THREAD } else { STRATAPE_OK };
    assert_eq!((first, adopted, second), (refused, STRATAPE_OK, STRATAPE_OK));
    assert_eq!(push(tape, 3), refused, "it is the other thread's now");
    assert_eq!(stratape_tape_close(tape as *mut stratape_tape), STRATAPE_OK);
}

/// Two threads adopt and push as fast as they can, and a third closes the tape under them: each call is carried out whole, or
/// refused. Under a sanitizer this is also a test that nothing is shared without order.
#[test]
fn threads_that_share_a_tape_get_a_status_and_never_a_torn_tape() {
    let tape = open();
    let (pushed, refused, closed) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for i in 0..200_000 {
                    let _ = stratape_tape_adopt(tape as *mut stratape_tape);
                    match push(tape, i) {
                        STRATAPE_OK => pushed.fetch_add(1, Ordering::Relaxed),
                        STRATAPE_BUSY | STRATAPE_WRONG_THREAD => {
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                        STRATAPE_CLOSED if closed.load(Ordering::SeqCst) => break,
                        other => panic!("{other:?}"),
                    };
                }
            });
        }
        scope.spawn(|| {
            while pushed.load(Ordering::Relaxed) < 1000 {
                std::thread::yield_now();
            }
            closed.store(true, Ordering::SeqCst);
            while stratape_tape_close(tape as *mut stratape_tape) == STRATAPE_BUSY {}
        });
    });
    assert!(pushed.load(Ordering::Relaxed) >= 1000);
    assert_eq!(push(tape, 0), STRATAPE_CLOSED);
}

#[test]
fn the_text_of_a_failure_belongs_to_its_thread() {
    assert_ne!(stratape_tape_clear(null_mut()), STRATAPE_OK);
    let text = |pointer| {
        // SAFETY: texts end in a zero byte, and no call on this thread comes between.
        unsafe { std::ffi::CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
    };
    assert_eq!(text(stratape_last_error()), "the handle is null");
    let other = std::thread::spawn(move || text(stratape_last_error())).join();
    assert_eq!(other.expect("no panic"), "");
}
