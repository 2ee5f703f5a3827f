//! What docs/compiler/passes.md claims of single passes, with inputs at the edges: which panic comes first, what is computed for NaN, zeros of both
//! signs and inverted ranges, what is remarked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;

use stratape_compiler::driver::{
    Context, GRADIENT, KERNEL, KERNEL_GRADIENT, LOWERING, PRIMAL, Pass, Target,
};
use stratape_interp::{self as interp, Argument, Datum, Memory, Trap};
use stratape_ir::{Function, text};

fn all_passes() -> impl Iterator<Item = &'static Pass> {
    PRIMAL.iter().chain(GRADIENT).chain(LOWERING).chain(KERNEL).chain(KERNEL_GRADIENT)
}

fn apply(function: &Function, pass: &str) -> (Function, usize) {
    let target = Target { jam_iterations: 2, ..Target::default() };
    let mut context = Context::new(&target);
    let mut function = function.clone();
    let pass = all_passes().find(|known| known.name == pass).unwrap();
    (pass.run)(&mut function, &mut context);
    (function, context.remarks.len())
}

/// A pass, a function that it changes, and arguments for which the function panics.
type Panicking = (&'static str, &'static str, Vec<Argument<f64>>);

fn floats(n: usize) -> Argument<f64> {
    Argument::Memory(Memory::floats((0..n).map(|i| i as f64 + 1.0)))
}

fn int(n: usize) -> Argument<f64> {
    Argument::Int(n as i128)
}

const CONVOLUTION: &str = "fn f(@w: &[f64], @x: &[f64], @y: &mut [f64], m: usize) {
    first: usize = 0; n: usize = 64; zero: f64 = 0.0
    for i in first..n {
      for k in first..m, s = zero { j = i + k; a = @w[k]; b = @x[j]; p = a * b; next = s + p } carry s <- next -> sum
      @y[i] = sum
    } }";

const TABLE: &str = "fn f(@p: &[f64], @w: &[f64], n: usize, m: usize) {
    first: usize = 0; zero: f64 = 0.0; d: f64 = 255.0
    for i in first..n, s = zero {
      row = i * m
      for j in first..m, t = s { a = @p[j]; q = a / d; k = row + j; b = @w[k]; r = q * b; next = t + r } carry t <- next -> inner
    } carry s <- inner -> sum
    return sum }";

const ROWS: &str = "fn f(@a: &[f64], @y: &mut [f64], n: usize, m: usize) {
    first: usize = 0; zero: f64 = 0.0
    for i in first..n {
      row = i * m
      for j in first..m, s = zero { k = row + j; v = @a[k]; next = s + v } carry s <- next -> sum
      @y[i] = sum
    } }";

const COPY: &str = "fn f(@x: &[f64], @y: &mut [f64], n: usize) {
    first: usize = 0\n for i in first..n { a = @x[i]; @y[i] = a } }";

const FILL: &str = "fn f(@a: &mut [f64], n: usize, m: usize) {
    first: usize = 0; one: f64 = 1.0
    for i in first..n { row = i * m; for j in first..m { k = row + j; @a[k] = one } } }";

const INVARIANT: &str = "fn f(@x: &[f64], @y: &mut [f64], k: usize, n: usize) {
    first: usize = 0\n for i in first..n { z = @y[i]; c = @x[k]; e = exp(c); @y[i] = e } }";

const SUM: &str = "fn f(@a: &mut [f64], @x: &[f64], i: usize) {
    first: usize = 0; n: usize = 8\n for j in first..n { v = @x[j]; @a[i] += v } }";

fn panicking() -> Vec<Panicking> {
    vec![
        ("interchange", CONVOLUTION, vec![floats(5), floats(10), floats(64), int(20)]),
        ("interchange", CONVOLUTION, vec![floats(20), floats(30), floats(3), int(20)]),
        ("precompute", TABLE, vec![floats(3), floats(1), int(2), int(5)]),
        ("unroll_and_jam", ROWS, vec![floats(20), floats(2), int(8), int(4)]),
        ("strip_mine", COPY, vec![floats(9), floats(5), int(10)]),
        ("coalesce", FILL, vec![floats(4), int(4), int(1 << 62)]),
        ("licm", INVARIANT, vec![floats(2), floats(0), int(5), int(3)]),
        ("scalar_promotion", SUM, vec![floats(1), floats(0), int(5)]),
    ]
}

