//! The layers of a tape, filling and draining during a gradient: `cargo run --release --example layers -p stratape`.
//!
//! The tape records how much each of its layers holds; the example draws that as `layers.svg`. Arguments: `FILE.svg STEPS`.

use std::error::Error;
use std::path::PathBuf;

use plotters::prelude::*;
use stratape::tape::{Sample, TapeOptions};
use stratape::{Workspace, gradient};

const MEMORY: usize = 64 << 20;

/// Where a damped pendulum is after some steps. Each step saves what its reverse will need.
#[gradient]
fn pendulum(angle: f64, friction: f64, steps: usize) -> f64 {
    let (mut q, mut v) = (angle, 0.0);
    for _ in 0..steps {
        v -= 1e-4 * (friction * v * v * v + q.sin());
        q += 1e-4 * v;
    }
    q
}

/// A layer: its name, its colour, and what it holds.
type Layer = (&'static str, RGBColor, fn(&Sample) -> u64);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| "layers.svg".to_owned()));
    let steps = arguments.next().map_or(Ok(20_000_000), |steps| steps.parse())?;
    let memory = MEMORY.min(4 * steps).max(256 << 10);

    let options = TapeOptions::new().memory(memory).record(true).spill_to(".");
    let mut workspace = Workspace::with(options)?;
    let (value, by_angle, _) = pendulum_grad_in(&mut workspace, 1.0, 0.1, steps, 1.0)?;
    let (spilled, in_memory) = ((value, by_angle), pendulum_grad(1.0, 0.1, steps, 1.0));
    assert_eq!(spilled, (in_memory.0, in_memory.1), "spilled and in memory: the same bits");

    println!("{} MiB through {} MiB of memory", workspace.last_bytes() >> 20, memory >> 20);
    let samples = workspace.tape().samples();
    draw(samples, memory, &path)?;
    println!("{} samples drawn in {}", samples.len(), path.display());
    Ok(())
}

fn draw(samples: &[Sample], memory: usize, path: &PathBuf) -> Result<(), Box<dyn Error>> {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let layers: [Layer; 4] = [
        ("on disk only", RGBColor(150, 150, 150), |sample| sample.below),
        ("on the way", RGBColor(220, 50, 32), |sample| sample.writing + sample.reading),
        ("in memory and on disk", RGBColor(60, 150, 90), |sample| sample.saved),
        ("in memory only", RGBColor(0, 90, 181), |sample| sample.unsaved),
    ];
    let total = |sample: &Sample| layers.iter().map(|layer| mib(layer.2(sample))).sum::<f64>();
    let most = samples.iter().map(total).fold(mib(memory as u64), f64::max);
    let end = samples.last().map_or(1.0, |sample| sample.at.as_secs_f64());
    let area = SVGBackend::new(path, (860, 300)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end, 0.0..1.05 * most)?;
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc("seconds").y_desc("MiB").draw()?;
    let mut floor = vec![0.0; samples.len()];
    for (name, colour, of) in layers {
        let below = floor.clone();
        for (height, sample) in floor.iter_mut().zip(samples) {
            *height += mib(of(sample));
        }
        let at = |(sample, height): (&Sample, &f64)| (sample.at.as_secs_f64(), *height);
        let outline = samples.iter().zip(&floor).map(at);
        let outline: Vec<_> = outline.chain(samples.iter().zip(&below).map(at).rev()).collect();
        chart
            .draw_series([Polygon::new(outline, colour.mix(0.7).filled())])?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 13))
        .draw()?;
    area.present()?;
    Ok(())
}
