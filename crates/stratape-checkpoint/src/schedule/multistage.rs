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
use super::walk::{Levels, Walk};
use super::{Action, Level, Schedule, ScheduleError};
use crate::report::Count;

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
    actions: Walk<MemoryAndDisk>,
}

/// The first states of a segment go to disk, those inside it to memory.
#[derive(Clone, Debug)]
struct MemoryAndDisk {
    /// Slots that are free.
    free: [usize; 2],
    /// Slots in memory that are of use.
    inner: usize,
}

impl Levels for MemoryAndDisk {
    fn free(&self, first: Level) -> usize {
        match first {
            Level::MEMORY => self.free[0],
            _ => self.free[0] + self.free[1],
        }
    }

    /// On disk, unless memory is as good.
    fn take(&mut self, outer: Option<Level>, length: usize) -> Level {
        let inside = outer == Some(Level::MEMORY);
        let level = match self.free[1] > 0 && length > self.inner + 1 && !inside {
            true => Level::DISK,
            false => Level::MEMORY,
        };
        self.free[level.index()] -= 1;
        level
    }

    fn give_back(&mut self, level: Level) {
        self.free[level.index()] += 1;
    }

    fn place(&self, first: Level, range: &Range) -> usize {
        match first {
            Level::MEMORY => range.fewest_writes(),
            _ => fewest_transfers(range, self.free[1] as u64 + 1),
        }
    }

    /// From disk to memory, where that reverses it all: it need not be loaded from disk again.
    fn moves(&self, first: Level, length: usize) -> bool {
        first == Level::DISK && length <= self.inner + 1
    }
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
        let levels = MemoryAndDisk { free: [inner, outer], inner };
        Ok(Self { steps, memory, disk, actions: Walk::whole_on(levels, steps) })
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
}

/// Where to split a segment whose first state is in one of `disk` slots on disk.
fn fewest_transfers(range: &Range, disk: u64) -> usize {
    let r = range.repetitions;
    if r == 1 {
        return 1;
    }
    let before = slopes(disk, r - 1, range.below - range.twice_below);
    let after = slopes(disk - 1, r, range.right.saturating_sub(range.right_below));
    let mut ahead = range.twice_below;
    let mut more = range.length - range.below;
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

impl Iterator for Multistage {
    type Item = Action;

    #[inline]
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
        format!("Multistage, {} in memory and {} on disk", Count(self.memory, "slot"), self.disk)
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
