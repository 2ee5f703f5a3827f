//! Vectors and matrices of `nalgebra` in differentiated code.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the constructs under test"
)]

use nalgebra::{
    DMatrix, DVector, Matrix2, Matrix2x3, Matrix3, Matrix4, Point3, SMatrix, SVector, Vector2,
    Vector3, Vector4,
};
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

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let scale = 1.0_f64.max(wanted.abs());
        assert!((found - wanted).abs() < 1e-6 * scale, "{at}: {found} is not {wanted}");
    }
}

const START: [f64; 16] =
    [2.7, -0.4, 0.3, 0.6, 0.8, 3.5, -0.2, 0.9, 0.1, -0.7, 2.4, 0.35, 0.25, 0.45, -0.55, 3.1];

/// A function of one matrix or vector.
macro_rules! of_one {
    ($($test:ident: $f:ident $grad:ident $ty:ty;)*) => { $(
        #[test]
        fn $test() {
            let of = |x: &[f64]| <$ty>::from_column_slice(x);
            let n = <$ty>::zeros().len();
            let m = of(&START[..n]);
            let mut d = <$ty>::zeros();
            let value = $grad(&m, &mut d, 1.0);
            assert!((value - $f(&m)).abs() <= 1e-13 * value.abs().max(1.0), "{value} is not {}", $f(&m));
            close(d.as_slice(), &differences(&START[..n], |x| $f(&of(x))));
        }
    )* };
}

of_one! {
    operators_on_vectors: vectors vectors_grad Vector3<f64>;
    fields_of_vectors: fields fields_grad Vector4<f64>;
    products_of_matrices: products products_grad Matrix3<f64>;
    rectangular_products: rectangular rectangular_grad Matrix2x3<f64>;
    elements_one_by_one: elementwise elementwise_grad Matrix2<f64>;
    iterators_over_vectors: iterated iterated_grad Vector3<f64>;
    rows_and_columns: parts parts_grad Matrix3<f64>;
    determinants_of_2: det2 det2_grad Matrix2<f64>;
    determinants_of_3: det3 det3_grad Matrix3<f64>;
    determinants_of_4: det4 det4_grad Matrix4<f64>;
    inverses_of_2: inverse2 inverse2_grad Matrix2<f64>;
    inverses_of_3: inverse3 inverse3_grad Matrix3<f64>;
    inverses_of_4: inverse4 inverse4_grad Matrix4<f64>;
    cholesky_factors: cholesky cholesky_grad Matrix3<f64>;
    lu_factors: lu lu_grad Matrix3<f64>;
    constructors: made made_grad Vector3<f64>;
    sizes_as_parameters: sized sized_grad SMatrix<f64, 2, 2>;
    largest_and_smallest: extremes extremes_grad Matrix2<f64>;
    steps_in_a_loop: steps steps_grad Vector2<f64>;
}

#[gradient]
fn vectors(v: &Vector3<f64>) -> f64 {
    let w = Vector3::new(1.0, -2.0, 0.5);
    let mut s = v + w - 2.0 * v.cross(&w) + v * 3.0 / 4.0;
    s += w;
    s -= v * 0.1;
    s *= 1.5;
    s /= 2.5;
    let n = -s.normalize();
    n.dot(v) + s.norm() * v.norm_squared() + (v - w).norm()
}

#[gradient]
fn fields(v: &Vector4<f64>) -> f64 {
    let mut u = *v;
    u.x *= v.y;
    u[2] += v[3] * v.w;
    u.x * u.z + v.z.sin() + (v * 2.0).y
}

#[gradient]
fn products(m: &Matrix3<f64>) -> f64 {
    let v = Vector3::new(m.m11, m[(1, 2)], 1.0);
    let a = m * m.transpose() + Matrix3::identity() * 2.0;
    let b = a * v;
    (v.transpose() * a * b)[(0, 0)] + (m * a).trace() + v.dot(&(m * v))
}

#[gradient]
fn rectangular(m: &Matrix2x3<f64>) -> f64 {
    let square = m * m.transpose();
    let other = m.transpose() * m;
    square.determinant()
        + other.trace()
        + m.tr_mul(m)[(0, 1)]
        + (m.nrows() * m.ncols()) as f64 * m.sum()
}

