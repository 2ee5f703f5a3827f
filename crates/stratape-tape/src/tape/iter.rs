//! Iteration over a [`Tape`], from both ends: by slices, by reference, by value.

use std::fmt;
use std::iter::{Flatten, FusedIterator};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::Tape;
use crate::block::Block;
use crate::geometry::Geometry;

/// The filled parts of a tape, as raw slices. Segment 0 is the inline buffer, segment `k` slab
/// `k - 1`. Holds no reference to the tape itself, so that it serves mutable iteration too.
struct Segments<'a, T> {
    inline: NonNull<[T]>,
    slabs: &'a [Block],
    top_filled: usize,
    front: usize,
    back: usize,
}

impl<'a, T> Segments<'a, T> {
    fn new(inline: NonNull<[T]>, slabs: &'a [Block], top_filled: usize) -> Self {
        Self { inline, slabs, top_filled, front: 0, back: slabs.len() + 1 }
    }

    fn segment(&self, k: usize) -> NonNull<[T]> {
        let Some(slab) = k.checked_sub(1) else {
            return self.inline;
        };
        let is_top = k == self.slabs.len();
        let filled = if is_top { self.top_filled } else { Geometry::of::<T>().capacity(slab) };
        NonNull::slice_from_raw_parts(self.slabs[slab].ptr().cast(), filled)
    }

    fn next(&mut self) -> Option<NonNull<[T]>> {
        if self.front == self.back {
            return None;
        }
        self.front += 1;
        Some(self.segment(self.front - 1))
    }

    fn next_back(&mut self) -> Option<NonNull<[T]>> {
        if self.front == self.back {
            return None;
        }
        self.back -= 1;
        Some(self.segment(self.back))
    }
}

impl<T> Clone for Segments<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

// SAFETY: the raw pointers stand for a borrow of the tape; the public iterators add the bounds on
// `T` that a shared (`Sync`) or exclusive (`Send`) borrow needs.
unsafe impl<T> Send for Segments<'_, T> {}
// SAFETY: as above; nothing is handed out through `&Segments`.
unsafe impl<T> Sync for Segments<'_, T> {}

/// The elements of a tape as slices; see [`Tape::slices`].
pub struct Slices<'a, T> {
    segments: Segments<'a, T>,
    borrow: PhantomData<&'a T>,
}

impl<'a, T> Slices<'a, T> {
    pub(super) fn new<const N: usize>(tape: &'a Tape<T, N>) -> Self {
        let inline = NonNull::from(&tape.inline).cast();
        let inline = NonNull::slice_from_raw_parts(inline, tape.inline_len);
        let slabs = tape.slabs.as_ref().map_or(&[][..], |slabs| slabs.in_use());
        Self { segments: Segments::new(inline, slabs, tape.head.filled()), borrow: PhantomData }
    }
}

impl<'a, T> Iterator for Slices<'a, T> {
    type Item = &'a [T];

    fn next(&mut self) -> Option<&'a [T]> {
        // SAFETY: segments hold initialised elements, borrowed from the tape for 'a.
        self.segments.next().map(|segment| unsafe { segment.as_ref() })
    }
}

impl<T> DoubleEndedIterator for Slices<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        // SAFETY: as in `next`.
        self.segments.next_back().map(|segment| unsafe { segment.as_ref() })
    }
}

impl<T> FusedIterator for Slices<'_, T> {}

impl<T> Clone for Slices<'_, T> {
    fn clone(&self) -> Self {
        Self { segments: self.segments.clone(), borrow: PhantomData }
    }
}

struct SlicesMut<'a, T> {
    segments: Segments<'a, T>,
    borrow: PhantomData<&'a mut T>,
}

impl<'a, T> Iterator for SlicesMut<'a, T> {
    type Item = &'a mut [T];

    fn next(&mut self) -> Option<&'a mut [T]> {
        // SAFETY: each segment is handed out once, disjoint from the others, and the tape is
        // exclusively borrowed for 'a.
        self.segments.next().map(|mut segment| unsafe { segment.as_mut() })
    }
}

impl<T> DoubleEndedIterator for SlicesMut<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        // SAFETY: as in `next`.
        self.segments.next_back().map(|mut segment| unsafe { segment.as_mut() })
    }
}

/// The elements of a tape by reference; see [`Tape::iter`].
pub struct Iter<'a, T> {
    elements: Flatten<Slices<'a, T>>,
    left: usize,
}

