//! `stratape bench`: measured, saved, compared.

mod common;

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output};

use common::files;
use stratape_bench::Measurement;

type Outcome = Result<(), Box<dyn Error>>;

fn bench(directory: &Path, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape"));
    command.env_remove("COLUMNS");
    Ok(command.current_dir(directory).arg("bench").args(arguments).output()?)
}

#[test]
fn what_is_saved_can_be_compared_with() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output =
        bench(directory.path(), &["programs", "--quick", "--only", "sum", "--save", "old.json"])?;
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let text = String::from_utf8(output.stdout)?;
    assert!(text.contains("sum/ours / shaped") && text.contains('#'), "{text}");
    assert!(!text.contains('\u{1b}') && text.is_ascii(), "plain without a terminal: {text}");
    assert_eq!(files(directory.path())?, ["old.json"]);
    let path = directory.path().join("old.json");
    let saved = std::fs::read_to_string(&path)?;
    let found = Measurement::read(&saved)?;
    assert!(found.iter().any(|one| one.case == "sum/ours" && one.against == "primal"));
    assert!(found.iter().all(|one| one.bench == "programs" && one.case.contains("sum")));

    // Without one case and with one of its own: both are named.
    let changed = saved.lines().filter(|line| !line.contains("\"logsum/shaped\""));
    let gone = found[0].line().replace(&found[0].case, "sum_of_old");
    let changed: Vec<&str> = changed.chain([gone.as_str()]).collect();
    std::fs::write(&path, changed.join("\n"))?;
    let output = bench(directory.path(), &["--quick", "--only", "sum", "--compare", "old.json"])?;
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("only now: logsum/shaped / primal"), "{text}");
    assert!(text.contains("only in old.json: sum_of_old / "), "{text}");
    assert!(text.contains("cases in both: from x"), "{text}");
    Ok(())
}

#[test]
fn json_is_a_line_for_each_measurement() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = bench(directory.path(), &["--quick", "--only", "gravity", "--json"])?;
    assert_eq!(output.status.code(), Some(0));
    let found = Measurement::read(&String::from_utf8(output.stdout)?)?;
    assert!(found.iter().all(|one| one.case.starts_with("gravity/")));
    Ok(())
}

#[test]
fn wrong_input_says_what_to_do() -> Outcome {
    let directory = tempfile::tempdir()?;
    let good = r#"{"bench":"programs","case":"sum/ours","ours":1,"ref":"shaped","ref_value":1,"ratio":1,"unit":"us"}"#;
    std::fs::write(directory.path().join("damaged.json"), format!("{good}\n{}", &good[..40]))?;
    std::fs::write(directory.path().join("foreign.rs"), "fn main() {}\n")?;
    let cases: [(&[&str], i32, &str); 9] = [
        (&["nothing"], 2, "programs"),
        (&["--quick", "--full"], 2, "--full"),
        (&["--json", "--compare", "damaged.json"], 2, "--json"),
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
    let arguments = ["--quick", "--only", "gravity/ours", "--save", "/dev/full"];
    let output = bench(directory.path(), &arguments)?;
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("cannot be written to /dev/full: No space left"), "{told}");
    Ok(())
}
