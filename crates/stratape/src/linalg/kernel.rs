//! The algebra itself, on row-major matrices, for both kinds of floats. Every product and every factorisation is `faer`'s.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{Llt, PartialPivLu, Solve};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

/// `f32` or `f64`.
pub(super) trait Real: RealField + Copy + std::ops::AddAssign + std::ops::SubAssign {
    const ZERO: Self;
    const ONE: Self;
    const HALF: Self;
    const NAN: Self;

    fn ln_abs(self) -> Self;
}

macro_rules! real {
    ($($float:ident)*) => {$(
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;
            const NAN: Self = Self::NAN;

            fn ln_abs(self) -> Self {
                self.abs().ln()
            }
        }
    )*};
}

real!(f32 f64);

/// A matrix of so many rows in a slice.
fn rows<'a, T>(what: &str, slice: &'a [T], rows: usize, columns: usize) -> MatRef<'a, T> {
    check(what, slice.len(), rows, columns);
    MatRef::from_row_major_slice(slice, rows, columns)
}

fn rows_mut<'a, T>(what: &str, slice: &'a mut [T], rows: usize, columns: usize) -> MatMut<'a, T> {
    check(what, slice.len(), rows, columns);
    MatMut::from_row_major_slice_mut(slice, rows, columns)
}

#[track_caller]
fn check(what: &str, len: usize, rows: usize, columns: usize) {
    assert!(
        Some(len) == rows.checked_mul(columns),
        "`{what}` has {len} elements, not the {rows} x {columns} that the dimensions say"
    );
}

/// The columns of a right-hand side.
fn columns(what: &str, len: usize, n: usize) -> usize {
    let columns = len.checked_div(n).unwrap_or(0);
    check(what, len, n, columns);
    columns
}

/// `c = a b`, or what is added to it.
fn product<T: Real>(c: MatMut<'_, T>, add: Accum, a: MatRef<'_, T>, b: MatRef<'_, T>, by: T) {
    matmul(c, add, a, b, by, Par::Seq);
}

pub(super) fn multiply<T: Real>(a: &[T], b: &[T], c: &mut [T], [m, k, n]: [usize; 3]) {
    let (a, b, c) = (rows("a", a, m, k), rows("b", b, k, n), rows_mut("c", c, m, n));
    product(c, Accum::Replace, a, b, T::ONE);
}

pub(super) fn multiply_back<T: Real>(
    (a, da): (&[T], &mut [T]),
    (b, db): (&[T], &mut [T]),
    dc: &mut [T],
    [m, k, n]: [usize; 3],
) {
    let (da, db) = (rows_mut("da", da, m, k), rows_mut("db", db, k, n));
    let seed = rows("dc", dc, m, n);
    product(da, Accum::Add, seed, rows("b", b, k, n).transpose(), T::ONE);
    product(db, Accum::Add, rows("a", a, m, k).transpose(), seed, T::ONE);
    dc.fill(T::ZERO);
}

pub(super) fn solve<T: Real>(a: &[T], b: &[T], x: &mut [T], n: usize) {
    let columns = columns("b", b.len(), n);
    check("x", x.len(), n, columns);
    x.copy_from_slice(b);
    PartialPivLu::new(rows("a", a, n, n)).solve_in_place(rows_mut("x", x, n, columns));
}

pub(super) fn solve_back<T: Real>(
    (a, da): (&[T], &mut [T]),
    db: &mut [T],
    (x, dx): (&[T], &mut [T]),
    n: usize,
) {
    let columns = columns("dx", dx.len(), n);
    PartialPivLu::new(rows("a", a, n, n)).solve_transpose_in_place(rows_mut("dx", dx, n, columns));
    let (left, x) = (rows("dx", dx, n, columns), rows("x", x, n, columns));
    product(rows_mut("da", da, n, n), Accum::Add, left, x.transpose(), -T::ONE);
    take(db, dx);
}

/// Adds one list to another and leaves zeros.
fn take<T: Real>(to: &mut [T], from: &mut [T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += std::mem::replace(from, T::ZERO);
    }
}

pub(super) fn solve_spd<T: Real>(a: &[T], b: &[T], x: &mut [T], n: usize) {
    let columns = columns("b", b.len(), n);
    check("x", x.len(), n, columns);
    x.copy_from_slice(b);
    match Llt::new(rows("a", a, n, n), Side::Lower) {
        Ok(factor) => factor.solve_in_place(rows_mut("x", x, n, columns)),
        Err(_) => x.fill(T::NAN),
    }
}

pub(super) fn solve_spd_back<T: Real>(
    (a, da): (&[T], &mut [T]),
    db: &mut [T],
    (x, dx): (&[T], &mut [T]),
    n: usize,
) {
    let columns = columns("dx", dx.len(), n);
    match Llt::new(rows("a", a, n, n), Side::Lower) {
        Ok(factor) => factor.solve_in_place(rows_mut("dx", dx, n, columns)),
        Err(_) => dx.fill(T::NAN),
    }
    let mut both = Mat::zeros(n, n);
    let (left, x) = (rows("dx", dx, n, columns), rows("x", x, n, columns));
    product(both.as_mut(), Accum::Replace, left, x.transpose(), -T::ONE);
    fold_lower(both.as_ref(), T::ONE, da, n);
    take(db, dx);
}

