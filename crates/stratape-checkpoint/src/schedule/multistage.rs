//! Multistage: Revolve over memory and disk together.
//!
//! The first states of a segment are on disk, those stored last in memory, as in H-Revolve; among all schedules that run
//! as few steps, the one that moves the fewest states to and from disk. A segment that the slots in memory reverse with one
//! repetition moves there for good when it is loaded.
//!
//! Let `T(k, l)` be the transfers of reversing `l` steps whose first state is on disk and current, with `k` slots on disk, its own included,
//! and `m` in memory: `s = k + m`. `T` is zero up to `m + 1` steps. Of the `C(s + r − 1, s − 1)` lengths that take `r` repetitions, the first leave
//! it as it is, the next `C(k + r − 2, k − 1)` add one transfer each, and the last `C(k + r − 2, k − 2)` two. (Found by dynamic
//! programming, and equal to it for all `m ≤ 6`, `k ≤ 7`, `l ≤ 400`; the tests compare with a search of all orders.) A split with the fewest steps
//! leaves `r − 1` repetitions to the part before it and `r` to that after it; so the steps beyond the least lengths go where they add the
//! least: first all that add nothing, on either side, then those that add one.

use super::binomial::{Range, choose, reach};
use super::queue::{Decides, Queue};
use super::{Action, Level, Schedule, ScheduleError};

/// Revolve with the slots of memory and disk together (Stumm & Walther), and the fewest transfers.
///
/// It runs as few steps as [`Revolve`](super::Revolve) with so many slots in memory, and no schedule that does moves fewer states to and from
/// disk.
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
    steps: usize,
    memory: usize,
    disk: usize,
    /// Stored states, the earliest first; those in memory after those on disk.
    stored: Vec<Entry>,
    /// Slots that are free.
    free: [usize; 2],
    /// Slots in memory that are of use.
    inner: usize,
    /// Steps not reversed yet.
    end: usize,
    /// Where the current state is.
    at: Option<usize>,
    queue: Queue,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    step: usize,
    level: Level,
    /// At least the repetitions of the segment that starts here.
    repetitions: u64,
}

impl Multistage {
    /// For `steps`, with so many slots in memory and on disk, the one of the first state included.
    ///
    /// # Errors
    /// [`ScheduleError::NoSlots`].
    pub fn new(steps: usize, memory: usize, disk: usize) -> Result<Self, ScheduleError> {
        if memory == 0 && disk == 0 && steps > 1 {
            return Err(ScheduleError::NoSlots);
        }
        // More slots than steps are of no use.
        let inner = memory.min(steps);
        let outer = disk.min(steps - inner);
        let mut schedule = Self {
            steps,
            memory,
            disk,
            stored: Vec::new(),
            free: [inner, outer],
            inner,
            end: steps,
            at: Some(0),
            queue: Queue::of_steps(steps),
        };
        match steps {
            0 => {}
            1 => schedule.tape_and_reverse(0),
            _ => schedule.store(0, steps, u64::MAX),
        }
        Ok(schedule)
    }

    /// States moved to and from disk in all, without going through the schedule.
    pub(crate) fn transfers(steps: usize, memory: usize, disk: usize) -> u64 {
        let inner = memory.min(steps);
        let outer = disk.min(steps - inner) as u64;
        if outer == 0 || steps <= inner + 1 {
            return 0;
        }
        let slots = inner as u64 + outer;
        if slots == 1 {
            return steps as u64;
        }
        let mut transfers = 1_u64;
        let mut reached = 1;
        for r in 1.. {
            let lengths = (reach(slots, r) - reached).min(steps as u64 - reached);
            let [none, one, _] = slopes(outer, r, reach(slots, r) - reached);
            let (more, most) = (lengths.saturating_sub(none), one);
            transfers = transfers
                .saturating_add(more.min(most))
                .saturating_add(2 * more.saturating_sub(most));
            reached += lengths;
            if reached >= steps as u64 {
                break;
            }
        }
        transfers
    }

    /// Stores the current state, the first of a segment: on disk, unless memory is as good.
    fn store(&mut self, step: usize, length: usize, repetitions: u64) {
        let inside = self.stored.last().is_some_and(|entry| entry.level == Level::MEMORY);
        let level = match self.free[1] > 0 && length > self.inner + 1 && !inside {
            true => Level::DISK,
            false => Level::MEMORY,
        };
        self.stored.push(Entry { step, level, repetitions });
        self.free[level.index()] -= 1;
        self.queue.push(Action::Store { step, level });
    }

