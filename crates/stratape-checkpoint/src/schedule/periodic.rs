//! A state every so many steps, and binomial reversal inside a period.

use super::walk::{Binomial, Entry};
use super::{Action, Level, Schedule, ScheduleError};
use crate::report::Count;

/// Stores a state every `period` steps while the loop runs, the number of steps known or not; reverses each period from
/// its first state, with more slots in memory.
///
/// ```
/// use stratape_checkpoint::schedule::{Level, Periodic, count};
///
/// // A state on disk every 50 steps, 5 slots in memory for the steps between.
/// let counts = count(Periodic::new(Some(1000), 50, Level::DISK, 5)?, 1000);
/// assert_eq!(counts.forward(), 4280);
/// assert_eq!(counts.writes[Level::DISK.0 as usize], 20);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Periodic {
    steps: Option<usize>,
    /// Whether the number of steps was known from the start: then none is stored where the loop ends.
    foreseen: bool,
    period: usize,
    level: Level,
    inner: usize,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    /// How far the actions go, and where the last state was stored.
    Forward {
        at: usize,
        stored: Option<usize>,
    },
    Backward(Box<Binomial>),
}

impl Periodic {
    /// Stores on `level` every `period` steps, and reverses a period with `inner` slots in memory besides.
    ///
    /// # Errors
    /// [`ScheduleError::NoPeriod`].
    pub fn new(
        steps: Option<usize>,
        period: usize,
        level: Level,
        inner: usize,
    ) -> Result<Self, ScheduleError> {
        if period == 0 {
            return Err(ScheduleError::NoPeriod);
        }
        let stage = Stage::Forward { at: 0, stored: None };
        Ok(Self { steps, foreseen: steps.is_some(), period, level, inner, stage })
    }

    fn turn(&mut self, steps: usize, last: Option<usize>) {
        let entry = |step| Entry::new(step, self.level, false);
        let stored = match last {
            Some(last) => (0..=last).step_by(self.period).map(entry).collect(),
            None => Vec::new(),
        };
        self.stage =
            Stage::Backward(Box::new(Binomial::back(stored, steps, Level::MEMORY, self.inner)));
    }

    /// States stored at most while the loop runs.
    fn most_periods(&self) -> usize {
        match self.steps {
            None => usize::MAX,
            Some(steps) if self.foreseen => steps.div_ceil(self.period),
            Some(steps) => steps / self.period + 1,
        }
    }
}

impl Iterator for Periodic {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match &mut self.stage {
            Stage::Forward { at, stored } if self.steps == Some(*at) => {
                let (steps, last) = (*at, *stored);
                self.turn(steps, last);
                Some(Action::EndForward)
            }
            Stage::Forward { at, stored } if *stored == Some(*at) => {
                let from = *at;
                *at = self.steps.unwrap_or(usize::MAX).min(from.saturating_add(self.period));
                Some(Action::Advance { from, to: *at })
            }
            Stage::Forward { at, stored } => {
                *stored = Some(*at);
                Some(Action::Store { step: *at, level: self.level })
            }
            Stage::Backward(actions) => actions.next(),
        }
    }
}

impl Schedule for Periodic {
    fn slots(&self, level: Level) -> usize {
        let inner = if level == Level::MEMORY { self.inner } else { 0 };
        let outer = if level == self.level { self.most_periods() } else { 0 };
        inner.saturating_add(outer)
    }

    fn steps(&self) -> Option<usize> {
        self.steps
    }

    fn finished(&mut self, steps: usize) -> Result<(), ScheduleError> {
        match (self.steps, &mut self.stage) {
            (Some(known), _) if known == steps => Ok(()),
            // In the middle of the last advance, or before the next.
            (None, Stage::Forward { at, stored })
                if steps <= *at && steps >= stored.unwrap_or(0) =>
            {
                *at = steps;
                self.steps = Some(steps);
                Ok(())
            }
            (known, _) => Err(ScheduleError::Finished { steps, known }),
        }
    }

    fn describe(&self) -> String {
        format!(
            "Periodic, {} every {}, {} in memory inside",
            self.level,
            Count(self.period, "step"),
            Count(self.inner, "slot")
        )
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
