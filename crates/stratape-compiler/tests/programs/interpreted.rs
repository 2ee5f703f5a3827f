//! Gradients of random programs against their forward derivatives.
//!
//! Each seed is one program. What the gradient computes must have the bits of what the program
//! computes, and its adjoints must agree with the forward derivative. A failure is shrunk before it
//! is shown.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::random::judge::{Failure, Stage, agrees, compile, judge, lowered};
use crate::random::shrink::shrink;
use crate::random::{Config, Input, Program, generate};
use stratape_compiler::driver::{self, Options};
use stratape_compiler::source::Sources;

/// Judges the programs of some seeds.
fn compare(config: &Config, seeds: Range<u64>) {
    let failures = failures(config, seeds);
    assert!(failures.is_empty(), "{failures}");
}

/// The failures among the programs of some seeds, made smaller; empty if there is none.
fn failures(config: &Config, seeds: Range<u64>) -> String {
    let mut failures = 0;
    let mut shown = String::new();
    let mut shown_kinds = HashSet::new();
    for seed in seeds.clone() {
        let program = generate(seed, config);
        if let Err(failure) = judge(&program.source, &program.inputs, seed) {
            failures += 1;
            // One of each kind says more than many of one.
            let detail = if failure.stage == Stage::Front { &failure.message } else { "" };
            let kind = format!("{:?} {detail}", failure.stage);
            if shown_kinds.insert(kind) {
                shown += &show(seed, &program, &failure);
            }
        }
    }
    if failures > 0 {
        shown = format!("{failures} of {} programs fail\n{shown}", seeds.end - seeds.start);
    }
    shown
}

fn show(seed: u64, program: &Program, failure: &Failure) -> String {
    let same = |source: &str| match judge(source, &program.inputs, seed) {
        Ok(_) => false,
        Err(other) => {
            other.stage == failure.stage
                && (failure.stage != Stage::Front || other.message == failure.message)
        }
    };
    let source = shrink(&program.source, &same);
    let failure = judge(&source, &program.inputs, seed).err().unwrap_or_else(|| failure.clone());
    format!("\nseed {seed}, {failure}\ninputs {:?}\n{source}", program.inputs)
}

#[test]
fn straight_lines() {
    compare(&Config::straight(), 0..100);
}

#[test]
fn loops_branches_and_arrays() {
    compare(&Config::core(), 0..100);
}

#[test]
fn every_control_flow() {
    compare(&Config::control(), 0..60);
}

#[test]
fn closures_and_iterators() {
    compare(&Config::full(), 0..60);
}

#[test]
fn single_precision() {
    compare(&Config::full().single(), 0..50);
    compare(&Config::everyday().single(), 0..50);
}

#[test]
fn loops_as_people_write_them() {
    compare(&Config::loops(), 0..100);
}

#[test]
fn everyday_programs() {
    compare(&Config::everyday(), 0..60);
}

