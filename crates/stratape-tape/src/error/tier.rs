//! [`TierError`]: what a tier reports.

use std::fmt;
use std::io;
use std::time::Duration;

use super::memory::{OutOfMemory, SourceError};
use crate::key::SlabKey;

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
    /// The source of blocks gave none for a transfer buffer.
    Source(SourceError),
    /// The tier did not do as [`Tier`](crate::tier::Tier) asks, in this way.
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
            Self::Source(error) => error.fmt(f),
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
            Self::Source(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SourceError> for TierError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::OutOfMemory(error) => Self::OutOfMemory(error),
            other => Self::Source(other),
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
