//! A fit to data of which each rank has a part: gradient descent with the same parameters on all ranks.
//!
//! `mpirun -n 4 target/…/examples/fit [POINTS]`. The loss is a sum over ranks, and each rank's gradient is that of its own points: the loop adds them up.

// Indices are what the formulas have.
#![allow(clippy::needless_range_loop)]

mod common;

use common::{Done, agree, part, report};
use stratape::gradient;
use stratape_mpi::{Comm, all_reduce_sum, broadcast};

/// The mean square of the errors of this rank's points. The root's parameters go to all ranks; the adjoint of that is the sum of their gradients on the root.
#[gradient(wrt(parameters))]
fn loss(comm: &Comm, parameters: &[f64], t: &[f64], y: &[f64], points: usize) -> f64 {
    let mut p = parameters.to_vec();
    broadcast(comm, &mut p, 0);
    let mut sum = 0.0;
    for i in 0..t.len() {
        let error = p[0] * (-p[1] * t[i]).exp() + p[2] * (p[3] * t[i]).sin() - y[i];
        sum += error * error;
    }
    sum / points as f64
}

/// Gradient descent; the loss and the parameters at the end.
fn fit(comm: &Comm, t: &[f64], y: &[f64], points: usize) -> (f64, Vec<f64>) {
    let mut parameters = vec![0.5, 0.5, 0.5, 1.8];
    let mut value = 0.0;
    for _ in 0..200 {
        let mut own = vec![0.0; parameters.len()];
        let part = loss_grad(comm, &parameters, &mut own, t, y, points, 1.0);
        // The gradient is on the root: the others add zeros. So does each rank's part of the loss add up.
        own.push(part);
        let mut all = vec![0.0; own.len()];
        all_reduce_sum(comm, &own, &mut all);
        value = all.pop().unwrap_or(f64::NAN);
        parameters.iter_mut().zip(&all).for_each(|(p, d)| *p -= 0.2 * d);
    }
    (value, parameters)
}

/// The same without ranks, for comparison.
#[gradient(wrt(p))]
fn serial_loss(p: &[f64], t: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..t.len() {
        let error = p[0] * (-p[1] * t[i]).exp() + p[2] * (p[3] * t[i]).sin() - y[i];
        sum += error * error;
    }
    sum / t.len() as f64
}

fn serial_fit(t: &[f64], y: &[f64]) -> Vec<f64> {
    let mut parameters = vec![0.5, 0.5, 0.5, 1.8];
    for _ in 0..200 {
        let mut d = vec![0.0; parameters.len()];
        serial_loss_grad(&parameters, &mut d, t, y, 1.0);
        parameters.iter_mut().zip(&d).for_each(|(p, d)| *p -= 0.2 * d);
    }
    parameters
}

fn main() -> Done {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let comm = Comm::new(&universe.world())?;
    let points = std::env::args().nth(1).map_or(Ok(400), |text| text.parse())?;

    let t: Vec<f64> = (0..points).map(|i| 4.0 * i as f64 / points as f64).collect();
    let y: Vec<f64> = t.iter().map(|t| 2.0 * (-0.7 * t).exp() + 0.3 * (2.0 * t).sin()).collect();
    let (first, own) = part(points, comm.rank, comm.size);
    let (own_t, own_y) = (&t[first..first + own], &y[first..first + own]);
    loss(&comm, &[1.0; 4], own_t, own_y, points);
    let function = comm.traffic()?;
    comm.reset_traffic()?;
    loss_grad(&comm, &[1.0; 4], &mut [0.0; 4], own_t, own_y, points, 1.0);
    let gradient = comm.traffic()?;

    let start = std::time::Instant::now();
    let (value, parameters) = fit(&comm, own_t, own_y, points);
    let seconds = start.elapsed().as_secs_f64();
    let serial = serial_fit(&t, &y);
    if comm.rank == 0 {
        println!("{points} points on {} ranks: loss {value:.2e}, {seconds:.4} s", comm.size);
    }
    agree(&comm, "the parameters", &parameters, &serial)?;
    if value > 1e-2 {
        return Err(format!("the fit is not good: {value}").into());
    }
    report(&comm, function, gradient)
}
