//! A nonlinear curve fitted to noisy data: `cargo run --release --example least_squares -p stratape`.
//!
//! The curve is a damped oscillation, a·exp(−k·t)·cos(ω·t + φ). Its four parameters are found by BFGS, a page of code that
//! asks for nothing but a value and a gradient.

use std::error::Error;

use stratape::gradient;

const PARAMETERS: usize = 4;
type Point = [f64; PARAMETERS];

/// Mean square distance of the curve from the data.
#[gradient(wrt(p))]
fn misfit(p: &[f64; 4], times: &[f64], data: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..times.len() {
        let curve = p[0] * (-p[1] * times[i]).exp() * (p[2] * times[i] + p[3]).cos();
        sum += (curve - data[i]) * (curve - data[i]);
    }
    sum / times.len() as f64
}

fn dot(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn plus(a: &Point, length: f64, b: &Point) -> Point {
    std::array::from_fn(|i| a[i] + length * b[i])
}

/// Minimises with the inverse of the Hessian built up from gradients. Returns the point and the number of iterations.
fn bfgs(mut x: Point, value_and_gradient: impl Fn(&Point) -> (f64, Point)) -> (Point, usize) {
    let mut inverse: [Point; PARAMETERS] = [[0.0; PARAMETERS]; PARAMETERS];
    (0..PARAMETERS).for_each(|i| inverse[i][i] = 1.0);
    let (mut value, mut slope) = value_and_gradient(&x);
    for iteration in 0..200 {
        if dot(&slope, &slope).sqrt() < 1e-9 {
            return (x, iteration);
        }
        let way: Point = std::array::from_fn(|i| -dot(&inverse[i], &slope));
        let mut length = 1.0;
        let (next, next_value, next_slope) = loop {
            let next = plus(&x, length, &way);
            let (next_value, next_slope) = value_and_gradient(&next);
            if next_value <= value + 1e-4 * length * dot(&slope, &way) || length < 1e-12 {
                break (next, next_value, next_slope);
            }
            length *= 0.5;
        };
        let (s, y) = (plus(&next, -1.0, &x), plus(&next_slope, -1.0, &slope));
        let turned: Point = std::array::from_fn(|i| dot(&inverse[i], &y));
        let along = dot(&s, &y);
        if along > 0.0 {
            let stretch = (1.0 + dot(&y, &turned) / along) / along;
            for i in 0..PARAMETERS {
                for j in 0..PARAMETERS {
                    inverse[i][j] +=
                        stretch * s[i] * s[j] - (s[i] * turned[j] + turned[i] * s[j]) / along;
                }
            }
        }
        (x, value, slope) = (next, next_value, next_slope);
    }
    (x, 200)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (truth, noise) = ([2.0, 0.3, 4.0, 0.5], 0.05);
    let times: Vec<f64> = (0..400).map(|i| 0.02 * f64::from(i)).collect();
    // Noise that looks random and is the same in every run.
    let data: Vec<f64> = times
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let wobble = noise * (1e4 * (i as f64 + 1.0).sin()).sin() * 2_f64.sqrt();
            truth[0] * (-truth[1] * t).exp() * (truth[2] * t + truth[3]).cos() + wobble
        })
        .collect();

    let guess = [1.0, 0.1, 3.7, 0.0];
    let (found, iterations) = bfgs(guess, |p| {
        let mut dp = [0.0; PARAMETERS];
        let value = misfit_grad(p, &mut dp, &times, &data, 1.0);
        (value, dp)
    });
    println!("           a      k      ω      φ     misfit");
    for (name, p) in [("guess", guess), ("found", found), ("truth", truth)] {
        let [a, k, w, phase] = p;
        let value = misfit(&p, &times, &data);
        println!("{name:6} {a:6.3} {k:6.3} {w:6.3} {phase:6.3} {value:10.6}");
    }
    let furthest = found.iter().zip(truth).map(|(f, t)| (f - t).abs()).fold(0.0, f64::max);
    if furthest > 0.03 {
        return Err(format!("a parameter is off by {furthest}").into());
    }
    println!("all parameters within {furthest:.3} of the truth after {iterations} iterations");
    Ok(())
}
