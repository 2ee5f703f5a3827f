//! Which slabs of a tape are in RAM, which are below, and when they move.
//!
//! The ladder works in whole slabs and knows nothing of elements. Its tape tells it when the top
//! slab is full ([`raise`](Ladder::raise)) or empty ([`lower`](Ladder::lower)); between those
//! moments the tape works in the top slab's memory alone.
//!
//! A slab below the top is in one of five states:
//!
//! ```text
//!             write                       evict
//!   unsaved ────────▶ writing ──▶ saved ────────▶ stored
//!      ▲  ▲              │          ▲               │
//!      │  └── failed ────┘          └── reading ◀───┘
//!      └─────── pushed to again (as the top) ◀──────── any
//! ```
//!
//! - The deepest slab is needed last, so it is the one to write and to evict.
//! - *Writing* begins before memory runs out: when less than [`Ladder::flight`] slabs of the
//!   budget are free, that many are kept written or on their way. A *saved* slab's memory is
//!   taken without waiting.
//! - *Reading ahead* begins when the slabs in RAM below the top are fewer than
//!   [`Ladder::ahead`], which grows when the reverse pass had to wait and shrinks when slabs were
//!   read for nothing. In between lies most of the budget: a tape that swings up and down by less
//!   than that causes no I/O at all.
//! - The copy below is given up as soon as a slab becomes the top by being popped into: it is
//!   about to change. Coming back to a slab *boundary* touches no slab.
//! - A slab that cannot be written stays in RAM; one that cannot be read stays below. Either can
//!   be tried again. One whose memory the tier does not give back is *lost*, which is the tier's
//!   breach of contract and an error at every use until the tape is cut below it.

mod transfer;

use std::collections::BTreeSet;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::block::{BLOCK_ALIGN, Block};
use crate::codec::Receipt;
use crate::depot::Depot;
use crate::error::{ErrorKind, TapeError, TierError};
use crate::inbox::{Arrival, Inbox};
use crate::key::SlabKey;
use crate::pool::Pool;
use crate::recorder::{Recorder, Sample};
use crate::stats::TapeStats;

/// What a ladder is built from.
pub(crate) struct Plan {
    /// Bytes of an ordinary slab: a multiple of the page size.
    pub(crate) slab_len: usize,
    /// Bytes kept in RAM: at least two slabs.
    pub(crate) memory: usize,
    pub(crate) in_flight: usize,
    /// How long to wait for a tier that does not answer.
    pub(crate) patience: Duration,
    pub(crate) pool: Pool,
    /// Where slabs go when RAM is full; none for a tape in memory.
    pub(crate) depot: Option<Arc<Depot>>,
    pub(crate) record: bool,
}

pub(crate) struct Ladder {
    slabs: Vec<Slab>,
    /// Slabs below the top that are in RAM only.
    unsaved: BTreeSet<usize>,
    /// Slabs below the top that are in RAM and have a copy below.
    saved: BTreeSet<usize>,
    /// Slabs below the top that are gone.
    lost: BTreeSet<usize>,
    spare: Vec<Block>,
    spare_bytes: usize,
    /// The memory of the slab left last, as it was: see [`lower_keeping`](Ladder::lower_keeping).
    lingering: Option<Block>,
    /// Bytes of all blocks this ladder answers for: in slabs, spare, in transit.
    resident: usize,
    writing: usize,
    reading: usize,
    ahead: usize,
    serial: u64,
    lane: u32,
    plan: Plan,
    inbox: Arc<Inbox<Arrival>>,
    failed_write: Option<(usize, TierError)>,
    failed_read: Option<(usize, TierError)>,
    tally: Tally,
    recorder: Option<Recorder>,
}

struct Slab {
    place: Place,
    len: usize,
    /// Bytes of it that are filled; kept up to date for slabs below the top.
    used: usize,
    /// The name of the latest write, and what is needed to read it back once it is done.
    key: Option<SlabKey>,
    receipt: Option<Receipt>,
    /// Read ahead of need and not used yet.
    awaited: bool,
}

