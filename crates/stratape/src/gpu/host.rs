//! The primitives as host functions under `#[gradient]` use them: each in two halves.

use stratape_cuda::__private::host::{adjoint, adjoint_of_made, made, of_made, shadow, with};
use stratape_tape::RecordTape;

use super::{GpuError, Real};

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