#[gradient]
fn elementwise(m: &Matrix2<f64>) -> f64 {
    let a = m.map(|x| x.sin() + 2.0);
    let b = m.component_mul(&a).component_div(&(a.add_scalar(1.0)));
    let c = m.zip_map(&b, |x, y| x * y * y);
    let mut d = c.abs();
    d.apply(|x| *x *= 2.0);
    d.fill(d[(0, 0)]);
    c.sum() + d.mean() + m.fold(1.0, |s, x| s * 0.5 + x)
}

#[gradient]
fn iterated(v: &Vector3<f64>) -> f64 {
    let mut w = v.clone();
    for (i, x) in w.iter_mut().enumerate() {
        *x *= 1.0 + i as f64;
    }
    let squares: f64 = v.iter().map(|x| x * x).sum();
    let dot: f64 = v.iter().zip(w.iter()).map(|(a, b)| a * b).sum();
    squares * dot + w.iter().rev().fold(0.0, |s, x| 0.5 * s + x)
}

#[gradient]
fn parts(m: &Matrix3<f64>) -> f64 {
    let mut a = *m;
    a.set_column(1, &(m.column(0) * 2.0));
    a.set_row(2, &m.row(0));
    let corner = m.fixed_view::<2, 2>(0, 1);
    let mut sum = corner.determinant();
    for row in m.row_iter() {
        sum += row.norm();
    }
    for column in a.column_iter() {
        sum += column.dot(&m.column(1));
    }
    sum + a.diagonal().sum()
}

#[gradient]
fn det2(m: &Matrix2<f64>) -> f64 {
    m.determinant().ln()
}

#[gradient]
fn det3(m: &Matrix3<f64>) -> f64 {
    m.determinant()
}

#[gradient]
fn det4(m: &Matrix4<f64>) -> f64 {
    m.determinant()
}

#[gradient]
fn inverse2(m: &Matrix2<f64>) -> f64 {
    let inverse = m.try_inverse().unwrap();
    inverse.norm_squared() + inverse[(0, 1)]
}

#[gradient]
fn inverse3(m: &Matrix3<f64>) -> f64 {
    match m.try_inverse() {
        Some(inverse) => (inverse * Vector3::new(1.0, 2.0, 3.0)).norm(),
        None => 0.0,
    }
}

#[gradient]
fn inverse4(m: &Matrix4<f64>) -> f64 {
    let inverse = m.try_inverse().expect("not singular");
    inverse.component_mul(m).sum() + inverse.trace()
}

#[gradient]
fn cholesky(m: &Matrix3<f64>) -> f64 {
    let a = m * m.transpose();
    let factor = a.cholesky().unwrap();
    let x = factor.solve(&Vector3::new(1.0, m[(0, 0)], -1.0));
    x.norm_squared() + factor.l()[(2, 1)] + factor.determinant()
}

#[gradient]
fn lu(m: &Matrix3<f64>) -> f64 {
    let b = Vector3::new(1.0, m.m12, 2.0);
    let x = m.lu().solve(&b).unwrap();
    x.dot(&b)
}

#[gradient]
fn made(v: &Vector3<f64>) -> f64 {
    let a = Matrix3::from_fn(|i, j| v[i] * (j as f64 + 1.0));
    let b = Matrix3::from_row_slice(&[v.x, 1.0, 0.0, 0.0, v.y, 2.0, 3.0, 0.0, v.z]);
    let c = Matrix3::from_diagonal(v) + Matrix3::from_element(v.x) + Matrix3::zeros();
    let d = Matrix3::from_columns(&[*v, v * 2.0, a * v]);
    let e = Matrix2::new(v.x, v.y, v.z, 1.0);
    (a * b * c).sum() + d.norm_squared() + e.determinant() + SVector::<f64, 3>::repeat(v.x).sum()
}

#[gradient]
fn sized(m: &SMatrix<f64, 2, 2>) -> f64 {
    let v: SVector<f64, 2> = m * SVector::<f64, 2>::from_column_slice(&[1.0, 3.0]);
    v.norm()
}

#[gradient]
fn extremes(m: &Matrix2<f64>) -> f64 {
    m.max() * m.min() + m.amax() + 2.0 * m.amin()
}

