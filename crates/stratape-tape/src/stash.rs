//! [`Stash`]: blocks kept in a tier, each by itself, written and read in the background.
//!
//! A tape is a stack, and decides by itself what goes down. Where the order is another and known to the user (snapshots
//! of a time loop), a stash offers the same background thread, checksums and tiers without the stack.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::block::{BLOCK_ALIGN, Block};
use crate::codec::Receipt;
use crate::depot::{Depot, Parcel};
use crate::error::{OutOfMemory, TierError};
use crate::events;
use crate::inbox::{Arrival, Inbox, Transfer};
use crate::key::SlabKey;
use crate::pool::Pool;

/// Names a block in a [`Stash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The place of a block in the tier, for a program that looks it up later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its name in the tier.
    pub key: SlabKey,
    /// Bytes in use.
    pub used: usize,
    /// Checksum of those.
    pub checksum: u32,
}

/// Blocks kept below memory.
///
/// ```
/// use stratape_tape::{Stash, TapeOptions};
///
/// let mut stash = Stash::open(&TapeOptions::new().spill_to(std::env::temp_dir()))?;
/// let mut block = stash.block(5)?;
/// block.bytes_mut()[..5].copy_from_slice(b"hello");
/// let ticket = stash.put(0, block, 5); // returns at once
/// stash.fetch(ticket); // it will be wanted soon
/// let block = stash.take(ticket)?; // waits, if it is not here yet
/// assert_eq!(&block.bytes()[..5], b"hello");
/// stash.recycle(block);
/// stash.forget(ticket);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stash {
    depot: Arc<Depot>,
    inbox: Arc<Inbox<Arrival>>,
    pool: Pool,
    lane: u32,
    serial: u64,
    held: HashMap<u64, Held>,
    under_way: HashMap<SlabKey, Bytes>,
    patience: Duration,
    /// Whether answers may come to transfers that are no longer under way.
    gave_up: bool,
    /// Why a write failed last.
    failure: Option<TierError>,
    tally: StashStats,
}

struct Held {
    key: SlabKey,
    used: usize,
    len: usize,
    receipt: Option<Receipt>,
    place: Place,
    /// To be kept here when it is written.
    wanted: bool,
}

/// What a transfer counts for in the statistics.
struct Bytes {
    moving: u64,
    written: u64,
}

enum Place {
    Writing,
    Below,
    Reading,
    /// Read back, or never written because that failed.
    Here(Block),
    /// Could not be read.
    Failed(TierError),
    /// Gone, because the tier did this.
    Lost(&'static str),
    /// The tier has not answered for so long that nobody waits for it any more.
    GivenUp(Duration),
}

/// Statistics of a [`Stash`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StashStats {
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes read back.
    pub bytes_read: u64,
    /// Bytes of blocks being written now.
    pub writing: u64,
    /// Bytes of blocks in memory: moving, read back, or not to be written.
    pub resident: u64,
    /// The peak of that.
    pub resident_peak: u64,
    /// Writes that failed; the blocks stayed in memory.
    pub failed_writes: u64,
    /// Reads that failed.
    pub failed_reads: u64,
}

impl Stash {
    pub(crate) fn on(depot: Arc<Depot>, pool: Pool, patience: Duration) -> Self {
        Self {
            lane: depot.next_lane(),
            depot,
            inbox: Arc::new(Inbox::new()),
            pool,
            serial: 0,
            held: HashMap::new(),
            under_way: HashMap::new(),
            patience,
            gave_up: false,
            failure: None,
            tally: StashStats::default(),
        }
    }

    /// Memory for a block of at least `len` bytes; contents are arbitrary.
    ///
    /// # Errors
    /// [`OutOfMemory`] when there is none; why a source of the user's has given none is a `tracing` event.
    pub fn block(&self, len: usize) -> Result<Block, OutOfMemory> {
        self.pool.take(len).map_err(|error| error.as_out_of_memory(len))
    }

    /// Returns a block's memory for the next one.
    pub fn recycle(&self, block: Block) {
        self.pool.give(block);
    }

