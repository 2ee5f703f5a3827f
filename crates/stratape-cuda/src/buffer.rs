//! [`Buffer`]: elements in the memory of a device, and [`Shadow`]: a buffer of adjoints.

mod copy;
mod raw;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cuda::Memory;
use crate::device::Device;
use crate::element::{Element, ScalarType};
use crate::error::GpuError;

pub use self::raw::same_length;
pub(crate) use self::raw::{RawBuffer, Shape, Store, clear_cells, element_name, elements};

/// Elements in the memory of a device.
///
/// Made by [`Device::upload`](crate::Device::upload), [`zeros`](crate::Device::zeros) and
/// [`alloc_like`](crate::Device::alloc_like); the memory is given back when the buffer is dropped, after every launch that
/// uses it.
///
/// Copies from and to slices of [page-locked memory](crate::PinnedSource) are done by the device itself, at the speed of the bus;
/// other memory is copied through the driver's own.
///
/// ```
/// use stratape_cuda::Device;
///
/// let device = Device::emulator();
/// let mut x = device.upload(&[1.0f32, 2.0, 3.0])?;
/// let mut y = device.alloc_like(&x)?;
/// y.copy_from(&x)?;
/// x.fill_zero()?;
/// assert_eq!(x.download()?, [0.0; 3]);
/// assert_eq!(y.download()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
pub struct Buffer<T> {
    raw: RawBuffer,
    elements: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// A buffer with anything in it, which the caller writes before anyone else sees it.
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, GpuError> {
        let raw = RawBuffer::new(device.kind(), Shape::of::<T>(len))?;
        let raw = raw.made_with(device.is_checking());
        Ok(Self { raw, elements: PhantomData })
    }

    /// The device that the buffer belongs to, checking as the handle did that the buffer was made with.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator().checking(false);
    /// let x = device.zeros::<f64>(3)?;
    /// assert!(x.device() == device && !x.device().is_checking());
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn device(&self) -> Device {
        Device::of(self.raw.owner().clone(), self.raw.is_checking())
    }

