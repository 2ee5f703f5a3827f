//! A record tape under random operations gives back what was put on it, in reverse, over every
//! tier, and stays within its budget.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::path::Path;

use common::{PAGE, Setup};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stratape_tape::bytemuck::{self, Pod, Zeroable};
use stratape_tape::{ErrorKind, RecordMark, RecordTape, TapeError, TapeOptions};

/// Words of eight bytes in an ordinary slab.
const PER_SLAB: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
struct Wide([u64; 2]);

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

#[derive(Clone, Copy, Debug)]
enum Step {
    Put(Kind),
    Take(usize),
    Mark,
    Rewind,
    Clear,
    SetMemory(usize),
    Shrink,
    SaveAndLoad,
}

/// What is put on the tape; the numbers are counts of records.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Byte,
    Float,
    Triple,
    Large,
    Array,
    Floats(usize),
    Bytes(usize),
    Wides(usize),
    Lines(usize),
    Quads(usize),
    /// Reserved, then committed to fewer.
    Part(usize, usize),
    /// Pushed in runs, the last of them longer than needed by so many.
    Runs(usize, usize),
}

/// What must come back.
#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Byte(u8),
    Float(f64),
    Triple([u64; 3]),
    Large(u128),
    Array(Box<[u64; 64]>),
    Floats(Vec<f64>),
    Bytes(Vec<u8>),
    Wides(Vec<Wide>),
    Lines(Vec<Line>),
    Quads(Vec<[f64; 4]>),
    Runs(Vec<[u64; 3]>),
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => Just(Kind::Byte),
        3 => Just(Kind::Float),
        2 => Just(Kind::Triple),
        2 => Just(Kind::Large),
        1 => Just(Kind::Array),
        3 => (0..40_usize).prop_map(Kind::Floats),
        2 => (0..100_usize).prop_map(Kind::Bytes),
        2 => (0..20_usize).prop_map(Kind::Wides),
        2 => (0..5_usize).prop_map(Kind::Lines),
        2 => (0..12_usize).prop_map(Kind::Quads),
        // Larger than a slab, and larger than the page it takes.
        1 => (PER_SLAB..1500_usize).prop_map(Kind::Floats),
        2 => (0..60_usize, 0..60_usize).prop_map(|(a, b)| Kind::Part(a.max(b), a.min(b))),
        3 => (0..80_usize, 0..9_usize).prop_map(|(count, more)| Kind::Runs(count, more)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        40 => kind().prop_map(Step::Put),
        8 => (1..6_usize).prop_map(Step::Take),
        1 => (1..60_usize).prop_map(Step::Take),
        2 => Just(Step::Mark),
        1 => Just(Step::Rewind),
        1 => Just(Step::Shrink),
        1 => Just(Step::SaveAndLoad),
        1 => (8..20_usize).prop_map(Step::SetMemory),
    ];
    let step = prop_oneof![200 => step, 1 => Just(Step::Clear)];
    prop::collection::vec(step, 1..250)
}

struct Run<'a> {
    tape: RecordTape,
    model: Vec<Entry>,
    marks: Vec<(RecordMark, usize)>,
    made: u64,
    largest_budget: usize,
    options: &'a dyn Fn() -> TapeOptions,
    directory: &'a Path,
}

fn fill<R: Pod>(region: &mut [R], number: u64) -> Vec<R> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(region);
    for (at, byte) in bytes.iter_mut().enumerate() {
        // Small exponents: no bit pattern of these is a NaN, so that `==` is enough.
        *byte = ((number as usize + at) % 63) as u8;
    }
    region.to_vec()
}

