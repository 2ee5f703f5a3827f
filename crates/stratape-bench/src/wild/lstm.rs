//! lstm: a cell of long short-term memory over a sequence, and the squared error of what it foretells.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

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

/// How many weights a gate has: of the inputs, then of the hidden units.
const ROW: usize = INPUTS + HIDDEN;

/// One step, as the way back needs it: the four gates, the cells after it and their hyperbolic tangents.
#[derive(Clone, Copy)]
struct Step {
    gates: [[f64; HIDDEN]; 4],
    cell: [f64; HIDDEN],
    tanh: [f64; HIDDEN],
}

impl Step {
    const BEFORE: Self =
        Self { gates: [[0.0; HIDDEN]; 4], cell: [0.0; HIDDEN], tanh: [0.0; HIDDEN] };

    fn hidden(&self) -> [f64; HIDDEN] {
        std::array::from_fn(|i| self.gates[2][i] * self.tanh[i])
    }
}

/// Four sums side by side.
fn dot(a: &[f64; ROW], b: &[f64; ROW]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// What a step reads: its input, and the hidden units before it.
fn read(x: &[f64; INPUTS], hidden: &[f64; HIDDEN]) -> [f64; ROW] {
    let mut read = [0.0; ROW];
    read[..INPUTS].copy_from_slice(x);
    read[INPUTS..].copy_from_slice(hidden);
    read
}

/// Keeps gates and cells of every step; the hidden units follow from them.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    weights: &[f64],
    dweights: &mut [f64],
    biases: &[f64],
    dbiases: &mut [f64],
    readout: &[f64],
    dreadout: &mut [f64],
    sequence: &[f64],
    targets: &[f64],
    seed: f64,
) -> f64 {
    let (rows, inputs) = (weights.as_chunks::<ROW>().0, sequence.as_chunks::<INPUTS>().0);
    let drows = dweights.as_chunks_mut::<ROW>().0;
    let mut steps = Vec::with_capacity(targets.len() + 1);
    steps.push(Step::BEFORE);
    let mut errors = Vec::with_capacity(targets.len());
    let mut hidden = [0.0; HIDDEN];
    let mut loss = 0.0;
    for (t, (x, target)) in inputs.iter().zip(targets).enumerate() {
        let read = read(x, &hidden);
        let mut step = Step::BEFORE;
        for gate in 0..4 {
            for i in 0..HIDDEN {
                let row = gate * HIDDEN + i;
                let sum = biases[row] + dot(&rows[row], &read);
                step.gates[gate][i] =
                    if gate == 3 { sum.tanh() } else { 1.0 / (1.0 + (-sum).exp()) };
            }
        }
        let [forget, input, _, candidate] = &step.gates;
        for i in 0..HIDDEN {
            step.cell[i] = forget[i] * steps[t].cell[i] + input[i] * candidate[i];
            step.tanh[i] = step.cell[i].tanh();
        }
        hidden = step.hidden();
        steps.push(step);
        let error = hidden.iter().zip(readout).map(|(h, w)| h * w).sum::<f64>() - target;
        loss += error * error;
        errors.push(error);
    }

    let scale = 2.0 * seed / targets.len() as f64;
    let (mut dhidden, mut dcell) = ([0.0; HIDDEN], [0.0; HIDDEN]);
    for t in (0..targets.len()).rev() {
        let (before, step) = (&steps[t], &steps[t + 1]);
        let [forget, input, output, candidate] = &step.gates;
        let dprediction = scale * errors[t];
        let mut dsums = [[0.0; HIDDEN]; 4];
        for i in 0..HIDDEN {
            dreadout[i] += dprediction * output[i] * step.tanh[i];
            let dh = dhidden[i] + dprediction * readout[i];
            let dc = dcell[i] + dh * output[i] * (1.0 - step.tanh[i] * step.tanh[i]);
            dsums[0][i] = dc * before.cell[i] * forget[i] * (1.0 - forget[i]);
            dsums[1][i] = dc * candidate[i] * input[i] * (1.0 - input[i]);
            dsums[2][i] = dh * step.tanh[i] * output[i] * (1.0 - output[i]);
            dsums[3][i] = dc * input[i] * (1.0 - candidate[i] * candidate[i]);
            dcell[i] = dc * forget[i];
        }
        let read = read(&inputs[t], &before.hidden());
        dhidden = [0.0; HIDDEN];
        for (row, &dsum) in dsums.as_flattened().iter().enumerate() {
            dbiases[row] += dsum;
            for j in 0..ROW {
                drows[row][j] += dsum * read[j];
            }
            for j in 0..HIDDEN {
                dhidden[j] += dsum * rows[row][INPUTS + j];
            }
        }
    }
    loss / targets.len() as f64
}

type Adjoint =
    fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], &mut [f64], &[f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([w, b, r], [sequence, targets]) = (inputs.active(), inputs.constant());
        let [dw, db, dr] = shadows.each();
        adjoint(w, dw, b, db, r, dr, sequence, targets, 1.0)
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
    let primal = |inputs: &mut Inputs| {
        let ([weights, biases, readout], [sequence, targets]) =
            (inputs.active(), inputs.constant());
        model::loss(weights, biases, readout, sequence, targets)
    };
    Program::new("lstm", inputs, primal, calling(model::loss_grad))
        .with_by_hand(calling(by_hand))
        .with_state(steps * (6 * HIDDEN + 1) * size_of::<f64>())
}
