//! Writes functions of about a thousand lines, such as other programs write, functions that call many others, and tests of the functions in `everyday`.

mod everyday;

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("long.rs"), long()).expect("a file in OUT_DIR");
    fs::write(Path::new(&out).join("many.rs"), many()).expect("a file in OUT_DIR");
    let mut tests = String::new();
    let mut files: Vec<_> = fs::read_dir("everyday").expect("a folder").flatten().collect();
    files.sort_by_key(fs::DirEntry::path);
    for file in files {
        tests += &everyday::tests(&fs::read_to_string(file.path()).expect("a file of functions"));
    }
    fs::write(Path::new(&out).join("everyday.rs"), tests).expect("a file in OUT_DIR");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=everyday");
}

fn long() -> String {
    let mut text = String::new();
    let mut line = |indent: usize, what: String| {
        writeln!(text, "{}{what}", "    ".repeat(indent)).expect("memory");
    };
    // One `let` after the other.
    line(0, "#[gradient]\npub fn straight(x: &[f64]) -> f64 {".to_owned());
    line(1, "let v0 = x[0];".to_owned());
    for i in 1..1000 {
        let what = match i % 5 {
            0 => format!("(v{} * x[{}]).sin()", i - 1, i % 7),
            1 => format!("v{} + 0.1 * x[{}] * v{}", i - 1, i % 7, i / 2),
            2 => format!("v{} / (1.0 + v{} * v{})", i - 1, i / 3, i / 3),
            3 => format!("0.9 * v{} - x[{}]", i - 1, i % 7),
            _ => format!("(1.0 + v{} * v{}).sqrt()", i - 1, i - 1),
        };
        line(1, format!("let v{i} = {what};"));
    }
    line(1, "v999\n}".to_owned());
    // One loop after the other, on memory.
    line(0, "#[gradient]\npub fn loops(x: &[f64], y: &mut [f64]) -> f64 {".to_owned());
    line(1, "let mut s = 0.0;".to_owned());
    for i in 0..250 {
        line(1, "for i in 0..x.len() {".to_owned());
        let what = match i % 4 {
            0 => "y[i] = 0.99 * y[i] + 0.01 * x[i];",
            1 => "s += y[i] * x[i];",
            2 => "y[i] -= 0.001 * y[i] * y[i];",
            _ => "if y[i] > 0.5 { s += y[i]; } else { s -= 0.5 * x[i]; }",
        };
        line(2, what.to_owned());
        line(1, "}".to_owned());
    }
    line(1, "s\n}".to_owned());
    // One branch after the other, values assigned again and again.
    line(0, "#[gradient]\npub fn branches(a: f64, b: f64) -> f64 {".to_owned());
    line(1, "let (mut s, mut t) = (a, b);".to_owned());
    for i in 0..250 {
        line(1, format!("if s > {}.0 - t {{", i % 3));
        line(2, "s = 0.9 * s + 0.1 * t * t;".to_owned());
        line(1, "} else {".to_owned());
        line(2, "t = 0.95 * t + 0.05 * (s - t).cos();".to_owned());
        line(1, "}".to_owned());
    }
    line(1, "s * t\n}".to_owned());
    text
}

/// Three hundred functions that one calls, and three hundred that call each other in a row.
fn many() -> String {
    let mut text = String::new();
    let mut calls = Vec::new();
    for i in 0..300 {
        calls.push(format!("wide_{i}(x)"));
        let called = match i {
            0 => "x".to_owned(),
            _ => format!("1.001 * chain_{}(x)", i - 1),
        };
        text += &format!(
            "#[differentiable]\nfn wide_{i}(x: f64) -> f64 {{ x * {i}.0 }}\n\
             #[differentiable]\nfn chain_{i}(x: f64) -> f64 {{ {called} }}\n"
        );
    }
    let calls = calls.join(" + ");
    text + &format!(
        "#[gradient]\npub fn wide(x: f64) -> f64 {{ {calls} }}\n\
         #[gradient]\npub fn deep(x: f64) -> f64 {{ chain_299(x) }}\n"
    )
}
