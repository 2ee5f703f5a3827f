//! The C++ headers: every kind of element, every language version, with and without exceptions, under sanitizers.

#![allow(clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{SANITIZE, compile_and_run, cpp_compilers, root, sanitizes, tool};

/// Compiles and runs a test with g++ under sanitizers, and with clang++ as it is: what differs there is the optimiser.
fn check(source: &str, standard: &str, more: &[&str]) {
    for compiler in cpp_compilers() {
        let mut flags = vec![standard];
        flags.extend(more);
        if !compiler.ends_with("clang++") && sanitizes(&compiler) {
            // Not optimised: with sanitizers the optimiser takes most of the time.
            flags.extend(SANITIZE);
        } else {
            flags.push("-O3");
        }
        if cfg!(debug_assertions) {
            flags.push("-DLIBRARY_DEBUG");
        }
        compile_and_run(&compiler, source, &flags);
    }
}

#[test]
fn layers() {
    check("cpp/layers.cpp", "-std=c++17", &[]);
}

#[test]
fn objects() {
    check("cpp/objects.cpp", "-std=c++14", &[]);
}

#[test]
fn clad() {
    check("cpp/clad.cpp", "-std=c++17", &[]);
}

/// Every push and pop asks the library whether the thread may.
#[test]
fn checked_at_every_push() {
    check("cpp/clad.cpp", "-std=c++20", &["-DSTRATAPE_DEBUG"]);
}

#[test]
fn without_exceptions() {
    check("cpp/no_exceptions.cpp", "-std=c++14", &["-fno-exceptions"]);
}

/// The environment turns a program that knows nothing of disks into one that spills.
#[test]
fn the_environment_decides() {
    let Some(compiler) = tool("g++", "g++") else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("program");
    let source = directory.path().join("program.cpp");
    let text = "#include <stratape/tape.hpp>\n#include <cstdio>\nint main() {\n  stratape::tape<double> tape;\n  \
                for (int i = 0; i < 500000; ++i) tape.push(i);\n  std::printf(\"%s\", tape.stats_text().c_str());\n  \
                for (int i = 499999; i >= 0; --i) if (tape.pop() != i) return 1;\n}\n";
    std::fs::write(&source, text).expect("a file");
    let distribution = support::distribution();
    support::run(
        Command::new(&compiler)
            .args(["-std=c++14", "-O1", "-I"])
            .arg(distribution.join("include"))
            .arg(&source)
            .arg(distribution.join("lib/libstratape.a"))
            .args(support::SYSTEM)
            .arg("-o")
            .arg(&program),
    );
    let said = support::run(&mut Command::new(&program));
    assert!(said.contains("stays in memory"), "{said}");
    let said = support::run(
        Command::new(&program).env("STRATAPE_MEMORY", "1M").env("STRATAPE_SPILL", directory.path()),
    );
    assert!(said.contains("budget 1.0 MiB") && said.contains("disk ("), "{said}");
    assert!(!said.contains("spilled        0 slabs"), "{said}");
    let failed = Command::new(&program).env("STRATAPE_MEMORY", "much").output().expect("it starts");
    assert!(!failed.status.success());
    assert!(String::from_utf8_lossy(&failed.stderr).contains("STRATAPE_MEMORY"), "{failed:?}");
}

/// Each file in `refused` is refused by the compiler, in words that its comment gives.
#[test]
fn what_cannot_be_an_element_is_refused_with_a_reason() {
    let Some(compiler) = tool("g++", "g++") else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("tests/cpp/refused")).expect("the directory") {
        let path = entry.expect("an entry").path();
        let said = message_of(&compiler, &path);
        let text = std::fs::read_to_string(&path).expect("a source file");
        let (_, expected) = text.split_once("// says: ").expect("what the compiler says");
        assert!(said.contains(expected.trim()), "{}: {said}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 7);
}

fn message_of(compiler: &Path, source: &Path) -> String {
    let output = Command::new(compiler)
        .args(["-std=c++14", "-fsyntax-only", "-I"])
        .arg(root().join("include"))
        .arg(source)
        .output()
        .expect("the compiler runs");
    assert!(!output.status.success(), "{} compiles", source.display());
    String::from_utf8_lossy(&output.stderr).into_owned()
}
