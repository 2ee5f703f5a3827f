//! Random programs through rustc: what the emitted gradient computes must be what the interpreter says, and its value must
//! have the bits of the program's. Some go through in several ways: on a tape that spills, with loops under
//! `#[checkpoint]`, in parallel, with helpers written out by hand, called from outside their module.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::random::build::{Sample, Variant, Wrong, differences};
use crate::random::judge::judge;
use crate::random::{Config, Program, generate, rewrite, shrink};

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The kinds of programs, one after the other.
fn config_of(seed: u64) -> Config {
    match seed % 8 {
        0..=3 => Config::loops(),
        4 | 5 => Config::everyday(),
        6 => Config::full(),
        _ => Config::everyday().single(),
    }
}

/// Whether a variant is compiled: rustc takes as long for one of a thousand lines as for ten of the usual, and
/// those find more. One seed in twenty is taken as it comes.
fn is_short(seed: u64, variant: &Variant) -> bool {
    seed.is_multiple_of(20) || variant.items.lines().count() < 400
}

/// The program of a seed with all its variants; nothing if its outputs are not finite.
fn sample(seed: u64, varied: bool) -> Result<Option<Sample>, String> {
    let Program { source, inputs } = generate(seed, &config_of(seed));
    let wrong = |message: &dyn std::fmt::Display| format!("seed {seed}: {message}\n{source}");
    match judge(&source, &inputs, seed) {
        Ok(report) if report.skipped => return Ok(None),
        Ok(_) => {}
        Err(failure) => return Err(wrong(&failure)),
    }
    let mut variants = variants(&source, seed, varied).map_err(|error| wrong(&error))?;
    if !is_short(seed, &variants[0]) {
        return Ok(None);
    }
    variants.retain(|variant| is_short(seed, variant));
    Ok(Some(Sample::with(seed, source, inputs, variants)))
}

/// The gradient by the attribute, and in the other ways that the program allows.
fn variants(source: &str, seed: u64, varied: bool) -> Result<Vec<Variant>, String> {
    let mut variants = vec![Variant::expanded("attribute", source)?];
    if varied {
        let small = Variant { name: "small tape", items: String::new(), workspace: Some("small") };
        variants.push(small);
        if let Some(source) = rewrite::inlined(source) {
            variants.push(Variant::expanded("inlined", &source)?);
        }
        variants.extend(Variant::checkpointed(source, seed));
        variants.extend(Variant::linked(source, seed.is_multiple_of(8)));
        variants.extend(Variant::parallel(source)?);
        variants.push(Variant::taped(source, seed)?);
    }
    Ok(variants)
}

/// A share of what `soak` runs; `STRATAPE_SAMPLES` asks for more.
#[test]
fn compiled_gradients_are_the_interpreted_ones() {
    let count = variable("STRATAPE_SAMPLES", 25);
    let (_, wrong) = run("compiled_programs", variable("STRATAPE_FIRST", 50_000), count);
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Makes a program smaller whose gradient is wrong in a variant, as long as it stays wrong. A crate holds many candidates at
/// once; those that do not build are none.
fn reduce(seed: u64, variant: &str) -> String {
    let Program { mut source, inputs } = generate(seed, &config_of(seed));
    for _ in 0..12 {
        let candidates = shrink::candidates(&source).into_iter().filter(
            |candidate| matches!(judge(candidate, &inputs, seed), Ok(report) if !report.skipped),
        );
        let mut samples = Vec::new();
        for (at, candidate) in candidates.take(60).enumerate() {
            let Ok(mut variants) = variants(&candidate, seed, true) else { continue };
            variants.retain(|known| known.name == variant || known.name == "attribute");
            samples.push(Sample::with(at as u64, candidate, inputs.clone(), variants));
        }
        let sources: Vec<String> = samples.iter().map(|sample| sample.source.clone()).collect();
        let wrong = differences("reduced_programs", samples);
        let smaller = wrong.iter().filter(|wrong| wrong.built).map(|wrong| wrong.seed).min();
        let Some(smaller) = smaller else { break };
        source.clone_from(&sources[smaller as usize]);
    }
    source
}

/// What was wrong in a batch: its messages, and one program made smaller.
fn report(wrong: &[Wrong]) -> Vec<String> {
    let mut messages: Vec<String> = wrong.iter().map(|wrong| wrong.message.clone()).collect();
    if let Some(first) = wrong.iter().find(|wrong| wrong.built) {
        // Known even if the rest is not waited for.
        println!("{}", first.message);
        let reduced = reduce(first.seed, first.variant);
        messages.push(format!("seed {} made smaller ({}):\n{reduced}", first.seed, first.variant));
    }
    messages
}

/// Runs so many programs from a seed on: how many were compared, and what is wrong with them.
fn run(name: &str, first: u64, count: u64) -> (usize, Vec<String>) {
    let (mut samples, mut wrong) = (Vec::new(), Vec::new());
    for seed in first..first + count {
        match sample(seed, seed.is_multiple_of(4)) {
            Ok(made) => samples.extend(made),
            Err(message) => wrong.push(message),
        }
    }
    let count = samples.len();
    wrong.extend(report(&differences(name, samples)));
    (count, wrong)
}

/// `STRATAPE_SAMPLES` programs from `STRATAPE_FIRST` on, in crates of three hundred: see `ci/soak-programs`.
#[test]
#[ignore = "for those who changed the compiler"]
fn soak() {
    let (first, count) =
        (variable("STRATAPE_FIRST", 1_000_000), variable("STRATAPE_SAMPLES", 1000));
    let in_a_crate = variable("STRATAPE_IN_A_CRATE", 300);
    let goes_on = variable("STRATAPE_GO_ON", 0) > 0;
    let mut done = 0;
    for batch in (first..first + count).step_by(in_a_crate as usize) {
        let count = in_a_crate.min(first + count - batch);
        let (compared, wrong) = run("soak_programs", batch, count);
        done += compared;
        println!("{}", wrong.join("\n"));
        println!("seeds {batch} and {count} on: {compared} compared, {} wrong", wrong.len());
        assert!(goes_on || wrong.is_empty(), "stopped at seeds {batch} to {}", batch + count);
    }
    println!("{done} programs went through rustc");
}
