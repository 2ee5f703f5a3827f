//! `RawTape`: random operations against a vector, what stays readable after a pop, cursors from outside, saved files.

#![allow(clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use stratape_tape::{LayeredTape, RawElement, RawTape, TapeOptions};

fn options() -> TapeOptions {
    TapeOptions::new().memory(64 << 10).slab_bytes(4 << 10).spill_to(std::env::temp_dir())
}

fn element(size: usize) -> RawElement {
    RawElement::new(size, 8).expect("a multiple of eight")
}

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
    Truncate(usize),
    Get(usize),
    Outside(usize),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1usize..9000).prop_map(Step::Push),
        4 => (1usize..9000).prop_map(Step::Pop),
        1 => (0usize..60_000).prop_map(Step::Truncate),
        2 => (0usize..60_000).prop_map(Step::Get),
        2 => (1usize..3000).prop_map(Step::Outside),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 1..25)
}

fn words(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"))
}

fn run(mut tape: RawTape, size: usize, steps: &[Step]) {
    let (mut model, mut next) = (Vec::<u64>::new(), 0_u64);
    let mut bytes = vec![0; size];
    for step in steps {
        match *step {
            Step::Push(count) => {
                for _ in 0..count {
                    bytes[..8].copy_from_slice(&next.to_ne_bytes());
                    tape.push(&bytes).expect("there is room");
                    model.push(next);
                    next += 1;
                }
            }
            Step::Pop(count) => {
                for _ in 0..count {
                    let found = tape.pop(&mut bytes).expect("it can be read");
                    assert_eq!(found.then(|| words(&bytes)), model.pop());
                }
            }
            Step::Truncate(len) => {
                tape.truncate(len).expect("it can be read");
                model.truncate(len);
            }
            Step::Get(index) => {
                let found = tape.get(index).expect("it can be read").map(words);
                assert_eq!(found, model.get(index).copied());
            }
            Step::Outside(count) => outside(&mut tape, size, count, &mut next, &mut model),
            Step::Clear => {
                tape.clear();
                model.clear();
            }
        }
        assert_eq!(tape.len(), model.len());
        assert!(tape.stats().resident_peak <= tape.stats().memory);
    }
    for expected in model.into_iter().rev() {
        assert!(tape.pop(&mut bytes).expect("it can be read"));
        assert_eq!(words(&bytes), expected);
    }
}

/// Pushes as code outside does: by the cursor, calling only at the end of a slab.
fn outside(tape: &mut RawTape, size: usize, count: usize, next: &mut u64, model: &mut Vec<u64>) {
    let mut cursor = tape.cursor();
    for _ in 0..count {
        if cursor.top == cursor.limit {
            tape.set_top(cursor.top).expect("within the slab");
            cursor = tape.climb().expect("there is room");
        }
        // SAFETY: the cursor is off the limit, so that there is room for an element, aligned to eight bytes.
        unsafe {
            cursor.top.cast::<u64>().write(*next);
            cursor.top = cursor.top.add(size);
        }
        model.push(*next);
        *next += 1;
    }
    tape.set_top(cursor.top).expect("within the slab");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn behaves_like_a_vector_in_layers(steps in steps(), wide in any::<bool>()) {
        let size = if wide { 24 } else { 8 };
        run(options().open_raw(element(size)).expect("it opens"), size, &steps);
    }

    #[test]
    fn behaves_like_a_vector_with_three_slabs(steps in steps()) {
        let options = options().memory(12 << 10);
        run(options.open_raw(element(8)).expect("three slabs are enough"), 8, &steps);
    }

    #[test]
    fn behaves_like_a_vector_in_memory(steps in steps()) {
        run(RawTape::in_memory(element(8)), 8, &steps);
    }
}

