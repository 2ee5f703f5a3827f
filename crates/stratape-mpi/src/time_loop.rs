//! Time loops on several ranks: one schedule for all of them, and cuts that another job can go on from.
//!
//! The loop is divided into segments of equally many steps. On the way there each rank keeps the state at the beginning of every segment; on the way back a segment is
//! reversed from snapshots in memory, as [`checkpoint::TimeLoop`](stratape::checkpoint::TimeLoop) does, and the adjoint at its beginning is kept. Both are *cuts*. In a directory each
//! rank writes them to files of its own; then all ranks agree that everyone has, and only then what the cut before needed is deleted. So there is always a cut that all
//! ranks have, whenever one of them dies.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use stratape::checkpoint::snapshot::{from_bytes, to_bytes};
use stratape::checkpoint::{self, CheckpointError, Snapshot};

use crate::comm::Comm;
use crate::cuts::{Cut, Directory};
use crate::error::MpiError;

/// A run that failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// Ranks could not agree.
    Mpi(MpiError),
    /// A segment could not be reversed.
    Checkpoint(CheckpointError),
    /// The directory cannot be used, on this rank or on another.
    Directory {
        /// The directory of this rank.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mpi(error) => error.fmt(f),
            Self::Checkpoint(error) => error.fmt(f),
            Self::Directory { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for RunError {}

impl From<MpiError> for RunError {
    fn from(error: MpiError) -> Self {
        Self::Mpi(error)
    }
}

impl From<CheckpointError> for RunError {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

/// What a run took, the same on every rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Steps of the loop.
    pub steps: usize,
    /// Steps that were run forward, recomputed ones among them; without those of jobs before this one.
    pub advanced: u64,
    /// The cut that the run went on from, if it was resumed: so many were complete.
    pub resumed: Option<u64>,
    /// Cuts that a rank could not write: a job that dies goes back to the one before.
    pub failed_saves: u64,
}

/// Whether a state is the last one.
type Ended<S> = Box<dyn FnMut(&S) -> bool>;

/// A time loop that all ranks of a communicator run together.
///
/// ```no_run
/// use stratape_mpi::{Comm, TimeLoop, exchange};
///
/// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
/// let comm = Comm::new(&universe.world())?;
/// let next = (comm.rank + 1) % comm.size;
/// let before = (comm.rank + comm.size - 1) % comm.size;
/// // Every step adds half of what the rank before has; its adjoint goes the other way.
/// let (last, adjoint, report) = TimeLoop::new(&comm, vec![1.0 + comm.rank as f64])
///     .steps(1000)
///     .segment(50)
///     .slots(10)
///     .directory("run")
///     .gradient(
///         |_, x| {
///             let mut came = [0.0];
///             exchange(&comm, x, next, &mut came, before, 0);
///             x[0] = 0.5 * x[0] + 0.5 * came[0];
///         },
///         |_| vec![1.0],
///         |_, _, dx| {
///             let (sent, mut came) = ([0.5 * dx[0]], [0.0]);
///             exchange(&comm, &sent, before, &mut came, next, 0);
///             dx[0] = 0.5 * dx[0] + came[0];
///         },
///     )?;
/// # let _ = (last, adjoint, report);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TimeLoop<S> {
    comm: Comm,
    start: S,
    steps: Option<usize>,
    ended: Option<Ended<S>>,
    segment: usize,
    slots: usize,
    directory: Option<PathBuf>,
}

impl<S: Snapshot> TimeLoop<S> {
    /// A loop that begins with this rank's part of the state.
    pub fn new(comm: &Comm, start: S) -> Self {
        Self {
            comm: *comm,
            start,
            steps: None,
            ended: None,
            segment: 100,
            slots: 10,
            directory: None,
        }
    }

    /// The number of steps, the same on every rank.
    #[must_use]
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Runs until `ended` holds on any rank, at the end of a step; with [`steps`](Self::steps), at most as many.
    #[must_use]
    pub fn until(mut self, ended: impl FnMut(&S) -> bool + 'static) -> Self {
        self.ended = Some(Box::new(ended));
        self
    }

    /// Steps from one cut to the next. Default: 100.
    #[must_use]
    pub fn segment(mut self, steps: usize) -> Self {
        self.segment = steps.max(1);
        self
    }

    /// Snapshots in memory while a segment is reversed; the ranks use the least that any of them gives. Default: 10.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots.max(1);
        self
    }

    /// Keeps the cuts in a directory, in which every rank has one of its own. If it holds the beginning of this run, goes on from the last cut that all
    /// ranks have, to the same bits. What belongs to the run is deleted when it is complete.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// Runs the loop and reverses it: the last state, the adjoint of the first, and what it took. All ranks must call it.
    ///
    /// # Errors
    /// If neither a number of steps nor an end is given; if the directory of a rank cannot be used, or holds another run (on all ranks then).
    pub fn gradient<A: Snapshot>(
        mut self,
        mut step: impl FnMut(usize, &mut S),
        seed: impl FnOnce(&S) -> A,
        mut pullback: impl FnMut(usize, &S, &mut A),
    ) -> Result<(S, A, RunReport), RunError> {
        let comm = self.comm;
        let least = |number: u64| comm.agree_on_least(number);
        let slots = least(self.slots as u64)? as usize;
        self.segment = least(self.segment as u64)? as usize;
        let mut cuts = Cuts::open(&self)?;
        let mut report = RunReport { resumed: cuts.found, ..RunReport::default() };

        let mut state = cuts.state_found()?.unwrap_or_else(|| self.start.clone());
        let steps = match cuts.ended {
            Some(steps) => steps,
            None => {
                let mut at = cuts.next_state * self.segment;
                if cuts.next_state == 0 {
                    cuts.keep(&mut report, Cut::State(0), to_bytes(&state))?;
                }
                loop {
                    if self.steps.is_some_and(|steps| at >= steps) {
                        break;
                    }
                    step(at, &mut state);
                    at += 1;
                    report.advanced += 1;
                    if let Some(ended) = &mut self.ended
                        && least(u64::from(!ended(&state)))? == 0
                    {
                        break;
                    }
                    if at.is_multiple_of(self.segment) && self.steps != Some(at) {
                        cuts.keep(&mut report, Cut::State(at / self.segment), to_bytes(&state))?;
                    }
                }
                cuts.keep(&mut report, Cut::End(at), to_bytes(&state))?;
                at
            }
        };
        report.steps = steps;
        let mut adjoint = match cuts.adjoint_found()? {
            Some(adjoint) => adjoint,
            None => seed(&state),
        };
        let segments = steps.div_ceil(self.segment);
        for segment in (0..cuts.left.unwrap_or(segments)).rev() {
            let first = segment * self.segment;
            let len = self.segment.min(steps - first);
            let begin: S = cuts.state(segment)?;
            let inner = checkpoint::TimeLoop::new(begin).steps(len).slots(slots);
            let before = adjoint;
            let (_, after, took) = inner.gradient(
                |n, state| step(first + n, state),
                |_| before,
                |n, state, adjoint| pullback(first + n, state, adjoint),
            )?;
            adjoint = after;
            report.advanced += took.advanced;
            cuts.keep(&mut report, Cut::Adjoint(segment), to_bytes(&adjoint))?;
        }
        cuts.remove(&comm)?;
        Ok((state, adjoint, report))
    }
}

