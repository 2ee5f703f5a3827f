//! A sample of random programs through rustc: what the emitted gradient computes must be what the
//! interpreter says. One crate holds all of them; it is built and run once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod random;

use random::build::{Sample, compare};
use random::{Config, generate};

/// Programs of each kind; the variable `STRATAPE_SAMPLES` asks for more.
fn each() -> u64 {
    std::env::var("STRATAPE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(25)
}

fn samples(config: &Config, first: u64) -> Vec<Sample> {
    let sample = |seed| {
        let program = generate(seed, config);
        Sample::of(seed, program.source, program.inputs)
    };
    (first..first + each()).map(sample).collect()
}

#[test]
fn compiled_gradients_are_the_interpreted_ones() {
    let mut samples_of_all = Vec::new();
    for (kind, config) in
        [Config::straight(), Config::core(), Config::control(), Config::full()].iter().enumerate()
    {
        samples_of_all.extend(samples(config, 50_000 + 1000 * kind as u64));
    }
    compare("compiled_programs", &samples_of_all);
}
