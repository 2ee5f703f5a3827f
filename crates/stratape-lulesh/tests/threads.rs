//! The run with its loops in parallel: the values have the bits of the serial run, the gradient those of any other with as many lanes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Gradient, Objective, close, on_lanes};
use stratape::Workspace;
use stratape::tape::TapeOptions;
use stratape_lulesh::{
    Problem, evolve_on_threads, evolve_on_threads_checkpointed_grad_in, evolve_on_threads_grad_in,
};

fn on_threads(
    workspace: &mut Workspace,
    problem: &Problem,
    objective: Objective,
    steps: usize,
) -> Gradient {
    let weights = objective.weights(problem.energy.len());
    Gradient::by(problem, weights, |by_position, energies, by_energy| {
        let (mesh, start) = (&problem.mesh, &problem.position);
        evolve_on_threads_grad_in(
            workspace,
            mesh,
            start,
            by_position,
            energies,
            by_energy,
            steps,
            0.0,
        )
        .unwrap()
    })
}

fn checkpointed(
    workspace: &mut Workspace,
    problem: &Problem,
    objective: Objective,
    steps: usize,
    slots: usize,
) -> Gradient {
    let weights = objective.weights(problem.energy.len());
    Gradient::by(problem, weights, |by_position, energies, by_energy| {
        let (mesh, start) = (&problem.mesh, &problem.position);
        evolve_on_threads_checkpointed_grad_in(
            workspace,
            mesh,
            start,
            by_position,
            energies,
            by_energy,
            steps,
            slots,
            0.0,
        )
        .unwrap()
    })
}

#[test]
fn the_value_is_that_of_the_serial_run() {
    for problem in [Problem::generic(4), Problem::sedov(5)] {
        let (mut serial, mut parallel) = (problem.energy.clone(), problem.energy.clone());
        let time = stratape_lulesh::evolve(&problem.mesh, &problem.position, &mut serial, 40);
        let again = evolve_on_threads(&problem.mesh, &problem.position, &mut parallel, 40);
        assert_eq!((time.to_bits(), serial), (again.to_bits(), parallel));
    }
}

#[test]
fn every_number_of_lanes_agrees_with_the_serial_gradient() {
    for (problem, steps) in [
        (Problem::generic(1), 5),
        (Problem::generic(5), 1),
        (Problem::generic(7), 20),
        (Problem::sedov(4), 12),
        (Problem::generic(3), usize::MAX),
    ] {
        for objective in Objective::BOTH {
            let expected = Gradient::new(&problem, objective, steps);
            for lanes in [1, 2, 3, 8] {
                let found = on_threads(&mut on_lanes(lanes), &problem, objective, steps);
                expected.agrees(&found, objective, 1e-12);
            }
        }
    }
}

#[test]
fn two_runs_have_the_same_bits_spilled_or_not() {
    let problem = Problem::generic(8);
    for lanes in [2, 5] {
        let first = on_threads(&mut on_lanes(lanes), &problem, Objective::Origin, 60).bits();
        let again = on_threads(&mut on_lanes(lanes), &problem, Objective::Origin, 60).bits();
        assert!(first == again);
        let mut spilled = Workspace::with(TapeOptions::new().memory(16 << 20)).unwrap();
        spilled.set_lanes(lanes);
        let found = on_threads(&mut spilled, &problem, Objective::Origin, 60).bits();
        assert!(first == found);
        assert!(spilled.stats().bytes_spilled > 0, "{}", spilled.stats());
    }
}

#[test]
fn snapshots_and_threads() {
    let problem = Problem::generic(7);
    for objective in Objective::BOTH {
        let expected = Gradient::new(&problem, objective, 25);
        for lanes in [1, 2, 4] {
            let mut bits = Vec::new();
            for slots in [1, 3, 30] {
                let found = checkpointed(&mut on_lanes(lanes), &problem, objective, 25, slots);
                expected.agrees(&found, objective, 1e-12);
                bits.push(found.bits());
            }
            assert!(bits.iter().all(|one| *one == bits[0]), "{lanes} lanes");
        }
    }
}

/// The known gradient.
#[test]
fn edge_5_steps_50() {
    let problem = Problem::generic(5);
    let (by_position, by_energy) = problem.direction();
    for gradient in [
        on_threads(&mut on_lanes(2), &problem, Objective::Origin, 50),
        checkpointed(&mut on_lanes(2), &problem, Objective::Origin, 50, 5),
    ] {
        close("D_r", gradient.along_position(&by_position), 7755.34863715142, 1e-9);
        close("D_e", gradient.along_energy(&by_energy), 0.746213382580535, 1e-9);
    }
}
