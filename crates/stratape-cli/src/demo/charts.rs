//! The charts of the report, as SVG.

use std::error::Error;

use plotters::prelude::*;
use stratape::checkpoint::schedule::{Action, Revolve};
use stratape::tape::Sample;

type Drawn = Result<String, Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A layer of the tape: its name, its colour, and what it holds.
type Layer = (&'static str, RGBColor, fn(&Sample) -> u64);

const BLUE: RGBColor = RGBColor(0, 90, 181);
const RED: RGBColor = RGBColor(220, 50, 32);
const GREY: RGBColor = RGBColor(150, 150, 150);
const GREEN: RGBColor = RGBColor(60, 150, 90);

fn drawn(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>) -> Drawn {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    area.fill(&WHITE)?;
    draw(&area)?;
    area.present()?;
    drop(area);
    Ok(text)
}

/// What the layers of the tape held over time, one on the other.
pub(super) fn occupancy(samples: &[Sample], memory: usize) -> Drawn {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let layers: [Layer; 4] = [
        ("in RAM only", BLUE, |sample| sample.unsaved),
        ("in RAM and on disk", GREEN, |sample| sample.saved),
        ("on the way", RED, |sample| sample.writing + sample.reading),
        ("on disk only", GREY, |sample| sample.below),
    ];
    let total = |sample: &Sample| layers.iter().map(|layer| mib(layer.2(sample))).sum::<f64>();
    let most = samples.iter().map(total).fold(mib(memory as u64), f64::max);
    let end = samples.last().map_or(1.0, |sample| sample.at.as_secs_f64());
    drawn((860, 320), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..end, 0.0..1.05 * most)?;
        chart.configure_mesh().light_line_style(TRANSPARENT).x_desc("s").y_desc("MiB").draw()?;
        let mut floor = vec![0.0; samples.len()];
        for (name, colour, of) in layers {
            let below = floor.clone();
            for (height, sample) in floor.iter_mut().zip(samples) {
                *height += mib(of(sample));
            }
            let at = |(sample, height): (&Sample, &f64)| (sample.at.as_secs_f64(), *height);
            let up = samples.iter().zip(&floor).map(at);
            let back = samples.iter().zip(&below).map(at).rev();
            let outline: Vec<(f64, f64)> = up.chain(back).collect();
            chart
                .draw_series([Polygon::new(outline, colour.mix(0.7).filled())])?
                .label(name)
                .legend(move |(x, y)| {
                    Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled())
                });
        }
        let line = [(0.0, mib(memory as u64)), (end, mib(memory as u64))];
        chart
            .draw_series(LineSeries::new(line, BLACK.stroke_width(1)))?
            .label("memory budget")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], BLACK));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .label_font(("sans-serif", 13))
            .draw()?;
        Ok(())
    })
}

/// A small Revolve schedule: which step is run or reversed when, and which states are kept.
pub(super) fn schedule(steps: usize, slots: usize) -> Drawn {
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
    drawn((860, 320), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0..now, 0..steps)?;
        chart.configure_mesh().disable_mesh().x_desc("steps run so far").y_desc("step").draw()?;
        let lines = kept.iter().map(|(step, from, to)| {
            PathElement::new([(*from, *step), (*to, *step)], GREEN.mix(0.6).stroke_width(2))
        });
        chart
            .draw_series(lines)?
            .label("a snapshot is kept")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], GREEN.stroke_width(2)));
        chart
            .draw_series(runs.iter().map(|run| PathElement::new(*run, BLUE.stroke_width(2))))?
            .label("steps are run")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], BLUE.stroke_width(2)));
        chart
            .draw_series(reversed.iter().map(|at| Circle::new(*at, 3, RED.filled())))?
            .label("a step is reversed")
            .legend(|(x, y)| Circle::new((x + 8, y), 3, RED.filled()));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .label_font(("sans-serif", 13))
            .draw()?;
        Ok(())
    })
}

/// The misfit over the iterations.
pub(super) fn convergence(history: &[f64]) -> Drawn {
    let low = history.iter().copied().fold(f64::MAX, f64::min).max(1e-300);
    let high = history.iter().copied().fold(f64::MIN, f64::max).max(2.0 * low);
    drawn((860, 280), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(64)
            .build_cartesian_2d(0..history.len(), (0.5 * low..2.0 * high).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc("iteration")
            .y_desc("misfit")
            .y_label_formatter(&|value| format!("{value:.0e}"))
            .draw()?;
        let points = history.iter().copied().enumerate();
        chart.draw_series(LineSeries::new(points, BLUE.stroke_width(2)))?;
        Ok(())
    })
}
