//! Copies between host and device, and on the device; parameters. Each with its adjoint.
//!
//! `world` stands for all memory of all devices: operations on it keep their order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use stratape_tape::RecordTape;

use crate::buffer::{Buffer, RawBuffer, Store, same_length};
use crate::device::{Device, Kind};
use crate::element::{Element, ScalarType};
use crate::error::GpuError;
use crate::grid::Grid;
use crate::kernel::{Arg, BufferMut, BufferRef, Kernel, KernelText, Order, Tape};
use crate::stream::Stream;

use super::saved::Kept;
use super::session::{Content, both, within};

type Done<T = ()> = Result<T, GpuError>;

macro_rules! sums {
    ($name:literal, $ty:literal) => {
        KernelText {
            name: $name,
            language: "",
            cuda: concat!(
                "extern \"C\" __global__ void ", $name, "_kernel(", $ty, "* __restrict__ y, unsigned long long, const ", $ty,
                "* __restrict__ x, unsigned long long, unsigned long long n, unsigned char*, unsigned long long, unsigned int*) {\n",
                "  const unsigned long long i = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x;\n",
                "  if (i < n) y[i] += x[i];\n}\n"
            ),
            params: &[],
            tape: Tape::None,
            constants: &[],
            dynamic_shared: 0,
            order: [Order::Free; 2],
            elect: None,
            checks: &[],
        }
    };
}

