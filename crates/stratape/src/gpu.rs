//! Kernels on a GPU, or on an emulator if there is none; their gradients; and buffers on a device.
//!
//! A kernel is a function under [`kernel`](crate::kernel) that every thread of a grid runs. The attribute replaces it by a type of its name, with a `launch`;
//! `#[gradient]` below `#[kernel]` generates another for its derivative.
//!
//! ```
//! use stratape::gpu::{Device, Grid, GpuError};
//!
//! #[stratape::kernel]
//! #[gradient]
//! fn axpy(y: &mut [f64], x: &[f64], a: f64) {
//!     let i = thread_idx().x + block_idx().x * block_dim().x;
//!     if i < x.len() {
//!         y[i] += a * x[i];
//!     }
//! }
//!
//! # fn main() -> Result<(), GpuError> {
//! let gpu = Device::new()?; // the first CUDA device, or the emulator
//! let grid = Grid::blocks(1).threads(4);
//! let (x, mut y) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.upload(&[0.5; 3])?);
//! axpy::launch(&gpu, &grid, (&mut y, &x, 10.0))?;
//! assert_eq!(y.download()?, [10.5, 20.5, 30.5]);
//!
//! // The weights of the results, and shadows to add to.
//! let mut dy = gpu.upload(&[1.0, 1.0, 2.0])?;
//! let (mut dx, mut da) = (gpu.zeros(3)?, gpu.zeros(1)?);
//! axpy_grad::launch(&gpu, &grid, (&mut y, &mut dy, &x, &mut dx, 10.0, &mut da))?;
//! assert_eq!(dx.download()?, [10.0, 10.0, 20.0]);
//! assert_eq!(da.download()?, [9.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Primitives
//!
//! [`sum`], [`dot`], [`product`], [`max`], [`min`]; [`inclusive_scan`], [`exclusive_scan`], [`adjacent_difference`]; [`inclusive_scan_by_key`], [`exclusive_scan_by_key`], [`reduce_by_key`], [`sort_by_key`];
//! [`gather`], [`scatter`], [`scatter_add`]; [`matmul`]; and `map` of functions under [`elementwise`](crate::elementwise). They take buffers and return new buffers or numbers. The pullback of each has the name
//! of the function and `_pullback`, takes the shadow of each differentiated buffer after that buffer, and adds to it.
//!
//! # In kernels
//!
//! The functions of this module that describe a thread ([`thread_idx`], [`sync_threads`], [`shared`], …) are called in kernels and in functions under
//! [`device`](crate::device), without a path. `docs/gpu.md` of the repository is the guide.

mod by_key;
mod gather;
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_errors_doc)]
pub mod host;
mod key;
mod matmul;
mod real;
mod reduce;
mod scan;
mod sort;

pub use stratape_cuda::*;

pub use self::by_key::{
    exclusive_scan_by_key, exclusive_scan_by_key_pullback, inclusive_scan_by_key,
    inclusive_scan_by_key_pullback, reduce_by_key, reduce_by_key_pullback,
};
pub use self::gather::{
    gather, gather_pullback, scatter, scatter_add, scatter_add_pullback, scatter_pullback,
};
pub use self::key::Key;
pub use self::matmul::{Matmul, matmul, matmul_pullback};
pub use self::real::Real;
pub use self::reduce::{
    dot, dot_pullback, max, max_pullback, min, min_pullback, product, product_pullback, sum,
    sum_pullback,
};
pub use self::scan::{
    adjacent_difference, adjacent_difference_pullback, exclusive_scan, exclusive_scan_pullback,
    inclusive_scan, inclusive_scan_pullback,
};
pub use self::sort::{Order, Sorted, sort_by_key, sort_by_key_pullback};

