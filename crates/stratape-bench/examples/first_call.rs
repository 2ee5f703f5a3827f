//! The first gradient of a process beside later ones: fresh memory for the tape and for buffers, ours and by hand.
//!
//! `cargo run --release -p stratape-bench --example first_call -- NAME…`. Each call is the first of a process of its own; the least of seven.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::panic, reason = "an example")]

use std::process::Command;
use std::time::Instant;

use stratape_bench::programs::{Scale, program};

/// Microseconds of the first call, and the least of the later ones.
fn measure(name: &str, by_hand: bool) -> Option<(f64, f64)> {
    let mut program = program(name, Scale::Full)?;
    let gradient = if by_hand { program.by_hand? } else { program.ours };
    // The caller's own arrays are not what is asked about.
    let mut shadows = program.inputs.shadows();
    shadows.clear();
    let mut times = (0..12).map(|_| {
        let start = Instant::now();
        std::hint::black_box(gradient(&mut program.inputs, &mut shadows));
        start.elapsed().as_secs_f64() * 1e6
    });
    let first = times.next()?;
    Some((first, times.fold(f64::INFINITY, f64::min)))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, name, kind] = &arguments[..]
        && child == "--child"
    {
        if let Some((first, later)) = measure(name, kind == "by_hand") {
            println!("{first} {later}");
        }
        return;
    }
    for name in &arguments {
        for kind in ["ours", "by_hand"] {
            let mut least = (f64::INFINITY, f64::INFINITY);
            for _ in 0..7 {
                let Ok(path) = std::env::current_exe() else { return };
                let output = Command::new(path).args(["--child", name, kind]).output();
                let Ok(output) = output else { continue };
                let text = String::from_utf8_lossy(&output.stdout);
                let mut numbers = text.split_whitespace().filter_map(|text| text.parse().ok());
                if let (Some(first), Some(later)) = (numbers.next(), numbers.next()) {
                    least = (least.0.min(first), least.1.min(later));
                }
            }
            let (first, later) = least;
            println!(
                "{name:12} {kind:8} first {first:9.0} µs, later {later:9.0} µs, ratio {:.2}",
                first / later
            );
        }
    }
}
