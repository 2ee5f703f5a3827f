//! A plot: title, key, axes, and the area between them. All pictures have the same.

use super::svg::{Anchor, Svg, width_of};

/// The size of ordinary letters.
const LETTERS: f64 = 13.0;
/// The size of ordinary letters that are as wide as those of the title, which are larger and bold.
const TITLE: f64 = 17.5;

/// How an entry of the key is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Area,
    Line,
}

/// An axis: its text, its range, the numbers on it and how they are written.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) text: String,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) numbers: Vec<(f64, String)>,
}

impl Axis {
    /// An axis of round numbers.
    pub(super) fn of_numbers(text: impl Into<String>, to: f64, most: usize) -> Self {
        let each = step(to, most);
        let decimals = (-each.log10().floor()).max(0.0) as usize;
        let count = (to / each * (1.0 + 1e-9)).floor() as usize;
        let numbers = (0..=count).map(|at| at as f64 * each);
        let numbers = numbers.map(|number| (number, format!("{number:.decimals$}"))).collect();
        Self { text: text.into(), from: 0.0, to, numbers }
    }
}

/// The least of 1, 2, 5, 10, … that leaves no more than so many numbers up to `to`.
fn step(to: f64, most: usize) -> f64 {
    let least = to.max(f64::MIN_POSITIVE) / most.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|each| *each >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// A plot that is being drawn.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) svg: Svg,
    title: &'a str,
    size: (u32, u32),
    x: (f64, f64),
    y: (f64, f64),
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Numbers that fit on the horizontal axis.
    pub(super) across: usize,
}

impl<'a> Plot<'a> {
    /// Title and key. The axes follow once their range is known.
    pub(super) fn new(title: &'a str, size: (u32, u32), key: &[(&str, &str, Mark)]) -> Self {
        let mut svg = Svg::default();
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        let left = 14.0;
        let mut top = 14.0;
        for line in wrapped(title, width - 2.0 * left, TITLE) {
            top += 11.0;
            svg.text("head", (left, top), Anchor::Start, &line);
            top += 8.0;
        }
        let mut x = left;
        if !key.is_empty() {
            top += 12.0;
        }
        for (name, class, mark) in key {
            let room = 24.0 + width_of(name, LETTERS);
            if x + room > width - 8.0 && x > left {
                (x, top) = (left, top + 19.0);
            }
            match mark {
                Mark::Area => svg.rectangle(class, (x, top - 10.0), (16.0, 11.0)),
                Mark::Line => svg.lines(class, &[[(x, top - 4.0), (x + 18.0, top - 4.0)]]),
            }
            svg.text("key", (x + 22.0, top), Anchor::Start, name);
            x += room + 14.0;
        }
        let plot = Self {
            svg,
            title,
            size,
            x: (0.0, 1.0),
            y: (0.0, 1.0),
            left: 58.0,
            right: width - 16.0,
            // Room for the names of the passes.
            top: top + 30.0,
            bottom: height - 46.0,
            across: ((width - 74.0) / 75.0) as usize,
        };
        Self { bottom: plot.bottom.max(plot.top + 40.0), ..plot }
    }

    /// The numbers that fit on the vertical axis.
    pub(super) fn up(&self) -> usize {
        ((self.bottom - self.top) / 34.0) as usize
    }

    pub(super) fn axes(&mut self, x: &Axis, y: &Axis) {
        (self.x, self.y) = ((x.from, x.to), (y.from, y.to));
        let mut grid = Vec::new();
        for (number, text) in &x.numbers {
            let across = self.across(*number);
            grid.push([(across, self.top), (across, self.bottom)]);
            self.svg.text("number", (across, self.bottom + 17.0), Anchor::Middle, text);
        }
        for (number, text) in &y.numbers {
            let up = self.at(0.0, *number).1;
            grid.push([(self.left, up), (self.right, up)]);
            self.svg.text("number", (self.left - 7.0, up + 4.5), Anchor::End, text);
        }
        self.svg.lines("grid", &grid);
        let middle = 0.5 * (self.left + self.right);
        self.svg.text("label", (middle, self.bottom + 36.0), Anchor::Middle, &x.text);
        // Above the axis instead of along it: letters that stand are easier to read.
        self.svg.text("label", (14.0, self.top - 11.0), Anchor::Start, &y.text);
    }

    fn across(&self, x: f64) -> f64 {
        let (from, to) = self.x;
        self.left + (x - from) / (to - from).max(f64::MIN_POSITIVE) * (self.right - self.left)
    }

    /// Where a point is on the paper.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (from, to) = self.y;
        let up = (y - from) / (to - from).max(f64::MIN_POSITIVE);
        (self.across(x), self.bottom - up * (self.bottom - self.top))
    }

    /// The line between the passes, and their names beside it, where there is room for them.
    pub(super) fn turn(&mut self, at: f64) {
        let x = self.across(at);
        self.svg.lines("turn", &[[(x, self.top - 24.0), (x, self.bottom)]]);
        let above = self.top - 11.0;
        let names =
            [("← forward pass", x - 8.0, Anchor::End), ("backward pass →", x + 8.0, Anchor::Start)];
        for (name, from, anchor) in names {
            let width = width_of(name, LETTERS);
            // The axis' own text is on the left of the same line.
            let fits = match anchor {
                Anchor::End => from - width > self.left + 30.0,
                _ => from + width < f64::from(self.size.0),
            };
            if fits {
                self.svg.text("pass", (from, above), anchor, name);
            }
        }
    }

    /// A stretch of a thin band along the upper edge, wide enough to be seen.
    pub(super) fn band(&mut self, class: &str, from: f64, to: f64) {
        let (from, to) = (self.across(from), self.across(to));
        let width = (to - from).max(1.5);
        self.svg.rectangle(class, ((to - width).max(self.left), self.top - 6.0), (width, 6.0));
    }

    /// The horizontal axis over all that was drawn, and the end.
    pub(super) fn finish(mut self, description: &str) -> String {
        let line = [(self.left, self.bottom), (self.right, self.bottom)];
        self.svg.lines("axis", &[line]);
        self.svg.finish(self.size, self.title, description)
    }

    /// A title, and why there is nothing below it.
    pub(super) fn without_axes(title: &str, size: (u32, u32), why: &str) -> String {
        let mut plot = Plot::new(title, size, &[]);
        let mut top = plot.top + 10.0;
        for line in wrapped(why, f64::from(size.0) - 28.0, LETTERS) {
            plot.svg.text("label", (14.0, top), Anchor::Start, &line);
            top += 19.0;
        }
        plot.svg.finish(size, title, why)
    }
}

/// Lines no wider than this.
fn wrapped(text: &str, width: f64, letters: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line, letters) + width_of(word, letters) + letters < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The unit in which times up to this are written: its name, and how many there are in a second.
pub(super) fn unit_of_time(most: f64) -> (&'static str, f64) {
    match most {
        most if most >= 0.2 => ("s", 1.0),
        most if most >= 2e-4 => ("ms", 1e3),
        _ => ("µs", 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!(step(0.95, 5), 0.2);
        assert_eq!(step(305.0, 8), 50.0);
        let axis = Axis::of_numbers("time, s", 0.95, 5);
        let texts: Vec<&str> = axis.numbers.iter().map(|number| number.1.as_str()).collect();
        assert_eq!(texts, ["0.0", "0.2", "0.4", "0.6", "0.8"]);
    }
}
