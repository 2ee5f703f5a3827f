//! Taking something else off a record tape than what was put on it: named in debug builds, and
//! never dangerous in release builds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use stratape_tape::bytemuck::{Pod, Zeroable};
use stratape_tape::{ErrorKind, RecordTape, TapeError};

#[track_caller]
fn assert_names(error: &TapeError, words: &[&str]) {
    assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }), "{error:?}");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is missing from: {text}");
    }
}

#[test]
fn an_empty_tape_says_so() {
    let mut tape = RecordTape::new();
    assert_names(&tape.pop::<f64>().unwrap_err(), &["f64", "empty"]);
    assert_names(&tape.take::<f64>().unwrap_err(), &["f64", "empty"]);
    assert_names(&tape.commit::<f64>(0).unwrap_err(), &["f64", "empty"]);
    tape.push(1_u8).unwrap();
    tape.pop::<u8>().unwrap();
    assert_names(&tape.pop::<u8>().unwrap_err(), &["u8", "empty"]);
}

#[test]
fn a_commit_beyond_the_region_is_refused() {
    let mut tape = RecordTape::new();
    tape.reserve::<u32>(3).unwrap().copy_from_slice(&[1, 2, 3]);
    assert_names(&tape.commit::<u32>(4).unwrap_err(), &["region of 4", "region of 3", "u32"]);
    tape.commit::<u32>(3).unwrap();
    tape.commit::<u32>(2).unwrap();
    assert_eq!(tape.take::<u32>().unwrap(), [1, 2]);
    assert!(tape.is_empty());
}

/// Aligned to more than slabs are.
#[derive(Clone, Copy, Debug, PartialEq, Zeroable)]
#[repr(C, align(8192))]
struct OverAligned([u64; 1024]);

// SAFETY: an array of integers that fills the whole struct.
unsafe impl Pod for OverAligned {}

/// Aligned to more than slabs are, and empty.
#[derive(Clone, Copy, Debug, PartialEq, Zeroable)]
#[repr(C, align(65536))]
struct Nothing;

// SAFETY: there is nothing in it.
unsafe impl Pod for Nothing {}

/// `reserve` refuses such types when it is compiled; `take`, in release builds, once handed out references to them
/// wherever the region happened to lie.
#[test]
fn a_region_of_records_aligned_to_more_than_slabs_is_refused() {
    for words in [0_u64, 1, 2, 511, 1024, 2048, 8192, 16384] {
        let mut tape = RecordTape::new();
        (0..words).for_each(|i| tape.push(i).unwrap());
        tape.reserve::<u64>(1024).unwrap().fill(7);
        assert_names(&tape.take::<OverAligned>().unwrap_err(), &["OverAligned"]);
        assert_names(&tape.commit::<OverAligned>(1).unwrap_err(), &["OverAligned"]);
        assert_eq!(tape.take::<u64>().unwrap(), [7; 1024]);
        tape.reserve::<[u64; 0]>(3).unwrap();
        assert_names(&tape.take::<Nothing>().unwrap_err(), &["Nothing"]);
        assert_names(&tape.commit::<Nothing>(0).unwrap_err(), &["Nothing"]);
    }
}

/// Values are copied, so their alignment does not matter.
#[test]
fn values_of_any_alignment_come_back() {
    let mut tape = RecordTape::new();
    for i in 0..5_u64 {
        tape.push(i as u8).unwrap();
        tape.push(OverAligned([i; 1024])).unwrap();
        tape.push(Nothing).unwrap();
    }
    for i in (0..5_u64).rev() {
        assert_eq!(tape.pop::<Nothing>().unwrap(), Nothing);
        assert_eq!(tape.pop::<OverAligned>().unwrap(), OverAligned([i; 1024]));
        assert_eq!(tape.pop::<u8>().unwrap(), i as u8);
    }
    assert!(tape.is_empty());
}

#[cfg(debug_assertions)]
mod debug {
    use super::*;

    #[test]
    fn another_type_is_named() {
        let mut tape = RecordTape::new();
        tape.push(1.5_f64).unwrap();
        assert_names(&tape.pop::<u64>().unwrap_err(), &["a `u64`", "a `f64`"]);
        assert_names(&tape.pop::<[u8; 3]>().unwrap_err(), &["[u8; 3]", "a `f64`"]);
        assert_eq!(tape.pop::<f64>().unwrap(), 1.5);
    }

    #[test]
    fn a_region_of_another_type_is_named() {
        let mut tape = RecordTape::new();
        tape.reserve::<f64>(3).unwrap().fill(1.0);
        assert_names(&tape.take::<u64>().unwrap_err(), &["`u64`", "a region of 3 `f64`"]);
        assert_names(&tape.commit::<u64>(1).unwrap_err(), &["`u64`", "a region of 3 `f64`"]);
        assert_eq!(tape.take::<f64>().unwrap(), [1.0; 3]);
    }

