//! The gradient with snapshots of the time loop instead of a tape of all its steps.
//!
//! The value has the bits of the run. The number of snapshots changes no bit of the gradient. Against the tape its last bits may differ, for a step is a
//! function of its own then.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Gradient, Objective, close};
use stratape_lulesh::{Problem, evolve_checkpointed_grad};

fn checkpointed(problem: &Problem, objective: Objective, steps: usize, slots: usize) -> Gradient {
    let weights = objective.weights(problem.energy.len());
    Gradient::by(problem, weights, |by_position, energies, by_energy| {
        let (mesh, start) = (&problem.mesh, &problem.position);
        evolve_checkpointed_grad(mesh, start, by_position, energies, by_energy, steps, slots, 0.0)
    })
}

#[test]
fn snapshots_and_the_tape_agree() {
    for (problem, steps) in [
        (Problem::generic(5), 1),
        (Problem::generic(4), 17),
        (Problem::generic(5), 30),
        (Problem::generic(3), usize::MAX),
        (Problem::sedov(4), 12),
    ] {
        for objective in Objective::BOTH {
            let taped = Gradient::new(&problem, objective, steps);
            let found = checkpointed(&problem, objective, steps, 5);
            taped.agrees(&found, objective, 1e-13);
        }
    }
}

#[test]
fn the_number_of_snapshots_changes_no_bit() {
    let problem = Problem::generic(4);
    let expected = checkpointed(&problem, Objective::Origin, 25, 25).bits();
    for slots in [1, 2, 3, 7, 100] {
        let found = checkpointed(&problem, Objective::Origin, 25, slots).bits();
        assert!(found == expected, "{slots} snapshots");
    }
}

/// The known gradient, with a tenth of the steps in memory.
#[test]
fn edge_5_steps_50() {
    let problem = Problem::generic(5);
    let (by_position, by_energy) = problem.direction();
    let gradient = checkpointed(&problem, Objective::Origin, 50, 5);
    close("D_r", gradient.along_position(&by_position), 7755.34863715142, 1e-9);
    close("D_e", gradient.along_energy(&by_energy), 0.746213382580535, 1e-9);
}
