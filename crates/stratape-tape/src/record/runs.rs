//! Runs: values of one type that are pushed and taken many at a time, and leave nothing on the tape but themselves; and asking for what lies below.

use bytemuck::Pod;

use super::audit::Entry;
use super::{RecordTape, WORD, too_little};
use crate::error::TapeError;

/// Words of a record in a run, where records lie side by side as if each had been pushed.
const fn run_words<R>() -> usize {
    let fits = size_of::<R>() > 0 && size_of::<R>().is_multiple_of(WORD) && align_of::<R>() <= WORD;
    assert!(fits, "records of a run are whole words, and aligned to one at most");
    size_of::<R>() / WORD
}

impl RecordTape {
    /// Pushes values at once, to be filled by plain stores: of the `left` values that are to come, as many as make a *run*. That is a fixed number, `most` at most
    /// and what fits any slab, but for the last, which may be shorter. What follows is as if each value had been pushed by itself:
    /// [`pop_run`](Self::pop_run) takes run after run, [`pop`](Self::pop) one by one.
    ///
    /// The values hold arbitrary numbers at first. Unlike a region, a run leaves nothing on the tape but its values, so that whoever takes
    /// them must know how many there are.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    ///
    /// ```
    /// # use stratape_tape::RecordTape;
    /// let mut tape = RecordTape::new();
    /// let mut left = 1_000_000;
    /// while left > 0 {
    ///     let run = tape.push_run::<[f64; 2]>(left, usize::MAX)?;
    ///     run.fill([left as f64, 0.5]);
    ///     left -= run.len();
    /// }
    /// assert_eq!(tape.pop::<[f64; 2]>()?[1], 0.5);
    /// let mut left = 999_999;
    /// while left > 0 {
    ///     left -= tape.pop_run::<[f64; 2]>(left, usize::MAX)?.len();
    /// }
    /// assert!(tape.is_empty());
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    #[inline(always)]
    pub fn push_run<R: Pod>(&mut self, left: usize, most: usize) -> Result<&mut [R], TapeError> {
        let words = const { run_words::<R>() };
        let count = left.min(self.layer::<R>(most)).max(1);
        if self.head.room() < count * words {
            self.climb(count * words)?;
        }
        // SAFETY: the slab has room for `count * words` words at the cursor. All its bytes are initialised and make values of `R`,
        // whose alignment is that of a word at most.
        let run = unsafe {
            let place = self.head.cursor.cast::<R>();
            self.head.advance(count * words);
            std::slice::from_raw_parts_mut(place.as_ptr(), count)
        };
        self.audit.push_many(Entry::value::<R>(), count);
        Ok(run)
    }

    /// Takes the last run of `left` values, all of type `R`, that were pushed with the same `most`. The value pushed last is the last of it. Runs are taken as they
    /// were pushed, so that a program whose sums follow them has the same bits however full the slabs were.
    ///
    /// # Errors
    /// As [`pop`](Self::pop).
    #[inline(always)]
    pub fn pop_run<R: Pod>(&mut self, left: usize, most: usize) -> Result<&mut [R], TapeError> {
        let words = const { run_words::<R>() };
        let whole = self.layer::<R>(most).max(1);
        // Most loops are one run: a division would cost as much as several iterations.
        let count = if left <= whole { left.max(1) } else { (left - 1) % whole + 1 };
        self.audit.check(Entry::value::<R>())?;
        if self.head.filled() < count * words {
            self.descend(count * words, Entry::value::<R>())?;
        }
        self.audit.pop_many(Entry::value::<R>(), count)?;
        // SAFETY: at least `count * words` words lie below the cursor, all bytes initialised, and any bytes make an `R`. They stay as
        // they are while self is borrowed.
        Ok(unsafe {
            self.head.retreat(count * words);
            std::slice::from_raw_parts_mut(self.head.cursor.cast::<R>().as_ptr(), count)
        })
    }

    /// Takes back the last `count` values of the run that was pushed last, which were not used.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`](crate::ErrorKind::Mismatch) when the slab holds fewer values.
    ///
    /// ```
    /// # use stratape_tape::RecordTape;
    /// let mut tape = RecordTape::new();
    /// tape.push_run::<f64>(1000, 1000)?[0] = 3.0;
    /// tape.take_back::<f64>(999)?;
    /// assert_eq!(tape.pop_run::<f64>(1, 1000)?, [3.0]);
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn take_back<R: Pod>(&mut self, count: usize) -> Result<(), TapeError> {
        if count == 0 {
            return Ok(());
        }
        let words = const { run_words::<R>() }.saturating_mul(count);
        if words > self.head.filled() {
            return Err(too_little(self.words(), Entry::value::<R>()));
        }
        self.audit.pop_many(Entry::value::<R>(), count)?;
        // SAFETY: just checked: not more than is filled.
        unsafe { self.head.retreat(words) };
        Ok(())
    }

    /// Asks for what lies up to `bytes` below the top, so that it is in memory when it is taken: a program that knows how it goes on
    /// can say so. Costs a compare where that much is in the top slab. The tape reads ahead by itself, and this changes nothing else.
    ///
    /// ```
    /// # use stratape_tape::RecordTape;
    /// let mut tape = RecordTape::new();
    /// tape.reserve::<f64>(1000)?.fill(0.5);
    /// tape.ahead(64 << 10);
    /// assert_eq!(tape.take::<f64>()?.len(), 1000);
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    #[inline]
    pub fn ahead(&mut self, bytes: usize) {
        if self.head.filled() < bytes / WORD && self.below > 0 {
            self.ask(bytes);
        }
    }

    #[cold]
    fn ask(&mut self, bytes: usize) {
        let top = self.ladder.height().saturating_sub(1);
        let (mut slab, mut known) = (top, self.head.filled() * WORD);
        while known < bytes && slab > 0 {
            slab -= 1;
            self.ladder.hint(slab, top);
            known += self.ladder.used(slab);
        }
    }
}
