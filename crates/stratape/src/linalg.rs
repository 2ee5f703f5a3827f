//! Dense linear algebra on plain slices, with known derivatives: no triple loop is taped.
//!
//! Every function can be called inside a function under [`gradient`](macro@crate::gradient), where it calls a fast kernel in the forward and the backward pass. Matrices are
//! row-major: element `(i, j)` of one with `n` columns is `a[i * n + j]`. The functions here take `f64`; those of [`single`] take `f32`.
//!
//! ```
//! use stratape::{gradient, linalg};
//!
//! /// The logarithm of the likelihood of `y` under a Gaussian process, without its constant.
//! #[gradient]
//! fn likelihood(t: &[f64], y: &[f64], width: f64) -> f64 {
//!     let n = t.len();
//!     let mut k = vec![0.0; n * n];
//!     for i in 0..n {
//!         for j in 0..n {
//!             let d = (t[i] - t[j]) / width;
//!             k[i * n + j] = (-0.5 * d * d).exp();
//!         }
//!         k[i * n + i] += 0.01;
//!     }
//!     let (mut l, mut z) = (vec![0.0; n * n], vec![0.0; n]);
//!     linalg::cholesky(&k, &mut l, n);
//!     linalg::solve_lower(&l, y, &mut z, n);
//!     let mut sum = 0.0;
//!     for i in 0..n {
//!         sum -= 0.5 * z[i] * z[i] + l[i * n + i].ln();
//!     }
//!     sum
//! }
//!
//! let (t, y) = ([0.0, 0.4, 1.0, 1.7], [0.1, 0.5, 0.8, 0.2]);
//! let (mut dt, mut dy) = ([0.0; 4], [0.0; 4]);
//! let (value, dwidth) = likelihood_grad(&t, &mut dt, &y, &mut dy, 0.8, 1.0);
//! assert_eq!(value, likelihood(&t, &y, 0.8));
//! let difference = (likelihood(&t, &y, 0.8 + 1e-6) - likelihood(&t, &y, 0.8 - 1e-6)) / 2e-6;
//! assert!((dwidth - difference).abs() < 1e-6);
//! ```
//!
//! A singular matrix, or one that is not positive definite where it must be, gives infinities and NaN, like a division by zero. A
//! slice whose length does not match the dimensions panics, like an index out of bounds.

mod kernel;

