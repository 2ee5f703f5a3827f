//! Arrays of `ndarray` in differentiated code.

#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, reason = "the constructs under test")]

use ndarray::{
    Array, Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, ShapeBuilder, Zip, array, s,
};
use stratape::{differentiable, gradient};

use crate::common::arrays::{START, close, differences, flat, matrix, vector};

of_arrays! {
    products: form form_grad;
    operators: combined combined_grad;
    elements: elementwise elementwise_grad;
    indices: indexed indexed_grad;
    iterators: iterated iterated_grad;
    rows_and_columns: parts parts_grad;
    constructors: built built_grad;
    a_layer_of_neurons: layer layer_grad;
    steps_in_a_loop: relaxed relaxed_grad;
    means_and_axes: statistics statistics_grad;
    literals: literal literal_grad;
    shapes: reshaped reshaped_grad;
    grids: sampled sampled_grad;
    arrays_joined: joined joined_grad;
    rows_repeated: repeated repeated_grad;
    repeated_in_place: shifted shifted_grad;
    along_axes: along along_grad;
    zips: zipped zipped_grad;
    in_place_closures: changed changed_grad;
}

#[gradient]
fn literal(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let a = array![v[0], 2.0, m[[0, 1]]];
    let b = array![[v[0], m[[1, 1]], 1.0], [0.5, v[1] * v[2], 2.0]];
    let c = ndarray::arr2(&[[1.0, v[2]], [m[[2, 0]], 3.0]]);
    let d = ndarray::arr1(&[v[1], v[0]]);
    b.dot(&a).dot(&d)
        + c.dot(&d).sum()
        + array![1.0, 2.0].dot(&d)
        + array![f64::max(v[0], v[1])].sum()
}

#[gradient]
fn reshaped(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let wide = Array2::from_shape_vec((2, 3), vec![v[0], 1.0, v[1], 2.0, m[[0, 0]], v[2]]).unwrap();
    let long = wide.to_shape((3, 2)).unwrap();
    let flat = m.clone().into_shape_with_order(9).unwrap();
    let column = v.clone().into_shape_with_order((3, 1)).unwrap();
    let other = v.clone().insert_axis(Axis(0));
    long.dot(&wide).sum()
        + flat[3] * flat[8]
        + m.dot(&column)[[1, 0]]
        + other.dot(m).sum()
        + m.flatten().dot(&flat)
        + if let Ok(a) = v.to_shape((2, 2)) { a.sum() } else { v[0] }
}

#[gradient]
fn sampled(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let t = Array1::linspace(v[0], v[1], 5);
    let u = Array1::range(0.0, 1.0, 0.25) * v[2];
    let w = Array::linspace(0.0, 1.0, 4) + &u;
    let z = Array::zeros(4) + &w;
    let a = Array::<f64, _>::zeros((3, 3)) + Array::<f64, _>::eye(3) * v[1] + Array2::from_diag(v);
    let b = Array::from_shape_fn((3, 3), |(i, j)| m[[j, i]]) + Array::from_elem([3, 3], v[0]);
    let c =
        Array::from_vec(vec![v[0], m[[0, 0]]]) + Array::from_iter(v.iter().take(2).map(|x| x * x));
    t.mapv(f64::sin).sum()
        + u.dot(&z)
        + a.dot(&b).dot(v).sum()
        + c.product()
        + Array::ones(2).dot(&c)
        + Array2::<f64>::ones(m.raw_dim()).dot(m).sum()
}

#[gradient]
fn joined(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let a = ndarray::concatenate![Axis(0), *v, m.row(1), v.mapv(f64::exp)];
    let b = ndarray::concatenate![Axis(1), *m, m.t()];
    let c = ndarray::stack![Axis(0), *v, m.column(0)];
    let d = ndarray::stack![Axis(1), *v, m.column(0)];
    a.dot(&a) + b.row(1).sum() * b[[0, 4]] + c.dot(&d).sum() + c[[1, 2]]
}

