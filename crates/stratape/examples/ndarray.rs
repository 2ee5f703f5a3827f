//! A gradient with respect to an array of `ndarray`: `cargo run --release --example ndarray -p stratape --features ndarray`.
//!
//! Noise is taken out of a picture by gradient descent. The picture is an `Array2`; `flat` hands it to the function as a slice,
//! without a copy, and the gradient is an `Array2` too.

use std::error::Error;

use ndarray::Array2;
use stratape::flat::{Flat, FlatMut};
use stratape::gradient;

const SIDE: usize = 32;

/// How far the picture is from the noisy one, and how rough it is; an edge costs its height, not its square.
#[gradient(wrt(u))]
fn energy(u: &[f64], noisy: &[f64], columns: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..u.len() {
        sum += (u[i] - noisy[i]) * (u[i] - noisy[i]);
        if i % columns + 1 < columns && i + columns < u.len() {
            let (right, down) = (u[i + 1] - u[i], u[i + columns] - u[i]);
            sum += 0.4 * (right * right + down * down + 1e-3).sqrt();
        }
    }
    sum
}

fn main() -> Result<(), Box<dyn Error>> {
    let disc = |(i, j): (usize, usize)| {
        let (x, y) = (i as f64 - 14.0, j as f64 - 17.0);
        if x.hypot(y) < 9.0 { 1.0 } else { 0.0 }
    };
    let truth = Array2::from_shape_fn((SIDE, SIDE), disc);
    // Noise that looks random and is the same in every run.
    let noise = |(i, j): (usize, usize)| 0.3 * (1e4 * ((SIDE * i + j) as f64 + 1.0).sin()).sin();
    let noisy = &truth + &Array2::from_shape_fn((SIDE, SIDE), noise);

    let mut u = noisy.clone();
    for _ in 0..300 {
        let mut du = u.zeros_like();
        energy_grad(u.flat()?, du.flat_mut()?, noisy.flat()?, SIDE, 1.0);
        u.scaled_add(-0.02, &du);
    }
    let distance =
        |a: &Array2<f64>| ((a - &truth).mapv(|d| d * d).sum() / truth.len() as f64).sqrt();
    let (before, after) = (distance(&noisy), distance(&u));
    println!("a picture of {:?}: noise {before:.3}, after 300 steps {after:.3}", u.dim());
    if let Err(refused) = noisy.t().flat() {
        println!("its transpose: {refused}");
    }
    if after > 0.4 * before {
        return Err("the noise should have gone down".into());
    }
    Ok(())
}
