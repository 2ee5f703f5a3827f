//! `stratape bench` and `stratape model` run other programs: those beside it where there is no checkout.
#![cfg(unix)]

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

type Outcome = Result<(), Box<dyn Error>>;

/// A copy of the command, alone in a directory: beside the built one there may be the real benchmarks.
fn alone(directory: &tempfile::TempDir) -> Result<PathBuf, std::io::Error> {
    let copy = directory.path().join("stratape");
    fs::copy(env!("CARGO_BIN_EXE_stratape"), &copy)?;
    Ok(copy)
}

/// Where a program is neither beside the command nor on the path, the command says how it is installed.
fn is_asked_for(arguments: &[&str], program: &str) -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = Command::new(alone(&directory)?)
        .args(arguments)
        .current_dir(directory.path())
        .env("PATH", "")
        .output()?;
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains(&format!("cargo install --path crates/{program}")), "{told}");
    Ok(())
}

/// What a program beside the command is handed, and that its exit code is the command's.
fn are_passed_on(program: &str, cases: &[(&[&str], &str)]) -> Outcome {
    let directory = tempfile::tempdir()?;
    let copy = alone(&directory)?;
    let program = directory.path().join(program);
    fs::write(&program, "#!/bin/sh\necho \"$@\"\nexit 7\n")?;
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755))?;
    for (arguments, passed) in cases {
        let output = Command::new(&copy).args(*arguments).current_dir(directory.path()).output()?;
        assert_eq!(output.status.code(), Some(7), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stdout)?, *passed, "{arguments:?}");
    }
    Ok(())
}

fn without_the_program_it_says_how_to_install_it() -> Outcome {
    is_asked_for(&["bench", "tape", "--quick"], "stratape-bench")?;
    is_asked_for(&["model", "paper"], "stratape-model")
}

fn arguments_and_the_exit_code_are_passed_on() -> Outcome {
    are_passed_on(
        "stratape-bench",
        &[
            (&["bench"], "--bars\n"),
            (&["bench", "tape", "--quick", "--only", "a b"], "--bars tape --quick --only a b\n"),
            (&["bench", "--json", "lulesh"], "lulesh\n"),
            (&["bench", "--", "--help"], "--bars --help\n"),
        ],
    )?;
    are_passed_on(
        "stratape-model",
        &[
            (&["model", "run", "x.rs", "--set", "n=3"], "run x.rs --set n=3\n"),
            (&["model", "run", "--help"], "run --help\n"),
            (&["model", "--", "--help"], "--help\n"),
        ],
    )
}

/// One test, since both write programs and run them: a child that one starts between its fork and its exec holds what the other has open for writing, and such
/// a program does not run ("text file busy").
#[test]
fn programs_are_found_or_asked_for() -> Outcome {
    without_the_program_it_says_how_to_install_it()?;
    arguments_and_the_exit_code_are_passed_on()
}
