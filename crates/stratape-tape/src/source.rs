//! Where the memory of blocks comes from.
//!
//! A tape takes its slabs from a [`Pool`](crate::Pool) of idle blocks, and the pool takes those it does not have from a
//! [`BlockSource`]. By default that is the system's memory. Another source provides another kind of memory, such as pages locked
//! in RAM, which a device can read and write without a copy. [`TapeOptions::source`](crate::TapeOptions::source) sets it for
//! one tape, [`Pool::with_source`](crate::Pool::with_source) for all that share a pool.
//!
//! A source creates a block from anything that lends its bytes (`AsMut<[u8]>`) with [`Block::owning`]; the destructor of
//! that object frees the memory. This one counts the bytes in use:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicUsize, Ordering};
//! use stratape_tape::source::{Block, BlockSource, SourceError, SystemMemory};
//! use stratape_tape::{LayeredTape, TapeOptions};
//!
//! #[derive(Default)]
//! struct Counting {
//!     out: Arc<AtomicUsize>,
//! }
//!
//! /// Memory that counts when it is freed.
//! struct Counted {
//!     memory: Block,
//!     out: Arc<AtomicUsize>,
//! }
//!
//! impl AsMut<[u8]> for Counted {
//!     fn as_mut(&mut self) -> &mut [u8] {
//!         self.memory.bytes_mut()
//!     }
//! }
//!
//! impl Drop for Counted {
//!     fn drop(&mut self) {
//!         self.out.fetch_sub(self.memory.len(), Ordering::Relaxed);
//!     }
//! }
//!
//! impl BlockSource for Counting {
//!     fn allocate(&self, len: usize, align: usize) -> Result<Block, SourceError> {
//!         let memory = SystemMemory.allocate(len, align)?; // or memory of another kind
//!         let kind = memory.kind();
//!         self.out.fetch_add(memory.len(), Ordering::Relaxed);
//!         Block::owning(Counted { memory, out: Arc::clone(&self.out) }, kind)
//!     }
//! }
//!
//! let source = Arc::new(Counting::default());
//! let out = Arc::clone(&source.out);
//! let mut tape: LayeredTape<f64> = TapeOptions::new().memory(1 << 20).source(source).open()?;
//! tape.extend_from_slice(&[0.5; 10_000])?;
//! assert!(out.load(Ordering::Relaxed) >= 80_000);
//! drop(tape);
//! assert_eq!(out.load(Ordering::Relaxed), 0);
//! # Ok::<(), stratape_tape::TapeError>(())
//! ```
//!
//! # What the host must be able to do
//!
//! A program pushes with ordinary stores, and checksums are computed by ordinary loads. So the host must be able to address the memory of a block:
//! page-locked, managed or mapped memory, but not plain device memory. Memory that the host cannot address belongs
//! in a [`Tier`](crate::tier::Tier), which can ask a block for its [kind](Block::kind) to choose how to copy it.

use crate::block::BLOCK_ALIGN;
pub use crate::block::{Block, MemoryKind};
pub use crate::error::{OutOfMemory, SourceError};
use crate::sync::shielded;

/// Provides memory for blocks.
///
/// Safe to implement. Blocks are checked before they are used: memory that is too small or misaligned, a failure, and a
/// panic are errors of the call that needed the block ([`ErrorKind::Source`](crate::ErrorKind::Source)), and leave the tape
/// unchanged. A source is called from any thread that needs memory, from several at once, and the call blocks.
///
/// There is no call to free memory: dropping a [`Block`] drops the object that it was created from, on any thread. Tapes and pools keep
/// blocks and reuse them, so that expensive allocations are rare.
pub trait BlockSource: Send + Sync {
    /// A block of at least `len` bytes at a multiple of `align`.
    ///
    /// `len` is a multiple of the page size ([`BLOCK_ALIGN`]); `align` is a power of two, the page size or more (more only
    /// for tapes of elements that ask for it). The bytes may be anything. Of a longer block the first `len` bytes are used.
    ///
    /// # Errors
    /// [`SourceError::OutOfMemory`] when there is no memory left, [`SourceError::failed`] for other reasons.
    fn allocate(&self, len: usize, align: usize) -> Result<Block, SourceError>;
}

/// The system's memory: what tapes use when they are given no source.
///
/// ```
/// use stratape_tape::source::{BlockSource, MemoryKind, SystemMemory};
///
/// let block = SystemMemory.allocate(8192, 4096)?;
/// assert_eq!((block.len(), block.kind()), (8192, MemoryKind::System));
/// # Ok::<(), stratape_tape::source::SourceError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemMemory;

impl BlockSource for SystemMemory {
    fn allocate(&self, len: usize, align: usize) -> Result<Block, SourceError> {
        Ok(Block::aligned(len, align)?)
    }
}

/// A block of `len` bytes, rounded up to whole pages, from a source that may do anything.
pub(crate) fn obtain(
    source: &dyn BlockSource,
    len: usize,
    align: usize,
) -> Result<Block, SourceError> {
    let whole = len.max(1).checked_next_multiple_of(BLOCK_ALIGN);
    let needed = whole.ok_or(OutOfMemory { bytes: len })?;
    let align = align.max(BLOCK_ALIGN);
    let given = shielded("a source of blocks", || source.allocate(needed, align));
    let mut block = given.ok_or(SourceError::Panicked)??;
    if block.len() < needed {
        return Err(SourceError::TooSmall { needed, given: block.len() });
    }
    if !block.is_aligned(align) {
        return Err(SourceError::Misaligned { needed: align });
    }
    block.shorten(needed);
    Ok(block)
}
