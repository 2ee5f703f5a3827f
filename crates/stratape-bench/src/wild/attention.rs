//! attention: one causal head over a sequence, and the squared distance of what it attends to from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale};

const MODEL: usize = 24;
const HEAD: usize = 12;

#[stratape::differentiable]
mod head {
    use super::{HEAD, MODEL};

    /// The rows of `x` times a matrix.
    fn project(x: &[f64], weights: &[f64], from: usize, to: usize) -> Vec<f64> {
        let rows = x.len() / from;
        let mut y = vec![0.0; rows * to];
        for i in 0..rows {
            for j in 0..to {
                for k in 0..from {
                    y[i * to + j] += x[i * from + k] * weights[k * to + j];
                }
            }
        }
        y
    }

    fn softmax(scores: &mut [f64]) {
        let max = scores.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for s in scores.iter_mut() {
            *s = (*s - max).exp();
            sum += *s;
        }
        for s in scores.iter_mut() {
            *s /= sum;
        }
    }

    #[gradient(wrt(query, key, value, output))]
    pub(super) fn loss(
        query: &[f64],
        key: &[f64],
        value: &[f64],
        output: &[f64],
        x: &[f64],
        target: &[f64],
    ) -> f64 {
        let n = x.len() / MODEL;
        let q = project(x, query, MODEL, HEAD);
        let k = project(x, key, MODEL, HEAD);
        let v = project(x, value, MODEL, HEAD);
        let mut attended = vec![0.0; n * HEAD];
        for i in 0..n {
            let mut scores = vec![0.0; i + 1];
            for j in 0..=i {
                let mut dot = 0.0;
                for d in 0..HEAD {
                    dot += q[i * HEAD + d] * k[j * HEAD + d];
                }
                scores[j] = dot / (HEAD as f64).sqrt();
            }
            softmax(&mut scores);
            for j in 0..=i {
                for d in 0..HEAD {
                    attended[i * HEAD + d] += scores[j] * v[j * HEAD + d];
                }
            }
        }
        let y = project(&attended, output, HEAD, MODEL);
        y.iter().zip(target).map(|(y, t)| (y - t).powi(2)).sum::<f64>() / n as f64
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let n = scale.or_small(40, 7);
    let mut numbers = Numbers::from_seed(114);
    let active = [MODEL * HEAD; 4].map(|length| numbers.array(length, -0.4, 0.4)).to_vec();
    let x = numbers.array(n * MODEL, -1.0, 1.0);
    let target = numbers.array(n * MODEL, -1.0, 1.0);
    Program::new(
        "attention",
        Inputs { active, constant: vec![x, target], ..Inputs::default() },
        |inputs| {
            let ([q, k, v, o], [x, target]) = (inputs.active(), inputs.constant());
            head::loss(q, k, v, o, x, target)
        },
        |inputs, shadows| {
            let ([q, k, v, o], [x, target]) = (inputs.active(), inputs.constant());
            let [dq, dk, dv, do_] = shadows.each();
            head::loss_grad(q, dq, k, dk, v, dv, o, do_, x, target, 1.0)
        },
    )
}
