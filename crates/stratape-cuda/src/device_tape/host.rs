//! The lower two layers: blocks of host memory, and the disk.

use std::time::{Duration, Instant};

use stratape_tape::Stash;
use stratape_tape::source::Block;
use stratape_tape::tier::BLOCK_ALIGN;

use super::entry::{Key, Slab};
use super::layers::{Effort, Layers};
use crate::error::GpuError;

impl Layers {
    /// A block of host memory within the budget; none if that takes more effort. One buffer is always let through, however large it is.
    pub(super) fn block(
        &mut self,
        bytes: usize,
        effort: Effort,
    ) -> Result<Option<Block>, GpuError> {
        let len = rounded(bytes);
        self.source.restore(self.host_limit.max(len));
        let block = self.find_block(len, effort);
        self.source.restore(self.host_limit);
        block
    }

    fn find_block(&mut self, len: usize, effort: Effort) -> Result<Option<Block>, GpuError> {
        let mut failed = false;
        // New memory is the dearest: the system locks its pages.
        if self.pool.idle_bytes() < len && !self.release_retired()? {
            self.release_raised()?;
        }
        loop {
            if let Some(block) = self.idle_block(len) {
                return Ok(Some(block));
            }
            if self.release_retired()? || self.release_raised()? {
                continue;
            }
            if effort == Effort::Spare {
                return Ok(None);
            }
            if self.release_written(effort)? || self.release_fetched(effort) {
                continue;
            }
            if effort == Effort::Write {
                self.write_ahead();
                return Ok(None);
            }
            let answered = self.await_disk();
            let refused = self.collect_failures();
            if answered || refused {
                self.tally.refused = refused;
                failed |= refused;
                continue;
            }
            if !failed && let Some(key) = self.index.unwritten.first() {
                self.write(key)?;
                continue;
            }
            if let Some(mut slab) = self.retired.pop() {
                let start = Instant::now();
                let waited = slab.wait();
                self.note_wait(start);
                if let Err(error) = waited {
                    self.retired.push(slab);
                    return Err(error);
                }
                self.pool.recycle(slab.block);
                continue;
            }
            let failure = self.stash.as_mut().and_then(Stash::failure);
            return Err(match failure {
                Some(error) => spill(&error),
                None if failed => spill("the disk could not take it"),
                None => GpuError::OutOfHostMemory { asked: len },
            });
        }
    }

    /// A block that is idle, or that the budget has room for.
    fn idle_block(&self, len: usize) -> Option<Block> {
        loop {
            if let Ok(block) = self.pool.block(len) {
                return Some(block);
            }
            // Idle blocks of other lengths are in the way.
            match self.pool.idle_bytes() {
                0 => return None,
                idle => self.pool.trim(idle - 1),
            }
        }
    }

    /// Takes back the blocks of buffers that are gone, where copies have ended.
    fn release_retired(&mut self) -> Result<bool, GpuError> {
        let mut released = false;
        for at in (0..self.retired.len()).rev() {
            if self.retired[at].is_idle()? {
                let slab = self.retired.swap_remove(at);
                self.pool.recycle(slab.block);
                released = true;
            }
        }
        Ok(released)
    }

    /// Takes back the block of a buffer that has come up from it.
    fn release_raised(&mut self) -> Result<bool, GpuError> {
        let mut found = None;
        for key in self.index.raised.iter() {
            let slab = self.entries.get_mut(&key).and_then(|entry| entry.host.as_mut());
            if let Some(slab) = slab
                && slab.is_idle()?
            {
                found = Some(key);
                break;
            }
        }
        Ok(found.is_some_and(|key| self.drop_slab(key)))
    }

    /// Takes back the block of the last needed buffer that is on disk as well.
    fn release_written(&mut self, effort: Effort) -> Result<bool, GpuError> {
        let Some(key) = self.index.written.first() else { return Ok(false) };
        if !self.is_idle(key, effort)? {
            return Ok(false);
        }
        Ok(self.drop_slab(key))
    }