    /// Begins to write the first `used` bytes of a block. The smallest `depth` is needed last, for tiers that care.
    pub fn put(&mut self, depth: u64, block: Block, used: usize) -> Ticket {
        self.collect();
        let serial = self.serial;
        self.serial = serial.wrapping_add(1);
        let key = SlabKey { lane: self.lane, depth, serial };
        let len = block.len();
        let held = Held {
            key,
            used: used.min(len),
            len,
            receipt: None,
            place: Place::Writing,
            wanted: false,
        };
        self.hold(len);
        self.tally.writing += len as u64;
        self.under_way.insert(key, Bytes { moving: len as u64, written: len as u64 });
        let used = held.used;
        self.held.insert(serial, held);
        self.depot.write(Parcel { key, block, inbox: Arc::downgrade(&self.inbox) }, used);
        Ticket(serial)
    }

    /// Adopts a block that is already in the tier. Must be called before any `put`; no two may have the same serial number.
    pub fn adopt(&mut self, stored: Stored) -> Ticket {
        let Stored { key, used, checksum } = stored;
        let serial = key.serial;
        self.serial = self.serial.max(serial.saturating_add(1));
        let receipt = Receipt { used, checksum: Some(checksum), packed: None };
        // A size beyond counting is one that no memory has: reading it back says so.
        let len = used.max(1).checked_next_multiple_of(BLOCK_ALIGN).unwrap_or(usize::MAX);
        let place = Place::Below;
        self.held
            .insert(serial, Held { key, used, len, receipt: Some(receipt), place, wanted: false });
        Ticket(serial)
    }

    /// The place of a block, once it is written.
    pub fn stored(&mut self, ticket: Ticket) -> Option<Stored> {
        self.collect();
        let held = self.held.get(&ticket.0)?;
        let receipt = held.receipt?;
        Some(Stored { key: held.key, used: receipt.used, checksum: receipt.checksum? })
    }

    /// Bytes of a block in use.
    pub fn used(&self, ticket: Ticket) -> Option<usize> {
        self.held.get(&ticket.0).map(|held| held.used)
    }

    /// Begins to read a block back; does not wait.
    pub fn fetch(&mut self, ticket: Ticket) {
        self.collect();
        let Some(held) = self.held.get_mut(&ticket.0) else { return };
        match held.place {
            Place::Writing => held.wanted = true,
            Place::Below => self.start_read(ticket.0),
            _ => {}
        }
    }

    /// The block's bytes, read back if need be. The copy below stays until it is [forgotten](Self::forget).
    ///
    /// # Errors
    /// The tier's error. Repeating the call reads it again.
    pub fn take(&mut self, ticket: Ticket) -> Result<Block, TierError> {
        loop {
            self.fetch(ticket);
            let Some(held) = self.held.get_mut(&ticket.0) else {
                let key = SlabKey { lane: self.lane, depth: 0, serial: ticket.0 };
                return Err(TierError::Missing(key));
            };
            match std::mem::replace(&mut held.place, Place::Below) {
                Place::Here(block) if held.receipt.is_some() => {
                    self.tally.resident -= held.len as u64;
                    return Ok(block);
                }
                Place::Here(block) => {
                    // Its only copy: the caller gets another.
                    let copy = self.pool.take(held.len).map(|mut copy| {
                        copy.bytes_mut()[..held.used].copy_from_slice(&block.bytes()[..held.used]);
                        copy
                    });
                    held.place = Place::Here(block);
                    return copy.map_err(TierError::from);
                }
                Place::Failed(error) => return Err(error),
                Place::Lost(why) => {
                    held.place = Place::Lost(why);
                    return Err(TierError::Contract(why));
                }
                Place::GivenUp(waited) => {
                    held.place = Place::GivenUp(waited);
                    return Err(TierError::Silent(waited));
                }
                moving => {
                    held.place = moving;
                    self.wait();
                }
            }
        }
    }

    /// Discards a block, wherever it is.
    pub fn forget(&mut self, ticket: Ticket) {
        self.collect();
        let Some(held) = self.held.remove(&ticket.0) else { return };
        if held.receipt.is_some() {
            self.depot.forget(held.key);
        }
        // One in transit is recognised by its absence when it arrives.
        if let Place::Here(block) = held.place {
            self.tally.resident -= held.len as u64;
            self.pool.give(block);
        }
    }

    /// Whether the block could not be written, and is in memory only.
    pub fn is_unwritten(&mut self, ticket: Ticket) -> bool {
        self.collect();
        self.held
            .get(&ticket.0)
            .is_some_and(|held| held.receipt.is_none() && matches!(held.place, Place::Here(_)))
    }

