//! `stratape`, the command line: explains what a gradient saves and why, inspects saved tapes, shows what the tape and the
//! time loops do, and measures them.

#![forbid(unsafe_code)]

mod demo;
mod explain;
mod programs;
mod tape_info;
mod tape_sweep;
mod units;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use stratape_console::{failure, page, saving, terminal};

use self::failure::Failure;

/// Gradients of ordinary Rust programs, on a tape that spills to disk.
///
/// Exit codes: 0: success; 1: an error in the input or during the run; 2: a wrong command line; 130: Ctrl-C.
#[derive(Parser)]
#[command(name = "stratape", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Explain(explain::Arguments),
    Tape(tape_info::Arguments),
    Demo(demo::Arguments),
    Model(programs::Model),
    Bench(programs::Bench),
    /// Print a shell completion script.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Tape(arguments) => tape_info::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Model(arguments) => arguments.run(),
        Command::Bench(arguments) => arguments.run(),
        Command::Completions { shell } => completions(shell),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stratape", &mut script);
    std::io::stdout().write_all(&script).map_err(Failure::output)
}
