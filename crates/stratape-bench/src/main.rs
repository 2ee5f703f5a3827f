//! `stratape-bench`: measures Stratape beside its references, one JSON object a line.
//!
//! Every figure is a ratio of two things measured in turn in the same run, since machines are
//! shared and clocks drift. `docs/performance.md` says what was measured and what it taught.

#![forbid(unsafe_code)]
// A benchmark that cannot run has nothing better to do than to stop and say so.
#![allow(clippy::expect_used)]

mod measure;
mod report;
mod tape;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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
}

/// What to run, and how long.
#[derive(Args, Clone, Debug)]
struct Settings {
    /// Small sizes, a few seconds in all.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The sizes of the design; minutes, and up to 17 GB of disk. This is the default.
    #[arg(long)]
    full: bool,
    /// Runs only the cases whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Where spill files go.
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    spill_to: PathBuf,
}

impl Settings {
    fn wants(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|text| case.contains(text.as_str()))
    }
}

fn main() {
    let cli = Cli::parse();
    match cli.suite {
        Suite::Tape(settings) => tape::run(&settings),
    }
}
