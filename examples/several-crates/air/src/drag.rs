//! Drag in air.

use std::f64::consts::PI;

use example_units::sq;
use stratape::differentiable;

/// By its own halves: the caller sees its signature, not its text, and need not know where `PI` comes from.
#[differentiable(halves)]
pub fn force(speed: f64, radius: f64) -> f64 {
    -0.5 * 1.2 * 0.47 * PI * sq(radius) * speed
}
