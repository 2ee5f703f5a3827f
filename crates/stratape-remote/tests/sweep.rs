//! What killed owners leave behind is found and removed; what live ones have, and what others have put beside it, never is.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use common::{hasty, objects, on_every_store, wait, wait_until};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use stratape_remote::{DEFAULT_OLDER_THAN, RemoteError, RemoteOptions, RemoteTier, Sweep};
use stratape_tape::tier::Tier;
use stratape_tape::{LayeredTape, TapeOptions};

const BEAT: Duration = Duration::from_millis(50);

fn filled(tier: &Arc<RemoteTier>) -> LayeredTape<u64> {
    let below = Arc::clone(tier) as Arc<dyn Tier>;
    let mut tape: LayeredTape<u64> =
        TapeOptions::new().memory(8 * 4096).slab_bytes(4096).tier(below).open().unwrap();
    for i in 0..20 * 512 {
        tape.push(i).unwrap();
    }
    wait_until("slabs are stored", || {
        tier.stats().objects_written >= 10 && tier.stats().in_flight == 0
    });
    tape
}

/// Run as a process of its own by the test below.
#[test]
#[ignore = "the process that is killed"]
fn child() {
    let url = std::env::var("STORE").unwrap();
    let tier = Arc::new(RemoteTier::open_with(&url, hasty().heartbeat(BEAT)).unwrap());
    let tape = filled(&tier);
    println!("token {}", tier.token());
    // Until it is killed, or its parent is gone.
    let _ = std::io::stdin().read(&mut [0]);
    drop(tape);
}

fn start_child(url: &str) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "child", "--nocapture", "--quiet"])
        .env("STORE", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let token = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("token ").map(|(_, token)| token.trim().to_owned()));
    (child, token.unwrap())
}

#[test]
fn the_dead_are_swept_and_the_living_are_not() {
    on_every_store(|url| {
        if url.starts_with("memory") {
            return; // no two processes share it
        }
        let live = Arc::new(RemoteTier::open_with(url, hasty().heartbeat(BEAT)).unwrap());
        let mut tape = filled(&live);
        let (mut child, token) = start_child(url);
        let sweep = Sweep::open(url).unwrap();
        let find = |token: &str| sweep.leftovers().unwrap().into_iter().find(|l| l.token == token);

        // While both live, both are listed, and neither can be removed.
        for token in [&token, live.token()] {
            let owner = find(token).unwrap();
            assert!(owner.objects > 10 && owner.bytes > 10 * 4096, "{owner}");
            assert!(!owner.is_dead(Duration::ZERO), "{owner}");
            let refused = sweep.remove(&owner, Duration::ZERO);
            assert!(matches!(refused, Err(RemoteError::Alive { .. })), "{refused:?}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        sleep(4 * BEAT + Duration::from_millis(3300));

        let dead = find(&token).unwrap();
        assert!(dead.is_dead(Duration::ZERO) && !dead.is_dead(DEFAULT_OLDER_THAN), "{dead}");
        let early = sweep.remove(&dead, DEFAULT_OLDER_THAN);
        assert!(matches!(early, Err(RemoteError::Alive { .. })), "{early:?}");
        let removed = sweep.remove(&dead, Duration::ZERO).unwrap();
        assert_eq!((removed.objects, removed.bytes), (dead.objects, dead.bytes));
        assert_eq!(find(&token), None);
        assert_eq!(sweep.remove(&dead, Duration::ZERO).unwrap().objects, 0);

        // The live one has lost nothing.
        let owner = find(live.token()).unwrap();
        assert!(!owner.is_dead(Duration::ZERO), "{owner}");
        for i in (0..20 * 512).rev() {
            assert_eq!(tape.pop().unwrap(), Some(i));
        }
        drop(tape);
        live.close().unwrap();
        assert!(sweep.leftovers().unwrap().is_empty());
    });
}

#[test]
fn only_what_is_ours_is_removed() {
    let store = Arc::new(InMemory::new());
    let dead = "0123456789abcdef0123456789abcdef";
    let ours =
        [format!("tapes/stratape-{dead}/slab-0-1-2"), format!("tapes/stratape-{dead}/slab-0-2-3")];
    let others = [
        format!("tapes/stratape-{dead}/slab-0-1"),
        format!("tapes/stratape-{dead}/notes.txt"),
        format!("tapes/stratape-{dead}/slab-0-1-2/below"),
        format!("tapes/stratape-{}/slab-0-1-2", &dead[1..]),
        format!("tapes/{dead}/slab-0-1-2"),
        "tapes/stratape-results/slab-0-1-2".to_owned(),
        "tapes/heartbeat".to_owned(),
        format!("elsewhere/stratape-{dead}/slab-0-1-2"),
        format!("stratape-{dead}/slab-0-1-2"),
    ];
    for name in ours.iter().chain(&others) {
        wait(store.put(&name.as_str().into(), "1234".into())).unwrap();
    }
    let sweep = Sweep::on(Arc::clone(&store) as _, "tapes", RemoteOptions::new()).unwrap();
    let found = sweep.leftovers().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let leftover = &found[0];
    assert_eq!((leftover.objects, leftover.bytes, leftover.foreign), (2, 8, 3));
    assert_eq!(leftover.every, None);
    // Without a heartbeat it is as old as its last object, and the owner is given the usual time.
    assert!(!leftover.is_dead(Duration::ZERO) && leftover.to_string().contains("no heartbeat"));
    assert!(sweep.remove(leftover, Duration::ZERO).is_err());
    assert_eq!(objects(&*store).len(), ours.len() + others.len());
}

#[test]
fn a_heartbeat_is_written_again_and_again() {
    let store = Arc::new(InMemory::new());
    let tier =
        RemoteTier::on(Arc::clone(&store) as Arc<dyn ObjectStore>, "", hasty().heartbeat(BEAT))
            .unwrap();
    let name = format!("stratape-{}/heartbeat", tier.token());
    let written = || wait(store.head(&name.as_str().into())).unwrap().last_modified;
    let first = written();
    wait_until("it is written again", || written() > first);
    let second = written();
    wait_until("and again", || written() > second);
    tier.close().unwrap();
    assert!(objects(&*store).is_empty());
}
