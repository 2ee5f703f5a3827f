//! Every request to a disk tier is answered once, whatever the callbacks of others do.
//!
//! A callback that panicked once ended the thread that follows `io_uring`: later requests stayed unanswered,
//! and dropping the tier released blocks that the kernel was still writing to.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::wait_until;
use stratape_tape::tier::{
    Block, DiskCall, DiskOptions, DiskTier, Done, IoEngine, SlabKey, Tier, TierError,
};

const LEN: usize = 64 << 10;

fn key(serial: u64) -> SlabKey {
    SlabKey { lane: 0, depth: serial, serial }
}

fn filled(serial: u64) -> Block {
    let mut block = Block::zeroed(LEN).unwrap();
    block.bytes_mut().fill(serial as u8);
    block
}

/// Thrown by a callback; throws once more when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("and the payload panics too");
    }
}

#[derive(Default)]
struct Answers {
    good: AtomicU64,
    bad: AtomicU64,
}

impl Answers {
    /// A callback that counts, checks what was read, and then may panic.
    fn callback(self: &Arc<Self>, serial: u64, panics: bool) -> Done {
        let answers = Arc::clone(self);
        Box::new(move |block: Block, result: Result<(), TierError>| {
            assert!(block.bytes().iter().all(|&byte| byte == serial as u8) || result.is_err());
            let counter = if result.is_ok() { &answers.good } else { &answers.bad };
            counter.fetch_add(1, Ordering::SeqCst);
            if panics && serial.is_multiple_of(2) {
                panic::panic_any(Grenade);
            }
            assert!(!panics, "the callback panics");
        })
    }

    fn all(&self) -> u64 {
        self.good.load(Ordering::SeqCst) + self.bad.load(Ordering::SeqCst)
    }
}

fn tier(engine: IoEngine, directory: &std::path::Path) -> DiskTier {
    DiskTier::open(DiskOptions { engine, ..DiskOptions::new(directory) }).unwrap()
}

#[test]
fn callbacks_that_panic_are_called_once_and_harm_no_other() {
    let directory = tempfile::tempdir().unwrap();
    for engine in common::engines(directory.path()) {
        let tier = tier(engine, directory.path());
        let answers = Arc::new(Answers::default());
        for serial in 0..100 {
            tier.write(key(serial), filled(serial), answers.callback(serial, serial % 3 == 0));
        }
        wait_until("all writes are answered", || answers.all() == 100);
        for serial in 0..100 {
            let block = Block::zeroed(LEN).unwrap();
            tier.read(key(serial), block, answers.callback(serial, serial % 5 == 0));
        }
        wait_until("all reads are answered", || answers.all() == 200);
        assert_eq!(answers.good.load(Ordering::SeqCst), 200, "{engine:?}");
    }
}

#[test]
fn a_tier_dropped_with_requests_under_way_answers_them_all() {
    let directory = tempfile::tempdir().unwrap();
    for engine in common::engines(directory.path()) {
        for _ in 0..20 {
            let tier = tier(engine, directory.path());
            let answers = Arc::new(Answers::default());
            for serial in 0..60 {
                tier.write(key(serial), filled(serial), answers.callback(serial, serial % 3 == 0));
            }
            drop(tier);
            wait_until("all writes are answered", || answers.all() == 60);
            wait_until("the callbacks are gone", || Arc::strong_count(&answers) == 1);
        }
    }
}

/// The plan of a test is foreign code as well, and runs on the engine's threads.
#[test]
fn a_plan_of_faults_that_panics_is_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    for engine in common::engines(directory.path()) {
        let calls = AtomicU64::new(0);
        let plan = move |call| {
            let count = calls.fetch_add(1, Ordering::SeqCst);
            assert!(call == DiskCall::Reserve || count % 4 != 3, "the plan panics");
            None
        };
        let tier = common::damaged_disk(directory.path(), engine, Arc::new(plan));
        let answers = Arc::new(Answers::default());
        for serial in 0..40 {
            tier.write(key(serial), filled(serial), answers.callback(serial, false));
        }
        wait_until("all writes are answered", || answers.all() == 40);
        assert!(answers.bad.load(Ordering::SeqCst) > 0);
    }
}
