//! `stratape-bench`: measures Stratape beside its references, one JSON object a line.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use stratape_bench::{BenchError, Measurement, Settings, Sink, Suite, run};

/// Run the benchmarks and print one JSON object per line. `stratape bench` draws the same results.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// The suite.
    suite: Suite,
    #[command(flatten)]
    settings: Settings,
}

/// Figures to the output, remarks beside it.
struct Lines;

impl Sink for Lines {
    fn measured(&mut self, measurement: Measurement) -> io::Result<()> {
        writeln!(io::stdout(), "{}", measurement.line())
    }

    fn remark(&mut self, text: &str) {
        eprintln!("# {text}");
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.suite, &cli.settings, &mut Lines) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough.
        Err(BenchError::Sink(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
