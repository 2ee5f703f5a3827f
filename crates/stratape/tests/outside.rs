//! A crate of a user's own: it depends on `stratape` alone, and forbids `unsafe`.
//!
//! rustc compiles it with the library that this test is linked with; `ci/outside` has Cargo build all of it, in the default profile.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

#[path = "common/rustc.rs"]
mod rustc;

use rustc::{library, rustc};

const MAIN: &str = r#"
#![forbid(unsafe_code)]
#![deny(warnings)]

mod many;

use stratape::{Workspace, differentiable};

/// A chain of masses on springs, with a wall at one end.
#[differentiable]
mod chain {
    use stratape::gradient;

    const GRAVITY: f64 = 9.81;

    #[derive(Clone, Debug)]
    pub struct Chain {
        pub at: Vec<f64>,
        pub speed: Vec<f64>,
        pub spring: Spring,
    }

    #[derive(Clone, Copy, Debug)]
    pub struct Spring {
        pub stiffness: f64,
        pub rest: f64,
        pub kind: Kind,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Kind {
        Linear,
        Hardening,
    }

    impl Spring {
        fn force(&self, stretch: f64) -> f64 {
            match self.kind {
                Kind::Linear => self.stiffness * stretch,
                Kind::Hardening => self.stiffness * (stretch + stretch.powi(3)),
            }
        }
    }

    fn accelerate(chain: &mut Chain, dt: f64) {
        for i in 0..chain.at.len() {
            let before = if i == 0 { 0.0 } else { chain.at[i - 1] };
            let stretch = chain.at[i] - before - chain.spring.rest;
            let force = chain.spring.force(stretch);
            chain.speed[i] += dt * (GRAVITY - force);
            if i > 0 {
                chain.speed[i - 1] += dt * force;
            }
        }
    }

    fn energy(chain: &Chain) -> f64 {
        let moving: f64 = chain.speed.iter().map(|v| 0.5 * v * v).sum();
        moving - GRAVITY * chain.at.iter().sum::<f64>()
    }

    #[gradient]
    pub fn simulate(chain: &mut Chain, dt: f64, steps: usize) -> f64 {
        assert!(dt > 0.0, "time runs forward, not by {dt}");
        for _ in 0..steps {
            accelerate(chain, dt);
            for (at, speed) in chain.at.iter_mut().zip(&chain.speed) {
                *at += dt * speed;
            }
        }
        energy(chain)
    }
}

use chain::{Chain, Kind, Spring, simulate, simulate_grad, simulate_grad_in};

fn main() -> Result<(), stratape::tape::TapeError> {
    for kind in [Kind::Linear, Kind::Hardening] {
        let spring = Spring { stiffness: 40.0, rest: 0.5, kind };
        let start = Chain { at: vec![0.6, 1.1, 1.7], speed: vec![0.0; 3], spring };
        let zero = Chain {
            at: vec![0.0; 3],
            speed: vec![0.0; 3],
            spring: Spring { stiffness: 0.0, rest: 0.0, ..spring },
        };
        let (mut end, mut shadow) = (start.clone(), zero.clone());
        let (value, ddt) = simulate_grad(&mut end, &mut shadow, 0.01, 60, 1.0);

        let run = |change: &dyn Fn(&mut Chain), dt: f64| {
            let mut chain = start.clone();
            change(&mut chain);
            simulate(&mut chain, dt, 60)
        };
        assert_eq!(value, run(&|_| {}, 0.01));
        let slope = |change: &dyn Fn(&mut Chain, f64)| {
            let h = 1e-6;
            (run(&|c| change(c, h), 0.01) - run(&|c| change(c, -h), 0.01)) / (2.0 * h)
        };
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
        close(shadow.spring.stiffness, slope(&|c, h| c.spring.stiffness += h));
        close(shadow.spring.rest, slope(&|c, h| c.spring.rest += h));
        for i in 0..3 {
            close(shadow.at[i], slope(&|c, h| c.at[i] += h));
            close(shadow.speed[i], slope(&|c, h| c.speed[i] += h));
        }
        let h = 1e-8;
        close(ddt, (run(&|_| {}, 0.01 + h) - run(&|_| {}, 0.01 - h)) / (2.0 * h));

        let mut workspace = Workspace::new();
        let (mut end, mut again) = (start.clone(), zero);
        simulate_grad_in(&mut workspace, &mut end, &mut again, 0.01, 60, 1.0)?;
        assert_eq!(again.at, shadow.at);
    }
    let (value, slope) = wide_grad(0.5, 1.0);
    assert_eq!(value, wide(0.5));
    assert_eq!(slope, 44850.0);
    let (value, slope) = long_grad(0.5, 1.0);
    assert_eq!(value, long(0.5));
    assert!((slope - 1.001_f64.powi(299)).abs() < 1e-12);
    println!("gradients agree");
    Ok(())
}

/// Calls three hundred functions of another file.
#[stratape::gradient]
fn wide(x: f64) -> f64 {
    WIDE
}

/// Calls a function that calls a function …
#[stratape::gradient]
fn long(x: f64) -> f64 {
    many::chain_299(x)
}
"#;

/// Three hundred functions that are called by one, and three hundred that call each other in a row; in the crate's second file.
fn many() -> (String, String) {
    let mut file = "use stratape::differentiable;\n".to_owned();
    let mut calls = Vec::new();
    for i in 0..300 {
        calls.push(format!("many::wide_{i}(x)"));
        let called = match i {
            0 => "x".to_owned(),
            _ => format!("1.001 * chain_{}(x)", i - 1),
        };
        write!(
            file,
            "#[differentiable]\npub fn wide_{i}(x: f64) -> f64 {{ x * {i}.0 }}\n\
             #[differentiable]\npub fn chain_{i}(x: f64) -> f64 {{ {called} }}\n"
        )
        .unwrap();
    }
    (file, calls.join(" + "))
}

#[test]
fn a_crate_outside_the_workspace_builds_and_agrees_with_differences() {
    let folder = tempfile::tempdir().unwrap();
    let (file, calls) = many();
    let source = folder.path().join("main.rs");
    fs::write(&source, MAIN.replace("WIDE", &calls)).unwrap();
    fs::write(folder.path().join("many.rs"), file).unwrap();
    let program = folder.path().join("outside");
    let built = rustc([&library!(stratape, stratape::Workspace)])
        .args(["--crate-type", "bin"])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .current_dir(folder.path())
        .env("CARGO_MANIFEST_DIR", folder.path())
        .env("CARGO_PKG_NAME", "outside")
        .env("CARGO_PKG_VERSION", "0.0.0")
        .env("CARGO_CRATE_NAME", "outside")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&built.stderr);
    assert!(built.status.success(), "{said}");
    assert!(!said.contains("warning"), "the emitted code has warnings:\n{said}");
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).trim(), "gradients agree");
}
