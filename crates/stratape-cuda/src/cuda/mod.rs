//! CUDA devices, by way of the driver's own interface.
//!
//! A [`Context`] is the primary context of a device, shared by all handles of the device. It has a stream of its own on which
//! copies are made and, unless the user chooses another, kernels run. Memory comes from a pool of the context, in the order of
//! that stream, so that taking and giving back temporary buffers does not stop the device.
//!
//! ```text
//! Context ── primary context, pool, own stream, loaded modules      mod.rs
//!    ├── OwnedStream: a stream of the user                          stream.rs
//!    ├── Memory: device memory, and who used it last                memory.rs, order.rs
//!    ├── Pinned: memory of the host that the device copies by itself pinned.rs, transfer.rs
//!    ├── Loaded: a kernel, compiled or from the disk                module.rs
//!    ├── Blas: products of matrices                                 blas.rs
//!    └── launch                                                     launch.rs
//! ```

mod blas;
mod driver;
mod launch;
mod ledger;
mod memory;
mod module;
mod order;
mod pinned;
mod stream;
mod transfer;

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUresult};
use cudarc::driver::sys::{CUmemPool_attribute, CUmemPoolProps, CUmemoryPool};

use crate::error::GpuError;
use crate::grid::Limits;
use crate::nvrtc;

use self::blas::Blas;
use self::driver::{check, message};
use self::module::Modules;
use self::stream::RawStream;

pub(crate) use self::blas::{Factor, RawProduct};
pub(crate) use self::memory::Memory;
pub(crate) use self::pinned::Pinned;
pub(crate) use self::stream::OwnedStream;
pub(crate) use self::transfer::Fence;

/// The primary context of a device. Fields are dropped in this order.
pub(crate) struct Context {
    blas: Blas,
    modules: Modules,
    stream: RawStream,
    pool: Option<Pool>,
    primary: Primary,
    ordinal: usize,
    name: String,
    limits: Limits,
    /// The compute capability, as `90` for 9.0.
    capability: i32,
    /// Whether the user has ever made a stream. Until then everything runs in order, and no buffer need remember its uses.
    several_streams: AtomicBool,
}

/// The contexts that are open, by their ordinal.
static OPEN: Mutex<Vec<(usize, Weak<Context>)>> = Mutex::new(Vec::new());

