//! The charts of the report, as SVG.

use plotters::prelude::*;
use stratape::checkpoint::schedule::{Action, Revolve};
use stratape::tape::Sample;

use crate::page::{Drawn, Frame, Key, drawn};

/// A layer of the tape: its colour, and what it holds.
type Layer = (RGBColor, fn(&Sample) -> u64);

const BLUE: RGBColor = RGBColor(0, 90, 181);
const RED: RGBColor = RGBColor(220, 50, 32);
const GREY: RGBColor = RGBColor(150, 150, 150);
const GREEN: RGBColor = RGBColor(60, 150, 90);
const VIOLET: RGBColor = RGBColor(123, 50, 148);

/// The margins and the letters, the same for all charts.
macro_rules! chart {
    ($area:expr, $frame:expr, $x:expr, $y:expr, $texts:expr, $number:expr) => {{
        let mut chart = ChartBuilder::on($area)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(68)
            .build_cartesian_2d($x, $y)?;
        let (across, up) = $frame.numbers();
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .x_labels(across)
            .y_labels(up)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .x_desc($texts[0])
            .y_desc($texts[1])
            .y_label_formatter($number)
            .draw()?;
        chart
    }};
}

pub(super) const OCCUPANCY: Key = &[
    ("in RAM only", "#4c8ccb"),
    ("in RAM and on disk", "#76b58b"),
    ("on the way", "#e6705f"),
    ("on disk only", "#b5b5b5"),
    ("memory budget", "#000"),
    ("the pass waits", "#7b3294"),
];

/// What the layers of the tape held over time, one on the other.
pub(super) fn occupancy(samples: &[Sample], memory: usize, frame: Frame) -> Drawn {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let layers: [Layer; 4] = [
        (BLUE, |sample| sample.unsaved),
        (GREEN, |sample| sample.saved),
        (RED, |sample| sample.writing + sample.reading),
        (GREY, |sample| sample.below),
    ];
    let total = |sample: &Sample| layers.iter().map(|layer| mib(layer.1(sample))).sum::<f64>();
    let most = samples.iter().map(total).fold(mib(memory as u64), f64::max);
    let end = samples.last().map_or(1.0, |sample| sample.at.as_secs_f64()).max(1e-6);
    drawn(frame, |area| {
        let texts = ["time, s", "held, MiB"];
        let number = &|value: &f64| format!("{}", (value * 1e3).round() / 1e3);
        let mut chart = chart!(area, frame, 0.0..end, 0.0..1.05 * most, texts, number);
        let mut floor = vec![0.0; samples.len()];
        for (colour, of) in layers {
            let below = floor.clone();
            for (height, sample) in floor.iter_mut().zip(samples) {
                *height += mib(of(sample));
            }
            let at = |(sample, height): (&Sample, &f64)| (sample.at.as_secs_f64(), *height);
            let up = samples.iter().zip(&floor).map(at);
            let back = samples.iter().zip(&below).map(at).rev();
            let outline: Vec<(f64, f64)> = up.chain(back).collect();
            chart.draw_series([Polygon::new(outline, colour.mix(0.7).filled())])?;
        }
        // Along the upper edge, as long as each wait took, and never too short to be seen.
        let waits = samples.windows(2).filter(|pair| pair[1].waited > pair[0].waited).map(|pair| {
            let until = pair[1].at.as_secs_f64();
            let took = (pair[1].waited - pair[0].waited).as_secs_f64().max(0.003 * end);
            Rectangle::new(
                [((until - took).max(0.0), 1.02 * most), (until, 1.05 * most)],
                VIOLET.filled(),
            )
        });
        chart.draw_series(waits)?;
        let line = [(0.0, mib(memory as u64)), (end, mib(memory as u64))];
        chart.draw_series(LineSeries::new(line, BLACK.stroke_width(1)))?;
        Ok(())
    })
}

pub(super) const SCHEDULE: Key = &[
    ("a snapshot is kept", "#3c965a"),
    ("steps are run", "#005ab5"),
    ("a step is reversed", "#dc3220"),
];

/// A small Revolve schedule: which step is run or reversed when, and which states are kept.
pub(super) fn schedule(steps: usize, slots: usize, frame: Frame) -> Drawn {
    let (mut now, mut runs, mut reversed) = (0, Vec::new(), Vec::new());
    let mut kept: Vec<(usize, usize, usize)> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for action in Revolve::new(steps, slots)? {
        match action {
            Action::Advance { from, to } => {
                runs.push([(now, from), (now + to - from, to)]);
                now += to - from;
            }
            Action::Store { step, .. } => open.push((step, now)),
            Action::Drop { step, .. } => {
                if let Some(at) = open.iter().position(|(open, _)| *open == step) {
                    let (step, since) = open.swap_remove(at);
                    kept.push((step, since, now));
                }
            }
            Action::Tape { step, .. } => {
                reversed.push((now, step));
                now += 1;
            }
            _ => {}
        }
    }
    drawn(frame, |area| {
        let texts = ["steps run so far", "step"];
        let number = &|value: &usize| value.to_string();
        let mut chart = chart!(area, frame, 0..now.max(1), 0..steps, texts, number);
        let lines = kept.iter().map(|(step, from, to)| {
            PathElement::new([(*from, *step), (*to, *step)], GREEN.stroke_width(2))
        });
        chart.draw_series(lines)?;
        let run = |run: &[(usize, usize); 2]| PathElement::new(*run, BLUE.stroke_width(2));
        chart.draw_series(runs.iter().map(run))?;
        chart.draw_series(reversed.iter().map(|at| Circle::new(*at, 3, RED.filled())))?;
        Ok(())
    })
}

/// The misfit over the iterations. The axis is that of the logarithm, its numbers are those of the misfit: a logarithmic axis crowds them.
pub(super) fn convergence(history: &[f64], frame: Frame) -> Drawn {
    let heights: Vec<f64> = history.iter().map(|misfit| misfit.max(1e-300).log10()).collect();
    let low = heights.iter().copied().fold(f64::MAX, f64::min);
    let high = heights.iter().copied().fold(f64::MIN, f64::max).max(low + 0.1);
    let room = 0.05 * (high - low);
    drawn(frame, |area| {
        let texts = ["iteration", "misfit"];
        let number = &|value: &f64| format!("{:.1e}", 10_f64.powf(*value));
        let across = 0..history.len().saturating_sub(1).max(1);
        let mut chart = chart!(area, frame, across, low - room..high + room, texts, number);
        let points = heights.iter().copied().enumerate();
        chart.draw_series(LineSeries::new(points, BLUE.stroke_width(2)))?;
        Ok(())
    })
}
