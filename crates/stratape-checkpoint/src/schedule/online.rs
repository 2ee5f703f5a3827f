//! An unknown number of steps: states are stored while the loop runs, so that wherever it ends the reversal is near the
//! best one.
//!
//! When the loop has ended after `n` steps, the gap that begins at the `i`-th of `s` stored states is reversed binomially
//! with the `s − i` slots that are free by then. So the `i`-th gap may be as long as `C(s − i + q, q)` with each
//! step run `q` times more.
//!
//! - Up to `(s + 1)(s + 2)/2` steps, `q = 1` will do: the gaps must end up `s + 1`, `s`, …, 2 long. The states at
//!   those places are kept; between them states are stored at every other step, and given up from the left as slots are needed, so that
//!   all slots are in use all the time (Stumm & Walther's bound).
//! - Beyond, a state is stored every `q + 1` steps, in place of the one whose loss costs the fewest steps. That takes no more steps than
//!   Wang, Moin & Iaccarino's rule with 30 slots and more, and at most 2 % more with fewer.

use super::binomial::choose;
use super::queue::Queue;
use super::walk::{Binomial, Entry};
use super::{Action, Level, Schedule, ScheduleError, extra_steps};
use crate::report::Count;

/// For a loop whose end is not known beforehand.
///
/// ```
/// use stratape_checkpoint::schedule::{Action, Online, Schedule};
///
/// let mut schedule = Online::new(10)?;
/// let mut steps = 0;
/// while let Some(action) = schedule.next() {
///     if let Action::Advance { from, to } = action {
///         steps += to - from;
///     }
///     if steps >= 100 && schedule.steps().is_none() {
///         schedule.finished(100)?; // in the middle of that advance, perhaps
///         steps = 100;
///     }
/// }
/// assert!(steps + 100 <= 335);
/// # Ok::<(), stratape_checkpoint::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Online {
    slots: usize,
    level: Level,
    steps: Option<usize>,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Forward(Box<Forward>),
    Ending(Vec<usize>),
    Backward(Box<Binomial>),
}

/// A stored state, weighed against those before it.
///
/// When the state at `i` is given up, the gaps before and after it become one, and every later gap is reversed with a slot more. The steps that
/// this costs are a sum over gaps up to `i`, plus a sum over all of them that is the same for every `i`. So the best state among the first ones
/// depends on these alone, and is weighed again only when one of them goes: most often one of the last does.
#[derive(Clone, Copy, Debug)]
struct Weight {
    /// Steps run again in the gap after it.
    cost: i128,
    /// How many fewer they were with a slot more, here and in all gaps before, without the first.
    gained: i128,
    /// The least cost of giving up this state or one before it, less what all later gaps gain; and which.
    best: Option<(i128, usize)>,
}

#[derive(Clone, Debug)]
struct Forward {
    slots: usize,
    level: Level,
    stored: Vec<usize>,
    /// How far the actions handed out go, and where the last of them began.
    at: usize,
    before: usize,
    /// How often a step is run more than once.
    q: u64,
    /// Where the present block of the first phase begins, and its number.
    block: usize,
    number: usize,
    /// Of the first states, as far as they have not changed.
    weighed: Vec<Weight>,
    queue: Queue,
}

impl Online {
    /// With `slots` in memory, the one of the first state included.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`].
    pub fn new(slots: usize) -> Result<Self, ScheduleError> {
        Self::on(Level::MEMORY, slots)
    }

    /// With slots on another level.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`].
    pub fn on(level: Level, slots: usize) -> Result<Self, ScheduleError> {
        if slots == 0 {
            return Err(ScheduleError::NoSlots);
        }
        let mut forward = Forward {
            slots,
            level,
            stored: Vec::new(),
            at: 0,
            before: 0,
            q: 1,
            block: 0,
            number: 0,
            weighed: Vec::new(),
            queue: Queue::new(true),
        };
        forward.store();
        Ok(Self { slots, level, steps: None, stage: Stage::Forward(Box::new(forward)) })
    }
}

impl Forward {
    fn store(&mut self) {
        self.stored.push(self.at);
        self.queue.push(Action::Store { step: self.at, level: self.level });
    }

    fn replace(&mut self, index: usize) {
        let step = self.stored.remove(index);
        self.weighed.truncate(index.saturating_sub(1));
        self.queue.push(Action::Drop { step, level: self.level });
        self.store();
    }

    fn next(&mut self) -> Action {
        if let Some(action) = self.queue.pop() {
            return action;
        }
        let from = self.at;
        self.before = from;
        self.at = from.saturating_add(self.ahead());
        self.queue_state();
        Action::Advance { from, to: self.at }
    }

    /// Steps to the next place where a state may be stored.
    fn ahead(&mut self) -> usize {
        if self.slots == 1 {
            return 1 << 20;
        }
        if self.stored.len() < self.slots {
            return 1;
        }
        let first_phase = (self.slots + 1).saturating_mul(self.slots + 2) / 2 - 1;
        if self.at < first_phase {
            // Every other step of a block, and the start of the next.
            while self.at >= self.block_end() {
                self.block = self.block_end();
                self.number += 1;
            }
            let next = self.block + (self.at - self.block) / 2 * 2 + 2;
            return next.min(self.block_end()).min(first_phase) - self.at;
        }
        while self.at as u64 >= choose(self.slots as u64 + self.q + 1, self.q + 1).saturating_sub(1)
        {
            self.q += 1;
        }
        self.q as usize + 1
    }

