//! The emulator: kernels on the CPU.

use std::sync::atomic::AtomicU64;

use crate::buffer::Store;
use crate::element::ScalarType;
use crate::error::GpuError;
use crate::grid::Grid;
use crate::kernel::{Arg, Kernel};

/// An argument as the emulator sees it.
#[expect(dead_code, reason = "read by the emulator that is to come")]
pub(crate) enum EmulatedArg<'a> {
    /// A scalar.
    Value {
        /// Its type.
        scalar: ScalarType,
        /// Its bits, as a cell.
        bits: u64,
    },
    /// A slice.
    Slice {
        /// The scalars of all elements, one after the other.
        cells: &'a [AtomicU64],
        /// The type of the scalars.
        scalar: ScalarType,
        /// Scalars of an element.
        arity: usize,
        /// Elements.
        len: usize,
    },
}

/// The arguments of a launch whose buffers were checked to belong to an emulator.
pub(crate) fn args<'a>(args: &[Arg<'a>]) -> Vec<EmulatedArg<'a>> {
    args.iter()
        .filter_map(|arg| match (arg, arg.buffer()) {
            (Arg::Value { scalar, bits }, _) => {
                Some(EmulatedArg::Value { scalar: *scalar, bits: *bits })
            }
            (_, Some(buffer)) => match buffer.store() {
                Store::Cells(cells) => Some(EmulatedArg::Slice {
                    cells,
                    scalar: buffer.scalar(),
                    arity: buffer.arity(),
                    len: buffer.len(),
                }),
                Store::Cuda(_) => None,
            },
            _ => None,
        })
        .collect()
}

/// Runs the kernel to its end.
///
/// # Errors
/// The first fault, if `checking` or if the kernel cannot go on.
pub(crate) fn run(
    kernel: &Kernel,
    _grid: &Grid,
    _checking: bool,
    _args: &[EmulatedArg<'_>],
) -> Result<(), GpuError> {
    let function = kernel.function()?;
    Err(GpuError::Unsupported(format!("kernel `{}` on the emulator", function.name)))
}
