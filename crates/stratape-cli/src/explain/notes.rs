//! The explanation as notes at lines of the source, for a page.

use std::collections::BTreeMap;

use stratape_compiler::explain::{Explanation, Purpose, Saved, explain, survey};

use super::source::Source;
use crate::failure::Failure;

/// What is told of the gradients of a file: of each function, notes by line.
pub(crate) fn notes(
    name: &str,
    text: &str,
) -> Result<BTreeMap<String, BTreeMap<usize, Vec<String>>>, Failure> {
    let source = Source::of(name, text);
    let file = syn::parse_file(text).map_err(Failure::new)?;
    let survey = survey(&file);
    if let Some(error) = survey.errors.first() {
        return Err(Failure::new(format!("{name}: {error}")));
    }
    let explanations = survey.subjects.iter().map(explain);
    Ok(explanations.map(|one| (one.name.clone(), of(&source, &one))).collect())
}

fn of(source: &Source, one: &Explanation) -> BTreeMap<usize, Vec<String>> {
    let mut told = Vec::new();
    for part in &one.parts {
        if let Some(snapshots) = &part.time_loop {
            let holds: Vec<String> =
                snapshots.holds.iter().map(|(name, bytes)| format!("`{name}`, {bytes}")).collect();
            let text = format!("reversed from snapshots; each holds {}", holds.join("; "));
            told.push((snapshots.span, text));
        }
        told.extend(part.saved.iter().map(|saved| (saved.span, record(saved))));
        for value in part.recomputed.iter().filter(|value| value.ty.is_float()) {
            let how = if value.read { "reloaded" } else { "recomputed" };
            told.push((value.span, format!("not saved, but {how}")));
        }
        for one in part.loops.iter().filter(|one| !one.inner && one.conflict.is_none()) {
            told.push((one.span, "its iterations are independent".to_owned()));
        }
    }
    let mut notes: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (span, text) in told {
        let Some(place) = source.place(span) else { continue };
        let notes = notes.entry(place.line).or_default();
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    notes
}

fn record(saved: &Saved) -> String {
    let total = saved.total();
    match (&saved.copy_of, saved.purpose) {
        (Some(name), None) => format!("a copy of `{name}` is saved: {total}"),
        (Some(name), Some(Purpose::Kept)) => {
            format!("`{name}` is saved at the end of its block: {total}")
        }
        (Some(name), Some(Purpose::Rewound)) => {
            format!("`{name}` is saved before it is overwritten: {total}")
        }
        (None, _) => format!("saves {} bytes in each iteration: {total}", saved.bytes),
    }
}
