//! Each pass does what it is for, in the driver: with the pass switched on the stage has the structure, with it switched off it has not.
//!
//! A pass without a case here fails [`every_pass_has_a_case`]: nobody would notice if it stopped firing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod after;
mod before;

use std::collections::BTreeSet;

use stratape_compiler::driver::{
    self, Compiled, GRADIENT, LOWERING, Options, PRIMAL, Pass, Promise, TapeSettings, Target,
};
use stratape_compiler::front::Items;
use stratape_ir::{Block, Function, Loop, Op, Stmt, walk};

/// The size of layers.
const LAYER_BYTES: usize = 4096;

/// A program on which a pass shows.
struct Case {
    pass: &'static str,
    source: &'static str,
    /// The structure it makes.
    holds: fn(&Compiled) -> bool,
}

fn count(function: &Function, mut is_one: impl FnMut(&Stmt) -> bool) -> usize {
    let mut found = 0;
    walk(&function.body, &mut |node| found += usize::from(is_one(node)));
    found
}

fn ops(function: &Function, is_one: impl Fn(&Op) -> bool) -> usize {
    count(function, |node| matches!(node, Stmt::Let { op, .. } if is_one(op)))
}

fn any_loop(function: &Function, is_one: impl Fn(&Loop) -> bool) -> bool {
    count(function, |node| matches!(node, Stmt::Loop(node) if is_one(node))) > 0
}

fn loops(function: &Function) -> usize {
    count(function, |node| matches!(node, Stmt::Loop(_)))
}

/// Operations inside loops.
fn in_loops(block: &Block, is_one: &dyn Fn(&Stmt) -> bool) -> usize {
    let mut found = 0;
    walk(block, &mut |node| {
        if let Stmt::Loop(node) = node {
            found += node.body.iter().filter(|item| is_one(item)).count();
        }
    });
    found
}

fn is_math(node: &Stmt) -> bool {
    matches!(node, Stmt::Let { op: Op::Math(..), .. })
}

const HEAT: &str = "fn f(x: &[f64], n: usize) -> f64 {
    let mut u = vec![0.0; 4 * n];
    for i in 0..n { u[i] = x[i]; }
    for t in 0..3 {
        for i in 0..n {
            let mut flow = 0.0;
            if i > 0 { flow += u[t * n + i - 1] - u[t * n + i]; }
            if i + 1 < n { flow -= u[t * n + i] - u[t * n + i + 1]; }
            u[(t + 1) * n + i] = u[t * n + i] + 0.2 * flow;
        }
    }
    let mut sum = 0.0;
    for i in 0..n { sum += x[i] * u[3 * n + i]; }
    sum
}";

/// Programs for the passes before differentiation, and for those after it.
fn cases() -> impl Iterator<Item = &'static Case> {
    before::CASES.iter().chain(after::CASES)
}

fn compile(case: &Case, disabled: &[&str]) -> Compiled {
    let item = syn::parse_str(case.source).unwrap();
    let disabled = disabled.iter().map(|name| (*name).to_owned()).collect();
    let tape = TapeSettings { layer_bytes: Some(LAYER_BYTES), ..TapeSettings::default() };
    let target = Target { part_operations: 1, tape, ..Target::default() };
    let options = Options { disabled, target, ..Options::default() };
    driver::compile(&item, &Items::empty(), &options)
        .unwrap_or_else(|error| panic!("{}: {error}", case.pass))
}

fn all() -> impl Iterator<Item = &'static Pass> {
    PRIMAL.iter().chain(GRADIENT).chain(LOWERING)
}

#[test]
fn each_pass_makes_its_structure() {
    let mut wrong = Vec::new();
    for case in cases() {
        let compiled = compile(case, &[]);
        assert_eq!(compiled.fault, None, "{}", case.pass);
        if !(case.holds)(&compiled) {
            wrong.push(format!(
                "{}\n{}\n{}",
                case.pass, compiled.primal, compiled.gradient.function
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_the_pass_it_is_not_there() {
    let mut there = Vec::new();
    for case in cases() {
        let compiled = compile(case, &[case.pass]);
        assert_eq!(compiled.fault, None, "{}", case.pass);
        if (case.holds)(&compiled) {
            there.push(case.pass);
        }
    }
    assert!(there.is_empty(), "switched off, {there:?} make no difference");
}

#[test]
fn every_pass_has_a_case() {
    let cases: BTreeSet<&str> = cases().map(|case| case.pass).collect();
    let passes: BTreeSet<&str> = all().map(|pass| pass.name).collect();
    assert_eq!(cases, passes);
}

#[test]
fn passes_come_after_what_they_need() {
    for sequence in [PRIMAL, GRADIENT, LOWERING] {
        for (at, pass) in sequence.iter().enumerate() {
            for needed in pass.after {
                let here = sequence.iter().any(|other| other.name == *needed);
                let before = sequence[..at].iter().any(|other| other.name == *needed);
                assert!(before || !here, "{} comes before {needed}", pass.name);
                assert!(all().any(|other| other.name == *needed), "{needed} is no pass");
            }
        }
    }
}

#[test]
fn nothing_before_the_gradient_changes_a_bit() {
    for pass in PRIMAL {
        assert_eq!(pass.promise, Promise::SameBits, "{}", pass.name);
    }
}