enum Place {
    Resident(Block),
    Writing,
    Reading,
    Stored,
    /// Gone, because the tier did this.
    Lost(&'static str),
}

/// A slab that is stored below from the start, when a saved tape is continued.
pub(crate) struct StoredSlab {
    pub(crate) key: SlabKey,
    pub(crate) len: usize,
    pub(crate) receipt: Receipt,
}

/// Which pass has to wait, for the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Push,
    Pop,
}

#[derive(Default)]
struct Tally {
    resident_peak: usize,
    spilled: (u64, u64),
    read: (u64, u64),
    hits: u64,
    wasted: u64,
    push_waits: (u64, Duration),
    pop_waits: (u64, Duration),
    failed_writes: u64,
    failed_reads: u64,
}

/// [`Ladder::raise`], out of line and without unwinding: the cold path of a push.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions, reason = "`extern \"C\"` only to rule out unwinding")]
pub(crate) extern "C" fn raise(
    ladder: &mut Ladder,
    used: usize,
    len: usize,
) -> Result<NonNull<u8>, TapeError> {
    ladder.raise(used, len)
}

/// [`Ladder::lower`], out of line and without unwinding: the cold path of a pop.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions, reason = "`extern \"C\"` only to rule out unwinding")]
pub(crate) extern "C" fn lower(ladder: &mut Ladder) -> Result<Option<Top>, TapeError> {
    ladder.lower()
}

impl Ladder {
    pub(crate) fn new(plan: Plan) -> Self {
        let lane = plan.depot.as_ref().map_or(0, |depot| depot.next_lane());
        let recorder = plan.record.then(Recorder::new);
        let mut ladder = Self {
            slabs: Vec::new(),
            unsaved: BTreeSet::new(),
            saved: BTreeSet::new(),
            lost: BTreeSet::new(),
            spare: Vec::new(),
            spare_bytes: 0,
            lingering: None,
            resident: 0,
            writing: 0,
            reading: 0,
            ahead: 0,
            serial: 0,
            lane,
            plan,
            inbox: Arc::new(Inbox::new()),
            failed_write: None,
            failed_read: None,
            tally: Tally::default(),
            recorder,
        };
        ladder.ahead = ladder.flight().min(ladder.most_ahead());
        ladder
    }

    /// Takes over slabs that are stored below. The caller makes the last one the top.
    pub(crate) fn adopt(&mut self, stored: impl IntoIterator<Item = StoredSlab>) {
        for StoredSlab { key, len, receipt } in stored {
            self.serial = self.serial.max(key.serial + 1);
            self.slabs.push(Slab {
                place: Place::Stored,
                len,
                used: receipt.used,
                key: Some(key),
                receipt: Some(receipt),
                awaited: false,
            });
        }
    }

    /// Puts a tier below a tape that has had none so far.
    /// Whether there is something below memory.
    pub(crate) fn has_depot(&self) -> bool {
        self.plan.depot.is_some()
    }

    pub(crate) fn attach(&mut self, depot: Arc<Depot>) {
        self.lane = depot.next_lane();
        self.plan.depot = Some(depot);
    }

    /// Whether the budget is so full that slabs would be on their way down, if there were a tier.
    pub(crate) fn is_filling(&self) -> bool {
        let soon = (self.flight() + 1).saturating_mul(self.plan.slab_len);
        self.resident.saturating_add(soon) > self.plan.memory
    }

    pub(crate) fn budget(&self) -> usize {
        self.plan.memory
    }

    pub(crate) fn slab_len(&self) -> usize {
        self.plan.slab_len
    }

    /// Slabs on the tape, the top included.
    pub(crate) fn height(&self) -> usize {
        self.slabs.len()
    }

    /// Bytes of a slab's block.
    pub(crate) fn block_len(&self, slab: usize) -> usize {
        self.slabs[slab].len
    }

