//! [`DeviceTape`]: a stack of device buffers that spills to host memory and disk.
//!
//! ```text
//! DeviceTape          keys in the order of a stack             mod.rs
//!    └── Layers       which buffer is where, and when it moves layers.rs (device), host.rs (host memory and disk)
//!           └── Entry the copies of one buffer                 entry.rs
//! ```

mod entry;
mod host;
mod layers;
mod options;
mod stats;

use std::fmt;

use crate::buffer::{Buffer, elements};
use crate::device::Device;
use crate::element::Element;
use crate::error::GpuError;
use crate::stream::Stream;

pub(crate) use self::entry::Key;
pub(crate) use self::layers::Layers;
pub use self::options::DeviceTapeOptions;
pub use self::stats::{DeviceTapeStats, LayerStats};

/// A stack of buffers of one device, of any length and type of elements.
///
/// Buffers are in device memory up to a budget, then in page-locked memory of the host, then on disk; the deepest ones, which are needed last, are moved
/// down, and moved up again before they are popped. Copies between device and host run on the tape's own streams. A kernel waits for
/// one only if it needs the buffer that is copied; pushes and pops wait for none, unless the budget is full of copies that have not ended, or
/// the disk is too slow. `stats` counts these waits.
///
/// Use it where the states or activations of a forward pass are needed in the reverse pass:
///
/// ```
/// use stratape_cuda::{Device, DeviceTapeOptions};
///
/// let device = Device::new()?;
/// let mut tape = DeviceTapeOptions::new().device_bytes(1 << 16).host_bytes(1 << 20).open(&device)?;
/// let mut state = device.upload(&vec![1.0; 5000])?;
/// for step in 0..20 {
///     tape.push_copy(&state)?;
///     // … a launch that overwrites `state` …
///     state.write(&vec![f64::from(step); 5000])?;
/// }
/// for step in (0..20).rev() {
///     let before = tape.pop::<f64>()?.ok_or("the tape is empty")?;
///     // … the gradient of the step, from the state before it …
///     assert_eq!(before.download()?[0], if step == 0 { 1.0 } else { f64::from(step - 1) });
/// }
/// println!("{}", tape.stats());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Faults
/// A failure loses nothing that was pushed, and the same call may be repeated. If device memory is exhausted, buffers are moved down earlier. A buffer that the
/// disk cannot take stays in memory. If the device itself is lost, [`pop_to_host`](Self::pop_to_host) reads the buffers on the lower layers.
pub struct DeviceTape {
    layers: Layers,
    len: u64,
}

