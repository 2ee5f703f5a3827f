//! [`TapeOptions`]: how much memory, where the rest goes, and by which way.

use std::any::TypeId;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;

use crate::block::BLOCK_ALIGN;
use crate::codec::{Codec, Packing};
use crate::depot::Depot;
use crate::error::{ErrorKind, TapeError};
use crate::ladder::{Ladder, Plan, check_memory};
use crate::lanes::Lanes;
use crate::layered::LayeredTape;
use crate::pool::Pool;
use crate::record::RecordTape;
use crate::tier::{DiskOptions, DiskTier, IoEngine, Tier};

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
    memory: usize,
    directory: Option<PathBuf>,
    slab: Option<usize>,
    in_flight: usize,
    patience: Duration,
    checksum: bool,
    compression: bool,
    engine: IoEngine,
    direct: bool,
    disk_limit: Option<u64>,
    tier: Option<Arc<dyn Tier>>,
    pool: Option<Pool>,
    record: bool,
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
    /// Slabs in transit count. Give what the machine can spare: the part of the tape that fits
    /// never touches the disk. It must hold two slabs; from about sixteen on, transfers overlap
    /// well.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// The directory for the spill file. Default: the system's directory for temporary files.
    ///
    /// Choose a directory on a fast local disk. On many systems the default lies in memory
    /// (tmpfs), where spilling gains nothing; the statistics say so.
    #[must_use]
    pub fn spill_to(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Bytes of a slab, the unit that moves between layers. Default 1 MiB, or an eighth of the
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

    /// How long to wait for a tier that answers no request at all. Default two minutes.
    ///
    /// Then the waiting call fails with [`TierError::Silent`](crate::tier::TierError::Silent). The
    /// tape is as before, and the same call waits again: answers may come as late as they like.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn how_patient(&self) -> Duration {
        self.patience
    }

    /// Whether slabs carry a crc32c that is verified when they come back. Default on.
    ///
    /// The checksum is computed in the background at several times the speed of a disk. Turn it
    /// off to measure, or where the tier checks its data itself.
    #[must_use]
    pub fn checksum(mut self, on: bool) -> Self {
        self.checksum = on;
        self
    }

    /// Whether slabs of `f32` or `f64` are compressed (with `pco`) before they leave RAM.
    /// Default off.
    ///
    /// Smooth data shrinks three to four times, at about 0.1 GB/s: turn it on when the disk is
    /// too small or far away, not for speed. Needs the feature `compression`.
    #[cfg(feature = "compression")]
    #[must_use]
    pub fn compression(mut self, on: bool) -> Self {
        self.compression = on;
        self
    }

    /// The I/O engine. Default [`IoEngine::Auto`].
    ///
    /// Name one to compare them, or to hear of it when `io_uring` is missing.
    #[must_use]
    pub fn engine(mut self, engine: IoEngine) -> Self {
        self.engine = engine;
        self
    }

    /// Whether to bypass the page cache where the file system can. Default on.
    ///
    /// Through the page cache the spilled data competes with the memory it was to free, and
    /// backward reads are several times slower. Turn it off to measure, or on a file system that
    /// emulates direct I/O badly.
    #[must_use]
    pub fn direct(mut self, on: bool) -> Self {
        self.direct = on;
        self
    }

    /// The most bytes the spill file may hold. Default: what the disk has.
    ///
    /// Beyond it, push fails with an error for which [`TapeError::is_full`] holds.
    #[must_use]
    pub fn disk_limit(mut self, bytes: u64) -> Self {
        self.disk_limit = Some(bytes);
        self
    }

    /// A tier of your own instead of a spill file; the options about directory, engine and disk
    /// then mean nothing.
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

    /// Whether to sample how full each layer is, for `samples()` of the tape. Default off.
    #[must_use]
    pub fn record(mut self, on: bool) -> Self {
        self.record = on;
        self
    }

    /// Opens a tape of `T`.
    ///
    /// # Errors
    /// [`ErrorKind::Options`] for settings that cannot work, [`ErrorKind::SpillDirectory`] when
    /// no file can be made there, [`ErrorKind::EngineUnavailable`] for a named engine.
    pub fn open<T: Pod>(self) -> Result<LayeredTape<T>, TapeError> {
        self.check_elements::<T>()?;
        let depot = self.depot(self.packing::<T>()?)?;
        let per_slab = self.per_slab::<T>();
        Ok(LayeredTape::on(self.ladder::<T>(depot, per_slab)?, per_slab))
    }

    /// Opens a record tape.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_records(self) -> Result<RecordTape, TapeError> {
        if self.compression {
            return Err(options("records mix types; compression works for f32 and f64 tapes"));
        }
        let depot = self.depot(Packing::Plain)?;
        let words = self.per_slab::<u64>();
        Ok(RecordTape::on(self.ladder::<u64>(depot, words)?, words))
    }

    /// Opens `count` tapes for as many workers, under one budget and one I/O engine.
    ///
    /// # Errors
    /// As [`open`](Self::open); also for zero lanes, and when the budget does not reach.
    pub fn open_lanes<T: Pod>(self, count: usize) -> Result<Lanes<T>, TapeError> {
        self.check_elements::<T>()?;
        if count == 0 {
            return Err(options("a set of zero lanes; ask for one lane a worker"));
        }
        let depot = self.depot(self.packing::<T>()?)?;
        let per_lane = Self { memory: self.memory / count, ..self };
        let per_slab = per_lane.per_slab::<T>();
        let open_lane = |_| {
            let ladder = per_lane.ladder::<T>(Arc::clone(&depot), per_slab)?;
            Ok(LayeredTape::on(ladder, per_slab))
        };
        Ok(Lanes::new((0..count).map(open_lane).collect::<Result<_, TapeError>>()?))
    }

    /// Opens `count` record tapes, under one budget and one I/O engine.
    ///
    /// # Errors
    /// As [`open_lanes`](Self::open_lanes).
    pub fn open_record_lanes(self, count: usize) -> Result<Vec<RecordTape>, TapeError> {
        if self.compression {
            return Err(options("records mix types; compression works for f32 and f64 tapes"));
        }
        if count == 0 {
            return Err(options("a set of zero lanes; ask for one lane a worker"));
        }
        let depot = self.depot(Packing::Plain)?;
        let per_lane = Self { memory: self.memory / count, ..self };
        let words = per_lane.per_slab::<u64>();
        let open_lane = |_| {
            let ladder = per_lane.ladder::<u64>(Arc::clone(&depot), words)?;
            Ok(RecordTape::on(ladder, words))
        };
        (0..count).map(open_lane).collect()
    }

    /// A depot on the disk or the user's tier.
    pub(crate) fn depot(&self, packing: Packing) -> Result<Arc<Depot>, TapeError> {
        Ok(self.depot_on(self.below()?, packing))
    }

    pub(crate) fn depot_on(&self, Below { tier, device }: Below, packing: Packing) -> Arc<Depot> {
        let codec = Codec { checksum: self.checksum, packing };
        Arc::new(Depot::new(tier, device, codec, self.slab_pool()))
    }

    /// The user's tier, or a spill file.
    pub(crate) fn below(&self) -> Result<Below, TapeError> {
        if let Some(tier) = &self.tier {
            return Ok(Below { tier: Arc::clone(tier), device: None });
        }
        let tier = DiskTier::on_shared_engine(self.disk())?;
        let device = Some(tier.device());
        Ok(Below { tier: Arc::new(tier), device })
    }

    pub(crate) fn disk(&self) -> DiskOptions {
        DiskOptions {
            engine: self.engine,
            direct: self.direct,
            in_flight: self.in_flight,
            limit: self.disk_limit,
            ..DiskOptions::new(self.directory.clone().unwrap_or_else(std::env::temp_dir))
        }
    }

    pub(crate) fn ladder<T>(
        &self,
        depot: Arc<Depot>,
        per_slab: usize,
    ) -> Result<Ladder, TapeError> {
        if self.slab == Some(0) {
            return Err(options("slabs of zero bytes; leave `slab_bytes` unset for the default"));
        }
        if self.in_flight == 0 {
            return Err(options("zero slabs in flight; at least one must be able to move"));
        }
        let slab_len = (per_slab * size_of::<T>()).next_multiple_of(BLOCK_ALIGN);
        check_memory(self.memory, slab_len)?;
        Ok(Ladder::new(Plan {
            slab_len,
            memory: self.memory,
            in_flight: self.in_flight,
            patience: self.patience,
            pool: self.slab_pool(),
            depot: Some(depot),
            record: self.record,
        }))
    }

    pub(crate) fn packing<T: 'static>(&self) -> Result<Packing, TapeError> {
        if !self.compression {
            return Ok(Packing::Plain);
        }
        let id = TypeId::of::<T>();
        #[cfg(feature = "compression")]
        if id == TypeId::of::<f64>() {
            return Ok(Packing::F64);
        } else if id == TypeId::of::<f32>() {
            return Ok(Packing::F32);
        }
        let name = std::any::type_name::<T>();
        Err(options(&format!("compression of `{name}` ({id:?}); it works for f32 and f64")))
    }

    pub(crate) fn check_elements<T>(&self) -> Result<(), TapeError> {
        if size_of::<T>() == 0 {
            return Err(options("elements of zero size hold nothing to spill; use `Tape`"));
        }
        if align_of::<T>() > BLOCK_ALIGN {
            return Err(options(&format!(
                "elements aligned to {} bytes in slabs aligned to {BLOCK_ALIGN}; use `Tape`",
                align_of::<T>()
            )));
        }
        Ok(())
    }

    /// Elements of a slab of `T`: a power of two.
    fn per_slab<T>(&self) -> usize {
        let size = size_of::<T>().max(1);
        let wanted = self.slab.unwrap_or_else(|| DEFAULT_SLAB.min(self.memory / 8));
        1 << (wanted / size).max(1).ilog2()
    }

    pub(crate) fn slab_pool(&self) -> Pool {
        self.pool.clone().unwrap_or_else(|| Pool::global().clone())
    }
}

/// A tier for a tape.
pub(crate) struct Below {
    pub(crate) tier: Arc<dyn Tier>,
    /// The device of a tier of ours; none for the user's.
    pub(crate) device: Option<u64>,
}

fn options(what: &str) -> TapeError {
    ErrorKind::Options(what.to_owned()).into()
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
