//! Messages of constants, which have no adjoint: numbers whose derivatives are not asked for, indices, counts, flags.
//!
//! The functions of this module are for `f64`, those of [`single`] for `f32`, of [`index`] for `usize`, of [`int64`] and [`int32`] for `i64` and `i32`, of [`flag`] for `bool`. Nothing is sent in the backward pass, and nothing
//! is kept on the tape.
//!
//! As of a function under [`#[constant]`](stratape::constant), the derivative of what is received is zero, whatever was sent: use them for floats that depend on no input. Both sides must agree: a
//! message that is sent as a constant and received by [`receive`](crate::receive) would have an adjoint for which nobody waits. [`Comm::checked`](crate::Comm::checked) finds that.
//!
//! ```no_run
//! use stratape::gradient;
//! use stratape_mpi::{Comm, all_gather_counts, constant};
//!
//! /// Lists of different lengths from all ranks: the lengths are exchanged first.
//! #[gradient]
//! fn total(comm: &Comm, x: &[f64]) -> f64 {
//!     let mut counts = vec![0; comm.size];
//!     constant::index::all_gather(comm, &[x.len()], &mut counts);
//!     let mut sum = 0;
//!     for count in &counts {
//!         sum += *count;
//!     }
//!     let mut all = vec![0.0; sum];
//!     all_gather_counts(comm, x, &mut all, &counts);
//!     all.iter().map(|x| x * x).sum()
//! }
//!
//! let universe = mpi::initialize().ok_or("MPI is initialised already")?;
//! let comm = Comm::new(&universe.world())?;
//! let x = vec![1.0; comm.rank + 1];
//! let mut dx = vec![0.0; x.len()];
//! total_grad(&comm, &x, &mut dx, comm.seed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use self::double::*;

