//! A gradient through a time loop on several ranks that goes on where it was after a rank has died.
//!
//! A ring of nonlinear cells, divided among the ranks. With `DIE_AT=n` rank `DIE_RANK` (0 if it is not said) kills itself when it has done so many steps and reversals; the
//! next job takes the run up from the last cut that all ranks have.
//!
//! ```text
//! DIE_AT=500 mpirun -n 4 durable run-directory     # dies
//! mpirun -n 4 durable run-directory                # goes on, to the same bits
//! ```

use std::cell::Cell;

use stratape::gradient;
use stratape_mpi::{Comm, TimeLoop, exchange};

/// One step of the cells of this rank.
#[gradient]
fn advance(comm: &Comm, u: &mut [f64]) {
    let n = u.len();
    let right = (comm.rank + 1) % comm.size;
    let left = (comm.rank + comm.size - 1) % comm.size;
    let first = [u[0]];
    let last = [u[n - 1]];
    let mut from_left = [0.0];
    let mut from_right = [0.0];
    exchange(comm, &last, right, &mut from_left, left, 1);
    exchange(comm, &first, left, &mut from_right, right, 2);
    let mut next = vec![0.0; n];
    for i in 0..n {
        let a = if i == 0 { from_left[0] } else { u[i - 1] };
        let b = if i + 1 == n { from_right[0] } else { u[i + 1] };
        next[i] = u[i] + 0.1 * (a - 2.0 * u[i] + b) + 0.01 * u[i] * (1.0 - u[i]);
    }
    u.copy_from_slice(&next);
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let comm = Comm::new(&universe.world())?;
    let (die_at, die_rank) = (number("DIE_AT"), number("DIE_RANK").unwrap_or(0));
    let done = Cell::new(0_u64);
    let work = || {
        done.set(done.get() + 1);
        if Some(done.get()) == die_at && comm.rank as u64 == die_rank {
            // No destructor runs, nothing is flushed: as kill -9 would.
            std::process::abort();
        }
    };

    let start: Vec<f64> = (0..6).map(|i| 0.3 + 0.1 * ((6 * comm.rank + i) as f64).sin()).collect();
    let mut run = TimeLoop::new(&comm, start).segment(25).slots(4 + comm.rank);
    run = match number("STEPS") {
        Some(steps) => run.steps(steps as usize),
        // One rank alone sees the end.
        None => run.until(|u: &Vec<f64>| u[0] > 0.75),
    };
    if let Some(directory) = std::env::args().nth(1) {
        run = run.directory(directory);
    }
    let (last, adjoint, report) = run.gradient(
        |_, u| {
            work();
            advance(&comm, u);
        },
        |u| u.iter().map(|u| 2.0 * u).collect::<Vec<f64>>(),
        |_, u, du| {
            work();
            advance_grad(&comm, &mut u.clone(), du);
        },
    )?;
    let bits =
        |numbers: &[f64]| numbers.iter().fold(0_u64, |sum, x| sum.rotate_left(5) ^ x.to_bits());
    println!(
        "rank {}: {} steps, state {:016x}, adjoint {:016x}",
        comm.rank,
        report.steps,
        bits(&last),
        bits(&adjoint)
    );
    if comm.rank == 0 {
        let from = report.resumed.map_or("the start".to_owned(), |cut| format!("cut {cut}"));
        eprintln!("from {from}: {} steps forward", report.advanced);
    }
    Ok(())
}
