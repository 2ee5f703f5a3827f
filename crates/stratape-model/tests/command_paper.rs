//! `stratape-model paper`: the figures of the paper, where they go, and what is kept of them.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output};

type Outcome = Result<(), Box<dyn Error>>;

/// The names in a folder, in order.
fn files(directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Runs the command in a folder, with results kept in another one.
fn paper(directory: &Path, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape-model"));
    command.env_remove("COLUMNS").env("XDG_CACHE_HOME", directory.join("caches"));
    Ok(command.current_dir(directory).args(["paper", "--quick"]).args(arguments).output()?)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Figure 17 needs one program only.
#[test]
fn a_figure_is_printed_drawn_written_and_kept() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = paper(directory.path(), &["--figure", "17"])?;
    let (printed, told) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && told.is_empty(), "{told}");
    for needed in ["Figure 17", "Published:", "Here:", "everything waits", "model-figures"] {
        assert!(printed.contains(needed), "{needed}: {printed}");
    }
    let folder = directory.path().join("model-figures");
    assert_eq!(files(&folder)?, ["figure17.csv", "figure17.svg"]);
    let drawn = std::fs::read_to_string(folder.join("figure17.svg"))?;
    assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
    assert!(drawn.len() < 60_000 && drawn.contains("pathfinder") && drawn.contains("128"));
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    let numbers = std::fs::read_to_string(folder.join("figure17.csv"))?;
    // Two rows of speed-ups and one of operations, at eight factors.
    assert_eq!(numbers.lines().count(), 1 + 3 * 8, "{numbers}");
    assert!(numbers.lines().all(|line| line.split(',').count() == 6), "{numbers}");

    // One run of the baseline and eight of each barrier are kept, and give the same again.
    let kept = directory.path().join("caches/stratape/model");
    let names = files(&kept)?;
    assert_eq!(names.len(), 17);
    let again = paper(directory.path(), &["--figure", "17", "--figure", "17"])?;
    assert_eq!(text(&again.stdout), printed);

    // Those that are damaged are noticed, told in one line, and made again.
    for name in &names[..2] {
        std::fs::write(kept.join(name), "stratape model 1\n1 2 3\n")?;
    }
    let damaged = paper(directory.path(), &["--figure", "17"])?;
    let told = text(&damaged.stderr);
    assert!(damaged.status.success() && told.contains("damaged"), "{told}");
    assert_eq!((told.lines().count(), text(&damaged.stdout)), (1, printed.clone()));
    let whole = paper(directory.path(), &["--figure", "17"])?;
    assert!(whole.stderr.is_empty());

    // One that can be neither read nor written is told in one line as well, and done without.
    std::fs::remove_file(kept.join(&names[0]))?;
    std::fs::create_dir(kept.join(&names[0]))?;
    let arguments = ["--figure", "17", "--out", "a/b", "--cache-dir", "caches/stratape/model"];
    let hindered = paper(directory.path(), &arguments)?;
    let told = text(&hindered.stderr);
    assert!(hindered.status.success() && told.contains("cannot be read"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(files(&directory.path().join("a/b"))?, ["figure17.csv", "figure17.svg"]);
    assert_eq!(files(&kept)?, names, "nothing half written is left");
    Ok(())
}

#[test]
fn what_cannot_be_is_told_before_the_work() -> Outcome {
    let directory = tempfile::tempdir()?;
    for (arguments, code, told) in [
        (&["--figure", "8"][..], 2, "there are 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18"),
        (&["--figure", "ten"], 2, "there is no such figure"),
        (&["--no-cache", "--cache-dir", "x"], 2, "cannot be used with"),
        (&["--report", "none/page.html"], 1, "none/page.html cannot be written"),
        (&["--csv", "."], 1, "cannot be written"),
        (&["--figure", "17", "--out", "/dev/null/x"], 1, "cannot be written"),
    ] {
        let output = paper(directory.path(), arguments)?;
        let said = text(&output.stderr);
        assert!(said.contains(told), "{arguments:?}: {said}");
        assert_eq!(output.status.code(), Some(code), "{said}");
    }
    Ok(())
}

/// The whole report takes minutes without optimisation.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn the_report_has_everything() -> Outcome {
    let directory = tempfile::tempdir()?;
    let output = paper(directory.path(), &["--report", "page.html", "--csv", "table.csv"])?;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(directory.path().join("page.html"))?;
    assert_eq!(page.matches("<svg").count(), 2 * 11, "each figure for wide and for narrow pages");
    assert_eq!(page.matches("<h2 id=\"figure").count(), 11);
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http:") && !outside.contains("https:"), "nothing from elsewhere");
    let table = std::fs::read_to_string(directory.path().join("table.csv"))?;
    assert_eq!(table.lines().count(), 1 + 2 * 9);
    Ok(())
}
