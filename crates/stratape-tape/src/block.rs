//! Memory for slabs: page-aligned, initialised, owned by exactly one place at a time.
//!
//! A [`Block`] moves by value between a tape, the [pool](crate::pool) and the
//! [tiers](crate::tier). Whoever holds the `Block` holds the memory, so a transfer that is still
//! under way when its tape is dropped keeps its memory alive until it ends.
//!
//! The memory is the system's, or that of an object of the user's ([`Block::owning`]) that lends it (`block/lender.rs`).

mod lender;
#[cfg(unix)]
mod mapping;

use std::alloc::{self, Layout};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{OutOfMemory, SourceError};
use lender::Lender;
#[cfg(unix)]
use mapping::{map, unmap};

/// Every block starts at, and has a length that is a multiple of, this many bytes.
///
/// It is the page size and the largest alignment that direct I/O asks for in practice.
pub const BLOCK_ALIGN: usize = 4096;

/// From this size on memory comes straight from the kernel: zeroed without being touched, and
/// given back as soon as it is released.
const MAP_FROM: usize = 64 << 10;

/// The memory of one slab.
///
/// ```
/// use stratape_tape::tier::Block;
///
/// let mut block = Block::zeroed(4096)?;
/// block.bytes_mut()[0] = 7;
/// assert_eq!(block.bytes()[..2], [7, 0]);
/// # Ok::<(), stratape_tape::tier::OutOfMemory>(())
/// ```
pub struct Block {
    ptr: NonNull<u8>,
    len: usize,
    memory: Memory,
    /// Set while the bytes may be uninitialised (a tape of arbitrary `T` used the memory).
    /// Such a block never leaves the crate: the pool clears it before it hands it out as plain
    /// bytes.
    tainted: bool,
    /// Mapped and not touched yet.
    fresh: bool,
    stamp: Stamp,
}

/// Whose memory a block is.
enum Memory {
    /// The system's: `size` bytes at the block's address.
    System { size: usize, align: usize },
    /// An object's, which takes it back.
    Lent { _by: Lender, kind: MemoryKind },
}

/// What kind of memory a block is in, for tiers that can make use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Ordinary memory.
    System,
    /// Locked in RAM, so that devices can read and write it by themselves.
    PageLocked,
    /// A device's, where the host can address it (managed or mapped memory).
    Device,
}

/// Tells whether a block that was lent comes back, and comes back as it was: an address does not,
/// since memory that was released is soon mapped at the same place again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    id: u64,
    /// How often the bytes were lent to be written.
    changes: u64,
}

impl Stamp {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), changes: 0 }
    }

    /// Whether both are of one block, changed meanwhile or not.
    pub(crate) fn same_block(self, other: Self) -> bool {
        self.id == other.id
    }
}

// SAFETY: a block owns its memory; no other handle to it exists.
unsafe impl Send for Block {}
// SAFETY: shared access is read-only.
unsafe impl Sync for Block {}

impl Block {
    /// A block of zeros. `len` is rounded up to a multiple of [`BLOCK_ALIGN`], at least one.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the system refuses.
    pub fn zeroed(len: usize) -> Result<Self, OutOfMemory> {
        Self::allocate(len, BLOCK_ALIGN, true)
    }

    /// A block whose bytes may be anything; only for tapes that track initialisation themselves.
    pub(crate) fn uninit(len: usize, align: usize) -> Result<Self, OutOfMemory> {
        Self::allocate(len, align.max(BLOCK_ALIGN), false)
    }

    /// A block of zeros of the system's memory, aligned to `align` at least.
    pub(crate) fn aligned(len: usize, align: usize) -> Result<Self, OutOfMemory> {
        Self::allocate(len, align.max(BLOCK_ALIGN), true)
    }

    /// A block in the memory that an object lends.
    ///
    /// The object is asked for its bytes once, and is dropped with the block: its destructor is where memory goes back to where it came
    /// from. The block takes the whole pages of it. The bytes may be anything.
    ///
    /// ```
    /// use stratape_tape::source::{Block, MemoryKind};
    /// use stratape_tape::{Pod, Zeroable};
    ///
    /// #[derive(Clone, Copy, Pod, Zeroable)]
    /// #[bytemuck(crate = "stratape_tape::bytemuck")]
    /// #[repr(C, align(4096))]
    /// struct Page([u8; 4096]);
    ///
    /// struct Pages(Vec<Page>);
    ///
    /// impl AsMut<[u8]> for Pages {
    ///     fn as_mut(&mut self) -> &mut [u8] {
    ///         stratape_tape::bytemuck::cast_slice_mut(&mut self.0)
    ///     }
    /// }
    ///
    /// let block = Block::owning(Pages(vec![Page([7; 4096]); 3]), MemoryKind::System)?;
    /// assert_eq!((block.len(), block.bytes()[0]), (3 * 4096, 7));
    /// # Ok::<(), stratape_tape::source::SourceError>(())
    /// ```
    ///
    /// # Errors
    /// [`SourceError::Misaligned`] for memory that does not begin at a page, [`SourceError::TooSmall`] for less than a page,
    /// [`SourceError::Panicked`]. The object is dropped then.
    pub fn owning(
        memory: impl AsMut<[u8]> + Send + 'static,
        kind: MemoryKind,
    ) -> Result<Self, SourceError> {
        let (lender, bytes) = Lender::new(memory)?;
        let (ptr, len) = (bytes.cast::<u8>(), bytes.len() / BLOCK_ALIGN * BLOCK_ALIGN);
        if len == 0 {
            return Err(SourceError::TooSmall { needed: BLOCK_ALIGN, given: bytes.len() });
        }
        let memory = Memory::Lent { _by: lender, kind };
        let block = Self { ptr, len, memory, tainted: false, fresh: false, stamp: Stamp::new() };
        if block.is_aligned(BLOCK_ALIGN) {
            Ok(block)
        } else {
            Err(SourceError::Misaligned { needed: BLOCK_ALIGN })
        }
    }

