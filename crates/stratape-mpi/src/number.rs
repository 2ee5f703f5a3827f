//! The numbers that messages are made of.

use bytemuck::Pod;
use mpi::ffi::{self, MPI_Datatype};

/// A number with a type of MPI's.
pub(crate) trait Number: Pod + PartialEq {
    const ZERO: Self;
    const ONE: Self;
    /// Its place in [`TYPES`], by which ranks tell each other what they send.
    const CODE: u64;

    fn datatype() -> MPI_Datatype;

    fn plus(self, other: Self) -> Self;

    fn times(self, other: Self) -> Self;
}

/// The names of the types, and the sizes of their numbers.
pub(crate) const TYPES: [(&str, usize); 6] =
    [("f64", 8), ("f32", 4), ("i32", 4), ("i64", 8), ("u64", 8), ("usize", 8)];

/// The name of a type, of which another rank has told the code.
pub(crate) fn type_name(code: u64) -> &'static str {
    usize::try_from(code).ok().and_then(|at| TYPES.get(at)).map_or("?", |(name, _)| name)
}

// Indices travel as numbers of 64 bits.
const _: () = assert!(size_of::<usize>() == 8);

macro_rules! number {
    ($ty:ty, $zero:expr, $one:expr, $code:expr, $datatype:ident) => {
        impl Number for $ty {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const CODE: u64 = $code;

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

number!(f64, 0.0, 1.0, 0, RSMPI_DOUBLE);
number!(f32, 0.0, 1.0, 1, RSMPI_FLOAT);
number!(i32, 0, 1, 2, RSMPI_INT32_T);
number!(i64, 0, 1, 3, RSMPI_INT64_T);
number!(u64, 0, 1, 4, RSMPI_UINT64_T);
number!(usize, 0, 1, 5, RSMPI_UINT64_T);

/// `to += from`.
pub(crate) fn add<T: Number>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.plus(*from);
    }
}