/// What random programs have found, as small as it gets.
#[test]
fn programs_that_once_failed() {
    let x = || Input::Shared(vec![0.3, -1.2, 0.8, 1.7]);
    let y = || Input::Exclusive(vec![0.4, 1.1, -0.6, 0.9]);
    let programs = [
        // The adjoint of a loop's first value was added to another before the loop was written.
        (
            "fn f(b: f64) -> f64 { let mut v = b; for _ in 0..4 { v *= 0.5; } v + b }",
            vec![Input::Float(0.7)],
        ),
        // Both sides of a branch hand the same adjoint to a value outside: it was lost.
        (
            "fn f(b: f64, n: usize) -> f64 { if n == 1 { b } else { 0.5 + b } }",
            vec![Input::Float(0.7), Input::Int(3)],
        ),
        (
            "fn f(x: &[f64], n: usize) -> f64 { let mut v = x[3]; if n == 4 { v -= 0.5; } v }",
            vec![x(), Input::Int(4)],
        ),
        // What ran early, before a branch with a fused loop, read a list that was made after it.
        (
            "fn f(x: &[f64], b: f64, n: usize) -> f64 {
                let c: f64 = match n % 3 { 0 => 0.5, 1 => (0..3).map(|_| 0.5).sum::<f64>(), _ => b };
                let w = vec![-0.7_f64; 4];
                (match n % 3 { 0 => x[1] * w[n], _ => 0.5 }) + c
            }",
            vec![x(), Input::Float(0.7), Input::Int(3)],
        ),
        // The numbers of a literal range that is stepped or mapped are of the type of their use.
        (
            "fn f(x: &[f64]) -> f64 { let mut s = 0.0; for i in (0..3).step_by(2) { s += x[i]; } s }",
            vec![x()],
        ),
        ("fn f(x: &[f64]) -> f64 { (0..3).map(|i| x[i] * x[i]).sum::<f64>() }", vec![x()]),
        // An index that is neither a counter nor constant: equal names are not equal numbers in
        // another iteration, so what was read is overwritten.
        (
            "fn f(y: &mut [f64], n: usize) {
                for _ in 0..n {
                    let mut m: usize = 0;
                    while m < 2 { m += 1; y[m + 1] += y[m].sin(); }
                }
            }",
            vec![Input::Exclusive(vec![0.3, -1.2, 0.8, 1.7]), Input::Int(4)],
        ),
        (
            "fn f(y: &mut [f64], k: &[usize], n: usize) {
                for _ in 0..n {
                    for i in 0..3 { let j = k[i]; y[j + 1] += y[j].sin(); }
                }
            }",
            vec![
                Input::Exclusive(vec![0.3, -1.2, 0.8, 1.7]),
                Input::Indices(vec![1, 2, 0]),
                Input::Int(4),
            ],
        ),
        (
            "fn f(y: &mut [f64], n: usize) {
                let (mut m, mut c): (usize, usize) = (0, 0);
                while c < n { y[m + 1] += y[m].sin(); m = (m + 1) % 3; c += 1; }
            }",
            vec![Input::Exclusive(vec![0.3, -1.2, 0.8, 1.7]), Input::Int(7)],
        ),
        // A product of adjoints was dropped while a choice that nothing needed still used it.
        (
            "fn f(x: &[f64], a: f64) -> f64 {
                let mut w = [0.5_f64; 4];
                for i in 2..0 { w[i % 4] = { let t = w[i]; t * x[1] }.sin(); w[i % 4] = 0.5; }
                w[1] + 0.5
            }",
            vec![x(), Input::Float(0.7)],
        ),
        (
            "fn f(x: &[f64], b: f64) -> f64 {
                let mut u = vec![(x[0] * 0.5).sin(); 1];
                let mut w: Vec<f64> = vec![0.5; 1];
                for _ in 0..=4 { (u, w) = (w, u); }
                if 0.5 >= 0.5 {} else if true { u[0] = (x[3] * 0.5).sin(); }
                u[0] = 1.0;
                w[0] + x[3].sin()
            }",
            vec![x(), Input::Float(0.7)],
        ),
        // What a branch is taken for was stored, and is read back from there.
        (
            "fn f(x: &[f64], y: &mut [f64]) -> f64 {
                let mut s = 0.0;
                for i in 0..x.len() {
                    y[i] = x[i].sin();
                    if y[i] > 0.5 {
                        let mut b = 1.0;
                        for j in 0..i { b = (b * y[j]).exp(); }
                        s += b;
                    }
                }
                s
            }",
            vec![x(), Input::Exclusive(vec![0.3, -1.2, 0.8, 1.7])],
        ),
        // The first of the iterations that a loop was left after is, beside another arm, what that arm has left.
        (
            "fn f(a: f64, n: usize) -> f64 {
                let mut b = a;
                if 0.5 >= 1.5 {
                    while true { b = b.tanh(); }
                } else if n % 2 == 1 {
                    for _ in 2..=n { return b; }
                }
                b
            }",
            vec![Input::Float(0.7), Input::Int(5)],
        ),
        // Gathered, a loop of a stencil was left with one place that is read and one that is added to.
        (
            "fn f(x: &[f64]) -> f64 {
                let m = x.len() + 3;
                let mut w = vec![0.0; 10 * m];
                for i in 0..m { w[i] = x[3]; }
                for t in 0..9 {
                    for i in 0..m {
                        let mut v = w[t + i];
                        if i >= 2 { 0.5 }
                        v -= w[i + 1] * w[i];
                        w[(t + 1) * m + i] = v;
                    }
                }
                w[m]
            }",
            vec![x()],
        ),
        // The first turn of a loop, peeled: what its counter is compared with was known in one half and computed in the other.
        (
            "fn f(x: &[f64], b: f64) -> f64 {
                let (v, mut w) = ([x[0]; 2], [0.5_f64; 1]);
                let one: f64 = 1.0;
                for i in 0..0 {
                    w[i] = match i {
                        m if m > 2 => one,
                        0 | 1 => b,
                        _ => w.iter().zip(v).map(|(p, q)| p * q).sum::<f64>(),
                    };
                    w[2] = 0.1;
                }
                x.iter().sum::<f64>() + w[0]
            }",
            vec![x(), Input::Float(0.7)],
        ),
        // A sum of zeros went into two branches.
        (
            "fn f(b: f64, a: f64) -> f64 {
                let w: [f64; 2] = [0.0; 2];
                let mut v: f64 = 0.0;
                let mut p: Vec<[f64; 2]> = vec![[0.1, 0.2]; 2];
                p[0][1] = a;
                for i in 0..2 {
                    let [_, r] = p[i];
                    let (s, c) = r.sin_cos();
                    if 0.5 > 0.0 { v += s * w[i]; } else { v += c / r; }
                }
                if 1.5 >= b { 0.25_f64 } else { v }
            }",
            vec![Input::Float(0.7), Input::Float(0.4)],
        ),
        // What a branch depends on: a choice between the same, a choice that was folded, an element of a list that is made again.
        (
            "fn f(b: f64, a: f64) -> f64 {
                let mut w = vec![0.1 - 0.5_f64; 3];
                if 0.5 > w[0] { w[0] *= a; } else if 0.7_f64 < if 0.5 > b { w[0] } else { w[0] } {
                    for i in 0..3 { w[i] = w[2].sin(); }
                    w[0] *= a;
                }
                w[0].cos()
            }",
            vec![Input::Float(0.7), Input::Float(0.4)],
        ),
        (
            "fn f(y: &mut [f64], a: f64) -> f64 {
                let mut j: usize = 0;
                let v: f64 = 0.5;
                let mut w = [0.5_f64; 4];
                for _ in 0..3 {
                    w[0] = 0.5;
                    if if j * j > 80444 { a } else { v } >= v {
                        let mut u: f64 = 1.0;
                        for _ in 0..4 {
                            y[3] += { let t: f64 = { let t: f64 = w[j % 4]; t }; (u / a).abs() };
                            u = 0.5;
                        }
                    }
                }
                0.5
            }",
            vec![y(), Input::Float(0.7)],
        ),
        (
            "fn f(x: &[f64], b: f64) -> f64 {
                let mut v: f64 = 1.0;
                if 0.5 > b { return 0.1_f64; }
                let w = [0.5, x[3]];
                if (if w[0] < 0.5 { b } else { 1.25 }) < 2.5 {
                    let u = vec![(2.0 * w[1]).tanh(); 2];
                    for i in 1..u.len() {
                        v += match i % 3 { 0 => 0.5, 1 => w[i] * w[i], _ => 0.5 * u[i].cos() };
                    }
                }
                v
            }",
            vec![x(), Input::Float(0.7)],
        ),
        // What a list of adjoints held, and is summed up, had been stored as a sum: it must stay one that is added up in any order.
        (
            "fn f(x: &[f64], y: &mut [f64], n: usize) -> f64 {
                let mut u1 = vec![(x[n - 2] * x[n - 2] + 0.5).sqrt(); 4];
                let mut u2: Vec<f64> = vec![0.5; 4];
                for _ in 0..2 { std::mem::swap(&mut u1, &mut u2); }
                let u5 = vec![(u1[n % 4].tanh() * u1[n % 4].tanh() + 0.5).sqrt(); 3];
                let v = u5[n];
                let (p48, q) = (v, 0.25);
                if 0.5 >= 0.25 {} else {
                    let mut w63: Vec<f64> = vec![0.0; 1 * 1];
                    for t in 0..1 { w63[t] = if 0.5 < 0.5 { 0.5 } else { p48 }; }
                    let mut w64: Vec<f64> = vec![2.0_f64.asinh(); 2 * 1 + 1];
                    for p in 0..2 {
                        for i in 0..1 {
                            let mut s: f64 = 0.0;
                            for j in 0..1 { s += w63[j + i]; }
                            w64[p] += s;
                        }
                    }
                    let v66: f64 = w64[0];
                    y[n] *= { let t: f64 = v66; t };
                }
                u2[2].sin()
            }",
            vec![x(), y(), Input::Int(2)],
        ),
        // The end of a loop that was peeled, popped as what one arm had left.
        (
            "fn f(y: &mut [f64], a: f64, x: &[f64], r: f64) {
                let mut u: Vec<f64> = vec![(r * r + 1.5).acosh(); 2];
                let mut v: Vec<f64> = vec![0.5; 2];
                for _ in 1..2 { std::mem::swap(&mut u, &mut v); }
                for i in 0..4 {
                    if a > 0.5 {
                        y[i] = 0.5;
                        let m: usize = u.len();
                        for j in 0..=m - 1 {
                            if j > 0 { 0.5; }
                            y[j] += x[0] * u[m - 1 - j];
                        }
                    }
                }
            }",
            vec![y(), Input::Float(0.7), x(), Input::Float(0.4)],
        ),
        // An arm in which something is only computed again made a fused loop impossible that had been found possible.
        (
            "fn f(a: f64) -> f64 {
                let mut w: Vec<f64> = vec![0.0; 64];
                let mut v: f64 = 0.0;
                for _ in 1..64 { v = a; }
                for i in 1..64 { let t: f64 = v; w[i] = t; }
                for i in 1..64 {
                    if i == 0 { w[i - 1] = 0.5; } else if true { v = w[(i + 1) % 64]; }
                }
                w[45]
            }",
            vec![Input::Float(0.7)],
        ),
        // The modulus of a loop that is peeled, a literal of its body.
        (
            "fn f(a: f64) -> f64 {
                let w: Vec<f64> = vec![0.1; 0];
                for i in 0..0 { let t = w[i % 2]; w[(i + 1) % 0]; }
                0.5 * a
            }",
            vec![Input::Float(0.7)],
        ),
        // Lengths that branches on one condition have left.
        (
            "fn f(n: usize, x: &[f64], r: f64, flag: bool) -> f64 {
                let u = vec![-r; n];
                let mut m = 0;
                if flag { m = u.len() / 2; }
                let mut s = u[0] * x[0];
                if flag {
                    if u.len() - m < 2 { for i in 0..m { s = s.sin() + x[i] * u[i]; } }
                    else { for i in 0..m + 1 { s = s.cos() * u[i]; } }
                }
                s
            }",
            vec![Input::Int(4), x(), Input::Float(0.7), Input::Bool(true)],
        ),
    ];
    let failures: Vec<_> = programs
        .iter()
        .filter_map(|(source, inputs)| Some((source, judge(source, inputs, 1).err()?)))
        .map(|(source, failure)| format!("{failure}\n{source}\n"))
        .collect();
    assert!(failures.is_empty(), "{}", failures.concat());
}

