//! Figures as SVG: their panels one below the other, or side by side if they are many.

use std::error::Error;
use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use stratape_model::paper::{Figure, Kind, Panel};

use crate::chart::{Area, Drawn, Frame, drawn_at};

type Outcome = Result<(), Box<dyn Error>>;

/// A colour for each row.
const COLOURS: [RGBColor; 9] = [
    RGBColor(0, 90, 181),
    RGBColor(220, 50, 32),
    RGBColor(60, 150, 90),
    RGBColor(230, 159, 0),
    RGBColor(123, 50, 148),
    RGBColor(86, 180, 233),
    RGBColor(120, 120, 120),
    RGBColor(140, 86, 75),
    RGBColor(214, 96, 170),
];

/// Height of a line of a key.
const LINE: u32 = 22;

/// Where a panel lies, and whether a key is above it.
struct Place {
    corner: (u32, u32),
    size: (u32, u32),
    key: bool,
}

/// Draws a figure.
pub(super) fn draw(figure: &Figure, frame: Frame) -> Drawn {
    let (places, size) = places(figure, frame);
    drawn_at(size, |area| {
        for (panel, place) in figure.panels.iter().zip(&places) {
            if place.key {
                key(area, panel, (place.corner.1, size.0))?;
            }
            let down = if place.key { key_height(panel, size.0) } else { 0 };
            let corner = (place.corner.0 as i32, (place.corner.1 + down) as i32);
            let part = area.clone().shrink(corner, place.size);
            match panel.kind {
                Kind::Paths => paths(&part, panel)?,
                Kind::Lines => lines(&part, panel)?,
                Kind::Bars | Kind::Stacked => bars(&part, panel, frame)?,
            }
        }
        Ok(())
    })
}

fn places(figure: &Figure, frame: Frame) -> (Vec<Place>, (u32, u32)) {
    let (width, height) = frame.size();
    let small = figure.panels.len() > 4;
    let across = match (small, frame) {
        (false, _) => 1,
        (true, Frame::Wide) => 3,
        (true, Frame::Narrow) => 1,
    };
    let size = (width / across, if small { height * 3 / 4 } else { height });
    let (mut places, mut top) = (Vec::new(), 0);
    let mut before: Vec<&str> = Vec::new();
    for (count, panel) in (0..).zip(&figure.panels) {
        let names: Vec<&str> = panel.rows.iter().map(|(name, _)| name.as_str()).collect();
        let key = names.len() > 1 && names != before;
        before = names;
        places.push(Place { corner: (count % across * size.0, top), size, key });
        let last = count % across == across - 1 || count as usize + 1 == figure.panels.len();
        // A key is above the first of those that stand side by side.
        top += if key { key_height(panel, width) } else { 0 };
        if let Some(place) = places.last_mut().filter(|place| !place.key) {
            place.corner.1 = top;
        }
        top += if last { size.1 } else { 0 };
    }
    (places, (width, top))
}

/// Where each name of a key lies: letters are taken to be 8 wide, and a row is as wide as the page.
fn key_places(panel: &Panel, width: u32) -> Vec<(u32, u32)> {
    let (mut x, mut y) = (12, 0);
    let places = panel.rows.iter().map(|(name, _)| {
        let length = 30 + 8 * name.chars().count() as u32;
        if x > 12 && x + length > width {
            (x, y) = (12, y + LINE);
        }
        let place = (x, y);
        x += length;
        place
    });
    places.collect()
}

fn key_height(panel: &Panel, width: u32) -> u32 {
    key_places(panel, width).last().map_or(0, |(_, y)| y + LINE + 6)
}

fn key(area: &Area<'_>, panel: &Panel, (top, width): (u32, u32)) -> Outcome {
    let places = key_places(panel, width);
    for (row, ((name, _), (x, y))) in panel.rows.iter().zip(places).enumerate() {
        let (x, y) = (x as i32, (top + y) as i32 + 8);
        let box_of = [(x, y), (x + 14, y + 10)];
        area.draw(&Rectangle::new(box_of, colour(row).filled()))?;
        let style = ("sans-serif", 14).into_font().color(&BLACK);
        area.draw(&Text::new(name.as_str(), (x + 19, y - 2), style))?;
    }
    Ok(())
}

