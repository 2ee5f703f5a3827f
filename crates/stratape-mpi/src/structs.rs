//! Messages of plain structs: their numbers are packed, sent, and unpacked.
//!
//! Packing is ordinary differentiated code, and so is the adjoint of it.

use stratape::differentiable;

use crate::comm::Comm;
use crate::functions::double;
pub use crate::halo::of_structs::{halo_1d, halo_2d, halo_3d};

/// A struct of numbers, of which the functions of [`structs`](self) make messages.
///
/// Implement it in the `#[differentiable] mod` of the struct, where the compiler sees it. Fields of `f32` travel as `f64`, and so may those of whole numbers and flags: their derivative is 0, and up to
/// 2⁵³ they are exact. A struct that holds arrays or other structs writes these one number after the other.
///
/// ```no_run
/// use model::{Body, energy_grad};
/// use stratape_mpi::Comm;
///
/// #[stratape::differentiable]
/// mod model {
///     use stratape_mpi::structs::{Plain, exchange};
///     use stratape_mpi::Comm;
///
///     #[derive(Clone, Copy)]
///     pub struct Body {
///         pub at: [f64; 2],
///         pub mass: f64,
///     }
///
///     impl Plain for Body {
///         const NUMBERS: usize = 3;
///
///         fn write(self, to: &mut [f64]) {
///             to[0] = self.at[0];
///             to[1] = self.at[1];
///             to[2] = self.mass;
///         }
///
///         fn read(from: &[f64]) -> Body {
///             Body { at: [from[0], from[1]], mass: from[2] }
///         }
///     }
///
///     /// Each body and its neighbour on the next rank.
///     #[gradient]
///     pub fn energy(comm: &Comm, own: &[Body]) -> f64 {
///         let mut guests = own.to_vec();
///         let (next, last) = ((comm.rank + 1) % comm.size, (comm.rank + comm.size - 1) % comm.size);
///         exchange(comm, own, next, &mut guests, last, 0);
///         let mut sum = 0.0;
///         for (a, b) in own.iter().zip(&guests) {
///             sum += a.mass * b.mass * (a.at[0] - b.at[0]).hypot(a.at[1] - b.at[1]);
///         }
///         sum
///     }
/// }
///
/// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
/// let comm = Comm::new(&universe.world())?;
/// let own = [Body { at: [comm.rank as f64, 1.0], mass: 2.0 }];
/// let mut shadow = [Body { at: [0.0; 2], mass: 0.0 }];
/// energy_grad(&comm, &own, &mut shadow, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Plain: Copy {
    /// How many numbers it has.
    const NUMBERS: usize;

    /// Writes them; `to` has as many elements.
    fn write(self, to: &mut [f64]);

    /// Makes it of them; `from` has as many elements.
    fn read(from: &[f64]) -> Self;
}

/// The numbers of all elements of a list.
#[differentiable]
pub(crate) fn packed<S: Plain>(x: &[S]) -> Vec<f64> {
    let mut numbers = vec![0.0; S::NUMBERS * x.len()];
    for i in 0..x.len() {
        x[i].write(&mut numbers[S::NUMBERS * i..S::NUMBERS * (i + 1)]);
    }
    numbers
}

/// The elements of a list, from their numbers.
#[differentiable]
pub(crate) fn unpack<S: Plain>(numbers: &[f64], y: &mut [S]) {
    for i in 0..y.len() {
        y[i] = S::read(&numbers[S::NUMBERS * i..S::NUMBERS * (i + 1)]);
    }
}

/// As [`send`](crate::send).
#[differentiable]
pub fn send<S: Plain>(comm: &Comm, x: &[S], to: usize, tag: usize) {
    let numbers = packed(x);
    double::send(comm, &numbers, to, tag);
}

/// As [`receive`](crate::receive).
#[differentiable]
pub fn receive<S: Plain>(comm: &Comm, y: &mut [S], from: usize, tag: usize) {
    let mut numbers = packed(y);
    double::receive(comm, &mut numbers, from, tag);
    unpack(&numbers, y);
}

/// As [`receive_any`](crate::receive_any).
#[differentiable]
pub fn receive_any<S: Plain>(comm: &Comm, y: &mut [S], tag: usize) -> usize {
    let mut numbers = packed(y);
    let from = double::receive_any(comm, &mut numbers, tag);
    unpack(&numbers, y);
    from
}

/// As [`exchange`](crate::exchange).
#[differentiable]
pub fn exchange<S: Plain>(comm: &Comm, x: &[S], to: usize, y: &mut [S], from: usize, tag: usize) {
    let out = packed(x);
    let mut numbers = packed(y);
    double::exchange(comm, &out, to, &mut numbers, from, tag);
    unpack(&numbers, y);
}

