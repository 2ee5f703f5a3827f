//! The hot path, shared by every tape: a cursor between two limits.
//!
//! A [`Head`] describes the slab a tape is working in. While the cursor is off the limit a push
//! is one compare, one store, one add; at a limit the owner's cold path moves the head to the
//! next or the previous slab. The layout is `repr(C)` so that other languages can push and pop
//! inline and call into the library only at slab boundaries.
//!
//! The cold paths are `extern "C"`, so that they cannot unwind (a panic in one, which would be a bug,
//! aborts). If they could, every push in a function that owns a tape would need a landing pad, and
//! LLVM would keep the caller's loop-carried values in memory instead of registers, which costs
//! more than the push itself.

use std::ptr::NonNull;

/// Where in the current slab a tape stands. `base <= cursor <= limit`, all within one slab, or
/// all three equal when the tape is in no slab.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Head<T> {
    /// One past the last element of the slab.
    pub(crate) cursor: NonNull<T>,
    /// First element of the slab.
    pub(crate) base: NonNull<T>,
    /// One past the last place of the slab.
    pub(crate) limit: NonNull<T>,
}

impl<T> Head<T> {
    /// A head in no slab: both limits are met at once, so the first push and the first pop take
    /// the cold path.
    pub(crate) const fn nowhere() -> Self {
        let ptr = NonNull::dangling();
        Self { cursor: ptr, base: ptr, limit: ptr }
    }

    /// # Safety
    /// `base` must point to room for `capacity` values of `T`, the first `filled` of them
    /// initialised, `filled <= capacity`, valid until the head moves on.
    #[inline]
    pub(crate) unsafe fn enter(&mut self, base: NonNull<T>, filled: usize, capacity: usize) {
        // SAFETY: both offsets lie within the room the caller vouches for, or at its end.
        unsafe {
            *self = Self { cursor: base.add(filled), base, limit: base.add(capacity) };
        }
    }

    pub(crate) fn leave(&mut self) {
        *self = Self::nowhere();
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.cursor == self.limit
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.cursor == self.base
    }

    /// Elements in the current slab.
    #[inline(always)]
    pub(crate) fn filled(&self) -> usize {
        if const { size_of::<T>() == 0 } {
            return 0;
        }
        // SAFETY: cursor and base belong to the same slab, cursor at or above base, and are whole
        // elements apart.
        unsafe { self.cursor.offset_from_unsigned(self.base) }
    }

    /// Free places in the current slab.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        if const { size_of::<T>() == 0 } {
            return 0;
        }
        // SAFETY: as in `filled`, with limit at or above cursor.
        unsafe { self.limit.offset_from_unsigned(self.cursor) }
    }

    /// # Safety
    /// The head must not be full.
    #[inline(always)]
    pub(crate) unsafe fn put(&mut self, value: T) {
        // The cursor is read once: LLVM does not always see that the element's store leaves it alone.
        let place = self.cursor;
        // SAFETY: a head that is not full has room for one element at its cursor.
        unsafe {
            self.cursor = place.add(1);
            place.write(value);
        }
    }

    /// # Safety
    /// The head must not be empty.
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self) -> T {
        // SAFETY: a head that is not empty has an initialised element under its cursor; moving
        // the cursor first makes this read the only one.
        unsafe {
            let place = self.cursor.sub(1);
            self.cursor = place;
            place.read()
        }
    }

    /// Moves the cursor over `count` places.
    ///
    /// # Safety
    /// `count` must not exceed `room()`, and those places must be initialised.
    #[inline(always)]
    pub(crate) unsafe fn advance(&mut self, count: usize) {
        // SAFETY: stays within the slab, by the caller's word.
        self.cursor = unsafe { self.cursor.add(count) };
    }

    /// Moves the cursor back over `count` elements without reading them.
    ///
    /// # Safety
    /// `count` must not exceed `filled()`; the elements are the caller's to drop.
    #[inline(always)]
    pub(crate) unsafe fn retreat(&mut self, count: usize) {
        // SAFETY: stays within the slab, by the caller's word.
        self.cursor = unsafe { self.cursor.sub(count) };
    }
}
