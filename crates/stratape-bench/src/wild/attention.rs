//! attention: one causal head over a sequence, and the squared distance of what it attends to from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

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

type Row = [f64; HEAD];

/// One row of the input times a matrix.
fn projected(x: &[f64; MODEL], weights: &[Row]) -> Row {
    let mut y = [0.0; HEAD];
    for (x, weights) in x.iter().zip(weights) {
        for d in 0..HEAD {
            y[d] += x * weights[d];
        }
    }
    y
}

fn add_outer(x: &[f64; MODEL], dy: &Row, dweights: &mut [Row]) {
    for (x, dweights) in x.iter().zip(dweights) {
        for d in 0..HEAD {
            dweights[d] += x * dy[d];
        }
    }
}

/// Four sums side by side.
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// A place of the sequence is done forward and back at once: it reads only what comes before it.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    query: &[f64],
    dquery: &mut [f64],
    key: &[f64],
    dkey: &mut [f64],
    value: &[f64],
    dvalue: &mut [f64],
    output: &[f64],
    doutput: &mut [f64],
    x: &[f64],
    target: &[f64],
    seed: f64,
) -> f64 {
    let (x, target) = (x.as_chunks::<MODEL>().0, target.as_chunks::<MODEL>().0);
    let [query, key, value] = [query, key, value].map(|weights| weights.as_chunks::<HEAD>().0);
    let [dquery, dkey, dvalue] =
        [dquery, dkey, dvalue].map(|weights| weights.as_chunks_mut::<HEAD>().0);
    let (output, doutput) = (output.as_chunks::<MODEL>().0, doutput.as_chunks_mut::<MODEL>().0);
    let n = x.len();
    let shrink = 1.0 / (HEAD as f64).sqrt();
    let mut k: Vec<Row> = Vec::with_capacity(n);
    let mut v: Vec<Row> = Vec::with_capacity(n);
    let (mut dk, mut dv) = (vec![[0.0; HEAD]; n], vec![[0.0; HEAD]; n]);
    let mut scores = vec![0.0; n];
    let mut dscores = vec![0.0; n];
    let mut loss = 0.0;
    for i in 0..n {
        k.push(projected(&x[i], key));
        v.push(projected(&x[i], value));
        let q = projected(&x[i], query);
        let scores = &mut scores[..=i];
        let mut max = f64::NEG_INFINITY;
        for (score, k) in scores.iter_mut().zip(&k) {
            *score = dot(&q, k) * shrink;
            max = if *score > max { *score } else { max };
        }
        let mut sum = 0.0;
        for score in scores.iter_mut() {
            *score = (*score - max).exp();
            sum += *score;
        }
        let mut attended = [0.0; HEAD];
        for (score, v) in scores.iter_mut().zip(&v) {
            *score /= sum;
            for d in 0..HEAD {
                attended[d] += *score * v[d];
            }
        }
        let mut y = target[i].map(|t| -t);
        for (attended, output) in attended.iter().zip(output) {
            for m in 0..MODEL {
                y[m] += attended * output[m];
            }
        }

        let dy = y.map(|error| 2.0 * seed / n as f64 * error);
        loss += dot(&y, &y);
        let mut dattended = [0.0; HEAD];
        for d in 0..HEAD {
            for m in 0..MODEL {
                doutput[d][m] += attended[d] * dy[m];
            }
            dattended[d] = dot(&output[d], &dy);
        }
        let dscores = &mut dscores[..=i];
        let mut mean = 0.0;
        for j in 0..=i {
            dscores[j] = dot(&dattended, &v[j]);
            mean += scores[j] * dscores[j];
            for d in 0..HEAD {
                dv[j][d] += scores[j] * dattended[d];
            }
        }
        let mut dq = [0.0; HEAD];
        for j in 0..=i {
            let ddot = scores[j] * (dscores[j] - mean) * shrink;
            for d in 0..HEAD {
                dq[d] += ddot * k[j][d];
                dk[j][d] += ddot * q[d];
            }
        }
        add_outer(&x[i], &dq, dquery);
    }
    for i in 0..n {
        add_outer(&x[i], &dk[i], dkey);
        add_outer(&x[i], &dv[i], dvalue);
    }
    loss / n as f64
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
    &[f64],
    f64,
) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([q, k, v, o], [x, target]) = (inputs.active(), inputs.constant());
        let [dq, dk, dv, do_] = shadows.each();
        adjoint(q, dq, k, dk, v, dv, o, do_, x, target, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let n = scale.or_small(40, 7);
    let mut numbers = Numbers::from_seed(114);
    let active = [MODEL * HEAD; 4].map(|length| numbers.array(length, -0.4, 0.4)).to_vec();
    let x = numbers.array(n * MODEL, -1.0, 1.0);
    let target = numbers.array(n * MODEL, -1.0, 1.0);
    let inputs = Inputs { active, constant: vec![x, target], ..Inputs::default() };
    let primal = |inputs: &mut Inputs| {
        let ([q, k, v, o], [x, target]) = (inputs.active(), inputs.constant());
        head::loss(q, k, v, o, x, target)
    };
    Program::new("attention", inputs, primal, calling(head::loss_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
