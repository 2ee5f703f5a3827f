//! Reductions of a buffer to one number.
//!
//! Each block reduces its part in a fixed order to one number, and the host the numbers of the blocks, of which there are at most [`PARTS`]: results have the same bits in
//! every run on a device.

use stratape_cuda::__private::unwritten;
use stratape_cuda::{Buffer, Device, GpuError, Grid};

use super::real::{Launched, Real, THREADS, length, over, texts};

/// The most blocks that a reduction has: enough for a device, and few to copy to the host.
const PARTS: usize = 1024;

/// Elements that are worth a block.
const WORTH: usize = 2048;

/// The kernels of reductions, for a type of numbers.
pub trait Kernels: Sized {
    fn sums(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, &Buffer<Self>)) -> Launched;
    fn dots(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<Self>),
    ) -> Launched;
    fn products(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &mut Buffer<u32>, &Buffer<Self>, bool),
    ) -> Launched;
    fn extremes(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &mut Buffer<usize>, &Buffer<Self>, bool),
    ) -> Launched;
    fn shift(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, Self)) -> Launched;
    fn shift_one(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, usize, Self)) -> Launched;
    fn axpy(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, &Buffer<Self>, Self)) -> Launched;
    fn others(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, Self, bool),
    ) -> Launched;
}

macro_rules! kernels {
    ($($real:ident $module:ident),*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn sums(parts: &mut [$real], x: &[$real]) {
                let first = thread_idx().x + block_idx().x * block_dim().x;
                let mut sum = 0.0;
                for i in (first..x.len()).step_by(block_dim().x * grid_dim().x) {
                    sum += x[i];
                }
                block_add(&mut parts[block_idx().x], sum);
            }

            #[stratape::kernel]
            pub(super) fn dots(parts: &mut [$real], x: &[$real], y: &[$real]) {
                let first = thread_idx().x + block_idx().x * block_dim().x;
                let mut sum = 0.0;
                for i in (first..x.len()).step_by(block_dim().x * grid_dim().x) {
                    sum += x[i] * y[i];
                }
                block_add(&mut parts[block_idx().x], sum);
            }

            /// With `skip`, zeros are counted and left out.
            #[stratape::kernel]
            pub(super) fn products(parts: &mut [$real], zeros: &mut [u32], x: &[$real], skip: bool) {
                let mut factors = shared::<[$real; 256]>();
                let mut counts = shared::<[u32; 256]>();
                let t = thread_idx().x;
                let (mut product, mut count) = (1.0, 0);
                for i in (t + block_idx().x * 256..x.len()).step_by(256 * grid_dim().x) {
                    if skip && x[i] == 0.0 {
                        count += 1;
                    } else {
                        product *= x[i];
                    }
                }
                factors[t] = product;
                counts[t] = count;
                sync_threads();
                let mut by = 128;
                while by > 0 {
                    if t < by {
                        factors[t] *= factors[t + by];
                        counts[t] += counts[t + by];
                    }
                    sync_threads();
                    by /= 2;
                }
                if t == 0 {
                    parts[block_idx().x] = factors[0];
                    zeros[block_idx().x] = counts[0];
                }
            }

            /// The largest, or the smallest, and the lowest of its places; the number of elements stands for no place.
            #[stratape::kernel]
            pub(super) fn extremes(best: &mut [$real], at: &mut [usize], x: &[$real], largest: bool) {
                let mut values = shared::<[$real; 256]>();
                let mut places = shared::<[usize; 256]>();
                let t = thread_idx().x;
                let none = x.len();
                let (mut value, mut place) = (0.0, none);
                for i in (t + block_idx().x * 256..x.len()).step_by(256 * grid_dim().x) {
                    let own = if largest { x[i] } else { -x[i] };
                    if !own.is_nan() && (place == none || own > value) {
                        value = own;
                        place = i;
                    }
                }
                values[t] = value;
                places[t] = place;
                sync_threads();
                let mut by = 128;
                while by > 0 {
                    if t < by {
                        let (own, other) = (values[t], values[t + by]);
                        let (here, there) = (places[t], places[t + by]);
                        if there != none && (here == none || other > own || (other == own && there < here)) {
                            values[t] = other;
                            places[t] = there;
                        }
                    }
                    sync_threads();
                    by /= 2;
                }
                if t == 0 {
                    best[block_idx().x] = values[0];
                    at[block_idx().x] = places[0];
                }
            }

            #[stratape::kernel]
            pub(super) fn shift(x: &mut [$real], by: $real) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < x.len() {
                    x[i] += by;
                }
            }

            #[stratape::kernel]
            pub(super) fn shift_one(x: &mut [$real], at: usize, by: $real) {
                x[at] += by;
            }

            #[stratape::kernel]
            pub(super) fn axpy(y: &mut [$real], x: &[$real], a: $real) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < x.len() {
                    y[i] += a * x[i];
                }
            }

            /// Adds a product without the factor of each element; with `at_zero`, it lacks the zeros already.
            #[stratape::kernel]
            pub(super) fn others(dx: &mut [$real], x: &[$real], product: $real, at_zero: bool) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < x.len() {
                    if !at_zero {
                        dx[i] += product / x[i];
                    } else if x[i] == 0.0 {
                        dx[i] += product;
                    }
                }
            }
        }

        impl Kernels for $real {
            fn sums(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, &Buffer<Self>)) -> Launched {
                $module::sums::launch(gpu, grid, args)
            }

            fn dots(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<Self>),
            ) -> Launched {
                $module::dots::launch(gpu, grid, args)
            }

            fn products(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &mut Buffer<u32>, &Buffer<Self>, bool),
            ) -> Launched {
                $module::products::launch(gpu, grid, args)
            }

            fn extremes(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &mut Buffer<usize>, &Buffer<Self>, bool),
            ) -> Launched {
                $module::extremes::launch(gpu, grid, args)
            }

            fn shift(gpu: &Device, grid: &Grid, args: (&mut Buffer<Self>, Self)) -> Launched {
                $module::shift::launch(gpu, grid, args)
            }

            fn shift_one(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, usize, Self),
            ) -> Launched {
                $module::shift_one::launch(gpu, grid, args)
            }

            fn axpy(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, Self),
            ) -> Launched {
                $module::axpy::launch(gpu, grid, args)
            }

            fn others(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, Self, bool),
            ) -> Launched {
                $module::others::launch(gpu, grid, args)
            }
        }
    )*};
}
kernels!(f64 in_f64, f32 in_f32);

