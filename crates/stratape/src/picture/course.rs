//! How a time loop was reversed.

use stratape_checkpoint::schedule::Level;
use stratape_checkpoint::{Course, Doing, Span};

use super::plot::{Axis, Mark, Plot, unit_of_time};

const RUN: (&str, &str, Mark) = ("steps run", "run", Mark::Line);
const REVERSED: (&str, &str, Mark) = ("steps reversed", "reverse", Mark::Line);
const HELD: (&str, &str, Mark) = ("snapshot in memory", "held", Mark::Line);
const STORED: (&str, &str, Mark) = ("snapshot on disk", "stored", Mark::Line);

pub(super) fn draw(course: &Course, steps: usize, title: &str, size: (u32, u32)) -> String {
    let start = course.spans.iter().map(|span| span.begun).min().unwrap_or_default();
    let end = course.end.saturating_sub(start).as_secs_f64().max(1e-9);
    let (second, seconds) = unit_of_time(end);
    let below = |span: &&Span| matches!(span.doing, Doing::Hold(level) if level != Level::MEMORY);
    let key = match course.spans.iter().find(below) {
        Some(_) => vec![RUN, REVERSED, HELD, STORED],
        None => vec![RUN, REVERSED, HELD],
    };
    let mut plot = Plot::new(title, size, &key);
    let x = Axis::of_numbers(format!("time, {second}"), end * seconds, plot.across);
    let y = Axis::of_numbers("step", steps.max(1) as f64, plot.up().min(steps.max(1)));
    plot.axes(&x, &y);
    let lines = |class: &str| {
        let is_it = |span: &&Span| class_of(span.doing) == class;
        let line = |span: &Span| {
            let (first, last) = match span.doing {
                Doing::Reverse => (span.to, span.from),
                Doing::Run | Doing::Hold(_) => (span.from, span.to),
            };
            [(span.begun, first), (span.ended, last)].map(|(time, step)| {
                plot.at(time.saturating_sub(start).as_secs_f64() * seconds, step as f64)
            })
        };
        course.spans.iter().filter(is_it).map(line).collect::<Vec<_>>()
    };
    let classes = [STORED.1, HELD.1, RUN.1, REVERSED.1].map(|class| (class, lines(class)));
    for (class, lines) in &classes {
        plot.svg.lines(class, lines);
    }
    let turn = course.turn.saturating_sub(start).as_secs_f64() * seconds;
    if turn > 0.0 {
        plot.turn(turn);
    }
    let held = course.spans.iter().filter(|span| matches!(span.doing, Doing::Hold(_))).count();
    let description = format!(
        "{steps} step{} over {end:.3} s: run forward, then reversed from snapshots, with steps run again in between; {held} {} drawn.",
        if steps == 1 { "" } else { "s" },
        if held == 1 { "snapshot is" } else { "snapshots are" }
    );
    plot.finish(&description)
}

fn class_of(doing: Doing) -> &'static str {
    match doing {
        Doing::Run => RUN.1,
        Doing::Reverse => REVERSED.1,
        Doing::Hold(Level::MEMORY) => HELD.1,
        Doing::Hold(_) => STORED.1,
    }
}
