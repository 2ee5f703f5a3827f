//! The explanation as rustc would print it.

use std::collections::{BTreeMap, BTreeSet};

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use stratape_compiler::ad::Reason;
use stratape_compiler::explain::{Explanation, LoopFinding, Part, Purpose, Saved, TapeUse};
use stratape_ir::Half;

use super::source::{Place, Source};
use super::tape;
use crate::terminal;

/// Values that are made again, shown at most.
const MOST: usize = 12;

pub(super) fn errors(source: &Source, errors: &[syn::Error], colours: bool) -> String {
    let texts: Vec<String> = errors
        .iter()
        .map(|error| {
            let place = source.place_or_start(error.span());
            let mark = AnnotationKind::Primary.span(place.bytes.into());
            let title = Level::ERROR.primary_title(error.to_string());
            render(&[title.element(snippet(source, [mark]))], colours)
        })
        .collect();
    texts.join("\n\n")
}

pub(super) fn report(source: &Source, explanations: &[Explanation], colours: bool) -> String {
    let mut texts = Vec::new();
    for one in explanations {
        texts.push(render(&[head(source, one)], colours));
        for part in &one.parts {
            let groups = [snapshots(source, part)]
                .into_iter()
                .flatten()
                .chain(records(source, part))
                .chain(layers(source, part))
                .chain(recomputed(source, part))
                .chain(loops(source, part));
            texts.extend(groups.map(|group| render(&[group], colours)));
        }
    }
    texts.join("\n\n")
}

fn render(groups: &[Group<'_>], colours: bool) -> String {
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    match terminal::columns() {
        // Longer lines of the source are cut, as rustc does.
        Some(columns) => renderer.term_width(columns).render(groups),
        None => renderer.render(groups),
    }
}

fn snippet<'a>(
    source: &'a Source,
    marks: impl IntoIterator<Item = Annotation<'a>>,
) -> Snippet<'a, Annotation<'a>> {
    Snippet::source(source.text()).path(source.path()).annotations(marks)
}

fn list(names: impl IntoIterator<Item = String>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The function, the inputs of its gradient, and the size of the tape.
fn head<'a>(source: &'a Source, one: &'a Explanation) -> Group<'a> {
    let names = |active: bool| {
        let chosen = one.parameters.iter().filter(move |parameter| parameter.active == active);
        list(chosen.map(|parameter| parameter.name.clone()))
    };
    let title = format!(
        "`{}` is the gradient of `{}` with respect to {}",
        one.gradient,
        one.name,
        names(true)
    );
    let mark = source.place(one.span).map(|place| AnnotationKind::Primary.span(place.bytes.into()));
    let mut group = Level::INFO.no_name().primary_title(title).element(snippet(source, mark));
    let rest = names(false);
    if !rest.is_empty() {
        group = group.element(Level::NOTE.message(format!("constant: {rest}")));
    }
    for part in &one.parts {
        let whose = if part.time_loop.is_some() { " of one step of the time loop" } else { "" };
        let totals: Vec<String> = part.saved.iter().map(Saved::total).collect();
        if totals.is_empty() && !one.recursive.is_empty() {
            continue;
        }
        let text = if totals.is_empty() {
            format!(
                "the tape{whose} is empty: everything the backward pass needs is kept in variables or recomputed"
            )
        } else {
            format!("the tape{whose} holds {}", totals.join(" + "))
        };
        group = group.element(Level::NOTE.message(text));
    }
    if !one.recursive.is_empty() {
        let text = format!(
            "what {} saves when it calls itself is not counted",
            list(one.recursive.clone())
        );
        group = group.element(Level::NOTE.message(text));
    }
    if let Some(fault) = &one.fault {
        let text = format!(
            "compiled with fewer optional passes: the optimised gradient failed the compiler's own check, please report it: {fault}"
        );
        group = group.element(Level::NOTE.message(text));
    }
    group
}

/// A time loop, and what its snapshots hold.
fn snapshots<'a>(source: &'a Source, part: &'a Part) -> Option<Group<'a>> {
    let snapshots = part.time_loop.as_ref()?;
    let place = source.place(snapshots.span)?;
    let holds: Vec<String> =
        snapshots.holds.iter().map(|(name, bytes)| format!("`{name}`, {bytes}")).collect();
    let holds = if holds.is_empty() { "nothing".to_owned() } else { holds.join("; ") };
    let mark = AnnotationKind::Primary.span(place.bytes.into()).label("reversed from snapshots");
    let group = Level::INFO
        .with_name("time loop")
        .primary_title("this loop is recomputed from snapshots instead of being taped")
        .element(snippet(source, [mark]))
        .element(Level::NOTE.message(format!("a snapshot holds {holds}")));
    Some(group)
}

/// The records, those of one loop together: passes may have made several loops of it.
fn records<'a>(source: &'a Source, part: &'a Part) -> Vec<Group<'a>> {
    let mut by_place: BTreeMap<_, Vec<&Saved>> = BTreeMap::new();
    for saved in &part.saved {
        let purpose = saved.purpose.map(|purpose| purpose == Purpose::Kept);
        let key = (source.place(saved.span), &saved.copy_of, purpose);
        by_place.entry(key).or_default().push(saved);
    }
    by_place.into_iter().map(|((place, ..), group)| record(source, place, &group)).collect()
}

/// What saving the values one by one would take.
fn group_instead(group: &[&Saved]) -> Option<String> {
    let instead = group.iter().find_map(|saved| saved.instead_of.as_ref())?;
    Some(format!("saving the values read from it one by one would take {instead}"))
}

/// What the program could do about what is saved.
fn advice(source: &Source, group: &[&Saved]) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(place) = group.iter().find_map(|saved| source.place(saved.checkpoint?)) {
        all.push(format!(
            "put `#[checkpoint]` on the loop in line {}, if it is long: one step at a time is then on the tape, and snapshots are stored instead",
            place.line
        ));
    }
    let values = group.iter().flat_map(|saved| &saved.values);
    let reasons: BTreeSet<&str> =
        values.filter_map(|value| value.reason.and_then(Reason::advice)).collect();
    all.extend(reasons.into_iter().map(str::to_owned));
    all
}

