//! Statistics of the layers.

use std::fmt;
use std::time::Duration;

/// Statistics of a [`DeviceTape`](crate::DeviceTape).
///
/// A buffer may have copies in several layers at once, and is counted in each.
///
/// ```
/// use stratape_cuda::{Device, DeviceTape};
///
/// let device = Device::emulator();
/// let mut tape = DeviceTape::new(&device)?;
/// tape.push(device.upload(&[1.0f32, 2.0])?)?;
/// let stats = tape.stats();
/// assert_eq!((stats.buffers, stats.device.bytes), (1, 8));
/// println!("{stats}");
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceTapeStats {
    /// Buffers on the tape.
    pub buffers: usize,
    /// Their bytes.
    pub bytes: u64,
    /// In device memory.
    pub device: LayerStats,
    /// In memory of the host; blocks on their way to and from the disk count in the bytes, and idle ones in the peak.
    pub host: LayerStats,
    /// On disk, or on the way there.
    pub disk: LayerStats,
    /// Bytes copied from the device to the host.
    pub spilled_bytes: u64,
    /// Bytes copied from the host to the device.
    pub raised_bytes: u64,
    /// Bytes written to disk.
    pub written_bytes: u64,
    /// Bytes read from disk.
    pub read_bytes: u64,
    /// Writes that failed; the buffers stayed in memory.
    pub failed_writes: u64,
    /// How often a push or a pop has waited for a copy or the disk.
    pub waits: u64,
    /// How long in all.
    pub waited: Duration,
    /// Blocks of ordinary memory, because the system refused to lock more pages: copies from and to them are slow and do not overlap.
    pub unlocked_blocks: u64,
    /// The lowest layer in a few words; empty until it is used.
    pub tier: String,
}

/// Statistics of one layer of a [`DeviceTape`](crate::DeviceTape).
///
/// ```
/// use stratape_cuda::{Device, DeviceTape};
///
/// let mut tape = DeviceTape::new(&Device::emulator())?;
/// assert_eq!(tape.stats().disk.buffers, 0);
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerStats {
    /// Buffers that have a copy there.
    pub buffers: usize,
    /// Bytes of those.
    pub bytes: u64,
    /// The most bytes there ever were.
    pub peak_bytes: u64,
}

impl fmt::Display for DeviceTapeStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} buffers, {} bytes", self.buffers, self.bytes)?;
        for (name, layer) in [("device", self.device), ("host", self.host), ("disk", self.disk)] {
            let LayerStats { buffers, bytes, peak_bytes } = layer;
            writeln!(f, "{name}: {buffers} buffers, {bytes} bytes, at most {peak_bytes}")?;
        }
        writeln!(f, "device to host {}, back {} bytes", self.spilled_bytes, self.raised_bytes)?;
        writeln!(f, "host to disk {}, back {} bytes", self.written_bytes, self.read_bytes)?;
        write!(f, "{} waits, {:.3} s", self.waits, self.waited.as_secs_f64())?;
        if self.unlocked_blocks > 0 {
            write!(f, "; {} blocks could not be page-locked", self.unlocked_blocks)?;
        }
        if self.failed_writes > 0 {
            write!(f, "; {} writes failed", self.failed_writes)?;
        }
        Ok(())
    }
}
