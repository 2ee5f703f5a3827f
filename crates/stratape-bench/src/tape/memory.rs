//! Push and pop in memory, warm and fresh.

use std::hint::black_box;

use stratape::tape::{Pool, RecordTape, Tape};

use super::per_element;
use super::references::{Doubling, Stack, Walked};
use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::Runner;

impl Stack for Tape<f64> {
    #[inline(always)]
    fn push(&mut self, value: f64) {
        self.push(value);
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<f64> {
        self.pop()
    }
}

pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let sizes: &[usize] = if runner.quick() {
        &[64, 1024, 16_384, 100_000, 1_000_000]
    } else {
        &[64, 1024, 16_384, 100_000, 1_000_000, 10_000_000]
    };
    for &n in sizes {
        warm_chain(runner, n)?;
        warm_independent(runner, n)?;
        warm_words(runner, n)?;
        slices(runner, n)?;
    }
    fresh(runner)?;
    growing(runner)?;
    boundary(runner)
}

/// A recurrence like those that need a tape: each value depends on the one before, and so does
/// the adjoint that consumes it. Values stay of order one.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    pub(crate) a: f64,
    pub(crate) b: f64,
}

impl Chain {
    pub(crate) fn new() -> Self {
        Self { a: black_box(0.999_999), b: black_box(1e-6) }
    }

    #[inline(always)]
    pub(crate) fn forward(self, x: f64) -> f64 {
        self.a * x + self.b
    }

    #[inline(always)]
    pub(crate) fn reverse(self, adjoint: f64, x: f64) -> f64 {
        self.a * adjoint + self.b * x
    }
}

/// The forward pass pushes the states, the reverse pass pops them.
#[inline(always)]
pub(crate) fn chain_through(stack: &mut impl Stack, chain: Chain, x0: f64, n: usize) -> f64 {
    let mut x = x0;
    for _ in 0..n {
        stack.push(x);
        x = chain.forward(x);
    }
    let mut adjoint = x;
    while let Some(x) = stack.pop() {
        adjoint = chain.reverse(adjoint, x);
    }
    adjoint
}

/// The same on an array of the right size: no stack at all.
#[inline(always)]
fn chain_on_array(array: &mut [f64], chain: Chain, x0: f64) -> f64 {
    let mut x = x0;
    for place in array.iter_mut() {
        *place = x;
        x = chain.forward(x);
    }
    let mut adjoint = x;
    for &x in array.iter().rev() {
        adjoint = chain.reverse(adjoint, x);
    }
    adjoint
}

fn rounds(n: usize) -> usize {
    if n >= 1_000_000 { 7 } else { 15 }
}

fn warm_chain(runner: &mut Runner<'_>, n: usize) -> Result<(), BenchError> {
    let case = format!("push_pop_chain_warm_{n}");
    if !runner.wants(&case) {
        return Ok(());
    }
    let chain = Chain::new();
    let mut tape = Tape::new();
    let mut array = vec![0.0; n];
    // Each call starts from what the one before returned, as the steps of an optimiser do: short
    // calls would otherwise overlap in the processor, and the chain would not be one.
    let (mut x, mut y) = (1.0, 1.0);
    let [ours, theirs] = best_of(
        rounds(n),
        [&mut || x = 0.5 + 0.1 * chain_through(&mut tape, chain, x, n), &mut || {
            y = 0.5 + 0.1 * chain_on_array(black_box(&mut array), chain, y);
        }],
    );
    sink((x, y));
    per_element(runner, &case, "raw array", n, ours, theirs, Some("<= 1.10"))
}

/// Values that do not depend on each other.
#[inline(never)]
fn independent_through(stack: &mut impl Stack, scale: f64, n: usize) -> f64 {
    for i in 0..n {
        stack.push(i as f64 * scale);
    }
    let mut sum = 0.0;
    while let Some(value) = stack.pop() {
        sum += value;
    }
    sum
}

