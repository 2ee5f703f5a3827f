//! Snapshots in stores of the user's: used as the schedule says, and whatever a store does wrong, at whatever call, the gradient is right all the
//! same, or an error says that the first state is lost.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use common::{State, plain, pullback, seed, start, step};
use stratape_checkpoint::store::{
    DiskStore, MemoryStore, SnapshotStore, StoreStats, TierError, missing,
};
use stratape_checkpoint::{CheckpointError, Report, Snapshot, Strategy, TimeLoop, snapshot};
use stratape_tape::TapeOptions;
use stratape_tape::tier::MemoryTier;

const STEPS: usize = 120;
const SLOTS: usize = 8;

fn strategies() -> [Strategy; 3] {
    [
        Strategy::Multistage,
        Strategy::HRevolve { forward: 1.0, backward: 1.0, write: 0.1, read: 0.1 },
        Strategy::Periodic(15),
    ]
}

type Outcome = Result<(State, Vec<f64>, Report), CheckpointError>;

fn on(strategy: Strategy, memory: usize, store: impl SnapshotStore<State> + 'static) -> Outcome {
    TimeLoop::new(start(5))
        .steps(STEPS)
        .slots(memory)
        .store(store, SLOTS)
        .schedule(strategy)
        .gradient(step, seed, pullback)
}

/// What a store has seen.
#[derive(Default)]
struct Log {
    held: BTreeSet<usize>,
    most: usize,
    puts: u64,
    gets: u64,
    prefetched: u64,
    dropped: bool,
}

/// Bytes in a map, and a log that outlives it.
#[derive(Default)]
struct Shelf {
    bytes: BTreeMap<usize, Vec<u8>>,
    log: Arc<Mutex<Log>>,
    announced: BTreeSet<usize>,
}

impl Shelf {
    fn new() -> (Self, Arc<Mutex<Log>>) {
        let shelf = Self::default();
        let log = Arc::clone(&shelf.log);
        (shelf, log)
    }
}

impl<S: Snapshot> SnapshotStore<S> for Shelf {
    fn put(&mut self, step: usize, state: &S) -> Result<(), TierError> {
        assert!(!self.bytes.contains_key(&step), "put twice");
        self.bytes.insert(step, snapshot::to_bytes(state));
        let mut log = self.log.lock().unwrap();
        log.held.insert(step);
        log.most = log.most.max(log.held.len());
        log.puts += 1;
        Ok(())
    }

    fn get(&mut self, step: usize, state: &mut S) -> Result<(), TierError> {
        let mut log = self.log.lock().unwrap();
        log.gets += 1;
        log.prefetched += u64::from(self.announced.remove(&step));
        let bytes = self.bytes.get(&step).ok_or_else(|| missing(step))?;
        snapshot::read_into(state, bytes).map_err(|e| TierError::Undecodable(e.to_string()))
    }

    fn prefetch(&mut self, step: usize) {
        assert!(self.bytes.contains_key(&step), "announced, and not there");
        self.announced.insert(step);
    }

    fn remove(&mut self, step: usize) {
        self.bytes.remove(&step);
        self.log.lock().unwrap().held.remove(&step);
    }

    fn bytes(&self) -> u64 {
        self.bytes.values().map(|bytes| bytes.len() as u64).sum()
    }

    fn describe(&self) -> String {
        "shelf".to_owned()
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.log.lock().unwrap().dropped = true;
    }
}

#[test]
fn a_store_takes_the_place_of_the_disk() {
    let expected = plain(&start(5), STEPS);
    for strategy in strategies() {
        for memory in [1, 3] {
            let (shelf, log) = Shelf::new();
            let (last, adjoint, report) = on(strategy, memory, shelf).unwrap();
            assert_eq!((last, adjoint), expected);
            let log = log.lock().unwrap();
            assert!(log.most <= SLOTS && log.most == report.disk_peak, "{report}");
            assert_eq!((log.puts, log.gets), (report.writes[1], report.reads[1]));
            assert!(log.prefetched > 0 && report.disk_bytes_peak > 0);
            assert!(log.held.is_empty() && log.dropped, "all snapshots are given up in the end");
            assert_eq!(report.tier, "shelf");
            assert!(report.mended.is_empty(), "{report}");

            let disk = TapeOptions::new().tier(Arc::new(MemoryTier::new()));
            let on_disk = on(strategy, memory, DiskStore::open(&disk).unwrap()).unwrap();
            let in_memory = on(strategy, memory, MemoryStore::new()).unwrap();
            assert_eq!((&on_disk.0, &on_disk.1), (&expected.0, &expected.1));
            assert_eq!((&in_memory.0, &in_memory.1), (&expected.0, &expected.1));
            assert_eq!(on_disk.2.writes, in_memory.2.writes);
            assert!(on_disk.2.bytes_written > 0);
        }
    }
}