/// A loop that saves, and the values in its records.
fn record<'a>(source: &'a Source, place: Option<Place>, group: &[&'a Saved]) -> Group<'a> {
    let all = group;
    let mut labels: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    let mut hidden = BTreeSet::new();
    for value in group.iter().flat_map(|saved| &saved.values) {
        let name =
            value.name.as_ref().map_or_else(|| "a value".to_owned(), |name| format!("`{name}`"));
        let why = value.reason.map_or("needed by the backward pass", |reason| reason.text());
        let text = format!("{name}, {}: {why}", value.ty);
        match source.place(value.span) {
            Some(place) => labels.entry(place).or_default().insert(text),
            None => hidden.insert(text),
        };
    }
    let totals = group.iter().map(|saved| saved.total()).collect::<Vec<_>>().join(" + ");
    let (title, label) = match group {
        [saved @ Saved { copy_of: Some(name), .. }, ..] => match saved.purpose {
            None => (
                format!("a copy of `{name}`: {totals}"),
                "passed to a function whose pullback needs it as it was",
            ),
            Some(Purpose::Kept) => (
                format!("the state `{name}` at the end of its block: {totals}"),
                "no longer there when the backward pass runs",
            ),
            Some(Purpose::Rewound) => (
                format!("the state `{name}` before it is overwritten: {totals}"),
                "overwritten; the backward pass restores it",
            ),
        },
        [saved] => (
            format!(
                "{} byte{} for each iteration of this loop: {totals} in all",
                saved.bytes,
                if saved.bytes == 1 { "" } else { "s" }
            ),
            "saves a record in each iteration",
        ),
        _ => (
            format!("a record for each iteration of this loop: {totals} in all"),
            "saves a record in each iteration",
        ),
    };
    let mut marks = Vec::new();
    if let Some(place) = place {
        let mark = AnnotationKind::Primary.span(place.bytes.into());
        marks.push(if labels.contains_key(&place) { mark } else { mark.label(label) });
    }
    for (place, texts) in labels {
        let text = texts.into_iter().collect::<Vec<_>>().join("; ");
        marks.push(AnnotationKind::Context.span(place.bytes.into()).label(text));
    }
    let mut group =
        Level::WARNING.with_name("saved").primary_title(title).element(snippet(source, marks));
    if let Some(instead) = group_instead(all) {
        group = group.element(Level::NOTE.message(instead));
    }
    for advice in advice(source, all) {
        group = group.element(Level::HELP.message(advice));
    }
    hidden.into_iter().fold(group, |group, text| group.element(Level::NOTE.message(text)))
}

/// Where the records lie.
fn layers<'a>(source: &'a Source, part: &'a Part) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for region in &part.tape.regions {
        let marks = source.place(region.span).map(|place| {
            AnnotationKind::Primary.span(place.bytes.into()).label("fills layers with frames")
        });
        let group = Level::NOTE
            .with_name("layers")
            .primary_title(tape::frames(region))
            .element(snippet(source, marks));
        let slots = region.slots.iter().take(MOST);
        let group = slots.fold(group, |group, slot| {
            group.element(Level::NOTE.message(tape::cell(source, region, slot)))
        });
        let more = region.slots.len().saturating_sub(MOST);
        groups.push(match more {
            0 => group,
            more => group.element(
                Level::NOTE.message(format!("and {more} more; `--emit tape` lists all of them")),
            ),
        });
    }
    let mut told = BTreeSet::new();
    for event in &part.tape.events {
        let (TapeUse::Alone(bytes, why), Half::Forward) = (&event.what, event.half) else {
            continue;
        };
        let Some(place) = source.place(event.span) else { continue };
        if told.insert(place.clone()) {
            let mark = AnnotationKind::Primary.span(place.bytes.into());
            let title =
                format!("a record of {bytes} bytes is pushed by itself, without layers: {why}");
            let group = Level::NOTE.with_name("alone").primary_title(title);
            groups.push(group.element(snippet(source, [mark])));
        }
    }
    groups
}

