//! Gradients of ordinary Rust programs on stable Rust, by source transformation, on a tape that spills to disk.
//!
//! ```
//! use stratape::gradient;
//!
//! /// Generates `energy_grad` beside it.
//! #[gradient]
//! fn energy(x: &[f64], k: f64) -> f64 {
//!     let mut sum = 0.0;
//!     for i in 1..x.len() {
//!         let stretch = x[i] - x[i - 1];
//!         sum += 0.5 * k * stretch * stretch;
//!     }
//!     sum
//! }
//!
//! let x = [0.0, 1.0, 3.0];
//! let mut dx = [0.0; 3];
//! let (value, dk) = energy_grad(&x, &mut dx, 2.0, 1.0);
//! assert_eq!((value, dk), (5.0, 2.5));
//! assert_eq!(dx, [-2.0, -2.0, 4.0]);
//! ```
//!
//! | you have | use |
//! |---|---|
//! | a function of floats, slices, arrays | [`gradient`] on it |
//! | functions that call each other, structs, constants | [`differentiable`] on their module |
//! | a function whose derivative you know | [`pullback`] |
//! | a function whose derivative is zero | [`constant`] |
//! | a loop whose iterations are independent, and several cores | [`parallel`] |
//! | a tape larger than memory, or to measure its size | a [`Workspace`] and `f_grad_in` |
//! | a time loop too long to tape | [`checkpoint`](macro@checkpoint) on the loop; [`TimeLoop`](checkpoint::TimeLoop) |
//! | a tape larger than the local disk | an object store below it: `remote`, and its feature |
//! | your own AD tool that needs a tape | [`tape`] |
//! | a GPU | `kernel` with [`gradient`] below it, `elementwise`, and the primitives of `gpu` |
//! | arrays of `ndarray` or `nalgebra` | [`flat`], and their features |
//! | a run you would rather look at | [`picture`]: the tape over time, the course of a time loop, as SVG |
//! | doubts about a gradient | [`check`] compares it with finite differences; `#[gradient(plain)]` disables reordering and fusion |
//! | matrix products, linear systems, factorisations | `linalg`, and its feature |
//! | a solver of `argmin` | `argmin::Objective`, and its feature |
//!
//! # The guide
//!
//! [`guide`] has the pages of the folder `docs`: [a first gradient](guide::first_gradient), [a tour](guide::tour),
//! [gradients](guide::gradient) (convention, modules, derivatives by hand, kinks, memory), [several files](guide::several_files),
//! [what is accepted](guide::accepted) (every construct with an example), [what a gradient saves, and why](guide::explain),
//! [tapes](guide::tape), [time loops](guide::checkpointing), [pictures](guide::pictures), [threads](guide::threads),
//! [performance](guide::performance), [troubleshooting](guide::troubleshooting) (by error message), and more.
//!
//! # Feature flags
//!
//! `gpu`, `parallel` and `spill` are on by default. Minimum supported Rust version: 1.95.
//!
//! | feature | what it adds |
//! |---|---|
//! | `gpu` | kernels and their gradients, on CUDA devices and on an emulator: `gpu` |
//! | `parallel` | `#[parallel]` loops run on the threads of `rayon`; without it their parts run one after the other, with the same bits |
//! | `spill` | what tapes spill to disk with: `io_uring`, checksums with vector instructions, `tracing` events; without it they spill on threads, with slower checksums |
//! | `compression` | compresses slabs of `f32` and `f64` before they leave RAM: `TapeOptions::compression` |
//! | `serde` | snapshots of states that `serde` can serialise: `checkpoint::Serde` |
//! | `ndarray` | its arrays and views as slices, without a copy: [`flat`] |
//! | `nalgebra` | its vectors and matrices as slices, without a copy: [`flat`] |
//! | `argmin` | gradients for its solvers: `argmin::Objective` |
//! | `linalg` | products, solutions and factorisations of matrices: `linalg` |
//! | `remote` | tapes and snapshots in object stores, here directories and memory: `remote` |
//! | `remote-s3`, `remote-gcs`, `remote-azure` | the same in the clouds |

#![forbid(unsafe_code)]

// What the attributes emit names the crate so.
#[cfg(any(feature = "linalg", feature = "gpu"))]
extern crate self as stratape;

#[cfg(feature = "argmin")]
pub mod argmin;
mod buffer;
pub mod check;
pub mod flat;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "linalg")]
pub mod linalg;
mod parallel;
pub mod picture;
mod private;
mod time_loop;
mod workspace;

/// Gradients of time loops too long to tape: schedules, snapshots in memory and on disk, resume after a crash. See
/// [`TimeLoop`](checkpoint::TimeLoop).
pub mod checkpoint {
    pub use stratape_checkpoint::*;

