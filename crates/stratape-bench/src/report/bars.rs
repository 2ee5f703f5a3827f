//! Ratios as bars that fit the terminal.

use std::fmt::Write as _;

use stratape_bench::{Aim, Measurement, Size};
use stratape_console::terminal::wrapped;

use super::compare::{Change, Earlier};

/// How to draw.
pub(super) struct Look {
    /// Columns there are.
    pub(super) width: usize,
    /// Letters that every reader knows.
    pub(super) plain: bool,
    pub(super) colours: bool,
}

/// Columns of a ratio, and of a change, with a space before each.
const FIGURE: usize = 8;
/// The most columns of a bar: more would not be read better.
const LONGEST: usize = 60;
/// Where the bars end at most; what is longer is cut off, with a sign.
const TOP: f64 = 3.0;

pub(super) fn draw(
    found: &[Measurement],
    size: Size,
    earlier: Option<&Earlier>,
    look: &Look,
) -> String {
    let mut lines = Vec::new();
    let mut rest = found;
    while let Some(first) = rest.first() {
        let split = rest.iter().position(|one| one.bench != first.bench).unwrap_or(rest.len());
        let (suite, others) = rest.split_at(split);
        lines.extend(group(suite, size, earlier, look));
        lines.push(String::new());
        rest = others;
    }
    if let Some(earlier) = earlier {
        lines.extend(summary(found, size, earlier, look));
    } else {
        lines.pop();
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn label(one: &Measurement) -> String {
    format!("{} / {}", one.case, one.against)
}

/// The bars of a suite.
fn group(suite: &[Measurement], size: Size, earlier: Option<&Earlier>, look: &Look) -> Vec<String> {
    let signs = Signs::of(look);
    let name = suite.first().map(|one| one.bench.as_str()).unwrap_or_default();
    let mut title = format!(
        "{name} {}: our time or speed divided by that of the reference; {} is 1, {} the target",
        size.option(),
        signs.one,
        signs.aim
    );
    if let Some(earlier) = earlier {
        let _ = write!(title, "; last column: divided by the ratio in {}", earlier.name);
    }
    let mut lines = wrapped(&title, look.width);
    let figures = FIGURE * (1 + usize::from(earlier.is_some()));
    let labels: Vec<String> = suite.iter().map(label).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let beside = 2 * longest <= look.width && longest + figures + 20 <= look.width;
    let room = look.width.saturating_sub(figures + if beside { longest + 1 } else { 2 });
    let scale = Scale::of(suite, room.clamp(1, LONGEST));
    for (one, label) in suite.iter().zip(labels) {
        let start = if beside {
            format!("{label:<longest$} ")
        } else {
            lines.extend(wrapped(&label, look.width));
            "  ".to_owned()
        };
        let bar =
            if one.is_time_or_speed() { scale.bar(one, &signs, look) } else { scale.amount(one) };
        let mut line = format!("{start}{bar}{:>FIGURE$}", figure(one.ratio));
        if let Some(earlier) = earlier {
            let _ = write!(line, "{:>FIGURE$}", change(earlier.change(one), &signs));
        }
        lines.push(line);
    }
    lines
}

/// How the run as a whole compares with the earlier one.
fn summary(found: &[Measurement], size: Size, earlier: &Earlier, look: &Look) -> Vec<String> {
    let signs = Signs::of(look);
    let mut texts = Vec::new();
    if let Some(other) = earlier.other_size(size) {
        texts.push(format!(
            "{} was measured with {}, this with {}: the changes are those of the sizes as well",
            earlier.name,
            other.option(),
            size.option()
        ));
    }
    let mut changes: Vec<(f64, &Measurement)> = found
        .iter()
        .filter_map(|one| match earlier.change(one) {
            Change::Times(factor) => Some((factor, one)),
            Change::New | Change::FromNothing => None,
        })
        .collect();
    changes.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if let [(least, first), .., (most, last)] = &changes[..] {
        texts.push(format!(
            "{} cases in both: from {}{least:.2} ({}) to {}{most:.2} ({})",
            changes.len(),
            signs.times,
            label(first),
            signs.times,
            label(last)
        ));
    }
    let new = found.iter().filter(|one| earlier.change(one) == Change::New);
    texts.extend(new.map(|one| format!("only now: {}", label(one))));
    texts.extend(
        earlier.missing(found).map(|one| format!("only in {}: {}", earlier.name, label(one))),
    );
    texts.iter().flat_map(|text| wrapped(text, look.width)).collect()
}

struct Signs {
    filled: char,
    one: char,
    aim: char,
    cut: char,
    times: &'static str,
}

impl Signs {
    fn of(look: &Look) -> Self {
        if look.plain {
            Self { filled: '#', one: '|', aim: ':', cut: '>', times: "x" }
        } else {
            Self { filled: '█', one: '│', aim: '┊', cut: '▶', times: "×" }
        }
    }
}

/// Three digits or so.
fn figure(ratio: f64) -> String {
    match ratio {
        r if r != 0.0 && r < 0.005 => format!("{r:.1e}"),
        r if r < 10.0 => format!("{r:.2}"),
        r if r < 100.0 => format!("{r:.1}"),
        r if r < 1e6 => format!("{r:.0}"),
        r => format!("{r:.0e}"),
    }
}

fn change(change: Change, signs: &Signs) -> String {
    match change {
        Change::Times(factor) => format!("{}{}", signs.times, figure(factor)),
        Change::New => "new".to_owned(),
        Change::FromNothing => "from 0".to_owned(),
    }
}

/// From ratios to columns.
struct Scale {
    columns: usize,
    top: f64,
}

impl Scale {
    fn of(suite: &[Measurement], columns: usize) -> Self {
        let bounds = |one: &Measurement| one.goal().map_or([None; 2], Aim::bounds);
        let all = suite
            .iter()
            .filter(|one| one.is_time_or_speed())
            .flat_map(|one| bounds(one).into_iter().flatten().chain([one.ratio]))
            .filter(|ratio| ratio.is_finite());
        Self { columns, top: (1.05 * all.fold(1.0, f64::max)).clamp(1.5, TOP) }
    }

    /// The column that a ratio falls into; past the last one for what is too long.
    fn column(&self, ratio: f64) -> usize {
        (ratio / self.top * self.columns as f64).min(self.columns as f64) as usize
    }

    /// In the place of a bar, which would look like a time: what was counted, where it fits.
    fn amount(&self, one: &Measurement) -> String {
        let text = format!("{} {}", one.ours, one.unit);
        let text = if text.chars().count() < self.columns { text } else { String::new() };
        format!("{text:>width$}", width = self.columns)
    }

    fn bar(&self, one: &Measurement, signs: &Signs, look: &Look) -> String {
        let end = self.column(one.ratio);
        let mut cells = vec![' '; self.columns];
        cells[..end].fill(signs.filled);
        let mut mark = |ratio: f64, sign: char| {
            if let Some(cell) = cells.get_mut(self.column(ratio)) {
                *cell = sign;
            }
        };
        let aim = one.goal();
        for bound in aim.map_or([None; 2], Aim::bounds).into_iter().flatten() {
            mark(bound, signs.aim);
        }
        mark(1.0, signs.one);
        if one.ratio > self.top
            && let Some(last) = cells.last_mut()
        {
            *last = signs.cut;
        }
        let text = String::from_iter(cells);
        if !look.colours {
            return text;
        }
        let colour = match aim.map(|aim| aim.is_met(one.ratio)) {
            None => 36,
            Some(true) => 32,
            Some(false) => 31,
        };
        format!("\u{1b}[{colour}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::{earlier, one};
    use super::*;

    fn some() -> Vec<Measurement> {
        vec![
            one("push_pop", 1.05, Some("<= 1.10")),
            one("growing", 0.5, Some("< 1")),
            one("bytes", 0.0, None),
            one("walked", 250.0, Some("<= 2")),
            Measurement { unit: "bytes".to_owned(), ..one("kept", 640.0, None) },
        ]
    }

    fn look(width: usize) -> Look {
        Look { width, plain: true, colours: false }
    }

    #[test]
    fn bars_with_their_lines() {
        let text = draw(&some(), Size::Quick, None, &look(60));
        insta::assert_snapshot!(text, @r"
        tape --quick: our time or speed divided by that of the
        reference; | is 1, : the target
        push_pop / raw array ##########|:                       1.05
        growing / raw array  #####     |                        0.50
        bytes / raw array              |                        0.00
        walked / raw array   ##########|#########:#########>     250
        kept / raw array                           640 bytes     640
        ");
    }

    #[test]
    fn forty_columns_and_a_comparison() {
        let then = earlier(vec![
            one("push_pop", 1.0, None),
            one("growing", 1.0, None),
            one("a_case_that_is_gone_and_has_a_long_name", 1.0, None),
        ]);
        let text = draw(&some(), Size::Full, Some(&then), &look(40));
        insta::assert_snapshot!(text, @r"
        tape --full: our time or speed divided
        by that of the reference; | is 1, : the
        target; last column: divided by the
        ratio in old.json
        push_pop / raw array
          #######|:                 1.05   x1.05
        growing / raw array
          ###    |                  0.50   x0.50
        bytes / raw array
                 |                  0.00     new
        walked / raw array
          #######|######:######>     250     new
        kept / raw array
                       640 bytes     640     new

        old.json was measured with --quick, this
        with --full: the changes are those of
        the sizes as well
        2 cases in both: from x0.50 (growing /
        raw array) to x1.05 (push_pop / raw
        array)
        only now: bytes / raw array
        only now: walked / raw array
        only now: kept / raw array
        only in old.json:
        a_case_that_is_gone_and_has_a_long_name
        / raw array
        ");
    }

    #[test]
    fn every_width_is_kept_to() {
        let then = earlier(vec![one("push_pop", 1.0, None)]);
        for width in 20..120 {
            for earlier in [None, Some(&then)] {
                let text = draw(&some(), Size::Quick, earlier, &look(width));
                for line in text.lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn colours_say_whether_the_aim_is_met() {
        let look = Look { width: 60, plain: false, colours: true };
        let text = draw(&some(), Size::Quick, None, &look);
        for colour in ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[36m"] {
            assert!(text.contains(colour));
        }
        assert!(!draw(&some(), Size::Quick, None, &self::look(60)).contains('\u{1b}'));
    }
}
