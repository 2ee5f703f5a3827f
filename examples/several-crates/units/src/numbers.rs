//! Constants, and a function of a name that is used elsewhere as well.

use stratape::differentiable;

/// On the ground, in m/s².
#[differentiable]
pub const GRAVITY: f64 = 9.81;

/// The square.
#[differentiable]
pub fn sq(x: f64) -> f64 {
    x * x
}
