//! A budget that is lowered takes effect as the tape goes on, and one that is raised at once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::sync::Arc;

use common::{PAGE, wait_until};
use stratape_tape::tier::MemoryTier;
use stratape_tape::{LayeredTape, Pool, TapeOptions};

const PER_SLAB: u64 = 8;

fn tape(pages: usize, pool: &Pool) -> LayeredTape<u64> {
    TapeOptions::new()
        .tier(Arc::new(MemoryTier::new()))
        .pool(pool)
        .slab_bytes(PER_SLAB as usize * size_of::<u64>())
        .memory(pages * PAGE)
        .open()
        .unwrap()
}

#[test]
fn a_lower_budget_takes_effect_on_the_way_up() {
    let mut tape = tape(20, &Pool::new(0));
    (0..30 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    assert!(tape.stats().resident > 15 * PAGE as u64);
    tape.set_memory(4 * PAGE).unwrap();
    (30 * PER_SLAB..32 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    assert!(tape.stats().resident <= 4 * PAGE as u64, "{}", tape.stats());
    (0..32 * PER_SLAB).rev().for_each(|i| assert_eq!(tape.pop().unwrap(), Some(i)));
}

#[test]
fn a_lower_budget_takes_effect_on_the_way_down() {
    let mut tape = tape(20, &Pool::new(0));
    (0..60 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    tape.set_memory(4 * PAGE).unwrap();
    // Down to slabs that have to be read: those must not add to what is too much already.
    for i in (10 * PER_SLAB..60 * PER_SLAB).rev() {
        assert_eq!(tape.pop().unwrap(), Some(i));
    }
    assert!(tape.stats().resident <= 4 * PAGE as u64, "{}", tape.stats());
}

#[test]
fn a_higher_budget_takes_effect_at_once() {
    let mut tape = tape(2, &Pool::new(0));
    (0..10 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    let spilled = tape.stats().slabs_spilled;
    tape.set_memory(100 * PAGE).unwrap();
    (0..50 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    // At most what was on its way already.
    assert!(tape.stats().slabs_spilled <= spilled + 1, "{}", tape.stats());
    assert!(tape.stats().resident > 50 * PAGE as u64);
}

#[test]
fn spare_memory_goes_to_the_pool_when_asked_for() {
    let pool = Pool::new(1 << 20);
    let mut tape = tape(20, &pool);
    (0..15 * PER_SLAB).for_each(|i| tape.push(i).unwrap());
    tape.clear();
    assert_eq!(pool.idle_bytes(), 0);
    // Some of it may still be on its way to the tier.
    wait_until("only the slab in use is left", || {
        tape.shrink_to_fit();
        tape.stats().resident == PAGE as u64
    });
    assert_eq!(pool.idle_bytes(), 14 * PAGE);
}
