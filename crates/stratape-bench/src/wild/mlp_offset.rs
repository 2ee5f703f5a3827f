//! mlp_offset: the network with an offset into its weights that is carried from row to row.

use stratape::gradient;

use super::mlp::{self, LAYERS, WIDTH};
use crate::programs::{Program, Scale};

#[gradient(wrt(weights))]
fn loss(weights: &[f64], data: &[f64], targets: &[f64]) -> f64 {
    let mut loss = 0.0;
    for n in 0..targets.len() {
        let mut x = [0.0; WIDTH];
        x.copy_from_slice(&data[n * WIDTH..(n + 1) * WIDTH]);
        let mut at = 0;
        for _ in 0..LAYERS {
            let mut y = [0.0; WIDTH];
            for i in 0..WIDTH {
                let mut sum = weights[at + WIDTH];
                for j in 0..WIDTH {
                    sum += weights[at + j] * x[j];
                }
                y[i] = sum.tanh();
                at += WIDTH + 1;
            }
            x = y;
        }
        let mut output = weights[at + WIDTH];
        for j in 0..WIDTH {
            output += weights[at + j] * x[j];
        }
        let error = output - targets[n];
        loss += error * error;
    }
    loss / targets.len() as f64
}

pub(super) fn program(scale: Scale) -> Program {
    mlp::program("mlp_offset", scale, loss, loss_grad)
}
