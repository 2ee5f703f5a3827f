//! Random programs whose loops are proved independent, with every such loop divided into parts however short it is: what
//! they compute in parallel must be what the interpreter computes one iteration after the other.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::random::build::{Sample, Variant, compare};
use crate::random::judge::judge;
use crate::random::{Config, Program, generate};

/// Programs of each kind; the variable `STRATAPE_SAMPLES` asks for more.
fn each() -> usize {
    std::env::var("STRATAPE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// The program's gradient in parallel, if one of its loops is.
fn sample(seed: u64, program: Program) -> Option<Sample> {
    let Program { source, inputs } = program;
    let variant = Variant::parallel(&source)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"))?;
    // Long ones take rustc as long as ten of the usual.
    if variant.items.lines().count() > 500 {
        return None;
    }
    let judged = judge(&source, &inputs, seed);
    let report = judged.unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{source}"));
    (!report.skipped).then(|| Sample::with(seed, source, inputs, vec![variant]))
}

#[test]
fn parallel_gradients_are_the_interpreted_ones() {
    let mut samples = Vec::new();
    for (kind, config) in [Config::core(), Config::control(), Config::loops()].iter().enumerate() {
        let seeds = 70_000 * (kind as u64 + 1)..;
        let found = seeds.take(20_000).filter_map(|seed| sample(seed, generate(seed, config)));
        let before = samples.len();
        samples.extend(found.take(each()));
        assert_eq!(samples.len() - before, each(), "too few programs have independent loops");
    }
    compare("parallel_programs", samples);
}
