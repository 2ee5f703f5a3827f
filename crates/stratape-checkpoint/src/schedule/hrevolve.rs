//! H-Revolve: several levels of storage, each with its slots and its costs, and the least time (Herrmann & Pallez).
//!
//! Two tables for each level `k` and number `m` of its slots, over the length `l` of a segment:
//!
//! - `stored`: the time to reverse the segment when its first state is on level `k`, in one of the `m` slots;
//! - `open`: the time when its first state is the current one and stored nowhere.
//!
//! ```text
//! stored[k][m][l] = min( open below[l],
//!                        min over j of  j·forward + open[k][m − 1][l − j] + read[k] + stored[k][m][j] )
//! open[k][m][l]   = min( open below[l], write[k] + stored[k][m][l] )
//! open below      = open[k − 1][all its slots], or ∞ below level 0;    one step = forward + backward, everywhere
//! ```
//!
//! Filling them takes `l² / 2` additions for each slot, and sixteen bytes an entry.

use super::queue::{Decides, Queue};
use super::{Action, Level, Schedule, ScheduleError};

/// Additions that are done without complaint: some seconds' worth.
const MOST_WORK: u128 = 8_000_000_000;
/// Levels that [`Counts`](super::Counts) tells apart.
const MOST_LEVELS: usize = 4;

/// The slots and costs of one level, costs in any unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelCosts {
    /// Slots; `usize::MAX` for as many as are needed.
    pub slots: usize,
    /// Time to store a state.
    pub write: f64,
    /// Time to load one.
    pub read: f64,
}

/// The least time to reverse a chain of steps with several levels of storage.
///
/// With unlimited slots on the last level it is what is called Disk-Revolve.
///
/// ```
/// use stratape_checkpoint::schedule::{HRevolve, LevelCosts};
///
/// let memory = LevelCosts { slots: 3, write: 0.0, read: 0.0 };
/// let disk = LevelCosts { slots: 5, write: 2.0, read: 2.0 };
/// let schedule = HRevolve::new(100, &[memory, disk], 1.0, 2.0)?;
/// assert_eq!(schedule.makespan(), 593.0);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HRevolve {
    steps: usize,
    levels: Vec<Table>,
    makespan: f64,
    tasks: Vec<Task>,
    queue: Queue,
}

#[derive(Clone, Debug)]
struct Table {
    costs: LevelCosts,
    columns: Vec<Column>,
}

/// For one number of slots: by the length of the segment, from 0.
#[derive(Clone, Debug, Default)]
struct Column {
    open: Vec<f64>,
    stored: Vec<f64>,
    /// Where to store the next state; 0 to work on the level below.
    split: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    level: usize,
    slots: usize,
    from: usize,
    to: usize,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// The current state is the first of the segment, and stored nowhere.
    Open(Segment),
    /// The current state is the first of the segment, and stored on its level.
    Stored(Segment),
    Load {
        step: usize,
        level: usize,
    },
    Drop {
        step: usize,
        level: usize,
    },
}

impl HRevolve {
    /// For `steps`, the levels from the fastest down, and the times of running and of reversing a step. A step that is recorded
    /// takes as long to run as one that is not.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`], [`ScheduleError::Cost`], and [`ScheduleError::TooLarge`] where the tables would take
    /// more than some seconds to fill.
    pub fn new(
        steps: usize,
        levels: &[LevelCosts],
        forward: f64,
        backward: f64,
    ) -> Result<Self, ScheduleError> {
        check_costs(levels, forward, backward)?;
        if levels.iter().all(|level| level.slots == 0) && steps > 1 {
            return Err(ScheduleError::NoSlots);
        }
        let work = levels.iter().map(|level| columns(level, steps) as u128).sum::<u128>()
            * (steps as u128 * steps as u128)
            / 2;
        if work > MOST_WORK || levels.len() > MOST_LEVELS {
            return Err(ScheduleError::TooLarge {
                schedule: "H-Revolve",
                work,
                instead: "take Multistage, or Periodic with a period on disk; at most four levels",
            });
        }
        let mut tables: Vec<Table> = Vec::new();
        for costs in levels {
            let below = tables.last().and_then(|table| table.columns.last());
            let table = Table::fill(*costs, steps, forward, backward, below);
            tables.push(table);
        }
        let top = Segment {
            level: tables.len().saturating_sub(1),
            slots: tables.last().map_or(0, |table| table.columns.len() - 1),
            from: 0,
            to: steps,
        };
        let makespan = match steps {
            0 => 0.0,
            _ => tables.last().map_or(forward + backward, |t| t.columns[top.slots].open[steps]),
        };
        let tasks = if steps == 0 { Vec::new() } else { vec![Task::Open(top)] };
        Ok(Self { steps, levels: tables, makespan, tasks, queue: Queue::of_steps(steps) })
    }

    /// The time the schedule takes when nothing overlaps, in the unit of the costs.
    pub fn makespan(&self) -> f64 {
        self.makespan
    }

    fn below(&self, segment: Segment) -> Segment {
        let level = segment.level.saturating_sub(1);
        Segment { level, slots: self.levels[level].columns.len() - 1, ..segment }
    }

