//! [`TapeError`]: what went wrong, what still holds, what to do. The errors of what lies below a tape are beside it:
//! [`TierError`], [`SourceError`], [`OutOfMemory`].

mod memory;
mod tier;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use memory::{OutOfMemory, SourceError};
pub use tier::TierError;

/// An operation of a tape failed.
///
/// The value is one pointer wide, so that results stay in registers on the hot path.
/// [`kind`](Self::kind) distinguishes failures; the text says what happened, what is still valid, and
/// what to do about it.
///
/// Failures of the store below leave the tape intact: nothing that was pushed is lost, and the
/// same call may be repeated. The one exception is a tier that breaks its contract:
/// [`ErrorKind::Lost`].
pub struct TapeError(Box<ErrorKind>);

/// The kinds of [`TapeError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The options contradict themselves or ask for the impossible.
    Options(String),
    /// The spill directory cannot take a file.
    SpillDirectory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The requested I/O engine is not available here.
    EngineUnavailable {
        /// The system's error.
        source: io::Error,
    },
    /// A slab could not be written to the tier below, and the memory budget is used up.
    Spill {
        /// The slab, counted from the bottom.
        slab: usize,
        /// The tier's error.
        source: TierError,
    },
    /// A slab could not be read back from the tier below.
    Fetch {
        /// The slab, counted from the bottom.
        slab: usize,
        /// The tier's error.
        source: TierError,
    },
    /// A slab is lost: the tier below broke its contract while it had the slab's memory.
    Lost {
        /// The slab, counted from the bottom.
        slab: usize,
        /// What the tier did.
        source: TierError,
    },
    /// One region asks for more memory than the budget can hold.
    RegionTooLarge {
        /// Bytes it needs in one piece.
        bytes: usize,
        /// Bytes the tape may keep in RAM.
        memory: usize,
    },
    /// The system had no memory.
    OutOfMemory(OutOfMemory),
    /// The source of blocks that the tape was given failed, or broke its contract.
    Source(SourceError),
    /// A record was popped as another type than it was pushed.
    Mismatch {
        /// What the caller asked for.
        asked: String,
        /// What is on top of the tape.
        found: String,
    },
    /// Something whose steps are recorded on the tape failed.
    Attached(Box<dyn std::error::Error + Send + Sync>),
    /// A loop could not be reversed from snapshots.
    Snapshots(String),
    /// A saved tape could not be read or written.
    SavedFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not a saved tape, or not one this version, type or layout can read.
    NotThisTape {
        /// The file.
        path: PathBuf,
        /// In what way it differs.
        why: String,
    },
}

impl TapeError {
    /// What kind of failure this is.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The kind, by value.
    pub fn into_kind(self) -> ErrorKind {
        *self.0
    }

    /// Whether the store below is out of space, as opposed to broken.
    ///
    /// ```
    /// # use stratape_tape::{LayeredTape, TapeOptions};
    /// let mut tape: LayeredTape<f64> =
    ///     TapeOptions::new().memory(64 << 10).slab_bytes(8 << 10).disk_limit(0).open()?;
    /// let error = loop {
    ///     if let Err(error) = tape.push(1.0) {
    ///         break error;
    ///     }
    /// };
    /// assert!(error.is_full());
    /// tape.set_memory(1 << 20)?; // continue in RAM
    /// tape.push(1.0)?;
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn is_full(&self) -> bool {
        matches!(*self.0, ErrorKind::Spill { source: TierError::Full { .. }, .. })
    }
}

impl From<ErrorKind> for TapeError {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl From<OutOfMemory> for TapeError {
    fn from(error: OutOfMemory) -> Self {
        ErrorKind::OutOfMemory(error).into()
    }
}

impl From<SourceError> for TapeError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::OutOfMemory(error) => error.into(),
            other => ErrorKind::Source(other).into(),
        }
    }
}

/// The text for people, since this is what `unwrap` and a `main` that returns the error print;
/// `{:#?}` shows the kind.
impl fmt::Debug for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { self.0.fmt(f) } else { fmt::Display::fmt(self, f) }
    }
}

impl fmt::Display for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            ErrorKind::Options(what) => write!(f, "these tape options cannot work: {what}"),
            ErrorKind::SpillDirectory { path, source } => write!(
                f,
                "no spill file can be made in {}: {source}; name a directory that exists and is \
                 writable with `spill_to`",
                path.display()
            ),
            ErrorKind::EngineUnavailable { source } => write!(
                f,
                "the I/O engine is not available here: {source}; `IoEngine::Auto` falls back to \
                 threads by itself"
            ),
            ErrorKind::Spill { slab, source } => write!(
                f,
                "slab {slab} could not be spilled and the memory budget is used up: {source}. \
                 Nothing is lost: the tape is as before the call and can be popped; push again \
                 after making room, or raise the budget with `set_memory`"
            ),
            ErrorKind::Fetch { slab, source } => write!(
                f,
                "slab {slab} could not be read back: {source}. The tape is as before the call; \
                 the same call reads it again"
            ),
            ErrorKind::Lost { slab, source } => write!(
                f,
                "slab {slab} is lost: {source}. What lies above it can be popped; truncate, \
                 rewind or clear the tape below it to go on"
            ),
            ErrorKind::RegionTooLarge { bytes, memory } => write!(
                f,
                "a region of {bytes} bytes does not fit a memory budget of {memory} bytes beside \
                 the slab in use; reserve it in smaller pieces, or raise the budget"
            ),
            ErrorKind::OutOfMemory(error) => {
                write!(f, "{error}; the tape is as before the call")
            }
            ErrorKind::Source(error) => {
                write!(f, "{error}; the tape is as before the call, and the call may be repeated")
            }
            ErrorKind::Mismatch { asked, found } => {
                write!(f, "the reverse pass asked for {asked}, but the tape holds {found}")
            }
            ErrorKind::Attached(error) => error.fmt(f),
            ErrorKind::Snapshots(what) => write!(f, "a loop under `#[checkpoint]`: {what}"),
            ErrorKind::SavedFile { path, source } => {
                write!(f, "saved tape {}: {source}", path.display())
            }
            ErrorKind::NotThisTape { path, why } => {
                write!(f, "{} cannot be loaded: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for TapeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::SpillDirectory { source, .. }
            | ErrorKind::EngineUnavailable { source }
            | ErrorKind::SavedFile { source, .. } => Some(source),
            ErrorKind::Spill { source, .. }
            | ErrorKind::Fetch { source, .. }
            | ErrorKind::Lost { source, .. } => Some(source),
            ErrorKind::OutOfMemory(error) => Some(error),
            ErrorKind::Source(error) => Some(error),
            ErrorKind::Attached(error) => error.source(),
            _ => None,
        }
    }
}
