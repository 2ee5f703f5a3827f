//! SVG as text: shapes with classes, and the colours of the classes in light and dark.

use std::fmt::Write as _;

/// What is drawn, from back to front.
#[derive(Debug, Default)]
pub(super) struct Svg {
    body: String,
}

/// Where a text ends or begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An outline, filled if its class says so.
    pub(super) fn path(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut data = String::new();
        for (at, (x, y)) in points.into_iter().enumerate() {
            let letter = if at == 0 { "M" } else { "L" };
            let _ = write!(data, "{letter}{} {}", short(x), short(y));
        }
        if !data.is_empty() {
            let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{data}\"/>");
        }
    }

    /// Many lines of one class.
    pub(super) fn lines(&mut self, class: &str, lines: &[[(f64, f64); 2]]) {
        let mut data = String::new();
        for [(x, y), (to_x, to_y)] in lines {
            let _ = write!(data, "M{} {}L{} {}", short(*x), short(*y), short(*to_x), short(*to_y));
        }
        if !data.is_empty() {
            let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{data}\"/>");
        }
    }

    pub(super) fn rectangle(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
    ) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            short(x),
            short(y),
            short(width),
            short(height)
        );
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            short(x),
            short(y),
            escaped(text)
        );
    }

    /// The whole picture, with a description for those who cannot see it.
    pub(super) fn finish(
        self,
        (width, height): (u32, u32),
        title: &str,
        description: &str,
    ) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"stratape-picture\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            escaped(title),
            escaped(description),
            self.body
        )
    }
}

/// One decimal is enough for a pixel.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Text between tags. Characters that XML 1.0 has no way to write are left out.
fn escaped(text: &str) -> String {
    let allowed = |letter: &char| match letter {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        letter => *letter >= ' ',
    };
    let text: String = text.chars().filter(allowed).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// About how wide a text is, in letters of this size.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    0.58 * size * text.chars().count() as f64
}

/// The picture brings its own paper, so that it can be read also where the page around it is of the other scheme. Colours that people with
/// any colour vision tell apart; each rule begins with the class of the picture, since a page may hold several.
const STYLE: &str = "\
    .stratape-picture text{font:13px system-ui,sans-serif;fill:#222}\
    .stratape-picture .head{font-size:15px;font-weight:600}\
    .stratape-picture .pass{fill:#555}\
    .stratape-picture .paper{fill:#fff}\
    .stratape-picture .grid{fill:none;stroke:#000;stroke-opacity:.13}\
    .stratape-picture .axis,.stratape-picture .turn,.stratape-picture .budget{fill:none;stroke:#222}\
    .stratape-picture .turn{stroke-opacity:.7;stroke-dasharray:4 3}\
    .stratape-picture .budget{stroke-width:1.5;stroke-dasharray:9 4}\
    .stratape-picture .only{fill:#3f7fc1}\
    .stratape-picture .both{fill:#6db58c}\
    .stratape-picture .moving{fill:#e2703a}\
    .stratape-picture .disk{fill:#bdbdbd}\
    .stratape-picture .waiting{fill:#8e3fa8}\
    .stratape-picture .run,.stratape-picture .value{fill:none;stroke:#1f68b3;stroke-width:1.5}\
    .stratape-picture .value{stroke-width:2}\
    .stratape-picture .reverse{fill:none;stroke:#d5561b;stroke-width:2.5;stroke-linecap:round}\
    .stratape-picture .held{fill:none;stroke:#3f9c68;stroke-width:.9}\
    .stratape-picture .stored{fill:none;stroke:#9a9a9a;stroke-width:.9}\
    @media(prefers-color-scheme:dark){\
    .stratape-picture text{fill:#ddd}\
    .stratape-picture .pass{fill:#aaa}\
    .stratape-picture .paper{fill:#181818}\
    .stratape-picture .grid{stroke:#fff;stroke-opacity:.16}\
    .stratape-picture .axis,.stratape-picture .turn,.stratape-picture .budget{stroke:#ddd}\
    .stratape-picture .only{fill:#4f8fd0}\
    .stratape-picture .both{fill:#4f9a70}\
    .stratape-picture .disk{fill:#666}\
    .stratape-picture .waiting{fill:#c17ad8}\
    .stratape-picture .run,.stratape-picture .value{stroke:#6aaef0}\
    .stratape-picture .reverse{stroke:#f08a50}\
    .stratape-picture .held{stroke:#63c28e}\
    .stratape-picture .stored{stroke:#8a8a8a}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_texts_are_escaped() {
        assert_eq!((short(3.0), short(2.57)), ("3".to_owned(), "2.6".to_owned()));
        let mut svg = Svg::default();
        svg.text("label", (1.0, 2.0), Anchor::End, "a < b & c");
        let whole = svg.finish((10, 20), "t<", "d");
        assert_eq!(escaped("a\0\u{1b}b\tc\u{ffff}]]>"), "ab\tc]]&gt;");
        assert!(whole.contains("a &lt; b &amp; c") && whole.contains("<title>t&lt;</title>"));
    }
}
