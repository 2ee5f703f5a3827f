//! [`TapeOptions`]: the memory budget, the place to spill to, and the I/O engine.
//!
//! Only data. `setup.rs` builds the parts of a tape from it, `open.rs` has the calls that open one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::pool::{DEFAULT_POOL_LIMIT, Pool};
use crate::source::BlockSource;
use crate::tier::{IoEngine, Tier};

/// Bytes kept in RAM unless [`TapeOptions::memory`] says otherwise.
pub const DEFAULT_MEMORY: usize = 1 << 30;
/// Bytes of a slab unless [`TapeOptions::slab_bytes`] says otherwise.
pub const DEFAULT_SLAB: usize = 1 << 20;
/// Transfers under way at once unless [`TapeOptions::in_flight`] says otherwise.
pub const DEFAULT_IN_FLIGHT: usize = 16;

/// How long a tape waits for an answer unless [`TapeOptions::patience`] says otherwise.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(120);

/// Settings of a layered tape, and the way to open one.
///
/// ```
/// use stratape_tape::{LayeredTape, TapeOptions};
///
/// let mut tape: LayeredTape<f64> = TapeOptions::new()
///     .memory(1 << 20) // keep 1 MiB in RAM
///     .spill_to(std::env::temp_dir())
///     .open()?;
/// for i in 0..1_000_000 {
///     tape.push(f64::from(i))?;
/// }
/// for i in (0..1_000_000).rev() {
///     assert_eq!(tape.pop()?, Some(f64::from(i)));
/// }
/// assert!(tape.stats().resident_peak <= 1 << 20);
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
#[derive(Clone)]
pub struct TapeOptions {
    pub(crate) memory: usize,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) slab: Option<usize>,
    pub(crate) in_flight: usize,
    pub(crate) patience: Duration,
    pub(crate) checksum: bool,
    pub(crate) compression: bool,
    pub(crate) engine: IoEngine,
    pub(crate) direct: bool,
    pub(crate) disk_limit: Option<u64>,
    pub(crate) tier: Option<Arc<dyn Tier>>,
    pub(crate) pool: Option<Pool>,
    pub(crate) record: bool,
}

impl Default for TapeOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TapeOptions {
    /// The defaults: 1 GiB in RAM, the rest in the system's directory for temporary files.
    pub fn new() -> Self {
        Self {
            memory: DEFAULT_MEMORY,
            directory: None,
            slab: None,
            in_flight: DEFAULT_IN_FLIGHT,
            patience: DEFAULT_PATIENCE,
            checksum: true,
            compression: false,
            engine: IoEngine::Auto,
            direct: true,
            disk_limit: None,
            tier: None,
            pool: None,
            record: false,
        }
    }

