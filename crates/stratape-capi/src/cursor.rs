//! The cursor: pushing and popping in the top slab without a call.
//!
//! The program takes the cursor of a tape and moves `top` itself: an element is written at `top` while that is not `limit`, and
//! read below it while that is not `base`. At the limits it calls `climb` or `descend` with the `top` it has reached, and gets
//! another cursor. Before any other call on the tape it hands its `top` back with `set_top`, and takes a new cursor afterwards. The
//! library checks the `top` that it gets; it cannot check what the program writes beyond `limit`.
//!
//! An element that was popped stays readable where it was until the next push, or until pops have gone through another whole slab.

use std::ffi::c_void;

use ::stratape_tape::{RawCursor, RawTape};

use crate::status::{Failure, call, put, stratape_status};
use crate::tape::{stratape_tape, with};

/// Where a tape stands in its top slab: `base <= top <= limit`, or three equal addresses that must not be used.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct stratape_cursor {
    /// Where the next element goes; the top element ends here.
    pub top: *mut c_void,
    /// The first element of the slab.
    pub base: *mut c_void,
    /// The end of the slab's room.
    pub limit: *mut c_void,
}

impl From<RawCursor> for stratape_cursor {
    fn from(RawCursor { top, base, limit }: RawCursor) -> Self {
        Self { top: top.cast(), base: base.cast(), limit: limit.cast() }
    }
}

/// Where the tape stands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_cursor(
    tape: *mut stratape_tape,
    out: *mut stratape_cursor,
) -> stratape_status {
    // SAFETY: the caller gives room for a cursor.
    call(|| with(tape, |tape| unsafe { put(out, tape.cursor().into()) }))
}

/// Takes over how far the program has moved the cursor. `STRATAPE_WRONG_SIZE` for an address that cannot be: outside the slab, or
/// between two elements.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_set_top(
    tape: *mut stratape_tape,
    top: *mut c_void,
) -> stratape_status {
    call(|| with(tape, |tape| Ok(tape.set_top(top.cast())?)))
}

/// Takes over `top`, and goes on to the next slab if this one is full. After a failure the cursor that the program has is still
/// right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_climb(
    tape: *mut stratape_tape,
    top: *mut c_void,
    out: *mut stratape_cursor,
) -> stratape_status {
    // SAFETY: the caller gives room for a cursor.
    call(|| unsafe { moved(tape, top, out, |tape| Ok(tape.climb()?)) })
}

/// Takes over `top`, and goes back to the slab below if this one is empty. `STRATAPE_EMPTY` if the tape is; then, and after a
/// failure, the cursor that the program has is still right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_descend(
    tape: *mut stratape_tape,
    top: *mut c_void,
    out: *mut stratape_cursor,
) -> stratape_status {
    let descend = |tape: &mut RawTape| {
        let cursor = tape.descend()?;
        if cursor.top == cursor.base { Err(Failure::empty()) } else { Ok(cursor) }
    };
    // SAFETY: the caller gives room for a cursor.
    call(|| unsafe { moved(tape, top, out, descend) })
}

/// # Safety
/// As for [`put`].
unsafe fn moved(
    tape: *mut stratape_tape,
    top: *mut c_void,
    out: *mut stratape_cursor,
    step: impl FnOnce(&mut RawTape) -> Result<RawCursor, Failure>,
) -> Result<(), Failure> {
    with(tape, |tape| {
        tape.set_top(top.cast())?;
        let cursor = step(tape)?;
        // SAFETY: the caller's word.
        unsafe { put(out, cursor.into()) }
    })
}
