//! A tier with what a tape needs around it: errands for a background thread, which encodes slabs on
//! the way down and hands them on; slabs are checked and decoded on the way up, and the outcome is
//! put into the tape's inbox. Several lanes share one depot; a depot's errands run one by one, in
//! order, whichever thread of the [crew](crate::crew) takes them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crate::block::Block;
use crate::codec::{Codec, Receipt};
use crate::crew::{Crew, Member};
use crate::error::TierError;
use crate::inbox::{Arrival, Inbox, Transfer};
use crate::key::SlabKey;
use crate::pool::Pool;
use crate::sync::{Process, lock, shielded};
use crate::tier::Tier;

/// Shared by all that reaches the tier. Keep it in an `Arc`.
pub(crate) struct Depot {
    inner: Arc<Inner>,
    /// Whether the tier goes away with this depot, and what it stores with it.
    owns_tier: bool,
    process: Process,
}

/// Errands of one depot that are run before others have their turn.
const TURN: usize = 16;

/// Lanes are counted over all depots: several may share a tier, and their keys must differ.
static LANES: AtomicU32 = AtomicU32::new(0);

struct Inner {
    tier: Arc<dyn Tier>,
    codec: Codec,
    pool: Pool,
    crew: Arc<Crew>,
    errands: Mutex<Errands>,
    /// Whether the tier has something to clean up.
    untidy: AtomicBool,
    /// Transfers handed to the tier and not yet answered.
    under_way: AtomicUsize,
    /// Memory in transfer buffers beside the slabs themselves (packed copies).
    buffer_bytes: AtomicUsize,
    buffer_peak: AtomicUsize,
}

/// A slab on its way, and where to report.
pub(crate) struct Parcel {
    pub(crate) key: SlabKey,
    pub(crate) block: Block,
    /// Weak: a transfer for a tape that is gone is not started, and one under way just ends.
    pub(crate) inbox: Weak<Inbox<Arrival>>,
}

#[derive(Default)]
struct Errands {
    queue: VecDeque<Errand>,
    /// Whether the crew has been called and has not seen the queue empty since.
    called: bool,
}

enum Errand {
    Write(Parcel, usize),
    Read(Parcel, Receipt),
    Forget(SlabKey),
}

impl Errand {
    /// Answers in place of the tier, in a process where that cannot be reached.
    fn refuse(self, inner: &Arc<Inner>) {
        let (parcel, way) = match self {
            Self::Write(parcel, _) => (parcel, Way::Down),
            Self::Read(parcel, _) => (parcel, Way::Up),
            Self::Forget(_) => return,
        };
        let Some(Parcel { key, block, inbox }) = inner.admit(parcel) else { return };
        let mut report = Report::new(inner, key, block.len(), inbox, way);
        report.kept = Some(block);
        report.end(way.failed(TierError::Forked));
    }
}

impl Depot {
    /// `device` is that of our own tier, which goes away with the depot; none for the user's.
    pub(crate) fn new(tier: Arc<dyn Tier>, device: Option<u64>, codec: Codec, pool: Pool) -> Self {
        let inner = Arc::new(Inner {
            tier,
            codec,
            pool,
            crew: device.map_or_else(Crew::private, Crew::of_device),
            errands: Mutex::default(),
            untidy: AtomicBool::new(false),
            under_way: AtomicUsize::new(0),
            buffer_bytes: AtomicUsize::new(0),
            buffer_peak: AtomicUsize::new(0),
        });
        Self { inner, owns_tier: device.is_some(), process: Process::current() }
    }

