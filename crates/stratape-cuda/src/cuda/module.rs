//! Kernels on a device: compiled by NVRTC or taken from the disk, loaded, and kept.

use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute, CUmodule, CUresult};

use crate::cache::Cache;
use crate::error::GpuError;
use crate::kernel::KernelText;
use crate::nvrtc;

use super::driver::{check, message};
use super::{Context, lock};

/// In what way a kernel is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub(super) checking: bool,
    pub(super) x_only: bool,
    pub(super) deterministic: bool,
    /// The shadows that are stored to, a bit for each parameter.
    pub(super) stored: u64,
}

impl Variant {
    fn defines(self) -> impl Iterator<Item = String> {
        [
            (self.checking, "-DSTRATAPE_CHECK=1"),
            (self.x_only, "-DSTRATAPE_GRID_X_ONLY=1"),
            (self.deterministic, "-DSTRATAPE_DETERMINISTIC=1"),
        ]
        .into_iter()
        .filter(|(on, _)| *on)
        .map(|(_, define)| define.to_owned())
        .chain(
            (0..64)
                .filter(move |at| self.stored >> at & 1 == 1)
                .map(|at| format!("-DSTRATAPE_FRESH_{at}=1")),
        )
    }
}

/// A kernel by the address of its text, which is never another's, and the way it is compiled.
type Key = (usize, Variant);

/// Where a kernel is or will be; whoever holds the lock compiles it, so that it is compiled once.
type Slot = Arc<Mutex<Option<Arc<Loaded>>>>;

/// The kernels of a context. To be dropped while the context is current.
#[derive(Default)]
pub(super) struct Modules(Mutex<HashMap<Key, Slot>>);

/// A kernel that can be launched. To be dropped while its context is current.
pub(super) struct Loaded {
    module: CUmodule,
    function: CUfunction,
    /// Threads of a block that its registers allow.
    max_threads: u64,
    /// Bytes of shared memory that it declares itself.
    static_shared: usize,
    /// Bytes of dynamic shared memory that it may ask for.
    allowed_shared: AtomicUsize,
}

/// Dynamic shared memory that needs no permission.
const SHARED_BY_DEFAULT: usize = 48 << 10;