    /// Filled bytes of a slab below the top.
    pub(crate) fn used(&self, slab: usize) -> usize {
        self.slabs[slab].used
    }

    /// Puts a new slab of at least `len` bytes on top of one with `used` bytes in it, and gives
    /// its memory. On failure nothing has changed.
    pub(crate) fn raise(&mut self, used: usize, len: usize) -> Result<NonNull<u8>, TapeError> {
        self.stop_lingering();
        let len = len.next_multiple_of(BLOCK_ALIGN).max(self.plan.slab_len);
        let mut block = self.obtain(len, Pass::Push)?;
        if !self.slabs.is_empty() {
            // The first slab may stay nearly empty; one that follows it will be filled.
            block.populate();
        }
        if let Some(top) = self.slabs.len().checked_sub(1) {
            self.slabs[top].used = used;
            self.unsaved.insert(top);
        }
        let base = block.ptr();
        self.slabs.push(Slab::holding(block));
        self.write_behind();
        self.record();
        Ok(base)
    }

    /// Gives up the top slab and makes the one below it the top: its memory and how much of it is
    /// filled. `None` at the bottom. On failure nothing has changed.
    fn lower(&mut self) -> Result<Option<Top>, TapeError> {
        let Some(below) = self.slabs.len().checked_sub(2) else {
            return Ok(None);
        };
        self.cut(below).map(Some)
    }

    /// [`lower`](Self::lower), except that the memory of the slab that is left stays as it is until another one is left,
    /// or the tape grows: what was popped last can still be read where it was. Takes a slab of the budget.
    pub(crate) fn lower_keeping(&mut self) -> Result<Option<Top>, TapeError> {
        let Some(below) = self.slabs.len().checked_sub(2) else {
            return Ok(None);
        };
        self.read_ahead(below + 1);
        self.bring(below, Pass::Pop)?;
        self.stop_lingering();
        // The top is in RAM, has no copy below, and is in none of the sets.
        if let Some(Slab { place: Place::Resident(block), .. }) = self.slabs.pop() {
            self.lingering = Some(block);
        }
        let top = self.enter(below);
        self.read_ahead(below);
        self.record();
        Ok(Some(top))
    }

    fn stop_lingering(&mut self) {
        if let Some(block) = self.lingering.take() {
            self.keep_spare(block);
        }
    }

    /// Makes `slab` the top and gives up all above it. On failure nothing has changed.
    pub(crate) fn cut(&mut self, slab: usize) -> Result<Top, TapeError> {
        self.read_ahead(slab + 1);
        self.bring(slab, Pass::Pop)?;
        self.discard_above(slab);
        let top = self.enter(slab);
        self.read_ahead(slab);
        self.record();
        Ok(top)
    }

    /// Makes `slab` the top, empty, and gives up all above it. Reads nothing, and leaves the
    /// slabs below as they are. The present top must be above `slab`, or `slab` itself.
    pub(crate) fn cut_empty(&mut self, slab: usize) -> Top {
        let Some(last) = self.slabs.pop() else {
            return Top::default();
        };
        let block = match last.place {
            Place::Resident(block) => block,
            // The top is always resident.
            _ => return Top::default(),
        };
        while self.slabs.len() > slab {
            self.discard_last();
        }
        let top = Top { base: Some(block.ptr()), used: 0 };
        self.slabs.push(Slab::holding(block));
        self.record();
        top
    }

    /// The filled bytes of a slab below the top, read back if need be.
    pub(crate) fn bytes(&mut self, slab: usize) -> Result<&[u8], TapeError> {
        self.bring(slab, Pass::Pop)?;
        self.slabs[slab].awaited = false;
        let used = self.slabs[slab].used;
        match &self.slabs[slab].place {
            Place::Resident(block) => Ok(&block.bytes()[..used]),
            _ => Ok(&[]),
        }
    }

