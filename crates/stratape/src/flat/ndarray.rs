//! Arrays and views of `ndarray`, in standard layout.

use ndarray::{Array, ArrayBase, Data, DataMut, Dimension};

use super::{Flat, FlatMut, Float, NotContiguous};

fn refused<S: Data, D: Dimension>(array: &ArrayBase<S, D>) -> NotContiguous {
    NotContiguous { shape: array.shape().to_vec(), strides: array.strides().to_vec() }
}

impl<T: Float, S: Data<Elem = T>, D: Dimension> Flat for ArrayBase<S, D> {
    type Elem = T;
    type Owned = Array<T, D>;

    fn flat(&self) -> Result<&[T], NotContiguous> {
        self.as_slice().ok_or_else(|| refused(self))
    }

    fn zeros_like(&self) -> Array<T, D> {
        Array::from_elem(self.raw_dim(), T::ZERO)
    }
}

impl<T: Float, S: DataMut<Elem = T>, D: Dimension> FlatMut for ArrayBase<S, D> {
    fn flat_mut(&mut self) -> Result<&mut [T], NotContiguous> {
        // Asked first: the slice, once borrowed, would stand in the error's way.
        if !self.is_standard_layout() {
            return Err(refused(self));
        }
        self.as_slice_mut().ok_or(NotContiguous { shape: Vec::new(), strides: Vec::new() })
    }
}
