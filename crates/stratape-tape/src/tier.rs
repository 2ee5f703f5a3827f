//! Where slabs go when RAM is full.
//!
//! A [`Tier`] stores slabs by key: write one, read one, forget one. The calls return immediately and
//! a callback reports the result, on any thread. The tape does
//! not know how a tier stores its data, and a tier knows nothing of tapes: it sees keys and
//! blocks of bytes.
//!
//! | tier | for |
//! |---|---|
//! | [`DiskTier`] | the default: an unlinked file, io_uring or threads, direct I/O |
//! | [`MemoryTier`] | tests, and a second budget in RAM (compressed, say) |
//! | [`StackedTier`] | two tiers, the deepest slabs in the lower one |
//! | [`FaultyTier`] | tests: fails, delays, damages or withholds chosen operations |
//!
//! ```
//! use std::sync::Arc;
//! use stratape_tape::{LayeredTape, TapeOptions};
//! use stratape_tape::tier::{MemoryTier, StackedTier};
//!
//! // RAM, then 1 MiB of a "fast" tier, then as much as needed of a "slow" one.
//! let tier = StackedTier::new(Arc::new(MemoryTier::new()), 1 << 20, Arc::new(MemoryTier::new()));
//! let mut tape: LayeredTape<f64> =
//!     TapeOptions::new().memory(256 << 10).slab_bytes(32 << 10).tier(Arc::new(tier)).open()?;
//! for i in 0..1_000_000 {
//!     tape.push(f64::from(i))?;
//! }
//! assert_eq!(tape.pop()?, Some(999_999.0));
//! # Ok::<(), stratape_tape::TapeError>(())
//! ```

mod disk;
mod faulty;
mod memory;
mod stacked;

pub use crate::block::{BLOCK_ALIGN, Block};
pub use crate::error::{OutOfMemory, TierError};
pub use crate::key::SlabKey;
pub(crate) use disk::DiskReader;
pub use disk::{DiskCall, DiskFault, DiskFaults, DiskOptions, DiskTier, IoEngine};
pub use faulty::{Fault, FaultyTier, Operation};
pub use memory::MemoryTier;
pub use stacked::StackedTier;

/// Called once with the block and the result of the operation.
///
/// A block that was written is returned unchanged, whatever the result. A block that was read into
/// holds the data if the result is `Ok`, arbitrary bytes otherwise. Another block of the same length is
/// accepted if its checksum proves that it holds the same bytes.
///
/// If the callback is dropped without being called, it reports a failure.
pub type Done = Box<dyn FnOnce(Block, Result<(), TierError>) + Send>;

/// A place for slabs.
///
/// Every operation must finally call its `done`, with the block it was given.
///
/// A tier that violates this only causes errors of the tape: panicking, or dropping
/// `done`, is a failure of the operation; returning another block after a write, or none, loses
/// the slab ([`ErrorKind::Lost`](crate::ErrorKind::Lost)); if `done` is never called, the operation fails
/// after the tape's [patience](crate::TapeOptions::patience).
///
/// Operations on different keys may overlap and finish in any order. The tape reads or forgets a
/// key only after its write has been reported.
pub trait Tier: Send + Sync {
    /// Stores the block's bytes under `key`.
    fn write(&self, key: SlabKey, block: Block, done: Done);

    /// Fills the block with the bytes stored under `key`; it has the length of the one written.
    fn read(&self, key: SlabKey, block: Block, done: Done);

    /// Discards what is stored under `key`.
    fn forget(&self, key: SlabKey);

    /// Called when the tier is idle, to clean up. Returns whether there is
    /// more to clean.
    fn tidy(&self) -> bool {
        false
    }

    /// Bytes stored now.
    fn stored_bytes(&self) -> u64;

    /// A short description, for statistics: "disk (io_uring, direct)".
    fn describe(&self) -> String;
}
