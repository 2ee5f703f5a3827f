//! A layered tape under random operations does what a `Vec` does, over every tier, and stays
//! within its budget.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::fmt::Debug;
use std::path::Path;

use common::{PAGE, Setup};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stratape_tape::bytemuck::{self, Pod};
use stratape_tape::{LayeredTape, Mark, TapeError, TapeOptions};

/// Elements in a slab, times the scale of the run.
const PER_SLAB: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
    Last,
    LastMut,
    Get(u16),
    Extend(usize),
    PopSlice(usize),
    Truncate(u16),
    TruncateToBoundary(u16),
    Mark,
    Rewind,
    Clear,
    Forward(usize),
    Backward(usize),
    BothEnds(usize),
    SetMemory(usize),
    Shrink,
    SaveAndLoad,
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..50_usize).prop_map(Step::Push),
        5 => (0..50_usize).prop_map(Step::Pop),
        2 => Just(Step::Last),
        2 => Just(Step::LastMut),
        4 => any::<u16>().prop_map(Step::Get),
        5 => (0..60_usize).prop_map(Step::Extend),
        4 => (0..60_usize).prop_map(Step::PopSlice),
        1 => any::<u16>().prop_map(Step::Truncate),
        1 => any::<u16>().prop_map(Step::TruncateToBoundary),
        2 => Just(Step::Mark),
        2 => Just(Step::Rewind),
        1 => Just(Step::Clear),
        2 => (0..60_usize).prop_map(Step::Forward),
        2 => (0..60_usize).prop_map(Step::Backward),
        1 => (0..60_usize).prop_map(Step::BothEnds),
        2 => (2..9_usize).prop_map(Step::SetMemory),
        1 => Just(Step::Shrink),
        1 => Just(Step::SaveAndLoad),
    ];
    prop::collection::vec(step, 1..most)
}

trait Element: Pod + Debug {
    fn make(number: u64) -> Self;
}

impl Element for u64 {
    fn make(number: u64) -> Self {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Element for [u64; 3] {
    fn make(number: u64) -> Self {
        [number, !number, number << 7]
    }
}

impl Element for u8 {
    fn make(number: u64) -> Self {
        (number % 251) as u8
    }
}

impl Element for f64 {
    fn make(number: u64) -> Self {
        match number % 97 {
            // Bit patterns that a careless encoder would tidy up.
            0 => Self::from_bits(0x7ff0_0000_dead_beef),
            1 => -0.0,
            2 => Self::from_bits(1),
            _ => (number as Self) * 0.25,
        }
    }
}

impl Element for f32 {
    fn make(number: u64) -> Self {
        match number % 97 {
            0 => Self::from_bits(0xffc1_2345),
            1 => -0.0,
            _ => (number % 100_000) as Self,
        }
    }
}

/// Bytes, so that NaNs and negative zeros count.
#[track_caller]
fn assert_same<T: Element>(left: &[T], right: &[T]) {
    if bytes(left) != bytes(right) {
        panic!("left {left:?}\nright {right:?}");
    }
}

fn bytes<T: Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

struct Run<'a, T: Element> {
    tape: LayeredTape<T>,
    model: Vec<T>,
    marks: Vec<Mark>,
    made: u64,
    /// Multiplies counts where slabs hold more than `PER_SLAB` elements.
    scale: usize,
    largest_budget: usize,
    options: &'a dyn Fn() -> TapeOptions,
    directory: &'a Path,
}

impl<T: Element> Run<'_, T> {
    fn make(&mut self) -> T {
        self.made += 1;
        T::make(self.made)
    }

