//! An in-memory tape under random operations does what a `Vec` does, for elements of every shape,
//! and an element in a slab never moves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stratape_tape::{Mark, Pool, Tape};

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    TryPush(usize),
    Pop(usize),
    Get(u16),
    GetMut(u16),
    Last,
    LastMut,
    Extend(usize),
    Truncate(u16),
    Mark,
    Rewind,
    Clear,
    Shrink,
    Iterate(u64),
    IterateMut(u64),
    Slices,
    IntoIter(u64, u16),
    CloneAndCompare,
    Move,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..60_usize).prop_map(Step::Push),
        2 => (0..60_usize).prop_map(Step::TryPush),
        5 => (0..60_usize).prop_map(Step::Pop),
        2 => any::<u16>().prop_map(Step::Get),
        2 => any::<u16>().prop_map(Step::GetMut),
        1 => Just(Step::Last),
        1 => Just(Step::LastMut),
        4 => (0..80_usize).prop_map(Step::Extend),
        1 => any::<u16>().prop_map(Step::Truncate),
        2 => Just(Step::Mark),
        1 => Just(Step::Rewind),
        1 => Just(Step::Clear),
        2 => Just(Step::Shrink),
        2 => any::<u64>().prop_map(Step::Iterate),
        2 => any::<u64>().prop_map(Step::IterateMut),
        1 => Just(Step::Slices),
        1 => any::<(u64, u16)>().prop_map(|(turns, part)| Step::IntoIter(turns, part)),
        2 => Just(Step::CloneAndCompare),
        2 => Just(Step::Move),
    ];
    prop::collection::vec(step, 1..60)
}

trait Element: Clone + PartialEq + Debug {
    fn make(number: u64) -> Self;
}

impl Element for u64 {
    fn make(number: u64) -> Self {
        number
    }
}

impl Element for () {
    fn make(_: u64) -> Self {}
}

impl Element for [u64; 100] {
    fn make(number: u64) -> Self {
        std::array::from_fn(|i| number + i as u64)
    }
}

impl Element for [u64; 3] {
    fn make(number: u64) -> Self {
        [number, number + 1, !number]
    }
}

impl Element for String {
    fn make(number: u64) -> Self {
        format!("element {number}")
    }
}

impl Element for Box<u64> {
    fn make(number: u64) -> Self {
        Self::new(number)
    }
}

#[derive(Clone, Debug, PartialEq)]
#[repr(align(256))]
struct Aligned(u64);

impl Element for Aligned {
    fn make(number: u64) -> Self {
        Self(number)
    }
}

/// Aligned to more than a page, and larger than the first slab.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(8192))]
struct BeyondPages(u64);

impl Element for BeyondPages {
    fn make(number: u64) -> Self {
        Self(number)
    }
}

struct Run<T, const N: usize> {
    tape: Tape<T, N>,
    model: Vec<T>,
    marks: Vec<Mark>,
    made: u64,
    /// Multiplies counts where elements are small, so that they cross slabs too.
    scale: usize,
    pool: Pool,
}

impl<T: Element, const N: usize> Run<T, N> {
    fn make(&mut self) -> T {
        self.made += 1;
        T::make(self.made)
    }

