//! [`LayeredTape`]: the same stack for plain data, going on past the size of memory.
//!
//! The tape works in its top slab with the hot path of [`Tape`](crate::Tape); at slab boundaries
//! it asks the [ladder](crate::ladder) for the next slab or the one below.
//!
//! Invariants: `head` is in the memory of the ladder's top slab (or nowhere, before the first
//! push), `before` counts the elements of the slabs below it, each of which is full. `per_slab`
//! is a power of two.

mod iter;

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::NonNull;

use bytemuck::Pod;

use crate::error::TapeError;
use crate::head::Head;
use crate::ladder::{self, Ladder, Top};
use crate::recorder::Sample;
use crate::saved::{Contents, ElementType, SavedWriter};
use crate::stats::TapeStats;
use crate::tape::Mark;

pub use iter::Iter;

/// A stack of plain data in layers: the top in RAM, the rest below.
///
/// Opened with [`TapeOptions`](crate::TapeOptions). Pushing and popping cost what they cost on a
/// [`Tape`](crate::Tape); at slab boundaries they may have to wait for the tier below, or hear
/// that it failed. Whatever fails, nothing that was pushed is lost.
///
/// ```
/// use stratape_tape::{LayeredTape, TapeOptions};
///
/// let mut tape: LayeredTape<f64> = TapeOptions::new().memory(1 << 20).open()?;
/// tape.push(1.0)?;
/// tape.push(2.0)?;
/// assert_eq!(tape.pop()?, Some(2.0));
/// println!("{}", tape.stats());
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
// Lanes lie side by side in one vector; their heads must not share cache lines.
#[repr(align(128))]
pub struct LayeredTape<T: Pod> {
    head: Head<T>,
    before: usize,
    per_slab: usize,
    /// In a box, so that the cold paths need not know the tape's own address: see `tape/slabs.rs`.
    ladder: Box<Ladder>,
    owns: PhantomData<T>,
}

// SAFETY: the tape owns the memory its head points into (it belongs to the ladder's top slab), and
// plain data may change threads.
unsafe impl<T: Pod + Send> Send for LayeredTape<T> {}
// SAFETY: shared access reads counters only; elements are reached through `&mut self`.
unsafe impl<T: Pod + Sync> Sync for LayeredTape<T> {}

impl<T: Pod> LayeredTape<T> {
    pub(crate) fn on(ladder: Ladder, per_slab: usize) -> Self {
        let ladder = Box::new(ladder);
        Self { head: Head::nowhere(), before: 0, per_slab, ladder, owns: PhantomData }
    }

    /// A tape whose slabs are below, the last of them with `filled` elements.
    pub(crate) fn continued(
        ladder: Ladder,
        per_slab: usize,
        filled: usize,
    ) -> Result<Self, TapeError> {
        let mut tape = Self::on(ladder, per_slab);
        if let Some(last) = tape.ladder.height().checked_sub(1) {
            let top = tape.ladder.cut(last)?;
            tape.enter(&top, last, filled);
        }
        Ok(tape)
    }

    /// Puts `value` on top.
    ///
    /// # Errors
    /// When a slab must leave RAM and the tier below cannot take one. The tape is as before; the
    /// call may be repeated.
    #[inline(always)]
    pub fn push(&mut self, value: T) -> Result<(), TapeError> {
        if self.head.is_full() {
            self.climb()?;
        }
        // SAFETY: the head was not full, or `climb` entered an empty slab.
        unsafe { self.head.put(value) };
        Ok(())
    }

    /// Takes the top element, or `None` from an empty tape.
    ///
    /// # Errors
    /// When the slab below cannot be read back. The tape is as before; the call may be repeated.
    #[inline(always)]
    pub fn pop(&mut self) -> Result<Option<T>, TapeError> {
        if self.head.is_empty() && !self.descend()? {
            return Ok(None);
        }
        // SAFETY: the head was not empty, or `descend` entered a full slab.
        Ok(Some(unsafe { self.head.take() }))
    }

    /// The top element. Does not count as a change of its slab.
    ///
    /// # Errors
    /// When its slab cannot be read back.
    pub fn last(&mut self) -> Result<Option<T>, TapeError> {
        match self.len().checked_sub(1) {
            Some(index) => self.get(index),
            None => Ok(None),
        }
    }

    /// The top element, to be changed in place.
    ///
    /// # Errors
    /// When its slab cannot be read back.
    pub fn last_mut(&mut self) -> Result<Option<&mut T>, TapeError> {
        if self.head.is_empty() && !self.descend()? {
            return Ok(None);
        }
        // SAFETY: the head is not empty, so an initialised element lies under its cursor, in
        // memory that is reached through `&mut self` alone.
        Ok(Some(unsafe { self.head.cursor.sub(1).as_mut() }))
    }

