//! The schedule of a tape as text: its regions, and what each loop does to them.

use stratape_compiler::explain::{Layered, Part, Slot, Subject, TapeUse, explain};
use stratape_ir::Half;

use super::source::Source;

/// The longest piece of the source that stands for a value.
const LONGEST: usize = 40;
/// Loops inside the one that leaves the frames, outermost first.
const COUNTERS: [&str; 4] = ["i", "j", "k", "l"];

/// The schedules of a function, and of the bodies of its time loops.
pub(super) fn schedule(source: &Source, subject: &Subject) -> String {
    let explanation = explain(subject);
    let mut lines = vec![format!("{}", explanation.gradient)];
    for part in &explanation.parts {
        if part.time_loop.is_some() {
            lines.push("  one step of the time loop".to_owned());
        }
        one(source, part, &mut lines);
    }
    lines.push(String::new());
    lines.join("\n")
}

fn one(source: &Source, part: &Part, lines: &mut Vec<String>) {
    if part.tape.events.is_empty() {
        return lines.push("  no tape: nothing is saved".to_owned());
    }
    for (number, region) in part.tape.regions.iter().enumerate() {
        lines.push(format!("  region {number}: {}", frames(region)));
        lines.extend(region.slots.iter().map(|slot| format!("    {}", cell(source, region, slot))));
    }
    for half in [Half::Forward, Half::Backward] {
        let name = if half == Half::Forward { "forward" } else { "backward" };
        lines.push(format!("  {name}"));
        for event in part.tape.events.iter().filter(|event| event.half == half) {
            let place = source.place(event.span);
            let place =
                place.map_or_else(String::new, |place| format!("{}:{} ", place.line, place.column));
            let indent = "  ".repeat(event.depth);
            lines.push(format!("    {indent}{place}{}", does(&event.what, half)));
        }
    }
}

/// The frames of a region, and its layers, in words.
pub(super) fn frames(region: &Layered) -> String {
    let Layered { frame_bytes, columns, frames, why, .. } = region;
    let order = if *columns { "value by value (columns)" } else { "one after the other" };
    format!(
        "frames of {frame_bytes} bytes, {order}; a layer holds up to {frames} of them, {}: {why}",
        bytes(frames * frame_bytes)
    )
}

/// A value and its place, in words: `24 + 8 i` is the place in iteration `i` of a loop inside the one that leaves the frames.
pub(super) fn cell(source: &Source, region: &Layered, slot: &Slot) -> String {
    // In columns a value lies with those of the same place in other frames.
    let (unit, size) =
        if region.columns { ("column", region.cell_bytes.max(1)) } else { ("byte", 1) };
    let steps: String = slot
        .steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            format!(" + {} {}", step / size, COUNTERS[number.min(COUNTERS.len() - 1)])
        })
        .collect();
    format!("{unit} {}{steps}: {}, {}", slot.offset / size, name(source, slot), slot.ty)
}

/// A value as the source has it.
pub(super) fn name(source: &Source, slot: &Slot) -> String {
    if let Some(name) = &slot.name {
        return format!("`{name}`");
    }
    let written = source.place(slot.span);
    let written = written.as_ref().map(|place| source.written(place).trim()).unwrap_or_default();
    match written.lines().count() == 1 && written.chars().count() <= LONGEST {
        true => format!("`{written}`"),
        false => "a value".to_owned(),
    }
}

fn does(what: &TapeUse, half: Half) -> String {
    match (what, half) {
        (TapeUse::Layers(region), Half::Forward) => {
            format!("fills layers of region {region}, streams each out")
        }
        (TapeUse::Layers(region), Half::Backward) => {
            format!("streams layers of region {region} in, the last first")
        }
        (TapeUse::Alone(bytes, why), Half::Forward) => {
            format!("pushes a record of {bytes} bytes by itself: {why}")
        }
        (TapeUse::Alone(bytes, _), Half::Backward) => format!("pops a record of {bytes} bytes"),
        (TapeUse::Copy, Half::Forward) => "saves a copy of a list".to_owned(),
        (TapeUse::Copy, Half::Backward) => "restores a copy of a list".to_owned(),
        (TapeUse::Call, Half::Forward) => "calls a function that pushes".to_owned(),
        (TapeUse::Call, Half::Backward) => "calls a function that pops".to_owned(),
    }
}

/// A number of bytes, as people say it.
pub(super) fn bytes(count: usize) -> String {
    match count {
        0..1024 => format!("{count} bytes"),
        count => format!("{:.1} KiB", count as f64 / 1024.0),
    }
}
