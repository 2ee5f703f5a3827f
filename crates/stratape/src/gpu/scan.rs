//! Running sums, and differences of neighbours.
//!
//! A block scans a chunk of [`CHUNK`] elements, tile by tile. Before that, another launch has the sum of each chunk, and a scan of these, by the same kernels, gives every chunk what
//! comes before it. All orders are fixed: results have the same bits in every run on a device.
//!
//! ```text
//! x         | a b c | d e f | g        totals →  | a+b+c | d+e+f | g |
//! before    | a+b+c | a+…+f | a+…+g |  the scan of the totals
//! out       chunk k begins with before[k − 1]
//! ```

use stratape_cuda::__private::unwritten;
use stratape_cuda::{Buffer, Device, Element, GpuError, Grid};

use super::real::{Launched, Real, THREADS, length, over, texts};
use super::reduce;

/// Elements that a block scans: eight for each thread.
const CHUNK: usize = 2048;

/// Where a scan begins, and what becomes of its sums.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode {
    /// Each element gets the sum of those before it, without itself.
    pub(super) exclusive: bool,
    /// From the last element to the first.
    pub(super) reverse: bool,
    /// Sums are added to what is there.
    pub(super) add: bool,
}

/// The kernels of scans, for a type of numbers.
pub trait Kernels: Element {
    /// The sums of all chunks.
    fn totals(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, bool),
    ) -> Launched;
    /// The chunks, with what comes before them.
    fn chunks(gpu: &Device, grid: &Grid, args: Chunks<'_, Self>) -> Launched;
}

/// Out, x, what comes before the chunks, the initial value, exclusive, reverse, add.
type Chunks<'a, T> = (&'a mut Buffer<T>, &'a Buffer<T>, &'a Buffer<T>, T, bool, bool, bool);

macro_rules! kernels {
    ($($number:ident $zero:literal $module:ident),*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn totals(sums: &mut [$number], x: &[$number], reverse: bool) {
                let mut warps = shared::<[$number; 8]>();
                let (t, n) = (thread_idx().x, x.len());
                let base = block_idx().x * 2048;
                let mut sum = $zero;
                for tile in 0..8 {
                    let k = base + tile * 256 + t;
                    if k < n {
                        sum += x[if reverse { n - 1 - k } else { k }];
                    }
                }
                let mut by = 16;
                while by > 0 {
                    sum += shuffle_xor(sum, by);
                    by /= 2;
                }
                if t % 32 == 0 {
                    warps[t / 32] = sum;
                }
                sync_threads();
                if t == 0 {
                    let mut all = $zero;
                    for warp in 0..8 {
                        all += warps[warp];
                    }
                    sums[block_idx().x] = all;
                }
            }

            #[stratape::kernel]
            pub(super) fn chunks(
                out: &mut [$number],
                x: &[$number],
                before: &[$number],
                initial: $number,
                exclusive: bool,
                reverse: bool,
                add: bool,
            ) {
                let mut warps = shared::<[$number; 8]>();
                let (t, n) = (thread_idx().x, x.len());
                let (lane, own) = (t % 32, t / 32);
                let base = block_idx().x * 2048;
                let tiles = (n - base).div_ceil(256).min(8);
                let mut carry = initial;
                if block_idx().x > 0 {
                    carry += before[block_idx().x - 1];
                }
                for tile in 0..tiles {
                    let k = base + tile * 256 + t;
                    let mut i = n;
                    if k < n {
                        i = if reverse { n - 1 - k } else { k };
                    }
                    let mut sum = if i < n { x[i] } else { $zero };
                    let mut by = 1;
                    while by < 32 {
                        let lower = shuffle_up(sum, by);
                        if lane >= by {
                            sum += lower;
                        }
                        by *= 2;
                    }
                    if lane == 31 {
                        warps[own] = sum;
                    }
                    if exclusive {
                        sum = shuffle_up(sum, 1);
                        if lane == 0 {
                            sum = $zero;
                        }
                    }
                    sync_threads();
                    let mut start = carry;
                    for warp in 0..8 {
                        if warp < own {
                            start += warps[warp];
                        }
                        carry += warps[warp];
                    }
                    if i < n {
                        if add {
                            out[i] += start + sum;
                        } else {
                            out[i] = start + sum;
                        }
                    }
                    sync_threads();
                }
            }
        }

        impl Kernels for $number {
            fn totals(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, bool),
            ) -> Launched {
                $module::totals::launch(gpu, grid, args)
            }

            fn chunks(gpu: &Device, grid: &Grid, args: Chunks<'_, Self>) -> Launched {
                $module::chunks::launch(gpu, grid, args)
            }
        }
    )*};
}
kernels!(f64 0.0 in_f64, f32 0.0 in_f32, u32 0 in_u32);

/// The scan of `x`, written or added to `out`.
pub(super) fn scan<T: Kernels + Default>(
    out: &mut Buffer<T>,
    x: &Buffer<T>,
    initial: T,
    mode: Mode,
) -> Result<(), GpuError> {
    if x.is_empty() {
        return Ok(());
    }
    let gpu = x.device();
    let chunks = x.len().div_ceil(CHUNK);
    let grid = Grid::blocks(chunks).threads(THREADS);
    let mut before = unwritten(&gpu, if chunks > 1 { chunks } else { 0 })?;
    if chunks > 1 {
        let mut totals = unwritten(&gpu, chunks)?;
        T::totals(&gpu, &grid, (&mut totals, x, mode.reverse))?;
        scan(&mut before, &totals, T::default(), Mode::default())?;
    }
    let Mode { exclusive, reverse, add } = mode;
    T::chunks(&gpu, &grid, (out, x, &before, initial, exclusive, reverse, add))
}