#[gradient]
fn steps(start: &Vector2<f64>) -> f64 {
    let turn = Matrix2::new(0.9, -0.2, 0.3, 0.8);
    let mut v = *start;
    let mut energy = 0.0;
    for _ in 0..5 {
        v = turn * v + start * 0.1;
        energy += v.norm_squared();
    }
    energy
}

#[gradient]
fn potential(points: &[Vector3<f64>], masses: &[f64], stiffness: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..points.len() {
        for j in 0..i {
            let d = points[i] - points[j];
            sum -= masses[i] * masses[j] / (d.norm_squared() + 0.01).sqrt();
        }
        sum += stiffness * points[i].dot(&points[i]);
    }
    let center: Vector3<f64> = points.iter().sum();
    sum + center.norm()
}

#[test]
fn lists_of_vectors() {
    let points = |x: &[f64]| -> Vec<Vector3<f64>> {
        x.chunks_exact(3).map(Vector3::from_column_slice).collect()
    };
    let masses = [1.0, 2.0, 0.5];
    let x = &START[..9];
    let (mut d, mut dm) = (vec![Vector3::zeros(); 3], [0.0; 3]);
    let (value, dk) = potential_grad(&points(x), &mut d, &masses, &mut dm, 0.7, 1.0);
    assert!((value - potential(&points(x), &masses, 0.7)).abs() < 1e-12);
    let found: Vec<f64> = d.iter().flat_map(|d| d.iter().copied().collect::<Vec<_>>()).collect();
    close(&found, &differences(x, |x| potential(&points(x), &masses, 0.7)));
    close(&dm, &differences(&masses, |m| potential(&points(x), m, 0.7)));
    close(&[dk], &differences(&[0.7], |k| potential(&points(x), &masses, k[0])));
}

#[gradient]
fn local_lists(x: &[f64], n: usize) -> f64 {
    let mut all = vec![Vector2::zeros(); n];
    for i in 0..n {
        all[i] = Vector2::new(x[i], x[(i + 1) % n]);
        all[i].x += 0.5 * x[0];
    }
    let turned: Vec<Vector2<f64>> =
        all.iter().map(|v| Matrix2::new(0.0, -1.0, 1.0, x[1]) * v).collect();
    let table = [turned[0], all[1]];
    table[0].dot(&table[1]) + turned[2].norm()
}

#[test]
fn lists_of_vectors_inside() {
    let (x, mut dx) = (&START[..4], [0.0; 4]);
    local_lists_grad(x, &mut dx, 4, 1.0);
    close(&dx, &differences(x, |x| local_lists(x, 4)));
}

#[gradient]
fn by_value(m: Matrix2<f64>, v: Vector2<f64>, k: f64) -> f64 {
    (m * v * k).norm_squared()
}

#[test]
fn adjoints_of_values_come_back_in_their_type() {
    let f = |x: &[f64]| {
        by_value(Matrix2::from_column_slice(&x[..4]), Vector2::from_column_slice(&x[4..6]), x[6])
    };
    let x = &START[..7];
    let (_, dm, dv, dk) = by_value_grad(
        Matrix2::from_column_slice(&x[..4]),
        Vector2::from_column_slice(&x[4..6]),
        x[6],
        1.0,
    );
    let found = [dm.as_slice(), dv.as_slice(), &[dk]].concat();
    close(&found, &differences(x, f));
}

#[gradient]
fn advance(state: &mut Vector3<f64>, m: &Matrix3<f64>, steps: usize) {
    for _ in 0..steps {
        *state = m * *state + Vector3::new(0.1, 0.0, 0.0);
        state.y *= 0.5;
    }
}

#[test]
fn what_is_written_in_place() {
    let f = |x: &[f64]| {
        let mut state = Vector3::from_column_slice(&x[..3]);
        advance(&mut state, &Matrix3::from_column_slice(&x[3..12]), 3);
        state.x + 2.0 * state.z
    };
    let mut state = Vector3::from_column_slice(&START[..3]);
    let (mut seed, mut dm) = (Vector3::new(1.0, 0.0, 2.0), Matrix3::zeros());
    advance_grad(&mut state, &mut seed, &Matrix3::from_column_slice(&START[3..12]), &mut dm, 3);
    close(&[seed.as_slice(), dm.as_slice()].concat(), &differences(&START[..12], f));
}