#[gradient]
fn repeated(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let rows = m * v + m - v;
    let columns = m / &(v * v + 1.0).insert_axis(Axis(1));
    let table = &v.view().insert_axis(Axis(1)) * &v.view().insert_axis(Axis(0));
    let left = v - m;
    let wide = v.broadcast((2, 3)).unwrap();
    (&rows * &columns).sum()
        + table.mapv(f64::sin).sum()
        + (&left * &left).sum()
        + wide.row(1).dot(v)
}

#[gradient]
fn shifted(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut a = m.clone();
    a += v;
    a *= &m.column(0).insert_axis(Axis(1));
    a -= &v.mapv(|x| x * x);
    a.scaled_add(0.5, v);
    let mut b = Array2::zeros((3, 3));
    b.assign(v);
    (&a * &a + b).sum()
}

#[gradient]
fn along(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let means = m.mean_axis(Axis(0)).unwrap();
    let centred = m - &means;
    let spread = m.var_axis(Axis(0), 0.0);
    let norms = m.map_axis(Axis(1), |row| row.dot(&row).sqrt());
    let largest = m.fold_axis(Axis(1), f64::NEG_INFINITY, |a, b| a.max(*b));
    let lines: f64 = m.lanes(Axis(0)).into_iter().map(|lane| lane.dot(v)).sum();
    (&centred * &centred).sum()
        + spread.dot(v)
        + norms.sum()
        + largest.dot(&v.view())
        + v.std(1.0)
        + v.var(0.0)
        + lines
        + v.dot(m).sum()
        + m.index_axis(Axis(1), 2).sum()
        + m.std_axis(Axis(1), 1.0).sum()
}

#[gradient]
fn zipped(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut a = v.clone();
    Zip::from(&mut a).and(v).and(&m.row(0)).for_each(|a, &x, &y| *a = *a * x + y);
    let b = Zip::from(v).and(&a).map_collect(|x, y| x * y.sin());
    let mut c = m.clone();
    Zip::from(&mut c).and(m).for_each(|c, m| *c *= m.exp());
    let d = Zip::from(&c).and(m).fold(0.0, |sum, c, m| sum + c / (1.0 + m * m));
    a.sum() + b.dot(v) + c.sum() + d
}

#[gradient]
fn changed(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut a = v.clone();
    a.zip_mut_with(&m.row(2), |x, y| *x += y * y);
    a.map_inplace(|x| *x = x.cos());
    for mut row in a.view().insert_axis(Axis(0)).into_owned().outer_iter_mut() {
        row[0] = 0.0;
    }
    let b = m.map(|x| x * 2.0);
    a.sum() + b.mapv_into(|x| x * x).sum() + a.first().unwrap() * a.last().unwrap()
}

#[gradient]
fn form(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let w = m.dot(v);
    v.dot(&w) + m.dot(&m.t()).sum() + w.dot(&w).sqrt()
}

#[gradient]
fn combined(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut s = v + v * 2.0 - 0.5 * v / 3.0 + 1.0;
    s += v;
    s -= &(v * v);
    s *= 1.5;
    s /= &(v * v + 1.0);
    s += 0.25;
    let a = -m * m + 2.0 / (m * m + 1.0);
    (&a - m).sum() + (&s * &s).sum() + (1.0 - v).product()
}

#[gradient]
fn elementwise(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let a = m.mapv(f64::sin) + m.mapv(|x| x * x);
    let mut b = v.map(|x| x.exp());
    b.mapv_inplace(|x| x.ln() * 2.0);
    let mut c = v.clone();
    c.assign(&b);
    c.fill(b[1]);
    a.sum() + b.fold(1.0, |s, x| s * 0.5 + x) + c.sum() + v.to_vec()[0]
}

#[gradient]
fn indexed(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let (rows, columns) = m.dim();
    let mut w = Array1::<f64>::zeros(rows);
    let mut a: Array2<f64> = Array2::zeros((rows, columns));
    for i in 0..m.nrows() {
        for j in 0..m.ncols() {
            w[i] += m[[i, j]] * v[j];
            a[(i, j)] = w[i] * m[(j, i)];
        }
    }
    w[0] * w[2] + a[[1, 2]] * (m.shape()[0] + v.len()) as f64
}

