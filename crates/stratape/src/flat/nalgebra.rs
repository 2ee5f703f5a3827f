//! Vectors and matrices of `nalgebra`, column by column.

use nalgebra::Scalar;
use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, IsContiguous, Matrix, OMatrix, RawStorage, RawStorageMut};

use super::{Flat, FlatMut, Float, NotContiguous};

impl<T, R, C, S> Flat for Matrix<T, R, C, S>
where
    T: Float + Scalar,
    R: Dim,
    C: Dim,
    S: RawStorage<T, R, C> + IsContiguous,
    DefaultAllocator: Allocator<R, C>,
{
    type Elem = T;
    type Owned = OMatrix<T, R, C>;

    fn flat(&self) -> Result<&[T], NotContiguous> {
        Ok(self.as_slice())
    }

    fn zeros_like(&self) -> OMatrix<T, R, C> {
        let (rows, columns) = self.shape_generic();
        OMatrix::from_element_generic(rows, columns, T::ZERO)
    }
}

impl<T, R, C, S> FlatMut for Matrix<T, R, C, S>
where
    T: Float + Scalar,
    R: Dim,
    C: Dim,
    S: RawStorageMut<T, R, C> + IsContiguous,
    DefaultAllocator: Allocator<R, C>,
{
    fn flat_mut(&mut self) -> Result<&mut [T], NotContiguous> {
        Ok(self.as_mut_slice())
    }
}
