//! Arrays of other crates as the slices that a gradient works on.
//!
//! A function under [`gradient`](crate::gradient) takes slices. Vectors, matrices and arrays of `ndarray` and `nalgebra` are
//! contiguous in memory: [`Flat`] passes them as slices without a copy, and creates shadows of the same shape.
//!
//! ```
//! use stratape::flat::{Flat, FlatMut, NotContiguous};
//! use stratape::gradient;
//!
//! #[gradient(wrt(x))]
//! fn energy(x: &[f64]) -> f64 {
//!     0.5 * x.iter().map(|v| v * v * v).sum::<f64>()
//! }
//!
//! /// For any container of numbers: the gradient has the shape of the argument.
//! fn slope<X: Flat<Elem = f64>>(x: &X) -> Result<X::Owned, NotContiguous> {
//!     let mut dx = x.zeros_like();
//!     energy_grad(x.flat()?, dx.flat_mut()?, 1.0);
//!     Ok(dx)
//! }
//!
//! assert_eq!(slope(&vec![1.0, 2.0])?, vec![1.5, 6.0]);
//! assert_eq!(slope(&[0.0, 2.0])?, [0.0, 6.0]);
//! # Ok::<(), NotContiguous>(())
//! ```
//!
//! | type | feature | order of the slice |
//! |---|---|---|
//! | `Vec<T>`, `[T]`, `[T; N]`, references to all of these | | their own |
//! | `ndarray::ArrayBase<S, D>`: arrays and views, of any dimension | `ndarray` | row by row: the last index runs fastest |
//! | `nalgebra::Matrix<T, R, C, S>`: vectors, matrices, and views without gaps, static and dynamic | `nalgebra` | **column by column**: the row runs fastest |
//!
//! `T` is `f64` or `f32`. An array of `ndarray` in another layout is refused with [`NotContiguous`]. Of `nalgebra` only the types
//! that never have gaps are [`Flat`]: not the views of some rows of a matrix, which `clone_owned` copies.
//!
//! ```
//! # #[cfg(all(feature = "ndarray", feature = "nalgebra"))] {
//! use nalgebra::Matrix2;
//! use ndarray::array;
//! use stratape::flat::Flat;
//!
//! // The same matrix twice.
//! assert_eq!(array![[1.0, 2.0], [3.0, 4.0]].flat().unwrap(), [1.0, 2.0, 3.0, 4.0]);
//! assert_eq!(Matrix2::new(1.0, 2.0, 3.0, 4.0).flat().unwrap(), [1.0, 3.0, 2.0, 4.0]);
//! # }
//! ```
//!
//! The features accept `ndarray` 0.16 and 0.17, and `nalgebra` 0.33 to 0.35. Where a program depends on an older one of these,
//! Cargo may choose a newer one for this crate, and the program's arrays are then not `Flat`. `cargo tree -i ndarray` shows this,
//! and `cargo update -p ndarray@0.17.2 --precise 0.16.1` fixes it.

#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;

use std::error::Error;
use std::fmt;

/// `f32` or `f64`.
///
/// ```
/// use stratape::flat::Float;
///
/// fn zeros<T: Float>(n: usize) -> Vec<T> {
///     vec![T::ZERO; n]
/// }
///
/// assert_eq!(zeros::<f32>(2), [0.0_f32, 0.0]);
/// ```
pub trait Float:
    Copy + Default + PartialEq + PartialOrd + fmt::Debug + Send + Sync + sealed::Sealed + 'static
{
    /// Zero.
    const ZERO: Self;
}

impl Float for f32 {
    const ZERO: Self = 0.0;
}

impl Float for f64 {
    const ZERO: Self = 0.0;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Numbers that are contiguous in memory.
///
/// ```
/// use stratape::flat::{Flat, NotContiguous};
///
/// fn total(x: &impl Flat<Elem = f32>) -> Result<f32, NotContiguous> {
///     Ok(x.flat()?.iter().sum())
/// }
///
/// assert_eq!(total(&vec![1.0, 2.0])?, 3.0);
/// assert_eq!(total(&[1.0; 4])?, 4.0);
/// # Ok::<(), NotContiguous>(())
/// ```
pub trait Flat {
    /// The type of the numbers.
    type Elem: Float;
    /// The owned type of the same shape: that of a gradient with respect to this.
    type Owned: FlatMut<Elem = Self::Elem>;

    /// All the numbers, without a copy.
    ///
    /// # Errors
    /// [`NotContiguous`] if they are not contiguous, in the order of the shape. Only arrays of `ndarray` can return it;
    /// other types are always contiguous.
    ///
    /// ```
    /// use stratape::flat::Flat;
    ///
    /// assert_eq!(vec![1.0, 2.0].flat()?, &[1.0, 2.0]);
    /// # Ok::<(), stratape::flat::NotContiguous>(())
    /// ```
    fn flat(&self) -> Result<&[Self::Elem], NotContiguous>;