impl Context {
    /// The kernel, ready for launches. The context must be current.
    pub(super) fn kernel(
        &self,
        text: &'static KernelText,
        variant: Variant,
    ) -> Result<Arc<Loaded>, GpuError> {
        let key = (ptr::from_ref(text).addr(), variant);
        let slot = Arc::clone(lock(&self.modules.0).entry(key).or_default());
        let mut slot = lock(&slot);
        if let Some(loaded) = &*slot {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(self.load(text, variant)?);
        *slot = Some(Arc::clone(&loaded));
        Ok(loaded)
    }

    fn load(&self, text: &KernelText, variant: Variant) -> Result<Loaded, GpuError> {
        let known = nvrtc::architectures()?;
        if known.contains(&self.capability) {
            let built = self.build(text, &format!("sm_{}", self.capability), variant);
            match built {
                // A driver that is older than NVRTC may still know the PTX.
                Err(GpuError::DriverTooOld { .. }) => {}
                other => return other,
            }
        }
        // A device that NVRTC does not know yet runs the PTX of an older one.
        let older = known.iter().copied().filter(|arch| *arch <= self.capability).max();
        let arch = older.unwrap_or(self.capability);
        self.build(text, &format!("compute_{arch}"), variant)
    }

    /// Compiles for an architecture, or reads what was compiled once, and loads it.
    fn build(&self, text: &KernelText, arch: &str, variant: Variant) -> Result<Loaded, GpuError> {
        let mut options = nvrtc::options(arch);
        options.extend(variant.defines());
        let (major, minor) = nvrtc::version()?;
        let key = format!("nvrtc {major}.{minor}\n{}\n{}", options.join("\n"), text.complete());
        let cache = Cache::of_user();
        if let Some(code) = cache.read(key.as_bytes())
            && let Ok(loaded) = Loaded::new(text, code)
        {
            return Ok(loaded);
        }
        let program = nvrtc::Program::compile(text.name, &text.complete(), &options)?;
        let code = if arch.starts_with("sm_") { program.cubin()? } else { program.ptx()? };
        cache.write(key.as_bytes(), &code);
        Loaded::new(text, code)
    }
}

impl Loaded {
    /// Loads machine code or PTX into the context that is current.
    fn new(text: &KernelText, mut code: Vec<u8>) -> Result<Self, GpuError> {
        // PTX is read up to its NUL; machine code knows its own length.
        code.push(0);
        let refused = |log: String| GpuError::Compile {
            kernel: text.name.to_owned(),
            text: text.cuda.to_owned(),
            log,
        };
        let mut module = ptr::null_mut();
        // SAFETY: the code is NVRTC's, whole by its checksum if it comes from the disk, and outlives the call.
        let result = unsafe { sys::cuModuleLoadData(&raw mut module, code.as_ptr().cast()) };
        match result {
            CUresult::CUDA_SUCCESS => {}
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_INVALID_IMAGE => {
                return Err(GpuError::DriverTooOld {
                    missing: format!("it cannot load what NVRTC compiles: {}", message(result)),
                });
            }
            CUresult::CUDA_ERROR_INVALID_PTX => return Err(refused(message(result))),
            other => check("cuModuleLoadData", other)?,
        }
        let mut loaded = Self {
            module,
            function: ptr::null_mut(),
            max_threads: 0,
            static_shared: 0,
            allowed_shared: AtomicUsize::new(0),
        };
        // The compiler gives it a name that C++ has no other meaning for; a text by hand need not.
        let mut result = CUresult::CUDA_ERROR_NOT_FOUND;
        for name in [format!("{}_kernel", text.name), text.name.to_owned()] {
            let name = CString::new(name).map_err(|e| refused(e.to_string()))?;
            // SAFETY: the module was loaded above, and the name ends with NUL.
            result = unsafe {
                sys::cuModuleGetFunction(&raw mut loaded.function, loaded.module, name.as_ptr())
            };
            if result != CUresult::CUDA_ERROR_NOT_FOUND {
                break;
            }
        }
        if result == CUresult::CUDA_ERROR_NOT_FOUND {
            return Err(refused(format!("it has no function `{}`", text.name)));
        }
        check("cuModuleGetFunction", result)?;
        use CUfunction_attribute as A;
        loaded.max_threads =
            loaded.attribute(A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?.unsigned_abs().into();
        let bytes = loaded.attribute(A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        loaded.static_shared = usize::try_from(bytes).unwrap_or(0);
        let free = SHARED_BY_DEFAULT.saturating_sub(loaded.static_shared);
        loaded.allowed_shared = AtomicUsize::new(free);
        Ok(loaded)
    }

    fn attribute(&self, attribute: CUfunction_attribute) -> Result<i32, GpuError> {
        let mut value = 0;
        // SAFETY: the function's module is loaded, and the place outlives the call.
        check("cuFuncGetAttribute", unsafe {
            sys::cuFuncGetAttribute(&raw mut value, attribute, self.function)
        })?;
        Ok(value)
    }

    pub(super) fn function(&self) -> CUfunction {
        self.function
    }

    /// Refuses blocks of more threads than the kernel has registers for.
    pub(super) fn check_threads(&self, kernel: &str, threads: u64) -> Result<(), GpuError> {
        if threads <= self.max_threads {
            return Ok(());
        }
        Err(GpuError::GridLimit {
            what: format!("threads of a block for kernel `{kernel}`, which needs many registers,"),
            asked: threads,
            limit: self.max_threads,
        })
    }

    /// Asks for so much dynamic shared memory, of `limit` bytes that the device has for a block.
    pub(super) fn allow_shared(&self, bytes: usize, limit: usize) -> Result<(), GpuError> {
        let limit = limit.saturating_sub(self.static_shared);
        if bytes > limit {
            return Err(GpuError::SharedMemory { asked: bytes, limit });
        }
        if bytes > self.allowed_shared.load(Ordering::Relaxed) {
            let value = i32::try_from(limit).unwrap_or(i32::MAX);
            // All that is left, so that it is asked once.
            // SAFETY: the function's module is loaded.
            check("cuFuncSetAttribute", unsafe {
                sys::cuFuncSetAttribute(
                    self.function,
                    CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    value,
                )
            })?;
            self.allowed_shared.store(limit, Ordering::Relaxed);
        }
        Ok(())
    }
}

// SAFETY: handles of the driver, which may be used from any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above; what is ours in it is atomic.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: loaded in `new` and unloaded nowhere else. The context keeps every kernel until it is dropped, and waits for
        // the device before; a kernel that was loaded in vain was never launched.
        let _ = unsafe { sys::cuModuleUnload(self.module) };
    }
}