    fn step(&mut self, step: Step) -> Result<(), TapeError> {
        let scale = self.scale;
        match step {
            Step::Push(count) => {
                for _ in 0..count * scale {
                    let value = self.make();
                    self.tape.push(value)?;
                    self.model.push(value);
                }
            }
            Step::Pop(count) => {
                for _ in 0..count * scale {
                    let (found, expected) = (self.tape.pop()?, self.model.pop());
                    assert_same(found.as_slice(), expected.as_slice());
                }
            }
            Step::Last => {
                let found = self.tape.last()?;
                let expected = self.model.last().copied();
                assert_same(found.as_slice(), expected.as_slice());
            }
            Step::LastMut => {
                let value = self.make();
                let (place, model) = (self.tape.last_mut()?, self.model.last_mut());
                assert_eq!(place.is_some(), model.is_some());
                if let (Some(place), Some(model)) = (place, model) {
                    assert_same(&[*place], &[*model]);
                    (*place, *model) = (value, value);
                }
            }
            Step::Get(at) => {
                // One in a while beyond the end.
                let index = usize::from(at) * (self.model.len() + 3) / usize::from(u16::MAX);
                let found = self.tape.get(index)?;
                let expected = self.model.get(index).copied();
                assert_same(found.as_slice(), expected.as_slice());
            }
            Step::Extend(count) => {
                let values: Vec<T> = (0..count * scale).map(|_| self.make()).collect();
                self.tape.extend_from_slice(&values)?;
                self.model.extend_from_slice(&values);
            }
            Step::PopSlice(count) => {
                let mut out = vec![T::make(0); count * scale];
                let taken = self.tape.pop_slice(&mut out)?;
                let keep = self.model.len().saturating_sub(out.len());
                assert_same(&out[..taken], &self.model[keep..]);
                self.model.truncate(keep);
            }
            Step::Truncate(at) => self.truncate(fraction(at, self.model.len()))?,
            Step::TruncateToBoundary(at) => {
                let slab = PER_SLAB * scale;
                self.truncate(fraction(at, self.model.len()) / slab * slab)?;
            }
            Step::Mark => self.marks.push(self.tape.mark()),
            Step::Rewind => {
                if let Some(mark) = self.marks.pop() {
                    self.tape.rewind(mark)?;
                    self.model.truncate(mark.height());
                }
            }
            Step::Clear => {
                self.tape.clear();
                self.model.clear();
            }
            Step::Forward(count) => {
                let found: Vec<T> =
                    self.tape.iter().take(count * scale).collect::<Result<_, _>>()?;
                assert_same(&found, &self.model[..found.len()]);
                assert_eq!(found.len(), self.model.len().min(count * scale));
            }
            Step::Backward(count) => {
                let found = self.tape.iter().rev().take(count * scale);
                let found: Vec<T> = found.collect::<Result<_, _>>()?;
                let expected: Vec<T> =
                    self.model.iter().rev().copied().take(count * scale).collect();
                assert_same(&found, &expected);
            }
            Step::BothEnds(count) => self.both_ends(count * scale)?,
            Step::SetMemory(slabs) => {
                let memory = slabs * self.slab_bytes();
                self.tape.set_memory(memory)?;
                self.largest_budget = self.largest_budget.max(memory);
            }
            Step::Shrink => self.tape.shrink_to_fit(),
            Step::SaveAndLoad => self.save_and_load()?,
        }
        Ok(())
    }

    fn truncate(&mut self, len: usize) -> Result<(), TapeError> {
        self.tape.truncate(len)?;
        self.model.truncate(len);
        Ok(())
    }

    fn both_ends(&mut self, count: usize) -> Result<(), TapeError> {
        let (mut found, mut expected) = (self.tape.iter(), self.model.iter());
        for turn in 0..count {
            let (found, expected) = if turn % 3 == 0 {
                (found.next(), expected.next())
            } else {
                (found.next_back(), expected.next_back())
            };
            let found = found.transpose()?;
            assert_same(found.as_slice(), expected.copied().as_slice());
        }
        Ok(())
    }

    /// Goes on with the tape read back from a file.
    fn save_and_load(&mut self) -> Result<(), TapeError> {
        self.check_statistics();
        let path = self.directory.join("saved.tape");
        self.tape.save(&path)?;
        let options = (self.options)();
        self.tape = LayeredTape::load(&path, options)?;
        self.largest_budget = self.tape.stats().memory as usize;
        Ok(())
    }

