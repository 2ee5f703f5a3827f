//! Macros, names, and parts of vectors and matrices of `nalgebra` in differentiated code.

#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, reason = "the constructs under test")]

use nalgebra::{DMatrix, DVector, Vector2, Vector3, dmatrix, dvector, matrix, point, vector};
use stratape::{differentiable, gradient};

/// The derivatives of a function of numbers, by central differences.
fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-6;
    let at = |i: usize, by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        f(&x)
    };
    (0..x.len()).map(|i| (at(i, step) - at(i, -step)) / (2.0 * step)).collect()
}

const START: [f64; 12] = [2.7, -0.4, 0.3, 0.6, 0.8, 3.5, -0.2, 0.9, 0.1, 0.7, 2.4, 0.35];

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let scale = 1.0_f64.max(wanted.abs());
        assert!((found - wanted).abs() < 1e-6 * scale, "{at}: {found} is not {wanted}");
    }
}

/// A function of a slice.
macro_rules! of_numbers {
    ($($test:ident: $f:ident $grad:ident;)*) => { $(
        #[test]
        fn $test() {
            let mut d = [0.0; 12];
            let (value, wanted) = ($grad(&START, &mut d, 1.0), $f(&START));
            assert!((value - wanted).abs() <= 1e-13 * value.abs().max(1.0), "{value} is not {wanted}");
            close(&d, &differences(&START, $f));
        }
    )* };
}

of_numbers! {
    macros_of_the_crate: literal literal_grad;
    fixed_sizes: fixed fixed_grad;
    parts_of_dynamic_matrices: parts parts_grad;
    written_rows_and_columns: written written_grad;
    inverses: inverse inverse_grad;
}

#[gradient]
fn literal(x: &[f64]) -> f64 {
    let v = vector![x[0], x[1] * x[2], 1.0];
    let m = matrix![x[3], 2.0, x[4];
                    x[5], x[6], 0.5];
    let d = dmatrix![x[7], x[8]; x[9], x[10]];
    let w = dvector![x[11], x[0]];
    let p = point![x[1], x[2]];
    (m * v).norm() + (d * &w).sum() + m[(1, 0)] * w[0] + p.coords.dot(&vector![1.0, x[3]])
}

#[gradient]
fn fixed(x: &[f64]) -> f64 {
    let v = Vector3::new(x[0], x[1], x[2]);
    let w = Vector3::new(x[3], x[4], x[5]);
    let mut m = v * w.transpose();
    m.column_mut(1).copy_from(&(v * 2.0));
    let mut column = m.column_mut(2);
    column += &w;
    column *= x[6];
    m.component_mul_assign(&matrix![x[7], 1.0, 2.0; 1.0, x[8], 1.0; 0.5, 1.0, x[9]]);
    m.add_scalar_mut(0.5);
    m.zip_apply(&(w * v.transpose()), |a, b| *a += b * b);
    v.angle(&w)
        + m.sum()
        + v.lerp(&w, x[10]).norm()
        + m.row_sum()[1] * m.column_mean()[0]
        + m.fixed_rows::<2>(1).sum()
        + v.variance()
        + m.fixed_columns::<2>(0).norm()
        + x[11]
}

#[gradient]
fn parts(x: &[f64]) -> f64 {
    let m = DMatrix::from_row_slice(3, 4, x);
    let v = m.column(1).into_owned();
    let a = m.columns(1, 2) * m.rows(0, 2).columns(0, 3);
    let b = m.view((1, 0), (2, 2)).into_owned();
    let k = b.kronecker(&m.view((0, 1), (2, 3)).into_owned());
    let w = v.clone().push(x[0] * x[1]);
    let f: Vector2<f64> = v.fixed_rows::<2>(1).into_owned();
    a.norm()
        + k.sum() * k[(1, 2)]
        + w.dot(&w)
        + f.x * f.y
        + v.rows(1, 2).sum()
        + m.row_sum()[2] * m.column_sum()[1]
        + m.row_mean()[0]
        + v.lerp(&(&v * 2.0), 0.25).sum()
        + v.variance()
        + m.fixed_view::<2, 2>(1, 2).determinant()
}

#[gradient]
fn written(x: &[f64]) -> f64 {
    let mut m = DMatrix::from_row_slice(3, 4, x);
    let v = DVector::from_column_slice(&x[..3]);
    m.column_mut(0).copy_from(&v);
    let mut column = m.column_mut(1);
    column += &v;
    column -= &(&v * &v.transpose() * &v);
    column /= x[3];
    let mut row = m.row_mut(2);
    row *= x[4];
    row[1] += x[5];
    m.row_mut(0).fill(x[6]);
    for value in m.column_mut(3).iter_mut() {
        *value = value.sin();
    }
    m.component_div_assign(&DMatrix::from_element(3, 4, 1.0 + x[7] * x[7]));
    m.norm_squared()
}

#[gradient]
fn inverse(x: &[f64]) -> f64 {
    let m = DMatrix::from_row_slice(3, 3, &x[..9]);
    let b = DVector::from_vec(vec![x[9], x[10], x[11]]);
    let inverse = m.clone().try_inverse().unwrap();
    (&inverse * &b).norm() + m.lu().solve(&b).unwrap()[1] + inverse[(0, 2)]
}

#[differentiable]
#[allow(unreachable_pub)]
mod renamed {
    use na::{Matrix2, Vector2};
    use nalgebra as na;

    type M = Matrix2<f64>;
    type V = Vector2<f64>;

    #[gradient]
    pub fn turned(angle: f64, v: &Vector2<f64>) -> f64 {
        let (s, c) = angle.sin_cos();
        let m = M::new(c, -s, s, c) + M::identity();
        let w: V = m * v;
        w.dot(&V::new(1.0, 2.0)) + M::zeros().sum()
    }
}

mod named_elsewhere {
    #[stratape::differentiable]
    pub(super) type M = nalgebra::Matrix2<f64>;
}

#[gradient]
fn with_alias(a: f64) -> f64 {
    let m = named_elsewhere::M::new(a, a * a, 1.0, 2.0);
    m.determinant()
}

#[test]
fn names_of_names() {
    let mut dv = Vector2::zeros();
    let (value, slope) = renamed::turned_grad(0.5, &Vector2::new(1.5, -0.5), &mut dv, 1.0);
    let f = |angle| renamed::turned(angle, &Vector2::new(1.5, -0.5));
    assert!((value - f(0.5)).abs() < 1e-14);
    assert!((slope - (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6).abs() < 1e-8);
    assert_eq!(with_alias_grad(3.0, 1.0), (-3.0, 2.0 - 6.0));
}
