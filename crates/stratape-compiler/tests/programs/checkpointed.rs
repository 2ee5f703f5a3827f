//! Random programs with `#[checkpoint]` on some of their loops, through rustc: the gradient must be that of the program without.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::random::build::{Sample, Variant, compare};
use crate::random::judge::judge;
use crate::random::{Config, Program, generate};

/// Programs of each kind; the variable `STRATAPE_SAMPLES` asks for more.
fn each() -> usize {
    std::env::var("STRATAPE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

fn samples(config: &Config, first: u64) -> Vec<Sample> {
    let mut samples = Vec::new();
    for seed in first.. {
        if samples.len() >= each() {
            break;
        }
        let Program { source, inputs } = generate(seed, config);
        // Long ones take us and rustc as long as ten of the usual.
        if source.lines().count() > 28 {
            continue;
        }
        let short = |variant: &Variant| variant.items.lines().count() < 500;
        let Some(variant) = Variant::checkpointed(&source, seed).filter(short) else { continue };
        let judged = judge(&source, &inputs, seed);
        let report = judged.unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{source}"));
        if !report.skipped {
            samples.push(Sample::with(seed, source, inputs, vec![variant]));
        }
    }
    samples
}

#[test]
fn stored_loops_have_the_gradient_of_taped_ones() {
    let mut all = samples(&Config::core(), 70_000);
    all.extend(samples(&Config::control(), 71_000));
    all.extend(samples(&Config::full(), 72_000));
    all.extend(samples(&Config::loops(), 73_000));
    compare("checkpointed_programs", all);
}
