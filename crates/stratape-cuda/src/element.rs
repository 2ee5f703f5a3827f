//! Elements of buffers: scalars that kernels support, and fixed arrays of them.
//!
//! On a CUDA device an element lies as in Rust. The emulator keeps one 64-bit *cell* for each scalar: the bits of a float
//! (those of an `f32` in the low half), integers extended to 64 bits as their sign asks, `bool` as 0 or 1.

use std::fmt;

use stratape_ir::{Float, Int, Scalar};

// A `usize` is `unsigned long long` in the text of a kernel, and travels there as it lies in memory.
const _: () = assert!(size_of::<usize>() == 8, "stratape-cuda needs a 64-bit host");

/// The types of scalars in buffers and in parameters of kernels, named as in Rust.
///
/// ```
/// use stratape_cuda::{Element, ScalarType};
///
/// assert_eq!(<[f32; 4]>::SCALAR, ScalarType::F32);
/// assert_eq!(ScalarType::F32.bytes(), 4);
/// assert_eq!(ScalarType::Usize.to_string(), "usize");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in Rust")]
#[non_exhaustive]
pub enum ScalarType {
    Bool,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    Isize,
    U8,
    U16,
    U32,
    U64,
    Usize,
}

impl ScalarType {
    /// Bytes of one scalar in device memory.
    ///
    /// ```
    /// assert_eq!(stratape_cuda::ScalarType::Bool.bytes(), 1);
    /// ```
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 | Self::Isize | Self::Usize => 8,
        }
    }

    /// The name in Rust.
    ///
    /// ```
    /// assert_eq!(stratape_cuda::ScalarType::F64.name(), "f64");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Isize => "isize",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Usize => "usize",
        }
    }

    /// The same type in the intermediate language.
    ///
    /// ```
    /// assert_eq!(stratape_cuda::ScalarType::Usize.to_ir(), stratape_ir::Scalar::USIZE);
    /// ```
    pub const fn to_ir(self) -> Scalar {
        match self {
            Self::Bool => Scalar::Bool,
            Self::F32 => Scalar::Float(Float::F32),
            Self::F64 => Scalar::Float(Float::F64),
            Self::I8 => Scalar::Int(Int::I8),
            Self::I16 => Scalar::Int(Int::I16),
            Self::I32 => Scalar::Int(Int::I32),
            Self::I64 => Scalar::Int(Int::I64),
            Self::Isize => Scalar::Int(Int::Isize),
            Self::U8 => Scalar::Int(Int::U8),
            Self::U16 => Scalar::Int(Int::U16),
            Self::U32 => Scalar::Int(Int::U32),
            Self::U64 => Scalar::Int(Int::U64),
            Self::Usize => Scalar::Int(Int::Usize),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An element of a [`Buffer`](crate::Buffer): `f32`, `f64`, the integers of up to 64 bits, `bool`, and fixed arrays of these,
/// nested to any depth.
///
/// The trait is sealed: copies between host and device rely on elements without padding.
///
/// ```
/// use stratape_cuda::{Element, ScalarType};
///
/// assert_eq!(<[[f64; 3]; 2]>::SCALAR, ScalarType::F64);
/// assert_eq!(<[[f64; 3]; 2]>::ARITY, 6);
/// ```
pub trait Element: Copy + Send + Sync + sealed::Sealed + 'static {
    /// The type of the scalars in an element.
    const SCALAR: ScalarType;
    /// How many scalars an element has; 1 for a scalar.
    const ARITY: usize;

    /// Writes the element as [`ARITY`](Self::ARITY) cells.
    #[doc(hidden)]
    fn to_cells(self, cells: &mut [u64]);

    /// The element that these cells hold.
    #[doc(hidden)]
    fn from_cells(cells: &[u64]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($type:ty, $scalar:ident, |$value:ident| $to:expr, |$cell:ident| $from:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const SCALAR: ScalarType = ScalarType::$scalar;
            const ARITY: usize = 1;

            fn to_cells(self, cells: &mut [u64]) {
                let $value = self;
                if let Some(cell) = cells.first_mut() {
                    *cell = $to;
                }
            }

            fn from_cells(cells: &[u64]) -> Self {
                let $cell = cells.first().copied().unwrap_or(0);
                $from
            }
        }
    )*};
}

element! {
    bool, Bool, |value| u64::from(value), |cell| cell != 0;
    f32, F32, |value| u64::from(value.to_bits()), |cell| f32::from_bits(cell as u32);
    f64, F64, |value| value.to_bits(), |cell| f64::from_bits(cell);
    i8, I8, |value| value as i64 as u64, |cell| cell as i8;
    i16, I16, |value| value as i64 as u64, |cell| cell as i16;
    i32, I32, |value| value as i64 as u64, |cell| cell as i32;
    i64, I64, |value| value as u64, |cell| cell as i64;
    isize, Isize, |value| value as u64, |cell| cell as isize;
    u8, U8, |value| u64::from(value), |cell| cell as u8;
    u16, U16, |value| u64::from(value), |cell| cell as u16;
    u32, U32, |value| u64::from(value), |cell| cell as u32;
    u64, U64, |value| value, |cell| cell;
    usize, Usize, |value| value as u64, |cell| cell as usize;
}

impl<T: sealed::Sealed, const N: usize> sealed::Sealed for [T; N] {}

impl<T: Element, const N: usize> Element for [T; N] {
    const SCALAR: ScalarType = T::SCALAR;
    const ARITY: usize = N * T::ARITY;

    fn to_cells(self, cells: &mut [u64]) {
        // Arrays of empty arrays have no cells, and chunks of none do not exist.
        for (item, cells) in self.into_iter().zip(cells.chunks_mut(T::ARITY.max(1))) {
            item.to_cells(cells);
        }
    }

    fn from_cells(cells: &[u64]) -> Self {
        std::array::from_fn(|i| {
            T::from_cells(cells.get(i * T::ARITY..(i + 1) * T::ARITY).unwrap_or_default())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Element + PartialEq + fmt::Debug>(value: T, cells: &[u64]) {
        let mut written = vec![u64::MAX; T::ARITY];
        value.to_cells(&mut written);
        assert_eq!(written, cells);
        assert_eq!(T::from_cells(&written), value);
    }

    #[test]
    fn cells_hold_every_scalar() {
        round_trip(true, &[1]);
        round_trip(-1i8, &[u64::MAX]);
        round_trip(i16::MIN, &[0xffff_ffff_ffff_8000]);
        round_trip(-2i32, &[u64::MAX - 1]);
        round_trip(i64::MIN, &[1 << 63]);
        round_trip(-1isize, &[u64::MAX]);
        round_trip(u8::MAX, &[0xff]);
        round_trip(u16::MAX, &[0xffff]);
        round_trip(u32::MAX, &[0xffff_ffff]);
        round_trip(u64::MAX, &[u64::MAX]);
        round_trip(usize::MAX, &[u64::MAX]);
        round_trip(-0.0f32, &[0x8000_0000]);
        round_trip(1.0f64, &[0x3ff0_0000_0000_0000]);
    }

    #[test]
    fn arrays_are_cells_in_order() {
        round_trip([[1u8, 2], [3, 4], [5, 6]], &[1, 2, 3, 4, 5, 6]);
        round_trip([0f64; 0], &[]);
        round_trip([[0f64; 0]; 3], &[]);
    }

    #[test]
    fn names_are_those_of_the_language() {
        for scalar in [ScalarType::Bool, ScalarType::F32, ScalarType::I8, ScalarType::Usize] {
            assert_eq!(scalar.name(), scalar.to_ir().name());
        }
    }
}