    /// Starts reading a slab that will be wanted soon, if that costs neither waiting nor the place
    /// of the slab in use.
    pub(crate) fn hint(&mut self, slab: usize, in_use: usize) {
        self.absorb_arrived();
        if slab < self.slabs.len()
            && matches!(self.slabs[slab].place, Place::Stored)
            && self.reading < self.flight()
            && let Some(Ok(block)) = self.block_at_once(self.slabs[slab].len, |s| s != in_use)
        {
            self.start_read(slab, block);
        }
    }

    /// Changes the budget. What is too much now leaves RAM as the tape goes on.
    pub(crate) fn set_memory(&mut self, memory: usize) -> Result<(), TapeError> {
        check_memory(memory, self.plan.slab_len)?;
        self.plan.memory = memory;
        self.ahead = self.ahead.clamp(1, self.most_ahead());
        Ok(())
    }

    /// Hands memory that holds nothing to the pool.
    pub(crate) fn shrink(&mut self) {
        self.absorb_arrived();
        while let Some(block) = self.spare.pop() {
            self.spare_bytes -= block.len();
            self.release(block);
        }
    }

    pub(crate) fn clear_samples(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.clear();
        }
    }

    pub(crate) fn samples(&self) -> &[Sample] {
        self.recorder.as_ref().map_or(&[], Recorder::samples)
    }

    /// The counters; the tape fills in what it knows of its elements.
    pub(crate) fn stats(&self) -> TapeStats {
        let (tally, depot) = (&self.tally, self.plan.depot.as_ref());
        let census = self.census();
        TapeStats {
            memory: self.plan.memory as u64,
            resident: self.resident as u64,
            resident_peak: tally.resident_peak as u64,
            io_buffers_peak: depot.map_or(0, |depot| depot.buffer_peak() as u64),
            slab_bytes: self.plan.slab_len as u64,
            slabs_unsaved: census.unsaved,
            slabs_saved: census.saved,
            slabs_moving: census.moving,
            slabs_below: census.below,
            slabs_lost: self.lost.len() as u64,
            slabs_spilled: tally.spilled.0,
            bytes_spilled: tally.spilled.1,
            slabs_read: tally.read.0,
            bytes_read: tally.read.1,
            read_ahead_hits: tally.hits,
            read_ahead_wasted: tally.wasted,
            read_ahead_distance: self.ahead as u64,
            push_waits: tally.push_waits.0,
            push_waited: tally.push_waits.1,
            pop_waits: tally.pop_waits.0,
            pop_waited: tally.pop_waits.1,
            failed_writes: tally.failed_writes,
            failed_reads: tally.failed_reads,
            tier_bytes: depot.map_or(0, |depot| depot.stored_bytes()),
            tier: depot.map_or(String::new(), |depot| depot.describe()),
            ..TapeStats::default()
        }
    }

    /// Transfers worth having under way at once with this budget.
    fn flight(&self) -> usize {
        self.plan.in_flight.min(self.plan.memory / self.plan.slab_len / 2).max(1)
    }

    fn most_ahead(&self) -> usize {
        (self.plan.memory / self.plan.slab_len * 3 / 4).max(1)
    }

    /// Takes a slab that is in RAM out of the books of those below the top.
    fn enter(&mut self, slab: usize) -> Top {
        self.unsaved.remove(&slab);
        self.saved.remove(&slab);
        if std::mem::take(&mut self.slabs[slab].awaited) {
            self.tally.hits += 1;
        }
        self.forget_copy(slab);
        let Slab { place, used, .. } = &self.slabs[slab];
        match place {
            Place::Resident(block) => Top { base: Some(block.ptr()), used: *used },
            _ => Top::default(),
        }
    }

    fn forget_copy(&mut self, slab: usize) {
        let slab = &mut self.slabs[slab];
        let (key, receipt) = (slab.key.take(), slab.receipt.take());
        if let (Some(key), Some(_), Some(depot)) = (key, receipt, &self.plan.depot) {
            depot.forget(key);
        }
    }

    fn discard_above(&mut self, slab: usize) {
        while self.slabs.len() > slab + 1 {
            self.discard_last();
        }
    }

    fn discard_last(&mut self) {
        let Some(last) = self.slabs.len().checked_sub(1) else {
            return;
        };
        self.unsaved.remove(&last);
        self.saved.remove(&last);
        self.lost.remove(&last);
        self.forget_copy(last);
        // A slab in transit is recognised by its key when it arrives, and dropped then.
        if let Some(Slab { place: Place::Resident(block), .. }) = self.slabs.pop() {
            self.keep_spare(block);
        }
    }

    fn keep_spare(&mut self, block: Block) {
        self.spare_bytes += block.len();
        self.spare.push(block);
    }

    fn release(&mut self, block: Block) {
        self.resident -= block.len();
        self.plan.pool.give(block);
    }

    fn census(&self) -> Census {
        // The top is in RAM only, and in neither set.
        let unsaved = (self.unsaved.len() + usize::from(!self.slabs.is_empty())) as u64;
        let saved = self.saved.len() as u64;
        let moving = self.slabs.iter().filter(|slab| slab.is_moving()).count() as u64;
        let below = (self.slabs.len() - self.lost.len()) as u64 - unsaved - saved - moving;
        Census { unsaved, saved, moving, below }
    }

    fn record(&mut self) {
        if !self.recorder.as_mut().is_some_and(Recorder::is_due) {
            return;
        }
        let (slab, census) = (self.plan.slab_len as u64, self.census());
        let sample = Sample {
            at: Duration::ZERO,
            unsaved: census.unsaved * slab,
            saved: census.saved * slab,
            writing: self.writing as u64 * slab,
            reading: self.reading as u64 * slab,
            below: census.below * slab,
            waited: self.tally.push_waits.1 + self.tally.pop_waits.1,
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.add(sample);
        }
    }
}

