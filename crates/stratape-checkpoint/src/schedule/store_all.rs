//! Everything is kept: nothing is ever run twice.

use super::{Action, Level, Schedule, ScheduleError};

/// Keeps the record of every step, for a known or unknown number of them.
///
/// ```
/// use stratape_checkpoint::schedule::{StoreAll, count};
///
/// assert_eq!(count(StoreAll::new(10), 10).forward(), 10);
/// ```
#[derive(Clone, Debug)]
pub struct StoreAll {
    /// The number of steps, if it is known.
    steps: Option<usize>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Forward(usize),
    Backward(usize),
    Ended,
}

impl StoreAll {
    /// For `steps`.
    pub fn new(steps: usize) -> Self {
        Self { steps: Some(steps), stage: Stage::Forward(0) }
    }

    /// For a number of steps that [`finished`](Schedule::finished) tells.
    pub fn unknown() -> Self {
        Self { steps: None, stage: Stage::Forward(0) }
    }
}

impl Iterator for StoreAll {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match self.stage {
            Stage::Forward(step) if self.steps == Some(step) => {
                self.stage = Stage::Backward(step);
                Some(Action::EndForward)
            }
            Stage::Forward(step) => {
                self.stage = Stage::Forward(step + 1);
                Some(Action::Tape { step, keep: true })
            }
            Stage::Backward(0) => {
                self.stage = Stage::Ended;
                Some(Action::EndReverse)
            }
            Stage::Backward(step) => {
                self.stage = Stage::Backward(step - 1);
                Some(Action::Reverse { step: step - 1 })
            }
            Stage::Ended => None,
        }
    }
}

impl Schedule for StoreAll {
    fn slots(&self, level: Level) -> usize {
        if level == Level::MEMORY { self.steps.unwrap_or(usize::MAX) } else { 0 }
    }

    fn steps(&self) -> Option<usize> {
        self.steps
    }

    fn finished(&mut self, steps: usize) -> Result<(), ScheduleError> {
        match (self.steps, self.stage) {
            (Some(known), _) if known == steps => Ok(()),
            // The step handed out last may not have been run.
            (None, Stage::Forward(at)) if at == steps || at == steps + 1 => {
                self.stage = Stage::Forward(steps);
                self.steps = Some(steps);
                Ok(())
            }
            (known, _) => Err(ScheduleError::Finished { steps, known }),
        }
    }

    fn describe(&self) -> String {
        "StoreAll, a slot in memory for each step".to_owned()
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
