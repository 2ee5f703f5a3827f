//! Identities that hold exactly, whatever the mesh: they need no reference.
//!
//! The scheme has no scale of its own but for its cut-offs. While it is the number of steps, not the stop time, that ends a run:
//!
//! - energies times λ are the same run with all last energies times λ, in a time 1/√λ as long: Σ e·∂J/∂e = J and Σ e·∂t/∂e = −t/2;
//! - coordinates times λ are the same run in a time λ as long: Σ r·∂J/∂r = 0 and Σ r·∂t/∂r = t.
//!
//! Always, moving the whole mesh changes nothing: Σ ∂J/∂x = Σ ∂J/∂y = Σ ∂J/∂z = 0.
//!
//! They fail when the length of the step is taken for a constant, but not for every wrong gradient: the same random problems are therefore compared with
//! differences too. Around them: what a workspace and its budget must not change.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Gradient, Objective, Random, close, near};
use stratape::Workspace;
use stratape::tape::TapeOptions;
use stratape_lulesh::{Problem, STOP_TIME, Vec3, evolve, evolve_grad, evolve_grad_in, run};

/// A blast in a box of any shape, anywhere, with every node but those of the planes of symmetry displaced and a little energy everywhere.
fn random_problem(random: &mut Random) -> Problem {
    let edge = random.below(2, 8);
    let mut problem = Problem::sedov(edge);
    let stretch = [0, 1, 2].map(|_| random.within(0.7, 1.4));
    let origin = [0, 1, 2].map(|_| random.within(-0.5, 0.5));
    let displacement = random.within(0.02, 0.12) * 1.125 / edge as f64;
    for (position, on_plane) in problem.position.iter_mut().zip(&problem.mesh.on_plane) {
        let mut coordinates = [position.x, position.y, position.z];
        for axis in 0..3 {
            if !on_plane[axis] {
                coordinates[axis] += displacement * random.within(-1.0, 1.0);
            }
            coordinates[axis] = origin[axis] + stretch[axis] * coordinates[axis];
        }
        *position = Vec3::new(coordinates[0], coordinates[1], coordinates[2]);
    }
    // The more energy, the less time a step takes: some of the runs end by their steps, some by the stop time.
    let blast = problem.energy[0] * 10_f64.powf(random.within(0.0, 3.0));
    let warmth = 10_f64.powf(random.within(-5.0, -2.0));
    for energy in &mut problem.energy {
        *energy = blast * warmth * random.within(0.5, 1.5);
    }
    problem.energy[0] += blast;
    problem
}

/// Σ ∂J/∂r, and what its round-off is relative to: Σ |∂J/∂r|, and the objective itself over the length of the mesh, for a first step does not
/// depend on the coordinates at all, and its gradient is nothing but round-off.
fn translation(gradient: &Gradient, value: f64) -> ([f64; 3], f64) {
    let sum = gradient.by_position.iter().fold(Vec3::ZERO, |sum, d| sum + *d);
    let size: f64 = gradient.by_position.iter().map(|d| d.x.abs() + d.y.abs() + d.z.abs()).sum();
    ([sum.x, sum.y, sum.z], size + value)
}

/// How many random problems there are.
const PROBLEMS: u64 = 16;

fn random_problems() -> impl Iterator<Item = (Problem, usize)> {
    (0..PROBLEMS).map(|seed| {
        let mut random = Random::new(seed);
        let problem = random_problem(&mut random);
        (problem, random.below(1, 41))
    })
}

#[test]
fn scaling_and_translation() {
    let mut ended_by_steps = 0;
    for (number, (problem, steps)) in random_problems().enumerate() {
        // The stop time begins to matter up to two steps before it is reached.
        let later = run(&problem.mesh, &problem.position, &problem.energy, steps + 2);
        let by_steps = later.clock.time < STOP_TIME;
        ended_by_steps += usize::from(by_steps);
        for objective in Objective::BOTH {
            let what = format!("problem {number}, {steps} steps, {objective:?}");
            let gradient = Gradient::new(&problem, objective, steps);
            let (sums, size) = translation(&gradient, objective.of(&gradient.energies));
            for sum in sums {
                near(&format!("translation, {what}"), sum, 0.0, 1e-12 * size);
            }
            if by_steps {
                let value = objective.of(&gradient.energies);
                let by_energy = gradient.along_energy(&problem.energy);
                close(&format!("Euler, {what}"), by_energy, value, 1e-12);
                let dilated = gradient.along_position(&problem.position);
                near(&format!("dilation, {what}"), dilated, 0.0, 1e-12 * size);
            }
        }
    }
    assert!((8..PROBLEMS as usize).contains(&ended_by_steps), "{ended_by_steps}");
}

