//! gmm: the log-likelihood of points under a mixture of Gaussians with full covariances.
//!
//! A component's inverse covariance is QᵀQ, Q lower triangular: the logarithms of its diagonal are `log_scales`, what is
//! below the diagonal `lower`, row by row.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

const DIM: usize = 6;
/// How many numbers are below the diagonal.
const LOWER: usize = DIM * (DIM - 1) / 2;

#[stratape::differentiable]
mod mixture {
    use super::{DIM, LOWER};

    pub(super) fn log_sum_exp(x: &[f64]) -> f64 {
        let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        max + x.iter().map(|v| (v - max).exp()).sum::<f64>().ln()
    }

    #[gradient(wrt(alphas, means, log_scales, lower))]
    pub(super) fn log_likelihood(
        alphas: &[f64],
        means: &[f64],
        log_scales: &[f64],
        lower: &[f64],
        points: &[f64],
    ) -> f64 {
        let components = alphas.len();
        let scales: Vec<f64> = log_scales.iter().map(|v| v.exp()).collect();
        let log_dets: Vec<f64> = log_scales.chunks_exact(DIM).map(|row| row.iter().sum()).collect();
        let mut terms = vec![0.0; components];
        let mut total = 0.0;
        for point in points.chunks_exact(DIM) {
            for k in 0..components {
                let mut centred = [0.0; DIM];
                for d in 0..DIM {
                    centred[d] = point[d] - means[k * DIM + d];
                }
                let mut square = 0.0;
                let mut at = k * LOWER;
                for i in 0..DIM {
                    let mut sum = scales[k * DIM + i] * centred[i];
                    for j in 0..i {
                        sum += lower[at] * centred[j];
                        at += 1;
                    }
                    square += sum * sum;
                }
                terms[k] = alphas[k] + log_dets[k] - 0.5 * square;
            }
            total += log_sum_exp(&terms);
        }
        let count = (points.len() / DIM) as f64;
        total - count * log_sum_exp(alphas)
    }
}

/// Keeps what one point needs of its components; their adjoints follow as soon as its sum is known.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    alphas: &[f64],
    dalphas: &mut [f64],
    means: &[f64],
    dmeans: &mut [f64],
    log_scales: &[f64],
    dlog_scales: &mut [f64],
    lower: &[f64],
    dlower: &mut [f64],
    points: &[f64],
    seed: f64,
) -> f64 {
    let components = alphas.len();
    let (means, dmeans) = (means.as_chunks::<DIM>().0, dmeans.as_chunks_mut::<DIM>().0);
    let (lower, dlower) = (lower.as_chunks::<LOWER>().0, dlower.as_chunks_mut::<LOWER>().0);
    let log_scales = log_scales.as_chunks::<DIM>().0;
    let scales: Vec<[f64; DIM]> = log_scales.iter().map(|row| row.map(f64::exp)).collect();
    let offsets: Vec<f64> =
        log_scales.iter().zip(alphas).map(|(row, alpha)| alpha + row.iter().sum::<f64>()).collect();
    let mut terms = vec![0.0; components];
    let mut centred = vec![[0.0; DIM]; components];
    let mut sums = vec![[0.0; DIM]; components];
    let mut weights = vec![0.0; components];
    let mut dscales = vec![[0.0; DIM]; components];
    let mut total = 0.0;
    for point in points.as_chunks::<DIM>().0 {
        for k in 0..components {
            let (scales, lower) = (&scales[k], &lower[k]);
            let mut square = 0.0;
            let mut at = 0;
            for i in 0..DIM {
                centred[k][i] = point[i] - means[k][i];
                let mut sum = scales[i] * centred[k][i];
                for j in 0..i {
                    sum += lower[at] * centred[k][j];
                    at += 1;
                }
                sums[k][i] = sum;
                square += sum * sum;
            }
            terms[k] = offsets[k] - 0.5 * square;
        }
        let max = terms.iter().copied().fold(terms[0], |max, t| if t > max { t } else { max });
        let mut sum = 0.0;
        for term in &mut terms {
            *term = (*term - max).exp();
            sum += *term;
        }
        total += max + sum.ln();

        let share = seed / sum;
        for k in 0..components {
            let weight = share * terms[k];
            weights[k] += weight;
            let (centred, lower, dlower) = (&centred[k], &lower[k], &mut dlower[k]);
            let dsums = sums[k].map(|sum| weight * sum);
            let mut dcentred = [0.0; DIM];
            let mut at = 0;
            for i in 0..DIM {
                dscales[k][i] -= dsums[i] * centred[i];
                dcentred[i] = dsums[i] * scales[k][i];
                for j in 0..i {
                    dlower[at] -= dsums[i] * centred[j];
                    dcentred[j] += dsums[i] * lower[at];
                    at += 1;
                }
            }
            for i in 0..DIM {
                dmeans[k][i] += dcentred[i];
            }
        }
    }
    let count = (points.len() / DIM) as f64;
    let sum = mixture::log_sum_exp(alphas);
    for k in 0..components {
        dalphas[k] += weights[k] - seed * count * (alphas[k] - sum).exp();
        let dlog_scales = &mut dlog_scales[k * DIM..][..DIM];
        for i in 0..DIM {
            dlog_scales[i] += weights[k] + dscales[k][i] * scales[k][i];
        }
    }
    total - count * sum
}

type Adjoint = fn(
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    f64,
) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([a, m, s, l], [points]) = (inputs.active(), inputs.constant());
        let [da, dm, ds, dl] = shadows.each();
        adjoint(a, da, m, dm, s, ds, l, dl, points, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (count, components) = (scale.or_small(300, 9), scale.or_small(8, 3));
    let mut numbers = Numbers::from_seed(104);
    let alphas = numbers.array(components, -1.0, 1.0);
    let means = numbers.array(components * DIM, -1.0, 1.0);
    let log_scales = numbers.array(components * DIM, -0.5, 0.5);
    let lower = numbers.array(components * LOWER, -0.5, 0.5);
    let points = numbers.array(count * DIM, -2.0, 2.0);
    let inputs = Inputs {
        active: vec![alphas, means, log_scales, lower],
        constant: vec![points],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([alphas, means, log_scales, lower], [points]) = (inputs.active(), inputs.constant());
        mixture::log_likelihood(alphas, means, log_scales, lower, points)
    };
    Program::new("gmm", inputs, primal, calling(mixture::log_likelihood_grad))
        .with_by_hand(calling(by_hand))
        .with_state(2 * components * DIM * size_of::<f64>())
}
