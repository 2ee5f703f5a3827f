//! What stands between the suites and those who read them: which cases run, and where the figures go.

use std::io;
use std::path::Path;

use crate::Settings;
use crate::error::{Any, BenchError};
use crate::measurement::{Measurement, Size};
use crate::programs::Set;

/// Takes what a suite finds, as it finds it.
///
/// ```
/// use std::io;
/// use stratape_bench::{Measurement, Settings, Sink, Suite, run};
///
/// /// Remembers the worst ratio.
/// #[derive(Default)]
/// struct Worst(f64);
///
/// impl Sink for Worst {
///     fn measured(&mut self, one: Measurement) -> io::Result<()> {
///         self.0 = self.0.max(one.ratio);
///         Ok(())
///     }
/// }
///
/// let settings = Settings { quick: true, only: Some("gravity/gradient".to_owned()), ..Settings::default() };
/// let mut worst = Worst::default();
/// run(Suite::Programs, &settings, &mut worst)?;
/// assert!(worst.0 > 0.0);
/// # Ok::<(), stratape_bench::BenchError>(())
/// ```
pub trait Sink {
    /// A case begins. It may yield several measurements, or none.
    fn begins(&mut self, case: &str) {
        let _ = case;
    }

    /// A measurement is made.
    ///
    /// # Errors
    /// An error ends the suite.
    fn measured(&mut self, measurement: Measurement) -> io::Result<()>;

    /// Something worth knowing beside the figures.
    fn remark(&mut self, text: &str) {
        let _ = text;
    }
}

impl Sink for Vec<Measurement> {
    fn measured(&mut self, measurement: Measurement) -> io::Result<()> {
        self.push(measurement);
        Ok(())
    }
}

/// One comparison, as the suites have it.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) bench: &'a str,
    pub(crate) case: &'a str,
    pub(crate) ours: f64,
    /// What the reference is.
    pub(crate) against: &'a str,
    pub(crate) theirs: f64,
    pub(crate) unit: &'a str,
    /// What we aim at, as text: "<= 1.10".
    pub(crate) aim: Option<&'a str>,
}

impl Line<'_> {
    pub(crate) fn measurement(&self, size: Size) -> Measurement {
        Measurement {
            bench: self.bench.to_owned(),
            case: self.case.to_owned(),
            ours: rounded(self.ours),
            against: self.against.to_owned(),
            theirs: rounded(self.theirs),
            ratio: rounded(self.ours / self.theirs),
            unit: self.unit.to_owned(),
            aim: self.aim.map(ToOwned::to_owned),
            size: Some(size),
        }
    }
}

/// Four significant digits: more would be noise.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

/// Runs a suite, or only counts its cases.
pub(crate) struct Runner<'a> {
    settings: &'a Settings,
    /// `None` when counting.
    sink: Option<&'a mut dyn Sink>,
    begun: usize,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(settings: &'a Settings, sink: &'a mut dyn Sink) -> Self {
        Self { settings, sink: Some(sink), begun: 0 }
    }

    pub(crate) fn counting(settings: &'a Settings) -> Self {
        Self { settings, sink: None, begun: 0 }
    }

    pub(crate) fn begun(&self) -> usize {
        self.begun
    }

    pub(crate) fn quick(&self) -> bool {
        self.settings.quick
    }

    /// Which programs are asked for.
    pub(crate) fn set(&self) -> Set {
        self.settings.set
    }

    /// Whether kernels run on the emulator.
    pub(crate) fn emulator(&self) -> bool {
        self.settings.emulator
    }

    /// The size of LULESH and its number of steps, where they are asked for.
    pub(crate) fn lulesh(&self) -> (Option<usize>, Option<usize>) {
        (self.settings.edge, self.settings.steps)
    }

    /// The bytes of memory that LULESH may take, where they are asked for.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.settings.memory.map(|mib| mib << 20)
    }

    /// The threads of parallel loops: as many as asked for, or as there are cores.
    pub(crate) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.settings.threads.filter(|threads| *threads > 0).unwrap_or_else(cores)
    }

    /// Where spill files go.
    pub(crate) fn directory(&self) -> &'a Path {
        &self.settings.spill_to
    }

    /// Whether a line of a case is asked for.
    pub(crate) fn selects(&self, case: &str) -> bool {
        self.settings.wants(case)
    }

    /// Whether to measure a case, now.
    pub(crate) fn wants(&mut self, case: &str) -> bool {
        self.selects(case) && self.begins(case)
    }

    /// Begins a case that is asked for; false when cases are only counted.
    pub(crate) fn begins(&mut self, case: &str) -> bool {
        self.begun += 1;
        match &mut self.sink {
            Some(sink) => {
                sink.begins(case);
                true
            }
            None => false,
        }
    }

    pub(crate) fn tell(&mut self, line: &Line<'_>) -> Result<(), BenchError> {
        match &mut self.sink {
            Some(sink) => {
                sink.measured(line.measurement(self.settings.size())).map_err(BenchError::Sink)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn remark(&mut self, text: &str) {
        if let Some(sink) = &mut self.sink {
            sink.remark(text);
        }
    }

    /// A case that could not run; `disk` is how many bytes of it the case needs.
    pub(crate) fn failed(&self, case: &str, disk: usize, source: impl Into<Any>) -> BenchError {
        BenchError::Case {
            case: case.to_owned(),
            disk: disk as u64,
            directory: self.directory().to_owned(),
            size: self.settings.size(),
            source: source.into(),
        }
    }
}
