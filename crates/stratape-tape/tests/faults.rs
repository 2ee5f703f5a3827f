//! One operation of the tier below fails, at every possible moment: the call that hears of it
//! changes nothing, succeeds when repeated, and not a value is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Dice, PAGE};
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation, Tier, TierError};
use stratape_tape::{ErrorKind, LayeredTape, RecordTape, TapeError, TapeOptions, TapeStats};

const PER_SLAB: usize = 8;
const SLABS: usize = 4;

fn options(tier: Arc<dyn Tier>) -> TapeOptions {
    TapeOptions::new().tier(tier).slab_bytes(PER_SLAB * size_of::<u64>()).memory(SLABS * PAGE)
}

fn failed_transfers(stats: &TapeStats) -> u64 {
    stats.failed_writes + stats.failed_reads
}

/// A tape and what it must hold. Every operation is repeated when it fails, once a failure.
struct Script {
    tape: LayeredTape<u64>,
    model: Vec<u64>,
    failures: usize,
}

impl Script {
    fn on(tier: Arc<dyn Tier>) -> Self {
        Self { tape: options(tier).open().unwrap(), model: Vec::new(), failures: 0 }
    }

    #[track_caller]
    fn insist<R>(&mut self, call: impl Fn(&mut LayeredTape<u64>) -> Result<R, TapeError>) -> R {
        for _ in 0..3 {
            let len = self.tape.len();
            match call(&mut self.tape) {
                Ok(result) => return result,
                Err(error) => {
                    self.failures += 1;
                    assert_eq!(self.tape.len(), len, "a failed call changed the tape: {error}");
                }
            }
        }
        panic!("a call went on failing after the fault was over");
    }

    fn push(&mut self, count: usize) {
        for _ in 0..count {
            let value = (self.model.len() as u64) << 32 | self.failures as u64;
            self.insist(|tape| tape.push(value));
            self.model.push(value);
        }
    }

    fn pop(&mut self, count: usize) {
        for _ in 0..count {
            let value = self.insist(LayeredTape::pop);
            assert_eq!(value, self.model.pop());
        }
    }

    fn look(&mut self, index: usize) {
        let value = self.insist(|tape| tape.get(index));
        assert_eq!(value, self.model.get(index).copied());
    }

    fn truncate(&mut self, len: usize) {
        self.insist(|tape| tape.truncate(len));
        self.model.truncate(len);
    }

    fn pop_slice(&mut self, count: usize) {
        let out = self.insist(|tape| {
            let mut out = vec![0; count];
            tape.pop_slice(&mut out).map(|_| out)
        });
        let keep = self.model.len() - count;
        assert_eq!(out, self.model[keep..]);
        self.model.truncate(keep);
    }

    fn extend(&mut self, count: usize) {
        let values: Vec<u64> = (0..count as u64).map(|i| i * 7).collect();
        // What was taken before the failure stays, so the call is repeated with the rest.
        let end = self.tape.len() + count;
        let mut patience = 3;
        while self.tape.len() < end {
            let rest = &values[count - (end - self.tape.len())..];
            if self.tape.extend_from_slice(rest).is_err() {
                self.failures += 1;
                patience -= 1;
                assert!(patience > 0, "extending went on failing");
            }
        }
        self.model.extend_from_slice(&values);
    }

    fn walk(&mut self) {
        let (mut index, mut patience) = (0, 3);
        for element in self.tape.iter() {
            match element {
                Ok(value) => {
                    assert_eq!(value, self.model[index]);
                    index += 1;
                }
                Err(_) => {
                    self.failures += 1;
                    patience -= 1;
                    assert!(patience > 0, "iterating went on failing");
                }
            }
        }
        assert_eq!(index, self.model.len());
    }

    /// Up and down, across and along.
    fn run(&mut self) {
        let mut dice = Dice::new(3);
        self.push(25 * PER_SLAB);
        self.pop(7 * PER_SLAB + 3);
        self.push(5 * PER_SLAB);
        for _ in 0..8 {
            self.look(dice.below(self.model.len()));
        }
        self.truncate(17 * PER_SLAB + 1);
        self.extend(6 * PER_SLAB);
        self.pop_slice(9 * PER_SLAB);
        self.walk();
        self.truncate(12 * PER_SLAB);
        self.push(2 * PER_SLAB);
        self.pop(self.model.len());
        assert!(self.tape.is_empty());
    }
}

