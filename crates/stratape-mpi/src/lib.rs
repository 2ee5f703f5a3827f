//! Gradients of MPI programs.
//!
//! Functions for messages and collective operations that code under [`#[gradient]`](stratape::gradient) and [`#[differentiable]`](stratape::differentiable) may call, on
//! communicators of [rsmpi](mpi). In the backward pass the communication runs in reverse: a receive sends, a send receives, a broadcast is a sum, an all-gather is
//! a reduce-scatter.
//!
//! ```no_run
//! use stratape::gradient;
//! use stratape_mpi::{Comm, sum};
//!
//! /// The norm of a vector of which every rank has a part.
//! #[gradient]
//! fn norm(comm: &Comm, x: &[f64]) -> f64 {
//!     let mut own = 0.0;
//!     for x in x {
//!         own += x * x;
//!     }
//!     sum(comm, own).sqrt()
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let universe = mpi::initialize().ok_or("MPI is initialised already")?;
//!     let comm = Comm::new(&universe.world())?;
//!     let x = vec![1.0 + comm.rank as f64; 4];
//!     let mut dx = vec![0.0; 4];
//!     // All ranks return the same norm: it counts on one of them.
//!     let value = norm_grad(&comm, &x, &mut dx, comm.seed());
//!     println!("rank {}: {value}, {dx:?}", comm.rank);
//!     Ok(())
//! }
//! ```
//!
//! Methods of rsmpi are refused there:
//!
//! ```compile_fail
//! use mpi::topology::SimpleCommunicator;
//! use mpi::traits::*;
//! use stratape::gradient;
//!
//! #[gradient(wrt(x))]
//! fn refused(world: &SimpleCommunicator, x: &[f64]) -> f64 {
//!     world.process_at_rank(0).send(x);
//!     x[0]
//! }
//! ```
//!
//! # What is differentiated
//!
//! The sum over ranks of seed · result. A result that differs from rank to rank has the seed 1 on each; one that all ranks share has the seed 1 on
//! one of them and 0 elsewhere: [`Comm::seed`]. With 1 everywhere its gradient is too large by the number of ranks.
//!
//! # Which messages are active
//!
//! All of the functions at the root of this crate, of [`single`] and of [`structs`]: whether a message counts depends on what other ranks do with it, which no rank can know. Those of [`constant`] are for what does not count (a table,
//! an index, a length, a decision): their messages have no adjoint.
//!
//! # Errors
//!
//! A function that is called by itself ends the program with a message, as MPI does. A gradient `f_grad_in` returns an error: [`MpiError::of`]. [`Comm::checked`] finds
//! messages that do not fit together.

#![deny(unsafe_op_in_unsafe_fn)]

mod cartesian;
mod comm;
pub mod constant;
mod cuts;
mod error;
mod functions;
mod halo;
mod halves;
mod number;
mod state;
pub mod structs;
mod time_loop;
mod traffic;

pub use self::cartesian::Cartesian;
pub use self::comm::{AbortOnPanic, Comm};
pub use self::error::{Fault, MpiError};
pub use self::functions::double::*;
pub use self::functions::single;
pub use self::time_loop::{RunError, RunReport, TimeLoop};
pub use self::traffic::{Count, Spread, Traffic};

/// The rank of nobody, for neighbours beyond an edge: nothing is sent there, and nothing comes from there.
#[stratape::differentiable]
pub const NOBODY: usize = usize::MAX;
