//! LULESH on blocks of its mesh, one on each rank: values and gradients against those of the program on one rank, taped and from snapshots.

#![allow(clippy::unwrap_used)]

mod common;

#[path = "../examples/lulesh/blocks.rs"]
mod blocks;

use blocks::{Block, evolve_checkpointed_grad, evolve_grad};
use common::Rank;
use stratape_lulesh::{Problem, Vec3};
use stratape_mpi::{Cartesian, all_reduce_sum};

/// A run and its derivatives, of the whole mesh.
struct Whole {
    time: f64,
    energy: Vec<f64>,
    by_position: Vec<f64>,
    by_energy: Vec<f64>,
}

/// The weights of the last energies, no two of them equal, and of the time.
fn weights(elements: usize) -> (Vec<f64>, f64) {
    ((0..elements).map(|element| 1.0 + 0.3 * (element as f64).sin()).collect(), 1e7)
}

fn flat(list: &[Vec3]) -> Vec<f64> {
    list.iter().flat_map(|v| [v.x, v.y, v.z]).collect()
}

fn alone(problem: &Problem, steps: usize) -> Whole {
    let mut energy = problem.energy.clone();
    let mut by_position = vec![Vec3::ZERO; problem.position.len()];
    let (mut by_energy, by_time) = weights(energy.len());
    let time = stratape_lulesh::evolve_grad(
        &problem.mesh,
        &problem.position,
        &mut by_position,
        &mut energy,
        &mut by_energy,
        steps,
        by_time,
    );
    Whole { time, energy, by_position: flat(&by_position), by_energy }
}

/// The same on all ranks, put together on each of them: a node that is on several has the sum of their derivatives.
fn together(rank: &Rank, problem: &Problem, steps: usize, slots: Option<usize>) -> Whole {
    let grid = Cartesian::balanced(&rank.comm, 3).unwrap();
    let Block { mesh, nodes, elements } = Block::new(&grid, problem.mesh.cells[0]).unwrap();
    let position = Block::of(&problem.position, &nodes);
    let mut energy = Block::of(&problem.energy, &elements);
    let mut shadow = vec![Vec3::ZERO; nodes.len()];
    let (weights, by_time) = weights(problem.energy.len());
    let mut by_energy = Block::of(&weights, &elements);
    let seed = by_time * rank.comm.seed();
    let time = match slots {
        None => evolve_grad(
            &grid,
            &mesh,
            &position,
            &mut shadow,
            &mut energy,
            &mut by_energy,
            steps,
            seed,
        ),
        Some(slots) => evolve_checkpointed_grad(
            &grid,
            &mesh,
            &position,
            &mut shadow,
            &mut energy,
            &mut by_energy,
            steps,
            slots,
            seed,
        ),
    };
    let sum = |own: &[f64], numbers: &[usize], count: usize| {
        let width = own.len() / numbers.len();
        let (mut placed, mut all) = (vec![0.0; width * count], vec![0.0; width * count]);
        for (i, number) in numbers.iter().enumerate() {
            placed[width * number..][..width].copy_from_slice(&own[width * i..][..width]);
        }
        all_reduce_sum(&rank.comm, &placed, &mut all);
        all
    };
    let (all_nodes, all_elements) = (problem.position.len(), problem.energy.len());
    Whole {
        time,
        energy: sum(&energy, &elements, all_elements),
        by_position: sum(&flat(&shadow), &nodes, all_nodes),
        by_energy: sum(&by_energy, &elements, all_elements),
    }
}

/// The largest difference, relative to the largest number.
fn apart(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let gaps = found.iter().zip(expected).map(|(a, b)| (a - b).abs() / size);
    gaps.fold(0.0, |most, gap| if gap.is_nan() { f64::INFINITY } else { most.max(gap) })
}

fn main() {
    let mut rank = Rank::new();
    let grid = Cartesian::balanced(&rank.comm, 3).unwrap();
    for (edge, steps) in [(4, 1), (4, 12), (5, 30)] {
        if grid.dimensions.iter().any(|ranks| *ranks > edge) {
            continue;
        }
        let problem = Problem::generic(edge);
        let expected = alone(&problem, steps);
        let found = together(&rank, &problem, steps, None);
        let name = format!("{edge}³ elements, {steps} steps");
        // On one rank the sums are in the order of the serial program.
        let error = if rank.comm.size == 1 { 0.0 } else { 1e-13 };
        for (what, found, expected) in [
            ("the time", &[found.time][..], &[expected.time][..]),
            ("energies", &found.energy, &expected.energy),
            ("derivatives with respect to coordinates", &found.by_position, &expected.by_position),
            ("derivatives with respect to energies", &found.by_energy, &expected.by_energy),
        ] {
            let apart = apart(found, expected);
            if rank.comm.rank == 0 {
                println!("{name}: {what}: {apart:.1e} from the serial ones");
            }
            rank.expect(&format!("{name}: {what}: {apart:e}"), apart <= error);
        }
        for slots in [3, steps + 1] {
            let again = together(&rank, &problem, steps, Some(slots));
            let bits = again.time == found.time
                && again.energy == found.energy
                && again.by_position == found.by_position
                && again.by_energy == found.by_energy;
            rank.expect(&format!("{name}: {slots} snapshots"), bits);
        }
    }
    // The blast itself, whose far field is at rest: ties and thresholds, which derivatives do not survive, but values do.
    let problem = Problem::sedov(4);
    if grid.dimensions.iter().all(|ranks| *ranks <= 4) {
        let (expected, found) = (alone(&problem, 40), together(&rank, &problem, 40, None));
        rank.expect("the blast: time", apart(&[found.time], &[expected.time]) <= 1e-13);
        rank.expect("the blast: energies", apart(&found.energy, &expected.energy) <= 1e-13);
    }
    rank.finish("lulesh");
}
