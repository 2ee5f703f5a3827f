//! Blocks of memory from sources of the user's: used and given back; and sources that fail, hand out odd
//! memory or panic, which are errors of the call that needed a block and nothing more.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::wait_until;

use stratape_tape::source::{
    Block, BlockSource, MemoryKind, OutOfMemory, SourceError, SystemMemory,
};
use stratape_tape::tier::{BLOCK_ALIGN, Done, MemoryTier, SlabKey, Tier};
use stratape_tape::{
    ErrorKind, LayeredTape, Pod, Pool, RecordTape, Stash, Tape, TapeError, TapeOptions, Zeroable,
};

#[derive(Clone, Copy, Pod, Zeroable)]
#[bytemuck(crate = "stratape_tape::bytemuck")]
#[repr(C, align(4096))]
struct Page([u8; BLOCK_ALIGN]);

/// What a source counts.
#[derive(Default)]
struct Books {
    calls: AtomicUsize,
    blocks: AtomicUsize,
    bytes: AtomicUsize,
    peak: AtomicUsize,
}

impl Books {
    fn count(&self) -> (usize, usize) {
        (self.blocks.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// The last transfers of a tape that is gone may still be on their way.
    #[track_caller]
    fn wait_for_all(&self) {
        wait_until("all memory is given back", || self.count() == (0, 0));
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

/// Memory made without a line of `unsafe`, entered in the books while it is out.
struct Pages {
    pages: Vec<Page>,
    /// Bytes skipped at the start, and left away at the end.
    cut: (usize, usize),
    books: Arc<Books>,
    panics: Panics,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Panics {
    Never,
    WhenLending,
    WhenDropped,
}

impl Pages {
    fn new(len: usize, books: &Arc<Books>) -> Self {
        books.blocks.fetch_add(1, Ordering::Relaxed);
        let bytes = books.bytes.fetch_add(len, Ordering::Relaxed) + len;
        books.peak.fetch_max(bytes, Ordering::Relaxed);
        let pages = vec![Page([0xa5; BLOCK_ALIGN]); len / BLOCK_ALIGN];
        Self { pages, cut: (0, 0), books: Arc::clone(books), panics: Panics::Never }
    }
}

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        assert!(self.panics != Panics::WhenLending, "memory that panics");
        let bytes: &mut [u8] = bytemuck_bytes(&mut self.pages);
        let end = bytes.len() - self.cut.1;
        &mut bytes[self.cut.0..end]
    }
}

fn bytemuck_bytes(pages: &mut [Page]) -> &mut [u8] {
    bytemuck::cast_slice_mut(pages)
}

impl Drop for Pages {
    fn drop(&mut self) {
        // All of it can be read: what tapes of other types left there is gone.
        let sum: usize =
            bytemuck_bytes(&mut self.pages).iter().map(|byte| usize::from(*byte)).sum();
        std::hint::black_box(sum);
        self.books.blocks.fetch_sub(1, Ordering::Relaxed);
        self.books.bytes.fetch_sub(self.pages.len() * BLOCK_ALIGN, Ordering::Relaxed);
        assert!(self.panics != Panics::WhenDropped, "a destructor that panics");
    }
}

/// What a source does when it is asked for so many bytes for the `call`th time.
type Plan = Box<dyn Fn(usize, usize, &Arc<Books>) -> Result<Block, SourceError> + Send + Sync>;

struct Planned {
    books: Arc<Books>,
    plan: Plan,
}

impl BlockSource for Planned {
    fn allocate(&self, len: usize, align: usize) -> Result<Block, SourceError> {
        assert!(len.is_multiple_of(BLOCK_ALIGN) && align >= BLOCK_ALIGN && align.is_power_of_two());
        let call = self.books.calls.fetch_add(1, Ordering::Relaxed);
        (self.plan)(call, len, &self.books)
    }
}

fn source(
    plan: impl Fn(usize, usize, &Arc<Books>) -> Result<Block, SourceError> + Send + Sync + 'static,
) -> (Arc<Planned>, Arc<Books>) {
    let books = Arc::new(Books::default());
    let source = Planned { books: Arc::clone(&books), plan: Box::new(plan) };
    (Arc::new(source), books)
}

fn honest(_: usize, len: usize, books: &Arc<Books>) -> Result<Block, SourceError> {
    Block::owning(Pages::new(len, books), MemoryKind::PageLocked)
}

fn small() -> TapeOptions {
    TapeOptions::new().memory(64 << 10).slab_bytes(8 << 10).tier(Arc::new(MemoryTier::new()))
}

/// Pushes until the tape refuses, or `most` are on it.
fn fill(tape: &mut LayeredTape<u64>, most: u64) -> Option<TapeError> {
    (tape.len() as u64..most).find_map(|i| tape.push(i).err())
}

fn drain(tape: &mut LayeredTape<u64>) {
    for i in (0..tape.len() as u64).rev() {
        assert_eq!(tape.pop().unwrap(), Some(i));
    }
    assert_eq!(tape.pop().unwrap(), None);
}

#[test]
fn every_tape_works_in_the_memory_of_a_source() {
    let (source, books) = source(honest);
    let options = small().source(source);
    let mut layered = options.clone().open::<u64>().unwrap();
    assert!(fill(&mut layered, 50_000).is_none());
    assert!(layered.stats().slabs_spilled > 0);
    drain(&mut layered);
    let peak = books.peak.load(Ordering::Relaxed);
    assert!(peak > 0 && peak <= 64 << 10, "{peak} bytes, beyond the budget");

    let mut records = options.clone().open_records().unwrap();
    for i in 0..10_000_u32 {
        records.push(i).unwrap();
    }
    assert_eq!(records.reserve::<[f64; 2]>(100).unwrap().len(), 100);
    records.take::<[f64; 2]>().unwrap();
    for i in (0..10_000_u32).rev() {
        assert_eq!(records.pop::<u32>().unwrap(), i);
    }

    let mut stash = Stash::open(&options).unwrap();
    let mut block = stash.block(5).unwrap();
    assert_eq!(block.kind(), MemoryKind::PageLocked);
    block.bytes_mut()[..5].copy_from_slice(b"stash");
    let ticket = stash.put(0, block, 5);
    assert_eq!(&stash.take(ticket).unwrap().bytes()[..5], b"stash");

    assert!(books.count().0 > 0);
    drop((layered, records, stash, options));
    books.wait_for_all();
}

#[test]
fn a_pool_on_a_source_keeps_blocks_for_the_next_tape() {
    let (source, books) = source(honest);
    let pool = Pool::with_source(source, 1 << 20);
    for _ in 0..10 {
        let mut tape: Tape<f64> = Tape::with_pool(&pool);
        tape.extend((0..5000).map(f64::from));
        assert_eq!(tape.pop(), Some(4999.0));
    }
    let calls = books.calls();
    assert_eq!(books.count().0, calls, "nothing was given back");
    assert!(pool.idle_bytes() > 0 && calls <= 3, "{calls}");
    pool.trim(0);
    assert_eq!((books.count(), pool.idle_bytes()), ((0, 0), 0));
}

/// A tape of a type with padding leaves bytes that are not initialised; the owner of the memory reads them in its destructor.
#[test]
fn memory_is_given_back_initialised() {
    static LAST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    struct Watched(Vec<Page>);
    impl AsMut<[u8]> for Watched {
        fn as_mut(&mut self) -> &mut [u8] {
            bytemuck_bytes(&mut self.0)
        }
    }
    impl Drop for Watched {
        fn drop(&mut self) {
            *LAST.lock().unwrap() = bytemuck_bytes(&mut self.0).to_vec();
        }
    }
    let (source, _) = source(|_, len, _| {
        Block::owning(Watched(vec![Page([1; BLOCK_ALIGN]); len / BLOCK_ALIGN]), MemoryKind::System)
    });
    let pool = Pool::with_source(source, 0);
    let mut tape: Tape<(u8, u64), 0> = Tape::with_inline_and_pool(&pool);
    tape.extend((0..100).map(|i| (i, u64::from(i))));
    drop(tape);
    let last = LAST.lock().unwrap();
    assert!(!last.is_empty() && last.iter().all(|byte| *byte == 0));
}

/// Every call in turn fails; the tape is as before, and the same call made again succeeds.
#[test]
fn a_failure_at_any_call_loses_nothing() {
    let mut failures = 0;
    for failing in 0..12 {
        let (source, books) = source(move |call, len, books| {
            if call == failing {
                Err(SourceError::failed("no pages"))
            } else {
                honest(call, len, books)
            }
        });
        let mut tape = small().source(source).open::<u64>().unwrap();
        while let Some(error) = fill(&mut tape, 20_000) {
            let text = error.to_string();
            assert!(matches!(error.kind(), ErrorKind::Source(SourceError::Failed(_))), "{text}");
            assert!(text.contains("no pages") && text.contains("as before the call"), "{text}");
            failures += 1;
        }
        drain(&mut tape);
        drop(tape);
        books.wait_for_all();
    }
    assert!(failures >= 8, "{failures}");
}

#[test]
fn a_source_with_less_than_the_budget() {
    let (source, books) = source(|call, len, books| {
        let out = books.bytes.load(Ordering::Relaxed) + len;
        if out > 32 << 10 {
            return Err(OutOfMemory { bytes: len }.into());
        }
        honest(call, len, books)
    });
    let mut tape = small().source(source).open::<u64>().unwrap();
    let error = fill(&mut tape, 50_000).unwrap();
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory(_)), "{error}");
    assert!(tape.len() < 50_000);
    tape.set_memory(32 << 10).unwrap();
    assert!(fill(&mut tape, 50_000).is_none());
    drain(&mut tape);
    drop(tape);
    books.wait_for_all();
}

/// A source that hands out `odd` once the tape has begun.
fn oddly(
    odd: impl Fn(usize, &Arc<Books>) -> Result<Block, SourceError> + Send + Sync + 'static,
) -> (Arc<Planned>, Arc<Books>) {
    source(
        move |call, len, books| if call == 1 { odd(len, books) } else { honest(call, len, books) },
    )
}

type IsExpected = fn(&SourceError) -> bool;

#[test]
fn odd_memory_is_refused() {
    let with = |change: fn(&mut Pages)| {
        move |len: usize, books: &Arc<Books>| {
            let mut pages = Pages::new(len, books);
            change(&mut pages);
            Block::owning(pages, MemoryKind::System)
        }
    };
    let shorter = |less: usize| {
        move |len: usize, books: &Arc<Books>| {
            Block::owning(Pages::new(len - less, books), MemoryKind::System)
        }
    };
    let too_small: IsExpected = |error| matches!(error, SourceError::TooSmall { .. });
    let misaligned: IsExpected = |error| matches!(error, SourceError::Misaligned { needed: 4096 });
    let panicked: IsExpected = |error| matches!(error, SourceError::Panicked);
    let cases: Vec<(&str, _, IsExpected)> = vec![
        ("a page less", oddly(shorter(BLOCK_ALIGN)), too_small),
        ("no page at all", oddly(shorter(8 << 10)), too_small),
        ("a byte less", oddly(with(|pages| pages.cut = (0, 1))), too_small),
        ("not at a page", oddly(with(|pages| pages.cut = (8, 0))), misaligned),
        ("panics when it lends", oddly(with(|pages| pages.panics = Panics::WhenLending)), panicked),
        ("panics when asked", oddly(|_, _| panic!("a source that panics")), panicked),
        ("panics with a trap", oddly(|_, _| std::panic::panic_any(Trap)), panicked),
    ];
    for (what, (source, books), is_expected) in cases {
        let mut tape = small().source(source).open::<u64>().unwrap();
        let error = fill(&mut tape, 20_000).expect(what);
        let ErrorKind::Source(kind) = error.kind() else { panic!("{what}: {error}") };
        assert!(is_expected(kind), "{what}: {error}");
        assert!(fill(&mut tape, 20_000).is_none(), "{what}: the next call is served");
        drain(&mut tape);
        drop(tape);
        books.wait_for_all();
    }
}

/// A panic's payload that panics when it is dropped.
struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a payload that panics");
        }
    }
}

