//! A tier that keeps slabs in ordinary memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use super::{Block, Done, OutOfMemory, SlabKey, Tier, TierError};
use crate::sync::lock;

/// Slabs in a map. Answers immediately, on the caller's thread.
///
/// ```
/// use stratape_tape::tier::{MemoryTier, Tier};
///
/// let tier = MemoryTier::with_limit(1 << 20);
/// assert_eq!(tier.stored_bytes(), 0);
/// ```
#[derive(Debug, Default)]
pub struct MemoryTier {
    limit: Option<u64>,
    store: Mutex<Store>,
}

#[derive(Debug, Default)]
struct Store {
    slabs: HashMap<SlabKey, Vec<u8>>,
    bytes: u64,
}

impl Store {
    fn insert(&mut self, key: SlabKey, bytes: &[u8]) -> Result<(), TierError> {
        let refused = |_| TierError::OutOfMemory(OutOfMemory { bytes: bytes.len() });
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len()).map_err(refused)?;
        copy.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        if let Some(before) = self.slabs.insert(key, copy) {
            self.bytes -= before.len() as u64;
        }
        Ok(())
    }
}

impl MemoryTier {
    /// A tier without a limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tier that holds at most `limit` bytes, and returns an error beyond that.
    pub fn with_limit(limit: u64) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }
}

impl Tier for MemoryTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        let needed = block.len() as u64;
        let mut store = self.store();
        let result = match self.limit {
            Some(limit) if store.bytes + needed > limit => {
                Err(TierError::Full { needed, limit: Some(limit) })
            }
            _ => store.insert(key, block.bytes()),
        };
        drop(store);
        done(block, result);
    }

    fn read(&self, key: SlabKey, mut block: Block, done: Done) {
        let store = self.store();
        let result = match store.slabs.get(&key) {
            None => Err(TierError::Missing(key)),
            Some(bytes) if bytes.len() != block.len() => {
                Err(TierError::CutShort { expected: block.len() as u64, found: bytes.len() as u64 })
            }
            Some(bytes) => {
                block.bytes_mut().copy_from_slice(bytes);
                Ok(())
            }
        };
        drop(store);
        done(block, result);
    }

    fn forget(&self, key: SlabKey) {
        let mut store = self.store();
        if let Some(bytes) = store.slabs.remove(&key) {
            store.bytes -= bytes.len() as u64;
        }
    }

    fn stored_bytes(&self) -> u64 {
        self.store().bytes
    }

    fn describe(&self) -> String {
        "memory".to_owned()
    }
}
