//! When the system has no memory, `try_push` hands the value back and the tape stays usable.
//!
//! In a process of its own, since it replaces the allocator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use stratape_tape::{ErrorKind, Pool, RecordTape, Tape};

struct Refusing;

thread_local! {
    /// Allocations of at least this size are refused on this thread.
    static REFUSE_FROM: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn refused(layout: Layout) -> bool {
    REFUSE_FROM.try_with(Cell::get).is_ok_and(|from| layout.size() >= from)
}

// SAFETY: passes everything on to the system's allocator, or answers with null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: forwarded from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: forwarded from the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: forwarded from the caller; all memory comes from the system's allocator.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn without_memory<R>(from: usize, act: impl FnOnce() -> R) -> R {
    REFUSE_FROM.set(from);
    let result = act();
    REFUSE_FROM.set(usize::MAX);
    result
}

/// A pool that keeps nothing, so that every slab comes from the allocator.
fn tape() -> Tape<Box<u64>, 3> {
    Tape::with_inline_and_pool(&Pool::new(0))
}

/// Slabs below this size come from the allocator, larger ones straight from the kernel.
const MAPPED_FROM: usize = 64 << 10;

#[test]
fn a_refused_slab_hands_the_value_back() {
    let mut tape = tape();
    let mut refusals = 0;
    loop {
        let full = tape.capacity() as u64;
        tape.extend((tape.len() as u64..full).map(Box::new));
        let value = Box::new(77);
        let Err((value, error)) = without_memory(4096, || tape.try_push(value)) else {
            break;
        };
        refusals += 1;
        assert_eq!(*value, 77);
        assert!(error.bytes >= 4096 && error.bytes < MAPPED_FROM);
        assert!(error.to_string().contains(&error.bytes.to_string()));
        assert_eq!((tape.len() as u64, tape.capacity() as u64), (full, full));
        assert!(tape.iter().map(|value| **value).eq(0..full));
        tape.try_push(value).unwrap();
        assert_eq!(tape.pop().as_deref(), Some(&77));
    }
    assert!(refusals >= 2, "only {refusals} slabs came from the allocator");
    assert_eq!(tape.pop().as_deref(), Some(&77));
    for i in (0..tape.len() as u64).rev() {
        assert_eq!(tape.pop().as_deref(), Some(&i));
    }
    assert!(tape.is_empty());
}

#[test]
fn the_list_of_slabs_can_be_refused_too() {
    let mut tape = tape();
    tape.extend((0..3).map(Box::new));
    let value = Box::new(77);
    let (value, _) = without_memory(1, || tape.try_push(value)).unwrap_err();
    assert_eq!(tape.len(), 3);
    tape.try_push(value).unwrap();
    assert_eq!(tape.pop().as_deref(), Some(&77));
}

#[test]
fn what_fits_needs_no_memory() {
    let mut tape: Tape<u64, 3> = Tape::with_inline_and_pool(&Pool::new(0));
    tape.extend(0..600);
    let room = tape.capacity() as u64;
    without_memory(1, || {
        (600..room).for_each(|i| tape.try_push(i).unwrap());
        while tape.pop().is_some() {}
        (0..room).for_each(|i| tape.try_push(i).unwrap());
    });
    assert!(tape.iter().copied().eq(0..room));
}

#[test]
fn a_record_tape_says_so() {
    let mut tape = RecordTape::with_pool(&Pool::new(0));
    tape.push(1_u64).unwrap();
    // Large slabs are mapped, so the size itself must be the impossible thing.
    let error = tape.reserve::<u64>(1 << 55).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory(_)), "{error:?}");
    assert!(error.to_string().contains("as before the call"), "{error}");
    assert_eq!(tape.pop::<u64>().unwrap(), 1);
}
