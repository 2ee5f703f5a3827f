//! Who used device memory last, so that a use on another stream can wait for it.
//!
//! A write waits for the last write and for the reads since; a read waits for the last write. Waiting happens on the device.
//! Events are recorded only once the user has made a stream: until then there is one order for everything.

use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUresult};

use crate::error::GpuError;

use super::driver::check;
use super::memory::Memory;
use super::stream::RawStream;
use super::{Context, lock};

/// What a piece of work does with memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A moment on a stream.
pub(super) struct Event(CUevent);

impl Event {
    /// The moment after all that is on the stream now. The context must be current.
    pub(super) fn record(stream: &RawStream) -> Result<Self, GpuError> {
        let mut raw = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: the context is current, and the place outlives the call.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut raw, flags) })?;
        let event = Self(raw);
        // SAFETY: event and stream are alive, and of one context.
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.0, stream.raw()) })?;
        Ok(event)
    }

    /// Whether all that it comes after is done. The context must be current.
    pub(super) fn has_passed(&self) -> Result<bool, GpuError> {
        // SAFETY: the event is alive, and was recorded.
        match unsafe { sys::cuEventQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => check("cuEventQuery", other).map(|()| true),
        }
    }

    /// Waits until all that it comes after is done. The context must be current.
    pub(super) fn synchronize(&self) -> Result<(), GpuError> {
        // SAFETY: as above.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.0) })
    }

    /// What is put on the stream from now on begins after the event.
    pub(super) fn hold_up(&self, stream: &RawStream) -> Result<(), GpuError> {
        // SAFETY: event and stream are alive.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(stream.raw(), self.0, 0) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made in `record` and destroyed nowhere else; who waits for it already still does.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

// SAFETY: a handle of the driver, which may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// A use of memory on a stream.
struct Use {
    stream: u64,
    event: Arc<Event>,
}

/// The uses of memory that later ones may have to wait for.
#[derive(Default)]
pub(super) struct Uses {
    write: Option<Use>,
    /// Since that write, one for each stream.
    reads: Vec<Use>,
}

impl Uses {
    /// Makes the stream wait for what a use must come after.
    pub(super) fn hold_up(&self, stream: &RawStream, access: Access) -> Result<(), GpuError> {
        let reads = if access == Access::Write { self.reads.as_slice() } else { &[] };
        for earlier in self.write.iter().chain(reads) {
            // One stream keeps its own order.
            if earlier.stream != stream.id() {
                earlier.event.hold_up(stream)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, stream: u64, event: Arc<Event>, access: Access) {
        let this = Use { stream, event };
        match access {
            Access::Write => *self = Self { write: Some(this), reads: Vec::new() },
            Access::Read => {
                self.reads.retain(|read| read.stream != stream);
                self.reads.push(this);
            }
        }
    }
}

impl Context {
    /// Puts work on a stream, after all that it depends on. The context must be current.
    pub(super) fn enqueue(
        &self,
        stream: &RawStream,
        accesses: &[(&Memory, Access)],
        work: impl FnOnce() -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        if self.has_several_streams() {
            for (memory, access) in accesses {
                lock(memory.uses()).hold_up(stream, *access)?;
            }
        }
        work()?;
        // Asked again: a stream may have been made meanwhile, and does not wait for this work by itself.
        if self.has_several_streams() {
            let event = Arc::new(Event::record(stream)?);
            for (memory, access) in accesses {
                lock(memory.uses()).note(stream.id(), Arc::clone(&event), *access);
            }
        }
        Ok(())
    }
}
