//! Stores that are slow, fail, and lie: every number that comes back is the one that was pushed, or an error says that it cannot be had.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Request, Trouble, Troubled, hasty, objects, wait_until};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use stratape_remote::{RemoteError, RemoteTier};
use stratape_tape::tier::{Tier, TierError};
use stratape_tape::{ErrorKind, LayeredTape, TapeError, TapeOptions};

const SLAB: usize = 16 << 10;
const PUSHED: u64 = 40 * SLAB as u64 / 8;

fn options(tier: &Arc<RemoteTier>) -> TapeOptions {
    let tier = Arc::clone(tier) as Arc<dyn Tier>;
    TapeOptions::new().memory(8 * SLAB).slab_bytes(SLAB).tier(tier)
}

fn value(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn push_all(tape: &mut LayeredTape<u64>) {
    for i in tape.len() as u64..PUSHED {
        tape.push(value(i)).unwrap();
    }
}

/// Pops until there is nothing more, or an error.
fn pop_all(tape: &mut LayeredTape<u64>) -> Result<(), TapeError> {
    while let Some(found) = tape.pop()? {
        assert_eq!(found, value(tape.len() as u64), "a wrong number");
    }
    Ok(())
}

#[test]
fn failures_that_pass_are_not_seen() {
    for every in [2, 3, 7] {
        let store = Troubled::new(move |number, request, _| match request {
            Request::List => Trouble::None,
            _ if number % every == 0 => Trouble::Fail,
            _ => Trouble::None,
        });
        let tier = Arc::new(store.tier(hasty().attempts(12)));
        let mut tape = options(&tier).open().unwrap();
        push_all(&mut tape);
        pop_all(&mut tape).unwrap();
        let stats = tier.stats();
        assert!(stats.retries > 5 && stats.failures == 0, "{stats}");
        assert!(tape.stats().tier.contains(" retries"), "{}", tape.stats());
        drop(tape);
        tier.close().unwrap();
        assert!(objects(&store.below).is_empty());
    }
}

#[test]
fn a_request_that_was_done_and_not_answered_is_made_again() {
    let store = Troubled::new(|number, _, _| match number % 3 {
        0 => Trouble::FailAfter,
        _ => Trouble::None,
    });
    let tier = Arc::new(store.tier(hasty()));
    let mut tape = options(&tier).open().unwrap();
    push_all(&mut tape);
    pop_all(&mut tape).unwrap();
}

#[test]
fn a_store_that_takes_nothing_more_ends_pushing_and_loses_nothing() {
    let broken = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&broken);
    let store = Troubled::new(move |_, request, _| match request {
        Request::Put if seen.load(Ordering::SeqCst) => Trouble::Fail,
        _ => Trouble::None,
    });
    let tier = Arc::new(store.tier(hasty().attempts(3)));
    let mut tape = options(&tier).open().unwrap();
    for i in 0..PUSHED / 2 {
        tape.push(value(i)).unwrap();
    }
    broken.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    let error = loop {
        if let Err(error) = tape.push(value(tape.len() as u64)) {
            break error;
        }
    };
    assert!(begun.elapsed() < Duration::from_secs(10), "the number of attempts is bounded");
    assert!(matches!(error.kind(), ErrorKind::Spill { .. }), "{error:#?}");
    assert!(error.to_string().contains("after 3 attempts"), "{error}");
    let here = tape.len() as u64;
    // The first push after the fault may be the one that is told of it.
    assert!((PUSHED / 2..PUSHED).contains(&here), "{here}");
    // Mended, it goes on where it was.
    broken.store(false, Ordering::SeqCst);
    push_all(&mut tape);
    pop_all(&mut tape).unwrap();
}

#[test]
fn a_store_that_gives_nothing_back_is_an_error_and_can_be_asked_again() {
    let broken = Arc::new(AtomicBool::new(true));
    for trouble in [Trouble::Fail, Trouble::Refuse, Trouble::NotThere] {
        broken.store(true, Ordering::SeqCst);
        let seen = Arc::clone(&broken);
        let store = Troubled::new(move |_, request, _| match request {
            Request::Get if seen.load(Ordering::SeqCst) => trouble,
            _ => Trouble::None,
        });
        let tier = Arc::new(store.tier(hasty().attempts(3)));
        let mut tape = options(&tier).open().unwrap();
        push_all(&mut tape);
        let error = pop_all(&mut tape).unwrap_err();
        let ErrorKind::Fetch { source, .. } = error.kind() else { panic!("{error:#?}") };
        match trouble {
            Trouble::NotThere => assert!(matches!(source, TierError::Missing(_)), "{source}"),
            Trouble::Refuse => assert!(source.to_string().contains("after 1 attempt:"), "{source}"),
            _ => assert!(source.to_string().contains("after 3 attempts"), "{source}"),
        }
        broken.store(false, Ordering::SeqCst);
        pop_all(&mut tape).unwrap();
    }
}

