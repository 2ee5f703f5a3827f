//! The reference programs: the gradient that Stratape generates beside one written by hand.
//!
//! Each program's file holds the primal as a user would write it, a gradient written by hand in
//! the shape that compilers like (*shaped*: extents fixed, rows as vectors, sums that keep their
//! order), and the inputs. The shaped gradient is what ours is measured against.

// The primals keep the loops and arrays of their definitions; the gradients follow them.
#![allow(
    clippy::collapsible_if,
    clippy::manual_memcpy,
    clippy::needless_range_loop,
    clippy::useless_vec
)]

mod gaussian;
mod gravity;
mod lenet;
mod logsum;
mod mass_spring;
mod matdescent;
mod mlp;
mod mttkrp;
mod nbody;
mod nn;
mod numbers;
mod pathfinder;
#[cfg(feature = "peers")]
mod peers;
mod product;
mod program;
mod recurrence;
mod rosenbrock;
mod somier;
mod sum;
#[cfg(test)]
mod tests;
mod thomas;

use std::hint::black_box;

pub use program::{Expected, Gradient, Inputs, Primal, Program, Shadows};

use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::{Line, Runner};

/// How many terms are computed side by side where their sum has an order to keep.
const LANES: usize = 8;

fn blocks(values: &[f64]) -> &[[f64; LANES]] {
    values.as_chunks().0
}

fn blocks_mut(values: &mut [f64]) -> &mut [[f64; LANES]] {
    values.as_chunks_mut().0
}

/// How large the programs are whose definition leaves it open.
///
/// ```
/// use stratape_bench::programs::{Scale, program};
///
/// let length = |scale| program("sum", scale).map(|sum| sum.inputs.active[0].len());
/// assert!(length(Scale::Small) < length(Scale::Quick));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The sizes of the definitions: up to a million.
    Full,
    /// A tenth of it.
    Quick,
    /// As small as shows the inner loops, for counting instructions.
    Small,
}

impl Scale {
    fn of(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => full / 10,
            Self::Small => full / 1000,
        }
    }
}

/// A name and what makes the program of that name.
type Entry = (&'static str, fn(Scale) -> Program);

const ENTRIES: &[Entry] = &[
    ("gravity", |_| gravity::program()),
    ("nn", |_| nn::program()),
    ("logsum", |_| logsum::program()),
    ("matdescent", |_| matdescent::program()),
    ("mttkrp", |_| mttkrp::program()),
    ("somier", |_| somier::program()),
    ("lenet", |_| lenet::program()),
    ("pathfinder", |_| pathfinder::program()),
    ("mass_spring", |_| mass_spring::program()),
    ("recurrence", |scale| recurrence::program(recurrence::steps(scale))),
    ("gaussian", |scale| gaussian::program(scale.of(1_000_000))),
    ("product", |scale| product::program(scale.of(1_000_000))),
    ("sum", |scale| sum::program(scale.of(1_000_000))),
    ("nbody", |scale| nbody::program(if scale == Scale::Small { 64 } else { 512 })),
    ("mlp", |_| mlp::program()),
    ("thomas", |scale| thomas::program(scale.of(100_000))),
    ("rosenbrock", |scale| rosenbrock::program(scale.of(100_000))),
];

/// The names of all programs.
///
/// ```
/// assert!(stratape_bench::programs::names().any(|name| name == "lenet"));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|(name, _)| *name)
}

/// The program of that name.
///
/// ```
/// use stratape_bench::programs::{Scale, program};
///
/// assert!(program("gravity", Scale::Small).is_some() && program("levity", Scale::Small).is_none());
/// ```
#[must_use]
pub fn program(name: &str, scale: Scale) -> Option<Program> {
    let (_, make) = ENTRIES.iter().find(|(entry, _)| *entry == name)?;
    Some(make(scale))
}

/// What is told of a program.
const KINDS: [&str; 4] = ["primal", BY_HAND, "ours", "tape"];

