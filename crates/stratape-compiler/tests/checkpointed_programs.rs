//! Random programs with `#[checkpoint]` on some of their loops, through rustc: the gradient must be that of the program without.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod random;

use random::build::{Sample, compare};
use random::{Config, generate};
use stratape_compiler::{front, outline};

/// Programs of each kind; the variable `STRATAPE_SAMPLES` asks for more.
fn each() -> usize {
    std::env::var("STRATAPE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

/// Marks loops, chosen by the seed.
fn marked(source: &str, seed: u64) -> String {
    let mut marked = String::new();
    for (number, line) in source.lines().enumerate() {
        let words = line.trim_start();
        let words = words
            .split_once(": ")
            .filter(|(label, _)| label.starts_with('\''))
            .map_or(words, |(_, rest)| rest);
        let is_loop = ["for ", "while ", "loop {"].iter().any(|word| words.starts_with(word));
        if is_loop && !(seed + number as u64 * 7).is_multiple_of(3) {
            marked += &format!("#[checkpoint(slots = {})]\n", 1 + seed % 4);
        }
        marked += line;
        marked.push('\n');
    }
    marked
}

/// Whether all that the marked loops carry can be stored.
fn can_be_stored(source: &str) -> bool {
    let item = syn::parse_str(source).unwrap();
    let mut function = front::lower(&item, &front::Options::default()).unwrap();
    !function.checkpoints.is_empty() && outline::outline(&mut function).is_ok()
}

fn samples(config: &Config, first: u64) -> Vec<Sample> {
    let mut samples = Vec::new();
    for seed in first.. {
        if samples.len() >= each() {
            break;
        }
        let program = generate(seed, config);
        let source = marked(&program.source, seed);
        if can_be_stored(&source) {
            samples.push(Sample::of(seed, source, program.inputs));
        }
    }
    samples
}

#[test]
fn stored_loops_have_the_gradient_of_taped_ones() {
    let mut all = samples(&Config::core(), 70_000);
    all.extend(samples(&Config::control(), 71_000));
    all.extend(samples(&Config::full(), 72_000));
    compare("checkpointed_programs", &all);
}
