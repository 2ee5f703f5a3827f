//! Moving slabs: starting writes and reads, collecting what has arrived, finding memory.

use std::sync::Arc;
use std::time::Duration;

use super::{Ladder, Pass, Place};
use crate::block::Block;
use crate::depot::Parcel;
use crate::error::{ErrorKind, SourceError, TapeError, TierError};
use crate::events;
use crate::inbox::{Arrival, Transfer};
use crate::key::SlabKey;

impl Ladder {
    /// Memory for a slab of `len` bytes, within the budget; waits for transfers if need be.
    pub(super) fn obtain(&mut self, len: usize, pass: Pass) -> Result<Block, TapeError> {
        self.absorb_arrived();
        self.failed_write = None;
        loop {
            if pass == Pass::Push
                && let Some(&slab) = self.lost.first()
            {
                // A tape with a hole in it need not grow further.
                return Err(self.lost_error(slab));
            }
            if let Some(block) = self.block_at_once(len, |_| true) {
                return block.map_err(TapeError::from);
            }
            if self.failed_write.is_none() {
                self.start_writes(self.flight());
            }
            if self.writing + self.reading > 0 {
                self.wait(pass).map_err(|source| {
                    let slab = self.slabs.iter().position(super::Slab::is_moving).unwrap_or(0);
                    ErrorKind::Spill { slab, source }
                })?;
                continue;
            }
            return Err(match self.failed_write.take() {
                Some((slab, source)) => ErrorKind::Spill { slab, source },
                None => ErrorKind::RegionTooLarge { bytes: len, memory: self.plan.memory },
            }
            .into());
        }
    }

    /// Memory that can be had without waiting: spare, unused budget, or the deepest saved slab
    /// that may give up its place in RAM.
    pub(super) fn block_at_once(
        &mut self,
        len: usize,
        may_evict: impl Fn(usize) -> bool,
    ) -> Option<Result<Block, SourceError>> {
        loop {
            if self.resident <= self.plan.memory
                && let Some(found) = self.spare.iter().rposition(|block| block.len() == len)
            {
                let block = self.spare.swap_remove(found);
                self.spare_bytes -= block.len();
                return Some(Ok(block));
            }
            if self.resident.checked_add(len).is_some_and(|sum| sum <= self.plan.memory) {
                let block = self.plan.pool.take(len);
                if let Ok(block) = &block {
                    self.resident += block.len();
                    self.tally.resident_peak = self.tally.resident_peak.max(self.resident);
                }
                return Some(block);
            }
            if let Some(block) = self.spare.pop() {
                self.spare_bytes -= block.len();
                self.release(block);
            } else {
                let deepest = self.saved.iter().copied().find(|&slab| may_evict(slab))?;
                self.evict(deepest);
            }
        }
    }

    /// Drops a saved slab's memory; its copy below stays.
    fn evict(&mut self, slab: usize) {
        self.saved.remove(&slab);
        let state = &mut self.slabs[slab];
        if let Place::Resident(block) = std::mem::replace(&mut state.place, Place::Stored) {
            if std::mem::take(&mut state.awaited) {
                self.tally.wasted += 1;
                self.ahead = (self.ahead / 2).max(1);
            }
            self.keep_spare(block);
        }
    }

    /// Writes the deepest slabs before their memory is needed.
    pub(super) fn write_behind(&mut self) {
        if self.plan.depot.is_none() {
            return;
        }
        self.absorb_arrived();
        let flight = self.flight();
        let free = self.plan.memory.saturating_sub(self.resident - self.spare_bytes);
        // Transfers that began together end together: beside those under way there should be as
        // many done, or the disk stands still while the tape uses up what it has just written. With
        // few slabs in all they are better used otherwise.
        let reserve = (2 * flight).min(self.plan.memory / self.plan.slab_len / 4).max(flight);
        if free < flight * self.plan.slab_len {
            self.start_writes(flight.min(reserve.saturating_sub(self.saved.len())));
        }
    }

