//! A store of the user's, which may do anything.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use stratape_tape::checksum;

use super::{SnapshotStore, StoreStats, TierError};
use crate::snapshot::{Snapshot, write_to};

/// Catches the panics of a store, and notices when it brings something else than what was put.
pub(crate) struct Guarded<S> {
    /// There until it is dropped.
    store: Option<Box<dyn SnapshotStore<S>>>,
    /// Whether the store notices by itself.
    verifies: bool,
    /// What was put, by the checksum of its written form.
    sums: BTreeMap<usize, u32>,
    written: Vec<u8>,
}

impl<S: Snapshot> Guarded<S> {
    pub(crate) fn new(store: Box<dyn SnapshotStore<S>>) -> Self {
        let verifies = shielded(|| store.verifies()).unwrap_or(false);
        Self { store: Some(store), verifies, sums: BTreeMap::new(), written: Vec::new() }
    }

    fn sum(&mut self, state: &S) -> u32 {
        self.written.resize(state.encoded_len(), 0);
        write_to(state, &mut self.written);
        checksum(&self.written)
    }
}

impl<S> Guarded<S> {
    fn ask<R>(
        &mut self,
        call: impl FnOnce(&mut dyn SnapshotStore<S>) -> R,
    ) -> Result<R, TierError> {
        match self.store.as_deref_mut() {
            Some(store) => shielded(|| call(store)),
            None => Err(PANICKED),
        }
    }
}

impl<S: Snapshot> SnapshotStore<S> for Guarded<S> {
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
        if !self.verifies {
            let sum = self.sum(state);
            self.sums.insert(step, sum);
        }
        let put = self.ask(|store| store.put(step, state)).flatten();
        if put.is_err() {
            self.remove(step);
        }
        put
    }

    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
        self.ask(|store| store.get(step, state)).flatten()?;
        let Some(&expected) = self.sums.get(&step) else { return Ok(()) };
        match self.sum(state) {
            found if found == expected => Ok(()),
            found => Err(TierError::Damaged { expected, found }),
        }
    }

    fn prefetch(&mut self, step: usize) {
        let _ = self.ask(|store| store.prefetch(step));
    }

    fn remove(&mut self, step: usize) {
        self.sums.remove(&step);
        let _ = self.ask(|store| store.remove(step));
    }

    fn refused(&mut self) -> Vec<usize> {
        self.ask(|store| store.refused()).unwrap_or_default()
    }

    fn settle(&mut self) {
        let _ = self.ask(|store| store.settle());
    }

    fn verifies(&self) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        let bytes = |store: &dyn SnapshotStore<S>| shielded(|| store.bytes()).unwrap_or(0);
        self.store.as_deref().map_or(0, bytes)
    }

    fn stats(&mut self) -> StoreStats {
        self.ask(|store| store.stats()).unwrap_or_default()
    }

    fn describe(&self) -> String {
        let told = self.store.as_deref().and_then(|store| shielded(|| store.describe()).ok());
        told.unwrap_or_else(|| "a store that panics".to_owned())
    }
}

impl<S> Drop for Guarded<S> {
    fn drop(&mut self) {
        let store = self.store.take();
        let _ = shielded(|| drop(store));
    }
}

const PANICKED: TierError = TierError::Contract("it panicked");

fn shielded<R>(call: impl FnOnce() -> R) -> Result<R, TierError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        discard(payload, 3);
        PANICKED
    })
}

/// Drops what was thrown, which may throw something else when it is dropped, and so on; the last is leaked.
fn discard(payload: Box<dyn Any + Send>, attempts: u32) {
    if attempts == 0 {
        return std::mem::forget(payload);
    }
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        discard(next, attempts - 1);
    }
}
