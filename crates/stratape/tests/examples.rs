//! Every example runs, and says what it should.
//!
//! `cargo test` builds the examples, unless it is given `--test` or the name of a test: then `cargo build -p stratape --examples` comes
//! first. They lie beside this test's own executable. Where an example takes sizes, it gets small ones
//! here, so that all of them take seconds in a debug build.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A test for each example: its arguments, and what its output must hold. After `if`, the feature it needs.
macro_rules! examples {
    ($($name:ident $([if $feature:literal])? ($($argument:literal),*) says $line:literal;)*) => {
        $(
            #[test]
            $(#[cfg_attr(not(feature = $feature), ignore = concat!("needs the feature ", $feature))])?
            fn $name() {
                runs(stringify!($name), &[$($argument),*], $line);
            }
        )*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    argmin [if "argmin"] () says "a cycloid takes";
    black_scholes [if "gpu"] ("500") says "largest difference from the closed form";
    burgers("burgers.svg", "128", "512", "course.svg") says "times less, in 60 iterations";
    checkpoint("20000") says "the values have the same bits";
    cnn_layer [if "gpu"] ("8") says "largest difference from central differences";
    continued_tape() says "200000 steps backward";
    cross_sections [if "gpu"] ("100") says "largest difference from sums on the host";
    device_time_loop [if "gpu"] () says "largest error against differences";
    lanes("10000") says "the same bits in four runs";
    layers("layers.svg", "400000") says "drawn in layers.svg";
    lbm [if "gpu"] ("12", "9", "3") says "largest difference from central differences";
    least_squares() says "all parameters within";
    linear_solver() says "central differences agree to";
    nalgebra [if "nalgebra"] () says "gradient and algebra agree";
    ndarray [if "ndarray"] () says "its transpose: an array of shape [32, 32] with strides [1, 32] is no slice";
    n_body [if "gpu"] ("40") says "largest difference from sums of forces";
    neural_net() says "points it has not seen";
    orbit_fit() says "mass of the planet 0.05";
    parallel("300") says "the gradients agree to";
    softmax [if "gpu"] ("3", "150") says "largest difference from the closed form";
    spill(".", "16", "4") says "spilled and in RAM: the same bits";
    stencil [if "gpu"] ("7") says "largest difference from differences and the closed form";
    tape_by_hand(".", "16", "4") says "states verified";
    tour("24", "100") says "the heaters are found";
    tensor_contraction [if "gpu"] ("4") says "largest difference from sums on the host";
}

/// Runs an example in a directory of its own, which it must leave as it was, but for what it was told to write.
fn runs(name: &str, arguments: &[&str], line: &str) {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(binary(name))
        .args(arguments)
        .current_dir(&directory)
        .env("TMPDIR", directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{text}{errors}", output.status);
    assert!(text.contains(line), "{name} does not say {line:?}, but\n{text}{errors}");
    for entry in std::fs::read_dir(&directory).unwrap() {
        let left = entry.unwrap().file_name();
        let left = left.to_string_lossy();
        assert!(arguments.contains(&&*left), "{name} left {left} behind");
    }
}

/// `target/PROFILE/examples/NAME`, from `target/PROFILE/deps/THIS-TEST`.
fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let path = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "{} is not built: run `cargo build -p stratape --examples`, with the features and the profile of this test",
        path.display()
    );
    path
}

#[test]
fn no_example_is_without_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(readme.contains(&format!("--example {name} ")), "{name} is not in README.md");
            found.insert(name);
        }
    }
    let tested: BTreeSet<String> = TESTED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, tested, "examples in the folder, and those with a test");
}
