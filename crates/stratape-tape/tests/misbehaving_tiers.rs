//! A tier is written by the user, in safe code, and may do anything. Whatever it does, the tape above neither
//! touches memory that is not its own, nor waits for ever, nor hands out other values than were pushed.
//!
//! A tier that handed back a shorter block once made the tape write past the end of it, and one that dropped its
//! callback, or panicked, left the tape waiting.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use stratape_tape::tier::{
    Block, Done, MemoryTier, OutOfMemory, SlabKey, StackedTier, Tier, TierError,
};
use stratape_tape::{ErrorKind, LayeredTape, Stash, TapeError, TapeOptions};

const SLAB: usize = 16 << 10;
const PUSHED: u64 = 60_000;
const LATE: Duration = Duration::from_millis(150);

/// Kept for ever, where a check for leaks sees it.
static LEAKED: Mutex<Vec<Done>> = Mutex::new(Vec::new());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    ShortBlock,
    LongBlock,
    /// Another one, of the right length.
    FreshBlock,
    /// The block of the request before.
    SwappedBlock,
    ChangedBlock,
    DropDone,
    LeakDone,
    PanicBefore,
    PanicAfter,
    FailWithShortBlock,
    FailWithFreshBlock,
    LieAboutSuccess,
    AnswerLate,
    PanicInForget,
    PanicInTidy,
}

const DEEDS: [Deed; 15] = [
    Deed::ShortBlock,
    Deed::LongBlock,
    Deed::FreshBlock,
    Deed::SwappedBlock,
    Deed::ChangedBlock,
    Deed::DropDone,
    Deed::LeakDone,
    Deed::PanicBefore,
    Deed::PanicAfter,
    Deed::FailWithShortBlock,
    Deed::FailWithFreshBlock,
    Deed::LieAboutSuccess,
    Deed::AnswerLate,
    Deed::PanicInForget,
    Deed::PanicInTidy,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Writing,
    Reading,
}

/// Does its deed at every third operation of its kind while it is bad.
struct Rogue {
    below: MemoryTier,
    deed: Deed,
    when: When,
    bad: AtomicBool,
    count: AtomicU64,
    earlier: Mutex<HashMap<usize, Block>>,
}

impl Rogue {
    fn new(deed: Deed, when: When) -> Arc<Self> {
        Arc::new(Self {
            below: MemoryTier::new(),
            deed,
            when,
            bad: AtomicBool::new(true),
            count: AtomicU64::new(0),
            earlier: Mutex::default(),
        })
    }

    fn operate(&self, when: When, key: SlabKey, mut block: Block, done: Done) {
        let turn = when == self.when
            && self.bad.load(Ordering::SeqCst)
            && self.count.fetch_add(1, Ordering::SeqCst) % 3 == 2;
        let len = block.len();
        let other = |len: usize| Block::zeroed(len).unwrap();
        let failure = || Err(TierError::Io(std::io::ErrorKind::Other.into()));
        let pass_on = |block, done| match when {
            When::Writing => self.below.write(key, block, done),
            When::Reading => self.below.read(key, block, done),
        };
        if !turn {
            return pass_on(block, done);
        }
        match self.deed {
            Deed::ShortBlock => done(other(1), Ok(())),
            Deed::LongBlock => done(other(2 * len), Ok(())),
            Deed::FreshBlock => {
                drop(block);
                done(other(len), Ok(()));
            }
            Deed::SwappedBlock => {
                let earlier = self.earlier.lock().unwrap().insert(len, block);
                done(earlier.unwrap_or_else(|| other(len)), Ok(()));
            }
            Deed::ChangedBlock => pass_on(
                block,
                Box::new(|mut block, result| {
                    block.bytes_mut().fill(0x55);
                    done(block, result);
                }),
            ),
            Deed::DropDone => drop(done),
            Deed::LeakDone => LEAKED.lock().unwrap().push(done),
            Deed::PanicBefore => panic!("the tier panics"),
            Deed::PanicAfter => {
                pass_on(block, done);
                panic!("the tier panics");
            }
            Deed::FailWithShortBlock => done(other(1), failure()),
            Deed::FailWithFreshBlock => done(other(len), failure()),
            Deed::LieAboutSuccess => {
                if when == When::Reading {
                    block.bytes_mut().fill(0x55);
                }
                done(block, Ok(()));
            }
            Deed::AnswerLate => {
                let late = |block, result| {
                    thread::spawn(move || {
                        thread::sleep(LATE);
                        done(block, result);
                    });
                };
                pass_on(block, Box::new(late));
            }
            Deed::PanicInForget | Deed::PanicInTidy => pass_on(block, done),
        }
    }
}

impl Tier for Rogue {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        self.operate(When::Writing, key, block, done);
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        self.operate(When::Reading, key, block, done);
    }

    fn forget(&self, key: SlabKey) {
        assert!(self.deed != Deed::PanicInForget, "the tier panics");
        self.below.forget(key);
    }

    fn tidy(&self) -> bool {
        assert!(self.deed != Deed::PanicInTidy, "the tier panics");
        self.below.tidy()
    }

    fn stored_bytes(&self) -> u64 {
        self.below.stored_bytes()
    }

    fn describe(&self) -> String {
        "rogue".to_owned()
    }
}