    /// Sends the deepest unsaved slabs down until `most` are on their way.
    fn start_writes(&mut self, most: usize) {
        let Some(depot) = self.plan.depot.clone() else {
            return;
        };
        while self.writing < most
            && let Some(slab) = self.unsaved.pop_first()
        {
            let key = SlabKey { lane: self.lane, depth: slab as u64, serial: self.serial };
            let state = &mut self.slabs[slab];
            match std::mem::replace(&mut state.place, Place::Writing) {
                Place::Resident(block) => {
                    self.serial += 1;
                    state.key = Some(key);
                    self.writing += 1;
                    events::trace!(slab, bytes = state.used, "spill");
                    let inbox = Arc::downgrade(&self.inbox);
                    depot.write(Parcel { key, block, inbox }, state.used);
                }
                other => state.place = other,
            }
        }
    }

    /// Reads the slabs below `top` that the reverse pass will need next.
    pub(super) fn read_ahead(&mut self, top: usize) {
        if self.plan.depot.is_none() {
            return;
        }
        self.absorb_arrived();
        let lowest = top.saturating_sub(self.ahead);
        for slab in (lowest..top).rev() {
            if self.reading >= self.flight() {
                return;
            }
            if !matches!(self.slabs[slab].place, Place::Stored) {
                continue;
            }
            match self.block_at_once(self.slabs[slab].len, |deep| deep < lowest) {
                Some(Ok(block)) => self.start_read(slab, block),
                // Reading ahead is a favour: if memory is short, the slab is read when needed.
                _ => return,
            }
        }
    }

    pub(super) fn start_read(&mut self, slab: usize, block: Block) {
        let state = &mut self.slabs[slab];
        match (state.key, state.receipt, &self.plan.depot) {
            (Some(key), Some(receipt), Some(depot)) => {
                state.place = Place::Reading;
                state.awaited = true;
                self.reading += 1;
                events::trace!(slab, bytes = state.used, "read");
                let inbox = Arc::downgrade(&self.inbox);
                depot.read(Parcel { key, block, inbox }, receipt);
            }
            _ => self.keep_spare(block),
        }
    }

    /// Makes sure a slab is in RAM.
    pub(super) fn bring(&mut self, slab: usize, pass: Pass) -> Result<(), TapeError> {
        if matches!(self.slabs[slab].place, Place::Resident(_)) {
            return Ok(());
        }
        self.absorb_arrived();
        self.failed_read = None;
        let mut waited = false;
        loop {
            match self.slabs[slab].place {
                Place::Resident(_) => break,
                Place::Writing | Place::Reading => {
                    waited = true;
                    self.wait(pass).map_err(|source| ErrorKind::Fetch { slab, source })?;
                }
                Place::Lost(_) => return Err(self.lost_error(slab)),
                Place::Stored => {
                    if let Some((failed, source)) = self.failed_read.take()
                        && failed == slab
                    {
                        return Err(ErrorKind::Fetch { slab, source }.into());
                    }
                    let block = self.obtain(self.slabs[slab].len, pass)?;
                    // `obtain` may have waited, and the slab may have come by itself.
                    if matches!(self.slabs[slab].place, Place::Stored) {
                        self.start_read(slab, block);
                    } else {
                        self.keep_spare(block);
                    }
                }
            }
        }
        if waited {
            self.slabs[slab].awaited = false;
            self.ahead = (self.ahead * 2).min(self.most_ahead());
        }
        Ok(())
    }

    /// What is to be said of a slab that is gone.
    fn lost_error(&self, slab: usize) -> TapeError {
        let what = match self.slabs[slab].place {
            Place::Lost(what) => what,
            _ => "",
        };
        ErrorKind::Lost { slab, source: TierError::Contract(what) }.into()
    }

