//! The command `stratape-bench`: measured, drawn, saved, compared; interrupted, with no reader, with no room.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use stratape_bench::Measurement;

type Outcome = Result<(), Box<dyn Error>>;

fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape-bench"));
    command.env_remove("COLUMNS").current_dir(directory).stdin(Stdio::null());
    command
}

fn bench(directory: &Path, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    Ok(command(directory).args(arguments).output()?)
}

/// The names in a directory.
fn files(directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

#[test]
fn what_is_saved_can_be_compared_with() -> Outcome {
    let directory = tempfile::tempdir()?;
    let arguments = ["programs", "--quick", "--only", "sum", "--bars", "--save", "old.json"];
    let output = bench(directory.path(), &arguments)?;
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let text = String::from_utf8(output.stdout)?;
    assert!(text.contains("sum/gradient / adjoint by hand") && text.contains('#'), "{text}");
    assert!(!text.contains('\u{1b}') && text.is_ascii(), "plain without a terminal: {text}");
    assert_eq!(files(directory.path())?, ["old.json"]);
    let path = directory.path().join("old.json");
    let saved = std::fs::read_to_string(&path)?;
    let found = Measurement::read(&saved)?;
    assert!(found.iter().any(|one| one.case == "sum/gradient" && one.against == "function"));
    assert!(found.iter().all(|one| one.bench == "programs" && one.case.contains("sum")));

    // Without one case and with one of its own: both are named.
    let changed = saved.lines().filter(|line| !line.contains("\"logsum/by_hand\""));
    let gone = found[0].line().replace(&found[0].case, "sum_of_old");
    let changed: Vec<&str> = changed.chain([gone.as_str()]).collect();
    std::fs::write(&path, changed.join("\n"))?;
    let output = bench(directory.path(), &["--quick", "--only", "sum", "--compare", "old.json"])?;
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("only now: logsum/by_hand / function"), "{text}");
    assert!(text.contains("only in old.json: sum_of_old / "), "{text}");
    assert!(text.contains("cases in both: from x"), "{text}");
    Ok(())
}

#[test]
fn json_is_a_line_for_each_measurement() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = bench(directory.path(), &["--quick", "--only", "gravity"])?;
    assert_eq!(output.status.code(), Some(0));
    let found = Measurement::read(&String::from_utf8(output.stdout)?)?;
    assert!(found.iter().all(|one| one.case.starts_with("gravity/")));
    Ok(())
}

#[test]
fn wrong_input_says_what_to_do() -> Outcome {
    let directory = tempfile::tempdir()?;
    let good = r#"{"bench":"programs","case":"sum/gradient","ours":1,"ref":"adjoint by hand","ref_value":1,"ratio":1,"unit":"us"}"#;
    std::fs::write(directory.path().join("damaged.json"), format!("{good}\n{}", &good[..40]))?;
    std::fs::write(directory.path().join("foreign.rs"), "fn main() {}\n")?;
    let cases: [(&[&str], i32, &str); 8] = [
        (&["nothing"], 2, "programs"),
        (&["--quick", "--full"], 2, "--full"),
        (&["--only", "no such case"], 1, "no case of programs contains `no such case`"),
        (&["--compare", "damaged.json"], 1, "line 2 is no measurement"),
        (&["--compare", "foreign.rs"], 1, "line 1 is no measurement"),
        (&["--compare", "missing.json"], 1, "cannot be read"),
        (&["--save", "missing/new.json"], 1, "choose another file with --save"),
        (&["tape", "--quick", "--only", "spill_growth", "--spill-to", "missing"], 1, "--spill-to"),
    ];
    for (arguments, code, text) in cases {
        let output = bench(directory.path(), arguments)?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        assert!(told.contains(text) && !told.contains("panicked"), "{arguments:?}: {told}");
    }
    assert_eq!(files(directory.path())?.len(), 2);
    Ok(())
}

/// A disk that is full when the work is done.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() -> Outcome {
    let directory = tempfile::tempdir()?;
    let arguments = ["--quick", "--only", "gravity/gradient", "--save", "/dev/full"];
    let output = bench(directory.path(), &arguments)?;
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("cannot be written to /dev/full: No space left"), "{told}");
    Ok(())
}

#[test]
#[cfg(unix)]
fn ctrl_c_leaves_no_files() -> Outcome {
    for milliseconds in [200, 500, 1500] {
        let directory = tempfile::tempdir()?;
        let arguments = ["tape", "--only", "spill", "--save", "new.json"];
        let mut child = command(directory.path())
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        std::thread::sleep(Duration::from_millis(milliseconds));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
        assert!(killed.success(), "done in {milliseconds} ms");
        assert_eq!(child.wait()?.code(), Some(130), "at {milliseconds} ms");
        assert!(files(directory.path())?.is_empty(), "at {milliseconds} ms");
    }
    Ok(())
}

#[test]
fn a_reader_that_has_seen_enough_is_no_fault() -> Outcome {
    let directory = tempfile::tempdir()?;
    let mut child = command(directory.path())
        .args(["--quick", "--only", "gravity"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    drop(child.stdout.take());
    let output = child.wait_with_output()?;
    let told = String::from_utf8(output.stderr)?;
    assert!(output.status.success() && !told.contains("panicked"), "{told}");
    Ok(())
}

#[test]
fn forty_columns_are_enough() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = command(directory.path())
        .env("COLUMNS", "40")
        .args(["--quick", "--only", "gravity", "--bars"])
        .output()?;
    assert!(output.status.success());
    for line in String::from_utf8(output.stdout)?.lines() {
        assert!(line.chars().count() <= 40, "{line}");
    }
    Ok(())
}
