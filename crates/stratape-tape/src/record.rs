//! [`RecordTape`]: one tape for records of different plain types, as a compiler emits them.
//!
//! The tape is a stack of words of eight bytes. A pushed value takes the words it needs. A
//! *region* is room for a number of equal records in one piece:
//!
//! ```text
//!   … │ pad │ record 0 │ record 1 │ … │ record n-1 │ n │ words of all this │   ← cursor
//! ```
//!
//! The padding is there only for types aligned to more than eight bytes, and depends on the
//! offset in the slab alone, so that it is found again after the slab has been elsewhere. Neither
//! a value nor a region crosses a slab boundary; the ladder remembers how full each slab was when
//! it was left. A region larger than a slab gets a slab of its own size.

mod audit;
mod runs;

use std::any::Any;
use std::fmt;
use std::path::Path;

use bytemuck::Pod;

use crate::error::{ErrorKind, TapeError};
use crate::head::Head;
use crate::ladder::{self, Ladder, Plan, Top};
use crate::options::{DEFAULT_PATIENCE, DEFAULT_SLAB};
use crate::pool::Pool;
use crate::recorder::Sample;
use crate::saved::{Contents, ElementType, SavedWriter};
use crate::stats::TapeStats;
use audit::{Audit, AuditMark, Entry, mismatch};

const WORD: usize = size_of::<u64>();
/// Words behind the records of a region: their number, and the words of the whole.
const FOOTER: usize = 2;
/// The strictest alignment a region can have: slabs are aligned to this.
const MOST_ALIGN: usize = crate::block::BLOCK_ALIGN;

/// A stack of records of different plain types, in memory or in layers.
///
/// Values come back in reverse order, each as the type it was pushed as. In debug builds the tape
/// checks this, and returns [`ErrorKind::Mismatch`] for a wrong pop; in release builds a wrong
/// pop gives wrong values, never invalid ones.
///
/// ```
/// use stratape_tape::RecordTape;
///
/// let mut tape = RecordTape::new();
/// tape.push(7_u32)?;
/// let region = tape.reserve::<[f64; 2]>(100)?; // one check, then plain stores
/// for (i, record) in region.iter_mut().enumerate() {
///     *record = [i as f64, 0.5];
/// }
/// // … and in the reverse pass:
/// let region = tape.take::<[f64; 2]>()?;
/// assert_eq!(region[99], [99.0, 0.5]);
/// assert_eq!(tape.pop::<u32>()?, 7);
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
pub struct RecordTape {
    head: Head<u64>,
    /// Words in the slabs below the top one.
    below: usize,
    /// Words of an ordinary slab.
    per_slab: usize,
    /// In a box, so that the cold paths need not know the tape's own address: see `tape/slabs.rs`.
    ladder: Box<Ladder>,
    audit: Audit,
    /// Things that are no plain data, and go away with what was pushed.
    attachments: Vec<Box<dyn Any + Send>>,
}

/// A position of a [`RecordTape`], to return to with [`RecordTape::rewind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordMark {
    /// All words on the tape, wherever its slabs began at the time.
    words: usize,
    audit: AuditMark,
}

// SAFETY: the tape owns the memory its head points into; plain data may change threads.
unsafe impl Send for RecordTape {}
// SAFETY: shared access reads counters only.
unsafe impl Sync for RecordTape {}

impl Default for RecordTape {
    fn default() -> Self {
        Self::new()
    }
}

impl RecordTape {
    /// A tape in memory, without a budget. Allocates nothing yet.
    ///
    /// [`TapeOptions::open_records`](crate::TapeOptions::open_records) makes one in layers.
    pub fn new() -> Self {
        Self::with_pool(Pool::global())
    }

    /// A tape in memory that takes its slabs from `pool`.
    pub fn with_pool(pool: &Pool) -> Self {
        let plan = Plan {
            slab_len: DEFAULT_SLAB,
            memory: usize::MAX,
            in_flight: 1,
            patience: DEFAULT_PATIENCE,
            pool: pool.clone(),
            depot: None,
            record: false,
        };
        Self::on(Ladder::new(plan), DEFAULT_SLAB / WORD)
    }

