//! [`Tape`]: the stack in memory, for any `T`.
//!
//! It begins in a buffer inside the object and goes on over slabs that double up to a cap.
//! Growing never copies: an element stays where it was pushed until it is popped (the inline
//! elements move with the object itself, as the fields of any Rust value do). Slabs that run
//! empty are kept for the next push; [`Tape::shrink_to_fit`] and dropping the tape hand them to
//! its [`Pool`].
//!
//! Invariants, on which every `unsafe` here rests:
//! - while the head is nowhere, the elements are `inline[..inline_len]`;
//! - while it is in a slab, the inline buffer is full, the slabs below are full, and everything below
//!   the cursor is initialised. `before` counts the elements of the full slabs. (A slab has room for
//!   at least one element, so its base and limit differ, which tells the two apart.)
//!
//! For a zero-sized `T` the inline buffer is endless and no slab is ever made.

mod iter;
mod slabs;
mod traits;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::error::OutOfMemory;
use crate::head::Head;
use crate::pool::Pool;

use slabs::{Entered, Slabs};

pub use iter::{IntoIter, Iter, IterMut, Slices};

/// Elements kept inside a [`Tape`] object unless its second parameter says otherwise.
pub const DEFAULT_INLINE: usize = 64;

/// A stack of `T` that never moves an element and is as fast as a raw array.
///
/// `N` is the number of elements kept inside the object; raise it for many short tapes, set it to
/// zero for tapes of large elements. [`Tape::new`] uses the default, [`Tape::with_inline`] any.
///
/// ```
/// use stratape_tape::Tape;
///
/// let mut tape = Tape::new();
/// for i in 0..1000 {
///     tape.push(f64::from(i).sqrt());
/// }
/// assert_eq!(tape[100], 10.0);
/// while let Some(value) = tape.pop() {
///     assert!(value >= 0.0);
/// }
/// ```
pub struct Tape<T, const N: usize = DEFAULT_INLINE> {
    head: Head<T>,
    inline_len: usize,
    before: usize,
    slabs: Option<Box<Slabs<T>>>,
    inline: [MaybeUninit<T>; N],
    owns: PhantomData<T>,
}

/// A position of a tape, to return to with `rewind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(pub(crate) usize);

impl Mark {
    /// How many elements the tape held when the mark was set.
    pub fn height(self) -> usize {
        self.0
    }
}

// SAFETY: a tape owns its elements, like a `Vec`; blocks and pool handles are `Send` themselves.
unsafe impl<T: Send, const N: usize> Send for Tape<T, N> {}
// SAFETY: shared access to a tape gives shared access to its elements only.
unsafe impl<T: Sync, const N: usize> Sync for Tape<T, N> {}

impl<T> Tape<T> {
    /// An empty tape with the default inline buffer. Allocates nothing.
    pub const fn new() -> Self {
        Self::with_inline()
    }

    /// An empty tape that takes its slabs from `pool`, and returns them there.
    pub fn with_pool(pool: &Pool) -> Self {
        Self::with_inline_and_pool(pool)
    }
}

impl<T, const N: usize> Tape<T, N> {
    const INLINE: usize = if size_of::<T>() == 0 { usize::MAX } else { N };

    /// An empty tape with room for `N` elements inside the object.
    ///
    /// ```
    /// # use stratape_tape::Tape;
    /// let tape = Tape::<[f64; 16], 4>::with_inline();
    /// assert_eq!(tape.capacity(), 4);
    /// ```
    pub const fn with_inline() -> Self {
        Self {
            head: Head::nowhere(),
            inline_len: 0,
            before: 0,
            slabs: None,
            inline: [const { MaybeUninit::uninit() }; N],
            owns: PhantomData,
        }
    }

    /// [`with_inline`](Self::with_inline) and [`with_pool`](Tape::with_pool) at once.
    pub fn with_inline_and_pool(pool: &Pool) -> Self {
        let mut tape = Self::with_inline();
        tape.slabs = Some(Box::new(Slabs::new(Some(pool.clone()))));
        tape
    }