    fn open(&mut self, segment: Segment) {
        let Segment { level, slots, from, to } = segment;
        if to - from == 1 {
            return self.queue.tape_and_reverse(from);
        }
        let column = &self.levels[level].columns[slots];
        let write = self.levels[level].costs.write;
        if slots > 0 && column.open[to - from] >= write + column.stored[to - from] {
            self.queue.push(Action::Store { step: from, level: Level(level as u8) });
            self.tasks.push(Task::Drop { step: from, level });
            self.tasks.push(Task::Stored(segment));
        } else {
            let below = self.below(segment);
            self.tasks.push(Task::Open(below));
        }
    }

    fn stored(&mut self, segment: Segment) {
        let Segment { level, slots, from, to } = segment;
        if to - from == 1 {
            return self.open(segment);
        }
        match self.levels[level].columns[slots].split[to - from] as usize {
            0 => {
                let below = self.below(segment);
                self.tasks.push(Task::Open(below));
            }
            ahead => {
                let middle = from + ahead;
                self.queue.push(Action::Advance { from, to: middle });
                self.tasks.push(Task::Stored(Segment { to: middle, ..segment }));
                self.tasks.push(Task::Load { step: from, level });
                let slots = self.levels[level].fewer(slots);
                self.tasks.push(Task::Open(Segment { slots, from: middle, ..segment }));
            }
        }
    }
}

/// Columns of a level's table beside the one for no slots.
fn columns(level: &LevelCosts, steps: usize) -> usize {
    if level.slots == usize::MAX { 1 } else { level.slots.min(steps) }
}

fn check_costs(levels: &[LevelCosts], forward: f64, backward: f64) -> Result<(), ScheduleError> {
    let of_levels = levels.iter().flat_map(|level| [("write", level.write), ("read", level.read)]);
    for (name, value) in [("forward", forward), ("backward", backward)].into_iter().chain(of_levels)
    {
        if value.is_nan() || value < 0.0 || value.is_infinite() {
            return Err(ScheduleError::Cost { name, value });
        }
    }
    Ok(())
}

impl Table {
    fn fill(
        costs: LevelCosts,
        steps: usize,
        forward: f64,
        backward: f64,
        below: Option<&Column>,
    ) -> Self {
        let one = forward + backward;
        let none = match below {
            Some(below) => below.open.clone(),
            None => {
                (0..=steps).map(|l| if l <= 1 { one * l as f64 } else { f64::INFINITY }).collect()
            }
        };
        let first = Column {
            stored: vec![f64::INFINITY; steps + 1],
            split: vec![0; steps + 1],
            open: none,
        };
        let mut table = Self { costs, columns: vec![first] };
        for slots in 1..=columns(&costs, steps) {
            let column = table.column(slots, steps, forward, one);
            table.columns.push(column);
        }
        table
    }

    /// The column that is left for a part when one more slot is in use.
    fn fewer(&self, slots: usize) -> usize {
        if self.costs.slots == usize::MAX { slots } else { slots - 1 }
    }

    fn column(&self, slots: usize, steps: usize, forward: f64, one: f64) -> Column {
        let below = &self.columns[0].open;
        let mut column = Column {
            open: vec![0.0; steps + 1],
            stored: vec![0.0; steps + 1],
            split: vec![0; steps + 1],
        };
        let endless = self.costs.slots == usize::MAX;
        for l in 1..=steps {
            if l == 1 {
                (column.open[1], column.stored[1]) = (one, one);
                continue;
            }
            let (mut best, mut split) = (below[l], 0);
            let open = if endless { &column.open } else { &self.columns[slots - 1].open };
            let pairs = open[1..l].iter().rev().zip(&column.stored[1..l]);
            for (j, (right, left)) in (1..l).zip(pairs) {
                let time = j as f64 * forward + right + self.costs.read + left;
                if time < best {
                    (best, split) = (time, j);
                }
            }
            column.stored[l] = best;
            column.split[l] = split as u32;
            column.open[l] = below[l].min(self.costs.write + best);
        }
        column
    }
}

impl Decides for HRevolve {
    fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    fn decide(&mut self) {
        match self.tasks.pop() {
            None => self.queue.end(),
            Some(Task::Load { step, level }) => {
                self.queue.push(Action::Load { step, level: Level(level as u8) });
            }
            Some(Task::Drop { step, level }) => {
                self.queue.push(Action::Drop { step, level: Level(level as u8) });
            }
            Some(Task::Open(segment)) => self.open(segment),
            Some(Task::Stored(segment)) => self.stored(segment),
        }
    }
}

impl Iterator for HRevolve {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.next_action()
    }
}

impl Schedule for HRevolve {
    fn slots(&self, level: Level) -> usize {
        self.levels.get(level.index()).map_or(0, |table| table.costs.slots)
    }

    fn steps(&self) -> Option<usize> {
        Some(self.steps)
    }

    fn describe(&self) -> String {
        let slots: Vec<String> = (0_u8..)
            .zip(&self.levels)
            .map(|(level, table)| match table.costs.slots {
                usize::MAX => format!("unlimited {}", Level(level)),
                slots => format!("{slots} {}", Level(level)),
            })
            .collect();
        format!("H-Revolve, slots {}", slots.join(", "))
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
