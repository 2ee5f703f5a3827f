//! What `#[gradient]` does not accept is refused at the token, with what to write instead.
//!
//! Each file of `compile_fail` goes through rustc, with the libraries this test is linked with, and must fail with the messages beside it.
//! `STRATAPE_UPDATE=1 cargo test -p stratape --test compile_fail` writes them. Messages are kept without what differs between machines and with
//! every change of other code: paths, versions, and line numbers outside of the file.

#![allow(clippy::unwrap_used)]

#[path = "common/rustc.rs"]
mod rustc;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc::{Library, library, rustc};

/// The folder of the package from where Cargo called rustc: what the library's own files are called in messages.
const PACKAGE: &str = file!().split_at(file!().len() - "tests/compile_fail.rs".len()).0;

#[test]
fn refused() {
    let (mut cases, left_out): (Vec<_>, Vec<_>) =
        files("tests/compile_fail").into_iter().partition(|case| {
            let of_devices = ["host_functions", "unknown_primitives"];
            cfg!(feature = "gpu")
                || !of_devices.iter().any(|name| case.ends_with(format!("{name}.rs")))
        });
    for case in left_out {
        println!("skipped: {} needs the feature gpu", case.display());
    }
    if cfg!(feature = "argmin") {
        cases.extend(files("tests/compile_fail/argmin"));
    } else {
        println!("skipped: tests/compile_fail/argmin needs the feature argmin");
    }
    let libraries = [
        library!(stratape, stratape::Workspace),
        library!(nalgebra, nalgebra::DMatrix<f64>),
        library!(ndarray, ndarray::Array1<f64>),
        library!(num_complex, num_complex::Complex<f64>),
    ];
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut complaints = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            complaints.extend(check(case, &libraries).err());
        }
        complaints
    };
    let complaints = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn no_messages_are_left_without_their_file() {
    for folder in ["tests/compile_fail", "tests/compile_fail/argmin"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.is_dir() || path.with_extension("rs").exists(), "{}", path.display());
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files of a folder, named from the root of the package.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()));
    let mut files: Vec<_> =
        names.filter(|name| name.extension().is_some_and(|extension| extension == "rs")).collect();
    files.sort();
    files
}

/// Compiles a file and compares the messages; says how they differ.
fn check(case: &Path, libraries: &[Library]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let output = rustc(libraries)
        .args(["--crate-type", "bin", "--emit=metadata", "-A", "dead_code", "--verbose"])
        .arg(root().join(case))
        .arg("--out-dir")
        .arg(folder.path())
        .current_dir(root().ancestors().nth(Path::new(PACKAGE).components().count()).unwrap())
        .env("CARGO_MANIFEST_DIR", root())
        .env("CARGO_PKG_NAME", "refused")
        .env("CARGO_PKG_VERSION", "0.0.0")
        .env("CARGO_CRATE_NAME", case.file_stem().unwrap())
        .output()
        .unwrap();
    let said = narrowed(&located(&String::from_utf8_lossy(&output.stderr), case));
    if output.status.success() {
        return Err(format!("{} is accepted:\n{said}", case.display()));
    }
    let kept = root().join(case).with_extension("stderr");
    if std::env::var_os("STRATAPE_UPDATE").is_some() {
        std::fs::write(&kept, &said).unwrap();
    }
    let wanted = std::fs::read_to_string(&kept).unwrap_or_default().replace("\r\n", "\n");
    if said == wanted {
        return Ok(());
    }
    let same = said.lines().zip(wanted.lines()).take_while(|(said, wanted)| said == wanted).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("the end").to_owned();
    Err(format!(
        "{}, line {} of the messages:\nwanted  {}\nsaid    {}\nin all:\n{said}",
        case.display(),
        same + 1,
        line(&wanted),
        line(&said)
    ))
}

