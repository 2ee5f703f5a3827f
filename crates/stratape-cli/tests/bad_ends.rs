//! Commands that are interrupted, that nobody listens to, or that have little room.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

type Outcome = Result<(), Box<dyn Error>>;

fn stratape() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape"));
    command
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn is_empty(directory: &Path) -> Result<bool, Box<dyn Error>> {
    Ok(std::fs::read_dir(directory)?.next().is_none())
}

#[test]
#[cfg(unix)]
fn ctrl_c_leaves_no_files() -> Outcome {
    for milliseconds in [200, 500, 1500] {
        let directory = tempfile::tempdir()?;
        let mut child = stratape().current_dir(directory.path()).arg("demo").spawn()?;
        std::thread::sleep(Duration::from_millis(milliseconds));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
        assert!(killed.success(), "done in {milliseconds} ms");
        assert_eq!(child.wait()?.code(), Some(130), "at {milliseconds} ms");
        assert!(is_empty(directory.path())?, "at {milliseconds} ms");
    }
    Ok(())
}

#[test]
fn a_reader_that_has_seen_enough_is_no_fault() -> Outcome {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pendulum.rs");
    let directory = tempfile::tempdir()?;
    let commands: [&[&str]; 4] = [
        &["explain", fixture],
        &["explain", fixture, "--emit", "dot"],
        &["completions", "bash"],
        &["demo", "--quick", "--json"],
    ];
    for arguments in commands {
        let mut child = stratape().current_dir(directory.path()).args(arguments).spawn()?;
        drop(child.stdout.take());
        let output = child.wait_with_output()?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
        assert!(!told.contains("panicked"), "{arguments:?}: {told}");
    }
    // Nor one that does not read the errors.
    let mut child = stratape().args(["explain", "missing.rs"]).spawn()?;
    drop(child.stderr.take());
    assert_eq!(child.wait()?.code(), Some(1));
    Ok(())
}

/// The output goes to a disk that is full.
#[test]
#[cfg(target_os = "linux")]
fn an_output_that_takes_nothing_is_told() -> Outcome {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/heat.rs");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full")?;
    let output = stratape().args(["explain", fixture]).stdout(full).spawn()?.wait_with_output()?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr)?.contains("the output cannot be written"));
    Ok(())
}

#[test]
fn forty_columns_are_enough() -> Outcome {
    let directory = tempfile::tempdir()?;
    let mut command = stratape();
    command.current_dir(directory.path()).env("COLUMNS", "40").args(["demo", "--quick"]);
    let output = command.output()?;
    assert_eq!(output.status.code(), Some(0));
    for line in String::from_utf8(output.stdout)?.lines() {
        assert!(line.chars().count() <= 40, "{line}");
    }
    Ok(())
}

#[test]
fn explanations_have_any_width() -> Outcome {
    for fixture in ["heat", "misfit", "pendulum", "rejected", "triangle"] {
        let path = format!("{}/tests/fixtures/{fixture}.rs", env!("CARGO_MANIFEST_DIR"));
        for columns in [1, 20, 33, 40, 57, 80, 300] {
            let mut command = stratape();
            command.env("COLUMNS", columns.to_string()).args(["explain", &path]);
            let output = command.output()?;
            let told = String::from_utf8(output.stderr)?;
            let expected = if fixture == "rejected" { 1 } else { 0 };
            assert_eq!(output.status.code(), Some(expected), "{columns}: {told}");
        }
    }
    Ok(())
}

#[test]
fn files_that_are_empty_or_none() -> Outcome {
    let directory = tempfile::tempdir()?;
    let empty = directory.path().join("empty");
    std::fs::write(&empty, "")?;
    let empty = empty.to_string_lossy().into_owned();
    let folder = directory.path().to_string_lossy().into_owned();
    let cases: [(&[&str], &str); 5] = [
        (&["explain", &empty], "no function under `#[gradient]`"),
        (&["explain", &folder], "is a directory"),
        (&["tape", "info", &empty], "empty"),
        (&["tape", "info", &folder], "is a directory"),
        (&["demo", "--quick", "--out", &folder], "--out"),
    ];
    for (arguments, why) in cases {
        let output = stratape().args(arguments).output()?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(why), "{arguments:?}: {told}");
    }
    Ok(())
}

/// A directory in which nothing may be written. Root may write everywhere: it has nothing to see here.
#[test]
#[cfg(unix)]
fn a_directory_without_rights_is_told_with_the_way_out() -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir()?;
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o555))?;
    if std::fs::File::create(directory.path().join("trial")).is_ok() {
        return Ok(());
    }
    let cases: [(&[&str], &str); 2] =
        [(&["demo", "--quick"], "--out"), (&["demo", "--quick", "--out", "/dev/null"], "--dir")];
    for (arguments, way_out) in cases {
        let output = stratape().current_dir(directory.path()).args(arguments).output()?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains(way_out) && !told.contains("panicked"), "{arguments:?}: {told}");
    }
    Ok(())
}

/// A command that is given nothing to do says what it can do, and writes nothing.
#[test]
fn a_bare_command_prints_help() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = stratape().current_dir(directory.path()).output()?;
    let text = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("Usage: stratape <COMMAND>") && text.contains("demo"), "{text}");
    assert!(is_empty(directory.path())?);
    Ok(())
}