impl<'a, T> Iter<'a, T> {
    pub(super) fn new<const N: usize>(tape: &'a Tape<T, N>) -> Self {
        Self { elements: tape.slices().flatten(), left: tape.len() }
    }
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { elements: self.elements.clone(), left: self.left }
    }
}

/// The elements of a tape by mutable reference; see [`Tape::iter_mut`].
pub struct IterMut<'a, T> {
    elements: Flatten<SlicesMut<'a, T>>,
    left: usize,
}

impl<'a, T> IterMut<'a, T> {
    pub(super) fn new<const N: usize>(tape: &'a mut Tape<T, N>) -> Self {
        let left = tape.len();
        // Field by field: a borrow of the whole tape would end the exclusive one of `inline`.
        let inline = NonNull::from(&mut tape.inline).cast();
        let inline = NonNull::slice_from_raw_parts(inline, tape.inline_len);
        let slabs = tape.slabs.as_ref().map_or(&[][..], |slabs| slabs.in_use());
        let segments = Segments::new(inline, slabs, tape.head.filled());
        let slices = SlicesMut { segments, borrow: PhantomData };
        Self { elements: slices.flatten(), left }
    }
}

macro_rules! forward_to_elements {
    ($iter:ident, $item:ty) => {
        impl<'a, T> Iterator for $iter<'a, T> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let next = self.elements.next()?;
                self.left -= 1;
                Some(next)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.left, Some(self.left))
            }

            fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, f: F) -> B {
                self.elements.fold(init, f)
            }
        }

        impl<T> DoubleEndedIterator for $iter<'_, T> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let next = self.elements.next_back()?;
                self.left -= 1;
                Some(next)
            }
        }

        impl<T> ExactSizeIterator for $iter<'_, T> {}
        impl<T> FusedIterator for $iter<'_, T> {}
    };
}

forward_to_elements!(Iter, &'a T);
forward_to_elements!(IterMut, &'a mut T);

/// The elements of a tape by value, bottom first or from both ends.
///
/// To take them from the top, [`Tape::pop`] is simpler.
pub struct IntoIter<T, const N: usize> {
    /// Emptied at the start: its elements belong to `front..back` from then on.
    tape: ManuallyDrop<Tape<T, N>>,
    front: usize,
    back: usize,
}

impl<T, const N: usize> IntoIter<T, N> {
    pub(super) fn new(tape: Tape<T, N>) -> Self {
        let back = tape.len();
        Self { tape: ManuallyDrop::new(tape), front: 0, back }
    }

    /// # Safety
    /// `index` must just have left `front..back`.
    unsafe fn read(&self, index: usize) -> Option<T> {
        // SAFETY: the element was initialised and, by the caller's word, is read this once.
        self.tape.place(index).map(|place| unsafe { place.read() })
    }
}

impl<T, const N: usize> Iterator for IntoIter<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.front == self.back {
            return None;
        }
        self.front += 1;
        // SAFETY: the index has just been taken off the front.
        unsafe { self.read(self.front - 1) }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.back - self.front;
        (left, Some(left))
    }
}

impl<T, const N: usize> DoubleEndedIterator for IntoIter<T, N> {
    fn next_back(&mut self) -> Option<T> {
        if self.front == self.back {
            return None;
        }
        self.back -= 1;
        // SAFETY: the index has just been taken off the back.
        unsafe { self.read(self.back) }
    }
}

impl<T, const N: usize> ExactSizeIterator for IntoIter<T, N> {}
impl<T, const N: usize> FusedIterator for IntoIter<T, N> {}

impl<T, const N: usize> Drop for IntoIter<T, N> {
    fn drop(&mut self) {
        /// Runs last, also when an element's destructor panics: drops the elements that are left,
        /// then frees the memory of the tape, which holds none any more.
        struct Rest<'a, T, const N: usize>(&'a mut IntoIter<T, N>);
        impl<T, const N: usize> Drop for Rest<'_, T, N> {
            fn drop(&mut self) {
                self.0.by_ref().for_each(drop);
                let tape = &mut self.0.tape;
                tape.cut(0);
                // SAFETY: the iterator is being dropped; nothing uses the tape after this.
                unsafe { ManuallyDrop::drop(tape) };
            }
        }
        let rest = Rest(self);
        rest.0.by_ref().for_each(drop);
    }
}

impl<T: fmt::Debug> fmt::Debug for Slices<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<T> fmt::Debug for IterMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T, const N: usize> fmt::Debug for IntoIter<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.len()).finish_non_exhaustive()
    }
}
