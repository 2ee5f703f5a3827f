//! Central differences of a kernel.

/// Holds derivatives against differences of a function.
#[track_caller]
pub(crate) fn agree(mut f: impl FnMut(&[f64]) -> f64, at: &[f64], found: &[f64], tolerance: f64) {
    assert_eq!(at.len(), found.len());
    let step = tolerance.sqrt() * 1e-2;
    for (k, found) in found.iter().enumerate() {
        let mut shifted = |by: f64| {
            let mut x = at.to_vec();
            x[k] += by;
            f(&x)
        };
        let wanted = (shifted(step) - shifted(-step)) / (2.0 * step);
        assert!(
            (found - wanted).abs() <= tolerance * (1.0 + wanted.abs()),
            "element {k}: {found}, and by differences {wanted}"
        );
    }
}

/// Numbers between 0.5 and 1.5.
pub(crate) fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.5 + ((k * 37 + 11) % 101) as f64 / 101.0).collect()
}

/// Weights of results, of both signs.
pub(crate) fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 5 + 3) % 9) as f64 * 0.25 - 0.9).collect()
}

/// The weighted sum of results.
pub(crate) fn weighted(results: &[f64]) -> f64 {
    results.iter().zip(weights(results.len())).map(|(a, b)| a * b).sum()
}