/// The running sums: element i is x₀ + … + xᵢ.
///
/// ```
/// use stratape::gpu::{Device, inclusive_scan, inclusive_scan_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[1.0, 2.0, 3.0])?;
/// assert_eq!(inclusive_scan(&x)?.download()?, [1.0, 3.0, 6.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0, 1.0, 1.0])?, gpu.zeros(3)?);
/// inclusive_scan_pullback(&x, &mut dx, &dout)?;
/// assert_eq!(dx.download()?, [3.0, 2.0, 1.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If device memory is exhausted, or the device fails.
pub fn inclusive_scan<T: Real>(x: &Buffer<T>) -> Result<Buffer<T>, GpuError> {
    let mut out = unwritten(&x.device(), x.len())?;
    scan(&mut out, x, T::default(), Mode::default())?;
    Ok(out)
}

/// Adds to `dx` what [`inclusive_scan`] asks for, if changes of its results count as `dout` says.
///
/// See [`inclusive_scan`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn inclusive_scan_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    shadows(x, dx, dout)?;
    scan(dx, dout, T::default(), Mode { exclusive: false, reverse: true, add: true })
}

/// The running sums before each element: element i is `initial` + x₀ + … + xᵢ₋₁.
///
/// ```
/// use stratape::gpu::{Device, exclusive_scan, exclusive_scan_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[1.0, 2.0, 3.0])?;
/// assert_eq!(exclusive_scan(&x, 10.0)?.download()?, [10.0, 11.0, 13.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0, 1.0, 1.0])?, gpu.zeros(3)?);
/// let dinitial = exclusive_scan_pullback(&x, &mut dx, 10.0, &dout)?;
/// assert_eq!((dx.download()?, dinitial), (vec![2.0, 1.0, 0.0], 3.0));
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If device memory is exhausted, or the device fails.
pub fn exclusive_scan<T: Real>(x: &Buffer<T>, initial: T) -> Result<Buffer<T>, GpuError> {
    let mut out = unwritten(&x.device(), x.len())?;
    scan(&mut out, x, initial, Mode { exclusive: true, ..Mode::default() })?;
    Ok(out)
}

/// Adds to `dx` what [`exclusive_scan`] asks for, if changes of its results count as `dout` says. Returns the adjoint of the initial value.
///
/// See [`exclusive_scan`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn exclusive_scan_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    initial: T,
    dout: &Buffer<T>,
) -> Result<T, GpuError> {
    let _ = initial;
    shadows(x, dx, dout)?;
    scan(dx, dout, T::default(), Mode { exclusive: true, reverse: true, add: true })?;
    reduce::sum(dout)
}

/// Refuses shadows that are not as long as what they belong to.
fn shadows<T: Real>(x: &Buffer<T>, dx: &Buffer<T>, dout: &Buffer<T>) -> Result<(), GpuError> {
    length("the shadow of the elements", dx, x.len())?;
    length("the shadow of the results", dout, x.len())
}

/// The kernels of differences, for a type of numbers.
pub trait Differences: Sized {
    fn differences(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, &Buffer<Self>))
    -> Launched;
    fn differences_back(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>),
    ) -> Launched;
}

macro_rules! differences {
    ($($real:ident $module:ident),*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn differences(out: &mut [$real], x: &[$real]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < x.len() {
                    out[i] = if i == 0 { x[0] } else { x[i] - x[i - 1] };
                }
            }

            #[stratape::kernel]
            pub(super) fn differences_back(dx: &mut [$real], dout: &[$real]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i + 1 < dout.len() {
                    dx[i] += dout[i] - dout[i + 1];
                } else if i < dout.len() {
                    dx[i] += dout[i];
                }
            }
        }

        impl Differences for $real {
            fn differences(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>),
            ) -> Launched {
                $module::differences::launch(gpu, grid, args)
            }

            fn differences_back(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>),
            ) -> Launched {
                $module::differences_back::launch(gpu, grid, args)
            }
        }
    )*};
}
differences!(f64 of_f64, f32 of_f32);

/// The difference of each element and the one before it; the first as it is. [`inclusive_scan`] of the result is `x` again.
///
/// ```
/// use stratape::gpu::{Device, adjacent_difference, adjacent_difference_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[1.0, 3.0, 6.0])?;
/// assert_eq!(adjacent_difference(&x)?.download()?, [1.0, 2.0, 3.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0, 10.0, 100.0])?, gpu.zeros(3)?);
/// adjacent_difference_pullback(&x, &mut dx, &dout)?;
/// assert_eq!(dx.download()?, [-9.0, -90.0, 100.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If device memory is exhausted, or the device fails.
pub fn adjacent_difference<T: Real>(x: &Buffer<T>) -> Result<Buffer<T>, GpuError> {
    let gpu = x.device();
    let mut out = unwritten(&gpu, x.len())?;
    if !x.is_empty() {
        T::differences(&gpu, &over(x.len()), (&mut out, x))?;
    }
    Ok(out)
}

/// Adds to `dx` what [`adjacent_difference`] asks for, if changes of its results count as `dout` says.
///
/// See [`adjacent_difference`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn adjacent_difference_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    shadows(x, dx, dout)?;
    if x.is_empty() {
        return Ok(());
    }
    T::differences_back(&x.device(), &over(x.len()), (dx, dout))
}

texts! {
    in_f64 { totals chunks }
    in_f32 { totals chunks }
    in_u32 { totals chunks }
    of_f64 { differences differences_back }
    of_f32 { differences differences_back }
}
