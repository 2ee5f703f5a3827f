//! A shared tape under several owners: nothing is lost or doubled, everyone gets their own back in
//! order, wherever it lies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use proptest::prelude::*;
use stratape_tape::{Owner, SharedTape, Writer};

const OWNERS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    PushSlice(usize, usize),
    PushAnyone,
    PopOwn(usize),
    PopOwnSlice(usize, usize),
    Pop,
    PopSlice(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let owner = 0..OWNERS;
    let step = prop_oneof![
        6 => owner.clone().prop_map(Step::Push),
        3 => (owner.clone(), 0..100_usize).prop_map(|(owner, count)| Step::PushSlice(owner, count)),
        2 => Just(Step::PushAnyone),
        5 => owner.clone().prop_map(Step::PopOwn),
        2 => (owner, 0..60_usize).prop_map(|(owner, count)| Step::PopOwnSlice(owner, count)),
        3 => Just(Step::Pop),
        1 => (0..60_usize).prop_map(Step::PopSlice),
    ];
    prop::collection::vec(step, 1..200)
}

/// Counts how many of its kind are alive.
#[derive(Debug)]
struct Entry {
    number: u64,
    alive: Arc<AtomicUsize>,
}

impl Entry {
    fn new(number: u64, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Self { number, alive: Arc::clone(alive) }
    }
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        Self::new(self.number, &self.alive)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The naive tape: a list of who pushed what.
#[derive(Default)]
struct Model(Vec<(Owner, u64)>);

impl Model {
    fn pop_own(&mut self, owner: Owner) -> Option<u64> {
        let at = self.0.iter().rposition(|entry| entry.0 == owner)?;
        Some(self.0.remove(at).1)
    }

    fn own(&self, owner: Owner) -> usize {
        self.0.iter().filter(|entry| entry.0 == owner).count()
    }
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.number).collect()
}

fn run(steps: Vec<Step>) {
    let alive = Arc::new(AtomicUsize::new(0));
    let tape: SharedTape<Entry> = SharedTape::new();
    let writers: Vec<Writer<Entry>> = (0..OWNERS).map(|_| tape.writer()).collect();
    let mut model = Model::default();
    let mut made = 0;
    let mut make = |count: usize| -> Vec<Entry> {
        let entries = (made..made + count as u64).map(|number| Entry::new(number, &alive));
        made += count as u64;
        entries.collect()
    };
    for step in steps {
        match step {
            Step::Push(owner) => {
                let entry = make(1).remove(0);
                model.0.push((writers[owner].owner(), entry.number));
                writers[owner].push(entry);
            }
            Step::PushSlice(owner, count) => {
                let entries = make(count);
                writers[owner].push_slice(&entries);
                let owner = writers[owner].owner();
                model.0.extend(entries.iter().map(|entry| (owner, entry.number)));
            }
            Step::PushAnyone => {
                let entries = make(2);
                tape.push_slice(&entries[..1]);
                tape.push(entries[1].clone());
                let anyone = entries.iter().map(|entry| (Owner::ANYONE, entry.number));
                model.0.extend(anyone);
            }
            Step::PopOwn(owner) => {
                let found = writers[owner].pop().map(|entry| entry.number);
                assert_eq!(found, model.pop_own(writers[owner].owner()));
            }
            Step::PopOwnSlice(owner, count) => {
                let mut out = make(count);
                let before = numbers(&out);
                let taken = writers[owner].pop_slice(&mut out);
                let owner = writers[owner].owner();
                assert_eq!(taken, count.min(model.own(owner)));
                let mut expected: Vec<u64> =
                    (0..taken).map(|_| model.pop_own(owner).unwrap()).collect();
                expected.reverse();
                assert_eq!(numbers(&out[..taken]), expected);
                assert_eq!(numbers(&out[taken..]), before[taken..]);
            }
            Step::Pop => {
                let found = tape.pop_with_owner().map(|(entry, owner)| (owner, entry.number));
                assert_eq!(found, model.0.pop());
            }
            Step::PopSlice(count) => {
                let mut out = make(count);
                let taken = tape.pop_slice(&mut out);
                assert_eq!(taken, count.min(model.0.len()));
                let expected = model.0.split_off(model.0.len() - taken);
                let expected: Vec<u64> = expected.into_iter().map(|entry| entry.1).collect();
                assert_eq!(numbers(&out[..taken]), expected);
            }
        }
        assert_eq!(tape.len(), model.0.len());
        assert_eq!(alive.load(Ordering::SeqCst), model.0.len(), "entries leaked or died early");
    }
    drop(writers);
    drop(tape);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 120,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn does_what_a_list_of_owners_does(steps in steps()) {
        run(steps);
    }
}

#[test]
fn each_entry_is_seen_exactly_once() {
    const EACH: u64 = 2000;
    let tape = SharedTape::new();
    let seen = Mutex::new(HashMap::<u64, u32>::new());
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (tape, seen, barrier) = (&tape, &seen, &barrier);
            scope.spawn(move || {
                let mut mine = Vec::new();
                barrier.wait();
                for i in 0..EACH {
                    tape.push(thread * EACH + i);
                    if i % 3 != 0 {
                        mine.extend(tape.pop());
                    }
                }
                let mut seen = seen.lock().unwrap();
                mine.into_iter().for_each(|value| *seen.entry(value).or_default() += 1);
            });
        }
    });
    let mut seen = seen.into_inner().unwrap();
    while let Some(value) = tape.pop() {
        *seen.entry(value).or_default() += 1;
    }
    assert_eq!(seen.len() as u64, 4 * EACH, "entries were lost");
    assert!(seen.values().all(|&times| times == 1), "entries were doubled");
}

/// What this thread pushed and has not popped is a stack of its own, whatever the others do.
#[test]
fn everyone_gets_their_own_back_in_order() {
    let tape = SharedTape::new();
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (writer, barrier) = (tape.writer(), &barrier);
            scope.spawn(move || {
                let mut model = Vec::new();
                barrier.wait();
                for i in 0..3000_u64 {
                    let value = thread << 32 | i;
                    if i % 7 < 4 {
                        writer.push(value);
                        model.push(value);
                    } else {
                        assert_eq!(writer.pop(), model.pop());
                    }
                }
                // Another thread may take back what this one pushed.
                let clone = writer.clone();
                let rest = thread::spawn(move || {
                    while let Some(expected) = model.pop() {
                        assert_eq!(clone.pop(), Some(expected));
                    }
                    clone.pop()
                });
                assert_eq!(rest.join().unwrap(), None);
            });
        }
    });
    assert!(tape.is_empty());
}

#[test]
fn slices_are_not_torn_apart() {
    const LEN: u64 = 17;
    let tape = SharedTape::new();
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (writer, barrier) = (tape.writer(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..200 {
                    let base = thread << 40 | round << 20;
                    let values: Vec<u64> = (base..base + LEN).collect();
                    writer.push_slice(&values);
                }
            });
        }
    });
    let mut out = [0; LEN as usize];
    for _ in 0..4 * 200 {
        assert_eq!(tape.pop_slice(&mut out), LEN as usize);
        assert!(out.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{out:?}");
    }
    assert!(tape.is_empty());
}
