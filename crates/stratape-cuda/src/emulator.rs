//! The emulator: kernels on the CPU, run by [`stratape_interp::simt`].

use std::num::NonZero;

use stratape_interp::simt::{self, Launch};

use crate::buffer::Store;
use crate::error::{FaultKind, GpuError, KernelFault};
use crate::grid::{Dim3, Grid, Limits};
use crate::kernel::{Arg, Kernel};

/// Bytes of shared memory that a kernel may declare, as on every CUDA device.
const STATIC_SHARED: usize = 48 << 10;

/// The arguments of a launch whose buffers were checked to belong to an emulator.
pub(crate) fn args<'a>(args: &[Arg<'a>]) -> Vec<simt::Arg<'a>> {
    let cells = |arg: &Arg<'a>| match arg.buffer()?.store() {
        Store::Cells(cells) => Some(simt::Arg::Memory(cells)),
        Store::Cuda(_) | Store::Failed(_) => None,
    };
    let one = |arg: &Arg<'a>| match arg {
        Arg::Value { bits, .. } => Some(simt::Arg::Value(*bits)),
        arg => cells(arg),
    };
    args.iter().filter_map(one).collect()
}

/// Runs the kernel to its end.
///
/// # Errors
/// The first fault, if `checking` or if the kernel cannot go on.
pub(crate) fn run(
    kernel: &Kernel,
    grid: &Grid,
    checking: bool,
    args: &[simt::Arg<'_>],
) -> Result<(), GpuError> {
    let function = kernel.function()?;
    let text = kernel.text();
    // The extents were checked against the limits of a launch, which fit.
    let extents =
        |dim: Dim3| [dim.x, dim.y, dim.z].map(|one| u32::try_from(one).unwrap_or(u32::MAX));
    let workers = match grid.is_deterministic() {
        true => 1,
        false => std::thread::available_parallelism().map_or(1, NonZero::get),
    };
    let constants = text.constants.iter().map(|(text, one)| ((*text).to_owned(), one.number()));
    let constants = constants.collect();
    let declared =
        simt::static_shared(function, &constants).map_err(|fault| of(text.name, fault))?;
    if declared > STATIC_SHARED {
        let (kernel, limit) = (text.name.to_owned(), STATIC_SHARED);
        return Err(GpuError::StaticSharedMemory { kernel, declared, limit });
    }
    let (asked, limit) =
        (grid.shared_bytes() * text.dynamic_shared, Limits::EMULATOR.shared - declared);
    if asked > limit {
        return Err(GpuError::SharedMemory { asked, limit });
    }
    let launch = Launch {
        grid: extents(grid.block_count()),
        block: extents(grid.thread_count()),
        shared_bytes: asked,
        check: checking,
        workers,
        constants,
    };
    simt::run(function, &launch, args).map_err(|fault| of(text.name, fault))
}

/// What a fault of the emulator is called here.
fn of(kernel: &str, fault: simt::Fault) -> GpuError {
    let kind = match fault.kind {
        simt::FaultKind::OutOfBounds => FaultKind::OutOfBounds,
        simt::FaultKind::Race => FaultKind::Race,
        simt::FaultKind::Divergence => FaultKind::DivergentBarrier,
        simt::FaultKind::Uninitialised => FaultKind::UninitialisedShared,
        simt::FaultKind::Assertion => FaultKind::Assertion,
        simt::FaultKind::Arithmetic => FaultKind::Arithmetic,
        _ => return GpuError::Unsupported(format!("kernel `{kernel}` on the emulator: {fault}")),
    };
    GpuError::Fault(KernelFault {
        kernel: kernel.to_owned(),
        kind,
        thread: fault.thread,
        block: fault.block,
        detail: fault.message,
    })
}
