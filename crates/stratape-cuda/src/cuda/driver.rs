//! The driver: whether it is there, and its results as errors.
//!
//! Invariant of the folder: a [`Context`](super::Context) exists only after [`require`] has said yes, and every other call of the
//! driver is made by way of one. `cudarc` panics where the driver, or one of its functions, is missing.

use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};

use crate::error::GpuError;

/// The functions that this crate calls, `cuInit` first.
const FUNCTIONS: &[&str] = &[
    "cuInit",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorString",
    "cuLaunchKernel",
    "cuMemAllocFromPoolAsync",
    "cuMemAlloc_v2",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// Whether the driver is there, knows every function that is called, and has been initialised. Asked once in a process.
pub(super) fn require() -> Result<(), GpuError> {
    static STATE: OnceLock<Result<(), GpuError>> = OnceLock::new();
    STATE.get_or_init(initialise).clone()
}

fn initialise() -> Result<(), GpuError> {
    // SAFETY: loading the library runs its initialisers, which are NVIDIA's; it is kept loaded from here on.
    if !unsafe { sys::is_culib_present() } {
        return Err(GpuError::NoDevice { reason: "no CUDA driver found".to_owned() });
    }
    for name in FUNCTIONS {
        // SAFETY: the library is there, so `culib` does not panic; the symbol is looked up and not called.
        if unsafe { sys::culib().get::<unsafe extern "C" fn()>(*name).is_err() } {
            return Err(GpuError::DriverTooOld { missing: format!("it has no `{name}`") });
        }
    }
    // SAFETY: the function was found; it may be called at any time.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_SUCCESS => Ok(()),
        other => Err(GpuError::NoDevice { reason: message(other) }),
    }
}

/// The result of a call as ours.
pub(super) fn check(call: &'static str, result: CUresult) -> Result<(), GpuError> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        lost if is_lost(lost) => Err(GpuError::ContextLost { message: message(lost) }),
        other => Err(GpuError::Driver { call, message: message(other) }),
    }
}

/// After these the driver answers every call with the same error, until the process ends.
fn is_lost(result: CUresult) -> bool {
    matches!(
        result,
        CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_EXTERNAL_DEVICE
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
    )
}

/// What the driver says about a result.
pub(super) fn message(result: CUresult) -> String {
    let mut text = ptr::null();
    // SAFETY: the driver is there, as it has just returned something; the string is a static one of the driver.
    let said = unsafe {
        match sys::cuGetErrorString(result, &raw mut text) {
            CUresult::CUDA_SUCCESS if !text.is_null() => CStr::from_ptr(text).to_string_lossy(),
            _ => "unknown error".into(),
        }
    };
    format!("{said} ({result:?})")
}
