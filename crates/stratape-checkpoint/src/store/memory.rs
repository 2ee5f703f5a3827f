//! Snapshots in memory, as states.

use std::collections::BTreeMap;

use super::{SnapshotStore, TierError, missing};
use crate::snapshot::Snapshot;

/// States in memory. The memory of those given up is used again for the next.
///
/// ```
/// use stratape_checkpoint::store::{MemoryStore, SnapshotStore};
///
/// let mut store = MemoryStore::new();
/// store.put(3, &vec![1.0, 2.0])?;
/// let mut state = Vec::new();
/// store.get(3, &mut state)?;
/// assert_eq!(state, [1.0, 2.0]);
/// # Ok::<(), stratape_checkpoint::store::TierError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore<S> {
    states: BTreeMap<usize, S>,
    /// States whose memory is free.
    spare: Vec<S>,
    bytes: usize,
}

impl<S> Default for MemoryStore<S> {
    fn default() -> Self {
        Self { states: BTreeMap::new(), spare: Vec::new(), bytes: 0 }
    }
}

impl<S> MemoryStore<S> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The steps that are stored, the first one first.
    pub(crate) fn steps(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.states.keys().copied()
    }

    /// The last step before another that is stored.
    pub(crate) fn before(&self, step: usize) -> Option<usize> {
        self.states.range(..step).next_back().map(|(at, _)| *at)
    }
}

impl<S: Snapshot> MemoryStore<S> {
    /// A copy of a state, in memory that is free if there is any.
    pub(crate) fn copy(&mut self, state: &S) -> S {
        match self.spare.pop() {
            Some(mut spare) => {
                spare.copy_from(state);
                spare
            }
            None => state.clone(),
        }
    }

    /// A state to be overwritten, in memory that is free if there is any.
    pub(crate) fn any(&mut self, template: &S) -> S {
        self.spare.pop().unwrap_or_else(|| template.clone())
    }

    /// Takes a state's memory back.
    pub(crate) fn recycle(&mut self, state: S) {
        self.spare.push(state);
    }

    /// Keeps a state without copying it.
    pub(crate) fn keep(&mut self, step: usize, state: S) {
        self.bytes += state.encoded_len();
        if let Some(before) = self.states.insert(step, state) {
            self.bytes -= before.encoded_len().min(self.bytes);
            self.spare.push(before);
        }
    }

    /// Takes a state out without copying it.
    pub(crate) fn take(&mut self, step: usize) -> Option<S> {
        let state = self.states.remove(&step)?;
        self.bytes -= state.encoded_len().min(self.bytes);
        Some(state)
    }
}

impl<S: Snapshot> SnapshotStore<S> for MemoryStore<S> {
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
        let copy = self.copy(state);
        self.keep(step, copy);
        Ok(())
    }

    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
        state.copy_from(self.states.get(&step).ok_or_else(|| missing(step))?);
        Ok(())
    }

    fn remove(&mut self, step: usize) {
        let state = self.take(step);
        self.spare.extend(state);
    }

    fn verifies(&self) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn describe(&self) -> String {
        "memory".to_owned()
    }
}