#[inline(never)]
fn independent_on_array(array: &mut [f64], scale: f64) -> f64 {
    for (i, place) in array.iter_mut().enumerate() {
        *place = i as f64 * scale;
    }
    array.iter().rev().fold(0.0, |sum, value| sum + value)
}

fn warm_independent(runner: &mut Runner<'_>, n: usize) -> Result<(), BenchError> {
    let case = format!("push_pop_independent_warm_{n}");
    if !runner.wants(&case) {
        return Ok(());
    }
    let scale = black_box(0.5);
    let mut tape = Tape::new();
    let mut array = vec![0.0; n];
    let [ours, theirs] = best_of(
        rounds(n),
        [&mut || sink(independent_through(&mut tape, scale, n)), &mut || {
            sink(independent_on_array(&mut array, scale));
        }],
    );
    per_element(runner, &case, "raw array", n, ours, theirs, None)
}

/// Words that do not depend on each other, folded by an operation that has no order, so that the loops over an array are vectorised
/// and nothing but the stack itself is in the way of the others: the least flattering case there is.
#[inline(never)]
fn words_on_array(array: &mut [u64], factor: u64) -> u64 {
    for (i, place) in array.iter_mut().enumerate() {
        *place = (i as u64).wrapping_mul(factor);
    }
    array.iter().rev().fold(0, |sum, word| sum ^ word)
}

#[inline(never)]
fn words_through_vec(vec: &mut Vec<u64>, factor: u64, n: usize) -> u64 {
    for i in 0..n {
        vec.push((i as u64).wrapping_mul(factor));
    }
    let mut sum = 0;
    while let Some(word) = vec.pop() {
        sum ^= word;
    }
    sum
}

#[inline(never)]
fn words_through_tape(tape: &mut Tape<u64>, factor: u64, n: usize) -> u64 {
    for i in 0..n {
        tape.push((i as u64).wrapping_mul(factor));
    }
    let mut sum = 0;
    while let Some(word) = tape.pop() {
        sum ^= word;
    }
    sum
}

#[inline(never)]
fn words_through_records(tape: &mut RecordTape, factor: u64, n: usize) -> u64 {
    for i in 0..n {
        if tape.push((i as u64).wrapping_mul(factor)).is_err() {
            return 0;
        }
    }
    let mut sum = 0;
    for _ in 0..n {
        let Ok(word) = tape.pop::<u64>() else { return 0 };
        sum ^= word;
    }
    sum
}

fn warm_words(runner: &mut Runner<'_>, n: usize) -> Result<(), BenchError> {
    let case = format!("push_pop_words_warm_{n}");
    let records_case = format!("record_push_pop_words_warm_{n}");
    if !runner.wants(&case) && !runner.wants(&records_case) {
        return Ok(());
    }
    let factor = black_box(0x9e37_79b9_7f4a_7c15);
    let (mut tape, mut records) = (Tape::new(), RecordTape::new());
    let (mut array, mut vec) = (vec![0; n], Vec::with_capacity(n));
    let [ours, recorded, raw, pushed] = best_of(
        rounds(n).max(9),
        [
            &mut || sink(words_through_tape(&mut tape, factor, n)),
            &mut || sink(words_through_records(&mut records, factor, n)),
            &mut || sink(words_on_array(black_box(&mut array), factor)),
            &mut || sink(words_through_vec(&mut vec, factor, n)),
        ],
    );
    per_element(runner, &case, "raw array", n, ours, raw, None)?;
    per_element(runner, &case, "Vec of the right capacity", n, ours, pushed, None)?;
    per_element(runner, &records_case, "raw array", n, recorded, raw, None)
}