#[test]
fn every_way_to_run_a_loop() {
    let expected = plain(&start(5), STEPS);
    let of = |store: Shelf| TimeLoop::new(start(5)).slots(2).store(store, SLOTS);
    let shelf = || Shelf::new().0;

    let swept = of(shelf()).steps(STEPS).schedule(Strategy::Multistage).forward(step).unwrap();
    let adjoint = seed(swept.state());
    let (adjoint, report) = swept.reverse(step, adjoint, pullback).unwrap();
    assert_eq!(adjoint, expected.1);
    assert!(report.writes[1] > 0);

    let until = |store| {
        of(store).until(|(_, count)| *count >= STEPS as u64).schedule(Strategy::Periodic(20))
    };
    let (last, adjoint, report) = until(shelf()).gradient(step, seed, pullback).unwrap();
    assert_eq!((last, adjoint), expected);
    assert!(report.writes[1] > 0);

    let (last, adjoint, report) =
        of(shelf()).steps(STEPS).slots(40).gradient_on(2, step, seed, pullback).unwrap();
    assert_eq!((last, adjoint), expected);
    assert_eq!(report.workers, 2);

    // Auto puts a few for measuring, and says what it made of it.
    let (store, log) = Shelf::new();
    let (last, adjoint, report) = of(store).steps(STEPS).gradient(step, seed, pullback).unwrap();
    assert_eq!((last, adjoint), expected);
    assert!(!report.why.is_empty() && log.lock().unwrap().puts >= 2);

    let (last, adjoint, report) = of(shelf())
        .steps(STEPS)
        .schedule(Strategy::Multistage)
        .synchronous(true)
        .check(true)
        .gradient(step, seed, pullback)
        .unwrap();
    assert_eq!((last, adjoint), expected);
    assert!(report.writes[1] > 0);
}

#[test]
fn a_run_to_be_resumed_has_a_store_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let both = TimeLoop::new(start(5))
        .steps(STEPS)
        .store(Shelf::new().0, SLOTS)
        .resume(directory.path().join("run"))
        .gradient(step, seed, pullback);
    let error = both.unwrap_err();
    assert!(matches!(error, CheckpointError::Settings(_)), "{error}");
    assert!(!directory.path().join("run").exists());
}

/// What a store does wrong, from one of its calls on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// Fails, and says so.
    PutFails,
    GetFails,
    /// Accepts, and tells later that it could not be done; the snapshot can still be had, or not.
    RefusesLater,
    RefusesAndLoses,
    /// Throws.
    PutPanics,
    PutPanicsAfterwards,
    GetPanics,
    GetPanicsHalfway,
    EverythingPanics,
    /// Accepts and forgets.
    Forgets,
    /// Brings a state with a bit changed, another state, or none.
    FlipsABit,
    BringsAnother,
    BringsNothing,
    Shortens,
    /// Refuses what it never had.
    RefusesAnything,
    /// Hears nothing when a snapshot is given up.
    KeepsAll,
}

const ALL: [Wrong; 16] = [
    Wrong::PutFails,
    Wrong::GetFails,
    Wrong::RefusesLater,
    Wrong::RefusesAndLoses,
    Wrong::PutPanics,
    Wrong::PutPanicsAfterwards,
    Wrong::GetPanics,
    Wrong::GetPanicsHalfway,
    Wrong::EverythingPanics,
    Wrong::Forgets,
    Wrong::FlipsABit,
    Wrong::BringsAnother,
    Wrong::BringsNothing,
    Wrong::Shortens,
    Wrong::RefusesAnything,
    Wrong::KeepsAll,
];

/// A payload that throws once more when it is dropped.
struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a payload that panics");
        }
    }
}

struct Bad {
    states: BTreeMap<usize, State>,
    wrong: Wrong,
    /// Puts and gets until it begins, and until it ends.
    from: u64,
    to: u64,
    calls: u64,
    refused: Vec<usize>,
    lost: BTreeSet<usize>,
}

impl Bad {
    fn new(wrong: Wrong, from: u64, width: u64) -> Self {
        let states = BTreeMap::new();
        let (refused, lost) = (Vec::new(), BTreeSet::new());
        Self { states, wrong, from, to: from.saturating_add(width), calls: 0, refused, lost }
    }