    /// Implements `Snapshot` for a struct or an enum; all fields must implement it.
    ///
    /// ```
    /// use stratape::checkpoint::{Snapshot, TimeLoop, snapshot};
    ///
    /// #[derive(Clone, Debug, PartialEq, Snapshot)]
    /// struct Fluid {
    ///     density: Vec<f64>,
    ///     phase: Phase,
    /// }
    ///
    /// #[derive(Clone, Debug, PartialEq, Snapshot)]
    /// enum Phase {
    ///     Calm,
    ///     Turbulent { since: f64 },
    /// }
    ///
    /// // Plain data is written at once, also in a `Vec`.
    /// #[derive(Clone, Copy, Snapshot, stratape::tape::Pod, stratape::tape::Zeroable)]
    /// #[snapshot(plain)]
    /// #[bytemuck(crate = "stratape::tape::bytemuck")]
    /// #[repr(C)]
    /// struct Particle {
    ///     position: [f64; 3],
    ///     velocity: [f64; 3],
    /// }
    ///
    /// let fluid = Fluid { density: vec![1.0; 3], phase: Phase::Turbulent { since: 0.5 } };
    /// let bytes = snapshot::to_bytes(&fluid);
    /// assert_eq!(snapshot::from_bytes::<Fluid>(&bytes)?, fluid);
    /// # Ok::<(), snapshot::Malformed>(())
    /// ```
    pub use stratape_macros::Snapshot;
}

/// Marks a loop of a function under [`gradient`]: its gradient does not tape the loop, but stores some states and
/// recomputes the steps between them, following a [`checkpoint`](mod@checkpoint) schedule.
///
/// The compiler finds everything that is carried from one iteration to the next. `slots = …` or `memory = …` (bytes) limit
/// the states in memory, `disk = "directory"` with `disk_slots = …` or `disk_bytes = …` those on disk;
/// `schedule = Revolve` selects a [`Strategy`](checkpoint::Strategy).
///
/// ```
/// use stratape::gradient;
///
/// #[gradient]
/// fn distance(x0: f64, v0: f64, steps: usize) -> f64 {
///     let (mut x, mut v) = (x0, v0);
///     #[checkpoint(slots = 20)]
///     for _ in 0..steps {
///         v -= 1e-4 * x.sin();
///         x += 1e-4 * v;
///     }
///     x
/// }
///
/// let (value, dx0, dv0) = distance_grad(1.0, 0.0, 100_000, 1.0);
/// assert_eq!(value, distance(1.0, 0.0, 100_000));
/// # assert!(dx0.is_finite() && dv0.is_finite());
/// ```
pub use stratape_macros::checkpoint;

/// A function that kernels call, or a constant or an alias that they use. See [`gpu`].
///
/// ```
/// use stratape::gpu::{Device, Grid, GpuError};
///
/// #[stratape::device]
/// fn global() -> usize {
///     thread_idx().x + block_idx().x * block_dim().x
/// }
///
/// #[stratape::kernel]
/// fn number(x: &mut [usize]) {
///     x[global()] = global();
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let mut x = gpu.zeros(4)?;
/// number::launch(&gpu, Grid::blocks(2).threads(2), (&mut x,))?;
/// assert_eq!(x.download()?, [0, 1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "gpu")]
pub use stratape_macros::device;

/// A function of numbers that a kernel on a GPU or on the emulator applies to each element of buffers; and its derivative. See [`gpu`].
///
/// Parameters by value are the elements of buffers of one length; those behind references are the same for all elements: numbers, and slices, for which a buffer is passed. The attribute replaces the function by the
/// types that [`kernel`] and [`gradient`] would generate for this kernel, each with a `launch`:
///
/// ```text
/// fn axpy(out: &mut [f64], x: &[f64], y: &[f64], a: f64)
/// ```
///
/// and, beside `launch`, `map`, which allocates the results and chooses the grid, and `pullback`, which adds to the shadow that follows each buffer of floats and returns the adjoints of floats behind
/// references, summed over all elements. A function that returns an integer has no gradient. `#[gradient(…)]` below it sets other arguments than the default; `pullback` is then not generated.
///
/// ```
/// use stratape::gpu::{Device, GpuError};
///
/// #[stratape::elementwise]
/// fn axpy(x: f64, y: f64, a: &f64) -> f64 {
///     a * x + y
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::new()?;
/// let (x, y) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.upload(&[0.5; 3])?);
/// let out = axpy::map((&x, &y, 10.0))?;
/// assert_eq!(out.download()?, [10.5, 20.5, 30.5]);
///
/// let weights = gpu.upload(&[1.0, 1.0, 2.0])?;
/// let (mut dx, mut dy) = (gpu.zeros(3)?, gpu.zeros(3)?);
/// let da = axpy::pullback((&x, &mut dx, &y, &mut dy, 10.0), &weights)?;
/// assert_eq!(dx.download()?, [10.0, 10.0, 20.0]);
/// assert_eq!(dy.download()?, [1.0, 1.0, 2.0]);
/// assert_eq!(da, 9.0);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "gpu")]
pub use stratape_macros::elementwise;

