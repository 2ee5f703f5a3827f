//! Slabs move only when they must: going up and down within the budget costs no I/O, and a slab
//! that did not change is not written again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::sync::Arc;

use common::{CountingTier, Dice, PAGE, Setup, wait_until};
use stratape_tape::tier::{MemoryTier, StackedTier, Tier};
use stratape_tape::{LayeredTape, RecordTape, TapeOptions};

/// Elements in a slab.
const PER_SLAB: usize = 8;

type Counted = Arc<CountingTier<MemoryTier>>;

fn counted() -> Counted {
    Arc::new(CountingTier::new(MemoryTier::new()))
}

fn options(tier: &Counted, slabs: usize, in_flight: usize) -> TapeOptions {
    TapeOptions::new()
        .tier(Arc::clone(tier) as Arc<dyn Tier>)
        .slab_bytes(PER_SLAB * size_of::<u64>())
        .memory(slabs * PAGE)
        .in_flight(in_flight)
}

fn push_slabs(tape: &mut LayeredTape<u64>, slabs: usize) {
    for _ in 0..slabs * PER_SLAB {
        tape.push(tape.len() as u64).unwrap();
    }
}

fn pop_slabs(tape: &mut LayeredTape<u64>, slabs: usize) {
    for _ in 0..slabs * PER_SLAB {
        let value = tape.pop().unwrap();
        assert_eq!(value, Some(tape.len() as u64));
    }
}

/// Writes and reads so far, with everything the tape has asked for done: errands are carried out
/// in order, so when a read of the deepest slab has come back, all before it are through. Gives
/// the counts without that read.
fn settled_counts(tape: &mut LayeredTape<u64>, tier: &Counted) -> (u64, u64) {
    // Both far below the part in use; one of them is not in RAM, since RAM cannot hold them all.
    let reads = tier.reads();
    let mut probe = 0;
    while tier.reads() == reads {
        assert_eq!(tape.get(probe * PER_SLAB).unwrap(), Some((probe * PER_SLAB) as u64));
        probe += 1;
    }
    (tier.writes(), tier.reads())
}