/// The values that are made again.
fn recomputed<'a>(source: &'a Source, part: &'a Part) -> Option<Group<'a>> {
    let mut labels = BTreeMap::new();
    for one in &part.recomputed {
        // Indices are made again everywhere, at no cost worth a word.
        if let Some(place) = source.place(one.span).filter(|_| one.ty.is_float()) {
            let how = if one.read { "reloaded" } else { "recomputed" };
            labels.entry(place).or_insert(how);
        }
    }
    // Of an expression and what it is made of, the whole is enough.
    let places: Vec<Place> = labels.keys().cloned().collect();
    labels.retain(|place, _| !places.iter().any(|other| other != place && other.contains(place)));
    if labels.is_empty() {
        return None;
    }
    let more = labels.len().saturating_sub(MOST);
    let marks: Vec<_> = labels
        .into_iter()
        .take(MOST)
        .map(|(place, how)| AnnotationKind::Context.span(place.bytes.into()).label(how))
        .collect();
    let mut group = Level::HELP
        .with_name("recomputed")
        .primary_title("these values are not saved: recomputing or reloading them costs less")
        .element(snippet(source, marks));
    if more > 0 {
        group = group
            .element(Level::NOTE.message(format!("and {more} more; `--json` lists all of them")));
    }
    Some(group)
}

/// What is said of a loop whose iterations are independent: an invitation only where it can pay.
fn independent(is_for: bool, one: &LoopFinding) -> (String, Level<'static>) {
    let independent = "the iterations of this loop are independent";
    if one.parallel {
        return (format!("{independent}; it runs in parallel"), Level::HELP);
    }
    let from = one.pays_from.map(|from| format!(" from about {} iterations", rounded(from)));
    let from = from.unwrap_or_default();
    if one.coalesced {
        // On the outer loop alone the attribute may be refused, a sum of the inner one for instance.
        let text =
            "the iterations of this loop and of the one inside, taken together, are independent";
        return match one.iterations {
            Some(count) if one.pays_from.is_some_and(|from| count < from) => {
                (format!("{text}, but too few: {count}"), Level::NOTE)
            }
            _ => (format!("{text}: `#[gradient(parallel)]` would pay{from}"), Level::HELP),
        };
    }
    match one.iterations {
        Some(count) if one.pays_from.is_some_and(|from| count < from) => {
            let text =
                format!("{independent}, but too few: {count}; `#[parallel]` would pay{from}");
            (text, Level::NOTE)
        }
        _ if is_for => (format!("{independent}: `#[parallel]` would pay{from}"), Level::HELP),
        _ => (
            format!("{independent}: a `for` loop under `#[parallel]` would pay{from}"),
            Level::HELP,
        ),
    }
}

/// Two digits are enough for what is an estimate.
fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number.div_ceil(unit) * unit
}

/// Loops whose iterations are independent, and those whose are not.
fn loops<'a>(source: &'a Source, part: &'a Part) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    let mut seen = BTreeSet::new();
    for one in &part.loops {
        let Some(place) = source.place(one.span) else { continue };
        if one.inner && one.conflict.is_none() {
            continue;
        }
        // What exchanges the lists of a time loop is not the program's.
        if part.time_loop.is_some() && one.conflict.is_none() && source.written(&place) != "for" {
            continue;
        }
        // Passes may have made several loops of one.
        if !seen.insert(place.clone()) {
            continue;
        }
        let group = match &one.conflict {
            None => {
                let (title, level) = independent(source.written(&place) == "for", one);
                let mark = AnnotationKind::Primary.span(place.bytes.into());
                level.with_name("independent").primary_title(title).element(snippet(source, [mark]))
            }
            Some(conflict) => {
                let mut marks = vec![AnnotationKind::Primary.span(place.bytes.into())];
                if let Some(other) = source.place(conflict.span)
                    && other != place
                {
                    marks.push(AnnotationKind::Context.span(other.bytes.into()).label("here"));
                }
                Level::NOTE
                    .with_name("serial")
                    .primary_title(conflict.message.clone())
                    .element(snippet(source, marks))
            }
        };
        groups.push(group);
    }
    groups
}
