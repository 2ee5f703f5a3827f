//! Scans and sums of groups: consecutive elements with equal keys.
//!
//! A scan of groups is a scan that begins again at each head, the first element of a group. A block scans a chunk, tile by tile, and notes the sum at its end and where its first head is; the sums
//! at the ends are scanned by the same kernels, and the elements before the first head of a chunk get what the chunk before it ended with.

use stratape_cuda::__private::unwritten;
use stratape_cuda::{Buffer, Device, GpuError, Grid};

use super::key::Key;
use super::real::{Launched, Real, THREADS, length, over, texts, together};
use super::reduce;
use super::scan::{self, Mode};

/// Elements that a block scans: eight for each thread.
const CHUNK: usize = 2048;

/// Out, the sum at the end of each chunk, whether it has a head, where the first is, x, heads, the initial value, exclusive, reverse, add.
type Segments<'a, T> = (
    &'a mut Buffer<T>,
    &'a mut Buffer<T>,
    &'a mut Buffer<u32>,
    &'a mut Buffer<u32>,
    &'a Buffer<T>,
    &'a Buffer<u32>,
    T,
    bool,
    bool,
    bool,
);

/// The kernels of groups, for a type of numbers.
pub trait Kernels: Sized {
    fn segments(gpu: &Device, grid: &Grid, args: Segments<'_, Self>) -> Launched;
    /// Adds what the chunk before has ended with to the elements before the first head.
    fn carries(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>, bool),
    ) -> Launched;
    /// The sums at the ends of groups, whose numbers are counted from 1.
    fn ends(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &mut Buffer<u32>, &Buffer<Self>, &Buffer<u32>),
    ) -> Launched;
    /// `dx[i] += dout[number[i] - 1]`
    fn spread(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>),
    ) -> Launched;
}

#[stratape::kernel]
fn last(out: &mut [u32], x: &[u32]) {
    out[0] = x[x.len() - 1];
}