/// Where a thread or a block is, or how many of them there are, along three axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in CUDA")]
pub struct Coordinates {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// The thread that runs, in its block.
///
/// See the [module](self) for an example.
pub fn thread_idx() -> Coordinates {
    outside("thread_idx")
}

/// The block of the thread, in the grid.
///
/// See the [module](self) for an example.
pub fn block_idx() -> Coordinates {
    outside("block_idx")
}

/// Threads of a block.
///
/// See the [module](self) for an example.
pub fn block_dim() -> Coordinates {
    outside("block_dim")
}

/// Blocks of the grid.
///
/// ```
/// # use stratape::gpu::{Device, Grid, GpuError};
/// #[stratape::kernel]
/// fn squares(x: &mut [f64]) {
///     let first = thread_idx().x + block_idx().x * block_dim().x;
///     // A grid-stride loop: works with any grid.
///     for i in (first..x.len()).step_by(block_dim().x * grid_dim().x) {
///         x[i] *= x[i];
///     }
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let mut x = gpu.upload(&[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// squares::launch(&gpu, Grid::blocks(2).threads(1), (&mut x,))?;
/// assert_eq!(x.download()?, [1.0, 4.0, 9.0, 16.0, 25.0]);
/// # Ok(())
/// # }
/// ```
pub fn grid_dim() -> Coordinates {
    outside("grid_dim")
}

/// Threads that run in step: 32.
///
/// See [`shuffle_down`] for an example.
pub fn warp_size() -> usize {
    outside("warp_size")
}

/// Waits until all threads of the block have reached this point. Their earlier writes are then visible.
///
/// See [`shared`] for an example.
pub fn sync_threads() {
    outside("sync_threads")
}

/// Memory that the threads of a block share: an array of numbers, declared at the top of a kernel. It is uninitialised.
///
/// ```
/// # use stratape::gpu::{Device, Grid, GpuError};
/// #[stratape::kernel]
/// fn reverse(x: &mut [f64]) {
///     let mut tile = shared::<[f64; 64]>();
///     let (t, base) = (thread_idx().x, block_idx().x * block_dim().x);
///     tile[t] = x[base + t];
///     sync_threads();
///     x[base + t] = tile[block_dim().x - 1 - t];
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let mut x = gpu.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// reverse::launch(&gpu, Grid::blocks(2).threads(3), (&mut x,))?;
/// assert_eq!(x.download()?, [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn shared<T>() -> T {
    outside("shared")
}

/// Memory that the threads of a block share, of a length that is known at the launch, which must reserve the bytes with `Grid::shared`.
///
/// ```
/// # use stratape::gpu::{Device, Grid, GpuError};
/// #[stratape::kernel]
/// fn rotate(x: &mut [f64]) {
///     let n = block_dim().x;
///     let tile = dynamic_shared::<f64>(n);
///     let t = thread_idx().x;
///     tile[t] = x[t];
///     sync_threads();
///     x[t] = tile[(t + 1) % n];
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let mut x = gpu.upload(&[1.0, 2.0, 3.0])?;
/// rotate::launch(&gpu, Grid::blocks(1).threads(3).shared(3 * 8), (&mut x,))?;
/// assert_eq!(x.download()?, [2.0, 3.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn dynamic_shared<T>(len: usize) -> &'static mut [T] {
    let _ = len;
    outside("dynamic_shared")
}

/// Adds to a number in memory that other threads may change at the same time. Returns the old value.
///
/// ```
/// # use stratape::gpu::{Device, Grid, GpuError};
/// #[stratape::kernel]
/// fn count(x: &[f64], n: &mut [u32]) {
///     if x[thread_idx().x] > 0.0 {
///         atomic_add(&mut n[0], 1);
///     }
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let (x, mut n) = (gpu.upload(&[1.0, -2.0, 3.0])?, gpu.zeros(1)?);
/// count::launch(&gpu, Grid::blocks(1).threads(3), (&x, &mut n))?;
/// assert_eq!(n.download()?, [2]);
/// # Ok(())
/// # }
/// ```
pub fn atomic_add<T>(place: &mut T, value: T) -> T {
    let _ = (place, value);
    outside("atomic_add")
}

/// Replaces a number in memory by the lesser of it and another. Returns the old value.
///
/// See [`atomic_add`] for an example.
pub fn atomic_min<T>(place: &mut T, value: T) -> T {
    let _ = (place, value);
    outside("atomic_min")
}

/// Replaces a number in memory by the greater of it and another. Returns the old value.
///
/// See [`atomic_add`] for an example.
pub fn atomic_max<T>(place: &mut T, value: T) -> T {
    let _ = (place, value);
    outside("atomic_max")
}

/// Adds the numbers of all threads of a block to one number in memory: in the block first, in a fixed order, then once for each block, atomically. All threads of the block
/// must reach it, with 0.0 if they have nothing to add, and name the same element.
///
/// ```
/// # use stratape::gpu::{Device, Grid, GpuError};
/// #[stratape::kernel]
/// #[gradient]
/// fn squares(s: &mut [f64], x: &[f64]) {
///     let i = thread_idx().x + block_idx().x * block_dim().x;
///     block_add(&mut s[0], if i < x.len() { x[i] * x[i] } else { 0.0 });
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let (x, mut s) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.zeros(1)?);
/// let (mut ds, mut dx) = (gpu.upload(&[1.0])?, gpu.zeros(3)?);
/// squares_grad::launch(&gpu, Grid::blocks(2).threads(2), (&mut s, &mut ds, &x, &mut dx))?;
/// assert_eq!((s.download()?, dx.download()?), (vec![14.0], vec![2.0, 4.0, 6.0]));
/// # Ok(())
/// # }
/// ```
pub fn block_add<T>(place: &mut T, value: T) {
    let _ = (place, value);
    outside("block_add")
}

/// The number of the thread that is this many lanes above in the warp; the thread's own number if there is none. All threads of the warp take part.
///
/// ```
/// # use stratape::gpu::{Device, Grid, GpuError};
/// #[stratape::kernel]
/// fn sums(x: &[f64], s: &mut [f64]) {
///     let t = thread_idx().x;
///     let mut sum = x[t];
///     let mut by = warp_size() / 2;
///     while by > 0 {
///         sum += shuffle_down(sum, by);
///         by /= 2;
///     }
///     if t == 0 {
///         s[0] = sum;
///     }
/// }
///
/// # fn main() -> Result<(), GpuError> {
/// let gpu = Device::emulator();
/// let (x, mut s) = (gpu.upload(&[0.5; 32])?, gpu.zeros(1)?);
/// sums::launch(&gpu, Grid::blocks(1).threads(32), (&x, &mut s))?;
/// assert_eq!(s.download()?, [16.0]);
/// # Ok(())
/// # }
/// ```
pub fn shuffle_down<T>(value: T, by: usize) -> T {
    let _ = (value, by);
    outside("shuffle_down")
}

/// The number of the thread that is this many lanes below in the warp; the thread's own number if there is none. All threads of the warp take part.
///
/// See [`shuffle_down`] for an example.
pub fn shuffle_up<T>(value: T, by: usize) -> T {
    let _ = (value, by);
    outside("shuffle_up")
}

/// The number of the thread whose lane differs in these bits. All threads of the warp take part.
///
/// See [`shuffle_down`] for an example.
pub fn shuffle_xor<T>(value: T, bits: usize) -> T {
    let _ = (value, bits);
    outside("shuffle_xor")
}

#[expect(clippy::panic, reason = "there is no thread of a kernel here")]
fn outside(name: &str) -> ! {
    panic!("`{name}` means something in kernels only")
}
