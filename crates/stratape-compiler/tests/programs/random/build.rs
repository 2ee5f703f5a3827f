//! Gradients through rustc: one crate holds all samples, in files that are compiled side by side; it is built once for
//! every processor and once for this one, and run.
//!
//! The gradients are expanded here, by the compiler that is tested, as the attributes would. So the crate needs no
//! attribute, and a thousand programs do not wait for an unoptimised macro.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::judge::{Manner, gradient_of, guarded, interpret, lowered, scale_of};
use super::value::{Input, Passing, Value, literal};
pub(crate) use super::variant::Variant;

/// Programs in a file.
const IN_A_FILE: usize = 12;

/// A program, and what its gradient must compute.
pub(crate) struct Sample {
    pub(crate) seed: u64,
    pub(crate) source: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) has_result: bool,
    pub(crate) expected: Vec<f64>,
    /// How large the terms are that adjoints are summed from.
    pub(crate) scale: f64,
    pub(crate) variants: Vec<Variant>,
}

impl Sample {
    /// A program whose gradient the attribute makes, with what the interpreter says of it.
    pub(crate) fn of(seed: u64, source: String, inputs: Vec<Input>) -> Self {
        let variant = Variant::expanded("attribute", &source)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"));
        Self::with(seed, source, inputs, vec![variant])
    }

    pub(crate) fn with(
        seed: u64,
        source: String,
        inputs: Vec<Input>,
        variants: Vec<Variant>,
    ) -> Self {
        let judged = guarded(|| lowered(&source)).and_then(|function| {
            let has_result = !function.results.is_empty();
            let gradient = gradient_of(&function, Manner::Plain)?;
            let scale = scale_of(&function, &inputs)?;
            Ok((has_result, interpret(&gradient, &inputs, has_result, &shadow)?, scale))
        });
        let (has_result, expected, scale) =
            judged.unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{source}"));
        Self { seed, source, inputs, has_result, expected, scale, variants }
    }

    fn float(&self) -> &'static str {
        if self.source.contains("f64") { "f64" } else { "f32" }
    }

    /// A call of the program, or of a variant's gradient: code that puts what it computes into `line`.
    fn call(&self, module: &str, variant: Option<&Variant>) -> String {
        let float = self.float();
        let gradient = variant.is_some();
        let (mut lets, mut args, mut after) = (String::new(), Vec::new(), String::new());
        let mut names = Vec::new();
        let put = |text: &mut String, value: &Value, place: &str| match value {
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) if items.iter().all(|item| matches!(item, Value::Float(_))) => {
                let _ = write!(text, "for v in {place}.iter() {{ put(line, *v as f64); }}");
            }
            _ => {
                let mut places = Vec::new();
                value.places(place, &mut places);
                for place in places {
                    let _ = write!(text, "put(line, {place} as f64);");
                }
            }
        };
        for (at, input) in self.inputs.iter().enumerate() {
            match (input, input.data()) {
                (Input::Float(value), _) => {
                    args.push(literal(*value, float));
                    if gradient {
                        names.push(format!("r{at}"));
                        let _ = write!(after, "put(line, r{at} as f64);");
                    }
                }
                (Input::Int(number), _) => args.push(number.to_string()),
                (Input::Bool(value), _) => args.push(value.to_string()),
                (Input::Variant(path, _), _) => args.push(format!("{module}::{path}")),
                (Input::Indices(numbers), _) => args.push(format!("&{numbers:?}")),
                (_, Some((passing, value))) => {
                    let _ = write!(lets, "let mut a{at} = {};", value.text(module, float));
                    args.push(match passing {
                        Passing::Owned => format!("a{at}"),
                        Passing::Shared => format!("&a{at}"),
                        Passing::Exclusive => format!("&mut a{at}"),
                    });
                    match (gradient, passing) {
                        (true, Passing::Owned) => {
                            names.push(format!("r{at}"));
                            put(&mut after, &value, &format!("r{at}"));
                        }
                        (true, _) => {
                            let mut numbers = shadow(value.count()).into_iter();
                            let shadow = value.map(&mut |_| numbers.next().unwrap_or(0.0));
                            let _ = write!(lets, "let mut d{at} = {};", shadow.text(module, float));
                            args.push(format!("&mut d{at}"));
                            put(&mut after, &value, &format!("a{at}"));
                            put(&mut after, &shadow, &format!("d{at}"));
                        }
                        (false, Passing::Exclusive) => {
                            put(&mut after, &value, &format!("a{at}"));
                        }
                        (false, _) => {}
                    }
                }
                _ => {}
            }
        }
        if self.has_result {
            names.insert(0, "value".to_owned());
            after.insert_str(0, "put(line, value as f64);");
            if gradient {
                args.push("1.5".to_owned());
            }
        }
        let pattern = match &names[..] {
            [] => "()".to_owned(),
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        };
        let args = args.join(", ");
        let call = match variant.map(|variant| variant.workspace) {
            None => format!("{module}::program({args})"),
            Some(None) => format!("{module}::program_grad({args})"),
            Some(Some(workspace)) => {
                format!("{module}::program_grad_in(&mut workspaces.{workspace}, {args}).unwrap()")
            }
        };
        format!("{lets} let {pattern} = {call}; {after}")
    }

    /// Which of the numbers that are compared are outputs of the program: `true` for the value and what `&mut`
    /// parameters hold.
    fn outputs(&self) -> Vec<bool> {
        let mut outputs = vec![true; usize::from(self.has_result)];
        for input in &self.inputs {
            match (input, input.data()) {
                (Input::Float(_), _) | (_, Some((Passing::Owned, _))) => {
                    outputs.extend(vec![false; input.count()]);
                }
                (_, Some((passing, _))) => {
                    outputs.extend(vec![passing == Passing::Exclusive; input.count()]);
                    outputs.extend(vec![false; input.count()]);
                }
                _ => {}
            }
        }
        outputs
    }
}