#[test]
fn more_memory_than_asked_for_is_used_in_part() {
    let (source, books) = source(|_, len, books| {
        Block::owning(Pages::new(len + 3 * BLOCK_ALIGN, books), MemoryKind::Device)
    });
    let mut tape = small().source(source).open::<u64>().unwrap();
    assert!(fill(&mut tape, 20_000).is_none());
    assert_eq!(tape.stats().slab_bytes, 8 << 10);
    assert!(tape.stats().resident <= 64 << 10);
    drain(&mut tape);
    drop(tape);
    books.wait_for_all();
}

#[test]
fn a_destructor_that_panics_is_caught() {
    let (source, books) = source(|_, len, books| {
        let mut pages = Pages::new(len, books);
        pages.panics = Panics::WhenDropped;
        Block::owning(pages, MemoryKind::System)
    });
    let pool = Pool::with_source(source, 0);
    let mut tape = small().pool(&pool).open::<u64>().unwrap();
    assert!(fill(&mut tape, 20_000).is_none());
    drain(&mut tape);
    tape.shrink_to_fit();
    drop(tape);
    books.wait_for_all();
}

#[test]
fn a_tape_in_memory_hands_the_value_back() {
    let (source, _) = source(|call, len, books| {
        if call >= 1 { Err(SourceError::failed("enough")) } else { honest(call, len, books) }
    });
    let pool = Pool::with_source(source, 0);
    let mut tape: Tape<u64, 4> = Tape::with_inline_and_pool(&pool);
    let (value, error) = (0..).find_map(|i| tape.try_push(i).err()).unwrap();
    assert_eq!(value, tape.len() as u64);
    assert!(error.bytes > 0 && error.to_string().contains("no memory"), "{error}");
    for i in (0..value).rev() {
        assert_eq!(tape.pop(), Some(i));
    }

    let mut records = RecordTape::with_pool(&Pool::with_source(
        Arc::new(Planned {
            books: Arc::default(),
            plan: Box::new(|_, _, _| Err(SourceError::failed("nothing"))),
        }),
        0,
    ));
    let error = records.push(1.0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Source(_)), "{error}");
    assert!(records.is_empty());
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(16384))]
struct Wide(u64);

