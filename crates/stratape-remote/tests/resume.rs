//! Time loops that are killed and go on from an object store: the same bits as without, one process at a time.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::oscillators::{State, plain, pullback, seed, start, step};
use common::{Request, Trouble, Troubled, hasty, objects, on_every_store, unique, wait};
use object_store::{ObjectStore, ObjectStoreExt};
use stratape_checkpoint::{CheckpointError, Report, RunPlace, Strategy, TimeLoop};
use stratape_remote::{RemoteOptions, RemoteRun};

const STEPS: usize = 200;

type Outcome = Result<(State, State, Report), CheckpointError>;

fn brief() -> RemoteOptions {
    hasty().heartbeat(Duration::from_millis(100))
}

/// Runs the loop, with a pause in every step; panics after so many reversals, if asked to.
fn run(place: RemoteRun, pause: Duration, crash: Option<usize>) -> Outcome {
    let mut reversed = 0;
    TimeLoop::new(start())
        .steps(STEPS)
        .slots(3)
        .disk_slots("", 10)
        .schedule(Strategy::Periodic(25))
        .resume_in(place)
        .save_every(5)
        .gradient(
            |n, state| {
                sleep(pause);
                step(n, state);
            },
            seed,
            |n, state, adjoint| {
                reversed += 1;
                assert!(crash != Some(reversed), "crash");
                sleep(pause);
                pullback(n, state, adjoint);
            },
        )
}

/// Does what a crash in the reversal leaves behind, the lease included.
fn begun(store: &Arc<Troubled>) {
    let place = RemoteRun::on(Arc::clone(store) as _, "run", brief()).unwrap();
    let crashed = catch_unwind(AssertUnwindSafe(|| run(place, Duration::ZERO, Some(90))));
    assert!(crashed.is_err());
    assert!(objects(&store.below).iter().any(|name| name == "run/stratape.manifest"));
}

/// Run as a process of its own by the test below.
#[test]
#[ignore = "the process that is killed"]
fn child() {
    let place = RemoteRun::open_with(&std::env::var("STORE").unwrap(), brief()).unwrap();
    let (last, dx, report) = run(place, Duration::from_millis(2), None).unwrap();
    // Under another name first: whoever sees the result sees all of it.
    let result = std::env::var("RESULT").unwrap();
    let unfinished = format!("{result}.unfinished");
    fs::write(&unfinished, format!("{:?} {:?}", (last, dx), report.resumed)).unwrap();
    fs::rename(unfinished, result).unwrap();
}

#[test]
fn killed_at_any_moment_the_run_goes_on() {
    let (last, dx) = plain(STEPS);
    let expected = format!("{:?} ", (last, dx));
    on_every_store(|url| {
        if url.starts_with("memory") {
            return; // no two processes share it
        }
        let results = tempfile::tempdir().unwrap();
        let result = results.path().join("result");
        let mut kills = 0;
        while !result.exists() {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "child", "--quiet"])
                .env("STORE", url)
                .env("RESULT", &result)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // The lease of the one before takes 400 ms to become void.
            let limit =
                Instant::now() + Duration::from_millis(700 + kills * 150 + (kills * 7919) % 90);
            while Instant::now() < limit && !result.exists() {
                sleep(Duration::from_millis(5));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            assert!(kills < 40, "it never ends");
        }
        let found = fs::read_to_string(&result).unwrap();
        assert!(found.starts_with(&expected), "after {kills} kills");
        assert!(kills > 1 && !found.ends_with("None"), "{kills} kills, and the last went on");
    });
}

#[test]
fn what_was_reversed_is_not_reversed_again() {
    let (last, dx) = plain(STEPS);
    let store = Troubled::new(|_, _, _| Trouble::None);
    begun(&store);
    let place = RemoteRun::on(Arc::clone(&store) as _, "run", brief()).unwrap();
    let (found_last, found_dx, report) = run(place, Duration::ZERO, None).unwrap();
    assert_eq!((found_last, found_dx), (last, dx));
    assert!(report.reversed < STEPS as u64, "{report}");
    assert_eq!(objects(&store.below), Vec::<String>::new(), "a complete run leaves nothing");
}