/// A caller that gets the address of what it pops may look at it until it pushes, though the slab was left and its neighbours
/// are being read back into every free block.
#[test]
fn what_was_popped_stays_readable_over_the_end_of_a_slab() {
    let mut tape = options().memory(12 << 10).open_raw(element(8)).expect("it opens");
    for i in 0..100_000_u64 {
        tape.push(&i.to_ne_bytes()).expect("there is room");
    }
    assert!(tape.stats().slabs_spilled > 100);
    let per_slab = tape.per_slab();
    let mut left: Option<(*const u64, u64)> = None;
    for i in (0..100_000_u64).rev() {
        let at = tape.top(8).expect("it can be read").expect("there is one").as_ptr().cast::<u64>();
        let mut bytes = [0; 8];
        assert!(tape.pop(&mut bytes).expect("it can be read"));
        assert_eq!(u64::from_ne_bytes(bytes), i);
        if let Some((place, value)) = left {
            // SAFETY: the tape keeps the memory of the slab it left last.
            assert_eq!(unsafe { place.read() }, value);
        }
        if (i as usize).is_multiple_of(per_slab) {
            left = Some((at, i));
        }
    }
    assert_eq!(tape.len(), 0);
}

#[test]
fn a_cursor_that_is_wrong_is_refused() {
    let mut tape = options().open_raw(element(8)).expect("it opens");
    tape.push(&[1; 8]).expect("there is room");
    let cursor = tape.cursor();
    for wrong in [
        cursor.base.wrapping_sub(8),
        cursor.limit.wrapping_add(8),
        cursor.base.wrapping_add(4),
        std::ptr::null_mut(),
    ] {
        assert!(tape.set_top(wrong).is_err());
        assert_eq!(tape.len(), 1);
    }
    assert!(tape.push(&[0; 4]).is_err() && tape.pop(&mut [0; 16]).is_err());
    assert!(tape.extend_from_slice(&[0; 12]).is_err() && tape.pop_slice(&mut [0; 12]).is_err());
    assert_eq!(tape.len(), 1);
}

#[test]
fn options_that_cannot_work_are_refused() {
    assert!(RawElement::new(0, 1).is_err() && RawElement::new(8, 3).is_err());
    assert!(RawElement::new(8192, 8192).is_err() && RawElement::new(usize::MAX & !7, 8).is_err());
    assert!(options().memory(8 << 10).open_raw(element(8)).is_err(), "two slabs are too few");
    assert!(options().slab_bytes(usize::MAX).open_raw(element(8)).is_err());
    assert!(options().spill_to("/nonexistent/of course").open_raw(element(8)).is_err());
    assert!(options().open_raw_lanes(element(8), 0).is_err());
}

#[test]
fn a_small_tape_makes_no_file_and_a_large_one_does() {
    let mut tape = options().open_raw(element(8)).expect("it opens");
    tape.push(&[0; 8]).expect("there is room");
    assert!(tape.stats().tier.contains("no spill file"), "{}", tape.stats());
    tape.extend_from_slice(&vec![1; 256 << 10]).expect("there is room");
    assert!(tape.stats().slabs_spilled > 0, "{}", tape.stats());
}

#[test]
fn lanes_share_a_budget() {
    let lanes = options().open_raw_lanes(element(8), 4).expect("they open");
    for (number, mut lane) in lanes.into_iter().enumerate() {
        assert_eq!(lane.stats().memory, 16 << 10);
        lane.extend_from_slice(&vec![number as u8; 64 << 10]).expect("there is room");
        let mut out = [9; 16];
        assert_eq!(lane.pop_slice(&mut out).expect("it can be read"), 2);
        assert_eq!(out, [number as u8; 16]);
    }
}

#[test]
fn files_go_from_one_tape_to_the_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("saved.tape");
    let mut typed: LayeredTape<f64> = options().open().expect("it opens");
    (0..50_000).for_each(|i| typed.push(f64::from(i)).expect("there is room"));
    typed.save(&path).expect("it is written");
    let mut raw = RawTape::load(&path, options(), element(8)).expect("the size is right");
    assert_eq!(raw.len(), 50_000);
    assert_eq!(raw.get(777).expect("it can be read"), Some(&777.0_f64.to_ne_bytes()[..]));
    raw.save(&path).expect("it is written");
    assert!(RawTape::load(&path, options(), element(16)).is_err());
    assert!(LayeredTape::<f64>::load(&path, options()).is_err(), "nobody knows that it is f64");
    let mut raw = RawTape::load(&path, options(), element(8)).expect("it was saved so");
    let mut bytes = [0; 8];
    assert!(raw.pop(&mut bytes).expect("it can be read"));
    assert_eq!(f64::from_ne_bytes(bytes), 49_999.0);
}
