//! The memory a gradient works in.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use stratape_checkpoint::Report;
use stratape_tape::{RecordTape, Sample, TapeError, TapeOptions, TapeStats};

use crate::parallel::Lane;
use crate::time_loop::Log;

/// What a gradient needs besides its arguments: the tape, kept from call to call so that only
/// the first one pays for fresh memory.
///
/// `f_grad` uses a thread-local one, in memory. Pass your own to `f_grad_in` to set a budget,
/// to spill to disk, or to read statistics:
///
/// ```
/// use stratape::{Workspace, gradient, tape::TapeOptions};
///
/// #[gradient]
/// fn orbit(x0: f64, n: usize) -> f64 {
///     let mut x = x0;
///     for _ in 0..n {
///         x = 0.9 * x.sin() + 0.1 * x * x;
///     }
///     x
/// }
///
/// let options = TapeOptions::new().memory(1 << 20);
/// let mut workspace = Workspace::with(options)?;
/// let (value, dx0) = orbit_grad_in(&mut workspace, 1.0, 200_000, 1.0)?;
/// assert_eq!((value, dx0), orbit_grad(1.0, 200_000, 1.0));
/// println!("{}", workspace.stats());
/// # Ok::<(), stratape::tape::TapeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    tape: RecordTape,
    last_bytes: u64,
    /// Tapes of the parts of parallel loops; opened when the first one runs.
    lanes: Vec<Lane>,
    /// How many there are to be; 0: as many as the machine has cores.
    wanted: usize,
    /// What the tapes are opened with, if not in memory.
    options: Option<TapeOptions>,
    /// Where loops under `#[checkpoint]` leave their reports, if the tape records.
    log: Option<Log>,
    /// Whether a gradient has begun.
    used: bool,
}

impl Workspace {
    /// A workspace in memory.
    ///
    /// ```
    /// let workspace = stratape::Workspace::new();
    /// assert_eq!(workspace.stats().bytes, 0);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// A workspace whose tape has a budget and lower tiers.
    ///
    /// ```
    /// use stratape::{Workspace, tape::TapeOptions};
    ///
    /// let workspace = Workspace::with(TapeOptions::new().memory(64 << 20))?;
    /// # Ok::<(), stratape::tape::TapeError>(())
    /// ```
    ///
    /// # Errors
    /// What [`TapeOptions::open_records`] reports: a directory that cannot be written, a budget
    /// too small.
    pub fn with(options: TapeOptions) -> Result<Self, TapeError> {
        let tape = options.clone().open_records()?;
        let log = options.is_recorded().then(Log::default);
        Ok(Self { tape, options: Some(options), log, ..Self::default() })
    }

    /// Statistics of the tape since the workspace was created; with parallel loops, of all tapes together,
    /// since the number of lanes was last set.
    pub fn stats(&self) -> TapeStats {
        let mut total = self.tape.stats();
        self.lanes.iter().for_each(|lane| total.add(&lane.0.stats()));
        total
    }

    /// The number of parts that the iterations of a [`parallel`](crate::parallel) loop are divided into, at most: short
    /// loops are divided into fewer. Each part has its own tape, with an equal share of the budget.
    /// Default: the number of cores.
    ///
    /// The last bits of gradients depend on this number, but not on the number of threads.
    ///
    /// ```
    /// let mut workspace = stratape::Workspace::new();
    /// workspace.set_lanes(4);
    /// assert_eq!(workspace.lanes(), 4);
    /// ```
    pub fn set_lanes(&mut self, lanes: usize) {
        if lanes != self.lanes.len() {
            self.lanes.clear();
        }
        self.wanted = lanes;
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        match self.wanted {
            0 => cores(),
            wanted => wanted,
        }
    }

    /// Bytes on the tape at the end of the last gradient's forward pass: what it saved.
    ///
    /// ```
    /// use stratape::{Workspace, gradient};
    ///
    /// #[gradient]
    /// fn product(x: &[f64]) -> f64 {
    ///     let mut p = 1.0;
    ///     for v in x {
    ///         p *= v;
    ///     }
    ///     p
    /// }
    ///
    /// let (x, mut dx) = (vec![1.0; 1000], vec![0.0; 1000]);
    /// let mut workspace = Workspace::new();
    /// product_grad_in(&mut workspace, &x, &mut dx, 1.0)?;
    /// // The product so far, at each step, and a few bytes for their region.
    /// assert!((8000..8100).contains(&workspace.last_bytes()));
    /// # Ok::<(), stratape::tape::TapeError>(())
    /// ```
    pub fn last_bytes(&self) -> u64 {
        self.last_bytes
    }

