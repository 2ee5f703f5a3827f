//! The disk tier: one unlinked file, slots in it, and an engine that moves blocks.
//!
//! The file has no name from the start, so nothing is left behind however the process ends.
//! Where the file system allows it, I/O is direct (around the page cache, straight between slab
//! and device). Blocks are written at their slot's offset as they are: the table of slots and
//! the checksums live in memory, and die with the process like the file does.

mod engine;
mod file;
mod slots;
mod threads;
#[cfg(all(target_os = "linux", feature = "spill"))]
mod uring;

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Block, Done, SlabKey, Tier, TierError};
use crate::error::{ErrorKind, TapeError};
use crate::registry::Registry;
use crate::sync::{Process, lock};
use engine::{Engine, Job};
pub use file::{DiskCall, DiskFault, DiskFaults};
pub(crate) use file::{DiskFile, Way};
use slots::Slots;

/// Bytes given back to the file system at a time: about a millisecond's work, during which the
/// file's transfers stand still.
const TIDY_LOT: u64 = 4 << 20;
/// Bytes given back at a time on a disk that is nearly full.
const CROWDED_LOT: u64 = 64 << 20;

/// The I/O engine of a disk tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoEngine {
    /// `io_uring` where the kernel allows it, threads otherwise. The statistics say which.
    #[default]
    Auto,
    /// `io_uring`, or an error when it is missing or forbidden.
    Uring,
    /// A few threads with `pread` and `pwrite`. Works everywhere.
    Threads,
}

/// How a [`DiskTier`] is set up. [`TapeOptions`](crate::TapeOptions) fills this in for a tape.
#[derive(Clone)]
pub struct DiskOptions {
    /// The directory of the file. It must exist and be writable.
    pub directory: PathBuf,
    /// See [`IoEngine`].
    pub engine: IoEngine,
    /// Bypass the page cache where possible. Off is for comparison, or for memory-backed devices.
    pub direct: bool,
    /// Transfers kept going at once.
    pub in_flight: usize,
    /// The maximum number of bytes stored; `None` for no limit but the device's.
    pub limit: Option<u64>,
    /// For tests: damages chosen system calls.
    pub faults: Option<DiskFaults>,
}

impl DiskOptions {
    /// The defaults, in this directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            engine: IoEngine::Auto,
            direct: true,
            in_flight: 16,
            limit: None,
            faults: None,
        }
    }
}

impl fmt::Debug for DiskOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskOptions")
            .field("directory", &self.directory)
            .field("engine", &self.engine)
            .field("direct", &self.direct)
            .field("in_flight", &self.in_flight)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// Slabs in a file.
///
/// ```
/// use std::sync::mpsc;
/// use stratape_tape::tier::{Block, DiskOptions, DiskTier, SlabKey, Tier};
///
/// let tier = DiskTier::open(DiskOptions::new(std::env::temp_dir()))?;
/// let key = SlabKey { lane: 0, depth: 0, serial: 0 };
/// let (send, receive) = mpsc::channel();
/// let block = Block::zeroed(1 << 16)?;
/// tier.write(key, block, Box::new(move |_, result| send.send(result.is_ok()).unwrap()));
/// assert!(receive.recv()?);
/// assert_eq!(tier.stored_bytes(), 1 << 16);
/// tier.forget(key);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DiskTier {
    file: Arc<DiskFile>,
    engine: Arc<dyn Engine>,
    slots: Arc<Mutex<Slots>>,
    process: Process,
}

impl DiskTier {
    /// Creates the file and starts its own engine, on whose threads the callbacks run.
    ///
    /// # Errors
    /// When the directory cannot take a file, or the requested engine is not available.
    pub fn open(options: DiskOptions) -> Result<Self, TapeError> {
        let in_flight = options.in_flight.max(1);
        Self::on(options, |wanted, _| own_engine(wanted, in_flight))
    }

    /// Makes the file, to be served by the engine that all tapes on its device share. The callbacks
    /// must be ours: one that does not return would hold up all others.
    pub(crate) fn on_shared_engine(options: DiskOptions) -> Result<Self, TapeError> {
        Self::on(options, shared_engine)
    }

    fn on(
        options: DiskOptions,
        engine: impl FnOnce(IoEngine, &DiskFile) -> Result<Arc<dyn Engine>, TapeError>,
    ) -> Result<Self, TapeError> {
        let DiskOptions { directory, engine: wanted, direct, limit, faults, .. } = options;
        let file = DiskFile::unnamed(&directory, direct, faults)
            .map_err(|source| ErrorKind::SpillDirectory { path: directory, source })?;
        let engine = engine(wanted, &file)?;
        let slots = Arc::new(Mutex::new(Slots::new(limit)));
        Ok(Self { file: Arc::new(file), engine, slots, process: Process::current() })
    }

    pub(crate) fn device(&self) -> u64 {
        self.file.device()
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        lock(&self.slots)
    }

    /// Returns up to `most` bytes that no slab uses to the file system.
    fn give_back(&self, most: u64) {
        let Some((offset, len)) = self.slots().take_held(most) else { return };
        // A file system that cannot punch holes keeps the space until the file is closed.
        let _ = self.file.give_back(offset, len);
        self.slots().put_bare(offset, len);
    }

    /// Finds room in the file; asks the file system for it first, so that a full disk shows here.
    fn allot(&self, key: SlabKey, bytes: u64) -> Result<u64, TierError> {
        let mut slots = self.slots();
        let slot = slots.take(key, bytes)?;
        if let Some(growth) = slot.growth
            && let Err(error) = self.file.reserve(growth.from, growth.to, growth.at_least)
        {
            slots.undo_growth(key, growth.from);
            return Err(TierError::from(error).asking_for(bytes));
        }
        Ok(slot.offset)
    }
}

