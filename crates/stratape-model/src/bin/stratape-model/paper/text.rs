//! Figures as text: for a terminal, and as CSV.

use stratape_console::terminal;
use stratape_model::paper::{Figure, Kind, Panel};

/// How wide texts are where nobody says.
pub(super) const WIDTH: usize = 120;

/// A number with three digits or so.
pub(super) fn number(value: f64) -> String {
    match value {
        value if !value.is_finite() => "–".to_owned(),
        value if value.abs() >= 100.0 => format!("{value:.0}"),
        value if value.abs() >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// The columns of a panel and its rows as texts; a path has its points in one column each.
pub(super) fn cells(panel: &Panel) -> (Vec<String>, Vec<(&str, Vec<String>)>) {
    if panel.kind != Kind::Paths {
        let rows = panel
            .rows
            .iter()
            .map(|(name, row)| (name.as_str(), row.iter().map(|value| number(*value)).collect()));
        return (panel.columns.clone(), rows.collect());
    }
    let columns = panel.columns.chunks(2).map(|pair| {
        pair.first().and_then(|name| name.split(' ').next()).unwrap_or_default().to_owned()
    });
    let rows = panel.rows.iter().map(|(name, row)| {
        let points = row
            .chunks(2)
            .map(|point| point.iter().map(|value| number(*value)).collect::<Vec<_>>().join(" / "));
        (name.as_str(), points.collect())
    });
    (columns.collect(), rows.collect())
}

/// A figure for a terminal.
pub(super) fn shown(figure: &Figure) -> String {
    let width = terminal::columns().unwrap_or(WIDTH);
    let mut text = format!("Figure {}: {}\n", figure.number, figure.title);
    for part in [
        figure.method.to_owned(),
        format!("Published: {}", figure.claim),
        format!("Here: {}", figure.finding),
    ] {
        for line in terminal::wrapped(&part, width) {
            text += &format!("{line}\n");
        }
    }
    for panel in &figure.panels {
        let (columns, rows) = cells(panel);
        let table = table(&columns, &rows, width);
        text += &format!("\n{} ({})\n{table}", panel.title, panel.unit);
    }
    text
}

/// A table for a terminal. Columns that do not fit the width come below the others.
pub(super) fn table(columns: &[String], rows: &[(&str, Vec<String>)], width: usize) -> String {
    let length = |text: &str| text.chars().count();
    let first = rows.iter().map(|(name, _)| length(name)).max().unwrap_or(0);
    let wide = |at: usize| {
        let cells = rows.iter().filter_map(|(_, row)| row.get(at)).map(|cell| length(cell));
        cells.chain(columns.get(at).map(|name| length(name))).max().unwrap_or(0)
    };
    let (mut text, mut from) = (String::new(), 0);
    while from < columns.len() {
        let (mut to, mut used) = (from, first);
        while to < columns.len() && (to == from || used + 2 + wide(to) <= width) {
            used += 2 + wide(to);
            to += 1;
        }
        let line = |name: &str, cells: &[String]| {
            let cells = (from..to).map(|at| {
                let cell = cells.get(at).map_or("", String::as_str);
                format!("  {cell:>0$}", wide(at))
            });
            format!("{name:first$}{}\n", cells.collect::<String>())
        };
        text += if from > 0 { "\n" } else { "" };
        text += &line("", columns);
        rows.iter().for_each(|(name, cells)| text += &line(name, cells));
        from = to;
    }
    text
}

/// A figure as CSV, a line for each number.
pub(super) fn csv(figure: &Figure) -> String {
    let mut text = "figure,panel,unit,row,column,value\n".to_owned();
    let quoted = |field: &str| match field.contains([',', '"']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    };
    for panel in &figure.panels {
        for (row, values) in &panel.rows {
            for (column, value) in panel.columns.iter().zip(values) {
                let value = if value.is_finite() { format!("{value:.6}") } else { String::new() };
                let fields = [&panel.title, panel.unit, row, column].map(quoted).join(",");
                text += &format!("{},{fields},{value}\n", figure.number);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_come_below() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let rows = [("row", texts(&["1", "22", "333"]))];
        let columns = texts(&["a", "b", "c"]);
        assert_eq!(table(&columns, &rows, 80), "     a   b    c\nrow  1  22  333\n");
        let broken = "     a   b\nrow  1  22\n\n       c\nrow  333\n";
        assert_eq!(table(&columns, &rows, 10), broken);
        // A column is never left out, however narrow the terminal is.
        assert_eq!(table(&columns, &rows, 1).lines().count(), 8);
    }

    #[test]
    fn numbers_and_fields() {
        assert_eq!([0.123, 12.34, 1234.0, f64::NAN].map(number), ["0.12", "12.3", "1234", "–"]);
        let panel = Panel {
            title: "a, b".to_owned(),
            unit: "times",
            kind: Kind::Paths,
            logarithmic: false,
            columns: vec!["1k energy".to_owned(), "1k performance".to_owned()],
            rows: vec![("with".to_owned(), vec![2.0, 0.5])],
        };
        let (columns, rows) = cells(&panel);
        assert_eq!(table(&columns, &rows, 80), "               1k\nwith  2.00 / 0.50\n");
        let figure = Figure {
            number: 15,
            title: "",
            method: "",
            claim: "",
            finding: String::new(),
            panels: vec![panel],
        };
        assert_eq!(csv(&figure).lines().nth(1), Some("15,\"a, b\",times,with,1k energy,2.000000"));
    }
}
