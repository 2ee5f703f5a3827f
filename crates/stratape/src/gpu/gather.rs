//! Elements by index: gathered, scattered, added up.
//!
//! Indices are not checked on the host, which would wait for the device. A launch that is [checked](Device::checking) reports an index that is out of bounds, as kernels do.

use stratape_cuda::__private::unwritten;
use stratape_cuda::{Buffer, Device, GpuError, Grid};

use super::real::{Launched, Real, length, over, texts, together};

/// A buffer that is written, one that is read, and indices.
type Moved<'a, T> = (&'a mut Buffer<T>, &'a Buffer<T>, &'a Buffer<u32>);

/// The kernels of this file, for a type of numbers.
pub trait Kernels: Sized {
    /// `out[i] = x[index[i]]`
    fn gather(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched;
    /// `out[i] += x[index[i]]`
    fn gather_add(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched;
    /// `out[index[i]] += x[i]`
    fn scatter_add(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched;
    /// `out[index[i]] += x[i]`, with every index once.
    fn permute_add(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched;
    /// `out[j] = x[winner[j] - 1]`, where there is one
    fn scatter(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched;
    /// `dx[i] += dout[index[i]]`, where i has won
    fn scatter_back(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>, &Buffer<u32>),
    ) -> Launched;
    /// `dy[j] += dout[j]`, where nobody has won
    fn covered_back(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched;
}

/// The number of the last element that goes to each place, counted from 1.
#[stratape::kernel]
fn winners(winner: &mut [u32], index: &[u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < index.len() {
        atomic_max(&mut winner[index[i] as usize], i as u32 + 1);
    }
}

macro_rules! kernels {
    ($($real:ident $module:ident),*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn gather(out: &mut [$real], x: &[$real], index: &[u32]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < index.len() {
                    out[i] = x[index[i] as usize];
                }
            }

            #[stratape::kernel]
            pub(super) fn gather_add(out: &mut [$real], x: &[$real], index: &[u32]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < index.len() {
                    out[i] += x[index[i] as usize];
                }
            }

            #[stratape::kernel]
            pub(super) fn scatter_add(out: &mut [$real], x: &[$real], index: &[u32]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < index.len() {
                    atomic_add(&mut out[index[i] as usize], x[i]);
                }
            }

            #[stratape::kernel]
            pub(super) fn permute_add(out: &mut [$real], x: &[$real], index: &[u32]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < index.len() {
                    out[index[i] as usize] += x[i];
                }
            }

            #[stratape::kernel]
            pub(super) fn scatter(out: &mut [$real], x: &[$real], winner: &[u32]) {
                let j = thread_idx().x + block_idx().x * block_dim().x;
                if j < winner.len() && winner[j] > 0 {
                    out[j] = x[winner[j] as usize - 1];
                }
            }

            #[stratape::kernel]
            pub(super) fn scatter_back(
                dx: &mut [$real],
                dout: &[$real],
                index: &[u32],
                winner: &[u32],
            ) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < index.len() && winner[index[i] as usize] as usize == i + 1 {
                    dx[i] += dout[index[i] as usize];
                }
            }

            #[stratape::kernel]
            pub(super) fn covered_back(dy: &mut [$real], dout: &[$real], winner: &[u32]) {
                let j = thread_idx().x + block_idx().x * block_dim().x;
                if j < winner.len() && winner[j] == 0 {
                    dy[j] += dout[j];
                }
            }
        }

        impl Kernels for $real {
            fn gather(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched {
                $module::gather::launch(gpu, grid, args)
            }

            fn gather_add(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched {
                $module::gather_add::launch(gpu, grid, args)
            }

            fn scatter_add(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched {
                $module::scatter_add::launch(gpu, grid, args)
            }

            fn permute_add(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched {
                $module::permute_add::launch(gpu, grid, args)
            }

            fn scatter(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched {
                $module::scatter::launch(gpu, grid, args)
            }

            fn scatter_back(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>, &Buffer<u32>),
            ) -> Launched {
                $module::scatter_back::launch(gpu, grid, args)
            }

            fn covered_back(gpu: &Device, grid: &Grid, args: Moved<'_, Self>) -> Launched {
                $module::covered_back::launch(gpu, grid, args)
            }
        }
    )*};
}
kernels!(f64 in_f64, f32 in_f32);

/// The elements of `x` that the indices name, in their order; an index may come several times.
///
/// ```
/// use stratape::gpu::{Device, gather, gather_pullback};
///
/// let gpu = Device::new()?;
/// let (x, index) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.upload(&[2, 0, 2])?);
/// assert_eq!(gather(&x, &index)?.download()?, [3.0, 1.0, 3.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0, 10.0, 100.0])?, gpu.zeros(3)?);
/// gather_pullback(&x, &mut dx, &index, &dout)?;
/// assert_eq!(dx.download()?, [10.0, 0.0, 101.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If device memory is exhausted, if the device fails, or, in checked launches, if an index is out of bounds.
pub fn gather<T: Real>(x: &Buffer<T>, index: &Buffer<u32>) -> Result<Buffer<T>, GpuError> {
    let gpu = x.device();
    let mut out = unwritten(&gpu, index.len())?;
    if !index.is_empty() {
        T::gather(&gpu, &over(index.len()), (&mut out, x, index))?;
    }
    Ok(out)
}

/// Adds to `dx` what [`gather`] asks for, if changes of its results count as `dout` says. Additions to one element are atomic, and come in any order.
///
/// See [`gather`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if the device fails, or, in checked launches, if an index is out of bounds.
pub fn gather_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    index: &Buffer<u32>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    length("the shadow of what is gathered from", dx, x.len())?;
    length("the shadow of the results", dout, index.len())?;
    if index.is_empty() {
        return Ok(());
    }
    T::scatter_add(&x.device(), &over(index.len()), (dx, dout, index))
}

/// A buffer of `n` elements, each the sum of those of `x` whose index is its own; 0 where there are none. Additions to one element are atomic, and come in any order.
///
/// ```
/// use stratape::gpu::{Device, scatter_add, scatter_add_pullback};
///
/// let gpu = Device::new()?;
/// let (x, index) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.upload(&[1, 3, 1])?);
/// assert_eq!(scatter_add(&x, &index, 4)?.download()?, [0.0, 4.0, 0.0, 2.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0, 10.0, 100.0, 1000.0])?, gpu.zeros(3)?);
/// scatter_add_pullback(&x, &mut dx, &index, &dout)?;
/// assert_eq!(dx.download()?, [10.0, 1000.0, 10.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If there are not as many indices as elements, if device memory is exhausted, if the device fails, or, in checked launches, if an index is out of bounds.
pub fn scatter_add<T: Real>(
    x: &Buffer<T>,
    index: &Buffer<u32>,
    n: usize,
) -> Result<Buffer<T>, GpuError> {
    length("the buffer of indices", index, x.len())?;
    let gpu = x.device();
    let mut out = gpu.zeros(n)?;
    if !index.is_empty() {
        T::scatter_add(&gpu, &over(index.len()), (&mut out, x, index))?;
    }
    Ok(out)
}

/// Adds to `dx` what [`scatter_add`] asks for, if changes of its results count as `dout` says.
///
/// See [`scatter_add`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if the device fails, or, in checked launches, if an index is out of bounds.
pub fn scatter_add_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    index: &Buffer<u32>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    length("the buffer of indices", index, x.len())?;
    length("the shadow of what is scattered", dx, x.len())?;
    if index.is_empty() {
        return Ok(());
    }
    T::gather_add(&x.device(), &over(index.len()), (dx, dout, index))
}

/// A copy of `y` in which the elements of `x` stand where their indices say. Of several with one index the last one stays, on every device and in every run.
///
/// ```
/// use stratape::gpu::{Device, scatter, scatter_pullback};
///
/// let gpu = Device::new()?;
/// let (x, index) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.upload(&[1, 3, 1])?);
/// let y = gpu.upload(&[0.5; 4])?;
/// assert_eq!(scatter(&x, &index, &y)?.download()?, [0.5, 3.0, 0.5, 2.0]);
///
/// let dout = gpu.upload(&[1.0, 10.0, 100.0, 1000.0])?;
/// let (mut dx, mut dy) = (gpu.zeros(3)?, gpu.zeros(4)?);
/// scatter_pullback(&x, &mut dx, &index, &y, &mut dy, &dout)?;
/// // The first element was overwritten by the third.
/// assert_eq!(dx.download()?, [0.0, 1000.0, 10.0]);
/// assert_eq!(dy.download()?, [1.0, 0.0, 100.0, 0.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If there are not as many indices as elements, if device memory is exhausted, if the device fails, or, in checked launches, if an index is out of bounds.
pub fn scatter<T: Real>(
    x: &Buffer<T>,
    index: &Buffer<u32>,
    y: &Buffer<T>,
) -> Result<Buffer<T>, GpuError> {
    length("the buffer of indices", index, x.len())?;
    together("what is scattered to", x, y)?;
    let gpu = x.device();
    let mut out = unwritten(&gpu, y.len())?;
    out.copy_from(y)?;
    let winner = winner(&gpu, index, y.len())?;
    if !y.is_empty() {
        T::scatter(&gpu, &over(y.len()), (&mut out, x, &winner))?;
    }
    Ok(out)
}

/// For each of `n` places the number of the last element that goes there, counted from 1; 0 where there is none.
fn winner(gpu: &Device, index: &Buffer<u32>, n: usize) -> Result<Buffer<u32>, GpuError> {
    let mut winner = gpu.zeros(n)?;
    if u32::try_from(index.len()).is_err() {
        return Err(GpuError::Unsupported("`scatter` of more than 2³² − 1 elements".to_owned()));
    }
    if !index.is_empty() {
        winners::launch(gpu, over(index.len()), (&mut winner, index))?;
    }
    Ok(winner)
}

/// Adds to `dx` and `dy` what [`scatter`] asks for, if changes of its results count as `dout` says. Elements that were overwritten get nothing.
///
/// See [`scatter`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if the device fails, or, in checked launches, if an index is out of bounds.
pub fn scatter_pullback<T: Real>(
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    index: &Buffer<u32>,
    y: &Buffer<T>,
    dy: &mut Buffer<T>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    length("the buffer of indices", index, x.len())?;
    length("the shadow of what is scattered", dx, x.len())?;
    length("the shadow of what is scattered to", dy, y.len())?;
    length("the shadow of the results", dout, y.len())?;
    let gpu = x.device();
    let winner = winner(&gpu, index, y.len())?;
    if !index.is_empty() {
        T::scatter_back(&gpu, &over(index.len()), (dx, dout, index, &winner))?;
    }
    if !y.is_empty() {
        T::covered_back(&gpu, &over(y.len()), (dy, dout, &winner))?;
    }
    Ok(())
}

texts! {
    self { winners }
    in_f64 { gather gather_add scatter_add permute_add scatter scatter_back covered_back }
    in_f32 { gather gather_add scatter_add permute_add scatter scatter_back covered_back }
}