/// Messages with paths that are the same on all machines, and without what sums them up.
fn located(messages: &str, case: &Path) -> String {
    let root = format!("{}/", root().display());
    let case = case.display().to_string();
    let mut text = String::new();
    let mut elsewhere = false;
    for line in messages.lines() {
        let summary = [
            "error: aborting due to ",
            "For more information about ",
            "Some errors have detailed explanations:",
        ];
        if summary.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let content = line.trim_start();
        let mut line = line.to_owned();
        if content.starts_with("--> ") || content.starts_with("::: ") {
            let (arrow, path) = line.split_at(line.len() - content.len() + "--> ".len());
            let path = shortened(path, &root);
            elsewhere = !path.starts_with(&case);
            line = format!("{arrow}{}", if elsewhere { without_position(&path) } else { &path });
        } else if elsewhere && content.starts_with(|first: char| "|.0123456789".contains(first)) {
            let number = line.len()
                - line
                    .trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                    .len();
            line = " ".repeat(number) + &line[number..];
        } else {
            elsewhere = false;
            line = line.replace(&root, "$DIR/");
        }
        if !(line.is_empty() && text.ends_with("\n\n")) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// A path of this package, of the standard library or of another crate without the folders it lies in on this machine.
fn shortened(path: &str, root: &str) -> String {
    let own = path
        .strip_prefix(root)
        .or_else(|| path.strip_prefix(PACKAGE).filter(|_| !PACKAGE.is_empty()));
    if let Some(path) = own {
        return path.to_owned();
    }
    if let Some((_, path)) = path.split_once("/rustlib/src/rust/library/") {
        return format!("$RUST/{path}");
    }
    if let Some(path) = path.strip_prefix("/rustc/").and_then(|path| path.split_once("/library/")) {
        return format!("$RUST/{}", path.1);
    }
    // Below it are a folder for each registry, and in this one for each version of a crate.
    let in_registry = path.split_once("/registry/src/").and_then(|(_, path)| {
        let mut parts = path.splitn(3, '/').skip(1);
        let (name, _) = parts.next()?.rsplit_once('-')?;
        Some(format!("$CARGO/{name}-$VERSION/{}", parts.next()?))
    });
    in_registry.unwrap_or_else(|| path.to_owned())
}

/// A path without the line and the column behind it.
fn without_position(path: &str) -> &str {
    path.trim_end_matches(|last: char| last == ':' || last.is_ascii_digit())
}

/// Messages whose gutters are as narrow as can be: rustc makes them as wide as the largest line number asks for, those of other crates included.
fn narrowed(messages: &str) -> String {
    let lines: Vec<_> = messages.lines().collect();
    let mut text = String::new();
    let mut start = 0;
    while start < lines.len() {
        let heading =
            ["error", "warning", "note: "].iter().any(|word| lines[start].starts_with(word));
        let body = lines[start + 1..].iter().take_while(|line| heading && is_body(line));
        let end = start + 1 + body.count();
        let spare = lines[start + 1..end].iter().filter_map(|line| gutter(line)).min().unwrap_or(0);
        text.push_str(lines[start]);
        text.push('\n');
        for line in &lines[start + 1..end] {
            match line.find(' ') {
                Some(space) if gutter(line).is_some() || line.starts_with(' ') => {
                    text.push_str(&line[..space]);
                    text.push_str(&line[space + spare..]);
                }
                _ => text.push_str(line),
            }
            text.push('\n');
        }
        start = end;
    }
    text
}

/// Whether a line belongs to the error above it.
fn is_body(line: &str) -> bool {
    let continued = line.starts_with(&" ".repeat(11));
    gutter(line).is_some()
        || continued
        || ["note:", "help:", "..."].iter().any(|word| line.starts_with(word))
}

/// How many spaces of the gutter a line can do without.
fn gutter(line: &str) -> Option<usize> {
    let spaces = |text: &str| text.len() - text.trim_start_matches(' ').len();
    if let Some(rest) = line.strip_prefix("... ") {
        return Some(spaces(rest));
    }
    let text = line.trim_start_matches(' ');
    let code = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let numbered = code.len() < text.len();
    let rest = code.trim_start_matches(' ');
    let spaces = line.len() - text.len() + spaces(code);
    let begins: &[&str] =
        if numbered { &["|", "~", "+", "-"] } else { &["| ", "--> ", "::: ", "= "] };
    let is_code = rest == "|" || begins.iter().any(|begin| rest.starts_with(begin));
    (spaces > 0 && is_code).then(|| spaces - 1)
}
