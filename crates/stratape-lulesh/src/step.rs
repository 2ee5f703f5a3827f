//! One time step, twice: element by element as the formulas have it, and with its loops in parallel.
//!
//! Both take the same steps, bit by bit: a node's force is the sum over its elements in their order, added up by the elements in the one, gathered by the node in the other.

use crate::forces::corner_forces;
use crate::hexahedron::gather;
use crate::kinematics::{Deformation, deformation};
use crate::material::{Material, after_step, settled};
use crate::motion::{accelerated, move_nodes};
use crate::run::{Initial, State};
use crate::time_step::{Clock, UNLIMITED, advanced, limits};
use crate::viscosity::viscosity;
use crate::{Mesh, Vec3};
use stratape::differentiable;

/// Above this viscosity a run has gone wrong.
#[differentiable]
const HIGHEST_VISCOSITY: f64 = 1e12;

/// The forces of an element on its corners.
#[differentiable]
fn element_forces(mesh: &Mesh, initial: &Initial, state: &State, element: usize) -> [Vec3; 8] {
    let corners = mesh.corners[element];
    let material = state.material[element];
    corner_forces(
        &gather(&state.position, &corners),
        &gather(&state.velocity, &corners),
        material.pressure + material.viscosity,
        initial.volume[element] * state.volume[element],
        material.sound,
        initial.volume[element],
    )
}

/// How an element is deformed.
#[differentiable]
fn element_deformation(
    mesh: &Mesh,
    initial: &Initial,
    state: &State,
    element: usize,
    dt: f64,
) -> Deformation {
    let corners = mesh.corners[element];
    let now = deformation(
        &gather(&state.position, &corners),
        &gather(&state.velocity, &corners),
        initial.volume[element],
        dt,
    );
    assert!(now.volume > 0.0, "an element is turned inside out");
    now
}

/// What is in an element after the step, `volume` its volume before.
#[differentiable]
fn element_material(
    mesh: &Mesh,
    deformed: &[Deformation],
    element: usize,
    old: Material,
    volume: f64,
) -> Material {
    assert!(old.viscosity <= HIGHEST_VISCOSITY, "the viscosity has grown without bound");
    let this = deformed[element];
    let viscosity = viscosity(mesh, deformed, element, 1.0 / this.volume);
    after_step(old, this.volume, this.volume - volume, viscosity)
}

/// The forces of all elements on the nodes of the mesh.
#[differentiable]
pub fn forces(mesh: &Mesh, initial: &Initial, state: &State) -> Vec<Vec3> {
    let mut force = vec![Vec3::ZERO; state.position.len()];
    for element in 0..mesh.corners.len() {
        let corners = mesh.corners[element];
        let on_corners = element_forces(mesh, initial, state, element);
        for corner in 0..8 {
            force[corners[corner]] += on_corners[corner];
        }
    }
    force
}

/// How all elements are deformed, after the motion.
#[differentiable]
pub fn deformations(mesh: &Mesh, initial: &Initial, state: &State, dt: f64) -> Vec<Deformation> {
    let mut deformed = Vec::with_capacity(mesh.corners.len());
    for element in 0..mesh.corners.len() {
        deformed.push(element_deformation(mesh, initial, state, element, dt));
    }
    deformed
}

/// Brings the material of all elements to the end of the step, and lowers the clock's limits to those of the next one. `deformed` has ghosts after the elements, if the mesh has.
#[differentiable]
pub fn settle(mesh: &Mesh, deformed: &[Deformation], state: &mut State, clock: &mut Clock) {
    clock.courant = UNLIMITED;
    clock.volume_change = UNLIMITED;
    for element in 0..mesh.corners.len() {
        let (this, old) = (deformed[element], state.material[element]);
        let new = element_material(mesh, deformed, element, old, state.volume[element]);
        state.material[element] = new;
        state.volume[element] = settled(this.volume);
        let (courant, volume_change) = limits(new.sound, this.length, this.rate);
        clock.courant = clock.courant.min(courant);
        clock.volume_change = clock.volume_change.min(volume_change);
    }
}

/// One step: forces, motion, deformation, material, and how long the next step may be.
#[differentiable]
pub(crate) fn step(mesh: &Mesh, initial: &Initial, state: &mut State, clock: &mut Clock) {
    *clock = advanced(*clock);
    let force = forces(mesh, initial, state);
    move_nodes(mesh, &mut state.position, &mut state.velocity, &force, &initial.mass, clock.dt);
    let deformed = deformations(mesh, initial, state, clock.dt);
    settle(mesh, &deformed, state, clock);
}

/// The same step on several threads: elements leave what they contribute in places of their own, and nodes gather it.
#[differentiable]
pub(crate) fn step_on_threads(
    mesh: &Mesh,
    initial: &Initial,
    state: &mut State,
    clock: &mut Clock,
) {
    *clock = advanced(*clock);
    let (elements, dt) = (mesh.corners.len(), clock.dt);
    let mut force = vec![Vec3::ZERO; 8 * elements];
    #[parallel]
    for element in 0..elements {
        let on_corners = element_forces(mesh, initial, state, element);
        for corner in 0..8 {
            force[8 * element + corner] = on_corners[corner];
        }
    }
    #[parallel]
    for node in 0..state.position.len() {
        let mut sum = Vec3::ZERO;
        for at in mesh.first_touching[node]..mesh.first_touching[node + 1] {
            sum += force[mesh.touching[at]];
        }
        let (mass, on_plane) = (initial.mass[node], mesh.on_plane[node]);
        let next = accelerated(state.velocity[node], sum, mass, on_plane, dt);
        state.velocity[node] = next;
        state.position[node] += next * dt;
    }
    let mut deformed = vec![Deformation::default(); elements];
    #[parallel]
    for element in 0..elements {
        deformed[element] = element_deformation(mesh, initial, state, element, dt);
    }
    let mut courant = vec![UNLIMITED; elements];
    let mut volume_change = vec![UNLIMITED; elements];
    #[parallel]
    for element in 0..elements {
        let (this, old) = (deformed[element], state.material[element]);
        let new = element_material(mesh, &deformed, element, old, state.volume[element]);
        state.material[element] = new;
        state.volume[element] = settled(this.volume);
        (courant[element], volume_change[element]) = limits(new.sound, this.length, this.rate);
    }
    clock.courant = least(&courant);
    clock.volume_change = least(&volume_change);
}

/// The shortest limit.
#[differentiable]
fn least(limits: &[f64]) -> f64 {
    let mut least = UNLIMITED;
    for limit in limits {
        least = least.min(*limit);
    }
    least
}