    /// The element pushed as the `index`-th, counted from zero at the bottom, wherever it is.
    ///
    /// Takes `&mut self` because the slab may have to be read back; it then stays in RAM until
    /// the memory is needed.
    ///
    /// # Errors
    /// When the slab cannot be read back.
    pub fn get(&mut self, index: usize) -> Result<Option<T>, TapeError> {
        if index >= self.len() {
            return Ok(None);
        }
        let (slab, offset) = self.split(index);
        Ok(self.slab(slab)?.get(offset).copied())
    }

    /// How many elements the tape holds, in all layers.
    #[inline]
    pub fn len(&self) -> usize {
        self.before + self.head.filled()
    }

    /// Whether the tape holds no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts `values` on top, in order, a slab at a time.
    ///
    /// # Errors
    /// As [`push`](Self::push). The values before the one that found no room are on the tape;
    /// [`len`](Self::len) says how many.
    pub fn extend_from_slice(&mut self, mut values: &[T]) -> Result<(), TapeError> {
        while !values.is_empty() {
            if self.head.is_full() {
                self.climb()?;
            }
            let (now, later) = values.split_at(values.len().min(self.head.room()));
            // SAFETY: the head has room for `now`, and the tape's memory is not in `values`.
            unsafe {
                self.head.cursor.copy_from_nonoverlapping(NonNull::from(now).cast(), now.len());
                self.head.advance(now.len());
            }
            values = later;
        }
        Ok(())
    }

    /// Takes up to `out.len()` elements off the top, into the front of `out`, in the order in
    /// which they were pushed. Returns how many.
    ///
    /// # Errors
    /// As [`pop`](Self::pop); the tape is as before, and `out` holds anything.
    ///
    /// ```
    /// # use stratape_tape::{LayeredTape, TapeOptions};
    /// let mut tape: LayeredTape<u32> = TapeOptions::new().memory(1 << 20).open()?;
    /// tape.extend_from_slice(&[1, 2, 3, 4])?;
    /// let mut out = [0; 3];
    /// assert_eq!(tape.pop_slice(&mut out)?, 3);
    /// assert_eq!(out, [2, 3, 4]);
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn pop_slice(&mut self, out: &mut [T]) -> Result<usize, TapeError> {
        let count = out.len().min(self.len());
        let keep = self.len() - count;
        let mut end = self.len();
        while end > keep {
            let (slab, _) = self.split(end - 1);
            let start = keep.max(slab * self.per_slab);
            let offset = start - slab * self.per_slab;
            let source = &self.slab(slab)?[offset..][..end - start];
            out[start - keep..end - keep].copy_from_slice(source);
            end = start;
        }
        self.truncate(keep)?;
        Ok(count)
    }

    /// Drops the elements above the first `len`.
    ///
    /// # Errors
    /// When `len` falls into a slab that cannot be read back; the tape is as before. A slab
    /// boundary needs no reading and never fails.
    pub fn truncate(&mut self, len: usize) -> Result<(), TapeError> {
        if len >= self.len() {
            return Ok(());
        }
        if len >= self.before {
            let surplus = self.len() - len;
            // SAFETY: the surplus lies in the top slab.
            unsafe { self.head.retreat(surplus) };
            return Ok(());
        }
        let (slab, offset) = self.split(len);
        let top = if offset == 0 { self.ladder.cut_empty(slab) } else { self.ladder.cut(slab)? };
        self.enter(&top, slab, offset);
        Ok(())
    }

    /// Drops all elements. Keeps the memory.
    pub fn clear(&mut self) {
        if self.before > 0 {
            let top = self.ladder.cut_empty(0);
            self.enter(&top, 0, 0);
        } else {
            let filled = self.head.filled();
            // SAFETY: exactly the elements of the top slab, the only one.
            unsafe { self.head.retreat(filled) };
        }
    }

    /// The current position, to return to with [`rewind`](Self::rewind).
    pub fn mark(&self) -> Mark {
        Mark(self.len())
    }

    /// Drops everything pushed since the mark was set. A mark above the tape changes nothing.
    ///
    /// # Errors
    /// As [`truncate`](Self::truncate).
    pub fn rewind(&mut self, mark: Mark) -> Result<(), TapeError> {
        self.truncate(mark.0)
    }

