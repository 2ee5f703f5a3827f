//! [`CheckpointError`]: why a reversal could not be done, and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use stratape_tape::TapeError;
use stratape_tape::tier::TierError;

use crate::schedule::ScheduleError;

/// A time loop could not be reversed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The schedule is not possible.
    Schedule(ScheduleError),
    /// The settings contradict each other, or are incomplete.
    Settings(String),
    /// The budget is too small.
    Budget {
        /// Bytes of one snapshot.
        snapshot: usize,
        /// Bytes needed at least.
        needed: usize,
        /// Bytes available.
        memory: usize,
    },
    /// The disk cannot be used at all.
    Disk(TapeError),
    /// The disk failed, and there are no slots in memory to continue with.
    DiskFailed {
        /// The disk's error.
        why: String,
        /// Where the run can be continued from, if it was to be resumable.
        resumable: Option<PathBuf>,
    },
    /// A snapshot cannot be read back, and there is no earlier one.
    Lost {
        /// Its step.
        step: usize,
        /// The store's error.
        source: TierError,
    },
    /// A step gave a different result the second time: it depends on something outside its state.
    NotReproducible {
        /// The step.
        step: usize,
        /// The first byte of the written state that differs, if that is known.
        byte: Option<usize>,
    },
    /// The loop did not end within the limit.
    TooManySteps {
        /// The limit.
        limit: usize,
    },
    /// The directory of a run to be resumed cannot be used.
    Resume {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory holds another run.
    OtherRun {
        /// The manifest.
        path: PathBuf,
        /// In what way it differs.
        why: String,
    },
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule(error) => error.fmt(f),
            Self::Settings(what) => f.write_str(what),
            Self::Budget { snapshot, needed, memory } => write!(
                f,
                "a snapshot is {snapshot} bytes and {needed} are needed in memory, but the budget is {memory}; \
                 raise it with `memory`"
            ),
            Self::Disk(error) => write!(f, "no snapshots can be kept on disk: {error}"),
            Self::DiskFailed { why, resumable: None } => write!(
                f,
                "the disk failed ({why}) and there is no slot in memory to go on with; give some with `memory`"
            ),
            Self::DiskFailed { why, resumable: Some(path) } => write!(
                f,
                "the disk failed ({why}) and there is no slot in memory to go on with; what was done is saved: mend the \
                 disk and start again with `resume({})`",
                path.display()
            ),
            Self::Lost { step, source } => write!(
                f,
                "the snapshot of step {step} cannot be read back, and there is none before it to recompute it from: {source}"
            ),
            Self::NotReproducible { step, byte } => {
                write!(f, "step {step} gave another result when it was run again")?;
                if let Some(byte) = byte {
                    write!(f, " (from byte {byte} of the written state on)")?;
                }
                f.write_str(
                    ": it depends on something outside its state. Put that into the state (a random number generator, a \
                     counter, a cache), or the gradient would be wrong",
                )
            }
            Self::TooManySteps { limit } => write!(
                f,
                "the loop has not ended after {limit} steps; raise `at_most`, or look at the condition of `until`"
            ),
            Self::Resume { path, source } => {
                write!(f, "the run cannot be saved in {}: {source}", path.display())
            }
            Self::OtherRun { path, why } => write!(
                f,
                "{} belongs to another run: {why}. Give this run a directory of its own, or delete that one",
                path.display()
            ),
        }
    }
}

impl std::error::Error for CheckpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Schedule(error) => Some(error),
            Self::Disk(error) => Some(error),
            Self::Lost { source, .. } => Some(source),
            Self::Resume { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<ScheduleError> for CheckpointError {
    fn from(error: ScheduleError) -> Self {
        Self::Schedule(error)
    }
}
