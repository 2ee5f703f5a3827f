//! Memory of the host that is locked in RAM, so that the device copies it by itself.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use cudarc::driver::sys;

use crate::error::GpuError;

use super::Context;
use super::driver::check;

/// Where page-locked memory begins, at least.
const PAGE: usize = 4096;

/// Bytes from which on it does.
const LARGE: usize = 1 << 20;

/// Page-locked memory; given back when dropped. Nothing may be copying it then.
pub(crate) struct Pinned {
    /// As the driver gave it.
    start: NonNull<u8>,
    /// Bytes before those that are used.
    skipped: usize,
    len: usize,
    context: Arc<Context>,
}

impl Pinned {
    /// `len` bytes at a multiple of `align`, with anything in them.
    pub(crate) fn new(context: &Arc<Context>, len: usize, align: usize) -> Result<Self, GpuError> {
        context.bind()?;
        let refused = || GpuError::OutOfHostMemory { asked: len };
        // Small pieces need not begin at a page.
        let spare = if len < LARGE { align } else { align.saturating_sub(PAGE) };
        let whole = len.checked_add(spare).ok_or_else(refused)?;
        let mut start = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: a context is current, and the place outlives the call.
        check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&raw mut start, whole, flags) })?;
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(refused)?;
        let mut pinned = Self { start, skipped: 0, len, context: Arc::clone(context) };
        pinned.skipped = start.as_ptr().align_offset(align);
        // Memory that does not begin at a page has less behind the first multiple.
        if pinned.skipped > whole - len { Err(refused()) } else { Ok(pinned) }
    }
}

impl AsMut<[u8]> for Pinned {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: the driver gave `skipped + len` bytes at least, which are this object's alone until it is dropped; they come from
        // outside of Rust and hold something.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(self.skipped), self.len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: allocated in `new`, and freed nowhere else.
            let _ = unsafe { sys::cuMemFreeHost(self.start.as_ptr().cast()) };
        }
    }
}

// SAFETY: plain memory, which any thread may use and give back.
unsafe impl Send for Pinned {}
