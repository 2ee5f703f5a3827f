//! The examples of docs/compiler/passes.md: each pass makes of *before* what stands in *after*, and leaves *unchanged* alone.
//!
//! A fenced block is one function in the text form, with an info string: ```` ```ir before=cse ````, ```` ```ir after=cse ````,
//! ```` ```ir unchanged=cse ````. `target=jam_rows:2` sets a number of the target. `STRATAPE_UPDATE=1` writes what the passes make into
//! the page.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use stratape_compiler::driver::{
    Context, GRADIENT, KERNEL, KERNEL_GRADIENT, LOWERING, PRIMAL, Pass, STATES, Target,
};
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
                    let number = number.parse().unwrap();
                    match name {
                        "jam_rows" => example.target.jam_rows = number,
                        "layer_bytes" => {
                            example.target.tape.layer_bytes = usize::try_from(number).ok();
                        }
                        _ => panic!("`{name}` of the target: add it here"),
                    }
                }
                _ => panic!("`{word}` in the info string of line {}", at + 1),
            }
        }
        found.push(example);
    }
    found
}

fn passes() -> impl Iterator<Item = &'static Pass> {
    STATES.iter().chain(PRIMAL).chain(GRADIENT).chain(LOWERING).chain(KERNEL).chain(KERNEL_GRADIENT)
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

/// Changes to the first example of a pass after which it must leave the function alone: one condition under *Legal* or *Pays* is gone.
type Spoiled = (&'static str, &'static [(&'static str, &'static str)]);

