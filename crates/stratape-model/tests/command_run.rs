//! `stratape-model`: programs on the modelled accelerator, and what is said of those that cannot run.

use std::error::Error;
use std::process::Command;

type Outcome = Result<(), Box<dyn Error>>;

const TWO: &str =
    "#[gradient] fn product(x: &[f64]) -> f64 { let mut p = 1.0; for v in x { p *= v; } p }
#[gradient] fn at(x: &[f64], n: usize) -> f64 { x[n] * x[0] }";

const LONG: &str = "#[gradient] fn long(x: f64, n: usize) -> f64 { let mut p = x; for _ in 0..n { p = p * 0.5 + x; } p }";

/// What a command prints, and what it complains of.
fn model(arguments: &[&str]) -> Result<(String, String), Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape-model"));
    let output = command.args(arguments).output()?;
    let (printed, said) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    Ok((printed, said))
}

#[test]
fn a_program_of_the_paper() -> Outcome {
    let (printed, _) = model(&["run", "mttkrp", "--quick", "--saved", "all"])?;
    assert!(printed.contains("tape") && printed.contains("reverse"), "{printed}");
    let (printed, _) =
        model(&["run", "mttkrp", "--quick", "--csv", "--spad", "0", "--layout", "soa"])?;
    let lines: Vec<&str> = printed.lines().collect();
    let [names, figures] = lines[..] else { return Err(printed.into()) };
    assert_eq!(names.split(',').count(), figures.split(',').count());
    Ok(())
}

#[test]
fn a_function_of_a_file() -> Outcome {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("two.rs");
    std::fs::write(&path, TWO)?;
    let file = path.to_str().ok_or("a path that is no text")?;
    let written = |name: &str, text: &str| -> Result<String, Box<dyn Error>> {
        let path = directory.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.to_str().ok_or("a path that is no text")?.to_owned())
    };
    let long = &*written("long.rs", LONG)?;
    let outside = &*written("outside.rs", "#[gradient] fn f(x: f64) -> f64 { unsafe { x } }")?;
    let broken = &*written("broken.rs", "fn f( {")?;
    let (printed, _) = model(&["run", file, "product", "--set", "x=1000"])?;
    assert!(printed.contains("tape"), "{printed}");
    for (arguments, told) in [
        (&["run", file][..], "name one of the functions: product, at"),
        (&["run", file, "sum"], "there are product, at"),
        (&["run", file, "product", "--set", "y=3"], "there is no parameter `y`: there are x"),
        (&["run", file, "product", "--set", "x"], "as in `--set x=1000`"),
        (
            &["run", file, "at", "--set", "x=4"],
            "index out of bounds: the len is 4 but the index is 64",
        ),
        (&["run", "no_such.rs"], "no_such.rs cannot be read"),
        (&["run", "gravty"], "neither a file nor one of the paper's programs"),
        (&["run", "gravity", "--set", "x=3"], "`--set` is for files"),
        (&["run", "gravity", "--cache", "3k"], "ways × line × a power of two"),
        (&["run", "gravity", "--spad", "100"], "banks × 8 × a whole number"),
        (&["run", "gravity", "--cache", "much"], "is not a size"),
        (&["run", "gravity", "--cache", "24k"], "ways × line × a power of two"),
        (&["run", "gravity", "--cache", "1M"], "131072 (128k) or less"),
        (&["run", "gravity", "--spad", "32"], "with 8 banks, 64 is one"),
        (&["run", file, "product", "--set", "x=1e12"], "4194304 are the most"),
        (&["run", file, "product", "--set", "x=-3"], "is no number of elements"),
        (&["run", file, "product", "--set", "x=2.5"], "is no number of elements"),
        (&["run", file, "product", "--set", "x=inf"], "write a number"),
        (&["run", long, "--set", "n=1e12", "--steps", "1"], "more than 1 million steps"),
        (&["run", long, "--set", "n=1e12", "--steps", "1"], "allow more with `--steps`"),
        (&["run", long, "--set", "n=-1"], "`n` is a `usize`: -1 is none"),
        (&["run", long, "--set", "n=1.5"], "`n` is a `usize`: 1.5 is none"),
        (&["run", long, "--set", "n=18446744073709551615"], "more than the model can run"),
        (&["run", long, "--set", "n=1", "--set", "n=2"], "`n` is set twice"),
        (&["run", long, "--quick"], "`--quick` is for the paper's programs"),
        (&["run", "gravity", "energy"], "for a file write its path"),
        (&["run", outside], "unsafe"),
        (&["run", broken], "this is not Rust"),
    ] {
        let (_, said) = model(arguments)?;
        assert!(said.contains(told), "{arguments:?}: {said}");
    }
    Ok(())
}