#[gradient]
fn points(a: &Point3<f64>, b: &Point3<f64>) -> f64 {
    let middle = a + (b - a) * 0.25;
    let moved = Point3::new(middle.x, a.y * b.z, 1.0) - Vector3::new(0.0, a.x, b[1]);
    nalgebra::distance(&middle, &moved) + moved.coords.norm_squared()
}

#[test]
fn points_and_distances() {
    let f = |x: &[f64]| points(&Point3::new(x[0], x[1], x[2]), &Point3::new(x[3], x[4], x[5]));
    let x = &START[..6];
    let (mut da, mut db) = (Point3::origin(), Point3::origin());
    points_grad(
        &Point3::new(x[0], x[1], x[2]),
        &mut da,
        &Point3::new(x[3], x[4], x[5]),
        &mut db,
        1.0,
    );
    close(&[da.coords.as_slice(), db.coords.as_slice()].concat(), &differences(x, f));
}

#[gradient]
fn single(v: &Vector3<f32>, k: f32) -> f32 {
    let m = Matrix3::<f32>::identity() * k;
    (m * v + Vector3::new(1.0, k, 0.0)).norm()
}

#[test]
fn single_precision() {
    let (v, mut dv) = (Vector3::new(0.7_f32, -0.4, 0.3), Vector3::zeros());
    let (value, dk) = single_grad(&v, &mut dv, 0.9, 1.0);
    assert!((value - single(&v, 0.9)).abs() < 1e-6);
    let wide =
        |x: &[f64]| (Vector3::new(x[0], x[1], x[2]) * x[3] + Vector3::new(1.0, x[3], 0.0)).norm();
    let wanted = differences(&[0.7, -0.4, 0.3, 0.9], wide);
    for (found, wanted) in dv.iter().chain([&dk]).zip(&wanted) {
        assert!((f64::from(*found) - wanted).abs() < 1e-4, "{found} is not {wanted}");
    }
}

#[differentiable]
#[allow(unreachable_pub)]
mod body {
    use nalgebra as na;

    pub struct Body {
        pub position: na::Vector3<f64>,
        pub inertia: na::Matrix3<f64>,
        pub mass: f64,
    }

    impl Body {
        fn momentum(&self, velocity: &na::Vector3<f64>) -> na::Vector3<f64> {
            self.position.cross(velocity) * self.mass + self.inertia * velocity
        }
    }

    #[gradient]
    pub fn energy(body: &Body, velocity: na::Vector3<f64>) -> f64 {
        0.5 * velocity.dot(&body.momentum(&velocity))
    }
}

#[test]
fn fields_of_structs() {
    use body::{Body, energy, energy_grad};
    let of = |x: &[f64]| Body {
        position: Vector3::from_column_slice(&x[..3]),
        inertia: Matrix3::from_column_slice(&x[3..12]),
        mass: x[12],
    };
    let v = Vector3::new(0.3, -0.2, 0.9);
    let mut d = of(&[0.0; 13]);
    let (_, dv) = energy_grad(&of(&START), &mut d, v, 1.0);
    let found = [d.position.as_slice(), d.inertia.as_slice(), &[d.mass]].concat();
    close(&found, &differences(&START[..13], |x| energy(&of(x), v)));
    close(
        dv.as_slice(),
        &differences(v.as_slice(), |v| energy(&of(&START), Vector3::from_column_slice(v))),
    );
}

/// A function of a square matrix and a vector whose sizes are not in their types.
macro_rules! of_dynamic {
    ($($test:ident: $f:ident $grad:ident;)*) => { $(
        #[test]
        fn $test() {
            let matrix = |x: &[f64]| DMatrix::from_column_slice(3, 3, &x[..9]);
            let vector = |x: &[f64]| DVector::from_column_slice(&x[9..12]);
            let (mut dm, mut dv) = (DMatrix::zeros(3, 3), DVector::zeros(3));
            let value = $grad(&matrix(&START), &mut dm, &vector(&START), &mut dv, 1.0);
            let wanted = $f(&matrix(&START), &vector(&START));
            assert!((value - wanted).abs() <= 1e-13 * value.abs().max(1.0), "{value} is not {wanted}");
            let found = [dm.as_slice(), dv.as_slice()].concat();
            close(&found, &differences(&START[..12], |x| $f(&matrix(x), &vector(x))));
        }
    )* };
}