#[test]
fn lies_are_found_out() {
    let lies = [
        Trouble::WrongBytes,
        Trouble::CutOff,
        Trouble::Shorter,
        Trouble::Longer,
        Trouble::Overflow,
        Trouble::NotThere,
        Trouble::Swapped,
    ];
    for lie in lies {
        for every in [1, 3] {
            let lying = Arc::new(AtomicBool::new(true));
            let seen = Arc::clone(&lying);
            let store = Troubled::new(move |number, request, _| match request {
                Request::Get if number % every == 0 && seen.load(Ordering::SeqCst) => lie,
                _ => Trouble::None,
            });
            let tier = Arc::new(store.tier(hasty().attempts(2)));
            let mut tape = options(&tier).open().unwrap();
            push_all(&mut tape);
            let mut errors = 0;
            while let Err(error) = pop_all(&mut tape) {
                assert!(matches!(error.kind(), ErrorKind::Fetch { .. }), "{lie:?}: {error:#?}");
                errors += 1;
                if errors == 5 {
                    lying.store(false, Ordering::SeqCst);
                }
            }
            // A part that is missing, or too much, is asked for again by the tier itself.
            let noticed = tier.stats().retries > 0 || tape.stats().failed_reads > 0;
            assert!(noticed && (errors > 0 || every > 1), "{lie:?}: {errors} errors");
        }
    }
}

#[test]
fn objects_that_were_never_stored_are_missed() {
    let store = Troubled::new(|number, request, _| match request {
        Request::Put if number % 5 == 4 => Trouble::Swallow,
        _ => Trouble::None,
    });
    let tier = Arc::new(store.tier(hasty()));
    let mut tape = options(&tier).open().unwrap();
    push_all(&mut tape);
    let error = pop_all(&mut tape).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Fetch { source: TierError::Missing(_), .. }),
        "{error:#?}"
    );
}

#[test]
fn stale_objects_are_found_out() {
    let store = Troubled::new(|_, _, _| Trouble::None);
    let tier = Arc::new(store.tier(hasty()));
    let mut tape = options(&tier).open().unwrap();
    push_all(&mut tape);
    wait_until("all that is to be written is written", || tier.stats().in_flight == 0);
    // Every object is replaced by what another one held.
    let names = store.slabs();
    let first = common::wait(async {
        store.below.get(&names[0].as_str().into()).await.unwrap().bytes().await.unwrap()
    });
    for name in &names[1..] {
        common::wait(store.below.put(&name.as_str().into(), first.clone().into())).unwrap();
    }
    let error = pop_all(&mut tape).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Fetch { source: TierError::Damaged { .. }, .. }),
        "{error:#?}"
    );
}

#[test]
fn a_store_that_hangs_is_given_up_and_asked_again() {
    let store = Troubled::new(|number, request, _| match request {
        Request::Put | Request::Get if number % 4 == 1 => Trouble::Hang,
        _ => Trouble::None,
    });
    let tier = Arc::new(store.tier(hasty().request_timeout(Duration::from_millis(50))));
    let mut tape = options(&tier).open().unwrap();
    push_all(&mut tape);
    pop_all(&mut tape).unwrap();
    assert!(tier.stats().retries > 0);
}

#[test]
fn a_client_that_panics_has_failed() {
    for every in [3, 1] {
        let store = Troubled::new(move |number, request, _| match request {
            Request::Put | Request::Get if number % every == 0 => Trouble::Panic,
            _ => Trouble::None,
        });
        let tier = Arc::new(store.tier(hasty().attempts(4)));
        let mut tape = options(&tier).open::<u64>().unwrap();
        if every > 1 {
            push_all(&mut tape);
            pop_all(&mut tape).unwrap();
            assert!(tier.stats().retries > 0);
        } else {
            while tape.push(value(tape.len() as u64)).is_ok() {}
            assert_eq!(tape.stats().slabs_lost, 0);
            pop_all(&mut tape).unwrap();
        }
        drop(tape);
        tier.close().unwrap();
    }
}