    #[test]
    fn a_value_is_not_a_region() {
        let mut tape = RecordTape::new();
        tape.reserve::<f64>(3).unwrap().fill(1.0);
        assert_names(&tape.pop::<f64>().unwrap_err(), &["a `f64`", "a region of 3 `f64`"]);
        tape.push(2_u64).unwrap();
        assert_names(&tape.take::<u64>().unwrap_err(), &["region of", "a `u64`"]);
        assert_eq!(tape.pop::<u64>().unwrap(), 2);
        assert_eq!(tape.take::<f64>().unwrap(), [1.0; 3]);
    }

    #[test]
    fn runs_of_one_type_are_counted_right() {
        let mut tape = RecordTape::new();
        for i in 0..5_u8 {
            tape.push(i).unwrap();
        }
        let mark = tape.mark();
        tape.push(9_u8).unwrap();
        tape.push(1.0_f32).unwrap();
        assert_names(&tape.pop::<u8>().unwrap_err(), &["a `u8`", "a `f32`"]);
        tape.rewind(mark).unwrap();
        for i in (0..5_u8).rev() {
            assert!(tape.pop::<u16>().is_err());
            assert_eq!(tape.pop::<u8>().unwrap(), i);
        }
        assert!(tape.pop::<u8>().is_err());
    }
}

/// Wrong operations give wrong values or errors. Run with `--release`.
#[cfg(not(debug_assertions))]
mod release {
    use std::sync::Arc;

    use super::*;
    use crate::common::PAGE;
    use proptest::prelude::*;
    use stratape_tape::TapeOptions;
    use stratape_tape::bytemuck::{Pod, Zeroable};
    use stratape_tape::tier::MemoryTier;

    #[derive(Clone, Copy, Debug, Pod, Zeroable)]
    #[repr(C, align(64))]
    struct Line([u64; 8]);

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u64),
        PushLarge,
        Reserve(usize),
        ReserveLines(usize),
        Pop(u8),
        Take(u8),
        Commit(u8, usize),
        Mark,
        Rewind(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            // Small numbers look like the footer of a region.
            4 => (0..20_u64).prop_map(Step::Push),
            1 => any::<u64>().prop_map(Step::Push),
            1 => Just(Step::PushLarge),
            2 => (0..700_usize).prop_map(Step::Reserve),
            1 => (0..20_usize).prop_map(Step::ReserveLines),
            5 => (0..4_u8).prop_map(Step::Pop),
            5 => (0..4_u8).prop_map(Step::Take),
            2 => (0..4_u8, 0..30_usize).prop_map(|(kind, count)| Step::Commit(kind, count)),
            1 => Just(Step::Mark),
            1 => (0..100_usize).prop_map(Step::Rewind),
        ];
        prop::collection::vec(step, 1..150)
    }

    fn touch<R: Pod>(region: Result<&mut [R], TapeError>) {
        if let Ok(region) = region {
            assert_eq!(region.as_ptr().addr() % align_of::<R>(), 0);
            region.fill(R::zeroed());
        }
    }

    fn run(mut tape: RecordTape, steps: &[Step]) {
        let mut marks = vec![tape.mark()];
        for &step in steps {
            match step {
                Step::Push(value) => tape.push(value).unwrap(),
                Step::PushLarge => tape.push([3_u64; 64]).unwrap(),
                Step::Reserve(count) => touch(tape.reserve::<f64>(count)),
                Step::ReserveLines(count) => touch(tape.reserve::<Line>(count)),
                Step::Pop(0) => drop(tape.pop::<u8>()),
                Step::Pop(1) => drop(tape.pop::<u128>()),
                Step::Pop(2) => drop(tape.pop::<[u64; 64]>()),
                Step::Pop(_) => drop(tape.pop::<Line>()),
                Step::Take(0) => touch(tape.take::<u8>()),
                Step::Take(1) => touch(tape.take::<f64>()),
                Step::Take(2) => touch(tape.take::<[u64; 3]>()),
                Step::Take(_) => touch(tape.take::<Line>()),
                Step::Commit(0, count) => drop(tape.commit::<u8>(count)),
                Step::Commit(1, count) => drop(tape.commit::<f64>(count)),
                Step::Commit(2, count) => drop(tape.commit::<[u64; 3]>(count)),
                Step::Commit(_, count) => drop(tape.commit::<Line>(count)),
                Step::Mark => marks.push(tape.mark()),
                Step::Rewind(number) => drop(tape.rewind(marks[number % marks.len()])),
            }
        }
        while tape.pop::<u8>().is_ok() {}
        assert!(tape.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 500,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn wrong_operations_do_no_harm(steps in steps()) {
            run(RecordTape::new(), &steps);
            let options = TapeOptions::new().tier(Arc::new(MemoryTier::new()));
            let options = options.slab_bytes(256).memory(16 * PAGE);
            run(options.open_records().unwrap(), &steps);
        }
    }
}
