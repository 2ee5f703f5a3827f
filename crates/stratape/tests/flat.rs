//! Arrays of other crates as slices: without a copy, in the documented order, or refused.

#![allow(clippy::unwrap_used)]

use stratape::flat::{Flat, FlatMut, Float, NotContiguous};

#[stratape::differentiable]
mod model {
    /// Depends on the order of its elements.
    #[gradient]
    pub(super) fn weighed(x: &[f64], scale: f64) -> f64 {
        let mut sum = 0.0;
        for (i, x) in x.iter().enumerate() {
            sum += (scale * (i + 1) as f64 * x).sin() * x;
        }
        sum
    }

    #[gradient]
    pub(super) fn weighed_single(x: &[f32], scale: f32) -> f32 {
        let mut sum = 0.0;
        for (i, x) in x.iter().enumerate() {
            sum += (scale * (i + 1) as f32 * x).sin() * x;
        }
        sum
    }
}

/// The gradient through the adapter has the bits of the one on a plain slice.
fn same_gradient<X: Flat<Elem = f64>>(x: &X, plain: &[f64]) {
    let mut dx = x.zeros_like();
    assert!(dx.flat().unwrap().iter().all(|v| *v == 0.0));
    let value = model::weighed_grad(x.flat().unwrap(), dx.flat_mut().unwrap(), 0.7, 1.0);
    let mut expected = vec![0.0; plain.len()];
    assert_eq!(value, model::weighed_grad(plain, &mut expected, 0.7, 1.0));
    assert_eq!(bits(dx.flat().unwrap()), bits(&expected));
}

