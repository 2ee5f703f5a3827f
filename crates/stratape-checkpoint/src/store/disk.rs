//! Snapshots as bytes in a [`Stash`]: on disk, or in whatever tier it is on.
//!
//! A store copies the state into a block and returns; the block is written behind. It waits only when as many blocks are on their way
//! as may be. A load takes what was read ahead, or waits for it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use stratape_tape::tier::{BLOCK_ALIGN, Block, TierError};
use stratape_tape::{Stash, Stored, TapeError, TapeOptions, Ticket};

use super::{SnapshotStore, StoreStats, missing};
use crate::snapshot::{Snapshot, read_into, write_to};

/// Snapshots that are written at once, unless told otherwise.
const STAGED: usize = 2;

/// Snapshots on disk, or in another tier, written and read in the background.
///
/// [`TimeLoop::disk`](crate::TimeLoop::disk) and [`TimeLoop::tier`](crate::TimeLoop::tier) make one. Open it yourself for what only
/// [`TapeOptions`] can say, such as the engine, or the [kind of memory](stratape_tape::source) that snapshots are in on their way:
///
/// ```
/// use std::sync::Arc;
/// use stratape_checkpoint::{Strategy, TimeLoop, store::DiskStore};
/// use stratape_tape::{TapeOptions, source::SystemMemory};
///
/// let pinned = Arc::new(SystemMemory); // a source of your own
/// let options = TapeOptions::new().spill_to(std::env::temp_dir()).source(pinned);
/// let (_, dx, report) = TimeLoop::new(vec![0.5_f64; 1000])
///     .steps(100)
///     .slots(2)
///     .store(DiskStore::open(&options)?, 10)
///     .schedule(Strategy::Multistage)
///     .gradient(
///         |_, x| x.iter_mut().for_each(|x| *x = x.sin()),
///         |x| vec![1.0; x.len()],
///         |_, x, dx| dx.iter_mut().zip(x).for_each(|(dx, x)| *dx *= x.cos()),
///     )?;
/// assert!(report.tier.starts_with("disk") && dx[0] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DiskStore {
    stash: Stash,
    tickets: BTreeMap<usize, Ticket>,
    /// Snapshots that may be written at once.
    staged: usize,
    /// Writes that failed, when they were last told.
    failures: u64,
    bytes: u64,
    waited: [Duration; 2],
}

impl DiskStore {
    /// Opens one on the tier, directory, engine and limits of the options; their memory budget and slab size mean nothing here.
    ///
    /// # Errors
    /// When the directory cannot take a file, or the engine asked for is not to be had.
    pub fn open(options: &TapeOptions) -> Result<Self, TapeError> {
        Ok(Self {
            stash: Stash::open(options)?,
            tickets: BTreeMap::new(),
            staged: STAGED,
            failures: 0,
            bytes: 0,
            waited: [Duration::ZERO; 2],
        })
    }

    /// How many snapshots may be written at once, and are in memory for that; a `put` beyond waits. Default 2.
    #[must_use]
    pub fn staged(mut self, snapshots: usize) -> Self {
        self.staged = snapshots;
        self
    }

    /// The steps that are stored, the first one first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> {
        self.tickets.keys().copied()
    }

    /// Takes over a snapshot that lies in the tier already. To be done before any is put.
    pub(crate) fn adopt(&mut self, step: usize, stored: Stored) {
        let ticket = self.stash.adopt(stored);
        self.enter(step, ticket, stored.used);
    }

    /// Gives up what lies in the tier. Its number is not used again.
    pub(crate) fn disown(&mut self, stored: Stored) {
        let ticket = self.stash.adopt(stored);
        self.stash.forget(ticket);
    }

    /// The snapshots that are written, and where they lie.
    pub(crate) fn written(&mut self) -> impl Iterator<Item = (usize, Stored)> {
        let Self { stash, tickets, .. } = self;
        tickets.iter().filter_map(|(&step, &ticket)| Some((step, stash.stored(ticket)?)))
    }

    /// Waits until nothing is being written.
    pub(crate) fn finish_writing(&mut self) {
        self.stash.settle();
    }

    /// Seconds that each of `several` writes and reads of a state at once takes.
    pub(crate) fn measure<S: Snapshot>(&mut self, state: &S, several: usize) -> Option<(f64, f64)> {
        let mut blocks = Vec::new();
        for _ in 0..several {
            blocks.push(self.block(state).ok()?);
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
    fn block<S: Snapshot>(&self, state: &S) -> Result<(Block, usize), TierError> {
        let len = state.encoded_len();
        let mut block = self.stash.block(len).map_err(TierError::OutOfMemory)?;
        write_to(state, &mut block.bytes_mut()[..len]);
        Ok((block, len))
    }

    fn enter(&mut self, step: usize, ticket: Ticket, bytes: usize) {
        self.bytes += bytes as u64;
        if let Some(before) = self.tickets.insert(step, ticket) {
            self.give_up(before);
        }
    }

    fn give_up(&mut self, ticket: Ticket) {
        self.bytes -= (self.stash.used(ticket).unwrap_or(0) as u64).min(self.bytes);
        self.stash.forget(ticket);
    }
}

impl<S: Snapshot> SnapshotStore<S> for DiskStore {
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
        let len = state.encoded_len();
        let staging = (self.staged * len.next_multiple_of(BLOCK_ALIGN)) as u64;
        while self.stash.stats().writing >= staging.max(1) {
            self.waited[0] += self.stash.wait();
        }
        let (block, len) = self.block(state)?;
        let ticket = self.stash.put(step as u64, block, len);
        self.enter(step, ticket, len);
        Ok(())
    }

    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
        let ticket = *self.tickets.get(&step).ok_or_else(|| missing(step))?;
        let start = Instant::now();
        let block = self.stash.take(ticket)?;
        self.waited[1] += start.elapsed();
        let used = self.stash.used(ticket).unwrap_or(0).min(block.len());
        let read = read_into(state, &block.bytes()[..used]);
        self.stash.recycle(block);
        read.map_err(|error| TierError::Undecodable(error.to_string()))
    }

    fn prefetch(&mut self, step: usize) {
        if let Some(&ticket) = self.tickets.get(&step) {
            self.stash.fetch(ticket);
        }
    }

    fn remove(&mut self, step: usize) {
        if let Some(ticket) = self.tickets.remove(&step) {
            self.give_up(ticket);
        }
    }

    fn refused(&mut self) -> Vec<usize> {
        let failures = self.stash.stats().failed_writes;
        if std::mem::replace(&mut self.failures, failures) == failures {
            return Vec::new();
        }
        let Self { stash, tickets, .. } = self;
        let failed = tickets.iter().filter(|(_, ticket)| stash.has_failed(**ticket));
        failed.map(|(step, _)| *step).collect()
    }

    fn settle(&mut self) {
        self.stash.settle();
    }

    fn verifies(&self) -> bool {
        self.stash.verifies()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn stats(&mut self) -> StoreStats {
        let stash = self.stash.stats();
        StoreStats {
            bytes_written: stash.bytes_written,
            bytes_read: stash.bytes_read,
            staging_peak: stash.resident_peak,
            waited_to_put: self.waited[0],
            waited_to_get: self.waited[1],
        }
    }

    fn describe(&self) -> String {
        self.stash.describe()
    }
}

impl fmt::Debug for DiskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskStore")
            .field("snapshots", &self.tickets.len())
            .field("tier", &self.stash.describe())
            .finish_non_exhaustive()
    }
}
