//! The tables of the guide are true: what they call accepted is accepted, what they call refused is refused, with the error they quote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::Path;

use stratape_compiler::variants::{Enums, Variants};

/// The heading of the tables whose examples name types of other crates.
const TYPES: &str = "Types of other crates";

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// The code spans of a cell: between single backticks, or double ones with spaces inside.
fn spans(cell: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = cell;
    while let Some(start) = rest.find('`') {
        let fence = if rest[start..].starts_with("``") { "``" } else { "`" };
        let body = &rest[start + fence.len()..];
        let end = body.find(fence).unwrap_or_else(|| panic!("no end of code in {cell}"));
        found.push(body[..end].trim().replace("\\|", "|"));
        rest = &body[end + fence.len()..];
    }
    found
}

/// The cells of a table's row; `\|` does not end one.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace('\u{1}', "\\|")).collect()
}

/// The rows of the tables under headings that `wanted` picks.
fn rows(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let (mut heading, mut fenced) = (String::new(), false);
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        if let Some(title) = line.strip_prefix("## ") {
            heading = title.to_owned();
        }
        let rule = line.starts_with("|---");
        if line.starts_with('|') && !rule && wanted(&heading) {
            found.push(cells(line));
        }
    }
    found
}

/// What the attribute says to a function: its errors, none if it is accepted.
fn errors(function: &str) -> Vec<String> {
    let item = function.parse().unwrap_or_else(|error| panic!("{error}: {function}"));
    complaints(&stratape_compiler::expand::gradient(proc_macro2::TokenStream::new(), &item))
}

/// The errors in what is emitted.
fn complaints(expanded: &proc_macro2::TokenStream) -> Vec<String> {
    let text = expanded.to_string();
    let mut found = Vec::new();
    for part in text.split("compile_error").skip(1) {
        let start = part.find('"').unwrap() + 1;
        let end = part[start..].find("\" ").or_else(|| part[start..].find("\"}")).unwrap();
        found.push(part[start..start + end].replace("\\\"", "\""));
    }
    found
}

fn with_body(example: &str) -> String {
    format!(
        "fn f(x: &[f64], y: &mut [f64], k: &[usize], a: f64, b: f64, n: usize, flag: bool) -> f64 {{
            let mut sum = a;
            {example}
            sum
        }}"
    )
}

/// What the attribute says to a function of a file that imports types of other crates.
fn errors_with_types(example: &str) -> Vec<String> {
    let function = format!(
        "fn f(z: &[Complex64], w: Complex<f64>, u: &Vector3<f64>, p: &[Vector3<f64>], m: &Matrix3<f64>,
             dv: &DVector<f64>, dm: &DMatrix<f64>, r: ArrayView1<f64>, q: &Array2<f64>, a: f64, b: f64, n: usize) -> f64 {{
            let mut sum = a;
            {example}
            sum
        }}"
    );
    let item = function.parse().unwrap_or_else(|error| panic!("{error}: {function}"));
    let uses = syn::parse_str::<syn::File>("use num_complex::*; use nalgebra::*; use ndarray::*;")
        .unwrap();
    let imports = stratape_compiler::library::Imports::of(&uses.items);
    let host = stratape_compiler::link::Host {
        crate_name: "guide",
        missing: &|_, path| Some(format!("{} is not known", quote::quote!(#path))),
        adopted: &|_, path| imports.find(path),
        library: &|_, _| None,
        is_free: &|_| false,
        hidden: &Vec::new,
        constants: &Default::default,
        variants: &|_| Variants::default(),
        enums: &|_| Enums::default(),
    };
    complaints(&stratape_compiler::link::gradient(proc_macro2::TokenStream::new(), &item, &host))
}

#[test]
fn what_is_called_accepted_is_accepted() {
    let text = page("accepted.md");
    let mut wrong = String::new();
    let (mut parameters, mut bodies) = (0, 0);
    for row in rows(&text, |heading| heading == "Parameters") {
        for example in row.get(1).map(|cell| spans(cell)).unwrap_or_default() {
            parameters += 1;
            for error in errors(&format!("fn f({example}, a: f64) -> f64 {{ a }}")) {
                writeln!(wrong, "{example}: {error}").unwrap();
            }
        }
    }
    for row in rows(&text, |heading| heading == TYPES) {
        for example in row.get(1).map(|cell| spans(cell)).unwrap_or_default() {
            for error in errors_with_types(&example) {
                writeln!(wrong, "{example}: {error}").unwrap();
            }
        }
    }
    let accepted = |heading: &str| !["Parameters", TYPES, "What is refused", ""].contains(&heading);
    for row in rows(&text, accepted) {
        for example in row.get(1).map(|cell| spans(cell)).unwrap_or_default() {
            bodies += 1;
            for error in errors(&with_body(&example)) {
                writeln!(wrong, "{example}: {error}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "refused:\n{wrong}");
    assert!(parameters > 10 && bodies > 60, "{parameters} and {bodies} examples were found");
}

#[test]
fn what_is_called_refused_is_refused() {
    let refused = rows(&page("accepted.md"), |heading| heading == "What is refused");
    assert!(refused.len() > 6);
    // The first row is the table's head.
    for row in &refused[1..] {
        let [wrote, error, instead] = &row[..] else { panic!("three cells: {row:?}") };
        let (wrote, error) = (&spans(wrote)[0], &spans(error)[0]);
        let said = errors(&with_body(wrote));
        assert!(said.iter().any(|text| text.contains(error.as_str())), "{wrote}: {said:?}");
        for instead in spans(instead) {
            assert_eq!(errors(&with_body(&instead)), Vec::<String>::new(), "{instead}");
        }
    }
}

/// The messages under these headings are what some function is told.
#[test]
fn messages_in_the_troubleshooting_are_the_compilers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stratape/tests/compile_fail");
    let mut told = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            told += &std::fs::read_to_string(path).unwrap();
        }
    }
    let quoted = rows(&page("troubleshooting.md"), |heading| heading == "While compiling");
    assert!(quoted.len() > 15);
    for row in &quoted[1..] {
        let message = &spans(&row[0])[0];
        let known = message.split('…').all(|part| told.contains(part.trim()));
        assert!(known, "no test of errors is told: {message}");
    }
}
