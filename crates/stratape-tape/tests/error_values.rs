//! Errors say what is wrong and what to do about it, and `kind` tells them apart.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::error::Error;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use common::PAGE;
use stratape_tape::bytemuck::{Pod, Zeroable};
use stratape_tape::tier::{DiskOptions, DiskTier, MemoryTier, TierError};
use stratape_tape::{ErrorKind, IoEngine, LayeredTape, RecordTape, TapeError, TapeOptions};

#[track_caller]
fn assert_says(error: &TapeError, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is missing from: {text}");
    }
}

#[track_caller]
fn refused(options: TapeOptions) -> TapeError {
    options.open::<u64>().expect_err("these options cannot work")
}

#[test]
fn a_missing_directory() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let error = refused(TapeOptions::new().spill_to(&missing));
    match error.kind() {
        ErrorKind::SpillDirectory { path, source } => {
            assert_eq!(*path, missing);
            assert_eq!(source.kind(), io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
    assert_says(&error, &["missing", "exists and is writable", "spill_to"]);
    assert!(error.source().is_some());
}

#[test]
fn a_directory_that_is_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = refused(TapeOptions::new().spill_to(file.path()));
    assert!(matches!(error.kind(), ErrorKind::SpillDirectory { .. }), "{error:?}");
    assert_says(&error, &["spill_to"]);
}

#[test]
fn a_directory_that_is_read_only() {
    if rustix::process::geteuid().is_root() {
        println!("not tested: the modes of directories mean nothing to root");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let error = refused(TapeOptions::new().spill_to(directory.path()));
    assert!(matches!(error.kind(), ErrorKind::SpillDirectory { .. }), "{error:?}");
    assert_says(&error, &["spill_to"]);
}

#[test]
fn slabs_of_zero_bytes() {
    let error = refused(TapeOptions::new().slab_bytes(0));
    assert!(matches!(error.kind(), ErrorKind::Options(_)));
    assert_says(&error, &["slab_bytes", "unset"]);
    assert!(TapeOptions::new().slab_bytes(0).open_records().is_err());
    assert!(TapeOptions::new().slab_bytes(0).open_lanes::<f64>(2).is_err());
}

#[test]
fn zero_slabs_in_flight() {
    let error = refused(TapeOptions::new().in_flight(0));
    assert!(matches!(error.kind(), ErrorKind::Options(_)));
    assert_says(&error, &["in flight", "at least one"]);
}

#[test]
fn a_budget_of_less_than_two_slabs() {
    for memory in [0, PAGE, 2 * PAGE - 1] {
        let error = refused(TapeOptions::new().memory(memory).slab_bytes(PAGE));
        assert!(matches!(error.kind(), ErrorKind::Options(_)));
        assert_says(&error, &["two slabs", "raise `memory`", "lower `slab_bytes`"]);
    }
    let mut tape: LayeredTape<u64> =
        TapeOptions::new().memory(2 * PAGE).slab_bytes(PAGE).open().unwrap();
    assert!(matches!(tape.set_memory(PAGE).unwrap_err().kind(), ErrorKind::Options(_)));
    (0..10_000).for_each(|i| tape.push(i).unwrap());
    assert!(tape.stats().resident_peak <= 2 * PAGE as u64);
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Nothing;

/// Slabs are aligned to pages, so elements that want more would have lain at wrong addresses.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C, align(8192))]
struct OverAligned([u64; 1024]);

// SAFETY: an array of integers that fills the whole struct.
unsafe impl Pod for OverAligned {}

#[test]
fn elements_that_cannot_be_spilled() {
    let error = TapeOptions::new().open::<Nothing>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Options(_)));
    assert_says(&error, &["zero size", "`Tape`"]);
    let error = TapeOptions::new().open_lanes::<Nothing>(1).unwrap_err();
    assert_says(&error, &["zero size"]);

    let error = TapeOptions::new().open::<OverAligned>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Options(_)));
    assert_says(&error, &["8192", "4096", "`Tape`"]);
}

#[test]
fn lanes_for_nobody() {
    let error = TapeOptions::new().open_lanes::<f64>(0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Options(_)));
    assert_says(&error, &["zero lanes", "a worker"]);
}

