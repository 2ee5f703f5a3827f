//! The paper's figures, as data: what is drawn, and what is said of it.

mod caches;
mod design;
mod mix;

use stratape_compiler::driver::Saving;

use super::{BENCHMARKS, Benchmark, Results, Run};
use crate::Report;

/// The numbers of the paper's figures that can be made.
pub const FIGURES: [u32; 11] = [6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18];

/// The caches of Table III.
const CACHES: [&str; 8] = ["1k", "2k", "4k", "8k", "16k", "32k", "64k", "128k"];

/// One of the paper's figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its number in the paper.
    pub number: u32,
    /// What it shows.
    pub title: &'static str,
    /// How it is made here.
    pub method: &'static str,
    /// What the paper says of it.
    pub claim: &'static str,
    /// What it says here.
    pub finding: String,
    /// The charts it consists of.
    pub panels: Vec<Panel>,
}

/// A chart, or a table: a number for each row and column.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// What the numbers are.
    pub unit: &'static str,
    /// How it is drawn.
    pub kind: Kind,
    /// Whether its axis is logarithmic.
    pub logarithmic: bool,
    /// What lies along the horizontal axis.
    pub columns: Vec<String>,
    /// What has a colour each. NaN where there is no number.
    pub rows: Vec<(String, Vec<f64>)>,
}

/// How a [`Panel`] is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bars side by side.
    Bars,
    /// Bars on top of each other.
    Stacked,
    /// A line for each row.
    Lines,
    /// A line for each row through points in the plane. A column holds how far to the right a point lies, the next one how far up.
    Paths,
}

impl Panel {
    fn new(title: &str, unit: &'static str, kind: Kind, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            unit,
            kind,
            logarithmic: false,
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// One with a column for each program.
    fn of_programs(title: &str, unit: &'static str, kind: Kind) -> Self {
        Self::new(title, unit, kind, &BENCHMARKS.map(|one| one.name))
    }

    fn row(mut self, name: &str, numbers: impl IntoIterator<Item = f64>) -> Self {
        self.rows.push((name.to_owned(), numbers.into_iter().collect()));
        self
    }

    fn on_logarithmic_axis(mut self) -> Self {
        self.logarithmic = true;
        self
    }

    /// All numbers there are.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().flat_map(|(_, numbers)| numbers).copied().filter(|one| one.is_finite())
    }
}

/// Makes a figure, with the smaller inputs if it is to be `quick`; `None` if there is none of this number.
///
/// Reports that are not there count as empty, and are noted in [`Results`].
pub fn figure(number: u32, quick: bool, results: &mut Results) -> Option<Figure> {
    let lab = &mut Lab { quick, results };
    Some(match number {
        6 => mix::accesses(lab),
        7 => mix::lifetimes(lab),
        10 => caches::reverse(lab),
        11 => caches::forward(lab),
        12 => caches::dram(lab),
        13 => design::layout(lab),
        14 => design::energy(lab),
        15 => caches::trade(lab),
        16 => design::scratchpads(lab),
        17 => design::depth(lab),
        18 => design::unrolled(lab),
        _ => return None,
    })
}

/// Where figures get their reports.
struct Lab<'a> {
    quick: bool,
    results: &'a mut Results,
}

impl Lab<'_> {
    /// The run of a program that saves every value, with so much cache and scratchpad.
    fn run(&self, program: &Benchmark, cache: &str, scratchpad: u64) -> Run {
        Run::new(program.name, (Saving::All, self.quick), (cache, scratchpad))
    }

    /// Its report.
    fn report(&mut self, program: &Benchmark, cache: &str, scratchpad: u64) -> Report {
        self.results.get(self.run(program, cache, scratchpad))
    }

    /// The paper's baseline: no scratchpad, 32k of cache.
    fn baseline(&mut self, program: &Benchmark) -> Report {
        self.report(program, "32k", 0)
    }
}

/// One number over another; 1 for two that are alike, nothing if there is nothing to divide by.
fn ratio(one: u64, other: u64) -> f64 {
    match (one, other) {
        (one, other) if one == other => 1.0,
        (_, 0) => f64::NAN,
        _ => one as f64 / other as f64,
    }
}

/// The smallest and the largest number, with two digits behind the point.
fn range(numbers: impl IntoIterator<Item = f64>) -> String {
    let known = numbers.into_iter().filter(|number| number.is_finite());
    let (low, high) =
        known.fold((f64::MAX, f64::MIN), |(low, high), number| (low.min(number), high.max(number)));
    if low > high { "nothing".to_owned() } else { format!("{low:.2} to {high:.2}") }
}

/// The geometric mean.
fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = numbers
        .into_iter()
        .filter(|number| number.is_finite() && *number > 0.0)
        .map(f64::ln)
        .collect();
    (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_asks_for_runs_and_has_a_number_for_each_place() {
        for number in FIGURES {
            let mut results = Results::default();
            let figure = figure(number, true, &mut results).unwrap();
            assert_eq!(figure.number, number);
            assert!(!results.wanted().is_empty() && !figure.panels.is_empty(), "{number}");
            for panel in &figure.panels {
                for (row, numbers) in &panel.rows {
                    assert_eq!(numbers.len(), panel.columns.len(), "{number}: {row}");
                }
            }
        }
        assert_eq!(figure(8, true, &mut Results::default()), None);
    }

    #[test]
    fn numbers_in_words() {
        assert_eq!(range([2.0, f64::NAN, 1.0]), "1.00 to 2.00");
        assert_eq!(range([]), "nothing");
        assert!((mean([1.0, 4.0]) - 2.0).abs() < 1e-12);
        assert_eq!((ratio(0, 0), ratio(6, 3)), (1.0, 2.0));
        assert!(ratio(1, 0).is_nan());
    }
}