#[test]
fn a_slow_store_is_asked_for_many_slabs_at_once() {
    const LATENCY: Duration = Duration::from_millis(20);
    let store = Troubled::new(|_, request, _| match request {
        Request::Put | Request::Get => Trouble::Delay(LATENCY),
        _ => Trouble::None,
    });
    for in_flight in [3, 32] {
        let tier = Arc::new(store.tier(hasty().in_flight(in_flight)));
        let mut tape = options(&tier).memory(64 * SLAB).open::<u64>().unwrap();
        let slabs = 160;
        let begun = Instant::now();
        for i in 0..slabs * SLAB as u64 / 8 {
            tape.push(value(i)).unwrap();
        }
        pop_all(&mut tape).unwrap();
        let stats = tier.stats();
        assert!(stats.in_flight_peak <= in_flight as u64 && stats.in_flight_peak >= 3, "{stats}");
        let alone = LATENCY * (stats.objects_written + stats.objects_read) as u32;
        assert!(
            begun.elapsed() < alone * 2 / 3,
            "{:?} where {alone:?} one by one",
            begun.elapsed()
        );
    }
}

#[test]
fn a_client_that_keeps_what_it_is_handed_gets_copies() {
    // Without checksums the tape takes no other block than its own back.
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let tier = Arc::new(RemoteTier::on(store, "kept", hasty()).unwrap());
    let mut tape = options(&tier).checksum(false).open().unwrap();
    push_all(&mut tape);
    assert_eq!(tape.stats().slabs_lost, 0);
    pop_all(&mut tape).unwrap();
}

#[test]
fn deletions_are_tried_again_and_what_is_left_is_told() {
    for (trouble, every) in [(Trouble::Fail, 2), (Trouble::Swallow, 2), (Trouble::Fail, 1)] {
        let store = Troubled::new(move |number, request, _| match request {
            Request::Delete if number % every == 0 => trouble,
            _ => Trouble::None,
        });
        let tier = Arc::new(store.tier(hasty().attempts(3)));
        let mut tape = options(&tier).open().unwrap();
        push_all(&mut tape);
        pop_all(&mut tape).unwrap();
        drop(tape);
        let closed = tier.close();
        if every == 1 {
            assert!(matches!(closed, Err(RemoteError::Left { objects, .. }) if objects > 0));
            assert!(closed.unwrap_err().to_string().contains("sweep"));
        } else {
            closed.unwrap();
            assert!(objects(&store.below).is_empty());
        }
    }
}

#[test]
fn closing_does_not_wait_for_ever() {
    let store = Troubled::new(|_, request, _| match request {
        Request::List => Trouble::Hang,
        _ => Trouble::None,
    });
    let tier = store.tier(hasty().closing(Duration::from_millis(200)));
    let begun = Instant::now();
    assert!(matches!(tier.close(), Err(RemoteError::Silent { .. })));
    drop(tier);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn dropped_at_any_moment_nothing_is_left() {
    let store = Troubled::new(|_, request, _| match request {
        Request::Put | Request::Get => Trouble::Delay(Duration::from_millis(2)),
        _ => Trouble::None,
    });
    for round in 0..12_u64 {
        let tier = Arc::new(store.tier(hasty()));
        let mut tape = options(&tier).open::<u64>().unwrap();
        for i in 0..PUSHED * (round + 1) / 12 {
            tape.push(value(i)).unwrap();
        }
        for _ in 0..tape.len() / 3 {
            tape.pop().unwrap();
        }
        // The last handle may be dropped by a callback, on the thread of the tier itself.
        if round % 2 == 0 {
            drop(tier);
            drop(tape);
        } else {
            drop(tape);
            drop(tier);
        }
    }
    wait_until("all objects are deleted", || objects(&store.below).is_empty());
}

#[test]
fn what_cannot_be_opened_says_why() {
    let refused = Troubled::new(|_, _, _| Trouble::None);
    let zero = RemoteTier::on(refused, "x", hasty().in_flight(0)).unwrap_err();
    assert!(zero.to_string().contains("in flight"), "{zero}");
    let error = RemoteTier::open("file:///proc/nothing/here").unwrap_err();
    assert!(matches!(error, RemoteError::Store { .. }), "{error}");
    for url in ["", "bucket/prefix", "http://host/x", "ftp://host/x"] {
        assert!(matches!(RemoteTier::open(url), Err(RemoteError::Url { .. })), "{url}");
    }
}