const SPOILED: &[Spoiled] = &[
    // The check is for another length than the loop's.
    ("bounds", &[("n: usize)", "n: usize, m: usize)"), ("check j < n", "check j < m")]),
    // Where the branch turns is not known.
    ("peel", &[("n: usize)", "n: usize, far: usize)"), ("i > first", "i > far")]),
    // The length of the sum depends on the loop that would move inwards.
    ("interchange", &[("for k in first..m", "for k in first..i")]),
    // An iteration reads what another has written.
    ("interchange", &[("@w: &[f64], @x: &[f64], @y", "@w: &[f64], @y"), ("@x[j]", "@y[j]")]),
    // The records are written.
    (
        "aos_to_soa",
        &[("@p: &[f64]", "@p: &mut [f64]"), ("q: f64 = u * v;", "q: f64 = u * v; @p[j0] = q;")],
    ),
    // The sum is read while it grows.
    ("scalar_promotion", &[("v: f64 = @x[j]", "v: f64 = @a[j]")]),
    // The place is another one in each iteration.
    ("scalar_promotion", &[("@a[i] += v", "@a[j] += v")]),
    // The running value is looked at besides.
    (
        "argmax",
        &[
            ("if c then a else best", "if c then a else start; @y[i] = best"),
            ("n: usize,", "@y: &mut [f64], n: usize,"),
        ],
    ),
    // The other arm may add something, too.
    ("sink", &[("e | zero", "e | a")]),
    // Memory between is looked at: it might be the addition's own.
    ("sink", &[("zero: ~f64 = 0.0", "zero: ~f64 = 1.0")]),
    // Not all of the lists is copied.
    (
        "swap_copies",
        &[
            ("for j in first..n", "for j in first..steps"),
            ("for k in first..n", "for k in first..steps"),
        ],
    ),
    // What was copied is read again.
    (
        "swap_copies",
        &[
            ("@before[j] = p }", "@before[j] = p }\n    y: f64 = @now[first]"),
            ("@now[k] = q }", "@now[k] = q }\n    z: f64 = @next[first]"),
        ],
    ),
    // The second sum needs the first.
    ("loop_fusion", &[("t = zero", "t = left")]),
    // What the second reads is written in between.
    (
        "loop_fusion",
        &[("@b: &[f64]", "@b: &mut [f64]"), ("-> left\n", "-> left\n    @b[i] = left\n")],
    ),
    // The first sum is looked at; sums of the primal keep their order.
    ("combine_terms", &[("s2: ~f64 = s1 + b", "b1: ~f64 = s1 * b; s2: ~f64 = s1 + b1")]),
    ("combine_terms", &[("~f64", "f64")]),
    // The list changes from one outer iteration to the next.
    (
        "precompute",
        &[
            ("@p: &[f64]", "@p: &mut [f64]"),
            ("row: usize = i * m", "row: usize = i * m; @p[i] = d"),
        ],
    ),
    // The list changes; each iteration has an element of its own; a table saves too little; the value is used in a branch alone.
    (
        "tabulate",
        &[
            ("@scale: &[f64]", "@scale: &mut [f64]"),
            ("b: f64 = @x[i]", "b: f64 = @x[i]; @scale[i] = b"),
        ],
    ),
    ("tabulate", &[("k: usize = @group[i]", "k: usize = i + first")]),
    ("tabulate", &[("exp(a)", "a * a")]),
    (
        "tabulate",
        &[("r: f64 = e * b", "c = b > zero; if c { d: f64 = e * b } merge r: f64 = d | zero")],
    ),
    // The list outlives the block, is read afterwards, or by another iteration; it is no shadow.
    (
        "dead_stores",
        &[
            ("@y: &[f64],", "@y: &[f64], @dy: &mut [f64] shadow of @y,"),
            ("new @dy: Vec<f64> shadow of @y = vec![nothing; n]", "w: f64 = @x[t]"),
        ],
    ),
    (
        "dead_stores",
        &[("@dx[j] += e }", "@dx[j] += e }\n    z: f64 = @dy[first]; @dx[first] += z")],
    ),
    ("dead_stores", &[("d: ~f64 = @dy[j];", "d: ~f64 = @dy[first];")]),
    ("dead_stores", &[(" shadow of @y", "")]),
    // Everything is used.
    ("dce", &[("return a", "return a, b, m")]),
    ("gradient_cse", &[("g: f64 = exp(x)", "g: f64 = exp(e)")]),
    // Quotients and products of the primal keep their bits.
    ("reciprocal", &[("~f64", "f64")]),
    ("common_factors", &[("~f64", "f64")]),
    ("fold_coefficients", &[("~f64", "f64")]),
    // Sums of the primal keep their order.
    ("scatter_to_gather", &[(" shadow of @x", ""), (" unordered", ""), ("~f64", "f64")]),
    // The first element keeps its zero.
    (
        "dead_init",
        &[("first: usize = 0", "first: usize = 0; one: usize = 1"), ("in first..n", "in one..n")],
    ),
    // The copies are written, or their origin is.
    (
        "forward_copies",
        &[
            ("  x: f64 = @p[zero]", "  @p[zero] = nothing\n  x: f64 = @p[zero]"),
            ("[copy of @t; _]", "[[x; _]; _]"),
            (
                "  z: f64 = @m[zero][one]",
                "  w: f64 = @s[zero][one]; @t[zero] = w; @s[zero][one] = w\n  z: f64 = @m[zero][one]",
            ),
            ("return z", "u: f64 = @t[one]; v: f64 = z + u\n  return v"),
        ],
    ),
    // The first iteration reads what the buffer was made with, the others what the one before has left.
    ("localize", &[("for j in first..m", "for j in first..n")]),
    // It is read afterwards.
    ("localize", &[("return sum", "e: f64 = @b[first]; r: f64 = sum + e\n  return r")]),
    // How many iterations there are is not known.
    ("small_arrays", &[("@y: &[f64])", "@y: &[f64], n: usize)"), ("in zero..two", "in zero..n")]),
    // Both factors change with the outer loop.
    ("invariant_factor", &[("@da[j]", "@da[l]")]),
    ("unroll_and_jam", &[("for j in first..m", "for j in first..i")]),
    // The second of two sums reads the first.
    ("unroll_and_jam", &[("@a: &[f64], @y", "@y"), ("@a[k]", "@y[k]")]),
    ("privatize", &[("parallel(3, grain 1) for", "for")]),
    // Too short to pay.
    (
        "regions",
        &[
            (", n: usize)", ")"),
            ("first: usize = 0", "first: usize = 0\n  n: usize = 3"),
            ("(a: f64)", "(a: f64) as f64"),
            ("(c: f64)", "(c: f64) as f64"),
        ],
    ),
    // Records that are pushed one by one.
    ("layers", &[("  region 0 of 1 f64\n", ""), (" in region 0", "")]),
    (
        "streams",
        &[
            ("  region 0 of 1 f64\n", ""),
            (" in region 0", ""),
            (" strip region 0 view @x", ""),
            (" strip region 0 view mut @dx", ""),
        ],
    ),
    ("scratchpad", &[("  region 0 of 7 f64\n", ""), (" in region 0", "")]),
    (
        "strip_mine",
        &[(", n: usize)", ")"), ("first: usize = 0", "first: usize = 0\n  n: usize = 3")],
    ),
    // The sum is read while it grows.
    ("vector_reduction", &[("next: ~f64 = s + a", "b: ~f64 = s * a\n    next: ~f64 = s + b")]),
];

#[test]
fn what_breaks_a_condition_is_left_alone() {
    let page_text = std::fs::read_to_string(page()).unwrap();
    let all = examples(&page_text);
    for (pass, changes) in SPOILED {
        let first = all.iter().find(|example| example.kind == "before" && example.pass == *pass);
        let mut example = first.unwrap().clone();
        for (from, to) in *changes {
            assert!(example.text.contains(from), "{pass}: no `{from}` in its example");
            example.text = example.text.replace(from, to);
        }
        let before = read(&example).to_string();
        assert_eq!(made(&example).to_string(), before, "{pass}");
    }
}

#[test]
fn every_pass_has_something_it_leaves_alone() {
    let page_text = std::fs::read_to_string(page()).unwrap();
    let all = examples(&page_text);
    let unchanged = all.iter().filter(|example| example.kind == "unchanged");
    let mut shown: BTreeSet<&str> = unchanged.map(|example| example.pass.as_str()).collect();
    shown.extend(SPOILED.iter().map(|(pass, _)| *pass));
    assert_eq!(shown, passes().map(|pass| pass.name).collect());
}
