//! Streams, with what a launch on one needs beside it: a tape and a place for faults.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use cudarc::driver::sys::{self, CUdeviceptr, CUstream};

use crate::error::GpuError;

use super::driver::check;
use super::order::Event;
use super::{Context, lock};

/// A stream. To be dropped while its context is current.
pub(super) struct RawStream {
    /// Tells streams apart, also those of one address at different times.
    id: u64,
    raw: CUstream,
    faults: FaultPage,
    tape: Mutex<TapeMemory>,
    pooled: bool,
}

/// The device tape of a stream's launches. It only grows: launches of one stream run one after the other, and share it.
#[derive(Default)]
pub(super) struct TapeMemory {
    ptr: CUdeviceptr,
    bytes: usize,
}

impl RawStream {
    /// A stream of the context that is current. `pooled`: its memory comes from a pool.
    pub(super) fn new(pooled: bool) -> Result<Self, GpuError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let faults = FaultPage::new()?;
        let mut raw = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a context is current, and the place outlives the call.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut raw, flags) })?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, raw, faults, tape: Mutex::default(), pooled })
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn faults(&self) -> &FaultPage {
        &self.faults
    }

    /// The tape, for one launch. Whoever holds it is alone in launching with a tape or a report of faults on the stream.
    pub(super) fn tape(&self) -> MutexGuard<'_, TapeMemory> {
        lock(&self.tape)
    }

    /// Waits for everything on the stream. The context must be current.
    pub(super) fn synchronize(&self) -> Result<(), GpuError> {
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    /// Frees memory in the order of the stream. The context must be current.
    ///
    /// # Safety
    /// `ptr` must come from `Context::allocate` of the stream's context, not be freed already, and not be used by work that is
    /// put on the stream afterwards, or that runs on another one.
    pub(super) unsafe fn free(&self, ptr: CUdeviceptr) -> Result<(), GpuError> {
        // SAFETY: the caller's. Without a pool the call waits for the device.
        let result = unsafe {
            if self.pooled { sys::cuMemFreeAsync(ptr, self.raw) } else { sys::cuMemFree_v2(ptr) }
        };
        check("cuMemFreeAsync", result)
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        // The page of faults is the kernels' until they have ended. Failures mean that the device is lost.
        let _ = self.synchronize();
        let tape = std::mem::take(&mut *self.tape());
        if tape.ptr != 0 {
            // SAFETY: the tape is of this stream alone, and taken out of it.
            let _ = unsafe { self.free(tape.ptr) };
        }
        // SAFETY: made in `new` and destroyed nowhere else.
        let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
    }
}

impl TapeMemory {
    /// So many bytes at least.
    pub(super) fn reserve(
        &mut self,
        bytes: usize,
        context: &Context,
        stream: &RawStream,
    ) -> Result<CUdeviceptr, GpuError> {
        if bytes > self.bytes {
            let old = std::mem::take(self);
            if old.ptr != 0 {
                // SAFETY: the tape is this stream's, was taken out of `self`, and launches to come will get another.
                unsafe { stream.free(old.ptr)? };
            }
            *self = Self { ptr: context.allocate(bytes, stream)?, bytes };
        }
        Ok(self.ptr)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Words of host memory that kernels write their first fault to. They can be read when the device is lost.
pub(super) struct FaultPage {
    host: *mut [u32; WORDS],
    device: CUdeviceptr,
}

/// Kind, thread, block, number of the check.
pub(super) const WORDS: usize = 8;

impl FaultPage {
    fn new() -> Result<Self, GpuError> {
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let mut host = ptr::null_mut();
        // SAFETY: a context is current, and the place outlives the call.
        check("cuMemHostAlloc", unsafe {
            sys::cuMemHostAlloc(&raw mut host, size_of::<[u32; WORDS]>(), flags)
        })?;
        let mut page = Self { host: host.cast(), device: 0 };
        // SAFETY: the memory was allocated above, is aligned to a page and mapped for the device.
        unsafe {
            page.host.write([0; WORDS]);
            check(
                "cuMemHostGetDevicePointer",
                sys::cuMemHostGetDevicePointer_v2(&raw mut page.device, host, 0),
            )?;
        }
        Ok(page)
    }

    /// Where kernels write.
    pub(super) fn device(&self) -> CUdeviceptr {
        self.device
    }

    /// Puts a clearing of the words on the stream.
    pub(super) fn clear(&self, stream: &RawStream) -> Result<(), GpuError> {
        let bytes = size_of::<[u32; WORDS]>();
        // SAFETY: the words are mapped for the device, and the stream is alive.
        check("cuMemsetD8Async", unsafe {
            sys::cuMemsetD8Async(self.device, 0, bytes, stream.raw())
        })
    }

    /// What a kernel has written; to be called when it has ended.
    pub(super) fn read(&self) -> [u32; WORDS] {
        // SAFETY: allocated in `new` and freed in `drop`; volatile, as the device wrote it.
        unsafe { self.host.read_volatile() }
    }
}

impl Drop for FaultPage {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`; `RawStream` has waited for the kernels that use it.
        let _ = unsafe { sys::cuMemFreeHost(self.host.cast()) };
    }
}

/// A stream that the user made.
pub(crate) struct OwnedStream {
    /// Dropped by hand, while the context is current.
    raw: std::mem::ManuallyDrop<RawStream>,
    context: Arc<Context>,
}

impl OwnedStream {
    pub(crate) fn synchronize(&self) -> Result<(), GpuError> {
        self.context.bind()?;
        self.raw.synchronize()
    }

    pub(super) fn raw(&self) -> &RawStream {
        &self.raw
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        let _ = self.context.bind();
        // SAFETY: dropped once, here; nobody can use `self` afterwards.
        unsafe { std::mem::ManuallyDrop::drop(&mut self.raw) };
    }
}

// SAFETY: a handle of the driver, which may be used from any thread; what is ours in it is behind a lock.
unsafe impl Send for OwnedStream {}
// SAFETY: as above.
unsafe impl Sync for OwnedStream {}

impl Context {
    /// A stream whose work runs beside that of others, after all that has been put on the context's own until now.
    pub(crate) fn new_stream(context: &Arc<Self>) -> Result<OwnedStream, GpuError> {
        context.bind()?;
        let raw = RawStream::new(context.pool.is_some())?;
        // In this order: work that another thread puts on the context's stream meanwhile is either before the event, or its
        // buffers remember it.
        context.several_streams.store(true, Ordering::SeqCst);
        Event::record(&context.stream)?.hold_up(&raw)?;
        Ok(OwnedStream { raw: std::mem::ManuallyDrop::new(raw), context: Arc::clone(context) })
    }
}