#[test]
fn swinging_within_the_budget_moves_nothing() {
    let tier = counted();
    let (slabs, in_flight) = (16, 2);
    let mut tape: LayeredTape<u64> = options(&tier, slabs, in_flight).open().unwrap();
    push_slabs(&mut tape, 60);
    // What is kept written below, and read ahead, does not take part in the swing.
    let swing = slabs - 2 * in_flight - 1;
    // How much is written in the first swings depends on how far the background thread has come.
    for _ in 0..5 {
        pop_slabs(&mut tape, swing);
        push_slabs(&mut tape, swing);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let before = settled_counts(&mut tape, &tier);
    pop_slabs(&mut tape, swing);
    push_slabs(&mut tape, swing);
    let mut dice = Dice::new(1);
    for _ in 0..300 {
        let down = 1 + dice.below(swing - 1);
        pop_slabs(&mut tape, down);
        push_slabs(&mut tape, down);
    }
    let moving = tape.stats().slabs_moving;
    let after = (tier.writes(), tier.reads());
    assert_eq!((after, moving), (before, 0));
}

#[test]
fn swinging_by_single_elements_over_a_boundary_moves_nothing() {
    let tier = counted();
    let mut tape: LayeredTape<u64> = options(&tier, 4, 1).open().unwrap();
    push_slabs(&mut tape, 20);
    step_over_the_boundary(&mut tape);
    wait_until("the tape is at rest", || {
        tape.shrink_to_fit();
        tape.stats().slabs_moving == 0
    });
    let before = (tier.writes(), tier.reads());
    for _ in 0..5000 {
        step_over_the_boundary(&mut tape);
    }
    assert_eq!((tier.writes(), tier.reads()), before);
    pop_slabs(&mut tape, 20);
}

fn step_over_the_boundary(tape: &mut LayeredTape<u64>) {
    tape.push(0).unwrap();
    tape.push(0).unwrap();
    tape.pop().unwrap();
    tape.pop().unwrap();
    let top = tape.pop().unwrap().unwrap();
    tape.push(top).unwrap();
}

#[test]
fn rewinding_to_a_slab_boundary_touches_no_slab_below() {
    let tier = counted();
    let mut tape: LayeredTape<u64> = options(&tier, 8, 2).open().unwrap();
    let base = 20;
    push_slabs(&mut tape, base);
    let mark = tape.mark();
    // More than the budget each time, so that every slab below is pushed out.
    for _ in 0..50 {
        push_slabs(&mut tape, 12);
        tape.rewind(mark).unwrap();
    }
    for (depth, (writes, reads)) in tier.by_depth() {
        assert_eq!(reads, 0, "slab {depth} was read");
        if depth < base as u64 {
            assert!(writes <= 1, "slab {depth} was written {writes} times");
        }
    }
    // Less than the budget: once the slabs below are out of the way, nothing at all.
    push_slabs(&mut tape, 3);
    tape.rewind(mark).unwrap();
    let before = settled_counts(&mut tape, &tier);
    for _ in 0..3000 {
        push_slabs(&mut tape, 3);
        tape.rewind(mark).unwrap();
    }
    assert_eq!((tier.writes(), tier.reads()), before);
    pop_slabs(&mut tape, base);
    assert!(tape.is_empty());
}

#[test]
fn records_rewound_to_a_mark_touch_no_slab_below() {
    let tier = counted();
    let mut tape: RecordTape = options(&tier, 8, 2).open_records().unwrap();
    for i in 0..20 * PER_SLAB as u64 {
        tape.push(i).unwrap();
    }
    let mark = tape.mark();
    for round in 0..1000 {
        for i in 0..3 * PER_SLAB as u64 {
            tape.push(round + i).unwrap();
        }
        tape.rewind(mark).unwrap();
    }
    for (depth, (writes, reads)) in tier.by_depth() {
        assert!(reads == 0 && writes <= 1, "slab {depth}: {writes} writes, {reads} reads");
    }
    for i in (0..20 * PER_SLAB as u64).rev() {
        assert_eq!(tape.pop::<u64>().unwrap(), i);
    }
}

#[test]
fn a_slab_that_was_only_looked_at_is_written_once() {
    let tier = counted();
    let mut tape: LayeredTape<u64> = options(&tier, 5, 2).open().unwrap();
    push_slabs(&mut tape, 30);
    let mut dice = Dice::new(2);
    for _ in 0..500 {
        let index = dice.below(tape.len());
        assert_eq!(tape.get(index).unwrap(), Some(index as u64));
    }
    for value in tape.iter().enumerate() {
        assert_eq!(value.1.unwrap(), value.0 as u64);
    }
    let by_depth = tier.by_depth();
    assert!(by_depth.values().all(|&(writes, _)| writes == 1), "{by_depth:?}");
    let most_read = by_depth.values().map(|&(_, reads)| reads).max();
    assert!(most_read > Some(1), "no slab was evicted twice: {by_depth:?}");
}

#[test]
fn looking_at_the_top_does_not_make_its_slab_dirty() {
    let tier = counted();
    let mut tape: LayeredTape<u64> = options(&tier, 4, 1).open().unwrap();
    push_slabs(&mut tape, 10);
    tape.push(80).unwrap();
    tape.pop().unwrap();
    for _ in 0..100 {
        assert_eq!(tape.last().unwrap(), Some(79));
    }
    push_slabs(&mut tape, 10);
    pop_slabs(&mut tape, 20);
    let by_depth = tier.by_depth();
    assert!(by_depth.values().all(|&(writes, _)| writes == 1), "{by_depth:?}");
}

#[test]
fn one_sweep_writes_and_reads_a_slab_at_most_once() {
    for slabs in [2, 3, 4, 8, 16] {
        for in_flight in [1, 2, 8] {
            let tier = counted();
            let mut tape: LayeredTape<u64> = options(&tier, slabs, in_flight).open().unwrap();
            push_slabs(&mut tape, 100);
            pop_slabs(&mut tape, 100);
            assert!(tape.is_empty());
            let by_depth = tier.by_depth();
            assert!(by_depth.len() >= 100 - slabs, "{slabs} slabs: too few were spilled");
            for (depth, (writes, reads)) in by_depth {
                assert!(
                    writes <= 1 && reads <= 1,
                    "{slabs} slabs, {in_flight} in flight: slab {depth} was written {writes} and \
                     read {reads} times"
                );
            }
        }
    }
}

#[test]
fn a_tape_that_fits_never_touches_the_tier() {
    let tier = counted();
    let mut tape: LayeredTape<u64> = options(&tier, 16, 2).open().unwrap();
    for _ in 0..20 {
        push_slabs(&mut tape, 13);
        pop_slabs(&mut tape, 13);
    }
    assert_eq!((tier.writes(), tier.reads()), (0, 0));
}

#[test]
fn nothing_is_left_below_an_empty_tape() {
    let directory = tempfile::tempdir().unwrap();
    for setup in [Setup::Memory, Setup::Stacked, Setup::Threads, Setup::Auto] {
        let options = setup.options(directory.path());
        let options = options.slab_bytes(PER_SLAB * 8).memory(4 * PAGE);
        let mut tape: LayeredTape<u64> = options.clone().open().unwrap();
        push_slabs(&mut tape, 50);
        wait_until("something is stored", || tape.stats().tier_bytes > 0);
        pop_slabs(&mut tape, 50);
        wait_until("all was forgotten", || tape.stats().tier_bytes == 0);

        push_slabs(&mut tape, 50);
        tape.clear();
        wait_until("all was forgotten after clear", || {
            tape.shrink_to_fit();
            tape.stats().tier_bytes == 0
        });

        push_slabs(&mut tape, 50);
        tape.truncate(7).unwrap();
        wait_until("all was forgotten after truncate", || {
            tape.shrink_to_fit();
            tape.stats().tier_bytes == 0
        });
        pop_slabs_partly(&mut tape, 7);
        assert!(tape.is_empty());
    }
}

fn pop_slabs_partly(tape: &mut LayeredTape<u64>, elements: usize) {
    for _ in 0..elements {
        let value = tape.pop().unwrap();
        assert_eq!(value, Some(tape.len() as u64));
    }
}

/// A tape on a tier of the user's once left its slabs there when it was dropped, since it relied
/// on the tier going away with it.
#[test]
fn a_dropped_tape_leaves_nothing_in_a_tier_that_stays() {
    let memory: Arc<dyn Tier> = Arc::new(MemoryTier::new());
    let lower: Arc<dyn Tier> = Arc::new(MemoryTier::new());
    let upper: Arc<dyn Tier> = Arc::new(MemoryTier::new());
    let stacked = StackedTier::new(Arc::clone(&upper), 2 * PAGE as u64, Arc::clone(&lower));
    let stacked: Arc<dyn Tier> = Arc::new(stacked);
    for (tier, watched) in [(memory.clone(), vec![memory]), (stacked, vec![upper, lower])] {
        let options = TapeOptions::new().tier(tier).slab_bytes(PER_SLAB * 8).memory(4 * PAGE);
        let mut tape: LayeredTape<u64> = options.open().unwrap();
        push_slabs(&mut tape, 50);
        drop(tape);
        wait_until("the tape's slabs were forgotten", || {
            watched.iter().all(|tier| tier.stored_bytes() == 0)
        });
    }
}

/// Tapes opened one by one on the same tier once used the same keys, and read each other's slabs.
#[test]
fn two_tapes_can_share_a_tier() {
    let tier = counted();
    let mut one: LayeredTape<u64> = options(&tier, 4, 2).open().unwrap();
    let mut two: LayeredTape<u64> = options(&tier, 4, 2).checksum(false).open().unwrap();
    for i in 0..400_u64 {
        one.push(i).unwrap();
        two.push(!i).unwrap();
    }
    for i in (0..400_u64).rev() {
        assert_eq!(one.pop().unwrap(), Some(i));
        assert_eq!(two.pop().unwrap(), Some(!i));
    }
    wait_until("all was forgotten", || tier.stored_bytes() == 0);
}
