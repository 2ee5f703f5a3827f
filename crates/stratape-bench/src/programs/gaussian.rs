//! gaussian: the exponential of a normal density in many dimensions.

use super::numbers::Numbers;
use super::program::{Gradient, Inputs, Program};
use super::{LANES, blocks};

#[stratape::gradient(wrt(x))]
fn gaussian(x: &[f64], mu: &[f64], sigma: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        let d = x[i] - mu[i];
        sum += d * d / (2.0 * sigma * sigma);
    }
    (-sum).exp()
}

/// The terms are computed in blocks and added in their order; nothing is saved.
fn shaped(x: &[f64], dx: &mut [f64], mu: &[f64], sigma: f64, seed: f64) -> f64 {
    let n = x.len();
    let (mu, dx) = (&mu[..n], &mut dx[..n]);
    let twice = 2.0 * sigma * sigma;
    let mut sum = 0.0;
    for (x, mu) in blocks(x).iter().zip(blocks(mu)) {
        let mut terms = [0.0; LANES];
        for l in 0..LANES {
            let d = x[l] - mu[l];
            terms[l] = d * d / twice;
        }
        for term in terms {
            sum += term;
        }
    }
    for i in n - n % LANES..n {
        let d = x[i] - mu[i];
        sum += d * d / twice;
    }
    let value = (-sum).exp();
    let scale = -seed * value * 2.0 / twice;
    for i in 0..n {
        dx[i] += scale * (x[i] - mu[i]);
    }
    value
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], f64, f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([x], [mu, sigma]) = (inputs.active(), inputs.constant());
        let [dx] = shadows.each();
        adjoint(x, dx, mu, sigma[0], 1.0)
    })
}

pub(super) fn program(n: usize) -> Program {
    let mut numbers = Numbers::from_seed(11);
    let x = numbers.array(n, -1.0, 1.0);
    let mu = numbers.array(n, -1.0, 1.0);
    // So wide that the exponent is of order one.
    let sigma = (n as f64).sqrt();
    Program {
        name: "gaussian",
        inputs: Inputs { active: vec![x], constant: vec![mu, vec![sigma]], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let ([x], [mu, sigma]) = (inputs.active(), inputs.constant());
            gaussian(x, mu, sigma[0])
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(gaussian_grad),
        state_bytes: None,
        expected: None,
    }
}
