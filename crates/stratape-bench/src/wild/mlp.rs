//! The network of the programs `mlp_offset`, `mlp_indexed` and `mlp_iterators`: what they read, and its adjoint by hand.
//!
//! Layers of equal width, tanh after each, a linear unit at the end, the mean squared error. A row of the weights holds
//! those of one unit and, behind them, its bias.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

pub(super) const WIDTH: usize = 32;
pub(super) const LAYERS: usize = 3;

type Adjoint = fn(&[f64], &mut [f64], &[f64], &[f64], f64) -> f64;

/// The program of one way to write the network.
pub(super) fn program(
    name: &'static str,
    scale: Scale,
    primal: fn(&[f64], &[f64], &[f64]) -> f64,
    ours: Adjoint,
) -> Program {
    let samples = scale.or_small(16, 3);
    let mut numbers = Numbers::from_seed(101);
    let weights = numbers.array((LAYERS * WIDTH + 1) * (WIDTH + 1), -0.2, 0.2);
    let data = numbers.array(samples * WIDTH, -1.0, 1.0);
    let targets = numbers.array(samples, -1.0, 1.0);
    let inputs =
        Inputs { active: vec![weights], constant: vec![data, targets], ..Inputs::default() };
    let calling = |gradient: Adjoint| {
        move |inputs: &mut Inputs, shadows: &mut Shadows| {
            let ([weights], [data, targets]) = (inputs.active(), inputs.constant());
            let [dweights] = shadows.each();
            gradient(weights, dweights, data, targets, 1.0)
        }
    };
    let primal = move |inputs: &mut Inputs| {
        let ([weights], [data, targets]) = (inputs.active(), inputs.constant());
        primal(weights, data, targets)
    };
    Program::new(name, inputs, primal, calling(ours))
        .with_by_hand(calling(by_hand))
        .with_state((LAYERS - 1) * WIDTH * size_of::<f64>())
}

/// Keeps the units of all layers of one sample, and goes back through them.
fn by_hand(weights: &[f64], dweights: &mut [f64], data: &[f64], targets: &[f64], seed: f64) -> f64 {
    const ROW: usize = WIDTH + 1;
    let row_of = |layer: usize, unit: usize| (layer * WIDTH + unit) * ROW;
    let scale = seed / targets.len() as f64;
    let mut units = [[0.0; WIDTH]; LAYERS + 1];
    let mut loss = 0.0;
    for (sample, target) in data.chunks_exact(WIDTH).zip(targets) {
        units[0].copy_from_slice(sample);
        for layer in 0..LAYERS {
            for unit in 0..WIDTH {
                let row = &weights[row_of(layer, unit)..][..ROW];
                let mut sum = row[WIDTH];
                for j in 0..WIDTH {
                    sum += row[j] * units[layer][j];
                }
                units[layer + 1][unit] = sum.tanh();
            }
        }
        let output = &weights[row_of(LAYERS, 0)..];
        let mut sum = output[WIDTH];
        for j in 0..WIDTH {
            sum += output[j] * units[LAYERS][j];
        }
        let error = sum - target;
        loss += error * error;

        let derror = 2.0 * scale * error;
        let mut dunits = [0.0; WIDTH];
        let doutput = &mut dweights[row_of(LAYERS, 0)..];
        for j in 0..WIDTH {
            doutput[j] += derror * units[LAYERS][j];
            dunits[j] = derror * output[j];
        }
        doutput[WIDTH] += derror;
        for layer in (0..LAYERS).rev() {
            let mut dbelow = [0.0; WIDTH];
            for unit in 0..WIDTH {
                let value = units[layer + 1][unit];
                let dsum = dunits[unit] * (1.0 - value * value);
                let row = &weights[row_of(layer, unit)..][..ROW];
                let drow = &mut dweights[row_of(layer, unit)..][..ROW];
                for j in 0..WIDTH {
                    drow[j] += dsum * units[layer][j];
                    dbelow[j] += dsum * row[j];
                }
                drow[WIDTH] += dsum;
            }
            dunits = dbelow;
        }
    }
    loss / targets.len() as f64
}
