//! mlp: a perceptron of 784, 128 and 10 units, tanh between them, and the squared error.

use super::numbers::Numbers;
use super::program::{Gradient, Inputs, Program};

const INPUTS: usize = 784;
const HIDDEN: usize = 128;
const OUTPUTS: usize = 10;

#[stratape::gradient(wrt(w1, b1, w2, b2))]
fn mlp(w1: &[f64], b1: &[f64], w2: &[f64], b2: &[f64], x: &[f64], target: &[f64]) -> f64 {
    let mut h = vec![0.0; HIDDEN];
    for i in 0..HIDDEN {
        let mut sum = b1[i];
        for j in 0..INPUTS {
            sum += w1[i * INPUTS + j] * x[j];
        }
        h[i] = sum.tanh();
    }
    let mut loss = 0.0;
    for i in 0..OUTPUTS {
        let mut sum = b2[i];
        for j in 0..HIDDEN {
            sum += w2[i * HIDDEN + j] * h[j];
        }
        let error = sum - target[i];
        loss += error * error;
    }
    loss
}

/// The hidden units are all that is kept. The second layer's adjoint follows each of its sums at
/// once.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn shaped(
    w1: &[f64],
    dw1: &mut [f64],
    b1: &[f64],
    db1: &mut [f64],
    w2: &[f64],
    dw2: &mut [f64],
    b2: &[f64],
    db2: &mut [f64],
    x: &[f64],
    target: &[f64],
    seed: f64,
) -> f64 {
    let x: &[f64; INPUTS] = x.as_array().expect("784 inputs");
    let mut h = [0.0; HIDDEN];
    for ((h, row), b) in h.iter_mut().zip(w1.as_chunks::<INPUTS>().0).zip(b1) {
        let mut sum = *b;
        for (w, x) in row.iter().zip(x) {
            sum += w * x;
        }
        *h = sum.tanh();
    }
    let mut dh = [0.0; HIDDEN];
    let mut loss = 0.0;
    let rows = w2.as_chunks::<HIDDEN>().0.iter().zip(dw2.as_chunks_mut::<HIDDEN>().0);
    for (((row, drow), (b, db)), target) in rows.zip(b2.iter().zip(db2)).zip(target) {
        let mut sum = *b;
        for (w, h) in row.iter().zip(&h) {
            sum += w * h;
        }
        let error = sum - target;
        loss += error * error;
        let adjoint = 2.0 * seed * error;
        *db += adjoint;
        for j in 0..HIDDEN {
            drow[j] += adjoint * h[j];
            dh[j] += adjoint * row[j];
        }
    }
    for (i, (row, db)) in
        dw1.as_chunks_mut::<INPUTS>().0.iter_mut().zip(db1).enumerate().take(HIDDEN)
    {
        let adjoint = dh[i] * (1.0 - h[i] * h[i]);
        *db += adjoint;
        for (dw, x) in row.iter_mut().zip(x) {
            *dw += adjoint * x;
        }
    }
    loss
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

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([w1, b1, w2, b2], [x, target]) = (inputs.active(), inputs.constant());
        let [dw1, db1, dw2, db2] = shadows.each();
        adjoint(w1, dw1, b1, db1, w2, dw2, b2, db2, x, target, 1.0)
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(15);
    let w1 = numbers.array(HIDDEN * INPUTS, -0.05, 0.05);
    let b1 = numbers.array(HIDDEN, -0.1, 0.1);
    let w2 = numbers.array(OUTPUTS * HIDDEN, -0.1, 0.1);
    let b2 = numbers.array(OUTPUTS, -0.1, 0.1);
    let x = numbers.array(INPUTS, 0.0, 1.0);
    let target = numbers.array(OUTPUTS, 0.0, 1.0);
    Program {
        name: "mlp",
        inputs: Inputs {
            active: vec![w1, b1, w2, b2],
            constant: vec![x, target],
            ..Inputs::default()
        },
        primal: Box::new(|inputs| {
            let ([w1, b1, w2, b2], [x, target]) = (inputs.active(), inputs.constant());
            mlp(w1, b1, w2, b2, x, target)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(mlp_grad),
        state_bytes: None,
        expected: None,
    }
}
