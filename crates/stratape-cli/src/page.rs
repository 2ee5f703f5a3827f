//! Pages that need nothing beside them: what the reports of several commands share.

use std::error::Error;

use plotters::prelude::*;
use stratape::picture::Picture;

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

/// A picture of the library in both sizes.
pub(crate) fn picture(picture: &Picture) -> String {
    let named = |(width, height): (u32, u32), class: &str| {
        let text = picture.clone().size(width, height).to_string();
        text.replacen(
            "class=\"stratape-picture\"",
            &format!("class=\"stratape-picture {class}\""),
            1,
        )
    };
    let (wide, narrow) = (named((860, 340), "wide"), named((380, 320), "narrow"));
    format!("<figure>{wide}{narrow}</figure>")
}

/// A text inside a page.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A whole page.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n"
    )
}

/// Charts by `plotters` are dark on white also where the page is light on dark: their colours are chosen for it. Pictures of the library follow the page.
const STYLE: &str = "\
    :root{color-scheme:light dark}\
    body{font:16px/1.5 sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222;background:#fff}\
    .headline{font-size:20px;line-height:1.35;font-weight:600}.quiet{font-size:14px;color:#555}\
    .code{overflow-x:auto;font:13px/1.5 ui-monospace,monospace;border:1px solid #8886;border-radius:4px;padding:.5em 0}\
    .code ol{margin:0;padding:0;list-style:none;min-width:max-content}.code li{padding:0 1em 0 0;white-space:pre}\
    .code li>span{display:inline-block;width:3em;padding-right:1em;text-align:right;color:#888;user-select:none}\
    .code em{padding-left:2em;font-style:normal;color:#a03c00}.code li.noted{background:#e2703a1c}\
    table{border-collapse:collapse}td,th{padding:.3em .8em;text-align:right;border-bottom:1px solid #8886}\
    th[scope=row]{text-align:left;font-weight:normal}\
    svg{width:100%;height:auto;display:block}.narrow{display:none}\
    figure{margin:0}.chart{background:#fff;color:#222;border-radius:4px;padding-bottom:.5em}\
    .key{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:0;padding:0 1em;font-size:14px}\
    .key span{display:inline-block;width:1.2em;height:.7em;margin-right:.4em}\
    .fields{display:flex;gap:1em;margin-top:1em}.fields figure{flex:1}\
    img{width:100%;image-rendering:pixelated}figcaption,.scale{font-size:14px;color:#555}\
    .scale span{display:inline-block;width:10em;height:.8em;border:1px solid #888;vertical-align:middle;\
    background:linear-gradient(90deg,#000,#bf0000 30%,#ff3300 40%,#ffcc00 70%,#ffff55 80%,#fff)}\
    @media(max-width:640px){.wide{display:none}.narrow{display:block}thead{display:none}\
    table,tbody,tr,th,td{display:block}th[scope=row]{font-weight:bold;padding:.8em 0 .2em}\
    td{display:flex;justify-content:space-between;padding:.2em 0}td::before{content:attr(data-head)}}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}figcaption,.scale,.quiet{color:#aaa}.code em{color:#f0a070}}";