impl Tier for DiskTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        if !self.process.is_current() {
            return done(block, Err(TierError::Forked));
        }
        let bytes = block.len() as u64;
        let offset = match self.allot(key, bytes) {
            Ok(offset) => offset,
            Err(error) => return done(block, Err(error)),
        };
        let slots = Arc::clone(&self.slots);
        let settle = move |block, result: Result<(), TierError>| {
            let result = result.map_err(|error| {
                lock(&slots).release(key);
                error.asking_for(bytes)
            });
            done(block, result);
        };
        self.engine.submit(Job::new(Way::Out, &self.file, offset, block, Box::new(settle)));
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        if !self.process.is_current() {
            return done(block, Err(TierError::Forked));
        }
        let found = self.slots().find(key);
        match found {
            None => done(block, Err(TierError::Missing(key))),
            Some((_, stored)) if stored != block.len() as u64 => {
                let expected = block.len() as u64;
                done(block, Err(TierError::CutShort { expected, found: stored }));
            }
            Some((offset, _)) => {
                self.engine.submit(Job::new(Way::In, &self.file, offset, block, done));
            }
        }
    }

    fn forget(&self, key: SlabKey) {
        // The parent's data lies in the same file.
        if !self.process.is_current() {
            return;
        }
        let held = {
            let mut slots = self.slots();
            slots.release(key);
            slots.held_bytes()
        };
        // Others may need the space more than we need our time.
        if held >= CROWDED_LOT && self.file.is_crowded(held) {
            self.give_back(CROWDED_LOT);
        }
    }

    fn tidy(&self) -> bool {
        if !self.process.is_current() {
            return false;
        }
        self.give_back(TIDY_LOT);
        self.slots().held_bytes() > 0
    }

    fn stored_bytes(&self) -> u64 {
        self.slots().live_bytes()
    }

    fn describe(&self) -> String {
        format!("disk ({}, {})", self.engine.name(), self.file.describe())
    }
}

impl fmt::Debug for DiskTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskTier").field("tier", &self.describe()).finish_non_exhaustive()
    }
}

/// Reads ranges of an existing file; what a saved tape is continued from.
pub(crate) struct DiskReader {
    engine: Arc<dyn Engine>,
    file: Arc<DiskFile>,
}

impl DiskReader {
    pub(crate) fn start(file: File, options: &DiskOptions) -> Result<Self, TapeError> {
        let file = Arc::new(DiskFile::existing(file, options.direct));
        let engine = shared_engine(options.engine, &file)?;
        Ok(Self { engine, file })
    }

    pub(crate) fn read(&self, offset: u64, block: Block, done: Done) {
        self.engine.submit(Job::new(Way::In, &self.file, offset, block, done));
    }

    pub(crate) fn describe(&self) -> String {
        format!("saved file ({}, {})", self.engine.name(), self.file.describe())
    }
}

/// Transfers that a shared engine has under way at once; each tape has its own, lower limit.
const SHARED_IN_FLIGHT: usize = 255;

#[cfg(all(target_os = "linux", feature = "spill"))]
static RINGS: Registry<uring::Uring> = Registry::new();
static MOVERS: Registry<threads::Threads> = Registry::new();

/// The engine that tapes on the device of a file share.
fn shared_engine(wanted: IoEngine, file: &DiskFile) -> Result<Arc<dyn Engine>, TapeError> {
    let device = file.device();
    choose_engine(
        wanted,
        #[cfg(all(target_os = "linux", feature = "spill"))]
        || RINGS.get(device, || uring::Uring::new(SHARED_IN_FLIGHT)),
        || {
            let Ok(movers) =
                MOVERS.get(device, || Ok::<_, Infallible>(threads::Threads::new(SHARED_IN_FLIGHT)));
            movers
        },
    )
}

/// An engine for one file alone.
fn own_engine(wanted: IoEngine, in_flight: usize) -> Result<Arc<dyn Engine>, TapeError> {
    choose_engine(
        wanted,
        #[cfg(all(target_os = "linux", feature = "spill"))]
        || uring::Uring::new(in_flight).map(Arc::new),
        || Arc::new(threads::Threads::new(in_flight)),
    )
}

#[cfg(all(target_os = "linux", feature = "spill"))]
type Ring = io::Result<Arc<uring::Uring>>;

fn choose_engine(
    wanted: IoEngine,
    #[cfg(all(target_os = "linux", feature = "spill"))] ring: impl FnOnce() -> Ring,
    movers: impl FnOnce() -> Arc<threads::Threads>,
) -> Result<Arc<dyn Engine>, TapeError> {
    #[cfg(all(target_os = "linux", feature = "spill"))]
    if wanted != IoEngine::Threads {
        match ring() {
            Ok(engine) => return Ok(engine),
            Err(source) if wanted == IoEngine::Uring => {
                return Err(ErrorKind::EngineUnavailable { source }.into());
            }
            Err(error) => crate::events::info!(%error, "io_uring is not available; using threads"),
        }
    }
    #[cfg(not(all(target_os = "linux", feature = "spill")))]
    if wanted == IoEngine::Uring {
        let source = io::ErrorKind::Unsupported.into();
        return Err(ErrorKind::EngineUnavailable { source }.into());
    }
    Ok(movers())
}