fn slices(runner: &mut Runner<'_>, n: usize) -> Result<(), BenchError> {
    let case = format!("extend_from_slice_warm_{n}");
    if !runner.wants(&case) {
        return Ok(());
    }
    let source: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let mut tape = Tape::new();
    let mut array = vec![0.0; n];
    let [ours, theirs] = best_of(
        2 * rounds(n),
        [
            &mut || {
                tape.extend_from_slice(black_box(&source));
                tape.clear();
                black_box(&mut tape);
            },
            &mut || black_box(&mut array).copy_from_slice(black_box(&source)),
        ],
    );
    per_element(runner, &case, "memcpy", n, ours, theirs, Some("<= 1.10"))
}

/// Memory straight from the system, page faults and all.
fn fresh(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let n = 10_000_000;
    let case = format!("push_pop_chain_fresh_{n}");
    if !runner.wants(&case) {
        return Ok(());
    }
    let chain = Chain::new();
    let nothing_kept = Pool::new(0);
    let [ours, theirs] = best_of(
        if runner.quick() { 3 } else { 7 },
        [
            &mut || {
                let mut tape = Tape::with_pool(&nothing_kept);
                black_box(chain_through(&mut tape, chain, 1.0, n));
            },
            &mut || {
                let mut array = vec![0.0; n];
                black_box(chain_on_array(black_box(&mut array), chain, 1.0));
            },
        ],
    );
    per_element(runner, &case, "raw array, first touch", n, ours, theirs, Some("<= 1.15"))
}

/// Stacks that start empty and grow.
fn growing(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let n = 10_000_000;
    let chain = Chain::new();
    let nothing_kept = Pool::new(0);
    let case = format!("push_pop_chain_growing_{n}");
    if runner.wants(&case) {
        let [ours, vec, doubling] = best_of(
            if runner.quick() { 3 } else { 7 },
            [
                &mut || {
                    let mut tape = Tape::with_pool(&nothing_kept);
                    black_box(chain_through(&mut tape, chain, 1.0, n));
                },
                &mut || sink(chain_through(&mut Vec::new(), chain, 1.0, n)),
                &mut || sink(chain_through(&mut Doubling::new(), chain, 1.0, n)),
            ],
        );
        per_element(runner, &case, "Vec growing from empty", n, ours, vec, Some("< 1"))?;
        per_element(runner, &case, "doubling buffer", n, ours, doubling, Some("< 1"))?;
    }
    // The walked list is quadratic: ten million elements would take minutes.
    let n = if runner.quick() { 100_000 } else { 1_000_000 };
    let case = format!("push_pop_chain_growing_{n}");
    if runner.wants(&case) {
        let [ours, walked] = best_of(
            3,
            [
                &mut || {
                    let mut tape = Tape::with_pool(&nothing_kept);
                    black_box(chain_through(&mut tape, chain, 1.0, n));
                },
                &mut || sink(chain_through(&mut Walked::new(), chain, 1.0, n)),
            ],
        );
        per_element(runner, &case, "slab list walked from its head", n, ours, walked, Some("< 1"))?;
    }
    Ok(())
}

/// Up and down over a slab boundary, against the same inside a slab.
fn boundary(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let case = "boundary_ping_pong";
    if !runner.wants(case) {
        return Ok(());
    }
    const SWINGS: usize = 1000;
    let mut at_boundary = Tape::new();
    let full = loop {
        at_boundary.push(1.0);
        if at_boundary.len() > 10_000 && at_boundary.len() == at_boundary.capacity() {
            break at_boundary.len();
        }
    };
    let mut inside = Tape::new();
    (0..full / 2).for_each(|_| inside.push(1.0));
    let swing = |tape: &mut Tape<f64>| {
        for _ in 0..SWINGS {
            tape.push(black_box(1.0));
            tape.push(black_box(2.0));
            black_box(tape.pop());
            black_box(tape.pop());
            black_box(tape.pop());
            tape.push(black_box(1.0));
        }
    };
    let [ours, theirs] = best_of(15, [&mut || swing(&mut at_boundary), &mut || swing(&mut inside)]);
    per_element(runner, case, "the same inside a slab", 6 * SWINGS, ours, theirs, None)
}