/// A function that all threads of a grid run, on a GPU or on the emulator; with [`gradient`] below it, also its derivative. See [`gpu`].
#[cfg(feature = "gpu")]
pub use stratape_macros::kernel;

/// Marks a function, in a module or alone, as constant: its derivative is zero, and neither its result nor
/// what it writes to `&mut` slices depends on any input.
///
/// ```
/// #[stratape::differentiable]
/// mod model {
///     #[stratape::constant]
///     fn bucket(t: f64) -> f64 {
///         (10.0 * t).round()
///     }
///
///     #[gradient]
///     pub fn f(t: f64) -> f64 {
///         t * bucket(t)
///     }
/// }
///
/// assert_eq!(model::f_grad(0.5, 1.0), (2.5, 5.0));
/// ```
pub use stratape_macros::constant;

/// Lets [`gradient`] see into a function, struct, enum, constant or alias, or a module of them.
///
/// On a single item, in any file and in other crates:
///
/// ```
/// mod shapes {
///     #[stratape::differentiable]
///     pub fn area(width: f64, height: f64) -> f64 {
///         width * height
///     }
/// }
///
/// #[stratape::gradient]
/// fn cost(width: f64) -> f64 {
///     3.0 * shapes::area(width, width)
/// }
///
/// # fn main() {
/// assert_eq!(cost_grad(2.0, 1.0), (12.0, 12.0));
/// # }
/// ```
///
/// `#[differentiable(halves)]` compiles a function once, where it is defined, instead of inlining it into every gradient that calls it. In a
/// module, everything inside is visible, including methods and operators:
///
/// ```
/// #[stratape::differentiable]
/// mod area {
///     pub struct Rectangle {
///         pub width: f64,
///         pub height: f64,
///     }
///
///     fn product(a: f64, b: f64) -> f64 {
///         a * b
///     }
///
///     #[gradient]
///     pub fn area(r: &Rectangle) -> f64 {
///         product(r.width, r.height)
///     }
/// }
///
/// let r = area::Rectangle { width: 2.0, height: 3.0 };
/// let mut dr = area::Rectangle { width: 0.0, height: 0.0 };
/// assert_eq!(area::area_grad(&r, &mut dr, 1.0), 6.0);
/// assert_eq!((dr.width, dr.height), (3.0, 2.0));
/// ```
pub use stratape_macros::differentiable;

/// Generates the gradient of a function beside it: `f_grad`, and `f_grad_in`, which takes a [`Workspace`].
///
/// References are followed by their shadows, to which adjoints are added; adjoints of scalars are
/// returned after the value; the last argument is the seed: the weight of the result, usually 1. `#[gradient(wrt(x, a))]` selects the inputs to
/// differentiate with respect to, `#[gradient(name = my_grad)]` sets the name. The guide (docs/gradient.md in the
/// repository) has the whole convention, and the accepted constructs.
///
/// ```
/// use stratape::gradient;
///
/// #[gradient(wrt(x))]
/// fn dot(x: &[f64], y: &[f64]) -> f64 {
///     x.iter().zip(y).map(|(a, b)| a * b).sum()
/// }
///
/// let mut dx = [0.0; 2];
/// assert_eq!(dot_grad(&[1.0, 2.0], &mut dx, &[3.0, 4.0], 1.0), 11.0);
/// assert_eq!(dx, [3.0, 4.0]);
/// ```
pub use stratape_macros::gradient;

/// Marks a `for` loop whose iterations are independent: the gradient runs its iterations in parallel, in the forward and in the
/// backward pass.
///
/// The compiler proves that they are independent; otherwise the error names the conflict. An
/// iteration may read any memory that no iteration writes, write to its own elements, and add to sums. The number of
/// [lanes](Workspace::set_lanes) determines how the iterations are divided; the result depends on nothing else.
/// `#[gradient(parallel)]` marks all outermost loops that are independent. The function itself is unchanged.
///
/// ```
/// use stratape::gradient;
///
/// #[gradient]
/// fn energy(x: &[f64], k: f64) -> f64 {
///     let mut sum = 0.0;
///     #[parallel]
///     for i in 0..x.len() {
///         let mut part = 0.0;
///         for j in 0..x.len() {
///             part += (k * (x[i] - x[j])).cos();
///         }
///         sum += part;
///     }
///     sum
/// }
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i).sin()).collect();
/// let mut dx = vec![0.0; 200];
/// let (value, dk) = energy_grad(&x, &mut dx, 0.5, 1.0);
/// assert_eq!(value, energy(&x, 0.5));
/// let difference = (energy(&x, 0.5 + 1e-6) - energy(&x, 0.5 - 1e-6)) / 2e-6;
/// assert!((dk - difference).abs() < 1e-3);
/// ```
pub use stratape_macros::parallel;

