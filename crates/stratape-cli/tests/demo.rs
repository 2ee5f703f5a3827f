//! `stratape demo` on the small plate.

mod common;

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output};

use common::files;

type Outcome = Result<(), Box<dyn Error>>;

fn demo(directory: &Path, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape"));
    command.env_remove("COLUMNS");
    Ok(command.current_dir(directory).args(["demo", "--quick"]).args(arguments).output()?)
}

#[test]
fn the_three_ways_agree_and_only_the_report_is_left() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = demo(directory.path(), &["--json", "--out", "seen.html"])?;
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.is_empty(), "no progress bar without a terminal: {told}");
    let object: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(object["runs"].as_array().map(Vec::len), Some(3));
    assert!(object["runs"][1]["spilled_bytes"].as_u64() > Some(0));
    assert!(object["runs"][2]["recomputed_steps"].as_u64() > Some(100));
    let misfit = object["misfit"].as_array().ok_or("misfit")?;
    let first = misfit[0].as_f64().ok_or("a number")?;
    let least = misfit.iter().filter_map(serde_json::Value::as_f64).fold(first, f64::min);
    assert!(least < 0.5 * first);
    assert_eq!(files(directory.path())?, ["seen.html"]);
    let page = std::fs::read_to_string(directory.path().join("seen.html"))?;
    assert_eq!(page.matches("<svg").count(), 6, "each chart for wide and for narrow pages");
    assert_eq!(page.matches("data:image/bmp;base64").count(), 3);
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    for needed in [
        "<title>",
        "name=\"viewport\"",
        "held, MiB",
        "memory budget",
        "class=\"turn\"",
        "500 steps reversed by Revolve, 12 slots in memory",
        "iteration",
        "less memory",
        "the same bits",
        "`old` is saved at the end of its block",
        "prefers-color-scheme:dark",
        concat!("Stratape ", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(page.contains(needed), "{needed}");
    }
    // On a busy machine one pass can be too short for its name, not both.
    assert!(page.contains("← forward pass") || page.contains("backward pass →"));
    assert!(!page.contains("0.0e0"), "equal is told in words");
    let number = |name: &str| object[name].as_f64().ok_or(name.to_owned());
    assert!(number("error_of_recovered")? < number("error_of_guess")?);
    let runs = &object["runs"];
    assert!(runs[0]["tape_bytes"].as_u64() > Some(4 << 20), "long enough to be seen in its layers");
    assert!(runs[2]["snapshot_bytes"].as_u64() >= Some(12 * 48 * 48 * 8));
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http:") && !outside.contains("https:"), "nothing from elsewhere");
    Ok(())
}

#[test]
fn the_table_names_the_ways() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = demo(directory.path(), &["--memory", "1M"])?;
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout)?;
    for name in
        ["all in RAM", "spilled to disk", "checkpointed", "the same bits", "in 12 snapshots"]
    {
        assert!(text.contains(name), "{text}");
    }
    // What is written to disk is no more than was announced.
    let mib = |text: Option<&str>| -> Result<f64, Box<dyn Error>> {
        Ok(text.and_then(|text| text.split(" MiB").next()).ok_or("no MiB")?.trim().parse()?)
    };
    let announced = mib(text.split("up to ").nth(1))?;
    let row = text.lines().find(|line| line.starts_with("spilled to disk  ")).ok_or("no row")?;
    let written = mib(row.split(" MiB").nth(2))?;
    assert!((5.0..=announced).contains(&written) && announced < 1.2 * written, "{text}");
    Ok(())
}

#[test]
fn a_budget_larger_than_the_tape_spills_nothing_and_says_so() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = demo(directory.path(), &["--memory", "64M", "--json"])?;
    assert_eq!(output.status.code(), Some(0));
    let page = std::fs::read_to_string(directory.path().join("report.html"))?;
    assert!(page.contains("The tape fits into the memory budget of 64.0 MiB."));
    assert!(!page.contains("Spilled to disk:") && !page.contains("its deepest slabs"));
    Ok(())
}

#[test]
fn wrong_places_are_told_with_the_way_out() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = demo(directory.path(), &["--dir", "missing"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr)?.contains("--dir"));
    let output = demo(directory.path(), &["--out", "missing/report.html"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr)?.contains("--out"));
    for memory in ["much", "0", "100", "1023K"] {
        let output = demo(directory.path(), &["--memory", memory])?;
        assert_eq!(output.status.code(), Some(2), "{memory}");
    }
    assert!(files(directory.path())?.is_empty());
    Ok(())
}
