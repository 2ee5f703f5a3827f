//! A stash: blocks of bytes on disk, each by itself, written and read in the background. For snapshots.

use std::ffi::c_void;

use ::stratape_tape::{Stash, Ticket};

use crate::handle;
use crate::options::{get, put_handle, stratape_options};
use crate::status::stratape_status::{STRATAPE_OUT_OF_RANGE, STRATAPE_WRONG_SIZE};
use crate::status::{Failure, bytes, bytes_mut, call, put, stratape_status};

/// Blocks of bytes on disk. Opaque.
pub struct stratape_stash {
    _opaque: u8,
}

pub(crate) struct OpenStash {
    stash: Stash,
    /// Tickets by number; a forgotten one leaves a hole that is not used again.
    tickets: std::collections::HashMap<u64, Ticket>,
    next: u64,
}

fn with<R>(
    stash: *const stratape_stash,
    body: impl FnOnce(&mut OpenStash) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::with(stash.cast(), body)
}

impl OpenStash {
    fn find(&self, ticket: u64) -> Result<Ticket, Failure> {
        self.tickets.get(&ticket).copied().ok_or_else(|| {
            let text = format!("there is no block {ticket}: it was forgotten, or never put");
            Failure::new(STRATAPE_OUT_OF_RANGE, text)
        })
    }
}

/// Opens a stash on the directory, engine and limits of the options; their memory budget means nothing here. Null options mean
/// the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_stash_open(
    options: *const stratape_options,
    out: *mut *mut stratape_stash,
) -> stratape_status {
    let make = || {
        let stash = Stash::open(&get(options)?)?;
        Ok(OpenStash { stash, tickets: std::collections::HashMap::new(), next: 1 })
    };
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, make) })
}

/// Closes a stash; its blocks are gone. Null does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_stash_close(stash: *mut stratape_stash) -> stratape_status {
    call(|| handle::close::<OpenStash>(stash.cast()))
}

/// Makes the calling thread the owner of the stash.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_stash_adopt(stash: *mut stratape_stash) -> stratape_status {
    call(|| handle::adopt::<OpenStash>(stash.cast()))
}

/// Copies `size` bytes and begins to write them. `ticket` names the block from then on; it is never zero.
///
/// A block that cannot be written stays in memory, and is still found there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_stash_put(
    stash: *mut stratape_stash,
    data: *const c_void,
    size: usize,
    ticket: *mut u64,
) -> stratape_status {
    call(|| {
        // SAFETY: the caller gives room for a number.
        unsafe { put(ticket, 0)? };
        with(stash, |open| {
            // SAFETY: the caller lends `size` bytes.
            let data = unsafe { bytes(data, size)? };
            let mut block = open.stash.block(size.max(1))?;
            block.bytes_mut()[..size].copy_from_slice(data);
            let number = open.next;
            open.next += 1;
            let taken = open.stash.put(number, block, size);
            open.tickets.insert(number, taken);
            // SAFETY: as above.
            unsafe { put(ticket, number) }
        })
    })
}

/// Begins to read a block back; does not wait.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_stash_fetch(stash: *mut stratape_stash, ticket: u64) -> stratape_status {
    call(|| {
        with(stash, |open| {
            let ticket = open.find(ticket)?;
            open.stash.fetch(ticket);
            Ok(())
        })
    })
}

/// Copies a block's bytes out, of which there must be `size`; waits for the disk if need be. The block stays until it is forgotten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_stash_get(
    stash: *mut stratape_stash,
    ticket: u64,
    out: *mut c_void,
    size: usize,
) -> stratape_status {
    call(|| {
        with(stash, |open| {
            // SAFETY: the caller gives room for `size` bytes.
            let out = unsafe { bytes_mut(out, size)? };
            let ticket = open.find(ticket)?;
            let used = open.stash.used(ticket).unwrap_or(0);
            if used != size {
                let text = format!("a block of {size} bytes was asked for, and it has {used}");
                return Err(Failure::new(STRATAPE_WRONG_SIZE, text));
            }
            let block = open.stash.take(ticket)?;
            out.copy_from_slice(&block.bytes()[..size]);
            open.stash.recycle(block);
            Ok(())
        })
    })
}

/// Gives a block up, wherever it is.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_stash_forget(
    stash: *mut stratape_stash,
    ticket: u64,
) -> stratape_status {
    call(|| {
        with(stash, |open| {
            let found = open.find(ticket)?;
            open.tickets.remove(&ticket);
            open.stash.forget(found);
            Ok(())
        })
    })
}
