//! What schedules that decide step by step have in common: actions decided on and not yet handed out.

use super::Action;

/// A schedule that decides on a few actions at a time.
pub(super) trait Decides {
    /// Where decisions go.
    fn queue(&mut self) -> &mut Queue;

    /// Decides on the next few actions; [ends](Queue::end) the queue when there are none.
    fn decide(&mut self);

    /// The next action.
    #[inline]
    fn next_action(&mut self) -> Option<Action> {
        loop {
            if let Some(action) = self.queue().pop() {
                return Some(action);
            }
            if self.queue().ended {
                return None;
            }
            self.decide();
        }
    }
}

/// A few actions, first in, first out. A schedule decides on no more than this many at once.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    actions: [Action; 8],
    head: usize,
    len: usize,
    /// Whether the last step is yet to be run for the first time.
    forward: bool,
    ended: bool,
}

impl Queue {
    /// For a whole run, or for a reversal alone.
    pub(super) fn new(forward: bool) -> Self {
        Self { actions: [Action::EndReverse; 8], head: 0, len: 0, forward, ended: false }
    }

    /// For a run of so many steps; one of none ends its forward pass at once.
    pub(super) fn of_steps(steps: usize) -> Self {
        let mut queue = Self::new(steps > 0);
        if steps == 0 {
            queue.push(Action::EndForward);
        }
        queue
    }

    #[inline]
    pub(super) fn push(&mut self, action: Action) {
        debug_assert!(self.len < 8, "a decision of more than eight actions");
        self.actions[(self.head + self.len) % 8] = action;
        self.len += 1;
    }

    /// Records a step and reverses it at once. The first one is the last of the loop, which ends there.
    pub(super) fn tape_and_reverse(&mut self, step: usize) {
        self.push(Action::Tape { step, keep: false });
        if std::mem::take(&mut self.forward) {
            self.push(Action::EndForward);
        }
        self.push(Action::Reverse { step });
    }

    /// Nothing is left to do.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.push(Action::EndReverse);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Action> {
        if self.len == 0 {
            return None;
        }
        let action = self.actions[self.head];
        self.head = (self.head + 1) % 8;
        self.len -= 1;
        Some(action)
    }

    /// Takes back what has been decided on and not handed out.
    pub(super) fn withdraw(&mut self) -> impl Iterator<Item = Action> {
        std::iter::from_fn(|| self.pop())
    }
}
