//! Revolve: the fewest steps for a known number of them and slots of one kind.

use super::walk::Binomial;
use super::{Action, Level, Schedule, ScheduleError};
use crate::report::Count;

/// The binomial schedule of Griewank and Walther: no other runs fewer steps.
///
/// ```
/// use stratape_checkpoint::schedule::{Revolve, count, extra_steps};
///
/// let counts = count(Revolve::new(10_000, 20)?, 10_000);
/// assert_eq!(u128::from(counts.advanced), extra_steps(10_000, 20));
/// assert_eq!(counts.forward(), 47_976);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Revolve {
    actions: Binomial,
    steps: usize,
    slots: usize,
    level: Level,
}

impl Revolve {
    /// For `steps`, with `slots` in memory, the one of the first state included.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`].
    pub fn new(steps: usize, slots: usize) -> Result<Self, ScheduleError> {
        Self::on(Level::MEMORY, steps, slots)
    }

    /// With slots on another level.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`].
    pub fn on(level: Level, steps: usize, slots: usize) -> Result<Self, ScheduleError> {
        if slots == 0 && steps > 1 {
            return Err(ScheduleError::NoSlots);
        }
        let actions = Binomial::whole(steps, slots, level);
        Ok(Self { actions, steps, slots, level })
    }
}

impl Iterator for Revolve {
    type Item = Action;

    #[inline]
    fn next(&mut self) -> Option<Action> {
        self.actions.next()
    }
}

impl Schedule for Revolve {
    fn slots(&self, level: Level) -> usize {
        if level == self.level { self.slots } else { 0 }
    }

    fn steps(&self) -> Option<usize> {
        Some(self.steps)
    }

    fn describe(&self) -> String {
        format!("Revolve, {} {}", Count(self.slots, "slot"), self.level)
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
