//! Where snapshots are: in memory as states, on disk as bytes in a [`Stash`].
//!
//! A store to disk copies the state into a block and returns; the block is written behind. It waits only when blocks
//! on their way take more than the staging memory. A load takes what was read ahead, or waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use stratape_tape::tier::{BLOCK_ALIGN, Block, SlabKey, TierError};
use stratape_tape::{Stash, Ticket};

use crate::report::Report;
use crate::schedule::Level;
use crate::snapshot::{Encoder, Snapshot, into_state};

/// All snapshots of a run.
pub(crate) struct Slots<S> {
    memory: BTreeMap<usize, S>,
    /// States whose memory is free.
    spare: Vec<S>,
    disk: Option<Disk>,
    pub(crate) tally: SlotsTally,
    bytes: usize,
}

pub(crate) struct Disk {
    pub(crate) stash: Stash,
    pub(crate) tickets: BTreeMap<usize, Ticket>,
    /// Snapshots that may be written at once, and read ahead of use.
    pub(crate) staged: Staged,
    /// Snapshots read ahead and not used yet.
    fetched: BTreeSet<usize>,
    /// Wait for each transfer, for comparison.
    pub(crate) synchronous: bool,
    failures: u64,
}

/// How many snapshots may be in memory on their way to and from disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Staged {
    pub(crate) writes: usize,
    pub(crate) reads: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlotsTally {
    pub(crate) copied: Duration,
    pub(crate) waited_to_store: Duration,
    pub(crate) waited_to_load: Duration,
    pub(crate) memory_peak: usize,
    pub(crate) disk_peak: usize,
    pub(crate) writes: [u64; 2],
    pub(crate) reads: [u64; 2],
}

impl Disk {
    pub(crate) fn new(stash: Stash, staged: Staged, synchronous: bool) -> Self {
        let (tickets, fetched) = (BTreeMap::new(), BTreeSet::new());
        Self { stash, tickets, staged, fetched, synchronous, failures: 0 }
    }

    /// Seconds that each write and each read of a state takes when as many are on their way as there will be, the best of a few;
    /// endless where that fails.
    pub(crate) fn measure<S: Snapshot>(&mut self, state: &S) -> (f64, f64) {
        let mut best = (f64::MAX, f64::MAX);
        for _ in 0..3 {
            let Some((write, read)) = self.measure_once(state) else { return (1e6, 1e6) };
            best = (best.0.min(write), best.1.min(read));
            // A second try would take longer than it is worth.
            if write + read > 0.1 {
                break;
            }
        }
        best
    }

    fn measure_once<S: Snapshot>(&mut self, state: &S) -> Option<(f64, f64)> {
        let several = if self.synchronous { 1 } else { self.staged.writes.max(1) };
        let mut blocks = Vec::new();
        for _ in 0..several {
            blocks.push(self.written(state).ok()?);
        }
        let start = Instant::now();
        let mut tickets = Vec::new();
        for (block, len) in blocks {
            tickets.push(self.stash.put(0, block, len));
        }
        self.stash.settle();
        let write = start.elapsed().as_secs_f64() / several as f64;
        let start = Instant::now();
        let failed = tickets.iter().any(|ticket| self.stash.is_unwritten(*ticket));
        tickets.iter().for_each(|ticket| self.stash.fetch(*ticket));
        let blocks: Vec<_> = tickets.iter().map(|ticket| self.stash.take(*ticket)).collect();
        let read = start.elapsed().as_secs_f64() / several as f64;
        tickets.into_iter().for_each(|ticket| self.stash.forget(ticket));
        let failed = failed || blocks.iter().any(Result::is_err);
        blocks.into_iter().flatten().for_each(|block| self.stash.recycle(block));
        (!failed).then_some((write, read))
    }

    /// A state as bytes in a block, and how many they are.
    fn written<S: Snapshot>(&self, state: &S) -> Result<(Block, usize), TierError> {
        let len = state.encoded_len();
        let mut block = self.stash.block(len).map_err(TierError::OutOfMemory)?;
        state.encode(&mut Encoder::new(&mut block.bytes_mut()[..len]));
        Ok((block, len))
    }

