//! `stratape-model`, which is also `stratape model`: gradients on a modelled accelerator with a scratchpad for the tape, beside one without.

#![forbid(unsafe_code)]

mod chart;
mod paper;
mod run;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use stratape_console::failure::Failure;

/// Run gradients on a modelled accelerator: TapeFlow's scratchpad and streams, or a cache alone.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Paper(paper::Arguments),
}

fn main() -> ExitCode {
    match answer(&Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn answer(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Paper(arguments) => paper::run(arguments),
    }
}
