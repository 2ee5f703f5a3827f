//! A tier for tests: passes operations to the one below it, except where a plan says otherwise.

use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Block, Done, SlabKey, Tier};
use crate::sync::lock;

/// Which operation is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A slab is being written.
    Write,
    /// A slab is being read.
    Read,
}

/// What happens to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: it is passed on.
    Pass,
    /// It fails with this system error, without any effect.
    Fail(io::ErrorKind),
    /// It is passed on, but one bit of the data is changed on the way.
    FlipBit,
    /// It is passed on after a pause.
    Delay(Duration),
    /// It stays unanswered until [`FaultyTier::release`].
    Hold,
}

type Plan = Box<dyn Fn(u64, Operation) -> Fault + Send + Sync>;

/// Wraps a tier and breaks chosen operations.
///
/// ```
/// use std::io::ErrorKind;
/// use std::sync::Arc;
/// use stratape_tape::{LayeredTape, TapeOptions};
/// use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation};
///
/// let tier = FaultyTier::new(MemoryTier::new(), |_, operation| match operation {
///     Operation::Write => Fault::Fail(ErrorKind::StorageFull),
///     Operation::Read => Fault::Pass,
/// });
/// let mut tape: LayeredTape<u64> =
///     TapeOptions::new().memory(32 << 10).slab_bytes(4 << 10).tier(Arc::new(tier)).open()?;
/// let mut pushed = 0;
/// while tape.push(pushed).is_ok() {
///     pushed += 1;
/// }
/// // The disk is full, and everything that was pushed is still there.
/// assert_eq!(tape.len() as u64, pushed);
/// while let Some(value) = tape.pop()? {
///     pushed -= 1;
///     assert_eq!(value, pushed);
/// }
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
pub struct FaultyTier<T> {
    below: T,
    plan: Plan,
    operations: AtomicU64,
    held: Mutex<Vec<Held>>,
}

struct Held {
    operation: Operation,
    key: SlabKey,
    block: Block,
    done: Done,
}

impl<T: Tier> FaultyTier<T> {
    /// `plan` is asked before every write and read, with the number of operations before it.
    pub fn new(below: T, plan: impl Fn(u64, Operation) -> Fault + Send + Sync + 'static) -> Self {
        Self {
            below,
            plan: Box::new(plan),
            operations: AtomicU64::new(0),
            held: Mutex::new(Vec::new()),
        }
    }

    /// Writes and reads seen so far.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Lets the operations that were held continue.
    pub fn release(&self) {
        let held = std::mem::take(&mut *lock(&self.held));
        for Held { operation, key, block, done } in held {
            match operation {
                Operation::Write => self.below.write(key, block, done),
                Operation::Read => self.below.read(key, block, done),
            }
        }
    }

    fn next_fault(&self, operation: Operation) -> Fault {
        (self.plan)(self.operations.fetch_add(1, Ordering::Relaxed), operation)
    }

    fn hold(&self, operation: Operation, key: SlabKey, block: Block, done: Done) {
        let mut held = lock(&self.held);
        held.push(Held { operation, key, block, done });
    }
}

fn flip_bit(block: &mut Block) {
    block.bytes_mut()[0] ^= 1;
}

impl<T: Tier> Tier for FaultyTier<T> {
    fn write(&self, key: SlabKey, mut block: Block, done: Done) {
        match self.next_fault(Operation::Write) {
            Fault::Pass => self.below.write(key, block, done),
            Fault::Fail(kind) => done(block, Err(io::Error::from(kind).into())),
            Fault::FlipBit => {
                flip_bit(&mut block);
                let mend = |mut block: Block, result| {
                    flip_bit(&mut block);
                    done(block, result);
                };
                self.below.write(key, block, Box::new(mend));
            }
            Fault::Delay(pause) => {
                std::thread::sleep(pause);
                self.below.write(key, block, done);
            }
            Fault::Hold => self.hold(Operation::Write, key, block, done),
        }
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        match self.next_fault(Operation::Read) {
            Fault::Pass => self.below.read(key, block, done),
            Fault::Fail(kind) => done(block, Err(io::Error::from(kind).into())),
            Fault::FlipBit => {
                let damage = |mut block: Block, result| {
                    flip_bit(&mut block);
                    done(block, result);
                };
                self.below.read(key, block, Box::new(damage));
            }
            Fault::Delay(pause) => {
                std::thread::sleep(pause);
                self.below.read(key, block, done);
            }
            Fault::Hold => self.hold(Operation::Read, key, block, done),
        }
    }

    fn forget(&self, key: SlabKey) {
        self.below.forget(key);
    }

    fn tidy(&self) -> bool {
        self.below.tidy()
    }

    fn stored_bytes(&self) -> u64 {
        self.below.stored_bytes()
    }

    fn describe(&self) -> String {
        format!("faulty {}", self.below.describe())
    }
}

impl<T> fmt::Debug for FaultyTier<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyTier").field("operations", &self.operations).finish_non_exhaustive()
    }
}
