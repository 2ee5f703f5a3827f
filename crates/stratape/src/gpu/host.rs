//! The primitives as host functions under `#[gradient]` use them: each in two halves.

use stratape_cuda::__private::host::{
    adjoint, adjoint_beside, adjoint_of_made, beside, len_of, made, number_of_made, of_made,
    scalar_of, shadow, with,
};
use stratape_cuda::ScalarType;
use stratape_tape::RecordTape;

use super::{GpuError, Order, Real};

type Done<T = ()> = Result<T, GpuError>;

/// A number from one buffer.
macro_rules! reductions {
    ($($name:ident $pullback:ident $backward:ident;)*) => {$(
        pub fn $name<T: Real>(_: &mut RecordTape, x: usize, _: &mut [f64]) -> Done<T> {
            super::$name(&with::<T>(x)?)
        }

        pub fn $backward<T: Real>(_: &mut RecordTape, x: usize, _: &mut [f64], seed: T) -> Done {
            super::$pullback(&with::<T>(x)?, &mut shadow::<T>(x)?, seed)
        }
    )*};
}
reductions! {
    sum sum_pullback sum_backward;
    product product_pullback product_backward;
    max max_pullback max_backward;
    min min_pullback min_backward;
}

pub fn dot<T: Real>(_: &mut RecordTape, x: usize, y: usize, _: &mut [f64]) -> Done<T> {
    super::dot(&with::<T>(x)?, &with::<T>(y)?)
}

pub fn dot_backward<T: Real>(
    _: &mut RecordTape,
    x: usize,
    y: usize,
    _: &mut [f64],
    seed: T,
) -> Done {
    let (mut dx, mut dy) = (shadow::<T>(x)?, adjoint::<T>(y)?);
    super::dot_pullback(&with::<T>(x)?, &mut dx, &with::<T>(y)?, &mut dy, seed)?;
    of_made(y, &dy)
}

/// A buffer of the same length from one.
macro_rules! scans {
    ($($name:ident $pullback:ident $backward:ident;)*) => {$(
        pub fn $name<T: Real>(tape: &mut RecordTape, x: usize, _: &mut [f64]) -> Done<usize> {
            made(tape, &super::$name(&with::<T>(x)?)?)
        }

        pub fn $backward<T: Real>(tape: &mut RecordTape, x: usize, _: &mut [f64], _: usize) -> Done {
            match adjoint_of_made::<T>(tape)? {
                Some(dy) => super::$pullback(&with::<T>(x)?, &mut shadow::<T>(x)?, &dy),
                None => Ok(()),
            }
        }
    )*};
}
scans! {
    inclusive_scan inclusive_scan_pullback inclusive_scan_backward;
    adjacent_difference adjacent_difference_pullback adjacent_difference_backward;
}

pub fn exclusive_scan<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    initial: T,
    _: &mut [f64],
) -> Done<usize> {
    made(tape, &super::exclusive_scan(&with::<T>(x)?, initial)?)
}

pub fn exclusive_scan_backward<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    initial: T,
    _: &mut [f64],
    _: usize,
) -> Done<T> {
    match adjoint_of_made::<T>(tape)? {
        Some(dy) => {
            super::exclusive_scan_pullback(&with::<T>(x)?, &mut shadow::<T>(x)?, initial, &dy)
        }
        None => Ok(T::default()),
    }
}

pub fn gather<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    index: usize,
    _: &mut [f64],
) -> Done<usize> {
    made(tape, &super::gather(&with::<T>(x)?, &with::<u32>(index)?)?)
}

pub fn gather_backward<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    index: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    match adjoint_of_made::<T>(tape)? {
        Some(dy) => {
            super::gather_pullback(&with::<T>(x)?, &mut shadow::<T>(x)?, &with::<u32>(index)?, &dy)
        }
        None => Ok(()),
    }
}