#[test]
fn elements_with_an_alignment_of_their_own() {
    // One that gives pages, wherever they lie: either right by chance, or refused.
    let (careless, _) = source(honest);
    let pool = Pool::with_source(careless, 0);
    let mut tape: Tape<Wide, 0> = Tape::with_inline_and_pool(&pool);
    for i in 0..100 {
        if let Err((value, _)) = tape.try_push(Wide(i)) {
            assert_eq!(value, Wide(i));
            break;
        }
    }
    for i in (0..tape.len() as u64).rev() {
        assert_eq!(tape.pop(), Some(Wide(i)));
    }
    let pool = Pool::with_source(Arc::new(SystemMemory), 1 << 20);
    let mut tape: Tape<Wide, 0> = Tape::with_inline_and_pool(&pool);
    tape.extend((0..100).map(Wide));
    assert!(tape.iter().all(|wide| std::ptr::from_ref(wide).addr().is_multiple_of(16384)));
    assert_eq!(tape.pop(), Some(Wide(99)));
}

/// Remembers the kinds of the blocks it is handed, and hands back other memory with the same bytes.
#[derive(Default)]
struct Swapping {
    below: MemoryTier,
    kinds: Mutex<Vec<MemoryKind>>,
    books: Arc<Books>,
}

impl Tier for Swapping {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        self.kinds.lock().unwrap().push(block.kind());
        let mut other =
            Block::owning(Pages::new(block.len(), &self.books), MemoryKind::Device).unwrap();
        other.bytes_mut().copy_from_slice(block.bytes());
        self.below.write(key, other, done);
    }
    fn read(&self, key: SlabKey, block: Block, done: Done) {
        self.below.read(key, block, done);
    }
    fn forget(&self, key: SlabKey) {
        self.below.forget(key);
    }
    fn stored_bytes(&self) -> u64 {
        self.below.stored_bytes()
    }
    fn describe(&self) -> String {
        "swapping".to_owned()
    }
}