    pub(crate) fn on(ladder: Ladder, per_slab: usize) -> Self {
        let ladder = Box::new(ladder);
        let (audit, attachments) = (Audit::default(), Vec::new());
        Self { head: Head::nowhere(), below: 0, per_slab, ladder, audit, attachments }
    }

    /// A tape whose slabs are below, the last of them with `used` bytes of records.
    pub(crate) fn continued(
        ladder: Ladder,
        per_slab: usize,
        used: usize,
    ) -> Result<Self, TapeError> {
        let mut tape = Self::on(ladder, per_slab);
        if let Some(last) = tape.ladder.height().checked_sub(1) {
            let top = tape.ladder.cut(last)?;
            tape.below = (0..last).map(|slab| tape.ladder.used(slab) / WORD).sum();
            tape.enter(&Top { used, ..top });
        }
        Ok(tape)
    }

    /// Puts a value on top.
    ///
    /// # Errors
    /// As [`LayeredTape::push`](crate::LayeredTape::push); in memory, only
    /// [`ErrorKind::OutOfMemory`].
    #[inline(always)]
    pub fn push<R: Pod>(&mut self, value: R) -> Result<(), TapeError> {
        let words = const { size_of::<R>().div_ceil(WORD) };
        if self.head.room() < words {
            self.climb(words)?;
        }
        // SAFETY: the slab has room for `words` words at the cursor. All its bytes are
        // initialised, so those of a last word that the value does not cover are too.
        unsafe {
            let place = self.head.cursor.cast::<R>();
            self.head.advance(words);
            place.write_unaligned(value);
        }
        self.audit.push(Entry::value::<R>());
        Ok(())
    }

    /// Takes the top value, which must be of type `R`.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] when the tape cannot hold an `R` on top (in debug builds: whenever
    /// it does not); [`ErrorKind::Fetch`] when a slab cannot be read back. The tape is as before.
    #[inline(always)]
    pub fn pop<R: Pod>(&mut self) -> Result<R, TapeError> {
        let words = const { size_of::<R>().div_ceil(WORD) };
        self.audit.check(Entry::value::<R>())?;
        if self.head.filled() < words {
            self.descend(words, Entry::value::<R>())?;
        }
        // SAFETY: the slab holds at least `words` words below the cursor, all bytes initialised,
        // and any bytes make an `R`.
        let value = unsafe {
            self.head.retreat(words);
            self.head.cursor.cast::<R>().read_unaligned()
        };
        self.audit.pop();
        Ok(value)
    }

    /// Room for `count` records in one piece, to be filled by plain stores.
    ///
    /// The records hold arbitrary values at first. A loop that ends early keeps the part it has
    /// filled with [`commit`](Self::commit).
    ///
    /// # Errors
    /// As [`push`](Self::push), and [`ErrorKind::RegionTooLarge`] when the budget cannot hold it.
    #[inline]
    pub fn reserve<R: Pod>(&mut self, count: usize) -> Result<&mut [R], TapeError> {
        let words = frame_words::<R>(count).ok_or_else(|| self.too_large::<R>(count))?;
        if self.head.room() < words {
            self.climb(words)?;
        }
        let frame = self.lay::<R>(count);
        self.audit.push(Entry::region::<R>(count));
        // SAFETY: `lay` put `count` records there; all bytes are initialised and make an `R`, and
        // the borrow of self keeps others away.
        Ok(unsafe { std::slice::from_raw_parts_mut(frame, count) })
    }

    /// How many of `count` records to reserve at once, for a program that does not need them
    /// contiguous: they fit any budget, and are enough for the cost of a region not to matter.
    ///
    /// ```
    /// # use stratape_tape::RecordTape;
    /// let tape = RecordTape::new();
    /// assert_eq!(tape.layer::<f64>(100), 100);
    /// assert!(tape.layer::<f64>(1_000_000) < 1_000_000);
    /// ```
    #[inline(always)]
    pub fn layer<R: Pod>(&self, count: usize) -> usize {
        const ENOUGH: usize = 64 << 10;
        const FRAME: usize = 64;
        let bytes = self.ladder.slab_len().saturating_sub(FRAME).min(ENOUGH);
        count.min((bytes / size_of::<R>().max(1)).max(1))
    }

