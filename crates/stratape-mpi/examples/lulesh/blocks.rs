//! LULESH with a block of the mesh on each rank: the phases are those of `stratape_lulesh`, with messages between them.
//!
//! Nodes on the sides of a block are on several ranks, which all move them: what elements give to such a node (mass, forces) is added up axis after axis, two shares at a time, so that all ranks find
//! the same bits. The limiter of the viscosity gets the velocity gradients of the elements beyond each side. The shortest time step of all ranks is everyone's.

// Indices are what the formulas have.
#![allow(clippy::needless_range_loop)]

use stratape::{differentiable, gradient};
use stratape_lulesh::phases::{
    Deformation, advanced, at_rest, deformations, forces, initial, move_nodes, settle, started,
};
use stratape_lulesh::{Clock, Initial, Mesh, STOP_TIME, State, Vec3};
use stratape_mpi::{Cartesian, NOBODY, broadcast, exchange, min};

/// Adds what the ranks below and above have for the two sides of an axis.
#[differentiable]
fn add_sides(grid: &Cartesian, axis: usize, low: &mut [f64], high: &mut [f64]) {
    let (lower, upper) = (grid.neighbours[axis][0], grid.neighbours[axis][1]);
    let mut from_lower = vec![0.0; low.len()];
    let mut from_upper = vec![0.0; high.len()];
    exchange(&grid.comm, high, upper, &mut from_lower, lower, 2 * axis);
    exchange(&grid.comm, low, lower, &mut from_upper, upper, 2 * axis + 1);
    if lower != NOBODY {
        for i in 0..low.len() {
            low[i] += from_lower[i];
        }
    }
    if upper != NOBODY {
        for i in 0..high.len() {
            high[i] += from_upper[i];
        }
    }
}

/// Completes the masses of nodes that are on several ranks.
#[differentiable]
fn add_masses(grid: &Cartesian, mesh: &Mesh, mass: &mut [f64]) {
    let mut stride = 1;
    for axis in 0..3 {
        let row = stride * (mesh.cells[axis] + 1);
        let rows = mass.len() / row;
        let mut low = vec![0.0; rows * stride];
        let mut high = vec![0.0; rows * stride];
        for i in 0..rows {
            for j in 0..stride {
                low[i * stride + j] = mass[i * row + j];
                high[i * stride + j] = mass[(i + 1) * row - stride + j];
            }
        }
        add_sides(grid, axis, &mut low, &mut high);
        for i in 0..rows {
            for j in 0..stride {
                mass[i * row + j] = low[i * stride + j];
                mass[(i + 1) * row - stride + j] = high[i * stride + j];
            }
        }
        stride = row;
    }
}

/// Completes the forces on nodes that are on several ranks.
#[differentiable]
fn add_forces(grid: &Cartesian, mesh: &Mesh, force: &mut [Vec3]) {
    let mut stride = 1;
    for axis in 0..3 {
        let row = stride * (mesh.cells[axis] + 1);
        let rows = force.len() / row;
        let mut low = vec![0.0; 3 * rows * stride];
        let mut high = vec![0.0; 3 * rows * stride];
        for i in 0..rows {
            for j in 0..stride {
                let (at, a, b) = (3 * (i * stride + j), i * row + j, (i + 1) * row - stride + j);
                low[at] = force[a].x;
                low[at + 1] = force[a].y;
                low[at + 2] = force[a].z;
                high[at] = force[b].x;
                high[at + 1] = force[b].y;
                high[at + 2] = force[b].z;
            }
        }
        add_sides(grid, axis, &mut low, &mut high);
        for i in 0..rows {
            for j in 0..stride {
                let (at, a, b) = (3 * (i * stride + j), i * row + j, (i + 1) * row - stride + j);
                force[a] = Vec3 { x: low[at], y: low[at + 1], z: low[at + 2] };
                force[b] = Vec3 { x: high[at], y: high[at + 1], z: high[at + 2] };
            }
        }
        stride = row;
    }
}

/// Adds the ghosts of the mesh to the deformations of its elements. Of a neighbour along an axis the viscosity asks for the velocity gradient along it, and for nothing else.
#[differentiable]
fn add_ghosts(grid: &Cartesian, mesh: &Mesh, deformed: &mut Vec<Deformation>) {
    let elements = mesh.corners.len();
    let mut stride = 1;
    for axis in 0..3 {
        let row = stride * mesh.cells[axis];
        let rows = elements / row;
        let mut low = vec![0.0; rows * stride];
        let mut high = vec![0.0; rows * stride];
        for i in 0..rows {
            for j in 0..stride {
                low[i * stride + j] = deformed[i * row + j].gradient[axis];
                high[i * stride + j] = deformed[(i + 1) * row - stride + j].gradient[axis];
            }
        }
        let (lower, upper) = (grid.neighbours[axis][0], grid.neighbours[axis][1]);
        let mut from_lower = vec![0.0; low.len()];
        let mut from_upper = vec![0.0; high.len()];
        exchange(&grid.comm, &high, upper, &mut from_lower, lower, 2 * axis);
        exchange(&grid.comm, &low, lower, &mut from_upper, upper, 2 * axis + 1);
        let first = mesh.ghosts[2 * axis][0];
        for at in first..mesh.ghosts[2 * axis][1] {
            let mut ghost = Deformation::default();
            ghost.gradient[axis] = from_lower[at - first];
            deformed.push(ghost);
        }
        let first = mesh.ghosts[2 * axis + 1][0];
        for at in first..mesh.ghosts[2 * axis + 1][1] {
            let mut ghost = Deformation::default();
            ghost.gradient[axis] = from_upper[at - first];
            deformed.push(ghost);
        }
        stride = row;
    }
}

