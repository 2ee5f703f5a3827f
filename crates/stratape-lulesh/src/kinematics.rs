//! How an element is deformed: volume, length, rate of change, and what the viscosity needs of its neighbours.

use crate::Vec3;
use crate::hexahedron::{along, characteristic_length, volume};
use stratape::differentiable;

/// Keeps quotients finite.
#[differentiable]
pub(crate) const TINY: f64 = 1e-36;

/// What the element phase knows of an element after the motion.
#[differentiable]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deformation {
    /// The volume now, over the initial one.
    pub volume: f64,
    /// The characteristic length.
    pub length: f64,
    /// The rate of change of the volume, over the volume.
    pub rate: f64,
    /// Velocity gradients along the three axes.
    pub gradient: [f64; 3],
    /// The element's extents along the three axes.
    pub extent: [f64; 3],
}

/// The rate of change of the volume, from the corners half a step ago.
#[differentiable]
fn rate_of_change(position: &[Vec3; 8], velocity: &[Vec3; 8], dt: f64) -> f64 {
    let mut half_way = [Vec3::ZERO; 8];
    for corner in 0..8 {
        half_way[corner] = position[corner] - velocity[corner] * (0.5 * dt);
    }
    let (xi, eta, zeta) =
        (along(0, &half_way) * 0.125, along(1, &half_way) * 0.125, along(2, &half_way) * 0.125);
    let (by_xi, by_eta, by_zeta) = (eta.cross(zeta), zeta.cross(xi), xi.cross(eta));
    let flow = by_xi.dot(along(0, velocity))
        + by_eta.dot(along(1, velocity))
        + by_zeta.dot(along(2, velocity));
    flow / (8.0 * eta.dot(by_eta))
}

/// All of it, for one element.
#[differentiable]
pub(crate) fn deformation(
    position: &[Vec3; 8],
    velocity: &[Vec3; 8],
    initial_volume: f64,
    dt: f64,
) -> Deformation {
    let now = volume(position);
    let d = [along(0, position) * 0.25, along(1, position) * 0.25, along(2, position) * 0.25];
    let w = [along(0, velocity) * 0.25, along(1, velocity) * 0.25, along(2, velocity) * 0.25];
    let areas = [d[1].cross(d[2]), d[2].cross(d[0]), d[0].cross(d[1])];
    let mut gradient = [0.0; 3];
    let mut extent = [0.0; 3];
    for axis in 0..3 {
        extent[axis] = now / (areas[axis].dot(areas[axis]) + TINY).sqrt();
        gradient[axis] = areas[axis].dot(w[axis]) / (now + TINY);
    }
    Deformation {
        volume: now / initial_volume,
        length: characteristic_length(position, now),
        rate: rate_of_change(position, velocity, dt),
        gradient,
        extent,
    }
}
