//! [`OutOfMemory`] and [`SourceError`]: no memory for a block.

use std::error::Error;
use std::fmt;

use crate::events;

/// There was no memory for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no memory for a block of {} bytes", self.bytes)
    }
}

impl Error for OutOfMemory {}

/// Why a [`BlockSource`](crate::source::BlockSource) gave no block.
#[derive(Debug)]
#[non_exhaustive]
pub enum SourceError {
    /// It has no memory left.
    OutOfMemory(OutOfMemory),
    /// It failed for a reason of its own: a device that is gone, a limit on locked pages.
    Failed(Box<dyn Error + Send + Sync>),
    /// The memory is smaller than the block that was asked for, or than a page.
    TooSmall {
        /// Bytes the block needs.
        needed: usize,
        /// Bytes there were.
        given: usize,
    },
    /// The memory does not begin where a block must.
    Misaligned {
        /// The address must be a multiple of this.
        needed: usize,
    },
    /// The source, or the memory that it gave, panicked.
    Panicked,
}

impl SourceError {
    /// A failure with a reason of the source's own.
    ///
    /// ```
    /// use stratape_tape::source::SourceError;
    ///
    /// let error = SourceError::failed("the device is gone");
    /// assert!(error.to_string().contains("the device is gone"));
    /// ```
    pub fn failed(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(reason.into())
    }

    /// For calls that know only this reason; the true one is told as an event.
    #[cold]
    pub(crate) fn as_out_of_memory(&self, bytes: usize) -> OutOfMemory {
        if let Self::OutOfMemory(error) = self {
            return *error;
        }
        events::warn!(error = %self, "a block of memory could not be had");
        OutOfMemory { bytes }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory(error) => error.fmt(f),
            Self::Failed(reason) => write!(f, "the source of blocks failed: {reason}"),
            Self::TooSmall { needed, given } => write!(
                f,
                "the source of blocks broke its contract: {given} bytes where {needed} are needed"
            ),
            Self::Misaligned { needed } => write!(
                f,
                "the source of blocks broke its contract: memory that is not aligned to {needed} bytes"
            ),
            Self::Panicked => f.write_str("the source of blocks panicked"),
        }
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::OutOfMemory(error) => Some(error),
            Self::Failed(reason) => Some(&**reason),
            _ => None,
        }
    }
}

impl From<OutOfMemory> for SourceError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