impl DeviceTape {
    /// A tape with the [default](DeviceTapeOptions::new) budgets.
    ///
    /// ```
    /// use stratape_cuda::{Device, DeviceTape};
    ///
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// tape.push(device.upload(&[1.0, 2.0])?)?;
    /// tape.push(device.upload(&[7u32])?)?;
    /// assert_eq!(tape.pop::<u32>()?.map(|x| x.len()), Some(1));
    /// assert_eq!(tape.pop::<f64>()?.map(|x| x.len()), Some(2));
    /// assert!(tape.pop::<f64>()?.is_none());
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device) -> Result<Self, GpuError> {
        DeviceTapeOptions::new().open(device)
    }

    fn on(layers: Layers) -> Self {
        Self { layers, len: 0 }
    }

    /// The number of buffers.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// assert_eq!(DeviceTape::new(&Device::emulator())?.len(), 0);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.layers.len()
    }

    /// Whether there are no buffers.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// assert!(DeviceTape::new(&Device::emulator())?.is_empty());
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.layers.len() == 0
    }

    fn top(&self) -> Option<Key> {
        self.len.checked_sub(1).map(|top| (top, 0))
    }

    /// Puts a buffer on the tape. Work that uses it may still be on any stream.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// tape.push(device.upload(&[1.0, 2.0])?)?;
    /// assert_eq!(tape.len(), 1);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the buffer belongs to another device; if the device fails; if the budgets are full and the disk fails. The error has the buffer, and the
    /// tape is as before.
    pub fn push<T: Element>(&mut self, buffer: Buffer<T>) -> Result<(), PushError<T>> {
        let checked = self
            .layers
            .owner()
            .check(buffer.raw().owner(), "the buffer to push")
            .and_then(|()| buffer.raw().check());
        if let Err(error) = checked {
            return Err(PushError::new(buffer, error));
        }
        match self.layers.insert((self.len, 0), buffer.into_raw()) {
            Ok(()) => {
                self.len += 1;
                Ok(())
            }
            Err(refused) => Err(PushError::new(Buffer::from_raw(refused.0), refused.1)),
        }
    }

    /// Puts a copy of a buffer on the tape, made on the device's own stream. The next write to the buffer waits for the copy, on the device.
    ///
    /// If the device has no memory for the copy, the tape makes room; if it cannot, it copies to host memory.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// let mut x = device.upload(&[1.0, 2.0])?;
    /// tape.push_copy(&x)?;
    /// x.fill_zero()?;
    /// assert_eq!(tape.pop_to_host::<f64>()?, Some(vec![1.0, 2.0]));
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_copy<T: Element>(&mut self, buffer: &Buffer<T>) -> Result<(), GpuError> {
        self.push_copy_of(buffer, None)
    }

    /// The same, with the copy made on another stream: that of the launches that use the buffer next, if they are not on the device's own.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape, Stream};
    /// let device = Device::new()?;
    /// let stream = Stream::new(&device)?;
    /// let mut tape = DeviceTape::new(&device)?;
    /// let x = device.upload(&[1.0, 2.0])?;
    /// tape.push_copy_on(&x, &stream)?;
    /// assert_eq!(tape.len(), 1);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// As [`push`](Self::push); if the stream belongs to another device.
    pub fn push_copy_on<T: Element>(
        &mut self,
        buffer: &Buffer<T>,
        stream: &Stream,
    ) -> Result<(), GpuError> {
        self.layers.owner().check(stream.owner(), "the stream of the copy")?;
        self.push_copy_of(buffer, Some(stream))
    }

    fn push_copy_of<T: Element>(
        &mut self,
        buffer: &Buffer<T>,
        stream: Option<&Stream>,
    ) -> Result<(), GpuError> {
        self.layers.owner().check(buffer.raw().owner(), "the buffer to push")?;
        self.layers.insert_copy((self.len, 0), buffer.raw(), stream)?;
        self.len += 1;
        Ok(())
    }

    /// Takes the buffer that was pushed last. A copy that brings it to the device may still be under way: what uses the buffer waits for it, on
    /// the device.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape, GpuError};
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// tape.push(device.upload(&[1.0, 2.0])?)?;
    /// assert!(matches!(tape.pop::<f32>(), Err(GpuError::ElementType { .. })));
    /// assert_eq!(tape.pop::<f64>()?.map(|x| x.download()).transpose()?, Some(vec![1.0, 2.0]));
    /// # Ok::<(), GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If its elements are of another type; if device memory is exhausted by other buffers than those of the tape; if the device fails, or the
    /// disk. The buffer is still on the tape then. Nested arrays are taken for flat ones of as many scalars.
    pub fn pop<T: Element>(&mut self) -> Result<Option<Buffer<T>>, GpuError> {
        let Some(key) = self.top() else { return Ok(None) };
        if let Some(shape) = self.layers.shape(key) {
            shape.check::<T>()?;
        }
        let raw = self.layers.take(key)?;
        if raw.is_some() {
            self.len -= 1;
        }
        Ok(raw.map(Buffer::from_raw))
    }

    /// Takes the buffer that was pushed last as elements in memory of the host. If there is a copy of it below the device, the device is not
    /// used, and may be lost.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// tape.push(device.upload(&[[1, 2], [3, 4]])?)?;
    /// assert_eq!(tape.pop_to_host::<[i32; 2]>()?, Some(vec![[1, 2], [3, 4]]));
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If its elements are of another type; if the disk fails; if there is no copy below the device, and that fails. The buffer is still on the
    /// tape then.
    pub fn pop_to_host<T: Element>(&mut self) -> Result<Option<Vec<T>>, GpuError> {
        let Some(key) = self.top() else { return Ok(None) };
        let Some(shape) = self.layers.shape(key) else { return Ok(None) };
        shape.check::<T>()?;
        let Some(bytes) = self.layers.read_host(key)? else { return Ok(None) };
        let list = elements(&bytes, shape.len)?;
        self.layers.remove(key);
        self.len -= 1;
        self.layers.tend_up();
        Ok(Some(list))
    }

    /// Drops the buffer that was pushed last, of whatever type, wherever it is; false if there is none.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// tape.push(device.upload(&[1.0, 2.0])?)?;
    /// assert!(tape.discard() && !tape.discard());
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn discard(&mut self) -> bool {
        let Some(key) = self.top() else { return false };
        self.layers.remove(key);
        self.len -= 1;
        self.layers.tend_up();
        true
    }

    /// Frees device memory that the tape holds within its budget, for other buffers of the program: at least this many bytes, or all. Waits for
    /// the copies that this takes, and returns how many bytes were freed.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// let device = Device::emulator();
    /// let mut tape = DeviceTape::new(&device)?;
    /// tape.push(device.zeros::<f64>(1000)?)?;
    /// assert_eq!(tape.spill(1)?, 8000);
    /// assert_eq!(tape.stats().device.bytes, 0);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails; if the budget of host memory is full and the disk fails.
    pub fn spill(&mut self, bytes: usize) -> Result<usize, GpuError> {
        self.layers.spill(bytes)
    }

    /// Statistics of the tape.
    ///
    /// ```
    /// # use stratape_cuda::{Device, DeviceTape};
    /// let mut tape = DeviceTape::new(&Device::emulator())?;
    /// assert_eq!(tape.stats().waits, 0);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn stats(&mut self) -> DeviceTapeStats {
        self.layers.stats()
    }
}