    /// Keeps the first `count` records of the region on top and frees the rest.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] when the top is no region of at least `count` records of `R`.
    ///
    /// ```
    /// # use stratape_tape::RecordTape;
    /// let mut tape = RecordTape::new();
    /// tape.reserve::<f64>(1000)?[0] = 3.0;
    /// tape.commit::<f64>(1)?;
    /// assert_eq!(tape.take::<f64>()?, [3.0]);
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn commit<R: Pod>(&mut self, count: usize) -> Result<(), TapeError> {
        let (_, start, held) = self.top_region::<R>()?;
        if count > held {
            return Err(mismatch(Entry::region::<R>(count), Entry::region::<R>(held)));
        }
        // SAFETY: the frame starts `filled - start` words below the cursor, in this slab.
        unsafe { self.head.retreat(self.head.filled() - start) };
        self.lay::<R>(count);
        self.audit.pop();
        self.audit.push(Entry::region::<R>(count));
        Ok(())
    }

    /// Takes the region on top, which must hold records of type `R`.
    ///
    /// The records stay where they are until the tape is used again, so nothing is copied.
    ///
    /// # Errors
    /// As [`pop`](Self::pop).
    #[inline]
    pub fn take<R: Pod>(&mut self) -> Result<&mut [R], TapeError> {
        let (records, start, count) = self.top_region::<R>()?;
        // SAFETY: the frame starts `filled - start` words below the cursor, in this slab.
        unsafe { self.head.retreat(self.head.filled() - start) };
        self.audit.pop();
        // SAFETY: `top_region` checked that `count` records lie there, within the slab; its bytes
        // stay as they are while self is borrowed.
        Ok(unsafe { std::slice::from_raw_parts_mut(records, count) })
    }

    /// Whether nothing is on the tape.
    pub fn is_empty(&self) -> bool {
        self.words() == 0
    }

    /// Bytes on the tape, with padding and the footers of regions.
    pub fn bytes(&self) -> usize {
        self.words() * WORD
    }

    /// The current position, to return to with [`rewind`](Self::rewind).
    pub fn mark(&self) -> RecordMark {
        RecordMark { words: self.words(), audit: self.audit.mark() }
    }

    /// Drops everything pushed since the mark was set.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] for a mark above the tape; a failure to read the mark's slab back.
    pub fn rewind(&mut self, mark: RecordMark) -> Result<(), TapeError> {
        let RecordMark { words, audit } = mark;
        if words > self.words() {
            let asked = "a rewind to a mark above the tape".to_owned();
            let found = format!("{} bytes", self.bytes());
            return Err(ErrorKind::Mismatch { asked, found }.into());
        }
        if words >= self.below {
            // SAFETY: just checked: not more than is filled.
            unsafe { self.head.retreat(self.words() - words) };
        } else {
            // The topmost slab that starts at or below the mark; one that starts right there is
            // entered empty, so that the slab below stays untouched.
            let (mut slab, mut below) = (self.ladder.height() - 1, self.below);
            while words < below {
                slab -= 1;
                below -= self.ladder.used(slab) / WORD;
            }
            let kept = words - below;
            let top =
                if kept == 0 { self.ladder.cut_empty(slab) } else { self.ladder.cut(slab)? };
            self.below = below;
            self.enter(&Top { used: kept * WORD, ..top });
        }
        self.audit.rewind(audit);
        Ok(())
    }

    /// Drops everything. Keeps the memory.
    pub fn clear(&mut self) {
        if self.ladder.height() > 0 {
            let top = self.ladder.cut_empty(0);
            self.below = 0;
            self.enter(&top);
        }
        self.audit = Audit::default();
        self.attachments.clear();
    }

