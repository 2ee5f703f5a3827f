//! The snapshots of a run on both levels: states in memory, and what lies below it in a [`SnapshotStore`].

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stratape_tape::tier::TierError;

use crate::report::Report;
use crate::schedule::Level;
use crate::snapshot::Snapshot;
use crate::store::{DiskStore, Guarded, MemoryStore, SnapshotStore, missing};

/// All snapshots of a run.
pub(crate) struct Slots<S> {
    memory: MemoryStore<S>,
    below: Option<Below<S>>,
    tally: SlotsTally,
}

/// How many snapshots may be in memory on their way to and from the store below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Staged {
    pub(crate) writes: usize,
    pub(crate) reads: usize,
}

/// The level below memory.
pub(crate) struct Below<S> {
    store: Store<S>,
    /// The steps that are stored.
    steps: BTreeSet<usize>,
    staged: Staged,
    /// Snapshots read ahead and not used yet.
    fetched: BTreeSet<usize>,
    /// Wait for each transfer, for comparison.
    synchronous: bool,
    /// Snapshots that the store has accepted and could not keep.
    refused: BTreeSet<usize>,
    /// A failure that the run has not heard of, and what the last one was about.
    failed: bool,
    why: Option<String>,
    /// What the store had waited, putting and getting, when the run began.
    waited_before: [Duration; 2],
}

enum Store<S> {
    /// The one that runs to be resumed need to know.
    Disk(Box<DiskStore>),
    Users(Guarded<S>),
}

#[derive(Clone, Copy, Debug, Default)]
struct SlotsTally {
    /// Time in both stores, waiting included.
    took: Duration,
    waited_to_store: Duration,
    memory_peak: u64,
    /// Bytes of states kept as records of their steps.
    records: u64,
    below_peak: (usize, u64),
    writes: [u64; 2],
    reads: [u64; 2],
}

impl<S: Snapshot> Below<S> {
    pub(crate) fn on_disk(disk: DiskStore, staged: Staged, synchronous: bool) -> Self {
        let steps = disk.steps().collect();
        Self::of(Store::Disk(Box::new(disk.staged(staged.writes))), steps, staged, synchronous)
    }

    pub(crate) fn in_store(
        store: Box<dyn SnapshotStore<S>>,
        staged: Staged,
        synchronous: bool,
    ) -> Self {
        Self::of(Store::Users(Guarded::new(store)), BTreeSet::new(), staged, synchronous)
    }

    fn of(store: Store<S>, steps: BTreeSet<usize>, staged: Staged, synchronous: bool) -> Self {
        Self {
            store,
            steps,
            staged,
            fetched: BTreeSet::new(),
            synchronous,
            refused: BTreeSet::new(),
            failed: false,
            why: None,
            waited_before: [Duration::ZERO; 2],
        }
    }

    fn store(&mut self) -> &mut dyn SnapshotStore<S> {
        match &mut self.store {
            Store::Disk(store) => &mut **store,
            Store::Users(store) => store,
        }
    }

    /// Seconds that each write and each read of a state takes, beside copying it, when as many are on their way as there will be, the best of a
    /// few; endless where that fails.
    pub(crate) fn measure(&mut self, state: &S, copy: f64) -> (f64, f64) {
        let mut best = (f64::MAX, f64::MAX);
        for _ in 0..3 {
            let Some((write, read)) = self.measure_once(state, copy) else { return (1e6, 1e6) };
            best = (best.0.min(write), best.1.min(read));
            // A second try would take longer than it is worth.
            if write + read > 0.1 {
                break;
            }
        }
        best
    }

    fn measure_once(&mut self, state: &S, copy: f64) -> Option<(f64, f64)> {
        let several = if self.synchronous { 1 } else { self.staged.writes.max(1) };
        match &mut self.store {
            Store::Disk(disk) => disk.measure(state, several),
            Store::Users(store) => {
                let times = time_transfers(store, state, several);
                (0..several).for_each(|step| store.remove(step));
                let each = |time: Duration| (time.as_secs_f64() / several as f64 - copy).max(1e-9);
                times.map(|(write, read)| (each(write), each(read)))
            }
        }
    }

    /// Takes note of what the store could not keep.
    fn collect_refused(&mut self) {
        let refused = self.store().refused();
        for step in refused {
            if self.steps.contains(&step) {
                self.refused.insert(step);
                self.failed = true;
            }
        }
    }

