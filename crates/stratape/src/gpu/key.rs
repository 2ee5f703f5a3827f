//! [`Key`]: what elements are grouped and sorted by.

use stratape_cuda::__private::{bits_of, unwritten};
use stratape_cuda::{Buffer, Device, Element, GpuError, Grid};

use super::real::{Launched, over, texts};

/// Keys that [`sort_by_key`](super::sort_by_key) and the functions by key take: `u32`, `u64`, `i32`, `i64`, `f32` and `f64`.
///
/// The trait is sealed. Floats are equal as numbers: −0.0 and 0.0 are one key, and NaN is no other's equal.
///
/// ```
/// use stratape::gpu::{Buffer, Device, GpuError, Key, Real, reduce_by_key};
///
/// fn groups<K: Key, T: Real>(keys: &Buffer<K>, values: &Buffer<T>) -> Result<usize, GpuError> {
///     Ok(reduce_by_key(keys, values)?.0.len())
/// }
///
/// let gpu = Device::emulator();
/// assert_eq!(groups(&gpu.upload(&[1, 1, 7])?, &gpu.upload(&[0.5, 0.5, 0.5])?)?, 2);
/// # Ok::<(), GpuError>(())
/// ```
pub trait Key: Element + Kernels {}

/// The kernels of keys, for a type of them.
pub trait Kernels: Element {
    /// The bits of a key, the lowest of them first.
    #[doc(hidden)]
    const BITS: u32;
    /// 1 where a group of equal keys begins, or, with `last`, where it ends.
    #[doc(hidden)]
    fn heads(gpu: &Device, grid: &Grid, args: (&mut Buffer<u32>, &Buffer<Self>, bool)) -> Launched;
    /// `out[i] = x[index[i]]`
    #[doc(hidden)]
    fn gather(
        gpu: &Device,
        grid: &Grid,
        args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>),
    ) -> Launched;
    /// Numbers in the order of the keys, or in the opposite one.
    #[doc(hidden)]
    fn ordered(keys: &Buffer<Self>, descending: bool) -> Result<Buffer<u64>, GpuError>;
}

/// Whether keys are numbers without a sign, with one, or floats.
const UNSIGNED: u32 = 0;
const SIGNED: u32 = 1;
const FLOAT: u32 = 2;

#[stratape::kernel]
fn ordered_32(out: &mut [u64], bits: &[u32], kind: u32, descending: bool) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < bits.len() {
        let sign = 0x8000_0000_u32;
        let mut key = bits[i];
        if kind == 1 {
            key = key ^ sign;
        }
        if kind == 2 {
            // −0.0 is 0.0, and among negative numbers the larger ones come first.
            if key == sign {
                key = 0;
            }
            key = key ^ (if key >= sign { 0xffff_ffff_u32 } else { sign });
        }
        if descending {
            key = key ^ 0xffff_ffff_u32;
        }
        out[i] = key as u64;
    }
}

#[stratape::kernel]
fn ordered_64(out: &mut [u64], bits: &[u64], kind: u32, descending: bool) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < bits.len() {
        let sign = 0x8000_0000_0000_0000_u64;
        let mut key = bits[i];
        if kind == 1 {
            key = key ^ sign;
        }
        if kind == 2 {
            if key == sign {
                key = 0;
            }
            key = key ^ (if key >= sign { 0xffff_ffff_ffff_ffff_u64 } else { sign });
        }
        if descending {
            key = key ^ 0xffff_ffff_ffff_ffff_u64;
        }
        out[i] = key;
    }
}

macro_rules! keys {
    ($($key:ident $kind:ident $bits:ident $ordered:ident $module:ident;)*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn heads(head: &mut [u32], keys: &[$key], last: bool) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < keys.len() {
                    let mut alone = true;
                    if last {
                        if i + 1 < keys.len() {
                            alone = keys[i] != keys[i + 1];
                        }
                    } else if i > 0 {
                        alone = keys[i] != keys[i - 1];
                    }
                    head[i] = if alone { 1 } else { 0 };
                }
            }

            #[stratape::kernel]
            pub(super) fn gather(out: &mut [$key], x: &[$key], index: &[u32]) {
                let i = thread_idx().x + block_idx().x * block_dim().x;
                if i < index.len() {
                    out[i] = x[index[i] as usize];
                }
            }
        }

        impl Key for $key {}

        impl Kernels for $key {
            const BITS: u32 = $bits::BITS;

            fn heads(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<u32>, &Buffer<Self>, bool),
            ) -> Launched {
                $module::heads::launch(gpu, grid, args)
            }

            fn gather(
                gpu: &Device,
                grid: &Grid,
                args: (&mut Buffer<Self>, &Buffer<Self>, &Buffer<u32>),
            ) -> Launched {
                $module::gather::launch(gpu, grid, args)
            }

            fn ordered(keys: &Buffer<Self>, descending: bool) -> Result<Buffer<u64>, GpuError> {
                let gpu = keys.device();
                let mut out = unwritten(&gpu, keys.len())?;
                if !keys.is_empty() {
                    let bits = bits_of::<Self, $bits>(keys)?;
                    $ordered::launch(&gpu, over(keys.len()), (&mut out, &bits, $kind, descending))?;
                }
                Ok(out)
            }
        }
    )*};
}
keys! {
    u32 UNSIGNED u32 ordered_32 of_u32;
    u64 UNSIGNED u64 ordered_64 of_u64;
    i32 SIGNED u32 ordered_32 of_i32;
    i64 SIGNED u64 ordered_64 of_i64;
    f32 FLOAT u32 ordered_32 of_f32;
    f64 FLOAT u64 ordered_64 of_f64;
}

texts! {
    self { ordered_32 ordered_64 }
    of_u32 { heads gather }
    of_f64 { heads gather }
}