/// Runs the script once for each operation of the tier, with `fault` at that one. Returns how many
/// transfers failed in the eyes of the tape. Whether a call hears of one is a matter of timing: a
/// slab written or read ahead of need is tried again first.
fn sweep(fault: Fault, hits: impl Fn(Operation) -> bool + Copy + Send + Sync + 'static) -> u64 {
    let quiet = Arc::new(FaultyTier::new(MemoryTier::new(), |_, _| Fault::Pass));
    Script::on(quiet.clone()).run();
    let operations = quiet.operations();
    assert!(operations > 40, "the script hardly used the tier: {operations}");
    let mut failures = 0;
    for at in 0..operations {
        let injected = Arc::new(AtomicBool::new(false));
        let plan = {
            let injected = Arc::clone(&injected);
            // From `at` on, the first operation of the right kind.
            move |number, operation| {
                let due = number >= at && hits(operation);
                if due && !injected.swap(true, Ordering::SeqCst) { fault } else { Fault::Pass }
            }
        };
        let mut script = Script::on(Arc::new(FaultyTier::new(MemoryTier::new(), plan)));
        script.run();
        let failed = failed_transfers(&script.tape.stats());
        assert!(failed > 0 || script.failures == 0, "a call failed for no reason");
        failures += failed;
    }
    failures
}

#[test]
fn one_full_disk_at_any_moment() {
    let failures = sweep(Fault::Fail(io::ErrorKind::StorageFull), |_| true);
    assert!(failures > 0, "nothing ever failed");
}

#[test]
fn one_failed_operation_at_any_moment() {
    let failures = sweep(Fault::Fail(io::ErrorKind::Other), |_| true);
    assert!(failures > 0, "nothing ever failed");
}

#[test]
fn one_flipped_bit_on_the_way_up_at_any_moment() {
    let failures = sweep(Fault::FlipBit, |operation| operation == Operation::Read);
    assert!(failures > 0, "the damage was never noticed");
}

#[test]
fn one_slow_operation_at_any_moment() {
    let pause = Duration::from_millis(2);
    assert_eq!(sweep(Fault::Delay(pause), |_| true), 0);
}

#[test]
fn writes_fail_for_good() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        for from in [0, 1, 2, 5, 11, 20] {
            let plan = move |number, operation| match operation {
                Operation::Write if number >= from => Fault::Fail(kind),
                _ => Fault::Pass,
            };
            let tier = Arc::new(FaultyTier::new(MemoryTier::new(), plan));
            let mut tape: LayeredTape<u64> = options(tier).open().unwrap();
            let mut pushed = 0;
            let error = loop {
                match tape.push(pushed) {
                    Ok(()) => pushed += 1,
                    Err(error) => break error,
                }
            };
            assert!(
                pushed >= (SLABS * PER_SLAB) as u64,
                "the budget was not used: {pushed} elements"
            );
            assert_eq!(error.is_full(), kind == io::ErrorKind::StorageFull);
            assert!(matches!(error.kind(), ErrorKind::Spill { .. }));
            for _ in 0..3 {
                assert!(tape.push(0).is_err(), "the tier had not been healed");
            }
            assert_eq!(tape.len() as u64, pushed);

            tape.set_memory(3 * SLABS * PAGE).unwrap();
            for _ in 0..SLABS * PER_SLAB {
                tape.push(pushed).unwrap();
                pushed += 1;
            }
            for expected in (0..pushed).rev() {
                assert_eq!(tape.pop().unwrap(), Some(expected));
            }
            assert_eq!(tape.pop().unwrap(), None);
            assert!(tape.stats().failed_writes > 0);
        }
    }
}

