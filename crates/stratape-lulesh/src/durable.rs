//! A run whose gradient can be interrupted: snapshots in memory and on disk, and a directory from which it goes on after a crash.
//!
//! What `#[checkpoint]` does for [`evolve_checkpointed`](crate::evolve_checkpointed) is done by hand here: one step under `#[gradient]`, and a
//! [`TimeLoop`] that decides which states are kept, where, and which steps are run again.

use crate::run::{Initial, State, at_rest, initial};
use crate::step::step_on_threads;
use crate::time_step::{Clock, STOP_TIME, started};
use crate::{Mesh, Problem, Vec3};
use stratape::checkpoint::{CheckpointError, Report, Snapshot, TimeLoop};
use stratape::tape::TapeError;
use stratape::{Workspace, gradient};

/// What changes from step to step.
#[derive(Clone, Debug, Snapshot)]
pub struct Moving {
    /// Nodes and elements.
    pub state: State,
    /// The time.
    pub clock: Clock,
}

/// What a run and its gradient found.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The last state.
    pub end: Moving,
    /// The derivatives with respect to the initial coordinates.
    pub by_position: Vec<Vec3>,
    /// The derivatives with respect to the initial energies.
    pub by_energy: Vec<f64>,
    /// Which steps were run how often, and what was kept where.
    pub report: Report,
}

/// What is propagated backward.
#[derive(Clone, Debug, Snapshot)]
struct Adjoint {
    moving: Moving,
    initial: Initial,
}

/// One step, on lists of its own: these are split by fields, as those of a whole run are.
#[gradient(tape(saved = "compact"))]
pub fn advance(mesh: &Mesh, initial: &Initial, state: &mut State, clock: &mut Clock) {
    let mut now = State {
        position: state.position.clone(),
        velocity: state.velocity.clone(),
        material: state.material.clone(),
        volume: state.volume.clone(),
    };
    step_on_threads(mesh, initial, &mut now, clock);
    for node in 0..mesh.on_plane.len() {
        state.position[node] = now.position[node];
        state.velocity[node] = now.velocity[node];
    }
    for element in 0..mesh.corners.len() {
        state.material[element] = now.material[element];
        state.volume[element] = now.volume[element];
    }
}

/// What a run begins with; `clock` is that of [`started`].
#[gradient(tape(saved = "compact"))]
fn begin(
    mesh: &Mesh,
    position: &[Vec3],
    energy: &[f64],
    fixed: &mut Initial,
    state: &mut State,
    clock: &mut Clock,
) {
    let made = initial(mesh, position);
    *clock = started(made.volume[0], energy[0]);
    for node in 0..position.len() {
        fixed.mass[node] = made.mass[node];
        state.position[node] = position[node];
    }
    for element in 0..energy.len() {
        fixed.volume[element] = made.volume[element];
        state.material[element].energy = energy[element];
    }
}

/// Lists of zeros, and a clock that stands.
fn zeros(problem: &Problem) -> (Initial, Moving) {
    let (elements, nodes) = (problem.mesh.elements(), problem.mesh.nodes());
    let state = at_rest(&vec![Vec3::ZERO; nodes], &vec![0.0; elements]);
    let state = State { volume: vec![0.0; elements], ..state };
    let clock = Clock { time: 0.0, dt: 0.0, cycle: 0, courant: 0.0, volume_change: 0.0 };
    let fixed = Initial { volume: vec![0.0; elements], mass: vec![0.0; nodes] };
    (fixed, Moving { state, clock })
}

/// Runs at most `steps` steps, or to the stop time, and differentiates the sum of the last energies, weighted.
///
/// `keep` says what the loop keeps where:
///
/// ```
/// use stratape::Workspace;
/// use stratape_lulesh::{Problem, durable};
///
/// let problem = Problem::generic(3);
/// let directory = std::env::temp_dir().join(format!("lulesh-{}", std::process::id()));
/// let mut weights = vec![0.0; problem.energy.len()];
/// weights[0] = 1.0; // of the element at the origin
/// let found = durable::gradient(&mut Workspace::new(), &problem, &weights, 20, |time_loop| {
///     time_loop.slots(2).disk_slots(&directory, 6).resume(&directory)
/// })?;
/// // The scheme is homogeneous: energies times their derivatives are the energy again.
/// let sum: f64 = problem.energy.iter().zip(&found.by_energy).map(|(e, d)| e * d).sum();
/// assert!((sum - found.end.state.material[0].energy).abs() < 1e-12 * sum);
/// # Ok::<(), stratape::checkpoint::CheckpointError>(())
/// ```
///
/// # Errors
/// Those of [`TimeLoop::gradient`], and of the tape of `workspace`.
///
/// # Panics
/// If there are not as many weights as elements.
pub fn gradient(
    workspace: &mut Workspace,
    problem: &Problem,
    weights: &[f64],
    steps: usize,
    keep: impl FnOnce(TimeLoop<Moving>) -> TimeLoop<Moving>,
) -> Result<Gradient, CheckpointError> {
    let Problem { mesh, position, energy } = problem;
    assert_eq!(weights.len(), energy.len(), "a weight for each element");
    let (mut fixed, mut moving) = zeros(problem);
    moving.state.volume.fill(1.0);
    let first = moving.clone();
    begin(mesh, position, energy, &mut fixed, &mut moving.state, &mut moving.clock);
    let ended = move |now: &Moving| now.clock.time >= STOP_TIME || now.clock.cycle >= steps;
    let time_loop = keep(TimeLoop::new(moving).until(ended).at_most(steps));
    let mut failed: Option<TapeError> = None;
    let (end, mut adjoint, report) = time_loop.gradient(
        |_, now| advance(mesh, &fixed, &mut now.state, &mut now.clock),
        |_| {
            let (initial, mut moving) = zeros(problem);
            for (material, weight) in moving.state.material.iter_mut().zip(weights) {
                material.energy = *weight;
            }
            Adjoint { moving, initial }
        },
        |_, now, adjoint| {
            let mut now = now.clone();
            let Adjoint { moving, initial } = adjoint;
            let outcome = advance_grad_in(
                workspace,
                mesh,
                &fixed,
                initial,
                &mut now.state,
                &mut moving.state,
                &mut now.clock,
                &mut moving.clock,
            );
            failed = failed.take().or(outcome.err());
        },
    )?;
    if let Some(error) = failed {
        return Err(CheckpointError::Disk(error));
    }
    let (mut by_position, mut by_energy) =
        (vec![Vec3::ZERO; position.len()], vec![0.0; energy.len()]);
    let Adjoint { moving, initial } = &mut adjoint;
    let mut again = first;
    begin_grad_in(
        workspace,
        mesh,
        position,
        &mut by_position,
        energy,
        &mut by_energy,
        &mut fixed.clone(),
        initial,
        &mut again.state,
        &mut moving.state,
        &mut again.clock,
        &mut moving.clock,
    )
    .map_err(CheckpointError::Disk)?;
    Ok(Gradient { end, by_position, by_energy, report })
}
