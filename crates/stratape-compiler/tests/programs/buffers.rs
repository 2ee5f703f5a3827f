//! Buffers that are made once and used for every item: where they become the iteration's own and where they must not, what comes before the loop for that,
//! and that the gradient stays what it was.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::random::Input;
use crate::random::judge::{judge, optimised};

/// What fills all of `b` before anything is read from it.
const FILLED: [&str; 6] = [
    "for j in 0..m { b[j] = p[i] * w[j]; }",
    "for j in 0..b.len() { b[j] = p[i] + w[j]; }",
    "b[0] = p[i]; for j in 1..m { b[j] = b[j - 1] * w[j]; }",
    "for j in (0..m).rev() { b[j] = p[i] * w[j]; }",
    "if p[i] > 0.0 { for j in 0..m { b[j] = w[j]; } } else { for j in 0..m { b[j] = p[i]; } }",
    "for j in 0..m { b[j] = 2.0; } for k in 0..3 { for j in 0..m { b[j] += p[i] * w[j] * k as f64; } }",
];

/// What leaves something in `b` from the iteration before, or from the beginning.
const LEFT: [&str; 7] = [
    "for j in 1..m { b[j] = p[i] * w[j]; }",
    "for j in 0..m - 1 { b[j] = p[i] * w[j]; }",
    "for j in 0..m { if w[j] > 0.0 { b[j] = p[i] * w[j]; } }",
    "for j in 0..m { b[j] += p[i] * w[j]; }",
    "for j in 0..m { if w[j] > 0.5 { break; } b[j] = p[i] * w[j]; }",
    "if p[i] > 0.2 { for j in 0..m { b[j] = p[i] * w[j]; } }",
    "s += b[0]; for j in 0..m { b[j] = p[i] * w[j]; }",
];

/// What is done with it.
const USED: [&str; 5] = [
    "for j in 0..m { s += b[j] * b[0]; }",
    "for j in 0..m { c[j] = b[m - 1 - j] * w[j]; } for j in 0..c.len() { s += c[j] * c[j]; }",
    "for j in 0..m { b[j] *= w[j]; } s += b[0].exp();",
    "s = (s * b[0]).sin() + b[m - 1];",
    "for k in 0..2 { for j in 0..m { c[j] = b[j] * k as f64; } for j in 0..m { s += (c[j] + b[j]).sin(); } }",
];

/// What comes after the loop. All but the first two can come before it.
const AFTER: [&str; 5] = [
    "s *= w[0]; s",
    "let mut t = 0.0; for j in 0..m { t += s * w[j]; } t",
    "let mut t = 0.0; for j in 0..m { t += (w[j] * w[j]).exp(); } s + n as f64 * t.ln()",
    "let mut t = 0.0; for j in 0..m { w[j] = w[j] * w[j]; t += w[j]; } s + t * t",
    "let mut t = p[0]; for j in 0..m { t = (t * w[j]).sin(); } s - t * t",
];

fn program(fill: &str, usage: &str, after: &str) -> String {
    format!(
        "fn f(p: &[f64], w: &mut [f64], n: usize, m: usize) -> f64 {{
            let (mut b, mut c, mut s) = (vec![0.5; m], vec![0.0; m], 0.0);
            for i in 0..n {{
                {fill}
                {usage}
            }}
            {after}
        }}"
    )
}

/// Whether a list is made in the function's own block.
fn is_outside(source: &str, name: &str) -> bool {
    let text = optimised(source).to_string();
    text.lines().any(|line| line.starts_with(&format!("  new @{name}.")))
}

#[test]
fn what_is_filled_first_is_the_iterations_own() {
    for fill in FILLED {
        for (usage, used) in USED.iter().enumerate() {
            let source = program(fill, used, "s");
            assert!(!is_outside(&source, "b"), "{source}");
            assert!(usage != 1 && usage != 4 || !is_outside(&source, "c"), "{source}");
        }
    }
}

#[test]
fn what_is_left_is_a_state() {
    for fill in LEFT {
        let source = program(fill, USED[0], "s");
        assert!(is_outside(&source, "b"), "{source}");
    }
    for after in ["s + b[0]", "for j in 0..m { s += b[j] * w[j]; } s", "b[0] = s; s * b[0]"] {
        let source = program(FILLED[0], USED[0], after);
        assert!(is_outside(&source, "b"), "{source}");
    }
}

/// Nothing stays on the tape: what follows the loop and needs nothing of it comes first, so that the loop's halves meet.
#[test]
fn what_does_not_need_the_loop_comes_first() {
    let halves = |after: &str| {
        let text = optimised(&program(FILLED[0], USED[0], after)).to_string();
        text.lines()
            .filter(|line| line.starts_with("  for i.") || line.starts_with("  for %"))
            .count()
    };
    let plain = halves("s");
    assert_eq!(halves(AFTER[2]), plain, "the loop over items is one");
    // The loop reads what follows it writes.
    assert!(halves(AFTER[3]) > plain);
}

#[test]
fn gradients_are_the_forward_derivatives() {
    let sizes = [(0, 2), (1, 1), (4, 3)];
    for fill in FILLED.iter().chain(&LEFT) {
        for used in USED {
            for after in AFTER.iter().chain(&["s + b[0]"]) {
                let source = program(fill, used, after);
                for (n, m) in sizes {
                    let numbers = |len: usize, step: f64| {
                        (0..len).map(|i| (0.3 + step * i as f64).sin()).collect()
                    };
                    // One more of the items than are used, for what reads the first.
                    let inputs = [
                        Input::Shared(numbers(n + 1, 0.7)),
                        Input::Exclusive(numbers(m, 1.3)),
                        Input::Int(n as i64),
                        Input::Int(m as i64),
                    ];
                    if let Err(failure) = judge(&source, &inputs, 3) {
                        panic!("{failure}\n{source}");
                    }
                }
            }
        }
    }
}
