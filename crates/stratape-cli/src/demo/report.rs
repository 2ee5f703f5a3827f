//! The report: one page that needs nothing beside it.

use std::error::Error;
use std::path::Path;

use super::charts::{self, Frame, Key};
use super::{Findings, cells, picture};
use crate::failure::Failure;
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

/// A chart in both sizes, of which the page shows one, and what its colours mean.
fn figure(
    what: &str,
    key: Key,
    draw: impl Fn(Frame) -> Result<String, Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let named = |frame: Frame, class: &str| -> Result<String, Box<dyn Error>> {
        let head = format!("<svg class=\"{class}\" role=\"img\" aria-label=\"{what}\" ");
        Ok(draw(frame)?.replacen("<svg ", &head, 1))
    };
    let items: String = key
        .iter()
        .map(|(name, colour)| format!("<li><span style=\"background:{colour}\"></span>{name}</li>"))
        .collect();
    let key = if items.is_empty() { items } else { format!("<ul class=\"key\">{items}</ul>") };
    let (wide, narrow) = (named(Frame::Wide, "wide")?, named(Frame::Narrow, "narrow")?);
    Ok(format!("<figure class=\"chart\">{wide}{narrow}{key}</figure>"))
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
        "Which steps are run and reversed when, and which states are kept",
        charts::SCHEDULE,
        |frame| charts::schedule(steps, slots, frame),
    )?;
    let convergence = figure("The misfit over the iterations", &[], |frame| {
        charts::convergence(&findings.descent.history, frame)
    })?;
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
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Stratape: one gradient, three ways</title><style>{STYLE}</style></head><body>\n\
         <h1>One gradient, three ways</h1>\n\
         <p>Heat in a plate of {side} × {side} cells whose conductivity grows with its temperature, {steps_run} steps. The gradient \
         of the misfit by the {cells} first temperatures goes through all of them.</p>\n\
         <table><thead><tr><td></td>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n\
         <p>In RAM and spilled: the same bits. From snapshots: apart by {apart:.1e}. Central differences: apart by \
         {differences:.1e}.</p>\n\
         <h2>The tape that spilled</h2><p>What its layers held while the gradient ran, with {memory} of memory.</p>\n{occupancy}\n\
         <h2>Time loops</h2><p>A loop under <code>#[checkpoint]</code> keeps some states and runs the steps between them again. \
         Drawn for {steps} steps and {slots} slots; the run above had {steps_run} and {slots_run}.</p>\n{schedule}\n\
         <h2>The inversion</h2><p>The misfit fell to {misfit:.2e} in {iterations} iterations.</p>\n{convergence}\n\
         <div class=\"fields\">{fields}</div>\n\
         <p class=\"scale\">temperature: 0 <span></span> 1</p>\n</body></html>\n",
        rows = rows(findings),
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

/// The charts are dark on white also where the page is light on dark: their colours are chosen for it.
const STYLE: &str = "\
    :root{color-scheme:light dark}\
    body{font:16px/1.5 sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222;background:#fff}\
    table{border-collapse:collapse}td,th{padding:.3em .8em;text-align:right;border-bottom:1px solid #8886}\
    th[scope=row]{text-align:left;font-weight:normal}\
    svg{width:100%;height:auto;display:block}.narrow{display:none}\
    figure{margin:0}.chart{background:#fff;color:#222;border-radius:4px;padding-bottom:.5em}\
    .key{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:0;padding:0 1em;font-size:14px}\
    .key span{display:inline-block;width:1.2em;height:.7em;margin-right:.4em}\
    .fields{display:flex;gap:1em;margin-top:1em}.fields figure{flex:1}\
    img{width:100%;image-rendering:pixelated}figcaption,.scale{font-size:14px;color:#555}\
    .scale span{display:inline-block;width:10em;height:.8em;border:1px solid #888;vertical-align:middle;\
    background:linear-gradient(90deg,#000,#bf0000 30%,#ff3300 40%,#ffcc00 70%,#ffff55 80%,#fff)}\
    @media(max-width:640px){.wide{display:none}.narrow{display:block}thead{display:none}\
    table,tbody,tr,th,td{display:block}th[scope=row]{font-weight:bold;padding:.8em 0 .2em}\
    td{display:flex;justify-content:space-between;padding:.2em 0}td::before{content:attr(data-head)}}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}figcaption,.scale{color:#aaa}}";
