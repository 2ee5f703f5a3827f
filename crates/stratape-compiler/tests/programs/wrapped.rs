//! Indices that go round, `(i + 1) % n` and `(i + n - 1) % n`: where the loop is peeled, where it must not be, and that the gradient stays the same.

#![allow(clippy::panic, reason = "a test")]

use crate::random::Input;
use crate::random::judge::{judge, optimised};
use stratape_ir::{Binary, Block, Function, Op, Stmt, walk};

/// A ring of `x.len()` cells, each made from others in every step. `m` is one less than there are.
fn ring(cell: &str, float: &str) -> String {
    format!(
        "fn f(x: &[{float}], m: usize) -> {float} {{
            let n = x.len();
            let mut u = x.to_vec();
            for _ in 0..3 {{
                let mut next = vec![0.0; n];
                {cell}
                for i in 0..n {{ u[i] = next[i]; }}
            }}
            let mut sum = 0.0;
            for i in 0..n {{ sum += x[i] * u[i]; }}
            sum
        }}"
    )
}

fn inputs(n: usize) -> Vec<Input> {
    let cell = |i: usize| (1.7 * (i * i) as f64 + 0.3).sin();
    vec![Input::Shared((0..n).map(cell).collect()), Input::Int(n.saturating_sub(1) as i64)]
}

fn check(source: &str, inputs: &[Input]) {
    if let Err(failure) = judge(source, inputs, 7) {
        panic!("{failure}\n{source}");
    }
}

fn has_remainder(block: &Block) -> bool {
    let mut found = false;
    walk(block, &mut |node| {
        found |= matches!(node, Stmt::Let { op: Op::Binary(Binary::Rem, ..), .. });
    });
    found
}

/// Branches that divide in one arm only: in the loop that is too short to be peeled.
fn peeled(gradient: &Function) -> usize {
    let mut found = 0;
    walk(&gradient.body, &mut |node| {
        if let Stmt::If(node) = node {
            found += usize::from(!has_remainder(&node.then) && has_remainder(&node.other));
        }
    });
    found
}

const PEELED: &[&str] = &[
    "for i in 0..n { next[i] = u[i] * u[(i + 1) % n]; }",
    "for i in 0..n { next[i] = u[i] - 0.5 * u[(i + n - 1) % n] * u[(i + 1) % n]; }",
    "for i in 0..n { next[i] = u[(2 * n + i - 2) % n] * u[(i + 3) % n]; }",
    "for i in 0..n { next[(i + 1) % n] = u[i] * u[i]; }",
    "for i in (0..n).rev() { next[i] = u[i] * u[(i + n - 1) % n]; }",
    "let mut s = 0.1; for i in 0..n { s = 0.5 * s + u[(i + n - 1) % n]; next[i] = s * u[i]; }",
    "for i in 0..n { if u[i] > 0.0 { next[i] = u[(i + 1) % n] * u[i]; } else { next[i] = u[(i + 2 * n - 1) % n]; } }",
    "for i in 1..n { next[i] = u[i] * u[(i + n - 1) % n] * u[(i + 1) % n]; }",
    "for i in 0..n { next[i] = u[i] * u[(i + 1) % n] * (i % n) as F; }",
];

#[test]
fn gradients_are_the_forward_derivatives() {
    for cell in PEELED.iter().chain(LEFT) {
        for float in ["f32", "f64"] {
            let source = ring(&cell.replace('F', float), float);
            for n in [0, 1, 2, 3, 4, 5, 8, 19] {
                check(&source, &inputs(n));
            }
        }
    }
}

#[test]
fn between_the_edges_nothing_is_divided() {
    for cell in PEELED {
        let gradient = optimised(&ring(&cell.replace('F', "f64"), "f64"));
        assert!(peeled(&gradient) > 0, "{cell}\n{gradient}");
    }
}

const LEFT: &[&str] = &[
    // The index goes round in the middle of the loop, …
    "for i in 0..n { next[i] = u[i] * u[(i + m) % n]; }",
    "for i in 0..n { next[i] = u[i] * u[(2 * i + 1) % n]; }",
    "for i in 0..n { next[i] = u[i] * u[(i + n / 2) % n]; }",
    // … or where the range ends is not known, …
    "for i in 0..m { next[i] = u[i] * u[(i + 2) % n]; }",
    // … or it goes round often.
    "for i in 0..n { next[i] = u[i] * u[(i + 1) % n.min(3)]; }",
    // Too many edges.
    "for i in 0..n { next[i] = u[i] * u[(i + 9) % n]; }",
    // A loop inside would be copied.
    "for i in 0..n { for j in 0..n { next[i] += u[j] * u[(i + 1) % n]; } }",
];

#[test]
fn what_goes_round_elsewhere_is_left_alone() {
    for cell in LEFT {
        let gradient = optimised(&ring(cell, "f64"));
        assert_eq!(peeled(&gradient), 0, "{cell}\n{gradient}");
    }
}

/// What a peeled loop overwrites is one part of a list, saved once.
#[test]
fn a_ring_that_is_updated_in_place_is_one_state() {
    let source = "fn f(x: &[f64], m: usize) -> f64 {
        let n = x.len();
        let mut u = x.to_vec();
        let mut flow = vec![0.0; n];
        for _ in 0..m {
            for i in 0..n {
                flow[i] = u[i] * u[(i + 1) % n] * u[(i + 2) % n] * u[(i + n - 1) % n] * u[i];
            }
            for i in 0..n { u[i] -= 0.1 * (flow[i] - flow[(i + n - 1) % n]); }
        }
        let mut sum = 0.0;
        for i in 0..n { sum += x[i] * u[i]; }
        sum
    }";
    let gradient = optimised(source);
    let (mut saves, mut pushes) = (0, 0);
    walk(&gradient.body, &mut |node| {
        saves += usize::from(matches!(node, Stmt::Save { .. }));
        pushes += usize::from(matches!(node, Stmt::Push { .. }));
    });
    assert_eq!(saves, 1, "{gradient}");
    for n in [0, 1, 2, 3, 4, 5, 8, 19] {
        check(source, &inputs(n));
    }
}
