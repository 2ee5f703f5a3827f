//! Every function that the compiler makes on its way can be printed and read back: the same text, the same tables, and a gradient
//! that computes the same bits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::path::Path;

use crate::random::judge::{Failure, Manner, gradient_of, guarded, interpret, lowered};
use crate::random::{Config, Program, generate};
use stratape_compiler::driver::{self, Compiled, Options, Target};
use stratape_compiler::{explain, front};
use stratape_ir::text::{parse, parse_function};
use stratape_ir::{Function, Module, Object, Origin, Scalar, Type, Value};

/// A part of a function, without what the text leaves out: positions and tokens.
fn scrubbed(part: &dyn std::fmt::Debug) -> String {
    let text = format!("{part:?}");
    let without = |text: &str, mark: &str, instead: &str| {
        let mut pieces = text.split(mark);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            out += instead;
            out += piece.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        out
    };
    let text = without(&text, "span: !", "span: !0");
    without(&text, "tokens: Some($", "tokens: None").replace("tokens: None)", "tokens: None")
}

fn is_unused_value(value: &Value) -> bool {
    value.ty == Scalar::Infer(u32::MAX)
}

fn is_unused_object(object: &Object) -> bool {
    object.ty == Type::Tuple(Vec::new()) && object.origin == Origin::Local && object.name.is_empty()
}

/// Where two functions differ, the entries of the second that nothing refers to apart.
fn difference(one: &Function, read: &Function) -> Option<String> {
    let parts = |f: &Function| {
        [
            ("head", scrubbed(&(&f.name, &f.params, &f.results, &f.kept))),
            ("flags", scrubbed(&(f.parallel, f.plain, &f.recursive))),
            ("records", scrubbed(&f.records)),
            ("objects", scrubbed(&(&f.strided_copies, &f.unfilled, &f.sums))),
            ("checkpoints", scrubbed(&f.checkpoints)),
            ("body", scrubbed(&f.body)),
        ]
    };
    for ((part, one), (_, read)) in parts(one).into_iter().zip(parts(read)) {
        if one != read {
            return Some(format!("{part}\n{one}\n{read}"));
        }
    }
    let values = read.values.iter().enumerate().filter(|(_, value)| !is_unused_value(value));
    for (id, value) in values {
        let (one, read) = (scrubbed(&one.values.get(id)), scrubbed(&Some(value)));
        if one != read {
            return Some(format!("%{id}: {one}, {read}"));
        }
    }
    let objects = read.objects.iter().enumerate().filter(|(_, object)| !is_unused_object(object));
    for (id, object) in objects {
        let (one, read) = (scrubbed(&one.objects.get(id)), scrubbed(&Some(object)));
        if one != read {
            return Some(format!("@{id}: {one}, {read}"));
        }
    }
    None
}

/// A function as it is read from its text.
fn read_back(function: &Function) -> Function {
    let text = function.to_string();
    let read = match parse_function(&text) {
        Ok(read) => read,
        Err(error) => panic!("{error}\n{text}"),
    };
    assert_eq!(read.to_string(), text, "printed again");
    if let Some(difference) = difference(function, &read) {
        panic!("{difference}\n{text}");
    }
    read
}

/// Reads back all that became of a function.
fn read_back_all(compiled: &Compiled) -> usize {
    // The validator has nothing against what the optional passes make of them.
    assert_eq!(compiled.fault, None, "{}", compiled.primal.name);
    let mut functions = vec![&compiled.primal, &compiled.gradient.function, &compiled.lowered];
    for one in &compiled.loops {
        functions.extend([&one.time_loop.body, &one.time_loop.plain]);
        functions.extend([&one.gradient.function, &one.lowered, &one.step]);
    }
    for function in &functions {
        read_back(function);
    }
    let mut module = Module::new();
    functions.iter().for_each(|function| module.add((*function).clone()));
    let text = module.to_string();
    let read = parse(&text).map(|read| read.to_string());
    assert_eq!(read.as_deref(), Ok(text.as_str()));
    functions.len()
}

/// Reads back the functions under `#[gradient]` of a file, compiled as the attribute does.
fn read_back_file(path: &Path) -> usize {
    let file = syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap();
    let survey = explain::survey(&file);
    let errors: Vec<_> = survey.errors.iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{path:?}: {errors:?}");
    survey.subjects.iter().map(|subject| read_back_all(&subject.compiled)).sum()
}

#[test]
fn the_functions_of_the_benchmarks() {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stratape-bench/src");
    let mut count = 0;
    for folder in ["programs", "wild"] {
        for entry in std::fs::read_dir(benches.join(folder)).unwrap() {
            count += read_back_file(&entry.unwrap().path());
        }
    }
    assert!(count > 100, "{count} functions");
}

