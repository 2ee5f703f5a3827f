//! Copies between device memory and memory of the host that nobody waits for.

use std::sync::Arc;

use cudarc::driver::sys;

use crate::error::GpuError;

use super::Context;
use super::driver::check;
use super::memory::Memory;
use super::order::{Access, Event};
use super::stream::{OwnedStream, RawStream};

/// The moment after a copy, for the host.
pub(crate) struct Fence {
    event: Event,
    context: Arc<Context>,
}

impl Fence {
    fn after(context: &Arc<Context>, stream: &RawStream) -> Result<Self, GpuError> {
        Ok(Self { event: Event::record(stream)?, context: Arc::clone(context) })
    }

    /// Whether the copy has ended.
    pub(crate) fn has_passed(&self) -> Result<bool, GpuError> {
        self.context.bind()?;
        self.event.has_passed()
    }

    /// Waits for the end of the copy.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        self.context.bind()?;
        self.event.synchronize()
    }
}

impl Memory {
    /// Begins to copy to the host, after the last write to this memory. `to` holds the bytes when the fence has passed. After an error
    /// nothing is being copied.
    ///
    /// # Safety
    /// `to` must be valid for writes of `bytes` bytes, and nobody else may touch them, until the fence has passed. If `self` has fewer
    /// bytes, the rest is not written.
    pub(crate) unsafe fn start_to_host(
        &self,
        to: *mut u8,
        bytes: usize,
        stream: &OwnedStream,
    ) -> Result<Fence, GpuError> {
        let bytes = bytes.min(self.bytes());
        let (context, stream) = (self.context(), stream.raw());
        context.bind()?;
        let copied = context.enqueue(stream, &[(self, Access::Read)], || match bytes {
            0 => Ok(()),
            // SAFETY: the host's memory is the caller's promise; the device's is `self`'s, that long, and stays until this copy has run.
            _ => check("cuMemcpyDtoHAsync", unsafe {
                sys::cuMemcpyDtoHAsync_v2(to.cast(), self.ptr(), bytes, stream.raw())
            }),
        });
        fenced(copied, context, stream)
    }

    /// Begins to copy from the host, after all earlier uses of this memory and, if there is one, after `after`. After an error nothing is being
    /// copied.
    ///
    /// # Safety
    /// `from` must be valid for reads of `bytes` bytes, which are there when `after` has passed and which nobody changes, until the
    /// returned fence has passed.
    pub(crate) unsafe fn start_from_host(
        &self,
        from: *const u8,
        bytes: usize,
        stream: &OwnedStream,
        after: Option<&Fence>,
    ) -> Result<Fence, GpuError> {
        let bytes = bytes.min(self.bytes());
        let (context, stream) = (self.context(), stream.raw());
        context.bind()?;
        let copied = context.enqueue(stream, &[(self, Access::Write)], || {
            if let Some(fence) = after {
                fence.event.hold_up(stream)?;
            }
            if bytes == 0 {
                return Ok(());
            }
            // SAFETY: as above, the other way.
            let result =
                unsafe { sys::cuMemcpyHtoDAsync_v2(self.ptr(), from.cast(), bytes, stream.raw()) };
            check("cuMemcpyHtoDAsync", result)
        });
        fenced(copied, context, stream)
    }
}

/// The fence of a copy. Where it cannot be had the copy is waited for, so that the host's memory is free again.
fn fenced(
    copied: Result<(), GpuError>,
    context: &Arc<Context>,
    stream: &RawStream,
) -> Result<Fence, GpuError> {
    let fence = copied.and_then(|()| Fence::after(context, stream));
    if fence.is_err() {
        // If this fails, too, the device is lost, and copies nothing any more.
        let _ = stream.synchronize();
    }
    fence
}
