//! [`RemoteStore`]: snapshots of a time loop as objects.

use std::fmt;
use std::sync::Arc;

use stratape_checkpoint::Snapshot;
use stratape_checkpoint::store::{DiskStore, SnapshotStore, StoreStats, TierError};
use stratape_tape::{TapeError, TapeOptions};

use crate::counters::RemoteStats;
use crate::error::RemoteError;
use crate::options::RemoteOptions;
use crate::tier::RemoteTier;

/// Snapshots that are written at once: more than to a disk, for the sake of the latency.
const STAGED: usize = 4;

/// Snapshots in an object store, written and read in the background, each verified by a checksum when it comes back.
///
/// ```
/// use stratape_checkpoint::{Strategy, TimeLoop};
/// use stratape_remote::RemoteStore;
///
/// let (_, dx, report) = TimeLoop::new(vec![0.5_f64; 1000])
///     .steps(100)
///     .slots(2)
///     .store(RemoteStore::open("memory:///snapshots")?, 10)
///     .schedule(Strategy::Multistage)
///     .gradient(
///         |_, x| x.iter_mut().for_each(|x| *x = x.sin()),
///         |x| vec![1.0; x.len()],
///         |_, x, dx| dx.iter_mut().zip(x).for_each(|(dx, x)| *dx *= x.cos()),
///     )?;
/// assert!(report.tier.contains("memory:///snapshots") && dx[0] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The objects are deleted when the store is dropped. A store that fails costs time, not the gradient: see
/// [`SnapshotStore`].
pub struct RemoteStore {
    /// There until it is dropped: the store must be gone before the tier is closed.
    below: Option<DiskStore>,
    tier: Arc<RemoteTier>,
}

impl RemoteStore {
    /// Opens a store by its URL with the default settings. See [`RemoteTier::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open(url: &str) -> Result<Self, RemoteError> {
        Self::open_with(url, RemoteOptions::new())
    }

    /// Opens a store by its URL.
    ///
    /// # Errors
    /// As [`RemoteTier::open_with`].
    pub fn open_with(url: &str, options: RemoteOptions) -> Result<Self, RemoteError> {
        Self::on(RemoteTier::open_with(url, options)?)
            .map_err(|error| RemoteError::Options(error.to_string()))
    }

    /// Puts snapshots into a tier, which is closed when the store is dropped.
    ///
    /// ```
    /// use stratape_remote::{RemoteOptions, RemoteStore, RemoteTier};
    ///
    /// let tier = RemoteTier::open_with("memory:///runs", RemoteOptions::new().attempts(2))?;
    /// let store = RemoteStore::on(tier)?;
    /// assert_eq!(store.remote_stats().objects_written, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// None today.
    pub fn on(tier: RemoteTier) -> Result<Self, TapeError> {
        let tier = Arc::new(tier);
        let options = TapeOptions::new().tier(Arc::clone(&tier) as _);
        Ok(Self { below: Some(DiskStore::open(&options)?.staged(STAGED)), tier })
    }

    /// What has been asked of the store.
    pub fn remote_stats(&self) -> RemoteStats {
        self.tier.stats()
    }
}

/// What is said once the store is being dropped, which nobody can hear.
const GONE: TierError = TierError::Contract("the store is gone");

impl<S: Snapshot> SnapshotStore<S> for RemoteStore {
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
        self.below.as_mut().ok_or(GONE)?.put(step, state)
    }

    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
        self.below.as_mut().ok_or(GONE)?.get(step, state)
    }

    fn prefetch(&mut self, step: usize) {
        if let Some(below) = &mut self.below {
            SnapshotStore::<S>::prefetch(below, step);
        }
    }

    fn remove(&mut self, step: usize) {
        if let Some(below) = &mut self.below {
            SnapshotStore::<S>::remove(below, step);
        }
    }

    fn refused(&mut self) -> Vec<usize> {
        self.below.as_mut().map(SnapshotStore::<S>::refused).unwrap_or_default()
    }

    fn settle(&mut self) {
        if let Some(below) = &mut self.below {
            SnapshotStore::<S>::settle(below);
        }
    }

    fn verifies(&self) -> bool {
        self.below.as_ref().is_some_and(SnapshotStore::<S>::verifies)
    }

    fn bytes(&self) -> u64 {
        self.below.as_ref().map_or(0, SnapshotStore::<S>::bytes)
    }

    fn stats(&mut self) -> StoreStats {
        self.below.as_mut().map(SnapshotStore::<S>::stats).unwrap_or_default()
    }

    fn describe(&self) -> String {
        self.below.as_ref().map(SnapshotStore::<S>::describe).unwrap_or_default()
    }
}

impl Drop for RemoteStore {
    fn drop(&mut self) {
        self.below = None;
        if let Err(error) = self.tier.close() {
            tracing::warn!(%error, "snapshots are left behind");
        }
    }
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteStore").field("stats", &self.remote_stats()).finish_non_exhaustive()
    }
}
