//! Schedules: in which order a chain of steps is run, stored, recomputed and reversed.
//!
//! A schedule is an iterator of [`Action`]s and nothing else: it does no I/O, knows no state, and gives the same
//! actions every time, so that it can be counted beforehand ([`count`]), replayed on a model machine
//! ([`check`]), and continued in the middle by another process.
//!
//! # The machine
//! There is one *current state*, some slots on each [`Level`], and one tape that holds the record of a step.
//! The current state begins at step 0; "the state at step k" is the one that step `k` starts from.
//!
//! | action | needs | does |
//! |---|---|---|
//! | [`Advance`](Action::Advance) | the current state at `from` | runs the steps `from..to` |
//! | [`Store`](Action::Store) | the current state at `step`, a free slot | copies it into the slot |
//! | [`Load`](Action::Load) | a slot that holds `step` | copies it to the current state |
//! | [`Drop`](Action::Drop) | a slot that holds `step` | frees it; slots are freed by nothing else |
//! | [`Tape`](Action::Tape) | the current state at `step` | runs the step and records it; with `keep` the record takes a slot in memory until the step is reversed |
//! | [`Reverse`](Action::Reverse) | the record of `step`, all later steps reversed | propagates adjoints through the step and gives up its record. The current state is gone, unless the record was a kept one |
//! | [`EndForward`](Action::EndForward) | the current state at the end | the adjoint can be seeded |
//! | [`EndReverse`](Action::EndReverse) | every step reversed, every slot free | nothing follows |
//!
//! # Which schedule?
//! | schedule | for |
//! |---|---|
//! | [`StoreAll`] | memory for every step: nothing is recomputed |
//! | [`Revolve`] | a known number of steps, slots of one kind: the fewest steps possible |
//! | [`Online`] | the number of steps is found out at the end |
//! | [`Periodic`] | a simple one: a snapshot every so many steps (on disk, say), more slots inside a period |
//! | [`Multistage`] | Revolve over memory and disk together, the slots used most in memory |
//! | [`HRevolve`] | several levels with costs of their own: the least time |
//! | [`Mixed`] | a slot holds a state or the record of a step: fewer steps than Revolve when they are alike in size |

mod binomial;
mod check;
mod hrevolve;
mod mixed;
mod multistage;
mod online;
mod parallel;
mod periodic;
mod queue;
mod revolve;
mod salvage;
mod store_all;
mod walk;

use std::fmt;

pub use binomial::{extra_steps, repetitions};
pub use check::{Fault, check};
pub use hrevolve::{HRevolve, LevelCosts};
pub use mixed::Mixed;
pub use multistage::Multistage;
pub use online::Online;
pub use parallel::{RunAhead, steps_without_waiting};
pub use periodic::Periodic;
pub use revolve::Revolve;
pub(crate) use salvage::Salvage;
pub use store_all::StoreAll;
pub(crate) use walk::Entry;

/// A kind of storage, the fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub u8);

impl Level {
    /// Slots in memory.
    pub const MEMORY: Self = Self(0);
    /// Slots on disk, or wherever the level below memory is.
    pub const DISK: Self = Self(1);

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MEMORY => f.write_str("in memory"),
            Self::DISK => f.write_str("on disk"),
            Self(level) => write!(f, "on level {level}"),
        }
    }
}

/// One thing to do. The [module](self) says what each needs and does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Run steps, recording nothing.
    Advance {
        /// The first step to run.
        from: usize,
        /// The step after the last.
        to: usize,
    },
    /// Keep the current state.
    Store {
        /// Where the current state is.
        step: usize,
        /// Where it is kept.
        level: Level,
    },
    /// Take a kept state up again.
    Load {
        /// The state.
        step: usize,
        /// Where it is kept.
        level: Level,
    },
    /// Free a slot.
    Drop {
        /// The state in it.
        step: usize,
        /// Where it is kept.
        level: Level,
    },
    /// Run one step and record what its reversal needs.
    Tape {
        /// The step.
        step: usize,
        /// Whether the record stays while other steps are recorded and reversed.
        keep: bool,
    },
    /// Propagate adjoints through a recorded step.
    Reverse {
        /// The step.
        step: usize,
    },
    /// The last step has been run: time to seed the adjoint.
    EndForward,
    /// All is done.
    EndReverse,
}

/// A source of actions.
pub trait Schedule: Iterator<Item = Action> + Send {
    /// The most slots it uses at once on a level, kept records included; `usize::MAX` for no limit.
    fn slots(&self, level: Level) -> usize;

    /// The number of steps, once it is known.
    fn steps(&self) -> Option<usize>;

    /// Tells a schedule for an unknown number of steps that there are `steps`: the current state is the last one.
    /// It may be said in the middle of an [`Advance`](Action::Advance), which then ends there, or in place of the
    /// [`Tape`](Action::Tape) handed out last.
    ///
    /// # Errors
    /// When the number was known and is another, or has been told before.
    fn finished(&mut self, steps: usize) -> Result<(), ScheduleError> {
        match self.steps() {
            Some(known) if known == steps => Ok(()),
            known => Err(ScheduleError::Finished { steps, known }),
        }
    }

