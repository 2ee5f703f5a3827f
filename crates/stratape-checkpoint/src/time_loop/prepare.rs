//! From the settings of a [`TimeLoop`] to a run: the room there is, the stores, the schedule, and what an earlier process has left.

use std::sync::Arc;
use std::time::Instant;

use stratape_tape::{TapeOptions, checksum};

use super::measure::measure;
use super::{Amount, Length, STAGED, TimeLoop};
use crate::course::Recorder;
use crate::durable::{Durable, Identity};
use crate::error::CheckpointError;
use crate::reruns::Reruns;
use crate::run::{End, Run, Steps};
use crate::schedule::{Level, Salvage, Schedule, count};
use crate::slots::{Below, Slots, Staged};
use crate::snapshot::{Snapshot, from_bytes, to_bytes};
use crate::store::DiskStore;
use crate::strategy::{Chosen, Room};

/// A run before its first step: how it ends, if that is not known beforehand.
pub(super) type Prepared<S> = (Run<S>, Option<OwnedEnd<S>>);

impl<S: Snapshot> TimeLoop<S> {
    /// Slots in memory and on disk.
    pub(super) fn room(&self) -> Result<Room, CheckpointError> {
        let bytes = self.start.encoded_len().max(1);
        let disk = match (&self.store, &self.disk) {
            (Some((_, slots)), _) | (None, Some((_, Amount::Slots(slots)))) => *slots,
            (None, Some((_, Amount::Bytes(disk)))) => {
                usize::try_from(disk / bytes as u64).unwrap_or(usize::MAX)
            }
            (None, None) => 0,
        };
        // A disk without room for a snapshot needs no memory on the way to it.
        let on_disk = disk > 0;
        let (memory, staged) = match self.memory {
            Amount::Slots(slots) => (slots, STAGED),
            Amount::Bytes(memory) => {
                let slots = usize::try_from(memory / bytes as u64).unwrap_or(usize::MAX);
                let needed = if on_disk { 2 } else { 1 };
                if slots < needed && self.length_known() != Some(0) {
                    return Err(CheckpointError::Budget {
                        snapshot: bytes,
                        needed: needed * bytes,
                        memory: usize::try_from(memory).unwrap_or(usize::MAX),
                    });
                }
                // No more on their way than may stay.
                let staged = (slots / 2).clamp(2, STAGED);
                (slots - if on_disk { staged.min(slots) } else { 0 }, staged)
            }
        };
        let staged = Staged { writes: staged / 2, reads: staged - staged / 2 };
        Ok(Room { memory, disk, staged, synchronous: self.synchronous })
    }

    pub(super) fn length_known(&self) -> Option<usize> {
        match self.length {
            Length::Steps(steps) => Some(steps),
            Length::Until(_) | Length::Unknown => None,
        }
    }

    pub(super) fn open_durable<A>(&mut self) -> Result<Option<Durable>, CheckpointError> {
        let Some(at) = self.resume.take() else { return Ok(None) };
        if self.store.is_some() {
            return Err(CheckpointError::Settings(
                "a run to be resumed keeps its snapshots in its directory; leave `store` away, or `resume`".to_owned(),
            ));
        }
        let bytes = to_bytes(&self.start);
        let identity = Identity {
            state: std::any::type_name::<S>().to_owned(),
            adjoint: std::any::type_name::<A>().to_owned(),
            start: (bytes.len(), checksum(&bytes)),
            steps: self.length_known(),
        };
        Durable::open(&at, identity, self.save_every).map(Some)
    }

    /// Opens the level below memory, with what the run to be resumed has there; says also what should be there and is not.
    pub(super) fn open_below(
        &mut self,
        durable: Option<&Durable>,
    ) -> Result<(Option<Below<S>>, Vec<String>), CheckpointError> {
        let (staged, synchronous) = (self.room()?.staged, self.synchronous);
        if let Some((store, _)) = self.store.take() {
            return Ok((Some(Below::in_store(store, staged, synchronous)), Vec::new()));
        }
        let options = match (durable, &self.tier, &self.disk) {
            (Some(durable), _, _) => TapeOptions::new().tier(durable.tier()),
            (None, Some(tier), Some(_)) => TapeOptions::new().tier(Arc::clone(tier)),
            (None, _, Some((directory, amount))) => {
                let options = TapeOptions::new().spill_to(directory);
                match amount {
                    Amount::Bytes(bytes) => options.disk_limit(*bytes),
                    Amount::Slots(_) => options,
                }
            }
            (None, _, None) => return Ok((None, Vec::new())),
        };
        let mut disk = DiskStore::open(&options).map_err(CheckpointError::Disk)?;
        let missing = durable.map_or(Vec::new(), |durable| adopt_snapshots(durable, &mut disk));
        Ok((Some(Below::on_disk(disk, staged, synchronous)), missing))
    }

