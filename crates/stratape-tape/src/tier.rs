//! Where slabs go when RAM is full.
//!
//! A [`Tier`] stores slabs by key: write one, read one, forget one. The calls return at once and
//! the answer comes through a callback, on whatever thread the tier likes. The tape above does
//! not know what a tier is made of, and a tier does not know what a tape is: it sees keys and
//! blocks of bytes.
//!
//! | tier | for |
//! |---|---|
//! | [`DiskTier`] | the usual one: an unlinked file, io_uring or threads, direct I/O |
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

/// Called once with the block and how the operation went.
///
/// A block that was written comes back unchanged, whatever happened. A block that was read into
/// holds the data if the result is `Ok`, anything otherwise. Another block of the same length will
/// do if a checksum proves that it holds the same bytes.
///
/// What a tape hands out reports a failure by itself when it is dropped without being called.
pub type Done = Box<dyn FnOnce(Block, Result<(), TierError>) + Send>;

/// A place for slabs.
///
/// Every operation must call its `done` in the end, with the block it was given.
///
/// A tier that does otherwise is an error value at the tape, never more: panicking, or dropping
/// `done`, is a failure of the operation; handing back another block after a write, or none, loses
/// the slab, and the tape says so ([`ErrorKind::Lost`](crate::ErrorKind::Lost)); keeping `done` for
/// ever ends the tape's [patience](crate::TapeOptions::patience).
///
/// Operations on different keys may overlap and finish in any order. The tape reads or forgets a
/// key only after its write has been reported.
pub trait Tier: Send + Sync {
    /// Stores the block's bytes under `key`.
    fn write(&self, key: SlabKey, block: Block, done: Done);

    /// Fills the block with the bytes stored under `key`; it has the length of the one written.
    fn read(&self, key: SlabKey, block: Block, done: Done);

    /// Gives up what is stored under `key`.
    fn forget(&self, key: SlabKey);

    /// Called when nothing else is to be done: a moment for cleaning up. Returns whether there is
    /// more to clean.
    fn tidy(&self) -> bool {
        false
    }

    /// Bytes stored now.
    fn stored_bytes(&self) -> u64;

    /// What this is, in a few words, for statistics: "disk (io_uring, direct)".
    fn describe(&self) -> String;
}
