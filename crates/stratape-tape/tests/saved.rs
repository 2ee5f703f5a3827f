//! Saved tapes come back whole or not at all, and continuing one leaves its file alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{PAGE, files_in};
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation};
use stratape_tape::{ErrorKind, LayeredTape, Pod, RecordTape, TapeError, TapeOptions};

const PER_SLAB: usize = 8;

fn options() -> TapeOptions {
    TapeOptions::new()
        .tier(Arc::new(MemoryTier::new()))
        .slab_bytes(PER_SLAB * size_of::<u64>())
        .memory(4 * PAGE)
        .in_flight(1)
}

fn tape_of(elements: u64) -> LayeredTape<u64> {
    let mut tape: LayeredTape<u64> = options().open().unwrap();
    (0..elements).for_each(|i| tape.push(i * 3).unwrap());
    tape
}

fn load(path: &Path) -> Result<LayeredTape<u64>, TapeError> {
    LayeredTape::load(path, options())
}

/// Pops everything, which must be what `tape_of` pushed.
fn check_all(mut tape: LayeredTape<u64>, elements: u64) {
    assert_eq!(tape.len() as u64, elements);
    for i in (0..elements).rev() {
        assert_eq!(tape.pop().unwrap(), Some(i * 3));
    }
    assert_eq!(tape.pop().unwrap(), None);
}

#[track_caller]
fn why_refused<T: Pod>(path: &Path) -> String {
    let error = LayeredTape::<T>::load(path, options()).expect_err("it should be refused");
    match error.kind() {
        ErrorKind::NotThisTape { path: named, why } => {
            assert_eq!(named, path);
            why.clone()
        }
        other => panic!("{other:?}"),
    }
}

/// An empty tape once could not be loaded: its file ended before the place where its empty table
/// was said to begin.
#[test]
fn tapes_of_every_length() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    for elements in [0, 1, 7, 8, 9, 16, 24, 31, 32, 33, 100, 1000] {
        let mut tape = tape_of(elements);
        tape.save(&path).unwrap();
        check_all(tape, elements);
        check_all(load(&path).unwrap(), elements);
        assert_eq!(files_in(directory.path()), ["a.tape"]);
    }
}

#[test]
fn a_tape_that_was_popped_to_a_boundary() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    let mut tape = tape_of(65);
    tape.pop().unwrap();
    tape.save(&path).unwrap();
    check_all(load(&path).unwrap(), 64);
    tape.truncate(0).unwrap();
    tape.save(&path).unwrap();
    let mut tape = load(&path).unwrap();
    tape.push(5).unwrap();
    assert_eq!(tape.pop().unwrap(), Some(5));
    assert_eq!(tape.pop().unwrap(), None);
}

#[test]
fn records_of_every_kind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    for count in [0, 1, 5, 40] {
        let mut tape = options().memory(16 * PAGE).open_records().unwrap();
        for i in 0..count {
            tape.push(i as u8).unwrap();
            tape.reserve::<f64>(i * 40).unwrap().fill(i as f64);
            tape.push(i as u128).unwrap();
        }
        tape.save(&path).unwrap();
        let mut tape = RecordTape::load(&path, options().memory(16 * PAGE)).unwrap();
        for i in (0..count).rev() {
            assert_eq!(tape.pop::<u128>().unwrap(), i as u128);
            assert_eq!(tape.take::<f64>().unwrap(), vec![i as f64; i * 40]);
            assert_eq!(tape.pop::<u8>().unwrap(), i as u8);
        }
        assert!(tape.is_empty());
    }
}

#[test]
fn continuing_does_not_change_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(300).save(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let mut tape = load(&path).unwrap();
    for _ in 0..3 {
        tape.truncate(150).unwrap();
        (150..600).for_each(|i| tape.push(i * 3).unwrap());
        tape.pop().unwrap();
    }
    assert!(tape.stats().slabs_spilled > 20);
    check_all(tape, 599);
    assert_eq!(fs::read(&path).unwrap(), before);
    check_all(load(&path).unwrap(), 300);
}

/// The old file stays readable for whoever has it open, since saving makes a new one.
#[test]
fn a_continued_tape_can_be_saved_over_its_own_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(200).save(&path).unwrap();
    let mut tape = load(&path).unwrap();
    let bystander = load(&path).unwrap();
    tape.truncate(100).unwrap();
    tape.save(&path).unwrap();
    (100..150).for_each(|i| tape.push(i * 3).unwrap());
    check_all(tape, 150);
    check_all(bystander, 200);
    check_all(load(&path).unwrap(), 100);
}

#[test]
fn another_type_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(20).save(&path).unwrap();
    for why in
        [why_refused::<i64>(&path), why_refused::<u32>(&path), why_refused::<[u64; 2]>(&path)]
    {
        assert!(why.contains("`u64` (8 bytes each)"), "{why}");
    }
    assert!(why_refused::<i64>(&path).contains("`i64`"));
    assert!(why_refused::<u32>(&path).contains("`u32` (4 bytes)"));
}

