//! Random programs through rustc: what the emitted gradient computes must be what the interpreter says, and its value must
//! have the bits of the program's. Some go through in several ways: on a tape that spills, with loops under
//! `#[checkpoint]`, in parallel, with helpers written out by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod random;

use proc_macro2::Span;
use random::build::{Sample, Variant, differences};
use random::judge::{guarded, judge};
use random::{Config, Program, generate, rewrite};
use stratape_compiler::ir::{Block, Node};
use stratape_compiler::{adjoint, analysis, back, front, ir, outline, passes};

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The kinds of programs, one after the other.
fn config_of(seed: u64) -> Config {
    match seed % 6 {
        0 | 1 => Config::loops(),
        2 | 3 => Config::everyday(),
        4 => Config::full(),
        _ => Config::everyday().single(),
    }
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
    let expanded =
        |name, source: &str| Variant::expanded(name, source).map_err(|error| wrong(&error));
    let mut variants = vec![expanded("attribute", &source)?];
    if varied {
        let small = Variant { name: "small tape", items: String::new(), workspace: Some("small") };
        variants.push(small);
        if let Some(source) = rewrite::inlined(&source) {
            variants.push(expanded("inlined", &source)?);
        }
        variants.extend(checkpointed(&source, seed));
        variants.extend(parallel(&source).map_err(|error| wrong(&error))?);
    }
    Ok(Some(Sample::with(seed, source, inputs, variants)))
}

/// The program with marks on some loops, if what they carry can be stored.
fn checkpointed(source: &str, seed: u64) -> Option<Variant> {
    let marked = rewrite::checkpointed(source, seed)?;
    let file = syn::parse_file(&marked).unwrap();
    let item = rewrite::program(&file)?;
    let module = front::Module::collect(&file.items).ok()?;
    let mut function = front::lower_in(&item, &module).ok()?;
    if function.checkpoints.is_empty() || outline::outline(&mut function).is_err() {
        return None;
    }
    Variant::expanded("checkpointed", &marked).ok()
}

/// A part for every iteration, if there are lanes for it.
fn cut_fine(block: &mut Block) {
    for node in block {
        if let Node::Loop(node) = node
            && let Some(parallel) = &mut node.parallel
        {
            parallel.grain = 1;
        }
        node.blocks_mut().into_iter().for_each(cut_fine);
    }
}

/// The program with every loop that can be cut into as many parts as it has iterations, if one can.
fn parallel(source: &str) -> Result<Option<Variant>, String> {
    if source.contains("rec_") {
        return Ok(None);
    }
    let source = source.replacen("fn program(", "pub fn program(", 1).replace("pub pub", "pub");
    let made = guarded(|| {
        let file = syn::parse_file(&source)?;
        let Some(item) = rewrite::program(&file) else { return Ok(None) };
        let mut primal = front::lower_in(&item, &front::Module::collect(&file.items)?)?;
        passes::simplify(&mut primal);
        if analysis::mark_parallel(&mut primal, Some(Span::call_site())).is_err() {
            return Ok(None);
        }
        cut_fine(&mut primal.body);
        let gradient = adjoint::differentiate(&primal, &adjoint::Options::default());
        ir::check(&gradient.function).map_err(|fault| syn::Error::new(Span::call_site(), fault))?;
        Ok(Some(back::rust::emit(&item, &primal, &gradient).to_string()))
    });
    let emitted = made.map_err(|failure| failure.to_string())?;
    Ok(emitted.filter(|emitted| emitted.contains("begin_lanes")).map(|emitted| {
        let items = format!("{source}\n{emitted}");
        Variant { name: "parallel", items, workspace: Some("lanes") }
    }))
}

/// A share of what `soak` runs; `STRATAPE_SAMPLES` asks for more.
#[test]
fn compiled_gradients_are_the_interpreted_ones() {
    let count = variable("STRATAPE_SAMPLES", 60);
    let (_, wrong) = run("compiled_programs", variable("STRATAPE_FIRST", 50_000), count);
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
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
    wrong.extend(differences(name, &samples).into_iter().map(|wrong| wrong.message));
    (samples.len(), wrong)
}

/// `STRATAPE_SAMPLES` programs from `STRATAPE_FIRST` on, in crates of three hundred: see `ci/soak-programs`.
#[test]
#[ignore = "for those who changed the compiler"]
fn soak() {
    let (first, count) = (variable("STRATAPE_FIRST", 1_000_000), variable("STRATAPE_SAMPLES", 1000));
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