#[test]
fn a_tier_sees_the_kind_and_may_answer_with_other_memory() {
    let (source, _) = source(honest);
    let tier = Arc::new(Swapping::default());
    let options = small().tier(Arc::clone(&tier) as Arc<dyn Tier>);
    let mut tape = options.clone().source(source).open::<u64>().unwrap();
    assert!(fill(&mut tape, 20_000).is_none());
    drain(&mut tape);
    assert!(tier.kinds.lock().unwrap().contains(&MemoryKind::PageLocked));
    drop(tape);

    // A pool of ordinary memory does not keep what is not ordinary.
    let pool = Pool::new(1 << 30);
    let mut tape = options.pool(&pool).open::<u64>().unwrap();
    assert!(fill(&mut tape, 20_000).is_none());
    drain(&mut tape);
    drop(tape);
    tier.books.wait_for_all();
}

#[test]
fn lanes_ask_at_once() {
    let (source, books) = source(honest);
    let mut lanes = small().memory(512 << 10).source(source).open_lanes::<u64>(4).unwrap();
    std::thread::scope(|scope| {
        for lane in &mut lanes {
            scope.spawn(move || {
                assert!(fill(lane, 30_000).is_none());
                drain(lane);
            });
        }
    });
    drop(lanes);
    books.wait_for_all();
}

/// Packed copies come from the source as well: without one a slab goes down as it is, and one that is packed cannot be read until there is.
#[cfg(feature = "compression")]
#[test]
fn transfer_buffers_that_the_source_refuses() {
    use std::sync::atomic::AtomicBool;
    static REFUSE: AtomicBool = AtomicBool::new(false);
    let (source, books) = source(|call, len, books| {
        // Slabs are of 8 KiB; what is smaller is a packed copy.
        if len < 8 << 10 && REFUSE.load(Ordering::Relaxed) {
            return Err(SourceError::failed("no buffers"));
        }
        honest(call, len, books)
    });
    let options = small().compression(true).pool(&Pool::with_source(source, 0));
    let mut tape = options.open::<f64>().unwrap();
    for i in 0..40_000 {
        REFUSE.store(i % 8000 > 4000, Ordering::Relaxed);
        tape.push(f64::from(i)).unwrap();
    }
    let mut refused = 0;
    for i in (0..40_000).rev() {
        REFUSE.store(i % 1000 == 0, Ordering::Relaxed);
        let value = loop {
            match tape.pop() {
                Ok(value) => break value,
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().contains("no buffers"), "{error}");
                    REFUSE.store(false, Ordering::Relaxed);
                }
            }
        };
        assert_eq!(value, Some(f64::from(i)));
    }
    std::hint::black_box(refused);
    drop(tape);
    books.wait_for_all();
}