impl fmt::Debug for DeviceTape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceTape")
            .field("len", &self.len)
            .field("device", &self.layers.owner().name())
            .finish_non_exhaustive()
    }
}

/// A buffer that could not be pushed, and why.
///
/// `?` converts it to a [`GpuError`] and drops the buffer.
///
/// ```
/// use stratape_cuda::{Device, DeviceTape, GpuError};
///
/// let mut tape = DeviceTape::new(&Device::emulator())?;
/// let other = Device::emulator().upload(&[1.0, 2.0])?;
/// let Err(refused) = tape.push(other) else { return Ok(()) };
/// assert!(matches!(refused.error(), GpuError::WrongDevice { .. }));
/// assert_eq!(refused.into_buffer().download()?, [1.0, 2.0]);
/// # Ok::<(), GpuError>(())
/// ```
pub struct PushError<T>(Box<(Buffer<T>, GpuError)>);

impl<T> PushError<T> {
    fn new(buffer: Buffer<T>, error: GpuError) -> Self {
        Self(Box::new((buffer, error)))
    }

    /// Why it could not be pushed. See [`PushError`] for an example.
    pub fn error(&self) -> &GpuError {
        &self.0.1
    }

    /// The buffer, as it was. See [`PushError`] for an example.
    pub fn into_buffer(self) -> Buffer<T> {
        self.0.0
    }
}

impl<T> From<PushError<T>> for GpuError {
    fn from(refused: PushError<T>) -> Self {
        refused.0.1
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushError").field("buffer", &self.0.0).field("error", &self.0.1).finish()
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.1.fmt(f)
    }
}

impl<T> std::error::Error for PushError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.1)
    }
}
