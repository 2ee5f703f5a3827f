//! [`DeviceStore`]: snapshots on the device, and on the layers below it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::Duration;

use stratape_checkpoint::store::{SnapshotStore, StoreStats, TierError, missing};
use stratape_tape::OutOfMemory;

use super::state::{DeviceState, StateReader, StateWriter};
use crate::device::Device;
use crate::device_tape::{DeviceTapeOptions, DeviceTapeStats, Layers};
use crate::error::GpuError;

/// Snapshots of a time loop in device memory, then in page-locked memory of the host, then on disk, each up to a budget.
///
/// Copies on the device take no time to speak of; those to the host run beside the steps. Snapshots that are needed last go down first. In
/// [`TimeLoop::store`](stratape_checkpoint::TimeLoop::store) it takes the place of the disk: the number of slots is the loop's to choose, and the layers see to where
/// they are.
///
/// ```
/// use stratape_checkpoint::{Strategy, TimeLoop};
/// use stratape_cuda::{Device, DeviceTapeOptions};
///
/// let device = Device::new()?;
/// let store = DeviceTapeOptions::new().device_bytes(16 << 10).host_bytes(32 << 10).open_store(&device)?;
/// let (_, dx, report) = TimeLoop::new(device.upload(&vec![0.5_f64; 1000])?)
///     .steps(100)
///     .slots(1)
///     .store(store, 10)
///     .schedule(Strategy::Multistage)
///     .gradient(
///         |_, x| {
///             // Stands for a launch: x ← sin(x).
///             let host: Vec<f64> = x.download().unwrap_or_default();
///             let _ = x.write(&host.iter().map(|x| x.sin()).collect::<Vec<_>>());
///         },
///         |x| vec![1.0; x.len()],
///         |_, x, dx: &mut Vec<f64>| {
///             let x: Vec<f64> = x.download().unwrap_or_default();
///             dx.iter_mut().zip(x).for_each(|(dx, x)| *dx *= x.cos());
///         },
///     )?;
/// assert!(report.tier.starts_with("device") && dx[0] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceStore {
    layers: Layers,
    steps: BTreeMap<usize, Stored>,
    bytes: u64,
    waited: [Duration; 2],
}

/// What there is of a snapshot beside its buffers.
struct Stored {
    buffers: u32,
    values: Vec<u8>,
    bytes: u64,
}

impl DeviceTapeOptions {
    /// Opens a store of snapshots of a device, with the same layers.
    ///
    /// ```
    /// use stratape_checkpoint::store::SnapshotStore;
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    ///
    /// let device = Device::emulator();
    /// let mut store = DeviceTapeOptions::new().device_bytes(0).open_store(&device)?;
    /// store.put(3, &(device.upload(&[1.0, 2.0])?, 0.5))?;
    /// let mut state = (device.zeros::<f64>(2)?, 0.0);
    /// store.get(3, &mut state)?;
    /// assert_eq!((state.0.download()?, state.1), (vec![1.0, 2.0], 0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails.
    pub fn open_store(&self, device: &Device) -> Result<DeviceStore, GpuError> {
        Ok(DeviceStore {
            layers: Layers::open(self, device)?,
            steps: BTreeMap::new(),
            bytes: 0,
            waited: Default::default(),
        })
    }
}

impl DeviceStore {
    /// Statistics of the layers.
    ///
    /// ```
    /// use stratape_cuda::{Device, DeviceTapeOptions};
    ///
    /// let mut store = DeviceTapeOptions::new().open_store(&Device::emulator())?;
    /// assert_eq!(store.layers().buffers, 0);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn layers(&mut self) -> DeviceTapeStats {
        self.layers.stats()
    }

    fn give_up(&mut self, step: usize, buffers: u32) {
        (0..buffers).for_each(|part| self.layers.remove((step as u64, part)));
    }

    fn forget(&mut self, step: usize) {
        if let Some(stored) = self.steps.remove(&step) {
            self.bytes -= stored.bytes.min(self.bytes);
            self.give_up(step, stored.buffers);
        }
    }
}

impl<S: DeviceState> SnapshotStore<S> for DeviceStore {
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
        self.forget(step);
        let before = self.layers.waited();
        let mut parts = StateWriter {
            layers: &mut self.layers,
            step: step as u64,
            count: 0,
            values: Vec::new(),
            bytes: 0,
            result: Ok(()),
        };
        state.save(&mut parts);
        let StateWriter { count, values, bytes, result, .. } = parts;
        self.waited[0] += self.layers.waited().saturating_sub(before);
        if let Err(error) = result {
            self.give_up(step, count);
            return Err(error);
        }
        self.bytes += bytes;
        self.steps.insert(step, Stored { buffers: count, values, bytes });
        Ok(())
    }

    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
        let stored = self.steps.get(&step).ok_or_else(|| missing(step))?;
        let before = self.layers.waited();
        let mut parts = StateReader {
            layers: &mut self.layers,
            step,
            count: 0,
            values: &stored.values,
            result: Ok(()),
        };
        state.load(&mut parts);
        let StateReader { count, result, .. } = parts;
        self.waited[1] += self.layers.waited().saturating_sub(before);
        result?;
        match count == stored.buffers {
            true => Ok(()),
            false => Err(TierError::Undecodable("a state of fewer buffers".to_owned())),
        }
    }

    fn prefetch(&mut self, step: usize) {
        let buffers = self.steps.get(&step).map_or(0, |stored| stored.buffers);
        (0..buffers).for_each(|part| self.layers.prefetch((step as u64, part)));
    }

    fn remove(&mut self, step: usize) {
        self.forget(step);
    }

    /// Buffers do not change here, and what comes from disk has a checksum.
    fn verifies(&self) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn stats(&mut self) -> StoreStats {
        let layers = self.layers.stats();
        let mut stats = StoreStats::default();
        stats.bytes_written = layers.spilled_bytes;
        stats.bytes_read = layers.raised_bytes;
        stats.staging_peak = layers.host.peak_bytes;
        [stats.waited_to_put, stats.waited_to_get] = self.waited;
        stats
    }

    fn describe(&self) -> String {
        "device, host memory, disk".to_owned()
    }
}

/// What the layers said, as a store says it.
pub(super) fn told(error: GpuError) -> TierError {
    match error {
        GpuError::OutOfHostMemory { asked } => TierError::OutOfMemory(OutOfMemory { bytes: asked }),
        other => TierError::Io(io::Error::other(other)),
    }
}

impl fmt::Debug for DeviceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceStore")
            .field("snapshots", &self.steps.len())
            .field("device", &self.layers.owner().name())
            .finish_non_exhaustive()
    }
}
