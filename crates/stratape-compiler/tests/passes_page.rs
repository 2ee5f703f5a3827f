//! The examples of docs/compiler/passes.md: each pass makes of *before* what stands in *after*, and leaves *unchanged* alone.
//!
//! A fenced block is one function in the text form, with an info string: ```` ```ir before=cse ````, ```` ```ir after=cse ````,
//! ```` ```ir unchanged=cse ````. `target=jam_rows:2` sets a number of the target. `STRATAPE_UPDATE=1` writes what the passes make into
//! the page.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use stratape_compiler::driver::{Context, GRADIENT, LOWERING, PRIMAL, Pass, Target};
use stratape_ir::{Function, text, valid};

/// A block of the page.
#[derive(Clone, Debug)]
struct Example {
    kind: &'static str,
    pass: String,
    target: Target,
    /// The lines between its fences.
    lines: std::ops::Range<usize>,
    text: String,
}

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/compiler/passes.md")
}

fn examples(page: &str) -> Vec<Example> {
    let lines: Vec<&str> = page.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(info) = line.strip_prefix("```ir ") else { continue };
        let len = lines[at + 1..].iter().position(|line| *line == "```").unwrap();
        let mut example = Example {
            kind: "",
            pass: String::new(),
            target: Target::default(),
            lines: at + 1..at + 1 + len,
            text: lines[at + 1..at + 1 + len].join("\n"),
        };
        for word in info.split_whitespace() {
            match word.split_once('=') {
                Some(("before", pass)) => {
                    (example.kind, example.pass) = ("before", pass.to_owned());
                }
                Some(("after", pass)) => (example.kind, example.pass) = ("after", pass.to_owned()),
                Some(("unchanged", pass)) => {
                    (example.kind, example.pass) = ("unchanged", pass.to_owned());
                }
                Some(("target", setting)) => {
                    let (name, number) = setting.split_once(':').unwrap();
                    assert_eq!(name, "jam_rows", "another number of the target: add it here");
                    example.target.jam_rows = number.parse().unwrap();
                }
                _ => panic!("`{word}` in the info string of line {}", at + 1),
            }
        }
        found.push(example);
    }
    found
}

fn passes() -> impl Iterator<Item = &'static Pass> {
    PRIMAL.iter().chain(GRADIENT).chain(LOWERING)
}

fn read(example: &Example) -> Function {
    let function = text::parse_function(&example.text).unwrap_or_else(|error| {
        panic!("{} of {}: {error}\n{}", example.kind, example.pass, example.text)
    });
    if let Err(fault) = valid::validate_open(&function) {
        panic!("{} of {}: {fault}\n{function}", example.kind, example.pass);
    }
    function
}

/// What a pass makes of an example.
fn made(example: &Example) -> Function {
    let pass = passes().find(|pass| pass.name == example.pass);
    let pass = pass.unwrap_or_else(|| panic!("`{}` is no pass", example.pass));
    let mut function = read(example);
    let mut context = Context::new(&example.target);
    (pass.run)(&mut function, &mut context);
    if let Err(fault) = valid::validate_open(&function) {
        panic!("{} makes a function that breaks a rule: {fault}\n{function}", example.pass);
    }
    function
}

#[test]
fn the_passes_make_what_the_page_says() {
    let page_text = std::fs::read_to_string(page()).unwrap();
    let all = examples(&page_text);
    let mut wrong = Vec::new();
    let mut lines: Vec<String> = page_text.lines().map(str::to_owned).collect();
    let mut edits = Vec::new();
    for pair in all.windows(2) {
        let [before, after] = pair else { continue };
        if before.kind != "before" {
            continue;
        }
        assert_eq!(
            (after.kind, &after.pass),
            ("after", &before.pass),
            "the block after a `before`"
        );
        let made = made(before).to_string();
        if made.trim_end() != after.text.trim_end() {
            wrong.push(format!("{}:\n{made}", before.pass));
            edits.push((after.lines.clone(), made));
        }
    }
    if std::env::var_os("STRATAPE_UPDATE").is_some() {
        for (range, made) in edits.into_iter().rev() {
            lines.splice(range, made.trim_end().lines().map(str::to_owned));
        }
        std::fs::write(page(), lines.join("\n") + "\n").unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_must_stay_stays() {
    let page_text = std::fs::read_to_string(page()).unwrap();
    for example in examples(&page_text).iter().filter(|example| example.kind == "unchanged") {
        let before = read(example).to_string();
        assert_eq!(made(example).to_string(), before, "{}", example.pass);
    }
}

#[test]
fn every_pass_has_its_section() {
    let page_text = std::fs::read_to_string(page()).unwrap();
    let shown: BTreeSet<String> = examples(&page_text)
        .into_iter()
        .filter(|example| example.kind == "before")
        .map(|example| example.pass)
        .collect();
    let known: BTreeSet<String> = passes().map(|pass| pass.name.to_owned()).collect();
    assert_eq!(shown, known);
}
