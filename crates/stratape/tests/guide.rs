//! The pages of `stratape::guide` are those of the folder `docs`, with links that rustdoc resolves.
//!
//! A package holds only files of its own folder, so the pages are copied to `crates/stratape/guide`. After a change to `docs`:
//! `STRATAPE_UPDATE=1 cargo test -p stratape --test guide`.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

/// The pages, in the order of `docs/README.md`.
const PAGES: &[&str] = &[
    "first-gradient",
    "tour",
    "gradient",
    "several-files",
    "correctness",
    "bits",
    "accepted",
    "explain",
    "tape",
    "checkpointing",
    "pictures",
    "threads",
    "gpu",
    "distributed",
    "c-and-cpp",
    "tapeflow",
    "performance",
    "lulesh",
    "troubleshooting",
    "tape-format",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A page as rustdoc wants it: links to other pages lead to their modules, pictures are told in words, links to other files are none, and
/// blocks without a language are text.
fn converted(page: &str) -> String {
    let mut text = String::new();
    let mut prose = String::new();
    let mut fenced = false;
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            text.push_str(&linked(&std::mem::take(&mut prose)));
            let bare = !fenced && language.is_empty();
            text.push_str(&format!("{line}{}\n", if bare { "text" } else { "" }));
            fenced = !fenced;
        } else if fenced {
            text.push_str(&format!("{line}\n"));
        } else {
            prose.push_str(&format!("{line}\n"));
        }
    }
    text + &linked(&prose)
}

/// The links of a piece of prose.
fn linked(prose: &str) -> String {
    let mut text = String::new();
    let mut rest = prose;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let Some(end) = after.find(')') else { break };
        let target = &after[2..end];
        let open = before.rfind('[').unwrap();
        let words = &before[open + 1..];
        let (page, fragment) = target.split_once('#').unwrap_or((target, ""));
        let known = page.strip_suffix(".md").filter(|page| PAGES.contains(page));
        if before[..open].ends_with('!') {
            text.push_str(&format!("{}*{words}.*", &before[..open - 1]));
        } else if let Some(page) = known {
            let fragment = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
            text.push_str(&format!(
                "{before}](crate::guide::{}{fragment})",
                page.replace('-', "_")
            ));
        } else if target.starts_with("http") || target.starts_with('#') {
            text.push_str(&format!("{before}]({target})"));
        } else {
            text.push_str(&format!("{}{words}", &before[..open]));
        }
        rest = &after[end + 1..];
    }
    text + rest
}

#[test]
fn the_guide_in_rustdoc_is_the_one_in_docs() {
    let docs = folder().join("../../docs");
    if !docs.is_dir() {
        // Tested from a package, which has only the copies.
        return;
    }
    let update = std::env::var_os("STRATAPE_UPDATE").is_some();
    let contents = std::fs::read_to_string(docs.join("README.md")).unwrap();
    for page in PAGES {
        assert!(contents.contains(&format!("({page}.md)")), "{page}.md is not in docs/README.md");
        let text = converted(&std::fs::read_to_string(docs.join(format!("{page}.md"))).unwrap());
        let copy = folder().join("guide").join(format!("{page}.md"));
        if update {
            std::fs::write(&copy, &text).unwrap();
        }
        let found = std::fs::read_to_string(&copy).unwrap_or_default();
        assert!(
            found == text,
            "guide/{page}.md is not docs/{page}.md: run `STRATAPE_UPDATE=1 cargo test -p stratape --test guide`"
        );
    }
}

#[test]
fn every_page_has_a_module() {
    let modules = std::fs::read_to_string(folder().join("src/guide.rs")).unwrap();
    for page in PAGES {
        assert!(modules.contains(&format!("\"../guide/{page}.md\"")), "{page}");
    }
    for entry in std::fs::read_dir(folder().join("guide")).unwrap() {
        let name = entry.unwrap().file_name();
        let page = name.to_str().and_then(|name| name.strip_suffix(".md")).unwrap();
        assert!(PAGES.contains(&page), "guide/{page}.md is no page");
    }
}

#[test]
fn links_are_turned_and_code_is_left_alone() {
    let page = "# A\n[b](gradient.md#at-kinks) ![c](d.svg) [e](../f.rs) [g](#h)\n```\n[i](gradient.md)\n```\n";
    let wanted = "# A\n[b](crate::guide::gradient#at-kinks) *c.* e [g](#h)\n```text\n[i](gradient.md)\n```\n";
    assert_eq!(converted(page), wanted);
}
