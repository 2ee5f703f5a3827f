//! What a Rust user expects of a collection: `Default`, `Clone`, `Debug`, comparison, indexing,
//! `Extend` and `FromIterator`.

use std::fmt;
use std::ops::{Index, IndexMut};

use super::{IntoIter, Iter, IterMut, Tape};

impl<T, const N: usize> Default for Tape<T, N> {
    fn default() -> Self {
        Self::with_inline()
    }
}

impl<T: Clone, const N: usize> Clone for Tape<T, N> {
    fn clone(&self) -> Self {
        let mut copy = Self::with_inline();
        if let Some(pool) = self.slabs.as_ref().and_then(|slabs| slabs.own_pool()) {
            copy = Self::with_inline_and_pool(pool);
        }
        for slice in self.slices() {
            copy.extend_from_slice(slice);
        }
        copy
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Tape<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: PartialEq, const N: usize, const M: usize> PartialEq<Tape<T, M>> for Tape<T, N> {
    fn eq(&self, other: &Tape<T, M>) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<T: Eq, const N: usize> Eq for Tape<T, N> {}

impl<T, const N: usize> Index<usize> for Tape<T, N> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => out_of_range(index, self.len()),
        }
    }
}

impl<T, const N: usize> IndexMut<usize> for Tape<T, N> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let len = self.len();
        match self.get_mut(index) {
            Some(element) => element,
            None => out_of_range(index, len),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
#[allow(clippy::panic, reason = "indexing out of range panics, as it does for Vec")]
fn out_of_range(index: usize, len: usize) -> ! {
    panic!("index out of range: the tape holds {len} elements but the index is {index}")
}

impl<T, const N: usize> Extend<T> for Tape<T, N> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.push(value);
        }
    }
}

impl<'a, T: Copy, const N: usize> Extend<&'a T> for Tape<T, N> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        for value in values {
            self.push(*value);
        }
    }
}

impl<T, const N: usize> FromIterator<T> for Tape<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut tape = Self::with_inline();
        tape.extend(values);
        tape
    }
}

impl<T> Tape<T> {
    /// `FromIterator` for the default inline buffer, where inference cannot choose one.
    #[allow(clippy::should_implement_trait, reason = "it does; this spares the turbofish")]
    pub fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        <Self as FromIterator<T>>::from_iter(values)
    }
}

impl<T, const N: usize> IntoIterator for Tape<T, N> {
    type Item = T;
    type IntoIter = IntoIter<T, N>;

    fn into_iter(self) -> IntoIter<T, N> {
        IntoIter::new(self)
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Tape<T, N> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Tape<T, N> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lanes, LayeredTape, RecordTape, SharedTape};

    fn is_send<T: Send>() {}
    fn is_send_and_sync<T: Send + Sync>() {}

    /// Compiles only if a tape of longer-lived references is one of shorter-lived ones, as a `Vec` is.
    fn shorten<'a>(tape: Tape<&'static str>, _: &'a str) -> Tape<&'a str> {
        tape
    }

    #[test]
    fn tapes_cross_threads_when_their_elements_do() {
        is_send_and_sync::<Tape<f64>>();
        is_send::<Tape<std::cell::Cell<u8>>>();
        is_send_and_sync::<LayeredTape<f64>>();
        is_send_and_sync::<RecordTape>();
        is_send_and_sync::<Lanes<f32>>();
        is_send_and_sync::<SharedTape<String>>();
        let owned = "shorter".to_owned();
        assert_eq!(shorten(Tape::from_iter(["longer"]), &owned).len(), 1);
    }
}
