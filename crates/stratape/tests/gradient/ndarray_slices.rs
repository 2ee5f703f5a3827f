//! Slices of arrays of `ndarray` in differentiated code.

#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, reason = "the constructs under test")]

use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut2, Axis, NewAxis, s};
use stratape::{differentiable, gradient};

use crate::common::arrays::{START, close, differences, flat, matrix, vector};

of_arrays! {
    differences_of_neighbours: neighbours neighbours_grad;
    parts_of_vectors: vectors vectors_grad;
    steps_and_turns: stepped stepped_grad;
    parts_of_matrices: blocks blocks_grad;
    written_vectors: written written_grad;
    written_blocks: patched patched_grad;
    written_columns: columns columns_grad;
    numbers_of_other_types: counted counted_grad;
    one_more_axis: widened widened_grad;
}

#[gradient]
fn neighbours(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let d = &v.slice(s![1..]) - &v.slice(s![..-1]);
    let across = &m.slice(s![.., 1..]) - &m.slice(s![.., ..-1]);
    let down = &m.slice(s![1.., ..]) - &m.slice(s![..-1, ..]);
    (&d * &d).sum() + across.mapv(|x| x * x * x).sum() + (&down * &down).sum()
}

#[gradient]
fn vectors(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let w = v.slice(s![1..]);
    let n = v.len();
    let (a, b) = (v.slice(s![0..n - 1]), v.slice(s![-2..]));
    let none = v.slice(s![2..1]);
    w[0] * w[1]
        + a.dot(&b)
        + none.sum()
        + v.slice(s![..]).sum() * m[[0, 0]]
        + v.slice(s![1..=1]).sum()
        + v.slice(s![..=-2])[1]
}

#[gradient]
fn stepped(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let (a, b) = (v.slice(s![..;2]), v.slice(s![..;-1]));
    let c = m.slice(s![..;2, ..;-1]);
    let d = m.slice(s![..;-2, 1..;2]);
    a[0] * a[1]
        + b[0] * 3.0
        + b.dot(v)
        + c[[1, 0]] * c[[0, 2]]
        + d[[0, 0]] * d[[1, 0]]
        + c.dot(&b).sum()
}

#[gradient]
fn blocks(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let (i, n) = (1_usize, m.nrows());
    let row = m.slice(s![i, ..]);
    let column = m.slice(s![.., n - 1]);
    let inner = m.slice(s![0..2, 1..3]);
    let last = m.slice(s![-1, 1..]);
    let mut sum =
        row.dot(v) * column[0] + inner[[0, 0]] * inner[[1, 1]] - inner[[0, 1]] * inner[[1, 0]];
    for k in 0..n {
        sum += m.slice(s![k, ..]).dot(&m.slice(s![.., k]));
    }
    sum + last.sum().sin()
}

#[gradient]
fn written(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut w = v.clone();
    w.slice_mut(s![1..]).assign(&v.slice(s![..-1]));
    let mut u = Array1::<f64>::zeros(4);
    u.slice_mut(s![..3]).assign(v);
    let mut part = u.slice_mut(s![1..]);
    part += &w;
    part *= 2.0;
    part[0] *= m[[0, 1]];
    let mut odd = u.slice_mut(s![..;2]);
    odd -= &m.slice(s![0, ..2]);
    odd += 0.5;
    odd.mapv_inplace(|x| x * x);
    u.slice_mut(s![3..]).fill(v[0] * v[1]);
    for x in u.slice_mut(s![..2]).iter_mut() {
        *x = x.sin();
    }
    u.dot(&u) + w.sum()
}

#[gradient]
fn patched(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut a = Array2::<f64>::zeros((4, 5));
    a.slice_mut(s![..3, 1..4]).assign(m);
    a.slice_mut(s![1.., ..2]).fill(v[1]);
    let mut block = a.slice_mut(s![1..3, 1..;2]);
    block *= &m.slice(s![..2, ..2]);
    block += v[0];
    block[[1, 1]] -= m[[2, 2]];
    a.slice_mut(s![..2, 2..]).assign(v);
    a.slice_mut(s![2, ..3]).scaled_add(2.0, v);
    let mut corner = a.slice_mut(s![2.., 3..]);
    corner += &v.slice(s![1..]);
    (&a * &a).sum()
}

