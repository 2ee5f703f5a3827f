//! A picture of a layer's life: what a frame holds, how the forward half fills a layer and hands it to the tape, how the backward half has it back.

use stratape_compiler::explain::{Layered, Subject, explain};

use super::source::Source;
use super::tape::{bytes, name};

const WIDTH: usize = 760;
const MARGIN: usize = 20;
const FRAME_HEIGHT: usize = 44;
/// Cells of a frame that are drawn; the rest is told.
const MOST_CELLS: usize = 9;
const COLOURS: [&str; 6] = ["#7aa6c2", "#e0a458", "#8fb58a", "#c58a8a", "#9a8fc2", "#c2b27a"];

/// The picture for a function: one row for each region.
pub(super) fn layers(source: &Source, subject: &Subject) -> String {
    let explanation = explain(subject);
    let regions: Vec<&Layered> =
        explanation.parts.iter().flat_map(|part| &part.tape.regions).collect();
    let row = 250;
    let height = MARGIN * 2 + 30 + regions.len().max(1) * row;
    let mut svg = Picture::new(height);
    svg.text(MARGIN, 34, 18, "start", &format!("{}: layers of its tape", explanation.gradient));
    if regions.is_empty() {
        svg.text(MARGIN, 80, 14, "start", "nothing it saves lies in layers");
    }
    for (number, region) in regions.iter().enumerate() {
        svg.region(source, number, region, 60 + number * row);
    }
    svg.finish()
}

struct Picture(String);

impl Picture {
    fn new(height: usize) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\">\n\
             <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#555\"/></marker></defs>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
        ))
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>");
        self.0
    }

    fn text(&mut self, x: usize, y: usize, size: usize, anchor: &str, text: &str) {
        self.0 += &format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"#222\">{}</text>\n",
            escaped(text)
        );
    }

    fn block(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), fill: &str) {
        self.0 += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"#444\"/>\n"
        );
    }

    fn arrow(&mut self, from: (usize, usize), to: (usize, usize)) {
        self.0 += &format!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#555\" stroke-width=\"1.5\" marker-end=\"url(#head)\"/>\n",
            from.0, from.1, to.0, to.1
        );
    }

    fn region(&mut self, source: &Source, number: usize, region: &Layered, top: usize) {
        let title = format!(
            "region {number}: a frame of {} bytes for each iteration; up to {} of them are a layer, {}",
            region.frame_bytes,
            region.frames,
            bytes(region.frames * region.frame_bytes)
        );
        self.text(MARGIN, top + 10, 13, "start", &title);
        self.frame(source, region, top + 22);
        let y = top + 130;
        let (width, height) = (120, 56);
        let (left, middle, right) = (MARGIN, 320, WIDTH - MARGIN - width);
        self.layer((left, y), (width, height), region.columns);
        self.text(left, y - 8, 12, "start", "forward: fills a layer");
        // The layers that are on the tape, the deepest last.
        for depth in (0..3).rev() {
            let at = (middle + depth * 9, y + depth * 9);
            self.layer(at, (width, height), region.columns);
        }
        self.text(middle, y - 8, 12, "start", "the tape: in memory, then below");
        self.layer((right, y), (width, height), region.columns);
        self.text(right + width, y - 8, 12, "end", "backward: empties it");
        self.arrow((left + width + 8, y + height / 2), (middle - 10, y + height / 2));
        self.text((left + width + middle) / 2, y + height / 2 - 8, 12, "middle", "stream out");
        self.arrow((middle + width + 28, y + height / 2), (right - 10, y + height / 2));
        self.text((middle + width + right + 18) / 2, y + height / 2 - 8, 12, "middle", "stream in");
        self.text(MARGIN, y + height + 36, 12, "start", &format!("Why that size: {}.", region.why));
    }

    /// The cells of a frame, with their names and offsets.
    fn frame(&mut self, source: &Source, region: &Layered, top: usize) {
        let shown = region.slots.len().min(MOST_CELLS);
        let width = (WIDTH - 2 * MARGIN) / shown.max(1);
        for (number, slot) in region.slots.iter().take(MOST_CELLS).enumerate() {
            let x = MARGIN + number * width;
            self.block((x, top), (width, FRAME_HEIGHT), COLOURS[number % COLOURS.len()]);
            let mut name = name(source, slot).replace('`', "");
            let room = width / 7;
            if name.chars().count() > room {
                name = name.chars().take(room.saturating_sub(1)).chain(['…']).collect();
            }
            self.text(x + width / 2, top + 20, 12, "middle", &name);
            let times = if slot.steps.is_empty() { "" } else { " …" };
            self.text(
                x + width / 2,
                top + 37,
                11,
                "middle",
                &format!("{} +{}{times}", slot.ty, slot.offset),
            );
        }
        let more = region.slots.len() - shown;
        if more > 0 {
            let text = format!("and {more} more");
            self.text(WIDTH - MARGIN, top + FRAME_HEIGHT + 14, 11, "end", &text);
        }
    }

    /// A layer: frames side by side, or columns.
    fn layer(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), columns: bool) {
        self.block((x, y), (width, height), "#f4f4f0");
        let parts = 6;
        for part in 0..parts {
            let fill = COLOURS[part % 3];
            if columns {
                let tall = height / 3;
                self.block((x, y + (part % 3) * tall), (width, tall), fill);
            } else {
                let wide = width / parts;
                for (cell, colour) in COLOURS.iter().take(3).enumerate() {
                    let at = (x + part * wide, y + cell * height / 3);
                    self.block(at, (wide, height / 3), colour);
                }
            }
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
