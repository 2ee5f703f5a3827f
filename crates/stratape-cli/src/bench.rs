//! `stratape bench`: measures, and draws what it finds.

mod bars;
mod compare;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stratape_bench::{BenchError, Measurement, Settings, Sink, Suite, count};

use self::bars::Look;
use self::compare::Earlier;
use crate::failure::Failure;
use crate::{saving, terminal};

/// Columns to draw in if the width of the terminal is unknown.
const COLUMNS: usize = 80;

/// Run the benchmarks on this machine and draw each ratio as a bar.
///
/// A bar is our time or speed divided by that of the reference, in the same run. Lines mark 1 and the target. A time below one is a win; a
/// speed above one is a win.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The suite to run.
    #[arg(value_name = "SUITE", default_value = "programs")]
    suites: Vec<Suite>,
    #[command(flatten)]
    settings: Settings,
    /// Print one JSON object for each measurement instead.
    #[arg(long)]
    json: bool,
    /// Also write the measurements to a file, as JSON lines.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Show how each ratio has changed since this file was saved.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    compare: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    saving::leave_nothing_when_interrupted();
    let Arguments { settings, save, compare, .. } = arguments;
    let mut suites = Vec::new();
    for suite in &arguments.suites {
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
    let mut sink = Watched::new(cases, arguments.json)?;
    if cfg!(debug_assertions) {
        sink.remark("this is a debug build: its ratios mean nothing");
    }
    let outcome = suites
        .iter()
        .try_for_each(|suite| stratape_bench::run(*suite, settings, &mut sink))
        .map_err(failure);
    sink.bar.finish_and_clear();
    let found = sink.found;
    if !arguments.json && !found.is_empty() {
        let stdout = io::stdout();
        let look = Look {
            width: terminal::columns().unwrap_or(COLUMNS),
            plain: !stdout.is_terminal(),
            colours: terminal::colours(&stdout),
        };
        let text = bars::draw(&found, settings.size(), earlier.as_ref(), &look);
        write!(io::stdout(), "{text}").map_err(Failure::output)?;
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
        "no case of {} contains `{}`; without --only it runs them all, and `--json` prints their names",
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

/// Keeps what is measured, and shows how far it is.
struct Watched {
    bar: ProgressBar,
    json: bool,
    found: Vec<Measurement>,
}

impl Watched {
    fn new(cases: usize, json: bool) -> Result<Self, Failure> {
        let bar = ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:10} {pos}/{len} {wide_msg}");
        bar.set_style(style.map_err(Failure::new)?);
        Ok(Self { bar, json, found: Vec::new() })
    }
}

impl Sink for Watched {
    fn begins(&mut self, case: &str) {
        self.bar.inc(1);
        self.bar.set_message(case.to_owned());
    }

    fn measured(&mut self, measurement: Measurement) -> io::Result<()> {
        if self.json {
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
