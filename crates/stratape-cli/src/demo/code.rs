//! The differentiated code as it is compiled into this command, with what `stratape explain` says of it at each line.

use std::collections::BTreeMap;

use stratape_demo::SOURCE as TEXT;

use crate::explain::notes;
use crate::failure::Failure;
use crate::page::escaped;

/// The functions of the plate, noted.
pub(super) fn listing() -> Result<String, Failure> {
    let mut notes = notes("lib.rs", TEXT)?;
    let taped = notes.remove("misfit").unwrap_or_default();
    let snapshots = notes.remove("misfit_again").unwrap_or_default();
    let lines: Vec<&str> = TEXT.lines().collect();
    let at = |wanted: &str| lines.iter().position(|line| line.contains(wanted));
    let begun = at("/// One step:").unwrap_or(0);
    let second = at("/// The same, its time loop").unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| *line == "}").unwrap_or(lines.len());
    let mut items = String::new();
    for (index, line) in lines.iter().enumerate().take(end).skip(begun) {
        // What both functions call is told of as the first sees it; of the second, only the loop that makes it differ.
        let told: &BTreeMap<usize, Vec<String>> = if index < second { &taped } else { &snapshots };
        let found = told.get(&(index + 1)).map_or(&[][..], Vec::as_slice);
        let class = if found.is_empty() { "" } else { " class=\"noted\"" };
        let line = escaped(line.strip_prefix("    ").unwrap_or(line));
        items.push_str(&format!("<li{class}><span>{}</span>{line}", index + 1));
        for note in found {
            items.push_str(&format!("<em>← {}</em>", escaped(note)));
        }
        items.push_str("</li>\n");
    }
    Ok(format!("<div class=\"code\" tabindex=\"0\"><ol>\n{items}</ol></div>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_matter_are_noted() -> Result<(), Failure> {
        let listing = listing()?;
        for needed in [
            "`old` is saved at the end of its block: 8 bytes × steps × old.len()",
            "not saved, but reloaded",
            "reversed from snapshots; each holds `u`, 8 bytes × u.len()",
            "&amp;mut [f64]",
        ] {
            assert!(listing.contains(needed), "{needed}\n{listing}");
        }
        Ok(())
    }
}