/// How many slabs are where.
struct Census {
    unsaved: u64,
    saved: u64,
    moving: u64,
    below: u64,
}

/// The memory of a slab that has become the top.
#[derive(Default)]
pub(crate) struct Top {
    /// `None` only for a ladder without slabs.
    pub(crate) base: Option<NonNull<u8>>,
    pub(crate) used: usize,
}

impl Slab {
    fn holding(block: Block) -> Self {
        let len = block.len();
        let place = Place::Resident(block);
        Self { place, len, used: 0, key: None, receipt: None, awaited: false }
    }

    fn is_moving(&self) -> bool {
        matches!(self.place, Place::Writing | Place::Reading)
    }
}

/// A budget must hold the slab in use and one in transit.
pub(crate) fn check_memory(memory: usize, slab_len: usize) -> Result<(), TapeError> {
    if memory / 2 >= slab_len {
        return Ok(());
    }
    Err(ErrorKind::Options(format!(
        "a memory budget of {memory} bytes cannot hold two slabs of {slab_len} bytes, the least a \
         layered tape works with; raise `memory` or lower `slab_bytes`"
    ))
    .into())
}

impl Drop for Ladder {
    fn drop(&mut self) {
        // Writes that have ended count as copies below; what ends later finds the inbox closed,
        // and is given up by the depot.
        for arrival in self.inbox.close() {
            self.absorb(arrival);
        }
        let stays = self
            .plan
            .depot
            .as_ref()
            .is_some_and(|depot| Arc::strong_count(depot) > 1 || !depot.owns_tier());
        for slab in (0..self.slabs.len()).rev() {
            if stays {
                self.forget_copy(slab);
            }
            if let Some(Slab { place: Place::Resident(block), .. }) = self.slabs.pop() {
                self.plan.pool.give(block);
            }
        }
        for block in self.spare.drain(..).chain(self.lingering.take()) {
            self.plan.pool.give(block);
        }
    }
}
