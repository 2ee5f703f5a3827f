//! `stratape demo`: one inverse problem, its gradient three ways, and a report.

mod bitmap;
mod code;
mod descent;
mod machine;
mod report;
mod runs;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use stratape_demo::{Problem, plate};

use self::descent::Descent;
use self::runs::{Run, Setting, apart, same_bits};
use crate::failure::Failure;
use crate::{saving, terminal, units};

/// What the checkpointed gradient may differ by: it adds the same adjoints up in another order.
const REORDERED: f64 = 1e-12;
/// What central differences may differ by.
const DIFFERENCES: f64 = 1e-5;

/// Run one gradient three ways, compare the results and write a report.
///
/// Recovers the initial temperatures of a plate from the final ones. The gradient through the whole simulation is computed on a tape in
/// RAM, on a tape that spills to disk, and from snapshots, and checked against central differences.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Use a smaller plate; takes about a second.
    #[arg(long)]
    quick: bool,
    /// File to write the report to.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Memory for the tape that spills, in bytes or as in 16M; at least 1M. Default: one eighth of the tape.
    #[arg(long, value_name = "BYTES", value_parser = memory_of)]
    memory: Option<usize>,
    /// Directory to spill to. The file is unnamed and disappears with the process.
    #[arg(long, visible_alias = "spill-to", value_name = "DIRECTORY", default_value = ".")]
    dir: PathBuf,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// The least memory for the tape that spills.
const LEAST_MEMORY: usize = 1 << 20;

/// What `--memory` accepts here.
fn memory_of(text: &str) -> Result<usize, String> {
    match units::parse(text)? {
        memory if memory < LEAST_MEMORY => {
            Err(format!("the tape that spills needs more than {text}: at least 1M"))
        }
        memory => Ok(memory),
    }
}

/// What was found out.
struct Findings {
    problem: Problem,
    memory: usize,
    runs: [Run; 3],
    /// How far the checkpointed gradient is from the others, and central differences from all.
    apart: f64,
    differences: f64,
    truth: Vec<f64>,
    data: Vec<f64>,
    descent: Descent,
    elapsed: Duration,
}

impl Findings {
    /// How far the first guess and what was recovered are from the truth: root mean squares.
    fn errors(&self) -> (f64, f64) {
        let error = |field: &[f64]| {
            let squares = field.iter().zip(&self.truth).map(|(u, t)| (u - t) * (u - t));
            (squares.sum::<f64>() / self.truth.len() as f64).sqrt()
        };
        (error(&self.data), error(self.descent.best().1))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    saving::leave_nothing_when_interrupted();
    // Known before the work is done.
    saving::check(&arguments.out).map_err(|error| report::unwritable(&arguments.out, &error))?;
    let begun = Instant::now();
    let problem = Problem::new(arguments.quick);
    let truth = problem.truth();
    let data = problem.run(&truth);
    // The first guess: as if nothing had moved.
    let setting = Setting { problem, start: &data, data: &data };
    let tape = setting.bytes_a_step()? * problem.steps as u64;
    let memory = arguments.memory.unwrap_or((tape / 8) as usize).max(LEAST_MEMORY);
    let disk = setting.most_on_disk(memory)?;
    if !arguments.json {
        announce(problem, [tape, memory as u64, disk], arguments)?;
    }
    let bar = ProgressBar::new(4 + problem.iterations as u64);
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3}% {msg}");
    bar.set_style(style.map_err(Failure::new)?);
    let stage = |text: &'static str| {
        bar.set_message(text);
        bar.inc(1);
    };
    stage("gradient, all in RAM");
    let in_ram = setting.in_ram()?;
    stage("gradient, spilled to disk");
    let spilled = setting.spilled(memory, disk, &arguments.dir)?;
    stage("gradient, from snapshots");
    let checkpointed = setting.checkpointed()?;
    stage("central differences");
    let differences = setting.differences(&in_ram.gradient);
    let apart = apart(&in_ram.gradient, &checkpointed.gradient);
    check(&in_ram, &spilled, &checkpointed, apart, differences)?;
    let descent = invert(&setting, &checkpointed, &bar)?;
    bar.finish_and_clear();
    let runs = [in_ram, spilled, checkpointed];
    let elapsed = begun.elapsed();
    let findings = Findings {
        problem,
        memory,
        runs,
        apart,
        differences,
        truth,
        data: data.clone(),
        descent,
        elapsed,
    };
    report::write(&arguments.out, &findings)?;
    if arguments.json {
        return writeln!(std::io::stdout(), "{}", json(&findings, arguments))
            .map_err(Failure::output);
    }
    say(&format!(
        "{}{}",
        table(&findings.runs, terminal::columns()),
        conclusion(&findings, arguments)
    ))
}

/// What is about to be done, and the bytes it needs: the tape, the memory for it when it spills, the disk.
fn announce(
    problem: Problem,
    [tape, memory, disk]: [u64; 3],
    arguments: &Arguments,
) -> Result<(), Failure> {
    say(&format!(
        "heat in a plate of {0} × {0} cells, {1} steps: a tape of {2}, {3} of memory for it when it spills to {4}\n(needs {2} \
         of memory for the run in RAM and up to {5} of disk: slabs are written ahead of need; {6}--memory and --dir change that)",
        problem.side,
        problem.steps,
        units::bytes(tape),
        units::bytes(memory),
        arguments.dir.display(),
        units::bytes(disk),
        if problem.quick { "" } else { "--quick, " }
    ))
}

