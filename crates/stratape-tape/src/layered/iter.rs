//! Iteration over a [`LayeredTape`], a slab at a time, from both ends.

use std::fmt;

use bytemuck::Pod;

use super::LayeredTape;
use crate::error::TapeError;

/// The elements of a layered tape; see [`LayeredTape::iter`].
///
/// After an error the iterator stands where it was, and the next call tries again.
pub struct Iter<'a, T: Pod> {
    tape: &'a mut LayeredTape<T>,
    front: usize,
    back: usize,
}

impl<'a, T: Pod> Iter<'a, T> {
    pub(super) fn new(tape: &'a mut LayeredTape<T>) -> Self {
        let back = tape.len();
        Self { tape, front: 0, back }
    }

    fn element(&mut self, index: usize, next: Option<usize>) -> Result<T, TapeError> {
        let (slab, offset) = self.tape.split(index);
        self.tape.slab_and_hint(slab, next).map(|elements| elements[offset])
    }
}

impl<T: Pod> Iterator for Iter<'_, T> {
    type Item = Result<T, TapeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.front == self.back {
            return None;
        }
        let (slab, offset) = self.tape.split(self.front);
        let next = (offset == 0).then_some(slab + 1);
        let element = self.element(self.front, next);
        self.front += usize::from(element.is_ok());
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.back - self.front, None)
    }
}

impl<T: Pod> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front == self.back {
            return None;
        }
        let last = self.back - 1;
        let (slab, offset) = self.tape.split(self.back);
        // `back` at a boundary: the slab below is about to be entered, the one under it is next.
        let next = if offset == 0 { slab.checked_sub(2) } else { None };
        let element = self.element(last, next);
        self.back -= usize::from(element.is_ok());
        Some(element)
    }
}

impl<T: Pod> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("left", &(self.back - self.front)).finish_non_exhaustive()
    }
}