/// The sources of the golden tests are in their snapshots, before what became of them.
#[test]
fn the_functions_of_the_golden_tests() {
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut count = 0;
    for entry in std::fs::read_dir(snapshots).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let Some((header, stages)) = text.split_once("\n---\n") else { continue };
        if !header.contains("golden.rs") {
            continue;
        }
        let (source, _) = stages.split_once("\n// primal\n").unwrap();
        let file = syn::parse_file(source).unwrap();
        let last = file.items.iter().rev().find_map(|item| match item {
            syn::Item::Fn(function) => Some(function),
            _ => None,
        });
        let items = front::Items::collect(&file.items).unwrap();
        read_back(&front::lower(last.unwrap(), &items).unwrap());
        let compiled = driver::compile(last.unwrap(), &items, &Options::default()).unwrap();
        read_back_all(&compiled);
        count += 1;
    }
    assert_eq!(count, 13);
}

/// What neither has: snapshots of a loop, parts, a function without derivative, a function that calls itself, an assertion.
#[test]
fn every_kind_of_function() {
    let file = syn::parse_file(
        "
        fn tree(x: &[f64], n: usize) -> f64 {
            assert!(n < x.len(), \"no {n} in {:?}\", x);
            if n == 0 { x[0] } else { x[n] * tree(x, n - 1) + tree(x, n / 2) }
        }
        fn steps(y: &mut [f64], n: usize) -> f64 {
            #[checkpoint(slots = n / 2)]
            for _ in 0..n {
                for i in 0..y.len() { y[i] = y[i].sin() * y[i]; }
            }
            y[0]
        }
        fn parts(x: &[f64], y: &mut [f64], k: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() { y[i] = k * x[i] * x[i]; s += y[i] * x[i]; }
            s
        }",
    )
    .unwrap();
    let items = front::Items::collect(&file.items).unwrap();
    let mut seen = String::new();
    for item in &file.items {
        let syn::Item::Fn(item) = item else { continue };
        let front = front::lower(item, &items).unwrap();
        seen += &read_back(&front).to_string();
        let parallel = (item.sig.ident == "parts").then(proc_macro2::Span::call_site);
        let target = Target { part_operations: 1, ..Target::default() };
        let options = Options { parallel, target, ..Options::default() };
        if item.sig.ident == "tree" {
            let halves = driver::compile_halves(item, &items, &options).unwrap();
            seen += &read_back(&halves.forward).to_string();
            seen += &read_back(&halves.backward).to_string();
        }
        let compiled = driver::compile(item, &items, &options).unwrap();
        read_back_all(&compiled);
        seen += &compiled.lowered.to_string();
    }
    for word in ["checkpoint %", "parts", "backward of tree", " else `", "recursive(tree)", "simd"]
    {
        assert!(seen.contains(word), "{word}\n{seen}");
    }
}

/// The same bits, of a gradient and of its text.
fn same_bits(program: &Program, has_result: bool, one: &Function, other: &Function) {
    let shadow = |len: usize| vec![0.25; len];
    let run = |function| -> Result<Vec<u64>, String> {
        let left = interpret(function, &program.inputs, has_result, &shadow);
        let left = left.map_err(|failure| failure.to_string())?;
        Ok(left.into_iter().map(f64::to_bits).collect())
    };
    assert_eq!(run(one), run(other), "{}\n{other}", program.source);
}

fn random_programs(config: &Config, count: u64) -> Result<(), Failure> {
    for seed in 0..count {
        let program = generate(seed, config);
        let function = guarded(|| lowered(&program.source))?;
        let front = read_back(&function);
        // A few are of a size that takes the compiler seconds.
        if function.values.len() > 5_000 {
            continue;
        }
        for manner in [Manner::Optimised, Manner::Parallel, Manner::Plain] {
            // A function none of whose loops is independent is refused.
            let Ok(gradient) = gradient_of(&function, manner) else { continue };
            let read = read_back(&gradient);
            if seed % 4 == 0 {
                same_bits(&program, !function.results.is_empty(), &gradient, &read);
            }
            if seed % 8 == 0 {
                // Compiled once more: nothing depends on the order of a table with keys.
                let again = gradient_of(&front, manner)?;
                assert_eq!(again.to_string(), gradient.to_string());
                same_bits(&program, !function.results.is_empty(), &gradient, &again);
            }
        }
    }
    Ok(())
}

#[test]
fn random_programs_of_every_kind() -> Result<(), String> {
    let configs = [
        Config::control(),
        Config::full(),
        Config::loops(),
        Config::everyday(),
        Config::everyday().single(),
    ];
    let mut all = configs.iter().map(|config| random_programs(config, 30));
    all.try_for_each(|result| result.map_err(|failure| failure.to_string()))
}