fn say(text: &str) -> Result<(), Failure> {
    let text = match terminal::columns() {
        // The table has its own way with narrow terminals.
        Some(columns) => {
            let lines = text.lines().flat_map(|line| match line {
                line if line.chars().count() <= columns => vec![line.to_owned()],
                line => terminal::wrapped(line, columns),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        None => text.to_owned(),
    };
    writeln!(std::io::stdout(), "{text}").map_err(Failure::output)
}

/// The three ways must agree.
fn check(
    in_ram: &Run,
    spilled: &Run,
    checkpointed: &Run,
    apart: f64,
    differences: f64,
) -> Result<(), Failure> {
    if !in_ram.gradient.iter().chain(&checkpointed.gradient).all(|number| number.is_finite()) {
        return Err(Failure::new("the gradient is not finite"));
    }
    if !same_bits(&in_ram.gradient, &spilled.gradient) || in_ram.value != spilled.value {
        return Err(Failure::new(
            "the gradient on the tape that spilled is not bit for bit the one in RAM",
        ));
    }
    if apart > REORDERED || in_ram.value != checkpointed.value {
        return Err(Failure::new(format!(
            "the gradient from snapshots differs from the one on the tape by {apart:.1e}, more than {REORDERED:.0e}"
        )));
    }
    if differences > DIFFERENCES {
        return Err(Failure::new(format!(
            "central differences differ from the gradient by {differences:.1e}"
        )));
    }
    Ok(())
}

/// Goes down from the first guess.
fn invert(setting: &Setting<'_>, first: &Run, bar: &ProgressBar) -> Result<Descent, Failure> {
    let Problem { side, steps, slots, iterations, .. } = setting.problem;
    let mut descent = Descent::new(setting.start.to_vec(), first.value, first.gradient.clone());
    let mut workspace = stratape::Workspace::new();
    for _ in 0..iterations {
        bar.set_message(format!("inversion, misfit {:.2e}", descent.best().0));
        bar.inc(1);
        let at = descent.propose();
        let mut gradient = vec![0.0; at.len()];
        let value = plate::misfit_again_grad_in(
            &mut workspace,
            &at,
            &mut gradient,
            setting.data,
            side,
            steps,
            slots,
            1.0,
        )
        .map_err(Failure::new)?;
        descent.learn(at, value, gradient);
    }
    Ok(descent)
}

/// What is told of a way, under these heads.
fn cells(run: &Run) -> [(&'static str, String); 6] {
    [
        ("time", format!("{:.3} s", run.time.as_secs_f64())),
        ("saved", units::bytes(run.saved())),
        ("peak memory", units::bytes(run.peak)),
        ("spilled", units::bytes(run.spilled)),
        ("waits", format!("{}, {:.3} s", run.waits, run.waited.as_secs_f64())),
        ("recomputed", run.recomputed.to_string()),
    ]
}

/// The table; one below the other where it would be too wide.
fn table(runs: &[Run], columns: Option<usize>) -> String {
    const WIDTHS: [usize; 6] = [9, 11, 12, 11, 15, 12];
    const NAME: usize = 16;
    let mut text = "\n".to_owned();
    let whole = NAME + WIDTHS.iter().map(|width| width + 1).sum::<usize>();
    if columns.is_some_and(|columns| columns < whole) {
        for run in runs {
            text.push_str(&format!("{}\n", run.name));
            for (head, cell) in cells(run) {
                text.push_str(&format!("  {head:<12} {cell:>14}\n"));
            }
        }
        return text;
    }
    let mut line = |name: &str, cells: [String; 6]| {
        text.push_str(&format!("{name:<NAME$}"));
        for (cell, width) in cells.iter().zip(WIDTHS) {
            text.push_str(&format!(" {cell:>width$}"));
        }
        text.push('\n');
    };
    if let Some(first) = runs.first() {
        line("", cells(first).map(|(head, _)| head.to_owned()));
    }
    for run in runs {
        line(run.name, cells(run).map(|(_, cell)| cell));
    }
    text
}

/// How well a gradient agrees with the one in RAM.
fn agreement(difference: f64) -> String {
    match difference {
        0.0 => "the same bits".to_owned(),
        difference => format!("relative difference {difference:.1e}"),
    }
}

fn conclusion(findings: &Findings, arguments: &Arguments) -> String {
    let history = &findings.descent.history;
    let [first, spilled, checkpointed] = &findings.runs;
    let (guessed, recovered) = findings.errors();
    format!(
        "\n{}: {}; checkpointed: {}\n\
         (saved: on the tape; checkpointed: in {} snapshots)\n\
         gradient in RAM and spilled: the same bits; checkpointed: {}; central differences: {}\n\
         inversion: misfit {:.2e} → {:.2e} in {} iterations; error against the truth {guessed:.3} → {recovered:.3}\n\
         {:.1} s in all; the report is in {}",
        if spilled.fits() { "with room for the whole tape" } else { "spilled to disk" },
        report::headline(spilled, first),
        report::headline(checkpointed, first),
        checkpointed.snapshots,
        agreement(findings.apart),
        agreement(findings.differences),
        history.first().copied().unwrap_or(0.0),
        findings.descent.best().0,
        history.len().saturating_sub(1),
        findings.elapsed.as_secs_f64(),
        arguments.out.display()
    )
}

fn json(findings: &Findings, arguments: &Arguments) -> String {
    json!({
        "side": findings.problem.side,
        "steps": findings.problem.steps,
        "slots": findings.problem.slots,
        "memory": findings.memory,
        "runs": findings.runs.iter().map(Run::json).collect::<Vec<_>>(),
        "same_bits": true,
        "error_of_guess": findings.errors().0,
        "error_of_recovered": findings.errors().1,
        "checkpointed_apart": findings.apart,
        "central_differences_apart": findings.differences,
        "misfit": findings.descent.history,
        "seconds": findings.elapsed.as_secs_f64(),
        "report": arguments.out.display().to_string(),
    })
    .to_string()
}
