//! Saved tapes made to do harm: every checksum is right, and the numbers under them are absurd.
//!
//! A sparse file of 200 GiB, which takes a page on the disk, once made `load` and `inspect` ask for as much memory
//! and abort.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::PAGE;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stratape_tape::tier::MemoryTier;
use stratape_tape::{
    ErrorKind, LayeredTape, RecordTape, TapeError, TapeOptions, checksum, inspect,
};

const GIB: u64 = 1 << 30;

// Where the numbers of the header lie; docs/tape-format.md draws it.
const PER_SLAB: u64 = 48;
const SLABS: u64 = 56;
const USED: u64 = 64;
const TABLE_OFFSET: u64 = 72;
const TABLE_CHECKSUM: u64 = 80;
const HEADER_CHECKSUM: u64 = 1112;

fn options() -> TapeOptions {
    TapeOptions::new().tier(Arc::new(MemoryTier::new())).slab_bytes(PAGE).memory(8 * PAGE)
}

struct Forger {
    path: PathBuf,
    file: File,
}

impl Forger {
    /// Begins with a tape that is whole.
    fn elements(directory: &Path) -> Self {
        let path = directory.join("elements.tape");
        let mut tape = options().open::<u64>().unwrap();
        tape.extend_from_slice(&[7; 2000]).unwrap();
        tape.save(&path).unwrap();
        Self::of(path)
    }

    fn records(directory: &Path) -> Self {
        let path = directory.join("records.tape");
        let mut tape = options().open_records().unwrap();
        tape.reserve::<u64>(100).unwrap().fill(7);
        tape.save(&path).unwrap();
        Self::of(path)
    }

    fn of(path: PathBuf) -> Self {
        let file = File::options().read(true).write(true).open(&path).unwrap();
        Self { path, file }
    }

    fn set(&self, offset: u64, value: u64) {
        self.file.write_all_at(&value.to_ne_bytes(), offset).unwrap();
    }

    /// The lines of the table, at an offset where the file shall have it.
    fn set_table(&self, offset: u64, lines: &[[u64; 4]]) {
        let bytes: Vec<u8> = lines.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
        self.file.set_len(offset).unwrap();
        self.file.write_all_at(&bytes, offset).unwrap();
        self.set(SLABS, lines.len() as u64);
        self.set(USED, lines.iter().map(|line| line[2]).fold(0, u64::wrapping_add));
        self.set(TABLE_OFFSET, offset);
        self.file.write_all_at(&checksum(&bytes).to_ne_bytes(), TABLE_CHECKSUM).unwrap();
    }

    fn sign(&self) {
        let mut header = vec![0; HEADER_CHECKSUM as usize];
        self.file.read_exact_at(&mut header, 0).unwrap();
        self.file.write_all_at(&checksum(&header).to_ne_bytes(), HEADER_CHECKSUM).unwrap();
    }

    /// What becomes of it, which must be an error three times.
    fn refused(&self) -> [TapeError; 2] {
        self.sign();
        let loaded = match self.path.file_name().unwrap().to_str().unwrap() {
            "elements.tape" => LayeredTape::<u64>::load(&self.path, options()).err(),
            _ => RecordTape::load(&self.path, options()).err(),
        };
        [loaded.expect("it loads"), inspect(&self.path).expect_err("it is inspected")]
    }
}

fn assert_not_this_tape(errors: &[TapeError]) {
    for error in errors {
        assert!(matches!(error.kind(), ErrorKind::NotThisTape { .. }), "{error:?}");
    }
}

#[test]
fn a_table_larger_than_memory() {
    let directory = tempfile::tempdir().unwrap();
    for forger in [Forger::elements(directory.path()), Forger::records(directory.path())] {
        let offset = PAGE as u64;
        forger.set(TABLE_OFFSET, offset);
        forger.set(SLABS, 200 * GIB / 32);
        forger.file.set_len(offset + 200 * GIB).unwrap();
        assert_not_this_tape(&forger.refused());
        // As many slabs as there is room for in a file that is nearly all holes.
        forger.set(TABLE_OFFSET, 200 * GIB);
        forger.set(SLABS, 200 * GIB / PAGE as u64);
        forger.file.set_len(200 * GIB + 200 * GIB / PAGE as u64 * 32).unwrap();
        assert_not_this_tape(&forger.refused());
    }
}

#[test]
fn slabs_that_overlap_or_leave_gaps() {
    let directory = tempfile::tempdir().unwrap();
    let page = PAGE as u64;
    let line = |offset: u64, len: u64, used: u64| [offset, len, used, 0];
    for lines in [
        vec![line(page, page, page); 1000],
        vec![line(page, page, page), line(page, page, page)],
        vec![line(page, page, page), line(3 * page, page, page)],
        vec![line(0, page, page)],
        vec![line(page, u64::MAX - page + 1, page)],
        vec![line(page, page, u64::MAX - 7)],
        vec![line(page, 0, 0)],
        vec![line(page, page, page + 8)],
        vec![line(page, page, 4)],
    ] {
        for forger in [Forger::elements(directory.path()), Forger::records(directory.path())] {
            forger.set_table(4 * page, &lines);
            assert_not_this_tape(&forger.refused());
        }
    }
}

#[test]
fn slabs_of_absurd_sizes() {
    let directory = tempfile::tempdir().unwrap();
    for per_slab in [0, 3, 1 << 40, 1 << 59, 1 << 60, 1 << 61, 1 << 63, u64::MAX] {
        for forger in [Forger::elements(directory.path()), Forger::records(directory.path())] {
            forger.set(PER_SLAB, per_slab);
            assert_not_this_tape(&forger.refused());
            // No slab at all, so that nothing contradicts the size.
            forger.set_table(PAGE as u64, &[]);
            forger.sign();
            let _ = inspect(&forger.path);
            let error = LayeredTape::<u64>::load(&forger.path, options());
            let records = RecordTape::load(&forger.path, options());
            assert!(error.is_err() && records.is_err());
        }
    }
}

/// Set for the process that shall look at a slab larger than the memory it may have.
const LOOK_AT: &str = "STRATAPE_TEST_LOOK_AT";

/// Not a test of its own: what the process with little memory does.
#[test]
fn look_at_a_large_slab_when_told_to() {
    let Some(path) = std::env::var_os(LOOK_AT).map(PathBuf::from) else {
        return;
    };
    let limits = getrlimit(Resource::As);
    let current = Some(256 << 20);
    setrlimit(Resource::As, Rlimit { current, maximum: limits.maximum }).unwrap();
    assert!(matches!(inspect(&path).unwrap_err().kind(), ErrorKind::NotThisTape { .. }));
    let error = RecordTape::load(&path, options()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RegionTooLarge { .. }), "{error:?}");
    // Here the budget allows what the system does not.
    let error = RecordTape::load(&path, options().memory(usize::MAX)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory(_)), "{error:?}");
}

#[test]
fn a_slab_larger_than_memory() {
    if common::is_sanitized() {
        println!("not tested: under a sanitizer addresses cannot be limited");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let forger = Forger::records(directory.path());
    let (page, len) = (PAGE as u64, GIB / 2);
    forger.set_table(page + len, &[[page, len, len, 1]]);
    forger.sign();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "look_at_a_large_slab_when_told_to", "--nocapture"])
        .env(LOOK_AT, &forger.path)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}
