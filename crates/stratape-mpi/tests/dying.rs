//! A rank that panics while others wait for it ends the job.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::Command;

use stratape::gradient;
use stratape_mpi::{Comm, sum};

#[gradient]
fn picked(comm: &Comm, x: &[f64]) -> f64 {
    // Rank 0 has no such element; the others wait for its part of the sum.
    sum(comm, x[2 + comm.rank.min(1)])
}

/// What each rank of the job does.
fn rank() {
    let universe = mpi::initialize().unwrap();
    let comm = Comm::new(&universe.world()).unwrap();
    let _guard = comm.abort_on_panic();
    let x = vec![1.0; 2 + 2 * comm.rank];
    picked_grad(&comm, &x, &mut vec![0.0; x.len()], comm.seed());
}

#[test]
fn a_panic_ends_all_ranks() {
    if std::env::var_os("STRATAPE_RANK").is_some() {
        return rank();
    }
    let mut job = Command::new("timeout");
    job.args(["-k", "5", "60", "mpirun", "-n", "3"]).arg(std::env::current_exe().unwrap());
    job.args(["--exact", "a_panic_ends_all_ranks", "--nocapture"]).env("STRATAPE_RANK", "1");
    let output = job.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("stratape-mpi: rank 0 panicked"), "{text}");
}