/// The cuts of a run, in memory and on disk.
struct Cuts {
    comm: Comm,
    directory: Option<Directory>,
    /// Those that are not on disk.
    states: BTreeMap<usize, Vec<u8>>,
    found: Option<u64>,
    /// The number of steps, if the loop has ended.
    ended: Option<usize>,
    /// The next state to be kept, if it has not.
    next_state: usize,
    /// Segments that are not reversed yet, if some are.
    left: Option<usize>,
    last: Option<Cut>,
}

impl Cuts {
    fn open<S: Snapshot>(run: &TimeLoop<S>) -> Result<Self, RunError> {
        let comm = run.comm;
        let mut cuts = Self {
            comm,
            directory: None,
            states: BTreeMap::new(),
            found: None,
            ended: None,
            next_state: 0,
            left: None,
            last: None,
        };
        let Some(path) = &run.directory else { return Ok(cuts) };
        let path = path.join(format!("rank-{}-of-{}", comm.rank, comm.size));
        let identity = format!(
            "{} of {} bytes, checksum {:08x}, {:?} steps in segments of {}",
            std::any::type_name::<S>(),
            run.start.encoded_len(),
            stratape::tape::checksum(&to_bytes(&run.start)),
            run.steps,
            run.segment
        );
        let opened = Directory::open(&path, &identity);
        let all = comm.agree_on_least(u64::from(opened.is_ok()))? == 1;
        let directory = match (opened, all) {
            (Ok(directory), true) => directory,
            (Ok(_), false) => {
                let why = "another rank cannot use its directory".to_owned();
                return Err(RunError::Directory { path, why });
            }
            (Err(why), _) => return Err(RunError::Directory { path, why }),
        };
        // What the least advanced rank has, all others have as well: they keep a cut until all have the next one.
        let newest = directory.newest(run.segment);
        let agreed = comm.agree_on_least(
            newest.map_or(0, |cut| 1 + cut.number(directory.ended(), run.segment)),
        )?;
        if agreed > 0 {
            let cut = Cut::numbered(agreed - 1, directory.ended(), run.segment);
            cuts.found = Some(agreed - 1);
            match cut {
                Cut::State(at) => cuts.next_state = at,
                Cut::End(steps) => cuts.ended = Some(steps),
                Cut::Adjoint(segment) => {
                    cuts.ended = directory.ended();
                    cuts.left = Some(segment);
                }
            }
            cuts.last = Some(cut);
        }
        cuts.directory = Some(directory);
        Ok(cuts)
    }