    fn put<S: Snapshot>(&mut self, step: usize, state: &S) -> Result<Duration, TierError> {
        let len = state.encoded_len();
        let mut waited = Duration::ZERO;
        let staging = (self.staged.writes * len.next_multiple_of(BLOCK_ALIGN)) as u64;
        while self.stash.stats().writing >= staging.max(1) {
            waited += self.stash.wait();
        }
        let (block, len) = self.written(state)?;
        let ticket = self.stash.put(step as u64, block, len);
        self.tickets.insert(step, ticket);
        if self.synchronous {
            waited += self.stash.settle();
        }
        Ok(waited)
    }

    fn get<S: Snapshot>(&mut self, step: usize, state: &mut S) -> Result<Duration, TierError> {
        let Some(&ticket) = self.tickets.get(&step) else {
            let key = SlabKey { lane: 0, depth: step as u64, serial: 0 };
            return Err(TierError::Missing(key));
        };
        let start = Instant::now();
        let block = self.stash.take(ticket)?;
        let waited = start.elapsed();
        let used = self.stash.used(ticket).unwrap_or(0).min(block.len());
        let read = into_state(state, &block.bytes()[..used]);
        self.stash.recycle(block);
        read.map_err(|error| TierError::Undecodable(error.to_string()))?;
        Ok(waited)
    }
}

impl<S: Snapshot> Slots<S> {
    pub(crate) fn new(disk: Option<Disk>) -> Self {
        Self {
            memory: BTreeMap::new(),
            spare: Vec::new(),
            disk,
            tally: SlotsTally::default(),
            bytes: 0,
        }
    }

    pub(crate) fn disk(&mut self) -> Option<&mut Disk> {
        self.disk.as_mut()
    }

    /// A copy of a state, in memory that is free if there is any.
    pub(crate) fn copy(&mut self, state: &S) -> S {
        let start = Instant::now();
        let copy = match self.spare.pop() {
            Some(mut spare) => {
                spare.copy_from(state);
                spare
            }
            None => state.clone(),
        };
        self.tally.copied += start.elapsed();
        copy
    }

    /// Takes a state's memory back.
    pub(crate) fn recycle(&mut self, state: S) {
        self.spare.push(state);
    }

    pub(crate) fn store(&mut self, step: usize, level: Level, state: &S) -> Result<(), TierError> {
        if level == Level::MEMORY {
            let copy = self.copy(state);
            self.tally.writes[0] += 1;
            self.keep(step, copy);
            return Ok(());
        }
        let Some(disk) = &mut self.disk else { return Ok(()) };
        self.tally.writes[1] += 1;
        if disk.tickets.contains_key(&step) {
            // Of a run that is being resumed.
            return Ok(());
        }
        let start = Instant::now();
        let waited = disk.put(step, state)?;
        self.tally.waited_to_store += waited;
        self.tally.copied += start.elapsed().saturating_sub(waited);
        self.tally.disk_peak = self.tally.disk_peak.max(disk.tickets.len());
        Ok(())
    }

    fn keep(&mut self, step: usize, state: S) {
        self.bytes += state.encoded_len();
        self.tally.memory_peak = self.tally.memory_peak.max(self.bytes);
        self.memory.insert(step, state);
    }

    /// Takes a snapshot out of memory.
    fn take(&mut self, step: usize) -> Option<S> {
        let state = self.memory.remove(&step)?;
        self.bytes -= state.encoded_len().min(self.bytes);
        Some(state)
    }

    /// Brings a snapshot into `state`. With `last`, one in memory leaves its slot for that, and is not copied.
    pub(crate) fn load(
        &mut self,
        step: usize,
        level: Level,
        state: &mut S,
        last: bool,
    ) -> Result<(), TierError> {
        let start = Instant::now();
        if level == Level::MEMORY {
            self.tally.reads[0] += 1;
            if last {
                if let Some(stored) = self.take(step) {
                    self.spare.push(std::mem::replace(state, stored));
                }
            } else if let Some(stored) = self.memory.get(&step) {
                state.copy_from(stored);
            }
            self.tally.copied += start.elapsed();
            return Ok(());
        }
        let Some(disk) = &mut self.disk else { return Ok(()) };
        self.tally.reads[1] += 1;
        disk.fetched.remove(&step);
        let waited = disk.get(step, state)?;
        self.tally.waited_to_load += waited;
        self.tally.copied += start.elapsed().saturating_sub(waited);
        Ok(())
    }

