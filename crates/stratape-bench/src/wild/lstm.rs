//! lstm: a cell of long short-term memory over a sequence, and the squared error of what it foretells.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale};

const INPUTS: usize = 8;
const HIDDEN: usize = 20;

#[stratape::differentiable]
mod model {
    use super::{HIDDEN, INPUTS};

    #[derive(Clone, Copy)]
    struct State {
        hidden: [f64; HIDDEN],
        cell: [f64; HIDDEN],
    }

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// The four gates of unit `i`: rows `i`, `HIDDEN + i`, … of the weights.
    fn gate(weights: &[f64], biases: &[f64], row: usize, x: &[f64], state: &State) -> f64 {
        let start = row * (INPUTS + HIDDEN);
        let mut sum = biases[row];
        for j in 0..INPUTS {
            sum += weights[start + j] * x[j];
        }
        for j in 0..HIDDEN {
            sum += weights[start + INPUTS + j] * state.hidden[j];
        }
        sum
    }

    fn step(weights: &[f64], biases: &[f64], x: &[f64], state: &State) -> State {
        let mut next = State { hidden: [0.0; HIDDEN], cell: [0.0; HIDDEN] };
        for i in 0..HIDDEN {
            let forget = sigmoid(gate(weights, biases, i, x, state));
            let input = sigmoid(gate(weights, biases, HIDDEN + i, x, state));
            let output = sigmoid(gate(weights, biases, 2 * HIDDEN + i, x, state));
            let candidate = gate(weights, biases, 3 * HIDDEN + i, x, state).tanh();
            next.cell[i] = forget * state.cell[i] + input * candidate;
            next.hidden[i] = output * next.cell[i].tanh();
        }
        next
    }

    #[gradient(wrt(weights, biases, readout))]
    pub(super) fn loss(
        weights: &[f64],
        biases: &[f64],
        readout: &[f64],
        sequence: &[f64],
        targets: &[f64],
    ) -> f64 {
        let mut state = State { hidden: [0.0; HIDDEN], cell: [0.0; HIDDEN] };
        let mut loss = 0.0;
        for (x, target) in sequence.chunks_exact(INPUTS).zip(targets) {
            state = step(weights, biases, x, &state);
            let prediction: f64 = state.hidden.iter().zip(readout).map(|(h, w)| h * w).sum();
            loss += (prediction - target).powi(2);
        }
        loss / targets.len() as f64
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let steps = scale.or_small(30, 5);
    let mut numbers = Numbers::from_seed(105);
    let weights = numbers.array(4 * HIDDEN * (INPUTS + HIDDEN), -0.3, 0.3);
    let biases = numbers.array(4 * HIDDEN, -0.3, 0.3);
    let readout = numbers.array(HIDDEN, -0.5, 0.5);
    let sequence = numbers.array(steps * INPUTS, -1.0, 1.0);
    let targets = numbers.array(steps, -1.0, 1.0);
    let inputs = Inputs {
        active: vec![weights, biases, readout],
        constant: vec![sequence, targets],
        ..Inputs::default()
    };
    Program::new(
        "lstm",
        inputs,
        |inputs| {
            let ([weights, biases, readout], [sequence, targets]) =
                (inputs.active(), inputs.constant());
            model::loss(weights, biases, readout, sequence, targets)
        },
        |inputs, shadows| {
            let ([w, b, r], [sequence, targets]) = (inputs.active(), inputs.constant());
            let [dw, db, dr] = shadows.each();
            model::loss_grad(w, dw, b, db, r, dr, sequence, targets, 1.0)
        },
    )
}
