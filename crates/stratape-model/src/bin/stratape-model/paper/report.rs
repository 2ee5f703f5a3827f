//! The report: one page with the table and all figures.

use std::error::Error;

use stratape_console::page::{self, escaped};
use stratape_model::paper::Figure;

use super::table::{self, Row};
use super::{charts, text};
use crate::chart::figure;

/// The page.
pub(super) fn page(
    rows: &[Row],
    figures: &[Figure],
    quick: bool,
) -> Result<String, Box<dyn Error>> {
    let sizes = if quick { "smaller inputs" } else { "the inputs of the paper's Table II" };
    let mut body = format!(
        "<h1>A gradient's tape on a modelled accelerator</h1>\n\
         <p>The TapeFlow paper's nine programs on a model of its machine: 4 × 4 units, a cache, and for the tape a scratchpad with two streams, or the \
         cache alone (the baseline). With {sizes}.</p>\n\
         <h2>Ours and published</h2>\n<p>{}</p>\n{}<p>{}</p>\n<p>{}</p>\n",
        escaped(table::TITLE),
        table_of(rows),
        escaped(&table::summary(rows)),
        escaped(table::NOTE),
    );
    for one in figures {
        let drawn = figure(one.title, &[], |frame| charts::draw(one, frame))?;
        body += &format!(
            "<h2 id=\"figure{number}\">Figure {number}: {title}</h2>\n<p>{method}</p>\n\
             <p><b>Published:</b> {claim}<br><b>Here:</b> {finding}</p>\n{drawn}\n{numbers}",
            number = one.number,
            title = escaped(one.title),
            method = escaped(one.method),
            claim = escaped(one.claim),
            finding = escaped(&one.finding),
            numbers = numbers(one),
        );
    }
    Ok(page::page("Stratape: the tape on a modelled accelerator", &body))
}

fn table_of(rows: &[Row]) -> String {
    let heads: String = rows.first().map_or_else(String::new, |row| {
        let heads = table::cells(row).into_iter();
        heads.map(|(head, _)| format!("<th scope=\"col\">{head}</th>")).collect()
    });
    let mut text = format!("<table><thead><tr><td></td>{heads}</tr></thead><tbody>\n");
    for row in rows {
        text += &format!("<tr><th scope=\"row\">{}</th>", row.all.name);
        for (head, cell) in table::cells(row) {
            text += &format!("<td data-head=\"{head}\">{cell}</td>");
        }
        text += "</tr>\n";
    }
    format!("<div style=\"overflow-x:auto\">{text}</tbody></table></div>\n")
}

/// The numbers of a figure, folded away.
fn numbers(one: &Figure) -> String {
    let mut text = "<details><summary>the numbers</summary>\n".to_owned();
    for panel in &one.panels {
        let (columns, rows) = text::cells(panel);
        let heads: String =
            columns.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
        text += &format!(
            "<div style=\"overflow-x:auto\"><table><caption>{} ({})</caption><thead><tr><td></td>{heads}</tr></thead><tbody>\n",
            escaped(&panel.title),
            panel.unit
        );
        for (name, cells) in rows {
            text += &format!("<tr><th scope=\"row\">{}</th>", escaped(name));
            for (head, cell) in columns.iter().zip(cells) {
                text += &format!("<td data-head=\"{head}\">{cell}</td>");
            }
            text += "</tr>\n";
        }
        text += "</tbody></table></div>\n";
    }
    text + "</details>\n"
}