/// Without checksums nobody can see that a tier has changed bytes.
fn is_seen(deed: Deed, checksum: bool) -> bool {
    checksum || !matches!(deed, Deed::ChangedBlock | Deed::LieAboutSuccess)
}

/// Short only where the tier is to be waited for in vain: a busy machine is no rogue.
fn patience(deed: Deed) -> Duration {
    match deed {
        Deed::LeakDone | Deed::AnswerLate => Duration::from_millis(60),
        _ => Duration::from_secs(30),
    }
}

fn options(tier: Arc<dyn Tier>, checksum: bool) -> TapeOptions {
    TapeOptions::new()
        .tier(tier)
        .checksum(checksum)
        .memory(8 * SLAB)
        .slab_bytes(SLAB)
        .in_flight(2)
        .patience(Duration::from_millis(60))
}

fn every_case(mut test: impl FnMut(&Arc<Rogue>, &str, bool)) {
    for deed in DEEDS {
        for when in [When::Writing, When::Reading] {
            for checksum in [true, false] {
                let name = format!("{deed:?} {when:?}, checksum {checksum}");
                test(&Rogue::new(deed, when), &name, is_seen(deed, checksum));
            }
        }
    }
}

fn checksum_of(name: &str) -> bool {
    name.ends_with("true")
}

/// Pushes until the end or an error, pops until the end or too many errors: what was pushed comes back.
fn there_and_back(tape: &mut LayeredTape<u64>, name: &str, seen: bool) -> Option<TapeError> {
    let mut error = None;
    let pushed = (0..PUSHED)
        .find(|&i| {
            error = tape.push(i).err();
            error.is_some()
        })
        .unwrap_or(PUSHED);
    let mut expected = pushed;
    let mut failures = 0;
    while failures < 5 {
        match tape.pop() {
            Ok(None) => {
                assert_eq!(expected, 0, "{name}");
                return error;
            }
            Ok(Some(value)) => {
                expected -= 1;
                assert!(value == expected || !seen, "{name}: {value} where {expected} was pushed");
            }
            Err(failure) => {
                failures += 1;
                error = Some(failure);
            }
        }
    }
    error
}

#[test]
fn a_layered_tape_gives_back_what_was_pushed_or_an_error() {
    every_case(|rogue, name, seen| {
        let mut tape = options(rogue.clone(), checksum_of(name))
            .patience(patience(rogue.deed))
            .open::<u64>()
            .unwrap();
        let error = there_and_back(&mut tape, name, seen);
        println!("{name}: {error:?}");
        let stats = tape.stats();
        assert!(stats.resident <= 8 * SLAB as u64, "{name}: {stats}");
        // What it has lost is gone with what was pushed, and the tape is as good as new.
        rogue.bad.store(false, Ordering::SeqCst);
        tape.clear();
        assert_eq!(tape.stats().slabs_lost, 0);
        if rogue.deed != Deed::LeakDone {
            if rogue.deed == Deed::AnswerLate {
                thread::sleep(2 * LATE);
            }
            let again = there_and_back(&mut tape, name, true);
            assert!(again.is_none(), "{name}: {again:?}");
        }
    });
}

#[test]
fn a_record_tape_gives_back_what_was_pushed_or_an_error() {
    every_case(|rogue, name, seen| {
        let mut tape = options(rogue.clone(), checksum_of(name))
            .patience(patience(rogue.deed))
            .open_records()
            .unwrap();
        let pushed = (0..300_u64)
            .find(|&i| match tape.reserve::<u64>(200) {
                Ok(region) => {
                    region.fill(i);
                    false
                }
                Err(_) => true,
            })
            .unwrap_or(300);
        let mut failures = 0;
        let mut left = pushed;
        while left > 0 && failures < 5 {
            match tape.take::<u64>() {
                Ok(region) => {
                    left -= 1;
                    assert!(!seen || region == [left; 200], "{name}");
                }
                Err(_) => failures += 1,
            }
        }
    });
}

#[test]
fn a_stash_gives_back_what_was_put_or_an_error() {
    every_case(|rogue, name, seen| {
        let mut stash =
            Stash::open(&options(rogue.clone(), checksum_of(name)).patience(patience(rogue.deed)))
                .unwrap();
        let mut tickets = Vec::new();
        for i in 0..12_u8 {
            let mut block = stash.block(SLAB).unwrap();
            block.bytes_mut().fill(i);
            tickets.push((i, stash.put(u64::from(i), block, SLAB)));
        }
        stash.settle();
        assert_eq!(stash.stats().writing, 0, "{name}");
        for &(i, ticket) in &tickets {
            for _ in 0..2 {
                if let Ok(block) = stash.take(ticket) {
                    assert!(!seen || block.bytes()[..SLAB] == [i; SLAB], "{name}");
                    stash.recycle(block);
                }
            }
        }
        for (_, ticket) in tickets {
            stash.forget(ticket);
        }
        stash.settle();
        assert_eq!(stash.stats().resident, 0, "{name}");
    });
}

