//! Gradients through rustc: one crate holds all samples; it is built and run once.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::value::{Input, Passing};
use super::judge::{compile, interpret};

/// A program, and what its gradient must compute.
pub(crate) struct Sample {
    pub(crate) seed: u64,
    pub(crate) source: String,
    /// The gradient, if it is not left to the attribute.
    pub(crate) emitted: Option<String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) has_result: bool,
    pub(crate) expected: Vec<f64>,
}

impl Sample {
    /// A program whose gradient the attribute makes, with what the interpreter says of it.
    pub(crate) fn of(seed: u64, source: String, inputs: Vec<Input>) -> Self {
        let judged = compile(&source).and_then(|(function, gradient)| {
            let has_result = !function.results.is_empty();
            Ok((has_result, interpret(&gradient, &inputs, has_result, &shadow)?))
        });
        let (has_result, expected) =
            judged.unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{source}"));
        Self { seed, source, emitted: None, inputs, has_result, expected }
    }
}

/// Seeds of `y`, and shadows before the call.
pub(crate) fn shadow(len: usize) -> Vec<f64> {
    (0..len).map(|i| 0.25 + 0.5 * i as f64).collect()
}

/// The crate's `main.rs`: every program, its gradient called and printed as bits.
fn main_of(samples: &[Sample]) -> String {
    let mut text = String::from(
        "#![forbid(unsafe_code)]\n#![allow(unused, arithmetic_overflow, clippy::all)]\n\
         fn show(v: &[f64]) { for v in v { print!(\" {:x}\", v.to_bits()); } }\n",
    );
    for (at, sample) in samples.iter().enumerate() {
        let source = sample.source.replacen("fn program(", &format!("fn program_{at}("), 1);
        let _ = match &sample.emitted {
            None => writeln!(text, "#[stratape::gradient]\n{source}"),
            // A module for each: the names in it are those of the program.
            Some(gradient) => writeln!(text, "mod sample_{at} {{ {} {gradient} }}", sample.source),
        };
    }
    text += "fn main() {\nlet mut workspace = stratape::Workspace::new(); workspace.set_lanes(3);\n\
             let workspace = &mut workspace;\n";
    for (at, sample) in samples.iter().enumerate() {
        let (mut lets, mut args) = (String::new(), Vec::new());
        let (mut floats, mut after) = (0, String::new());
        for (position, input) in sample.inputs.iter().enumerate() {
            match (input, input.data()) {
                (Input::Float(value), _) => {
                    args.push(format!("{value:?}"));
                    let _ = write!(after, "show(&[scalars[{floats}]]);");
                    floats += 1;
                }
                (Input::Int(number), _) => args.push(number.to_string()),
                (Input::Indices(numbers), _) => args.push(format!("&{numbers:?}")),
                (_, Some((passing, value))) => {
                    let sign = if passing == Passing::Shared { "&" } else { "&mut " };
                    let text = value.text("", "f64");
                    let mut numbers = shadow(value.count()).into_iter();
                    let shadow = value.map(&mut |_| numbers.next().unwrap_or(0.0)).text("", "f64");
                    let _ = write!(lets, "let mut a{position} = {text};");
                    let _ = write!(lets, "let mut d{position} = {shadow};");
                    args.push(format!("{sign}a{position}"));
                    args.push(format!("&mut d{position}"));
                    let _ = write!(after, "show(&a{position}); show(&d{position});");
                }
                _ => args.push("false".to_owned()),
            }
        }
        if sample.has_result {
            args.push("1.5".to_owned());
        }
        let names: Vec<String> = usize::from(sample.has_result)
            .checked_add(floats)
            .map(|count| (0..count).map(|i| format!("r{i}")).collect())
            .unwrap_or_default();
        let pattern = match &names[..] {
            [] => "()".to_owned(),
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        };
        let first = usize::from(sample.has_result);
        let value = if sample.has_result { "show(&[r0]);" } else { "" };
        let _ = writeln!(
            text,
            "{{ {lets} let {pattern} = {}; let scalars: &[f64] = &[{}]; {value} {after} println!(); }}",
            call(at, sample, &args.join(", ")),
            names[first..].join(", "),
        );
    }
    text + "}\n"
}

/// The call of a gradient. One that was emitted here is parallel, and runs on the workspace with its lanes.
fn call(at: usize, sample: &Sample, args: &str) -> String {
    match sample.emitted {
        None => format!("program_{at}_grad({args})"),
        Some(_) => format!("sample_{at}::program_grad_in(workspace, {args}).unwrap()"),
    }
}

fn build_and_run(directory: &Path, main: &str) -> String {
    std::fs::create_dir_all(directory.join("src")).unwrap();
    let stratape = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stratape");
    let manifest = format!(
        "[package]\nname = \"sample\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\nstratape = {{ path = {stratape:?} }}\n[workspace]\n[profile.dev]\nopt-level = 1\n"
    );
    std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(directory.join("src/main.rs"), main).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    std::fs::copy(lock, directory.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(directory)
        // One for all samples, so that what they depend on is built once.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("samples"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the sample does not build or run:\n{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Builds and runs the samples in a directory of their own, and compares.
pub(crate) fn compare(name: &str, samples_of_all: &[Sample]) {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = build_and_run(&directory, &main_of(samples_of_all));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), samples_of_all.len(), "a line a program");
    for (sample, line) in samples_of_all.iter().zip(lines) {
        let found: Vec<f64> = line
            .split_whitespace()
            .map(|bits| f64::from_bits(u64::from_str_radix(bits, 16).unwrap()))
            .collect();
        assert_eq!(found.len(), sample.expected.len(), "seed {}\n{}", sample.seed, sample.source);
        let scale = 1.0 + sample.expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for (found, expected) in found.iter().zip(&sample.expected) {
            let close = (found - expected).abs() <= 1e-10 * scale;
            assert!(close, "seed {}: {found} for {expected}\n{}", sample.seed, sample.source);
        }
    }
}
