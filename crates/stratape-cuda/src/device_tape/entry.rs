//! One buffer in the layers, its copies, and which buffers have which copies.

use std::collections::BTreeSet;

use stratape_tape::Ticket;
use stratape_tape::source::Block;

use crate::buffer::{RawBuffer, Shape};
use crate::cuda::Fence;
use crate::error::GpuError;

/// Names a buffer in the layers. The smallest is needed last.
pub(crate) type Key = (u64, u32);

/// A buffer, of which each layer may have a copy. One of them has.
pub(super) struct Entry {
    pub(super) shape: Shape,
    pub(super) device: Option<RawBuffer>,
    pub(super) host: Option<Slab>,
    pub(super) disk: Option<Ticket>,
    /// Whether it is being read from below, in a block that was set aside for it.
    pub(super) fetching: bool,
}

/// A copy in memory of the host, and the copies from and to the device that use it.
pub(super) struct Slab {
    pub(super) block: Block,
    /// Passes when the bytes are there.
    pub(super) filled: Option<Fence>,
    /// Passes when the device has read them.
    pub(super) drained: Option<Fence>,
    /// Whether the copy on the device was made from this one.
    pub(super) raised: bool,
}

impl Slab {
    pub(super) fn new(block: Block, filled: Option<Fence>) -> Self {
        Self { block, filled, drained: None, raised: false }
    }

    /// Whether no copy uses the block any more.
    pub(super) fn is_idle(&mut self) -> Result<bool, GpuError> {
        for fence in [&mut self.filled, &mut self.drained] {
            if let Some(pending) = fence {
                if !pending.has_passed()? {
                    return Ok(false);
                }
                *fence = None;
            }
        }
        Ok(true)
    }

    /// Waits for the copies that use the block.
    pub(super) fn wait(&mut self) -> Result<(), GpuError> {
        for fence in [&mut self.filled, &mut self.drained] {
            if let Some(pending) = fence {
                pending.wait()?;
                *fence = None;
            }
        }
        Ok(())
    }
}

impl Entry {
    pub(super) fn new(shape: Shape, device: Option<RawBuffer>, host: Option<Slab>) -> Self {
        Self { shape, device, host, disk: None, fetching: false }
    }
}

/// Buffers by the copies they have, the one that is needed last first.
#[derive(Default)]
pub(super) struct Index {
    /// On the device and nowhere else.
    pub(super) unsaved: Kin,
    /// On the device and below.
    pub(super) saved: Kin,
    /// Not on the device.
    pub(super) off_device: Kin,
    /// In memory of the host, not on disk.
    pub(super) unwritten: Kin,
    /// In memory of the host and on disk.
    pub(super) written: Kin,
    /// In memory of the host, from where the copy on the device was made.
    pub(super) raised: Kin,
    /// On disk, or on the way there.
    pub(super) on_disk: Kin,
    /// On their way from disk, or here and not looked at.
    pub(super) fetching: Kin,
    /// On disk alone, and not asked for.
    pub(super) disk_only: Kin,
}

/// Some of the buffers, and their bytes.
#[derive(Default)]
pub(super) struct Kin {
    keys: BTreeSet<Key>,
    bytes: usize,
}

impl Kin {
    fn set(&mut self, key: Key, bytes: usize, member: bool) {
        if member {
            if self.keys.insert(key) {
                self.bytes += bytes;
            }
        } else if self.keys.remove(&key) {
            self.bytes -= bytes;
        }
    }

    pub(super) fn first(&self) -> Option<Key> {
        self.keys.first().copied()
    }

    pub(super) fn last(&self) -> Option<Key> {
        self.keys.last().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Key> {
        self.keys.iter().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Index {
    /// Takes note of the copies that a buffer of so many bytes has now; of none, if it is gone.
    pub(super) fn update(&mut self, key: Key, bytes: usize, entry: Option<&Entry>) {
        let has = |test: fn(&Entry) -> bool| entry.is_some_and(test);
        let device = has(|entry| entry.device.is_some());
        let host = has(|entry| entry.host.is_some());
        let disk = has(|entry| entry.disk.is_some());
        let fetching = has(|entry| entry.fetching);
        let raised = has(|entry| entry.host.as_ref().is_some_and(|slab| slab.raised));
        self.unsaved.set(key, bytes, device && !host && !disk);
        self.saved.set(key, bytes, device && (host || disk));
        self.off_device.set(key, bytes, entry.is_some() && !device);
        self.unwritten.set(key, bytes, host && !disk);
        self.written.set(key, bytes, host && disk);
        self.raised.set(key, bytes, device && raised);
        self.on_disk.set(key, bytes, disk);
        self.fetching.set(key, bytes, fetching);
        self.disk_only.set(key, bytes, disk && !host && !device && !fetching);
    }

    pub(super) fn device_bytes(&self) -> usize {
        self.unsaved.bytes + self.saved.bytes
    }
}