    pub(crate) fn free(&mut self, step: usize, level: Level) {
        if level == Level::MEMORY {
            let state = self.take(step);
            self.spare.extend(state);
        } else if let Some(disk) = &mut self.disk
            && let Some(ticket) = disk.tickets.remove(&step)
        {
            disk.fetched.remove(&step);
            disk.stash.forget(ticket);
        }
    }

    /// Begins to read a snapshot that will be loaded soon; false when as many are here as may be.
    pub(crate) fn fetch(&mut self, step: usize) -> bool {
        let Some(disk) = self.disk.as_mut().filter(|disk| !disk.synchronous) else { return false };
        if disk.fetched.contains(&step) {
            return true;
        }
        if disk.fetched.len() >= disk.staged.reads {
            return false;
        }
        if let Some(&ticket) = disk.tickets.get(&step) {
            disk.fetched.insert(step);
            disk.stash.fetch(ticket);
        }
        true
    }

    /// Whether a write has failed since this was asked last.
    pub(crate) fn has_failed(&mut self) -> bool {
        let Some(disk) = &mut self.disk else { return false };
        let failures = disk.stash.stats().failed_writes;
        std::mem::replace(&mut disk.failures, failures) < failures
    }

    /// Waits until nothing is being written.
    pub(crate) fn settle(&mut self) {
        if let Some(disk) = &mut self.disk {
            disk.stash.settle();
        }
    }

    /// Brings the snapshots that could not be written into memory slots.
    pub(crate) fn rescue(&mut self, template: &S) -> Result<(), TierError> {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.stash.settle();
        let unwritten: Vec<usize> = disk
            .tickets
            .iter()
            .filter(|(_, ticket)| disk.stash.is_unwritten(**ticket))
            .map(|(step, _)| *step)
            .collect();
        disk.failures = disk.stash.stats().failed_writes;
        for step in unwritten {
            let mut state = self.spare.pop().unwrap_or_else(|| template.clone());
            if let Some(disk) = &mut self.disk {
                disk.get(step, &mut state)?;
            }
            self.free(step, Level::DISK);
            self.keep(step, state);
        }
        Ok(())
    }

    /// Writes into a report what the snapshots took.
    pub(crate) fn fill(&mut self, report: &mut Report) {
        let tally = self.tally;
        report.writes = tally.writes;
        report.reads = tally.reads;
        report.memory_peak = tally.memory_peak;
        report.disk_peak = tally.disk_peak;
        report.copy_time = tally.copied;
        report.waited[0] += tally.waited_to_store;
        report.waited[1] += tally.waited_to_load;
        if let Some(disk) = &mut self.disk {
            let stats = disk.stash.stats();
            report.bytes_written = stats.bytes_written;
            report.bytes_read = stats.bytes_read;
            report.staging_peak = stats.resident_peak as usize;
            report.tier = disk.stash.describe();
        }
    }

    /// The steps that are stored on a level.
    pub(crate) fn stored(&self, level: Level) -> Vec<usize> {
        match (level, &self.disk) {
            (Level::MEMORY, _) => self.memory.keys().copied().collect(),
            (_, Some(disk)) => disk.tickets.keys().copied().collect(),
            (_, None) => Vec::new(),
        }
    }

    /// The last snapshot before a step, and where it is.
    pub(crate) fn before(&self, step: usize) -> Option<(usize, Level)> {
        let memory = self.memory.range(..step).next_back().map(|(at, _)| (*at, Level::MEMORY));
        let disk = self.disk.as_ref().and_then(|disk| {
            disk.tickets.range(..step).next_back().map(|(at, _)| (*at, Level::DISK))
        });
        // Memory, where it is on both.
        memory.into_iter().chain(disk).max_by_key(|(at, level)| (*at, *level == Level::MEMORY))
    }
}
