//! Tapes of records: values of any size on one stack, and regions.
//!
//! A record is some bytes that come back as they were pushed; a region is a record that the program fills where it lies. Both
//! know their size, so that a pop of another size is noticed. A record lies in one piece, aligned to eight bytes, and takes two
//! words beside its bytes.

use std::ffi::{c_char, c_void};

use ::stratape_tape::{RecordMark, RecordTape};

use crate::handle;
use crate::options::{get, put_handle, stratape_options};
use crate::status::stratape_status::{STRATAPE_OUT_OF_RANGE, STRATAPE_WRONG_SIZE};
use crate::status::{Failure, bytes, bytes_mut, call, path, put, stratape_status};

/// A tape of records of different sizes, in memory or in layers. Opaque.
pub struct stratape_records {
    _opaque: u8,
}

/// A tape of records with the marks that were set on it.
pub(crate) struct Records {
    tape: RecordTape,
    /// Height in bytes, number, and the tape's own mark; heights and numbers grow.
    marks: Vec<(usize, u64, RecordMark)>,
    next_mark: u64,
}

impl Records {
    fn new(tape: RecordTape) -> Self {
        Self { tape, marks: Vec::new(), next_mark: 1 }
    }

    /// The record on top, after which the tape is as before.
    fn top(&mut self) -> Result<&mut [u8], Failure> {
        if self.tape.is_empty() {
            return Err(Failure::empty());
        }
        let size = self.tape.take::<u8>()?.len();
        // The frame of the same size goes to the same place, and laying it leaves the bytes as they were.
        Ok(self.tape.reserve::<u8>(size)?)
    }

    fn top_of_size(&mut self, size: usize) -> Result<(), Failure> {
        let found = self.top()?.len();
        if found == size {
            return Ok(());
        }
        let text = format!("a record of {size} bytes was asked for, and one of {found} is on top");
        Err(Failure::new(STRATAPE_WRONG_SIZE, text))
    }

    /// Forgets the marks that lie above the tape.
    fn settle_marks(&mut self) {
        let height = self.tape.bytes();
        while self.marks.last().is_some_and(|mark| mark.0 > height) {
            self.marks.pop();
        }
    }
}

fn with<R>(
    records: *const stratape_records,
    body: impl FnOnce(&mut Records) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::with(records.cast(), body)
}

/// Opens a tape of records in layers. Null options mean the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_open(
    options: *const stratape_options,
    out: *mut *mut stratape_records,
) -> stratape_status {
    let make = || Ok(Records::new(get(options)?.open_records()?));
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Opens a tape of records in memory, without a budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_open_in_memory(
    out: *mut *mut stratape_records,
) -> stratape_status {
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, || Ok(Records::new(RecordTape::new()))) })
}

/// Opens a saved tape of records, which must have been saved from C or C++: records of other programs have no such sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_load(
    file: *const c_char,
    options: *const stratape_options,
    out: *mut *mut stratape_records,
) -> stratape_status {
    // SAFETY: a path from C.
    let make = || Ok(Records::new(RecordTape::load(unsafe { path(file)? }, get(options)?)?));
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Writes the tape to a durable file. The tape stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_save(
    records: *mut stratape_records,
    file: *const c_char,
) -> stratape_status {
    // SAFETY: a path from C.
    call(|| with(records, |records| Ok(records.tape.save(unsafe { path(file)? })?)))
}

/// Closes a tape of records. Null does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_records_close(records: *mut stratape_records) -> stratape_status {
    call(|| handle::close::<Records>(records.cast()))
}

/// Makes the calling thread the owner of the tape.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_records_adopt(records: *mut stratape_records) -> stratape_status {
    call(|| handle::adopt::<Records>(records.cast()))
}

/// Puts `size` bytes on top.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_push(
    records: *mut stratape_records,
    data: *const c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(records, |records| {
            // SAFETY: the caller lends `size` bytes.
            let data = unsafe { bytes(data, size)? };
            records.tape.reserve::<u8>(size)?.copy_from_slice(data);
            Ok(())
        })
    })
}

/// Takes the record on top, which must have `size` bytes; otherwise the tape is as before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_pop(
    records: *mut stratape_records,
    out: *mut c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(records, |records| {
            // SAFETY: the caller gives room for `size` bytes.
            let out = unsafe { bytes_mut(out, size)? };
            records.top_of_size(size)?;
            out.copy_from_slice(records.tape.take::<u8>()?);
            records.settle_marks();
            Ok(())
        })
    })
}

