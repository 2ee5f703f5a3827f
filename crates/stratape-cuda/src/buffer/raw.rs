//! [`RawBuffer`]: a buffer whose type of elements is a value, and its bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stratape_tape::source::Block;

use crate::cuda::{Fence, Memory};
use crate::device::Kind;
use crate::element::{Element, ScalarType};
use crate::error::GpuError;
use crate::stream::Stream;

/// A buffer whose type of elements is a value.
pub(crate) struct RawBuffer {
    owner: Kind,
    shape: Shape,
    store: Arc<Store>,
    /// Whether the handle that made it checks launches.
    checking: bool,
}

/// What a buffer holds, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) scalar: ScalarType,
    /// Scalars of an element.
    pub(crate) arity: usize,
    /// Elements.
    pub(crate) len: usize,
}

pub(crate) enum Store {
    /// Device memory, elements as they lie in Rust.
    Cuda(Memory),
    /// One cell for each scalar.
    Cells(Box<[AtomicU64]>),
    /// A copy that could not be made; every use says why.
    Failed(GpuError),
}

impl Shape {
    pub(crate) fn of<T: Element>(len: usize) -> Self {
        Self { scalar: T::SCALAR, arity: T::ARITY, len }
    }

    /// Bytes of all elements, as they lie on a device.
    pub(crate) fn bytes(self) -> usize {
        self.scalars().saturating_mul(self.scalar.bytes())
    }

    fn scalars(self) -> usize {
        self.len.saturating_mul(self.arity)
    }

    /// What it holds, as a Rust type.
    pub(crate) fn element_name(self) -> String {
        element_name(self.scalar, self.arity)
    }

    /// Refuses elements of another type. Nested arrays and flat ones are the same.
    pub(crate) fn check<T: Element>(self) -> Result<(), GpuError> {
        if (self.scalar, self.arity) == (T::SCALAR, T::ARITY) {
            return Ok(());
        }
        Err(GpuError::ElementType {
            expected: self.element_name(),
            found: element_name(T::SCALAR, T::ARITY),
        })
    }
}

impl RawBuffer {
    pub(super) fn of(owner: &Kind, shape: Shape, store: Store) -> Self {
        let checking = matches!(owner, Kind::Emulator(_));
        Self { owner: owner.clone(), shape, store: Arc::new(store), checking }
    }

    /// A buffer with anything in it, in the order of a stream, on which it is to be written first.
    ///
    /// `patient`: where memory is short, what is given back and still in use is waited for.
    pub(crate) fn on(
        owner: &Kind,
        shape: Shape,
        stream: &Stream,
        patient: bool,
    ) -> Result<Self, GpuError> {
        let store = match (owner, stream.raw()) {
            (Kind::Cuda(context), Some(stream)) => {
                Store::Cuda(Memory::on(context, shape.bytes(), stream, patient)?)
            }
            (Kind::Cuda(context), None) => Store::Cuda(Memory::new(context, shape.bytes())?),
            (Kind::Emulator(_), _) => Store::Cells(cells(Some(shape.scalars()))?),
        };
        Ok(Self::of(owner, shape, store))
    }

    /// Memory with anything in it, on CUDA devices; see [`Memory::new`].
    pub(crate) fn new(owner: &Kind, shape: Shape) -> Result<Self, GpuError> {
        let store = match owner {
            Kind::Cuda(context) => Store::Cuda(Memory::new(context, shape.bytes())?),
            Kind::Emulator(_) => Store::Cells(cells(Some(shape.scalars()))?),
        };
        Ok(Self::of(owner, shape, store))
    }

    pub(crate) fn zeros(owner: &Kind, shape: Shape) -> Result<Self, GpuError> {
        let raw = Self::new(owner, shape)?;
        raw.fill_zero()?;
        Ok(raw)
    }

    pub(crate) fn fill_zero(&self) -> Result<(), GpuError> {
        match &*self.store {
            Store::Cuda(memory) => memory.fill_zero(),
            Store::Cells(cells) => {
                clear_cells(cells);
                Ok(())
            }
            Store::Failed(error) => Err(error.clone()),
        }
    }