    /// The elements, bottom first or from the top with `rev`, read ahead in the direction taken.
    ///
    /// ```
    /// # use stratape_tape::{LayeredTape, TapeOptions};
    /// let mut tape: LayeredTape<u32> = TapeOptions::new().memory(1 << 20).open()?;
    /// tape.extend_from_slice(&[1, 2, 3])?;
    /// let sum: u32 = tape.iter().sum::<Result<u32, _>>()?;
    /// assert_eq!(sum, 6);
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn iter(&mut self) -> Iter<'_, T> {
        Iter::new(self)
    }

    /// Returns memory that holds no element to the pool.
    pub fn shrink_to_fit(&mut self) {
        self.ladder.shrink();
    }

    /// Changes the memory budget: raise it to continue after the disk has failed, lower it to free memory.
    ///
    /// # Errors
    /// When the budget cannot hold two slabs.
    pub fn set_memory(&mut self, bytes: usize) -> Result<(), TapeError> {
        self.ladder.set_memory(bytes)
    }

    /// Statistics: what the tape has done, and where its elements are.
    pub fn stats(&self) -> TapeStats {
        TapeStats {
            elements: self.len() as u64,
            bytes: (self.len() * size_of::<T>()) as u64,
            ..self.ladder.stats()
        }
    }

    /// How full the layers were over time, if [`TapeOptions::record`](crate::TapeOptions::record) was set.
    pub fn samples(&self) -> &[Sample] {
        self.ladder.samples()
    }

    /// Writes the tape to a durable file, from which [`load`](Self::load) continues, also in
    /// another process. The tape is unchanged.
    ///
    /// The file appears under its name only when it is complete and on the disk: a crash leaves
    /// the file that was there before, or the new one.
    ///
    /// # Errors
    /// [`ErrorKind::SavedFile`](crate::ErrorKind::SavedFile) when the file cannot be written, or
    /// a failure to read a slab back. The old file, if any, is untouched.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), TapeError> {
        let contents = Contents::Elements { per_slab: self.per_slab };
        let mut writer = SavedWriter::create(path.as_ref(), contents, &ElementType::of::<T>())?;
        let slabs = self.len().div_ceil(self.per_slab);
        let slab_len = self.ladder.slab_len();
        for slab in 0..slabs {
            let elements = self.slab_and_hint(slab, Some(slab + 1))?;
            writer.slab(bytemuck::cast_slice(elements), slab_len)?;
        }
        writer.finish()
    }

    /// The elements of one slab, read back if need be.
    fn slab(&mut self, slab: usize) -> Result<&[T], TapeError> {
        if slab + 1 == self.ladder.height() {
            // SAFETY: everything between base and cursor is initialised and, while self is
            // borrowed, unchanged.
            return Ok(unsafe {
                std::slice::from_raw_parts(self.head.base.as_ptr(), self.head.filled())
            });
        }
        self.ladder.bytes(slab).map(bytemuck::cast_slice)
    }

    /// [`slab`](Self::slab), with another one that will be wanted next.
    fn slab_and_hint(&mut self, slab: usize, next: Option<usize>) -> Result<&[T], TapeError> {
        self.slab(slab)?;
        if let Some(next) = next {
            self.ladder.hint(next, slab);
        }
        self.slab(slab)
    }

    /// Slab and offset of an element.
    #[inline]
    fn split(&self, index: usize) -> (usize, usize) {
        (index >> self.per_slab.trailing_zeros(), index & (self.per_slab - 1))
    }

    /// Enters the next slab. On failure nothing has changed.
    #[inline(always)]
    fn climb(&mut self) -> Result<(), TapeError> {
        let filled = self.head.filled();
        let base = ladder::raise(&mut self.ladder, filled * size_of::<T>(), 0)?;
        self.before += filled;
        // SAFETY: the slab has room for `per_slab` elements, and plain data has no invalid bytes.
        unsafe { self.head.enter(base.cast(), 0, self.per_slab) };
        Ok(())
    }

    /// Leaves the empty slab for the full one below. `false` at the bottom.
    #[inline(always)]
    fn descend(&mut self) -> Result<bool, TapeError> {
        let Some(top) = ladder::lower(&mut self.ladder)? else { return Ok(false) };
        self.enter(&top, self.before / self.per_slab - 1, self.per_slab);
        Ok(true)
    }

    /// Puts the head into slab number `slab`, of which `filled` elements are kept.
    // Inlined, so that the tape's own address stays out of calls: see `tape/slabs.rs`.
    #[inline(always)]
    fn enter(&mut self, top: &Top, slab: usize, filled: usize) {
        let Some(base) = top.base else {
            return self.head.leave();
        };
        self.before = slab * self.per_slab;
        // SAFETY: the top slab's memory has room for `per_slab` elements, all bytes of it are
        // initialised, and it stays until the next call to the ladder.
        unsafe { self.head.enter(base.cast(), filled, self.per_slab) };
    }
}

impl<T: Pod> fmt::Debug for LayeredTape<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayeredTape")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
