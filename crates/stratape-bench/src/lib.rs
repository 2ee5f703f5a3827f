//! The benchmarks of Stratape, a module for each suite.
//!
//! Every figure is a ratio of two things measured in turn in the same run, since machines are
//! shared and clocks drift. `docs/performance.md` says what was measured and what it taught.
//!
//! [`run`] measures the cases of a [`Suite`] that [`Settings`] ask for and hands each [`Measurement`] to a [`Sink`]. The binary
//! `stratape-bench` prints them as JSON lines, or draws them; `stratape bench` runs it.
//!
//! ```
//! use stratape_bench::{Measurement, Settings, Suite, run};
//!
//! let settings = Settings { quick: true, only: Some("gravity/gradient".to_owned()), ..Settings::default() };
//! let mut found: Vec<Measurement> = Vec::new();
//! run(Suite::Programs, &settings, &mut found)?;
//! assert!(found.iter().all(|one| one.case == "gravity/gradient" && one.ratio > 0.0));
//! # Ok::<(), stratape_bench::BenchError>(())
//! ```

#![forbid(unsafe_code)]
// Shapes that the programs fix themselves; what comes from outside is a `BenchError`.
#![allow(clippy::expect_used)]

mod checkpoint;
mod cpp;
mod error;
mod gpu;
mod lulesh;
mod measure;
mod measurement;
pub mod programs;
mod runner;
mod tape;
mod tapeflow;
mod wild;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub use self::error::BenchError;
pub use self::measurement::{Aim, Measurement, NotMeasurements, Size};
use self::programs::Set;
use self::runner::Runner;
pub use self::runner::Sink;

/// The suites.
///
/// ```
/// use stratape_bench::Suite;
///
/// assert_eq!(Suite::Checkpoint.name(), "checkpoint");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The tape: memory, records, spilling, threads.
    Tape,
    /// Programs and their gradients: the value, the adjoint by hand, the generated gradient.
    Programs,
    /// Time loops: overhead, disks, workers, schedules.
    Checkpoint,
    /// The tape from C++, compared with plain C++ arrays. Needs g++ and the source of the workspace.
    Cpp,
    /// Layers of the tape: the cost of their size, and of saving every value.
    Tapeflow,
    /// Kernels and their gradients on a device, or on the emulator.
    Gpu,
    /// LULESH, and its gradient through the time loop: taped, spilled, from snapshots.
    Lulesh,
}

impl Suite {
    /// Its name on the command line, and in [`Measurement::bench`].
    ///
    /// ```
    /// assert_eq!(stratape_bench::Suite::Tape.name(), "tape");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tape => "tape",
            Self::Programs => "programs",
            Self::Checkpoint => "checkpoint",
            Self::Cpp => "cpp",
            Self::Tapeflow => "tapeflow",
            Self::Gpu => "gpu",
            Self::Lulesh => "lulesh",
        }
    }
}

/// What to run, and how long.
///
/// ```
/// let settings = stratape_bench::Settings { only: Some("sum".to_owned()), ..Default::default() };
/// assert!(settings.wants("logsum/gradient") && !settings.wants("mlp/gradient"));
/// ```
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Small sizes: a few seconds.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Full sizes: minutes, and up to 17 GB of disk. This is the default.
    #[arg(long)]
    pub full: bool,
    /// Run only the cases whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// The programs that the suite `programs` runs.
    #[arg(long, default_value = "reference")]
    pub set: Set,
    /// Run the suite `gpu` on the emulator, even if there is a device.
    #[arg(long)]
    pub emulator: bool,
    /// Elements along an edge of the cube in the suite `lulesh`. Default: several sizes.
    #[arg(long = "size", value_name = "ELEMENTS")]
    pub edge: Option<usize>,
    /// Time steps of the suite `lulesh`.
    #[arg(long)]
    pub steps: Option<usize>,
    /// Threads of the suite `lulesh`. Default: one per core.
    #[arg(long)]
    pub threads: Option<usize>,
    /// In the suite `lulesh`, run only a gradient in this many MiB of memory. Default size and steps: 45 and 1000.
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Directory for spill files. They are unnamed and disappear with the process.
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub spill_to: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            quick: false,
            full: false,
            only: None,
            set: Set::Reference,
            emulator: false,
            edge: None,
            steps: None,
            threads: None,
            memory: None,
            spill_to: ".".into(),
        }
    }
}

impl Settings {
    /// Whether a case is among those asked for.
    ///
    /// ```
    /// assert!(stratape_bench::Settings::default().wants("any case"));
    /// ```
    #[must_use]
    pub fn wants(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|text| case.contains(text.as_str()))
    }

    /// The sizes asked for.
    ///
    /// ```
    /// use stratape_bench::{Settings, Size};
    ///
    /// assert_eq!(Settings::default().size(), Size::Full);
    /// ```
    #[must_use]
    pub fn size(&self) -> Size {
        if self.quick { Size::Quick } else { Size::Full }
    }
}

/// Measures what is asked for, one case after the other.
///
/// # Errors
/// If a case cannot run, as for want of disk, or if the sink refuses what it is handed. What was measured until then has reached it.
///
/// ```
/// use stratape_bench::{Measurement, Settings, Suite, run};
///
/// let settings = Settings { quick: true, only: Some("no such case".to_owned()), ..Settings::default() };
/// let mut found: Vec<Measurement> = Vec::new();
/// run(Suite::Tape, &settings, &mut found)?;
/// assert!(found.is_empty());
/// # Ok::<(), stratape_bench::BenchError>(())
/// ```
pub fn run(suite: Suite, settings: &Settings, sink: &mut dyn Sink) -> Result<(), BenchError> {
    run_with(suite, &mut Runner::new(settings, sink))
}

/// How many times [`Sink::begins`] will be called.
///
/// ```
/// use stratape_bench::{Settings, Suite, count};
///
/// let settings = Settings { only: Some("nbody".to_owned()), ..Settings::default() };
/// assert!(count(Suite::Programs, &settings) >= 1); // more, if peers are measured too
/// ```
#[must_use]
pub fn count(suite: Suite, settings: &Settings) -> usize {
    let mut runner = Runner::counting(settings);
    // Nothing is run, so that nothing can fail.
    let _ = run_with(suite, &mut runner);
    runner.begun()
}

fn run_with(suite: Suite, runner: &mut Runner<'_>) -> Result<(), BenchError> {
    match suite {
        Suite::Tape => tape::run(runner),
        Suite::Programs => programs::run(runner),
        Suite::Checkpoint => checkpoint::run(runner),
        Suite::Cpp => cpp::run(runner),
        Suite::Tapeflow => tapeflow::run(runner),
        Suite::Gpu => gpu::run(runner),
        Suite::Lulesh => lulesh::run(runner),
    }
}
