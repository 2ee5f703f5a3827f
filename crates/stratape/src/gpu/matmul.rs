//! Products of matrices.
//!
//! Where the device has cuBLAS, it computes them; otherwise a kernel does, which keeps a tile of both factors in shared memory.

use stratape_cuda::__private::{BlasProduct, blas_product, unwritten};
use stratape_cuda::{Buffer, Device, GpuError, Grid};

use super::real::{Launched, Real, length, texts, together};

/// The side of a tile.
const SIDE: usize = 16;

/// The product, its factors, rows, inner extent, columns, whether each factor is transposed, the scale, add.
type Product<'a, T> =
    (&'a mut Buffer<T>, &'a Buffer<T>, &'a Buffer<T>, usize, usize, usize, bool, bool, T, bool);

/// The kernel of products, for a type of numbers.
pub trait Kernels: Sized {
    fn product(gpu: &Device, grid: &Grid, args: Product<'_, Self>) -> Launched;
}

macro_rules! kernels {
    ($($real:ident $module:ident),*) => {$(
        mod $module {
            #[stratape::kernel]
            pub(super) fn product(
                c: &mut [$real],
                a: &[$real],
                b: &[$real],
                m: usize,
                k: usize,
                n: usize,
                flip_a: bool,
                flip_b: bool,
                alpha: $real,
                add: bool,
            ) {
                let mut left = shared::<[[$real; 16]; 16]>();
                let mut right = shared::<[[$real; 16]; 16]>();
                let (x, y) = (thread_idx().x, thread_idx().y);
                let across = n.div_ceil(16);
                let column = block_idx().x % across * 16 + x;
                let row = block_idx().x / across * 16 + y;
                let mut sum = 0.0;
                for step in 0..k.div_ceil(16) {
                    let (p, q) = (step * 16 + x, step * 16 + y);
                    left[y][x] = 0.0;
                    if row < m && p < k {
                        left[y][x] = a[if flip_a { p * m + row } else { row * k + p }];
                    }
                    right[y][x] = 0.0;
                    if q < k && column < n {
                        right[y][x] = b[if flip_b { column * k + q } else { q * n + column }];
                    }
                    sync_threads();
                    for j in 0..16 {
                        sum += left[y][j] * right[j][x];
                    }
                    sync_threads();
                }
                if row < m && column < n {
                    if add {
                        c[row * n + column] += alpha * sum;
                    } else {
                        c[row * n + column] = alpha * sum;
                    }
                }
            }
        }

        impl Kernels for $real {
            fn product(gpu: &Device, grid: &Grid, args: Product<'_, Self>) -> Launched {
                $module::product::launch(gpu, grid, args)
            }
        }
    )*};
}
kernels!(f64 in_f64, f32 in_f32);

/// A product of two matrices with all that may be asked of it: factors that lie transposed, a number to scale it with, a result that is added to.
///
/// Matrices lie row by row. With extents (m, k, n) the left factor has m rows and k columns, the right one k rows and n columns.
///
/// ```
/// use stratape::gpu::{Device, Matmul, matmul};
///
/// let gpu = Device::new()?;
/// let (a, b) = (gpu.upload(&[1.0, 2.0, 3.0, 4.0])?, gpu.upload(&[1.0, 0.0, 1.0, 1.0])?);
/// let c = matmul(&a, &b, (2, 2, 2))?;
/// assert_eq!(c.download()?, [3.0, 2.0, 7.0, 4.0]);
///
/// // The loss is the sum of the squares of C: dA += 2·C·Bᵀ.
/// let mut da = gpu.zeros(4)?;
/// Matmul::new((2, 2, 2)).right_transposed().scaled(2.0).run_adding(&c, &b, &mut da)?;
/// assert_eq!(da.download()?, [6.0, 10.0, 14.0, 22.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a product is computed by `run`"]
pub struct Matmul<T> {
    extents: (usize, usize, usize),
    transposed: (bool, bool),
    alpha: T,
}

impl<T: Real> Matmul<T> {
    /// The product of a matrix of m rows and k columns, and one of k rows and n columns.
    ///
    /// See [`Matmul`] for an example.
    pub fn new(extents: (usize, usize, usize)) -> Self {
        Self { extents, transposed: (false, false), alpha: T::ONE }
    }

    /// The left factor lies column by column: its buffer holds k rows of m numbers.
    ///
    /// ```
    /// use stratape::gpu::{Device, Matmul};
    ///
    /// let gpu = Device::emulator();
    /// let (a, b) = (gpu.upload(&[1.0, 3.0, 2.0, 4.0])?, gpu.upload(&[1.0, 10.0])?);
    /// let c = Matmul::new((2, 2, 1)).left_transposed().run(&a, &b)?;
    /// assert_eq!(c.download()?, [21.0, 43.0]);
    /// # Ok::<(), stratape::gpu::GpuError>(())
    /// ```
    pub fn left_transposed(mut self) -> Self {
        self.transposed.0 = true;
        self
    }

    /// The right factor lies column by column: its buffer holds n rows of k numbers.
    ///
    /// See [`Matmul`] for an example.
    pub fn right_transposed(mut self) -> Self {
        self.transposed.1 = true;
        self
    }

    /// The product is multiplied with a number.
    ///
    /// See [`Matmul`] for an example.
    pub fn scaled(mut self, alpha: T) -> Self {
        self.alpha = alpha;
        self
    }

    /// The product.
    ///
    /// See [`Matmul::left_transposed`] for an example.
    ///
    /// # Errors
    /// If the lengths of the buffers are not those of the extents, if their devices differ, if device memory is exhausted, or the device fails.
    pub fn run(&self, a: &Buffer<T>, b: &Buffer<T>) -> Result<Buffer<T>, GpuError> {
        let (m, _, n) = self.extents;
        self.check(a, b)?;
        let mut c = unwritten(&a.device(), area(m, n))?;
        self.product(&mut c, a, b, false)?;
        Ok(c)
    }

    /// Adds the product to what `c` holds.
    ///
    /// See [`Matmul`] for an example.
    ///
    /// # Errors
    /// If the lengths of the buffers are not those of the extents, if their devices differ, or if the device fails.
    pub fn run_adding(
        &self,
        a: &Buffer<T>,
        b: &Buffer<T>,
        c: &mut Buffer<T>,
    ) -> Result<(), GpuError> {
        let (m, _, n) = self.extents;
        self.check(a, b)?;
        length("the product", c, area(m, n))?;
        together("the product", a, c)?;
        self.product(c, a, b, true)
    }

    fn check(&self, a: &Buffer<T>, b: &Buffer<T>) -> Result<(), GpuError> {
        let (m, k, n) = self.extents;
        length("the left factor", a, area(m, k))?;
        length("the right factor", b, area(k, n))?;
        together("the right factor", a, b)
    }

    fn product(
        &self,
        c: &mut Buffer<T>,
        a: &Buffer<T>,
        b: &Buffer<T>,
        add: bool,
    ) -> Result<(), GpuError> {
        if c.is_empty() {
            return Ok(());
        }
        let Self { extents, transposed, alpha } = *self;
        if blas_product(&BlasProduct { extents, transposed, alpha, add }, c, a, b)? {
            return Ok(());
        }
        let (m, k, n) = extents;
        let tiles = m.div_ceil(SIDE).saturating_mul(n.div_ceil(SIDE));
        let grid = Grid::blocks(tiles).threads((SIDE, SIDE));
        let (left, right) = transposed;
        T::product(&a.device(), &grid, (c, a, b, m, k, n, left, right, alpha, add))
    }
}

/// Numbers of a matrix; no buffer has as many as do not fit.
fn area(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns)
}

/// The product of two matrices that lie row by row: of m rows and k columns, and of k rows and n columns. cuBLAS computes it where the device has it; [`Matmul`] can do more.
///
/// ```
/// use stratape::gpu::{Device, matmul, matmul_pullback};
///
/// let gpu = Device::new()?;
/// let a = gpu.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?; // two rows
/// let b = gpu.upload(&[1.0, 10.0, 100.0])?;
/// assert_eq!(matmul(&a, &b, (2, 3, 1))?.download()?, [321.0, 654.0]);
///
/// let dc = gpu.upload(&[1.0, 2.0])?;
/// let (mut da, mut db) = (gpu.zeros(6)?, gpu.zeros(3)?);
/// matmul_pullback(&a, &mut da, &b, &mut db, (2, 3, 1), &dc)?;
/// assert_eq!(da.download()?, [1.0, 10.0, 100.0, 2.0, 20.0, 200.0]);
/// assert_eq!(db.download()?, [9.0, 12.0, 15.0]);
/// # Ok::<(), stratape::gpu::GpuError>(())
/// ```
///
/// # Errors
/// If the lengths of the buffers are not those of the extents, if their devices differ, if device memory is exhausted, or the device fails.
pub fn matmul<T: Real>(
    a: &Buffer<T>,
    b: &Buffer<T>,
    extents: (usize, usize, usize),
) -> Result<Buffer<T>, GpuError> {
    Matmul::new(extents).run(a, b)
}

/// Adds to `da` and `db` what [`matmul`] asks for, if changes of the product count as `dc` says: dC·Bᵀ, and Aᵀ·dC.
///
/// See [`matmul`] for an example.
///
/// # Errors
/// If the lengths of the buffers are not those of the extents, if their devices differ, or if the device fails.
pub fn matmul_pullback<T: Real>(
    a: &Buffer<T>,
    da: &mut Buffer<T>,
    b: &Buffer<T>,
    db: &mut Buffer<T>,
    (m, k, n): (usize, usize, usize),
    dc: &Buffer<T>,
) -> Result<(), GpuError> {
    // All lengths before anything is added.
    length("the left factor", a, area(m, k))?;
    length("the shadow of the left factor", da, area(m, k))?;
    length("the right factor", b, area(k, n))?;
    length("the shadow of the right factor", db, area(k, n))?;
    length("the shadow of the product", dc, area(m, n))?;
    Matmul::new((m, n, k)).right_transposed().run_adding(dc, b, da)?;
    Matmul::new((k, m, n)).left_transposed().run_adding(a, dc, db)
}

texts! {
    in_f64 { product }
    in_f32 { product }
}