/// Marks a function that acts outside of the program: it sends, receives, reads or writes what no parameter holds.
///
/// A gradient calls `forward` where the program calls the function, and `backward` once for each such call, in reverse order. Neither is ever left out,
/// repeated or moved past another one, whether or not the compiler sees a derivative flow through it: what is sent may count elsewhere. (A loop under
/// [`#[checkpoint]`](macro@checkpoint) repeats whole steps, and with them the calls of `forward`.)
///
/// - `forward` takes the tape and the arguments of the function, and returns its result in a `Result`. What it pushes is there for `backward` to pop.
/// - `backward` takes the tape, then the arguments that are numbers, with each slice of floats replaced by its shadow and other slices left out, then the adjoint of the
///   result if there is one. It adds to the shadows of `&` slices; what it finds in the shadow of a `&mut` slice is the adjoint of what the function wrote, to be
///   replaced by that of what was there before. It returns the adjoints of the floats that are passed by value.
///
/// The function takes numbers and slices of numbers, and returns a number or nothing. It does not go into a `#[differentiable] mod`.
///
/// ```
/// use std::cell::RefCell;
/// use stratape::tape::{RecordTape, TapeError};
/// use stratape::{effect, gradient};
///
/// thread_local! {
///     /// Stands for a connection: numbers on their way, and adjoints on their way back.
///     static SENT: RefCell<Vec<f64>> = RefCell::default();
/// }
///
/// #[effect(forward = send_forward, backward = send_backward)]
/// fn send(x: f64) {
///     SENT.with_borrow_mut(|sent| sent.push(x));
/// }
///
/// fn send_forward(_: &mut RecordTape, x: f64) -> Result<(), TapeError> {
///     send(x);
///     Ok(())
/// }
///
/// fn send_backward(tape: &mut RecordTape, _: f64) -> Result<f64, TapeError> {
///     receive_forward(tape)
/// }
///
/// #[effect(forward = receive_forward, backward = receive_backward)]
/// fn receive() -> f64 {
///     SENT.with_borrow_mut(|sent| sent.pop().unwrap_or(f64::NAN))
/// }
///
/// fn receive_forward(_: &mut RecordTape) -> Result<f64, TapeError> {
///     Ok(receive())
/// }
///
/// fn receive_backward(tape: &mut RecordTape, seed: f64) -> Result<(), TapeError> {
///     send_forward(tape, seed)
/// }
///
/// #[gradient]
/// fn f(x: f64) -> f64 {
///     send(x * x);
///     3.0 * receive()
/// }
///
/// fn main() {
///     assert_eq!(f_grad(2.0, 1.0), (12.0, 12.0));
/// }
/// ```
pub use stratape_macros::effect;
/// Marks a function as the pullback of another function, of its module or of another crate: its derivative by hand.
///
/// It takes the arguments that `f_grad` would take: the arguments of the function, each slice of floats followed by its
/// shadow, and the adjoint of the result; and returns the adjoints of its float scalars.
///
/// ```
/// #[stratape::differentiable]
/// mod model {
///     fn norm(x: &[f64]) -> f64 {
///         x.iter().map(|v| v * v).sum::<f64>().sqrt()
///     }
///
///     #[stratape::pullback(of = norm)]
///     fn norm_back(x: &[f64], dx: &mut [f64], seed: f64) {
///         let length = norm(x);
///         for (d, v) in dx.iter_mut().zip(x) {
///             *d += seed * v / length;
///         }
///     }
///
///     #[gradient]
///     pub fn twice(x: &[f64]) -> f64 {
///         2.0 * norm(x)
///     }
/// }
///
/// let mut dx = [0.0; 2];
/// assert_eq!(model::twice_grad(&[3.0, 4.0], &mut dx, 1.0), 10.0);
/// assert_eq!(dx, [1.2, 1.6]);
/// ```
pub use stratape_macros::pullback;
#[cfg(feature = "remote")]
#[doc(inline)]
pub use stratape_remote as remote;
pub use stratape_tape as tape;
pub use workspace::Workspace;

#[doc(hidden)]
pub use stratape_macros::__link;

#[doc(hidden)]
pub mod __private {
    pub use crate::parallel::*;
    pub use crate::private::*;
    pub use crate::time_loop::*;
}

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;
