//! Lists that go back in time: what is saved of them before they are overwritten.

#![allow(clippy::panic, reason = "a test")]

use crate::random::Input;
use crate::random::judge::{judge, optimised};
use stratape_ir::{Stmt, walk};

/// Steps that read much of a list, then overwrite it by `update`; `n` may be more or less than it has elements.
fn steps(update: &str) -> String {
    format!(
        "fn f(x: &[f64], n: usize) -> f64 {{
            let m = x.len();
            let mut u = x.to_vec();
            let mut next = vec![0.0; m];
            for _ in 0..3 {{
                for i in 2..m - 2 {{
                    next[i] = u[i - 2] * u[i - 1] * u[i] * u[i + 1] + u[i + 2] * u[i] * u[i];
                }}
                {update}
            }}
            let mut sum = 0.0;
            for i in 0..m {{ sum += x[i] * u[i]; }}
            sum
        }}"
    )
}

/// The range that is overwritten reaches beyond the list, where a condition or an exit keeps the loop from writing. Nothing was saved then, and the
/// backward half read what the list held in the end.
#[test]
fn a_part_that_reaches_beyond_the_list_is_saved_as_far_as_the_list() {
    for update in [
        "for i in 0..n { if i < m { u[i] = next[i]; } }",
        "for i in 0..n { if i >= m { break; } u[i] = next[i]; }",
        "for i in 0..n { if i >= 3 && i < m { u[i - 3] = next[i]; } }",
        "for i in 0..n { if i + 2 < m { u[i + 2] = next[i]; } }",
    ] {
        let source = steps(update);
        let gradient = optimised(&source);
        let mut saves = 0;
        walk(&gradient.body, &mut |node| saves += usize::from(matches!(node, Stmt::Save { .. })));
        assert!(saves > 0, "{update}\n{gradient}");
        let cell = |i: usize| 0.6 + 0.4 * (1.7 * (i * i) as f64 + 0.3).sin();
        for n in [0, 1, 4, 8, 9, 10, 12, 40] {
            let inputs = [Input::Shared((0..9).map(cell).collect()), Input::Int(n)];
            if let Err(failure) = judge(&source, &inputs, 7) {
                panic!("{failure}\n{source}");
            }
        }
    }
}

/// A loop in an arm overwrites a list, and is peeled: the copy that is made before it is there in the arm alone. What stood before the branch read from it
/// as well, and the compiler's own check refused the gradient.
#[test]
fn a_copy_in_an_arm_is_for_the_arm() {
    let source = "fn f(y: &mut [f64], x: &[f64]) -> f64 {
        let v = x[0] * x[1];
        let mut last = 0.0;
        for i in 0..4 {
            for j in i..4 {
                if j != 0 { last = y[j] * v; }
            }
            y[0] = last;
        }
        let mut sum = 0.0;
        for i in 0..4 {
            sum += x[(i + 1) % 4];
            y[i] = last;
        }
        sum * last
    }";
    let cell = |i: usize| 0.6 + 0.4 * (1.7 * (i * i) as f64 + 0.3).sin();
    let list = |len: usize| (0..len).map(cell).collect();
    let inputs = [Input::Exclusive(list(5)), Input::Shared(list(5))];
    if let Err(failure) = judge(source, &inputs, 7) {
        panic!("{failure}\n{source}");
    }
}
