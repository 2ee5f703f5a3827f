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
pub(crate) mod saved;
mod stacked;

use std::fmt;
use std::io;
use std::time::Duration;

pub use crate::block::{BLOCK_ALIGN, Block, OutOfMemory};
pub use disk::{DiskCall, DiskFault, DiskFaults, DiskOptions, DiskTier, IoEngine};
pub use faulty::{Fault, FaultyTier, Operation};
pub use memory::MemoryTier;
pub use stacked::StackedTier;

/// Names one written slab. A tape never writes two slabs under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlabKey {
    /// Which tape the slab belongs to, where several share a tier.
    pub lane: u32,
    /// The slab's place in its tape, counted from the bottom. The smallest is needed last.
    pub depth: u64,
    /// Grows with every write, so that a slab written again has another key.
    pub serial: u64,
}

impl fmt::Display for SlabKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slab {} of lane {} (write {})", self.depth, self.lane, self.serial)
    }
}

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

/// Why a tier could not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum TierError {
    /// There is no room for this many bytes: the device is full, or a limit was reached.
    Full {
        /// Bytes the operation asked for.
        needed: u64,
        /// The configured limit, if it was that and not the device.
        limit: Option<u64>,
    },
    /// The device reported an error.
    Io(io::Error),
    /// Nothing is stored under the key.
    Missing(SlabKey),
    /// What is stored is shorter than it should be.
    CutShort {
        /// Bytes that were expected.
        expected: u64,
        /// Bytes that were there.
        found: u64,
    },
    /// The stored bytes are not the ones that were written.
    Damaged {
        /// Checksum taken when the slab was written.
        expected: u32,
        /// Checksum of what was read.
        found: u32,
    },
    /// A stored slab could not be decompressed.
    Undecodable(String),
    /// No memory for a transfer buffer.
    OutOfMemory(OutOfMemory),
    /// The tier did not do as [`Tier`] asks, in this way.
    Contract(&'static str),
    /// The tier has not answered any request for this long.
    Silent(Duration),
    /// This is a child of `fork`, and the tape its parent's.
    Forked,
}

impl TierError {
    /// Fills in how much was asked for, which an error of the system does not say.
    pub(crate) fn asking_for(self, bytes: u64) -> Self {
        match self {
            Self::Full { limit, .. } => Self::Full { needed: bytes, limit },
            other => other,
        }
    }
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed, limit: Some(limit) } => write!(
                f,
                "the tier's limit of {limit} bytes leaves no room for {needed} more; raise it"
            ),
            Self::Full { needed, limit: None } => {
                write!(f, "the device has no room for {needed} more bytes; free some space")
            }
            Self::Io(error) => write!(f, "the device reported: {error}"),
            Self::Missing(key) => write!(f, "nothing is stored for {key}"),
            Self::CutShort { expected, found } => {
                write!(f, "the store is cut short: {found} bytes where {expected} were written")
            }
            Self::Damaged { expected, found } => write!(
                f,
                "the data is damaged: checksum {found:#010x}, but {expected:#010x} was written"
            ),
            Self::Undecodable(what) => write!(f, "the stored slab cannot be decompressed: {what}"),
            Self::OutOfMemory(error) => error.fmt(f),
            Self::Contract(what) => write!(f, "the tier broke its contract: {what}"),
            Self::Silent(waited) => {
                write!(f, "the tier has not answered for {:.1} s", waited.as_secs_f64())
            }
            Self::Forked => f.write_str(
                "this process was forked after the tape was opened, and has neither the threads \
                 nor the right to move slabs of its parent; open a tape of its own here",
            ),
        }
    }
}

impl std::error::Error for TierError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::OutOfMemory(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for TierError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { needed: 0, limit: None }
            }
            _ => Self::Io(error),
        }
    }
}