#[cfg(feature = "compression")]
#[test]
fn compression_of_what_cannot_be_compressed() {
    let error = TapeOptions::new().compression(true).open::<u16>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Options(_)));
    assert_says(&error, &["u16", "f32 and f64"]);
    let error = TapeOptions::new().compression(true).open_records().unwrap_err();
    assert_says(&error, &["f32 and f64"]);
}

#[test]
fn a_disk_limit_that_is_reached() {
    let directory = tempfile::tempdir().unwrap();
    let mut tape: LayeredTape<u64> = TapeOptions::new()
        .spill_to(directory.path())
        .memory(4 * PAGE)
        .slab_bytes(PAGE)
        .disk_limit(10 * PAGE as u64)
        .open()
        .unwrap();
    let mut pushed = 0;
    let error = loop {
        match tape.push(pushed) {
            Ok(()) => pushed += 1,
            Err(error) => break error,
        }
    };
    assert!(error.is_full());
    match error.kind() {
        ErrorKind::Spill { source: TierError::Full { needed, limit }, .. } => {
            assert_eq!((*needed, *limit), (PAGE as u64, Some(10 * PAGE as u64)));
        }
        other => panic!("{other:?}"),
    }
    assert_says(&error, &["limit of 40960 bytes", "Nothing is lost", "set_memory"]);
    assert!(pushed >= 13 * PAGE as u64 / 8, "the limit was not used: {pushed}");
    for expected in (0..pushed).rev() {
        assert_eq!(tape.pop().unwrap(), Some(expected));
    }
}

#[test]
fn a_memory_tier_that_is_full() {
    let tier = Arc::new(MemoryTier::with_limit(3 * PAGE as u64));
    let options = TapeOptions::new().memory(4 * PAGE).slab_bytes(PAGE).tier(tier);
    let mut tape: LayeredTape<u64> = options.open().unwrap();
    let error = (0..10_000).find_map(|i| tape.push(i).err()).unwrap();
    assert!(error.is_full());
}

#[test]
fn an_engine_that_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let options = DiskOptions { engine: IoEngine::Uring, ..DiskOptions::new(directory.path()) };
    match DiskTier::open(options) {
        Ok(_) => println!("not tested: io_uring is there"),
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::EngineUnavailable { .. }));
            assert_says(&error, &["IoEngine::Auto"]);
        }
    }
}

#[test]
fn a_region_beyond_the_budget() {
    let options = TapeOptions::new().memory(8 * PAGE).slab_bytes(PAGE);
    let options = options.tier(Arc::new(MemoryTier::new()));
    let mut tape = options.open_records().unwrap();
    for i in 0..5000_u64 {
        tape.push(i).unwrap();
    }
    let before = tape.bytes();
    let error = tape.reserve::<f64>(8 * PAGE).unwrap_err();
    match error.kind() {
        ErrorKind::RegionTooLarge { bytes, memory } => {
            assert!(*bytes >= 64 * PAGE);
            assert_eq!(*memory, 8 * PAGE);
        }
        other => panic!("{other:?}"),
    }
    assert_says(&error, &["smaller pieces", "raise the budget"]);
    assert_eq!(tape.bytes(), before);
    for i in (0..5000_u64).rev() {
        assert_eq!(tape.pop::<u64>().unwrap(), i);
    }
}

/// Sizes that wrap around when counted in bytes once made a tiny slab with a huge limit.
#[test]
fn a_region_beyond_counting() {
    let layered = TapeOptions::new().memory(8 * PAGE).slab_bytes(PAGE);
    let layered = layered.tier(Arc::new(MemoryTier::new()));
    for mut tape in [RecordTape::new(), layered.open_records().unwrap()] {
        tape.push(1_u64).unwrap();
        for count in [usize::MAX, usize::MAX - 7, usize::MAX / 2, isize::MAX as usize - 4096] {
            let error = tape.reserve::<u8>(count).unwrap_err();
            let told = matches!(
                error.kind(),
                ErrorKind::RegionTooLarge { .. } | ErrorKind::OutOfMemory(_)
            );
            assert!(told, "{error:?}");
            assert!(tape.reserve::<[f64; 4]>(count).is_err());
        }
        assert_eq!(tape.pop::<u64>().unwrap(), 1);
    }
}
