//! The benchmarks of Stratape, a module for each suite.
//!
//! Every figure is a ratio of two things measured in turn in the same run, since machines are
//! shared and clocks drift. `docs/performance.md` says what was measured and what it taught.

#![forbid(unsafe_code)]
// A benchmark that cannot run has nothing better to do than to stop and say so.
#![allow(clippy::expect_used)]

pub mod checkpoint;
mod measure;
pub mod programs;
mod report;
pub mod tape;

use std::path::PathBuf;

use clap::Args;

/// What to run, and how long.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Small sizes, a few seconds in all.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// The sizes of the design; minutes, and up to 17 GB of disk. This is the default.
    #[arg(long)]
    pub full: bool,
    /// Runs only the cases whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Where spill files go.
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub spill_to: PathBuf,
}

impl Settings {
    fn wants(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|text| case.contains(text.as_str()))
    }
}