/// Makes the functions for a type of number, whose backward halves are `$back`.
macro_rules! constants {
    ($number:ident, $zero:expr, $back:ident) => {
        use crate::comm::Comm;
        use stratape::differentiable;

        /// Sends constants: as [`send`](crate::send), without an adjoint.
        #[differentiable]
        pub fn send(comm: &Comm, x: &[$number], to: usize, tag: usize) {
            raw::send(comm.id, x, to, tag);
        }

        /// Receives constants: as [`receive`](crate::receive), without an adjoint.
        #[differentiable]
        pub fn receive(comm: &Comm, y: &mut [$number], from: usize, tag: usize) {
            raw::receive(comm.id, y, from, tag);
        }

        /// Receives constants from whichever rank sends first; which one it was.
        #[differentiable]
        pub fn receive_any(comm: &Comm, y: &mut [$number], tag: usize) -> usize {
            raw::receive_any(comm.id, y, tag)
        }

        /// Sends and receives constants: as [`exchange`](crate::exchange), without an adjoint.
        #[differentiable]
        pub fn exchange(comm: &Comm, x: &[$number], to: usize, y: &mut [$number], from: usize, tag: usize) {
            raw::exchange(comm.id, x, to, y, from, tag);
        }

        /// Begins to send constants, which [`finish_send`] waits for.
        #[differentiable]
        pub fn begin_send(comm: &Comm, x: &[$number], to: usize, tag: usize) -> usize {
            raw::begin_send(comm.id, x, to, tag)
        }

        /// Waits until what [`begin_send`] began is sent.
        #[differentiable]
        pub fn finish_send(comm: &Comm, request: usize) {
            raw::finish_send(comm.id, request);
        }

        /// Begins to receive `len` constants, which [`finish_receive`] waits for.
        #[differentiable]
        pub fn begin_receive(comm: &Comm, len: usize, from: usize, tag: usize) -> usize {
            raw::begin_receive(comm.id, len, from, tag)
        }

        /// Waits for the constants that [`begin_receive`] began to receive.
        #[differentiable]
        pub fn finish_receive(comm: &Comm, request: usize, y: &mut [$number]) {
            raw::finish_receive(comm.id, request, y);
        }

        /// Copies the root's constants to all ranks.
        #[differentiable]
        pub fn broadcast(comm: &Comm, x: &mut [$number], root: usize) {
            raw::broadcast(comm.id, x, root);
        }

        /// Element for element the sum over all ranks, on all ranks.
        #[differentiable]
        pub fn all_reduce_sum(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_sum(comm.id, x, y);
        }

        /// Element for element the largest over all ranks, on all ranks.
        #[differentiable]
        pub fn all_reduce_max(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_max(comm.id, x, y);
        }

        /// Element for element the least over all ranks, on all ranks.
        #[differentiable]
        pub fn all_reduce_min(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_min(comm.id, x, y);
        }

        /// The sum of one constant over all ranks, on all ranks.
        #[differentiable]
        pub fn sum(comm: &Comm, x: $number) -> $number {
            let mut y = [$zero];
            raw::all_reduce_sum(comm.id, &[x], &mut y);
            y[0]
        }

        /// The largest of one constant over all ranks, on all ranks.
        #[differentiable]
        pub fn max(comm: &Comm, x: $number) -> $number {
            let mut y = [$zero];
            raw::all_reduce_max(comm.id, &[x], &mut y);
            y[0]
        }

        /// The least of one constant over all ranks, on all ranks.
        #[differentiable]
        pub fn min(comm: &Comm, x: $number) -> $number {
            let mut y = [$zero];
            raw::all_reduce_min(comm.id, &[x], &mut y);
            y[0]
        }

        /// Equally many constants of each rank on the root, one rank after the other. `all` counts on the root alone.
        #[differentiable]
        pub fn gather(comm: &Comm, x: &[$number], all: &mut [$number], root: usize) {
            let counts = vec![x.len(); comm.size];
            raw::gather(comm.id, x, all, &counts, root);
        }

        /// As [`gather`], with a count for each rank.
        #[differentiable]
        pub fn gather_counts(comm: &Comm, x: &[$number], all: &mut [$number], counts: &[usize], root: usize) {
            raw::gather(comm.id, x, all, counts, root);
        }

        /// Equally many constants of the root for each rank. `all` counts on the root alone.
        #[differentiable]
        pub fn scatter(comm: &Comm, all: &[$number], y: &mut [$number], root: usize) {
            let counts = vec![y.len(); comm.size];
            raw::scatter(comm.id, all, y, &counts, root);
        }

        /// As [`scatter`], with a count for each rank.
        #[differentiable]
        pub fn scatter_counts(comm: &Comm, all: &[$number], y: &mut [$number], counts: &[usize], root: usize) {
            raw::scatter(comm.id, all, y, counts, root);
        }

        /// Equally many constants of each rank on all ranks.
        #[differentiable]
        pub fn all_gather(comm: &Comm, x: &[$number], all: &mut [$number]) {
            let counts = vec![x.len(); comm.size];
            raw::all_gather(comm.id, x, all, &counts);
        }

        /// As [`all_gather`], with a count for each rank.
        #[differentiable]
        pub fn all_gather_counts(comm: &Comm, x: &[$number], all: &mut [$number], counts: &[usize]) {
            raw::all_gather(comm.id, x, all, counts);
        }

        /// Block `q` of `x` goes to rank `q`, whose `y` has it as block `rank`.
        #[differentiable]
        pub fn all_to_all(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_to_all(comm.id, x, y);
        }

        /// What gradients call in two halves.
        mod raw {
            use crate::halves::{self, constant, constant::$back as back};
            use crate::state::{Combine, Way, or_abort};
            use stratape::effect;

            const WAY: Way = Way::Constant;

            #[effect(forward = constant::send_forward, backward = back::send)]
            pub(super) fn send(comm: usize, x: &[$number], to: usize, tag: usize) {
                or_abort(halves::send(WAY, comm, x, to, tag));
            }

            #[effect(forward = constant::receive_forward, backward = back::receive)]
            pub(super) fn receive(comm: usize, y: &mut [$number], from: usize, tag: usize) {
                or_abort(halves::receive(WAY, comm, y, from, tag));
            }

            #[effect(forward = constant::receive_any_forward, backward = back::receive_any)]
            pub(super) fn receive_any(comm: usize, y: &mut [$number], tag: usize) -> usize {
                or_abort(halves::receive_any(WAY, comm, y, tag)).0
            }

            #[effect(forward = constant::exchange_forward, backward = back::exchange)]
            pub(super) fn exchange(comm: usize, x: &[$number], to: usize, y: &mut [$number], from: usize, tag: usize) {
                or_abort(halves::exchange(WAY, comm, (x, to), (y, from), tag));
            }

            #[effect(forward = constant::begin_send_forward, backward = back::begin_send)]
            pub(super) fn begin_send(comm: usize, x: &[$number], to: usize, tag: usize) -> usize {
                or_abort(halves::begin_send(WAY, comm, x, to, tag))
            }

            #[effect(forward = constant::finish_send_forward::<$number>, backward = constant::finish_send_backward)]
            pub(super) fn finish_send(comm: usize, request: usize) {
                or_abort(halves::finish_send::<$number>(WAY, comm, request));
            }

            #[effect(forward = constant::begin_receive_forward::<$number>, backward = constant::begin_receive_backward)]
            pub(super) fn begin_receive(comm: usize, len: usize, from: usize, tag: usize) -> usize {
                or_abort(halves::begin_receive::<$number>(WAY, comm, len, from, tag))
            }

            #[effect(forward = constant::finish_receive_forward, backward = back::finish_receive)]
            pub(super) fn finish_receive(comm: usize, request: usize, y: &mut [$number]) {
                or_abort(halves::finish_receive(WAY, comm, request, y));
            }

            #[effect(forward = constant::broadcast_forward, backward = back::broadcast)]
            pub(super) fn broadcast(comm: usize, x: &mut [$number], root: usize) {
                or_abort(halves::broadcast(WAY, comm, x, root));
            }

            #[effect(forward = constant::sum_forward, backward = back::combine)]
            pub(super) fn all_reduce_sum(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(WAY, comm, Combine::Sum, x, y));
            }

            #[effect(forward = constant::max_forward, backward = back::combine)]
            pub(super) fn all_reduce_max(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(WAY, comm, Combine::Max, x, y));
            }

            #[effect(forward = constant::min_forward, backward = back::combine)]
            pub(super) fn all_reduce_min(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(WAY, comm, Combine::Min, x, y));
            }

            #[effect(forward = constant::gather_forward, backward = back::gather)]
            pub(super) fn gather(comm: usize, x: &[$number], all: &mut [$number], counts: &[usize], root: usize) {
                or_abort(halves::gather(WAY, comm, (x, all), counts, root));
            }

            #[effect(forward = constant::scatter_forward, backward = back::scatter)]
            pub(super) fn scatter(comm: usize, all: &[$number], y: &mut [$number], counts: &[usize], root: usize) {
                or_abort(halves::scatter(WAY, comm, (all, y), counts, root));
            }

            #[effect(forward = constant::all_gather_forward, backward = back::combine)]
            pub(super) fn all_gather(comm: usize, x: &[$number], all: &mut [$number], counts: &[usize]) {
                or_abort(halves::all_gather(WAY, comm, (x, all), counts));
            }

            #[effect(forward = constant::all_to_all_forward, backward = back::combine)]
            pub(super) fn all_to_all(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_to_all(WAY, comm, x, y));
            }
        }
    };
}