#[test]
fn one_process_at_a_time() {
    on_every_store(|url| {
        let first = RemoteRun::open_with(url, brief()).unwrap();
        first.lock().unwrap();
        let second = RemoteRun::open_with(url, brief()).unwrap();
        let error = second.lock().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy, "{error}");
        let busy = run(RemoteRun::open_with(url, brief()).unwrap(), Duration::ZERO, None);
        assert!(matches!(busy, Err(CheckpointError::Resume { .. })), "{busy:?}");
        first.unlock();
        second.lock().unwrap();
        drop(second);
        first.lock().unwrap();
    });
}

#[test]
fn who_has_lost_the_lease_writes_nothing_more() {
    let store = Troubled::new(|_, _, _| Trouble::None);
    let place = RemoteRun::on(Arc::clone(&store) as _, "run", brief()).unwrap();
    place.lock().unwrap();
    place.write("a", b"1").unwrap();
    // As another process does that has waited long enough.
    let other = "stratape lease, format 1\nevery 100 ms\nholder other\nword 0\n";
    wait(store.below.put(&"run/stratape.lock".into(), other.into())).unwrap();
    common::wait_until("it is seen", || place.write("b", b"2").is_err());
    assert!(place.delete("a").is_err());
    assert_eq!(place.read("a", 10).unwrap(), Some(b"1".to_vec()));
    drop(place);
    let left = objects(&store.below);
    assert!(left.contains(&"run/stratape.lock".to_owned()), "it is the other's: {left:?}");
}

#[test]
fn a_lock_that_is_not_ours_is_left_alone() {
    let store = Troubled::new(|_, _, _| Trouble::None);
    wait(store.below.put(&"run/stratape.lock".into(), "somebody's notes".into())).unwrap();
    let place = RemoteRun::on(Arc::clone(&store) as _, "run", brief()).unwrap();
    assert!(place.lock().unwrap_err().to_string().contains("not one of ours"));
}

#[test]
fn lies_cost_time_and_not_the_gradient() {
    let expected = plain(STEPS);
    let lies = [
        Trouble::Fail,
        Trouble::WrongBytes,
        Trouble::CutOff,
        Trouble::Shorter,
        Trouble::Longer,
        Trouble::NotThere,
        Trouble::Swapped,
        Trouble::Panic,
    ];
    let mut refused = 0;
    for lie in lies {
        for every in [2, 3] {
            let lying = Arc::new(AtomicBool::new(false));
            let seen = Arc::clone(&lying);
            let store = Troubled::new(move |number, request, path| {
                // A lease that cannot be trusted is an error before anything is done.
                let of_lease = path.filename() == Some("stratape.lock");
                let lies = seen.load(Ordering::SeqCst) && !of_lease && number % every == 0;
                if lies && request == Request::Get { lie } else { Trouble::None }
            });
            begun(&store);
            lying.store(true, Ordering::SeqCst);
            let place = RemoteRun::on(Arc::clone(&store) as _, "run", brief().attempts(2)).unwrap();
            match run(place, Duration::ZERO, None) {
                Ok((last, dx, _)) => {
                    assert_eq!((&last, &dx), (&expected.0, &expected.1), "{lie:?}/{every}");
                }
                // Nothing can be said of a manifest that cannot be read, nor of a loop whose snapshots are all gone.
                Err(
                    CheckpointError::OtherRun { .. }
                    | CheckpointError::Resume { .. }
                    | CheckpointError::Lost { .. },
                ) => refused += 1,
                Err(error) => panic!("{lie:?}/{every}: {error}"),
            }
        }
    }
    assert!(refused < 16, "some get through");
}

#[test]
fn a_store_that_takes_nothing_costs_the_resumption_alone() {
    let expected = plain(STEPS);
    let full = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&full);
    let store = Troubled::new(move |number, request, path| {
        let of_lease = path.filename() == Some("stratape.lock");
        let fails = seen.load(Ordering::SeqCst) && !of_lease && number > 6;
        if fails && request == Request::Put { Trouble::Refuse } else { Trouble::None }
    });
    full.store(true, Ordering::SeqCst);
    let place =
        RemoteRun::on(Arc::clone(&store) as Arc<dyn ObjectStore>, &unique(), brief()).unwrap();
    let (last, dx, report) = run(place, Duration::ZERO, None).unwrap();
    assert_eq!((last, dx), expected);
    assert!(report.failed_saves > 0, "{report}");
}
