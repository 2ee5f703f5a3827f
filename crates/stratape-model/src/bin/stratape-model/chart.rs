//! Charts of the report, each in two sizes.

use std::error::Error;

use plotters::prelude::*;

/// A chart as SVG.
pub(crate) type Drawn = Result<String, Box<dyn Error>>;
/// What charts are drawn on.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// What a colour of a chart means: the name, and the colour as CSS has it.
pub(crate) type Key = &'static [(&'static str, &'static str)];

/// How large a chart is drawn: each twice, since letters that shrink with the page cannot be read.
#[derive(Clone, Copy)]
pub(crate) enum Frame {
    /// For a page on a desk.
    Wide,
    /// For one in a hand.
    Narrow,
}

impl Frame {
    pub(crate) fn size(self) -> (u32, u32) {
        match self {
            Self::Wide => (860, 340),
            Self::Narrow => (380, 280),
        }
    }
}

/// A chart of a size.
pub(crate) fn drawn_at(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
) -> Drawn {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    area.fill(&WHITE)?;
    draw(&area)?;
    area.present()?;
    drop(area);
    Ok(text)
}

/// A chart in both sizes, of which the page shows one, and what its colours mean.
pub(crate) fn figure(what: &str, key: Key, draw: impl Fn(Frame) -> Drawn) -> Drawn {
    let named = |frame: Frame, class: &str| -> Drawn {
        let head = format!("<svg class=\"{class}\" role=\"img\" aria-label=\"{what}\" ");
        Ok(draw(frame)?.replacen("<svg ", &head, 1))
    };
    let items: String = key
        .iter()
        .map(|(name, colour)| format!("<li><span style=\"background:{colour}\"></span>{name}</li>"))
        .collect();
    let key = if items.is_empty() { items } else { format!("<ul class=\"key\">{items}</ul>") };
    let (wide, narrow) = (named(Frame::Wide, "wide")?, named(Frame::Narrow, "narrow")?);
    Ok(format!("<figure class=\"chart\">{wide}{narrow}{key}</figure>"))
}