#[gradient]
fn iterated(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let squares: f64 = m.iter().map(|x| x * x).sum();
    let dot: f64 = v.iter().zip(m.row(1).iter()).map(|(a, b)| a * b).sum();
    let mut w = v.to_owned();
    for (i, x) in w.iter_mut().enumerate() {
        *x *= 1.0 + i as f64;
    }
    let mut sum = squares * dot + w.sum();
    for ((i, j), x) in m.indexed_iter() {
        sum += (i + 2 * j) as f64 * x;
    }
    for x in v {
        sum *= 1.0 + 0.1 * x;
    }
    sum
}

#[gradient]
fn parts(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut sum = 0.0;
    for row in m.rows() {
        sum += row.dot(v) * row[0];
    }
    for column in m.columns() {
        sum += column.sum().sin();
    }
    let mut a = m.clone();
    for mut row in a.rows_mut() {
        row *= 2.0;
        row[1] += v[0];
    }
    a.row_mut(0).assign(v);
    sum + a.outer_iter().map(|row| row.dot(&row)).sum::<f64>() + m.diag().sum() + m.column(2)[1]
}

#[gradient]
fn built(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let a = Array2::from_shape_fn((3, 3), |(i, j)| v[i] * m[[j, i]]);
    let b = Array1::from_vec(vec![v[0], 2.0, m[[0, 1]]]) + Array1::<f64>::ones(3);
    let c = Array1::from_shape_fn(3, |i| v[i] * i as f64) + Array1::from_elem(3, v[1]);
    let d: Array1<f64> = Array1::from_iter(v.iter().map(|x| x * x));
    (a + Array2::<f64>::eye(3)).dot(&b).dot(&c) + d.sum()
}

#[gradient]
fn layer(weights: &Array2<f64>, input: &Array1<f64>) -> f64 {
    let hidden = (weights.dot(input) + 0.1).mapv(|x| x.tanh());
    let output = weights.t().dot(&hidden);
    let error = &output - input;
    (&error * &error).sum()
}

#[gradient]
fn relaxed(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut x = Array1::zeros(v.len());
    for _ in 0..4 {
        let residual = v - m.dot(&x);
        x = x + residual * 0.1;
    }
    let mut y = v.clone();
    for _ in 0..3 {
        y = m.dot(&y) * 0.2;
        y.scaled_add(0.5, v);
    }
    x.dot(&y)
}

#[gradient]
fn statistics(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mean = v.mean().unwrap();
    let variance = v.mapv(|x| (x - mean) * (x - mean)).sum() / v.len() as f64;
    let columns = m.sum_axis(Axis(0));
    let rows = m.sum_axis(Axis(1));
    variance + columns.dot(&rows) + m.mean().unwrap_or(0.0)
}

#[gradient]
fn through_views(m: ArrayView2<f64>, v: ArrayView1<f64>) -> f64 {
    m.dot(&v).sum() * v[0]
}

#[test]
fn views_with_strides() {
    let wide = Array2::from_shape_fn((3, 6), |(i, j)| {
        START[(i * 3 + j / 2) % 9] + if j % 2 == 0 { 0.0 } else { 9.0 }
    });
    let mut dwide = Array2::zeros((3, 6));
    let v = vector(&START);
    let mut dv = Array1::zeros(3);
    let value = through_views_grad(
        wide.slice(s![.., ..;2]),
        dwide.slice_mut(s![.., ..;2]),
        v.view(),
        dv.view_mut(),
        1.0,
    );
    let wanted = |x: &[f64]| through_views(matrix(x).view(), vector(x).view());
    assert!((value - wanted(&START)).abs() < 1e-12);
    let dm = dwide.slice(s![.., ..;2]).to_owned();
    close(&flat(&dm, &dv), &differences(&START, wanted));
    assert_eq!(dwide.slice(s![.., 1..;2]).sum(), 0.0);
}

