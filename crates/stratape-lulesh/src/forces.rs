//! The forces on the nodes: pressure, and what keeps elements from bending like hourglasses.

use crate::Vec3;
use crate::hexahedron::{corner_normals, volume_derivatives};
use stratape::differentiable;

/// How strongly hourglass modes are damped.
#[differentiable]
const HOURGLASS: f64 = 3.0;

/// The four hourglass modes: products of the corners' signs.
#[differentiable]
const MODES: [[f64; 8]; 4] = [
    [1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0],
    [1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0],
];

/// The force of one element on its corners.
///
/// `stress` is the pressure and the artificial viscosity together, `volume` that of the element now.
#[differentiable]
pub(crate) fn corner_forces(
    position: &[Vec3; 8],
    velocity: &[Vec3; 8],
    stress: f64,
    volume: f64,
    sound: f64,
    mass: f64,
) -> [Vec3; 8] {
    let normals = corner_normals(position);
    let derivatives = volume_derivatives(position);
    let damping = HOURGLASS * 0.01 * sound * mass / volume.cbrt();
    let mut forces = [Vec3::ZERO; 8];
    for corner in 0..8 {
        forces[corner] = normals[corner] * stress;
    }
    for mode in 0..4 {
        let mut shape = Vec3::ZERO;
        for corner in 0..8 {
            shape += position[corner] * MODES[mode][corner];
        }
        let shape = shape * (1.0 / volume);
        let mut gamma = [0.0; 8];
        let mut flow = Vec3::ZERO;
        for corner in 0..8 {
            gamma[corner] = MODES[mode][corner] - derivatives[corner].dot(shape);
            flow += velocity[corner] * gamma[corner];
        }
        let flow = flow * damping;
        for corner in 0..8 {
            forces[corner] += flow * -gamma[corner];
        }
    }
    forces
}
