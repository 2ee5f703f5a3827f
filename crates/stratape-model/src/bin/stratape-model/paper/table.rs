//! The table of ours against published.

use stratape_compiler::driver::Saving;
use stratape_model::paper::{BENCHMARKS, Measured, Published, Results};

use super::text;

/// A program, saving every value and saving what must be.
pub(super) struct Row {
    pub(super) all: Measured,
    minimal: Measured,
    published: Published,
}

/// Gathers the rows; what they need and is not there is noted in the results.
pub(super) fn rows(quick: bool, results: &mut Results) -> Vec<Row> {
    let rows = BENCHMARKS.iter().map(|one| {
        let mut measured = |saved| Measured::new(one, saved, quick, results);
        Row {
            all: measured(Saving::All),
            minimal: measured(Saving::Minimal),
            published: one.published,
        }
    });
    rows.collect()
}

/// What is said above the table.
pub(super) const TITLE: &str = "With a scratchpad of 512 bytes over without, both with 32k of cache; energy with 2k of cache over 32k. \
    Every value that the reverse pass needs is saved, as in the paper; in the columns \"minimal\" what is cheaper to compute or read again is not. \
    In brackets: published, and ours over published.";

/// What is said below it.
pub(super) const NOTE: &str = "DRAM: lines read and written, the tape's on both sides. As counted: without the scratchpad's writes of the tape, which the \
    published figures leave out.";

/// Our figures of a program beside those published: name, ours, theirs.
fn pairs(row: &Row) -> [(&'static str, f64, Option<f64>); 10] {
    let Row { all, minimal, published } = row;
    let (found, less) = (all.comparison(), minimal.comparison());
    [
        ("forward ×", found.forward, Some(published.forward)),
        ("reverse ×", found.reverse, Some(published.reverse)),
        ("total ×", found.total, Some(published.total)),
        ("DRAM ÷", found.dram, Some(published.dram)),
        ("as counted ÷", found.dram_without_tape_writes, Some(published.dram)),
        ("energy ÷", all.small_comparison().energy, Some(published.energy)),
        ("tape", all.tape_share(), Some(published.tape)),
        ("minimal: total ×", less.total, None),
        ("minimal: DRAM ÷", less.dram, None),
        ("minimal: energy ÷", minimal.small_comparison().energy, None),
    ]
}

/// The cells of a row, each with its head.
pub(super) fn cells(row: &Row) -> Vec<(&'static str, String)> {
    let texts = pairs(row).into_iter().map(|(head, ours, theirs)| {
        let text = match theirs {
            Some(theirs) => format!("{ours:.2} ({theirs:.2}, {:.2})", ours / theirs),
            None => format!("{ours:.2}"),
        };
        (head, text)
    });
    texts.collect()
}

/// How many programs are how near to what was published.
pub(super) fn summary(rows: &[Row]) -> String {
    let near = |column: usize, factor: f64| {
        let within = rows.iter().filter(|row| {
            let (_, ours, theirs) = pairs(row)[column];
            let apart = ours / theirs.unwrap_or(ours);
            (1.0 / factor..=factor).contains(&apart)
        });
        within.count()
    };
    format!(
        "Within 1.5 of published: the total speed-up of {}, the energy of {} of {}. Within 2: the DRAM traffic of {}, as counted of {}.",
        near(2, 1.5),
        near(5, 1.5),
        rows.len(),
        near(3, 2.0),
        near(4, 2.0),
    )
}

/// The table for a terminal.
pub(super) fn shown(rows: &[Row], width: usize) -> String {
    let heads: Vec<String> = rows.first().map_or_else(Vec::new, |row| {
        cells(row).into_iter().map(|(head, _)| head.to_owned()).collect()
    });
    let rows: Vec<(&str, Vec<String>)> = rows
        .iter()
        .map(|row| (row.all.name, cells(row).into_iter().map(|(_, cell)| cell).collect()))
        .collect();
    text::table(&heads, &rows, width)
}

/// All figures of both settings.
pub(super) fn csv(rows: &[Row]) -> String {
    let mut csv = String::from(
        "program,saved,forward,reverse,total,dram,dram_without_tape_writes,energy_2k,layout_dram,total_1k,dram_1k,tape_share,layers,published_forward,published_reverse,published_total,published_dram,published_energy\n",
    );
    for (saved, of) in [("all", true), ("minimal", false)] {
        for row in rows {
            let measured = if of { &row.all } else { &row.minimal };
            let published = &row.published;
            let (found, small) = (measured.comparison(), measured.small_comparison());
            let smallest = measured.smallest_comparison();
            let figures = [
                found.forward,
                found.reverse,
                found.total,
                found.dram,
                found.dram_without_tape_writes,
                small.energy,
                measured.layout_comparison().dram,
                smallest.total,
                smallest.dram,
                measured.tape_share(),
                measured.layers() as f64,
                published.forward,
                published.reverse,
                published.total,
                published.dram,
                published.energy,
            ];
            let figures = figures.map(|figure| format!("{figure:.4}"));
            csv += &format!("{},{saved},{}\n", measured.name, figures.join(","));
        }
    }
    csv
}