/// Seeds of `y`, and shadows before the call.
pub(crate) fn shadow(len: usize) -> Vec<f64> {
    (0..len).map(|i| 0.25 + 0.5 * (i % 8) as f64).collect()
}

/// The crate's files: every program with its variants, its gradients called and printed as bits.
fn files(samples: &[Sample]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut main = String::from(
        "#![forbid(unsafe_code)]\n#![allow(warnings, clippy::all, unconditional_panic, arithmetic_overflow)]\n\
         pub struct Workspaces { pub usual: stratape::Workspace, pub lanes: stratape::Workspace, pub small: stratape::Workspace }\n\
         pub fn put(line: &mut String, v: f64) { use std::fmt::Write; let _ = write!(line, \" {:x}\", v.to_bits()); }\n",
    );
    let mut body = String::from(
        "std::panic::set_hook(Box::new(|_| {}));
        let mut lanes = stratape::Workspace::new(); lanes.set_lanes(3);
        let options = stratape::tape::TapeOptions::new().memory(32768).slab_bytes(4096).spill_to(std::env::temp_dir());
        let mut small = stratape::Workspace::with(options).unwrap(); small.set_lanes(2);
        let mut workspaces = Workspaces { usual: stratape::Workspace::new(), lanes, small };\n",
    );
    for (part, some) in samples.chunks(IN_A_FILE).enumerate() {
        let mut text = String::from("use super::{Workspaces, put};\n");
        let mut calls = String::new();
        for (at, sample) in some.iter().enumerate() {
            let number = part * IN_A_FILE + at;
            let first = format!("p{at}_0");
            let _ = writeln!(text, "{MARK}{number} 0");
            let mut run = |name: &str, code: String| {
                let _ = writeln!(
                    text,
                    "#[inline(never)] fn {name}(line: &mut String, workspaces: &mut Workspaces) {{ {code} }}"
                );
                let _ = writeln!(
                    calls,
                    "{{ let mut line = String::new();
                    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {name}(&mut line, workspaces)));
                    println!(\"{number}{{}}\", if ran.is_ok() {{ line }} else {{ \" panic\".to_owned() }}); }}"
                );
            };
            run(&format!("value_{at}"), sample.call(&first, None));
            for (place, variant) in sample.variants.iter().enumerate() {
                let module =
                    if variant.items.is_empty() { first.clone() } else { format!("p{at}_{place}") };
                run(&format!("run_{at}_{place}"), sample.call(&module, Some(variant)));
            }
            for (place, variant) in sample.variants.iter().enumerate() {
                if !variant.items.is_empty() {
                    let mark = format!("{MARK}{number} {place}");
                    let _ = writeln!(text, "{mark}\nmod p{at}_{place} {{\n{}\n}}", variant.items);
                }
            }
        }
        let _ = writeln!(text, "pub fn run(workspaces: &mut Workspaces) {{\n{calls}}}");
        files.push((format!("part_{part}.rs"), text));
        let _ = writeln!(main, "mod part_{part};");
        let _ = writeln!(body, "part_{part}::run(&mut workspaces);");
    }
    let _ = writeln!(main, "fn main() {{\n{body}}}");
    files.push(("main.rs".to_owned(), main));
    files
}

/// Where the text of a sample's variant begins: its number, and the variant's.
const MARK: &str = "// sample ";

/// The sample and the variant that a message of rustc is about.
fn blamed(directory: &Path, message: &str) -> Option<(usize, usize)> {
    let (_, place) = message.split_once("--> src/")?;
    let mut place = place.lines().next()?.split(':');
    let text = std::fs::read_to_string(directory.join("src").join(place.next()?)).ok()?;
    let line: usize = place.next()?.parse().ok()?;
    let lines: Vec<&str> = text.lines().take(line).collect();
    let mark = lines.iter().rev().find_map(|line| line.strip_prefix(MARK))?;
    let (sample, variant) = mark.split_once(' ')?;
    Some((sample.parse().ok()?, variant.parse().ok()?))
}