    fn slab_bytes(&self) -> usize {
        self.tape.stats().slab_bytes as usize
    }

    fn check_statistics(&self) {
        let stats = self.tape.stats();
        assert!(
            stats.resident_peak <= self.largest_budget as u64,
            "over the budget of {}:\n{stats}",
            self.largest_budget
        );
        assert_eq!((stats.failed_writes, stats.failed_reads), (0, 0), "{stats}");
        assert_eq!(stats.elements, self.model.len() as u64);
    }
}

fn fraction(at: u16, whole: usize) -> usize {
    usize::from(at) * whole / usize::from(u16::MAX)
}

fn run<T: Element>(
    steps: &[Step],
    scale: usize,
    directory: &Path,
    options: &dyn Fn() -> TapeOptions,
) -> Result<bool, TapeError> {
    let tape: LayeredTape<T> = options().open()?;
    let largest_budget = tape.stats().memory as usize;
    let mut run = Run {
        tape,
        model: Vec::new(),
        marks: Vec::new(),
        made: 0,
        scale,
        largest_budget,
        options,
        directory,
    };
    let mut spilled = 0;
    for &step in steps {
        let before = run.tape.stats().slabs_spilled;
        run.step(step)?;
        spilled += run.tape.stats().slabs_spilled.saturating_sub(before);
        assert_eq!(run.tape.len(), run.model.len(), "after {step:?}");
    }
    run.check_statistics();
    while let Some(value) = run.tape.pop()? {
        assert_same(&[value], run.model.pop().as_slice());
    }
    assert!(run.model.is_empty());
    Ok(spilled > 0)
}

/// Runs `cases` random scripts over one setup. Some of them must have spilled, or nothing was
/// tested.
fn check<T: Element>(cases: u32, scale: usize, options: impl Fn(&Path) -> TapeOptions) {
    let directory = tempfile::tempdir().unwrap();
    let spills = std::cell::Cell::new(0);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let strategy = (steps(80), 2..7_usize);
    TestRunner::new(config)
        .run(&strategy, |(steps, slabs)| {
            let slab = (PER_SLAB * scale * size_of::<T>()).next_power_of_two();
            let block = (PER_SLAB * scale * size_of::<T>()).next_multiple_of(PAGE);
            let options = || options(directory.path()).slab_bytes(slab).memory(slabs * block);
            let spilled = run::<T>(&steps, scale, directory.path(), &options);
            let spilled = spilled.map_err(|error| TestCaseError::fail(error.to_string()))?;
            spills.set(spills.get() + u32::from(spilled));
            Ok(())
        })
        .unwrap();
    assert!(spills.get() > 0, "none of {cases} runs spilled");
}

#[test]
fn over_memory() {
    check::<u64>(150, 1, |path| Setup::Memory.options(path));
    check::<u8>(50, 1, |path| Setup::MemoryUnchecked.options(path).in_flight(1));
}

#[test]
fn over_two_tiers() {
    check::<u64>(100, 1, |path| Setup::Stacked.options(path));
}

#[test]
fn over_a_disk_with_threads() {
    check::<[u64; 3]>(40, 1, |path| Setup::Threads.options(path));
    check::<u64>(40, 1, |path| Setup::ThreadsCached.options(path));
}

#[test]
fn over_a_disk_with_the_engine_found_here() {
    check::<[u64; 3]>(40, 1, |path| Setup::Auto.options(path));
    check::<u64>(40, 1, |path| Setup::AutoCachedUnchecked.options(path));
}

#[cfg(feature = "compression")]
#[test]
fn compressed() {
    // Slabs of several pages: a slab of one page cannot get smaller.
    check::<f64>(3, 256, |path| Setup::Memory.options(path).compression(true));
    check::<f32>(3, 512, |path| Setup::Auto.options(path).compression(true));
}
