//! Copies of buffers: one that says when it cannot be made, and one that remembers it.

use super::{Buffer, RawBuffer, Store};
use crate::element::Element;
use crate::error::GpuError;
use crate::stream::Stream;

impl<T: Element> Buffer<T> {
    /// A copy on the same device. Does not wait for the device.
    ///
    /// ```
    /// let mut x = stratape_cuda::Device::emulator().upload(&[1.0, 2.0])?;
    /// let y = x.try_clone()?;
    /// x.fill_zero()?;
    /// assert_eq!(y.download()?, [1.0, 2.0]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If device memory is exhausted; if the device fails, or has failed in an earlier launch.
    pub fn try_clone(&self) -> Result<Self, GpuError> {
        self.raw.duplicate(None).map(Self::from_raw)
    }

    /// A copy that is made on a stream.
    ///
    /// ```
    /// use stratape_cuda::{Device, Stream};
    ///
    /// let device = Device::new()?;
    /// let x = device.upload(&[1.0, 2.0])?;
    /// let y = x.try_clone_on(&Stream::new(&device)?)?;
    /// assert_eq!(y.download()?, [1.0, 2.0]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// As [`try_clone`](Self::try_clone); if the stream belongs to another device.
    pub fn try_clone_on(&self, stream: &Stream) -> Result<Self, GpuError> {
        self.raw.owner().check(stream.owner(), "the stream")?;
        self.raw.duplicate(Some(stream)).map(Self::from_raw)
    }

    /// Becomes a copy of another buffer: in the memory it has, if that is of the same device and length.
    pub(crate) fn assign(&mut self, other: &Self) {
        let fits = self.len() == other.len()
            && self.raw.owner().is(other.raw.owner())
            && self.raw.check().is_ok();
        if !fits || self.raw.copy_from(&other.raw).is_err() {
            *self = other.clone();
        }
    }

    /// A buffer whose every use is this error.
    fn failed(&self, error: GpuError) -> Self {
        Self::from_raw(RawBuffer::of(self.raw.owner(), self.raw.shape(), Store::Failed(error)))
    }
}

/// A copy on the same device, as [`try_clone`](Buffer::try_clone) makes it.
///
/// If it cannot be made, the copy is a buffer without memory: launches, downloads and all other uses of it return the error, and so do
/// its own copies. So a time loop over buffers neither panics nor goes on with wrong numbers.
impl<T: Element> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        self.try_clone().unwrap_or_else(|error| self.failed(error))
    }

    fn clone_from(&mut self, source: &Self) {
        self.assign(source);
    }
}
