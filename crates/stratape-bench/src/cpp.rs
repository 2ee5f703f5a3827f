//! The tape from C++: `cpp/tape.cpp`, built with `g++ -O3` against the release build of `stratape-capi`.
//!
//! The program measures ours, a raw array and `std::vector` in turn, and prints one line a case. The spill case alternates with the
//! same loop in Rust, in this process.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stratape::tape::{LayeredTape, TapeError, TapeOptions};

use crate::error::{Any, BenchError};
use crate::measure::try_time;
use crate::runner::{Line, Runner};

const ROUNDS: usize = 9;
const BUDGET: usize = 32 << 20;

pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let mut program = None;
    for count in [1_000, 100_000, 1_000_000] {
        warm(runner, count, &mut program)?;
    }
    spill(runner, &mut program)
}

/// The C++ program, built when the first case wants it.
fn built(program: &mut Option<PathBuf>) -> Result<&Path, Any> {
    if program.is_none() {
        *program = Some(build()?);
    }
    program.as_deref().ok_or_else(|| "the program was not built".into())
}

fn build() -> Result<PathBuf, Any> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let capi = root.with_file_name("stratape-capi");
    // Beside this program, so that what cargo has built is used again.
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(2).ok_or("the program is in no target directory")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    output(
        Command::new(cargo)
            .args(["build", "--release", "--lib", "--manifest-path"])
            .arg(capi.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(target),
    )?;
    let program = target.join("release/stratape-bench-cpp");
    output(
        Command::new("g++")
            .args(["-std=c++17", "-O3", "-DNDEBUG", "-I"])
            .arg(capi.join("include"))
            .arg(root.join("cpp/tape.cpp"))
            .arg(target.join("release/libstratape_capi.a"))
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program),
    )?;
    Ok(program)
}

fn output(command: &mut Command) -> Result<String, Any> {
    let output = command
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}:\n{said}", output.status).into())
}

/// Pushing and popping in memory that is warm.
fn warm(
    runner: &mut Runner<'_>,
    count: usize,
    program: &mut Option<PathBuf>,
) -> Result<(), BenchError> {
    let name = format!("cpp_warm_{count}");
    if !runner.wants(&name) {
        return Ok(());
    }
    let measured = built(program).and_then(|program| {
        output(Command::new(program).args(["warm", &count.to_string(), &ROUNDS.to_string()]))
    });
    let said = measured.map_err(|error| runner.failed(&name, 0, error))?;
    for line in said.lines() {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let times: Vec<f64> = words.skip(1).filter_map(|word| word.parse().ok()).collect();
        let [ours, raw, vector] = times[..] else {
            return Err(runner.failed(&name, 0, format!("the program says {line:?}")));
        };
        let case = format!("{name}/{kind}");
        let (raw_aim, vector_aim) = match kind {
            "chain" => (Some("<= 1.10"), None),
            _ => (None, Some("<= 1.00")),
        };
        for (against, theirs, aim) in
            [("raw array", raw, raw_aim), ("std::vector", vector, vector_aim)]
        {
            let (ours, theirs) = (ours / 1e3, theirs / 1e3);
            runner.tell(&Line {
                bench: "cpp",
                case: &case,
                ours,
                against,
                theirs,
                unit: "us",
                aim,
            })?;
        }
    }
    Ok(())
}

/// Many times the budget to disk and back, from C++ and from Rust in turn.
fn spill(runner: &mut Runner<'_>, program: &mut Option<PathBuf>) -> Result<(), BenchError> {
    let case = "cpp_spill";
    if !runner.wants(case) {
        return Ok(());
    }
    let bytes: usize = if runner.quick() { 256 << 20 } else { 1 << 30 };
    let count = bytes / size_of::<f64>();
    let directory = runner.directory();
    let measure = |program: &mut Option<PathBuf>| -> Result<(f64, f64), Any> {
        let program = built(program)?;
        let mut child = Command::new(program)
            .arg("spill")
            .args([count.to_string(), BUDGET.to_string()])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ask = child.stdin.take().ok_or("no input")?;
        let mut answers = BufReader::new(child.stdout.take().ok_or("no output")?);
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        for round in 0..=ROUNDS {
            ask.write_all(b"again\n")?;
            let mut said = String::new();
            answers.read_line(&mut said)?;
            let time: f64 = said.split_whitespace().nth(2).ok_or("the program ended")?.parse()?;
            let in_rust = in_rust(directory, count)? * 1e6;
            // The first round warms memory and threads.
            if round > 0 {
                ours = ours.min(time / 1e3);
                theirs = theirs.min(in_rust);
            }
        }
        drop(ask);
        child.wait()?;
        Ok((ours, theirs))
    };
    let (ours, theirs) = measure(program).map_err(|error| runner.failed(case, bytes, error))?;
    runner.tell(&Line {
        bench: "cpp",
        case,
        ours,
        against: "the same in Rust",
        theirs,
        unit: "us",
        aim: Some("<= 1.05"),
    })
}

fn in_rust(directory: &Path, count: usize) -> Result<f64, TapeError> {
    let mut tape: LayeredTape<f64> =
        TapeOptions::new().memory(BUDGET).spill_to(directory).open()?;
    try_time(|| {
        for i in 0..count {
            tape.push(i as f64)?;
        }
        let mut sum = 0.0;
        for _ in 0..count {
            sum += tape.pop()?.unwrap_or_default();
        }
        black_box(sum);
        Ok(())
    })
}
