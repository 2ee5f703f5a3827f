//! What the tests that compile C and C++ share: finding the tools, a distribution to build against, running things.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::expect_used, clippy::panic, reason = "this is part of the tests")]

#[path = "../../examples/dist/package.rs"]
mod package;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub(crate) const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-g"];
pub(crate) const SANITIZE: [&str; 2] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
/// What the static library needs of the system.
pub(crate) const SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// A program of the system, or `None` after having said which package has it.
pub(crate) fn tool(name: &str, package: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&paths).map(|path| path.join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: install {package}");
    }
    found
}

/// The C++ compilers there are: g++, which is asked for, and clang++.
pub(crate) fn cpp_compilers() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = tool("g++", "g++").into_iter().collect();
    if !found.is_empty() {
        found.extend(tool("clang++", "clang (these tests then run with it as well)"));
    }
    found
}

/// Whether a compiler can link sanitizers: clang has them in a package of their own.
pub(crate) fn sanitizes(compiler: &Path) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("empty.cpp");
    std::fs::write(&source, "int main() { return 0; }\n").expect("a file");
    let status = Command::new(compiler)
        .args(SANITIZE)
        .arg(&source)
        .arg("-o")
        .arg(directory.path().join("empty"))
        .output();
    let fine = status.is_ok_and(|output| output.status.success());
    if !fine {
        println!("skipped: the sanitizers of {}; install libclang-rt-dev", compiler.display());
    }
    fine
}

/// A distribution made of the libraries of this build.
pub(crate) fn distribution() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a directory");
        let libraries = package::libraries().expect("cargo has built the libraries");
        package::make(root(), &libraries, directory.path()).expect("a distribution");
        directory
    })
    .path()
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command, which must succeed; returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command:?} ended with {}:\n{text}", output.status);
    text
}

/// Compiles a source file of the tests against the static library, and runs the program in a directory of its own.
pub(crate) fn compile_and_run<S: AsRef<OsStr>>(
    compiler: &Path,
    source: &str,
    flags: &[S],
) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("program");
    let mut compile = Command::new(compiler);
    compile.args(STRICT).args(flags);
    compile.arg("-I").arg(distribution().join("include")).arg(root().join("tests").join(source));
    compile.arg(distribution().join("lib/libstratape.a")).args(SYSTEM).arg("-o").arg(&program);
    run(&mut compile);
    run(Command::new(&program).arg(directory.path()).current_dir(directory.path()))
}
