//! The functions of this crate, for one type of number: those that gradients call in two halves (`raw`), and what programs write.

/// Makes the functions for a type of number.
macro_rules! functions {
    ($number:ident) => {
        use crate::comm::Comm;
        use stratape::differentiable;

        /// Sends numbers to a rank, and returns when `x` may be changed again. The adjoint receives.
        ///
        /// To [`NOBODY`](crate::NOBODY) nothing is sent.
        #[differentiable]
        pub fn send(comm: &Comm, x: &[$number], to: usize, tag: usize) {
            raw::send(comm.id, x, to, tag);
        }

        /// Receives as many numbers as `y` has. The adjoint sends.
        ///
        /// From [`NOBODY`](crate::NOBODY) nothing comes, and `y` stays as it is.
        #[differentiable]
        pub fn receive(comm: &Comm, y: &mut [$number], from: usize, tag: usize) {
            raw::receive(comm.id, y, from, tag);
        }

        /// Receives numbers from whichever rank sends first; which one it was. The adjoint goes to that rank.
        #[differentiable]
        pub fn receive_any(comm: &Comm, y: &mut [$number], tag: usize) -> usize {
            raw::receive_any(comm.id, y, tag)
        }

        /// Sends `x` to one rank and receives `y` from another, neither waiting for the other. Both may be [`NOBODY`](crate::NOBODY).
        #[differentiable]
        pub fn exchange(comm: &Comm, x: &[$number], to: usize, y: &mut [$number], from: usize, tag: usize) {
            raw::exchange(comm.id, x, to, y, from, tag);
        }

        /// Begins to send a copy of `x`, which [`finish_send`] waits for. In the backward pass the finish begins to receive, and the beginning waits: what is computed between the two overlaps there as well.
        #[differentiable]
        pub fn begin_send(comm: &Comm, x: &[$number], to: usize, tag: usize) -> usize {
            raw::begin_send(comm.id, x, to, tag)
        }

        /// Waits until what [`begin_send`] began is sent.
        #[differentiable]
        pub fn finish_send(comm: &Comm, request: usize) {
            raw::finish_send(comm.id, request);
        }

        /// Begins to receive `len` numbers, which [`finish_receive`] waits for.
        #[differentiable]
        pub fn begin_receive(comm: &Comm, len: usize, from: usize, tag: usize) -> usize {
            raw::begin_receive(comm.id, len, from, tag)
        }

        /// Waits for the numbers that [`begin_receive`] began to receive, and writes them to `y`.
        #[differentiable]
        pub fn finish_receive(comm: &Comm, request: usize, y: &mut [$number]) {
            raw::finish_receive(comm.id, request, y);
        }

        /// Copies the root's numbers to all ranks. The adjoint is a sum on the root.
        #[differentiable]
        pub fn broadcast(comm: &Comm, x: &mut [$number], root: usize) {
            raw::broadcast(comm.id, x, root);
        }

        /// Element for element the sum over all ranks, on all ranks. Its adjoint is the same operation.
        #[differentiable]
        pub fn all_reduce_sum(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_sum(comm.id, x, y);
        }

        /// Element for element the sum over all ranks, on the root; elsewhere `y` stays as it is. Its adjoint is a broadcast.
        #[differentiable]
        pub fn reduce_sum(comm: &Comm, x: &[$number], y: &mut [$number], root: usize) {
            raw::reduce_sum(comm.id, x, y, root);
        }

        /// The sum of one number over all ranks, on all ranks.
        #[differentiable]
        pub fn sum(comm: &Comm, x: $number) -> $number {
            let mut y = [0.0];
            raw::all_reduce_sum(comm.id, &[x], &mut y);
            y[0]
        }

        /// Element for element the product over all ranks, on all ranks. The derivative is the product of the other ranks' numbers, zeros among them.
        #[differentiable]
        pub fn all_reduce_product(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_product(comm.id, x, y);
        }

        /// Element for element the product over all ranks, on the root; elsewhere `y` stays as it is. The derivative is the product of the other ranks' numbers, zeros among them.
        #[differentiable]
        pub fn reduce_product(comm: &Comm, x: &[$number], y: &mut [$number], root: usize) {
            raw::reduce_product(comm.id, x, y, root);
        }

        /// The product of one number over all ranks, on all ranks.
        #[differentiable]
        pub fn product(comm: &Comm, x: $number) -> $number {
            let mut y = [0.0];
            raw::all_reduce_product(comm.id, &[x], &mut y);
            y[0]
        }

        /// Element for element the largest over all ranks, on all ranks. The derivative goes to the rank that has it; of several, to the lowest.
        #[differentiable]
        pub fn all_reduce_max(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_max(comm.id, x, y);
        }

        /// Element for element the largest over all ranks, on the root; elsewhere `y` stays as it is. The derivative goes to the rank that has it; of several, to the lowest.
        #[differentiable]
        pub fn reduce_max(comm: &Comm, x: &[$number], y: &mut [$number], root: usize) {
            raw::reduce_max(comm.id, x, y, root);
        }

        /// The largest of one number over all ranks, on all ranks.
        #[differentiable]
        pub fn max(comm: &Comm, x: $number) -> $number {
            let mut y = [0.0];
            raw::all_reduce_max(comm.id, &[x], &mut y);
            y[0]
        }

        /// Element for element the least over all ranks, on all ranks. The derivative goes to the rank that has it; of several, to the lowest.
        #[differentiable]
        pub fn all_reduce_min(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_reduce_min(comm.id, x, y);
        }

        /// Element for element the least over all ranks, on the root; elsewhere `y` stays as it is. The derivative goes to the rank that has it; of several, to the lowest.
        #[differentiable]
        pub fn reduce_min(comm: &Comm, x: &[$number], y: &mut [$number], root: usize) {
            raw::reduce_min(comm.id, x, y, root);
        }

        /// The least of one number over all ranks, on all ranks.
        #[differentiable]
        pub fn min(comm: &Comm, x: $number) -> $number {
            let mut y = [0.0];
            raw::all_reduce_min(comm.id, &[x], &mut y);
            y[0]
        }

        /// Equally many numbers of each rank on the root, one rank after the other. `all` counts on the root alone.
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

        /// Equally many numbers of the root for each rank. `all` counts on the root alone.
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

        /// Equally many numbers of each rank on all ranks. The adjoint is a sum, of which each rank has its part (reduce-scatter).
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

        /// Block `q` of `x` goes to rank `q`, whose `y` has it as block `rank`. The adjoint goes the other way.
        #[differentiable]
        pub fn all_to_all(comm: &Comm, x: &[$number], y: &mut [$number]) {
            raw::all_to_all(comm.id, x, y);
        }

        crate::halo::halos!($number);

        /// What gradients call in two halves.
        mod raw {
            use crate::halves;
            use crate::state::{Combine, Way, or_abort};
            use stratape::effect;
            use stratape::tape::{RecordTape, TapeError};

            type Done = Result<(), TapeError>;

            #[effect(forward = halves::send_forward, backward = halves::send_backward)]
            pub(super) fn send(comm: usize, x: &[$number], to: usize, tag: usize) {
                or_abort(halves::send(Way::Forward, comm, x, to, tag));
            }

            #[effect(forward = halves::receive_forward, backward = halves::receive_backward)]
            pub(super) fn receive(comm: usize, y: &mut [$number], from: usize, tag: usize) {
                or_abort(halves::receive(Way::Forward, comm, y, from, tag));
            }

            #[effect(forward = halves::receive_any_forward, backward = halves::receive_any_backward)]
            pub(super) fn receive_any(comm: usize, y: &mut [$number], tag: usize) -> usize {
                or_abort(halves::receive_any(Way::Forward, comm, y, tag)).0
            }

            #[effect(forward = halves::exchange_forward, backward = halves::exchange_backward)]
            pub(super) fn exchange(comm: usize, x: &[$number], to: usize, y: &mut [$number], from: usize, tag: usize) {
                or_abort(halves::exchange(Way::Forward, comm, (x, to), (y, from), tag));
            }

            #[effect(forward = halves::begin_send_forward, backward = halves::begin_send_backward)]
            pub(super) fn begin_send(comm: usize, x: &[$number], to: usize, tag: usize) -> usize {
                or_abort(halves::begin_send(Way::Forward, comm, x, to, tag))
            }

            #[effect(forward = halves::finish_send_forward::<$number>, backward = halves::finish_send_backward::<$number>)]
            pub(super) fn finish_send(comm: usize, request: usize) {
                or_abort(halves::finish_send::<$number>(Way::Forward, comm, request));
            }

            #[effect(forward = halves::begin_receive_forward::<$number>, backward = halves::begin_receive_backward::<$number>)]
            pub(super) fn begin_receive(comm: usize, len: usize, from: usize, tag: usize) -> usize {
                or_abort(halves::begin_receive::<$number>(Way::Forward, comm, len, from, tag))
            }

            #[effect(forward = halves::finish_receive_forward, backward = halves::finish_receive_backward)]
            pub(super) fn finish_receive(comm: usize, request: usize, y: &mut [$number]) {
                or_abort(halves::finish_receive(Way::Forward, comm, request, y));
            }

            #[effect(forward = halves::broadcast_forward, backward = halves::broadcast_backward)]
            pub(super) fn broadcast(comm: usize, x: &mut [$number], root: usize) {
                or_abort(halves::broadcast(Way::Forward, comm, x, root));
            }

            #[effect(forward = all_reduce_sum_forward, backward = all_reduce_sum_backward)]
            pub(super) fn all_reduce_sum(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(Way::Forward, comm, Combine::Sum, x, y));
            }
            fn all_reduce_sum_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number]) -> Done {
                halves::all_reduce_forward(tape, comm, Combine::Sum, x, y)
            }
            fn all_reduce_sum_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number]) -> Done {
                halves::all_reduce_backward(tape, comm, Combine::Sum, dx, dy)
            }

            #[effect(forward = reduce_sum_forward, backward = reduce_sum_backward)]
            pub(super) fn reduce_sum(comm: usize, x: &[$number], y: &mut [$number], root: usize) {
                or_abort(halves::reduce(Way::Forward, comm, Combine::Sum, (x, y), root));
            }
            fn reduce_sum_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number], root: usize) -> Done {
                halves::reduce_forward(tape, comm, Combine::Sum, (x, y), root)
            }
            fn reduce_sum_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number], root: usize) -> Done {
                halves::reduce_backward(tape, comm, Combine::Sum, (dx, dy), root)
            }

            #[effect(forward = all_reduce_product_forward, backward = all_reduce_product_backward)]
            pub(super) fn all_reduce_product(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(Way::Forward, comm, Combine::Product, x, y));
            }
            fn all_reduce_product_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number]) -> Done {
                halves::all_reduce_forward(tape, comm, Combine::Product, x, y)
            }
            fn all_reduce_product_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number]) -> Done {
                halves::all_reduce_backward(tape, comm, Combine::Product, dx, dy)
            }

            #[effect(forward = reduce_product_forward, backward = reduce_product_backward)]
            pub(super) fn reduce_product(comm: usize, x: &[$number], y: &mut [$number], root: usize) {
                or_abort(halves::reduce(Way::Forward, comm, Combine::Product, (x, y), root));
            }
            fn reduce_product_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number], root: usize) -> Done {
                halves::reduce_forward(tape, comm, Combine::Product, (x, y), root)
            }
            fn reduce_product_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number], root: usize) -> Done {
                halves::reduce_backward(tape, comm, Combine::Product, (dx, dy), root)
            }

            #[effect(forward = all_reduce_max_forward, backward = all_reduce_max_backward)]
            pub(super) fn all_reduce_max(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(Way::Forward, comm, Combine::Max, x, y));
            }
            fn all_reduce_max_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number]) -> Done {
                halves::all_reduce_forward(tape, comm, Combine::Max, x, y)
            }
            fn all_reduce_max_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number]) -> Done {
                halves::all_reduce_backward(tape, comm, Combine::Max, dx, dy)
            }

            #[effect(forward = reduce_max_forward, backward = reduce_max_backward)]
            pub(super) fn reduce_max(comm: usize, x: &[$number], y: &mut [$number], root: usize) {
                or_abort(halves::reduce(Way::Forward, comm, Combine::Max, (x, y), root));
            }
            fn reduce_max_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number], root: usize) -> Done {
                halves::reduce_forward(tape, comm, Combine::Max, (x, y), root)
            }
            fn reduce_max_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number], root: usize) -> Done {
                halves::reduce_backward(tape, comm, Combine::Max, (dx, dy), root)
            }

            #[effect(forward = all_reduce_min_forward, backward = all_reduce_min_backward)]
            pub(super) fn all_reduce_min(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_reduce(Way::Forward, comm, Combine::Min, x, y));
            }
            fn all_reduce_min_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number]) -> Done {
                halves::all_reduce_forward(tape, comm, Combine::Min, x, y)
            }
            fn all_reduce_min_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number]) -> Done {
                halves::all_reduce_backward(tape, comm, Combine::Min, dx, dy)
            }

            #[effect(forward = reduce_min_forward, backward = reduce_min_backward)]
            pub(super) fn reduce_min(comm: usize, x: &[$number], y: &mut [$number], root: usize) {
                or_abort(halves::reduce(Way::Forward, comm, Combine::Min, (x, y), root));
            }
            fn reduce_min_forward(tape: &mut RecordTape, comm: usize, x: &[$number], y: &mut [$number], root: usize) -> Done {
                halves::reduce_forward(tape, comm, Combine::Min, (x, y), root)
            }
            fn reduce_min_backward(tape: &mut RecordTape, comm: usize, dx: &mut [$number], dy: &mut [$number], root: usize) -> Done {
                halves::reduce_backward(tape, comm, Combine::Min, (dx, dy), root)
            }

            #[effect(forward = halves::gather_forward, backward = halves::gather_backward)]
            pub(super) fn gather(comm: usize, x: &[$number], all: &mut [$number], counts: &[usize], root: usize) {
                or_abort(halves::gather(Way::Forward, comm, (x, all), counts, root));
            }

            #[effect(forward = halves::scatter_forward, backward = halves::scatter_backward)]
            pub(super) fn scatter(comm: usize, all: &[$number], y: &mut [$number], counts: &[usize], root: usize) {
                or_abort(halves::scatter(Way::Forward, comm, (all, y), counts, root));
            }

            #[effect(forward = halves::all_gather_forward, backward = halves::all_gather_backward)]
            pub(super) fn all_gather(comm: usize, x: &[$number], all: &mut [$number], counts: &[usize]) {
                or_abort(halves::all_gather(Way::Forward, comm, (x, all), counts));
            }

            #[effect(forward = halves::all_to_all_forward, backward = halves::all_to_all_backward)]
            pub(super) fn all_to_all(comm: usize, x: &[$number], y: &mut [$number]) {
                or_abort(halves::all_to_all(Way::Forward, comm, x, y));
            }
        }
    };
}

/// The functions for `f64`.
pub(crate) mod double {
    functions!(f64);

    /// Waits for all ranks, in both passes.
    #[differentiable]
    pub fn barrier(comm: &Comm) {
        wait::barrier(comm.id);
    }

    mod wait {
        use crate::halves;
        use crate::state::or_abort;
        use stratape::effect;

        #[effect(forward = halves::barrier_forward, backward = halves::barrier_backward)]
        pub(super) fn barrier(comm: usize) {
            or_abort(halves::barrier(comm));
        }
    }
}

/// The functions for `f32`.
pub mod single {
    functions!(f32);
}
