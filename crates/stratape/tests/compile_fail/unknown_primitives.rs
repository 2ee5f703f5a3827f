//! What primitives on devices host functions cannot call.

use stratape::gpu::{self, Buffer, GpuError};

#[stratape::gradient]
fn pulled_back(x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<(), GpuError> {
    gpu::sum_pullback(x, y, 1.0)
}

fn main() {}
