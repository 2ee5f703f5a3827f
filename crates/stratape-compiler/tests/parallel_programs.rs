//! Random programs whose loops are proved independent, with every such loop divided into parts however short it is: what
//! they compute in parallel must be what the interpreter computes one iteration after the other.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod random;

use proc_macro2::Span;
use random::build::{Sample, compare, shadow};
use random::judge::interpret;
use random::{Config, Program, generate};
use stratape_compiler::ir::{Block, Node};
use stratape_compiler::{adjoint, analysis, back, front, ir, passes};

/// Programs of each kind; the variable `STRATAPE_SAMPLES` asks for more.
fn each() -> usize {
    std::env::var("STRATAPE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(25)
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

/// The program's gradient in parallel, if one of its loops is.
fn sample(seed: u64, program: Program) -> Option<Sample> {
    let item: syn::ItemFn = syn::parse_str(&program.source).unwrap();
    let mut primal = front::lower(&item, &front::Options::default()).unwrap();
    passes::simplify(&mut primal);
    analysis::mark_parallel(&mut primal, Some(Span::call_site())).ok()?;
    cut_fine(&mut primal.body);
    let gradient = adjoint::differentiate(&primal, &adjoint::Options::default());
    ir::check(&gradient.function).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    let emitted = back::rust::emit(&item, &primal, &gradient).to_string();
    if !emitted.contains("begin_lanes") {
        return None;
    }
    let has_result = !primal.results.is_empty();
    let expected = interpret(&gradient.function, &program.inputs, has_result, &shadow)
        .unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{}", program.source));
    let emitted = emitted.replace("fn program_grad_in", "pub fn program_grad_in");
    let (source, inputs) = (program.source, program.inputs);
    Some(Sample { seed, source, emitted: Some(emitted), inputs, has_result, expected })
}

#[test]
fn parallel_gradients_are_the_interpreted_ones() {
    let mut samples = Vec::new();
    for (kind, config) in [Config::core(), Config::control(), Config::full()].iter().enumerate() {
        let seeds = 70_000 * (kind as u64 + 1)..;
        let found = seeds.take(20_000).filter_map(|seed| sample(seed, generate(seed, config)));
        let before = samples.len();
        samples.extend(found.take(each()));
        assert_eq!(samples.len() - before, each(), "too few programs have independent loops");
    }
    compare("parallel_programs", &samples);
}