impl Context {
    /// The context of the device with that number.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>, GpuError> {
        driver::require()?;
        if !nvrtc::is_present() {
            return Err(GpuError::NvrtcMissing);
        }
        let mut open = lock(&OPEN);
        open.retain(|(_, context)| context.strong_count() > 0);
        let known = open.iter().find(|(other, _)| *other == ordinal);
        if let Some(context) = known.and_then(|(_, context)| context.upgrade()) {
            return Ok(context);
        }
        let context = Arc::new(Self::new(ordinal)?);
        open.push((ordinal, Arc::downgrade(&context)));
        Ok(context)
    }

    fn new(ordinal: usize) -> Result<Self, GpuError> {
        let mut count = 0;
        // SAFETY: the driver is initialised; the place outlives the call.
        check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
        let ordinal = i32::try_from(ordinal).ok().filter(|ordinal| *ordinal < count);
        let Some(ordinal) = ordinal else {
            let reason = match count {
                0 => "the driver knows no device".to_owned(),
                n => format!("the driver knows {n}, counted from 0"),
            };
            return Err(GpuError::NoDevice { reason });
        };
        let mut device = 0;
        // SAFETY: as above; the ordinal is less than the count.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal) })?;
        let primary = Primary::retain(device)?;
        primary.bind()?;

        let attribute = |attribute| attribute_of(device, attribute);
        let extent = |name| Ok::<_, GpuError>(u64::try_from(attribute(name)?).unwrap_or(0));
        use CUdevice_attribute as A;
        let limits = Limits {
            blocks: [
                extent(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                extent(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                extent(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            threads: [
                extent(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                extent(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                extent(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            threads_of_block: extent(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared: usize::try_from(attribute(
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?)
            .unwrap_or(0),
        };
        let capability = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? * 10
            + attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let pool = match attribute(A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? {
            0 => None,
            _ => Some(Pool::new(ordinal)?),
        };
        Ok(Self {
            blas: Blas::default(),
            modules: Modules::default(),
            stream: RawStream::new(pool.is_some())?,
            pool,
            primary,
            ordinal: usize::try_from(ordinal).unwrap_or(0),
            name: format!("{} (CUDA device {ordinal})", device_name(device)?),
            limits,
            capability,
            several_streams: AtomicBool::new(false),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The number of the device.
    pub(crate) fn ordinal(&self) -> usize {
        self.ordinal
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Makes the context the calling thread's, as most calls of the driver ask for.
    fn bind(&self) -> Result<(), GpuError> {
        self.primary.bind()
    }

    /// Waits for everything on the device.
    pub(crate) fn synchronize(&self) -> Result<(), GpuError> {
        self.bind()?;
        // SAFETY: the context is current.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
    }

    fn has_several_streams(&self) -> bool {
        self.several_streams.load(Ordering::SeqCst)
    }

    /// Device memory in the order of a stream. The context must be current.
    fn allocate(&self, bytes: usize, stream: &RawStream) -> Result<CUdeviceptr, GpuError> {
        let refused = || GpuError::OutOfMemory { asked: bytes, free: self.free_bytes() };
        if isize::try_from(bytes).is_err() {
            return Err(refused());
        }
        match self.try_allocate(bytes, stream) {
            CUresultOr::Ptr(ptr) => return Ok(ptr),
            CUresultOr::Failed(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {}
            CUresultOr::Failed(other) => return Err(allocation_failed(other)),
        }
        // What was given back lies in the pool, in pieces that may be too small; the device may still be using it.
        self.synchronize()?;
        if let Some(pool) = &self.pool {
            pool.trim()?;
        }
        match self.try_allocate(bytes, stream) {
            CUresultOr::Ptr(ptr) => Ok(ptr),
            CUresultOr::Failed(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => Err(refused()),
            CUresultOr::Failed(other) => Err(allocation_failed(other)),
        }
    }

    /// The same for memory that one can do without: nothing is waited for.
    fn allocate_at_once(&self, bytes: usize, stream: &RawStream) -> Result<CUdeviceptr, GpuError> {
        match self.try_allocate(bytes, stream) {
            CUresultOr::Ptr(ptr) => Ok(ptr),
            CUresultOr::Failed(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
                Err(GpuError::OutOfMemory { asked: bytes, free: self.free_bytes() })
            }
            CUresultOr::Failed(other) => Err(allocation_failed(other)),
        }
    }

    fn try_allocate(&self, bytes: usize, stream: &RawStream) -> CUresultOr {
        let mut ptr = 0;
        // SAFETY: the context is current; pool and stream are alive, as `self` owns the one, and the caller lends the other.
        let result = unsafe {
            match &self.pool {
                Some(pool) => {
                    sys::cuMemAllocFromPoolAsync(&raw mut ptr, bytes, pool.0, stream.raw())
                }
                None => sys::cuMemAlloc_v2(&raw mut ptr, bytes),
            }
        };
        match result {
            CUresult::CUDA_SUCCESS => CUresultOr::Ptr(ptr),
            other => CUresultOr::Failed(other),
        }
    }

    /// Bytes that can be had: free ones of the device, and unused ones of the pool. 0 if the device does not tell.
    pub(crate) fn free_bytes(&self) -> usize {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the context is current, and both places outlive the call.
        let result = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        if result != CUresult::CUDA_SUCCESS {
            return 0;
        }
        free + self.pool.as_ref().map_or(0, Pool::unused_bytes)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The fields' own drops want the context to be current, and nothing of theirs in use. If that fails the device is lost,
        // and there is nothing left to give back.
        let _ = self.synchronize();
    }
}

// SAFETY: handles of the driver may be used from any thread, one at a time or together; calls that need the context make it
// current first.
unsafe impl Send for Context {}
// SAFETY: as above; what is ours in it is behind locks and atomics.
unsafe impl Sync for Context {}

enum CUresultOr {
    Ptr(CUdeviceptr),
    Failed(CUresult),
}

fn allocation_failed(result: CUresult) -> GpuError {
    match check("cuMemAllocFromPoolAsync", result) {
        Err(error) => error,
        Ok(()) => GpuError::Driver { call: "cuMemAllocFromPoolAsync", message: message(result) },
    }
}

/// A primary context that is released when dropped.
struct Primary {
    device: CUdevice,
    raw: CUcontext,
}

impl Primary {
    fn retain(device: CUdevice) -> Result<Self, GpuError> {
        let mut raw = ptr::null_mut();
        // SAFETY: the device is one that the driver named.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&raw mut raw, device)
        })?;
        Ok(Self { device, raw })
    }

    fn bind(&self) -> Result<(), GpuError> {
        // SAFETY: the context is retained until this is dropped.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // SAFETY: retained once in `retain`. The thread must not be left with a context that may be gone.
        unsafe {
            let _ = sys::cuCtxSetCurrent(ptr::null_mut());
            let _ = sys::cuDevicePrimaryCtxRelease_v2(self.device);
        }
    }
}

/// A pool of device memory, which keeps what is given back to it.
struct Pool(CUmemoryPool);

impl Pool {
    fn new(ordinal: i32) -> Result<Self, GpuError> {
        // SAFETY: plain numbers, pointers and enums that have a variant for 0: reserved bytes must be zero.
        let mut props: CUmemPoolProps = unsafe { std::mem::zeroed() };
        props.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        props.location.id = ordinal;
        let mut raw = ptr::null_mut();
        // SAFETY: the properties are complete, and both places outlive the call.
        check("cuMemPoolCreate", unsafe { sys::cuMemPoolCreate(&raw mut raw, &raw const props) })?;
        let pool = Self(raw);
        let mut keep = u64::MAX;
        // SAFETY: the pool was made above; the attribute is a 64-bit number.
        check("cuMemPoolSetAttribute", unsafe {
            sys::cuMemPoolSetAttribute(
                pool.0,
                CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut keep).cast::<c_void>(),
            )
        })?;
        Ok(pool)
    }

    fn trim(&self) -> Result<(), GpuError> {
        // SAFETY: the pool is alive.
        check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(self.0, 0) })
    }

    fn unused_bytes(&self) -> usize {
        let value = |attribute| {
            let mut value = 0u64;
            // SAFETY: the pool is alive, and both attributes asked for below are 64-bit numbers.
            let _ = unsafe {
                sys::cuMemPoolGetAttribute(self.0, attribute, (&raw mut value).cast::<c_void>())
            };
            value
        };
        let reserved = value(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        let used = value(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
        usize::try_from(reserved.saturating_sub(used)).unwrap_or(0)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: made in `new` and destroyed nowhere else; memory of it that is still in use keeps it alive in the driver.
        let _ = unsafe { sys::cuMemPoolDestroy(self.0) };
    }
}

fn attribute_of(device: CUdevice, attribute: CUdevice_attribute) -> Result<i32, GpuError> {
    let mut value = 0;
    // SAFETY: the device is one that the driver named, and the place outlives the call.
    check("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&raw mut value, attribute, device)
    })?;
    Ok(value)
}

fn device_name(device: CUdevice) -> Result<String, GpuError> {
    let mut name = [0u8; 256];
    // One byte less than there are, so that the name ends in any case.
    // SAFETY: the device is one that the driver named, and the array has room for the length given.
    check("cuDeviceGetName", unsafe {
        sys::cuDeviceGetName(name.as_mut_ptr().cast::<c_char>(), 255, device)
    })?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or(c"CUDA device");
    Ok(name.to_string_lossy().into_owned())
}

/// What a thread that panicked has left under a lock is whole here: nothing of ours is half changed across a call that panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