    /// Whether writing the block failed: it is in memory only, or lost.
    pub fn has_failed(&mut self, ticket: Ticket) -> bool {
        self.collect();
        self.held.get(&ticket.0).is_some_and(|held| {
            let ended = matches!(held.place, Place::Here(_) | Place::Lost(_) | Place::GivenUp(_));
            held.receipt.is_none() && ended
        })
    }

    /// Takes a block back that could not be written, which is its only copy. The ticket is invalid afterwards. None if the block
    /// is written, or being written.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stratape_tape::tier::MemoryTier;
    /// use stratape_tape::{Stash, TapeOptions};
    ///
    /// let full = Arc::new(MemoryTier::with_limit(0));
    /// let mut stash = Stash::open(&TapeOptions::new().tier(full))?;
    /// let mut block = stash.block(5)?;
    /// block.bytes_mut()[..5].copy_from_slice(b"hello");
    /// let ticket = stash.put(0, block, 5);
    /// stash.settle();
    /// println!("{:?}", stash.failure());
    /// let block = stash.reclaim(ticket).ok_or("it was written")?;
    /// assert_eq!(&block.bytes()[..5], b"hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reclaim(&mut self, ticket: Ticket) -> Option<Block> {
        if !self.is_unwritten(ticket) {
            return None;
        }
        let held = self.held.remove(&ticket.0)?;
        let Place::Here(block) = held.place else { return None };
        self.tally.resident -= held.len as u64;
        Some(block)
    }

    /// The error of the last failed write since the last call. See [`reclaim`](Self::reclaim).
    pub fn failure(&mut self) -> Option<TierError> {
        self.collect();
        self.failure.take()
    }

    /// Whether [`take`](Self::take) would return at once, with the block or an error.
    ///
    /// ```
    /// use stratape_tape::{Stash, TapeOptions};
    ///
    /// let mut stash = Stash::open(&TapeOptions::new().spill_to(std::env::temp_dir()))?;
    /// let ticket = stash.put(0, stash.block(5)?, 5);
    /// stash.settle();
    /// assert!(!stash.is_ready(ticket)); // written, and not asked for
    /// let block = stash.take(ticket)?;
    /// # stash.recycle(block);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_ready(&mut self, ticket: Ticket) -> bool {
        self.collect();
        let moving =
            |held: &Held| matches!(held.place, Place::Writing | Place::Below | Place::Reading);
        self.held.get(&ticket.0).is_none_or(|held| !moving(held))
    }

    /// Whether blocks carry a checksum, so that one that comes back with other bytes is an error.
    pub fn verifies(&self) -> bool {
        self.depot.has_checksums()
    }

    /// Waits until a transfer has ended, and returns how long that took; returns immediately if none is in flight.
    ///
    /// When the tier's time is up ([`TapeOptions::patience`](crate::TapeOptions::patience)), the transfers under way count as failed: their blocks are gone
    /// unless the tier answers after all.
    pub fn wait(&mut self) -> Duration {
        if self.under_way.is_empty() {
            return Duration::ZERO;
        }
        let forked = self.depot.is_forked();
        let patience = if forked { Duration::ZERO } else { self.patience };
        let (arrivals, waited) = self.inbox.wait(patience);
        if arrivals.is_empty() {
            self.give_up(waited);
        }
        arrivals.into_iter().for_each(|arrival| self.absorb(arrival));
        waited
    }

    /// Waits until nothing is being written, and returns how long that took.
    pub fn settle(&mut self) -> Duration {
        let mut waited = Duration::ZERO;
        while self.stats().writing > 0 {
            waited += self.wait();
        }
        waited
    }

    /// Statistics so far.
    pub fn stats(&mut self) -> StashStats {
        self.collect();
        self.tally
    }

    /// A short description of the tier.
    pub fn describe(&self) -> String {
        self.depot.describe()
    }

    fn hold(&mut self, len: usize) {
        self.tally.resident += len as u64;
        self.tally.resident_peak = self.tally.resident_peak.max(self.tally.resident);
    }

    fn start_read(&mut self, serial: u64) {
        let Some(held) = self.held.get_mut(&serial) else { return };
        let (Some(receipt), len, key) = (held.receipt, held.len, held.key) else { return };
        match self.pool.take(len) {
            Ok(block) => {
                held.place = Place::Reading;
                self.under_way.insert(key, Bytes { moving: len as u64, written: 0 });
                self.hold(len);
                self.depot.read(Parcel { key, block, inbox: Arc::downgrade(&self.inbox) }, receipt);
            }
            Err(error) => held.place = Place::Failed(error.into()),
        }
    }

    fn collect(&mut self) {
        if !self.under_way.is_empty() || self.gave_up {
            self.inbox.collect().into_iter().for_each(|arrival| self.absorb(arrival));
        }
    }

    /// Ends the transfers under way without their blocks. What arrives later is taken in then.
    fn give_up(&mut self, waited: Duration) {
        self.gave_up = true;
        for (key, bytes) in std::mem::take(&mut self.under_way) {
            events::warn!(%key, ?waited, "the tier does not answer");
            self.tally.resident -= bytes.moving;
            self.tally.writing -= bytes.written;
            match bytes.written {
                0 => self.tally.failed_reads += 1,
                _ => self.tally.failed_writes += 1,
            }
            if let Some(held) = self.held.get_mut(&key.serial).filter(|held| held.key == key) {
                held.place = Place::GivenUp(waited);
            }
        }
    }

    fn absorb(&mut self, Arrival { key, block, len, what }: Arrival) {
        let len = len as u64;
        if let Some(bytes) = self.under_way.remove(&key) {
            self.tally.resident -= bytes.moving;
            self.tally.writing -= bytes.written;
        }
        let held = self.held.get_mut(&key.serial).filter(|held| held.key == key);
        let Some(held) = held else {
            if let Transfer::Wrote(Ok(_)) = what {
                self.depot.forget(key);
            }
            if let Some(block) = block {
                self.pool.give(block);
            }
            return;
        };
        let Some(block) = block else {
            return Self::note_loss(held, &mut self.tally, what);
        };
        match what {
            Transfer::Wrote(Ok(receipt)) => {
                held.receipt = Some(receipt);
                self.tally.bytes_written += len;
                if std::mem::take(&mut held.wanted) {
                    // Asked for while it was on its way: it need not be read back.
                    held.place = Place::Here(block);
                    self.hold(len as usize);
                } else {
                    held.place = Place::Below;
                    self.pool.give(block);
                }
            }
            Transfer::Wrote(Err(error)) => {
                events::warn!(%key, %error, "a block could not be written and stays in memory");
                held.place = Place::Here(block);
                self.failure = Some(error);
                self.tally.failed_writes += 1;
                self.hold(len as usize);
            }
            Transfer::Read(Ok(())) => {
                held.place = Place::Here(block);
                self.tally.bytes_read += len;
                self.hold(len as usize);
            }
            Transfer::Read(Err(error)) => {
                events::warn!(%key, %error, "a block could not be read back");
                held.place = Place::Failed(error);
                self.tally.failed_reads += 1;
                self.pool.give(block);
            }
        }
    }
}

