//! The report: one page that needs nothing beside it.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use super::runs::Run;
use super::{Findings, charts, picture};
use crate::failure::Failure;
use crate::units::bytes;

/// Steps and slots of the schedule that is drawn: one of the real size would be a blur.
const DRAWN: (usize, usize) = (40, 5);

/// Writes the page. It appears under its name only when it is complete.
pub(super) fn write(path: &Path, findings: &Findings) -> Result<(), Failure> {
    let page = page(findings).map_err(Failure::new)?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let persist = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file = builder.tempfile_in(directory)?;
        file.write_all(page.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    persist().map_err(|error| {
        Failure::new(format!(
            "the report cannot be written to {}: {error}; choose another file with --out",
            path.display()
        ))
    })
}

fn page(findings: &Findings) -> Result<String, Box<dyn Error>> {
    let problem = findings.problem;
    let [_, spilled, _] = &findings.runs;
    let (misfit, found) = findings.descent.best();
    let rows: String = findings.runs.iter().map(row).collect();
    let occupancy = charts::occupancy(&spilled.samples, findings.memory)?;
    let (steps, slots) = DRAWN;
    let schedule = charts::schedule(steps, slots)?;
    let convergence = charts::convergence(&findings.descent.history)?;
    let fields: String = [
        ("the plate at first", &findings.truth[..]),
        ("at the end: the data, and the first guess", &findings.data),
        ("recovered", found),
    ]
    .into_iter()
    .map(|(name, field)| {
        let source = picture::data_uri(field, problem.side, 1.0);
        format!(
            "<figure><img src=\"{source}\" alt=\"{name}\"><figcaption>{name}</figcaption></figure>"
        )
    })
    .collect();
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Stratape: one gradient, three ways</title>\
         <style>{STYLE}</style></head><body>\n\
         <h1>One gradient, three ways</h1>\n\
         <p>Heat in a plate of {side} × {side} cells whose conductivity grows with its temperature, {steps_run} steps. The gradient \
         of the misfit by the {cells} first temperatures goes through all of them.</p>\n\
         <table><tr><th></th><th>time</th><th>tape</th><th>peak memory</th><th>spilled</th><th>waits</th><th>steps run again</th></tr>\
         {rows}</table>\n\
         <p>In RAM and spilled: the same bits. From snapshots: apart by {apart:.1e}. Central differences: apart by \
         {differences:.1e}.</p>\n\
         <h2>The tape that spilled</h2><p>What its layers held while the gradient ran, with {memory} of memory.</p>\n{occupancy}\n\
         <h2>Time loops</h2><p>A loop under <code>#[checkpoint]</code> keeps some states and runs the steps between them again. \
         Drawn for {steps} steps and {slots} slots; the run above had {steps_run} and {slots_run}.</p>\n{schedule}\n\
         <h2>The inversion</h2><p>The misfit fell to {misfit:.2e} in {iterations} iterations.</p>\n{convergence}\n\
         <div class=\"fields\">{fields}</div>\n</body></html>\n",
        side = problem.side,
        steps_run = problem.steps,
        slots_run = problem.slots,
        cells = problem.cells(),
        apart = findings.apart,
        differences = findings.differences,
        memory = bytes(findings.memory as u64),
        iterations = problem.iterations,
    ))
}

fn row(run: &Run) -> String {
    format!(
        "<tr><td>{}</td><td>{:.3} s</td><td>{}</td><td>{}</td><td>{}</td><td>{}, {:.3} s</td><td>{}</td></tr>",
        run.name,
        run.time.as_secs_f64(),
        bytes(run.tape),
        bytes(run.peak),
        bytes(run.spilled),
        run.waits,
        run.waited.as_secs_f64(),
        run.recomputed
    )
}

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222}\
    table{border-collapse:collapse}td,th{padding:.3em .8em;text-align:right;border-bottom:1px solid #ddd}\
    td:first-child{text-align:left}svg{max-width:100%;height:auto}.fields{display:flex;gap:1em}figure{margin:0;flex:1}\
    img{width:100%;image-rendering:pixelated}figcaption{font-size:14px;color:#555}";
