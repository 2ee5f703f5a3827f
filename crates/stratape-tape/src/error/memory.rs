//! [`OutOfMemory`]: no memory for a block.

use std::fmt;

/// The system had no memory for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the system has no memory for a block of {} bytes", self.bytes)
    }
}

impl std::error::Error for OutOfMemory {}
