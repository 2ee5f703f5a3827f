//! Which part of the file belongs to which slab.
//!
//! Free ranges are either *held* (their disk blocks are still allocated; reused first) or *bare*
//! (given back to the file system). Giving back is slow and stops all transfers of the file
//! meanwhile on common file systems, so it is done piece by piece when there is time for it. The
//! file grows in steps for the same reason.

use std::collections::{BTreeMap, HashMap};

use crate::error::TierError;
use crate::key::SlabKey;

/// The largest and smallest step by which the file grows.
const GROW_MOST: u64 = 64 << 20;
const GROW_LEAST: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Slots {
    live: HashMap<SlabKey, (u64, u64)>,
    live_bytes: u64,
    free: BTreeMap<u64, Free>,
    held_bytes: u64,
    /// The file is reserved up to here.
    end: u64,
    limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    len: u64,
    held: bool,
}

/// A place for a slab, and by how much the file must grow for it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) offset: u64,
    pub(super) growth: Option<Growth>,
}

#[derive(Debug)]
pub(super) struct Growth {
    pub(super) from: u64,
    /// Where the file would like to end.
    pub(super) to: u64,
    /// Where it must end for the slab to fit.
    pub(super) at_least: u64,
}

impl Slots {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self {
            live: HashMap::new(),
            live_bytes: 0,
            free: BTreeMap::new(),
            held_bytes: 0,
            end: 0,
            limit,
        }
    }

    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    pub(super) fn find(&self, key: SlabKey) -> Option<(u64, u64)> {
        self.live.get(&key).copied()
    }

    pub(super) fn take(&mut self, key: SlabKey, bytes: u64) -> Result<Slot, TierError> {
        if let Some(limit) = self.limit
            && self.live_bytes + bytes > limit
        {
            return Err(TierError::Full { needed: bytes, limit: Some(limit) });
        }
        let reuse = self.fitting(bytes, true).or_else(|| self.fitting(bytes, false));
        let slot = match reuse {
            Some(offset) => {
                self.carve(offset, bytes);
                Slot { offset, growth: None }
            }
            None => self.grow(bytes),
        };
        self.live.insert(key, (slot.offset, bytes));
        self.live_bytes += bytes;
        Ok(slot)
    }

    pub(super) fn release(&mut self, key: SlabKey) {
        if let Some((offset, len)) = self.live.remove(&key) {
            self.live_bytes -= len;
            self.add_free(offset, len, true);
        }
    }

    /// The file could not grow beyond `from` for the slab just taken: forget what lies there.
    pub(super) fn undo_growth(&mut self, key: SlabKey, from: u64) {
        if let Some((_, len)) = self.live.remove(&key) {
            self.live_bytes -= len;
        }
        let beyond: Vec<u64> = self.free.range(from..).map(|(&offset, _)| offset).collect();
        for offset in beyond {
            self.remove_free(offset);
        }
        self.end = from;
    }

    /// Bytes of the file that are free but still take space on the disk.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Takes up to `most` held bytes, from the end of the file, out of the books, so that their
    /// space can be given back. [`put_bare`](Self::put_bare) enters them again.
    pub(super) fn take_held(&mut self, most: u64) -> Option<(u64, u64)> {
        let (&offset, free) = self.free.iter().rev().find(|(_, free)| free.held)?;
        let len = free.len.min(most);
        let kept = free.len - len;
        self.remove_free(offset);
        if kept > 0 {
            self.add_free(offset, kept, true);
        }
        Some((offset + kept, len))
    }

    /// Enters a range whose space has been given back.
    pub(super) fn put_bare(&mut self, offset: u64, len: u64) {
        self.add_free(offset, len, false);
    }

    /// The lowest free range of this kind with room.
    fn fitting(&self, bytes: u64, held: bool) -> Option<u64> {
        let fits = |(_, free): &(&u64, &Free)| free.held == held && free.len >= bytes;
        self.free.iter().find(fits).map(|(&offset, _)| offset)
    }

    fn carve(&mut self, offset: u64, bytes: u64) {
        if let Some(free) = self.remove_free(offset)
            && free.len > bytes
        {
            self.add_free(offset + bytes, free.len - bytes, free.held);
        }
    }

    fn grow(&mut self, bytes: u64) -> Slot {
        let from = self.end;
        let mut step = (self.end / 4).clamp(GROW_LEAST, GROW_MOST).max(bytes);
        if let Some(limit) = self.limit {
            step = step.min(limit.saturating_sub(from)).max(bytes);
        }
        step = step.next_multiple_of(bytes.max(1));
        self.end = from + step;
        if step > bytes {
            self.add_free(from + bytes, step - bytes, true);
        }
        let growth = Growth { from, to: self.end, at_least: from + bytes };
        Slot { offset: from, growth: Some(growth) }
    }

    fn add_free(&mut self, mut offset: u64, mut len: u64, held: bool) {
        if let Some((&before, &free)) = self.free.range(..offset).next_back()
            && free.held == held
            && before + free.len == offset
        {
            self.remove_free(before);
            (offset, len) = (before, len + free.len);
        }
        if let Some(&after) = self.free.get(&(offset + len))
            && after.held == held
        {
            self.remove_free(offset + len);
            len += after.len;
        }
        self.free.insert(offset, Free { len, held });
        if held {
            self.held_bytes += len;
        }
    }

    fn remove_free(&mut self, offset: u64) -> Option<Free> {
        let free = self.free.remove(&offset)?;
        if free.held {
            self.held_bytes -= free.len;
        }
        Some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(serial: u64) -> SlabKey {
        SlabKey { lane: 0, depth: serial, serial }
    }

    #[test]
    fn slots_never_overlap_and_are_reused() {
        let mut slots = Slots::new(None);
        let mut live: Vec<(u64, u64, u64)> = Vec::new();
        let mut state = 1_u64;
        for serial in 0..5000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if live.len() > 50 || (state >> 33).is_multiple_of(3) {
                if !live.is_empty() {
                    let gone = live.swap_remove((state >> 40) as usize % live.len());
                    slots.release(key(gone.2));
                    if let Some((offset, len)) = slots.take_held(8192) {
                        slots.put_bare(offset, len);
                    }
                }
                continue;
            }
            let bytes = 4096 * (1 + (state >> 50) % 5);
            let offset = slots.take(key(serial), bytes).unwrap().offset;
            for &(other, len, _) in &live {
                assert!(offset + bytes <= other || other + len <= offset, "slots overlap");
            }
            live.push((offset, bytes, serial));
            assert_eq!(slots.live_bytes(), live.iter().map(|slot| slot.1).sum::<u64>());
        }
        assert!(slots.end < 8 << 20, "free slots were not reused: {}", slots.end);
    }

    #[test]
    fn the_limit_counts_what_is_stored() {
        let mut slots = Slots::new(Some(8192));
        slots.take(key(0), 4096).unwrap();
        slots.take(key(1), 4096).unwrap();
        assert!(matches!(slots.take(key(2), 4096), Err(TierError::Full { limit: Some(8192), .. })));
        slots.release(key(0));
        assert_eq!(slots.take(key(3), 4096).unwrap().offset, 0);
    }

    #[test]
    fn held_space_can_be_taken_piece_by_piece() {
        let mut slots = Slots::new(None);
        slots.take(key(0), 1 << 20).unwrap();
        slots.take(key(1), 1 << 20).unwrap();
        slots.release(key(1));
        slots.release(key(0));
        let mut bytes = 0;
        while let Some((offset, len)) = slots.take_held(300 << 10) {
            slots.put_bare(offset, len);
            bytes += len;
        }
        assert_eq!((bytes, slots.held_bytes()), (slots.end, 0));
        assert_eq!(slots.free.len(), 1, "the pieces join again");
        assert!(slots.take(key(2), 2 << 20).unwrap().growth.is_none());
    }

    #[test]
    fn a_failed_growth_leaves_no_trace() {
        let mut slots = Slots::new(None);
        let slot = slots.take(key(0), 4096).unwrap();
        slots.undo_growth(key(0), slot.growth.unwrap().from);
        assert_eq!((slots.end, slots.live_bytes(), slots.free.len()), (0, 0, 0));
    }
}
