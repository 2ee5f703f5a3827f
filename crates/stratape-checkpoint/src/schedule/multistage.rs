//! Multistage: Revolve over memory and disk together.

use super::binomial::{Binomial, Levels};
use super::{Action, Level, Schedule, ScheduleError};

/// The most steps whose schedule is gone through beforehand.
const MOST_STEPS: usize = 100_000_000;

/// Revolve with the slots of memory and disk together, those accessed most in memory (Stumm & Walther).
///
/// It runs as few steps as [`Revolve`](super::Revolve) with so many slots in memory. Which slots are accessed most
/// is found by going through the schedule once, some nanoseconds for each action.
///
/// ```
/// use stratape_checkpoint::schedule::{Level, Multistage, Schedule, count};
///
/// let counts = count(Multistage::new(1000, 10, 20)?, 1000);
/// assert_eq!(counts.forward(), 3472);
/// assert!(counts.writes[Level::DISK.0 as usize] <= 239);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Multistage {
    actions: Binomial,
    steps: usize,
    memory: usize,
    disk: usize,
}

impl Multistage {
    /// For `steps`, with so many slots in memory and on disk, the one of the first state included.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`]; [`ScheduleError::TooLarge`] for more than a hundred million steps.
    pub fn new(steps: usize, memory: usize, disk: usize) -> Result<Self, ScheduleError> {
        let slots = memory.saturating_add(disk);
        if slots == 0 && steps > 1 {
            return Err(ScheduleError::NoSlots);
        }
        if steps > MOST_STEPS {
            return Err(ScheduleError::TooLarge {
                schedule: "Multistage",
                work: steps as u128 * 4,
                instead: "take Periodic with a period on disk",
            });
        }
        let levels = levels(steps, slots.min(steps), memory);
        let actions = Binomial::whole(steps, slots.min(steps), Levels::ByPosition(levels));
        Ok(Self { actions, steps, memory, disk })
    }
}

/// The level of each slot: those accessed most in memory.
fn levels(steps: usize, slots: usize, memory: usize) -> Vec<Level> {
    let mut accesses = vec![0_u64; slots];
    let mut stored = 0;
    for action in Binomial::whole(steps, slots, Levels::One(Level::MEMORY)) {
        match action {
            Action::Store { .. } => {
                accesses[stored] += 1;
                stored += 1;
            }
            // Only the last one is ever loaded.
            Action::Load { .. } => accesses[stored - 1] += 1,
            Action::Drop { .. } => stored -= 1,
            _ => {}
        }
    }
    let mut order: Vec<usize> = (0..slots).collect();
    order.sort_by_key(|&slot| (std::cmp::Reverse(accesses[slot]), std::cmp::Reverse(slot)));
    let mut levels = vec![Level::DISK; slots];
    order.into_iter().take(memory).for_each(|slot| levels[slot] = Level::MEMORY);
    levels
}

impl Iterator for Multistage {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.actions.next()
    }
}

impl Schedule for Multistage {
    fn slots(&self, level: Level) -> usize {
        match level {
            Level::MEMORY => self.memory,
            Level::DISK => self.disk,
            _ => 0,
        }
    }

    fn steps(&self) -> Option<usize> {
        Some(self.steps)
    }

    fn describe(&self) -> String {
        format!("Multistage, {} slots in memory and {} on disk", self.memory, self.disk)
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