mod double {
    constants!(f64, 0.0, float);
}

/// The functions for `f32`.
pub mod single {
    constants!(f32, 0.0, float);
}

/// The functions for `usize`: indices and counts.
pub mod index {
    constants!(usize, 0, whole);
}

/// The functions for `i64`.
pub mod int64 {
    constants!(i64, 0, whole);
}

/// The functions for `i32`.
pub mod int32 {
    constants!(i32, 0, whole);
}

/// The functions for `bool`, which travel as `i32`.
pub mod flag {
    use super::int32;
    use crate::comm::Comm;
    use stratape::differentiable;

    #[differentiable]
    fn numbers(flags: &[bool]) -> Vec<i32> {
        flags.iter().map(|flag| if *flag { 1 } else { 0 }).collect()
    }

    #[differentiable]
    fn unpack(numbers: &[i32], flags: &mut [bool]) {
        for i in 0..flags.len() {
            flags[i] = numbers[i] != 0;
        }
    }

    /// As [`send`](super::send).
    #[differentiable]
    pub fn send(comm: &Comm, x: &[bool], to: usize, tag: usize) {
        let x = numbers(x);
        int32::send(comm, &x, to, tag);
    }

    /// As [`receive`](super::receive).
    #[differentiable]
    pub fn receive(comm: &Comm, y: &mut [bool], from: usize, tag: usize) {
        let mut came = numbers(y);
        int32::receive(comm, &mut came, from, tag);
        unpack(&came, y);
    }

    /// As [`exchange`](super::exchange).
    #[differentiable]
    pub fn exchange(comm: &Comm, x: &[bool], to: usize, y: &mut [bool], from: usize, tag: usize) {
        let (x, mut came) = (numbers(x), numbers(y));
        int32::exchange(comm, &x, to, &mut came, from, tag);
        unpack(&came, y);
    }

    /// As [`broadcast`](super::broadcast).
    #[differentiable]
    pub fn broadcast(comm: &Comm, x: &mut [bool], root: usize) {
        let mut came = numbers(x);
        int32::broadcast(comm, &mut came, root);
        unpack(&came, x);
    }

    /// As [`all_gather`](super::all_gather).
    #[differentiable]
    pub fn all_gather(comm: &Comm, x: &[bool], all: &mut [bool]) {
        let (x, mut came) = (numbers(x), numbers(all));
        int32::all_gather(comm, &x, &mut came);
        unpack(&came, all);
    }

    /// Whether it holds on any rank; the same on all of them.
    #[differentiable]
    pub fn any(comm: &Comm, x: bool) -> bool {
        int32::max(comm, if x { 1 } else { 0 }) != 0
    }

    /// Whether it holds on all ranks; the same on all of them.
    #[differentiable]
    pub fn all(comm: &Comm, x: bool) -> bool {
        int32::min(comm, if x { 1 } else { 0 }) != 0
    }
}
