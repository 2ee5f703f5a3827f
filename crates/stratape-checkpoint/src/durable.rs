//! A run that another process can go on with.
//!
//! In the directory of the run there are, `TOKEN` being the run's own ([`place`]),
//!
//! - `stratape-TOKEN-snapshot-STEP-NUMBER`: the snapshots that the schedule stores on disk, each synced before it is relied on;
//! - `stratape-TOKEN-final-STEPS-NUMBER`: the last state of the loop; `…-adjoint-LEFT-NUMBER`: the adjoint when so many steps are left;
//! - `stratape.manifest`: text that names these files with their checksums, and says how far the run is. A new one is written beside
//!   it, synced, and renamed; files of the old one are deleted after that. So at any moment the manifest
//!   names files that are whole;
//! - `stratape.lock`, held while a process works here.
//!
//! What is not in the directory is computed again, from the nearest snapshot; steps being deterministic, bits come out the same.
//!
//! A save that fails (the disk is full) costs no more than its own durability: the manifest on disk and the files it names stay as they
//! are, the run goes on, and the save is tried again later.

mod files;
mod manifest;
mod place;
mod run_place;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stratape_tape::tier::BLOCK_ALIGN;
use stratape_tape::{Stored, checksum};

use crate::error::CheckpointError;
use crate::report::Report;
use crate::snapshot::{Snapshot, to_bytes};
use crate::store::DiskStore;
pub(crate) use files::FileTier;
use manifest::Saved;
pub(crate) use manifest::{Identity, Manifest};
use place::Place;
pub(crate) use run_place::At;
pub use run_place::RunPlace;

/// Time between two manifests when nothing else was asked for, and the most before a save that failed is tried again.
const PAUSE: Duration = Duration::from_secs(2);
/// Time until a save that failed is tried again, at first.
const RETRY: Duration = Duration::from_millis(10);

/// The directory of a run.
pub(crate) struct Durable {
    place: Place,
    tier: Arc<FileTier>,
    /// The one on disk, or, before there is one, its beginning.
    manifest: Manifest,
    /// Whether there is one on disk.
    written: bool,
    /// The number of steps and the last state, while they are not saved.
    turn: Option<(usize, Vec<u8>)>,
    /// Files that an earlier manifest named.
    outdated: Vec<String>,
    trouble: Trouble,
    /// Reversals between two saves of the adjoint.
    every: Option<usize>,
    reversals: usize,
    saved: Instant,
    resumed: bool,
    /// Numbers for files, never used twice.
    number: u64,
}

/// Saves that failed.
#[derive(Debug, Default)]
struct Trouble {
    failures: u64,
    /// Those since the last that did not, and when to try again.
    row: u32,
    retry: Option<Instant>,
    told: Vec<String>,
}

impl Trouble {
    fn may_try(&self) -> bool {
        self.retry.is_none_or(|retry| Instant::now() >= retry)
    }

    fn note(&mut self, saved: &io::Result<()>, written: bool) {
        match saved {
            Err(error) => {
                if self.row == 0 {
                    let back = if written { "to the save before" } else { "to the start" };
                    self.told.push(format!(
                        "the run could not be saved ({error}) and went on in memory; a crash would have gone back {back}"
                    ));
                }
                let pause = RETRY.saturating_mul(1 << self.row.min(8)).min(PAUSE);
                self.retry = Some(Instant::now() + pause);
                self.failures += 1;
                self.row += 1;
            }
            Ok(()) => {
                if self.row > 0 {
                    self.told.push(format!("the run was saved again after {} attempts", self.row));
                }
                (self.row, self.retry) = (0, None);
            }
        }
    }
}

