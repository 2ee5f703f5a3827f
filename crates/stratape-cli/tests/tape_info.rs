//! `stratape tape info` on whole and damaged files.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output};

use stratape::tape::{LayeredTape, TapeOptions};

type Outcome = Result<(), Box<dyn Error>>;

fn info(path: &Path, more: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape"));
    Ok(command.args(["tape", "info"]).arg(path).args(more).output()?)
}

fn saved(path: &Path) -> Outcome {
    let options = TapeOptions::new().memory(1 << 20).slab_bytes(4096);
    let mut tape: LayeredTape<f64> = options.open()?;
    for i in 0..1000 {
        tape.push(f64::from(i))?;
    }
    Ok(tape.save(path)?)
}

#[test]
fn a_whole_tape() -> Outcome {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("a.tape");
    saved(&path)?;
    let output = info(&path, &[])?;
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout)?.contains("1000 elements of type `f64`"));
    let output = info(&path, &["--json"])?;
    let object: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(object["slabs"], 2);
    assert_eq!(object["bytes"], 8000);
    Ok(())
}

#[test]
fn damaged_and_other_files_are_refused() -> Outcome {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("a.tape");
    saved(&path)?;
    let whole = std::fs::read(&path)?;
    let mut damaged = whole.clone();
    damaged[4096 + 4096 + 17] ^= 1;
    let cases: [(&[u8], &str); 3] = [
        (&damaged, "slab 1 of 2 is damaged"),
        (&whole[..whole.len() - 1], "cut short"),
        (b"no tape", "not a saved tape"),
    ];
    for (bytes, why) in cases {
        std::fs::write(&path, bytes)?;
        let output = info(&path, &[])?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(1));
        assert!(told.contains(why), "{told}");
    }
    let output = info(&directory.path().join("none"), &[])?;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(info(directory.path(), &[])?.status.code(), Some(1));
    Ok(())
}
