//! The motion of the nodes.

use crate::{Mesh, Vec3};
use stratape::differentiable;

/// Velocities below this are none.
#[differentiable]
const SLOWEST: f64 = 1e-7;

#[differentiable]
fn still_if_slow(velocity: f64) -> f64 {
    if velocity.abs() < SLOWEST { 0.0 } else { velocity }
}

/// The velocity of a node after a step under `force`.
#[differentiable]
pub(crate) fn accelerated(
    velocity: Vec3,
    force: Vec3,
    mass: f64,
    on_plane: [bool; 3],
    dt: f64,
) -> Vec3 {
    let acceleration = Vec3 {
        x: if on_plane[0] { 0.0 } else { force.x / mass },
        y: if on_plane[1] { 0.0 } else { force.y / mass },
        z: if on_plane[2] { 0.0 } else { force.z / mass },
    };
    let next = velocity + acceleration * dt;
    Vec3 { x: still_if_slow(next.x), y: still_if_slow(next.y), z: still_if_slow(next.z) }
}

/// Moves every node under its force.
#[differentiable]
pub fn move_nodes(
    mesh: &Mesh,
    position: &mut [Vec3],
    velocity: &mut [Vec3],
    force: &[Vec3],
    mass: &[f64],
    dt: f64,
) {
    for node in 0..position.len() {
        let next = accelerated(velocity[node], force[node], mass[node], mesh.on_plane[node], dt);
        velocity[node] = next;
        position[node] += next * dt;
    }
}
