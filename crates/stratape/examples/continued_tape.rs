//! A tape saved by one process and reversed by another: `cargo run --release --example continued_tape -p stratape`.
//!
//! The program starts itself twice. The first process runs a simulation forward with its states on a tape, and saves the tape; the
//! second opens the file and runs backward. In between there could be a day, or a copy to another machine.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use stratape::gradient;
use stratape::tape::{LayeredTape, TapeOptions};

const STEPS: usize = 200_000;
const START: [f64; 2] = [1.0, 0.0];
const FRICTION: f64 = 0.01;

/// One step of a pendulum: angle and speed.
#[gradient]
fn step(state: &mut [f64; 2], friction: f64) {
    state[1] -= 1e-3 * (state[0].sin() + friction * state[1]);
    state[0] += 1e-3 * state[1];
}

fn options() -> TapeOptions {
    TapeOptions::new().memory(1 << 20).slab_bytes(64 << 10)
}

/// Forward: each state goes on the tape before its step, the last one too.
fn record(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut tape: LayeredTape<[f64; 2]> = options().open()?;
    let mut state = START;
    for _ in 0..STEPS {
        tape.push(state)?;
        step(&mut state, FRICTION);
    }
    tape.push(state)?;
    tape.save(path)?;
    let bytes = std::fs::metadata(path)?.len();
    println!("process {}: {STEPS} steps forward, {bytes} bytes saved", std::process::id());
    Ok(())
}

/// Backward: the adjoint of the last angle, by the first angle and the friction.
fn reverse(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut tape = LayeredTape::<[f64; 2]>::load(path, options())?;
    let [last, _] = tape.pop()?.ok_or("the tape is empty")?;
    let (mut adjoint, mut by_friction, mut steps) = ([1.0, 0.0], 0.0, 0);
    while let Some(mut state) = tape.pop()? {
        by_friction += step_grad(&mut state, &mut adjoint, FRICTION);
        steps += 1;
    }
    println!("process {}: {steps} steps backward from {last:.6}", std::process::id());
    println!("d/d(first angle) {:.6}, d/d(friction) {by_friction:.6}", adjoint[0]);

    let end = |angle: f64, friction: f64| {
        let mut state = [angle, START[1]];
        (0..STEPS).for_each(|_| step(&mut state, friction));
        state[0]
    };
    let h = 1e-6;
    let by_differences = [
        (end(START[0] + h, FRICTION) - end(START[0] - h, FRICTION)) / (2.0 * h),
        (end(START[0], FRICTION + h) - end(START[0], FRICTION - h)) / (2.0 * h),
    ];
    let error = ((adjoint[0] - by_differences[0]) / by_differences[0])
        .abs()
        .max(((by_friction - by_differences[1]) / by_differences[1]).abs());
    if last != end(START[0], FRICTION) || error > 1e-6 {
        return Err(format!("central differences say {by_differences:?}").into());
    }
    println!("central differences agree to {error:.0e}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["record", path] => return record(Path::new(path)),
        ["reverse", path] => return reverse(Path::new(path)),
        [] => {}
        _ => return Err("usage: continued_tape [record FILE | reverse FILE]".into()),
    }
    let path = std::env::temp_dir().join(format!("continued-{}.tape", std::process::id()));
    let run = |what: &str| -> Result<(), Box<dyn Error>> {
        let status = Command::new(std::env::current_exe()?).arg(what).arg(&path).status()?;
        if status.success() { Ok(()) } else { Err(format!("`{what}` failed: {status}").into()) }
    };
    let outcome = run("record").and_then(|()| run("reverse"));
    std::fs::remove_file(&path)?;
    outcome
}
