//! The explanation as one JSON object.

use std::path::Path;

use proc_macro2::Span;
use serde_json::{Value, json};
use stratape_compiler::ad::Reason;
use stratape_compiler::explain::{Explanation, Layered, Part, Purpose, Saved};

use super::source::Source;

pub(super) fn report(source: &Source, explanations: &[Explanation]) -> Value {
    let functions: Vec<Value> = explanations.iter().map(|one| function(source, one)).collect();
    json!({ "file": source.path(), "functions": functions })
}

pub(super) fn errors(source: &Source, errors: &[syn::Error]) -> Value {
    let errors: Vec<Value> = errors
        .iter()
        .map(|error| {
            let place = source.place_or_start(error.span());
            json!({ "message": error.to_string(), "line": place.line, "column": place.column })
        })
        .collect();
    json!({ "file": source.path(), "errors": errors })
}

/// An error that has no place in the file.
pub(super) fn error(file: &Path, message: &str) -> Value {
    json!({ "file": file.display().to_string(), "errors": [{ "message": message }] })
}

fn at(source: &Source, span: Span) -> Value {
    source.place(span).map_or(Value::Null, |place| {
        json!({ "line": place.line, "column": place.column, "text": source.written(&place) })
    })
}

fn function(source: &Source, one: &Explanation) -> Value {
    let parameters: Vec<Value> = one
        .parameters
        .iter()
        .map(|parameter| json!({ "name": parameter.name, "active": parameter.active }))
        .collect();
    json!({
        "name": one.name,
        "at": at(source, one.span),
        "gradient": one.gradient,
        "parameters": parameters,
        "parts": one.parts.iter().map(|one| part(source, one)).collect::<Vec<_>>(),
        "recursive": one.recursive,
        "fault": one.fault,
    })
}

fn part(source: &Source, part: &Part) -> Value {
    let recomputed: Vec<Value> = part
        .recomputed
        .iter()
        .map(|one| {
            let how = if one.read { "read" } else { "computed" };
            json!({ "name": one.name, "at": at(source, one.span), "again": how })
        })
        .collect();
    let loops: Vec<Value> = part
        .loops
        .iter()
        .map(|one| {
            let conflict = one.conflict.as_ref().map(
                |conflict| json!({ "message": conflict.message, "at": at(source, conflict.span) }),
            );
            json!({
                "at": at(source, one.span),
                "independent": one.conflict.is_none(),
                "parallel": one.parallel,
                "inner": one.inner,
                "coalesced": one.coalesced,
                "conflict": conflict,
                "iterations": one.iterations,
                "parallel_pays_from": one.pays_from,
            })
        })
        .collect();
    let time_loop = part.time_loop.as_ref().map(|snapshots| {
        let holds: Vec<Value> = snapshots
            .holds
            .iter()
            .map(|(name, bytes)| json!({ "name": name, "bytes": bytes }))
            .collect();
        json!({ "at": at(source, snapshots.span), "snapshot": holds })
    });
    json!({
        "checkpoint": time_loop,
        "saved": part.saved.iter().map(|one| saved(source, one)).collect::<Vec<_>>(),
        "regions": part.tape.regions.iter().map(|one| region(source, one)).collect::<Vec<_>>(),
        "recomputed": recomputed,
        "loops": loops,
    })
}

fn region(source: &Source, region: &Layered) -> Value {
    let slots: Vec<Value> = region
        .slots
        .iter()
        .map(|slot| {
            json!({
                "name": slot.name,
                "at": at(source, slot.span),
                "type": slot.ty.to_string(),
                "offset": slot.offset,
                "steps": slot.steps,
            })
        })
        .collect();
    json!({
        "loop": at(source, region.span),
        "frame_bytes": region.frame_bytes,
        "layout": if region.columns { "soa" } else { "aos" },
        "layer_frames": region.frames,
        "why": region.why,
        "slots": slots,
    })
}

fn saved(source: &Source, saved: &Saved) -> Value {
    let values: Vec<Value> = saved
        .values
        .iter()
        .map(|value| {
            json!({
                "name": value.name,
                "at": at(source, value.span),
                "type": value.ty.to_string(),
                "reason": value.reason.map(|reason| format!("{reason:?}").to_lowercase()),
                "advice": value.reason.and_then(Reason::advice),
            })
        })
        .collect();
    json!({
        "loop": at(source, saved.span),
        "bytes": saved.bytes,
        "times": saved.times,
        "at_most": saved.at_most,
        "total": saved.total(),
        "kind": match (&saved.copy_of, saved.purpose) {
            (None, _) => "values",
            (Some(_), None) => "passed",
            (Some(_), Some(Purpose::Kept)) => "kept state",
            (Some(_), Some(Purpose::Rewound)) => "rewound state",
        },
        "copy_of": saved.copy_of,
        "instead_of": saved.instead_of,
        "checkpoint": saved.checkpoint.map(|span| at(source, span)),
        "values": values,
    })
}
