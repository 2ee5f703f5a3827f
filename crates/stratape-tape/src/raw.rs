//! [`RawTape`]: the layered tape for elements whose type only another language knows.
//!
//! Size and alignment are values here, not parameters of a type; otherwise this is [`LayeredTape`](crate::LayeredTape), on the
//! same ladder. What is added is a [`RawCursor`]: the head of the tape as three addresses, for code outside that pushes and pops
//! in the top slab by itself and comes back at its ends.
//!
//! Invariants: `head` is in the memory of the ladder's top slab (or nowhere, before the first push), a whole number of elements
//! above its base; `before` counts the elements of the slabs below, each of which is full. `per_slab` is a power of two. All
//! bytes of a slab are initialised, so that the cursor may be put anywhere in it: what lies below it then is *some* bytes.

use std::fmt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::block::BLOCK_ALIGN;
use crate::depot::Depot;
use crate::error::{ErrorKind, TapeError};
use crate::head::Head;
use crate::ladder::{Ladder, Plan, Top};
use crate::options::{DEFAULT_PATIENCE, DEFAULT_SLAB};
use crate::pool::Pool;
use crate::saved::{Contents, ElementType, SavedWriter};
use crate::stats::TapeStats;

/// Size and alignment of the elements of a [`RawTape`].
///
/// ```
/// use stratape_tape::RawElement;
///
/// assert_eq!(RawElement::new(24, 8)?.size(), 24);
/// assert!(RawElement::new(12, 8).is_err());
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawElement {
    size: usize,
    align: usize,
}

impl RawElement {
    /// Elements of `size` bytes aligned to `align`, as C has them: the size is a multiple of the alignment.
    ///
    /// # Errors
    /// [`ErrorKind::Options`] for what cannot be a type of C, for elements without size, and for an alignment above 4096.
    pub fn new(size: usize, align: usize) -> Result<Self, TapeError> {
        let most = isize::MAX as usize / 4;
        let possible = size > 0 && size <= most && align <= BLOCK_ALIGN;
        if !possible || !align.is_power_of_two() || !size.is_multiple_of(align) {
            let what = format!(
                "elements of {size} bytes aligned to {align}: the size must not be zero, the alignment a power of two up to \
                 {BLOCK_ALIGN} that divides it"
            );
            return Err(ErrorKind::Options(what).into());
        }
        Ok(Self { size, align })
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        self.size
    }

    /// What an element's address is a multiple of.
    pub fn align(self) -> usize {
        self.align
    }

    pub(crate) fn description(self) -> ElementType {
        let Self { size, align } = self;
        ElementType { name: format!("[u8; {size}]"), size, align, any_name: true }
    }
}

/// Where a [`RawTape`] stands in its top slab: `base <= top <= limit`, or three equal addresses when it is in no slab.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawCursor {
    /// Where the next element goes; the top element ends here.
    pub top: *mut u8,
    /// The first element of the slab.
    pub base: *mut u8,
    /// The end of the slab's room.
    pub limit: *mut u8,
}

/// Opens what lies below a tape; may be called again after a failure.
pub(crate) type Below = Box<dyn Fn() -> Result<Arc<Depot>, TapeError> + Send + Sync>;

/// A stack of equal elements in layers, of a size that is known at run time.
///
/// Code outside may work on the [`cursor`](Self::cursor): write an element at `top` while that is not `limit` and add the size,
/// or subtract it while that is not `base` and read. It tells the tape with [`set_top`](Self::set_top) before any other call.
///
/// An element that was popped stays readable where it was until the tape grows, or until pops have gone through another
/// whole slab.
///
/// ```
/// use stratape_tape::{RawElement, TapeOptions};
///
/// let options = TapeOptions::new().memory(1 << 20).spill_to(std::env::temp_dir());
/// let mut tape = options.open_raw(RawElement::new(8, 8)?)?;
/// tape.push(&1.5_f64.to_ne_bytes())?;
/// let mut out = [0; 8];
/// assert!(tape.pop(&mut out)?);
/// assert_eq!(f64::from_ne_bytes(out), 1.5);
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
pub struct RawTape {
    head: Head<u8>,
    before: usize,
    per_slab: usize,
    element: RawElement,
    ladder: Box<Ladder>,
    /// What makes the spill file, while none has been needed yet.
    lazy: Option<Below>,
}

// SAFETY: the tape owns the memory its head points into (it belongs to the ladder's top slab), and bytes may change threads.
unsafe impl Send for RawTape {}
// SAFETY: shared access reads counters and addresses only.
unsafe impl Sync for RawTape {}

