//! Two tiers as one: the fast one takes the slabs, the slow one those that are needed last.
//!
//! When the upper tier has no room for a slab, the deepest ones in it are moved down, several at a
//! time. The move happens inside the `write` that needs the room, on the tape's background thread;
//! reads go straight to whichever tier has the slab. Stack more than two by stacking stacks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Block, Done, SlabKey, Tier, TierError};
use crate::sync::lock;

/// Slabs moved down at a time, so that the lower tier has several writes in flight, unless told otherwise.
const BATCH: usize = 4;

/// RAM → `upper` → `lower`. See the [module](super) for an example.
pub struct StackedTier {
    upper: Arc<dyn Tier>,
    upper_bytes: u64,
    lower: Arc<dyn Tier>,
    batch: usize,
    index: Arc<Mutex<Index>>,
    /// Held while slabs move down, and while a read or a forget finds its tier: a slab never
    /// changes its place between being looked up and being asked for.
    moving: Mutex<()>,
}

#[derive(Default)]
struct Index {
    /// Deepest first, so that the first settled one in the upper tier is the one to move.
    slabs: BTreeMap<(u64, SlabKey), Entry>,
    in_upper: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    bytes: u64,
    level: Level,
    /// Set once the write has been reported; before that the slab cannot be moved.
    settled: bool,
    /// Reads under way; the slab stays where it is until they end.
    readers: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Upper,
    Lower,
}

fn place(key: SlabKey) -> (u64, SlabKey) {
    (key.depth, key)
}

impl StackedTier {
    /// Keeps up to `upper_bytes` in `upper`, the rest in `lower`.
    pub fn new(upper: Arc<dyn Tier>, upper_bytes: u64, lower: Arc<dyn Tier>) -> Self {
        let (index, moving) = (Arc::default(), Mutex::new(()));
        Self { upper, upper_bytes, lower, batch: BATCH, index, moving }
    }

    /// How many slabs are moved down at a time. Default 4.
    ///
    /// They are in memory on their way, beside the budget of the tape. Raise it for a lower tier with a high latency, such as an object store.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stratape_tape::tier::{MemoryTier, StackedTier};
    ///
    /// let (fast, far) = (Arc::new(MemoryTier::new()), Arc::new(MemoryTier::new()));
    /// let tier = StackedTier::new(fast, 1 << 30, far).moving(16);
    /// ```
    #[must_use]
    pub fn moving(mut self, slabs: usize) -> Self {
        self.batch = slabs.max(1);
        self
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        lock(&self.moving)
    }

    fn tier(&self, level: Level) -> &Arc<dyn Tier> {
        match level {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        }
    }

    /// Moves the deepest slabs down until `needed` bytes fit above. `false` if that cannot be.
    fn make_room(&self, needed: u64) -> bool {
        if needed > self.upper_bytes {
            return false;
        }
        let _moving = self.gate();
        loop {
            let victims: Vec<(SlabKey, u64)> = {
                let index = self.index();
                if index.in_upper + needed <= self.upper_bytes {
                    return true;
                }
                index
                    .slabs
                    .iter()
                    .filter(|(_, entry)| entry.is_movable())
                    .take(self.batch)
                    .map(|((_, key), entry)| (*key, entry.bytes))
                    .collect()
            };
            if victims.is_empty() || !self.demote(&victims) {
                return false;
            }
        }
    }

