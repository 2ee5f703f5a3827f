//! Iteration: a slab at a time, in either direction, without a copy.

use std::ffi::c_void;

use crate::status::{call, put, stratape_status};
use crate::tape::{above, stratape_tape, with};

/// Elements that lie side by side. Valid until the next call on the tape.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct stratape_run {
    /// The first of them.
    pub first: *const c_void,
    /// Its index, counted from zero at the bottom of the tape.
    pub index: usize,
    /// How many there are: one at least.
    pub count: usize,
}

/// The elements from `index` upwards as far as they lie side by side; the slab above is read in the background.
///
/// `STRATAPE_OUT_OF_RANGE` from the size of the tape on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_run_up(
    tape: *mut stratape_tape,
    index: usize,
    out: *mut stratape_run,
) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            let (len, size) = (tape.len(), tape.element().size());
            if index >= len {
                return Err(above(index, len));
            }
            let bytes = tape.run_from(index, Some(index + tape.per_slab()))?;
            let run =
                stratape_run { first: bytes.as_ptr().cast(), index, count: bytes.len() / size };
            // SAFETY: the caller gives room for a run.
            unsafe { put(out, run) }
        })
    })
}

/// The elements that lie side by side up to `index` and with it; the slab below is read in the background.
///
/// `STRATAPE_OUT_OF_RANGE` from the size of the tape on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_run_down(
    tape: *mut stratape_tape,
    index: usize,
    out: *mut stratape_run,
) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            let len = tape.len();
            if index >= len {
                return Err(above(index, len));
            }
            let first = index - index % tape.per_slab();
            let bytes = tape.run_from(first, first.checked_sub(1))?;
            let count = index - first + 1;
            let run = stratape_run { first: bytes.as_ptr().cast(), index: first, count };
            // SAFETY: the caller gives room for a run.
            unsafe { put(out, run) }
        })
    })
}