/// The validator does not follow what a list holds that is written and made again. That costs the list, not the other passes.
#[test]
fn a_fault_costs_what_is_at_fault() {
    let source = "fn f(y: &mut [f64], b: f64, n: usize) -> f64 {
        if n == 0 {
            return 0.5;
        }
        let mut w = [0.5; 3];
        for i in 0..3 {
            w[i] = 0.5 - 0.25 * i as f64;
        }
        let mut v: f64 = 1.0;
        for i in 0..n {
            if w[i % 3] >= b {
                y[i] *= w[1];
            } else {
                for _ in 1..i {
                    v = v.sin();
                }
            }
            v += y[i];
        }
        v
    }";
    let function = lowered(source).unwrap();
    let options = Options::default();
    let compiled = driver::compile_function(&function, &Sources::default(), &options).unwrap();
    assert!(compiled.fault.is_some(), "the validator follows it: another program is needed here");
    assert!(!compiled.primal.plain, "compiled without any optional pass");
    assert!(compiled.valid().is_ok());
    let y = || Input::Exclusive(vec![0.3, -1.2, 0.8, 1.7, 0.1]);
    let inputs = [y(), Input::Float(0.1), Input::Int(5)];
    let gradient = (&compiled, compiled.lowered.clone());
    let right = agrees((&function, source), gradient, &inputs, 1);
    assert!(matches!(right, Ok(Some(true))), "{right:?}");
}