    fn index(&self, at: u16) -> usize {
        usize::from(at) * (self.model.len() + 2) / usize::from(u16::MAX)
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Push(count) => {
                for _ in 0..count * self.scale {
                    let value = self.make();
                    self.model.push(value.clone());
                    self.tape.push(value);
                }
            }
            Step::TryPush(count) => {
                for _ in 0..count * self.scale {
                    let value = self.make();
                    self.model.push(value.clone());
                    self.tape.try_push(value).unwrap();
                }
            }
            Step::Pop(count) => {
                (0..count * self.scale).for_each(|_| assert_eq!(self.tape.pop(), self.model.pop()));
            }
            Step::Get(at) => {
                let index = self.index(at);
                assert_eq!(self.tape.get(index), self.model.get(index));
                let address = self.tape.get(index).map_or(0, |place| (&raw const *place).addr());
                assert_eq!(address % align_of::<T>(), 0);
                if index < self.model.len() {
                    assert_eq!(self.tape[index], self.model[index]);
                }
            }
            Step::GetMut(at) => {
                let (index, value) = (self.index(at), self.make());
                assert_eq!(self.tape.get_mut(index), self.model.get_mut(index));
                if let Some(place) = self.tape.get_mut(index) {
                    *place = value.clone();
                    self.model[index] = value;
                }
            }
            Step::Last => assert_eq!(self.tape.last(), self.model.last()),
            Step::LastMut => {
                let value = self.make();
                assert_eq!(self.tape.last_mut(), self.model.last_mut());
                if let Some(place) = self.tape.last_mut() {
                    place.clone_from(&value);
                    *self.model.last_mut().unwrap() = value;
                }
            }
            Step::Extend(count) => {
                let values: Vec<T> = (0..count * self.scale).map(|_| self.make()).collect();
                self.tape.extend_from_slice(&values);
                self.model.extend(values);
            }
            Step::Truncate(at) => {
                let len = self.index(at);
                self.tape.truncate(len);
                self.model.truncate(len);
            }
            Step::Mark => {
                self.marks.push(self.tape.mark());
                assert_eq!(self.tape.mark().height(), self.model.len());
            }
            Step::Rewind => {
                if let Some(mark) = self.marks.pop() {
                    self.tape.rewind(mark);
                    self.model.truncate(mark.height());
                }
            }
            Step::Clear => {
                self.tape.clear();
                self.model.clear();
            }
            Step::Shrink => {
                self.tape.shrink_to_fit();
                assert!(self.tape.capacity() >= self.model.len());
            }
            Step::Iterate(turns) => {
                let ours = self.tape.iter();
                both_ends(ours, self.model.iter(), turns);
                assert!(self.tape.iter().rev().eq(self.model.iter().rev()));
                assert_eq!(self.tape.iter().fold(0, |count, _| count + 1), self.model.len());
            }
            Step::IterateMut(turns) => {
                both_ends(self.tape.iter_mut(), self.model.iter_mut(), turns);
                for (place, model) in self.tape.iter_mut().zip(&mut self.model).step_by(7) {
                    self.made += 1;
                    *place = T::make(self.made);
                    *model = T::make(self.made);
                }
            }
            Step::Slices => {
                let joined: Vec<T> = self.tape.slices().flatten().cloned().collect();
                assert_eq!(joined, self.model);
                let backwards = self.tape.slices().rev().flat_map(|slice| slice.iter().rev());
                assert!(backwards.eq(self.model.iter().rev()));
            }
            Step::IntoIter(turns, part) => {
                let tape =
                    std::mem::replace(&mut self.tape, Tape::with_inline_and_pool(&self.pool));
                let mut model = std::mem::take(&mut self.model).into_iter();
                let mut ours = tape.into_iter();
                let taken = model.len() * usize::from(part) / usize::from(u16::MAX);
                for turn in 0..taken {
                    if turns.rotate_left(turn as u32) & 1 == 0 {
                        assert_eq!(ours.next(), model.next());
                    } else {
                        assert_eq!(ours.next_back(), model.next_back());
                    }
                    assert_eq!(ours.len(), model.len());
                }
            }
            Step::CloneAndCompare => {
                let copy = self.tape.clone();
                assert_eq!(copy, self.tape);
                assert_eq!(format!("{copy:?}").len(), format!("{:?}", self.model).len());
                let other_inline: Tape<T, 5> = self.model.iter().cloned().collect();
                assert_eq!(self.tape, other_inline);
                let mut copy = copy;
                if copy.pop().is_some() {
                    assert_ne!(copy, self.tape);
                    // What happens to the copy does not happen to the original.
                    assert_eq!(self.tape.last(), self.model.last());
                }
                self.tape = self.tape.clone();
            }
            Step::Move => {
                let boxed = Box::new(std::mem::take(&mut self.tape));
                self.tape = *boxed;
            }
        }
        assert_eq!(self.tape.len(), self.model.len());
        assert_eq!(self.tape.is_empty(), self.model.is_empty());
    }
}

fn both_ends<A: PartialEq<B> + Debug, B: Debug>(
    mut ours: impl DoubleEndedIterator<Item = A> + ExactSizeIterator,
    mut model: impl DoubleEndedIterator<Item = B> + ExactSizeIterator,
    turns: u64,
) {
    for turn in 0..=model.len() {
        let (found, expected) = if turns.rotate_left(turn as u32) & 1 == 0 {
            (ours.next(), model.next())
        } else {
            (ours.next_back(), model.next_back())
        };
        match (found, expected) {
            (Some(found), Some(expected)) => assert_eq!(found, expected),
            (None, None) => {}
            (found, expected) => panic!("{found:?} where {expected:?} was expected"),
        }
        assert_eq!(ours.len(), model.len());
    }
}

