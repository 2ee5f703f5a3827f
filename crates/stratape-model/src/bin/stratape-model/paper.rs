//! `stratape-model paper`: the paper's nine programs and its figures, ours against published.

mod charts;
mod kept;
mod report;
mod table;
mod text;
mod work;

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use stratape_console::failure::Failure;
use stratape_console::{saving, terminal};
use stratape_model::paper::{FIGURES, Figure, Results, figure};

use self::kept::Kept;
use crate::chart::Frame;

/// The default folder for figures.
const FOLDER: &str = "model-figures";

/// Run the paper's nine programs on the modelled accelerator, with and without its scratchpad, and compare with the published results.
///
/// Without `--figure`: prints the table of speed-ups, DRAM traffic and energy, saving every value and saving only what must be saved; with `--out` or `--report`,
/// all figures as well.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Draw this figure of the paper: 6, 7, 10 to 18. May be repeated.
    #[arg(long = "figure", value_name = "NUMBER", value_parser = known_figure)]
    figures: Vec<u32>,
    /// Folder for the figures, each as SVG and CSV. Default with `--figure`: `model-figures`.
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
    /// Write one HTML page with the table and the figures.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Use smaller inputs; takes under a minute.
    #[arg(long)]
    quick: bool,
    /// Write the table to a file, as comma-separated values.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Folder in which results are cached. Default: `stratape/model` in the user's cache directory.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Neither read nor write cached results.
    #[arg(long)]
    no_cache: bool,
}

fn known_figure(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| FIGURES.contains(number));
    number.ok_or_else(|| {
        let known: Vec<String> = FIGURES.iter().map(u32::to_string).collect();
        format!("there is no such figure: there are {}", known.join(", "))
    })
}

impl Arguments {
    /// The figures that are made, each once.
    fn numbers(&self) -> Vec<u32> {
        let all = self.figures.is_empty() && (self.out.is_some() || self.report.is_some());
        FIGURES.into_iter().filter(|number| all || self.figures.contains(number)).collect()
    }

    /// The folder for figures, if they are to be written.
    fn folder(&self) -> Option<&Path> {
        let usual = !self.figures.is_empty() && self.report.is_none();
        self.out.as_deref().or(usual.then_some(Path::new(FOLDER)))
    }

    fn wants_table(&self) -> bool {
        self.figures.is_empty() || self.report.is_some() || self.csv.is_some()
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Before minutes of work: can what comes of it be written?
    if let Some(folder) = arguments.folder() {
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    for path in arguments.report.iter().chain(&arguments.csv) {
        saving::check(path).map_err(|error| unwritable(path, &error))?;
    }
    saving::leave_nothing_when_interrupted();
    let kept = Kept::new(match &arguments.cache_dir {
        Some(folder) => Some(folder.clone()),
        None if arguments.no_cache => None,
        None => Kept::usual(),
    });
    let mut results = Results::default();
    make(arguments, &mut results);
    work::complete(&mut results, &kept)?;
    let (rows, figures) = make(arguments, &mut results);
    let printed = written(arguments, &rows, &figures)?;
    writeln!(std::io::stdout(), "{}", printed.trim_end()).map_err(Failure::output)
}

/// The table and the figures, as far as the results go.
fn make(arguments: &Arguments, results: &mut Results) -> (Vec<table::Row>, Vec<Figure>) {
    let quick = arguments.quick;
    let rows = if arguments.wants_table() { table::rows(quick, results) } else { Vec::new() };
    let numbers = arguments.numbers().into_iter();
    (rows, numbers.filter_map(|number| figure(number, quick, results)).collect())
}

/// Writes all files. Returns what is printed.
fn written(
    arguments: &Arguments,
    rows: &[table::Row],
    figures: &[Figure],
) -> Result<String, Failure> {
    let mut printed = String::new();
    let failed = |error: std::fmt::Error| Failure::new(error);
    if arguments.figures.is_empty() {
        let width = terminal::columns().unwrap_or(text::WIDTH);
        let said = |text: &str| terminal::wrapped(text, width).join("\n");
        writeln!(
            printed,
            "{}\n\n{}\n{}\n{}\n",
            said(table::TITLE),
            table::shown(rows, width),
            said(&table::summary(rows)),
            said(table::NOTE)
        )
        .map_err(failed)?;
    }
    for one in figures {
        writeln!(printed, "{}", text::shown(one)).map_err(failed)?;
    }
    if let Some(folder) = arguments.folder().filter(|_| !figures.is_empty()) {
        for one in figures {
            let drawn = charts::draw(one, Frame::Wide).map_err(Failure::new)?;
            for (ending, bytes) in [("svg", drawn), ("csv", text::csv(one))] {
                write(&folder.join(format!("figure{:02}.{ending}", one.number)), &bytes)?;
            }
        }
        writeln!(printed, "Figures: {}", folder.join("figure*.{svg,csv}").display())
            .map_err(failed)?;
    }
    if let Some(path) = &arguments.csv {
        write(path, &table::csv(rows))?;
        writeln!(printed, "Table: {}", path.display()).map_err(failed)?;
    }
    if let Some(path) = &arguments.report {
        let page = report::page(rows, figures, arguments.quick).map_err(Failure::new)?;
        write(path, &page)?;
        writeln!(printed, "Report: {}", path.display()).map_err(failed)?;
    }
    Ok(printed)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    saving::write(path, text.as_bytes()).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", path.display()))
}
