//! What an engine does: carry out jobs, each a block to or from an offset of a file.

use std::io;
use std::sync::Arc;

use super::file::{DiskFile, Way};
use crate::block::{BLOCK_ALIGN, Block};
use crate::error::TierError;
use crate::sync::shielded;
use crate::tier::Done;

/// One transfer, with how far it has got. Short transfers go on where they stopped.
pub(super) struct Job {
    pub(super) way: Way,
    pub(super) file: Arc<DiskFile>,
    pub(super) offset: u64,
    pub(super) block: Block,
    pub(super) moved: usize,
    refused: bool,
    done: Done,
}

impl Job {
    pub(super) fn new(
        way: Way,
        file: &Arc<DiskFile>,
        offset: u64,
        block: Block,
        done: Done,
    ) -> Self {
        let file = Arc::clone(file);
        Self { way, file, offset, block, moved: 0, refused: false, done }
    }

    /// Calls back. The callback is the user's and may panic; the engine's thread must go on, since
    /// other jobs depend on it.
    pub(super) fn finish(self, result: Result<(), TierError>) {
        let Self { done, block, .. } = self;
        shielded("a callback of the disk tier", || done(block, result));
    }

    /// Whether to try again after the file system refused direct I/O, which is then turned off for
    /// all. Once a job: jobs that were refused together all get their second chance.
    pub(super) fn retry_through_cache(&mut self) -> bool {
        self.file.leave_direct();
        !std::mem::replace(&mut self.refused, true)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.moved == self.block.len()
    }

    /// Counts a transfer of `bytes`. A short one counts in whole pages, so that direct I/O can go
    /// on from there; one that got nowhere is an error.
    pub(super) fn advance(&mut self, bytes: usize) -> Result<(), TierError> {
        let rest = self.block.len() - self.moved;
        let progress = if bytes == rest { bytes } else { bytes - bytes % BLOCK_ALIGN };
        self.moved += progress;
        if progress > 0 {
            return Ok(());
        }
        Err(match self.way {
            Way::Out => TierError::Io(io::ErrorKind::WriteZero.into()),
            Way::In => TierError::CutShort {
                expected: self.block.len() as u64,
                found: (self.moved + bytes) as u64,
            },
        })
    }

    /// Where the next transfer ends if a test allows it only `len` bytes.
    pub(super) fn shortened(&self, len: usize) -> usize {
        self.block.len().min(self.moved + (len / BLOCK_ALIGN).max(1) * BLOCK_ALIGN)
    }
}

/// Carries out jobs in the background. `submit` does not wait for the device.
///
/// Dropping an engine lets the jobs it has finish, each with its `done`, and does not wait.
pub(super) trait Engine: Send + Sync {
    fn submit(&self, job: Job);
    fn name(&self) -> &'static str;
}