    /// The number of elements.
    ///
    /// ```
    /// let x = stratape_cuda::Device::emulator().upload(&[[1u8, 2], [3, 4]])?;
    /// assert_eq!(x.len(), 2);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// assert!(stratape_cuda::Device::emulator().zeros::<f64>(0)?.is_empty());
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.raw.len() == 0
    }

    /// The elements, after every launch that writes to them.
    ///
    /// ```
    /// let x = stratape_cuda::Device::emulator().upload(&[true, false])?;
    /// assert_eq!(x.download()?, [true, false]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails, or has failed in an earlier launch; if the host has no memory.
    pub fn download(&self) -> Result<Vec<T>, GpuError> {
        let mut elements = Vec::new();
        elements
            .try_reserve_exact(self.len())
            .map_err(|_| GpuError::OutOfHostMemory { asked: self.len() * size_of::<T>() })?;
        match self.raw.store() {
            Store::Cuda(memory) => {
                // SAFETY: `reserve` made room for `len` elements, and nothing else refers to it.
                unsafe { Self::fetch(memory, elements.as_mut_ptr(), self.len())? };
                // SAFETY: `fetch` has written all `len` elements.
                unsafe { elements.set_len(self.len()) };
            }
            Store::Cells(cells) => {
                let mut element = vec![0; T::ARITY];
                elements.extend((0..self.len()).map(|i| load::<T>(cells, i, &mut element)));
            }
            Store::Failed(error) => return Err(error.clone()),
        }
        Ok(elements)
    }

    /// The elements, into a slice of the same length.
    ///
    /// ```
    /// let x = stratape_cuda::Device::emulator().upload(&[1, 2, 3])?;
    /// let mut host = [0; 3];
    /// x.download_into(&mut host)?;
    /// assert_eq!(host, [1, 2, 3]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths differ; if the device fails, or has failed in an earlier launch. The slice may then hold a part of the
    /// elements.
    pub fn download_into(&self, elements: &mut [T]) -> Result<(), GpuError> {
        same_length("the slice to download into", self.len(), elements.len())?;
        match self.raw.store() {
            // SAFETY: the slice has `len` elements and is borrowed for writing.
            Store::Cuda(memory) => unsafe {
                Self::fetch(memory, elements.as_mut_ptr(), self.len())
            },
            Store::Cells(cells) => {
                let mut element = vec![0; T::ARITY];
                for (i, place) in elements.iter_mut().enumerate() {
                    *place = load(cells, i, &mut element);
                }
                Ok(())
            }
            Store::Failed(error) => Err(error.clone()),
        }
    }

    /// Copies device memory to `len` elements at `to`.
    ///
    /// # Safety
    /// `to` must be valid for writes of `len` elements, and `memory` be that long.
    unsafe fn fetch(memory: &Memory, to: *mut T, len: usize) -> Result<(), GpuError> {
        let bytes = len * size_of::<T>();
        if T::SCALAR != ScalarType::Bool {
            // SAFETY: the caller's; any bits are a number of any other scalar type.
            return unsafe { memory.copy_to_host(to.cast(), bytes) };
        }
        // A kernel may have stored any byte, and only two of them are a `bool`. They are looked at before they are one.
        let mut raw = Vec::new();
        raw.try_reserve_exact(bytes).map_err(|_| GpuError::OutOfHostMemory { asked: bytes })?;
        raw.resize(bytes, 0u8);
        // SAFETY: `raw` has that many bytes.
        unsafe { memory.copy_to_host(raw.as_mut_ptr(), bytes)? };
        for byte in &mut raw {
            *byte = u8::from(*byte != 0);
        }
        // SAFETY: `to` is valid for that many bytes, `raw` is apart from it, and all of them are 0 or 1.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(raw.as_ptr(), bytes) };
        Ok(())
    }

    /// Overwrites the elements with those of a slice of the same length.
    ///
    /// ```
    /// let mut x = stratape_cuda::Device::emulator().zeros::<f64>(2)?;
    /// x.write(&[1.0, 2.0])?;
    /// assert_eq!(x.download()?, [1.0, 2.0]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths differ; if the device fails, or has failed in an earlier launch.
    pub fn write(&mut self, elements: &[T]) -> Result<(), GpuError> {
        same_length("the slice to write", self.len(), elements.len())?;
        match self.raw.store() {
            Store::Cuda(memory) => {
                // SAFETY: the slice has that many bytes, none of them padding.
                unsafe { memory.copy_from_host(elements.as_ptr().cast(), size_of_val(elements)) }
            }
            Store::Cells(cells) => {
                let mut element = vec![0; T::ARITY];
                for (value, cells) in elements.iter().zip(cells.chunks(T::ARITY.max(1))) {
                    value.to_cells(&mut element);
                    for (cell, bits) in cells.iter().zip(&element) {
                        cell.store(*bits, Ordering::Relaxed);
                    }
                }
                Ok(())
            }
            Store::Failed(error) => Err(error.clone()),
        }
    }

    /// Overwrites every element with zero, or `false`. Does not wait for the device.
    ///
    /// ```
    /// let mut x = stratape_cuda::Device::emulator().upload(&[1.0, 2.0])?;
    /// x.fill_zero()?;
    /// assert_eq!(x.download()?, [0.0, 0.0]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails, or has failed in an earlier launch.
    pub fn fill_zero(&mut self) -> Result<(), GpuError> {
        self.raw.fill_zero()
    }

    /// Overwrites the elements with those of another buffer of the device, of the same length. Does not wait for the device.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator();
    /// let x = device.upload(&[1.0, 2.0])?;
    /// let mut y = device.zeros(2)?;
    /// y.copy_from(&x)?;
    /// assert_eq!(y.download()?, [1.0, 2.0]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths or the devices differ; if the device fails, or has failed in an earlier launch.
    pub fn copy_from(&mut self, other: &Self) -> Result<(), GpuError> {
        self.raw.owner().check(other.raw.owner(), "the buffer to copy from")?;
        same_length("the buffer to copy from", self.len(), other.len())?;
        self.raw.copy_from(&other.raw)
    }

    /// The buffer of raw memory that holds such elements; the caller has looked.
    pub(crate) fn from_raw(raw: RawBuffer) -> Self {
        Self { raw, elements: PhantomData }
    }

    pub(crate) fn into_raw(self) -> RawBuffer {
        self.raw
    }

    /// The buffer that has this memory, which others may hold, too.
    pub(crate) fn sharing(raw: &RawBuffer) -> Result<Self, GpuError> {
        raw.shape().check::<T>()?;
        Ok(Self::from_raw(raw.share()))
    }

    /// Its memory, to be held beside it.
    pub(crate) fn shared(&self) -> Arc<RawBuffer> {
        Arc::new(self.raw.share())
    }

    pub(crate) fn raw(&self) -> &RawBuffer {
        &self.raw
    }
}

