//! `stratape-bench`: measures Stratape beside its references. Prints one JSON object a line, or draws bars (`--bars`).

#![forbid(unsafe_code)]

mod report;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stratape_bench::{BenchError, Measurement, Settings, Sink, Suite, count, run};
use stratape_console::failure::Failure;
use stratape_console::saving;

use self::report::Earlier;

/// Run the benchmarks on this machine and print one JSON object per line, or draw each ratio as a bar.
///
/// A ratio is our time or speed divided by that of the reference, in the same run. A time below one is a win; a speed above one is a win.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// The suites to run.
    #[arg(value_name = "SUITE", default_value = "programs")]
    suites: Vec<Suite>,
    #[command(flatten)]
    settings: Settings,
    /// Draw bars when all is measured, instead of the JSON lines.
    #[arg(long)]
    bars: bool,
    /// Also write the measurements to a file, as JSON lines.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Draw bars, and how each ratio has changed since this file was saved.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

fn main() -> ExitCode {
    match measure(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn measure(cli: &Cli) -> Result<(), Failure> {
    saving::leave_nothing_when_interrupted();
    let Cli { settings, save, compare, .. } = cli;
    let mut suites = Vec::new();
    for suite in &cli.suites {
        if !suites.contains(suite) {
            suites.push(*suite);
        }
    }
    let cases: usize = suites.iter().map(|suite| count(*suite, settings)).sum();
    if cases == 0 {
        return Err(no_case(&suites, settings));
    }
    // What is asked for in vain should be known before minutes of measuring.
    let wanted = |one: &Measurement| {
        settings.wants(&one.case) && suites.iter().any(|suite| suite.name() == one.bench)
    };
    let earlier = compare.as_deref().map(|path| Earlier::read(path, wanted)).transpose()?;
    let unwritable = |path: &PathBuf, error: io::Error| {
        Failure::new(format!(
            "the measurements cannot be written to {}: {error}; choose another file with --save",
            path.display()
        ))
    };
    if let Some(path) = save {
        saving::check(path).map_err(|error| unwritable(path, error))?;
    }
    let bars = cli.bars || compare.is_some();
    let mut sink = Watched::new(cases, !bars)?;
    if cfg!(debug_assertions) {
        sink.remark("this is a debug build: its ratios mean nothing");
    }
    let outcome =
        suites.iter().try_for_each(|suite| run(*suite, settings, &mut sink)).map_err(failure);
    sink.bar.finish_and_clear();
    let found = sink.found;
    if bars && !found.is_empty() {
        report::print(&found, settings.size(), earlier.as_ref())?;
    }
    outcome?;
    if let Some(path) = save {
        let lines: String = found.iter().map(|one| format!("{}\n", one.line())).collect();
        saving::write(path, lines.as_bytes()).map_err(|error| unwritable(path, error))?;
    }
    Ok(())
}

fn no_case(suites: &[Suite], settings: &Settings) -> Failure {
    let names: Vec<&str> = suites.iter().map(|suite| suite.name()).collect();
    Failure::new(format!(
        "no case of {} contains `{}`; without --only all cases run, and their names are printed",
        names.join(", "),
        settings.only.as_deref().unwrap_or_default()
    ))
}

fn failure(error: BenchError) -> Failure {
    match error {
        BenchError::Sink(error) => Failure::output(error),
        other => Failure::new(other),
    }
}

/// Keeps what is measured, prints it as it comes, and shows how many cases are left.
struct Watched {
    bar: ProgressBar,
    lines: bool,
    found: Vec<Measurement>,
}

impl Watched {
    fn new(cases: usize, lines: bool) -> Result<Self, Failure> {
        let bar = ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:10} {pos}/{len} {wide_msg}");
        bar.set_style(style.map_err(Failure::new)?);
        Ok(Self { bar, lines, found: Vec::new() })
    }
}

impl Sink for Watched {
    fn begins(&mut self, case: &str) {
        self.bar.inc(1);
        self.bar.set_message(case.to_owned());
    }

    fn measured(&mut self, measurement: Measurement) -> io::Result<()> {
        if self.lines {
            let line = measurement.line();
            self.bar.suspend(|| writeln!(io::stdout(), "{line}"))?;
        }
        self.found.push(measurement);
        Ok(())
    }

    fn remark(&mut self, text: &str) {
        // Who does not read the errors does not miss it.
        self.bar.suspend(|| writeln!(io::stderr(), "# {text}").unwrap_or_default());
    }
}
