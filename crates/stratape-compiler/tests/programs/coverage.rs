//! The generator of random programs writes everything that the guide calls accepted.
//!
//! Every example in the tables of `docs/accepted.md` is taken apart into what it uses, and so are the programs of a
//! fixed set of seeds, by their syntax. A row counts as often as the rarest thing it uses. A new row that the generator does
//! not write fails this test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::random::features::Features;
use crate::random::{Config, generate};

/// The tables' rows: heading, label, and examples.
fn rows() -> Vec<(String, String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/accepted.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut heading, mut fenced) = (String::new(), false);
    let mut rows = Vec::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut heading);
        }
        let table = line.starts_with("| ") && !fenced && heading != "What is refused";
        if !table || line == "| | |" {
            continue;
        }
        let line = line.replace("\\|", "\u{1}");
        let (label, cell) = line.trim_matches('|').split_once('|').unwrap();
        let examples = cell.split('`').skip(1).step_by(2);
        let examples = examples.map(|text| text.replace('\u{1}', "|")).collect();
        rows.push((heading.clone(), label.trim().replace('`', ""), examples));
    }
    rows
}

/// The module that the guide shows.
fn module() -> syn::File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/accepted.md");
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find("mod accepted {").unwrap() + "mod accepted {".len();
    let end = text[start..].find("\n}\n").unwrap();
    syn::parse_file(&text[start..start + end]).unwrap()
}

fn features(heading: &str, example: &str) -> Features {
    if heading != "Parameters" {
        return Features::of_statements(example).unwrap();
    }
    let function = format!("fn program({example}) {{}}");
    Features::of_file(&syn::parse_str(&function).unwrap())
}

#[test]
fn every_row_is_generated() {
    let mut made: BTreeMap<String, usize> = BTreeMap::new();
    let everyday = (0..1500).map(|seed| generate(seed, &Config::everyday()));
    let single = (0..200).map(|seed| generate(seed, &Config::everyday().single()));
    let mut programs = 0;
    for program in everyday.chain(single) {
        let file = syn::parse_file(&program.source).unwrap();
        programs += 1;
        for feature in Features::of_file(&file).0 {
            *made.entry(feature).or_default() += 1;
        }
    }
    let mut table = format!("Of {programs} programs\n\n");
    let mut missing = String::new();
    let mut count = |label: &str, features: Features| {
        let counts =
            features.0.iter().map(|feature| (made.get(feature).copied().unwrap_or(0), feature));
        for (_, feature) in counts.clone().filter(|(count, _)| *count == 0) {
            writeln!(missing, "{label}: {feature}").unwrap();
        }
        counts.min().map(|(count, feature)| (count, feature.clone()))
    };
    let found = rows();
    assert!(found.len() > 30, "{} rows", found.len());
    for (heading, label, examples) in &found {
        // What the crate of all programs prints is read: printing has tests of its own.
        // So have the types of other crates, which a program of its own would have to depend on.
        if label.starts_with("printing") || heading == "Types of other crates" {
            continue;
        }
        let rarest = examples.iter().filter_map(|example| count(label, features(heading, example)));
        if let Some((count, feature)) = rarest.min() {
            writeln!(table, "{count:4}  {heading}: {label} ({feature})").unwrap();
        }
    }
    if let Some((count, feature)) = count("In a module", Features::of_file(&module())) {
        writeln!(table, "{count:4}  In a module ({feature})").unwrap();
    }
    println!("{table}");
    assert!(missing.is_empty(), "these are never written:\n{missing}");
    insta::assert_snapshot!("coverage", table);
}
