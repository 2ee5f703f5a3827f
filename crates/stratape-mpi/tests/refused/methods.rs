use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use stratape::gradient;
use stratape_mpi::Comm;

#[gradient(wrt(x))]
fn with_its_communicator(world: &SimpleCommunicator, x: &[f64]) -> f64 {
    world.process_at_rank(0).send(x);
    x[0]
}

#[gradient(wrt(x))]
fn with_its_universe(comm: &Comm, x: &[f64]) -> f64 {
    let world = mpi::initialize().unwrap().world();
    world.process_at_rank(comm.rank as i32).send(x);
    x[0]
}

#[gradient(wrt(x))]
fn with_its_methods(comm: &Comm, x: &[f64]) -> f64 {
    comm.process_at_rank(0).send(x);
    x[0]
}
