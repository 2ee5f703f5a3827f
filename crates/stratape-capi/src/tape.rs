//! Tapes of equal elements: open, push, pop, marks, files.
//!
//! Buffers must be as large as the size beside them says; paths end in a zero byte. Results go where the `out` pointer points,
//! which must have room for them.

use std::ffi::{c_char, c_void};

use ::stratape_tape::{RawElement, RawTape, TapeOptions};

use crate::handle;
use crate::options::{environment, get, put_handle, stratape_options};
use crate::status::stratape_status::STRATAPE_OUT_OF_RANGE;
use crate::status::{Failure, bytes, bytes_mut, call, path, put, stratape_status};

/// A tape of equal elements, in memory or in layers. Opaque.
pub struct stratape_tape {
    _opaque: u8,
}

/// A height of a tape, to come back to.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct stratape_mark {
    /// Elements on the tape when the mark was set.
    pub height: usize,
}

pub(crate) fn with<R>(
    tape: *const stratape_tape,
    body: impl FnOnce(&mut RawTape) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::with(tape.cast(), body)
}

/// Opens a tape in layers for elements of `size` bytes aligned to `align`. Null options mean the defaults.
///
/// The spill file is made when the memory begins to fill; it has no name and goes away with the tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_open(
    options: *const stratape_options,
    size: usize,
    align: usize,
    out: *mut *mut stratape_tape,
) -> stratape_status {
    let make = || Ok(get(options)?.open_raw(RawElement::new(size, align)?)?);
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Opens a tape in memory, without a budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_open_in_memory(
    size: usize,
    align: usize,
    out: *mut *mut stratape_tape,
) -> stratape_status {
    let make = || Ok(RawTape::in_memory(RawElement::new(size, align)?));
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Opens a tape as the environment wants it: in layers if `STRATAPE_MEMORY` or `STRATAPE_SPILL` is set or `layered` is true,
/// otherwise in memory. A slab holds `slab_elements` at least, as far as the memory allows. This is what the C++ header calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_open_by_environment(
    size: usize,
    align: usize,
    slab_elements: usize,
    layered: bool,
    out: *mut *mut stratape_tape,
) -> stratape_status {
    let make = || {
        let element = RawElement::new(size, align)?;
        let environment = environment()?;
        if !layered && !environment.speaks() {
            return Ok(RawTape::in_memory(element));
        }
        let memory = environment.memory.unwrap_or(::stratape_tape::DEFAULT_MEMORY);
        let wanted = slab_elements.saturating_mul(size).max(::stratape_tape::DEFAULT_SLAB);
        let options = environment.apply(TapeOptions::new().slab_bytes(wanted.min(memory / 8)));
        Ok(options.open_raw(element)?)
    };
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Opens a saved tape of equal elements, saved from C, C++ or Rust. Size and alignment must be those of the file.
///
/// Its slabs are read as they are needed; the file is not changed. The slab size is the file's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_load(
    file: *const c_char,
    options: *const stratape_options,
    size: usize,
    align: usize,
    out: *mut *mut stratape_tape,
) -> stratape_status {
    let make = || {
        // SAFETY: a path from C.
        let file = unsafe { path(file)? };
        Ok(RawTape::load(file, get(options)?, RawElement::new(size, align)?)?)
    };
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Writes the tape to a durable file, which appears under its name only when it is complete. The tape stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_save(
    tape: *mut stratape_tape,
    file: *const c_char,
) -> stratape_status {
    // SAFETY: a path from C.
    call(|| with(tape, |tape| Ok(tape.save(unsafe { path(file)? })?)))
}

/// Closes a tape; what is on it is gone. Null does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_close(tape: *mut stratape_tape) -> stratape_status {
    call(|| handle::close::<RawTape>(tape.cast()))
}

/// Makes the calling thread the owner of the tape. The thread that had it must not be using it.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_adopt(tape: *mut stratape_tape) -> stratape_status {
    call(|| handle::adopt::<RawTape>(tape.cast()))
}

/// Whether this thread may use the tape now: the checks of every call, and nothing else.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_check(tape: *mut stratape_tape) -> stratape_status {
    call(|| with(tape, |_| Ok(())))
}

/// Puts an element on top.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_push(
    tape: *mut stratape_tape,
    element: *const c_void,
    size: usize,
) -> stratape_status {
    // SAFETY: the caller lends `size` bytes.
    call(|| with(tape, |tape| Ok(tape.push(unsafe { bytes(element, size)? })?)))
}

/// Takes the top element; `STRATAPE_EMPTY` from an empty tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_pop(
    tape: *mut stratape_tape,
    out: *mut c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            // SAFETY: the caller gives room for `size` bytes.
            let out = unsafe { bytes_mut(out, size)? };
            if tape.pop(out)? { Ok(()) } else { Err(Failure::empty()) }
        })
    })
}

