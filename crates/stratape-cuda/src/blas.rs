//! Products of matrices by the library of a device, where it has one.

use crate::buffer::{Buffer, RawBuffer, Store, same_length};
use crate::cuda::{Factor, Memory, RawProduct};
use crate::device::Kind;
use crate::element::{Element, ScalarType};
use crate::error::GpuError;

/// `c = alpha · a · b` of matrices that lie row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlasProduct<T> {
    /// Rows of `a` and `c`; columns of `a`, which are the rows of `b`; columns of `b` and `c`.
    pub extents: (usize, usize, usize),
    /// Whether `a` and `b` lie column by column.
    pub transposed: (bool, bool),
    /// What the product is scaled with.
    pub alpha: T,
    /// Whether it is added to what `c` holds.
    pub add: bool,
}

/// Computes a product by cuBLAS, on the device's own stream. Returns false, and does nothing, if the device has no such library, if the numbers are neither `f32` nor `f64`, or if an extent is
/// 0 or beyond 2³¹ − 1. Does not wait for the device.
///
/// # Errors
/// If the buffers are not as long as the extents ask for, or not of one device; if the device fails.
pub fn blas_product<T: Element>(
    product: &BlasProduct<T>,
    c: &mut Buffer<T>,
    a: &Buffer<T>,
    b: &Buffer<T>,
) -> Result<bool, GpuError> {
    let (m, k, n) = product.extents;
    let area = usize::saturating_mul;
    same_length("the left factor", area(m, k), a.len())?;
    same_length("the right factor", area(k, n), b.len())?;
    same_length("the product", area(m, n), c.len())?;
    let (a, b, c) = (a.raw(), b.raw(), c.raw());
    c.owner().check(a.owner(), "the left factor")?;
    c.owner().check(b.owner(), "the right factor")?;
    let extents = [m, k, n].map(i32::try_from);
    let ([Ok(m), Ok(k), Ok(n)], Some(alpha)) = (extents, factor(product.alpha)) else {
        return Ok(false);
    };
    // Of factors without elements there is no address to hand on.
    if m == 0 || k == 0 || n == 0 {
        return Ok(false);
    }
    let (Kind::Cuda(context), Some(c), Some(a), Some(b)) =
        (c.owner(), memory(c), memory(a), memory(b))
    else {
        return Ok(false);
    };
    let transposed = [product.transposed.0, product.transposed.1];
    let product = RawProduct { extents: [m, k, n], transposed, alpha, add: product.add };
    // SAFETY: the lengths and the owners were compared above, and the factor has the type of the numbers.
    unsafe { context.product(&product, c, [a, b]) }
}

fn memory(buffer: &RawBuffer) -> Option<&Memory> {
    match buffer.store() {
        Store::Cuda(memory) => Some(memory),
        Store::Cells(_) | Store::Failed(_) => None,
    }
}

/// The number as one of a type that the library knows.
fn factor<T: Element>(alpha: T) -> Option<Factor> {
    let mut cells = [0];
    match (T::SCALAR, T::ARITY) {
        (ScalarType::F64, 1) => {
            alpha.to_cells(&mut cells);
            Some(Factor::F64(f64::from_cells(&cells)))
        }
        (ScalarType::F32, 1) => {
            alpha.to_cells(&mut cells);
            Some(Factor::F32(f32::from_cells(&cells)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn lengths_come_first() {
        let device = Device::emulator();
        let a = device.zeros::<f64>(6).unwrap();
        let mut c = device.zeros::<f64>(4).unwrap();
        let extents = (2, 3, 2);
        let product = BlasProduct { extents, transposed: (false, true), alpha: 1.0, add: false };
        // The emulator has no library.
        assert_eq!(blas_product(&product, &mut c, &a, &a), Ok(false));
        let wrong = BlasProduct { extents: (2, 2, 3), ..product };
        assert!(matches!(blas_product(&wrong, &mut c, &a, &a), Err(GpuError::Length { .. })));
        let huge = BlasProduct { extents: (usize::MAX, 2, 2), ..product };
        assert!(matches!(blas_product(&huge, &mut c, &a, &a), Err(GpuError::Length { .. })));
    }

    #[test]
    fn factors_keep_their_bits() {
        assert_eq!(factor(2.5_f64), Some(Factor::F64(2.5)));
        assert_eq!(factor(-0.5_f32), Some(Factor::F32(-0.5)));
        assert_eq!(factor(1_u32), None);
    }
}
