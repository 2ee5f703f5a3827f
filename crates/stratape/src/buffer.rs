//! Memory for the arrays a gradient makes, kept by the thread from call to call.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// How many arrays, and how many bytes of them, a thread keeps of each type.
const KEPT_ARRAYS: usize = 128;
const KEPT_BYTES: usize = 256 << 20;

/// Numbers whose arrays are kept.
pub trait Pooled: Copy + 'static {
    /// What an element that was not written yet holds in builds that check.
    const UNWRITTEN: Self;

    /// Runs `f` with the thread's arrays of the type, unless the thread is going away.
    fn with_pool<R>(f: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R>;
}

macro_rules! pooled {
    ($($number:ty = $unwritten:expr),* $(,)?) => { $(
        impl Pooled for $number {
            const UNWRITTEN: Self = $unwritten;

            fn with_pool<R>(f: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R> {
                thread_local! {
                    static POOL: RefCell<Vec<Vec<$number>>> = const { RefCell::new(Vec::new()) };
                }
                POOL.try_with(|pool| Some(f(&mut *pool.try_borrow_mut().ok()?))).ok().flatten()
            }
        }
    )* };
}

pooled! {
    f64 = f64::NAN,
    f32 = f32::NAN,
    usize = usize::MAX,
    u64 = u64::MAX,
    u32 = u32::MAX,
    u16 = u16::MAX,
    u8 = u8::MAX,
    isize = isize::MIN,
    i64 = i64::MIN,
    i32 = i32::MIN,
    i16 = i16::MIN,
    i8 = i8::MIN,
}

/// An array that goes back to the thread when it is dropped.
#[derive(Debug)]
pub struct Buffer<T: Pooled>(Vec<T>);

impl<T: Pooled> Buffer<T> {
    fn take(len: usize) -> Vec<T> {
        T::with_pool(|pool| {
            // The smallest one that is large enough, or else the largest: one that is too large is missed by whoever asks for more.
            // Of equal ones the last: calls nest, so it was the last to go back.
            let sizes = || pool.iter().map(Vec::capacity).enumerate();
            let fits = sizes().rev().filter(|(_, size)| *size >= len).min_by_key(|(_, size)| *size);
            let chosen = fits.or_else(|| sizes().max_by_key(|(_, size)| *size));
            chosen.map(|(at, _)| pool.swap_remove(at))
        })
        .flatten()
        .unwrap_or_default()
    }

    /// `vec![value; len]`
    pub fn filled(value: T, len: usize) -> Self {
        let mut memory = Self::take(len);
        memory.clear();
        memory.resize(len, value);
        Self(memory)
    }

    /// A list of a length that holds what it held before, or the value: it is written before it is read.
    pub fn unfilled(value: T, len: usize) -> Self {
        let mut memory = Self::take(len);
        if cfg!(debug_assertions) {
            memory.clear();
            memory.resize(len, T::UNWRITTEN);
            return Self(memory);
        }
        if memory.capacity() < len {
            // Nothing worth copying to new memory.
            memory.clear();
        }
        memory.resize(len, value);
        Self(memory)
    }

    /// A copy of a slice.
    pub fn copied(from: &[T]) -> Self {
        let mut memory = Self::take(from.len());
        memory.clear();
        memory.extend_from_slice(from);
        Self(memory)
    }
}

impl<T: Pooled> Drop for Buffer<T> {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.0));
    }
}

/// Gives memory to the thread, which keeps it if it has room.
#[cold]
fn give_back<T: Pooled>(memory: Vec<T>) {
    let bytes = memory.capacity() * size_of::<T>();
    T::with_pool(|pool| {
        if bytes > 0 && bytes <= KEPT_BYTES && pool.len() < KEPT_ARRAYS {
            pool.push(memory);
        }
    });
}

impl<T: Pooled> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Pooled> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// The most bytes that a loop keeps from one iteration to the next: more go back to the thread, which may have another use for them meanwhile.
const SPARE_BYTES: usize = 64 << 10;

