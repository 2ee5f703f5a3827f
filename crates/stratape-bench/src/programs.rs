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
pub(crate) mod numbers;
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

use clap::ValueEnum;

pub use program::{Expected, Gradient, Inputs, Primal, Program, Shadows};

use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::{Line, Runner};
use crate::wild;

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

    /// The size of a program whose full size is soon done.
    pub(crate) fn or_small(self, full: usize, small: usize) -> usize {
        if self == Self::Small { small } else { full }
    }
}

/// A name and what makes the program of that name.
pub(crate) type Entry = (&'static str, fn(Scale) -> Program);

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

/// The names of the programs of a set.
///
/// ```
/// use stratape_bench::programs::{Set, names};
///
/// assert!(names(Set::Reference).any(|name| name == "lenet"));
/// ```
pub fn names(set: Set) -> impl Iterator<Item = &'static str> {
    set.collections().iter().flat_map(|collection| collection.entries).map(|(name, _)| *name)
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
    let mut entries = ENTRIES.iter().chain(wild::ENTRIES);
    let (_, make) = entries.find(|(entry, _)| *entry == name)?;
    Some(make(scale))
}

/// Which programs the suite runs.
///
/// ```
/// use stratape_bench::{Settings, Suite, count, programs::Set};
///
/// let of = |set| count(Suite::Programs, &Settings { set, ..Settings::default() });
/// assert!(of(Set::All) > of(Set::Wild));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Set {
    /// The reference programs, for which the compiler is tuned.
    #[default]
    Reference,
    /// Programs as users write them, for which it is not tuned.
    Wild,
    /// Both.
    All,
}

impl Set {
    fn collections(self) -> &'static [Collection] {
        const BOTH: &[Collection] = &[
            Collection { name: "reference", entries: ENTRIES },
            Collection { name: "wild", entries: wild::ENTRIES },
        ];
        match self {
            Self::Reference => &BOTH[..1],
            Self::Wild => &BOTH[1..],
            Self::All => BOTH,
        }
    }
}

/// Programs of one origin.
struct Collection {
    name: &'static str,
    entries: &'static [Entry],
}

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    for collection in runner.set().collections() {
        run_collection(collection, runner)?;
    }
    Ok(())
}

fn run_collection(collection: &Collection, runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let scale = if runner.quick() { Scale::Quick } else { Scale::Full };
    let kinds = [GRADIENT, BY_HAND, "tape", "state"];
    let mut means = Means::default();
    for (name, make) in collection.entries {
        let mut report = Report { runner, program: name };
        if kinds.iter().any(|kind| report.wants(kind)) && report.runner.begins(name) {
            means.add(&measure(&make(scale), &mut report)?);
        }
        #[cfg(feature = "peers")]
        {
            let peers = peers::of(name, scale);
            if peers.iter().any(|(peer, _)| report.wants(peer)) && report.runner.begins(name) {
                measure_peers(&make(scale), &peers, &mut report)?;
            }
        }
    }
    means.tell(collection, runner);
    Ok(())
}

/// The cases of a program, and what they are compared with.
const GRADIENT: &str = "gradient";
const BY_HAND: &str = "by_hand";
const FUNCTION: &str = "function";
const ADJOINT_BY_HAND: &str = "adjoint by hand";

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

/// Seconds that the parts of a program take.
struct Times {
    primal: f64,
    ours: f64,
    by_hand: Option<f64>,
}

fn measure(program: &Program, report: &mut Report<'_, '_>) -> Result<Times, BenchError> {
    let mut inputs = program.inputs.clone();
    let mut primal = || sink((program.primal)(black_box(&mut inputs)));
    let mut ours = calling(program, &program.ours);
    let times = if let Some(by_hand) = &program.by_hand {
        let mut by_hand = calling(program, by_hand);
        let [primal, by_hand, ours] =
            best_of(report.rounds(), [&mut primal, &mut by_hand, &mut ours]);
        report.time(BY_HAND, by_hand, FUNCTION, primal)?;
        report.time(GRADIENT, ours, ADJOINT_BY_HAND, by_hand)?;
        Times { primal, ours, by_hand: Some(by_hand) }
    } else {
        let [primal, ours] = best_of(report.rounds(), [&mut primal, &mut ours]);
        Times { primal, ours, by_hand: None }
    };
    report.time(GRADIENT, times.ours, FUNCTION, times.primal)?;
    let tape_bytes = stratape::__private::take_last_bytes() as f64;
    let active: usize = program.inputs.active.iter().map(Vec::len).sum();
    let inputs = (active * size_of::<f64>()) as f64;
    report.line("tape", tape_bytes, "active inputs", inputs, "bytes")?;
    if let Some(state_bytes) = program.state_bytes {
        report.line("state", state_bytes as f64, "active inputs", inputs, "bytes")?;
    }
    Ok(times)
}

/// What the ratios of several programs come to.
#[derive(Default)]
struct Means {
    to_primal: Vec<f64>,
    to_by_hand: Vec<f64>,
}

impl Means {
    fn add(&mut self, times: &Times) {
        self.to_primal.push(times.ours / times.primal);
        self.to_by_hand.extend(times.by_hand.map(|by_hand| times.ours / by_hand));
    }

    fn tell(&self, collection: &Collection, runner: &mut Runner<'_>) {
        for (against, ratios) in [(FUNCTION, &self.to_primal), (ADJOINT_BY_HAND, &self.to_by_hand)]
        {
            if ratios.len() > 1 {
                let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
                runner.remark(&format!(
                    "{}: geometric mean of gradient / {against} over {} programs: {:.3}",
                    collection.name,
                    ratios.len(),
                    mean.exp()
                ));
            }
        }
    }
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
            report.time(name, peer, ADJOINT_BY_HAND, by_hand)?;
        }
    }
    Ok(())
}
