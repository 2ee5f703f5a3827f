//! The report: one page that needs nothing beside it.

use std::path::Path;

use stratape::picture::{self, Picture};

use super::machine::machine;
use super::runs::Run;
use super::{Findings, agreement, bitmap, cells, code};
use crate::failure::Failure;
use crate::page;
use crate::saving;
use crate::units::bytes;

/// Writes the page. It appears under its name only when it is complete.
pub(super) fn write(path: &Path, findings: &Findings) -> Result<(), Failure> {
    let page = page(findings)?;
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

/// A factor, with the digits that a single run supports.
fn factor(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}

/// Memory and time of a way, against the run in RAM.
pub(super) fn headline(run: &Run, in_ram: &Run) -> String {
    let memory = in_ram.peak as f64 / run.peak.max(1) as f64;
    let time = run.time.as_secs_f64() / in_ram.time.as_secs_f64().max(f64::MIN_POSITIVE);
    let memory = match memory {
        memory if memory >= 1.05 => format!("{} × less memory", factor(memory)),
        memory if memory > 0.95 => "the same memory".to_owned(),
        memory => format!("{} × more memory", factor(1.0 / memory)),
    };
    let time = match time {
        time if (0.95..1.05).contains(&time) => "in the same time".to_owned(),
        time if time < 0.95 => format!("in {time:.2} of the time"),
        time => format!("for {} × the time", factor(time)),
    };
    format!("{memory} {time}")
}

/// Why the picture shows more than the bytes on the tape.
const WHOLE: &str = "The picture counts whole slabs, which take more than what is on the tape: a record that does not fit into the rest of a slab begins the next one.";

/// What the spilled run did with its budget, if the picture does not say it.
fn budget(findings: &Findings) -> String {
    let [_, spilled, _] = &findings.runs;
    let room = bytes(findings.memory as u64);
    if spilled.fits() {
        let written = match spilled.spilled {
            0 => "Nothing was written to disk.".to_owned(),
            bytes_written => format!(
                "{} were written to disk ahead of need, and no slab had to leave memory.",
                bytes(bytes_written)
            ),
        };
        return format!("The tape fits into the memory budget of {room}. {written} {WHOLE}");
    }
    let waits = match spilled.waits {
        0 => "never waited for the disk".to_owned(),
        waits => format!(
            "waited for the disk {waits} time{}, {:.3} s in all",
            if waits == 1 { "" } else { "s" },
            spilled.waited.as_secs_f64()
        ),
    };
    format!(
        "The forward pass fills the tape; beyond the memory budget of {room}, its deepest slabs are on disk only. The backward pass reads \
         them back before it needs them. The gradient {waits}. {WHOLE}"
    )
}

fn page(findings: &Findings) -> Result<String, Failure> {
    let problem = findings.problem;
    let [first, spilled, checkpointed] = &findings.runs;
    let (misfit, found) = findings.descent.best();
    let heads: String =
        cells(first).map(|(head, _)| format!("<th scope=\"col\">{head}</th>")).concat();
    let title = format!(
        "A tape of {} with a memory budget of {}",
        bytes(spilled.tape),
        bytes(findings.memory as u64)
    );
    let occupancy = picture(&spilled.picture.clone().title(title));
    let schedule = picture(&checkpointed.picture);
    let convergence = picture::descent(&findings.descent.history);
    let convergence = picture(&convergence.title("The misfit over the iterations"));
    let fields: String = [
        ("the initial plate: the truth", &findings.truth[..]),
        ("the final plate: the data, and the first guess", &findings.data),
        ("recovered", found),
    ]
    .into_iter()
    .map(|(name, field)| {
        let source = bitmap::data_uri(field, problem.side, 1.0);
        format!(
            "<figure><img src=\"{source}\" alt=\"{name}\"><figcaption>{name}</figcaption></figure>"
        )
    })
    .collect();
    let (guessed, recovered) = findings.errors();
    let body = format!(
        "<h1>One gradient, three ways</h1>\n\
         <p class=\"headline\">{way}: {by_disk}.<br>Checkpointed: {by_snapshots}.</p>\n\
         <p>Heat in a plate of {side} × {side} cells whose conductivity grows with its temperature, {steps_run} steps. The gradient \
         of the misfit with respect to the {cells} initial temperatures goes through all steps.</p>\n\
         <table><thead><tr><td></td>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n\
         <p>With and without a memory budget, the gradient has the same bits. Checkpointed: {apart}. Central differences: {differences}.</p>\n\
         <p class=\"quiet\"><b>saved</b>: what the forward pass leaves for the backward pass. Checkpointed, that is {slots} snapshots of {snapshot}; the \
         tape holds a single step at a time. <b>peak memory</b>: tape and snapshots; each run has a fresh tape, and its time includes \
         the first use of that memory. <b>recomputed</b>: steps that are run again. {machine}.</p>\n\
         <h2>The code</h2><p>What <code>stratape explain</code> says of it, at its lines.</p>\n{code}\n\
         <h2>The tape with a memory budget</h2><p>{budget}</p>\n{occupancy}\n\
         <h2>The checkpointed run</h2><p>A loop under <code>#[checkpoint]</code> stores some states as snapshots and runs the steps between them again. \
         This is the run in the table: {steps_run} steps, {slots} snapshots at most, {recomputed} steps recomputed.</p>\n{schedule}\n\
         <h2>The inversion</h2><p>The misfit fell from {start:.2e} to {misfit:.2e} in {iterations} iterations. The first guess is off the true \
         temperatures by {guessed:.3}, what was recovered by {recovered:.3} (root mean square; the temperatures are between 0 and 1). \
         Heat spreads out: fine structure is lost in the data, and a small misfit does not bring it back.</p>\n{convergence}\n\
         <div class=\"fields\">{fields}</div>\n\
         <p class=\"scale\">temperature: 0 <span></span> 1</p>\n",
        way = if spilled.fits() { "With room for the whole tape" } else { "Spilled to disk" },
        by_disk = headline(spilled, first),
        by_snapshots = headline(checkpointed, first),
        rows = rows(findings),
        side = problem.side,
        steps_run = problem.steps,
        cells = problem.cells(),
        apart = agreement(findings.apart),
        differences = agreement(findings.differences),
        slots = checkpointed.snapshots,
        snapshot = bytes(8 * problem.cells() as u64),
        machine = page::escaped(&machine()),
        code = code::listing()?,
        budget = budget(findings),
        recomputed = checkpointed.recomputed,
        start = findings.descent.history.first().copied().unwrap_or(0.0),
        iterations = problem.iterations,
    );
    Ok(page::page("Stratape: one gradient, three ways", &body))
}

/// A picture of the library in both sizes.
fn picture(picture: &Picture) -> String {
    let named = |(width, height): (u32, u32), class: &str| {
        let text = picture.clone().size(width, height).to_string();
        text.replacen(
            "class=\"stratape-picture\"",
            &format!("class=\"stratape-picture {class}\""),
            1,
        )
    };
    let (wide, narrow) = (named((860, 340), "wide"), named((380, 320), "narrow"));
    format!("<figure>{wide}{narrow}</figure>")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_headline_says_what_was_measured() {
        let run =
            |peak, millis| Run { peak, time: Duration::from_millis(millis), ..Run::empty("a run") };
        let in_ram = run(800, 100);
        assert_eq!(headline(&run(100, 170), &in_ram), "8.0 × less memory for 1.7 × the time");
        assert_eq!(headline(&run(40, 60), &in_ram), "20 × less memory in 0.60 of the time");
        assert_eq!(headline(&run(1600, 102), &in_ram), "2.0 × more memory in the same time");
    }
}
