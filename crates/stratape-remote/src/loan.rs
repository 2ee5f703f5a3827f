//! A slab's memory, lent to the client of a store without a copy.
//!
//! The client wants [`Bytes`], which it may clone and keep as long as it likes; the tape wants its [`Block`] back. So the bytes own a
//! share of the block, and say when the last clone of them is gone. A client that keeps them for good (the in-memory store does) is
//! handed copies instead.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stratape_tape::tier::{Block, OutOfMemory, TierError};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// A block of which bytes are lent out.
pub(crate) struct Loan {
    block: Arc<Block>,
    returned: oneshot::Receiver<Infallible>,
}

/// What the bytes own. The share goes first, then whoever waits is told.
struct Share {
    block: Arc<Block>,
    _told: oneshot::Sender<Infallible>,
}

impl AsRef<[u8]> for Share {
    fn as_ref(&self) -> &[u8] {
        self.block.bytes()
    }
}

impl Loan {
    pub(crate) fn new(block: Block) -> (Self, Bytes) {
        let block = Arc::new(block);
        let (told, returned) = oneshot::channel();
        let share = Share { block: Arc::clone(&block), _told: told };
        (Self { block, returned }, Bytes::from_owner(share))
    }

    /// A copy of the bytes, for a client that keeps what it gets.
    pub(crate) fn copy(&self) -> Result<Bytes, TierError> {
        copy(&self.block)
    }

    /// The block, if all that was lent is back within `limit`.
    pub(crate) async fn end(mut self, limit: Duration) -> Result<Block, Self> {
        let _ = timeout(limit, &mut self.returned).await;
        let Self { block, returned } = self;
        Arc::try_unwrap(block).map_err(|block| Self { block, returned })
    }

    /// Another block with the same bytes, for the case that the first never comes back.
    pub(crate) fn replace(&self) -> Result<Block, OutOfMemory> {
        let mut block = Block::zeroed(self.block.len())?;
        block.bytes_mut().copy_from_slice(self.block.bytes());
        Ok(block)
    }
}

pub(crate) fn copy(block: &Block) -> Result<Bytes, TierError> {
    let mut copy = Vec::new();
    let refused = |_| TierError::OutOfMemory(OutOfMemory { bytes: block.len() });
    copy.try_reserve_exact(block.len()).map_err(refused)?;
    copy.extend_from_slice(block.bytes());
    Ok(copy.into())
}