    /// Zeros in the same shape, to use as a shadow. The result is always contiguous.
    ///
    /// ```
    /// use stratape::flat::Flat;
    ///
    /// assert_eq!([1.0, 2.0].zeros_like(), [0.0, 0.0]);
    /// ```
    fn zeros_like(&self) -> Self::Owned;
}

/// Numbers that are contiguous in memory and can be written.
///
/// ```
/// use stratape::flat::{FlatMut, NotContiguous};
///
/// fn scale(x: &mut impl FlatMut<Elem = f64>, by: f64) -> Result<(), NotContiguous> {
///     x.flat_mut()?.iter_mut().for_each(|v| *v *= by);
///     Ok(())
/// }
///
/// let mut x = vec![1.0, 2.0];
/// scale(&mut x, 3.0)?;
/// assert_eq!(x, [3.0, 6.0]);
/// # Ok::<(), NotContiguous>(())
/// ```
pub trait FlatMut: Flat {
    /// All the numbers, without a copy.
    ///
    /// # Errors
    /// As [`Flat::flat`].
    ///
    /// ```
    /// use stratape::flat::FlatMut;
    ///
    /// let mut x = [1.0, 2.0];
    /// x.flat_mut()?[0] = 5.0;
    /// assert_eq!(x, [5.0, 2.0]);
    /// # Ok::<(), stratape::flat::NotContiguous>(())
    /// ```
    fn flat_mut(&mut self) -> Result<&mut [Self::Elem], NotContiguous>;
}

impl<T: Float> Flat for [T] {
    type Elem = T;
    type Owned = Vec<T>;

    fn flat(&self) -> Result<&[T], NotContiguous> {
        Ok(self)
    }

    fn zeros_like(&self) -> Vec<T> {
        vec![T::ZERO; self.len()]
    }
}

impl<T: Float> FlatMut for [T] {
    fn flat_mut(&mut self) -> Result<&mut [T], NotContiguous> {
        Ok(self)
    }
}

impl<T: Float> Flat for Vec<T> {
    type Elem = T;
    type Owned = Self;

    fn flat(&self) -> Result<&[T], NotContiguous> {
        Ok(self)
    }

    fn zeros_like(&self) -> Self {
        vec![T::ZERO; self.len()]
    }
}

impl<T: Float> FlatMut for Vec<T> {
    fn flat_mut(&mut self) -> Result<&mut [T], NotContiguous> {
        Ok(self)
    }
}

impl<T: Float, const N: usize> Flat for [T; N] {
    type Elem = T;
    type Owned = Self;

    fn flat(&self) -> Result<&[T], NotContiguous> {
        Ok(self)
    }

    fn zeros_like(&self) -> Self {
        [T::ZERO; N]
    }
}

impl<T: Float, const N: usize> FlatMut for [T; N] {
    fn flat_mut(&mut self) -> Result<&mut [T], NotContiguous> {
        Ok(self)
    }
}

impl<X: Flat + ?Sized> Flat for &X {
    type Elem = X::Elem;
    type Owned = X::Owned;

    fn flat(&self) -> Result<&[X::Elem], NotContiguous> {
        (**self).flat()
    }

    fn zeros_like(&self) -> X::Owned {
        (**self).zeros_like()
    }
}

impl<X: Flat + ?Sized> Flat for &mut X {
    type Elem = X::Elem;
    type Owned = X::Owned;

    fn flat(&self) -> Result<&[X::Elem], NotContiguous> {
        (**self).flat()
    }

    fn zeros_like(&self) -> X::Owned {
        (**self).zeros_like()
    }
}

impl<X: FlatMut + ?Sized> FlatMut for &mut X {
    fn flat_mut(&mut self) -> Result<&mut [X::Elem], NotContiguous> {
        (**self).flat_mut()
    }
}

/// An array that is not contiguous: transposed, reversed, or every other element of a larger array.
///
/// Copy it into a contiguous one, and differentiate with respect to that.
///
/// ```
/// # #[cfg(feature = "ndarray")] {
/// use ndarray::array;
/// use stratape::flat::Flat;
///
/// let a = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let error = a.t().flat().unwrap_err();
/// assert_eq!((error.shape(), error.strides()), (&[3, 2][..], &[1, 3][..]));
/// println!("{error}"); // and what to do: `.as_standard_layout()`
/// let copy = a.t().as_standard_layout().into_owned();
/// assert_eq!(copy.flat().unwrap(), &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotContiguous {
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl NotContiguous {
    /// The lengths of the array's axes.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// use ndarray::{Array2, s};
    /// use stratape::flat::Flat;
    ///
    /// let a = Array2::<f64>::zeros((4, 6));
    /// assert_eq!(a.slice(s![.., 1..3]).flat().unwrap_err().shape(), [4, 2]);
    /// # }
    /// ```
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The distance in memory to the next element along each axis, in elements.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// use ndarray::{Array2, s};
    /// use stratape::flat::Flat;
    ///
    /// let a = Array2::<f64>::zeros((4, 6));
    /// assert_eq!(a.slice(s![.., 1..3]).flat().unwrap_err().strides(), [6, 1]);
    /// # }
    /// ```
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }
}

impl fmt::Display for NotContiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, strides } = self;
        write!(
            f,
            "an array of shape {shape:?} with strides {strides:?} is no slice: its elements do not lie row by row without \
             gaps; `.as_standard_layout()` makes a copy in which they do"
        )
    }
}

impl Error for NotContiguous {}
