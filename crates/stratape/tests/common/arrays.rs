//! What the tests of `ndarray` share: a square matrix and a vector, and a comparison with differences.

#![allow(dead_code, unused_macros, reason = "no test file uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test")]

use ndarray::{Array1, Array2};

/// The derivatives of a function of numbers, by central differences.
pub(crate) fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-6;
    let at = |i: usize, by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        f(&x)
    };
    (0..x.len()).map(|i| (at(i, step) - at(i, -step)) / (2.0 * step)).collect()
}

pub(crate) fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let scale = 1.0_f64.max(wanted.abs());
        assert!((found - wanted).abs() < 1e-6 * scale, "{at}: {found} is not {wanted}");
    }
}

pub(crate) const START: [f64; 12] = [2.7, -0.4, 0.3, 0.6, 0.8, 3.5, -0.2, 0.9, 0.1, 0.7, 2.4, 0.35];

pub(crate) fn matrix(x: &[f64]) -> Array2<f64> {
    Array2::from_shape_vec((3, 3), x[..9].to_vec()).unwrap()
}

pub(crate) fn vector(x: &[f64]) -> Array1<f64> {
    Array1::from_vec(x[9..12].to_vec())
}

pub(crate) fn flat(m: &Array2<f64>, v: &Array1<f64>) -> Vec<f64> {
    m.iter().chain(v.iter()).copied().collect()
}

/// A function of a square matrix and a vector.
macro_rules! of_arrays {
    ($($test:ident: $f:ident $grad:ident;)*) => { $(
        #[test]
        fn $test() {
            let (mut dm, mut dv) = (Array2::zeros((3, 3)), Array1::zeros(3));
            let value = $grad(&matrix(&START), &mut dm, &vector(&START), &mut dv, 1.0);
            let wanted = $f(&matrix(&START), &vector(&START));
            assert!((value - wanted).abs() <= 1e-13 * value.abs().max(1.0), "{value} is not {wanted}");
            close(&flat(&dm, &dv), &differences(&START, |x| $f(&matrix(x), &vector(x))));
        }
    )* };
}