    /// Keeps a value that is not plain data, on a separate stack beside the records.
    ///
    /// ```
    /// use stratape_tape::RecordTape;
    ///
    /// let mut tape = RecordTape::new();
    /// tape.attach(String::from("kept"));
    /// assert_eq!(tape.detach::<String>()?, "kept");
    /// assert!(tape.detach::<String>().is_err());
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn attach<T: Send + 'static>(&mut self, thing: T) {
        self.attachments.push(Box::new(thing));
    }

    /// Takes the value attached last.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] when there is none, or one of another type, which then stays.
    pub fn detach<T: Send + 'static>(&mut self) -> Result<T, TapeError> {
        let mismatch = |found: &str| {
            let asked = format!("an attached `{}`", std::any::type_name::<T>());
            TapeError::from(ErrorKind::Mismatch { asked, found: found.to_owned() })
        };
        let last = self.attachments.pop().ok_or_else(|| mismatch("nothing attached"))?;
        match last.downcast::<T>() {
            Ok(thing) => Ok(*thing),
            Err(other) => {
                self.attachments.push(other);
                Err(mismatch("something else attached"))
            }
        }
    }

    /// Whether anything is attached.
    pub fn has_attachments(&self) -> bool {
        !self.attachments.is_empty()
    }

    /// Returns unused memory to the pool.
    pub fn shrink_to_fit(&mut self) {
        self.ladder.shrink();
    }

    /// Changes the memory budget. See [`LayeredTape::set_memory`](crate::LayeredTape::set_memory).
    ///
    /// # Errors
    /// When the budget cannot hold two slabs.
    pub fn set_memory(&mut self, bytes: usize) -> Result<(), TapeError> {
        self.ladder.set_memory(bytes)
    }

    /// Statistics: what the tape has done, and where its data is.
    pub fn stats(&self) -> TapeStats {
        TapeStats {
            elements: self.words() as u64,
            bytes: self.bytes() as u64,
            ..self.ladder.stats()
        }
    }

    /// How full the layers were over time, if [`TapeOptions::record`](crate::TapeOptions::record) was set.
    pub fn samples(&self) -> &[Sample] {
        self.ladder.samples()
    }

    /// Forgets the [`samples`](Self::samples) taken so far, so that those of what comes next are alone, and as fine as on a new tape.
    ///
    /// ```
    /// use stratape_tape::TapeOptions;
    ///
    /// let mut tape = TapeOptions::new().record(true).open_records()?;
    /// tape.clear_samples();
    /// assert!(tape.samples().is_empty());
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn clear_samples(&mut self) {
        self.ladder.clear_samples();
    }

    /// Writes the tape to a durable file. See
    /// [`LayeredTape::save`](crate::LayeredTape::save).
    ///
    /// # Errors
    /// As there.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), TapeError> {
        let contents = Contents::Records { per_slab: self.per_slab };
        let mut writer = SavedWriter::create(path.as_ref(), contents, &ElementType::of::<u64>())?;
        let Some(top) = self.ladder.height().checked_sub(1) else {
            return writer.finish();
        };
        for slab in 0..top {
            self.ladder.bytes(slab)?;
            self.ladder.hint(slab + 1, slab);
            let len = self.ladder.block_len(slab);
            writer.slab(self.ladder.bytes(slab)?, len)?;
        }
        let len = self.ladder.block_len(top);
        // SAFETY: everything between base and cursor is initialised and unchanged here.
        let words =
            unsafe { std::slice::from_raw_parts(self.head.base.as_ptr(), self.head.filled()) };
        writer.slab(bytemuck::cast_slice(words), len)?;
        writer.finish()
    }

    fn words(&self) -> usize {
        self.below + self.head.filled()
    }

    /// Writes the frame of a region at the cursor, for which there must be room, and moves the
    /// cursor behind it. Returns where the records lie.
    fn lay<R>(&mut self, count: usize) -> *mut R {
        let pad = pad_words::<R>(self.head.filled());
        let records = (count * size_of::<R>()).div_ceil(WORD);
        let words = pad + records + FOOTER;
        // SAFETY: the caller made room for `frame_words`, of which this uses at most all.
        unsafe {
            let start = self.head.cursor.add(pad);
            start.add(records).write(count as u64);
            start.add(records + 1).write(words as u64);
            self.head.advance(words);
            start.as_ptr().cast()
        }
    }

    /// Finds the region on top: its records, the offset of its frame in the slab, and the number
    /// of records. The footer is checked, so that a wrong call cannot reach outside the slab.
    fn top_region<R: Pod>(&mut self) -> Result<(*mut R, usize, usize), TapeError> {
        self.audit.check_region::<R>()?;
        if self.head.filled() < FOOTER {
            self.descend(FOOTER, Entry::region::<R>(0))?;
        }
        let filled = self.head.filled();
        // SAFETY: at least two words lie below the cursor.
        let (count, words) = unsafe {
            (self.head.cursor.sub(2).read() as usize, self.head.cursor.sub(1).read() as usize)
        };
        let start = filled.checked_sub(words);
        let fits = |start: usize| {
            // Slabs are not aligned to more, so such records can neither have been reserved nor be
            // pointed to.
            if align_of::<R>() > MOST_ALIGN {
                return None;
            }
            let pad = pad_words::<R>(start);
            let records = count.checked_mul(size_of::<R>())?.div_ceil(WORD);
            (pad.checked_add(records)?.checked_add(FOOTER)? == words).then_some((start, pad))
        };
        let Some((start, pad)) = start.and_then(fits) else {
            let asked = Entry::region::<R>(count).to_string();
            let found = "no region of that type on top".to_owned();
            return Err(ErrorKind::Mismatch { asked, found }.into());
        };
        // SAFETY: the frame was found to lie within the filled part of the slab.
        let records = unsafe { self.head.base.add(start + pad) };
        Ok((records.as_ptr().cast(), start, count))
    }

    /// Enters a new slab with room for `words` words. On failure nothing has changed.
    #[inline(always)]
    fn climb(&mut self, words: usize) -> Result<(), TapeError> {
        let filled = self.head.filled();
        let capacity = words.max(self.per_slab);
        let base = ladder::raise(&mut self.ladder, filled * WORD, capacity * WORD)?;
        self.below += filled;
        // SAFETY: the slab was asked for with this capacity; its bytes are initialised.
        unsafe { self.head.enter(base.cast(), 0, capacity) };
        Ok(())
    }

    /// Leaves empty slabs until one holds something; it must then hold `words` words.
    #[inline(always)]
    fn descend(&mut self, words: usize, asked: Entry) -> Result<(), TapeError> {
        while self.head.is_empty()
            && let Some(top) = ladder::lower(&mut self.ladder)?
        {
            self.below -= top.used / WORD;
            self.enter(&top);
        }
        if self.head.filled() >= words { Ok(()) } else { Err(too_little(self.words(), asked)) }
    }

    // Inlined, so that the tape's own address stays out of calls: see `tape/slabs.rs`.
    #[inline(always)]
    fn enter(&mut self, top: &Top) {
        let Some(base) = top.base else {
            return self.head.leave();
        };
        let filled = top.used / WORD;
        // SAFETY: the slab's memory holds at least an ordinary slab and what is filled, all bytes
        // initialised, and stays until the next call to the ladder.
        unsafe { self.head.enter(base.cast(), filled, filled.max(self.per_slab)) };
    }

    #[cold]
    fn too_large<R>(&self, count: usize) -> TapeError {
        let bytes = count.saturating_mul(size_of::<R>());
        ErrorKind::RegionTooLarge { bytes, memory: self.stats().memory as usize }.into()
    }
}

/// The most words a region of `count` records can take, or `None` if that is beyond counting.
fn frame_words<R>(count: usize) -> Option<usize> {
    const { assert!(align_of::<R>() <= MOST_ALIGN, "records are aligned to at most 4096 bytes") };
    let records = count.checked_mul(size_of::<R>())?.div_ceil(WORD);
    let words = records.checked_add(FOOTER + align_of::<R>().div_ceil(WORD) - 1)?;
    // Sizes are counted in bytes from here on; no memory is larger than this anyway.
    (words <= isize::MAX as usize / WORD - MOST_ALIGN).then_some(words)
}

/// Words to skip from this offset in a slab to the alignment of `R`.
fn pad_words<R>(offset: usize) -> usize {
    offset.next_multiple_of(align_of::<R>().div_ceil(WORD)) - offset
}

#[cold]
fn too_little(words: usize, asked: Entry) -> TapeError {
    let found = match words {
        0 => "nothing: it is empty",
        _ => "something smaller on top",
    };
    ErrorKind::Mismatch { asked: asked.to_string(), found: found.to_owned() }.into()
}

impl fmt::Debug for RecordTape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordTape").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