#[test]
fn matrices_in_another_order() {
    let (m, v) = (matrix(&START), vector(&START));
    let (mut dm, mut dv) = (Array2::zeros((3, 3).f()), Array1::zeros(3));
    let mut turned = Array2::zeros((3, 3).f());
    turned.assign(&m);
    assert!(!turned.is_standard_layout());
    form_grad(&turned, &mut dm, &v, &mut dv, 1.0);
    close(&flat(&dm, &dv), &differences(&START, |x| form(&matrix(x), &vector(x))));
}

#[gradient]
fn in_place(v: &mut Array1<f64>, m: &Array2<f64>) -> f64 {
    for i in 0..v.len() {
        v[i] *= m[[i, i]];
    }
    *v += &m.row(0);
    v.sum()
}

#[gradient]
fn in_a_view(mut v: ArrayViewMut1<f64>, k: f64) {
    for x in v.iter_mut() {
        *x = k * *x * *x;
    }
}

#[test]
fn what_is_written_in_place() {
    let f = |x: &[f64]| {
        let mut v = vector(x);
        in_place(&mut v, &matrix(x)) + 2.0 * v[1]
    };
    let (mut v, mut dv, mut dm) = (vector(&START), array![0.0, 2.0, 0.0], Array2::zeros((3, 3)));
    in_place_grad(&mut v, &mut dv, &matrix(&START), &mut dm, 1.0);
    close(&flat(&dm, &dv), &differences(&START, f));

    let (mut v, mut dv) = (array![1.0, 2.0, 3.0, 4.0], array![1.0, 0.0, 5.0, 0.0]);
    let dk = in_a_view_grad(v.slice_mut(s![..;2]), dv.slice_mut(s![..;2]), 0.5);
    assert_eq!(v, array![0.5, 2.0, 4.5, 4.0]);
    assert_eq!(dv, array![1.0, 0.0, 15.0, 0.0]);
    assert_eq!(dk, 1.0 + 5.0 * 9.0);
}

#[differentiable]
#[allow(unreachable_pub)]
mod model {
    use ndarray::prelude::*;

    fn sigmoid(z: &Array1<f64>) -> Array1<f64> {
        z.mapv(|x| 1.0 / (1.0 + (-x).exp()))
    }

    #[gradient(wrt(weights))]
    pub fn loss(x: &Array2<f64>, y: &Array1<f64>, weights: &Array1<f64>) -> f64 {
        let p = sigmoid(&x.dot(weights));
        let mut sum = 0.0;
        for i in 0..y.len() {
            sum -= y[i] * p[i].ln() + (1.0 - y[i]) * (1.0 - p[i]).ln();
        }
        sum + 0.1 * weights.dot(weights)
    }
}

#[test]
fn a_logistic_regression() {
    let (x, y, w) = (matrix(&START), array![1.0, 0.0, 1.0], vector(&START));
    let mut dw = Array1::zeros(3);
    let value = model::loss_grad(&x, &y, &w, &mut dw, 1.0);
    assert!((value - model::loss(&x, &y, &w)).abs() < 1e-12);
    let f = |w: &[f64]| model::loss(&x, &y, &Array1::from_vec(w.to_vec()));
    close(&dw.to_vec(), &differences(&START[9..], f));
}

#[gradient]
fn single(v: &Array1<f32>, k: f32) -> f32 {
    (v * k + 1.0).mapv(|x| x * x).sum()
}

#[test]
fn single_precision() {
    let (v, mut dv) = (array![1.0_f32, 2.0], Array1::zeros(2));
    let (value, dk) = single_grad(&v, &mut dv, 0.5, 1.0);
    assert_eq!((value, dk), (1.5 * 1.5 + 4.0, 3.0 + 8.0));
    assert_eq!(dv, array![1.5, 2.0]);
}

#[gradient]
fn collected(v: &Array1<f64>) -> f64 {
    let a: Array1<f64> = v.iter().map(|x| x * x).collect();
    let b = v.iter().cloned().collect::<Array1<_>>();
    a.dot(&b)
}

#[test]
fn arrays_are_collected() {
    let (v, mut dv) = (array![1.0, 2.0], Array1::zeros(2));
    assert_eq!(collected_grad(&v, &mut dv, 1.0), 9.0);
    assert_eq!(dv, array![3.0, 12.0]);
}
