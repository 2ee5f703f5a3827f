//! Many tapes that spill share a few threads, and stay out of each other's way.
//!
//! Every tape once had a background thread and an engine of its own: 300 tapes came to 760 threads.
//!
//! A single test, since it counts the threads of the whole process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::fs;
use std::sync::{Arc, Condvar, Mutex};

use common::{PAGE, tape_threads, wait_until};
use stratape_tape::tier::{Block, Done, MemoryTier, SlabKey, Tier, TierError};
use stratape_tape::{LayeredTape, Stash, TapeOptions};

const TAPES: u64 = 300;
const ELEMENTS: u64 = 20_000;

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

fn options() -> TapeOptions {
    TapeOptions::new().memory(8 * PAGE).slab_bytes(PAGE)
}

fn fill(tape: &mut LayeredTape<u64>, seed: u64) {
    (0..ELEMENTS).for_each(|i| tape.push(seed ^ i).unwrap());
    assert!(tape.stats().slabs_spilled > 0);
}

fn empty(tape: &mut LayeredTape<u64>, seed: u64) {
    (0..ELEMENTS).rev().for_each(|i| assert_eq!(tape.pop().unwrap(), Some(seed ^ i)));
}

/// What a bad tier does until it is released.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bad {
    /// Does not return from `write`.
    Hangs,
    /// Keeps the callback.
    IsSilent,
    Fails,
    Panics,
}

struct BadTier {
    bad: Bad,
    kept: Mutex<Vec<Done>>,
    released: (Mutex<bool>, Condvar),
}

impl Tier for BadTier {
    fn write(&self, _: SlabKey, block: Block, done: Done) {
        match self.bad {
            Bad::Hangs => {
                let (released, signal) = &self.released;
                drop(signal.wait_while(released.lock().unwrap(), |released| !*released));
                done(block, Err(TierError::Io(std::io::ErrorKind::Other.into())));
            }
            Bad::IsSilent => self.kept.lock().unwrap().push(done),
            Bad::Fails => done(block, Err(TierError::Io(std::io::ErrorKind::Other.into()))),
            Bad::Panics => panic!("the tier panics"),
        }
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        done(block, Err(TierError::Missing(key)));
    }

    fn forget(&self, _: SlabKey) {}

    fn stored_bytes(&self) -> u64 {
        0
    }

    fn describe(&self) -> String {
        format!("{:?}", self.bad)
    }
}

fn bad_tape(bad: Bad) -> (LayeredTape<u64>, Arc<BadTier>) {
    let released = (Mutex::new(false), Condvar::new());
    let tier = Arc::new(BadTier { bad, kept: Mutex::default(), released });
    let options = options().patience(std::time::Duration::from_millis(50));
    let mut tape = options.tier(tier.clone()).open::<u64>().unwrap();
    let error = (0..ELEMENTS).find_map(|i| tape.push(i).err()).expect("a budget");
    println!("{bad:?}: {error}");
    (tape, tier)
}

#[test]
fn many_tapes_take_few_threads_and_do_not_disturb_each_other() {
    let directory = tempfile::tempdir().unwrap();
    for engine in common::engines(directory.path()) {
        let options = options().spill_to(directory.path()).engine(engine);
        let mut tapes: Vec<LayeredTape<u64>> =
            (0..TAPES).map(|_| options.clone().open().unwrap()).collect();
        for (seed, tape) in (0..).zip(&mut tapes) {
            fill(tape, seed << 32);
        }
        // A tape of a saved file, and a stash, share them as well.
        let path = directory.path().join("a.tape");
        tapes[0].save(&path).unwrap();
        let mut loaded = LayeredTape::load(&path, options.clone()).unwrap();
        let mut stash = Stash::open(&options).unwrap();
        let block = stash.block(PAGE).unwrap();
        let ticket = stash.put(0, block, PAGE);
        assert!(threads() < 20, "{engine:?}: {} threads: {:?}", threads(), tape_threads());

        // Tiers of the user's own may do what they like.
        let bad: Vec<_> = [Bad::Hangs, Bad::IsSilent, Bad::Fails, Bad::Panics]
            .map(bad_tape)
            .into_iter()
            .collect();
        for (seed, tape) in (0..).zip(&mut tapes) {
            empty(tape, seed << 32);
        }
        empty(&mut loaded, 0);
        stash.take(ticket).unwrap();
        let good = TapeOptions::new().memory(8 * PAGE).slab_bytes(PAGE);
        let mut good = good.tier(Arc::new(MemoryTier::new())).open::<u64>().unwrap();
        fill(&mut good, 1);
        empty(&mut good, 1);
        for (_, tier) in &bad {
            *tier.released.0.lock().unwrap() = true;
            tier.released.1.notify_all();
            tier.kept.lock().unwrap().clear();
        }
        drop((tapes, loaded, stash, good, bad));
        wait_until("the threads are gone", || tape_threads().is_empty());
    }
}
