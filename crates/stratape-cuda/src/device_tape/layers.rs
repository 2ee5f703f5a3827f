//! [`Layers`]: buffers in device memory, in memory of the host, and on disk.
//!
//! ```text
//!              budget                 copies go down                        copies come up
//! device       device_bytes     ──┐   stream `down`, when 3/4 are full   ┌──   stream `up`, when 1/2 are free
//! host memory  host_bytes       ──┤   background, when 3/4 are full      ├──   background, when 1/4 is free
//! disk                          <─┘                                      └──
//! ```
//!
//! Buffers do not change while they are here, so that each layer can have a copy. A copy that has another below it is dropped when its
//! memory is needed, and costs nothing to drop. The key says which buffer is needed last: that one goes down first, and comes up last.
//!
//! What uses what, and when, the device knows: copies of a buffer are put on the streams as any use of it is. The host waits in two cases:
//! the memory that it needs is in use by a copy that has not ended, or the disk has not answered. Device memory is given back when the copy out of
//! it has ended, and not before, so that nothing the user runs ever waits for a copy that it does not need.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stratape_tape::{Pool, Stash, TapeOptions};

use super::entry::{Entry, Index, Key, Slab};
use super::options::DeviceTapeOptions;
use super::stats::{DeviceTapeStats, LayerStats};
use crate::buffer::{RawBuffer, Shape};
use crate::device::{Device, Kind};
use crate::error::GpuError;
use crate::pinned::PinnedSource;
use crate::stream::Stream;

/// How far to go for a block of host memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Take what is free.
    Spare,
    /// Make room for the next time, too.
    Write,
    /// Wait for it.
    Wait,
}

/// Buffers on three layers.
pub(crate) struct Layers {
    pub(super) owner: Kind,
    pub(super) down: Stream,
    pub(super) up: Stream,
    pub(super) device_limit: usize,
    pub(super) host_limit: usize,
    pub(super) source: PinnedSource,
    pub(super) pool: Pool,
    pub(super) below: TapeOptions,
    /// The disk, once it is needed.
    pub(super) stash: Option<Stash>,
    pub(super) entries: BTreeMap<Key, Entry>,
    pub(super) index: Index,
    /// Blocks of buffers that are gone, in use by a copy.
    pub(super) retired: Vec<Slab>,
    pub(super) tally: Tally,
}

#[derive(Default)]
pub(super) struct Tally {
    pub(super) device_peak: usize,
    pub(super) disk_peak: usize,
    pub(super) spilled: u64,
    pub(super) raised: u64,
    pub(super) waits: u64,
    pub(super) waited: Duration,
    /// Failed writes of the stash that were seen to.
    pub(super) failures: u64,
    /// Whether the last write has failed.
    pub(super) refused: bool,
}

impl Layers {
    pub(crate) fn open(options: &DeviceTapeOptions, device: &Device) -> Result<Self, GpuError> {
        let source = PinnedSource::of(device.kind(), options.host_bytes);
        // The source has the limit: what is idle here is within it.
        let pool = Pool::with_source(Arc::new(source.clone()), usize::MAX);
        Ok(Self {
            owner: device.kind().clone(),
            down: Stream::new(device)?,
            up: Stream::new(device)?,
            device_limit: options.device_bytes,
            host_limit: options.host_bytes,
            below: options.below.clone().pool(&pool),
            source,
            pool,
            stash: None,
            entries: BTreeMap::new(),
            index: Index::default(),
            retired: Vec::new(),
            tally: Tally::default(),
        })
    }

    pub(crate) fn owner(&self) -> &Kind {
        &self.owner
    }

    /// Time that calls have waited.
    pub(crate) fn waited(&self) -> Duration {
        self.tally.waited
    }

