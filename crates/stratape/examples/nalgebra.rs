//! A gradient with respect to a matrix of `nalgebra`: `cargo run --release --example nalgebra -p stratape --features nalgebra`.
//!
//! An affine map of the plane is found from points and their images. Matrices lie in memory column by column: what `flat` hands to
//! the function is in this order. Here the gradient is also known by algebra, 2/n·(A·P − Q)·Pᵀ, and compared.

use std::error::Error;

use nalgebra::{Matrix2x3, Matrix2xX, Matrix3xX};
use stratape::flat::{Flat, FlatMut};
use stratape::gradient;

/// Mean square distance of the mapped points from their images. The map is 2 by 3, points are 3 by n with a last row of ones.
#[gradient(wrt(map))]
fn misfit(map: &[f64], points: &[f64], images: &[f64]) -> f64 {
    let n = points.len() / 3;
    let mut sum = 0.0;
    for k in 0..n {
        for i in 0..2 {
            let mut mapped = -images[2 * k + i];
            for j in 0..3 {
                mapped += map[2 * j + i] * points[3 * k + j];
            }
            sum += mapped * mapped;
        }
    }
    sum / n as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let truth = Matrix2x3::new(0.8, -0.6, 2.0, 0.6, 0.8, -1.0);
    let n = 50;
    let points = Matrix3xX::from_fn(n, |row, k| match row {
        0 => (k as f64).sin(),
        1 => (2.3 * k as f64).cos(),
        _ => 1.0,
    });
    let images: Matrix2xX<f64> = truth * &points;

    let mut map = Matrix2x3::zeros();
    let mut furthest = 0.0_f64;
    for _ in 0..100 {
        let mut dmap = map.zeros_like();
        misfit_grad(map.flat()?, dmap.flat_mut()?, points.flat()?, images.flat()?, 1.0);
        let expected = 2.0 / n as f64 * (map * &points - &images) * points.transpose();
        furthest = furthest.max((dmap - expected).amax());
        map -= 0.5 * dmap;
    }
    println!("found{map:.6}");
    println!("gradient and algebra agree to {furthest:.0e}");
    let error = (map - truth).amax();
    if error > 1e-6 || furthest > 1e-12 {
        return Err(format!("the map is off by {error:e}, a gradient by {furthest:e}").into());
    }
    Ok(())
}