#[cfg(feature = "compression")]
#[test]
fn a_compressed_tape_gives_back_what_was_pushed_or_an_error() {
    every_case(|rogue, name, seen| {
        let options = options(rogue.clone(), checksum_of(name))
            .patience(patience(rogue.deed))
            .compression(true);
        let mut tape: LayeredTape<f64> = options.open().unwrap();
        let values = || (0..30_000_u32).map(f64::from);
        let pushed = values().take_while(|&value| tape.push(value).is_ok()).count();
        let (mut left, mut failures) = (pushed, 0);
        while left > 0 && failures < 5 {
            match tape.pop() {
                Ok(value) => {
                    left -= 1;
                    assert!(!seen || value == Some(left as f64), "{name}");
                }
                Err(_) => failures += 1,
            }
        }
        // The tier has only ever had copies, so no slab can be lost in a write.
        assert_eq!(tape.stats().slabs_lost, 0, "{name}");
    });
}

#[test]
fn a_stack_of_tiers_with_a_rogue_in_it() {
    for rogue_is_above in [true, false] {
        every_case(|rogue, name, seen| {
            let honest = Arc::new(MemoryTier::new());
            let tier = if rogue_is_above {
                StackedTier::new(rogue.clone(), 3 * SLAB as u64, honest)
            } else {
                StackedTier::new(honest, 3 * SLAB as u64, rogue.clone())
            };
            let options = options(Arc::new(tier), checksum_of(name)).patience(patience(rogue.deed));
            let mut tape = options.open::<u64>().unwrap();
            // Moving a slab down reads it and writes it again, where a checksum sees it only at the end.
            there_and_back(&mut tape, name, seen && checksum_of(name));
        });
    }
}

#[test]
fn a_lost_slab_is_named_and_what_lies_above_it_is_not_lost() {
    let rogue = Rogue::new(Deed::DropDone, When::Writing);
    let mut tape = options(rogue, true).patience(Duration::from_secs(30)).open::<u64>().unwrap();
    let mut pushed = 0;
    let error = loop {
        match tape.push(pushed) {
            Ok(()) => pushed += 1,
            Err(error) => break error,
        }
    };
    let ErrorKind::Lost { slab: 2, source: TierError::Contract(_) } = error.kind() else {
        panic!("{error:?}");
    };
    let text = error.to_string();
    assert!(text.contains("slab 2 is lost") && text.contains("truncate"), "{text}");
    let per_slab = (SLAB / 8) as u64;
    for expected in (3 * per_slab..pushed).rev() {
        assert_eq!(tape.pop().unwrap(), Some(expected));
    }
    assert!(matches!(tape.pop().unwrap_err().kind(), ErrorKind::Lost { slab: 2, .. }));
    assert!(matches!(tape.iter().nth_back(0).unwrap().unwrap_err().kind(), ErrorKind::Lost { .. }));
    let directory = tempfile::tempdir().unwrap();
    assert!(tape.save(directory.path().join("a.tape")).is_err());
    tape.truncate(2 * per_slab as usize).unwrap();
    for expected in (0..2 * per_slab).rev() {
        assert_eq!(tape.pop().unwrap(), Some(expected));
    }
}

#[test]
fn a_silent_tier_ends_the_patience_and_may_answer_later() {
    let held: Arc<Mutex<Vec<(SlabKey, Block, Done)>>> = Arc::default();
    struct Slow(Arc<Mutex<Vec<(SlabKey, Block, Done)>>>);
    impl Tier for Slow {
        fn write(&self, key: SlabKey, block: Block, done: Done) {
            self.0.lock().unwrap().push((key, block, done));
        }
        fn read(&self, key: SlabKey, block: Block, done: Done) {
            done(block, Err(TierError::Missing(key)));
        }
        fn forget(&self, _: SlabKey) {}
        fn stored_bytes(&self) -> u64 {
            0
        }
        fn describe(&self) -> String {
            "slow".to_owned()
        }
    }
    let tier = Arc::new(Slow(held.clone()));
    let mut tape = options(tier, true).open::<u64>().unwrap();
    let mut pushed = 0;
    let error = loop {
        match tape.push(pushed) {
            Ok(()) => pushed += 1,
            Err(error) => break error,
        }
    };
    let silent = matches!(error.kind(), ErrorKind::Spill { source: TierError::Silent(_), .. });
    assert!(silent, "{error:?}");
    for (_, block, done) in held.lock().unwrap().drain(..) {
        done(block, Err(TierError::OutOfMemory(OutOfMemory { bytes: 1 })));
    }
    for expected in (0..pushed).rev() {
        assert_eq!(tape.pop().unwrap(), Some(expected));
    }
}