    pub(crate) fn next_lane(&self) -> u32 {
        LANES.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn owns_tier(&self) -> bool {
        self.owns_tier
    }

    /// Sends the first `used` bytes of the block down.
    pub(crate) fn write(&self, parcel: Parcel, used: usize) {
        self.send(Errand::Write(parcel, used));
        let_background_run();
    }

    /// Fills the block with what was written under the receipt.
    pub(crate) fn read(&self, parcel: Parcel, receipt: Receipt) {
        self.send(Errand::Read(parcel, receipt));
        let_background_run();
    }

    pub(crate) fn forget(&self, key: SlabKey) {
        self.send(Errand::Forget(key));
    }

    pub(crate) fn stored_bytes(&self) -> u64 {
        self.inner.tier.stored_bytes()
    }

    pub(crate) fn describe(&self) -> String {
        self.inner.tier.describe()
    }

    /// Whether what comes back is compared with what was sent.
    pub(crate) fn has_checksums(&self) -> bool {
        self.inner.codec.checksum
    }

    /// Most bytes ever held in transfer buffers.
    pub(crate) fn buffer_peak(&self) -> usize {
        self.inner.buffer_peak.load(Ordering::Relaxed)
    }

    /// Whether this is a child of the process that opened the depot. Its threads are not here, and
    /// what it stores is the parent's: nothing is to be sent to it any more.
    pub(crate) fn is_forked(&self) -> bool {
        !self.process.is_current()
    }

    fn send(&self, errand: Errand) {
        if self.is_forked() {
            errand.refuse(&self.inner);
        } else {
            Inner::post(&self.inner, errand);
        }
    }
}

/// On a machine with few cores the woken thread often has to wait until the tape's thread, which has
/// plenty to do, has used up its time slice, and meanwhile the disk stands idle. Stepping aside
/// for the moment it takes to start a transfer costs a microsecond when nobody waits.
fn let_background_run() {
    thread::yield_now();
}

/// Cleaning up waits until the queue is empty and next to nothing is under way: a pass that the disk
/// can keep up with leaves such moments all the time, and one that the disk cannot keep up with is
/// not slowed down further.
impl Member for Inner {
    fn work(self: Arc<Self>) -> bool {
        for _ in 0..TURN {
            let Some(errand) = lock(&self.errands).next() else {
                let untidy = self.untidy.load(Ordering::Relaxed);
                return untidy && (self.under_way.load(Ordering::Relaxed) > 1 || self.clean());
            };
            if matches!(errand, Errand::Forget(_)) {
                self.untidy.store(true, Ordering::Relaxed);
            }
            // The thread serves others too, and must outlive whatever happens here.
            shielded("an errand", || Self::run(&self, errand));
        }
        let crew = Arc::clone(&self.crew);
        crew.call(self);
        false
    }

    fn clean(&self) -> bool {
        let more = shielded("a tier's `tidy`", || self.tier.tidy()).unwrap_or(false);
        self.untidy.store(more, Ordering::Relaxed);
        more
    }
}

impl Errands {
    fn next(&mut self) -> Option<Errand> {
        let errand = self.queue.pop_front();
        self.called = errand.is_some();
        errand
    }
}

impl Inner {
    /// Has a background thread run an errand, after those posted before it.
    fn post(this: &Arc<Self>, errand: Errand) {
        let call = {
            let mut errands = lock(&this.errands);
            errands.queue.push_back(errand);
            !std::mem::replace(&mut errands.called, true)
        };
        if call {
            this.crew.call(Arc::clone(this) as Arc<dyn Member>);
        }
    }

    /// Runs an errand. A tier that panics has failed the operation: the callback it drops on the
    /// way reports that.
    fn run(this: &Arc<Self>, errand: Errand) {
        match errand {
            Errand::Write(parcel, used) => {
                if let Some(parcel) = this.admit(parcel) {
                    Self::write(this, parcel, used);
                }
            }
            Errand::Read(parcel, receipt) => match (this.admit(parcel), receipt.packed) {
                (None, _) => {}
                (Some(parcel), None) => Self::read_plain(this, parcel, receipt),
                (Some(parcel), Some(len)) => Self::read_packed(this, parcel, receipt, len),
            },
            Errand::Forget(key) => {
                shielded("a tier's `forget`", || this.tier.forget(key));
            }
        }
    }

    /// Counts a transfer as under way until it is delivered, unless its tape is gone.
    fn admit(&self, parcel: Parcel) -> Option<Parcel> {
        if parcel.inbox.strong_count() == 0 {
            self.pool.give(parcel.block);
            return None;
        }
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Some(parcel)
    }

    fn write(this: &Arc<Self>, parcel: Parcel, used: usize) {
        let Parcel { key, block, inbox } = parcel;
        let mut receipt = this.codec.receipt(&block, used);
        let mut report = Report::new(this, key, block.len(), inbox, Way::Down);
        match this.codec.pack(&block, &mut receipt, &this.pool) {
            None => {
                let handed = block.stamp();
                let done = move |block: Block, result: Result<(), TierError>| {
                    if receipt.accepts(handed, report.len, &block) {
                        report.kept = Some(block);
                        report.end(Transfer::Wrote(result.map(|()| receipt)));
                    } else {
                        report.end(Transfer::Wrote(Err(TierError::Contract(OTHER_BLOCK))));
                    }
                };
                shielded("a tier's `write`", || this.tier.write(key, block, Box::new(done)));
            }
            Some(packed) => {
                // The tier gets a copy, so whatever it does, the slab stays here.
                report.kept = Some(block);
                let lent = Lent::new(this, packed.len());
                let done = move |packed: Block, result: Result<(), TierError>| {
                    lent.give_back(packed);
                    report.end(Transfer::Wrote(result.map(|()| receipt)));
                };
                shielded("a tier's `write`", || this.tier.write(key, packed, Box::new(done)));
            }
        }
    }

