//! Loops that look at neighbours: edges, reverse loops that gather, lists that need no first contents; where it is done, where it must not
//! be, and that the gradient stays what it was.

#![allow(clippy::panic, reason = "a test")]

use crate::random::Input;
use crate::random::judge::{judge, optimised};
use stratape_ir::{Function, Half, ObjectId, Op, Stmt, walk};

/// Rows of `n` cells, each made from its neighbours in the row before.
fn rows(cell: &str, float: &str) -> String {
    format!(
        "fn f(x: &[{float}], n: usize) -> {float} {{
            let mut u = vec![0.0; 4 * n];
            for i in 0..n {{
                u[i] = x[i];
            }}
            for t in 0..3 {{
                for i in 0..n {{
                    {cell}
                }}
            }}
            let mut sum = 0.0;
            for i in 0..n {{
                sum += x[i] * u[3 * n + i];
            }}
            sum
        }}"
    )
}

const LEAST: &str = "
    let mut least = u[t * n + i];
    if i > 0 { if u[t * n + i - 1] < least { least = u[t * n + i - 1]; } }
    if i + 1 < n { if u[t * n + i + 1] < least { least = u[t * n + i + 1]; } }
    u[(t + 1) * n + i] = x[i] + least;";

const HEAT: &str = "
    let mut flow = 0.0;
    if i > 0 { flow += u[t * n + i - 1] - u[t * n + i]; }
    if i + 1 < n { flow -= u[t * n + i] - u[t * n + i + 1]; }
    u[(t + 1) * n + i] = u[t * n + i] + 0.2 * flow;";

const WIDE: &str = "
    let mut far = 0.5 * u[t * n + i];
    if i >= 2 { far += 0.3 * u[t * n + i - 2]; }
    if i != 0 { far -= 0.1 * u[t * n + i - 1]; }
    if i + 2 < n { far += 0.2 * u[t * n + i + 2]; }
    if i == n - 1 { far *= 2.0; }
    u[(t + 1) * n + i] = far;";

const BACKWARD: &str = "
    let i = n - 1 - i;
    let mut next = u[t * n + i];
    if i < 1 { next *= 3.0; }
    if i > 0 { next += 0.25 * u[t * n + i - 1].abs(); }
    u[(t + 1) * n + i] = next;";

const CELLS: [&str; 4] = [LEAST, HEAT, WIDE, BACKWARD];

fn inputs(n: usize) -> Vec<Input> {
    let cell = |i: usize| (1.7 * (i * i) as f64 + 0.3).sin();
    vec![Input::Shared((0..n).map(cell).collect()), Input::Int(n as i64)]
}

fn check(source: &str, inputs: &[Input]) {
    if let Err(failure) = judge(source, inputs, 7) {
        panic!("{failure}\n{source}");
    }
}

#[test]
fn gradients_are_the_forward_derivatives() {
    for cell in CELLS {
        for float in ["f32", "f64"] {
            // Without an inner cell, with few, and with many.
            for n in [1, 2, 3, 4, 5, 6, 7, 9, 16, 33] {
                check(&rows(cell, float), &inputs(n));
            }
        }
    }
}

/// Loops that add once to a list, and read its neighbours.
fn gathering(gradient: &Function, list: &str) -> usize {
    let is_list = |object: ObjectId| gradient.objects[object.index()].name == list;
    let mut found = 0;
    walk(&gradient.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        let (mut added, mut read) = (0, 0);
        for item in &node.body {
            match item {
                Stmt::Accumulate { place, .. } if is_list(place.object) => added += 1,
                Stmt::Let { op: Op::Load(place), .. } if is_list(place.object) => read += 1,
                _ => {}
            }
        }
        found += usize::from(added == 1 && read >= 3);
    });
    found
}

#[test]
fn neighbours_are_gathered() {
    for cell in [LEAST, HEAT] {
        let gradient = optimised(&rows(cell, "f64"));
        assert_eq!(gathering(&gradient, "du"), 1, "{gradient}");
    }
    // What is sent takes long to compute.
    let slow = HEAT.replace("0.2 * flow", "(0.2 * flow).sqrt()");
    let gradient = optimised(&rows(&slow, "f64"));
    assert_eq!(gathering(&gradient, "du"), 0, "{gradient}");
    // A cell is made from one in its own row.
    let same = "let mut c = u[t * n + i]; if i > 0 { c += u[(t + 1) * n + i - 1]; }
        u[(t + 1) * n + i] = 0.5 * c;";
    let gradient = optimised(&rows(same, "f64"));
    assert_eq!(gathering(&gradient, "du"), 0, "{gradient}");
    check(&rows(same, "f64"), &inputs(9));
}