/// What the gradients by hand are called in the reports.
const BY_HAND: &str = "shaped";

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let scale = if runner.quick() { Scale::Quick } else { Scale::Full };
    for (name, make) in ENTRIES {
        let mut report = Report { runner, program: name };
        if KINDS.iter().any(|kind| report.wants(kind)) && report.runner.begins(name) {
            measure(&make(scale), &mut report)?;
        }
        #[cfg(feature = "peers")]
        {
            let peers = peers::of(name, scale);
            if peers.iter().any(|(peer, _)| report.wants(peer)) && report.runner.begins(name) {
                measure_peers(&make(scale), &peers, &mut report)?;
            }
        }
    }
    Ok(())
}

/// Tells what was asked for.
struct Report<'a, 'b> {
    runner: &'a mut Runner<'b>,
    program: &'a str,
}

impl Report<'_, '_> {
    fn case(&self, kind: &str) -> String {
        format!("{}/{kind}", self.program)
    }

    fn wants(&self, kind: &str) -> bool {
        self.runner.selects(&self.case(kind))
    }

    fn rounds(&self) -> usize {
        if self.runner.quick() { 9 } else { 31 }
    }

    fn time(
        &mut self,
        kind: &str,
        seconds: f64,
        against: &str,
        reference: f64,
    ) -> Result<(), BenchError> {
        self.line(kind, 1e6 * seconds, against, 1e6 * reference, "us")
    }

    fn line(
        &mut self,
        kind: &str,
        ours: f64,
        against: &str,
        theirs: f64,
        unit: &str,
    ) -> Result<(), BenchError> {
        if !self.wants(kind) {
            return Ok(());
        }
        let case = &self.case(kind);
        let line = Line { bench: "programs", case, ours, against, theirs, unit, aim: None };
        self.runner.tell(&line)
    }
}

fn measure(program: &Program, report: &mut Report<'_, '_>) -> Result<(), BenchError> {
    let mut inputs = program.inputs.clone();
    let mut primal = || sink((program.primal)(black_box(&mut inputs)));
    let mut ours = calling(program, &program.ours);
    let (primal, ours) = if let Some(by_hand) = &program.by_hand {
        let mut by_hand = calling(program, by_hand);
        let [primal, by_hand, ours] =
            best_of(report.rounds(), [&mut primal, &mut by_hand, &mut ours]);
        report.time("primal", primal, BY_HAND, by_hand)?;
        report.time(BY_HAND, by_hand, "primal", primal)?;
        report.time("ours", ours, BY_HAND, by_hand)?;
        (primal, ours)
    } else {
        let [primal, ours] = best_of(report.rounds(), [&mut primal, &mut ours]);
        report.time("primal", primal, "ours", ours)?;
        (primal, ours)
    };
    report.time("ours", ours, "primal", primal)?;
    let tape_bytes = stratape::__private::take_last_bytes() as f64;
    let active: usize = program.inputs.active.iter().map(Vec::len).sum();
    let inputs = (active * size_of::<f64>()) as f64;
    report.line("tape", tape_bytes, "active inputs", inputs, "bytes")
}

/// The gradient as a thing to be timed, with the zeros that it adds to.
fn calling(program: &Program, gradient: &Gradient) -> impl FnMut() {
    let (mut inputs, mut shadows) = (program.inputs.clone(), program.inputs.shadows());
    move || {
        shadows.clear();
        sink(gradient(black_box(&mut inputs), black_box(&mut shadows)));
    }
}

/// Not in turn with the reference: a peer's tape of many megabytes leaves the allocator in a state
/// that would slow the reference down, and the ratios are far from one.
#[cfg(feature = "peers")]
fn measure_peers(
    program: &Program,
    peers: &[(&str, Gradient)],
    report: &mut Report<'_, '_>,
) -> Result<(), BenchError> {
    let Some(by_hand) = &program.by_hand else { return Ok(()) };
    let [by_hand] = best_of(report.rounds(), [&mut calling(program, by_hand)]);
    for (name, gradient) in peers {
        if report.wants(name) {
            let [peer] = best_of(7, [&mut calling(program, gradient)]);
            report.time(name, peer, BY_HAND, by_hand)?;
        }
    }
    Ok(())
}
