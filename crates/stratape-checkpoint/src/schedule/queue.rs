//! Actions decided on and not yet handed out.

use super::Action;

/// A few actions, first in, first out. A schedule decides on no more than this many at once.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    actions: [Action; 8],
    head: usize,
    len: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Self { actions: [Action::EndReverse; 8], head: 0, len: 0 }
    }
}

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, action: Action) {
        debug_assert!(self.len < 8, "a decision of more than eight actions");
        self.actions[(self.head + self.len) % 8] = action;
        self.len += 1;
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
}
