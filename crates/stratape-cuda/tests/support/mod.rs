//! Tests that run themselves again: on a CUDA device if there is one, and on a driver that is made up.

#![allow(clippy::panic, clippy::unwrap_used, reason = "this is part of the tests")]
#![allow(dead_code, reason = "not every test uses everything")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Tells that a test does nothing here, past the harness, which shows only what failed.
pub(crate) fn skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Whether this process was started by [`run`].
pub(crate) fn is_child() -> bool {
    std::env::var_os("STRATAPE_TEST_CHILD").is_some()
}

/// The test `name` of this file in a process of its own, with an empty cache of kernels in `directory`.
pub(crate) fn run(name: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env("STRATAPE_TEST_CHILD", "1")
        .env("STRATAPE_CACHE", directory.join("kernels"))
        .env_remove("STRATAPE_GPU")
        .env_remove("STRATAPE_GPU_CHECK")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// What the process said on its error output, if it ended well.
#[track_caller]
pub(crate) fn passed(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{said}");
    said
}

/// Builds the driver and the compiler of `tests/fake` in a directory, which then goes to `LD_LIBRARY_PATH`.
pub(crate) fn fake(directory: &Path) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake");
    if !cfg!(target_os = "linux") || !sources.exists() {
        skipped("the made-up driver is built on Linux, beside its source");
        return None;
    }
    let libraries = directory.join("lib");
    std::fs::create_dir(&libraries).unwrap();
    for (source, library) in [("cuda.c", "libcuda.so"), ("nvrtc.c", "libnvrtc.so")] {
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-pthread", "-o"]);
        cc.arg(libraries.join(library)).arg(sources.join(source));
        let Ok(output) = cc.output() else {
            skipped("no C compiler for the made-up driver");
            return None;
        };
        passed(&output);
    }
    Some(libraries)
}
