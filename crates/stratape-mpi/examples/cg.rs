//! Conjugate gradients on a line of ranks: products with the matrix exchange the neighbours' last numbers, dot products are sums over all ranks.
//!
//! `mpirun -n 4 target/…/examples/cg [NUMBERS [ITERATIONS]]`; differentiates an objective of the solution with respect to the right-hand side.

// Indices are what the formulas have.
#![allow(clippy::needless_range_loop)]

mod common;

use common::{Done, agree, part, report};
use stratape::{differentiable, gradient};
use stratape_mpi::{Cartesian, Comm, halo_1d, sum};

#[differentiable]
fn dot(comm: &Comm, a: &[f64], b: &[f64]) -> f64 {
    let mut own = 0.0;
    for i in 0..a.len() {
        own += a[i] * b[i];
    }
    sum(comm, own)
}

/// `q = A p` for the matrix with 2.1 on the diagonal and -1 beside it.
#[differentiable]
fn product(grid: &Cartesian, p: &[f64], q: &mut [f64]) {
    let n = p.len();
    let mut padded = vec![0.0; n + 2];
    padded[1..n + 1].copy_from_slice(p);
    halo_1d(grid, &mut padded, 1);
    for i in 0..n {
        q[i] = 2.1 * padded[i + 1] - padded[i] - padded[i + 2];
    }
}

/// This rank's part of the objective of `x` in `A x = b`, after a fixed number of iterations.
#[gradient(wrt(b))]
fn objective(grid: &Cartesian, b: &[f64], iterations: usize) -> f64 {
    let comm = &grid.comm;
    let n = b.len();
    let mut x = vec![0.0; n];
    let mut r = b.to_vec();
    let mut p = b.to_vec();
    let mut q = vec![0.0; n];
    let mut rr = dot(comm, &r, &r);
    for _ in 0..iterations {
        product(grid, &p, &mut q);
        let alpha = rr / dot(comm, &p, &q);
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        let next = dot(comm, &r, &r);
        let beta = next / rr;
        rr = next;
        for i in 0..n {
            p[i] = r[i] + beta * p[i];
        }
    }
    let mut own = 0.0;
    for i in 0..n {
        own += x[i] * x[i] * x[i];
    }
    own
}

/// The same without ranks, for comparison.
#[gradient]
fn serial(b: &[f64], iterations: usize) -> f64 {
    let n = b.len();
    let mut x = vec![0.0; n];
    let mut r = b.to_vec();
    let mut p = b.to_vec();
    let mut rr: f64 = r.iter().map(|v| v * v).sum();
    for _ in 0..iterations {
        let mut q = vec![0.0; n];
        for i in 0..n {
            q[i] = 2.1 * p[i];
            if i > 0 {
                q[i] -= p[i - 1];
            }
            if i + 1 < n {
                q[i] -= p[i + 1];
            }
        }
        let pq: f64 = p.iter().zip(&q).map(|(p, q)| p * q).sum();
        let alpha = rr / pq;
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        let next: f64 = r.iter().map(|v| v * v).sum();
        let beta = next / rr;
        rr = next;
        for i in 0..n {
            p[i] = r[i] + beta * p[i];
        }
    }
    x.iter().map(|x| x * x * x).sum()
}

fn main() -> Done {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let comm = Comm::new(&universe.world())?;
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: usize| arguments.next().map_or(Ok(otherwise), |text| text.parse());
    let (count, iterations) = (number(60)?, number(20)?);

    let whole: Vec<f64> = (0..count).map(|i| 1.0 + 0.5 * (0.7 * i as f64).sin()).collect();
    let (first, own) = part(count, comm.rank, comm.size);
    let b = &whole[first..first + own];
    let grid = Cartesian::balanced(&comm, 1)?;
    objective(&grid, b, iterations);
    let function = comm.traffic()?;
    comm.reset_traffic()?;
    let mut db = vec![0.0; own];
    objective_grad(&grid, b, &mut db, iterations, 1.0);
    let gradient = comm.traffic()?;
    let alone_seconds = common::seconds(|| objective(&grid, b, iterations));
    let seconds = common::seconds(|| {
        db.fill(0.0);
        objective_grad(&grid, b, &mut db, iterations, 1.0);
    });

    let mut dwhole = vec![0.0; count];
    let serial_seconds = common::seconds(|| {
        dwhole.fill(0.0);
        serial_grad(&whole, &mut dwhole, iterations, 1.0);
    });
    if comm.rank == 0 {
        println!(
            "{count} numbers, {iterations} iterations on {} ranks: {alone_seconds:.4} s, with its gradient {seconds:.4} s, the serial gradient {serial_seconds:.4} s",
            comm.size
        );
    }
    agree(&comm, "the gradient", &db, &dwhole[first..first + own])?;
    report(&comm, function, gradient)
}