#[test]
fn elements_are_not_records() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(20).save(&path).unwrap();
    let error = RecordTape::load(&path, options()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotThisTape { .. }));
    assert!(error.to_string().contains("elements of type `u64`"), "{error}");

    let mut records = options().open_records().unwrap();
    records.push(1_u64).unwrap();
    records.save(&path).unwrap();
    let why = why_refused::<u64>(&path);
    assert!(why.contains("records") && why.contains("elements"), "{why}");
}

#[test]
fn another_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(20).save(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[8..12].copy_from_slice(&77_u32.to_ne_bytes());
    fs::write(&path, &bytes).unwrap();
    let why = why_refused::<u64>(&path);
    assert!(why.contains("version 77") && why.contains("reads version 1"), "{why}");
}

#[test]
fn other_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    for contents in [&b""[..], b"STRATAPE", b"hello", &[0; 10_000]] {
        fs::write(&path, contents).unwrap();
        assert!(why_refused::<u64>(&path).contains("not a saved tape"));
    }
    let missing = directory.path().join("missing.tape");
    let error = load(&missing).unwrap_err();
    match error.kind() {
        ErrorKind::SavedFile { path, source } => {
            assert_eq!(*path, missing);
            assert_eq!(source.kind(), io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
    assert!(load(directory.path()).is_err());
}

#[test]
fn a_file_cut_short_at_any_length_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(20).save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let lengths = (0..whole.len()).step_by(97).chain(whole.len() - 100..whole.len());
    for len in lengths {
        fs::write(&path, &whole[..len]).unwrap();
        why_refused::<u64>(&path);
    }
    fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
    why_refused::<u64>(&path);
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    const HEADER: usize = 1120;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    let elements = 20;
    tape_of(elements).save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let table = 4 * PAGE;
    assert_eq!(whole.len(), table + 3 * 32, "the layout of the file has changed");
    // The last word of the header is unused; between the parts lies padding.
    let matters = |at: usize| {
        at < HEADER - 4
            || (PAGE..PAGE + 64).contains(&at)
            || (2 * PAGE..2 * PAGE + 64).contains(&at)
            || (3 * PAGE..3 * PAGE + 32).contains(&at)
            || at >= table
    };
    let padding = (HEADER - 4..table).filter(|&at| !matters(at)).step_by(401);
    for at in (0..whole.len()).filter(|&at| matters(at)).chain(padding) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        let found = load(&path).and_then(|mut tape| {
            for i in (0..elements).rev() {
                assert_eq!(tape.pop()?, Some(i * 3), "byte {at} was changed");
            }
            Ok(())
        });
        assert_eq!(found.is_err(), matters(at), "byte {at}: {found:?}");
    }
}

#[test]
fn saving_where_it_cannot_be() {
    let directory = tempfile::tempdir().unwrap();
    let mut tape = tape_of(100);
    let error = tape.save(directory.path().join("missing").join("a.tape")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::SavedFile { .. }), "{error:?}");
    let taken = directory.path().join("taken");
    fs::create_dir(&taken).unwrap();
    let error = tape.save(&taken).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::SavedFile { .. }), "{error:?}");
    assert_eq!(files_in(directory.path()), ["taken"]);
    check_all(tape, 100);
}

#[test]
fn a_failure_while_saving_leaves_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    tape_of(50).save(&path).unwrap();

    let broken = Arc::new(AtomicBool::new(true));
    let plan = {
        let broken = Arc::clone(&broken);
        move |_, operation| match operation {
            Operation::Read if broken.load(Ordering::SeqCst) => Fault::Fail(io::ErrorKind::Other),
            _ => Fault::Pass,
        }
    };
    let tier = Arc::new(FaultyTier::new(MemoryTier::new(), plan));
    let mut tape: LayeredTape<u64> = options().tier(tier).open().unwrap();
    (0..100).for_each(|i| tape.push(i * 3).unwrap());
    let error = tape.save(&path).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Fetch { .. }), "{error:?}");
    check_all(load(&path).unwrap(), 50);
    assert_eq!(files_in(directory.path()), ["a.tape"]);

    broken.store(false, Ordering::SeqCst);
    tape.save(&path).unwrap();
    check_all(load(&path).unwrap(), 100);
}

#[test]
fn a_budget_too_small_for_the_slabs_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tape");
    let wide = options().slab_bytes(8 * PAGE).memory(64 * PAGE);
    let mut tape: LayeredTape<u64> = wide.open().unwrap();
    tape.push(1).unwrap();
    tape.save(&path).unwrap();
    let error = load(&path).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Options(_)), "{error:?}");
    let mut tape = LayeredTape::<u64>::load(&path, options().memory(16 * PAGE)).unwrap();
    assert_eq!(tape.pop().unwrap(), Some(1));
}
