//! Device memory of a buffer.

use std::sync::{Arc, Mutex};

use cudarc::driver::sys::{self, CUdeviceptr};

use crate::error::GpuError;

use super::driver::check;
use super::order::{Access, Uses};
use super::stream::{OwnedStream, RawStream};
use super::{Context, lock};

/// Device memory; given back when dropped, after all that uses it.
pub(crate) struct Memory {
    /// 0 if there are no bytes.
    ptr: CUdeviceptr,
    bytes: usize,
    context: Arc<Context>,
    uses: Mutex<Uses>,
}

impl Memory {
    /// Memory with anything in it. It exists from now on in the order of the context's stream: the first use must be a write on
    /// that stream, which others then wait for.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, GpuError> {
        let mut memory =
            Self { ptr: 0, bytes, context: Arc::clone(context), uses: Mutex::default() };
        if bytes > 0 {
            context.bind()?;
            memory.ptr = context.allocate(bytes, &context.stream)?;
        }
        Ok(memory)
    }

    /// The same in the order of a stream of the user's or the tape's: the first use must be a write on that one.
    ///
    /// `patient`: what was given back and is still in use is waited for, where nothing else is left.
    pub(crate) fn on(
        context: &Arc<Context>,
        bytes: usize,
        stream: &OwnedStream,
        patient: bool,
    ) -> Result<Self, GpuError> {
        let mut memory =
            Self { ptr: 0, bytes, context: Arc::clone(context), uses: Mutex::default() };
        if bytes > 0 {
            context.bind()?;
            memory.ptr = match patient {
                true => context.allocate(bytes, stream.raw())?,
                false => context.allocate_at_once(bytes, stream.raw())?,
            };
            // So that it is given back after it was taken, also if nothing is ever written to it.
            context.enqueue(stream.raw(), &[(&memory, Access::Write)], || Ok(()))?;
        }
        Ok(memory)
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn ptr(&self) -> CUdeviceptr {
        self.ptr
    }

    pub(super) fn uses(&self) -> &Mutex<Uses> {
        &self.uses
    }

    /// Copies from the host, and waits.
    ///
    /// # Safety
    /// `from` must be valid for reads of `bytes` initialised bytes.
    pub(crate) unsafe fn copy_from_host(
        &self,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), GpuError> {
        let bytes = bytes.min(self.bytes);
        if bytes == 0 {
            return Ok(());
        }
        let context = &*self.context;
        context.bind()?;
        let copied = context.enqueue(&context.stream, &[(self, Access::Write)], || {
            // SAFETY: the host's memory is the caller's promise, until the wait below; the device's is `self`'s and that long.
            let result = unsafe {
                sys::cuMemcpyHtoDAsync_v2(self.ptr, from.cast(), bytes, context.stream.raw())
            };
            check("cuMemcpyHtoDAsync", result)
        });
        // Also after a failure: nothing may read the caller's memory once this has returned.
        copied.and(context.stream.synchronize())
    }

    /// Copies to the host, and waits.
    ///
    /// # Safety
    /// `to` must be valid for writes of `bytes` bytes. If `self` has fewer, the rest is not written.
    pub(crate) unsafe fn copy_to_host(&self, to: *mut u8, bytes: usize) -> Result<(), GpuError> {
        let bytes = bytes.min(self.bytes);
        if bytes == 0 {
            return Ok(());
        }
        let context = &*self.context;
        context.bind()?;
        let copied = context.enqueue(&context.stream, &[(self, Access::Read)], || {
            // SAFETY: as in `copy_from_host`, the other way.
            let result = unsafe {
                sys::cuMemcpyDtoHAsync_v2(to.cast(), self.ptr, bytes, context.stream.raw())
            };
            check("cuMemcpyDtoHAsync", result)
        });
        // Also after a failure: nothing may write to the caller's memory once this has returned.
        copied.and(context.stream.synchronize())
    }

    /// Zeroes all bytes.
    pub(crate) fn fill_zero(&self) -> Result<(), GpuError> {
        let context = &*self.context;
        context.bind()?;
        context
            .enqueue(&context.stream, &[(self, Access::Write)], || self.clear_on(&context.stream))
    }

    /// Puts a clearing of all bytes on a stream; the order is the caller's concern. The context must be current.
    pub(super) fn clear_on(&self, stream: &RawStream) -> Result<(), GpuError> {
        if self.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the memory is `self`'s and that long; the stream is alive.
        let result = unsafe { sys::cuMemsetD8Async(self.ptr, 0, self.bytes, stream.raw()) };
        check("cuMemsetD8Async", result)
    }

    /// Copies from other memory of the context, as much as both have.
    pub(crate) fn copy_from(&self, other: &Self) -> Result<(), GpuError> {
        let bytes = self.bytes.min(other.bytes);
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind()?;
        self.copy_from_on(other, bytes, &self.context.stream)
    }

    /// The same on another stream.
    pub(crate) fn copy_on(&self, other: &Self, stream: &OwnedStream) -> Result<(), GpuError> {
        let bytes = self.bytes.min(other.bytes);
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind()?;
        self.copy_from_on(other, bytes, stream.raw())
    }

    fn copy_from_on(&self, other: &Self, bytes: usize, stream: &RawStream) -> Result<(), GpuError> {
        let accesses = [(other, Access::Read), (self, Access::Write)];
        self.context.enqueue(stream, &accesses, || {
            // SAFETY: both are alive and that long. Given back, they stay until this copy has run.
            let result =
                unsafe { sys::cuMemcpyDtoDAsync_v2(self.ptr, other.ptr, bytes, stream.raw()) };
            check("cuMemcpyDtoDAsync", result)
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.ptr == 0 {
            return;
        }
        let stream = &self.context.stream;
        // Failures mean that the device is lost, and the memory with it.
        if self.context.bind().is_ok() && lock(&self.uses).hold_up(stream, Access::Write).is_ok() {
            // SAFETY: allocated in `new`. The stream waits for the uses on others, and no one can make new ones.
            let _ = unsafe { stream.free(self.ptr) };
        }
    }
}
