//! Mixed: a slot holds a state or the record of a step (Maddison).
//!
//! A kept record saves its step from being run again; a kept state makes many steps cheaper. With `s` slots free, the current state
//! at the start of `n` steps and stored nowhere, the fewest steps are
//!
//! ```text
//! f(1, s) = 1
//! f(n, s) = min( 1 + f(n − 1, s − 1),                                       keep the record of the first step
//!                min over i of  i + f(n − i, s − 1) + f(i, s) )             keep the state, run i steps
//! ```
//!
//! The table takes `n² / 2` additions for each slot, and eight bytes an entry.

use super::queue::{Decides, Queue};
use super::{Action, Level, Schedule, ScheduleError};
use crate::report::Count;

/// Additions that are done without complaint: some seconds' worth.
const MOST_WORK: u128 = 8_000_000_000;
const NEVER: u64 = u64::MAX / 4;

/// The fewest steps when a slot holds either a state or the record of one step, and they are alike in size.
///
/// ```
/// use stratape_checkpoint::schedule::{Mixed, Revolve, count};
///
/// assert_eq!(count(Mixed::new(100, 10)?, 100).forward(), 237);
/// assert_eq!(count(Revolve::new(100, 10)?, 100).forward(), 322);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mixed {
    steps: usize,
    slots: usize,
    /// By slots and steps: how far to run from a kept state; 0 to keep the record of the first step.
    choices: Vec<Vec<u32>>,
    tasks: Vec<Task>,
    queue: Queue,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// The current state is the first of the segment, and kept nowhere.
    Segment { from: usize, to: usize, free: usize },
    /// Take the kept state up and free its slot.
    Take { step: usize },
    /// The record of the step is kept.
    Reverse { step: usize },
}

impl Mixed {
    /// For `steps`, with so many slots in memory. The first state needs a slot only if it is used again.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`]; [`ScheduleError::TooLarge`] where the table would take more than some seconds.
    pub fn new(steps: usize, slots: usize) -> Result<Self, ScheduleError> {
        if slots == 0 && steps > 1 {
            return Err(ScheduleError::NoSlots);
        }
        let slots = slots.min(steps.saturating_sub(1));
        // With a slot for each step but the last there is nothing to choose.
        let plenty = slots + 1 >= steps;
        let work = steps as u128 * steps as u128 * slots as u128 / 2;
        if work > MOST_WORK && !plenty {
            return Err(ScheduleError::TooLarge {
                schedule: "Mixed",
                work,
                instead: "take Revolve, which needs no table",
            });
        }
        let choices = if plenty { Vec::new() } else { choices(steps, slots) };
        let whole = Task::Segment { from: 0, to: steps, free: slots };
        let tasks = if steps == 0 { Vec::new() } else { vec![whole] };
        Ok(Self { steps, slots, choices, tasks, queue: Queue::of_steps(steps) })
    }

    fn segment(&mut self, from: usize, to: usize, free: usize) {
        if to - from == 1 {
            return self.queue.tape_and_reverse(from);
        }
        match self.choices.get(free).map_or(0, |column| column[to - from]) as usize {
            0 => {
                self.queue.push(Action::Tape { step: from, keep: true });
                self.tasks.push(Task::Reverse { step: from });
                self.tasks.push(Task::Segment { from: from + 1, to, free: free - 1 });
            }
            ahead => {
                self.queue.push(Action::Store { step: from, level: Level::MEMORY });
                self.queue.push(Action::Advance { from, to: from + ahead });
                self.tasks.push(Task::Segment { from, to: from + ahead, free });
                self.tasks.push(Task::Take { step: from });
                self.tasks.push(Task::Segment { from: from + ahead, to, free: free - 1 });
            }
        }
    }
}

fn choices(steps: usize, slots: usize) -> Vec<Vec<u32>> {
    let mut before: Vec<u64> = (0..=steps).map(|n| if n <= 1 { n as u64 } else { NEVER }).collect();
    let mut choices = vec![vec![0; steps + 1]];
    for _ in 0..slots {
        let mut here = vec![0_u64; steps + 1];
        let mut choice = vec![0_u32; steps + 1];
        here[1] = 1;
        for n in 2..=steps {
            let (mut best, mut chosen) = (1 + before[n - 1], 0);
            let pairs = before[1..n].iter().rev().zip(&here[1..n]);
            for (i, (right, left)) in (1..n).zip(pairs) {
                let total = i as u64 + right + left;
                if total < best {
                    (best, chosen) = (total, i);
                }
            }
            here[n] = best.min(NEVER);
            choice[n] = chosen as u32;
        }
        choices.push(choice);
        before = here;
    }
    choices
}

impl Decides for Mixed {
    fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    fn decide(&mut self) {
        match self.tasks.pop() {
            None => self.queue.end(),
            Some(Task::Take { step }) => {
                self.queue.push(Action::Load { step, level: Level::MEMORY });
                self.queue.push(Action::Drop { step, level: Level::MEMORY });
            }
            Some(Task::Reverse { step }) => self.queue.push(Action::Reverse { step }),
            Some(Task::Segment { from, to, free }) => self.segment(from, to, free),
        }
    }
}

impl Iterator for Mixed {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.next_action()
    }
}

impl Schedule for Mixed {
    fn slots(&self, level: Level) -> usize {
        if level == Level::MEMORY { self.slots } else { 0 }
    }

    fn steps(&self) -> Option<usize> {
        Some(self.steps)
    }

    fn describe(&self) -> String {
        format!("Mixed, {} in memory for states and records", Count(self.slots, "slot"))
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
