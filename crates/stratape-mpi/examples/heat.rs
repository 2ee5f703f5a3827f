//! Heat in two dimensions on a grid of ranks: ghost layers are exchanged in each step, and the time loop runs from snapshots.
//!
//! `mpirun -n 4 target/…/examples/heat [CELLS [STEPS]]`; differentiates the energy after all steps with respect to the temperatures before the first.

// Indices are what the formulas have.
#![allow(clippy::needless_range_loop)]

mod common;

use common::{Done, agree, report};
use stratape::gradient;
use stratape_mpi::{Cartesian, Comm, halo_2d};

/// The energy of this rank's cells after all steps. `u` has a ghost layer on each side.
#[gradient(wrt(u))]
fn energy(grid: &Cartesian, u: &[f64], n: (usize, usize), steps: usize) -> f64 {
    let (nx, ny) = n;
    let row = ny + 2;
    let mut now = u.to_vec();
    #[checkpoint(slots = 8)]
    for _ in 0..steps {
        halo_2d(grid, &mut now, n, 1);
        let old = now.clone();
        for i in 1..nx + 1 {
            for j in 1..ny + 1 {
                let at = i * row + j;
                let flow =
                    old[at - row] + old[at + row] + old[at - 1] + old[at + 1] - 4.0 * old[at];
                now[at] = old[at] + 0.1 * flow * (1.0 + 0.1 * old[at]);
            }
        }
    }
    let mut sum = 0.0;
    for i in 1..nx + 1 {
        for j in 1..ny + 1 {
            sum += now[i * row + j] * now[i * row + j];
        }
    }
    sum
}

/// The same without ranks, for comparison.
#[gradient(wrt(u))]
fn serial(u: &[f64], cells: usize, steps: usize) -> f64 {
    let row = cells + 2;
    let mut now = u.to_vec();
    for _ in 0..steps {
        let old = now.clone();
        for i in 1..cells + 1 {
            for j in 1..cells + 1 {
                let at = i * row + j;
                let flow =
                    old[at - row] + old[at + row] + old[at - 1] + old[at + 1] - 4.0 * old[at];
                now[at] = old[at] + 0.1 * flow * (1.0 + 0.1 * old[at]);
            }
        }
    }
    let mut sum = 0.0;
    for v in &now {
        sum += v * v;
    }
    sum
}

type Pair = (usize, usize);

/// The part of the plate that a rank has, with a ghost layer of zeros; where it begins, and its inner cells.
fn plate(grid: &Cartesian, cells: usize) -> Done<(Vec<f64>, Pair, Pair)> {
    let ((x, nx), (y, ny)) = (grid.part(0, cells)?, grid.part(1, cells)?);
    let mut u = vec![0.0; (nx + 2) * (ny + 2)];
    for i in 0..nx {
        for j in 0..ny {
            u[(i + 1) * (ny + 2) + j + 1] =
                (0.3 * (x + i) as f64).sin() + (0.2 * (y + j) as f64).cos();
        }
    }
    Ok((u, (x, y), (nx, ny)))
}

fn main() -> Done {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let comm = Comm::new(&universe.world())?;
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: usize| arguments.next().map_or(Ok(otherwise), |text| text.parse());
    let (cells, steps) = (number(24)?, number(60)?);

    let grid = Cartesian::balanced(&comm, 2)?;
    let (u, (x, y), (nx, ny)) = plate(&grid, cells)?;
    energy(&grid, &u, (nx, ny), steps);
    let function = comm.traffic()?;
    comm.reset_traffic()?;
    let mut du = vec![0.0; u.len()];
    energy_grad(&grid, &u, &mut du, (nx, ny), steps, 1.0);
    let gradient = comm.traffic()?;
    let alone_seconds = common::seconds(|| energy(&grid, &u, (nx, ny), steps));
    let seconds = common::seconds(|| {
        du.fill(0.0);
        energy_grad(&grid, &u, &mut du, (nx, ny), steps, 1.0);
    });

    let alone = Cartesian::balanced(&comm.split(comm.rank, 0)?, 2)?;
    let (whole, _, _) = plate(&alone, cells)?;
    let mut dwhole = vec![0.0; whole.len()];
    let serial_seconds = common::seconds(|| {
        dwhole.fill(0.0);
        serial_grad(&whole, &mut dwhole, cells, steps, 1.0);
    });
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for i in 1..=nx {
        for j in 1..=ny {
            found.push(du[i * (ny + 2) + j]);
            expected.push(dwhole[(x + i) * (cells + 2) + y + j]);
        }
    }
    if comm.rank == 0 {
        println!(
            "{cells} × {cells} cells, {steps} steps, {:?} ranks: {alone_seconds:.4} s, with its gradient {seconds:.4} s, the serial gradient {serial_seconds:.4} s",
            &grid.dimensions[..2]
        );
    }
    agree(&comm, "the gradient", &found, &expected)?;
    report(&comm, function, gradient)
}