    /// Frees the slot of the last stored state.
    fn release(&mut self) {
        if let Some(Entry { step, level, .. }) = self.stored.pop() {
            self.free[level.index()] += 1;
            self.queue.push(Action::Drop { step, level });
        }
    }

    fn tape_and_reverse(&mut self, step: usize) {
        self.queue.tape_and_reverse(step);
        self.end = step;
        self.at = None;
    }

    /// How far to go from the last stored state before storing the next, and the repetitions that takes.
    fn split(&mut self, length: usize) -> (usize, u64) {
        let last = self.stored.len() - 1;
        let Entry { level, repetitions, .. } = self.stored[last];
        let slots = match level {
            Level::MEMORY => self.free[0],
            _ => self.free[0] + self.free[1],
        };
        let range = Range::new(length, slots as u64 + 1, repetitions);
        self.stored[last].repetitions = range.repetitions;
        let ahead = match level {
            Level::MEMORY => range.fewest_writes(),
            _ => fewest_transfers(&range, length as u64, self.free[1] as u64 + 1),
        };
        (ahead, range.repetitions)
    }
}

/// Where to split a segment whose first state is in one of `disk` slots on disk.
fn fewest_transfers(range: &Range, length: u64, disk: u64) -> usize {
    let r = range.repetitions;
    if r == 1 {
        return 1;
    }
    let before = slopes(disk, r - 1, range.below - range.twice_below);
    let after = slopes(disk - 1, r, range.right.saturating_sub(range.right_below));
    let mut ahead = range.twice_below;
    let mut more = length - range.below;
    for (before, after) in before.into_iter().zip(after) {
        let taken = more.min(before);
        ahead += taken;
        more -= taken;
        more -= more.min(after);
    }
    range.clamp(ahead)
}

/// How many of the lengths that take `r` repetitions add no transfer, one, and two.
fn slopes(disk: u64, r: u64, lengths: u64) -> [u64; 3] {
    let one = if disk >= 1 { choose(disk + r - 2, disk - 1) } else { 0 };
    let two = if disk >= 2 { choose(disk + r - 2, disk - 2) } else { 0 };
    [lengths.saturating_sub(one).saturating_sub(two), one, two]
}

impl Decides for Multistage {
    fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    fn decide(&mut self) {
        let Some(&entry) = self.stored.last() else {
            return self.queue.end();
        };
        let length = self.end - entry.step;
        if self.at != Some(entry.step) {
            self.queue.push(Action::Load { step: entry.step, level: entry.level });
            self.at = Some(entry.step);
        }
        if length == 1 {
            self.release();
            self.tape_and_reverse(entry.step);
            return;
        }
        if entry.level == Level::DISK && length <= self.inner + 1 {
            // It need not be loaded from disk again.
            self.release();
            self.store(entry.step, length, u64::MAX);
            return;
        }
        let free = match entry.level {
            Level::MEMORY => self.free[0],
            _ => self.free[0] + self.free[1],
        };
        let (to, repetitions) = if free == 0 {
            (self.end - 1, 0)
        } else {
            let (ahead, repetitions) = self.split(length);
            (entry.step + ahead, repetitions)
        };
        self.queue.push(Action::Advance { from: entry.step, to });
        if to + 1 == self.end {
            self.tape_and_reverse(to);
        } else {
            self.at = Some(to);
            self.store(to, self.end - to, repetitions);
        }
    }
}

impl Iterator for Multistage {
    type Item = Action;

    #[inline]
    fn next(&mut self) -> Option<Action> {
        self.next_action()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::count;

    #[test]
    fn transfers_are_counted_without_going_through_the_schedule() {
        for steps in (0..60).chain([100, 333, 1000]) {
            for memory in 0..6 {
                for disk in [0, 1, 2, 3, 5, 8, 40] {
                    if memory + disk > 0 {
                        let counts = count(Multistage::new(steps, memory, disk).unwrap(), steps);
                        let found = Multistage::transfers(steps, memory, disk);
                        let moved = counts.writes[1] + counts.reads[1];
                        assert_eq!(found, moved, "{steps} {memory} {disk}");
                    }
                }
            }
        }
    }
}
