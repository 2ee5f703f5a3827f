//! Sorting by keys.
//!
//! A radix sort from the lowest digit of four bits to the highest. In each pass a block counts the digits of its chunk; the scan of all counts, digit by digit, says where each block puts those of each
//! digit; and the block puts them there, in the order in which they came. The sort is therefore stable, and what it moves are the keys' bits and the elements' numbers: the permutation.

use stratape_cuda::__private::unwritten;
use stratape_cuda::{Buffer, Element, GpuError, Grid};

use super::key::Key;
use super::real::{Real, THREADS, length, over, texts, together};
use super::scan::{self, Mode};

/// Elements of a block: eight for each thread.
const CHUNK: usize = 2048;

/// Bits of a digit, and how many digits there are.
const DIGIT_BITS: u32 = 4;
const DIGITS: usize = 16;

#[stratape::kernel]
fn iota(x: &mut [u32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        x[i] = i as u32;
    }
}

/// `counts[digit][block]`
#[stratape::kernel]
fn count(counts: &mut [u32], keys: &[u64], shift: u32) {
    let mut found = shared::<[u32; 16]>();
    let t = thread_idx().x;
    if t < 16 {
        found[t] = 0;
    }
    sync_threads();
    for tile in 0..8 {
        let i = block_idx().x * 2048 + tile * 256 + t;
        if i < keys.len() {
            atomic_add(&mut found[((keys[i] >> shift) & 15) as usize], 1);
        }
    }
    sync_threads();
    if t < 16 {
        counts[t * grid_dim().x + block_idx().x] = found[t];
    }
}

/// Each thread has eight elements that lie side by side; `places[digit][thread]` is the number of those with the digit that come before them in the chunk.
#[stratape::kernel]
fn distribute(
    keys_out: &mut [u64],
    out: &mut [u32],
    keys: &[u64],
    x: &[u32],
    starts: &[u32],
    shift: u32,
) {
    let mut places = shared::<[u32; 4096]>();
    let t = thread_idx().x;
    let (lane, own) = (t % 32, t / 32);
    let base = block_idx().x * 2048 + t * 8;
    for digit in 0..16 {
        places[digit * 256 + t] = 0;
    }
    for k in 0..8 {
        if base + k < keys.len() {
            places[((keys[base + k] >> shift) & 15) as usize * 256 + t] += 1;
        }
    }
    sync_threads();
    // Each warp scans two digits, a lane the counts of eight threads.
    for round in 0..2 {
        let digit = own + round * 8;
        let row = digit * 256 + lane * 8;
        let mut sum = 0_u32;
        for k in 0..8 {
            sum += places[row + k];
        }
        let mut by = 1;
        while by < 32 {
            let lower = shuffle_up(sum, by);
            if lane >= by {
                sum += lower;
            }
            by *= 2;
        }
        let before = shuffle_up(sum, 1);
        let mut place = starts[digit * grid_dim().x + block_idx().x];
        if lane > 0 {
            place += before;
        }
        for k in 0..8 {
            let own = places[row + k];
            places[row + k] = place;
            place += own;
        }
    }
    sync_threads();
    for k in 0..8 {
        if base + k < keys.len() {
            let key = keys[base + k];
            let counter = ((key >> shift) & 15) as usize * 256 + t;
            let place = places[counter] as usize;
            keys_out[place] = key;
            out[place] = x[base + k];
            places[counter] += 1;
        }
    }
}

/// Which keys come first.
///
/// See [`sort_by_key`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The smallest.
    #[default]
    Ascending,
    /// The largest.
    Descending,
}

/// What [`sort_by_key`] returns, which has an example.
#[derive(Debug)]
pub struct Sorted<K, T> {
    /// The keys, in order.
    pub keys: Buffer<K>,
    /// The values, each where its key is.
    pub values: Buffer<T>,
    /// Where the elements were before: element i of the results was element `permutation[i]`.
    pub permutation: Buffer<u32>,
}