#[test]
fn reads_fail_until_healed() {
    for from in [0, 20, 25, 30] {
        let broken = Arc::new(AtomicBool::new(true));
        let plan = {
            let broken = Arc::clone(&broken);
            move |number, operation| match operation {
                Operation::Read if number >= from && broken.load(Ordering::SeqCst) => {
                    Fault::Fail(io::ErrorKind::Other)
                }
                _ => Fault::Pass,
            }
        };
        let tier = Arc::new(FaultyTier::new(MemoryTier::new(), plan));
        let mut tape: LayeredTape<u64> = options(tier).open().unwrap();
        let all = 25 * PER_SLAB as u64;
        (0..all).for_each(|i| tape.push(i).unwrap());
        let mut expected = all;
        let error = loop {
            match tape.pop() {
                Ok(value) => {
                    expected -= 1;
                    assert_eq!(value, Some(expected));
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(error.kind(), ErrorKind::Fetch { .. }), "{error}");
        assert!(!error.is_full());
        for _ in 0..3 {
            assert!(tape.pop().is_err());
            assert!(tape.last().is_err());
            assert!(tape.last_mut().is_err());
            assert!(tape.get(0).is_err());
            assert!(tape.truncate(1).is_err());
            assert!(tape.pop_slice(&mut [0; 3 * PER_SLAB]).is_err());
            assert!(tape.iter().next().unwrap().is_err());
            assert_eq!(tape.len() as u64, expected);
        }
        // Pushing needs nothing from below, and neither does a cut at a slab boundary.
        (0..10).for_each(|_| tape.push(7).unwrap());
        tape.truncate(expected as usize).unwrap();
        assert_eq!(tape.len() as u64, expected);

        broken.store(false, Ordering::SeqCst);
        for expected in (0..expected).rev() {
            assert_eq!(tape.pop().unwrap(), Some(expected));
        }
        assert_eq!(tape.pop().unwrap(), None);
    }
}

/// With checksums off the damage goes through, which shows that it was there.
#[test]
fn the_checksum_is_what_finds_damage() {
    let damaged = |checksum| {
        let plan = |_, operation| match operation {
            Operation::Write => Fault::FlipBit,
            Operation::Read => Fault::Pass,
        };
        let tier = Arc::new(FaultyTier::new(MemoryTier::new(), plan));
        let mut tape: LayeredTape<u64> = options(tier).checksum(checksum).open().unwrap();
        (0..200).for_each(|i| tape.push(i).unwrap());
        (0..200).map(move |i| tape.get(i)).collect::<Vec<_>>()
    };
    let unnoticed = damaged(false);
    let wrong = unnoticed.iter().enumerate();
    let wrong = wrong.filter(|(i, value)| value.as_ref().unwrap() != &Some(*i as u64));
    assert!(wrong.count() > 10);
    let noticed = damaged(true);
    let mut errors = 0;
    for (i, value) in noticed.into_iter().enumerate() {
        match value {
            Ok(value) => assert_eq!(value, Some(i as u64)),
            Err(error) => {
                errors += 1;
                let damaged = matches!(
                    error.kind(),
                    ErrorKind::Fetch { source: TierError::Damaged { .. }, .. }
                );
                assert!(damaged, "{error:?}");
            }
        }
    }
    assert!(errors > 10);
}

#[test]
fn records_survive_one_fault_at_any_moment() {
    let run = |plan: Box<dyn Fn(u64, Operation) -> Fault + Send + Sync>| {
        let tier = Arc::new(FaultyTier::new(MemoryTier::new(), plan));
        let mut tape = options(tier.clone()).open_records().unwrap();
        let mut failures = 0;
        let mut insist = |call: &mut dyn FnMut(&mut RecordTape) -> Result<(), TapeError>| {
            for _ in 0..3 {
                let bytes = tape.bytes();
                match call(&mut tape) {
                    Ok(()) => return,
                    Err(_) => {
                        failures += 1;
                        assert_eq!(tape.bytes(), bytes, "a failed call changed the tape");
                    }
                }
            }
            panic!("a call went on failing after the fault was over");
        };
        for i in 0..60_u64 {
            insist(&mut |tape| tape.push(i));
            let count = (i as usize * 5) % 23;
            insist(&mut |tape| tape.reserve::<f64>(count).map(|region| region.fill(i as f64)));
        }
        for i in (0..60_u64).rev() {
            insist(&mut |tape| {
                let region = tape.take::<f64>()?;
                assert_eq!(region.len(), (i as usize * 5) % 23);
                assert!(region.iter().all(|&value| value == i as f64));
                Ok(())
            });
            insist(&mut |tape| {
                assert_eq!(tape.pop::<u64>()?, i);
                Ok(())
            });
        }
        assert!(tape.is_empty());
        let failed = failed_transfers(&tape.stats());
        assert!(failed > 0 || failures == 0, "a call failed for no reason");
        (tier.operations(), failed)
    };
    let (operations, _) = run(Box::new(|_, _| Fault::Pass));
    let mut failed = 0;
    for at in 0..operations {
        let fault = Fault::Fail(io::ErrorKind::Other);
        let plan = move |number, _| if number == at { fault } else { Fault::Pass };
        failed += run(Box::new(plan)).1;
    }
    assert!(failed > 0, "nothing ever failed");
}