    /// Puts `value` on top.
    ///
    /// Aborts like `Vec::push` when there is no memory, of the system or of its pool's [source](crate::source); see
    /// [`try_push`](Self::try_push).
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        if !self.head.is_full() {
            // SAFETY: the head is not full.
            unsafe { self.head.put(value) };
        } else if self.inline_len < Self::INLINE {
            // SAFETY: the inline buffer has room, so by the invariants the tape is in it.
            unsafe { self.put_inline(value) };
        } else {
            if !self.grow() {
                out_of_memory::<T>(self.next_slab_bytes());
            }
            // SAFETY: `grow` entered an empty slab.
            unsafe { self.head.put(value) };
        }
    }

    /// Puts `value` on top, or returns it if there is no memory for another slab.
    ///
    /// # Errors
    /// The value, with the size of the failed request. The tape is unchanged.
    #[inline]
    pub fn try_push(&mut self, value: T) -> Result<(), (T, OutOfMemory)> {
        if self.head.is_full() && self.inline_len >= Self::INLINE && !self.grow() {
            return Err((value, OutOfMemory { bytes: self.next_slab_bytes() }));
        }
        self.push(value);
        Ok(())
    }

    /// Takes the top element.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        if !self.head.is_empty() {
            // SAFETY: the head is not empty.
            return Some(unsafe { self.head.take() });
        }
        if self.is_in_slab() {
            self.step_down();
            if self.is_in_slab() {
                // SAFETY: `step_down` entered a full slab.
                return Some(unsafe { self.head.take() });
            }
        }
        self.pop_inline()
    }

    /// The top element.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The top element, to be changed in place.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len().checked_sub(1)?)
    }

    /// The element pushed as the `index`-th, counted from zero at the bottom. O(1).
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        // SAFETY: `place` gives initialised elements only; the borrow of self keeps them there.
        self.place(index).map(|place| unsafe { &*place })
    }

    /// [`get`](Self::get), to be changed in place.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.inline_len {
            let place = self.inline.as_mut_ptr().wrapping_add(index).cast::<T>();
            // SAFETY: the element is initialised and borrowed through `&mut self` alone.
            return Some(unsafe { &mut *place });
        }
        // SAFETY: beyond the inline buffer elements live in slabs, behind raw pointers, and the
        // borrow of self is exclusive.
        self.place(index).map(|place| unsafe { &mut *place.cast_mut() })
    }

    /// How many elements the tape holds.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.inline_len + self.before + self.head.filled()
    }

    /// Whether the tape holds no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements fit before another slab is needed.
    pub fn capacity(&self) -> usize {
        Self::INLINE.saturating_add(self.slabs.as_ref().map_or(0, |slabs| slabs.capacity()))
    }

    /// The current position, to return to with [`rewind`](Self::rewind).
    ///
    /// ```
    /// # use stratape_tape::Tape;
    /// let mut tape = Tape::from_iter([1, 2]);
    /// let mark = tape.mark();
    /// tape.extend([3, 4]);
    /// tape.rewind(mark);
    /// assert_eq!(tape.last(), Some(&2));
    /// ```
    pub fn mark(&self) -> Mark {
        Mark(self.len())
    }

    /// Drops everything pushed since the mark was set. A mark above the tape changes nothing.
    pub fn rewind(&mut self, mark: Mark) {
        self.truncate(mark.0);
    }

    /// Drops the elements above the first `len`, topmost slab first. Keeps the memory.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        if const { !std::mem::needs_drop::<T>() } {
            return self.cut(len);
        }
        while self.len() > len {
            if !self.is_in_slab() {
                let first = self.inline.as_mut_ptr().wrapping_add(len).cast::<T>();
                let count = std::mem::replace(&mut self.inline_len, len) - len;
                // SAFETY: these elements were initialised and just left the tape.
                unsafe { drop_all(first, count) };
                return;
            }
            let below = self.inline_len + self.before;
            let keep = len.saturating_sub(below);
            let count = self.head.filled() - keep;
            // SAFETY: `keep + count` elements are in the slab. The cursor moves first, so a panic
            // in a destructor leaves a tape that no longer knows them.
            unsafe {
                self.head.retreat(count);
                drop_all(self.head.cursor.as_ptr(), count);
            }
            if len < below {
                self.step_down();
            }
        }
    }

    /// Drops all elements. Keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Returns empty slabs to the pool.
    ///
    /// The pool keeps them for other tapes up to its limit; [`Pool::trim`] returns them
    /// to the system.
    pub fn shrink_to_fit(&mut self) {
        if self.is_in_slab() && self.head.is_empty() {
            self.step_down();
        }
        if let Some(slabs) = &mut self.slabs {
            slabs.release_spare();
        }
    }

    /// Clones `values` onto the tape, in order, a slab at a time.
    pub fn extend_from_slice(&mut self, mut values: &[T])
    where
        T: Clone,
    {
        while !values.is_empty() {
            if self.head.is_full() {
                if self.inline_len < Self::INLINE {
                    let room = Self::INLINE - self.inline_len;
                    let (now, later) = values.split_at(values.len().min(room));
                    self.clone_inline(now);
                    values = later;
                    continue;
                }
                if !self.grow() {
                    out_of_memory::<T>(self.next_slab_bytes());
                }
            }
            let (now, later) = values.split_at(values.len().min(self.head.room()));
            let places = self.head.cursor.cast::<MaybeUninit<T>>();
            // SAFETY: the head has room for `now.len()` elements that no one else can reach. If a
            // clone panics, `write_clone_of_slice` drops what it made and the cursor stays.
            unsafe {
                let places = std::slice::from_raw_parts_mut(places.as_ptr(), now.len());
                places.write_clone_of_slice(now);
                self.head.advance(now.len());
            }
            values = later;
        }
    }

    /// The elements as slices, bottom first: the inline buffer, then a slice a slab.
    ///
    /// ```
    /// # use stratape_tape::Tape;
    /// let tape = Tape::from_iter(0..1000);
    /// assert_eq!(tape.slices().map(<[i32]>::len).sum::<usize>(), 1000);
    /// ```
    pub fn slices(&self) -> Slices<'_, T> {
        Slices::new(self)
    }

    /// The elements, bottom first; from both ends.
    ///
    /// ```
    /// # use stratape_tape::Tape;
    /// let tape = Tape::from_iter([1, 2, 3]);
    /// assert!(tape.iter().rev().eq(&[3, 2, 1]));
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }

    /// [`iter`](Self::iter), to change elements in place.
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::new(self)
    }

    /// # Safety
    /// `inline_len` must be below `INLINE`.
    #[inline(always)]
    unsafe fn put_inline(&mut self, value: T) {
        // SAFETY: the place is inside the buffer (or `T` is zero-sized) and holds no element. `add`
        // rather than `wrapping_add` tells LLVM that the store cannot reach the head before it.
        unsafe { self.inline.as_mut_ptr().add(self.inline_len).cast::<T>().write(value) };
        self.inline_len += 1;
    }

    #[inline(always)]
    fn pop_inline(&mut self) -> Option<T> {
        self.inline_len = self.inline_len.checked_sub(1)?;
        // SAFETY: the element is inside the buffer, was initialised, and is no longer counted.
        Some(unsafe { self.inline.as_ptr().add(self.inline_len).cast::<T>().read() })
    }

    fn clone_inline(&mut self, values: &[T])
    where
        T: Clone,
    {
        if const { size_of::<T>() == 0 } {
            for value in values {
                let value = value.clone();
                // SAFETY: there is always room for another element of no size.
                unsafe { self.put_inline(value) };
            }
        } else {
            self.inline[self.inline_len..][..values.len()].write_clone_of_slice(values);
            self.inline_len += values.len();
        }
    }

    #[inline(always)]
    fn place(&self, index: usize) -> Option<*const T> {
        if index >= self.len() {
            return None;
        }
        if index < Self::INLINE {
            return Some(self.inline.as_ptr().wrapping_add(index).cast());
        }
        let slabs = self.slabs.as_ref()?;
        // SAFETY: the element is on the tape and beyond the inline buffer.
        Some(unsafe { slabs.place(index, Self::INLINE) })
    }

    #[inline(always)]
    fn is_in_slab(&self) -> bool {
        self.head.base != self.head.limit
    }

    /// Enters the next slab, a spare one or a new one. `false` if there is no memory for one.
    #[inline(always)]
    fn grow(&mut self) -> bool {
        if self.enter_spare() {
            return true;
        }
        self.slabs = slabs::grow(self.slabs.take(), Self::INLINE);
        self.enter_spare()
    }

    /// Enters the spare slab above the present one, if there is one.
    #[inline(always)]
    fn enter_spare(&mut self) -> bool {
        let Some(slabs) = &mut self.slabs else { return false };
        let Entered { base: Some(base), capacity } = slabs::step_up(slabs) else { return false };
        self.before += self.head.filled();
        // SAFETY: the slab was made for this many elements, and holds none.
        unsafe { self.head.enter(base, 0, capacity) };
        true
    }

    /// Leaves the empty slab for the full one (or the full inline buffer) below it.
    #[inline(always)]
    fn step_down(&mut self) {
        let Some(slabs) = &mut self.slabs else { return };
        match slabs::step_down(slabs) {
            Entered { base: Some(base), capacity } => {
                self.before -= capacity;
                // SAFETY: the slab was made for this many elements, and slabs below the topmost
                // one are full.
                unsafe { self.head.enter(base, capacity, capacity) };
            }
            Entered { base: None, .. } => self.head.leave(),
        }
    }

    fn next_slab_bytes(&self) -> usize {
        Slabs::<T>::bytes_of(self.slabs.as_ref().map_or(0, |slabs| slabs.count()))
    }

    /// Forgets the elements above the first `len`, which must not be more than there are.
    fn cut(&mut self, len: usize) {
        self.inline_len = len.min(Self::INLINE);
        self.before = 0;
        self.head.leave();
        if let Some(slabs) = &mut self.slabs {
            let in_slabs = len - self.inline_len;
            let (entered, before) = slabs.cut(in_slabs);
            if let Entered { base: Some(base), capacity } = entered {
                self.before = before;
                // SAFETY: the slab was made for this many elements, and those up to the cut were
                // initialised.
                unsafe { self.head.enter(base, in_slabs - before, capacity) };
            }
        }
    }
}

/// By value, like the other cold paths, so that the tape's own address stays out of calls.
#[cold]
#[inline(never)]
fn out_of_memory<T>(bytes: usize) -> ! {
    match std::alloc::Layout::from_size_align(bytes, align_of::<T>()) {
        Ok(layout) => std::alloc::handle_alloc_error(layout),
        Err(_) => std::process::abort(),
    }
}

impl<T, const N: usize> Drop for Tape<T, N> {
    fn drop(&mut self) {
        /// Goes on dropping elements when one of them panics, as `Vec` does.
        struct Rest<'a, T, const N: usize>(&'a mut Tape<T, N>);
        impl<T, const N: usize> Drop for Rest<'_, T, N> {
            fn drop(&mut self) {
                self.0.clear();
            }
        }
        let rest = Rest(self);
        rest.0.clear();
        drop(rest);
    }
}

/// # Safety
/// `first` must point to `count` initialised elements that nothing else will use or drop.
unsafe fn drop_all<T>(first: *mut T, count: usize) {
    if const { std::mem::needs_drop::<T>() } {
        // SAFETY: forwarded from the caller.
        unsafe { ptr::drop_in_place(ptr::slice_from_raw_parts_mut(first, count)) }
    }
}
