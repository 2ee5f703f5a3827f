//! A run that another process can go on with.
//!
//! In the directory of the run there are, `TOKEN` being the run's own ([`place`]),
//!
//! - `stratape-TOKEN-snapshot-STEP-NUMBER`: the snapshots that the schedule stores on disk, each synced before it is relied on;
//! - `stratape-TOKEN-final-NUMBER`: the last state of the loop; `…-adjoint-NUMBER`: the adjoint after some reversals;
//! - `stratape.manifest`: text that names these files with their checksums, and says how far the run is. A new one is written beside
//!   it, synced, and renamed; files of the old one are deleted after that. So at any moment the manifest
//!   names files that are whole;
//! - `stratape.lock`, held while a process works here.
//!
//! What is not in the directory is computed again, from the nearest snapshot; steps being deterministic, bits come out the same.

mod files;
mod manifest;
mod place;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stratape_tape::checksum;

use crate::error::CheckpointError;
use crate::slots::Disk;
use crate::snapshot::{Snapshot, to_bytes};
pub(crate) use files::FileTier;
pub(crate) use manifest::{Identity, Manifest, Named};
use place::Place;

/// Time between two manifests when nothing else was asked for.
const PAUSE: Duration = Duration::from_secs(2);

/// The directory of a run.
pub(crate) struct Durable {
    place: Place,
    tier: Arc<FileTier>,
    manifest: Manifest,
    /// Reversals between two saves of the adjoint.
    every: Option<usize>,
    reversals: usize,
    saved: Instant,
    resumed: bool,
    /// Numbers for files, never used twice.
    number: u64,
}

impl Durable {
    /// Takes the directory for a run; with what is left there of the same run, if it was begun.
    pub(crate) fn open(
        directory: &Path,
        identity: Identity,
        every: Option<usize>,
    ) -> Result<Self, CheckpointError> {
        let failed = |source| CheckpointError::Resume { path: directory.to_owned(), source };
        let (mut place, text) = Place::open(directory).map_err(failed)?;
        let found = match text {
            Some(text) => {
                let found = Manifest::parse(&text, &identity, place.token());
                let other = |why| CheckpointError::OtherRun { path: directory.to_owned(), why };
                Some(found.map_err(other)?)
            }
            None => None,
        };
        let resumed = found.is_some();
        let token = found.as_ref().map(|manifest| manifest.token.clone());
        place.mark(|| token.unwrap_or_else(place::new_token)).map_err(failed)?;
        let names = place.names.clone();
        let manifest =
            found.unwrap_or_else(|| Manifest::new(identity, place.token().unwrap_or_default()));
        let tier = Arc::new(FileTier::start(names).map_err(failed)?);
        let number = manifest.names().filter_map(number_of).max().map_or(0, |last| last + 1);
        let mut durable = Self {
            place,
            tier,
            manifest,
            every,
            reversals: 0,
            saved: Instant::now(),
            resumed,
            number,
        };
        durable.delete_strangers().map_err(failed)?;
        if !resumed {
            durable.write_manifest()?;
        }
        Ok(durable)
    }

    pub(crate) fn directory(&self) -> &Path {
        self.place.directory()
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
    pub(crate) fn read(&self, file: &Named) -> Option<Vec<u8>> {
        let bytes = fs::read(self.place.names.path(&file.name)).ok()?;
        (bytes.len() == file.len && checksum(&bytes) == file.checksum).then_some(bytes)
    }

    /// Notes the snapshots that have been written, every now and then.
    pub(crate) fn save_forward(&mut self, disk: &mut Disk) -> Result<(), CheckpointError> {
        if self.saved.elapsed() < PAUSE {
            return Ok(());
        }
        self.note_snapshots(disk);
        self.write_manifest()
    }

    /// Saves the last state of the loop.
    pub(crate) fn save_turn<S: Snapshot>(
        &mut self,
        disk: &mut Disk,
        steps: usize,
        state: &S,
    ) -> Result<(), CheckpointError> {
        self.resumed = false;
        disk.stash.settle();
        self.manifest.ended = Some(steps);
        self.manifest.left = steps;
        self.manifest.last_state = Some(self.write("final", &to_bytes(state))?);
        self.note_snapshots(disk);
        self.write_manifest()
    }

    /// Saves the adjoint when it is time.
    pub(crate) fn save_backward<A: Snapshot>(
        &mut self,
        disk: &mut Disk,
        left: usize,
        adjoint: &A,
    ) -> Result<(), CheckpointError> {
        self.reversals += 1;
        let due = match self.every {
            Some(every) => self.reversals >= every,
            None => self.saved.elapsed() >= PAUSE,
        };
        if !due || left == 0 {
            return Ok(());
        }
        self.reversals = 0;
        let file = self.write("adjoint", &to_bytes(adjoint))?;
        let before = self.manifest.adjoint.replace(file);
        self.manifest.left = left;
        self.note_snapshots(disk);
        self.write_manifest()?;
        if let Some(before) = before {
            self.place.names.delete(&before.name);
        }
        Ok(())
    }

    /// The run is complete and nothing is being written: nothing is left behind.
    pub(crate) fn remove(self) {
        // Some snapshots are still to be forgotten by the background thread.
        self.place.remove();
    }

    fn note_snapshots(&mut self, disk: &mut Disk) {
        self.manifest.snapshots.clear();
        for (&step, &ticket) in &disk.tickets {
            if let Some(stored) = disk.stash.stored(ticket) {
                self.manifest.snapshots.push((step, stored));
            }
        }
    }

    /// Writes and syncs a new file.
    fn write(&mut self, kind: &str, bytes: &[u8]) -> Result<Named, CheckpointError> {
        let name = format!("{kind}-{}", self.number);
        self.number += 1;
        let names = &self.place.names;
        names
            .write(&name, bytes)
            .map_err(|source| CheckpointError::Resume { path: names.path(&name), source })?;
        Ok(Named { name, len: bytes.len(), checksum: checksum(bytes) })
    }

    fn write_manifest(&mut self) -> Result<(), CheckpointError> {
        let path = self.directory().to_owned();
        let replaced = self.place.replace_manifest(&self.manifest.to_string());
        replaced.map_err(|source| CheckpointError::Resume { path, source })?;
        self.tier.bury();
        self.saved = Instant::now();
        Ok(())
    }

    /// Deletes files of ours that the manifest does not name: left by a process that was killed.
    fn delete_strangers(&mut self) -> io::Result<()> {
        let known: Vec<String> = self
            .manifest
            .names()
            .map(ToOwned::to_owned)
            .chain(self.manifest.snapshots.iter().map(|(_, stored)| files::name(stored.key)))
            .collect();
        self.place.delete(|name| !known.iter().any(|known| known == name))
    }
}

fn number_of(name: &str) -> Option<u64> {
    name.rsplit('-').next()?.parse().ok()
}