macro_rules! kernels {
    ($($real:ident $module:ident),*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn segments(
                out: &mut [$real],
                sums: &mut [$real],
                flags: &mut [u32],
                first: &mut [u32],
                x: &[$real],
                head: &[u32],
                initial: $real,
                exclusive: bool,
                reverse: bool,
                add: bool,
            ) {
                let mut warps = shared::<[$real; 8]>();
                let mut warp_flags = shared::<[u32; 8]>();
                let mut first_head = shared::<[u32; 1]>();
                let (t, n) = (thread_idx().x, x.len());
                let (lane, own) = (t % 32, t / 32);
                let base = block_idx().x * 2048;
                let tiles = (n - base).div_ceil(256).min(8);
                if t == 0 {
                    first_head[0] = 2048;
                }
                sync_threads();
                let mut carry = 0.0;
                for tile in 0..tiles {
                    let k = base + tile * 256 + t;
                    let mut i = n;
                    if k < n {
                        i = if reverse { n - 1 - k } else { k };
                    }
                    let (mut sum, mut flag) = (0.0, 0);
                    if i < n {
                        sum = x[i];
                        flag = head[i];
                    }
                    let is_head = flag != 0;
                    let mut by = 1;
                    while by < 32 {
                        let lower = shuffle_up(sum, by);
                        let lower_flag = shuffle_up(flag, by);
                        if lane >= by {
                            if flag == 0 {
                                sum += lower;
                            }
                            flag = flag | lower_flag;
                        }
                        by *= 2;
                    }
                    let flag_before = shuffle_up(flag, 1);
                    if is_head && (lane == 0 || flag_before == 0) {
                        atomic_min(&mut first_head[0], (k - base) as u32);
                    }
                    if lane == 31 {
                        warps[own] = sum;
                        warp_flags[own] = flag;
                    }
                    if exclusive {
                        sum = shuffle_up(sum, 1);
                        if lane == 0 || is_head {
                            sum = 0.0;
                        }
                    }
                    sync_threads();
                    let mut start = carry;
                    for warp in 0..8 {
                        if warp_flags[warp] != 0 {
                            carry = 0.0;
                        }
                        carry += warps[warp];
                        if warp + 1 == own {
                            start = carry;
                        }
                    }
                    if flag == 0 {
                        sum += start;
                    }
                    if i < n {
                        if add {
                            out[i] += initial + sum;
                        } else {
                            out[i] = initial + sum;
                        }
                    }
                    sync_threads();
                }
                if t == 0 {
                    sums[block_idx().x] = carry;
                    flags[block_idx().x] = if first_head[0] < 2048 { 1 } else { 0 };
                    first[block_idx().x] = first_head[0];
                }
            }

            #[stratape::kernel]
            pub(super) fn carries(out: &mut [$real], before: &[$real], first: &[u32], reverse: bool) {
                let (chunk, n) = (block_idx().x + 1, out.len());
                let base = chunk * 2048;
                let end = (base + first[chunk] as usize).min(n);
                for k in (base + thread_idx().x..end).step_by(256) {
                    let i = if reverse { n - 1 - k } else { k };
                    out[i] += before[chunk - 1];
                }
            }

            #[stratape::kernel]
            pub(super) fn ends(
                out: &mut [$real],
                at: &mut [u32],
                scanned: &[$real],
                number: &[u32],
            ) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                let n = number.len();
                if i < n {
                    let mut is_last = true;
                    if i + 1 < n {
                        is_last = number[i] != number[i + 1];
                    }
                    if is_last {
                        let group = number[i] as usize - 1;
                        out[group] = scanned[i];
                        at[group] = i as u32;
                    }
                }
            }

            #[stratape::kernel]
            pub(super) fn spread(dx: &mut [$real], dout: &[$real], number: &[u32]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < number.len() {
                    dx[i] += dout[number[i] as usize - 1];
                }
            }
        }

        impl Kernels for $real {
            fn segments(gpu: &Device, grid: &Grid, args: Segments<'_, Self>) -> Launched {
                $module::segments::launch(gpu, grid, args)
            }

            fn carries(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>, bool),
            ) -> Launched {
                $module::carries::launch(gpu, grid, args)
            }

            fn ends(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &mut Buffer<u32>, &Buffer<Self>, &Buffer<u32>),
            ) -> Launched {
                $module::ends::launch(gpu, grid, args)
            }

            fn spread(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>),
            ) -> Launched {
                $module::spread::launch(gpu, grid, args)
            }
        }
    )*};
}
kernels!(f64 in_f64, f32 in_f32);

/// The scan of groups, written or added to `out`. Heads are the first elements of groups in the direction of the scan.
fn segmented<T: Real>(
    out: &mut Buffer<T>,
    x: &Buffer<T>,
    head: &Buffer<u32>,
    initial: T,
    mode: Mode,
) -> Result<(), GpuError> {
    if x.is_empty() {
        return Ok(());
    }
    let gpu = x.device();
    let chunks = x.len().div_ceil(CHUNK);
    let (mut sums, mut flags) = (unwritten(&gpu, chunks)?, unwritten(&gpu, chunks)?);
    let mut first = unwritten(&gpu, chunks)?;
    let Mode { exclusive, reverse, add } = mode;
    T::segments(
        &gpu,
        &Grid::blocks(chunks).threads(THREADS),
        (out, &mut sums, &mut flags, &mut first, x, head, initial, exclusive, reverse, add),
    )?;
    if chunks == 1 {
        return Ok(());
    }
    let mut before = unwritten(&gpu, chunks)?;
    segmented(&mut before, &sums, &flags, T::default(), Mode::default())?;
    T::carries(&gpu, &Grid::blocks(chunks - 1).threads(THREADS), (out, &before, &first, reverse))
}

/// Where groups begin, or end.
fn heads<K: Key>(keys: &Buffer<K>, last: bool) -> Result<Buffer<u32>, GpuError> {
    let gpu = keys.device();
    let mut head = unwritten(&gpu, keys.len())?;
    if !keys.is_empty() {
        K::heads(&gpu, &over(keys.len()), (&mut head, keys, last))?;
    }
    Ok(head)
}

