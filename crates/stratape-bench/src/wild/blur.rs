//! blur: an image blurred along its rows, then along its columns, and the distance from a sharp one.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient(wrt(image, kernel))]
fn misfit(image: &[f64], kernel: &[f64], target: &[f64], width: usize) -> f64 {
    let height = image.len() / width;
    let radius = kernel.len() / 2;
    let mut rows = vec![0.0; image.len()];
    for y in 0..height {
        for x in 0..width {
            for (k, weight) in kernel.iter().enumerate() {
                let from = (x + k).saturating_sub(radius).min(width - 1);
                rows[y * width + x] += weight * image[y * width + from];
            }
        }
    }
    let mut blurred = vec![0.0; image.len()];
    for y in 0..height {
        for x in 0..width {
            for (k, weight) in kernel.iter().enumerate() {
                let from = (y + k).saturating_sub(radius).min(height - 1);
                blurred[y * width + x] += weight * rows[from * width + x];
            }
        }
    }
    blurred.iter().zip(target).map(|(b, t)| (b - t).powi(2)).sum::<f64>() / image.len() as f64
}

/// Scatters through the columns, then through the rows.
fn by_hand(
    image: &[f64],
    dimage: &mut [f64],
    kernel: &[f64],
    dkernel: &mut [f64],
    target: &[f64],
    width: usize,
    seed: f64,
) -> f64 {
    let height = image.len() / width;
    let radius = kernel.len() / 2;
    let across = |x: usize, k: usize| (x + k).saturating_sub(radius).min(width - 1);
    let along = |y: usize, k: usize| (y + k).saturating_sub(radius).min(height - 1);
    let mut rows = vec![0.0; image.len()];
    for y in 0..height {
        for x in 0..width {
            for k in 0..kernel.len() {
                rows[y * width + x] += kernel[k] * image[y * width + across(x, k)];
            }
        }
    }
    let mut drows = vec![0.0; image.len()];
    let mut misfit = 0.0;
    for y in 0..height {
        for x in 0..width {
            let mut blurred = 0.0;
            for k in 0..kernel.len() {
                blurred += kernel[k] * rows[along(y, k) * width + x];
            }
            let error = blurred - target[y * width + x];
            misfit += error * error;
            let dblurred = 2.0 * seed * error / image.len() as f64;
            for k in 0..kernel.len() {
                let from = along(y, k) * width + x;
                drows[from] += kernel[k] * dblurred;
                dkernel[k] += rows[from] * dblurred;
            }
        }
    }
    for y in 0..height {
        for x in 0..width {
            for k in 0..kernel.len() {
                let from = y * width + across(x, k);
                dimage[from] += kernel[k] * drows[y * width + x];
                dkernel[k] += image[from] * drows[y * width + x];
            }
        }
    }
    misfit / image.len() as f64
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], usize, f64) -> f64;

fn calling(adjoint: Adjoint, width: usize) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([image, kernel], [target]) = (inputs.active(), inputs.constant());
        let [dimage, dkernel] = shadows.each();
        adjoint(image, dimage, kernel, dkernel, target, width, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (width, height) = (scale.or_small(64, 11), scale.or_small(48, 9));
    let mut numbers = Numbers::from_seed(123);
    let image = numbers.array(width * height, 0.0, 1.0);
    let kernel = vec![0.06, 0.12, 0.2, 0.24, 0.2, 0.12, 0.06];
    let target = numbers.array(width * height, 0.0, 1.0);
    let inputs =
        Inputs { active: vec![image, kernel], constant: vec![target], ..Inputs::default() };
    let primal = move |inputs: &mut Inputs| {
        let ([image, kernel], [target]) = (inputs.active(), inputs.constant());
        misfit(image, kernel, target, width)
    };
    Program::new("blur", inputs, primal, calling(misfit_grad, width))
        .with_by_hand(calling(by_hand, width))
        .with_state(0)
}