/// Builds and runs the samples; what is printed, or what rustc says.
fn build_and_run(directory: &Path, samples: &[Sample], flags: &[&str]) -> Result<String, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = std::fs::remove_dir_all(directory.join("src"));
    std::fs::create_dir_all(directory.join("src")).unwrap();
    let stratape = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stratape");
    let manifest = format!(
        "[package]\nname = \"sample\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\nstratape = {{ path = {stratape:?}, default-features = false }}\n[workspace]\n\
         [profile.release]\ndebug = false\ncodegen-units = 16\n"
    );
    std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    for (name, text) in files(samples) {
        std::fs::write(directory.join("src").join(name), text).unwrap();
    }
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    std::fs::copy(lock, directory.join("Cargo.lock")).unwrap();
    // One for all samples, so that what they depend on is built once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("samples");
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--release", "--quiet", "--offline", "--"])
        .args(flags)
        .current_dir(directory)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let output = Command::new(target.join("release/sample")).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the sample does not run:\n{errors}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A sample whose gradient is not what it must be: the seed, and what is wrong.
pub(crate) struct Wrong {
    pub(crate) seed: u64,
    /// The name of the variant.
    pub(crate) variant: &'static str,
    /// Whether rustc accepts it.
    pub(crate) built: bool,
    pub(crate) message: String,
}

/// Builds and runs the samples in a directory of their own, for every processor and for this one, and compares. What does
/// not build is wrong as well; the others are built without it.
pub(crate) fn differences(name: &str, samples: Vec<Sample>) -> Vec<Wrong> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut wrong = Vec::new();
    let mut samples = samples;
    for flags in [&[][..], &["-C", "target-cpu=native"][..]] {
        let output = loop {
            let errors = match build_and_run(&directory, &samples, flags) {
                Ok(output) => break output,
                Err(errors) => errors,
            };
            let mut refused: Vec<(usize, usize, &str)> = Vec::new();
            for message in errors.split("\n\n") {
                if let Some((sample, variant)) = blamed(&directory, message)
                    && !refused.iter().any(|(known, ..)| *known == sample)
                {
                    refused.push((sample, variant, message));
                }
            }
            assert!(!refused.is_empty(), "the samples do not build:\n{errors}");
            refused.sort_by_key(|(sample, ..)| std::cmp::Reverse(*sample));
            for (at, variant, message) in refused {
                let sample = samples.remove(at);
                let message = format!("it does not build: {message}");
                wrong.push(Wrong { built: false, ..sample.wrong(variant, flags, &message) });
            }
        };
        let mut lines = output.lines();
        for sample in &samples {
            let mut next = || lines.next().unwrap_or_default();
            let value = next();
            for at in 0..sample.variants.len() {
                if let Err(message) = compare_lines(sample, value, next()) {
                    wrong.push(sample.wrong(at, flags, &message));
                }
            }
        }
        assert!(lines.next().is_none(), "a line for each variant");
    }
    wrong
}

impl Sample {
    fn wrong(&self, variant: usize, flags: &[&str], message: &str) -> Wrong {
        let Self { seed, inputs, source, .. } = self;
        let name = self.variants.get(variant).map_or("", |variant| variant.name);
        let message =
            format!("seed {seed}, {name} {flags:?}: {message}\ninputs {inputs:?}\n{source}");
        Wrong { seed: *seed, variant: name, built: true, message }
    }
}

/// Numbers as they are printed, after the sample's number; an error if it panicked.
fn numbers(line: &str) -> Result<Vec<f64>, String> {
    if line.contains("panic") {
        return Err("it panics".to_owned());
    }
    let words = line.split_whitespace().skip(1);
    Ok(words.map(|bits| f64::from_bits(u64::from_str_radix(bits, 16).unwrap())).collect())
}

fn compare_lines(sample: &Sample, value: &str, line: &str) -> Result<(), String> {
    let (value, found) = (numbers(value)?, numbers(line)?);
    if found.len() != sample.expected.len() {
        return Err(format!("{} numbers for {}", found.len(), sample.expected.len()));
    }
    let outputs = sample.outputs();
    let of_gradient = found.iter().zip(&outputs).filter(|(_, output)| **output).map(|(v, _)| v);
    if of_gradient.clone().map(|v| v.to_bits()).ne(value.iter().map(|v| v.to_bits())) {
        let of_gradient: Vec<_> = of_gradient.collect();
        return Err(format!("{value:?} of the program, {of_gradient:?} of the gradient"));
    }
    let single = sample.source.contains("f32");
    let tolerance = if single { 2e-4 } else { 1e-10 } * (4.0 + sample.scale);
    for (at, (found, expected)) in found.iter().zip(&sample.expected).enumerate() {
        let value = if outputs[at] { tolerance * expected.abs() } else { 0.0 };
        let close = (found - expected).abs() <= tolerance + value;
        // The interpreter's outputs are those of the same front: where rustc's differ, the front is wrong.
        if !close && expected.is_finite() {
            return Err(format!(
                "{found:?} for {expected:?} at {at}, terms up to {:e}",
                sample.scale
            ));
        }
    }
    Ok(())
}

/// Compares, and panics with what is wrong.
pub(crate) fn compare(name: &str, samples: Vec<Sample>) {
    let wrong = differences(name, samples);
    let texts: Vec<_> = wrong.iter().map(|wrong| wrong.message.as_str()).collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong\n{}",
        wrong.len(),
        texts[..texts.len().min(10)].join("\n")
    );
}
