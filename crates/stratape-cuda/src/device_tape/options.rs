//! Settings of the layers.

use std::path::Path;

use stratape_tape::{DEFAULT_MEMORY, TapeOptions};

use super::DeviceTape;
use super::layers::Layers;
use crate::device::Device;
use crate::error::GpuError;

/// Settings of a [`DeviceTape`], and the way to open one.
///
/// ```
/// use stratape_cuda::{Device, DeviceTapeOptions};
///
/// let device = Device::new()?;
/// let mut tape = DeviceTapeOptions::new()
///     .device_bytes(1 << 20)
///     .host_bytes(16 << 20)
///     .spill_to(std::env::temp_dir())
///     .open(&device)?;
/// for i in 0..100 {
///     tape.push(device.upload(&vec![f64::from(i); 10_000])?)?;
/// }
/// for i in (0..100).rev() {
///     let state = tape.pop::<f64>()?.ok_or("the tape is empty")?;
///     assert_eq!(state.download()?[0], f64::from(i));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceTapeOptions {
    pub(super) device_bytes: usize,
    pub(super) host_bytes: usize,
    pub(super) below: TapeOptions,
}

impl Default for DeviceTapeOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl DeviceTapeOptions {
    /// The defaults: 1 GiB of device memory, 1 GiB of page-locked memory of the host, the rest in the system's directory for temporary files.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator();
    /// let tape = stratape_cuda::DeviceTapeOptions::new().open(&device)?;
    /// assert!(tape.is_empty());
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn new() -> Self {
        Self { device_bytes: DEFAULT_MEMORY, host_bytes: DEFAULT_MEMORY, below: TapeOptions::new() }
    }

    /// Bytes of device memory for buffers on the tape, those on their way included. Default 1 GiB.
    ///
    /// From eight buffers on, copies and kernels overlap well. A buffer that is larger than this goes down at once.
    ///
    /// ```
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    ///
    /// let device = Device::emulator();
    /// let mut tape = DeviceTapeOptions::new().device_bytes(0).open(&device)?;
    /// tape.push(device.upload(&[1.0, 2.0])?)?;
    /// assert_eq!(tape.stats().device.bytes, 0);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    #[must_use]
    pub fn device_bytes(mut self, bytes: usize) -> Self {
        self.device_bytes = bytes;
        self
    }

    /// Bytes of page-locked memory of the host, those on their way to and from the disk included. Default 1 GiB.
    ///
    /// The memory is allocated as needed, and kept until the tape is dropped. Locking pages is slow: the first pass over a tape is slower than those that
    /// follow. One buffer is let through on its way to the disk, whatever its length.
    ///
    /// ```
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    ///
    /// let device = Device::emulator();
    /// let mut tape = DeviceTapeOptions::new().device_bytes(0).host_bytes(8192).open(&device)?;
    /// for _ in 0..10 {
    ///     tape.push(device.zeros::<f64>(500)?)?;
    /// }
    /// assert!(tape.stats().host.peak_bytes <= 8192);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    #[must_use]
    pub fn host_bytes(mut self, bytes: usize) -> Self {
        self.host_bytes = bytes;
        self
    }

    /// The directory for the spill file, which is created when it is needed. Default: the system's directory for temporary files.
    ///
    /// ```
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    ///
    /// let options = DeviceTapeOptions::new().spill_to(std::env::temp_dir());
    /// let tape = options.open(&Device::emulator())?;
    /// # let _ = tape;
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    #[must_use]
    pub fn spill_to(mut self, directory: impl AsRef<Path>) -> Self {
        self.below = self.below.spill_to(directory);
        self
    }

    /// All settings of the lowest layer: directory, engine, limit, checksums, patience, or your own tier. Budget, slab size,
    /// pool and source of these options mean nothing here.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    /// use stratape_tape::{TapeOptions, tier::MemoryTier};
    ///
    /// let device = Device::emulator();
    /// let below = TapeOptions::new().tier(Arc::new(MemoryTier::new()));
    /// let mut tape = DeviceTapeOptions::new().device_bytes(0).host_bytes(0).below(below).open(&device)?;
    /// tape.push(device.upload(&[1.0, 2.0])?)?;
    /// tape.push(device.upload(&[3.0, 4.0])?)?;
    /// assert_eq!(tape.stats().tier, "memory");
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    #[must_use]
    pub fn below(mut self, options: TapeOptions) -> Self {
        self.below = options;
        self
    }

    /// Opens a tape of a device.
    ///
    /// ```
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    ///
    /// let tape = DeviceTapeOptions::new().open(&Device::new()?)?;
    /// assert_eq!(tape.len(), 0);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails.
    pub fn open(&self, device: &Device) -> Result<DeviceTape, GpuError> {
        Ok(DeviceTape::on(Layers::open(self, device)?))
    }
}
