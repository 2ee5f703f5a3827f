//! LULESH under `#[gradient]`: a hydrodynamics program of several files, and its gradient through the whole time loop.
//!
//! LULESH is a proxy for shock hydrodynamics: a gas in a cube of hexahedra, moved by the blast of the element at the origin. This is the serial Sedov problem of
//! LULESH 2.0, written from its formulas in the order of its phases:
//!
//! | file | what |
//! |---|---|
//! | `mesh`, `problem` | who is whose neighbour; the initial coordinates and energies |
//! | `hexahedron` | volume, normals and length of one element |
//! | `forces`, `motion` | forces on the nodes, and how they move |
//! | `kinematics`, `viscosity`, `material` | how elements are deformed, artificial viscosity, the equation of state |
//! | `time_step` | how long a step may be: it depends on the flow, and so has a derivative |
//! | `step` | all of these in order, serially and in parallel; [`phases`] for programs on many ranks |
//! | `run` | the time loop, and what is differentiated |
//! | [`durable`] | the same with snapshots on disk, resumed after a crash |
//! | [`kernel`] | the equation of state on a GPU |
//!
//! Every function is plain Rust under `#[differentiable]`; [`evolve`] is under `#[gradient]`.
//!
//! ```
//! use stratape_lulesh::{Problem, Vec3, evolve_grad};
//!
//! let problem = Problem::generic(3);
//! let mut energy = problem.energy.clone();
//! let mut by_position = vec![Vec3::ZERO; problem.position.len()];
//! let mut by_energy = vec![0.0; energy.len()];
//! by_energy[0] = 1.0; // of the last energy of element 0
//! evolve_grad(&problem.mesh, &problem.position, &mut by_position, &mut energy, &mut by_energy, 10, 0.0);
//! // The scheme is homogeneous: energies times their derivatives are the energy again.
//! let sum: f64 = problem.energy.iter().zip(&by_energy).map(|(e, d)| e * d).sum();
//! assert!((sum - energy[0]).abs() < 1e-12 * energy[0]);
//! ```

#![forbid(unsafe_code)]
// Formulas are written with their indices; a mesh that is torn is a panic of the run, as in the original.
#![allow(clippy::needless_range_loop, clippy::panic)]

pub mod durable;
mod forces;
pub mod hexahedron;
pub mod kernel;
mod kinematics;
mod material;
mod mesh;
mod motion;
mod problem;
mod run;
mod step;
mod time_step;
mod vector;
mod viscosity;

/// The phases of a run and of its steps, for programs that do something between them: on many ranks, each with a [block](Mesh::block) of the mesh, neighbours exchange forces and deformations.
///
/// ```
/// use stratape_lulesh::{Problem, evolve, phases};
///
/// let Problem { mesh, position, mut energy } = Problem::generic(3);
/// let initial = phases::initial(&mesh, &position);
/// let mut state = phases::at_rest(&position, &energy);
/// let mut clock = phases::started(initial.volume[0], energy[0]);
/// while clock.cycle < 5 {
///     clock = phases::advanced(clock);
///     let force = phases::forces(&mesh, &initial, &state);
///     phases::move_nodes(&mesh, &mut state.position, &mut state.velocity, &force, &initial.mass, clock.dt);
///     let deformed = phases::deformations(&mesh, &initial, &state, clock.dt);
///     phases::settle(&mesh, &deformed, &mut state, &mut clock);
/// }
/// assert_eq!(clock.time, evolve(&mesh, &position, &mut energy, 5));
/// ```
pub mod phases {
    pub use crate::kinematics::Deformation;
    pub use crate::motion::move_nodes;
    pub use crate::run::{at_rest, initial};
    pub use crate::step::{deformations, forces, settle};
    pub use crate::time_step::{advanced, started};
}

pub use self::material::Material;
pub use self::mesh::Mesh;
pub use self::problem::Problem;
pub use self::run::{
    Initial, Run, State, evolve, evolve_checkpointed, evolve_checkpointed_grad,
    evolve_checkpointed_grad_in, evolve_grad, evolve_grad_in, evolve_on_threads,
    evolve_on_threads_checkpointed, evolve_on_threads_checkpointed_grad,
    evolve_on_threads_checkpointed_grad_in, evolve_on_threads_grad, evolve_on_threads_grad_in, run,
};
pub use self::time_step::{Clock, STOP_TIME};
pub use self::vector::Vec3;