    /// Opens what is needed, measures if asked to, and chooses the schedule.
    pub(super) fn prepare(
        mut self,
        durable: Option<Durable>,
        steps: &mut Steps<'_, S>,
    ) -> Result<Prepared<S>, CheckpointError> {
        if matches!(self.length, Length::Unknown) {
            return Err(CheckpointError::Settings(
                "how long is the loop? Say so with `steps` or `until`".to_owned(),
            ));
        }
        let begun = Instant::now();
        let room = self.room()?;
        let known = self.length_known();
        let (mut below, missing) = self.open_below(durable.as_ref())?;
        let start = &self.start;
        let few = known.unwrap_or(usize::MAX).min(3);
        let costs = || measure(start, few, steps, below.as_mut());
        let Chosen { schedule, why } = self.strategy.choose(known, room, costs)?;
        // Going through the schedule beforehand is for those who want to be told how far it is.
        let counted = known.filter(|steps| self.on_progress.is_some() && *steps <= 1_000_000);
        let advanced = counted.map(|steps| count(schedule.fork(), steps).advanced);
        let mut run = Run::new(schedule, Slots::new(below), self.start);
        run.advanced_in_all = advanced;
        run.report.why = why;
        run.report.mended = missing;
        run.start = begun;
        run.report.planning_time = begun.elapsed();
        run.known = known;
        run.memory_slots = room.memory;
        run.reruns = self.check.then(Reruns::default);
        run.recorder = self.record.then(Recorder::default);
        run.on_progress = self.on_progress;
        run.durable = durable;
        let end = match self.length {
            Length::Until(until) => Some(OwnedEnd { until, limit: self.limit }),
            Length::Steps(_) | Length::Unknown => None,
        };
        Ok((run, end))
    }
}

/// The condition that ends a loop of unknown length.
pub(super) struct OwnedEnd<S> {
    until: Box<dyn FnMut(&S) -> bool + Send>,
    limit: usize,
}

impl<S: Snapshot> Run<S> {
    pub(super) fn run_forward(
        &mut self,
        steps: &mut Steps<'_, S>,
        end: Option<OwnedEnd<S>>,
    ) -> Result<(), CheckpointError> {
        match end {
            None => self.forward(steps, None),
            Some(mut end) => {
                let OwnedEnd { until, limit } = &mut end;
                self.forward(steps, Some(End { until, limit: *limit }))
            }
        }
    }
}

/// Snapshots of an earlier process count as stored; says which of them are not there. The first state the user has given.
fn adopt_snapshots(durable: &Durable, disk: &mut DiskStore) -> Vec<String> {
    let mut missing = Vec::new();
    for (step, stored) in &durable.manifest().snapshots {
        if *step > 0 && durable.holds(stored) {
            disk.adopt(*step, *stored);
            continue;
        }
        // What there is of its file is deleted with the next manifest.
        disk.disown(*stored);
        if *step > 0 {
            missing.push(format!("the snapshot of step {step} is gone, or not as it was written"));
        }
    }
    missing
}

/// Where an earlier process was in the reversal: the last state, and the adjoint if it had got so far.
pub(super) fn take_up<S: Snapshot, A: Snapshot>(
    run: &mut Run<S>,
) -> Result<Option<(S, Option<A>)>, CheckpointError> {
    let Some(durable) = &run.durable else { return Ok(None) };
    let manifest = durable.manifest();
    let Some(steps) = manifest.ended else { return Ok(None) };
    let last = manifest.last_state_file().and_then(|file| durable.read(file));
    // Without it the loop is run again; the snapshots still serve.
    let Some(last) = last.and_then(|bytes| from_bytes::<S>(&bytes).ok()) else { return Ok(None) };
    let adjoint = manifest.adjoint_file().and_then(|file| durable.read(file));
    let adjoint = adjoint.and_then(|bytes| from_bytes::<A>(&bytes).ok());
    let left = if adjoint.is_some() { manifest.left } else { steps };
    let start = run.state.clone();
    // The user has given it: whatever became of the files, there is something to begin from.
    let _ = run.slots.store(0, Level::MEMORY, &start);
    let entries = run.entries();
    let salvage = Salvage::backward(left, steps, entries, run.memory_slots.max(1));
    run.take_over(Box::new(salvage), steps, left);
    Ok(Some((last, adjoint)))
}
