//! Stratape: gradients of ordinary Rust programs on stable Rust, on a tape that goes on past the
//! size of memory.
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
//! | a function whose derivative you know better | [`pullback`] |
//! | a function without derivative | [`constant`] |
//! | a loop whose iterations are independent, and several cores | [`parallel`] |
//! | a tape larger than memory, or the wish to see its size | a [`Workspace`] and `f_grad_in` |
//! | a time loop too long to be taped | [`checkpoint`](macro@checkpoint) on the loop; [`TimeLoop`](checkpoint::TimeLoop) |
//! | a tape larger than the local disk | an object store below it: `remote`, and its feature |
//! | an AD tool of your own that needs a tape | [`tape`] |
//! | a GPU | `kernel` with [`gradient`] below it, `elementwise`, and the primitives of `gpu` |
//! | arrays of `ndarray` or `nalgebra` | [`flat`], and their features |
//! | doubts about a gradient | [`check`] compares it with differences; `#[gradient(plain)]` is made without reordering and fusion |
//! | matrices to multiply, to solve, to factor | `linalg`, and its feature |
//! | a minimum to find with a solver of `argmin` | `argmin::Objective`, and its feature |
//!
//! # The guide
//!
//! Pages in the folder `docs` of the repository, in the order in which most people need them: `first-gradient.md`, `gradient.md`
//! (convention, modules, derivatives by hand, kinks, memory), `accepted.md` (every construct with an example), `explain.md` (why a tape
//! is as large as it is), `tape.md`, `checkpointing.md`, `threads.md`, `performance.md`, `troubleshooting.md` (by error message).
//!
//! # Feature flags
//!
//! None is on by default. The oldest Rust that will do is 1.95.
//!
//! | feature | what it adds |
//! |---|---|
//! | `compression` | slabs of `f32` and `f64` are compressed before they leave RAM: `TapeOptions::compression` |
//! | `serde` | states that `serde` can write are snapshots: `checkpoint::Serde` |
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
#[cfg(feature = "linalg")]
pub mod linalg;
mod parallel;
mod private;
mod time_loop;
mod workspace;

/// Gradients of time loops too long to be taped: schedules, snapshots in memory and on disk, resume after a crash. See
/// [`TimeLoop`](checkpoint::TimeLoop).
pub mod checkpoint {
    pub use stratape_checkpoint::*;

    /// Makes a struct or an enum a state that can be stored: all fields must be such.
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
    /// // Plain data is written in one piece, also in a `Vec`.
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

/// Marks a loop of a function under [`gradient`]: its gradient does not tape the loop, but stores some states on the way and
/// runs the steps between them again, by a [`checkpoint`](mod@checkpoint) schedule.
///
/// The compiler finds all that is carried from one iteration to the next by itself. `slots = …` or `memory = …` (bytes) say
/// how much is stored in memory, `disk = "directory"` with `disk_slots = …` or `disk_bytes = …` how much on disk,
/// `schedule = Revolve` by which [`Strategy`](checkpoint::Strategy).
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

/// A function of numbers, computed for each element of buffers by a kernel on a GPU or on the emulator; and its derivative. See [`gpu`].
///
/// Parameters by value are the elements of buffers of one length; those behind references are the same for all elements: numbers, and slices, for which a buffer is passed. In place of the function stand the
/// types that [`kernel`] and [`gradient`] would make of this kernel, each with a `launch`:
///
/// ```text
/// fn axpy(out: &mut [f64], x: &[f64], y: &[f64], a: f64)
/// ```
///
/// and beside `launch` there are `map`, which makes the results and chooses the grid, and `pullback`, which adds to the shadow behind each buffer of floats and returns the adjoints of floats behind
/// references, summed over all elements. A function that returns an integer has no gradient. `#[gradient(…)]` below it takes other arguments than the usual ones; `pullback` is then left out.
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

/// A function that all threads of a grid run, on a GPU or on the emulator; with [`gradient`] below it, its derivative, too. See [`gpu`].
#[cfg(feature = "gpu")]
pub use stratape_macros::kernel;

/// Marks a function, in a module or alone, as one without derivative: neither its result nor
/// what it writes to `&mut` slices depends on anything.
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

/// A function, struct, enum, constant or alias, or a module of them, that [`gradient`] can see into.
///
/// On a single item it goes in any file, and in other crates:
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
/// `#[differentiable(halves)]` compiles a function once, where it stands, instead of repeating its text in every gradient that calls it. In a
/// module everything is seen at once, methods and operators too:
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

/// Generates the gradient of a function beside it: `f_grad`, and `f_grad_in` for a [`Workspace`] of yours.
///
/// References are followed by their shadows, to which adjoints are added; adjoints of scalars are
/// returned after the value; the seed comes last. `#[gradient(wrt(x, a))]` differentiates by some
/// parameters only, `#[gradient(name = my_grad)]` chooses the name. The guide (docs/gradient.md in the
/// repository) has the whole convention, and what is accepted.
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

/// Marks a `for` loop whose iterations are independent: in the gradient its iterations, forward and backward, run in
/// parallel.
///
/// That they are independent is proved; if it cannot be, the error says which of them stands in another's way. Every
/// iteration may read what it likes, write to elements of its own, and add to sums. The number of
/// [lanes](Workspace::set_lanes) decides how the iterations are divided; the result depends on nothing else.
/// `#[gradient(parallel)]` marks all outermost loops that are independent. The function itself stays as it is.
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

/// Marks a function as the pullback of another, of its module or of another crate: its derivative by hand.
///
/// It takes what `f_grad` would take: the arguments of the function, each slice of floats followed by its
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

#[cfg(doctest)]
#[doc = include_str!("../../../docs/tape.md")]
struct TapeGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/gradient.md")]
struct GradientGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/checkpointing.md")]
struct CheckpointGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/first-gradient.md")]
struct FirstGradient;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/accepted.md")]
struct Accepted;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/several-files.md")]
struct SeveralFiles;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/threads.md")]
struct Threads;

#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../../../docs/gpu.md")]
struct Gpu;
