//! The whole run: from the initial coordinates and energies, through the time loop, to the last energies.

use crate::hexahedron::{gather, volume};
use crate::material::Material;
use crate::step::{step, step_on_threads};
use crate::time_step::{Clock, STOP_TIME, started};
use crate::{Mesh, Vec3};
use stratape::checkpoint::Snapshot;
use stratape::{differentiable, gradient};

/// What the initial coordinates determine for good.
#[differentiable]
#[derive(Clone, Debug, Snapshot)]
pub struct Initial {
    /// The initial volume of each element, which is its mass as well.
    pub volume: Vec<f64>,
    /// The mass of each node.
    pub mass: Vec<f64>,
}

/// What changes from step to step.
#[differentiable]
#[derive(Clone, Debug, Snapshot)]
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

/// The volumes of the elements, and what they give to the masses of the nodes.
#[differentiable]
pub fn initial(mesh: &Mesh, position: &[Vec3]) -> Initial {
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

/// The state before the first step.
#[differentiable]
pub fn at_rest(position: &[Vec3], energy: &[f64]) -> State {
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
#[gradient(tape(saved = "compact"))]
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
#[gradient(tape(saved = "compact"))]
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

/// As [`evolve`], on several threads: both halves of its gradient run on as many as the workspace has
/// [lanes](stratape::Workspace::set_lanes).
#[gradient(tape(saved = "compact"))]
pub fn evolve_on_threads(mesh: &Mesh, position: &[Vec3], energy: &mut [f64], steps: usize) -> f64 {
    let initial = initial(mesh, position);
    let mut state = at_rest(position, energy);
    let mut clock = started(initial.volume[0], energy[0]);
    while clock.time < STOP_TIME && clock.cycle < steps {
        step_on_threads(mesh, &initial, &mut state, &mut clock);
    }
    for element in 0..energy.len() {
        energy[element] = state.material[element].energy;
    }
    clock.time
}

/// As [`evolve_on_threads`], with snapshots as [`evolve_checkpointed`].
#[gradient(tape(saved = "compact"))]
pub fn evolve_on_threads_checkpointed(
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
        step_on_threads(mesh, &initial, &mut state, &mut clock);
    }
    for element in 0..energy.len() {
        energy[element] = state.material[element].energy;
    }
    clock.time
}