#[gradient]
fn columns(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut a = m.clone();
    a.slice_mut(s![.., 1]).assign(v);
    a.column_mut(0).mapv_inplace(|x| x * x);
    let mut last = a.column_mut(2);
    last *= &v.view();
    last /= 2.0;
    for mut column in a.columns_mut() {
        column[0] += v[2];
        column += &m.row(1);
    }
    for (mut lane, x) in a.axis_iter_mut(Axis(1)).zip(v.iter()) {
        lane *= *x;
    }
    a.diag_mut().fill(v[1]);
    a.mapv(f64::sin).sum() + a.column(0).dot(&a.column(2))
}

#[gradient]
fn counted(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let (from, back): (isize, i32) = (-2, -1);
    let k: i32 = 1;
    v.slice(s![from..]).sum() * v.slice(s![..back])[1] + m.slice(s![k.., back]).sum()
}

#[gradient]
fn widened(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let column = v.slice(s![.., NewAxis]);
    let row = v.slice(s![NewAxis, ..]);
    (m * &column).sum()
        + (m - &row).mapv(|x| x * x).sum()
        + (&column - &row).mapv(|x| x.cos()).sum()
}

#[gradient]
fn smoothed(mut grid: ArrayViewMut2<f64>, weights: ArrayView1<f64>) -> f64 {
    let next = &grid.slice(s![1..-1, ..-2]) * weights[0]
        + &grid.slice(s![1..-1, 2..]) * weights[1]
        + &grid.slice(s![..-2, 1..-1]) * weights[2]
        + &grid.slice(s![2.., 1..-1]);
    grid.slice_mut(s![1..-1, 1..-1]).assign(&next);
    grid.sum()
}

#[test]
fn a_stencil_on_a_view() {
    let grid =
        |x: &[f64]| Array2::from_shape_fn((4, 5), |(i, j)| x[(i * 5 + j) % 9] + (i * j) as f64);
    let f = |x: &[f64]| smoothed(grid(x).view_mut(), vector(x).view());
    let (mut g, mut dg) = (grid(&START), Array2::zeros((4, 5)));
    let (v, mut dv) = (vector(&START), Array1::zeros(3));
    let value = smoothed_grad(g.view_mut(), dg.view_mut(), v.view(), dv.view_mut(), 1.0);
    assert!((value - f(&START)).abs() < 1e-12);
    let mut dx = [0.0; 12];
    for ((i, j), d) in dg.indexed_iter() {
        dx[(i * 5 + j) % 9] += d;
    }
    dx[9..].copy_from_slice(dv.as_slice().unwrap());
    close(&dx, &differences(&START, f));
}

#[differentiable]
#[allow(unreachable_pub)]
mod heat {
    use ndarray::{self as nd, prelude::*};

    fn step(u: &Array1<f32>, rate: f32) -> Array1<f32> {
        let mut next = u.clone();
        let second =
            &u.slice(nd::s![2..]) - &(&u.slice(nd::s![1..-1]) * 2.0) + &u.slice(nd::s![..-2]);
        next.slice_mut(s![1..-1]).scaled_add(rate, &second);
        next
    }

    #[gradient]
    pub fn energy(u: &Array1<f32>, rate: f32) -> f32 {
        let mut u = u.to_owned();
        for _ in 0..3 {
            u = step(&u, rate);
        }
        u.dot(&u)
    }
}

#[test]
fn single_precision_in_a_module() {
    let u = Array1::from_vec(vec![1.0_f32, 2.0, 0.5, -1.0, 0.25]);
    let mut du = Array1::zeros(5);
    let (value, drate) = heat::energy_grad(&u, &mut du, 0.25, 1.0);
    assert!((value - heat::energy(&u, 0.25)).abs() < 1e-5);
    let by = |i: usize, step: f32| {
        let mut u = u.clone();
        u[i] += step;
        heat::energy(&u, 0.25)
    };
    for i in 0..5 {
        let wanted = (by(i, 1e-2) - by(i, -1e-2)) / 2e-2;
        assert!((du[i] - wanted).abs() < 2e-3, "{i}: {} is not {wanted}", du[i]);
    }
    let wanted = (heat::energy(&u, 0.26) - heat::energy(&u, 0.24)) / 0.02;
    assert!((drate - wanted).abs() < 2e-2, "{drate} is not {wanted}");
}

#[test]
#[should_panic(expected = "ndarray: slice out of bounds")]
fn a_slice_past_the_end() {
    #[gradient]
    fn past(v: &Array1<f64>, n: usize) -> f64 {
        v.slice(s![..n]).sum()
    }
    let (v, mut dv) = (vector(&START), Array1::zeros(3));
    past_grad(&v, &mut dv, 4, 1.0);
}