/// Only rows too short to have an inner cell use the tape.
#[test]
fn comparisons_at_the_edges_are_made_again() {
    let gradient = optimised(&rows(LEAST, "f64"));
    let mut branches = Vec::new();
    walk(&gradient.body, &mut |node| {
        if let Stmt::If(node) = node {
            branches.push(node.then.iter().any(|node| node.uses_tape(Half::Forward)));
        }
    });
    assert!(!branches.is_empty() && branches.iter().all(|pushes| !pushes), "{gradient}");
}

/// A list `y`, written and read in some way.
fn list(body: &str) -> String {
    format!(
        "fn f(x: &[f64], n: usize) -> f64 {{
            let mut y = vec![0.0; n];
            {body}
            let mut sum = 0.0;
            for i in 0..n {{ sum += y[i] * x[i]; }}
            sum
        }}"
    )
}

fn is_unfilled(source: &str, name: &str) -> bool {
    let text = optimised(source).to_string();
    text.lines().any(|line| {
        line.trim_start().starts_with(&format!("new @{name}.")) && line.contains(" unfilled =")
    })
}

#[test]
fn what_is_written_first_is_not_filled() {
    for body in [
        "for i in 0..n { y[i] = x[i] * x[i]; }",
        "for i in (0..n).rev() { y[i] = x[i].sin(); }",
        "if n > 0 { y[0] = x[0]; } for i in 0..n { y[i] = x[i] * x[i]; }",
        "for i in 0..n { y[i] = x[i]; } for i in 1..n { y[i] = y[i] + y[i - 1] * x[i]; }",
        "for i in 0..n { if x[i] > 0.0 { y[i] = x[i]; } else { y[i] = -3.0 * x[i]; } }",
    ] {
        let source = list(body);
        assert!(is_unfilled(&source, "y"), "{body}");
        for n in [0, 1, 8] {
            check(&source, &inputs(n));
        }
    }
    // Its shadow is stored to by the loop after it.
    assert!(is_unfilled(&list("for i in 0..n { y[i] = x[i] * x[i]; }"), "dy"));
    assert!(is_unfilled(&rows(HEAT, "f64"), "u"));
}

#[test]
fn what_is_read_first_is_filled() {
    for body in [
        // Not all of it is written.
        "for i in 1..n { y[i] = x[i]; }",
        "for i in 0..n / 2 { y[i] = x[i]; }",
        "for i in 0..n { if x[i] > 0.0 { y[i] = x[i]; } }",
        "for i in 0..(n as u8) as usize { y[i] = x[i]; }",
        "for i in 0..n { if x[i] < 0.0 { break; } y[i] = x[i]; }",
        "for i in 0..n { y[(i * i) % n] = x[i]; }",
        // Read before it is written, or added to.
        "for i in 0..n { let before = y[n - 1 - i]; y[i] = x[i] + before; }",
        "for i in 0..n { y[i] += x[i]; }",
        "for i in 0..n { y[i] = x[i]; y[n - 1 - i] += y[i]; }",
        "let first = if n > 3 { y[3] } else { 1.0 }; for i in 0..n { y[i] = x[i] + first; }",
        // In the wrong order.
        "for i in (0..n).rev() { y[i] = x[i]; if i > 0 { y[i] += y[i - 1]; } }",
    ] {
        let source = list(body);
        assert!(!is_unfilled(&source, "y"), "{body}");
        for n in [0, 1, 2, 9, 300] {
            check(&source, &inputs(n));
        }
    }
    // Other first contents than zero, to which the first addition adds.
    let source = list("for i in 0..n { y[i] += x[i]; }").replace("vec![0.0; n]", "vec![0.5; n]");
    assert!(!is_unfilled(&source, "y"));
    check(&source, &inputs(5));
}