/// The blocks of a reduction of `n` elements.
fn parts(n: usize) -> usize {
    n.div_ceil(WORTH).clamp(1, PARTS)
}

fn grid(n: usize) -> Grid {
    Grid::blocks(parts(n)).threads(THREADS)
}

/// The sum of all elements; 0 if there are none.
///
/// ```
/// use stratape::gpu::{Device, sum, sum_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[1.0, 2.0, 3.0])?;
/// assert_eq!(sum(&x)?, 6.0);
///
/// let mut dx = gpu.zeros(3)?;
/// sum_pullback(&x, &mut dx, 2.0)?;
/// assert_eq!(dx.download()?, [2.0; 3]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the device fails.
pub fn sum<T: Real>(x: &Buffer<T>) -> Result<T, GpuError> {
    if x.is_empty() {
        return Ok(T::default());
    }
    let gpu = x.device();
    let mut sums = gpu.zeros(parts(x.len()))?;
    T::sums(&gpu, &grid(x.len()), (&mut sums, x))?;
    Ok(added(&sums.download()?))
}

fn added<T: Real>(parts: &[T]) -> T {
    parts.iter().fold(T::default(), |sum, part| sum + *part)
}

/// Adds to `dx` what [`sum`] asks for, if a change of the sum counts `seed` times.
///
/// See [`sum`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn sum_pullback<T: Real>(x: &Buffer<T>, dx: &mut Buffer<T>, seed: T) -> Result<(), GpuError> {
    length("the shadow of what is summed", dx, x.len())?;
    if x.is_empty() {
        return Ok(());
    }
    T::shift(&x.device(), &over(x.len()), (dx, seed))
}