impl Run<'_> {
    fn region<R: Pod>(&mut self, count: usize) -> Result<Vec<R>, TapeError> {
        let number = self.made;
        let region = self.tape.reserve::<R>(count)?;
        assert_eq!(region.len(), count);
        assert_eq!(region.as_ptr().addr() % align_of::<R>(), 0);
        Ok(fill(region, number))
    }

    fn put(&mut self, kind: Kind) -> Result<(), TapeError> {
        self.made += 1;
        let number = self.made;
        let entry = match kind {
            Kind::Byte => {
                self.tape.push(number as u8)?;
                Entry::Byte(number as u8)
            }
            Kind::Float => {
                self.tape.push(number as f64)?;
                Entry::Float(number as f64)
            }
            Kind::Triple => {
                let value = [number, !number, number << 5];
                self.tape.push(value)?;
                Entry::Triple(value)
            }
            Kind::Large => {
                let value = u128::from(number) << 90 | 5;
                self.tape.push(value)?;
                Entry::Large(value)
            }
            Kind::Array => {
                self.tape.push([number; 64])?;
                Entry::Array(Box::new([number; 64]))
            }
            Kind::Floats(count) => Entry::Floats(self.region(count)?),
            Kind::Bytes(count) => Entry::Bytes(self.region(count)?),
            Kind::Wides(count) => Entry::Wides(self.region(count)?),
            Kind::Lines(count) => Entry::Lines(self.region(count)?),
            Kind::Quads(count) => Entry::Quads(self.region(count)?),
            Kind::Part(reserved, kept) => {
                let mut records = self.region::<Wide>(reserved)?;
                self.tape.commit::<Wide>(kept)?;
                records.truncate(kept);
                Entry::Wides(records)
            }
            Kind::Runs(count, more) => {
                let mut all: Vec<[u64; 3]> = Vec::new();
                while all.len() < count {
                    let run = self.tape.push_run::<[u64; 3]>(count - all.len() + more, 5)?;
                    all.extend(fill(run, number));
                }
                self.tape.take_back::<[u64; 3]>(all.len() - count)?;
                all.truncate(count);
                Entry::Runs(all)
            }
        };
        self.model.push(entry);
        Ok(())
    }

    /// Takes so many records of runs: one by itself, the others in runs.
    fn runs(&mut self, count: usize) -> Result<Vec<[u64; 3]>, TapeError> {
        let mut found = Vec::new();
        if count > 0 {
            found.push(self.tape.pop()?);
        }
        while found.len() < count {
            let run = self.tape.pop_run::<[u64; 3]>(count - found.len(), 5)?;
            found.extend(run.iter().rev());
        }
        found.reverse();
        Ok(found)
    }

    fn take(&mut self) -> Result<(), TapeError> {
        let Some(expected) = self.model.pop() else {
            assert!(self.tape.is_empty());
            let error = self.tape.pop::<u64>().unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }));
            return Ok(());
        };
        let found = match &expected {
            Entry::Byte(_) => Entry::Byte(self.tape.pop()?),
            Entry::Float(_) => Entry::Float(self.tape.pop()?),
            Entry::Triple(_) => Entry::Triple(self.tape.pop()?),
            Entry::Large(_) => Entry::Large(self.tape.pop()?),
            Entry::Array(_) => Entry::Array(Box::new(self.tape.pop()?)),
            Entry::Floats(_) => Entry::Floats(self.tape.take()?.to_vec()),
            Entry::Bytes(_) => Entry::Bytes(self.tape.take()?.to_vec()),
            Entry::Wides(_) => Entry::Wides(self.tape.take()?.to_vec()),
            Entry::Lines(_) => Entry::Lines(self.tape.take()?.to_vec()),
            Entry::Quads(_) => Entry::Quads(self.tape.take()?.to_vec()),
            Entry::Runs(all) => Entry::Runs(self.runs(all.len())?),
        };
        assert_eq!(found, expected);
        // A mark above the tape must not be used any more.
        let height = self.model.len();
        self.marks.retain(|&(_, marked)| marked <= height);
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), TapeError> {
        match step {
            Step::Put(kind) => self.put(kind)?,
            Step::Take(count) => (0..count).try_for_each(|_| self.take())?,
            Step::Mark => self.marks.push((self.tape.mark(), self.model.len())),
            Step::Rewind => {
                if let Some((mark, height)) = self.marks.pop() {
                    self.tape.rewind(mark)?;
                    self.model.truncate(height);
                }
            }
            Step::Clear => {
                self.tape.clear();
                self.model.clear();
                self.marks.clear();
            }
            Step::SetMemory(pages) => {
                self.tape.set_memory(pages * PAGE)?;
                self.largest_budget = self.largest_budget.max(pages * PAGE);
            }
            Step::Shrink => self.tape.shrink_to_fit(),
            Step::SaveAndLoad => {
                self.check_statistics();
                let path = self.directory.join("saved.tape");
                let bytes = self.tape.bytes();
                self.tape.save(&path)?;
                self.tape = RecordTape::load(&path, (self.options)())?;
                self.largest_budget = self.tape.stats().memory as usize;
                self.marks.clear();
                assert_eq!(self.tape.bytes(), bytes);
            }
        }
        Ok(())
    }

    fn check_statistics(&self) {
        let stats = self.tape.stats();
        assert!(stats.resident_peak <= self.largest_budget as u64, "over the budget:\n{stats}");
        assert_eq!((stats.failed_writes, stats.failed_reads), (0, 0), "{stats}");
    }
}