    /// Copies the victims down, then forgets them above. A slab that could not be copied stays.
    fn demote(&self, victims: &[(SlabKey, u64)]) -> bool {
        let (report, moved) = mpsc::channel();
        for &(key, bytes) in victims {
            let report = report.clone();
            let Ok(block) = Block::zeroed(bytes as usize) else { break };
            let lower = Arc::clone(&self.lower);
            let handed = block.stamp();
            let then_write = move |block: Block, result: Result<(), TierError>| match result {
                // Another block than was sent may hold anything; the slab stays where it is.
                Ok(()) if block.stamp().same_block(handed) => {
                    let reported = move |_, result: Result<(), TierError>| {
                        let _ = report.send((key, result.is_ok()));
                    };
                    lower.write(key, block, Box::new(reported));
                }
                _ => {
                    let _ = report.send((key, false));
                }
            };
            self.upper.read(key, block, Box::new(then_write));
        }
        drop(report);
        let mut any = false;
        for (key, copied) in moved {
            if !copied {
                continue;
            }
            any = true;
            let mut index = self.index();
            if let Some(entry) = index.slabs.get_mut(&place(key)) {
                entry.level = Level::Lower;
                let bytes = entry.bytes;
                index.in_upper -= bytes;
            }
            drop(index);
            self.upper.forget(key);
        }
        any
    }

    fn write_at(&self, level: Level, key: SlabKey, block: Block, done: Done) {
        let bytes = block.len() as u64;
        {
            let mut index = self.index();
            index.remove(key);
            index.slabs.insert(place(key), Entry { bytes, level, settled: false, readers: 0 });
            if level == Level::Upper {
                index.in_upper += bytes;
            }
        }
        let (index, lower) = (Arc::clone(&self.index), Arc::clone(&self.lower));
        let settle = move |block: Block, result: Result<(), TierError>| match result {
            Ok(()) => {
                if let Some(entry) = lock(&index).slabs.get_mut(&place(key)) {
                    entry.settled = true;
                }
                done(block, Ok(()));
            }
            Err(error) => {
                lock(&index).remove(key);
                if level == Level::Lower {
                    return done(block, Err(error));
                }
                // The upper tier failed: the lower one may still take it.
                let entry = Entry { bytes, level: Level::Lower, settled: true, readers: 0 };
                let report = move |block, result: Result<(), TierError>| {
                    if result.is_ok() {
                        lock(&index).slabs.insert(place(key), entry);
                    }
                    done(block, result);
                };
                lower.write(key, block, Box::new(report));
            }
        };
        self.tier(level).write(key, block, Box::new(settle));
    }
}

impl Entry {
    fn is_movable(&self) -> bool {
        self.level == Level::Upper && self.settled && self.readers == 0
    }
}

impl Index {
    fn remove(&mut self, key: SlabKey) -> Option<Entry> {
        let entry = self.slabs.remove(&place(key))?;
        if entry.level == Level::Upper {
            self.in_upper -= entry.bytes;
        }
        Some(entry)
    }
}

impl Tier for StackedTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        let level = if self.make_room(block.len() as u64) { Level::Upper } else { Level::Lower };
        self.write_at(level, key, block, done);
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        let _moving = self.gate();
        let level = self.index().slabs.get_mut(&place(key)).map(|entry| {
            entry.readers += 1;
            entry.level
        });
        let Some(level) = level else {
            return done(block, Err(TierError::Missing(key)));
        };
        let index = Arc::clone(&self.index);
        let finish = move |block, result| {
            if let Some(entry) = lock(&index).slabs.get_mut(&place(key)) {
                entry.readers = entry.readers.saturating_sub(1);
            }
            done(block, result);
        };
        self.tier(level).read(key, block, Box::new(finish));
    }

    fn forget(&self, key: SlabKey) {
        let _moving = self.gate();
        let entry = self.index().remove(key);
        if let Some(entry) = entry {
            self.tier(entry.level).forget(key);
        }
    }

    fn tidy(&self) -> bool {
        // Both have their turn, whatever the first says.
        self.upper.tidy() | self.lower.tidy()
    }

    fn stored_bytes(&self) -> u64 {
        self.upper.stored_bytes() + self.lower.stored_bytes()
    }

    fn describe(&self) -> String {
        format!("{} over {}", self.upper.describe(), self.lower.describe())
    }
}

impl fmt::Debug for StackedTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackedTier").field("tiers", &self.describe()).finish_non_exhaustive()
    }
}