impl RawTape {
    /// A tape in memory, without a budget. Allocates no slab yet.
    pub fn in_memory(element: RawElement) -> Self {
        let per_slab = 1 << (DEFAULT_SLAB / element.size).max(1).ilog2();
        let plan = Plan {
            slab_len: (per_slab * element.size).next_multiple_of(BLOCK_ALIGN),
            memory: usize::MAX,
            in_flight: 1,
            patience: DEFAULT_PATIENCE,
            pool: Pool::global().clone(),
            depot: None,
            record: false,
        };
        Self::unchecked(Ladder::new(plan), per_slab, element, None)
    }

    pub(crate) fn on(
        ladder: Ladder,
        per_slab: usize,
        element: RawElement,
        lazy: Option<Below>,
    ) -> Result<Self, TapeError> {
        check_budget(ladder.budget(), ladder.slab_len())?;
        Ok(Self::unchecked(ladder, per_slab, element, lazy))
    }

    fn unchecked(
        ladder: Ladder,
        per_slab: usize,
        element: RawElement,
        lazy: Option<Below>,
    ) -> Self {
        let ladder = Box::new(ladder);
        Self { head: Head::nowhere(), before: 0, per_slab, element, ladder, lazy }
    }

    /// A tape whose slabs are below, the last of them with `filled` elements.
    pub(crate) fn continued(
        ladder: Ladder,
        per_slab: usize,
        element: RawElement,
        filled: usize,
    ) -> Result<Self, TapeError> {
        let mut tape = Self::on(ladder, per_slab, element, None)?;
        if let Some(last) = tape.ladder.height().checked_sub(1) {
            let top = tape.ladder.cut(last)?;
            tape.enter(&top, last, filled);
        }
        Ok(tape)
    }

    /// Size and alignment of an element.
    pub fn element(&self) -> RawElement {
        self.element
    }

    /// Elements in a slab.
    pub fn per_slab(&self) -> usize {
        self.per_slab
    }

    /// Where the tape stands. The addresses hold until the next call that takes `&mut self`.
    pub fn cursor(&self) -> RawCursor {
        RawCursor {
            top: self.head.cursor.as_ptr(),
            base: self.head.base.as_ptr(),
            limit: self.head.limit.as_ptr(),
        }
    }

    /// Takes over how far code outside has moved the cursor in the top slab.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] for an address outside the slab, or not a whole number of elements above its base. The tape is
    /// as before.
    pub fn set_top(&mut self, top: *mut u8) -> Result<(), TapeError> {
        let (base, limit) = (self.head.base.as_ptr() as usize, self.head.limit.as_ptr() as usize);
        let at = top as usize;
        if at < base || at > limit || !(at - base).is_multiple_of(self.element.size) {
            let asked = "a cursor outside its slab, or between two elements".to_owned();
            let found = "another slab on top".to_owned();
            return Err(ErrorKind::Mismatch { asked, found }.into());
        }
        // SAFETY: at most the room between base and limit, which is one slab, or none.
        self.head.cursor = unsafe { self.head.base.add(at - base) };
        Ok(())
    }

    /// Goes on to the next slab if the top one is full. Returns where the tape stands.
    ///
    /// # Errors
    /// As [`LayeredTape::push`](crate::LayeredTape::push). The tape is as before.
    pub fn climb(&mut self) -> Result<RawCursor, TapeError> {
        if self.head.is_full() {
            self.open_tier()?;
            let filled = self.head.filled();
            let base = self.ladder.raise(filled, 0)?;
            self.before += filled / self.element.size;
            // SAFETY: the slab has room for `per_slab` elements, and all its bytes are initialised.
            unsafe { self.head.enter(base, 0, self.per_slab * self.element.size) };
        }
        Ok(self.cursor())
    }

    /// Goes back to the slab below if the top one is empty. Returns where the tape stands: `top` is `base` if it is empty.
    ///
    /// # Errors
    /// As [`LayeredTape::pop`](crate::LayeredTape::pop). The tape is as before.
    pub fn descend(&mut self) -> Result<RawCursor, TapeError> {
        if self.head.is_empty()
            && let Some(top) = self.ladder.lower_keeping()?
        {
            self.enter(&top, self.before / self.per_slab - 1, self.per_slab);
        }
        Ok(self.cursor())
    }