fn colour(row: usize) -> RGBColor {
    COLOURS[row % COLOURS.len()]
}

/// The numbers of a vertical axis: where it begins and ends, and its marks.
struct Axis {
    logarithmic: bool,
    low: f64,
    high: f64,
    marks: Vec<f64>,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, logarithmic: bool, from_zero: bool) -> Self {
        let place = |value: f64| if logarithmic { value.max(1e-9).log10() } else { value };
        let known: Vec<f64> = values.filter(|value| value.is_finite()).map(place).collect();
        let low = known.iter().copied().fold(f64::MAX, f64::min);
        let high = known.iter().copied().fold(f64::MIN, f64::max);
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        if logarithmic {
            let (low, high) = (low.floor(), (high + 0.02).ceil().max(low.floor() + 1.0));
            let marks = (low as i32..=high as i32).map(f64::from).collect();
            return Self { logarithmic, low, high, marks };
        }
        let low = if from_zero { 0.0 } else { low };
        let step = step((high - low).max(1e-3));
        let low = (low / step).floor() * step;
        let high = (high / step - 1e-6).ceil() * step;
        let count = ((high - low) / step).round() as u32;
        let marks = (0..=count).map(|mark| low + f64::from(mark) * step).collect();
        Self { logarithmic, low, high, marks }
    }

    fn place(&self, value: f64) -> f64 {
        if self.logarithmic { value.max(1e-9).log10() } else { value }
    }

    fn text(&self, place: f64) -> String {
        if !self.logarithmic {
            let rounded = (place * 1e3).round() / 1e3;
            return format!("{rounded}");
        }
        let value = 10_f64.powf(place);
        match value {
            value if value >= 1e6 => format!("{:.0}M", value / 1e6),
            value if value >= 1e3 => format!("{:.0}k", value / 1e3),
            value if value >= 1.0 => format!("{value:.0}"),
            value => format!("{}", (value * 1e3).round() / 1e3),
        }
    }
}

/// A round step with which five marks or so cover a range.
fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let unit = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|times| times * unit)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough)
}

/// A stretch of numbers with marks at given places.
struct Marked {
    from: f64,
    to: f64,
    marks: Vec<f64>,
}

impl Ranged for Marked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Marked, Marked>>;

/// Margins, title, letters and axes, the same for all panels. Names that would not fit side by side are turned.
fn chart<'a, 'b>(
    area: &'a Area<'b>,
    panel: &Panel,
    across: Marked,
    name: &dyn Fn(&f64) -> String,
    axis: &Axis,
    turned: bool,
) -> Result<Chart<'a, 'b>, Box<dyn Error>> {
    let marks = across.marks.clone();
    let up = Marked { from: axis.low, to: axis.high, marks: axis.marks.clone() };
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(&panel.title, ("sans-serif", 16))
        .x_label_area_size(if turned { 76 } else { 34 })
        .y_label_area_size(58)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .disable_x_mesh()
        .x_label_style(("sans-serif", 13))
        .y_label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 14))
        .y_desc(panel.unit)
        .x_label_formatter(&|at: &f64| if turned { String::new() } else { name(at) })
        .y_label_formatter(&|place: &f64| axis.text(*place))
        .draw()?;
    if turned {
        // Labels of an axis are centred below their marks, which would put turned ones into the chart.
        let style = ("sans-serif", 11)
            .into_font()
            .transform(FontTransform::Rotate90)
            .color(&BLACK)
            .pos(Pos::new(HPos::Left, VPos::Center));
        let (left, top) = area.get_base_pixel();
        for mark in marks {
            let (x, y) = chart.backend_coord(&(mark, axis.low));
            area.draw(&Text::new(name(&mark), (x - left, y - top + 8), style.clone()))?;
        }
    }
    Ok(chart)
}

/// The horizontal axis of columns with names.
fn columns(panel: &Panel) -> Marked {
    let count = panel.columns.len();
    let marks = (0..count).map(|at| at as f64).collect();
    Marked { from: -0.5, to: count as f64 - 0.5, marks }
}

fn name_of(panel: &Panel, at: f64) -> String {
    panel.columns.get(at.round() as usize).cloned().unwrap_or_default()
}

fn values(panel: &Panel) -> impl Iterator<Item = f64> {
    panel.rows.iter().flat_map(|(_, row)| row).copied()
}

