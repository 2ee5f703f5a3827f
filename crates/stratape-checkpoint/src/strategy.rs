//! Which schedule to follow, with the room there is.

use std::time::Duration;

use crate::error::CheckpointError;
use crate::schedule::{
    Counts, HRevolve, Level, LevelCosts, Mixed, Multistage, Online, Periodic, Revolve, Schedule,
    ScheduleError, StoreAll, count, extra_steps,
};
use crate::slots::Staged;

/// Up to this many steps a schedule is gone through to know what it does.
const COUNTED: usize = 2_000_000;
/// Additions that choosing may cost: some tens of milliseconds.
const QUICK: u128 = 50_000_000;

/// How a time loop is reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Strategy {
    /// Measures a few steps and chooses; the report says what and why.
    #[default]
    Auto,
    /// Keeps every state in memory.
    StoreAll,
    /// The fewest steps for the slots in memory; those on disk, if there are none in memory.
    Revolve,
    /// The fewest steps for the slots in memory and on disk together.
    Multistage,
    /// The least time for slots in memory and on disk, by the costs given, in any unit; transfers that overlap with steps cost less
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
    /// A snapshot every so many steps, on disk if there is one.
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
}

/// What was measured, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) forward: f64,
    pub(crate) copy: f64,
    pub(crate) write: f64,
    pub(crate) read: f64,
}