    /// Puts an element on top.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] for another number of bytes than an element has; also as [`climb`](Self::climb).
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TapeError> {
        self.check_size(bytes.len())?;
        self.climb()?;
        self.put(bytes);
        Ok(())
    }

    /// Takes the top element; `false` from an empty tape.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] for another number of bytes than an element has; also as [`descend`](Self::descend).
    pub fn pop(&mut self, out: &mut [u8]) -> Result<bool, TapeError> {
        let Some(bytes) = self.top(out.len())? else { return Ok(false) };
        out.copy_from_slice(bytes);
        // SAFETY: the head holds an element at least.
        unsafe { self.head.retreat(self.element.size) };
        Ok(true)
    }

    /// The top element, of `size` bytes; nothing from an empty tape.
    ///
    /// # Errors
    /// As [`pop`](Self::pop).
    pub fn top(&mut self, size: usize) -> Result<Option<&mut [u8]>, TapeError> {
        self.check_size(size)?;
        self.descend()?;
        if self.head.is_empty() {
            return Ok(None);
        }
        // SAFETY: an element lies below the cursor, initialised, in memory that is reached through `&mut self` alone.
        Ok(Some(unsafe {
            std::slice::from_raw_parts_mut(self.head.cursor.sub(size).as_ptr(), size)
        }))
    }

    /// The element pushed as the `index`-th, counted from zero at the bottom, wherever it is.
    ///
    /// # Errors
    /// When its slab cannot be read back.
    pub fn get(&mut self, index: usize) -> Result<Option<&[u8]>, TapeError> {
        if index >= self.len() {
            return Ok(None);
        }
        let (slab, offset) = self.split(index);
        let size = self.element.size;
        Ok(self.slab(slab)?.get(offset * size..(offset + 1) * size))
    }

    /// The elements of slab number `index / per_slab` from `index` to the end of that slab, read back if need be; nothing beyond
    /// the end. `next` is another index that will be wanted soon, and is read in the background.
    ///
    /// # Errors
    /// When the slab cannot be read back.
    pub fn run_from(&mut self, index: usize, next: Option<usize>) -> Result<&[u8], TapeError> {
        if index >= self.len() {
            return Ok(&[]);
        }
        let (slab, offset) = self.split(index);
        self.slab(slab)?;
        if let Some((next, _)) = next.map(|next| self.split(next)) {
            self.ladder.hint(next, slab);
        }
        let start = offset * self.element.size;
        Ok(&self.slab(slab)?[start..])
    }

    /// Elements on the tape, in all layers.
    pub fn len(&self) -> usize {
        self.before + self.head.filled() / self.element.size
    }

    /// Whether the tape holds no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts elements on top, in order, a slab at a time.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] when the bytes are not whole elements; otherwise as [`climb`](Self::climb), with the elements
    /// before the one that found no room on the tape.
    pub fn extend_from_slice(&mut self, mut bytes: &[u8]) -> Result<(), TapeError> {
        self.check_size(bytes.len() % self.element.size + self.element.size)?;
        while !bytes.is_empty() {
            self.climb()?;
            let (now, later) = bytes.split_at(bytes.len().min(self.head.room()));
            self.put(now);
            bytes = later;
        }
        Ok(())
    }

    /// Takes elements off the top, into the front of `out`, in the order in which they were pushed. Returns how many: as many
    /// as `out` has room for, or all.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] when `out` is no room for whole elements; otherwise as [`pop`](Self::pop), with the tape as
    /// before.
    pub fn pop_slice(&mut self, out: &mut [u8]) -> Result<usize, TapeError> {
        let size = self.element.size;
        self.check_size(out.len() % size + size)?;
        let count = (out.len() / size).min(self.len());
        let keep = self.len() - count;
        let mut end = self.len();
        while end > keep {
            let (slab, _) = self.split(end - 1);
            let start = keep.max(slab * self.per_slab);
            let offset = (start - slab * self.per_slab) * size;
            let source = &self.slab(slab)?[offset..][..(end - start) * size];
            out[(start - keep) * size..(end - keep) * size].copy_from_slice(source);
            end = start;
        }
        self.truncate(keep)?;
        Ok(count)
    }

    /// Drops the elements above the first `len`.
    ///
    /// # Errors
    /// When `len` falls into a slab that cannot be read back; the tape is as before.
    pub fn truncate(&mut self, len: usize) -> Result<(), TapeError> {
        if len >= self.len() {
            return Ok(());
        }
        if len >= self.before {
            let surplus = (self.len() - len) * self.element.size;
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
            self.head.cursor = self.head.base;
        }
    }