    fn remove(&mut self, step: usize) {
        if self.steps.remove(&step) {
            self.fetched.remove(&step);
            self.refused.remove(&step);
            self.store().remove(step);
        }
    }
}

/// The time to put so many states into an empty store, copies included, and to get them back.
fn time_transfers<S: Snapshot>(
    store: &mut Guarded<S>,
    state: &S,
    several: usize,
) -> Option<(Duration, Duration)> {
    let mut back = state.clone();
    let start = Instant::now();
    for step in 0..several {
        store.put(step, state).ok()?;
    }
    store.settle();
    let write = start.elapsed();
    if !store.refused().is_empty() {
        return None;
    }
    let start = Instant::now();
    (0..several).for_each(|step| store.prefetch(step));
    for step in 0..several {
        store.get(step, &mut back).ok()?;
    }
    Some((write, start.elapsed()))
}

impl<S: Snapshot> Slots<S> {
    pub(crate) fn new(mut below: Option<Below<S>>) -> Self {
        if let Some(below) = &mut below {
            let stats = below.store().stats();
            below.waited_before = [stats.waited_to_put, stats.waited_to_get];
        }
        Self { memory: MemoryStore::new(), below, tally: SlotsTally::default() }
    }

    pub(crate) fn has_store(&self) -> bool {
        self.below.is_some()
    }

    /// The store of a run to be resumed.
    pub(crate) fn disk(&mut self) -> Option<&mut DiskStore> {
        match &mut self.below {
            Some(Below { store: Store::Disk(disk), .. }) => Some(disk),
            _ => None,
        }
    }

    /// A copy of a state, in memory that is free if there is any.
    pub(crate) fn copy(&mut self, state: &S) -> S {
        let start = Instant::now();
        let copy = self.memory.copy(state);
        self.tally.took += start.elapsed();
        copy
    }

    /// Takes a state's memory back.
    pub(crate) fn recycle(&mut self, state: S) {
        self.memory.recycle(state);
    }

    /// Stores a state; in memory as well where the store below refuses it.
    pub(crate) fn store(&mut self, step: usize, level: Level, state: &S) -> Result<(), TierError> {
        if level == Level::MEMORY {
            self.tally.writes[0] += 1;
            self.keep_copy(step, state);
            return Ok(());
        }
        let Some(below) = &mut self.below else { return Ok(()) };
        self.tally.writes[1] += 1;
        if below.steps.contains(&step) {
            // Of a run that is being resumed.
            return Ok(());
        }
        let start = Instant::now();
        let put = below.store().put(step, state);
        self.tally.took += start.elapsed();
        match (put, &below.store) {
            (Ok(()), _) => {}
            // Nor would there be for a copy.
            (Err(error @ TierError::OutOfMemory(_)), Store::Disk(_)) => return Err(error),
            (Err(error), _) => {
                (below.failed, below.why) = (true, Some(error.to_string()));
                self.keep_copy(step, state);
                return Ok(());
            }
        }
        below.steps.insert(step);
        if below.synchronous {
            let start = Instant::now();
            below.store().settle();
            self.tally.waited_to_store += start.elapsed();
        }
        let (count, bytes) = self.tally.below_peak;
        self.tally.below_peak = (count.max(below.steps.len()), bytes.max(below.store().bytes()));
        Ok(())
    }

    fn keep_copy(&mut self, step: usize, state: &S) {
        let copy = self.copy(state);
        self.keep(step, copy);
    }

    fn keep(&mut self, step: usize, state: S) {
        self.memory.keep(step, state);
        self.note_peak();
    }

    fn note_peak(&mut self) {
        let bytes = self.memory.bytes() + self.tally.records;
        self.tally.memory_peak = self.tally.memory_peak.max(bytes);
    }

    /// A state is kept as the record of its step, to be counted as a snapshot in memory.
    pub(crate) fn recorded(&mut self, state: &S) {
        self.tally.writes[0] += 1;
        self.tally.records += state.encoded_len() as u64;
        self.note_peak();
    }