/// Memory for an array that each iteration of a loop makes: the first takes it from the thread, the others find it here.
#[derive(Debug, Default)]
pub struct Spare<T: Pooled>(Vec<T>);

impl<T: Pooled> Spare<T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        give_back(std::mem::replace(&mut self.0, Buffer::take(len)));
        self.0.clear();
        self.0.reserve(len);
    }

    fn make(&mut self, len: usize) {
        if self.0.capacity() < len {
            self.grow(len);
        }
    }

    /// [`Buffer::filled`]
    #[inline]
    pub fn filled(&mut self, value: T, len: usize) -> Lent<'_, T> {
        self.make(len);
        self.0.clear();
        self.0.resize(len, value);
        Lent(&mut self.0)
    }

    /// [`Buffer::unfilled`]
    #[inline]
    pub fn unfilled(&mut self, value: T, len: usize) -> Lent<'_, T> {
        if cfg!(debug_assertions) {
            return self.filled(T::UNWRITTEN, len);
        }
        self.make(len);
        self.0.resize(len, value);
        Lent(&mut self.0)
    }

    /// [`Buffer::copied`]
    #[inline]
    pub fn copied(&mut self, from: &[T]) -> Lent<'_, T> {
        self.make(from.len());
        self.0.clear();
        self.0.extend_from_slice(from);
        Lent(&mut self.0)
    }
}

impl<T: Pooled> Drop for Spare<T> {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.0));
    }
}

/// An array of one iteration.
#[derive(Debug)]
pub struct Lent<'a, T: Pooled>(&'a mut Vec<T>);

impl<T: Pooled> Drop for Lent<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.0.capacity() * size_of::<T>() > SPARE_BYTES {
            give_back(std::mem::take(self.0));
        }
    }
}

impl<T: Pooled> Deref for Lent<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<T: Pooled> DerefMut for Lent<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_filled_shows_where_that_is_checked() {
        drop(Buffer::filled(1.5_f64, 100));
        let memory = Buffer::unfilled(0.0_f64, 120);
        assert_eq!(memory.len(), 120);
        if cfg!(debug_assertions) {
            assert!(memory.iter().all(|value| value.is_nan()));
        }
    }

    /// The memory of an iteration is that of the one before; what is long goes back in between.
    #[test]
    fn a_loop_makes_its_array_once() {
        let mut spare = Spare::new();
        let mut addresses = Vec::new();
        for turn in 0..3_usize {
            let mut list = spare.filled(0.5_f64, 10 + turn % 2);
            assert!(list.len() == 10 + turn % 2 && list.iter().all(|value| *value == 0.5));
            list[0] = 2.0;
            addresses.push(list.as_ptr());
        }
        assert!(addresses[1] == addresses[2]);
        assert_eq!(&*spare.copied(&[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(spare.unfilled(0.0, 7).len(), 7);
        let long = SPARE_BYTES / size_of::<f64>() + 1;
        assert_eq!(spare.filled(0.0, long).len(), long);
        assert_eq!(spare.0.capacity(), 0);
        assert_eq!(spare.filled(0.25, 0).len(), 0);
    }

    /// A long list and a short one, asked for in either order, have the same memory from the second time on.
    #[test]
    fn the_smallest_that_fits_is_taken() {
        drop([Buffer::filled(0.5_f32, 1000), Buffer::filled(0.5_f32, 9000)]);
        for _ in 0..3 {
            let (short, long) = (Buffer::filled(0.0_f32, 1000), Buffer::filled(0.0_f32, 9000));
            assert!(short.0.capacity() < 9000 && long.0.capacity() >= 9000);
        }
        let kept = f32::with_pool(|pool| pool.len());
        assert_eq!(kept, Some(2));
    }

    #[test]
    fn memory_comes_back() {
        let first = Buffer::filled(1.5_f64, 1000);
        let address = first.as_ptr();
        drop(first);
        let second = Buffer::filled(0.0_f64, 900);
        assert_eq!(second.as_ptr(), address);
        assert!(second.iter().all(|value| *value == 0.0) && second.len() == 900);
    }
}