    /// Hands memory that holds no element to the pool.
    pub fn shrink_to_fit(&mut self) {
        self.ladder.shrink();
    }

    /// Changes the memory budget. See [`LayeredTape::set_memory`](crate::LayeredTape::set_memory).
    ///
    /// # Errors
    /// When the budget cannot hold three slabs, or the tape has nowhere to spill to.
    pub fn set_memory(&mut self, bytes: usize) -> Result<(), TapeError> {
        if self.lazy.is_none() && !self.ladder.has_depot() && bytes != usize::MAX {
            let what =
                "this tape stays in memory and has no budget: open it with a directory to spill to";
            return Err(ErrorKind::Options(what.to_owned()).into());
        }
        check_budget(bytes, self.ladder.slab_len())?;
        self.ladder.set_memory(bytes)
    }

    /// What the tape has done, and where its elements are.
    pub fn stats(&self) -> TapeStats {
        let tier = if self.lazy.is_some() { "disk (no spill file needed yet)" } else { "" };
        let stats = self.ladder.stats();
        TapeStats {
            elements: self.len() as u64,
            bytes: (self.len() * self.element.size) as u64,
            tier: if tier.is_empty() { stats.tier } else { tier.to_owned() },
            ..stats
        }
    }

    /// Writes the tape to a durable file. See [`LayeredTape::save`](crate::LayeredTape::save).
    ///
    /// # Errors
    /// As there.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), TapeError> {
        let contents = Contents::Elements { per_slab: self.per_slab };
        let mut writer = SavedWriter::create(path.as_ref(), contents, &self.element.description())?;
        let slab_len = self.ladder.slab_len();
        for slab in 0..self.len().div_ceil(self.per_slab) {
            let start = slab * self.per_slab;
            let bytes = self.run_from(start, Some(start + self.per_slab))?;
            writer.slab(bytes, slab_len)?;
        }
        writer.finish()
    }

    /// The bytes of one slab, read back if need be.
    fn slab(&mut self, slab: usize) -> Result<&[u8], TapeError> {
        if slab + 1 == self.ladder.height() {
            // SAFETY: everything between base and cursor is initialised and, while self is borrowed, unchanged.
            return Ok(unsafe {
                std::slice::from_raw_parts(self.head.base.as_ptr(), self.head.filled())
            });
        }
        self.ladder.bytes(slab)
    }

    /// Writes whole elements, for which there must be room.
    fn put(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.head.room());
        // SAFETY: the head has room for them, and the tape's memory is not in `bytes`, which nobody changes meanwhile.
        unsafe {
            self.head.cursor.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            self.head.advance(bytes.len());
        }
    }

    /// Slab and offset of an element.
    fn split(&self, index: usize) -> (usize, usize) {
        (index >> self.per_slab.trailing_zeros(), index & (self.per_slab - 1))
    }

    /// Puts the head into slab number `slab`, of which `filled` elements are kept.
    fn enter(&mut self, top: &Top, slab: usize, filled: usize) {
        let Some(base) = top.base else {
            return self.head.leave();
        };
        self.before = slab * self.per_slab;
        let size = self.element.size;
        // SAFETY: the top slab's memory has room for `per_slab` elements, all bytes of it are initialised, and it stays until the
        // next call to the ladder.
        unsafe { self.head.enter(base, filled * size, self.per_slab * size) };
    }

    /// Makes the spill file once the budget begins to fill.
    fn open_tier(&mut self) -> Result<(), TapeError> {
        if let Some(below) = &self.lazy
            && self.ladder.is_filling()
        {
            self.ladder.attach(below()?);
            self.lazy = None;
        }
        Ok(())
    }

    fn check_size(&self, size: usize) -> Result<(), TapeError> {
        if size == self.element.size {
            return Ok(());
        }
        let asked = format!("an element of {size} bytes");
        let found = format!("elements of {} bytes", self.element.size);
        Err(ErrorKind::Mismatch { asked, found }.into())
    }
}

/// The slab in use, the one left last, and one in transit.
fn check_budget(memory: usize, slab_len: usize) -> Result<(), TapeError> {
    if memory / 3 >= slab_len {
        return Ok(());
    }
    let what = format!(
        "a memory budget of {memory} bytes cannot hold three slabs of {slab_len} bytes, the least a raw tape works with; raise \
         `memory` or lower `slab_bytes`"
    );
    Err(ErrorKind::Options(what).into())
}

impl fmt::Debug for RawTape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawTape")
            .field("element", &self.element)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
