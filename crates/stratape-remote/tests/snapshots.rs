//! Time loops whose snapshots are objects: the same bits as without, whatever the store does.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::sync::Arc;

use common::oscillators::{State, plain, pullback, seed, start, step};
use common::{Request, Trouble, Troubled, hasty, objects, on_every_store};
use stratape_checkpoint::{CheckpointError, Report, Strategy, TimeLoop};
use stratape_remote::{RemoteStore, RemoteTier};
use stratape_tape::tier::Tier;

const STEPS: usize = 150;

type Outcome = Result<(State, State, Report), CheckpointError>;

fn on(store: RemoteStore, memory: usize) -> Outcome {
    TimeLoop::new(start())
        .steps(STEPS)
        .slots(memory)
        .store(store, 8)
        .schedule(Strategy::Multistage)
        .gradient(step, seed, pullback)
}

#[test]
fn the_same_bits_as_without() {
    let expected = plain(STEPS);
    on_every_store(|url| {
        let (last, dx, report) = on(RemoteStore::open_with(url, hasty()).unwrap(), 2).unwrap();
        assert_eq!((&last, &dx), (&expected.0, &expected.1));
        assert!(report.writes[1] > 0 && report.bytes_written > 0 && report.mended.is_empty());
        assert!(report.tier.starts_with("object store"), "{report}");

        // As a tier of the loop itself.
        let tier = Arc::new(RemoteTier::open_with(url, hasty()).unwrap());
        let (last, dx, report) = TimeLoop::new(start())
            .steps(STEPS)
            .slots(2)
            .disk_slots("", 8)
            .tier(Arc::clone(&tier) as Arc<dyn Tier>)
            .schedule(Strategy::Multistage)
            .gradient(step, seed, pullback)
            .unwrap();
        assert_eq!((&last, &dx), (&expected.0, &expected.1));
        assert!(report.writes[1] > 0);
        tier.close().unwrap();
    });
}

#[test]
fn no_object_is_left() {
    let store = Troubled::new(|_, _, _| Trouble::None);
    on(RemoteStore::on(store.tier(hasty())).unwrap(), 2).unwrap();
    assert_eq!(objects(&store.below), Vec::<String>::new());
}

#[test]
fn a_store_in_trouble_costs_time_and_not_the_gradient() {
    let expected = plain(STEPS);
    let troubles = [
        Trouble::Fail,
        Trouble::Refuse,
        Trouble::WrongBytes,
        Trouble::CutOff,
        Trouble::Shorter,
        Trouble::NotThere,
        Trouble::Swapped,
        Trouble::Swallow,
        Trouble::Panic,
    ];
    let mut lost = 0;
    for trouble in troubles {
        for (every, first) in [(3, 0), (2, 1), (1, 0)] {
            let store = Troubled::new(move |number, request, _| match request {
                Request::Put | Request::Get if number % every == first => trouble,
                _ => Trouble::None,
            });
            let remote = RemoteStore::on(store.tier(hasty().attempts(2))).unwrap();
            match on(remote, 2) {
                Ok((last, dx, _)) => {
                    assert_eq!((&last, &dx), (&expected.0, &expected.1), "{trouble:?}/{every}");
                }
                // The first state is a snapshot as well; if it is gone there is nothing to begin from.
                Err(CheckpointError::Lost { .. }) => lost += 1,
                Err(error) => panic!("{trouble:?}/{every}: {error}"),
            }
        }
    }
    assert!(lost <= 12, "{lost} of 27 gradients were lost");
}
