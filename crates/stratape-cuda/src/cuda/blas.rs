//! Products of matrices by cuBLAS, where it is installed.
//!
//! Invariant: every call of the library is behind [`is_present`]. `cudarc` panics where the library, or one of its functions, is missing.

use std::ptr;
use std::sync::{Mutex, OnceLock};

use cudarc::cublas::sys::{self, cublasHandle_t, cublasOperation_t, cublasStatus_t};
use cudarc::driver::sys::CUdeviceptr;

use crate::error::GpuError;

use super::memory::Memory;
use super::order::Access;
use super::{Context, lock};

/// The functions that are called here.
const FUNCTIONS: [&str; 5] = [
    "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasSetStream_v2",
    "cublasDgemm_v2",
    "cublasSgemm_v2",
];

/// Whether cuBLAS can be loaded.
fn is_present() -> bool {
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

/// What cuBLAS keeps for a context; made when the first product is asked for. To be dropped while the context is current.
#[derive(Default)]
pub(super) struct Blas(OnceLock<Option<Mutex<Handle>>>);

struct Handle(cublasHandle_t);

impl Handle {
    /// A handle that works on a stream of the context, which must be current; none if there is no cuBLAS, or no room for it.
    fn new(context: &Context) -> Option<Self> {
        if !is_present() {
            return None;
        }
        let mut raw = ptr::null_mut();
        // SAFETY: the library is there, the context is current, and the place outlives the call.
        if unsafe { sys::cublasCreate_v2(&raw mut raw) } != cublasStatus_t::CUBLAS_STATUS_SUCCESS {
            return None;
        }
        let handle = Self(raw);
        // SAFETY: handle and stream are alive, and of one context; the two names are those of one type of handles.
        let result = unsafe { sys::cublasSetStream_v2(handle.0, context.stream.raw().cast()) };
        (result == cublasStatus_t::CUBLAS_STATUS_SUCCESS).then_some(handle)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made in `new` and destroyed nowhere else. A failure means that the device is lost.
        let _ = unsafe { sys::cublasDestroy_v2(self.0) };
    }
}

// SAFETY: a handle may be used by any thread, by one at a time: it lies behind a lock.
unsafe impl Send for Handle {}

/// The number that a product is scaled with; its type is that of all numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Factor {
    F64(f64),
    F32(f32),
}

/// A product of matrices that lie row by row: `c = alpha · a · b`, or added to `c`. `a` has m rows and k columns, `b` has k and n, after they were transposed if that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RawProduct {
    pub(crate) extents: [i32; 3],
    pub(crate) transposed: [bool; 2],
    pub(crate) alpha: Factor,
    pub(crate) add: bool,
}

impl Context {
    /// Puts a product on the context's stream; false, and nothing done, if there is no cuBLAS.
    ///
    /// # Safety
    /// The memory must be of this context and hold as many numbers of the factor's type as the extents say, none of which is negative.
    pub(crate) unsafe fn product(
        &self,
        product: &RawProduct,
        c: &Memory,
        [a, b]: [&Memory; 2],
    ) -> Result<bool, GpuError> {
        self.bind()?;
        let handle = self.blas.0.get_or_init(|| Handle::new(self).map(Mutex::new));
        let Some(handle) = handle.as_ref().map(lock) else {
            return Ok(false);
        };
        let accesses = [(a, Access::Read), (b, Access::Read), (c, Access::Write)];
        self.enqueue(&self.stream, &accesses, || {
            // SAFETY: the caller's; the handle is alive and works on that stream.
            let result = unsafe { gemm(&handle, product, c.ptr(), [a.ptr(), b.ptr()]) };
            match result {
                cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
                other => {
                    Err(GpuError::Driver { call: "cublasGemm", message: format!("{other:?}") })
                }
            }
        })?;
        Ok(true)
    }
}

/// # Safety
/// As `Context::product`; the handle must be alive.
unsafe fn gemm(
    handle: &Handle,
    product: &RawProduct,
    c: CUdeviceptr,
    [a, b]: [CUdeviceptr; 2],
) -> cublasStatus_t {
    let [m, k, n] = product.extents;
    let [flip_a, flip_b] = product.transposed;
    let operation = |flip| match flip {
        true => cublasOperation_t::CUBLAS_OP_T,
        false => cublasOperation_t::CUBLAS_OP_N,
    };
    // cuBLAS has columns where we have rows: of the transposed matrices, the product is that of b and a.
    let (of_a, of_b) = (operation(flip_a), operation(flip_b));
    let row_a = if flip_a { m } else { k }.max(1);
    let row_b = if flip_b { k } else { n }.max(1);
    let row_c = n.max(1);
    match product.alpha {
        Factor::F64(alpha) => {
            let beta = if product.add { 1.0 } else { 0.0 };
            // SAFETY: the caller's; addresses of the device are passed as pointers, and the factors are read before the call returns.
            unsafe {
                sys::cublasDgemm_v2(
                    handle.0,
                    of_b,
                    of_a,
                    n,
                    m,
                    k,
                    &raw const alpha,
                    b as *const f64,
                    row_b,
                    a as *const f64,
                    row_a,
                    &raw const beta,
                    c as *mut f64,
                    row_c,
                )
            }
        }
        Factor::F32(alpha) => {
            let beta = if product.add { 1.0 } else { 0.0 };
            // SAFETY: as above.
            unsafe {
                sys::cublasSgemm_v2(
                    handle.0,
                    of_b,
                    of_a,
                    n,
                    m,
                    k,
                    &raw const alpha,
                    b as *const f32,
                    row_b,
                    a as *const f32,
                    row_a,
                    &raw const beta,
                    c as *mut f32,
                    row_c,
                )
            }
        }
    }
}