/// A buffer that holds anything until it is written: zeros where not all bits are a value.
///
/// # Errors
/// If device memory is exhausted, or the device fails.
pub fn unwritten<T: Element>(device: &Device, len: usize) -> Result<Buffer<T>, GpuError> {
    match T::SCALAR {
        ScalarType::Bool => device.zeros(len),
        _ => Buffer::new(device, len),
    }
}

/// A copy of the elements whose bits are read as another type of scalars, of the same size. Does not wait for the device.
///
/// # Errors
/// If the sizes of the types differ, if device memory is exhausted, or if the device fails.
pub fn bits_of<T: Element, B: Element>(buffer: &Buffer<T>) -> Result<Buffer<B>, GpuError> {
    if T::ARITY != B::ARITY || T::SCALAR.bytes() != B::SCALAR.bytes() {
        let (from, to) = (element_name(T::SCALAR, T::ARITY), element_name(B::SCALAR, B::ARITY));
        return Err(GpuError::Unsupported(format!("the bits of `{from}` as `{to}`")));
    }
    let copy = Buffer::new(&buffer.device(), buffer.len())?;
    copy.raw.copy_from(&buffer.raw)?;
    Ok(copy)
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("element", &self.raw.element_name())
            .field("len", &self.raw.len())
            .field("device", &self.raw.owner().name())
            .finish()
    }
}

/// A buffer that receives adjoints, as an argument of a launch.
///
/// `&mut Buffer` is one to which adjoints are added; [`fresh`] makes one that they overwrite.
///
/// ```
/// use stratape_cuda::{Buffer, Device, Shadow, fresh};
///
/// fn takes<'a>(shadow: impl Into<Shadow<'a, f64>>) -> bool {
///     shadow.into().is_fresh()
/// }
/// let mut dx: Buffer<f64> = Device::emulator().zeros(8)?;
/// assert!(!takes(&mut dx));
/// assert!(takes(fresh(&mut dx)));
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
#[derive(Debug)]
pub struct Shadow<'a, T> {
    buffer: &'a mut Buffer<T>,
    fresh: bool,
}

impl<'a, T> From<&'a mut Buffer<T>> for Shadow<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        Self { buffer, fresh: false }
    }
}

impl<'a, T: Element> Shadow<'a, T> {
    /// Whether adjoints overwrite the contents of the buffer.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The buffer.
    pub fn into_buffer(self) -> &'a mut Buffer<T> {
        self.buffer
    }
}

/// A shadow that is overwritten instead of added to: its contents do not matter.
///
/// ```
/// use stratape_cuda::{Device, Shadow, fresh};
///
/// let mut dx = Device::emulator().zeros::<f64>(8)?;
/// assert!(fresh(&mut dx).is_fresh());
/// assert!(!Shadow::from(&mut dx).is_fresh());
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
pub fn fresh<T>(buffer: &mut Buffer<T>) -> Shadow<'_, T> {
    Shadow { buffer, fresh: true }
}

/// The element of a buffer that has one.
///
/// # Errors
/// If it has none, or if the device fails.
pub fn only<T: Element>(buffer: &Buffer<T>) -> Result<T, GpuError> {
    let elements = buffer.download()?;
    let empty = || GpuError::Empty { what: "first element".to_owned() };
    elements.first().copied().ok_or_else(empty)
}

/// Element `i`, by way of a place for its cells.
fn load<T: Element>(cells: &[AtomicU64], i: usize, element: &mut [u64]) -> T {
    for (bits, cell) in element.iter_mut().zip(cells.iter().skip(i * T::ARITY)) {
        *bits = cell.load(Ordering::Relaxed);
    }
    T::from_cells(element)
}