/// A run that panics still does, whichever panic comes first.
#[test]
fn passes_keep_panics() {
    for (pass, source, args) in panicking() {
        let function = text::parse_function(source).unwrap();
        let (changed, _) = apply(&function, pass);
        assert_ne!(changed.to_string(), function.to_string(), "{pass}");
        for function in [&function, &changed] {
            let outcome = interp::run(function, args.clone(), &interp::Options::default());
            assert!(
                matches!(&outcome, Err(Trap::Panic(message)) if message.contains("index")),
                "{pass}: {outcome:?}"
            );
        }
    }
}

#[test]
fn a_loop_that_does_not_run_needs_no_table() {
    let (changed, _) = apply(&text::parse_function(TABLE).unwrap(), "precompute");
    let run = |outer: usize| {
        let args = vec![floats(3), floats(1), int(outer), int(usize::MAX)];
        let run = || interp::run(&changed, args, &interp::Options::default());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
    };
    assert!(matches!(run(0), Ok(Ok(_))), "{:?}", run(0));
    assert!(matches!(run(1), Ok(Err(Trap::Panic(_)))), "{:?}", run(1));
}

/// Passes that reshape loops or memory say so; the small ones, which fire everywhere, do not.
#[test]
fn a_pass_that_reshapes_something_leaves_a_remark() {
    let page =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compiler/passes.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut silent = BTreeSet::new();
    for example in page.split("```ir before=").skip(1) {
        let (info, rest) = example.split_once('\n').unwrap();
        let pass = info.split_whitespace().next().unwrap();
        let function = text::parse_function(rest.split("```").next().unwrap()).unwrap();
        let (changed, remarks) = apply(&function, pass);
        if remarks == 0 && changed.to_string() != function.to_string() {
            silent.insert(pass);
        }
    }
    let small = "bounds combine_terms cse dce fold_coefficients free_bits gradient_cse if_conversion licm reciprocal reorderable scratchpad streams strip_mine";
    assert_eq!(silent, small.split_whitespace().collect(), "those that are silent");
}

#[test]
fn no_edge_of_an_index_or_a_sign_of_zero_changes_a_bit() {
    let running = "fn f(@x: &[f64], n: usize, start: f64) {
        first: usize = 0
        for i in first..n, best = start { a = @x[i]; c = a > best; next: f64 = if c then a else best } carry best <- next -> top
        return top }";
    let carried = "fn f(@w: &[f64], a: usize, n: usize) {
        first: usize = 0; three: usize = 3; zero: f64 = 0.0
        for i in a..n, at = first, s = zero { v = @w[at]; next_s = s + v; next = at + three } carry at <- next -> last, s <- next_s -> sum
        return sum, last }";
    let memory = |numbers: &[f64]| Argument::Memory(Memory::floats(numbers.iter().copied()));
    let cases = [
        ("argmax", running, vec![memory(&[1.0, f64::NAN, 3.0, 2.0]), int(4), Argument::Float(0.0)]),
        ("argmax", running, vec![memory(&[1.0, 2.0]), int(2), Argument::Float(f64::NAN)]),
        ("argmax", running, vec![memory(&[-0.0, 0.0]), int(2), Argument::Float(-0.0)]),
        ("argmax", running, vec![memory(&[]), int(0), Argument::Float(1.0)]),
        ("induction", carried, vec![floats(9), int(5), int(2)]),
        ("induction", carried, vec![floats(9), int(2), int(5)]),
        ("induction", carried, vec![floats(9), int(3), int(3)]),
    ];
    for (pass, source, args) in cases {
        let function = text::parse_function(source).unwrap();
        let (changed, _) = apply(&function, pass);
        assert_ne!(changed.to_string(), function.to_string(), "{pass}");
        let bits = |function: &Function| {
            let outcome = interp::run(function, args.clone(), &interp::Options::default()).unwrap();
            let bits = |datum: &Datum<f64>| match datum {
                Datum::Float(number) => number.to_bits() as i128,
                Datum::Int(number) => *number,
                Datum::Bool(value) => i128::from(*value),
            };
            outcome.results.iter().map(bits).collect::<Vec<_>>()
        };
        assert_eq!(bits(&function), bits(&changed), "{pass}");
    }
}