    fn is_bad(&self) -> bool {
        (self.from..self.to).contains(&self.calls)
    }

    fn may_panic(&self) {
        if self.wrong == Wrong::EverythingPanics && self.is_bad() {
            std::panic::panic_any(Trap);
        }
    }
}

impl SnapshotStore<State> for Bad {
    fn put(&mut self, step: usize, state: &State) -> Result<(), TierError> {
        self.calls += 1;
        self.may_panic();
        match self.wrong {
            Wrong::PutFails if self.is_bad() => {
                return Err(TierError::Io(std::io::Error::other("the device is gone")));
            }
            Wrong::PutPanics if self.is_bad() => panic!("put"),
            Wrong::Forgets if self.is_bad() => return Ok(()),
            Wrong::RefusesLater if self.is_bad() => self.refused.push(step),
            Wrong::RefusesAndLoses if self.is_bad() => {
                self.refused.push(step);
                self.lost.insert(step);
            }
            _ => {}
        }
        self.states.insert(step, state.clone());
        assert!(!(self.wrong == Wrong::PutPanicsAfterwards && self.is_bad()), "put");
        Ok(())
    }

    fn get(&mut self, step: usize, state: &mut State) -> Result<(), TierError> {
        self.calls += 1;
        self.may_panic();
        let is_bad = self.is_bad();
        let stored = self.states.get(&step).filter(|_| !self.lost.contains(&step));
        let stored = stored.ok_or_else(|| missing(step))?;
        match self.wrong {
            Wrong::GetFails if is_bad => {
                return Err(TierError::CutShort { expected: 1, found: 0 });
            }
            Wrong::GetPanics if is_bad => panic!("get"),
            Wrong::GetPanicsHalfway if is_bad => {
                state.0.truncate(2);
                state.1 = 77;
                panic!("get");
            }
            Wrong::BringsNothing if is_bad => return Ok(()),
            Wrong::BringsAnother if is_bad => {
                let other = self.states.values().find(|other| other.1 != stored.1);
                *state = other.cloned().unwrap_or_else(|| start(5));
                return Ok(());
            }
            _ => {}
        }
        state.clone_from(stored);
        if is_bad {
            match self.wrong {
                Wrong::FlipsABit => state.0[3] = f64::from_bits(state.0[3].to_bits() ^ 1),
                Wrong::Shortens => state.0.truncate(4),
                _ => {}
            }
        }
        Ok(())
    }

    fn prefetch(&mut self, _: usize) {
        self.may_panic();
    }

    fn remove(&mut self, step: usize) {
        self.may_panic();
        if self.wrong != Wrong::KeepsAll {
            self.states.remove(&step);
            self.lost.remove(&step);
        }
    }

    fn refused(&mut self) -> Vec<usize> {
        self.may_panic();
        if self.wrong == Wrong::RefusesAnything && self.is_bad() {
            return vec![usize::MAX, 1_000_000, 3];
        }
        std::mem::take(&mut self.refused)
    }

    fn settle(&mut self) {
        self.may_panic();
    }

    fn verifies(&self) -> bool {
        self.may_panic();
        false
    }

    fn bytes(&self) -> u64 {
        self.may_panic();
        self.states.len() as u64
    }

    fn stats(&mut self) -> StoreStats {
        self.may_panic();
        StoreStats::default()
    }

    fn describe(&self) -> String {
        self.may_panic();
        "bad".to_owned()
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        self.may_panic();
    }
}