    fn allocate(len: usize, align: usize, zeroed: bool) -> Result<Self, OutOfMemory> {
        let out_of_memory = OutOfMemory { bytes: len };
        let len = len.max(1).checked_next_multiple_of(BLOCK_ALIGN).ok_or(out_of_memory)?;
        let (memory, stamp) = (Memory::System { size: len, align }, Stamp::new());
        if mapped(len, align) {
            let ptr = map(len).ok_or(out_of_memory)?;
            return Ok(Self { ptr, len, memory, tainted: false, fresh: true, stamp });
        }
        let layout = Layout::from_size_align(len, align).map_err(|_| out_of_memory)?;
        // SAFETY: `len` is at least one, so the layout has a size.
        let ptr =
            unsafe { if zeroed { alloc::alloc_zeroed(layout) } else { alloc::alloc(layout) } };
        let ptr = NonNull::new(ptr).ok_or(out_of_memory)?;
        Ok(Self { ptr, len, memory, tainted: !zeroed, fresh: false, stamp })
    }

    /// Length in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// What kind of memory it is in.
    pub fn kind(&self) -> MemoryKind {
        match self.memory {
            Memory::System { .. } => MemoryKind::System,
            Memory::Lent { kind, .. } => kind,
        }
    }

    /// The whole block.
    pub fn bytes(&self) -> &[u8] {
        debug_assert!(!self.tainted);
        // SAFETY: the block owns `len` bytes at `ptr`; they are initialised, since a tainted block
        // is kept inside the crate and never asked for its bytes.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }

    /// The whole block, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        debug_assert!(!self.tainted);
        self.stamp.changes += 1;
        // SAFETY: as in `bytes`, and `&mut self` makes the access unique.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }

    pub(crate) fn ptr(&self) -> NonNull<u8> {
        self.ptr
    }

    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    pub(crate) fn is_aligned(&self, align: usize) -> bool {
        self.ptr.as_ptr().addr().is_multiple_of(align)
    }

    /// Whether this is the system's memory, aligned like any other.
    pub(crate) fn is_ordinary(&self) -> bool {
        matches!(self.memory, Memory::System { align: BLOCK_ALIGN, .. })
    }

    /// Uses the first `len` bytes alone; `len` is a multiple of the page size, and not more than there are.
    pub(crate) fn shorten(&mut self, len: usize) {
        debug_assert!(len.is_multiple_of(BLOCK_ALIGN));
        self.len = self.len.min(len);
    }

    pub(crate) fn taint(&mut self) {
        self.tainted = true;
    }

    /// Has the kernel provide the memory of a fresh block now, in one call, which costs a third
    /// less than a page fault for each page later. A favour that may be refused.
    pub(crate) fn populate(&mut self) {
        #[cfg(target_os = "linux")]
        if self.fresh {
            use rustix::mm::{Advice, madvise};
            // SAFETY: the range is this block's own mapping, and the advice changes no contents.
            let _ =
                unsafe { madvise(self.ptr.as_ptr().cast(), self.len, Advice::LinuxPopulateWrite) };
        }
        self.fresh = false;
    }

    /// Makes every byte initialised again.
    pub(crate) fn cleanse(&mut self) {
        if self.tainted {
            // SAFETY: the block owns `len` bytes at `ptr`.
            unsafe { self.ptr.as_ptr().write_bytes(0, self.len) };
            self.tainted = false;
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        match self.memory {
            // Its owner sees the bytes again, and must find them initialised. The lender goes with the fields.
            Memory::Lent { .. } => self.cleanse(),
            Memory::System { size, align } if mapped(size, align) => {
                // SAFETY: `ptr` and `size` are those of the piece cut in `allocate`.
                unsafe { unmap(self.ptr, size) };
            }
            // SAFETY: `allocate` made the memory with this very layout, which was valid then.
            Memory::System { size, align } => unsafe {
                let layout = Layout::from_size_align_unchecked(size, align);
                alloc::dealloc(self.ptr.as_ptr(), layout);
            },
        }
    }
}

/// So that a block can be the memory of another, which does something when it is given back.
impl AsMut<[u8]> for Block {
    fn as_mut(&mut self) -> &mut [u8] {
        self.bytes_mut()
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("len", &self.len)
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

fn mapped(len: usize, align: usize) -> bool {
    cfg!(unix) && len >= MAP_FROM && align == BLOCK_ALIGN
}

#[cfg(not(unix))]
fn map(_: usize) -> Option<NonNull<u8>> {
    None
}

#[cfg(not(unix))]
unsafe fn unmap(_: NonNull<u8>, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_rounded_and_zero() {
        for len in [0, 1, 4095, 4096, 4097, MAP_FROM - 1, MAP_FROM, MAP_FROM + 1] {
            let block = Block::zeroed(len).unwrap();
            assert_eq!(block.len() % BLOCK_ALIGN, 0);
            assert!(block.len() >= len.max(1));
            assert_eq!(block.ptr().as_ptr().addr() % BLOCK_ALIGN, 0);
            assert!(block.bytes().iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn over_aligned_memory_is_kept_out_of_the_pool() {
        let block = Block::uninit(10, 1 << 16).unwrap();
        assert_eq!(block.ptr().as_ptr().addr() % (1 << 16), 0);
        assert!(block.is_aligned(1 << 16) && !block.is_ordinary());
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert_eq!(Block::zeroed(usize::MAX).unwrap_err().bytes, usize::MAX);
        assert!(Block::zeroed(usize::MAX / 2).is_err());
    }
}
