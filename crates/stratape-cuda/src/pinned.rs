//! [`PinnedSource`]: blocks of host memory that a device reads and writes by itself.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use stratape_tape::source::{
    Block, BlockSource, MemoryKind, OutOfMemory, SourceError, SystemMemory,
};

use crate::cuda::Pinned;
use crate::device::{Device, Kind};

/// Page-locked memory of the host for the slabs of tapes.
///
/// A device copies such memory by itself (DMA), at the speed of the bus and beside everything else. Give the source to a tape of the host
/// ([`TapeOptions::source`](stratape_tape::TapeOptions::source)), or to a pool that several share
/// ([`Pool::with_source`](stratape_tape::Pool::with_source)), and their slabs are page-locked:
/// [`Buffer::write`](crate::Buffer::write) and [`Buffer::download_into`](crate::Buffer::download_into) then copy between slab and device
/// without another copy on the way. A [`DeviceTape`](crate::DeviceTape) has one of its own.
///
/// Where the system refuses to lock more pages, ordinary memory is given, and [counted](Self::refusals). For the emulator ordinary memory is
/// as good.
///
/// ```
/// use std::sync::Arc;
/// use stratape_cuda::{Device, PinnedSource};
/// use stratape_tape::{Pool, Tape};
///
/// let device = Device::new()?;
/// let source = PinnedSource::new(&device);
/// let pool = Pool::with_source(Arc::new(source.clone()), 64 << 20);
/// let mut tape: Tape<f64> = Tape::with_pool(&pool);
/// tape.extend((0..10_000).map(f64::from));
/// assert!(source.bytes() >= 80_000 - 1024);
///
/// let mut block = pool.block(1 << 16)?; // to be filled by hand
/// block.bytes_mut().fill(7);
/// let x = device.upload(&block.bytes()[..50_000])?; // the device reads the block itself
/// assert_eq!(x.download()?, [7; 50_000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PinnedSource {
    shared: Arc<Shared>,
}

struct Shared {
    owner: Kind,
    limit: AtomicUsize,
    /// Bytes of blocks that exist, and the most there ever were.
    bytes: AtomicUsize,
    peak: AtomicUsize,
    refusals: AtomicU64,
}

impl PinnedSource {
    /// A source of memory that is locked for a device.
    ///
    /// ```
    /// let source = stratape_cuda::PinnedSource::new(&stratape_cuda::Device::emulator());
    /// assert_eq!(source.bytes(), 0);
    /// ```
    pub fn new(device: &Device) -> Self {
        Self::of(device.kind(), usize::MAX)
    }

    pub(crate) fn of(owner: &Kind, limit: usize) -> Self {
        let shared = Shared {
            owner: owner.clone(),
            limit: AtomicUsize::new(limit),
            bytes: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            refusals: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The same source with a limit on the bytes in use.
    ///
    /// ```
    /// use stratape_cuda::{Device, PinnedSource};
    /// use stratape_tape::source::BlockSource;
    ///
    /// let source = PinnedSource::new(&Device::emulator()).limit(8192);
    /// let block = source.allocate(8192, 4096)?;
    /// assert!(source.allocate(4096, 4096).is_err());
    /// drop(block);
    /// assert!(source.allocate(4096, 4096).is_ok());
    /// # Ok::<(), stratape_tape::source::SourceError>(())
    /// ```
    #[must_use]
    pub fn limit(self, bytes: usize) -> Self {
        self.shared.limit.store(bytes, Ordering::Relaxed);
        self
    }

    /// Bytes of the blocks that exist.
    ///
    /// ```
    /// use stratape_cuda::{Device, PinnedSource};
    /// use stratape_tape::source::BlockSource;
    ///
    /// let source = PinnedSource::new(&Device::emulator());
    /// let block = source.allocate(8192, 4096)?;
    /// assert_eq!(source.bytes(), 8192);
    /// # drop(block);
    /// # Ok::<(), stratape_tape::source::SourceError>(())
    /// ```
    pub fn bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// The most bytes there ever were.
    ///
    /// ```
    /// use stratape_cuda::{Device, PinnedSource};
    /// use stratape_tape::source::BlockSource;
    ///
    /// let source = PinnedSource::new(&Device::emulator());
    /// drop(source.allocate(8192, 4096)?);
    /// assert_eq!((source.bytes(), source.peak()), (0, 8192));
    /// # Ok::<(), stratape_tape::source::SourceError>(())
    /// ```
    pub fn peak(&self) -> usize {
        self.shared.peak.load(Ordering::Relaxed)
    }

    /// Blocks that are ordinary memory, because the system refused to lock more.
    ///
    /// ```
    /// let source = stratape_cuda::PinnedSource::new(&stratape_cuda::Device::emulator());
    /// assert_eq!(source.refusals(), 0);
    /// ```
    pub fn refusals(&self) -> u64 {
        self.shared.refusals.load(Ordering::Relaxed)
    }

    /// Lets so many bytes more than there are now be had, if the limit does not, until [`restore`](Self::restore).
    pub(crate) fn exceed(&self, bytes: usize) {
        let needed = self.bytes().saturating_add(bytes);
        self.shared.limit.fetch_max(needed, Ordering::Relaxed);
    }

    pub(crate) fn restore(&self, limit: usize) {
        self.shared.limit.store(limit, Ordering::Relaxed);
    }
}

impl BlockSource for PinnedSource {
    fn allocate(&self, len: usize, align: usize) -> Result<Block, SourceError> {
        let shared = &self.shared;
        // Taken before the memory is: several threads may ask at once.
        let limit = shared.limit.load(Ordering::Relaxed);
        let taken = shared.bytes.try_update(Ordering::Relaxed, Ordering::Relaxed, |bytes| {
            bytes.checked_add(len).filter(|bytes| *bytes <= limit)
        });
        let before = taken.map_err(|_| OutOfMemory { bytes: len })?;
        let account = Account { bytes: len, shared: Arc::clone(shared) };
        let (memory, kind) = match &shared.owner {
            Kind::Cuda(context) => match Pinned::new(context, len, align) {
                Ok(pinned) => (Memory::Pinned(pinned), MemoryKind::PageLocked),
                Err(_) => {
                    shared.refusals.fetch_add(1, Ordering::Relaxed);
                    ordinary(len, align)?
                }
            },
            Kind::Emulator(_) => ordinary(len, align)?,
        };
        shared.peak.fetch_max(before + len, Ordering::Relaxed);
        Block::owning(Lent { memory, _account: account }, kind)
    }
}

fn ordinary(len: usize, align: usize) -> Result<(Memory, MemoryKind), SourceError> {
    let block = SystemMemory.allocate(len, align)?;
    let kind = block.kind();
    Ok((Memory::Ordinary(block), kind))
}

/// The memory of a block, which is counted until it is given back.
struct Lent {
    memory: Memory,
    _account: Account,
}

enum Memory {
    Pinned(Pinned),
    Ordinary(Block),
}

impl AsMut<[u8]> for Lent {
    fn as_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Pinned(pinned) => pinned.as_mut(),
            Memory::Ordinary(block) => block.bytes_mut(),
        }
    }
}

struct Account {
    bytes: usize,
    shared: Arc<Shared>,
}

impl Drop for Account {
    fn drop(&mut self) {
        self.shared.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl fmt::Debug for PinnedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedSource")
            .field("device", &self.shared.owner.name())
            .field("bytes", &self.bytes())
            .field("refusals", &self.refusals())
            .finish_non_exhaustive()
    }
}