fn bars(area: &Area<'_>, panel: &Panel, frame: Frame) -> Outcome {
    let stacked = panel.kind == Kind::Stacked;
    let sums = (0..panel.columns.len()).map(|at| {
        panel.rows.iter().filter_map(|(_, row)| row.get(at)).filter(|one| one.is_finite()).sum()
    });
    let sums: Vec<f64> = if stacked { sums.collect() } else { values(panel).collect() };
    let axis = Axis::new(sums.into_iter(), panel.logarithmic, true);
    let labels = |at: &f64| name_of(panel, *at);
    let turned = matches!(frame, Frame::Narrow);
    let mut chart = chart(area, panel, columns(panel), &labels, &axis, turned)?;
    let width = if stacked { 0.7 } else { 0.84 / panel.rows.len().max(1) as f64 };
    let mut floors = vec![0.0; panel.columns.len()];
    for (index, (_, row)) in panel.rows.iter().enumerate() {
        let shapes = row.iter().zip(&mut floors).enumerate().filter_map(|(at, (value, floor))| {
            let value = Some(*value).filter(|value| value.is_finite())?;
            let left = match stacked {
                true => at as f64 - 0.35,
                false => at as f64 - 0.42 + index as f64 * width,
            };
            let low = if stacked { *floor } else { axis.low };
            *floor += value;
            let high = if stacked { *floor } else { axis.place(value) };
            let corners = [(left, low), (left + 0.94 * width, high)];
            Some(Rectangle::new(corners, colour(index).filled()))
        });
        chart.draw_series(shapes)?;
    }
    if !stacked && !panel.logarithmic && axis.low < 1.0 && axis.high > 1.0 && panel.unit != "%" {
        even(&mut chart, (-0.5, panel.columns.len() as f64 - 0.5))?;
    }
    Ok(())
}

/// A line at 1: no better and no worse.
fn even(chart: &mut Chart<'_, '_>, (from, to): (f64, f64)) -> Outcome {
    chart.draw_series(LineSeries::new([(from, 1.0), (to, 1.0)], BLACK.stroke_width(1)))?;
    Ok(())
}

fn lines(area: &Area<'_>, panel: &Panel) -> Outcome {
    let axis = Axis::new(values(panel), panel.logarithmic, false);
    let labels = |at: &f64| name_of(panel, *at);
    let mut chart = chart(area, panel, columns(panel), &labels, &axis, false)?;
    for (index, (_, row)) in panel.rows.iter().enumerate() {
        let points: Vec<(f64, f64)> = row
            .iter()
            .enumerate()
            .filter(|(_, value)| value.is_finite())
            .map(|(at, value)| (at as f64, axis.place(*value)))
            .collect();
        let colour = colour(index);
        chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    Ok(())
}

fn paths(area: &Area<'_>, panel: &Panel) -> Outcome {
    let half = |first: usize| {
        panel.rows.iter().flat_map(move |(_, row)| row.iter().skip(first).step_by(2)).copied()
    };
    let (across, axis) = (Axis::new(half(0), true, false), Axis::new(half(1), false, false));
    let marks = across.marks.clone();
    let labels = |at: &f64| across.text(*at);
    let right = Marked { from: across.low, to: across.high, marks };
    let mut chart = chart(area, panel, right, &labels, &axis, false)?;
    for (index, (_, row)) in panel.rows.iter().enumerate() {
        let points: Vec<(f64, f64)> = row
            .chunks_exact(2)
            .filter(|point| point.iter().all(|value| value.is_finite()))
            .map(|point| (across.place(point[0]), point[1]))
            .collect();
        let colour = colour(index);
        chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_marks() {
        let axis = Axis::new([1.2, 2.3, f64::NAN].into_iter(), false, true);
        assert_eq!(axis.marks, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
        let axis = Axis::new([3.0, 40_000.0].into_iter(), true, false);
        let texts: Vec<String> = axis.marks.iter().map(|mark| axis.text(*mark)).collect();
        assert_eq!(texts, ["1", "10", "100", "1k", "10k", "100k"]);
        // Nothing to draw is no reason to fail.
        assert!(Axis::new([].into_iter(), true, false).high > 0.0);
    }
}