/// The sum of the products of elements: Σ xᵢ·yᵢ.
///
/// ```
/// use stratape::gpu::{Device, dot, dot_pullback};
///
/// let gpu = Device::new()?;
/// let (x, y) = (gpu.upload(&[1.0, 2.0])?, gpu.upload(&[3.0, 4.0])?);
/// assert_eq!(dot(&x, &y)?, 11.0);
///
/// let (mut dx, mut dy) = (gpu.zeros(2)?, gpu.zeros(2)?);
/// dot_pullback(&x, &mut dx, &y, &mut dy, 1.0)?;
/// assert_eq!((dx.download()?, dy.download()?), (vec![3.0, 4.0], vec![1.0, 2.0]));
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn dot<T: Real>(x: &Buffer<T>, y: &Buffer<T>) -> Result<T, GpuError> {
    length("the second factor", y, x.len())?;
    if x.is_empty() {
        return Ok(T::default());
    }
    let gpu = x.device();
    let mut sums = gpu.zeros(parts(x.len()))?;
    T::dots(&gpu, &grid(x.len()), (&mut sums, x, y))?;
    Ok(added(&sums.download()?))
}

/// Adds to `dx` and `dy` what [`dot`] asks for, if a change of its result counts `seed` times.
///
/// See [`dot`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn dot_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    y: &Buffer<T>,
    dy: &mut Buffer<T>,
    seed: T,
) -> Result<(), GpuError> {
    length("the second factor", y, x.len())?;
    length("the shadow of the first factor", dx, x.len())?;
    length("the shadow of the second factor", dy, x.len())?;
    if x.is_empty() {
        return Ok(());
    }
    let (gpu, grid) = (x.device(), over(x.len()));
    T::axpy(&gpu, &grid, (dx, y, seed))?;
    T::axpy(&gpu, &grid, (dy, x, seed))
}

/// The product of all elements; 1 if there are none.
///
/// ```
/// use stratape::gpu::{Device, product, product_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[2.0, 3.0, 0.0])?;
/// assert_eq!(product(&x)?, 0.0);
///
/// // Only the zero changes the product.
/// let mut dx = gpu.zeros(3)?;
/// product_pullback(&x, &mut dx, 1.0)?;
/// assert_eq!(dx.download()?, [0.0, 0.0, 6.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the device fails.
pub fn product<T: Real>(x: &Buffer<T>) -> Result<T, GpuError> {
    Ok(multiplied(x, false)?.0)
}

/// The product of all elements, or, with `skip`, of those that are not zero; and the number of those left out.
fn multiplied<T: Real>(x: &Buffer<T>, skip: bool) -> Result<(T, usize), GpuError> {
    if x.is_empty() {
        return Ok((T::ONE, 0));
    }
    let gpu = x.device();
    let count = parts(x.len());
    let (mut products, mut zeros) = (unwritten(&gpu, count)?, unwritten(&gpu, count)?);
    T::products(&gpu, &grid(x.len()), (&mut products, &mut zeros, x, skip))?;
    let product = products.download()?.into_iter().fold(T::ONE, |product, part| product * part);
    Ok((product, zeros.download()?.into_iter().map(|count| count as usize).sum()))
}

/// Adds to `dx` what [`product`] asks for, if a change of the product counts `seed` times. A single zero among the elements gets the product of the others; beside it,
/// and where there are several, nothing changes the product.
///
/// See [`product`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn product_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    seed: T,
) -> Result<(), GpuError> {
    length("the shadow of the factors", dx, x.len())?;
    if x.is_empty() {
        return Ok(());
    }
    let (product, zeros) = multiplied(x, true)?;
    match zeros {
        0 | 1 => T::others(&x.device(), &over(x.len()), (dx, x, seed * product, zeros == 1)),
        _ => Ok(()),
    }
}

