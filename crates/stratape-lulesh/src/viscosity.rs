//! Artificial viscosity, which spreads a shock over a few elements; its limiter keeps it out of smooth flow.

use crate::Mesh;
use crate::kinematics::{Deformation, TINY};
use stratape::differentiable;

#[differentiable]
const LINEAR: f64 = 0.5;
#[differentiable]
const QUADRATIC: f64 = 2.0 / 3.0;
#[differentiable]
const LIMITER: f64 = 2.0;
#[differentiable]
const STEEPEST: f64 = 1.0;

/// The linear and the quadratic part of the viscosity of an element.
#[differentiable]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Viscosity {
    /// What is multiplied by the speed of sound.
    pub linear: f64,
    /// What is not.
    pub quadratic: f64,
}

/// How smooth the flow is along an axis, from 0 (a shock) to 1.
#[differentiable]
fn smoothness(own: f64, lower: f64, upper: f64) -> f64 {
    let inverse = 1.0 / (own + TINY);
    let (lower, upper) = (lower * inverse, upper * inverse);
    let mut phi = 0.5 * (lower + upper);
    if LIMITER * lower < phi {
        phi = LIMITER * lower;
    }
    if LIMITER * upper < phi {
        phi = LIMITER * upper;
    }
    phi.clamp(0.0, STEEPEST)
}

/// The viscosity of one element, `density` its density.
#[differentiable]
pub(crate) fn viscosity(
    mesh: &Mesh,
    deformations: &[Deformation],
    element: usize,
    density: f64,
) -> Viscosity {
    let this = deformations[element];
    if this.rate > 0.0 {
        return Viscosity { linear: 0.0, quadratic: 0.0 };
    }
    let mut linear = 0.0;
    let mut quadratic = 0.0;
    for axis in 0..3 {
        let own = this.gradient[axis];
        let lower = deformations[mesh.lower[element][axis]].gradient[axis];
        let above = mesh.upper[element][axis];
        let upper = if above == element { 0.0 } else { deformations[above].gradient[axis] };
        let phi = smoothness(own, lower, upper);
        let inward = (own * this.extent[axis]).min(0.0);
        linear += inward * (1.0 - phi);
        quadratic += inward * inward * (1.0 - phi * phi);
    }
    Viscosity { linear: -LINEAR * density * linear, quadratic: QUADRATIC * density * quadratic }
}