fn same_gradient_single<X: Flat<Elem = f32>>(x: &X, plain: &[f32]) {
    let mut dx = x.zeros_like();
    let value = model::weighed_single_grad(x.flat().unwrap(), dx.flat_mut().unwrap(), 0.7, 1.0);
    let mut expected = vec![0.0; plain.len()];
    assert_eq!(value, model::weighed_single_grad(plain, &mut expected, 0.7, 1.0));
    assert_eq!(dx.flat().unwrap(), expected);
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

/// What is written through the slice is in the array.
fn writes<X: FlatMut>(x: &mut X, value: X::Elem) {
    let n = x.flat().unwrap().len();
    x.flat_mut().unwrap()[n - 1] = value;
    assert_eq!(x.flat().unwrap()[n - 1], value);
}

fn len<X: Flat + ?Sized>(x: &X) -> Result<usize, NotContiguous> {
    x.flat().map(<[X::Elem]>::len)
}

const PLAIN: [f64; 6] = [1.0, -0.5, 2.0, 0.25, 3.0, -1.5];

#[test]
fn vectors_slices_and_arrays() {
    same_gradient(&PLAIN, &PLAIN);
    same_gradient(&PLAIN.to_vec(), &PLAIN);
    same_gradient(&&PLAIN[..], &PLAIN);
    same_gradient(&&mut PLAIN.to_vec(), &PLAIN);
    same_gradient_single(&[1.0, 2.5, -3.0], &[1.0, 2.5, -3.0]);
    writes(&mut vec![1.0_f32, 2.0], 3.0);
    writes(&mut [1.0, 2.0], 3.0);
    writes(&mut &mut [1.0, 2.0][..], 3.0);
    assert_eq!(len(&[0.0_f32; 3][..]).unwrap(), 3);
    assert_eq!(PLAIN[2..5].zeros_like(), vec![0.0; 3]);
    assert_eq!((f32::ZERO, f64::ZERO), (0.0, 0.0));
}

#[cfg(feature = "ndarray")]
mod of_ndarray {
    use ndarray::{Array, Array1, Array2, ArrayD, Axis, CowArray, IxDyn, ShapeBuilder, arr0, s};

    use super::*;

    fn matrix() -> Array2<f64> {
        Array2::from_shape_vec((2, 3), PLAIN.to_vec()).unwrap()
    }

    #[test]
    fn arrays_of_any_dimension() {
        same_gradient(&Array1::from(PLAIN.to_vec()), &PLAIN);
        same_gradient(&matrix(), &PLAIN);
        same_gradient(&ArrayD::from_shape_vec(IxDyn(&[1, 3, 2]), PLAIN.to_vec()).unwrap(), &PLAIN);
        same_gradient(&arr0(2.0), &[2.0]);
        same_gradient(&Array2::zeros((0, 3)), &[]);
        same_gradient_single(&Array1::from(vec![1.0_f32, 2.5]), &[1.0, 2.5]);
        assert_eq!(matrix().zeros_like(), Array2::<f64>::zeros((2, 3)));
    }

    #[test]
    fn views_and_shared_arrays() {
        let mut array = matrix();
        same_gradient(&array.view(), &PLAIN);
        same_gradient(&array.slice(s![1.., ..]), &PLAIN[3..]);
        same_gradient(&array.row(0), &PLAIN[..3]);
        same_gradient(&array.to_shared(), &PLAIN);
        same_gradient(&CowArray::from(array.view()), &PLAIN);
        assert!(std::ptr::eq(array.flat().unwrap(), array.as_slice().unwrap()));

        writes(&mut array.row_mut(0), 7.0);
        assert_eq!(array[[0, 2]], 7.0);
        let mut shared = array.to_shared();
        writes(&mut shared, 8.0);
        assert_eq!((shared[[1, 2]], array[[1, 2]]), (8.0, PLAIN[5]));
    }

    #[test]
    fn what_is_not_in_standard_layout_is_refused() {
        let mut array = matrix();
        let refused = array.t().flat().unwrap_err();
        assert_eq!((refused.shape(), refused.strides()), (&[3, 2][..], &[1, 3][..]));
        assert_eq!(
            refused.to_string(),
            "an array of shape [3, 2] with strides [1, 3] is no slice: its elements do not lie row by row without gaps; \
             `.as_standard_layout()` makes a copy in which they do"
        );
        let refused = array.slice_mut(s![.., 1..]).flat_mut().unwrap_err();
        assert_eq!((refused.shape(), refused.strides()), (&[2, 2][..], &[3, 1][..]));
        assert!(len(&array.slice(s![.., ..;-1])).is_err());
        assert!(len(&array.column(1)).is_err());
        let by_columns = Array::<f64, _>::zeros((2, 3).f());
        assert!(len(&by_columns).is_err());

        // What the message advises.
        let transposed = [PLAIN[0], PLAIN[3], PLAIN[1], PLAIN[4], PLAIN[2], PLAIN[5]];
        same_gradient(&array.t().as_standard_layout(), &transposed);
        // A shadow of what is refused is none the less a slice.
        array.invert_axis(Axis(0));
        assert!(array.flat_mut().is_err());
        assert_eq!(array.zeros_like().flat_mut().unwrap(), [0.0; 6]);
    }
}

#[cfg(feature = "nalgebra")]
mod of_nalgebra {
    use nalgebra::{DMatrix, DVector, Matrix2x3, MatrixView, RowVector3, SVector, Vector3};

    use super::*;

    #[test]
    fn vectors() {
        same_gradient(&DVector::from_column_slice(&PLAIN), &PLAIN);
        same_gradient(&SVector::<f64, 6>::from_column_slice(&PLAIN), &PLAIN);
        same_gradient(&RowVector3::new(1.0, 2.0, 3.0), &[1.0, 2.0, 3.0]);
        same_gradient_single(&Vector3::new(1.0_f32, 2.5, -3.0), &[1.0, 2.5, -3.0]);
        assert_eq!(DVector::from_element(2, 1.0).zeros_like(), DVector::zeros(2));
        writes(&mut Vector3::new(1.0, 2.0, 3.0), 4.0);
    }

    #[test]
    fn matrices_column_by_column() {
        // The constructor reads row by row.
        let fixed = Matrix2x3::new(PLAIN[0], PLAIN[2], PLAIN[4], PLAIN[1], PLAIN[3], PLAIN[5]);
        same_gradient(&fixed, &PLAIN);
        let mut dynamic = DMatrix::from_column_slice(2, 3, &PLAIN);
        same_gradient(&dynamic, &PLAIN);
        assert!(std::ptr::eq(dynamic.flat().unwrap(), dynamic.as_slice()));
        assert_eq!(dynamic.zeros_like(), DMatrix::zeros(2, 3));
        writes(&mut dynamic, 9.0);
        assert_eq!(dynamic[(1, 2)], 9.0);
        let shadow: Matrix2x3<f64> = fixed.zeros_like();
        assert_eq!(shadow, Matrix2x3::zeros());
    }

    #[test]
    fn views_without_gaps() {
        let mut matrix = Matrix2x3::from_column_slice(&PLAIN);
        same_gradient(&matrix.column(1), &PLAIN[2..4]);
        same_gradient(&matrix.fixed_columns::<2>(1), &PLAIN[2..]);
        same_gradient(
            &MatrixView::<f64, nalgebra::U2, nalgebra::Dyn>::from_slice(&PLAIN, 3),
            &PLAIN,
        );
        writes(&mut matrix.column_mut(2), 9.0);
        assert_eq!(matrix[(1, 2)], 9.0);
        let dynamic = DMatrix::from_column_slice(2, 3, &PLAIN);
        same_gradient(&dynamic.column(2), &PLAIN[4..]);
        same_gradient(&dynamic.rows(0, 1).clone_owned(), &[PLAIN[0], PLAIN[2], PLAIN[4]]);
    }
}
