//! Bodies that attract each other, in a ring: each rank has its bodies, and those of the others come by, one rank's after the other.
//!
//! `mpirun -n 4 target/…/examples/nbody [BODIES]`; differentiates the potential with respect to all positions.

// Indices are what the formulas have.
#![allow(clippy::needless_range_loop)]

mod common;

use common::{Done, agree, part, report};
use stratape::gradient;
use stratape_mpi::{Comm, exchange};

/// Half of the potential between this rank's bodies and all others. Positions are padded to as many as the rank with the most bodies has, with mass 0.
#[gradient(wrt(x))]
fn potential(comm: &Comm, x: &[f64], mass: &[f64]) -> f64 {
    let next = (comm.rank + 1) % comm.size;
    let last = (comm.rank + comm.size - 1) % comm.size;
    let n = mass.len();
    let mut guests = x.to_vec();
    let mut masses = mass.to_vec();
    let mut sum = 0.0;
    for round in 0..comm.size {
        for i in 0..n {
            for j in 0..n {
                if round > 0 || i != j {
                    let mut square = 0.01;
                    for k in 0..3 {
                        let d = x[3 * i + k] - guests[3 * j + k];
                        square += d * d;
                    }
                    sum -= 0.5 * mass[i] * masses[j] / square.sqrt();
                }
            }
        }
        if round + 1 < comm.size {
            let leaving = guests.clone();
            exchange(comm, &leaving, next, &mut guests, last, 0);
            let with = masses.clone();
            exchange(comm, &with, next, &mut masses, last, 1);
        }
    }
    sum
}

/// The same without ranks, for comparison.
#[gradient(wrt(x))]
fn serial(x: &[f64], mass: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..mass.len() {
        for j in 0..i {
            let mut square = 0.01;
            for k in 0..3 {
                let d = x[3 * i + k] - x[3 * j + k];
                square += d * d;
            }
            sum -= mass[i] * mass[j] / square.sqrt();
        }
    }
    sum
}

/// The bodies of a rank, padded.
fn bodies(count: usize, comm: &Comm) -> (Vec<f64>, Vec<f64>) {
    let (start, own) = part(count, comm.rank, comm.size);
    let room = count.div_ceil(comm.size);
    let (mut x, mut mass) = (vec![0.0; 3 * room], vec![0.0; room]);
    for i in 0..own {
        let t = (start + i) as f64;
        x[3 * i..3 * i + 3].copy_from_slice(&[t.sin(), (1.7 * t).cos(), (0.3 * t).sin()]);
        mass[i] = 1.0 + 0.1 * (start + i) as f64 % 3.0;
    }
    (x, mass)
}

fn main() -> Done {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let comm = Comm::new(&universe.world())?;
    let count = std::env::args().nth(1).map_or(Ok(50), |text| text.parse())?;

    let (x, mass) = bodies(count, &comm);
    potential(&comm, &x, &mass);
    let function = comm.traffic()?;
    comm.reset_traffic()?;
    let mut dx = vec![0.0; x.len()];
    potential_grad(&comm, &x, &mut dx, &mass, 1.0);
    let gradient = comm.traffic()?;
    let alone_seconds = common::seconds(|| potential(&comm, &x, &mass));
    let seconds = common::seconds(|| {
        dx.fill(0.0);
        potential_grad(&comm, &x, &mut dx, &mass, 1.0);
    });

    let alone = comm.split(comm.rank, 0)?;
    let (whole, masses) = bodies(count, &alone);
    let mut dwhole = vec![0.0; whole.len()];
    let serial_seconds = common::seconds(|| {
        dwhole.fill(0.0);
        serial_grad(&whole, &mut dwhole, &masses, 1.0);
    });
    if comm.rank == 0 {
        println!(
            "{count} bodies on {} ranks: {alone_seconds:.4} s, with its gradient {seconds:.4} s, the serial gradient {serial_seconds:.4} s",
            comm.size
        );
    }
    let (first, own) = part(count, comm.rank, comm.size);
    agree(&comm, "the gradient", &dx[..3 * own], &dwhole[3 * first..3 * (first + own)])?;
    report(&comm, function, gradient)
}
