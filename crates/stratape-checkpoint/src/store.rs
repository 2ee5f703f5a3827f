//! Stores for snapshots: the trait [`SnapshotStore`] and its implementations.
//!
//! | store | keeps | for |
//! |---|---|---|
//! | [`MemoryStore`] | states, as they are | the slots in memory of every [`TimeLoop`](crate::TimeLoop) |
//! | [`DiskStore`] | bytes, in the background | the slots on disk, or in another [tier](stratape_tape::tier) |
//! | your own | anything | slots in page-locked memory, on a device, on another machine |
//!
//! [`TimeLoop::store`](crate::TimeLoop::store) uses your own store instead of the disk. This one keeps the encoded form of each state:
//!
//! ```
//! use std::collections::HashMap;
//! use stratape_checkpoint::store::{SnapshotStore, TierError, missing};
//! use stratape_checkpoint::{Snapshot, Strategy, TimeLoop, snapshot};
//!
//! #[derive(Default)]
//! struct Shelf(HashMap<usize, Vec<u8>>);
//!
//! impl<S: Snapshot> SnapshotStore<S> for Shelf {
//!     fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
//!         self.0.insert(step, snapshot::to_bytes(state));
//!         Ok(())
//!     }
//!     fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
//!         let bytes = self.0.get(&step).ok_or_else(|| missing(step))?;
//!         snapshot::read_into(state, bytes).map_err(|e| TierError::Undecodable(e.to_string()))
//!     }
//!     fn remove(&mut self, step: usize) {
//!         self.0.remove(&step);
//!     }
//!     fn bytes(&self) -> u64 {
//!         self.0.values().map(|bytes| bytes.len() as u64).sum()
//!     }
//!     fn describe(&self) -> String {
//!         "a shelf".to_owned()
//!     }
//! }
//!
//! let (_, dx, report) = TimeLoop::new(0.5_f64)
//!     .steps(200)
//!     .slots(3)
//!     .store(Shelf::default(), 20)
//!     .schedule(Strategy::Multistage)
//!     .gradient(|_, x| *x = x.sin(), |_| 1.0_f64, |_, x, dx| *dx *= x.cos())?;
//! assert!(report.writes[1] > 0 && report.tier == "a shelf");
//! # assert!(dx > 0.0);
//! # Ok::<(), stratape_checkpoint::CheckpointError>(())
//! ```

mod disk;
mod guarded;
mod memory;

use std::time::Duration;

use stratape_tape::tier::SlabKey;
pub use stratape_tape::tier::TierError;

pub use disk::DiskStore;
pub(crate) use guarded::Guarded;
pub use memory::MemoryStore;

/// A place for the snapshots of a time loop, by the step whose state they are.
///
/// All calls come from one thread at a time. Each is waited for; a store that works in the background returns from [`put`](Self::put) as soon as it
/// has a copy, starts to load a snapshot when it is [announced](Self::prefetch), and waits for it in [`get`](Self::get).
///
/// A store may fail at any moment; this only costs time:
///
/// - a `put` that fails leaves the state with the run, which keeps it in memory and stores nothing more here;
/// - a failure after `put` has returned is reported by [`refused`](Self::refused), with the same effect;
/// - a `get` that fails is retried, and then the state is recomputed from the snapshot before it. That is an
///   error ([`Lost`](crate::CheckpointError::Lost)) only if there is none.
///
/// A store that violates this is detected. A panic counts as a failure of the call. The state from `get` is
/// compared with the one that was put, by a checksum of the written form, unless the store [does that itself](Self::verifies).
pub trait SnapshotStore<S>: Send {
    /// Keeps a copy of a state. Nothing is stored for the step yet.
    ///
    /// # Errors
    /// The store's error; nothing is stored then.
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError>;

    /// Loads the snapshot of a step into `state`. It stays stored.
    ///
    /// # Errors
    /// The store's error; `state` may have been changed.
    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError>;

    /// Announces that a snapshot will be needed soon. Does not wait.
    fn prefetch(&mut self, step: usize) {
        let _ = step;
    }

    /// Discards the snapshot of a step.
    fn remove(&mut self, step: usize);

    /// The steps whose snapshots could not be stored, since the last call. It is called often. `get` should still return
    /// them, until they are removed.
    fn refused(&mut self) -> Vec<usize> {
        Vec::new()
    }

    /// Waits until every snapshot that was put is kept, or refused.
    fn settle(&mut self) {}

    /// Whether `get` fails if the state differs from what was put. If not, each state is encoded once more for its
    /// checksum, when it is put and when it is loaded.
    fn verifies(&self) -> bool {
        false
    }

    /// Bytes of the snapshots it holds.
    fn bytes(&self) -> u64;

    /// Statistics, for the report.
    fn stats(&mut self) -> StoreStats {
        StoreStats::default()
    }

    /// A short description, for the report: "disk (io_uring, direct)".
    fn describe(&self) -> String;
}

/// Statistics of a [`SnapshotStore`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes read back.
    pub bytes_read: u64,
    /// The most bytes in memory on their way at once.
    pub staging_peak: u64,
    /// Time that `put` has waited for snapshots before it to be written.
    pub waited_to_put: Duration,
    /// Time that `get` has waited for its snapshot.
    pub waited_to_get: Duration,
}

/// The error of a store that has no snapshot of a step.
///
/// ```
/// use stratape_checkpoint::store::missing;
///
/// assert!(missing(7).to_string().contains("7"));
/// ```
pub fn missing(step: usize) -> TierError {
    TierError::Missing(SlabKey { lane: 0, depth: step as u64, serial: 0 })
}