/// Refuses keys that do not belong to the elements.
fn fits<K: Key, T: Real>(keys: &Buffer<K>, x: &Buffer<T>) -> Result<(), GpuError> {
    length("the buffer of keys", keys, x.len())?;
    together("the buffer of keys", x, keys)
}

/// The running sums of each group of consecutive elements with equal keys.
///
/// ```
/// use stratape::gpu::{Device, inclusive_scan_by_key, inclusive_scan_by_key_pullback};
///
/// let gpu = Device::new()?;
/// let (keys, x) = (gpu.upload(&[7, 7, 7, 2, 2])?, gpu.upload(&[1.0, 2.0, 3.0, 4.0, 5.0])?);
/// assert_eq!(inclusive_scan_by_key(&keys, &x)?.download()?, [1.0, 3.0, 6.0, 4.0, 9.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0; 5])?, gpu.zeros(5)?);
/// inclusive_scan_by_key_pullback(&keys, &x, &mut dx, &dout)?;
/// assert_eq!(dx.download()?, [3.0, 2.0, 1.0, 2.0, 1.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if device memory is exhausted, or the device fails.
pub fn inclusive_scan_by_key<K: Key, T: Real>(
    keys: &Buffer<K>,
    x: &Buffer<T>,
) -> Result<Buffer<T>, GpuError> {
    fits(keys, x)?;
    let mut out = unwritten(&x.device(), x.len())?;
    segmented(&mut out, x, &heads(keys, false)?, T::default(), Mode::default())?;
    Ok(out)
}

/// Adds to `dx` what [`inclusive_scan_by_key`] asks for, if changes of its results count as `dout` says.
///
/// See [`inclusive_scan_by_key`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if device memory is exhausted, or the device fails.
pub fn inclusive_scan_by_key_pullback<K: Key, T: Real>(
    keys: &Buffer<K>,
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    fits(keys, x)?;
    length("the shadow of the elements", dx, x.len())?;
    length("the shadow of the results", dout, x.len())?;
    let mode = Mode { exclusive: false, reverse: true, add: true };
    segmented(dx, dout, &heads(keys, true)?, T::default(), mode)
}

/// The running sums before each element in its group of consecutive elements with equal keys; each group begins with `initial`.
///
/// ```
/// use stratape::gpu::{Device, exclusive_scan_by_key, exclusive_scan_by_key_pullback};
///
/// let gpu = Device::new()?;
/// let (keys, x) = (gpu.upload(&[7, 7, 7, 2, 2])?, gpu.upload(&[1.0, 2.0, 3.0, 4.0, 5.0])?);
/// let out = exclusive_scan_by_key(&keys, &x, 10.0)?;
/// assert_eq!(out.download()?, [10.0, 11.0, 13.0, 10.0, 14.0]);
///
/// let (dout, mut dx) = (gpu.upload(&[1.0; 5])?, gpu.zeros(5)?);
/// let dinitial = exclusive_scan_by_key_pullback(&keys, &x, &mut dx, 10.0, &dout)?;
/// assert_eq!((dx.download()?, dinitial), (vec![2.0, 1.0, 0.0, 1.0, 0.0], 5.0));
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if device memory is exhausted, or the device fails.
pub fn exclusive_scan_by_key<K: Key, T: Real>(
    keys: &Buffer<K>,
    x: &Buffer<T>,
    initial: T,
) -> Result<Buffer<T>, GpuError> {
    fits(keys, x)?;
    let mut out = unwritten(&x.device(), x.len())?;
    let mode = Mode { exclusive: true, ..Mode::default() };
    segmented(&mut out, x, &heads(keys, false)?, initial, mode)?;
    Ok(out)
}

