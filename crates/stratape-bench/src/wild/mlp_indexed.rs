//! mlp_indexed: the network as nested loops with computed indices, its sizes known at run time.

use stratape::gradient;

use super::mlp::{self, LAYERS, WIDTH};
use crate::programs::{Program, Scale};

#[gradient(wrt(weights))]
fn loss(weights: &[f64], data: &[f64], targets: &[f64], width: usize, layers: usize) -> f64 {
    let mut units = vec![0.0; (layers + 1) * width];
    let mut loss = 0.0;
    for n in 0..targets.len() {
        for j in 0..width {
            units[j] = data[n * width + j];
        }
        for layer in 0..layers {
            for i in 0..width {
                let row = (layer * width + i) * (width + 1);
                let mut sum = weights[row + width];
                for j in 0..width {
                    sum += weights[row + j] * units[layer * width + j];
                }
                units[(layer + 1) * width + i] = sum.tanh();
            }
        }
        let row = layers * width * (width + 1);
        let mut output = weights[row + width];
        for j in 0..width {
            output += weights[row + j] * units[layers * width + j];
        }
        loss += (output - targets[n]).powi(2);
    }
    loss / targets.len() as f64
}

pub(super) fn program(scale: Scale) -> Program {
    mlp::program(
        "mlp_indexed",
        scale,
        |weights, data, targets| loss(weights, data, targets, WIDTH, LAYERS),
        |weights, dweights, data, targets, seed| {
            loss_grad(weights, dweights, data, targets, WIDTH, LAYERS, seed)
        },
    )
}