pub fn scatter_add<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    index: usize,
    n: usize,
    _: &mut [f64],
) -> Done<usize> {
    made(tape, &super::scatter_add(&with::<T>(x)?, &with::<u32>(index)?, n)?)
}

pub fn scatter_add_backward<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    index: usize,
    _: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    match adjoint_of_made::<T>(tape)? {
        Some(dy) => super::scatter_add_pullback(
            &with::<T>(x)?,
            &mut shadow::<T>(x)?,
            &with::<u32>(index)?,
            &dy,
        ),
        None => Ok(()),
    }
}

pub fn matmul<T: Real>(
    tape: &mut RecordTape,
    a: usize,
    b: usize,
    m: usize,
    k: usize,
    n: usize,
    _: &mut [f64],
) -> Done<usize> {
    made(tape, &super::matmul(&with::<T>(a)?, &with::<T>(b)?, (m, k, n))?)
}

#[expect(clippy::too_many_arguments, reason = "those of the call, one by one")]
pub fn matmul_backward<T: Real>(
    tape: &mut RecordTape,
    a: usize,
    b: usize,
    m: usize,
    k: usize,
    n: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    let Some(dc) = adjoint_of_made::<T>(tape)? else { return Ok(()) };
    let (mut da, mut db) = (shadow::<T>(a)?, adjoint::<T>(b)?);
    let (a, right) = (with::<T>(a)?, with::<T>(b)?);
    super::matmul_pullback(&a, &mut da, &right, &mut db, (m, k, n), &dc)?;
    of_made(b, &db)
}

pub fn scatter<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    index: usize,
    y: usize,
    _: &mut [f64],
) -> Done<usize> {
    made(tape, &super::scatter(&with::<T>(x)?, &with::<u32>(index)?, &with::<T>(y)?)?)
}

pub fn scatter_backward<T: Real>(
    tape: &mut RecordTape,
    x: usize,
    index: usize,
    y: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    let Some(dout) = adjoint_of_made::<T>(tape)? else { return Ok(()) };
    let (mut dx, mut dy) = (shadow::<T>(x)?, adjoint::<T>(y)?);
    let (x, index, old) = (with::<T>(x)?, with::<u32>(index)?, with::<T>(y)?);
    super::scatter_pullback(&x, &mut dx, &index, &old, &mut dy, &dout)?;
    of_made(y, &dy)
}

/// Does something with keys, whatever their type.
macro_rules! keyed {
    ($id:ident, $keys:ident => $done:expr) => {
        match scalar_of($id)? {
            ScalarType::U32 => {
                let $keys = &with::<u32>($id)?;
                $done
            }
            ScalarType::U64 => {
                let $keys = &with::<u64>($id)?;
                $done
            }
            ScalarType::I32 => {
                let $keys = &with::<i32>($id)?;
                $done
            }
            ScalarType::I64 => {
                let $keys = &with::<i64>($id)?;
                $done
            }
            ScalarType::F32 => {
                let $keys = &with::<f32>($id)?;
                $done
            }
            ScalarType::F64 => {
                let $keys = &with::<f64>($id)?;
                $done
            }
            other => Err(GpuError::Unsupported(format!("keys of the type `{other}`"))),
        }
    };
}

pub fn inclusive_scan_by_key<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    x: usize,
    _: &mut [f64],
) -> Done<usize> {
    let x = with::<T>(x)?;
    made(tape, &keyed!(keys, keys => super::inclusive_scan_by_key(keys, &x))?)
}

pub fn inclusive_scan_by_key_backward<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    x: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    let Some(dout) = adjoint_of_made::<T>(tape)? else { return Ok(()) };
    let (mut dx, x) = (shadow::<T>(x)?, with::<T>(x)?);
    keyed!(keys, keys => super::inclusive_scan_by_key_pullback(keys, &x, &mut dx, &dout))
}

pub fn exclusive_scan_by_key<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    x: usize,
    initial: T,
    _: &mut [f64],
) -> Done<usize> {
    let x = with::<T>(x)?;
    made(tape, &keyed!(keys, keys => super::exclusive_scan_by_key(keys, &x, initial))?)
}