#[test]
#[ignore = "takes minutes: for those who changed the compiler"]
fn many_more() {
    let configs = [
        Config::core(),
        Config::control(),
        Config::full(),
        Config::full().single(),
        Config::loops(),
        Config::everyday(),
        Config::everyday().single(),
    ];
    let shown: Vec<_> = configs.iter().map(|config| failures(config, 1_000..6_000)).collect();
    assert!(shown.concat().is_empty(), "{}", shown.concat());
}

/// The configuration with a name.
fn named(name: &str) -> Config {
    match name {
        "straight" => Config::straight(),
        "core" => Config::core(),
        "control" => Config::control(),
        "full" => Config::full(),
        "loops" => Config::loops(),
        "everyday" => Config::everyday(),
        "single" => Config::everyday().single(),
        other => panic!("there is no configuration `{other}`"),
    }
}

fn variable(name: &str, otherwise: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

/// Prints every failure of `STRATAPE_CONFIG` in the seeds `STRATAPE_FIRST` and so many after it, made smaller.
#[test]
#[ignore = "for those who look for failures"]
fn survey() {
    let config = named(&variable("STRATAPE_CONFIG", "everyday"));
    let first: u64 = variable("STRATAPE_FIRST", "0").parse().unwrap();
    let count: u64 = variable("STRATAPE_COUNT", "1000").parse().unwrap();
    let most: usize = variable("STRATAPE_SHOWN", "20").parse().unwrap();
    let (mut failed, mut skipped, mut shown) = (0, 0, 0);
    let mut kinds: HashMap<String, usize> = HashMap::new();
    for seed in first..first + count {
        let program = generate(seed, &config);
        match judge(&program.source, &program.inputs, seed) {
            Ok(report) => skipped += u64::from(report.skipped),
            Err(failure) => {
                failed += 1;
                let about = failure.message.lines().next().unwrap_or_default();
                let about = about.replace(|c: char| !c.is_alphabetic(), "");
                let about = if failure.stage == Stage::Value { String::new() } else { about };
                let seen = kinds.entry(format!("{:?}{about}", failure.stage)).or_default();
                *seen += 1;
                let enough = if failure.stage == Stage::Derivative { most } else { 3 };
                // A soak stops at the first: the seed is enough for the others.
                let enough = if variable("STRATAPE_STOP", "0") == "0" { enough } else { 1 };
                if shown < most && *seen <= enough {
                    shown += 1;
                    println!("{}", show(seed, &program, &failure));
                } else {
                    println!("seed {seed}, {:?}", failure.stage);
                }
            }
        }
    }
    println!("{failed} of {count} failed, {skipped} were skipped");
    assert!(failed == 0 || variable("STRATAPE_STOP", "0") == "0", "seeds from {first} on");
}

/// Compiles the program in the file `STRATAPE_SOURCE`, and says what is wrong with it.
#[test]
#[ignore = "for those who look into a failure"]
fn given() {
    let source = std::fs::read_to_string(variable("STRATAPE_SOURCE", "/dev/null")).unwrap();
    match compile(&source) {
        Ok((_, gradient)) => println!("{gradient}"),
        Err(failure) => println!("{failure}"),
    }
}
