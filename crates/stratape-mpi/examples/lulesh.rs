//! LULESH, a hydrodynamics program, on a grid of ranks: each has a block of the mesh, and the gradient goes through the whole time loop.
//!
//! `mpirun -n 8 target/…/examples/lulesh [ELEMENTS_ALONG_AN_EDGE [STEPS]]`; differentiates the sum of all last energies with respect to all coordinates and energies before the first step.

mod common;

#[path = "lulesh/blocks.rs"]
mod blocks;

use blocks::{Block, evolve, evolve_checkpointed_grad, evolve_grad};
use common::{Done, agree, report};
use stratape_lulesh::{Problem, Vec3};
use stratape_mpi::{Cartesian, Comm, all_reduce_sum};

/// The sum over ranks of the derivatives with respect to a node, for the nodes of this rank.
fn of_shared_nodes(comm: &Comm, own: &[Vec3], nodes: &[usize], count: usize) -> Vec<f64> {
    let (mut placed, mut all) = (vec![0.0; 3 * count], vec![0.0; 3 * count]);
    for (d, node) in own.iter().zip(nodes) {
        placed[3 * node..][..3].copy_from_slice(&[d.x, d.y, d.z]);
    }
    all_reduce_sum(comm, &placed, &mut all);
    nodes.iter().flat_map(|node| all[3 * node..][..3].to_vec()).collect()
}

fn main() -> Done {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let comm = Comm::new(&universe.world())?;
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: usize| arguments.next().map_or(Ok(otherwise), |text| text.parse());
    let (edge, steps, slots) = (number(6)?, number(10)?, 4);

    let grid = Cartesian::balanced(&comm, 3)?;
    if grid.dimensions.iter().any(|ranks| *ranks > edge) {
        return Err(format!("{:?} ranks for {edge} elements along an edge", grid.dimensions).into());
    }
    let problem = Problem::generic(edge);
    let Block { mesh, nodes, elements } = Block::new(&grid, edge)?;
    let position = Block::of(&problem.position, &nodes);
    let start = Block::of(&problem.energy, &elements);

    let run = || {
        let mut energy = start.clone();
        evolve(&grid, &mesh, &position, &mut energy, steps);
        energy
    };
    let taped = || {
        let (mut energy, mut by_energy) = (start.clone(), vec![1.0; start.len()]);
        let mut by_position = vec![Vec3::ZERO; position.len()];
        let (shadow, of) = (&mut by_position, &mut by_energy);
        evolve_grad(&grid, &mesh, &position, shadow, &mut energy, of, steps, 0.0);
        (energy, by_position, by_energy)
    };
    let from_snapshots = || {
        let (mut energy, mut by_energy) = (start.clone(), vec![1.0; start.len()]);
        let mut by_position = vec![Vec3::ZERO; position.len()];
        let (shadow, of) = (&mut by_position, &mut by_energy);
        evolve_checkpointed_grad(
            &grid,
            &mesh,
            &position,
            shadow,
            &mut energy,
            of,
            steps,
            slots,
            0.0,
        );
        (energy, by_position, by_energy)
    };
    let serial = || {
        let (mut energy, mut by_energy) = (problem.energy.clone(), vec![1.0; problem.energy.len()]);
        let mut by_position = vec![Vec3::ZERO; problem.position.len()];
        let (shadow, of) = (&mut by_position, &mut by_energy);
        let (mesh, start) = (&problem.mesh, &problem.position);
        stratape_lulesh::evolve_grad(mesh, start, shadow, &mut energy, of, steps, 0.0);
        (energy, by_position, by_energy)
    };

    comm.reset_traffic()?;
    run();
    let function = comm.traffic()?;
    comm.reset_traffic()?;
    let found = taped();
    let gradient = comm.traffic()?;
    let again = from_snapshots();
    let expected = serial();
    let by_node: Vec<f64> =
        nodes.iter().flat_map(|n| [expected.1[*n].x, expected.1[*n].y, expected.1[*n].z]).collect();
    for (name, (energy, by_position, by_energy)) in [("taped", found), ("from snapshots", again)] {
        let by_position = of_shared_nodes(&comm, &by_position, &nodes, problem.position.len());
        agree(&comm, &format!("energies, {name}"), &energy, &Block::of(&expected.0, &elements))?;
        agree(&comm, &format!("derivatives of coordinates, {name}"), &by_position, &by_node)?;
        let of_elements = Block::of(&expected.2, &elements);
        agree(&comm, &format!("derivatives of energies, {name}"), &by_energy, &of_elements)?;
    }
    let seconds = [
        common::seconds(run),
        common::seconds(taped),
        common::seconds(from_snapshots),
        common::seconds(serial),
    ];
    if comm.rank == 0 {
        let [run, taped, from_snapshots, serial] = seconds;
        println!(
            "{edge}³ elements, {steps} steps, {:?} ranks: {run:.4} s, with its gradient {taped:.4} s, from {slots} snapshots {from_snapshots:.4} s, the serial gradient {serial:.4} s",
            grid.dimensions
        );
    }
    report(&comm, function, gradient)
}