/// As [`begin_send`](crate::begin_send); [`finish_send`](crate::finish_send) waits for it.
#[differentiable]
pub fn begin_send<S: Plain>(comm: &Comm, x: &[S], to: usize, tag: usize) -> usize {
    let numbers = packed(x);
    double::begin_send(comm, &numbers, to, tag)
}

/// Begins to receive as many structs as `y` has, which [`finish_receive`] waits for and writes there.
#[differentiable]
pub fn begin_receive<S: Plain>(comm: &Comm, y: &[S], from: usize, tag: usize) -> usize {
    double::begin_receive(comm, S::NUMBERS * y.len(), from, tag)
}

/// As [`finish_receive`](crate::finish_receive).
#[differentiable]
pub fn finish_receive<S: Plain>(comm: &Comm, request: usize, y: &mut [S]) {
    let mut numbers = packed(y);
    double::finish_receive(comm, request, &mut numbers);
    unpack(&numbers, y);
}

/// As [`broadcast`](crate::broadcast).
#[differentiable]
pub fn broadcast<S: Plain>(comm: &Comm, x: &mut [S], root: usize) {
    let mut numbers = packed(x);
    double::broadcast(comm, &mut numbers, root);
    unpack(&numbers, x);
}

/// Number by number the sum over all ranks: as [`all_reduce_sum`](crate::all_reduce_sum).
#[differentiable]
pub fn all_reduce_sum<S: Plain>(comm: &Comm, x: &[S], y: &mut [S]) {
    let own = packed(x);
    let mut numbers = packed(y);
    double::all_reduce_sum(comm, &own, &mut numbers);
    unpack(&numbers, y);
}

/// Number by number the sum over all ranks, on the root: as [`reduce_sum`](crate::reduce_sum).
#[differentiable]
pub fn reduce_sum<S: Plain>(comm: &Comm, x: &[S], y: &mut [S], root: usize) {
    let own = packed(x);
    let mut numbers = packed(y);
    double::reduce_sum(comm, &own, &mut numbers, root);
    unpack(&numbers, y);
}

/// As [`gather`](crate::gather).
#[differentiable]
pub fn gather<S: Plain>(comm: &Comm, x: &[S], all: &mut [S], root: usize) {
    let own = packed(x);
    let mut numbers = packed(all);
    double::gather(comm, &own, &mut numbers, root);
    unpack(&numbers, all);
}

/// As [`gather_counts`](crate::gather_counts); the counts are of structs.
#[differentiable]
pub fn gather_counts<S: Plain>(comm: &Comm, x: &[S], all: &mut [S], counts: &[usize], root: usize) {
    let own = packed(x);
    let mut numbers = packed(all);
    let counts: Vec<usize> = counts.iter().map(|count| S::NUMBERS * count).collect();
    double::gather_counts(comm, &own, &mut numbers, &counts, root);
    unpack(&numbers, all);
}

/// As [`scatter`](crate::scatter).
#[differentiable]
pub fn scatter<S: Plain>(comm: &Comm, all: &[S], y: &mut [S], root: usize) {
    let whole = packed(all);
    let mut numbers = packed(y);
    double::scatter(comm, &whole, &mut numbers, root);
    unpack(&numbers, y);
}

/// As [`scatter_counts`](crate::scatter_counts); the counts are of structs.
#[differentiable]
pub fn scatter_counts<S: Plain>(
    comm: &Comm,
    all: &[S],
    y: &mut [S],
    counts: &[usize],
    root: usize,
) {
    let whole = packed(all);
    let mut numbers = packed(y);
    let counts: Vec<usize> = counts.iter().map(|count| S::NUMBERS * count).collect();
    double::scatter_counts(comm, &whole, &mut numbers, &counts, root);
    unpack(&numbers, y);
}

/// As [`all_gather`](crate::all_gather).
#[differentiable]
pub fn all_gather<S: Plain>(comm: &Comm, x: &[S], all: &mut [S]) {
    let own = packed(x);
    let mut numbers = packed(all);
    double::all_gather(comm, &own, &mut numbers);
    unpack(&numbers, all);
}

/// As [`all_gather_counts`](crate::all_gather_counts); the counts are of structs.
#[differentiable]
pub fn all_gather_counts<S: Plain>(comm: &Comm, x: &[S], all: &mut [S], counts: &[usize]) {
    let own = packed(x);
    let mut numbers = packed(all);
    let counts: Vec<usize> = counts.iter().map(|count| S::NUMBERS * count).collect();
    double::all_gather_counts(comm, &own, &mut numbers, &counts);
    unpack(&numbers, all);
}

/// As [`all_to_all`](crate::all_to_all).
#[differentiable]
pub fn all_to_all<S: Plain>(comm: &Comm, x: &[S], y: &mut [S]) {
    let own = packed(x);
    let mut numbers = packed(y);
    double::all_to_all(comm, &own, &mut numbers);
    unpack(&numbers, y);
}