/// Panics are expected here by the thousand, and need not be told.
fn quietly<R>(act: impl FnOnce() -> R) -> R {
    static HOOK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = HOOK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
    std::panic::set_hook(hook);
    result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

#[test]
fn whatever_a_store_does_the_gradient_is_right() {
    let expected = plain(&start(5), STEPS);
    for wrong in ALL {
        let (mut mended, mut lost) = (0, 0);
        for strategy in strategies() {
            for (from, width) in (0..40).flat_map(|from| [(from, 1), (from, 2), (from, u64::MAX)]) {
                let memory = 1 + (from % 3) as usize;
                match quietly(|| on(strategy, memory, Bad::new(wrong, from, width))) {
                    Ok((last, adjoint, report)) => {
                        assert_eq!(
                            (&last, &adjoint),
                            (&expected.0, &expected.1),
                            "{wrong:?} {strategy:?} {from} {width}: {report}"
                        );
                        mended += report.mended.len();
                    }
                    // The first state, and nothing before it; or it went with the one that is needed.
                    Err(CheckpointError::Lost { step, .. })
                        if step == 0 || width > 2 || (wrong == Wrong::Forgets && from <= 1) =>
                    {
                        lost += 1;
                    }
                    Err(error) => panic!("{wrong:?} {strategy:?} {from} {width}: {error}"),
                }
            }
        }
        match wrong {
            Wrong::KeepsAll => assert_eq!((mended, lost), (0, 0)),
            // Nothing is ever lost by a store that says that it failed and still has it.
            Wrong::PutFails | Wrong::PutPanics | Wrong::RefusesLater => {
                assert!(mended > 0 && lost == 0, "{wrong:?}: {mended} {lost}");
            }
            Wrong::RefusesAnything => assert_eq!(lost, 0),
            _ => assert!(mended > 0, "{wrong:?}"),
        }
    }
}

#[test]
fn workers_go_on_in_memory_or_say_what_is_lost() {
    let expected = plain(&start(5), STEPS);
    for wrong in ALL {
        for from in 0..12 {
            let outcome = quietly(|| {
                TimeLoop::new(start(5))
                    .steps(STEPS)
                    .slots(40)
                    .store(Bad::new(wrong, from, 2), 40)
                    .gradient_taped_on(
                        2,
                        2,
                        step,
                        |n, state, lane: &mut Vec<State>| {
                            lane.push(state.clone());
                            step(n, state);
                        },
                        seed,
                        |n, lane, adjoint: &mut Vec<f64>| {
                            pullback(n, &lane.pop().unwrap(), adjoint);
                        },
                    )
            });
            match outcome {
                Ok((last, adjoint, _)) => {
                    assert_eq!((&last, &adjoint), (&expected.0, &expected.1), "{wrong:?} {from}");
                }
                Err(CheckpointError::Lost { .. }) => {
                    assert!(!matches!(wrong, Wrong::PutFails | Wrong::PutPanics), "{wrong:?}");
                }
                Err(error) => panic!("{wrong:?} {from}: {error}"),
            }
        }
    }
}

#[test]
fn without_a_slot_in_memory_the_reason_is_told() {
    let error = on(Strategy::Multistage, 0, Bad::new(Wrong::PutFails, 3, 1)).unwrap_err();
    assert!(matches!(error, CheckpointError::DiskFailed { resumable: None, .. }), "{error}");
    assert!(error.to_string().contains("the device is gone"), "{error}");
    let error = quietly(|| on(Strategy::Multistage, 0, Bad::new(Wrong::PutPanics, 3, 1)));
    assert!(error.unwrap_err().to_string().contains("panicked"));
}

#[test]
fn what_was_mended_is_reported_with_its_reason() {
    let (.., report) = on(Strategy::Multistage, 2, Bad::new(Wrong::PutFails, 3, 1)).unwrap();
    assert!(report.mended.iter().any(|told| told.contains("the device is gone")), "{report}");
    let (.., report) = on(Strategy::Multistage, 2, Bad::new(Wrong::FlipsABit, 9, 2)).unwrap();
    assert!(report.mended.iter().any(|told| told.contains("checksum")), "{report}");
}

/// One that checks its snapshots itself is not asked for a second copy of them.
#[test]
fn a_store_that_verifies_is_believed() {
    struct Counted(u64, Arc<Mutex<u64>>);
    impl Clone for Counted {
        fn clone(&self) -> Self {
            Self(self.0, Arc::clone(&self.1))
        }
    }
    impl Snapshot for Counted {
        fn encoded_len(&self) -> usize {
            8
        }
        fn encode(&self, out: &mut snapshot::Encoder<'_>) {
            *self.1.lock().unwrap() += 1;
            self.0.encode(out);
        }
        fn decode(from: &mut snapshot::Decoder<'_>) -> Result<Self, snapshot::Malformed> {
            Ok(Self(u64::decode(from)?, Arc::default()))
        }
    }
    let encoded = Arc::new(Mutex::new(0));
    let (last, dx, report) = TimeLoop::new(Counted(0, Arc::clone(&encoded)))
        .steps(50)
        .slots(1)
        .store(MemoryStore::new(), 5)
        .schedule(Strategy::Multistage)
        .gradient(|_, state| state.0 += 1, |_| 0_u64, |_, state, dx| *dx += state.0)
        .unwrap();
    assert_eq!((last.0, dx), (50, (0..50).sum()));
    assert!(report.writes[1] > 0);
    assert_eq!(*encoded.lock().unwrap(), 0);
}