#[test]
fn the_time_scales_too() {
    for (number, (problem, steps)) in random_problems().enumerate() {
        let what = format!("problem {number}, {steps} steps");
        let gradient = Gradient::weighted(&problem, vec![0.0; problem.energy.len()], steps, 1.0);
        let (sums, size) = translation(&gradient, gradient.time);
        for sum in sums {
            near(&format!("translation, {what}"), sum, 0.0, 1e-12 * size);
        }
        if run(&problem.mesh, &problem.position, &problem.energy, steps + 2).clock.time < STOP_TIME
        {
            let by_energy = gradient.along_energy(&problem.energy);
            close(&format!("Euler, {what}"), by_energy, -0.5 * gradient.time, 1e-12);
            let dilated = gradient.along_position(&problem.position);
            near(&format!("dilation, {what}"), dilated, gradient.time, 1e-12 * size);
        }
    }
}

/// Central differences along random directions, with steps so short that hardly ever a branch goes another way within one (where the length of a step
/// of time changes from one rule to another, the objective even jumps). Where it does, a shorter one is right.
#[test]
fn differences_of_random_problems() {
    for (number, (problem, steps)) in random_problems().take(8).enumerate() {
        let mut random = Random::new(1000 + number as u64);
        let mut sign = || random.within(-1.0, 1.0);
        // Each energy changes in proportion to itself, from the blast to the little that is elsewhere.
        let by_energy: Vec<f64> = problem.energy.iter().map(|energy| energy * sign()).collect();
        let by_position: Vec<Vec3> =
            problem.position.iter().map(|_| Vec3::new(sign(), sign(), sign())).collect();
        let changed = |position: f64, energy: f64| {
            let mut problem = problem.clone();
            for (node, by) in problem.position.iter_mut().zip(&by_position) {
                *node += *by * position;
            }
            for (element, by) in problem.energy.iter_mut().zip(&by_energy) {
                *element += by * energy;
            }
            problem
        };
        for objective in Objective::BOTH {
            let gradient = Gradient::new(&problem, objective, steps);
            let value = |position, energy| objective.value(&changed(position, energy), steps);
            let found = [gradient.along_position(&by_position), gradient.along_energy(&by_energy)];
            let size = objective.of(&gradient.energies);
            let terms = [gradient.position_norm() + size, size];
            for (of, axis) in [[1.0, 0.0], [0.0, 1.0]].into_iter().enumerate() {
                let at = |h: f64| value(h * axis[0], h * axis[1]);
                let agree =
                    |h: f64| (found[of] - (at(h) - at(-h)) / (2.0 * h)).abs() < 1e-7 * terms[of];
                let what = format!("problem {number}, {steps} steps, {objective:?}, {of}");
                assert!([1e-6, 1e-7, 1e-8].into_iter().any(agree), "{what}: {}", found[of]);
            }
        }
    }
}

#[test]
fn the_gradient_runs_what_the_program_runs() {
    for (problem, steps) in random_problems() {
        let run = run(&problem.mesh, &problem.position, &problem.energy, steps);
        let mut energies = problem.energy.clone();
        let time = evolve(&problem.mesh, &problem.position, &mut energies, steps);
        let gradient = Gradient::new(&problem, Objective::Origin, steps);
        assert_eq!(time.to_bits(), run.clock.time.to_bits());
        assert_eq!(gradient.time.to_bits(), run.clock.time.to_bits());
        for (element, material) in run.state.material.iter().enumerate() {
            assert_eq!(energies[element].to_bits(), material.energy.to_bits());
            assert_eq!(gradient.energies[element].to_bits(), material.energy.to_bits());
        }
    }
}

#[test]
fn no_steps_change_nothing() {
    let problem = Problem::generic(3);
    let weights: Vec<f64> = (0..problem.energy.len()).map(|element| element as f64).collect();
    let gradient = Gradient::weighted(&problem, weights.clone(), 0, 1.0);
    assert_eq!(gradient.energies, problem.energy);
    assert_eq!(gradient.time, 0.0);
    assert_eq!(gradient.by_energy, weights);
    assert!(gradient.by_position.iter().all(|d| *d == Vec3::ZERO));
}

