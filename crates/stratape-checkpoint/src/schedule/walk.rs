//! The walk back over stored states, from any set of them, that all binomial schedules share.
//!
//! The last stored state begins the last *segment* of what is left. The walk loads it, and goes ahead to the place where the
//! next state is best stored; a segment of one step is recorded and reversed, and its state dropped. Where states are stored, and in which of
//! the places that take the fewest steps, is for the [`Levels`] to say: [`OneLevel`] here, memory and disk in
//! [`Multistage`](super::Multistage).

use super::binomial::Range;
use super::queue::{Decides, Queue};
use super::{Action, Level};

/// A stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) step: usize,
    pub(crate) level: Level,
    /// Whether its slot is one of those that segments share.
    pub(crate) pooled: bool,
    /// At least the repetitions of the segment that starts here.
    repetitions: u64,
}

impl Entry {
    pub(crate) fn new(step: usize, level: Level, pooled: bool) -> Self {
        Self { step, level, pooled, repetitions: u64::MAX }
    }
}

/// The slots that segments share, and the choice among them.
pub(super) trait Levels {
    /// Free slots for the states inside a segment whose first state is stored on `first`.
    fn free(&self, first: Level) -> usize;

    /// Takes a slot for the first state of a segment of `length` steps, which lies inside one whose first state is on `outer`.
    fn take(&mut self, outer: Option<Level>, length: usize) -> Level;

    /// Takes a slot back.
    fn give_back(&mut self, level: Level);

    /// Where the next state of a segment whose first one is on `first` is stored, within the range.
    fn place(&self, _first: Level, range: &Range) -> usize {
        range.fewest_writes()
    }

    /// Whether a segment's first state leaves its slot on `first` for another, now that it is loaded.
    fn moves(&self, _first: Level, _length: usize) -> bool {
        false
    }
}

/// Slots of one kind.
#[derive(Clone, Debug)]
pub(crate) struct OneLevel {
    level: Level,
    free: usize,
}

impl Levels for OneLevel {
    fn free(&self, _: Level) -> usize {
        self.free
    }

    fn take(&mut self, _: Option<Level>, _: usize) -> Level {
        self.free -= 1;
        self.level
    }

    fn give_back(&mut self, _: Level) {
        self.free += 1;
    }
}

/// Reverses the steps below `end` from the states that are stored.
#[derive(Clone, Debug)]
pub(crate) struct Walk<L> {
    /// Stored states, the earliest first.
    stored: Vec<Entry>,
    /// Steps not reversed yet.
    end: usize,
    /// Where the current state is.
    at: Option<usize>,
    levels: L,
    queue: Queue,
}

/// The walk with slots of one kind: what Revolve does.
pub(crate) type Binomial = Walk<OneLevel>;

impl Binomial {
    /// The whole run of `steps`, from the first state, with `slots` in all.
    pub(super) fn whole(steps: usize, slots: usize, level: Level) -> Self {
        Self::whole_on(OneLevel { level, free: slots }, steps)
    }

    /// The reversal of `steps` that have been run, from the states that are stored, with more slots on `level`.
    pub(super) fn back(stored: Vec<Entry>, steps: usize, level: Level, free: usize) -> Self {
        let levels = OneLevel { level, free };
        Self { stored, end: steps, at: None, levels, queue: Queue::new(false) }
    }
}

impl<L: Levels> Walk<L> {
    /// The whole run of `steps`, from the first state.
    pub(super) fn whole_on(levels: L, steps: usize) -> Self {
        let queue = Queue::of_steps(steps);
        let mut walk = Self { stored: Vec::new(), end: steps, at: Some(0), levels, queue };
        match steps {
            0 => {}
            1 => walk.tape_and_reverse(0),
            _ => walk.store(0, u64::MAX),
        }
        walk
    }

    /// Stores the current state, the first of a segment that takes no more than these repetitions.
    fn store(&mut self, step: usize, repetitions: u64) {
        let outer = self.stored.last().map(|entry| entry.level);
        let level = self.levels.take(outer, self.end - step);
        self.stored.push(Entry { step, level, pooled: true, repetitions });
        self.queue.push(Action::Store { step, level });
    }

    /// Frees the slot of the last stored state.
    fn release(&mut self) {
        if let Some(Entry { step, level, pooled, .. }) = self.stored.pop() {
            if pooled {
                self.levels.give_back(level);
            }
            self.queue.push(Action::Drop { step, level });
        }
    }

    fn tape_and_reverse(&mut self, step: usize) {
        self.queue.tape_and_reverse(step);
        self.end = step;
        self.at = None;
    }

    /// How far to go from the last stored state before storing the next, and the repetitions that takes.
    fn split(&mut self, length: usize, free: usize) -> (usize, u64) {
        let last = self.stored.len() - 1;
        let Entry { level, repetitions, .. } = self.stored[last];
        let range = Range::new(length, free as u64 + 1, repetitions);
        self.stored[last].repetitions = range.repetitions;
        (self.levels.place(level, &range), range.repetitions)
    }
}

impl<L: Levels> Decides for Walk<L> {
    fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    fn decide(&mut self) {
        let Some(&Entry { step, level, .. }) = self.stored.last() else {
            return self.queue.end();
        };
        if self.end <= step {
            // Stored, and the loop ended there.
            return self.release();
        }
        let length = self.end - step;
        if self.at != Some(step) {
            self.queue.push(Action::Load { step, level });
            self.at = Some(step);
        }
        if length == 1 {
            self.release();
            return self.tape_and_reverse(step);
        }
        if self.levels.moves(level, length) {
            self.release();
            return self.store(step, u64::MAX);
        }
        let (to, repetitions) = match self.levels.free(level) {
            0 => (self.end - 1, 0),
            free => {
                let (ahead, repetitions) = self.split(length, free);
                (step + ahead, repetitions)
            }
        };
        self.queue.push(Action::Advance { from: step, to });
        if to + 1 == self.end {
            self.tape_and_reverse(to);
        } else {
            self.at = Some(to);
            self.store(to, repetitions);
        }
    }
}

impl<L: Levels> Iterator for Walk<L> {
    type Item = Action;

    #[inline]
    fn next(&mut self) -> Option<Action> {
        self.next_action()
    }
}
