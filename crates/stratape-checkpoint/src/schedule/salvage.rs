//! What is left of a run whose schedule can no longer be followed: the disk failed, or another process began it.

use super::walk::{Binomial, Entry};
use super::{Action, Level, Schedule, ScheduleError, extra_steps};
use crate::report::Count;

/// More stored states than this are taken as they are.
const WEIGHED: usize = 64;

/// Goes on to the end of the loop, if that is still ahead, and reverses from the states that are stored.
#[derive(Clone, Debug)]
pub(crate) struct Salvage {
    stage: Stage,
    steps: Option<usize>,
    slots: usize,
}

#[derive(Clone, Debug)]
enum Stage {
    Forward {
        at: usize,
        stored: Vec<Entry>,
    },
    Turn {
        stored: Vec<Entry>,
    },
    /// States given up, the last first, and the reversal.
    Backward {
        given_up: Vec<Entry>,
        actions: Box<Binomial>,
    },
}

impl Salvage {
    /// From the middle of the forward pass.
    pub(crate) fn forward(
        at: usize,
        steps: Option<usize>,
        stored: Vec<Entry>,
        slots: usize,
    ) -> Self {
        Self { stage: Stage::Forward { at, stored }, steps, slots }
    }

    /// From the middle of the reversal: `left` steps are not reversed yet.
    pub(crate) fn backward(left: usize, steps: usize, stored: Vec<Entry>, slots: usize) -> Self {
        let mut salvage =
            Self { stage: Stage::Turn { stored: Vec::new() }, steps: Some(steps), slots };
        salvage.turn(left, stored);
        salvage
    }

    fn turn(&mut self, left: usize, stored: Vec<Entry>) {
        let (kept, given_up) = worth_keeping(stored, left, self.slots);
        let used = kept.iter().filter(|entry| entry.pooled).count();
        let free = self.slots.saturating_sub(used);
        let actions = Box::new(Binomial::back(kept, left, Level::MEMORY, free));
        self.stage = Stage::Backward { given_up, actions };
    }
}

/// Which states to keep, and which to give up so that their slots can be used. States in no slot of ours cost nothing.
fn worth_keeping(stored: Vec<Entry>, left: usize, slots: usize) -> (Vec<Entry>, Vec<Entry>) {
    let (mut kept, mut given_up): (Vec<Entry>, Vec<Entry>) =
        stored.into_iter().partition(|entry| entry.step < left || entry.step == 0);
    let cost = |entries: &[Entry]| -> u128 {
        let mut total = 0;
        let mut pooled = 0;
        for (index, entry) in entries.iter().enumerate() {
            pooled += usize::from(entry.pooled);
            let end = entries.get(index + 1).map_or(left, |next| next.step);
            total += extra_steps(end.saturating_sub(entry.step), slots.saturating_sub(pooled) + 1);
        }
        total
    };
    while kept.len() <= WEIGHED {
        let now = cost(&kept);
        let best = (1..kept.len())
            .filter(|&index| kept[index].pooled)
            .map(|index| {
                let mut without = kept.clone();
                without.remove(index);
                (cost(&without), index)
            })
            .min();
        match best {
            Some((less, index)) if less < now => given_up.push(kept.remove(index)),
            _ => break,
        }
    }
    (kept, given_up)
}

impl Iterator for Salvage {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match &mut self.stage {
            Stage::Forward { at, stored } if self.steps == Some(*at) => {
                let (left, stored) = (*at, std::mem::take(stored));
                self.turn(left, stored);
                Some(Action::EndForward)
            }
            Stage::Forward { at, .. } => {
                let from = *at;
                // To an unknown end in pieces, so that somebody can look in between.
                *at = self.steps.unwrap_or(from.saturating_add(1 << 16));
                Some(Action::Advance { from, to: *at })
            }
            Stage::Turn { stored } => {
                let stored = std::mem::take(stored);
                self.turn(self.steps.unwrap_or(0), stored);
                Some(Action::EndForward)
            }
            Stage::Backward { given_up, actions } => match given_up.pop() {
                Some(entry) => Some(Action::Drop { step: entry.step, level: entry.level }),
                None => actions.next(),
            },
        }
    }
}

impl Schedule for Salvage {
    fn slots(&self, level: Level) -> usize {
        if level == Level::MEMORY { self.slots } else { usize::MAX }
    }

    fn steps(&self) -> Option<usize> {
        self.steps
    }

    fn finished(&mut self, steps: usize) -> Result<(), ScheduleError> {
        match (self.steps, &mut self.stage) {
            (Some(known), _) if known == steps => Ok(()),
            (None, Stage::Forward { stored, .. }) => {
                let stored = std::mem::take(stored);
                self.steps = Some(steps);
                self.stage = Stage::Turn { stored };
                Ok(())
            }
            (known, _) => Err(ScheduleError::Finished { steps, known }),
        }
    }

    fn describe(&self) -> String {
        format!("binomial from what was stored, {} in memory", Count(self.slots, "slot"))
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
