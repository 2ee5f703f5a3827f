//! `stratape-bench`: measures Stratape beside its references, one JSON object a line.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use stratape_bench::{Settings, checkpoint, programs, tape};

/// Measures Stratape beside its references; prints one JSON object a line.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    suite: Suite,
}

#[derive(Subcommand)]
enum Suite {
    /// The tape: memory, records, spilling, threads.
    Tape(Settings),
    /// The reference programs: value, gradient by hand, gradient generated.
    Programs(Settings),
    /// Time loops: overhead, disks, workers, schedules.
    Checkpoint(Settings),
}

fn main() {
    let cli = Cli::parse();
    match cli.suite {
        Suite::Tape(settings) => tape::run(&settings),
        Suite::Programs(settings) => programs::run(&settings),
        Suite::Checkpoint(settings) => checkpoint::run(&settings),
    }
}
