//! [`TimeLoop`]: a loop over time steps, and its gradient within a budget.

mod measure;
mod prepare;
mod swept;
mod workers;

use std::path::PathBuf;
use std::sync::Arc;

use stratape_tape::DEFAULT_MEMORY;
use stratape_tape::tier::Tier;

use crate::durable::{At, Durable, RunPlace};
use crate::error::CheckpointError;
use crate::report::{Plan, Progress, Report};
use crate::run::{Back, OnProgress, Steps};
use crate::schedule::{Action, Counts, Level, Schedule, Told};
use crate::snapshot::Snapshot;
use crate::store::SnapshotStore;
use crate::strategy::{Chosen, Costs, Strategy};
use prepare::take_up;
pub use swept::Swept;

/// Steps that `until` may take when no limit was set.
const DEFAULT_LIMIT: usize = 1_000_000_000;
/// Snapshots on their way to and from disk at once, at most: half of them being written, half read ahead.
const STAGED: usize = 4;

/// A loop of steps on a state, to be run forward and reversed.
///
/// `step(n, &mut state)` runs step `n`; `pullback(n, &state, &mut adjoint)` is given the state that step `n` started from and
/// replaces the adjoint of the state after it by the adjoint of the state before it. A gradient made by
/// `#[stratape::gradient]` does just that.
///
/// ```
/// use stratape_checkpoint::{Strategy, TimeLoop};
///
/// // x ← x + h·sin(x), ten thousand times, on 12 snapshots.
/// let h = 1e-4;
/// let (x, dx, report) = TimeLoop::new(1.0_f64)
///     .steps(10_000)
///     .slots(12)
///     .schedule(Strategy::Revolve)
///     .gradient(|_, x| *x += h * x.sin(), |_| 1.0_f64, |_, x, dx| *dx *= 1.0 + h * x.cos())?;
///
/// // By hand: dx/dx₀ = sin(x)/sin(x₀), up to the order of the method.
/// assert!((dx - x.sin() / 1.0_f64.sin()).abs() < 1e-3);
/// assert_eq!(report.reversed, 10_000);
/// println!("{report}");
/// # Ok::<(), stratape_checkpoint::CheckpointError>(())
/// ```
pub struct TimeLoop<S> {
    pub(crate) start: S,
    length: Length<S>,
    limit: usize,
    memory: Amount,
    disk: Option<(PathBuf, Amount)>,
    tier: Option<Arc<dyn Tier>>,
    /// In the place of the disk, with so many slots.
    store: Option<(Box<dyn SnapshotStore<S>>, usize)>,
    strategy: Strategy,
    on_progress: Option<OnProgress>,
    resume: Option<At>,
    save_every: Option<usize>,
    check: bool,
    synchronous: bool,
}

enum Length<S> {
    Unknown,
    Steps(usize),
    Until(Box<dyn FnMut(&S) -> bool + Send>),
}

#[derive(Clone, Copy)]
enum Amount {
    Bytes(u64),
    Slots(usize),
}

impl<S: Snapshot> TimeLoop<S> {
    /// A loop from this state.
    pub fn new(start: S) -> Self {
        Self {
            start,
            length: Length::Unknown,
            limit: DEFAULT_LIMIT,
            memory: Amount::Bytes(DEFAULT_MEMORY as u64),
            disk: None,
            tier: None,
            store: None,
            strategy: Strategy::Auto,
            on_progress: None,
            resume: None,
            save_every: None,
            check: false,
            synchronous: false,
        }
    }

    /// The number of steps.
    #[must_use]
    pub fn steps(mut self, steps: usize) -> Self {
        self.length = Length::Steps(steps);
        self
    }

    /// The loop ends before the first step for whose state this is true.
    ///
    /// ```
    /// use stratape_checkpoint::TimeLoop;
    ///
    /// let (time, _, report) = TimeLoop::new(0.0_f64)
    ///     .until(|time| *time >= 1.0)
    ///     .slots(3)
    ///     .gradient(|_, time| *time += 0.125, |_| 1.0_f64, |_, _, _| ())?;
    /// assert_eq!((time, report.steps), (1.0, 8));
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    #[must_use]
    pub fn until(mut self, ended: impl FnMut(&S) -> bool + Send + 'static) -> Self {
        self.length = Length::Until(Box::new(ended));
        self
    }

