//! logistic: logistic regression on sparse rows, with a penalty.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient(wrt(weights, bias))]
fn loss(
    weights: &[f64],
    bias: f64,
    starts: &[usize],
    columns: &[usize],
    values: &[f64],
    labels: &[f64],
    penalty: f64,
) -> f64 {
    let mut loss = 0.0;
    for row in 0..labels.len() {
        let mut score = bias;
        for k in starts[row]..starts[row + 1] {
            score += weights[columns[k]] * values[k];
        }
        let margin = labels[row] * score;
        // ln(1 + exp(-margin)), without overflow.
        loss += (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
    }
    loss / labels.len() as f64 + 0.5 * penalty * weights.iter().map(|w| w * w).sum::<f64>()
}

/// Row by row, forward and back at once.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    weights: &[f64],
    dweights: &mut [f64],
    bias: f64,
    starts: &[usize],
    columns: &[usize],
    values: &[f64],
    labels: &[f64],
    penalty: f64,
    seed: f64,
) -> (f64, f64) {
    let scale = seed / labels.len() as f64;
    let (mut loss, mut dbias) = (0.0, 0.0);
    for row in 0..labels.len() {
        let mut score = bias;
        for k in starts[row]..starts[row + 1] {
            score += weights[columns[k]] * values[k];
        }
        let margin = labels[row] * score;
        let small = (-margin.abs()).exp();
        loss += (-margin).max(0.0) + small.ln_1p();
        let wrong = if margin > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
        let dscore = -scale * labels[row] * wrong;
        dbias += dscore;
        for k in starts[row]..starts[row + 1] {
            dweights[columns[k]] += dscore * values[k];
        }
    }
    let mut square = 0.0;
    for (w, dw) in weights.iter().zip(dweights) {
        square += w * w;
        *dw += seed * penalty * w;
    }
    (loss / labels.len() as f64 + 0.5 * penalty * square, dbias)
}

type Adjoint =
    fn(&[f64], &mut [f64], f64, &[usize], &[usize], &[f64], &[f64], f64, f64) -> (f64, f64);

const PENALTY: f64 = 1e-3;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([weights, bias], [values, labels]) = (inputs.active(), inputs.constant());
        let ([starts, columns], [dweights, dbias]) = (inputs.indices(), shadows.each());
        let (value, by_bias) =
            adjoint(weights, dweights, bias[0], starts, columns, values, labels, PENALTY, 1.0);
        dbias[0] += by_bias;
        value
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (rows, features) = (scale.or_small(1000, 12), scale.or_small(500, 15));
    let mut numbers = Numbers::from_seed(121);
    let (mut starts, mut columns) = (vec![0], Vec::new());
    for _ in 0..rows {
        let filled = numbers.within(4.0, 20.0) as usize;
        columns.extend((0..filled).map(|_| numbers.within(0.0, features as f64) as usize));
        starts.push(columns.len());
    }
    let weights = numbers.array(features, -1.0, 1.0);
    let values = numbers.array(columns.len(), -1.0, 1.0);
    let labels: Vec<f64> = numbers.array(rows, -1.0, 1.0).iter().map(|v| v.signum()).collect();
    let inputs = Inputs {
        active: vec![weights, vec![0.1]],
        constant: vec![values, labels],
        indices: vec![starts, columns],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([weights, bias], [values, labels]) = (inputs.active(), inputs.constant());
        let [starts, columns] = inputs.indices();
        loss(weights, bias[0], starts, columns, values, labels, PENALTY)
    };
    Program::new("logistic", inputs, primal, calling(loss_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
