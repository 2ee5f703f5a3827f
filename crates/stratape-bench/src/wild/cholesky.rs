//! cholesky: the negative log-likelihood of a Gaussian process, by a factorisation in place.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient]
fn negative_log_likelihood(covariance: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let mut l = covariance.to_vec();
    for j in 0..n {
        let mut diagonal = l[j * n + j];
        for k in 0..j {
            diagonal -= l[j * n + k] * l[j * n + k];
        }
        let diagonal = diagonal.sqrt();
        l[j * n + j] = diagonal;
        for i in j + 1..n {
            let mut sum = l[i * n + j];
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = sum / diagonal;
        }
    }
    let mut z = y.to_vec();
    let mut value = 0.0;
    for i in 0..n {
        for k in 0..i {
            z[i] -= l[i * n + k] * z[k];
        }
        z[i] /= l[i * n + i];
        value += 0.5 * z[i] * z[i] + l[i * n + i].ln();
    }
    value + 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln()
}

/// Goes back over the factor, in the opposite order.
fn by_hand(
    covariance: &[f64],
    dcovariance: &mut [f64],
    y: &[f64],
    dy: &mut [f64],
    seed: f64,
) -> f64 {
    let n = y.len();
    let mut l = covariance.to_vec();
    for j in 0..n {
        for i in j..n {
            let mut sum = l[i * n + j];
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
        }
    }
    let mut z = y.to_vec();
    let mut value = 0.0;
    for i in 0..n {
        for k in 0..i {
            z[i] -= l[i * n + k] * z[k];
        }
        z[i] /= l[i * n + i];
        value += 0.5 * z[i] * z[i] + l[i * n + i].ln();
    }

    let mut dl = vec![0.0; n * n];
    let mut dz: Vec<f64> = z.iter().map(|z| seed * z).collect();
    for i in (0..n).rev() {
        let diagonal = l[i * n + i];
        let dsum = dz[i] / diagonal;
        dl[i * n + i] += seed / diagonal - dsum * z[i];
        dy[i] += dsum;
        for k in 0..i {
            dl[i * n + k] -= dsum * z[k];
            dz[k] -= dsum * l[i * n + k];
        }
    }
    for j in (0..n).rev() {
        let diagonal = l[j * n + j];
        for i in (j + 1..n).rev() {
            let dsum = dl[i * n + j] / diagonal;
            dl[j * n + j] -= dsum * l[i * n + j];
            dcovariance[i * n + j] += dsum;
            for k in 0..j {
                dl[i * n + k] -= dsum * l[j * n + k];
                dl[j * n + k] -= dsum * l[i * n + k];
            }
        }
        let dsum = 0.5 * dl[j * n + j] / diagonal;
        dcovariance[j * n + j] += dsum;
        for k in 0..j {
            dl[j * n + k] -= 2.0 * dsum * l[j * n + k];
        }
    }
    value + 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln()
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([covariance, y], [dcovariance, dy]) = (inputs.active(), shadows.each());
        adjoint(covariance, dcovariance, y, dy, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let n = scale.or_small(80, 11);
    let mut numbers = Numbers::from_seed(109);
    let places = numbers.array(n, 0.0, 10.0);
    let covariance = (0..n * n)
        .map(|at| {
            let (i, j) = (at / n, at % n);
            let distance = places[i] - places[j];
            (-0.5 * distance * distance).exp() + if i == j { 0.1 } else { 0.0 }
        })
        .collect();
    let y = numbers.array(n, -1.0, 1.0);
    let inputs = Inputs { active: vec![covariance, y], ..Inputs::default() };
    let primal = |inputs: &mut Inputs| {
        let [covariance, y] = inputs.active();
        negative_log_likelihood(covariance, y)
    };
    Program::new("cholesky", inputs, primal, calling(negative_log_likelihood_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