fn check<T: Element, const N: usize>(cases: u32) {
    let scale = (320 / size_of::<T>().max(1)).clamp(1, 40);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&steps(), |steps| {
            let pool = Pool::new(64 << 20);
            let mut run: Run<T, N> = Run {
                tape: Tape::with_inline_and_pool(&pool),
                model: Vec::new(),
                marks: Vec::new(),
                made: 0,
                scale,
                pool,
            };
            steps.into_iter().for_each(|step| run.step(step));
            assert!(run.tape.iter().eq(&run.model));
            Ok(())
        })
        .unwrap();
}

#[test]
fn numbers() {
    check::<u64, 0>(25);
    check::<u64, 1>(25);
    check::<u64, 3>(25);
    check::<u64, 64>(25);
}

#[test]
fn nothing() {
    check::<(), 0>(20);
    check::<(), 3>(20);
}

/// Eight hundred bytes each, so that few of them cross many slabs.
#[test]
fn large_elements() {
    check::<[u64; 100], 0>(20);
    check::<[u64; 100], 1>(20);
    check::<[u64; 100], 3>(20);
}

#[test]
fn elements_that_do_not_divide_a_slab() {
    check::<[u64; 3], 0>(20);
    check::<[u64; 3], 64>(20);
}

#[test]
fn over_aligned_elements() {
    check::<Aligned, 0>(15);
    check::<Aligned, 3>(15);
    check::<BeyondPages, 0>(8);
    check::<BeyondPages, 1>(8);
}

#[test]
fn elements_that_own_memory() {
    check::<String, 0>(20);
    check::<String, 3>(20);
    check::<Box<u64>, 64>(20);
}

#[test]
fn elements_in_slabs_keep_their_address() {
    let mut tape: Tape<[u64; 100], 3> = Tape::with_inline();
    let address = |tape: &Tape<[u64; 100], 3>, i: usize| (&raw const tape[i]).addr();
    let mut places = Vec::new();
    for i in 0..400 {
        tape.push([i; 100]);
        places.push(address(&tape, i as usize));
    }
    for (top, again) in [(300, 390), (10, 350), (3, 400), (200, 1000)] {
        tape.truncate(top);
        places.truncate(top);
        while tape.len() < again {
            tape.push([tape.len() as u64; 100]);
            places.push(address(&tape, tape.len() - 1));
        }
        tape.shrink_to_fit();
        for (i, &place) in places.iter().enumerate() {
            assert_eq!(tape[i], [i as u64; 100]);
            assert_eq!(address(&tape, i), place, "element {i} moved");
        }
    }
    let moved = Box::new(tape);
    for (i, &place) in places.iter().enumerate().skip(3) {
        assert_eq!(address(&moved, i), place, "element {i} moved with the object");
    }
}

#[test]
fn going_to_and_fro_over_a_boundary_allocates_nothing() {
    let pool = Pool::new(64 << 20);
    let mut tape: Tape<u64, 3> = Tape::with_inline_and_pool(&pool);
    for _ in 0..4 {
        let boundary = tape.capacity();
        while tape.len() <= boundary {
            tape.push(0);
        }
        let before = (tape.capacity(), pool.idle_bytes());
        for _ in 0..1000 {
            tape.truncate(boundary - 1);
            tape.extend([1, 2, 3]);
            tape.pop();
            tape.pop();
            tape.push(4);
            assert_eq!((tape.capacity(), pool.idle_bytes()), before);
        }
    }
    let (len, used) = (tape.len() as u64, (tape.capacity() - 3) * size_of::<u64>());
    drop(tape);
    assert_eq!(pool.idle_bytes(), used);
    let mut next: Tape<u64, 3> = Tape::with_inline_and_pool(&pool);
    next.extend(0..len);
    assert_eq!(pool.idle_bytes(), 0, "the pool's memory was not used again");
}

#[test]
#[should_panic(expected = "the tape holds 2 elements but the index is 2")]
fn indexing_beyond_the_top_panics() {
    let tape = Tape::from_iter([1, 2]);
    let _ = tape[2];
}
