//! mixture: the log-likelihood of points under a mixture of Gaussians, as in ADBench, with a penalty on large scales.
//!
//! A row of `icf` is one component's Q: the logarithms of its diagonal, then what is below the diagonal, column by column.
//! QᵀQ is the inverse of the covariance.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[stratape::differentiable]
mod model {
    pub(super) fn log_sum_exp(x: &[f64]) -> f64 {
        let mut max = x[0];
        for i in 1..x.len() {
            if x[i] > max {
                max = x[i];
            }
        }
        let mut sum = 0.0;
        for v in x {
            sum += (v - max).exp();
        }
        max + sum.ln()
    }

    /// Q times `centred`.
    fn multiply(scales: &[f64], lower: &[f64], centred: &[f64], product: &mut [f64]) {
        let d = centred.len();
        for j in 0..d {
            product[j] = scales[j] * centred[j];
        }
        let mut at = 0;
        for j in 0..d {
            for i in j + 1..d {
                product[i] += lower[at] * centred[j];
                at += 1;
            }
        }
    }

    #[gradient(wrt(alphas, means, icf))]
    pub(super) fn objective(
        alphas: &[f64],
        means: &[f64],
        icf: &[f64],
        points: &[f64],
        d: usize,
    ) -> f64 {
        let components = alphas.len();
        let row = d * (d + 1) / 2;
        let n = points.len() / d;

        let mut scales = vec![0.0; components * d];
        let mut sums = vec![0.0; components];
        for k in 0..components {
            for j in 0..d {
                scales[k * d + j] = icf[k * row + j].exp();
                sums[k] += icf[k * row + j];
            }
        }

        let mut centred = vec![0.0; d];
        let mut product = vec![0.0; d];
        let mut terms = vec![0.0; components];
        let mut total = 0.0;
        for i in 0..n {
            for k in 0..components {
                for j in 0..d {
                    centred[j] = points[i * d + j] - means[k * d + j];
                }
                let lower = &icf[k * row + d..(k + 1) * row];
                multiply(&scales[k * d..(k + 1) * d], lower, &centred, &mut product);
                let mut square = 0.0;
                for j in 0..d {
                    square += product[j] * product[j];
                }
                terms[k] = alphas[k] + sums[k] - 0.5 * square;
            }
            total += log_sum_exp(&terms);
        }

        let mut penalty = 0.0;
        for k in 0..components {
            for j in 0..d {
                penalty += scales[k * d + j] * scales[k * d + j];
            }
            for j in d..row {
                penalty += icf[k * row + j] * icf[k * row + j];
            }
        }
        total - n as f64 * log_sum_exp(alphas) + 0.5 * penalty
    }
}

/// Keeps what one point needs of its components; their adjoints follow as soon as its sum is known.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    alphas: &[f64],
    dalphas: &mut [f64],
    means: &[f64],
    dmeans: &mut [f64],
    icf: &[f64],
    dicf: &mut [f64],
    points: &[f64],
    d: usize,
    seed: f64,
) -> f64 {
    let components = alphas.len();
    let row = d * (d + 1) / 2;
    let mut scales = vec![0.0; components * d];
    let mut offsets = alphas.to_vec();
    for ((scales, offset), icf) in
        scales.chunks_exact_mut(d).zip(&mut offsets).zip(icf.chunks_exact(row))
    {
        for (scale, q) in scales.iter_mut().zip(icf) {
            *scale = q.exp();
            *offset += q;
        }
    }

    let mut centred = vec![0.0; components * d];
    let mut products = vec![0.0; components * d];
    let mut terms = vec![0.0; components];
    let mut dproduct = vec![0.0; d];
    let mut weights = vec![0.0; components];
    let mut dscales = vec![0.0; components * d];
    let mut total = 0.0;
    for point in points.chunks_exact(d) {
        for k in 0..components {
            let (mean, scales) = (&means[k * d..][..d], &scales[k * d..][..d]);
            let (centred, product) = (&mut centred[k * d..][..d], &mut products[k * d..][..d]);
            for j in 0..d {
                centred[j] = point[j] - mean[j];
                product[j] = scales[j] * centred[j];
            }
            let mut lower = &icf[k * row + d..(k + 1) * row];
            for j in 0..d {
                let column;
                (column, lower) = lower.split_at(d - 1 - j);
                let c = centred[j];
                for (p, l) in product[j + 1..].iter_mut().zip(column) {
                    *p += l * c;
                }
            }
            let square: f64 = product.iter().map(|p| p * p).sum();
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
            let (scales, dscales) = (&scales[k * d..][..d], &mut dscales[k * d..][..d]);
            let (centred, product) = (&centred[k * d..][..d], &products[k * d..][..d]);
            let dmean = &mut dmeans[k * d..][..d];
            for j in 0..d {
                dproduct[j] = weight * product[j];
                dscales[j] -= dproduct[j] * centred[j];
                dmean[j] += dproduct[j] * scales[j];
            }
            let mut lower = &icf[k * row + d..(k + 1) * row];
            let mut dlower = &mut dicf[k * row + d..(k + 1) * row];
            for j in 0..d {
                let (column, dcolumn);
                (column, lower) = lower.split_at(d - 1 - j);
                (dcolumn, dlower) = dlower.split_at_mut(d - 1 - j);
                let c = centred[j];
                let mut sum = 0.0;
                for ((dl, l), dp) in dcolumn.iter_mut().zip(column).zip(&dproduct[j + 1..]) {
                    *dl -= dp * c;
                    sum += dp * l;
                }
                dmean[j] += sum;
            }
        }
    }

    let count = (points.len() / d) as f64;
    let sum = model::log_sum_exp(alphas);
    let mut penalty = 0.0;
    for k in 0..components {
        dalphas[k] += weights[k] - seed * count * (alphas[k] - sum).exp();
        let (scales, dscales) = (&scales[k * d..][..d], &dscales[k * d..][..d]);
        let (icf, dicf) = (&icf[k * row..][..row], &mut dicf[k * row..][..row]);
        for j in 0..d {
            penalty += scales[j] * scales[j];
            dicf[j] += weights[k] + (dscales[j] + seed * scales[j]) * scales[j];
        }
        for j in d..row {
            penalty += icf[j] * icf[j];
            dicf[j] += seed * icf[j];
        }
    }
    total - count * sum + 0.5 * penalty
}

type Adjoint =
    fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], &mut [f64], &[f64], usize, f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([a, m, i], [points], [d]) = (inputs.active(), inputs.constant(), inputs.indices());
        let [da, dm, di] = shadows.each();
        adjoint(a, da, m, dm, i, di, points, d[0], 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (d, components) = (scale.or_small(10, 4), scale.or_small(25, 3));
    let count = scale.or_small(1000, 9);
    let mut numbers = Numbers::from_seed(125);
    let alphas = numbers.array(components, -1.0, 1.0);
    let means = numbers.array(components * d, -1.0, 1.0);
    let icf = numbers.array(components * d * (d + 1) / 2, -0.5, 0.5);
    let points = numbers.array(count * d, -2.0, 2.0);
    let inputs = Inputs {
        active: vec![alphas, means, icf],
        constant: vec![points],
        indices: vec![vec![d]],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([alphas, means, icf], [points]) = (inputs.active(), inputs.constant());
        let [d] = inputs.indices();
        model::objective(alphas, means, icf, points, d[0])
    };
    Program::new("mixture", inputs, primal, calling(model::objective_grad))
        .with_by_hand(calling(by_hand))
        .with_state(2 * components * d * size_of::<f64>())
}
