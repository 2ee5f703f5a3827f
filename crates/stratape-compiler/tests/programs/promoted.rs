//! Sums in memory that are kept in registers: in loops that may not run, where the place is one of the list's all the same, and where it may not be.

#![allow(clippy::panic, reason = "a test")]

use crate::random::Input;
use crate::random::judge::judge;
use stratape_compiler::driver::{self, Options};
use stratape_compiler::front::Items;
use stratape_ir::{Stmt, walk};

/// A product of matrices, in a list of `len` elements; `m` may be 0.
fn product(len: &str, index: &str) -> String {
    format!(
        "fn f(x: &[f64], n: usize, m: usize) -> f64 {{
            let mut y = vec![0.1; {len}];
            for i in 0..n {{
                for j in 0..n {{
                    for k in 0..m {{
                        y[{index}] += x[i] * x[k] + x[j];
                    }}
                }}
            }}
            let mut sum = 0.0;
            for v in &y {{ sum += v * v; }}
            sum
        }}"
    )
}

/// Whether nothing is added to `y` in memory, before the function is differentiated.
#[allow(clippy::unwrap_used, reason = "the source of a test")]
fn promoted(source: &str) -> bool {
    let item = syn::parse_str(source).unwrap();
    let compiled = driver::compile(&item, &Items::empty(), &Options::default()).unwrap();
    assert_eq!(compiled.fault, None);
    let mut found = false;
    walk(&compiled.primal.body, &mut |node| {
        if let Stmt::Accumulate { place, .. } = node {
            found |= compiled.primal.objects[place.object.index()].name == "y";
        }
    });
    !found
}

fn check(source: &str) {
    for n in [0, 1, 2, 3, 5, 9] {
        for m in [0, 1, 2, 7] {
            let cell = |i: usize| (1.7 * (i * i) as f64 + 0.3).sin();
            let inputs = [Input::Shared((0..9).map(cell).collect()), Input::Int(n), Input::Int(m)];
            if let Err(failure) = judge(source, &inputs, 7) {
                panic!("{failure}\n{source}");
            }
        }
    }
}

#[test]
fn a_place_within_the_list_is_promoted() {
    for (len, index) in [
        ("n * n", "i * n + j"),
        ("n * n", "j * n + i"),
        ("n * n + 1", "1 + i * n + j"),
        ("n + n", "i + j"),
        ("2 * n * n", "(n + i) * n + j"),
    ] {
        let source = product(len, index);
        check(&source);
        // `(n + i) * n` may overflow where the loop does not run.
        assert_eq!(promoted(&source), !index.starts_with('('), "{source}");
    }
}

/// Where the inner loop does not run, nothing is out of bounds.
#[test]
fn a_place_that_may_be_beyond_the_list_is_left_alone() {
    for (len, index) in
        [("n.min(1)", "i * n + j"), ("m", "i"), ("n * n", "i * n + j + 1"), ("n", "i - j")]
    {
        let source = product(len, index);
        assert!(!promoted(&source), "{source}");
        let cell = |i: usize| 0.3 + i as f64;
        let inputs = [Input::Shared((0..9).map(cell).collect()), Input::Int(3), Input::Int(0)];
        if let Err(failure) = judge(&source, &inputs, 7) {
            panic!("{failure}\n{source}");
        }
    }
}