macro_rules! functions {
    ($float:ident, $path:literal) => {
        /// The product of an `m` x `k` matrix with a `k` x `n` matrix: `c = a b`.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::matmul;")]
        ///
        /// let mut c = [0.0; 4];
        /// matmul(&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.0, 1.0, 1.0], &mut c, 2, 2, 2);
        /// assert_eq!(c, [3.0, 2.0, 7.0, 4.0]);
        /// ```
        pub fn matmul(a: &[$float], b: &[$float], c: &mut [$float], m: usize, k: usize, n: usize) {
            kernel::multiply(a, b, c, [m, k, n]);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = matmul)]
        #[allow(clippy::too_many_arguments, reason = "those of its function, and their shadows")]
        pub fn __matmul_back(
            a: &[$float],
            da: &mut [$float],
            b: &[$float],
            db: &mut [$float],
            _c: &mut [$float],
            dc: &mut [$float],
            m: usize,
            k: usize,
            n: usize,
        ) {
            kernel::multiply_back((a, da), (b, db), dc, [m, k, n]);
        }

        /// The product of an `m` x `n` matrix with a vector: `y = a x`.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::matvec;")]
        ///
        /// let mut y = [0.0; 2];
        /// matvec(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 0.0, -1.0], &mut y, 2, 3);
        /// assert_eq!(y, [-2.0, -2.0]);
        /// ```
        pub fn matvec(a: &[$float], x: &[$float], y: &mut [$float], m: usize, n: usize) {
            kernel::multiply(a, x, y, [m, n, 1]);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = matvec)]
        #[allow(clippy::too_many_arguments, reason = "those of its function, and their shadows")]
        pub fn __matvec_back(
            a: &[$float],
            da: &mut [$float],
            x: &[$float],
            dx: &mut [$float],
            _y: &mut [$float],
            dy: &mut [$float],
            m: usize,
            n: usize,
        ) {
            kernel::multiply_back((a, da), (x, dx), dy, [m, n, 1]);
        }

        /// Solves `a x = b` for an `n` x `n` matrix, by elimination with pivoting. `b` and `x` are vectors, or matrices of `n` rows.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::solve;")]
        ///
        /// let mut x = [0.0; 2];
        /// solve(&[2.0, 0.0, 1.0, 4.0], &[2.0, 9.0], &mut x, 2);
        /// assert_eq!(x, [1.0, 2.0]);
        /// ```
        pub fn solve(a: &[$float], b: &[$float], x: &mut [$float], n: usize) {
            kernel::solve(a, b, x, n);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = solve)]
        pub fn __solve_back(
            a: &[$float],
            da: &mut [$float],
            _b: &[$float],
            db: &mut [$float],
            x: &mut [$float],
            dx: &mut [$float],
            n: usize,
        ) {
            kernel::solve_back((a, da), db, (x, dx), n);
        }

        /// Solves `a x = b` for a symmetric positive definite matrix, of which the lower triangle is read, with half the work of `solve`.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::solve_spd;")]
        ///
        /// let mut x = [0.0; 2];
        /// // Elements above the diagonal are not read.
        /// solve_spd(&[4.0, -7.0, 2.0, 2.0], &[8.0, 6.0], &mut x, 2);
        /// assert!((x[0] - 1.0).abs() < 1e-5 && (x[1] - 2.0).abs() < 1e-5);
        /// ```
        pub fn solve_spd(a: &[$float], b: &[$float], x: &mut [$float], n: usize) {
            kernel::solve_spd(a, b, x, n);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = solve_spd)]
        pub fn __solve_spd_back(
            a: &[$float],
            da: &mut [$float],
            _b: &[$float],
            db: &mut [$float],
            x: &mut [$float],
            dx: &mut [$float],
            n: usize,
        ) {
            kernel::solve_spd_back((a, da), db, (x, dx), n);
        }

        /// Solves `l x = b` for a lower triangular matrix; elements above its diagonal are not read.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::solve_lower;")]
        ///
        /// let mut x = [0.0; 2];
        /// solve_lower(&[2.0, 9.0, 1.0, 4.0], &[2.0, 9.0], &mut x, 2);
        /// assert_eq!(x, [1.0, 2.0]);
        /// ```
        pub fn solve_lower(l: &[$float], b: &[$float], x: &mut [$float], n: usize) {
            kernel::solve_lower(l, b, x, n);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = solve_lower)]
        pub fn __solve_lower_back(
            l: &[$float],
            dl: &mut [$float],
            _b: &[$float],
            db: &mut [$float],
            x: &mut [$float],
            dx: &mut [$float],
            n: usize,
        ) {
            kernel::solve_lower_back((l, dl), db, (x, dx), n);
        }

        /// The lower triangular `l` with `l lᵀ = a`, for a symmetric positive definite matrix, of which the lower triangle is read. Above the
        /// diagonal, `l` is zero.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::cholesky;")]
        ///
        /// let mut l = [0.0; 4];
        /// cholesky(&[4.0, 2.0, 2.0, 5.0], &mut l, 2);
        /// assert_eq!(l, [2.0, 0.0, 1.0, 2.0]);
        /// ```
        pub fn cholesky(a: &[$float], l: &mut [$float], n: usize) {
            kernel::cholesky(a, l, n);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = cholesky)]
        pub fn __cholesky_back(
            _a: &[$float],
            da: &mut [$float],
            l: &mut [$float],
            dl: &mut [$float],
            n: usize,
        ) {
            kernel::cholesky_back(da, (l, dl), n);
        }

        /// The inverse of an `n` x `n` matrix. To solve equations, [`solve`] is faster and more accurate.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::inverse;")]
        ///
        /// let mut b = [0.0; 4];
        /// inverse(&[2.0, 0.0, 0.0, 4.0], &mut b, 2);
        /// assert_eq!(b, [0.5, 0.0, 0.0, 0.25]);
        /// ```
        pub fn inverse(a: &[$float], b: &mut [$float], n: usize) {
            kernel::inverse(a, b, n);
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = inverse)]
        pub fn __inverse_back(
            _a: &[$float],
            da: &mut [$float],
            b: &mut [$float],
            db: &mut [$float],
            n: usize,
        ) {
            kernel::inverse_back(da, (b, db), n);
        }

        /// The logarithm of the absolute value of the determinant of an `n` x `n` matrix.
        ///
        /// ```
        #[doc = concat!("use ", $path, "::logdet;")]
        ///
        /// let value = logdet(&[0.0, -2.0, 3.0, 1.0], 2);
        #[doc = concat!("assert!((value - 6.0_", stringify!($float), ".ln()).abs() < 1e-6);")]
        /// ```
        pub fn logdet(a: &[$float], n: usize) -> $float {
            kernel::logdet(a, n)
        }

        #[doc(hidden)]
        #[stratape_macros::pullback(of = logdet)]
        pub fn __logdet_back(a: &[$float], da: &mut [$float], n: usize, seed: $float) {
            kernel::logdet_back((a, da), n, seed);
        }
    };
}

functions!(f64, "stratape::linalg");

/// The same for `f32`.
///
/// ```
/// use stratape::{gradient, linalg::single};
///
/// #[gradient]
/// fn volume(a: &[f32]) -> f32 {
///     single::logdet(a, 2).exp()
/// }
///
/// let mut da = [0.0; 4];
/// assert!((volume_grad(&[3.0, 1.0, 1.0, 2.0], &mut da, 1.0) - 5.0).abs() < 1e-5);
/// assert!((da[0] - 2.0).abs() < 1e-5 && (da[1] + 1.0).abs() < 1e-5);
/// ```
pub mod single {
    use super::kernel;

    functions!(f32, "stratape::linalg::single");
}