/// The largest element. NaN is passed over, unless there is nothing else.
///
/// ```
/// use stratape::gpu::{Device, max, max_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[2.0, 5.0, 5.0])?;
/// assert_eq!(max(&x)?, 5.0);
///
/// // The first of those that are equal.
/// let mut dx = gpu.zeros(3)?;
/// max_pullback(&x, &mut dx, 1.0)?;
/// assert_eq!(dx.download()?, [0.0, 1.0, 0.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If there are no elements, or if the device fails.
pub fn max<T: Real>(x: &Buffer<T>) -> Result<T, GpuError> {
    Ok(extreme(x, true)?.0)
}

/// The smallest element. NaN is passed over, unless there is nothing else.
///
/// ```
/// use stratape::gpu::{Device, GpuError, min, min_pullback};
///
/// let gpu = Device::new()?;
/// let x = gpu.upload(&[2.0, -1.0, 5.0])?;
/// assert_eq!(min(&x)?, -1.0);
///
/// let mut dx = gpu.zeros(3)?;
/// min_pullback(&x, &mut dx, 4.0)?;
/// assert_eq!(dx.download()?, [0.0, 4.0, 0.0]);
///
/// assert!(matches!(min(&gpu.zeros::<f64>(0)?), Err(GpuError::Empty { .. })));
/// # Ok::<(), GpuError>(())
/// ```
///
/// # Errors
/// If there are no elements, or if the device fails.
pub fn min<T: Real>(x: &Buffer<T>) -> Result<T, GpuError> {
    Ok(extreme(x, false)?.0)
}

/// The largest or the smallest element, and the lowest of its places; none if all are NaN.
fn extreme<T: Real>(x: &Buffer<T>, largest: bool) -> Result<(T, Option<usize>), GpuError> {
    if x.is_empty() {
        let what = if largest { "largest element" } else { "smallest element" };
        return Err(GpuError::Empty { what: what.to_owned() });
    }
    let gpu = x.device();
    let count = parts(x.len());
    let (mut best, mut at) = (unwritten(&gpu, count)?, unwritten(&gpu, count)?);
    T::extremes(&gpu, &grid(x.len()), (&mut best, &mut at, x, largest))?;
    let found = best.download()?.into_iter().zip(at.download()?).filter(|(_, at)| *at < x.len());
    let found = found.reduce(|one, other| {
        let is_better = other.0 > one.0 || (other.0 == one.0 && other.1 < one.1);
        if is_better { other } else { one }
    });
    // Of the smallest, the largest negative was looked for.
    let value = |value: T| if largest { value } else { -value };
    Ok(found.map_or((T::NAN, None), |(best, at)| (value(best), Some(at))))
}

/// Adds to `dx` what [`max`] asks for, if a change of the largest element counts `seed` times: it goes to the first of the elements that are equal to it.
///
/// See [`max`] for an example.
///
/// # Errors
/// If there are no elements, if the lengths or the devices of the buffers differ, or if the device fails.
pub fn max_pullback<T: Real>(x: &Buffer<T>, dx: &mut Buffer<T>, seed: T) -> Result<(), GpuError> {
    extreme_pullback(x, dx, seed, true)
}

/// Adds to `dx` what [`min`] asks for, if a change of the smallest element counts `seed` times: it goes to the first of the elements that are equal to it.
///
/// See [`min`] for an example.
///
/// # Errors
/// If there are no elements, if the lengths or the devices of the buffers differ, or if the device fails.
pub fn min_pullback<T: Real>(x: &Buffer<T>, dx: &mut Buffer<T>, seed: T) -> Result<(), GpuError> {
    extreme_pullback(x, dx, seed, false)
}

fn extreme_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    seed: T,
    largest: bool,
) -> Result<(), GpuError> {
    length("the shadow of the elements", dx, x.len())?;
    match extreme(x, largest)?.1 {
        Some(at) => T::shift_one(&x.device(), &Grid::blocks(1), (dx, at, seed)),
        None => Ok(()),
    }
}

texts! {
    in_f64 { sums dots products extremes shift shift_one axpy others }
    in_f32 { sums dots products extremes shift shift_one axpy others }
}