/// `to += from`, of floats.
pub(super) fn sum_into(device: &Device, to: &RawBuffer, from: &RawBuffer) -> Done {
    static TEXTS: [KernelText; 2] =
        [sums!("stratape_sum_f64", "double"), sums!("stratape_sum_f32", "float")];
    static KERNELS: [Kernel; 2] = [Kernel::new(&TEXTS[0]), Kernel::new(&TEXTS[1])];
    same_length("an adjoint", to.len(), from.len())?;
    let scalars = to.len() * to.arity();
    match both(to, from) {
        (Store::Cuda(_), Store::Cuda(_), Kind::Cuda(context)) if scalars > 0 => {
            let kernel = &KERNELS[usize::from(to.scalar() == ScalarType::F32)];
            let args = [
                Arg::BufferMut(BufferMut::of(to)),
                Arg::Buffer(BufferRef::of(from)),
                Arg::from(scalars),
            ];
            let grid = Grid::blocks(scalars.div_ceil(256)).threads(256);
            grid.check(device.limits())?;
            context.launch(kernel, &grid, false, &args)
        }
        (Store::Cells(to_cells), Store::Cells(from_cells), _) => {
            for (to_cell, from_cell) in to_cells.iter().zip(from_cells) {
                let (a, b) = (to_cell.load(Ordering::Relaxed), from_cell.load(Ordering::Relaxed));
                to_cell.store(sum_of(to.scalar(), a, b), Ordering::Relaxed);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The sum of two cells; the first, of what are no floats.
fn sum_of(scalar: ScalarType, a: u64, b: u64) -> u64 {
    match scalar {
        ScalarType::F64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        ScalarType::F32 => {
            let number = |cell: u64| f32::from_bits((cell & 0xffff_ffff) as u32);
            u64::from((number(a) + number(b)).to_bits())
        }
        _ => a,
    }
}

/// `to += from`, of floats of the host.
fn add<T: Element>(to: &mut [T], from: &[T]) {
    let (mut a, mut b) = (vec![0; T::ARITY], vec![0; T::ARITY]);
    for (to, from) in to.iter_mut().zip(from) {
        to.to_cells(&mut a);
        from.to_cells(&mut b);
        for (a, b) in a.iter_mut().zip(&b) {
            *a = sum_of(T::SCALAR, *a, *b);
        }
        *to = T::from_cells(&a);
    }
}

/// What is left of an operation: the buffer it made or changed, and the version before.
struct Left {
    id: usize,
    before: Option<Kept>,
}

impl Left {
    fn of(tape: &mut RecordTape, id: usize, before: Option<Content>) -> Done {
        let before = before.map(|old| within(|session| Ok(session.keep(old)))).transpose()?;
        tape.attach(Self { id, before });
        Ok(())
    }

    /// Puts the version before back; the buffer.
    fn undone(tape: &mut RecordTape) -> Done<usize> {
        let Self { id, before } = tape.detach::<Self>()?;
        if let Some(before) = before {
            let before = before.back()?;
            within(|session| session.replace(id, before))?;
        }
        Ok(id)
    }
}

/// `Device::new()`
pub fn make_device(_tape: &mut RecordTape, _world: &mut [f64]) -> Done<usize> {
    super::session::adopt_device(&Device::new()?)
}

/// `Device::emulator()`
pub fn make_emulator(_tape: &mut RecordTape, _world: &mut [f64]) -> Done<usize> {
    super::session::adopt_device(&Device::emulator())
}

pub fn made_backward(_tape: &mut RecordTape, _world: &mut [f64], _: usize) -> Done {
    Ok(())
}

/// `Stream::new(&device)`
pub fn make_stream(_tape: &mut RecordTape, device: usize, _world: &mut [f64]) -> Done<usize> {
    let device = within(|session| session.device(device))?;
    super::session::adopt_stream(&Stream::new(&device)?)
}

pub fn made_stream_backward(
    _tape: &mut RecordTape,
    _device: usize,
    _world: &mut [f64],
    _: usize,
) -> Done {
    Ok(())
}

/// `device.upload(from)`
pub fn upload<T: Element>(
    tape: &mut RecordTape,
    device: usize,
    from: &[T],
    _world: &mut [f64],
) -> Done<usize> {
    let id = within(|session| {
        let device = session.device(device)?;
        let buffer = device.upload(from)?;
        Ok(session.add(device, Content::Elements(buffer.shared())))
    })?;
    Left::of(tape, id, None)?;
    Ok(id)
}

pub fn upload_backward<T: Element>(
    tape: &mut RecordTape,
    _device: usize,
    from: &mut [T],
    world: &mut [f64],
    _: usize,
) -> Done {
    write_backward(tape, 0, from, world)
}

pub fn upload_constant_backward(
    tape: &mut RecordTape,
    _device: usize,
    _world: &mut [f64],
    _: usize,
) -> Done {
    Left::undone(tape).map(drop)
}

/// `device.zeros(len)`
pub fn zeros(tape: &mut RecordTape, device: usize, len: usize, _world: &mut [f64]) -> Done<usize> {
    let id = within(|session| {
        let device = session.device(device)?;
        Ok(session.add(device, Content::Zeros(len)))
    })?;
    Left::of(tape, id, None)?;
    Ok(id)
}

pub fn zeros_backward(
    tape: &mut RecordTape,
    _device: usize,
    _len: usize,
    _world: &mut [f64],
    _: usize,
) -> Done {
    let id = Left::undone(tape)?;
    within(|session| {
        session.clear_shadow(id);
        Ok(())
    })
}

/// `buffer.write(from)`
pub fn write<T: Element>(tape: &mut RecordTape, id: usize, from: &[T], _world: &mut [f64]) -> Done {
    let before = within(|session| {
        same_length("the slice to write", session.content(id)?.len(), from.len())?;
        let buffer = session.device_of(id)?.upload(from)?;
        session.replace(id, Content::Elements(buffer.shared()))
    })?;
    Left::of(tape, id, Some(before))?;
    Ok(())
}

pub fn write_backward<T: Element>(
    tape: &mut RecordTape,
    _id: usize,
    from: &mut [T],
    _world: &mut [f64],
) -> Done {
    let id = Left::undone(tape)?;
    if let Some(adjoint) = within(|session| Ok(session.take_shadow(id)))? {
        add(from, &Buffer::<T>::sharing(&adjoint)?.download()?);
    }
    Ok(())
}

pub fn write_constant_backward(tape: &mut RecordTape, _id: usize, _world: &mut [f64]) -> Done {
    let id = Left::undone(tape)?;
    within(|session| {
        session.clear_shadow(id);
        Ok(())
    })
}

/// `buffer.fill_zero()`
pub fn fill_zero(tape: &mut RecordTape, id: usize, _world: &mut [f64]) -> Done {
    let before = within(|session| {
        let len = match session.content(id)? {
            Content::Zeros(len) => len,
            Content::Elements(raw) => {
                let zeros = RawBuffer::zeros(raw.owner(), raw.shape())?;
                return session.replace(id, Content::Elements(Arc::new(zeros)));
            }
        };
        session.replace(id, Content::Zeros(len))
    })?;
    Left::of(tape, id, Some(before))?;
    Ok(())
}

pub fn fill_zero_backward(tape: &mut RecordTape, id: usize, world: &mut [f64]) -> Done {
    write_constant_backward(tape, id, world)
}

/// `to.copy_from(from)`: versions do not change, so both have the same one.
pub fn copy(tape: &mut RecordTape, to: usize, from: usize, _world: &mut [f64]) -> Done {
    let before = within(|session| {
        let (old, new) = (session.content(to)?, session.content(from)?);
        same_length("the buffer to copy from", old.len(), new.len())?;
        session.replace(to, new)
    })?;
    Left::of(tape, to, Some(before))?;
    Ok(())
}

pub fn copy_backward(tape: &mut RecordTape, to: usize, from: usize, _world: &mut [f64]) -> Done {
    Left::undone(tape)?;
    within(|session| match session.take_shadow(to) {
        Some(adjoint) => session.add_to_shadow(from, adjoint),
        None => Ok(()),
    })
}

/// `buffer.clone()`: both have one version until one of them changes.
pub fn duplicate(tape: &mut RecordTape, of: usize, _world: &mut [f64]) -> Done<usize> {
    let id = within(|session| {
        let (device, content) = (session.device_of(of)?, session.content(of)?);
        Ok(session.add(device, content))
    })?;
    Left::of(tape, id, None)?;
    Ok(id)
}

pub fn duplicate_backward(tape: &mut RecordTape, of: usize, _world: &mut [f64], _: usize) -> Done {
    let id = Left::undone(tape)?;
    within(|session| match session.take_shadow(id) {
        Some(adjoint) => session.add_to_shadow(of, adjoint),
        None => Ok(()),
    })
}

/// `buffer.download()`, `buffer.download_into(to)`
pub fn download<T: Element>(
    _tape: &mut RecordTape,
    id: usize,
    to: &mut [T],
    _world: &mut [f64],
) -> Done {
    within(|session| session.typed::<T>(id))?.download_into(to)
}

pub fn download_backward<T: Element>(
    _tape: &mut RecordTape,
    id: usize,
    to: &mut [T],
    _world: &mut [f64],
) -> Done {
    within(|session| {
        let adjoint = session.device_of(id)?.upload(to)?;
        session.add_to_shadow(id, adjoint.shared())
    })?;
    to.fill(T::from_cells(&vec![0; T::ARITY]));
    Ok(())
}

pub fn download_constant_backward(_tape: &mut RecordTape, _id: usize, _world: &mut [f64]) -> Done {
    Ok(())
}

/// A parameter is there; `mark` stands for what it holds.
pub fn enter<T>(_tape: &mut RecordTape, _id: usize, _world: &mut [f64], _mark: &[T]) -> Done {
    Ok(())
}

/// Its adjoint is its shadow's.
pub fn enter_backward<T>(
    _tape: &mut RecordTape,
    id: usize,
    _world: &mut [f64],
    _mark: &mut [T],
) -> Done {
    within(|session| session.hand_out(id, false))
}

/// The same of a parameter that is a result.
pub fn enter_result_backward<T>(
    _tape: &mut RecordTape,
    id: usize,
    _world: &mut [f64],
    _mark: &mut [T],
) -> Done {
    within(|session| session.hand_out(id, true))
}

/// The same of one that has no adjoint.
pub fn enter_constant_backward(_tape: &mut RecordTape, id: usize, _world: &mut [f64]) -> Done {
    within(|session| session.hand_out(id, true))
}

/// A parameter has what the function made of it.
pub fn leave<T>(_tape: &mut RecordTape, id: usize, _world: &[f64], _mark: &mut [T]) -> Done {
    within(|session| session.finish(id))
}

/// Its shadow holds its weights.
pub fn leave_backward<T>(
    _tape: &mut RecordTape,
    id: usize,
    _world: &mut [f64],
    _mark: &mut [T],
) -> Done {
    within(|session| session.weigh(id))
}

pub fn leave_constant_backward(_tape: &mut RecordTape, _id: usize, _world: &mut [f64]) -> Done {
    Ok(())
}

/// What a buffer holds.
pub fn with<T: Element>(id: usize) -> Done<Buffer<T>> {
    within(|session| session.typed::<T>(id))
}

/// What a buffer is made of; of zeros whose type nobody knows yet, `u32`.
pub fn scalar_of(id: usize) -> Done<ScalarType> {
    within(|session| {
        Ok(match session.content(id)? {
            Content::Zeros(_) => ScalarType::U32,
            Content::Elements(raw) => raw.scalar(),
        })
    })
}

/// How many elements a buffer has.
pub fn len_of(id: usize) -> Done<usize> {
    within(|session| Ok(session.content(id)?.len()))
}

/// A buffer that an operation makes beside another one: its number is the next.
pub fn beside<T: Element>(buffer: &Buffer<T>) -> Done<usize> {
    within(|session| Ok(session.add(buffer.device(), Content::Elements(buffer.shared()))))
}

/// The number of the buffer that an operation made, on the way back.
pub fn number_of_made(tape: &mut RecordTape) -> Done<usize> {
    Left::undone(tape)
}

/// The adjoint of a buffer by its number, if there is one.
pub fn adjoint_beside<T: Element>(id: usize) -> Done<Option<Buffer<T>>> {
    within(|session| session.take_shadow(id).map(|raw| Buffer::sharing(&raw)).transpose())
}

/// The adjoint of a buffer, to be added to.
pub fn shadow<T: Element>(id: usize) -> Done<Buffer<T>> {
    within(|session| {
        let like = session.elements(id, (T::SCALAR, T::ARITY))?;
        Buffer::sharing(&*session.shadow(id, &like)?)
    })
}

/// Zeros of the shape of a buffer, for a second adjoint of what may be the same buffer.
pub fn adjoint<T: Element>(id: usize) -> Done<Buffer<T>> {
    within(|session| {
        let like = session.elements(id, (T::SCALAR, T::ARITY))?;
        Buffer::sharing(&RawBuffer::zeros(like.owner(), like.shape())?)
    })
}

/// Adds such an adjoint.
pub fn of_made<T: Element>(id: usize, adjoint: &Buffer<T>) -> Done {
    within(|session| session.add_to_shadow(id, adjoint.shared()))
}

/// A buffer that an operation made.
pub fn made<T: Element>(tape: &mut RecordTape, buffer: &Buffer<T>) -> Done<usize> {
    let id =
        within(|session| Ok(session.add(buffer.device(), Content::Elements(buffer.shared()))))?;
    Left::of(tape, id, None)?;
    Ok(id)
}

/// Its adjoint, if there is one.
pub fn adjoint_of_made<T: Element>(tape: &mut RecordTape) -> Done<Option<Buffer<T>>> {
    let id = Left::undone(tape)?;
    within(|session| session.take_shadow(id).map(|raw| Buffer::sharing(&raw)).transpose())
}