    /// The most steps that `until` may take. Default: a thousand million.
    #[must_use]
    pub fn at_most(mut self, steps: usize) -> Self {
        self.limit = steps;
        self
    }

    /// Bytes of snapshots in memory, those on their way to disk included; the state itself is not. Default: as for tapes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Amount::Bytes(bytes);
        self
    }

    /// The number of snapshots in memory, for those who count; up to four more are on their way to and from disk, if there is one.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.memory = Amount::Slots(slots);
        self
    }

    /// Bytes of snapshots on disk, in a file without a name in this directory.
    #[must_use]
    pub fn disk(mut self, directory: impl Into<PathBuf>, bytes: u64) -> Self {
        self.disk = Some((directory.into(), Amount::Bytes(bytes)));
        self
    }

    /// The number of snapshots on disk, for those who count.
    #[must_use]
    pub fn disk_slots(mut self, directory: impl Into<PathBuf>, slots: usize) -> Self {
        self.disk = Some((directory.into(), Amount::Slots(slots)));
        self
    }

    /// Another place than a file for the snapshots that [`disk`](Self::disk) or [`disk_slots`](Self::disk_slots) make
    /// room for; their directory then means nothing.
    #[must_use]
    pub fn tier(mut self, tier: Arc<dyn Tier>) -> Self {
        self.tier = Some(tier);
        self
    }

    /// A store of your own in the place of the disk, with room for so many snapshots; what [`disk`](Self::disk) and
    /// [`tier`](Self::tier) say means nothing then. See [`store`](mod@crate::store).
    ///
    /// ```
    /// use stratape_checkpoint::{Strategy, TimeLoop, store::MemoryStore};
    ///
    /// let (_, dx, report) = TimeLoop::new(0.5_f64)
    ///     .steps(100)
    ///     .slots(2)
    ///     .store(MemoryStore::new(), 8)
    ///     .schedule(Strategy::Multistage)
    ///     .gradient(|_, x| *x = x.sin(), |_| 1.0_f64, |_, x, dx| *dx *= x.cos())?;
    /// assert_eq!((report.tier.as_str(), report.disk_peak), ("memory", 8));
    /// # assert!(dx > 0.0);
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    #[must_use]
    pub fn store(mut self, store: impl SnapshotStore<S> + 'static, slots: usize) -> Self {
        self.store = Some((Box::new(store), slots));
        self
    }

    /// How to reverse. Default: [`Strategy::Auto`].
    #[must_use]
    pub fn schedule(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Called every now and then, some twenty times a second.
    #[must_use]
    pub fn on_progress(mut self, tell: impl FnMut(&Progress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// Keeps the run in a directory, so that after a crash the same program goes on where it was: snapshots on disk go there, and the adjoint every
    /// [so many](Self::save_every) reversals. If the directory holds the beginning of this run, goes on with it; the result is the same to
    /// the last bit. When the run is complete the directory is removed.
    #[must_use]
    pub fn resume(mut self, directory: impl Into<PathBuf>) -> Self {
        self.resume = Some(At::Directory(directory.into()));
        self
    }

    /// The same in another place than a directory, such as an object store. See [`RunPlace`].
    #[must_use]
    pub fn resume_in(mut self, place: impl RunPlace + 'static) -> Self {
        self.resume = Some(At::Elsewhere(Arc::new(place)));
        self
    }

    /// Reversals between two saves of the adjoint of a run to be [resumed](Self::resume). Default: every two seconds.
    #[must_use]
    pub fn save_every(mut self, reversals: usize) -> Self {
        self.save_every = Some(reversals.max(1));
        self
    }

    /// Check mode: the first steps are run twice, and every step that is run again is compared, bit by bit, with the first time. Slow.
    /// A step that depends on something outside its state is an error that names it.
    ///
    /// ```
    /// use stratape_checkpoint::{CheckpointError, TimeLoop};
    ///
    /// let mut calls = 0; // outside the state
    /// let wrong = TimeLoop::new(1.0_f64).steps(20).slots(3).check(true).gradient(
    ///     |_, x| {
    ///         calls += 1;
    ///         *x += f64::from(calls);
    ///     },
    ///     |_| 1.0_f64,
    ///     |_, _, _| (),
    /// );
    /// assert!(matches!(wrong, Err(CheckpointError::NotReproducible { step: 0, .. })));
    /// ```
    #[must_use]
    pub fn check(mut self, on: bool) -> Self {
        self.check = on;
        self
    }

    /// Waits for every transfer, and reads nothing ahead: for comparison.
    #[must_use]
    pub fn synchronous(mut self, on: bool) -> Self {
        self.synchronous = on;
        self
    }

    /// What will be done, told before it is run. `Auto` has measured nothing then, and takes a step to last as long as writing its state.
    ///
    /// ```
    /// use stratape_checkpoint::{Strategy, TimeLoop};
    ///
    /// let plan = TimeLoop::new(vec![0.0_f64; 1000]).steps(1000).slots(10).schedule(Strategy::Revolve).plan()?;
    /// assert_eq!(plan.forward, 4636);
    /// println!("{plan}");
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    ///
    /// # Errors
    /// Settings that cannot work; a loop whose number of steps is unknown.
    pub fn plan(&self) -> Result<Plan, CheckpointError> {
        let Length::Steps(steps) = self.length else {
            return Err(CheckpointError::Settings(
                "how a loop of unknown length is reversed cannot be told beforehand; give it with `steps`".to_owned(),
            ));
        };
        let room = self.room()?;
        let Chosen { schedule, why } =
            self.strategy.choose(Some(steps), room, || Costs::UNKNOWN)?;
        let described = schedule.describe();
        let bytes = self.start.encoded_len();
        let (mut here, mut most) = ([0_usize; 2], [0_usize; 2]);
        let mut counts = Counts::default();
        Told { schedule, steps }.for_each(|action| {
            track(action, &mut here, &mut most);
            counts.add(action);
        });
        let staged =
            if room.disk > 0 { (room.staged.writes + room.staged.reads) * bytes } else { 0 };
        let forward = counts.forward();
        Ok(Plan {
            schedule: described,
            why,
            advanced: counts.advanced,
            forward,
            reversed: counts.reversed,
            snapshot_bytes: bytes,
            memory_peak: most[0] * bytes + staged,
            disk_peak: most[1] * bytes,
            bytes_written: counts.writes[1] * bytes as u64,
            bytes_read: counts.reads[1] * bytes as u64,
            ratio: (forward as f64 + 2.0 * steps as f64) / (3.0 * steps as f64).max(1.0),
        })
    }

    /// Runs the loop and reverses it: the last state, the adjoint of the first, and what it took. `seed` makes the adjoint of the last state.
    ///
    /// # Errors
    /// Settings that cannot work, a disk that cannot be used and no memory to do without, a step that [`check`](Self::check)
    /// finds out, a directory of another run.
    pub fn gradient<A: Snapshot>(
        mut self,
        mut step: impl FnMut(usize, &mut S),
        seed: impl FnOnce(&S) -> A,
        mut pullback: impl FnMut(usize, &S, &mut A),
    ) -> Result<(S, A, Report), CheckpointError> {
        let durable = self.open_durable::<A>()?;
        let mut steps = Steps { step: &mut step, record: None };
        let mut pull = |n: usize, state: &mut S, adjoint: &mut A| pullback(n, state, adjoint);
        self.gradient_with(durable, &mut steps, seed, Back::State(&mut pull))
    }

    /// The same for a step that leaves a record of itself: `record(n, &mut state)` runs step `n` and pushes what its reversal
    /// needs onto a tape of the user's, `reverse(n, &mut adjoint)` pops it. Records are made and taken like a stack. No step is
    /// run for a record alone, so that [`Strategy::Mixed`] and [`Strategy::StoreAll`] save time here.
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use stratape_checkpoint::{Strategy, TimeLoop};
    ///
    /// let tape = RefCell::new(Vec::new());
    /// let (_, dx, report) = TimeLoop::new(0.5_f64).steps(100).slots(10).schedule(Strategy::Mixed).gradient_taped(
    ///     |_, x| *x = x.sin(),
    ///     |_, x| {
    ///         tape.borrow_mut().push(x.cos());
    ///         *x = x.sin();
    ///     },
    ///     |_| 1.0_f64,
    ///     |_, dx| *dx *= tape.borrow_mut().pop().unwrap_or(0.0),
    /// )?;
    /// assert_eq!(report.advanced, 237);
    /// # assert!(dx > 0.0);
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient).
    pub fn gradient_taped<A: Snapshot>(
        mut self,
        mut step: impl FnMut(usize, &mut S),
        mut record: impl FnMut(usize, &mut S),
        seed: impl FnOnce(&S) -> A,
        mut reverse: impl FnMut(usize, &mut A),
    ) -> Result<(S, A, Report), CheckpointError> {
        let durable = self.open_durable::<A>()?;
        let mut steps = Steps { step: &mut step, record: Some(&mut record) };
        self.gradient_with(durable, &mut steps, seed, Back::Record(&mut reverse))
    }

    fn gradient_with<A: Snapshot>(
        self,
        durable: Option<Durable>,
        steps: &mut Steps<'_, S>,
        seed: impl FnOnce(&S) -> A,
        back: Back<'_, S, A>,
    ) -> Result<(S, A, Report), CheckpointError> {
        let (mut run, end) = self.prepare(durable, steps)?;
        let (last, mut adjoint) = match take_up::<S, A>(&mut run)? {
            Some((last, Some(adjoint))) => (last, adjoint),
            Some((last, None)) => {
                let adjoint = seed(&last);
                (last, adjoint)
            }
            None => {
                run.run_forward(steps, end)?;
                let adjoint = seed(&run.state);
                (run.state.clone(), adjoint)
            }
        };
        run.reverse(steps, &mut adjoint, back)?;
        let report = run.finish();
        if let Some(durable) = run.durable.take() {
            run.slots.settle();
            drop(run);
            durable.remove();
        }
        Ok((last, adjoint, report))
    }

    /// Runs the loop now, to be reversed later: for a loop in the middle of a program.
    ///
    /// ```
    /// use stratape_checkpoint::TimeLoop;
    ///
    /// let square = |_: usize, x: &mut f64| *x = *x * *x;
    /// let swept = TimeLoop::new(1.01_f64).steps(8).slots(3).forward(square)?;
    /// let energy = swept.state().ln(); // what the program makes of the last state
    /// let seed = 1.0 / swept.state();
    /// let (dx, _) = swept.reverse(square, seed, |_, x, dx| *dx *= 2.0 * x)?;
    /// assert!((dx - energy.exp().ln() / 1.01_f64.ln() / 1.01).abs() < 1e-9);
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient). Such a loop cannot be resumed.
    pub fn forward(self, mut step: impl FnMut(usize, &mut S)) -> Result<Swept<S>, CheckpointError> {
        if self.resume.is_some() {
            return Err(CheckpointError::Settings(
                "a loop that is reversed later cannot be resumed: what happens in between is not known".to_owned(),
            ));
        }
        let mut steps = Steps { step: &mut step, record: None };
        let (mut run, end) = self.prepare(None, &mut steps)?;
        run.run_forward(&mut steps, end)?;
        let last = run.state.clone();
        Ok(Swept::new(run, last))
    }
}

/// Counts the slots that are in use.
fn track(action: Action, here: &mut [usize; 2], most: &mut [usize; 2]) {
    let level = |level: Level| usize::from(level != Level::MEMORY);
    match action {
        Action::Store { level: at, .. } => here[level(at)] += 1,
        Action::Drop { level: at, .. } => here[level(at)] -= 1,
        Action::Tape { keep: true, .. } => here[0] += 1,
        _ => {}
    }
    (0..2).for_each(|level| most[level] = most[level].max(here[level]));
}

impl<S> std::fmt::Debug for TimeLoop<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let resume: Option<PathBuf> = self.resume.as_ref().map(At::path);
        f.debug_struct("TimeLoop")
            .field("strategy", &self.strategy)
            .field("resume", &resume)
            .finish_non_exhaustive()
    }
}
