//! mlp_iterators: the network as slices and iterators over them.

use super::mlp::{self, LAYERS, WIDTH};
use crate::programs::{Program, Scale};

#[stratape::differentiable]
mod network {
    use super::{LAYERS, WIDTH};

    fn affine(row: &[f64], x: &[f64]) -> f64 {
        let (weights, bias) = row.split_at(x.len());
        bias[0] + weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
    }

    #[gradient(wrt(weights))]
    pub(super) fn loss(weights: &[f64], data: &[f64], targets: &[f64]) -> f64 {
        let (hidden, output) = weights.split_at(LAYERS * WIDTH * (WIDTH + 1));
        let mut loss = 0.0;
        for (sample, target) in data.chunks_exact(WIDTH).zip(targets) {
            let mut x = sample.to_vec();
            for layer in hidden.chunks_exact(WIDTH * (WIDTH + 1)) {
                let rows = layer.chunks_exact(WIDTH + 1);
                let y: Vec<f64> = rows.map(|row| affine(row, &x).tanh()).collect();
                x.copy_from_slice(&y);
            }
            loss += (affine(output, &x) - target).powi(2);
        }
        loss / targets.len() as f64
    }
}

pub(super) fn program(scale: Scale) -> Program {
    mlp::program("mlp_iterators", scale, network::loss, network::loss_grad)
}
