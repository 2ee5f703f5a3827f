//! Which schedule to follow, with the room there is.

mod auto;
mod model;

use crate::error::CheckpointError;
use crate::schedule::{
    HRevolve, Level, LevelCosts, Mixed, Multistage, Online, Periodic, Revolve, Schedule,
    ScheduleError, StoreAll,
};
use crate::slots::Staged;
pub(crate) use model::Costs;

/// How a time loop is reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Strategy {
    /// Measures a few steps and chooses; the report names the choice and the reason.
    #[default]
    Auto,
    /// Keeps every state in memory.
    StoreAll,
    /// The fewest steps for the slots in memory; those on disk, if there are none in memory.
    Revolve,
    /// The fewest steps for the slots in memory and on disk together.
    Multistage,
    /// The least time for slots in memory and on disk, for the given costs, in any unit; transfers that overlap with steps cost less
    /// than they take.
    HRevolve {
        /// Running a step.
        forward: f64,
        /// Reversing one.
        backward: f64,
        /// Writing a snapshot to disk.
        write: f64,
        /// Reading one.
        read: f64,
    },
    /// A slot in memory holds a state or a record; for `gradient_taped`.
    Mixed,
    /// A snapshot every given number of steps, on disk if there is one.
    Periodic(usize),
    /// For a loop whose end is unknown.
    Online,
}

/// What there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) memory: usize,
    pub(crate) disk: usize,
    pub(crate) staged: Staged,
    /// Every transfer is waited for.
    pub(crate) synchronous: bool,
}

/// A schedule and why it was chosen.
pub(crate) struct Chosen {
    pub(crate) schedule: Box<dyn Schedule>,
    pub(crate) why: String,
}

impl Strategy {
    pub(crate) fn choose(
        self,
        steps: Option<usize>,
        room: Room,
        costs: impl FnOnce() -> Costs,
    ) -> Result<Chosen, CheckpointError> {
        let schedule: Box<dyn Schedule> = match (self, steps) {
            (Self::Auto, Some(steps)) => return auto::choose_known(steps, room, costs),
            (Self::Auto, None) => return auto::choose_unknown(room, costs),
            (Self::StoreAll, Some(steps)) if steps > room.memory => {
                return Err(ScheduleError::TooFewSlots { needed: steps, given: room.memory }.into());
            }
            (Self::StoreAll, Some(steps)) => Box::new(StoreAll::new(steps)),
            (Self::StoreAll, None) => Box::new(StoreAll::unknown()),
            (Self::Online, _) if room.memory > 0 => Box::new(Online::new(room.memory)?),
            (Self::Online, _) => Box::new(Online::on(Level::DISK, room.disk)?),
            (Self::Periodic(period), steps) => periodic(steps, period, room)?,
            (_, None) => {
                return Err(CheckpointError::Settings(format!(
                    "{self:?} must know the number of steps: give it with `steps`, or take Auto, Online or Periodic with `until`"
                )));
            }
            (Self::Revolve, Some(steps)) if room.memory > 0 => {
                Box::new(Revolve::new(steps, room.memory)?)
            }
            (Self::Revolve, Some(steps)) => Box::new(Revolve::on(Level::DISK, steps, room.disk)?),
            (Self::Multistage, Some(steps)) => {
                Box::new(Multistage::new(steps, room.memory, room.disk)?)
            }
            (Self::Mixed, Some(steps)) => Box::new(Mixed::new(steps, room.memory)?),
            (Self::HRevolve { forward, backward, write, read }, Some(steps)) => {
                Box::new(h_revolve(steps, room, (forward, backward, write, read))?)
            }
        };
        Ok(Chosen { schedule, why: String::new() })
    }
}

fn h_revolve(
    steps: usize,
    room: Room,
    (forward, backward, write, read): (f64, f64, f64, f64),
) -> Result<HRevolve, ScheduleError> {
    let memory = LevelCosts { slots: room.memory, write: 0.0, read: 0.0 };
    let disk = LevelCosts { slots: room.disk, write, read };
    HRevolve::new(steps, &[memory, disk], forward, backward)
}

fn periodic(
    steps: Option<usize>,
    period: usize,
    room: Room,
) -> Result<Box<dyn Schedule>, CheckpointError> {
    let level = if room.disk > 0 { Level::DISK } else { Level::MEMORY };
    let outer = steps.map_or(0, |steps| steps.div_ceil(period.max(1)));
    let (given, inner) = match level {
        Level::DISK => (room.disk, room.memory),
        _ => (room.memory, room.memory.saturating_sub(outer)),
    };
    if outer > given {
        return Err(ScheduleError::TooFewSlots { needed: outer, given }.into());
    }
    // More slots than a period has steps are of no use.
    let inner = inner.min(period.saturating_sub(1));
    Ok(Box::new(Periodic::new(steps, period, level, inner)?))
}