/// Values in the order of their keys. Those with equal keys stay in the order they have. NaN comes behind or, with its sign set, before all other numbers.
///
/// ```
/// use stratape::gpu::{Device, Order, sort_by_key, sort_by_key_pullback};
///
/// let gpu = Device::new()?;
/// let (keys, values) = (gpu.upload(&[3.5, -1.0, 2.0])?, gpu.upload(&[10.0, 20.0, 30.0])?);
/// let sorted = sort_by_key(&keys, &values, Order::Ascending)?;
/// assert_eq!(sorted.keys.download()?, [-1.0, 2.0, 3.5]);
/// assert_eq!(sorted.values.download()?, [20.0, 30.0, 10.0]);
/// assert_eq!(sorted.permutation.download()?, [1, 2, 0]);
///
/// let (dsorted, mut dvalues) = (gpu.upload(&[1.0, 2.0, 3.0])?, gpu.zeros(3)?);
/// sort_by_key_pullback(&sorted.permutation, &mut dvalues, &dsorted)?;
/// assert_eq!(dvalues.download()?, [3.0, 1.0, 2.0]);
///
/// let sorted = sort_by_key(&keys, &values, Order::Descending)?;
/// assert_eq!(sorted.keys.download()?, [3.5, 2.0, -1.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the lengths or the devices of the buffers differ, if device memory is exhausted, or the device fails.
pub fn sort_by_key<K: Key, T: Real>(
    keys: &Buffer<K>,
    values: &Buffer<T>,
    order: Order,
) -> Result<Sorted<K, T>, GpuError> {
    length("the buffer of keys", keys, values.len())?;
    together("the buffer of keys", values, keys)?;
    let (gpu, n) = (values.device(), values.len());
    let permutation = sorting(K::ordered(keys, order == Order::Descending)?, K::BITS)?;
    let (mut sorted_keys, mut sorted) = (unwritten(&gpu, n)?, unwritten(&gpu, n)?);
    if n > 0 {
        K::gather(&gpu, &over(n), (&mut sorted_keys, keys, &permutation))?;
        <T as super::gather::Kernels>::gather(&gpu, &over(n), (&mut sorted, values, &permutation))?;
    }
    Ok(Sorted { keys: sorted_keys, values: sorted, permutation })
}

/// The numbers of the elements in the order of their keys, of which so many bits count.
fn sorting(mut keys: Buffer<u64>, bits: u32) -> Result<Buffer<u32>, GpuError> {
    let (gpu, n) = (keys.device(), keys.len());
    if u32::try_from(n).is_err() {
        return Err(GpuError::Unsupported("sorting more than 2³² − 1 elements".to_owned()));
    }
    let mut permutation = unwritten(&gpu, n)?;
    if n == 0 {
        return Ok(permutation);
    }
    iota::launch(&gpu, over(n), (&mut permutation,))?;
    let chunks = n.div_ceil(CHUNK);
    let grid = Grid::blocks(chunks).threads(THREADS);
    let (mut other_keys, mut other) = (like(&keys)?, like(&permutation)?);
    let (mut counts, mut starts) =
        (unwritten(&gpu, DIGITS * chunks)?, unwritten(&gpu, DIGITS * chunks)?);
    for shift in (0..bits).step_by(DIGIT_BITS as usize) {
        count::launch(&gpu, &grid, (&mut counts, &keys, shift))?;
        scan::scan(&mut starts, &counts, 0, Mode { exclusive: true, ..Mode::default() })?;
        let arguments = (&mut other_keys, &mut other, &keys, &permutation, &starts, shift);
        distribute::launch(&gpu, &grid, arguments)?;
        std::mem::swap(&mut keys, &mut other_keys);
        std::mem::swap(&mut permutation, &mut other);
    }
    Ok(permutation)
}

fn like<T: Element>(buffer: &Buffer<T>) -> Result<Buffer<T>, GpuError> {
    unwritten(&buffer.device(), buffer.len())
}

/// Adds to `dvalues` what [`sort_by_key`] asks for, if changes of the sorted values count as `dsorted` says. The permutation is that of the results. With adjoints of sorted keys instead, it adds to
/// those of the keys.
///
/// See [`sort_by_key`] for an example.
///
/// # Errors
/// If the lengths or the devices of the buffers differ, or if the device fails.
pub fn sort_by_key_pullback<T: Real>(
    permutation: &Buffer<u32>,
    dvalues: &mut Buffer<T>,
    dsorted: &Buffer<T>,
) -> Result<(), GpuError> {
    length("the shadow of the values", dvalues, permutation.len())?;
    length("the shadow of the sorted values", dsorted, permutation.len())?;
    if permutation.is_empty() {
        return Ok(());
    }
    let (gpu, grid) = (permutation.device(), over(permutation.len()));
    T::permute_add(&gpu, &grid, (dvalues, dsorted, permutation))
}

texts! {
    self { iota count distribute }
}