impl Costs {
    /// When nothing could be measured: a step takes as long as moving its state.
    pub(crate) const UNKNOWN: Self = Self { forward: 1.0, copy: 0.3, write: 1.0, read: 1.0 };
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
            (Self::Auto, Some(steps)) => return choose_known(steps, room, costs),
            (Self::Auto, None) => return choose_unknown(room, costs),
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

fn choose_known(
    steps: usize,
    room: Room,
    costs: impl FnOnce() -> Costs,
) -> Result<Chosen, CheckpointError> {
    if room.memory >= steps {
        let why = "there is room in memory for every state".to_owned();
        return Ok(Chosen { schedule: Box::new(StoreAll::new(steps)), why });
    }
    if room.disk == 0 {
        let why = format!(
            "with {} slots in memory and no disk, no schedule runs fewer steps ({:.2} a step)",
            room.memory,
            extra_steps(steps, room.memory.max(1)) as f64 / steps as f64
        );
        return Ok(Chosen { schedule: Box::new(Revolve::new(steps, room.memory)?), why });
    }
    let costs = costs();
    let mut weighed: Vec<(Time, Box<dyn Schedule>)> = candidates(steps, room, costs)
        .into_iter()
        .map(|(schedule, counts)| (costs.time(&counts, steps), schedule))
        .collect();
    weighed.sort_by(|(one, _), (other, _)| one.total().total_cmp(&other.total()));
    let mut weighed = weighed.into_iter();
    let Some((time, schedule)) = weighed.next() else {
        return Err(ScheduleError::NoSlots.into());
    };
    let mut why = time.why(costs);
    for (other, rejected) in weighed {
        let times = other.total() / time.total();
        why += &format!("; {} would take {times:.2} times as long", rejected.describe());
    }
    Ok(Chosen { schedule, why })
}

fn choose_unknown(room: Room, costs: impl FnOnce() -> Costs) -> Result<Chosen, CheckpointError> {
    if room.disk == 0 {
        let why = "the number of steps is unknown, and there is no disk".to_owned();
        return Ok(Chosen { schedule: Box::new(Online::new(room.memory)?), why });
    }
    let costs = costs();
    let period = costs.period().max(2);
    if room.disk != usize::MAX {
        // The slots on disk may not last; those of both are used as they come.
        let why = format!(
            "the number of steps is unknown, and {} slots on disk are not endless",
            room.disk
        );
        let online = if room.memory >= room.disk {
            Online::new(room.memory)?
        } else {
            Online::on(Level::DISK, room.disk)?
        };
        return Ok(Chosen { schedule: Box::new(online), why });
    }
    let why = format!(
        "the number of steps is unknown, and the disk keeps up with a snapshot every {period} steps"
    );
    let inner = room.memory.min(period - 1);
    Ok(Chosen { schedule: Box::new(Periodic::new(None, period, Level::DISK, inner)?), why })
}

/// The schedules worth weighing with a disk, and what they do.
fn candidates(steps: usize, room: Room, costs: Costs) -> Vec<(Box<dyn Schedule>, Counts)> {
    let mut candidates: Vec<(Box<dyn Schedule>, Counts)> = Vec::new();
    if room.memory > 0
        && let Ok(revolve) = Revolve::new(steps, room.memory)
    {
        let advanced = u64::try_from(extra_steps(steps, room.memory)).unwrap_or(u64::MAX);
        let counts = Counts { advanced, ..Counts::default() };
        candidates.push((Box::new(revolve), counts));
    }
    if steps <= COUNTED
        && let Ok(multistage) = Multistage::new(steps, room.memory, room.disk)
    {
        let counts = count(multistage.clone(), steps);
        candidates.push((Box::new(multistage), counts));
    }
    let slots = (room.memory.min(steps) + room.disk.min(steps)) as u128;
    if (steps as u128 * steps as u128 / 2).saturating_mul(slots) <= QUICK
        && let Ok(h_revolve) =
            h_revolve(steps, room, (costs.forward, costs.forward, costs.write, costs.read))
    {
        let counts = count(h_revolve.clone(), steps);
        candidates.push((Box::new(h_revolve), counts));
    }
    // No more often than the disk keeps up with, and than there are slots.
    let period = costs.period().max(steps.div_ceil(room.disk)).max(2);
    let inner = room.memory.min(period - 1);
    if let Ok(periodic) = Periodic::new(Some(steps), period, Level::DISK, inner) {
        let counts = if steps <= COUNTED {
            count(periodic.clone(), steps)
        } else {
            let periods = steps.div_ceil(period) as u64;
            let inside = u64::try_from(extra_steps(period, inner + 1)).unwrap_or(u64::MAX);
            let advanced = (steps as u64).saturating_add(periods.saturating_mul(inside));
            let transfers = [0, periods, 0, 0];
            Counts { advanced, writes: transfers, reads: transfers, ..Counts::default() }
        };
        candidates.push((Box::new(periodic), counts));
    }
    candidates
}

/// What a schedule takes, in seconds.
#[derive(Clone, Copy, Debug)]
struct Time {
    /// Steps, and pullbacks of about three steps each.
    compute: f64,
    copy: f64,
    transfer: f64,
    advanced: f64,
}

impl Time {
    /// Transfers go on beside the computing.
    fn total(&self) -> f64 {
        (self.compute + self.copy).max(self.transfer)
    }

    fn why(&self, costs: Costs) -> String {
        let micros = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        format!(
            "a step takes {:?}, writing a snapshot {:?}, reading one {:?}, so that it runs {:.2} steps a step and {}",
            micros(costs.forward),
            micros(costs.write),
            micros(costs.read),
            self.advanced,
            if self.transfer > self.compute { "is bound by the disk" } else { "hides the disk" }
        )
    }
}

impl Costs {
    fn time(&self, counts: &Counts, steps: usize) -> Time {
        let copies = counts.writes[0] + counts.reads[0] + counts.writes[1] + counts.reads[1];
        Time {
            compute: (counts.advanced as f64 + 3.0 * steps as f64) * self.forward,
            copy: copies as f64 * self.copy,
            transfer: counts.writes[1] as f64 * self.write + counts.reads[1] as f64 * self.read,
            advanced: counts.advanced as f64 / steps.max(1) as f64,
        }
    }

    /// Steps in the time of writing and reading one snapshot.
    fn period(&self) -> usize {
        ((self.write + self.read) / self.forward.max(1e-12)).ceil().clamp(1.0, 1e9) as usize
    }
}