/// Adds the adjoint of a symmetric matrix to that of its lower triangle, which is all that is read of it.
fn fold_lower<T: Real>(both: MatRef<'_, T>, diagonal: T, da: &mut [T], n: usize) {
    check("da", da.len(), n, n);
    for i in 0..n {
        for j in 0..i {
            da[i * n + j] += both[(i, j)] + both[(j, i)];
        }
        da[i * n + i] += diagonal * both[(i, i)];
    }
}

pub(super) fn solve_lower<T: Real>(l: &[T], b: &[T], x: &mut [T], n: usize) {
    let columns = columns("b", b.len(), n);
    check("x", x.len(), n, columns);
    x.copy_from_slice(b);
    solve_lower_triangular_in_place(rows("l", l, n, n), rows_mut("x", x, n, columns), Par::Seq);
}

pub(super) fn solve_lower_back<T: Real>(
    (l, dl): (&[T], &mut [T]),
    db: &mut [T],
    (x, dx): (&[T], &mut [T]),
    n: usize,
) {
    let columns = columns("dx", dx.len(), n);
    let l = rows("l", l, n, n).transpose();
    solve_upper_triangular_in_place(l, rows_mut("dx", dx, n, columns), Par::Seq);
    let mut whole = Mat::zeros(n, n);
    let (left, x) = (rows("dx", dx, n, columns), rows("x", x, n, columns));
    product(whole.as_mut(), Accum::Replace, left, x.transpose(), -T::ONE);
    check("dl", dl.len(), n, n);
    for i in 0..n {
        for j in 0..=i {
            dl[i * n + j] += whole[(i, j)];
        }
    }
    take(db, dx);
}

pub(super) fn cholesky<T: Real>(a: &[T], l: &mut [T], n: usize) {
    check("l", l.len(), n, n);
    let Ok(factor) = Llt::new(rows("a", a, n, n), Side::Lower) else {
        l.fill(T::NAN);
        return;
    };
    for i in 0..n {
        for j in 0..n {
            l[i * n + j] = if j <= i { factor.L()[(i, j)] } else { T::ZERO };
        }
    }
}

/// With `P = phi(Lᵀ dL)`, the lower triangle with half its diagonal, the adjoint is `L⁻ᵀ P L⁻¹`, made symmetric.
pub(super) fn cholesky_back<T: Real>(da: &mut [T], (l, dl): (&[T], &mut [T]), n: usize) {
    let l = rows("l", l, n, n);
    // What is above the diagonal is zero whatever the matrix is.
    for i in 0..n {
        dl[i * n + i + 1..(i + 1) * n].fill(T::ZERO);
    }
    let mut inner = Mat::zeros(n, n);
    product(inner.as_mut(), Accum::Replace, l.transpose(), rows("dl", dl, n, n), T::ONE);
    for i in 0..n {
        for j in i + 1..n {
            inner[(i, j)] = T::ZERO;
        }
        let half = inner[(i, i)] * T::HALF;
        inner[(i, i)] = half;
    }
    solve_upper_triangular_in_place(l.transpose(), inner.as_mut(), Par::Seq);
    // X L = Y is Lᵀ Xᵀ = Yᵀ.
    solve_upper_triangular_in_place(l.transpose(), inner.as_mut().transpose_mut(), Par::Seq);
    fold_lower(inner.as_ref(), T::ONE, da, n);
    dl.fill(T::ZERO);
}

pub(super) fn inverse<T: Real>(a: &[T], b: &mut [T], n: usize) {
    check("b", b.len(), n, n);
    b.fill(T::ZERO);
    (0..n).for_each(|i| b[i * n + i] = T::ONE);
    PartialPivLu::new(rows("a", a, n, n)).solve_in_place(rows_mut("b", b, n, n));
}

pub(super) fn inverse_back<T: Real>(da: &mut [T], (b, db): (&[T], &mut [T]), n: usize) {
    let (b, mut half) = (rows("b", b, n, n).transpose(), Mat::zeros(n, n));
    product(half.as_mut(), Accum::Replace, b, rows("db", db, n, n), T::ONE);
    product(rows_mut("da", da, n, n), Accum::Add, half.as_ref(), b, -T::ONE);
    db.fill(T::ZERO);
}

pub(super) fn logdet<T: Real>(a: &[T], n: usize) -> T {
    let factor = PartialPivLu::new(rows("a", a, n, n));
    let mut sum = T::ZERO;
    (0..n).for_each(|i| sum += factor.U()[(i, i)].ln_abs());
    sum
}

pub(super) fn logdet_back<T: Real>((a, da): (&[T], &mut [T]), n: usize, seed: T) {
    let mut inverse = Mat::identity(n, n);
    PartialPivLu::new(rows("a", a, n, n)).solve_in_place(inverse.as_mut());
    check("da", da.len(), n, n);
    for i in 0..n {
        for j in 0..n {
            da[i * n + j] += seed * inverse[(j, i)];
        }
    }
}
