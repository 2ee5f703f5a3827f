//! The whole run: from the initial coordinates and energies, through the time loop, to the last energies.

use crate::forces::corner_forces;
use crate::hexahedron::{gather, volume};
use crate::kinematics::{Deformation, deformation};
use crate::material::{Material, after_step, settled};
use crate::motion::move_nodes;
use crate::time_step::{Clock, STOP_TIME, advanced, limits, started};
use crate::viscosity::viscosity;
use crate::{Mesh, Vec3};
use stratape::{differentiable, gradient};

/// Above this viscosity a run has gone wrong.
#[differentiable]
const HIGHEST_VISCOSITY: f64 = 1e12;

/// What the initial coordinates determine for good.
#[differentiable]
#[derive(Clone, Debug)]
pub struct Initial {
    /// The initial volume of each element, which is its mass as well.
    pub volume: Vec<f64>,
    /// The mass of each node.
    pub mass: Vec<f64>,
}

/// What changes from step to step.
#[differentiable]
#[derive(Clone, Debug)]
pub struct State {
    /// Where the nodes are.
    pub position: Vec<Vec3>,
    /// How they move.
    pub velocity: Vec<Vec3>,
    /// What is in the elements.
    pub material: Vec<Material>,
    /// Their volumes, over the initial ones.
    pub volume: Vec<f64>,
}

#[differentiable]
fn initial(mesh: &Mesh, position: &[Vec3]) -> Initial {
    let mut volumes = vec![0.0; mesh.corners.len()];
    let mut mass = vec![0.0; position.len()];
    for element in 0..mesh.corners.len() {
        let corners = mesh.corners[element];
        let now = volume(&gather(position, &corners));
        volumes[element] = now;
        for corner in 0..8 {
            mass[corners[corner]] += now / 8.0;
        }
    }
    Initial { volume: volumes, mass }
}

/// The force on every node.
#[differentiable]
fn forces(mesh: &Mesh, initial: &Initial, state: &State) -> Vec<Vec3> {
    let mut force = vec![Vec3::ZERO; state.position.len()];
    for element in 0..mesh.corners.len() {
        let corners = mesh.corners[element];
        let material = state.material[element];
        let on_corners = corner_forces(
            &gather(&state.position, &corners),
            &gather(&state.velocity, &corners),
            material.pressure + material.viscosity,
            initial.volume[element] * state.volume[element],
            material.sound,
            initial.volume[element],
        );
        for corner in 0..8 {
            force[corners[corner]] += on_corners[corner];
        }
    }
    force
}

/// How every element is deformed.
#[differentiable]
fn deformations(mesh: &Mesh, initial: &Initial, state: &State, dt: f64) -> Vec<Deformation> {
    let mut deformations = Vec::with_capacity(mesh.corners.len());
    for element in 0..mesh.corners.len() {
        let corners = mesh.corners[element];
        let now = deformation(
            &gather(&state.position, &corners),
            &gather(&state.velocity, &corners),
            initial.volume[element],
            dt,
        );
        assert!(now.volume > 0.0, "an element is turned inside out");
        deformations.push(now);
    }
    deformations
}

/// One step: forces, motion, deformation, material, and how long the next step may be.
#[differentiable]
fn step(mesh: &Mesh, initial: &Initial, state: &mut State, clock: &mut Clock) {
    *clock = advanced(*clock);
    let force = forces(mesh, initial, state);
    move_nodes(mesh, &mut state.position, &mut state.velocity, &force, &initial.mass, clock.dt);
    let deformed = deformations(mesh, initial, state, clock.dt);
    clock.courant = 1e20;
    clock.volume_change = 1e20;
    for element in 0..mesh.corners.len() {
        let this = deformed[element];
        let old = state.material[element];
        assert!(old.viscosity <= HIGHEST_VISCOSITY, "the viscosity has grown without bound");
        let viscosity = viscosity(mesh, &deformed, element, 1.0 / this.volume);
        let change = this.volume - state.volume[element];
        let new = after_step(old, this.volume, change, viscosity);
        state.material[element] = new;
        state.volume[element] = settled(this.volume);
        let (courant, volume_change) = limits(new.sound, this.length, this.rate);
        clock.courant = clock.courant.min(courant);
        clock.volume_change = clock.volume_change.min(volume_change);
    }
}

#[differentiable]
fn at_rest(position: &[Vec3], energy: &[f64]) -> State {
    let mut material = Vec::with_capacity(energy.len());
    for energy in energy {
        material.push(Material { energy: *energy, pressure: 0.0, viscosity: 0.0, sound: 0.0 });
    }
    State {
        position: position.to_vec(),
        velocity: vec![Vec3::ZERO; position.len()],
        material,
        volume: vec![1.0; energy.len()],
    }
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What was fixed.
    pub initial: Initial,
    /// The last state.
    pub state: State,
    /// The time, and how many steps it took.
    pub clock: Clock,
}

/// Runs at most `steps` steps, or to the stop time.
pub fn run(mesh: &Mesh, position: &[Vec3], energy: &[f64], steps: usize) -> Run {
    let initial = initial(mesh, position);
    let mut state = at_rest(position, energy);
    let mut clock = started(initial.volume[0], energy[0]);
    while clock.time < STOP_TIME && clock.cycle < steps {
        step(mesh, &initial, &mut state, &mut clock);
    }
    Run { initial, state, clock }
}

/// The same, for the gradient: `energy` holds the initial energies, and afterwards the last ones. The result is the time reached.
#[gradient]
pub fn evolve(mesh: &Mesh, position: &[Vec3], energy: &mut [f64], steps: usize) -> f64 {
    let initial = initial(mesh, position);
    let mut state = at_rest(position, energy);
    let mut clock = started(initial.volume[0], energy[0]);
    while clock.time < STOP_TIME && clock.cycle < steps {
        step(mesh, &initial, &mut state, &mut clock);
    }
    for element in 0..energy.len() {
        energy[element] = state.material[element].energy;
    }
    clock.time
}

/// As [`evolve`], with `slots` snapshots of the time loop in memory instead of a tape of all its steps.
#[gradient]
pub fn evolve_checkpointed(
    mesh: &Mesh,
    position: &[Vec3],
    energy: &mut [f64],
    steps: usize,
    slots: usize,
) -> f64 {
    let initial = initial(mesh, position);
    let mut state = at_rest(position, energy);
    let mut clock = started(initial.volume[0], energy[0]);
    #[checkpoint(slots = slots)]
    while clock.time < STOP_TIME && clock.cycle < steps {
        step(mesh, &initial, &mut state, &mut clock);
    }
    for element in 0..energy.len() {
        energy[element] = state.material[element].energy;
    }
    clock.time
}