of_dynamic! {
    dynamic_products: form form_grad;
    dynamic_operators: combined combined_grad;
    dynamic_elements: dynamic_elementwise dynamic_elementwise_grad;
    dynamic_solutions: solved solved_grad;
    dynamic_steps: relaxed relaxed_grad;
    dynamic_constructors: built built_grad;
}

#[gradient]
fn form(m: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    let w = m * v;
    v.dot(&w) + (m * m.transpose()).trace() + (v.transpose() * m * v)[(0, 0)] + w.norm()
}

#[gradient]
fn combined(m: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    let mut s = v + v * 2.0 - 0.5 * v / 3.0;
    s += v;
    s -= &(m * v);
    s *= 1.5;
    let a = -m + DMatrix::identity(3, 3) * s[0];
    let b = &a * &a - m;
    b.sum() + s.norm_squared() + b[(1, 2)] + a.determinant()
}

#[gradient]
fn dynamic_elementwise(m: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    let a = m.map(|x| x.sin());
    let b = a.component_mul(m).zip_map(&a, |x, y| x + y * y);
    let mut w = v.clone();
    for i in 0..w.len() {
        w[i] += b[(i, 0)] * v[i];
    }
    for x in w.iter_mut() {
        *x *= 0.5;
    }
    let total: f64 = w.iter().zip(v.iter()).map(|(a, b)| a * b).sum();
    total + b.mean() + w.max() - w.min() + v.amax() + m.column(1).dot(v) + m.row(2).sum()
}

#[gradient]
fn solved(m: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    let a = m * m.transpose() + DMatrix::identity(m.nrows(), m.ncols());
    let factor = a.cholesky().unwrap();
    let x = factor.solve(v);
    let y = m.clone().lu().solve(&x).unwrap();
    x.norm() + y.dot(v) + factor.ln_determinant()
}

#[gradient]
fn relaxed(m: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    let mut x = DVector::zeros(v.len());
    for _ in 0..4 {
        let residual = v - m * &x;
        x += residual * 0.1;
    }
    let mut y = v.clone();
    for _ in 0..3 {
        y = m * &y * 0.2;
    }
    x.norm_squared() + y.norm()
}

#[gradient]
fn built(m: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    let n = v.len();
    let a = DMatrix::from_fn(n, n, |i, j| v[i] * v[j]) + DMatrix::from_diagonal(v);
    let b = DVector::from_vec(vec![v[0], m[(0, 1)], 2.0]) + DVector::from_element(n, v[1]);
    let c = DVector::from_fn(n, |i, _| (i as f64 + 1.0) * v[i]);
    let d = DMatrix::from_row_slice(1, 3, &[v[2], 1.0, m[(2, 2)]]);
    (a * &b).dot(&c) + (d * b)[(0, 0)]
}

#[gradient]
fn dynamic_in_place(v: &mut DVector<f64>, m: &DMatrix<f64>) -> f64 {
    for i in 0..v.len() {
        v[i] *= m[(i, i)];
    }
    *v = m * &*v;
    v.sum()
}

#[test]
fn dynamic_vectors_written_in_place() {
    let run = |x: &[f64], v: &mut DVector<f64>| {
        dynamic_in_place(v, &DMatrix::from_column_slice(3, 3, &x[..9]))
    };
    let f = |x: &[f64]| {
        let mut v = DVector::from_column_slice(&x[9..12]);
        run(x, &mut v) + v[1] * 2.0
    };
    let mut v = DVector::from_column_slice(&START[9..12]);
    let mut dv = DVector::from_column_slice(&[0.0, 2.0, 0.0]);
    let mut dm = DMatrix::zeros(3, 3);
    dynamic_in_place_grad(
        &mut v,
        &mut dv,
        &DMatrix::from_column_slice(3, 3, &START[..9]),
        &mut dm,
        1.0,
    );
    close(&[dm.as_slice(), dv.as_slice()].concat(), &differences(&START[..12], f));
    let mut same = DVector::from_column_slice(&START[9..12]);
    run(&START, &mut same);
    assert!((v - same).norm() < 1e-14);
}