pub fn exclusive_scan_by_key_backward<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    x: usize,
    initial: T,
    _: &mut [f64],
    _: usize,
) -> Done<T> {
    let Some(dout) = adjoint_of_made::<T>(tape)? else { return Ok(T::default()) };
    let (mut dx, x) = (shadow::<T>(x)?, with::<T>(x)?);
    keyed!(keys, keys => super::exclusive_scan_by_key_pullback(keys, &x, &mut dx, initial, &dout))
}

/// The sums of groups; their keys have the next number.
pub fn reduce_by_key<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    x: usize,
    _: &mut [f64],
) -> Done<usize> {
    let x = with::<T>(x)?;
    keyed!(keys, keys => {
        let (names, sums) = super::reduce_by_key(keys, &x)?;
        let id = made(tape, &sums)?;
        beside(&names)?;
        Ok(id)
    })
}

pub fn reduce_by_key_backward<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    x: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    let id = number_of_made(tape)?;
    let unknown = match scalar_of(id + 1)? {
        ScalarType::F64 => adjoint_beside::<f64>(id + 1)?.is_some(),
        ScalarType::F32 => adjoint_beside::<f32>(id + 1)?.is_some(),
        _ => false,
    };
    if unknown {
        return Err(GpuError::Unsupported(
            "derivatives of the keys that `reduce_by_key` returns: each is that of several elements".to_owned(),
        ));
    }
    let Some(dout) = adjoint_beside::<T>(id)? else { return Ok(()) };
    let (mut dx, x) = (shadow::<T>(x)?, with::<T>(x)?);
    keyed!(keys, keys => super::reduce_by_key_pullback(keys, &x, &mut dx, &dout))
}

/// How many groups there are.
pub fn groups<T: Real>(_: &mut RecordTape, id: usize, _: &mut [f64]) -> Done<usize> {
    len_of(id)
}

pub fn groups_backward<T: Real>(_: &mut RecordTape, _: usize, _: &mut [f64], _: usize) -> Done {
    Ok(())
}

/// The sorted values; the sorted keys and the permutation have the next numbers.
pub fn sort_by_key<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    values: usize,
    descending: usize,
    _: &mut [f64],
) -> Done<usize> {
    let values = with::<T>(values)?;
    let order = if descending == 0 { Order::Ascending } else { Order::Descending };
    keyed!(keys, keys => {
        let sorted = super::sort_by_key(keys, &values, order)?;
        let id = made(tape, &sorted.values)?;
        beside(&sorted.keys)?;
        beside(&sorted.permutation)?;
        Ok(id)
    })
}

pub fn sort_by_key_backward<T: Real>(
    tape: &mut RecordTape,
    keys: usize,
    values: usize,
    _: usize,
    _: &mut [f64],
    _: usize,
) -> Done {
    let id = number_of_made(tape)?;
    let permutation = with::<u32>(id + 2)?;
    let done = adjoint_beside::<T>(id)?;
    // Sorted keys are keys in another place.
    match scalar_of(keys)? {
        ScalarType::F64 => moved::<f64>(keys, id + 1, &permutation)?,
        ScalarType::F32 => moved::<f32>(keys, id + 1, &permutation)?,
        _ => {}
    }
    match done {
        Some(dsorted) => {
            super::sort_by_key_pullback(&permutation, &mut shadow::<T>(values)?, &dsorted)
        }
        None => Ok(()),
    }
}

/// Adds the adjoints of sorted keys to those of the keys.
fn moved<T: Real>(keys: usize, sorted: usize, permutation: &super::Buffer<u32>) -> Done {
    match adjoint_beside::<T>(sorted)? {
        Some(dsorted) => {
            super::sort_by_key_pullback(permutation, &mut shadow::<T>(keys)?, &dsorted)
        }
        None => Ok(()),
    }
}
