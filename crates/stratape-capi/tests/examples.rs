//! Both examples, built through CMake and through pkg-config, with warnings denied and sanitizers, and run.

#![allow(clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{SANITIZE, STRICT, cpp_compilers, distribution, root, run, sanitizes, tool};

const EXAMPLES: [(&str, &str); 2] =
    [("operator_overloading", "operator_overloading/main.cpp"), ("revolve", "revolve/main.c")];

fn flags(compiler: &Path) -> String {
    let sanitize: &[&str] = if sanitizes(compiler) { &SANITIZE } else { &[] };
    STRICT.iter().chain(&["-O1"]).chain(sanitize).copied().collect::<Vec<_>>().join(" ")
}

/// The C compiler that belongs to a C++ one.
fn c_compiler(compiler: &Path) -> &'static str {
    if compiler.ends_with("clang++") { "clang" } else { "gcc" }
}

fn check_run(name: &str, program: &Path, spill: &Path) {
    let said =
        run(Command::new(program).arg(spill).env("LD_LIBRARY_PATH", distribution().join("lib")));
    let expected = match name {
        "revolve" => "the same to the bit",
        _ => "in closed form",
    };
    assert!(said.contains(expected), "{said}");
}

#[test]
fn through_cmake() {
    let Some(cmake) = tool("cmake", "cmake") else { return };
    for compiler in cpp_compilers() {
        let build = tempfile::tempdir().expect("a directory");
        let flags = flags(&compiler);
        run(Command::new(&cmake)
            .arg("-S")
            .arg(root().join("examples"))
            .arg("-B")
            .arg(build.path())
            .arg(format!("-DCMAKE_PREFIX_PATH={}", distribution().display()))
            .arg(format!("-DCMAKE_CXX_COMPILER={}", compiler.display()))
            .arg(format!("-DCMAKE_C_COMPILER={}", c_compiler(&compiler)))
            .arg(format!("-DCMAKE_CXX_FLAGS={flags}"))
            .arg(format!("-DCMAKE_C_FLAGS={flags}")));
        run(Command::new(&cmake).arg("--build").arg(build.path()));
        for (name, _) in EXAMPLES {
            check_run(name, &build.path().join(name), build.path());
        }
    }
}

#[test]
fn through_pkg_config() {
    let Some(pkg_config) = tool("pkg-config", "pkg-config") else { return };
    let words = run(Command::new(pkg_config)
        .args(["--cflags", "--libs", "stratape"])
        .env("PKG_CONFIG_PATH", distribution().join("lib/pkgconfig")));
    for compiler in cpp_compilers() {
        let build = tempfile::tempdir().expect("a directory");
        for (name, source) in EXAMPLES {
            let is_c = source.ends_with(".c");
            let program = build.path().join(name);
            let mut compile =
                if is_c { Command::new(c_compiler(&compiler)) } else { Command::new(&compiler) };
            compile.args(flags(&compiler).split_whitespace());
            compile.arg(if is_c { "-std=c99" } else { "-std=c++14" });
            compile.arg(root().join("examples").join(source)).args(words.split_whitespace());
            run(compile.arg("-o").arg(&program));
            check_run(name, &program, build.path());
        }
    }
}