    /// Waits until a transfer ends. There must be one under way. After a failure it still is.
    fn wait(&mut self, pass: Pass) -> Result<(), TierError> {
        if self.plan.depot.as_ref().is_some_and(|depot| depot.is_forked()) {
            return self.arrived_or(TierError::Forked);
        }
        let (arrivals, waited) = self.inbox.wait(self.plan.patience);
        let tally = match pass {
            Pass::Push => &mut self.tally.push_waits,
            Pass::Pop => &mut self.tally.pop_waits,
        };
        tally.0 += 1;
        tally.1 += waited;
        if waited > Duration::from_millis(1) {
            events::debug!(?pass, ?waited, "stall");
        }
        if arrivals.is_empty() {
            return Err(TierError::Silent(waited));
        }
        arrivals.into_iter().for_each(|arrival| self.absorb(arrival));
        Ok(())
    }

    /// Takes in what has arrived; if nothing has, there is no point in waiting.
    fn arrived_or(&mut self, error: TierError) -> Result<(), TierError> {
        let arrivals = self.inbox.collect();
        if arrivals.is_empty() {
            return Err(error);
        }
        arrivals.into_iter().for_each(|arrival| self.absorb(arrival));
        Ok(())
    }

    pub(super) fn absorb_arrived(&mut self) {
        if self.writing + self.reading > 0 {
            self.inbox.collect().into_iter().for_each(|arrival| self.absorb(arrival));
        }
    }

    pub(super) fn absorb(&mut self, Arrival { key, block, len, what }: Arrival) {
        let slab = key.depth as usize;
        let Some(block) = block else {
            return self.absorb_loss(key, len, what);
        };
        let len = len as u64;
        let current = self.slabs.get_mut(slab).filter(|state| state.key == Some(key));
        match what {
            Transfer::Wrote(result) => {
                self.writing -= 1;
                let Some(state) = current else {
                    // The slab was popped while it was being written.
                    if let (Ok(_), Some(depot)) = (result, &self.plan.depot) {
                        depot.forget(key);
                    }
                    return self.keep_spare(block);
                };
                state.place = Place::Resident(block);
                match result {
                    Ok(receipt) => {
                        state.receipt = Some(receipt);
                        self.saved.insert(slab);
                        self.tally.spilled.0 += 1;
                        self.tally.spilled.1 += len;
                    }
                    Err(error) => {
                        events::warn!(slab, %error, "a slab could not be spilled and stays in RAM");
                        state.key = None;
                        self.unsaved.insert(slab);
                        self.failed_write = Some((slab, error));
                        self.tally.failed_writes += 1;
                    }
                }
            }
            Transfer::Read(result) => {
                self.reading -= 1;
                let Some(state) = current else {
                    return self.keep_spare(block);
                };
                match result {
                    Ok(()) => {
                        state.place = Place::Resident(block);
                        self.saved.insert(slab);
                        self.tally.read.0 += 1;
                        self.tally.read.1 += len;
                    }
                    Err(error) => {
                        events::warn!(slab, %error, "a slab could not be read back");
                        state.place = Place::Stored;
                        state.awaited = false;
                        self.keep_spare(block);
                        self.failed_read = Some((slab, error));
                        self.tally.failed_reads += 1;
                    }
                }
            }
        }
    }

    /// A transfer ended and the tier has not given the memory back.
    fn absorb_loss(&mut self, key: SlabKey, len: usize, what: Transfer) {
        let slab = key.depth as usize;
        self.resident -= len;
        let current = self.slabs.get_mut(slab).filter(|state| state.key == Some(key));
        match what {
            Transfer::Wrote(result) => {
                self.writing -= 1;
                let Some(state) = current else { return };
                let why = match result {
                    Err(TierError::Contract(why)) => why,
                    _ => "it kept the block",
                };
                events::error!(slab, why, "a slab is lost: the tier broke its contract");
                state.place = Place::Lost(why);
                state.key = None;
                self.lost.insert(slab);
                self.tally.failed_writes += 1;
            }
            Transfer::Read(result) => {
                self.reading -= 1;
                let Some(state) = current else { return };
                state.place = Place::Stored;
                state.awaited = false;
                self.tally.failed_reads += 1;
                if let Err(error) = result {
                    events::warn!(slab, %error, "a slab could not be read back");
                    self.failed_read = Some((slab, error));
                }
            }
        }
    }
}
