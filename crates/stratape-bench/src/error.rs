//! [`BenchError`]: why a case could not be measured, and what to do.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::measurement::Size;

/// Any error, of whichever part of Stratape a case uses.
pub(crate) type Any = Box<dyn Error + Send + Sync>;

/// A suite could not be run to its end.
///
/// ```
/// use stratape_bench::{BenchError, Measurement, Settings, Suite, run};
///
/// let settings = Settings {
///     quick: true,
///     only: Some("spill_growth".to_owned()),
///     spill_to: "no such directory".into(),
///     ..Settings::default()
/// };
/// let error = run(Suite::Tape, &settings, &mut Vec::<Measurement>::new());
/// assert!(matches!(&error, Err(BenchError::Case { case, .. }) if case == "spill_growth"));
/// assert!(error.is_err_and(|error| error.to_string().contains("--spill-to")));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BenchError {
    /// A case could not be run.
    Case {
        /// Its name.
        case: String,
        /// Bytes of disk it needs, none for a case in memory …
        disk: u64,
        /// … and where.
        directory: PathBuf,
        /// The sizes that were asked for.
        size: Size,
        /// What went wrong.
        source: Any,
    },
    /// The sink did not take what was measured.
    Sink(io::Error),
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case { case, disk: 0, source, .. } => {
                write!(f, "the case {case} could not be run: {source}")
            }
            Self::Case { case, disk, directory, size, source } => {
                let smaller = match size {
                    Size::Full => " smaller sizes with --quick,",
                    Size::Quick => "",
                };
                write!(
                    f,
                    "the case {case} could not be run: {source}\nIt needs {} MiB of disk in {}; choose another directory with \
                     --spill-to,{smaller} or other cases with --only",
                    disk.div_ceil(1 << 20),
                    directory.display()
                )
            }
            Self::Sink(error) => write!(f, "what was measured cannot be written: {error}"),
        }
    }
}

impl Error for BenchError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Case { source, .. } => Some(&**source),
            Self::Sink(error) => Some(error),
        }
    }
}
