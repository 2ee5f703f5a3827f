//! Blocks in a stash: every order of operations, and faults, against a map.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;

use common::wait_until;
use proptest::prelude::*;
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation, SlabKey, Tier};
use stratape_tape::{Stash, Stored, TapeOptions, Ticket};

fn put(stash: &mut Stash, number: u8, len: usize) -> Ticket {
    let mut block = stash.block(len).unwrap();
    block.bytes_mut()[..len].fill(number);
    stash.put(u64::from(number), block, len)
}

fn check(stash: &mut Stash, ticket: Ticket, number: u8, len: usize) {
    let block = stash.take(ticket).unwrap();
    assert!(block.bytes()[..len].iter().all(|byte| *byte == number));
    stash.recycle(block);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn holds_what_it_was_given(operations in prop::collection::vec((0_u8..5, any::<u8>(), 1_usize..200_000), 1..80), disk: bool) {
        let options = TapeOptions::new();
        let options = if disk { options } else { options.tier(Arc::new(MemoryTier::new())) };
        let mut stash = Stash::open(&options).unwrap();
        let mut model: HashMap<Ticket, (u8, usize)> = HashMap::new();
        for (operation, number, len) in operations {
            let chosen = model.keys().copied().min_by_key(|ticket| (*ticket, number)).filter(|_| number % 3 > 0)
                .or_else(|| model.keys().copied().max());
            match (operation, chosen) {
                (1, Some(ticket)) => stash.fetch(ticket),
                (2 | 3, Some(ticket)) => {
                    let (number, len) = model[&ticket];
                    check(&mut stash, ticket, number, len);
                }
                (4, Some(ticket)) => {
                    model.remove(&ticket);
                    stash.forget(ticket);
                    prop_assert!(stash.take(ticket).is_err());
                }
                _ => {
                    model.insert(put(&mut stash, number, len), (number, len));
                }
            }
        }
        for (ticket, (number, len)) in model {
            check(&mut stash, ticket, number, len);
            stash.forget(ticket);
        }
        while stash.wait() > std::time::Duration::ZERO {}
        prop_assert_eq!(stash.stats().resident, 0);
        prop_assert_eq!(stash.stats().writing, 0);
    }
}

#[test]
fn what_cannot_be_written_stays_in_memory() {
    let tier = FaultyTier::new(MemoryTier::new(), |number, operation| match (number, operation) {
        (1, Operation::Write) => Fault::Fail(ErrorKind::StorageFull),
        _ => Fault::Pass,
    });
    let mut stash = Stash::open(&TapeOptions::new().tier(Arc::new(tier))).unwrap();
    let tickets: Vec<Ticket> = (0..3).map(|number| put(&mut stash, number, 5000)).collect();
    for (number, ticket) in (0..).zip(&tickets) {
        check(&mut stash, *ticket, number, 5000);
        check(&mut stash, *ticket, number, 5000);
    }
    let unwritten: Vec<bool> = tickets.iter().map(|ticket| stash.is_unwritten(*ticket)).collect();
    assert_eq!(unwritten, [false, true, false]);
    assert_eq!(stash.stats().failed_writes, 1);
}

#[test]
fn damage_is_reported_and_the_next_try_may_work() {
    let tier = FaultyTier::new(MemoryTier::new(), |number, operation| match (number, operation) {
        (1, Operation::Read) => Fault::FlipBit,
        _ => Fault::Pass,
    });
    let mut stash = Stash::open(&TapeOptions::new().tier(Arc::new(tier))).unwrap();
    let ticket = put(&mut stash, 7, 10_000);
    // One that is still being written would be kept, and not read.
    stash.settle();
    assert!(stash.take(ticket).unwrap_err().to_string().contains("damaged"));
    check(&mut stash, ticket, 7, 10_000);
}

#[test]
fn what_is_still_on_its_way_does_not_stay_in_the_tier() {
    let tier = Arc::new(FaultyTier::new(MemoryTier::new(), |_, _| Fault::Hold));
    let mut stash = Stash::open(&TapeOptions::new().tier(tier.clone())).unwrap();
    let given_up = put(&mut stash, 1, 10_000);
    put(&mut stash, 2, 10_000);
    wait_until("both are being written", || tier.operations() == 2);
    stash.forget(given_up);
    drop(stash);
    tier.release();
    wait_until("nothing is stored", || tier.stored_bytes() == 0);
}

/// Such sizes, from a file that says where blocks lie, once wrapped around to a small block, and the check of its
/// checksum reached past the end of it.
#[test]
fn a_block_of_a_size_that_cannot_be() {
    for used in [usize::MAX, usize::MAX / 2, isize::MAX as usize - 1] {
        let options = TapeOptions::new().tier(Arc::new(MemoryTier::new()));
        let mut stash = Stash::open(&options).unwrap();
        let key = SlabKey { lane: 0, depth: 0, serial: u64::MAX };
        let ticket = stash.adopt(Stored { key, used, checksum: 0 });
        assert!(stash.take(ticket).is_err());
        assert!(stash.take(ticket).is_err());
        let other = put(&mut stash, 7, 100);
        check(&mut stash, other, 7, 100);
    }
}