/// One step.
#[differentiable]
fn step(grid: &Cartesian, mesh: &Mesh, initial: &Initial, state: &mut State, clock: &mut Clock) {
    *clock = advanced(*clock);
    let mut force = forces(mesh, initial, state);
    add_forces(grid, mesh, &mut force);
    move_nodes(mesh, &mut state.position, &mut state.velocity, &force, &initial.mass, clock.dt);
    let mut deformed = deformations(mesh, initial, state, clock.dt);
    add_ghosts(grid, mesh, &mut deformed);
    settle(mesh, &deformed, state, clock);
    clock.courant = min(&grid.comm, clock.courant);
    clock.volume_change = min(&grid.comm, clock.volume_change);
}

/// The clock before the first step, which the element at the origin determines: rank 0 has it.
#[differentiable]
fn start(grid: &Cartesian, initial: &Initial, energy: &[f64]) -> Clock {
    let mut first = [initial.volume[0], energy[0]];
    broadcast(&grid.comm, &mut first, 0);
    started(first[0], first[1])
}

/// A run on all ranks: `energy` holds the initial energies of this rank's elements, and afterwards the last ones. The result is the time reached, the same on all ranks.
#[gradient(tape(saved = "compact"))]
pub(crate) fn evolve(
    grid: &Cartesian,
    mesh: &Mesh,
    position: &[Vec3],
    energy: &mut [f64],
    steps: usize,
) -> f64 {
    let mut initial = initial(mesh, position);
    add_masses(grid, mesh, &mut initial.mass);
    let mut state = at_rest(position, energy);
    let mut clock = start(grid, &initial, energy);
    while clock.time < STOP_TIME && clock.cycle < steps {
        step(grid, mesh, &initial, &mut state, &mut clock);
    }
    for element in 0..energy.len() {
        energy[element] = state.material[element].energy;
    }
    clock.time
}

/// The same with snapshots of the time loop instead of a tape of all its steps: `slots` is the same on all ranks.
#[gradient(tape(saved = "compact"))]
pub(crate) fn evolve_checkpointed(
    grid: &Cartesian,
    mesh: &Mesh,
    position: &[Vec3],
    energy: &mut [f64],
    steps: usize,
    slots: usize,
) -> f64 {
    let mut initial = initial(mesh, position);
    add_masses(grid, mesh, &mut initial.mass);
    let mut state = at_rest(position, energy);
    let mut clock = start(grid, &initial, energy);
    #[checkpoint(slots = slots)]
    while clock.time < STOP_TIME && clock.cycle < steps {
        step(grid, mesh, &initial, &mut state, &mut clock);
    }
    for element in 0..energy.len() {
        energy[element] = state.material[element].energy;
    }
    clock.time
}

/// The part of a problem that a rank has.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) mesh: Mesh,
    /// The numbers of its nodes in the whole mesh.
    pub(crate) nodes: Vec<usize>,
    /// The numbers of its elements there.
    pub(crate) elements: Vec<usize>,
}

impl Block {
    /// The part of a cube of `edge` elements along each edge.
    pub(crate) fn new(grid: &Cartesian, edge: usize) -> Result<Self, stratape_mpi::MpiError> {
        let (mut first, mut cells, mut joined) = ([0; 3], [0; 3], [[false; 2]; 3]);
        for axis in 0..3 {
            (first[axis], cells[axis]) = grid.part(axis, edge)?;
            joined[axis] = grid.neighbours[axis].map(|rank| rank != NOBODY);
        }
        let numbers = |more: usize| {
            let mut all = Vec::new();
            for z in first[2]..first[2] + cells[2] + more {
                for y in first[1]..first[1] + cells[1] + more {
                    let row = (z * (edge + more) + y) * (edge + more);
                    all.extend((first[0]..first[0] + cells[0] + more).map(|x| row + x));
                }
            }
            all
        };
        Ok(Self { mesh: Mesh::block(cells, joined), nodes: numbers(1), elements: numbers(0) })
    }

    /// The items of a list of the whole mesh that this rank has.
    pub(crate) fn of<T: Copy>(whole: &[T], numbers: &[usize]) -> Vec<T> {
        numbers.iter().map(|number| whole[*number]).collect()
    }
}