impl Stash {
    /// A transfer ended and the tier has not given the memory back.
    fn note_loss(held: &mut Held, tally: &mut StashStats, what: Transfer) {
        match what {
            Transfer::Wrote(result) => {
                let why = match result {
                    Err(TierError::Contract(why)) => why,
                    _ => "it kept the block",
                };
                events::error!(key = %held.key, why, "a block is lost: the tier broke its contract");
                held.place = Place::Lost(why);
                tally.failed_writes += 1;
            }
            Transfer::Read(Err(error)) => {
                events::warn!(key = %held.key, %error, "a block could not be read back");
                held.place = Place::Failed(error);
                tally.failed_reads += 1;
            }
            Transfer::Read(Ok(())) => held.place = Place::Below,
        }
    }
}

impl Drop for Stash {
    fn drop(&mut self) {
        for arrival in self.inbox.close() {
            self.absorb(arrival);
        }
        let stays = Arc::strong_count(&self.depot) > 1 || !self.depot.owns_tier();
        for (_, held) in self.held.drain() {
            if stays && held.receipt.is_some() {
                self.depot.forget(held.key);
            }
            if let Place::Here(block) = held.place {
                self.pool.give(block);
            }
        }
    }
}

impl fmt::Debug for Stash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stash")
            .field("blocks", &self.held.len())
            .field("tier", &self.describe())
            .finish_non_exhaustive()
    }
}
