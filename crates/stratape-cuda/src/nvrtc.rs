//! Kernels through NVRTC, the library that compiles CUDA C++ at run time. It needs no device.
//!
//! Invariant: every call of the library is behind [`is_present`]. `cudarc` panics where the library, or one of its functions,
//! is missing.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::OnceLock;

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};

use crate::error::GpuError;

/// The functions that are called here.
const FUNCTIONS: [&str; 12] = [
    "nvrtcVersion",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
    "nvrtcCreateProgram",
    "nvrtcCompileProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",
    "nvrtcGetPTXSize",
    "nvrtcGetPTX",
    "nvrtcGetCUBINSize",
    "nvrtcGetCUBIN",
];

/// Whether NVRTC can be loaded.
///
/// ```
/// if !stratape_cuda::nvrtc::is_present() {
///     println!("skipped: NVRTC not found");
/// }
/// ```
pub fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        // SAFETY: loading the library runs its initialisers, which are NVIDIA's; it is kept loaded from here on.
        if !unsafe { sys::is_culib_present() } {
            return false;
        }
        FUNCTIONS.iter().all(|name| {
            // SAFETY: the library is there, so `culib` does not panic; the symbol is looked up and not called.
            unsafe { sys::culib().get::<unsafe extern "C" fn()>(*name).is_ok() }
        })
    })
}

/// Compiles the CUDA C++ text of a kernel to PTX, without a device.
///
/// `arch` is an architecture such as `sm_90` or `compute_80`; `defines` are macros, `NAME` or `NAME=VALUE`.
///
/// ```
/// use stratape_cuda::{GpuError, nvrtc};
///
/// let text = r#"extern "C" __global__ void twice(double* x) { x[threadIdx.x] *= FACTOR; }"#;
/// match nvrtc::to_ptx(text, "sm_80", &["FACTOR=2.0"]) {
///     Ok(ptx) => assert!(ptx.contains(".entry twice")),
///     Err(GpuError::NvrtcMissing) => println!("skipped: NVRTC not found"),
///     Err(error) => return Err(error),
/// }
/// # Ok::<(), GpuError>(())
/// ```
///
/// # Errors
/// If NVRTC is not there, or refuses the text.
pub fn to_ptx(cuda: &str, arch: &str, defines: &[&str]) -> Result<String, GpuError> {
    let mut options = options(arch);
    options.extend(defines.iter().map(|define| format!("-D{define}")));
    let mut ptx = Program::compile("kernel", cuda, &options)?.ptx()?;
    // The text ends with a NUL, for the driver.
    ptx.retain(|byte| *byte != 0);
    String::from_utf8(ptx).map_err(|e| failure("nvrtcGetPTX", &e.to_string()))
}

/// The options that every kernel is compiled with.
pub(crate) fn options(arch: &str) -> Vec<String> {
    vec![format!("--gpu-architecture={arch}"), "-std=c++17".to_owned()]
}

/// The version of the library: major, minor.
pub(crate) fn version() -> Result<(i32, i32), GpuError> {
    require()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is there, and both places outlive the call.
    check("nvrtcVersion", unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) })?;
    Ok((major, minor))
}

/// The compute capabilities the library knows, as `90` for 9.0.
pub(crate) fn architectures() -> Result<Vec<i32>, GpuError> {
    require()?;
    let mut count = 0;
    // SAFETY: the library is there, and the place outlives the call.
    check("nvrtcGetNumSupportedArchs", unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) })?;
    let mut list = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the list has as many places as the library has just asked for.
    check("nvrtcGetSupportedArchs", unsafe { sys::nvrtcGetSupportedArchs(list.as_mut_ptr()) })?;
    Ok(list)
}

/// A compiled program; destroyed when dropped.
pub(crate) struct Program(nvrtcProgram);

impl Program {
    /// Compiles `text`; `kernel` is its name in messages.
    pub(crate) fn compile(kernel: &str, text: &str, options: &[String]) -> Result<Self, GpuError> {
        require()?;
        let refused = |log: String| GpuError::Compile {
            kernel: kernel.to_owned(),
            text: text.to_owned(),
            log,
        };
        let c_string = |text: &str| CString::new(text).map_err(|e| refused(e.to_string()));
        let source = c_string(text)?;
        let name = c_string(&format!("{kernel}.cu"))?;
        let options =
            options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();

        let mut program = ptr::null_mut();
        // SAFETY: the library is there; both strings end with NUL and outlive the call, which copies them; no headers.
        check("nvrtcCreateProgram", unsafe {
            sys::nvrtcCreateProgram(
                &raw mut program,
                source.as_ptr(),
                name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        })?;
        let program = Self(program);
        let count = i32::try_from(pointers.len()).unwrap_or(0);
        // SAFETY: the program was made above; the options and the pointers to them outlive the call.
        let result = unsafe { sys::nvrtcCompileProgram(program.0, count, pointers.as_ptr()) };
        match result {
            nvrtcResult::NVRTC_SUCCESS => Ok(program),
            other => {
                let log = program.log().unwrap_or_default();
                let log = if log.trim().is_empty() { format!("{other:?}") } else { log };
                Err(refused(log))
            }
        }
    }

    /// What the compiler said.
    fn log(&self) -> Result<String, GpuError> {
        // SAFETY: the one tells the size of the other.
        let log = unsafe {
            self.output("nvrtcGetProgramLog", sys::nvrtcGetProgramLogSize, sys::nvrtcGetProgramLog)?
        };
        Ok(String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned())
    }

    /// The PTX, with a NUL at its end.
    pub(crate) fn ptx(&self) -> Result<Vec<u8>, GpuError> {
        // SAFETY: as above.
        unsafe { self.output("nvrtcGetPTX", sys::nvrtcGetPTXSize, sys::nvrtcGetPTX) }
    }

    /// The machine code, if the program was compiled for an `sm_` architecture.
    pub(crate) fn cubin(&self) -> Result<Vec<u8>, GpuError> {
        // SAFETY: as above.
        unsafe { self.output("nvrtcGetCUBIN", sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN) }
    }

    /// # Safety
    /// `size` must tell how many bytes `get` will write.
    unsafe fn output(
        &self,
        call: &'static str,
        size: unsafe fn(nvrtcProgram, *mut usize) -> nvrtcResult,
        get: unsafe fn(nvrtcProgram, *mut c_char) -> nvrtcResult,
    ) -> Result<Vec<u8>, GpuError> {
        let mut bytes = 0;
        // SAFETY: the program is alive, and the place outlives the call.
        check(call, unsafe { size(self.0, &raw mut bytes) })?;
        let mut buffer = vec![0u8; bytes];
        // SAFETY: the buffer is as long as the library has asked for, by the caller's promise.
        check(call, unsafe { get(self.0, buffer.as_mut_ptr().cast()) })?;
        Ok(buffer)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was made by the library and is destroyed nowhere else. Nothing can be done about a failure.
        let _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

fn require() -> Result<(), GpuError> {
    if is_present() { Ok(()) } else { Err(GpuError::NvrtcMissing) }
}

fn check(call: &'static str, result: nvrtcResult) -> Result<(), GpuError> {
    match result {
        nvrtcResult::NVRTC_SUCCESS => Ok(()),
        other => Err(failure(call, &format!("{other:?}"))),
    }
}

fn failure(call: &'static str, message: &str) -> GpuError {
    GpuError::Driver { call, message: message.to_owned() }
}
