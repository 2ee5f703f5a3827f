//! Methods of rsmpi inside differentiated code are refused, and the error names the functions to use instead.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::process::Command;

/// The library of a crate among the messages of cargo.
fn library(messages: &str, name: &str) -> String {
    let start = format!("lib{name}-");
    let mut paths = messages.split('"').filter(|text| text.ends_with(".rlib"));
    let found = paths.find(|path| {
        PathBuf::from(path)
            .file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with(&start))
    });
    found.unwrap_or_else(|| panic!("no {start}*.rlib")).to_owned()
}

#[test]
fn methods_of_rsmpi() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&root).args(["build", "--example", "fit", "--message-format=json"]);
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let messages = String::from_utf8(built.stdout).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "-o", "/dev/null"]);
    for name in ["mpi", "stratape", "stratape_mpi"] {
        let path = library(&messages, name);
        let folder = PathBuf::from(&path).parent().unwrap().display().to_string();
        // Those that others depend on are in a folder of their own.
        for folder in [folder.clone(), format!("{folder}/deps")] {
            rustc.arg("-L").arg(format!("dependency={folder}"));
        }
        rustc.arg("--extern").arg(format!("{name}={path}"));
    }
    let refused = rustc.arg(root.join("tests/refused/methods.rs")).output().unwrap();
    assert!(!refused.status.success(), "methods of rsmpi are accepted");
    let text = String::from_utf8_lossy(&refused.stderr);
    for name in ["SimpleCommunicator", "initialize"] {
        let expected = format!(
            "the compiler does not know `{name}` of `mpi`: pass a `stratape_mpi::Comm`, which is made beside it with `Comm::new`, and call the functions of `stratape_mpi`"
        );
        assert!(text.contains(&expected), "`{expected}` is not in {text}");
    }
    assert!(
        text.contains("cannot see into") || text.contains("the method `process_at_rank`"),
        "{text}"
    );
}