#[test]
fn adjoints_of_coordinates_are_added() {
    let problem = Problem::generic(3);
    let expected = Gradient::new(&problem, Objective::Total, 12);
    let before = Vec3::new(1e3, -2e3, 5e2);
    let mut by_position = vec![before; problem.position.len()];
    let mut by_energy = Objective::Total.weights(problem.energy.len());
    let mut energies = problem.energy.clone();
    evolve_grad(
        &problem.mesh,
        &problem.position,
        &mut by_position,
        &mut energies,
        &mut by_energy,
        12,
        0.0,
    );
    assert_eq!(by_energy, expected.by_energy);
    let allowed = 1e-12 * expected.position_norm();
    for (found, expected) in by_position.iter().zip(&expected.by_position) {
        let apart = *found - (*expected + before);
        assert!(apart.dot(apart).sqrt() <= allowed, "{found:?}");
    }
}

fn in_workspace(
    workspace: &mut Workspace,
    problem: &Problem,
    objective: Objective,
    steps: usize,
) -> Gradient {
    let weights = objective.weights(problem.energy.len());
    Gradient::by(problem, weights, |by_position, energies, by_energy| {
        let (mesh, start) = (&problem.mesh, &problem.position);
        evolve_grad_in(workspace, mesh, start, by_position, energies, by_energy, steps, 0.0)
            .unwrap()
    })
}

/// A workspace with so little memory that its tape goes to disk.
fn spilling(memory: usize) -> Workspace {
    Workspace::with(TapeOptions::new().memory(memory).spill_to(std::env::temp_dir())).unwrap()
}

#[test]
fn a_tape_on_disk_changes_no_bit() {
    let (mut on_disk, mut in_memory) = (spilling(1 << 20), Workspace::new());
    let generic = [(Problem::generic(6), 20), (Problem::generic(3), 5), (Problem::generic(7), 10)];
    for (problem, steps) in generic.into_iter().chain(random_problems().take(5)) {
        for objective in Objective::BOTH {
            let expected = Gradient::new(&problem, objective, steps).bits();
            // As lists of numbers they would be printed.
            assert!(in_workspace(&mut in_memory, &problem, objective, steps).bits() == expected);
            assert!(in_workspace(&mut on_disk, &problem, objective, steps).bits() == expected);
        }
    }
    assert!(on_disk.stats().bytes_spilled > 1 << 20, "{}", on_disk.stats());
    assert_eq!(in_memory.stats().bytes_spilled, 0);
}

/// With less than 1 MiB the slabs of the tape are smaller, and sums of adjoints are taken in smaller parts: their last bits may change.
#[test]
fn a_tiny_budget_changes_only_the_last_bits() {
    let mut workspace = spilling(1 << 16);
    let (problem, steps) = (Problem::generic(5), 30);
    for objective in Objective::BOTH {
        let expected = Gradient::new(&problem, objective, steps);
        let found = in_workspace(&mut workspace, &problem, objective, steps);
        assert_eq!(found.energies, expected.energies);
        let apart: Vec<Vec3> =
            found.by_position.iter().zip(&expected.by_position).map(|(a, b)| *a - *b).collect();
        let apart = apart.iter().map(|d| d.dot(*d)).sum::<f64>().sqrt();
        near("∂r", apart, 0.0, 1e-13 * expected.position_norm());
        let pairs = found.by_energy.iter().zip(&expected.by_energy);
        let apart = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        near("∂e", apart, 0.0, 1e-13 * expected.energy_norm());
    }
    assert!(workspace.stats().bytes_spilled > 1 << 20, "{}", workspace.stats());
}

#[test]
fn a_workspace_is_used_again_by_runs_of_any_size() {
    let mut workspace = Workspace::new();
    let small = Problem::generic(2);
    let large = Problem::generic(6);
    let first = in_workspace(&mut workspace, &small, Objective::Total, 7).bits();
    let other = in_workspace(&mut workspace, &large, Objective::Origin, 20).bits();
    assert_eq!(in_workspace(&mut workspace, &small, Objective::Total, 7).bits(), first);
    assert_eq!(in_workspace(&mut workspace, &large, Objective::Origin, 20).bits(), other);
}
