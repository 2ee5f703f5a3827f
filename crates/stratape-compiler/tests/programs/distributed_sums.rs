//! Factors taken out of sums of adjoints: where it is done and where it must not be, and that the gradient stays what it was.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::random::Input;
use crate::random::judge::{interpret, judge, optimised};

/// Products of three, summed over `i`; what is the same for all `i` is `c[j]`, and the adjoint of `a[j]`.
fn products(columns: &str, float: &str) -> String {
    format!(
        "fn f(b: &[{float}], d: &[{float}], c: &[{float}], n: usize) -> {float} {{
            let (mut a, mut s) = (vec![0.0; {columns}], 0.0);
            for i in 0..n {{
                for j in 0..{columns} {{
                    a[j] += b[i] * d[i * {columns} + j] * c[j];
                }}
            }}
            let mut sum = 0.0;
            for j in 0..{columns} {{
                sum += a[j] * a[j];
            }}
            sum + s
        }}"
    )
}

fn numbers(len: usize, step: f64) -> Input {
    Input::Shared((0..len).map(|i| (0.3 + step * i as f64).sin()).collect())
}

fn inputs(columns: usize, n: usize) -> Vec<Input> {
    vec![numbers(n, 0.7), numbers(n * columns, 1.1), numbers(columns, 0.4), Input::Int(n as i64)]
}

fn gradient(source: &str) -> String {
    optimised(source).to_string()
}

#[test]
fn the_factor_multiplies_the_sum() {
    let text = gradient(&products("4", "f64"));
    assert!(text.contains("new @dc_sums.") && text.contains(": [f64; 4]"), "{text}");
    assert!(text.contains("new @products."), "{text}");
    assert!(!text.contains("<= "), "{text}");
}

#[test]
fn a_constant_is_asked_for_its_size() {
    let text = gradient(&products("SHORT", "f32"));
    assert!(text.contains("new @dc_sums.") && text.contains(": [f32; 64]"), "{text}");
    assert!(text.contains(" <= "), "{text}");
}

#[test]
fn other_sums_are_left_alone() {
    let usual = "a[j] += b[i] * d[i * 4 + j] * c[j];";
    let source = products("4", "f64");
    for other in [
        // The row moves with the outer loop.
        "a[j] += b[i] * d[i * 4 + j] * c[i + j];",
        // The factor changes, and its adjoint is read where it is added to.
        "a[j] = b[i] * d[i * 4 + j] * a[j];",
        "a[j] += b[i] * d[i * 4 + j] * c[j]; c[j] = 0.5 * b[i];",
        // No factor is the same in every term.
        "a[i] += b[i] * d[i * 4 + j] * c[j];",
        // Nothing is a product.
        "a[j] += (b[i] + d[i * 4 + j] + c[j]).sin();",
    ] {
        let source = source.replace(usual, other).replace("c: &[", "c: &mut [");
        let text = gradient(&source);
        assert!(!text.contains("_sums."), "{other}\n{text}");
    }
    for long in ["65", "c.len()"] {
        let text = gradient(&products(long, "f64"));
        assert!(!text.contains("_sums."), "{long}\n{text}");
    }
    let few = source.replace("in 0..n", "in 0..2");
    assert!(!gradient(&few).contains("_sums."));
}

/// Other loops over a row of `C` columns in which factors are taken out.
const OTHERS: [&str; 6] = [
    "for j in 1..C { a[j] -= b[i] * d[i * C + j] * c[j]; }",
    "for j in (0..C).rev() { a[j] += (d[i * C + j] + b[i]) * c[j].exp(); }",
    "for j in 0..C { s += d[i * C + j] * c[j]; }",
    "for j in 0..C { s -= d[i * C + j] * c[j]; a[j] = d[i * C + j]; }",
    "s *= b[i]; for j in 0..C { a[j] += d[i * C + j] * (c[j] * 3.0).sin(); }",
    "for j in 0..C { a[j] += d[i * C + j]; } s += b[i]; for j in 0..C { s += d[i * C + j] * c[C - 1 - j]; }",
];

/// [`products`] with another loop over its rows.
fn other(body: &str, columns: &str, float: &str) -> String {
    let source = products(columns, float);
    let start = source.find(&format!("for j in 0..{columns}")).unwrap();
    let end = source.find("let mut sum").unwrap();
    let body = body.replace('C', columns);
    format!("{}{body} }}\n{}", &source[..start], &source[end..])
}

#[test]
fn other_loops_have_factors_too() {
    for body in OTHERS {
        // Rows that are no shorter: those are written out.
        let text = gradient(&other(body, "6", "f64"));
        assert!(text.contains("_sums."), "{body}\n{text}");
    }
}

#[test]
fn gradients_are_the_forward_derivatives() {
    for (columns, len) in [("1", 1), ("4", 4), ("64", 64), ("65", 65), ("SHORT", 4), ("LONG", 70)] {
        for float in ["f32", "f64"] {
            let mut sources = vec![products(columns, float)];
            sources.extend(OTHERS.iter().map(|body| other(body, columns, float)));
            for (source, n) in sources.iter().flat_map(|source| [0, 1, 2, 7].map(|n| (source, n))) {
                if let Err(failure) = judge(source, &inputs(len, n), 3) {
                    panic!("{failure}\n{source}");
                }
            }
        }
    }
}

/// Where the outer loop does not run, an infinite factor times a sum of zero would not be a number; and a row out of bounds would
/// be looked at.
#[test]
fn nothing_is_done_where_nothing_was() {
    for columns in ["4", "SHORT"] {
        let source = products(columns, "f64");
        let mut inputs = inputs(4, 0);
        for c in [vec![f64::INFINITY; 4], Vec::new()] {
            inputs[2] = Input::Shared(c);
            let found =
                interpret(&optimised(&source), &inputs, true, &|len| vec![0.5; len]).unwrap();
            assert!(found.iter().all(|number| !number.is_nan()), "{found:?}");
        }
    }
}