fn check(cases: u32, options: impl Fn(&Path) -> TapeOptions) {
    let directory = tempfile::tempdir().unwrap();
    let spills = std::cell::Cell::new(0);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(steps(), 8..16_usize), |(steps, pages)| {
            // The largest region takes three pages: less than half of the smallest budget.
            let options =
                || options(directory.path()).slab_bytes(PER_SLAB * 8).memory(pages * PAGE);
            let tape = options().open_records().unwrap();
            let mut run = Run {
                tape,
                model: Vec::new(),
                marks: Vec::new(),
                made: 0,
                largest_budget: pages * PAGE,
                options: &options,
                directory: directory.path(),
            };
            let mut spilled = false;
            for step in steps {
                run.step(step).map_err(|error| TestCaseError::fail(error.to_string()))?;
                assert_eq!(run.tape.is_empty(), run.tape.bytes() == 0);
                let stats = run.tape.stats();
                spilled |= stats.slabs_spilled + stats.slabs_moving > 0;
            }
            run.check_statistics();
            while !run.model.is_empty() {
                run.take().unwrap();
            }
            assert!(run.tape.is_empty(), "{} bytes are left", run.tape.bytes());
            spills.set(spills.get() + u32::from(spilled));
            Ok(())
        })
        .unwrap();
    assert!(spills.get() > 0, "none of {cases} runs spilled");
}

#[test]
fn over_memory() {
    check(60, |path| Setup::Memory.options(path));
    check(20, |path| Setup::Memory.options(path).in_flight(1));
}

#[test]
fn over_two_tiers() {
    check(30, |path| Setup::Stacked.options(path));
}

#[test]
fn over_a_disk_with_threads() {
    check(20, |path| Setup::Threads.options(path));
    check(10, |path| Setup::ThreadsCached.options(path));
}

#[test]
fn over_a_disk_with_the_engine_found_here() {
    check(20, |path| Setup::Auto.options(path));
    check(10, |path| Setup::AutoCachedUnchecked.options(path));
}

/// A mark outlives what was on the tape when it was set. One set in a slab made for a large region
/// once led far outside the ordinary slab that came to lie in its place.
#[test]
fn a_mark_that_no_longer_fits_is_refused() {
    let options = Setup::Memory.options(Path::new(".")).slab_bytes(PER_SLAB * 8);
    let mut tape = options.memory(64 * PAGE).open_records().unwrap();
    tape.push(1_u64).unwrap();
    tape.reserve::<f64>(10_000).unwrap().fill(2.0);
    let mark = tape.mark();
    tape.take::<f64>().unwrap();
    assert_eq!(tape.pop::<u64>().unwrap(), 1);
    for i in 0..3 * PER_SLAB as u64 {
        tape.push(i).unwrap();
    }
    let error = tape.rewind(mark).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }), "{error}");
    for i in (0..3 * PER_SLAB as u64).rev() {
        assert_eq!(tape.pop::<u64>().unwrap(), i);
    }
    let error = tape.rewind(mark).unwrap_err();
    assert!(error.to_string().contains("above the tape"), "{error}");
}