    /// Where the block of the first phase ends: it is as long as its gap may grow.
    fn block_end(&self) -> usize {
        self.block + self.slots + 1 - self.number.min(self.slots)
    }

    /// Stores a state at the place the actions go to, if a slot can be had for it.
    fn queue_state(&mut self) {
        if self.slots == 1 {
            return;
        }
        if self.stored.len() < self.slots {
            return self.store();
        }
        let first_phase = (self.slots + 1).saturating_mul(self.slots + 2) / 2 - 1;
        if self.at < first_phase {
            return self.replace_in_first_phase();
        }
        if let Some(index) = self.cheapest() {
            self.replace(index);
        }
    }

    /// In the first phase the states where blocks begin stay; the first of the others goes.
    fn replace_in_first_phase(&mut self) {
        let (mut start, mut number) = (0, 0);
        for index in 0..self.stored.len() {
            if self.stored[index] == start {
                start += self.slots + 1 - number;
                number += 1;
            } else {
                return self.replace(index);
            }
        }
    }

    fn gap(&self, index: usize) -> usize {
        self.stored.get(index + 1).copied().unwrap_or(self.at) - self.stored[index]
    }

    /// The state whose loss costs the fewest steps, if a state here instead saves more.
    fn cheapest(&mut self) -> Option<usize> {
        let last = self.stored.len() - 1;
        while self.weighed.len() < last {
            let weight = self.weigh(self.weighed.len());
            self.weighed.push(weight);
        }
        let (end, tail) = (self.weigh(last), self.q as usize + 1);
        let (best, index) = end.best?;
        // The last gap will have a tail when the next state may be stored, or the new state will.
        let given_up = best + end.gained + self.cost(tail, last);
        let kept = self.cost(self.gap(last) + tail, last) - end.cost;
        (given_up <= kept).then_some(index)
    }

    /// What is to be known of a state, from that of the state before it.
    fn weigh(&self, index: usize) -> Weight {
        let gap = self.gap(index);
        let cost = self.cost(gap, index);
        let Some(before) = index.checked_sub(1).map(|before| self.weighed[before]) else {
            return Weight { cost, gained: 0, best: None };
        };
        let gained = before.gained + self.cost(gap, index - 1) - cost;
        let both = self.cost(self.gap(index - 1) + gap, index - 1);
        let here = both - cost - before.cost - gained;
        let best = before.best.filter(|(least, _)| *least <= here).unwrap_or((here, index));
        Weight { cost, gained, best: Some(best) }
    }

    fn cost(&self, gap: usize, index: usize) -> i128 {
        extra(gap as u64, (self.slots - index) as u64)
    }
}

/// [`extra_steps`], quicker where repetitions are few.
fn extra(steps: u64, slots: u64) -> i128 {
    if slots < 8 || steps > 1 << 40 || slots > 1 << 20 {
        return extra_steps(steps as usize, slots as usize) as i128;
    }
    // `reach` is below 2⁴⁰ whenever it is multiplied, by 2²¹ at most.
    let (mut r, mut reach) = (u64::from(steps > 1), if steps > 1 { slots + 1 } else { 1 });
    while reach < steps {
        r += 1;
        reach = reach * (slots + r) / r;
    }
    // C(s + r, s + 1) = C(s + r, s) · r / (s + 1).
    i128::from(r * steps) - i128::from(reach * r / (slots + 1))
}

impl Iterator for Online {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match &mut self.stage {
            Stage::Forward(forward) => Some(forward.next()),
            Stage::Ending(stored) => {
                let steps = self.steps.unwrap_or(0);
                let entry = |step| Entry::new(step, self.level, true);
                let free = self.slots - stored.len();
                let stored = stored.iter().copied().map(entry).collect();
                self.stage =
                    Stage::Backward(Box::new(Binomial::back(stored, steps, self.level, free)));
                Some(Action::EndForward)
            }
            Stage::Backward(actions) => actions.next(),
        }
    }
}

impl Schedule for Online {
    fn slots(&self, level: Level) -> usize {
        if level == self.level { self.slots } else { 0 }
    }

    fn steps(&self) -> Option<usize> {
        self.steps
    }

    fn finished(&mut self, steps: usize) -> Result<(), ScheduleError> {
        let Stage::Forward(forward) = &mut self.stage else {
            let known = self.steps;
            return if known == Some(steps) {
                Ok(())
            } else {
                Err(ScheduleError::Finished { steps, known })
            };
        };
        if !(forward.before..=forward.at).contains(&steps) {
            return Err(ScheduleError::Finished { steps, known: None });
        }
        // What has been decided on and not handed out is not done.
        let mut stored = std::mem::take(&mut forward.stored);
        let mut given_up = Vec::new();
        for action in forward.queue.withdraw() {
            match action {
                Action::Store { step, .. } => stored.retain(|kept| *kept != step),
                Action::Drop { step, .. } => given_up.push(step),
                _ => {}
            }
        }
        stored.extend(given_up);
        stored.sort_unstable();
        self.steps = Some(steps);
        self.stage = Stage::Ending(stored);
        Ok(())
    }

    fn describe(&self) -> String {
        format!("Online, {} {}", Count(self.slots, "slot"), self.level)
    }

    fn fork(&self) -> Box<dyn Schedule> {
        Box::new(self.clone())
    }
}