/// Whether an error means that there is no room.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl Durable {
    /// Takes the directory, or another place, for a run; with what is left there of the same run, if it was begun.
    pub(crate) fn open(
        at: &At,
        identity: Identity,
        every: Option<usize>,
    ) -> Result<Self, CheckpointError> {
        let failed = |source| CheckpointError::Resume { path: at.path(), source };
        let (mut place, text) = Place::open(at).map_err(failed)?;
        let found = match text {
            Some(text) => {
                let found = Manifest::parse(&text, &identity, place.token());
                let other = |why| CheckpointError::OtherRun { path: at.path(), why };
                Some(found.map_err(other)?)
            }
            None => None,
        };
        let resumed = found.is_some();
        let token = found.as_ref().map(|manifest| manifest.token.clone());
        place.set_token(|| token.unwrap_or_else(place::new_token));
        let names = place.names.clone();
        let manifest =
            found.unwrap_or_else(|| Manifest::new(identity, place.token().unwrap_or_default()));
        let tier = Arc::new(FileTier::start(names).map_err(failed)?);
        let number = manifest.last_number().map_or(0, |last| last + 1);
        let mut durable = Self {
            place,
            tier,
            manifest,
            written: resumed,
            turn: None,
            outdated: Vec::new(),
            trouble: Trouble::default(),
            every,
            reversals: 0,
            saved: Instant::now(),
            resumed,
            number,
        };
        durable.delete_strangers().map_err(failed)?;
        // With no room left the run goes on without; what else is wrong is better known before any work is done.
        let saved = match resumed {
            true => durable.place.mark(),
            false => durable.commit(durable.manifest.clone()),
        };
        match saved {
            Err(error) if !is_full(&error) => Err(failed(error)),
            saved => {
                durable.trouble.note(&saved, durable.written);
                Ok(durable)
            }
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.place.at().path()
    }

    pub(crate) fn tier(&self) -> Arc<FileTier> {
        Arc::clone(&self.tier)
    }

    /// What was found.
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether a run before this one got somewhere.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The contents of a file of the manifest, if it is as it was written.
    pub(crate) fn read(&self, (name, file): (String, Saved)) -> Option<Vec<u8>> {
        let bytes = self.place.names.read(&name, file.len as u64).ok()?;
        (checksum(&bytes) == file.checksum).then_some(bytes)
    }

    /// Whether the file of a snapshot is there, and of the right length.
    pub(crate) fn holds(&self, stored: &Stored) -> bool {
        let len = stored.used.max(1).checked_next_multiple_of(BLOCK_ALIGN);
        len.is_some_and(|len| self.place.names.has(&files::name(stored.key), len as u64).is_ok())
    }

    /// Whether another process would find something to go on from.
    pub(crate) fn is_saved(&self) -> bool {
        self.written
    }

    /// Notes in a report what could not be saved.
    pub(crate) fn fill(&self, report: &mut Report) {
        report.failed_saves = self.trouble.failures;
        report.mended.extend_from_slice(&self.trouble.told);
    }

    /// Notes the snapshots that have been written, every now and then.
    pub(crate) fn save_forward(&mut self, disk: &mut DiskStore) {
        if (self.saved.elapsed() >= PAUSE || self.trouble.row > 0) && self.trouble.may_try() {
            self.save(disk, None);
        }
    }

    /// Notes them now: the run is about to end with an error.
    pub(crate) fn save_at_once(&mut self, disk: &mut DiskStore) {
        self.save(disk, None);
    }

    /// Saves the last state of the loop.
    pub(crate) fn save_turn<S: Snapshot>(&mut self, disk: &mut DiskStore, steps: usize, state: &S) {
        self.resumed = false;
        disk.finish_writing();
        self.turn = Some((steps, to_bytes(state)));
        self.save(disk, None);
    }

    /// Saves the adjoint when it is time.
    pub(crate) fn save_backward<A: Snapshot>(
        &mut self,
        disk: &mut DiskStore,
        left: usize,
        adjoint: &A,
    ) {
        self.reversals += 1;
        let due = match self.every {
            Some(every) => self.reversals >= every,
            None => self.saved.elapsed() >= PAUSE,
        };
        if due && left > 0 && self.trouble.may_try() {
            self.reversals = 0;
            self.save(disk, Some((left, to_bytes(adjoint))));
        }
    }

    /// The run is complete and nothing is being written: nothing is left behind.
    pub(crate) fn remove(self) {
        // Some snapshots are still to be forgotten by the background thread.
        self.place.remove();
    }

    /// Saves what there is. When that fails, the manifest on disk stands, and the files it names are there.
    fn save(&mut self, disk: &mut DiskStore, adjoint: Option<(usize, Vec<u8>)>) {
        let mut next = self.manifest.clone();
        next.snapshots = disk.written().collect();
        let mut files = Vec::new();
        let saved =
            self.write_files(&mut next, adjoint, &mut files).and_then(|()| self.commit(next));
        if saved.is_err() {
            for name in files {
                if !self.manifest.names().any(|named| named == name) {
                    self.place.names.delete(&name);
                }
            }
        }
        self.trouble.note(&saved, self.written);
    }

    /// Writes the files that a manifest is to name.
    fn write_files(
        &mut self,
        next: &mut Manifest,
        adjoint: Option<(usize, Vec<u8>)>,
        files: &mut Vec<String>,
    ) -> io::Result<()> {
        if let Some((steps, state)) = self.turn.take() {
            // An adjoint from before the loop was run again belongs to another `left`.
            (next.ended, next.left, next.adjoint) = (Some(steps), steps, None);
            next.last_state = Some(self.number(&state));
            let written = self.write(next.last_state_file(), &state, files);
            self.turn = Some((steps, state));
            written?;
        }
        if let Some((left, adjoint)) = adjoint {
            (next.left, next.adjoint) = (left, Some(self.number(&adjoint)));
            self.write(next.adjoint_file(), &adjoint, files)?;
        }
        Ok(())
    }

    /// A new file for these bytes.
    fn number(&mut self, bytes: &[u8]) -> Saved {
        let number = self.number;
        self.number += 1;
        Saved { number, len: bytes.len(), checksum: checksum(bytes) }
    }

    /// Writes and syncs it.
    fn write(
        &self,
        file: Option<(String, Saved)>,
        bytes: &[u8],
        files: &mut Vec<String>,
    ) -> io::Result<()> {
        let Some((name, _)) = file else { return Ok(()) };
        self.place.names.write(&name, bytes)?;
        files.push(name);
        Ok(())
    }

    /// Makes a manifest the one on disk, and deletes what it does not name.
    fn commit(&mut self, next: Manifest) -> io::Result<()> {
        self.place.mark()?;
        self.place.replace_manifest(&next.to_string())?;
        // It is the one that another process finds from here on, durable or not.
        let before = std::mem::replace(&mut self.manifest, next);
        self.written = true;
        self.turn = None;
        self.outdated.extend(before.names());
        self.place.sync()?;
        for name in std::mem::take(&mut self.outdated) {
            if !self.manifest.names().any(|named| named == name) {
                self.place.names.delete(&name);
            }
        }
        self.tier.bury();
        self.saved = Instant::now();
        Ok(())
    }

    /// Deletes files of ours that the manifest does not name: left by a process that was killed.
    fn delete_strangers(&mut self) -> io::Result<()> {
        let known: Vec<String> = self
            .manifest
            .names()
            .chain(self.manifest.snapshots.iter().map(|(_, stored)| files::name(stored.key)))
            .collect();
        self.place.delete(|name| !known.iter().any(|known| known == name))
    }
}