/// Copies the top element and leaves it; `STRATAPE_EMPTY` from an empty tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_top(
    tape: *mut stratape_tape,
    out: *mut c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            // SAFETY: the caller gives room for `size` bytes.
            let out = unsafe { bytes_mut(out, size)? };
            out.copy_from_slice(tape.top(size)?.ok_or_else(Failure::empty)?);
            Ok(())
        })
    })
}

/// Copies element number `index`, counted from zero at the bottom; `STRATAPE_OUT_OF_RANGE` above the tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_get(
    tape: *mut stratape_tape,
    index: usize,
    out: *mut c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            // SAFETY: the caller gives room for `size` bytes.
            let out = unsafe { bytes_mut(out, size)? };
            tape.check(size)?;
            let len = tape.len();
            let found = tape.get(index)?.ok_or_else(|| above(index, len))?;
            out.copy_from_slice(found);
            Ok(())
        })
    })
}

pub(crate) fn above(index: usize, len: usize) -> Failure {
    Failure::new(STRATAPE_OUT_OF_RANGE, format!("element {index} of a tape of {len}"))
}

/// Puts `count` elements on top, in order. After a failure those before the one that found no room are on the tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_push_many(
    tape: *mut stratape_tape,
    elements: *const c_void,
    count: usize,
) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            let len = count.saturating_mul(tape.element().size());
            // SAFETY: the caller lends `count` elements.
            Ok(tape.extend_from_slice(unsafe { bytes(elements, len)? })?)
        })
    })
}

/// Takes up to `count` elements off the top, in the order in which they were pushed. `taken` tells how many; fewer only if the
/// tape had no more. After a failure the tape is as before, and `out` holds anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_pop_many(
    tape: *mut stratape_tape,
    out: *mut c_void,
    count: usize,
    taken: *mut usize,
) -> stratape_status {
    call(|| {
        // SAFETY: the caller gives room for a number.
        unsafe { put(taken, 0)? };
        with(tape, |tape| {
            let count = count.min(tape.len());
            // SAFETY: the caller gives room for `count` elements.
            let out = unsafe { bytes_mut(out, count * tape.element().size())? };
            let found = tape.pop_slice(out)?;
            // SAFETY: as above.
            unsafe { put(taken, found) }
        })
    })
}

/// Elements on the tape, in all layers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_size(
    tape: *mut stratape_tape,
    out: *mut usize,
) -> stratape_status {
    // SAFETY: the caller gives room for a number.
    call(|| with(tape, |tape| unsafe { put(out, tape.len()) }))
}

/// Drops the elements above the first `count`. More than there are changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_truncate(
    tape: *mut stratape_tape,
    count: usize,
) -> stratape_status {
    call(|| with(tape, |tape| Ok(tape.truncate(count)?)))
}

/// Drops all elements. Keeps the memory.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_clear(tape: *mut stratape_tape) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            tape.clear();
            Ok(())
        })
    })
}

/// The present height, to come back to with `stratape_tape_rewind`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_mark(
    tape: *mut stratape_tape,
    out: *mut stratape_mark,
) -> stratape_status {
    // SAFETY: the caller gives room for a mark.
    call(|| with(tape, |tape| unsafe { put(out, stratape_mark { height: tape.len() }) }))
}

/// Drops everything pushed since the mark was set; `STRATAPE_OUT_OF_RANGE` for a mark above the tape.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_rewind(
    tape: *mut stratape_tape,
    mark: stratape_mark,
) -> stratape_status {
    call(|| {
        with(tape, |tape| match mark.height {
            height if height > tape.len() => Err(above(height, tape.len())),
            height => Ok(tape.truncate(height)?),
        })
    })
}

/// Changes the memory budget: up to go on after the disk has failed, down to give way.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_set_memory(
    tape: *mut stratape_tape,
    bytes: usize,
) -> stratape_status {
    call(|| with(tape, |tape| Ok(tape.set_memory(bytes)?)))
}

/// Hands memory that holds no element back.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_tape_shrink(tape: *mut stratape_tape) -> stratape_status {
    call(|| {
        with(tape, |tape| {
            tape.shrink_to_fit();
            Ok(())
        })
    })
}

/// Whether a buffer has the size of an element.
pub(crate) trait CheckSize {
    fn check(&self, size: usize) -> Result<(), Failure>;
}

impl CheckSize for RawTape {
    fn check(&self, size: usize) -> Result<(), Failure> {
        if size == self.element().size() {
            return Ok(());
        }
        let text = format!("{size} bytes where elements have {}", self.element().size());
        Err(Failure::new(stratape_status::STRATAPE_WRONG_SIZE, text))
    }
}