    /// The same memory, to be held beside it.
    pub(crate) fn share(&self) -> Self {
        Self {
            owner: self.owner.clone(),
            shape: self.shape,
            store: Arc::clone(&self.store),
            checking: self.checking,
        }
    }

    /// The same, made by a handle that checks launches, or does not.
    pub(crate) fn made_with(self, checking: bool) -> Self {
        Self { checking, ..self }
    }

    pub(crate) fn is_checking(&self) -> bool {
        self.checking
    }

    pub(crate) fn owner(&self) -> &Kind {
        &self.owner
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn scalar(&self) -> ScalarType {
        self.shape.scalar
    }

    /// Scalars of an element.
    pub(crate) fn arity(&self) -> usize {
        self.shape.arity
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.len
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Whether there is anything to use: why a copy could not be made, otherwise.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        match &*self.store {
            Store::Failed(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// What it holds, as a Rust type: `f64`, `[f64; 3]`. Nested arrays are written flat.
    pub(crate) fn element_name(&self) -> String {
        self.shape.element_name()
    }

    /// Overwrites the elements with those of a buffer of the same device and shape, on the device's own stream.
    pub(crate) fn copy_from(&self, other: &Self) -> Result<(), GpuError> {
        self.copy(other, None)
    }

    /// A copy, made on a stream, or on the device's own.
    pub(crate) fn duplicate(&self, stream: Option<&Stream>) -> Result<Self, GpuError> {
        self.check()?;
        let stream = stream.filter(|stream| stream.raw().is_some());
        let copy = match stream {
            Some(stream) => Self::on(&self.owner, self.shape, stream, true)?,
            None => Self::new(&self.owner, self.shape)?,
        };
        copy.copy(self, stream)?;
        Ok(copy)
    }

    fn copy(&self, other: &Self, stream: Option<&Stream>) -> Result<(), GpuError> {
        match (&*self.store, &*other.store) {
            (Store::Failed(error), _) | (_, Store::Failed(error)) => Err(error.clone()),
            (Store::Cuda(to), Store::Cuda(from)) => match stream.and_then(Stream::raw) {
                Some(stream) => to.copy_on(from, stream),
                None => to.copy_from(from),
            },
            (Store::Cells(to), Store::Cells(from)) => {
                for (to, from) in to.iter().zip(from) {
                    to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                Ok(())
            }
            // One owner has one kind of memory.
            _ => Ok(()),
        }
    }

    /// Begins to copy the elements to a block, on a stream. They are there when the fence has passed; at once, if there is none.
    ///
    /// # Safety
    /// The block must not be touched or dropped until then.
    pub(crate) unsafe fn start_to_host(
        &self,
        block: &mut Block,
        stream: &Stream,
    ) -> Result<Option<Fence>, GpuError> {
        let bytes = self.shape.bytes().min(block.len());
        match (&*self.store, stream.raw()) {
            (Store::Cuda(memory), Some(stream)) => {
                let to = block.bytes_mut().as_mut_ptr();
                // SAFETY: the block has that many bytes, and the caller keeps it.
                unsafe { memory.start_to_host(to, bytes, stream).map(Some) }
            }
            _ => self.read_bytes(&mut block.bytes_mut()[..bytes]).map(|()| None),
        }
    }

    /// Begins to overwrite the elements from a block, on a stream and after a fence. They are read when the returned fence has passed.
    ///
    /// # Safety
    /// The block must not be changed or dropped until then.
    pub(crate) unsafe fn start_from_host(
        &self,
        block: &Block,
        stream: &Stream,
        after: Option<&Fence>,
    ) -> Result<Option<Fence>, GpuError> {
        let bytes = self.shape.bytes().min(block.len());
        match (&*self.store, stream.raw()) {
            (Store::Cuda(memory), Some(stream)) => {
                let from = block.bytes().as_ptr();
                // SAFETY: the block has that many bytes, and the caller keeps it.
                unsafe { memory.start_from_host(from, bytes, stream, after).map(Some) }
            }
            _ => self.write_bytes(&block.bytes()[..bytes]).map(|()| None),
        }
    }

    /// Copies the elements as bytes, as they lie on a device, and waits. There are as many bytes as they have.
    pub(crate) fn read_bytes(&self, bytes: &mut [u8]) -> Result<(), GpuError> {
        match &*self.store {
            // SAFETY: the slice is borrowed for writing.
            Store::Cuda(memory) => unsafe { memory.copy_to_host(bytes.as_mut_ptr(), bytes.len()) },
            Store::Cells(cells) => {
                let size = self.shape.scalar.bytes();
                for (cell, place) in cells.iter().zip(bytes.chunks_exact_mut(size)) {
                    place.copy_from_slice(&cell.load(Ordering::Relaxed).to_le_bytes()[..size]);
                }
                Ok(())
            }
            Store::Failed(error) => Err(error.clone()),
        }
    }

    /// Overwrites the elements from bytes, and waits.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Result<(), GpuError> {
        match &*self.store {
            // SAFETY: the slice holds that many bytes.
            Store::Cuda(memory) => unsafe { memory.copy_from_host(bytes.as_ptr(), bytes.len()) },
            Store::Cells(cells) => {
                let scalar = self.shape.scalar;
                for (cell, bytes) in cells.iter().zip(bytes.chunks_exact(scalar.bytes())) {
                    cell.store(to_cell(scalar, bytes), Ordering::Relaxed);
                }
                Ok(())
            }
            Store::Failed(error) => Err(error.clone()),
        }
    }
}

/// The elements that lie in bytes as on a device.
pub(crate) fn elements<T: Element>(bytes: &[u8], len: usize) -> Result<Vec<T>, GpuError> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)
        .map_err(|_| GpuError::OutOfHostMemory { asked: len.saturating_mul(size_of::<T>()) })?;
    let size = T::SCALAR.bytes();
    let mut scalars = bytes.chunks_exact(size).map(|bytes| to_cell(T::SCALAR, bytes));
    let mut element = vec![0; T::ARITY];
    list.extend((0..len).map(|_| {
        element.iter_mut().for_each(|cell| *cell = scalars.next().unwrap_or(0));
        T::from_cells(&element)
    }));
    Ok(list)
}

/// The cell of a scalar that lies in these bytes.
fn to_cell(scalar: ScalarType, bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match scalar {
        ScalarType::I8 => i64::from(bits as i8) as u64,
        ScalarType::I16 => i64::from(bits as i16) as u64,
        ScalarType::I32 => i64::from(bits as i32) as u64,
        ScalarType::Bool => u64::from(bits != 0),
        _ => bits,
    }
}

/// The element of a slice with so many scalars in one.
pub(crate) fn element_name(scalar: ScalarType, arity: usize) -> String {
    if arity == 1 { scalar.to_string() } else { format!("[{scalar}; {arity}]") }
}

pub(crate) fn clear_cells(cells: &[AtomicU64]) {
    for cell in cells {
        cell.store(0, Ordering::Relaxed);
    }
}

/// Refuses a length that is not what it must be.
///
/// # Errors
/// If they differ.
pub fn same_length(what: &str, expected: usize, found: usize) -> Result<(), GpuError> {
    if expected == found {
        return Ok(());
    }
    Err(GpuError::Length { what: what.to_owned(), expected, found })
}

/// So many cells of zero; the standard allocation would abort where there is no memory.
pub(super) fn cells(count: Option<usize>) -> Result<Box<[AtomicU64]>, GpuError> {
    let count = count.unwrap_or(usize::MAX);
    let mut cells = Vec::new();
    cells
        .try_reserve_exact(count)
        .map_err(|_| GpuError::OutOfHostMemory { asked: count.saturating_mul(8) })?;
    cells.resize_with(count, || AtomicU64::new(0));
    Ok(cells.into_boxed_slice())
}
