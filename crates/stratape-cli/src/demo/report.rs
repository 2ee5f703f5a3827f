//! The report: one page that needs nothing beside it.

use std::error::Error;
use std::path::Path;

use super::{Findings, agreement, cells, charts, picture};
use crate::failure::Failure;
use crate::page::{self, figure};
use crate::saving;
use crate::units::bytes;

/// Steps and slots of the schedule that is drawn: one of the real size would be a blur.
const DRAWN: (usize, usize) = (40, 5);

/// Writes the page. It appears under its name only when it is complete.
pub(super) fn write(path: &Path, findings: &Findings) -> Result<(), Failure> {
    let page = page(findings).map_err(Failure::new)?;
    saving::write(path, page.as_bytes()).map_err(|error| unwritable(path, &error))
}

/// The page cannot be written.
pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!(
        "the report cannot be written to {}: {error}; choose another file with --out",
        path.display()
    ))
}

/// A cell for each figure of a way, with its head for pages too narrow for columns.
fn rows(findings: &Findings) -> String {
    let mut text = String::new();
    for run in &findings.runs {
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", run.name));
        for (head, cell) in cells(run) {
            text.push_str(&format!("<td data-head=\"{head}\">{cell}</td>"));
        }
        text.push_str("</tr>\n");
    }
    text
}

fn page(findings: &Findings) -> Result<String, Box<dyn Error>> {
    let problem = findings.problem;
    let [first, spilled, _] = &findings.runs;
    let (misfit, found) = findings.descent.best();
    let heads: String =
        cells(first).map(|(head, _)| format!("<th scope=\"col\">{head}</th>")).concat();
    let (steps, slots) = DRAWN;
    let occupancy =
        figure("What the layers of the tape held over time", charts::OCCUPANCY, |frame| {
            charts::occupancy(&spilled.samples, findings.memory, frame)
        })?;
    let schedule = figure(
        "When steps are run and reversed, and which states are stored",
        charts::SCHEDULE,
        |frame| charts::schedule(steps, slots, frame),
    )?;
    let convergence = figure("The misfit over the iterations", &[], |frame| {
        charts::convergence(&findings.descent.history, frame)
    })?;
    let fields: String = [
        ("the initial plate", &findings.truth[..]),
        ("the final plate: the data, and the first guess", &findings.data),
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
    let body = format!(
        "<h1>One gradient, three ways</h1>\n\
         <p>Heat in a plate of {side} × {side} cells whose conductivity grows with its temperature, {steps_run} steps. The gradient \
         of the misfit with respect to the {cells} initial temperatures goes through all steps.</p>\n\
         <table><thead><tr><td></td>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n\
         <p>Gradient in RAM and spilled: bit for bit the same. From snapshots: {apart}. Central differences: \
         {differences}.</p>\n\
         <h2>The tape that spilled</h2><p>What its layers held while the gradient ran, with {memory} of memory.</p>\n{occupancy}\n\
         <h2>Time loops</h2><p>A loop under <code>#[checkpoint]</code> stores some states and recomputes the steps between them. \
         Drawn for {steps} steps and {slots} slots; the run above had {steps_run} and {slots_run}.</p>\n{schedule}\n\
         <h2>The inversion</h2><p>The misfit fell to {misfit:.2e} in {iterations} iterations.</p>\n{convergence}\n\
         <div class=\"fields\">{fields}</div>\n\
         <p class=\"scale\">temperature: 0 <span></span> 1</p>\n",
        rows = rows(findings),
        side = problem.side,
        steps_run = problem.steps,
        slots_run = problem.slots,
        cells = problem.cells(),
        apart = agreement(findings.apart),
        differences = agreement(findings.differences),
        memory = bytes(findings.memory as u64),
        iterations = problem.iterations,
    );
    Ok(page::page("Stratape: one gradient, three ways", &body))
}