/// Copies the record on top, which must have `size` bytes, and leaves it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_top(
    records: *mut stratape_records,
    out: *mut c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(records, |records| {
            // SAFETY: the caller gives room for `size` bytes.
            let out = unsafe { bytes_mut(out, size)? };
            records.top_of_size(size)?;
            out.copy_from_slice(records.top()?);
            Ok(())
        })
    })
}

/// Bytes of the record on top; `STRATAPE_EMPTY` from an empty tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_top_size(
    records: *mut stratape_records,
    out: *mut usize,
) -> stratape_status {
    // SAFETY: the caller gives room for a number.
    call(|| with(records, |records| unsafe { put(out, records.top()?.len()) }))
}

/// Puts a region of `size` bytes on top, for the program to fill: one call for a whole loop. The bytes are arbitrary at first, and
/// aligned to eight. The address holds until the next call on the tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_reserve(
    records: *mut stratape_records,
    size: usize,
    out: *mut *mut c_void,
) -> stratape_status {
    call(|| {
        // SAFETY: the caller gives room for an address.
        unsafe { put(out, std::ptr::null_mut())? };
        with(records, |records| {
            let region = records.tape.reserve::<u8>(size)?.as_mut_ptr();
            // SAFETY: as above.
            unsafe { put(out, region.cast()) }
        })
    })
}

/// Keeps the first `size` bytes of the region on top, for a loop that ended early.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_records_commit(
    records: *mut stratape_records,
    size: usize,
) -> stratape_status {
    call(|| {
        with(records, |records| {
            if records.tape.is_empty() {
                return Err(Failure::empty());
            }
            Ok(records.tape.commit::<u8>(size)?)
        })
    })
}

/// Takes the region (or record) on top, without a copy. The address holds until the next call on the tape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_take(
    records: *mut stratape_records,
    out: *mut *mut c_void,
    size: *mut usize,
) -> stratape_status {
    call(|| {
        // SAFETY: the caller gives room for an address and a number.
        unsafe {
            put(out, std::ptr::null_mut())?;
            put(size, 0)?;
        }
        with(records, |records| {
            if records.tape.is_empty() {
                return Err(Failure::empty());
            }
            let region = records.tape.take::<u8>()?;
            let (start, len) = (region.as_mut_ptr(), region.len());
            records.settle_marks();
            // SAFETY: as above.
            unsafe {
                put(out, start.cast())?;
                put(size, len)
            }
        })
    })
}

/// Bytes on the tape, with what records take beside their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_size(
    records: *mut stratape_records,
    out: *mut usize,
) -> stratape_status {
    // SAFETY: the caller gives room for a number.
    call(|| with(records, |records| unsafe { put(out, records.tape.bytes()) }))
}

/// The present height, to come back to with `stratape_records_rewind`, as a number that is valid until the tape falls below it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_mark(
    records: *mut stratape_records,
    out: *mut u64,
) -> stratape_status {
    call(|| {
        with(records, |records| {
            records.settle_marks();
            let (height, mark) = (records.tape.bytes(), records.tape.mark());
            let number = match records.marks.last() {
                Some(&(last, number, _)) if last == height => number,
                _ => {
                    let number = records.next_mark;
                    records.next_mark += 1;
                    records.marks.push((height, number, mark));
                    number
                }
            };
            // SAFETY: the caller gives room for a number.
            unsafe { put(out, number) }
        })
    })
}

/// Drops everything pushed since the mark was set; `STRATAPE_OUT_OF_RANGE` for a mark that the tape has fallen below.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_records_rewind(
    records: *mut stratape_records,
    mark: u64,
) -> stratape_status {
    call(|| {
        with(records, |records| {
            records.settle_marks();
            let found = records.marks.iter().rposition(|&(_, number, _)| number == mark);
            let Some(found) = found else {
                let text = "the tape has fallen below this mark, or it was never set";
                return Err(Failure::new(STRATAPE_OUT_OF_RANGE, text));
            };
            records.tape.rewind(records.marks[found].2)?;
            records.marks.truncate(found + 1);
            Ok(())
        })
    })
}

/// Drops everything. Keeps the memory.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_records_clear(records: *mut stratape_records) -> stratape_status {
    call(|| {
        with(records, |records| {
            records.tape.clear();
            records.settle_marks();
            Ok(())
        })
    })
}

pub(crate) fn stats(
    records: *const stratape_records,
) -> Result<::stratape_tape::TapeStats, Failure> {
    with(records, |records| Ok(records.tape.stats()))
}