    /// What this is, in a few words: "Revolve, 20 slots in memory".
    fn describe(&self) -> String;

    /// The same schedule, to be gone through apart from this one.
    fn fork(&self) -> Box<dyn Schedule>;
}

impl<S: Schedule + ?Sized> Schedule for Box<S> {
    fn slots(&self, level: Level) -> usize {
        (**self).slots(level)
    }

    fn steps(&self) -> Option<usize> {
        (**self).steps()
    }

    fn finished(&mut self, steps: usize) -> Result<(), ScheduleError> {
        (**self).finished(steps)
    }

    fn describe(&self) -> String {
        (**self).describe()
    }

    fn fork(&self) -> Box<dyn Schedule> {
        (**self).fork()
    }
}

/// A schedule cannot be made, or was told something that cannot be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There is nowhere to keep the first state.
    NoSlots,
    /// More slots are needed than there are.
    TooFewSlots {
        /// Slots that are needed.
        needed: usize,
        /// Slots that there are.
        given: usize,
    },
    /// A period of zero steps.
    NoPeriod,
    /// The table of an optimal schedule would be too large.
    TooLarge {
        /// The schedule.
        schedule: &'static str,
        /// Additions it would take to fill the table.
        work: u128,
        /// What to take instead.
        instead: &'static str,
    },
    /// A cost is negative or not a number.
    Cost {
        /// Which.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// `finished` was told another number than the one known.
    Finished {
        /// What it was told.
        steps: usize,
        /// What was known.
        known: Option<usize>,
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSlots => f.write_str(
                "a schedule without slots has nowhere to keep the first state; give it one at least",
            ),
            Self::TooFewSlots { needed, given } => {
                write!(f, "the schedule needs {needed} slots and has {given}")
            }
            Self::NoPeriod => f.write_str("a period of zero steps; the least is one"),
            Self::TooLarge { schedule, work, instead } => write!(
                f,
                "the table of {schedule} would take {work} additions for so many steps and slots; {instead}"
            ),
            Self::Cost { name, value } => {
                write!(f, "the cost `{name}` is {value}; costs are numbers from zero up")
            }
            Self::Finished { steps, known: Some(known) } => {
                write!(f, "the loop ended after {steps} steps, but the schedule is one of {known}")
            }
            Self::Finished { steps, known: None } => {
                write!(f, "the loop ended after {steps} steps, where the schedule has not been")
            }
        }
    }
}

impl std::error::Error for ScheduleError {}

/// What a schedule will do, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps run without being recorded.
    pub advanced: u64,
    /// Steps run and recorded.
    pub taped: u64,
    /// Steps reversed.
    pub reversed: u64,
    /// States written, by level.
    pub writes: [u64; 4],
    /// States read, by level.
    pub reads: [u64; 4],
    /// Actions in all.
    pub actions: u64,
}

impl Counts {
    /// Steps run in all, recorded or not.
    pub fn forward(&self) -> u64 {
        self.advanced + self.taped
    }

    pub(crate) fn add(&mut self, action: Action) {
        self.actions += 1;
        match action {
            Action::Advance { from, to } => self.advanced += (to - from) as u64,
            Action::Store { level, .. } => self.writes[level.index().min(3)] += 1,
            Action::Load { level, .. } => self.reads[level.index().min(3)] += 1,
            Action::Tape { .. } => self.taped += 1,
            Action::Reverse { .. } => self.reversed += 1,
            Action::Drop { .. } | Action::EndForward | Action::EndReverse => {}
        }
    }
}

/// A schedule that is told the number of steps when it gets there, if it does not know it.
pub(crate) struct Told<S> {
    pub(crate) schedule: S,
    pub(crate) steps: usize,
}

impl<S: Schedule> Iterator for Told<S> {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let action = self.schedule.next()?;
        if self.schedule.steps().is_some() {
            return Some(action);
        }
        match action {
            Action::Advance { from, to } if to >= self.steps => {
                self.schedule.finished(self.steps).ok()?;
                Some(Action::Advance { from, to: self.steps })
            }
            Action::Tape { step, .. } if step >= self.steps => {
                self.schedule.finished(self.steps).ok()?;
                self.schedule.next()
            }
            action => Some(action),
        }
    }
}

/// Counts what a schedule does for so many steps, by going through it.
///
/// ```
/// use stratape_checkpoint::schedule::{Online, Revolve, count};
///
/// assert_eq!(count(Revolve::new(10, 3)?, 10).forward(), 25);
/// assert_eq!(count(Online::new(3)?, 9).forward(), 24);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
pub fn count(schedule: impl Schedule, steps: usize) -> Counts {
    let mut counts = Counts::default();
    Told { schedule, steps }.for_each(|action| counts.add(action));
    counts
}