/// Adds to `dx` what [`exclusive_scan_by_key`] asks for, if changes of its results count as `dout` says. Returns the adjoint of the initial value.
///
/// See [`exclusive_scan_by_key`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if device memory is exhausted, or the device fails.
pub fn exclusive_scan_by_key_pullback<K: Key, T: Real>(
    keys: &Buffer<K>,
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    initial: T,
    dout: &Buffer<T>,
) -> Result<T, GpuError> {
    let _ = initial;
    fits(keys, x)?;
    length("the shadow of the elements", dx, x.len())?;
    length("the shadow of the results", dout, x.len())?;
    let mode = Mode { exclusive: true, reverse: true, add: true };
    segmented(dx, dout, &heads(keys, true)?, T::default(), mode)?;
    reduce::sum(dout)
}

/// The numbers of the groups that elements belong to, counted from 1, and how many groups there are.
fn numbered<K: Key>(keys: &Buffer<K>) -> Result<(Buffer<u32>, usize), GpuError> {
    if u32::try_from(keys.len()).is_err() {
        return Err(GpuError::Unsupported("groups of more than 2³² − 1 elements".to_owned()));
    }
    let gpu = keys.device();
    let mut number = unwritten(&gpu, keys.len())?;
    if keys.is_empty() {
        return Ok((number, 0));
    }
    scan::scan(&mut number, &heads(keys, false)?, 0, Mode::default())?;
    let mut count = unwritten(&gpu, 1)?;
    last::launch(&gpu, Grid::blocks(1), (&mut count, &number))?;
    let count = count.download()?.first().copied().unwrap_or(0);
    Ok((number, count as usize))
}

/// The sum of each group of consecutive elements with equal keys: the keys of the groups, and their sums.
///
/// ```
/// use stratape::gpu::{Device, reduce_by_key, reduce_by_key_pullback};
///
/// let gpu = Device::new()?;
/// let (keys, x) = (gpu.upload(&[7, 7, 2, 7])?, gpu.upload(&[1.0, 2.0, 3.0, 4.0])?);
/// let (groups, sums) = reduce_by_key(&keys, &x)?;
/// assert_eq!((groups.download()?, sums.download()?), (vec![7, 2, 7], vec![3.0, 3.0, 4.0]));
///
/// let (dsums, mut dx) = (gpu.upload(&[1.0, 10.0, 100.0])?, gpu.zeros(4)?);
/// reduce_by_key_pullback(&keys, &x, &mut dx, &dsums)?;
/// assert_eq!(dx.download()?, [1.0, 1.0, 10.0, 100.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if device memory is exhausted, or the device fails.
pub fn reduce_by_key<K: Key, T: Real>(
    keys: &Buffer<K>,
    x: &Buffer<T>,
) -> Result<(Buffer<K>, Buffer<T>), GpuError> {
    let gpu = x.device();
    let scanned = inclusive_scan_by_key(keys, x)?;
    let (number, groups) = numbered(keys)?;
    let (mut sums, mut at) = (unwritten(&gpu, groups)?, unwritten(&gpu, groups)?);
    let mut names = unwritten(&gpu, groups)?;
    if groups > 0 {
        T::ends(&gpu, &over(x.len()), (&mut sums, &mut at, &scanned, &number))?;
        K::gather(&gpu, &over(groups), (&mut names, keys, &at))?;
    }
    Ok((names, sums))
}

/// Adds to `dx` what [`reduce_by_key`] asks for, if changes of its sums count as `dout` says.
///
/// See [`reduce_by_key`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if there are not as many weights as groups, if device memory is exhausted, or the device fails.
pub fn reduce_by_key_pullback<K: Key, T: Real>(
    keys: &Buffer<K>,
    x: &Buffer<T>,
    dx: &mut Buffer<T>,
    dout: &Buffer<T>,
) -> Result<(), GpuError> {
    fits(keys, x)?;
    length("the shadow of the elements", dx, x.len())?;
    let (number, groups) = numbered(keys)?;
    length("the shadow of the sums", dout, groups)?;
    if groups == 0 {
        return Ok(());
    }
    T::spread(&x.device(), &over(x.len()), (dx, dout, &number))
}

texts! {
    self { last }
    in_f64 { segments carries ends spread }
    in_f32 { segments carries ends spread }
}