    /// The reports of the loops under `#[checkpoint]` in the last gradient, in the order in which they were reversed, if the workspace was
    /// opened with [`TapeOptions::record`]. [`picture::time_loop`](crate::picture::time_loop) draws one. Loops inside such a loop are not
    /// reported.
    ///
    /// ```
    /// use stratape::{Workspace, gradient, picture, tape::TapeOptions};
    ///
    /// #[gradient]
    /// fn orbit(x0: f64, n: usize) -> f64 {
    ///     let mut x = x0;
    ///     #[checkpoint(slots = 10)]
    ///     for _ in 0..n {
    ///         x = 0.9 * x.sin() + 0.1 * x * x;
    ///     }
    ///     x
    /// }
    ///
    /// let mut workspace = Workspace::with(TapeOptions::new().record(true))?;
    /// orbit_grad_in(&mut workspace, 1.0, 1000, 1.0)?;
    /// let loops = workspace.loops();
    /// assert_eq!((loops.len(), loops[0].reversed), (1, 1000));
    /// let svg = picture::time_loop(&loops[0]).to_string();
    /// assert!(svg.contains("snapshot in memory"));
    /// # Ok::<(), stratape::tape::TapeError>(())
    /// ```
    pub fn loops(&self) -> Vec<Report> {
        self.log.as_ref().map_or_else(Vec::new, Log::reports)
    }

    /// Whether the tape records what it holds.
    pub(crate) fn is_recorded(&self) -> bool {
        self.log.is_some()
    }

    /// Whether a gradient has begun in it.
    pub(crate) fn is_used(&self) -> bool {
        self.used
    }

    /// What was recorded in the last gradient, for each tape.
    pub(crate) fn samples(&self) -> Vec<&[Sample]> {
        let lanes = self.lanes.iter().map(|lane| lane.0.samples());
        std::iter::once(self.tape.samples()).chain(lanes).collect()
    }

    /// A gradient begins: the reports of its loops go to this workspace.
    pub(crate) fn listen(&mut self) {
        Log::install(self.log.as_ref());
        self.used = true;
    }

    pub(crate) fn parts(&mut self) -> (&mut RecordTape, &mut u64) {
        (&mut self.tape, &mut self.last_bytes)
    }

    /// Opens a tape for each lane, and the main tape again, under a budget that all of them share.
    pub(crate) fn open_lanes(&mut self) -> Result<(), TapeError> {
        let wanted = self.lanes();
        if self.lanes.len() == wanted {
            return Ok(());
        }
        let Some(options) = &self.options else {
            self.lanes.resize_with(wanted, Lane::default);
            return Ok(());
        };
        let mut tapes = options.clone().open_record_lanes(wanted + 1)?.into_iter();
        self.tape = tapes.next().unwrap_or_default();
        self.lanes = tapes.map(Lane).collect();
        Ok(())
    }

    pub(crate) fn all_parts(&mut self) -> (&mut RecordTape, &mut [Lane], &mut u64) {
        (&mut self.tape, &mut self.lanes, &mut self.last_bytes)
    }

    /// The tape, for what is not offered here.
    pub fn tape(&mut self) -> &mut RecordTape {
        &mut self.tape
    }
}

/// The number of cores, asked for once: the answer may read files.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, usize::from))
}

thread_local! {
    static SPARE: Cell<Option<Box<Workspace>>> = const { Cell::new(None) };
}

/// Bytes the last gradient on the thread's own workspace saved since this was asked last.
pub fn take_last_bytes() -> u64 {
    std::mem::take(&mut Borrowed::new().get().last_bytes)
}

/// The thread's own workspace, while a gradient uses it. A gradient called inside another one
/// finds it gone and makes a second.
#[derive(Debug)]
pub struct Borrowed {
    workspace: Option<Box<Workspace>>,
}

impl Borrowed {
    /// Takes the thread's workspace.
    #[expect(clippy::new_without_default, reason = "for emitted code only")]
    pub fn new() -> Self {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        Self { workspace: spare }
    }

    /// The workspace; a new one, if the thread had none to give.
    pub fn get(&mut self) -> &mut Workspace {
        self.workspace.get_or_insert_default()
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // A thread that is going away has no place for it any more: then it is dropped.
        let _ = SPARE.try_with(|spare| spare.set(self.workspace.take()));
    }
}
