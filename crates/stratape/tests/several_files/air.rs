//! Drag in air; its `sq` is not that of other files.

use stratape::differentiable;

#[differentiable]
fn sq(v: f64) -> f64 {
    v * v
}

/// Grows with the square of the speed.
#[differentiable]
pub fn drag(v: f64) -> f64 {
    0.5 * sq(v)
}

#[differentiable]
pub(crate) fn lift(v: f64, angle: f64) -> f64 {
    assert!(angle < 2.0);
    drag(v) * crate::water::sq(angle)
}

/// Named as a macro of the library is.
#[differentiable]
pub fn line(v: f64, at: f64) -> f64 {
    2.0 * v + at
}