    /// Takes back the block of the last needed buffer that was read ahead.
    fn release_fetched(&mut self, effort: Effort) -> bool {
        let Some(key) = self.index.fetching.first() else { return false };
        let (Some(entry), Some(stash)) = (self.entries.get_mut(&key), &mut self.stash) else {
            return false;
        };
        let Some(ticket) = entry.disk else { return false };
        let ready = stash.is_ready(ticket);
        if !ready && effort != Effort::Wait {
            return false;
        }
        let start = Instant::now();
        entry.fetching = false;
        // What failed is read again when it is needed.
        if let Ok(block) = stash.take(ticket) {
            self.pool.recycle(block);
        }
        if !ready {
            self.note_wait(start);
        }
        self.refresh(key);
        true
    }

    /// Whether no copy uses the block of a buffer, waiting for that if it shall.
    fn is_idle(&mut self, key: Key, effort: Effort) -> Result<bool, GpuError> {
        let slab = self.entries.get_mut(&key).and_then(|entry| entry.host.as_mut());
        let Some(slab) = slab else { return Ok(false) };
        if slab.is_idle()? {
            return Ok(true);
        }
        if effort != Effort::Wait {
            return Ok(false);
        }
        let start = Instant::now();
        slab.wait()?;
        self.note_wait(start);
        Ok(true)
    }

    fn drop_slab(&mut self, key: Key) -> bool {
        let slab = self.entries.get_mut(&key).and_then(|entry| entry.host.take());
        self.refresh(key);
        match slab {
            Some(slab) => {
                self.retire(slab);
                true
            }
            None => false,
        }
    }

    /// Takes a block back, now or when the copy that uses it has ended.
    pub(super) fn retire(&mut self, mut slab: Slab) {
        match slab.is_idle() {
            Ok(true) => self.pool.recycle(slab.block),
            _ => self.retired.push(slab),
        }
    }

    /// Begins to write a buffer to disk, after the copies that use its block.
    fn write(&mut self, key: Key) -> Result<(), GpuError> {
        if self.stash.is_none() {
            self.stash = Some(Stash::open(&self.below).map_err(|error| spill(&error))?);
        }
        self.is_idle(key, Effort::Wait)?;
        if let (Some(entry), Some(stash)) = (self.entries.get_mut(&key), &mut self.stash)
            && let Some(slab) = entry.host.take()
        {
            entry.disk = Some(stash.put(key.0, slab.block, entry.shape.bytes()));
        }
        self.refresh(key);
        Ok(())
    }

    /// Begins to write buffers while host memory is nearly full.
    pub(super) fn write_ahead(&mut self) {
        let mark = self.host_limit / 4 * 3;
        while let Some(key) = self.index.unwritten.first() {
            let used = self.source.bytes().saturating_sub(self.pool.idle_bytes());
            let writing = self.stash.as_mut().map_or(0, |stash| stash.stats().writing);
            let enough = used.saturating_sub(usize::try_from(writing).unwrap_or(0)) <= mark;
            if enough || !matches!(self.is_idle(key, Effort::Write), Ok(true)) {
                break;
            }
            // A disk that refuses is asked again when there is no other way.
            if self.tally.refused || self.write(key).is_err() {
                break;
            }
        }
    }

    /// Waits for an answer of the disk; false if there is nothing to wait for.
    fn await_disk(&mut self) -> bool {
        let Some(stash) = &mut self.stash else { return false };
        // Asking takes in the answers there are.
        if stash.stats().resident > 0 && self.pool.idle_bytes() == 0 {
            let start = Instant::now();
            if stash.wait() > Duration::ZERO {
                self.note_wait(start);
                return true;
            }
        }
        self.pool.idle_bytes() > 0
    }

    /// Takes back what the disk could not write; whether there was any.
    pub(super) fn collect_failures(&mut self) -> bool {
        let Some(stash) = &mut self.stash else { return false };
        let failures = stash.stats().failed_writes;
        if std::mem::replace(&mut self.tally.failures, failures) == failures {
            return false;
        }
        let mut back = Vec::new();
        for key in self.index.on_disk.iter() {
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            let Some(ticket) = entry.disk else { continue };
            if let Some(block) = stash.reclaim(ticket) {
                entry.disk = None;
                entry.fetching = false;
                match entry.host {
                    // A copy of it was taken meanwhile.
                    Some(_) => self.pool.recycle(block),
                    None => entry.host = Some(Slab::new(block, None)),
                }
                back.push(key);
            }
        }
        self.tally.refused = true;
        back.into_iter().for_each(|key| self.refresh(key));
        true
    }

