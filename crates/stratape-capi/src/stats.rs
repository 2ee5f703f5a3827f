//! Statistics, as numbers and as a text for people.

use std::ffi::c_char;

use ::stratape_tape::TapeStats;

use crate::records::{self, stratape_records};
use crate::status::{Failure, call, put, stratape_status, text_out};
use crate::tape::{stratape_tape, with};

/// What a tape has done, and where its data is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct stratape_stats {
    /// Elements on the tape; for records, words of eight bytes.
    pub elements: u64,
    /// Bytes those take.
    pub bytes: u64,
    /// The memory budget; the greatest number there is for a tape without one.
    pub memory: u64,
    /// Bytes of slabs in memory now.
    pub resident: u64,
    /// The most there ever were.
    pub resident_peak: u64,
    /// Bytes of one slab.
    pub slab_bytes: u64,
    /// Slabs whose only copy is in memory.
    pub slabs_unsaved: u64,
    /// Slabs in memory that the disk has too.
    pub slabs_saved: u64,
    /// Slabs on their way.
    pub slabs_moving: u64,
    /// Slabs that are only on disk.
    pub slabs_below: u64,
    /// Slabs written so far.
    pub slabs_spilled: u64,
    /// Their bytes.
    pub bytes_spilled: u64,
    /// Slabs read back so far.
    pub slabs_read: u64,
    /// Their bytes.
    pub bytes_read: u64,
    /// Slabs that had been read when the reverse pass reached them.
    pub read_ahead_hits: u64,
    /// Slabs that were read ahead for nothing.
    pub read_ahead_wasted: u64,
    /// How often push waited for the disk.
    pub push_waits: u64,
    /// For how long in all, in nanoseconds.
    pub push_waited_ns: u64,
    /// How often pop waited for the disk.
    pub pop_waits: u64,
    /// For how long in all, in nanoseconds.
    pub pop_waited_ns: u64,
    /// Writes that failed.
    pub failed_writes: u64,
    /// Reads that failed.
    pub failed_reads: u64,
    /// Bytes on disk; for lanes, those of all of them.
    pub tier_bytes: u64,
}

impl From<&TapeStats> for stratape_stats {
    fn from(stats: &TapeStats) -> Self {
        let nanoseconds =
            |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self {
            elements: stats.elements,
            bytes: stats.bytes,
            memory: stats.memory,
            resident: stats.resident,
            resident_peak: stats.resident_peak,
            slab_bytes: stats.slab_bytes,
            slabs_unsaved: stats.slabs_unsaved,
            slabs_saved: stats.slabs_saved,
            slabs_moving: stats.slabs_moving,
            slabs_below: stats.slabs_below,
            slabs_spilled: stats.slabs_spilled,
            bytes_spilled: stats.bytes_spilled,
            slabs_read: stats.slabs_read,
            bytes_read: stats.bytes_read,
            read_ahead_hits: stats.read_ahead_hits,
            read_ahead_wasted: stats.read_ahead_wasted,
            push_waits: stats.push_waits,
            push_waited_ns: nanoseconds(stats.push_waited),
            pop_waits: stats.pop_waits,
            pop_waited_ns: nanoseconds(stats.pop_waited),
            failed_writes: stats.failed_writes,
            failed_reads: stats.failed_reads,
            tier_bytes: stats.tier_bytes,
        }
    }
}

/// The numbers of a tape. `size` is `sizeof(stratape_stats)` of the program: a program that was compiled against an older header
/// gets the numbers it knows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_stats(
    tape: *mut stratape_tape,
    out: *mut stratape_stats,
    size: usize,
) -> stratape_status {
    // SAFETY: the caller gives room for `size` bytes of numbers.
    call(|| unsafe { numbers(&with(tape, |tape| Ok(tape.stats()))?, out, size) })
}

/// The numbers of a tape of records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_stats(
    records: *mut stratape_records,
    out: *mut stratape_stats,
    size: usize,
) -> stratape_status {
    // SAFETY: the caller gives room for `size` bytes of numbers.
    call(|| unsafe { numbers(&records::stats(records)?, out, size) })
}

/// The statistics of a tape as a table, ended by a zero byte and cut to `capacity`. `length`, if it is not null, tells how
/// long the whole text is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_tape_stats_text(
    tape: *mut stratape_tape,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> stratape_status {
    call(|| {
        let stats = with(tape, |tape| Ok(tape.stats()))?;
        // SAFETY: the caller gives room for `capacity` bytes.
        unsafe { text_out(&stats.to_string(), buffer, capacity, length) }
    })
}

/// The statistics of a tape of records as a table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_records_stats_text(
    records: *mut stratape_records,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> stratape_status {
    call(|| {
        let stats = records::stats(records)?;
        // SAFETY: the caller gives room for `capacity` bytes.
        unsafe { text_out(&stats.to_string(), buffer, capacity, length) }
    })
}

/// # Safety
/// `out` must be null or have room for `size` bytes.
unsafe fn numbers(stats: &TapeStats, out: *mut stratape_stats, size: usize) -> Result<(), Failure> {
    let stats = stratape_stats::from(stats);
    if out.is_null() {
        // SAFETY: null is what it reports.
        return unsafe { put(out, stats) };
    }
    let known = size.min(size_of::<stratape_stats>());
    // SAFETY: `known` bytes are there on both sides; the rest of a longer structure of a later header is zeroed.
    unsafe {
        out.cast::<u8>().write_bytes(0, size);
        std::ptr::from_ref(&stats).cast::<u8>().copy_to_nonoverlapping(out.cast(), known);
    }
    Ok(())
}