    /// The stream on which buffers come up.
    pub(crate) fn stream(&self) -> &Stream {
        &self.up
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn shape(&self, key: Key) -> Option<Shape> {
        self.entries.get(&key).map(|entry| entry.shape)
    }

    /// Takes a buffer in. It is handed back where there is no room for it.
    pub(crate) fn insert(
        &mut self,
        key: Key,
        raw: RawBuffer,
    ) -> Result<(), Box<(RawBuffer, GpuError)>> {
        let shape = raw.shape();
        if let Err(error) = self.make_room(shape.bytes()) {
            return Err(Box::new((raw, error)));
        }
        let slab = match shape.bytes() > self.device_limit {
            false => Ok(None),
            // It cannot stay; its memory is given back when it is copied.
            true => self.copy_down(&raw, Effort::Wait),
        };
        match slab {
            Ok(slab) => self.enter(key, Entry::new(shape, Some(raw), slab)),
            Err(error) => return Err(Box::new((raw, error))),
        }
        Ok(())
    }

    /// Takes in a copy of a buffer: on the device, made on a stream, or in memory of the host where the device has no room.
    pub(crate) fn insert_copy(
        &mut self,
        key: Key,
        raw: &RawBuffer,
        stream: Option<&Stream>,
    ) -> Result<(), GpuError> {
        raw.check()?;
        let shape = raw.shape();
        if shape.bytes() <= self.device_limit {
            self.make_room(shape.bytes())?;
            loop {
                match raw.duplicate(stream) {
                    Ok(copy) => {
                        self.enter(key, Entry::new(shape, Some(copy), None));
                        return Ok(());
                    }
                    Err(error) if is_exhausted(&error) => {
                        if !self.shed()? {
                            break;
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        let slab = self.copy_down(raw, Effort::Wait)?;
        self.enter(key, Entry::new(shape, None, slab));
        Ok(())
    }

    fn enter(&mut self, key: Key, entry: Entry) {
        self.remove(key);
        self.entries.insert(key, entry);
        self.refresh(key);
        self.tend_down();
    }

    /// Takes a buffer out. It stays if it cannot be brought to the device.
    pub(crate) fn take(&mut self, key: Key) -> Result<Option<RawBuffer>, GpuError> {
        if !self.entries.contains_key(&key) {
            return Ok(None);
        }
        let here = self.entries.get_mut(&key).and_then(|entry| entry.device.take());
        let raw = match here {
            Some(raw) => Some(raw),
            None => self.bring(key, true)?,
        };
        if raw.is_some() {
            self.remove(key);
            self.tend_up();
        }
        Ok(raw)
    }

    /// Copies a buffer into another of the same shape. It stays here.
    pub(crate) fn read(&mut self, key: Key, to: &RawBuffer) -> Result<bool, GpuError> {
        let Some(entry) = self.entries.get(&key) else { return Ok(false) };
        if let Some(raw) = &entry.device {
            return to.copy_from(raw).map(|()| true);
        }
        self.find_slab(key, true)?;
        let Some(entry) = self.entries.get_mut(&key) else { return Ok(false) };
        let Some(slab) = &mut entry.host else { return Ok(false) };
        // One fence is enough for several copies: they are on one stream.
        // SAFETY: the slab stays as it is until its fences have passed: `Slab::is_idle` and `wait` are asked before it is used again or dropped.
        slab.drained = unsafe { to.start_from_host(&slab.block, &self.up, slab.filled.as_ref())? };
        self.tally.raised += entry.shape.bytes() as u64;
        Ok(true)
    }

    /// The bytes of a buffer, read without the device if there is a copy below it, and whether there is such a buffer. It stays here.
    pub(crate) fn read_host(&mut self, key: Key) -> Result<Option<Vec<u8>>, GpuError> {
        let Some(entry) = self.entries.get(&key) else { return Ok(None) };
        let len = entry.shape.bytes();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| GpuError::OutOfHostMemory { asked: len })?;
        if entry.host.is_some() || entry.disk.is_some() {
            self.find_slab(key, true)?;
            let slab = self.entries.get_mut(&key).and_then(|entry| entry.host.as_mut());
            if let Some(slab) = slab {
                if let Some(filled) = &slab.filled {
                    filled.wait()?;
                }
                bytes.extend_from_slice(&slab.block.bytes()[..len]);
                return Ok(Some(bytes));
            }
        }
        bytes.resize(len, 0);
        if let Some(raw) = self.entries.get(&key).and_then(|entry| entry.device.as_ref()) {
            raw.read_bytes(&mut bytes)?;
        }
        Ok(Some(bytes))
    }

    /// Gives a buffer up.
    pub(crate) fn remove(&mut self, key: Key) {
        let Some(entry) = self.entries.remove(&key) else { return };
        self.index.update(key, entry.shape.bytes(), None);
        if let Some(slab) = entry.host {
            self.retire(slab);
        }
        if let (Some(ticket), Some(stash)) = (entry.disk, &mut self.stash) {
            stash.forget(ticket);
        }
    }

    /// Frees device memory: this many bytes, or all there are. Returns how many.
    pub(crate) fn spill(&mut self, bytes: usize) -> Result<usize, GpuError> {
        let before = self.index.device_bytes();
        while before - self.index.device_bytes() < bytes && self.shed()? {}
        Ok(before - self.index.device_bytes())
    }

    /// Room for so many bytes within the budget of the device, as far as other buffers can make it.
    fn make_room(&mut self, bytes: usize) -> Result<(), GpuError> {
        while self.index.device_bytes().saturating_add(bytes) > self.device_limit {
            if !self.shed()? {
                break;
            }
        }
        Ok(())
    }

    /// Takes one buffer off the device, or begins to; false if none is there.
    fn shed(&mut self) -> Result<bool, GpuError> {
        if let Some(key) = self.index.saved.first() {
            let start = Instant::now();
            if let Some(entry) = self.entries.get_mut(&key) {
                let mut waits = false;
                if let Some(slab) = &mut entry.host
                    && !slab.is_idle()?
                {
                    slab.wait()?;
                    waits = true;
                }
                entry.device = None;
                if waits {
                    self.note_wait(start);
                }
            }
            self.refresh(key);
            return Ok(true);
        }
        match self.index.unsaved.first() {
            Some(key) => self.save(key, Effort::Wait),
            None => Ok(false),
        }
    }

    /// Begins to copy a buffer that is on the device alone; false if there is no memory for that without more effort.
    fn save(&mut self, key: Key, effort: Effort) -> Result<bool, GpuError> {
        // Looking for memory may drop copies of other buffers, never of one that is on the device alone.
        let Some(mut entry) = self.entries.remove(&key) else { return Ok(false) };
        let slab = match &entry.device {
            Some(raw) => self.copy_down(raw, effort),
            None => Ok(None),
        };
        let (slab, result) = match slab {
            Ok(slab) => {
                let begun = slab.is_some();
                (slab, Ok(begun))
            }
            Err(error) => (None, Err(error)),
        };
        entry.host = slab;
        self.entries.insert(key, entry);
        self.refresh(key);
        result
    }

    /// Begins to copy a buffer to memory of the host.
    fn copy_down(&mut self, raw: &RawBuffer, effort: Effort) -> Result<Option<Slab>, GpuError> {
        let bytes = raw.shape().bytes();
        let Some(mut block) = self.block(bytes, effort)? else { return Ok(None) };
        // SAFETY: as in `read`: the block is kept in a slab, whose fences are asked first.
        match unsafe { raw.start_to_host(&mut block, &self.down) } {
            Ok(filled) => {
                self.tally.spilled += bytes as u64;
                Ok(Some(Slab::new(block, filled)))
            }
            Err(error) => {
                self.pool.recycle(block);
                Err(error)
            }
        }
    }

    /// Begins to bring a buffer to the device, to stay there; false if that would have to wait.
    fn raise(&mut self, key: Key) -> Result<bool, GpuError> {
        if self.entries.get(&key).is_some_and(|entry| entry.device.is_some()) {
            return Ok(true);
        }
        let raw = self.bring(key, false)?;
        let Some(entry) = self.entries.get_mut(&key) else { return Ok(false) };
        entry.device = raw;
        let raised = entry.device.is_some();
        self.refresh(key);
        Ok(raised)
    }

    /// Begins to make a copy on the device of a buffer that has none; none if that would have to wait and is not `urgent`.
    fn bring(&mut self, key: Key, urgent: bool) -> Result<Option<RawBuffer>, GpuError> {
        if !self.find_slab(key, urgent)? {
            return Ok(None);
        }
        // Out of the way of those who look for memory.
        let Some(entry) = self.entries.get_mut(&key) else { return Ok(None) };
        let Some(mut slab) = entry.host.take() else { return Ok(None) };
        let shape = entry.shape;
        self.refresh(key);
        let raw = self.raise_from(&mut slab, shape, urgent);
        slab.raised |= raw.is_ok();
        match self.entries.get_mut(&key) {
            Some(entry) => entry.host = Some(slab),
            None => self.retire(slab),
        }
        self.refresh(key);
        raw.map(Some)
    }

    fn raise_from(
        &mut self,
        slab: &mut Slab,
        shape: Shape,
        urgent: bool,
    ) -> Result<RawBuffer, GpuError> {
        let raw = loop {
            match RawBuffer::on(&self.owner, shape, &self.up, urgent) {
                Err(error) if urgent && is_exhausted(&error) => {
                    if !self.shed()? {
                        return Err(error);
                    }
                }
                other => break other?,
            }
        };
        // SAFETY: as in `read`.
        slab.drained = unsafe { raw.start_from_host(&slab.block, &self.up, slab.filled.as_ref())? };
        self.tally.raised += shape.bytes() as u64;
        Ok(raw)
    }

    /// After a buffer came: sends others down ahead of need. What fails here fails again when it is needed, and is told then.
    fn tend_down(&mut self) {
        self.collect_failures();
        // One that is larger than the budget goes as soon as it is copied.
        while self.index.device_bytes() > self.device_limit
            && let Some(key) = self.index.saved.first()
            && let Some(entry) = self.entries.get_mut(&key)
            && entry.host.as_mut().is_none_or(|slab| matches!(slab.is_idle(), Ok(true)))
        {
            entry.device = None;
            self.refresh(key);
        }
        // Room for the next pushes while a copy is under way.
        let mark = self.device_limit / 4 * 3;
        while self.index.unsaved.bytes() > mark
            && let Some(key) = self.index.unsaved.first()
        {
            if !matches!(self.save(key, Effort::Write), Ok(true)) {
                break;
            }
        }
        self.write_ahead();
    }

    /// After a buffer has gone: brings the next ones up ahead of need.
    pub(crate) fn tend_up(&mut self) {
        while let Some(key) = self.index.off_device.last() {
            let bytes = self.shape(key).map_or(0, Shape::bytes);
            let then = self.index.device_bytes().saturating_add(bytes);
            let alone = self.index.device_bytes() == 0;
            // Half of the budget stays free for buffers that are pushed again.
            if then > self.device_limit || (then > self.device_limit / 2 && !alone) {
                break;
            }
            if !matches!(self.raise(key), Ok(true)) {
                break;
            }
        }
        self.read_ahead();
    }

    /// Says that a buffer is needed soon.
    pub(crate) fn prefetch(&mut self, key: Key) {
        let bytes = self.shape(key).map_or(0, Shape::bytes);
        let fits = self.index.device_bytes().saturating_add(bytes) <= self.device_limit;
        let _ = if fits { self.raise(key) } else { self.find_slab(key, false) };
    }

    pub(super) fn refresh(&mut self, key: Key) {
        let Some(entry) = self.entries.get(&key) else { return };
        self.index.update(key, entry.shape.bytes(), Some(entry));
        let tally = &mut self.tally;
        tally.device_peak = tally.device_peak.max(self.index.device_bytes());
        tally.disk_peak = tally.disk_peak.max(self.index.on_disk.bytes());
    }

    pub(super) fn note_wait(&mut self, start: Instant) {
        self.tally.waits += 1;
        self.tally.waited += start.elapsed();
    }

    pub(crate) fn stats(&mut self) -> DeviceTapeStats {
        self.collect_failures();
        let stash = self.stash.as_mut().map(Stash::stats).unwrap_or_default();
        let index = &self.index;
        DeviceTapeStats {
            buffers: self.entries.len(),
            bytes: self.entries.values().map(|entry| entry.shape.bytes() as u64).sum(),
            device: LayerStats {
                buffers: index.saved.len() + index.unsaved.len(),
                bytes: index.device_bytes() as u64,
                peak_bytes: self.tally.device_peak as u64,
            },
            host: LayerStats {
                buffers: index.written.len() + index.unwritten.len(),
                bytes: (self.source.bytes() - self.pool.idle_bytes().min(self.source.bytes()))
                    as u64,
                peak_bytes: self.source.peak() as u64,
            },
            disk: LayerStats {
                buffers: index.on_disk.len(),
                bytes: index.on_disk.bytes() as u64,
                peak_bytes: self.tally.disk_peak as u64,
            },
            spilled_bytes: self.tally.spilled,
            raised_bytes: self.tally.raised,
            written_bytes: stash.bytes_written,
            read_bytes: stash.bytes_read,
            failed_writes: stash.failed_writes,
            waits: self.tally.waits,
            waited: self.tally.waited,
            unlocked_blocks: self.source.refusals(),
            tier: self.stash.as_ref().map(Stash::describe).unwrap_or_default(),
        }
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        // Blocks must not go while a copy uses them. If waiting fails the device is lost, and copies nothing any more.
        let _ = self.down.synchronize();
        let _ = self.up.synchronize();
        self.entries.clear();
        self.retired.clear();
        self.stash = None;
        // The threads of the disk have the pool for a little longer.
        self.pool.set_limit(0);
    }
}

/// Whether there is no memory for a buffer.
fn is_exhausted(error: &GpuError) -> bool {
    matches!(error, GpuError::OutOfMemory { .. } | GpuError::OutOfHostMemory { .. })
}
