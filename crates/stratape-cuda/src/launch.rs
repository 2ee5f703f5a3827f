//! The launch of a kernel: what is checked before, and which device does it.

use crate::buffer::{RawBuffer, Store, clear_cells, same_length};
use crate::device::{Device, Kind};
use crate::election;
use crate::emulator;
use crate::error::GpuError;
use crate::grid::Grid;
use crate::kernel::{Arg, BufferRef, Kernel, KernelText, Param};

/// Launches a kernel.
///
/// On a CUDA device the launch is put on the stream and runs when its turn comes, except with checking, or with a tape whose
/// size is not known: then it waits for the kernel, and reports its faults.
///
/// # Errors
/// Before anything happens: if an argument is not what the kernel takes, belongs to another device, or is a shadow of another
/// length than what it shadows; if the grid is empty or beyond the limits of the device; if the kernel does not compile.
/// After: if the kernel has faulted, if memory for its tape is missing, or if the device fails.
pub fn launch(
    kernel: &Kernel,
    device: &Device,
    grid: &Grid,
    args: &mut [Arg<'_>],
) -> Result<(), GpuError> {
    let text = kernel.text();
    let elect = text.elect;
    let last = text.params.len() - elect.map_or(0, |elect| elect.extremes.len());
    check_args(text, &text.params[..last], device, args)?;
    if let Some(stream) = grid.chosen_stream() {
        device.kind().check(stream.owner(), "the stream of the launch")?;
    }
    grid.check(device.limits())?;
    let Some(elect) = elect else { return run(kernel, device, grid, args) };
    let holders = election::held(elect, device, grid, args)?;
    let args = args.iter_mut().map(|arg| std::mem::replace(arg, Arg::from(0_usize)));
    run_with(kernel, device, grid, args.collect(), &holders)
}

/// The launch of a gradient that is told who holds the extremes.
fn run_with(
    kernel: &Kernel,
    device: &Device,
    grid: &Grid,
    args: Vec<Arg<'_>>,
    holders: &[RawBuffer],
) -> Result<(), GpuError> {
    let holders = holders.iter().map(|holder| Arg::Buffer(BufferRef::of(holder)));
    let all: Vec<Arg<'_>> = args.into_iter().chain(holders).collect();
    run(kernel, device, grid, &all)
}

/// A launch whose arguments and grid were checked.
pub(crate) fn run(
    kernel: &Kernel,
    device: &Device,
    grid: &Grid,
    args: &[Arg<'_>],
) -> Result<(), GpuError> {
    match device.kind() {
        Kind::Cuda(context) => context.launch(kernel, grid, device.is_checking(), args),
        Kind::Emulator(_) => {
            for arg in args.iter().filter(|arg| arg.is_fresh()) {
                if let Some(Store::Cells(cells)) = arg.buffer().map(RawBuffer::store) {
                    clear_cells(cells);
                }
            }
            emulator::run(kernel, grid, device.is_checking(), &emulator::args(args))
        }
    }
}

fn check_args(
    text: &KernelText,
    params: &[Param],
    device: &Device,
    args: &[Arg<'_>],
) -> Result<(), GpuError> {
    if args.len() != params.len() {
        let index = args.len().min(params.len());
        return Err(GpuError::Argument {
            kernel: text.name.to_owned(),
            index,
            expected: params.get(index).map_or("nothing".to_owned(), Param::describe),
            found: args.get(index).map_or("nothing".to_owned(), Arg::describe),
        });
    }
    for (index, (param, arg)) in params.iter().zip(args).enumerate() {
        let what = || format!("argument {index} of kernel `{}`", text.name);
        let shadowed = match (param, arg.buffer()) {
            (Param::Value(expected), None) if value_type(arg) == Some(*expected) => continue,
            (Param::Slice { scalar, arity, mutable, shadow_of, .. }, Some(buffer))
                if *scalar == buffer.scalar()
                    && *arity == buffer.arity()
                    && (!mutable || arg.is_mutable()) =>
            {
                device.kind().check(buffer.owner(), &what())?;
                buffer.check()?;
                shadow_of.and_then(|of| Some((of, args.get(of)?)))
            }
            _ => {
                return Err(GpuError::Argument {
                    kernel: text.name.to_owned(),
                    index,
                    expected: param.describe(),
                    found: arg.describe(),
                });
            }
        };
        if let (Some((of, shadowed)), Some(shadow)) = (shadowed, arg.buffer()) {
            // The adjoint of values is one element for each float.
            let floats = || params[of..index].iter().filter(|param| param.is_float()).count();
            let expected = shadowed.buffer().map_or_else(floats, RawBuffer::len);
            if expected != shadow.len() {
                same_length(&format!("the shadow, {},", what()), expected, shadow.len())?;
            }
        }
    }
    Ok(())
}

fn value_type(arg: &Arg<'_>) -> Option<crate::ScalarType> {
    match arg {
        Arg::Value { scalar, .. } => Some(*scalar),
        _ => None,
    }
}
