//! What several test files need: a tier that counts, a way to wait for background work, a small
//! random generator.

#![allow(dead_code, reason = "no test file uses all of it")]

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use stratape_tape::TapeOptions;
use stratape_tape::tier::{
    Block, DiskFaults, DiskOptions, DiskTier, Done, IoEngine, MemoryTier, SlabKey, StackedTier,
    Tier,
};

/// A page: every block takes at least one, however few elements it holds.
pub(crate) const PAGE: usize = 4096;

/// Waits for something another thread will do. Fails the test after far longer than it can take.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !reached() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Less than `bound`, which must not be zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 16) % bound as u64) as usize
    }
}

/// Passes everything on and counts it.
pub(crate) struct CountingTier<T> {
    pub(crate) below: T,
    writes: AtomicU64,
    reads: AtomicU64,
    by_depth: Mutex<HashMap<u64, (u64, u64)>>,
}

impl<T: Tier> CountingTier<T> {
    pub(crate) fn new(below: T) -> Self {
        Self {
            below,
            writes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            by_depth: Mutex::default(),
        }
    }

    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::SeqCst)
    }

    /// Writes and reads of the slab at each depth.
    pub(crate) fn by_depth(&self) -> HashMap<u64, (u64, u64)> {
        self.by_depth.lock().unwrap().clone()
    }
}

impl<T: Tier> Tier for CountingTier<T> {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        self.by_depth.lock().unwrap().entry(key.depth).or_default().0 += 1;
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.below.write(key, block, done);
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        self.by_depth.lock().unwrap().entry(key.depth).or_default().1 += 1;
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.below.read(key, block, done);
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
        format!("counted {}", self.below.describe())
    }
}

/// The tiers and settings under which a layered tape must behave the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    Memory,
    MemoryUnchecked,
    Stacked,
    Threads,
    ThreadsCached,
    Auto,
    AutoCachedUnchecked,
}

impl Setup {
    /// Options with this setup's tier; `memory` and `slab_bytes` are the caller's to set.
    pub(crate) fn options(self, directory: &Path) -> TapeOptions {
        let options = TapeOptions::new().spill_to(directory);
        match self {
            Self::Memory => options.tier(Arc::new(MemoryTier::new())),
            Self::MemoryUnchecked => options.tier(Arc::new(MemoryTier::new())).checksum(false),
            Self::Stacked => {
                let upper = Arc::new(MemoryTier::new());
                let lower = Arc::new(MemoryTier::new());
                options.tier(Arc::new(StackedTier::new(upper, 3 * PAGE as u64, lower)))
            }
            Self::Threads => options.engine(IoEngine::Threads),
            Self::ThreadsCached => options.engine(IoEngine::Threads).direct(false).in_flight(2),
            Self::Auto => options.engine(IoEngine::Auto),
            Self::AutoCachedUnchecked => options.direct(false).checksum(false),
        }
    }
}

/// The engines this machine has, for tests that name one.
pub(crate) fn engines(directory: &Path) -> Vec<IoEngine> {
    let mut engines = vec![IoEngine::Threads];
    let uring = DiskOptions { engine: IoEngine::Uring, ..DiskOptions::new(directory) };
    match DiskTier::open(uring) {
        Ok(_) => engines.push(IoEngine::Uring),
        Err(error) => println!("not tested with io_uring: {error}"),
    }
    engines
}

/// A disk tier whose system calls the test damages.
pub(crate) fn damaged_disk(directory: &Path, engine: IoEngine, faults: DiskFaults) -> DiskTier {
    let options = DiskOptions { engine, faults: Some(faults), ..DiskOptions::new(directory) };
    DiskTier::open(options).unwrap()
}

/// Names of the files in a directory.
pub(crate) fn files_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Threads of this process that belong to a tape, by their names.
pub(crate) fn tape_threads() -> Vec<String> {
    let names = fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        // A thread may end between being listed and being asked.
        fs::read_to_string(task.ok()?.path().join("comm")).ok()
    });
    names.filter(|name| name.starts_with("tape-")).collect()
}

/// Whether a sanitizer is at work, by the terabytes of addresses it takes.
pub(crate) fn is_sanitized() -> bool {
    let pages = fs::read_to_string("/proc/self/statm").ok().and_then(|statm| {
        let size = statm.split(' ').next()?;
        size.parse::<u64>().ok()
    });
    pages.is_some_and(|pages| pages * PAGE as u64 > 1 << 40)
}
