//! Functions of the host under `#[gradient]` that use devices.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_borrows_for_generic_args,
    clippy::print_stdout
)]

mod by_key;
mod programs;
mod saved;
mod shapes;

/// Central differences of a function of several numbers.
fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let of = |i: usize, h: f64| {
        let mut moved = x.to_vec();
        moved[i] += h;
        f(&moved)
    };
    (0..x.len()).map(|i| (of(i, 1e-5) - of(i, -1e-5)) / 2e-5).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{found} for {expected}");
    }
}
