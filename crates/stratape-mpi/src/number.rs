//! The numbers that messages are made of.

use bytemuck::Pod;
use mpi::ffi::{self, MPI_Datatype};

/// A number with a type of MPI's.
pub(crate) trait Number: Pod + PartialEq {
    const ZERO: Self;
    const ONE: Self;

    fn datatype() -> MPI_Datatype;

    fn plus(self, other: Self) -> Self;

    fn times(self, other: Self) -> Self;
}

macro_rules! number {
    ($ty:ty, $zero:expr, $one:expr, $datatype:ident) => {
        impl Number for $ty {
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            fn datatype() -> MPI_Datatype {
                // SAFETY: a constant of the MPI library, set when it is loaded.
                unsafe { ffi::$datatype }
            }

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    };
}

number!(f64, 0.0, 1.0, RSMPI_DOUBLE);
number!(f32, 0.0, 1.0, RSMPI_FLOAT);
number!(i32, 0, 1, RSMPI_INT32_T);
number!(i64, 0, 1, RSMPI_INT64_T);
number!(u64, 0, 1, RSMPI_UINT64_T);

/// `to += from`.
pub(crate) fn add<T: Number>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.plus(*from);
    }
}
