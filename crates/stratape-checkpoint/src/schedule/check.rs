//! Replays a schedule on a model machine.
//!
//! The machine has the current state's step, the set of stored states for each level, the set of kept records, and the record of
//! the step taped last. Every action is held against it; what an action needs and does is written in the [module](super).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Action, Counts, Level, Schedule, Told};

/// Where a schedule goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The number of the action, from 0.
    pub position: u64,
    /// The action; none if it is one that is missing.
    pub action: Option<Action>,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Some(action) => write!(f, "action {}, {action:?}: {}", self.position, self.why),
            None => write!(f, "after action {}: {}", self.position, self.why),
        }
    }
}

impl std::error::Error for Fault {}

#[derive(Default)]
struct Machine {
    current: Option<usize>,
    stored: BTreeMap<Level, BTreeSet<usize>>,
    kept: BTreeSet<usize>,
    taped: Option<usize>,
    forward_ended: bool,
    /// Steps not reversed yet, once the forward pass has ended.
    left: usize,
    ended: bool,
}

/// Goes through a schedule of `steps` and proves that each step is reversed once, in order, from a state or record that
/// is there, that the slots are never exceeded, and that nothing is left. A schedule that does not know its number of steps is told when the
/// machine arrives there.
///
/// ```
/// use stratape_checkpoint::schedule::{Online, check};
///
/// let counts = check(Online::new(5)?, 50)?;
/// assert_eq!(counts.reversed, 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first [`Fault`].
pub fn check(schedule: impl Schedule, steps: usize) -> Result<Counts, Fault> {
    let mut machine = Machine { current: Some(0), left: steps, ..Machine::default() };
    let mut counts = Counts::default();
    let mut told = Told { schedule, steps };
    while let Some(action) = told.next() {
        let outcome = machine.run(action, steps).and_then(|()| machine.check_slots(&told.schedule));
        let position = counts.actions;
        outcome.map_err(|why| Fault { position, action: Some(action), why })?;
        counts.add(action);
    }
    if machine.ended {
        return Ok(counts);
    }
    let why = "the schedule stops before the end of the reversal".to_owned();
    Err(Fault { position: counts.actions, action: None, why })
}

impl Machine {
    fn run(&mut self, action: Action, steps: usize) -> Result<(), String> {
        if self.ended {
            return Err("nothing may follow the end".to_owned());
        }
        match action {
            Action::Advance { from, to } => {
                self.at(from)?;
                if to < from || to > steps || (to == from && self.forward_ended) {
                    return Err(format!("of {steps} steps"));
                }
                self.current = Some(to);
            }
            Action::Store { step, level } => {
                self.at(step)?;
                if !self.stored.entry(level).or_default().insert(step) {
                    return Err("it is stored there already".to_owned());
                }
            }
            Action::Load { step, level } => {
                self.is_stored(step, level)?;
                self.current = Some(step);
            }
            Action::Drop { step, level } => {
                self.is_stored(step, level)?;
                self.stored.entry(level).or_default().remove(&step);
            }
            Action::Tape { step, keep } => {
                self.at(step)?;
                if step >= self.left {
                    return Err("that step is reversed, or is none".to_owned());
                }
                if keep {
                    self.kept.insert(step);
                } else {
                    self.taped = Some(step);
                }
                self.current = Some(step + 1);
            }
            Action::Reverse { step } => self.reverse(step)?,
            Action::EndForward => {
                self.at(steps)?;
                self.forward_ended = true;
            }
            Action::EndReverse => return self.end(),
        }
        Ok(())
    }

    fn at(&self, step: usize) -> Result<(), String> {
        match self.current {
            Some(current) if current == step => Ok(()),
            Some(current) => Err(format!("the current state is at {current}")),
            None => Err("there is no current state".to_owned()),
        }
    }

    fn is_stored(&self, step: usize, level: Level) -> Result<(), String> {
        let there = self.stored.get(&level).is_some_and(|steps| steps.contains(&step));
        if there { Ok(()) } else { Err("it is not stored there".to_owned()) }
    }

    fn reverse(&mut self, step: usize) -> Result<(), String> {
        if !self.forward_ended {
            return Err("the forward pass has not ended".to_owned());
        }
        if step + 1 != self.left {
            return Err(format!("{} steps are left", self.left));
        }
        if self.taped.take_if(|taped| *taped == step).is_some() {
            self.current = None;
        } else if !self.kept.remove(&step) {
            return Err("there is no record of it".to_owned());
        }
        self.left = step;
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        if self.left > 0 || !self.forward_ended {
            return Err(format!("{} steps are left", self.left));
        }
        if let Some((level, steps)) = self.stored.iter().find(|(_, steps)| !steps.is_empty()) {
            return Err(format!("states {steps:?} are left {level}"));
        }
        if !self.kept.is_empty() {
            return Err(format!("records {:?} are left", self.kept));
        }
        self.ended = true;
        Ok(())
    }

    fn check_slots(&self, schedule: &impl Schedule) -> Result<(), String> {
        let kept = BTreeSet::new();
        let memory = (Level::MEMORY, self.stored.get(&Level::MEMORY).unwrap_or(&kept));
        let others = self.stored.iter().map(|(level, steps)| (*level, steps));
        for (level, steps) in others.chain([memory]) {
            let records = if level == Level::MEMORY { self.kept.len() } else { 0 };
            if steps.len() + records > schedule.slots(level) {
                return Err(format!(
                    "{} slots {level}, and {} are in use",
                    schedule.slots(level),
                    steps.len() + records
                ));
            }
        }
        Ok(())
    }
}
