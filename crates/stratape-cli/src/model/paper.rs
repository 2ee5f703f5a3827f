//! `stratape model paper`: the paper's nine programs, ours against published.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use stratape_compiler::driver::Saving;
use stratape_model::ModelError;
use stratape_model::paper::{BENCHMARKS, Benchmark, Measured, Published, measure};

use crate::failure::Failure;

/// Runs the paper's nine programs with the scratchpad and without, saving every value and saving what must be, and compares with what was
/// published.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Smaller inputs: under a minute.
    #[arg(long)]
    quick: bool,
    /// Writes all figures to a file, as comma-separated values.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// A program in one of the two settings.
struct Row {
    saved: Saving,
    measured: Measured,
    published: Published,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let rows = rows(arguments.quick)?;
    if let Some(path) = &arguments.csv {
        let text = csv(&rows);
        std::fs::write(path, text).map_err(|error| {
            Failure::new(format!("{} cannot be written: {error}", path.display()))
        })?;
    }
    let text = table(&rows).map_err(Failure::new)?;
    writeln!(std::io::stdout(), "{}", text.trim_end()).map_err(Failure::output)
}

/// Measures all programs, on all cores.
fn rows(quick: bool) -> Result<Vec<Row>, Failure> {
    let jobs: Vec<(&Benchmark, Saving)> = [Saving::All, Saving::Minimal]
        .into_iter()
        .flat_map(|saved| BENCHMARKS.iter().map(move |benchmark| (benchmark, saved)))
        .collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(jobs.len() as u64).with_style(style);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            scope.spawn(|| {
                while let Some((benchmark, saved)) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    bar.set_message(benchmark.name);
                    let measured = measure(benchmark, *saved, quick);
                    bar.inc(1);
                    let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    found.push((benchmark.name, *saved, measured));
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut rows = Vec::new();
    for (benchmark, saved) in jobs {
        let at =
            found.iter().position(|(name, other, _)| *name == benchmark.name && *other == saved);
        let Some((.., measured)) = at.map(|at| found.swap_remove(at)) else { continue };
        let measured = measured.map_err(|error: ModelError| Failure::new(error))?;
        rows.push(Row { saved, measured, published: benchmark.published });
    }
    Ok(rows)
}

/// Both settings, one table each.
fn table(rows: &[Row]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for (saved, title) in [
        (Saving::All, "Every value that the reverse pass needs is saved, as in the paper"),
        (Saving::Minimal, "What is cheaper to compute or read again is not saved"),
    ] {
        writeln!(
            text,
            "{title}: with a scratchpad of 512 bytes over without, both with 32k of cache (in brackets: published)\n"
        )?;
        writeln!(
            text,
            "{:12} {:>15} {:>15} {:>15} {:>15} {:>11} {:>15} {:>7} {:>15}",
            "",
            "forward ×",
            "reverse ×",
            "total ×",
            "DRAM ÷",
            "as counted",
            "energy ÷ (2k)",
            "layers",
            "tape accesses"
        )?;
        for Row { measured, published, .. } in rows.iter().filter(|row| row.saved == saved) {
            let found = measured.comparison();
            let pair = |ours: f64, theirs: f64| format!("{ours:.2} ({theirs:.2})");
            writeln!(
                text,
                "{:12} {:>15} {:>15} {:>15} {:>15} {:>11.2} {:>15} {:>7} {:>15}",
                measured.name,
                pair(found.forward, published.forward),
                pair(found.reverse, published.reverse),
                pair(found.total, published.total),
                pair(found.dram, published.dram),
                found.dram_without_tape_writes,
                pair(measured.small_comparison().energy, published.energy),
                measured.layers(),
                pair(measured.tape_share(), published.tape),
            )?;
        }
        writeln!(text)?;
    }
    writeln!(
        text,
        "DRAM: lines read and written, the tape's on both sides. As counted: without the scratchpad's writes of the tape, which the published figures leave out."
    )?;
    Ok(text)
}

fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "program,saved,forward,reverse,total,dram,dram_without_tape_writes,energy_2k,layout_dram,total_1k,dram_1k,tape_share,layers,published_forward,published_reverse,published_total,published_dram,published_energy\n",
    );
    for Row { saved, measured, published } in rows {
        let (found, small) = (measured.comparison(), measured.small_comparison());
        let smallest = measured.smallest_comparison();
        let saved = if *saved == Saving::All { "all" } else { "minimal" };
        let figures = [
            found.forward,
            found.reverse,
            found.total,
            found.dram,
            found.dram_without_tape_writes,
            small.energy,
            measured.layout_comparison().dram,
            smallest.total,
            smallest.dram,
            measured.tape_share(),
            measured.layers() as f64,
            published.forward,
            published.reverse,
            published.total,
            published.dram,
            published.energy,
        ];
        let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.4}")).collect();
        text += &format!("{},{saved},{}\n", measured.name, figures.join(","));
    }
    text
}