    fn read_plain(this: &Arc<Self>, parcel: Parcel, receipt: Receipt) {
        let Parcel { key, block, inbox } = parcel;
        let mut report = Report::new(this, key, block.len(), inbox, Way::Up);
        let handed = block.stamp();
        let done = move |block: Block, result: Result<(), TierError>| {
            // Without a checksum nothing tells what is in a block that is not the one handed out.
            let known = block.stamp().same_block(handed) || receipt.checksum.is_some();
            let result = if known && block.len() == report.len {
                let result = result.and_then(|()| receipt.verify(&block));
                report.kept = Some(block);
                result
            } else {
                Err(TierError::Contract(OTHER_BLOCK))
            };
            report.end(Transfer::Read(result));
        };
        shielded("a tier's `read`", || this.tier.read(key, block, Box::new(done)));
    }

    fn read_packed(this: &Arc<Self>, parcel: Parcel, receipt: Receipt, packed_len: usize) {
        let Parcel { key, block, inbox } = parcel;
        let mut report = Report::new(this, key, block.len(), inbox, Way::Up);
        report.kept = Some(block);
        let buffer = match this.pool.take(packed_len) {
            Ok(buffer) => buffer,
            Err(error) => return report.end(Transfer::Read(Err(error.into()))),
        };
        let lent = Lent::new(this, buffer.len());
        let handed = buffer.stamp();
        let done = move |buffer: Block, result: Result<(), TierError>| {
            let codec = report.inner.codec;
            let known = buffer.stamp().same_block(handed) || receipt.checksum.is_some();
            let result = result.and_then(|()| match (&mut report.kept, buffer.bytes()) {
                (Some(block), bytes) if known && bytes.len() == lent.len => codec
                    .unpack(&bytes[..packed_len], receipt.used, block)
                    .and_then(|()| receipt.verify(block)),
                _ => Err(TierError::Contract(OTHER_BLOCK)),
            });
            lent.give_back(buffer);
            report.end(Transfer::Read(result));
        };
        shielded("a tier's `read`", || this.tier.read(key, buffer, Box::new(done)));
    }

    fn deliver(this: &Arc<Self>, inbox: &Weak<Inbox<Arrival>>, arrival: Arrival) {
        this.under_way.fetch_sub(1, Ordering::Relaxed);
        let refused = match inbox.upgrade() {
            Some(inbox) => inbox.put(arrival).err(),
            None => Some(arrival),
        };
        if let Some(Arrival { key, block, what, .. }) = refused {
            if let Transfer::Wrote(Ok(_)) = what {
                // Not from here: the tier may hold a lock of its own while it calls back.
                Self::post(this, Errand::Forget(key));
            }
            if let Some(block) = block {
                this.pool.give(block);
            }
        }
    }

    fn count_buffer(&self, bytes: usize) {
        let now = self.buffer_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.buffer_peak.fetch_max(now, Ordering::Relaxed);
    }
}

const OTHER_BLOCK: &str = "it handed back another block than it was given";
const NO_ANSWER: &str = "it panicked, or dropped the callback of a request without calling it";

#[derive(Clone, Copy)]
enum Way {
    Down,
    Up,
}

impl Way {
    fn failed(self, error: TierError) -> Transfer {
        match self {
            Self::Down => Transfer::Wrote(Err(error)),
            Self::Up => Transfer::Read(Err(error)),
        }
    }
}

/// The duty to tell a tape how its transfer went. It travels in the callback that a tier gets, and
/// is done when the callback is dropped uncalled as well.
struct Report {
    inner: Arc<Inner>,
    inbox: Weak<Inbox<Arrival>>,
    key: SlabKey,
    /// Bytes of the slab's block.
    len: usize,
    way: Way,
    /// The slab's block, while the tier does not have it.
    kept: Option<Block>,
    /// How it went; `None` until the tier has answered.
    what: Option<Transfer>,
}

impl Report {
    fn new(
        inner: &Arc<Inner>,
        key: SlabKey,
        len: usize,
        inbox: Weak<Inbox<Arrival>>,
        way: Way,
    ) -> Self {
        Self { inner: Arc::clone(inner), inbox, key, len, way, kept: None, what: None }
    }

    /// Dropping it delivers.
    fn end(mut self, what: Transfer) {
        self.what = Some(what);
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let unanswered = || self.way.failed(TierError::Contract(NO_ANSWER));
        let what = self.what.take().unwrap_or_else(unanswered);
        let (key, block, len) = (self.key, self.kept.take(), self.len);
        Inner::deliver(&self.inner, &self.inbox, Arrival { key, block, len, what });
    }
}

/// A transfer buffer that a tier has. Counted until it is back, or dropped with the callback.
struct Lent {
    inner: Arc<Inner>,
    len: usize,
}

impl Lent {
    fn new(inner: &Arc<Inner>, len: usize) -> Self {
        inner.count_buffer(len);
        Self { inner: Arc::clone(inner), len }
    }

    fn give_back(self, buffer: Block) {
        self.inner.pool.give(buffer);
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.inner.buffer_bytes.fetch_sub(self.len, Ordering::Relaxed);
    }
}

impl fmt::Debug for Depot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Depot").field("tier", &self.describe()).finish_non_exhaustive()
    }
}