    /// Brings a buffer that is not on the device to memory of the host; false if that would have to wait and is not `urgent`.
    pub(super) fn find_slab(&mut self, key: Key, urgent: bool) -> Result<bool, GpuError> {
        self.collect_failures();
        let Some(entry) = self.entries.get(&key) else { return Ok(false) };
        if entry.host.is_some() {
            return Ok(true);
        }
        let (Some(ticket), bytes) = (entry.disk, entry.shape.bytes()) else { return Ok(false) };
        if !entry.fetching && !self.fetch(key, urgent)? {
            return Ok(false);
        }
        // Waiting for memory may have shown that it was never written.
        if self.entries.get(&key).is_some_and(|entry| entry.host.is_some()) {
            return Ok(true);
        }
        let Some(stash) = &mut self.stash else { return Ok(false) };
        let ready = stash.is_ready(ticket);
        if !ready && !urgent {
            return Ok(false);
        }
        let start = Instant::now();
        // It is needed now: the budget gives way, if the disk has kept the block that was set aside.
        self.source.exceed(rounded(bytes));
        let block = stash.take(ticket);
        self.source.restore(self.host_limit);
        if !ready {
            self.note_wait(start);
        }
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.fetching = false;
            if let Ok(block) = block {
                entry.host = Some(Slab::new(block, None));
                self.refresh(key);
                return Ok(true);
            }
        }
        self.refresh(key);
        match block {
            Ok(_) => Ok(false),
            Err(error) => Err(spill(&error)),
        }
    }

    /// Begins to read a buffer from disk; false if there is no block for it.
    fn fetch(&mut self, key: Key, urgent: bool) -> Result<bool, GpuError> {
        let Some(entry) = self.entries.get(&key) else { return Ok(false) };
        let (Some(ticket), bytes) = (entry.disk, entry.shape.bytes()) else { return Ok(false) };
        // The stash takes its block from the pool, where this leaves one.
        let effort = if urgent { Effort::Wait } else { Effort::Spare };
        match self.block(bytes, effort) {
            Ok(Some(block)) => self.pool.recycle(block),
            Ok(None) => return Ok(false),
            // A buffer that is needed is read whatever the budget says.
            Err(_) if urgent => self.source.exceed(rounded(bytes)),
            Err(error) => return Err(error),
        }
        // It may have come back meanwhile, as one that could not be written.
        let Some(entry) = self.entries.get_mut(&key) else { return Ok(false) };
        if entry.disk == Some(ticket)
            && let Some(stash) = &mut self.stash
        {
            stash.fetch(ticket);
            entry.fetching = true;
        }
        self.source.restore(self.host_limit);
        self.refresh(key);
        Ok(true)
    }

    /// Begins to read buffers from disk while host memory has room.
    pub(super) fn read_ahead(&mut self) {
        let mark = self.host_limit / 4 * 3;
        while let Some(key) = self.index.disk_only.last() {
            let used = self.source.bytes().saturating_sub(self.pool.idle_bytes());
            let bytes = self.shape(key).map_or(0, |shape| rounded(shape.bytes()));
            if used > 0 && used + bytes > mark {
                break;
            }
            if !matches!(self.fetch(key, false), Ok(true)) {
                break;
            }
        }
    }
}

/// Lengths of blocks, so many to a power of two that buffers of similar lengths use the same ones.
fn rounded(bytes: usize) -> usize {
    let bytes = bytes.max(1);
    let step = (1usize << bytes.ilog2()) / 8;
    bytes.checked_next_multiple_of(step.max(BLOCK_ALIGN)).unwrap_or(bytes)
}

fn spill(error: &(impl ToString + ?Sized)) -> GpuError {
    GpuError::Spill { message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_by_an_eighth_at_most() {
        for bytes in [0, 1, 4096, 4097, 40_000, 100_000, 1 << 20, (1 << 20) + 1, 64 << 20] {
            let len = rounded(bytes);
            assert!(len >= bytes && len.is_multiple_of(BLOCK_ALIGN));
            assert!(len - bytes <= BLOCK_ALIGN.max(bytes / 8), "{bytes} {len}");
        }
        assert_eq!(rounded(64 << 20), 64 << 20);
    }
}
