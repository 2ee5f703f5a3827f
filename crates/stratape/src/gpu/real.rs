//! [`Real`]: the numbers that primitives compute with, and what all primitives do before a launch.

use std::ops::{Add, Mul, Neg};

use stratape_cuda::{Buffer, Element, GpuError, Grid};

/// Numbers that the primitives of this module compute with: `f64` and `f32`.
///
/// The trait is sealed: each primitive has kernels for both types.
///
/// ```
/// use stratape::gpu::{Buffer, Device, GpuError, Real, dot, sum};
///
/// /// The mean of squares, for both types.
/// fn power<T: Real>(x: &Buffer<T>, weight: T) -> Result<T, GpuError> {
///     Ok(dot(x, x)? * weight)
/// }
///
/// let gpu = Device::emulator();
/// assert_eq!(power(&gpu.upload(&[3.0_f64, 4.0])?, 0.5)?, 12.5);
/// assert_eq!(power(&gpu.upload(&[3.0_f32, 4.0])?, 0.5)?, 12.5);
/// # let _ = sum::<f64>;
/// # Ok::<(), GpuError>(())
/// ```
pub trait Real:
    Element
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + super::by_key::Kernels
    + super::gather::Kernels
    + super::matmul::Kernels
    + super::reduce::Kernels
    + super::scan::Differences
    + super::scan::Kernels
{
    #[doc(hidden)]
    const ONE: Self;
    #[doc(hidden)]
    const NAN: Self;
}

macro_rules! real {
    ($($real:ident),*) => {$(
        impl Real for $real {
            const ONE: Self = 1.0;
            const NAN: Self = $real::NAN;
        }
    )*};
}
real!(f64, f32);

/// The texts of the kernels of a file, for the test below.
macro_rules! texts {
    ($($module:ident { $($kernel:ident)* })*) => {
        #[cfg(test)]
        pub(super) fn texts() -> Vec<(&'static str, &'static str)> {
            vec![$($($module::$kernel::texts()),*),*]
        }
    };
}
pub(crate) use texts;

/// What a launch of a kernel returns.
pub(crate) type Launched = Result<(), GpuError>;

/// Threads of a block, unless a kernel says otherwise.
pub(crate) const THREADS: usize = 256;

/// A thread for each of `n` elements, which must not be none.
pub(crate) fn over(n: usize) -> Grid {
    Grid::blocks(n.div_ceil(THREADS)).threads(THREADS)
}

/// Refuses a buffer that is not as long as it must be.
pub(crate) fn length<T: Element>(
    what: &str,
    buffer: &Buffer<T>,
    expected: usize,
) -> Result<(), GpuError> {
    if buffer.len() == expected {
        return Ok(());
    }
    Err(GpuError::Length { what: what.to_owned(), expected, found: buffer.len() })
}

/// Refuses a buffer of another device than that of the first.
pub(crate) fn together<T: Element, U: Element>(
    what: &str,
    first: &Buffer<T>,
    other: &Buffer<U>,
) -> Result<(), GpuError> {
    let (here, there) = (first.device(), other.device());
    if here == there {
        return Ok(());
    }
    Err(GpuError::WrongDevice {
        what: what.to_owned(),
        belongs_to: there.name().to_owned(),
        used_with: format!("another device, {}", here.name()),
    })
}

#[cfg(test)]
mod tests {
    use stratape_cuda::nvrtc;

    use super::super::{by_key, gather, key, matmul, reduce, scan, sort};

    /// The emulator does not read the text for CUDA.
    #[test]
    #[allow(clippy::panic, reason = "a failure is a panic")]
    fn kernels_compile_for_devices() {
        if !nvrtc::is_present() {
            eprintln!("skipped: NVRTC not found (`ci/nvrtc` fetches it)");
            return;
        }
        let files = [
            by_key::texts(),
            gather::texts(),
            key::texts(),
            matmul::texts(),
            reduce::texts(),
            scan::texts(),
            sort::texts(),
        ];
        for (_, cuda) in files.into_iter().flatten() {
            for defines in [&[][..], &["STRATAPE_CHECK=1"][..]] {
                let ptx = nvrtc::to_ptx(cuda, "sm_90", defines);
                assert!(ptx.unwrap_or_else(|error| panic!("{error}")).contains(".entry"));
            }
        }
    }
}