    fn read<T: Snapshot>(&self, cut: Cut) -> Result<T, RunError> {
        let bytes = match (cut, &self.directory) {
            (Cut::State(at), _) if self.states.contains_key(&at) => {
                self.states.get(&at).cloned().ok_or_else(|| "it is gone".to_owned())
            }
            (cut, Some(directory)) => directory.read(cut),
            _ => Err("it was not kept".to_owned()),
        };
        let whole = bytes.and_then(|bytes| from_bytes(&bytes).map_err(|error| error.to_string()));
        whole.map_err(|why| {
            let path = self.directory.as_ref().map(|known| known.path().to_owned());
            RunError::Directory { path: path.unwrap_or_default(), why: format!("{cut:?}: {why}") }
        })
    }

    /// The state to go on with, or that the loop ended with.
    fn state_found<S: Snapshot>(&self) -> Result<Option<S>, RunError> {
        match (self.last, self.ended) {
            (_, Some(steps)) => self.read(Cut::End(steps)).map(Some),
            (Some(cut), None) => self.read(cut).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn adjoint_found<A: Snapshot>(&self) -> Result<Option<A>, RunError> {
        self.left.map(|segment| self.read(Cut::Adjoint(segment))).transpose()
    }

    fn state<S: Snapshot>(&self, segment: usize) -> Result<S, RunError> {
        self.read(Cut::State(segment))
    }

    /// Keeps a cut, and forgets what only the one before needed once all ranks have it.
    fn keep(&mut self, report: &mut RunReport, cut: Cut, bytes: Vec<u8>) -> Result<(), RunError> {
        let Some(directory) = &mut self.directory else {
            match cut {
                Cut::State(at) => drop(self.states.insert(at, bytes)),
                Cut::Adjoint(segment) => drop(self.states.remove(&segment)),
                Cut::End(_) => {}
            }
            return Ok(());
        };
        let written = directory.write(cut, &bytes).is_ok();
        if self.comm.agree_on_least(u64::from(written))? == 1 {
            if let Cut::Adjoint(segment) = cut {
                directory.delete(Cut::Adjoint(segment + 1));
                directory.delete(Cut::State(segment));
                self.states.remove(&segment);
            }
        } else {
            report.failed_saves += 1;
            directory.delete(cut);
            if let Cut::State(at) = cut {
                self.states.insert(at, bytes);
            }
        }
        Ok(())
    }

    /// The run is complete on all ranks.
    fn remove(self, comm: &Comm) -> Result<(), RunError> {
        if let Some(directory) = self.directory {
            comm.agree_on_least(1)?;
            directory.remove();
        }
        Ok(())
    }
}