    /// Bytes of slabs kept in RAM. Default 1 GiB.
    ///
    /// Slabs in transit are included. Use what the machine can spare: the part of the tape that fits
    /// is never written to disk. It must hold two slabs; from about sixteen, transfers overlap
    /// well.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// The directory for the spill file. Default: the system's directory for temporary files.
    ///
    /// Choose a directory on a fast local disk. On many systems the default is in memory
    /// (tmpfs), where spilling gains nothing; the statistics say so.
    #[must_use]
    pub fn spill_to(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Bytes of a slab, the unit that moves between layers. Default: 1 MiB, or one eighth of the
    /// budget if that is less.
    ///
    /// Larger slabs help disks with a high latency (2 to 8 MiB for spinning or network disks);
    /// smaller ones help when many tapes share little memory. A slab holds the power of two of
    /// elements that fits, and takes whole pages of memory.
    #[must_use]
    pub fn slab_bytes(mut self, bytes: usize) -> Self {
        self.slab = Some(bytes);
        self
    }

    /// Slabs written, and slabs read, at once. Default 16.
    ///
    /// Raise it for network or striped storage, which needs more requests to reach its speed. At
    /// most half of the budget is ever in transit.
    #[must_use]
    pub fn in_flight(mut self, slabs: usize) -> Self {
        self.in_flight = slabs;
        self
    }

    /// How long to wait for a tier that does not answer. Default: two minutes.
    ///
    /// Then the waiting call fails with [`TierError::Silent`](crate::tier::TierError::Silent). The
    /// tape is unchanged, and repeating the call waits again: a late answer is still accepted.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whether slabs carry a crc32c that is verified when they come back. Default on.
    ///
    /// The checksum is computed in the background at several times the speed of a disk. Turn it
    /// off to measure, or if the tier checks its data itself.
    #[must_use]
    pub fn checksum(mut self, on: bool) -> Self {
        self.checksum = on;
        self
    }

    /// Whether slabs of `f32` or `f64` are compressed (with `pco`) before they leave RAM.
    /// Default off.
    ///
    /// Smooth data shrinks three to four times, at about 0.1 GB/s: turn it on if the disk is
    /// too small or remote, not for speed. Needs the feature `compression`.
    #[cfg(feature = "compression")]
    #[must_use]
    pub fn compression(mut self, on: bool) -> Self {
        self.compression = on;
        self
    }

    /// The I/O engine. Default [`IoEngine::Auto`].
    ///
    /// Select one to compare them, or to get an error if `io_uring` is missing.
    #[must_use]
    pub fn engine(mut self, engine: IoEngine) -> Self {
        self.engine = engine;
        self
    }

    /// Whether to bypass the page cache if the file system supports it. Default: on.
    ///
    /// Through the page cache the spilled data competes with the memory it was to free, and
    /// backward reads are several times slower. Turn it off to measure, or on a file system that
    /// emulates direct I/O badly.
    #[must_use]
    pub fn direct(mut self, on: bool) -> Self {
        self.direct = on;
        self
    }

    /// The maximum size of the spill file, in bytes. Default: no limit but the disk's.
    ///
    /// Beyond it, push fails with an error for which [`TapeError::is_full`](crate::TapeError::is_full) holds.
    #[must_use]
    pub fn disk_limit(mut self, bytes: u64) -> Self {
        self.disk_limit = Some(bytes);
        self
    }

    /// Your own tier instead of a spill file; the options for directory, engine and disk
    /// are then ignored.
    #[must_use]
    pub fn tier(mut self, tier: Arc<dyn Tier>) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Where slab memory comes from. Default: the [global](Pool::global) pool.
    #[must_use]
    pub fn pool(mut self, pool: &Pool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Another kind of memory for the slabs, from your own source. See [`source`](crate::source).
    ///
    /// The tape gets a pool of its own on the source, which keeps up to [`DEFAULT_POOL_LIMIT`](crate::DEFAULT_POOL_LIMIT) idle bytes until the tape
    /// and these options are dropped. To share one, or to set its limit, create it with [`Pool::with_source`] and pass it to
    /// [`pool`](Self::pool). A source that has less memory than the budget fails before anything is spilled: give both the same limit.
    #[must_use]
    pub fn source(self, source: Arc<dyn BlockSource>) -> Self {
        self.pool(&Pool::with_source(source, DEFAULT_POOL_LIMIT))
    }

    /// Whether to sample how full each layer is, for `samples()` of the tape. Default off.
    #[must_use]
    pub fn record(mut self, on: bool) -> Self {
        self.record = on;
        self
    }

    /// Whether [`record`](Self::record) was set.
    pub fn is_recorded(&self) -> bool {
        self.record
    }
}

impl fmt::Debug for TapeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapeOptions")
            .field("memory", &self.memory)
            .field("directory", &self.directory)
            .field("slab", &self.slab)
            .field("in_flight", &self.in_flight)
            .field("patience", &self.patience)
            .field("checksum", &self.checksum)
            .field("compression", &self.compression)
            .field("engine", &self.engine)
            .field("direct", &self.direct)
            .field("disk_limit", &self.disk_limit)
            .field("tier", &self.tier.as_ref().map(|tier| tier.describe()))
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}