    /// The state that was kept is taken up, and not kept any more. To be said before the state changes.
    pub(crate) fn unrecorded(&mut self, state: &S) {
        self.tally.reads[0] += 1;
        self.tally.records = self.tally.records.saturating_sub(state.encoded_len() as u64);
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
                let stored = self.memory.take(step).ok_or_else(|| missing(step))?;
                self.memory.recycle(std::mem::replace(state, stored));
            } else {
                self.memory.get(step, state)?;
            }
            self.tally.took += start.elapsed();
            return Ok(());
        }
        let Some(below) = &mut self.below else { return Ok(()) };
        self.tally.reads[1] += 1;
        below.fetched.remove(&step);
        let got = below.store().get(step, state);
        self.tally.took += start.elapsed();
        got
    }

    pub(crate) fn free(&mut self, step: usize, level: Level) {
        if level == Level::MEMORY {
            self.memory.remove(step);
        } else if let Some(below) = &mut self.below {
            below.remove(step);
        }
    }

    /// Begins to read a snapshot that will be loaded soon; false when as many are here as may be.
    pub(crate) fn fetch(&mut self, step: usize) -> bool {
        let Some(below) = self.below.as_mut().filter(|below| !below.synchronous) else {
            return false;
        };
        if below.fetched.contains(&step) {
            return true;
        }
        if below.fetched.len() >= below.staged.reads {
            return false;
        }
        if below.steps.contains(&step) {
            below.fetched.insert(step);
            below.store().prefetch(step);
        }
        true
    }

    /// Whether the store has failed to keep a snapshot since this was asked last.
    pub(crate) fn has_failed(&mut self) -> bool {
        let Some(below) = &mut self.below else { return false };
        below.collect_refused();
        std::mem::take(&mut below.failed)
    }

    /// What the last failure to keep a snapshot was about, where that is known.
    pub(crate) fn why_failed(&mut self) -> Option<String> {
        self.below.as_mut()?.why.take()
    }

    /// Waits until nothing is being written.
    pub(crate) fn settle(&mut self) {
        if let Some(below) = &mut self.below {
            below.store().settle();
        }
    }

    /// Brings the snapshots that could not be kept below into memory slots. One that cannot be had is given up, if there is one before it to
    /// compute it from.
    pub(crate) fn rescue(&mut self, template: &S) {
        let Some(below) = &mut self.below else { return };
        below.store().settle();
        below.collect_refused();
        below.failed = false;
        // The first one first: those after it count on it.
        for step in std::mem::take(&mut below.refused) {
            let mut state = self.memory.any(template);
            let Some(below) = &mut self.below else { return };
            let got = below.store().get(step, &mut state);
            if got.is_ok() {
                below.remove(step);
                self.keep(step, state);
                continue;
            }
            self.memory.recycle(state);
            // Without one before it, it is an error when it is needed.
            if self.before(step).is_some() {
                self.free(step, Level::DISK);
            }
        }
    }

    /// Writes into a report what the snapshots took.
    pub(crate) fn fill(&mut self, report: &mut Report) {
        let tally = self.tally;
        report.writes = tally.writes;
        report.reads = tally.reads;
        report.memory_peak = tally.memory_peak as usize;
        (report.disk_peak, report.disk_bytes_peak) = tally.below_peak;
        report.copy_time = tally.took;
        report.waited[0] += tally.waited_to_store;
        if let Some(below) = &mut self.below {
            let before = below.waited_before;
            let store = below.store();
            let stats = store.stats();
            let waited = [
                stats.waited_to_put.saturating_sub(before[0]),
                stats.waited_to_get.saturating_sub(before[1]),
            ];
            report.waited[0] += waited[0];
            report.waited[1] += waited[1];
            report.copy_time = tally.took.saturating_sub(waited[0]).saturating_sub(waited[1]);
            report.bytes_written = stats.bytes_written;
            report.bytes_read = stats.bytes_read;
            report.staging_peak = stats.staging_peak as usize;
            report.tier = store.describe();
        }
    }

    /// The steps that are stored on a level.
    pub(crate) fn stored(&self, level: Level) -> Vec<usize> {
        match (level, &self.below) {
            (Level::MEMORY, _) => self.memory.steps().collect(),
            (_, Some(below)) => below.steps.iter().copied().collect(),
            (_, None) => Vec::new(),
        }
    }

    /// The last snapshot before a step, and where it is.
    pub(crate) fn before(&self, step: usize) -> Option<(usize, Level)> {
        let memory = self.memory.before(step).map(|at| (at, Level::MEMORY));
        let below = self.below.as_ref().and_then(|below| below.steps.range(..step).next_back());
        let below = below.map(|at| (*at, Level::DISK));
        // Memory, where it is on both.
        memory.into_iter().chain(below).max_by_key(|(at, level)| (*at, *level == Level::MEMORY))
    }
}
