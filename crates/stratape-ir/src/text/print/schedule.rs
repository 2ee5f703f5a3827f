//! Schedules as text: one clause a line, between the head of a loop and its body.

use super::Printer;
use crate::{Parts, Polynomial, Schedule, Side, Simd, Stream, Strip};

impl Printer<'_> {
    pub(super) fn schedule(&mut self, schedule: &Schedule) {
        let Schedule { strip, simd, parts, rolled } = schedule;
        if let Some(strip) = strip {
            self.strip(strip);
        }
        if let Some(simd) = simd {
            self.simd(simd);
        }
        if let Some(parts) = parts {
            self.parts(parts);
        }
        if *rolled {
            self.line("rolled");
        }
        if *schedule == Schedule::default() {
            self.line("sequential");
        }
    }

    fn clause(&mut self, text: &str) {
        self.indent += 1;
        self.line(text);
        self.indent -= 1;
    }

    fn strip(&mut self, strip: &Strip) {
        let mut text = "strip".to_owned();
        if let Some(region) = strip.region {
            text += &format!(" {region:?}");
        }
        text += match strip.stream {
            None => "",
            Some(Stream::Out) => " stream out",
            Some(Stream::In) => " stream in",
        };
        self.line(&text);
        for view in &strip.views {
            let sign = if view.mutable { "mut " } else { "" };
            let mut text = format!("view {sign}{}", self.object(view.object));
            text += &self.from(&view.base);
            if view.stride != 1 {
                text += &format!(" step {}", view.stride);
            }
            text += match view.side {
                None => "",
                Some(Side::Low) => " low",
                Some(Side::High) => " high",
            };
            self.clause(&text);
        }
        for split in &strip.splits {
            let text = format!(
                "split {} at {} others {} {}",
                self.object(split.object),
                self.polynomial(&split.pivot),
                if split.others_below { "below" } else { "above" },
                if split.others_read { "read" } else { "added" }
            );
            self.clause(&text);
        }
    }

    fn from(&self, base: &Polynomial) -> String {
        if base.as_number() == Some(0) {
            String::new()
        } else {
            format!(" from {}", self.polynomial(base))
        }
    }

    fn simd(&mut self, simd: &Simd) {
        self.line(&format!("simd {}", simd.width));
        for reduction in &simd.reductions {
            let sign = if reduction.subtract { "-" } else { "+" };
            let order = if reduction.reassociate { "" } else { " ordered" };
            let text = format!("reduce {sign} {}{order}", self.value(reduction.term));
            self.clause(&text);
        }
        for rotation in &simd.rotations {
            let additions: Vec<_> = rotation
                .additions
                .iter()
                .map(|(position, distance)| format!("{position} at {distance}"))
                .collect();
            let base = self.from(&rotation.base);
            let object = self.object(rotation.object);
            self.clause(format!("rotation {object}{base}: {}", additions.join(", ")).trim_end());
        }
        if !simd.delayed.is_empty() {
            let delayed: Vec<_> = simd.delayed.iter().map(ToString::to_string).collect();
            self.clause(&format!("delayed {}", delayed.join(", ")));
        }
    }

    fn parts(&mut self, parts: &Parts) {
        self.line("parts");
        for (object, window) in &parts.windows {
            let mut text = format!("window {}{}", self.object(*object), self.from(&window.base));
            if window.stride.as_number() != Some(1) {
                text += &format!(" step {}", self.polynomial(&window.stride));
            }
            self.clause(&text);
        }
        if !parts.private.is_empty() {
            let private: Vec<_> = parts.private.iter().map(|object| self.object(*object)).collect();
            self.clause(&format!("private {}", private.join(", ")));
        }
    }
}
