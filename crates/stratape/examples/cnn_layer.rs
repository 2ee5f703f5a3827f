//! A layer of a convolutional network as one kernel: a convolution of 3 × 3 with several channels, a bias, `relu`, and the largest of each 2 × 2; and its gradient with respect to image, weights and
//! bias.
//!
//! `cargo run --release --example cnn_layer -p stratape` runs on the first CUDA device, or on the emulator; `-- SIDE` chooses the side of the image.

use std::time::Instant;

use stratape::gpu::{Device, GpuError, Grid, dot, fresh};

/// Channels of the image, and of the result.
const CHANNELS: usize = 3;
const FILTERS: usize = 4;

/// A thread computes the four convolutions of which it keeps the largest. The image has a border of one pixel, so that the results of the convolution are as many as its inner pixels: `side` × `side`.
#[stratape::kernel]
#[gradient(wrt(out, image, weights, bias))]
fn layer(out: &mut [f64], image: &[f64], weights: &[f64], bias: &[f64], side: usize) {
    let column = thread_idx().x + block_idx().x * block_dim().x;
    let row = thread_idx().y + block_idx().y * block_dim().y;
    let filter = block_idx().z;
    let half = side / 2;
    if column < half && row < half {
        let mut largest = 0.0;
        for corner in 0..4 {
            let (y, x) = (2 * row + corner / 2, 2 * column + corner % 2);
            let mut sum = bias[filter];
            for channel in 0..CHANNELS {
                for k in 0..9 {
                    let pixel = (channel * (side + 2) + y + k / 3) * (side + 2) + x + k % 3;
                    sum += weights[(filter * CHANNELS + channel) * 9 + k] * image[pixel];
                }
            }
            // The largest that is above 0 is that of `relu`.
            if sum > largest {
                largest = sum;
            }
        }
        out[(filter * half + row) * half + column] = largest;
    }
}

/// The layer, for images of one size.
struct Layer {
    gpu: Device,
    grid: Grid,
    side: usize,
}

/// Image, weights and bias; or their derivatives.
type Numbers = [Vec<f64>; 3];

impl Layer {
    fn new(gpu: &Device, side: usize) -> Self {
        let blocks = (side / 2).div_ceil(8);
        let grid = Grid::blocks((blocks, blocks, FILTERS)).threads((8, 8));
        Self { gpu: gpu.clone(), grid, side }
    }

    fn results(&self) -> usize {
        FILTERS * (self.side / 2) * (self.side / 2)
    }

    /// Half the sum of the squares of all results.
    fn loss(&self, [image, weights, bias]: &Numbers) -> Result<f64, GpuError> {
        let gpu = &self.gpu;
        let (image, weights, bias) = (gpu.upload(image)?, gpu.upload(weights)?, gpu.upload(bias)?);
        let mut out = gpu.zeros(self.results())?;
        layer::launch(gpu, &self.grid, (&mut out, &image, &weights, &bias, self.side))?;
        Ok(0.5 * dot(&out, &out)?)
    }

    fn gradient(&self, [image, weights, bias]: &Numbers) -> Result<Numbers, GpuError> {
        let gpu = &self.gpu;
        let (image, weights, bias) = (gpu.upload(image)?, gpu.upload(weights)?, gpu.upload(bias)?);
        let mut out = gpu.zeros(self.results())?;
        layer::launch(gpu, &self.grid, (&mut out, &image, &weights, &bias, self.side))?;
        // The derivative of the loss with respect to the results are the results.
        let mut dout = gpu.zeros(self.results())?;
        dout.copy_from(&out)?;
        let (mut dimage, mut dweights) = (gpu.alloc_like(&image)?, gpu.alloc_like(&weights)?);
        let mut dbias = gpu.alloc_like(&bias)?;
        gpu.synchronize()?;
        let start = Instant::now();
        layer_grad::launch(
            gpu,
            &self.grid,
            (
                &mut out,
                &mut dout,
                &image,
                fresh(&mut dimage),
                &weights,
                fresh(&mut dweights),
                &bias,
                fresh(&mut dbias),
                self.side,
            ),
        )?;
        gpu.synchronize()?;
        println!("gradient: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
        Ok([dimage.download()?, dweights.download()?, dbias.download()?])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { 16 } else { 256 };
    let side = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => usual,
    };
    println!("on {gpu}: {CHANNELS} channels of {side} × {side}, {FILTERS} filters");
    let layer = Layer::new(&gpu, side);
    let wave = |n: usize, seed: f64| -> Vec<f64> {
        (0..n).map(|k| (seed + 1.7 * k as f64 + 0.01 * (k * k) as f64).sin()).collect()
    };
    let at: Numbers = [
        wave(CHANNELS * (side + 2) * (side + 2), 0.3),
        wave(FILTERS * CHANNELS * 9, 1.1),
        wave(FILTERS, 2.5),
    ];
    println!("loss: {:.6}", layer.loss(&at)?);
    let found = layer.gradient(&at)?;

    let (by, mut worst) = (1e-6, 0.0_f64);
    for (part, name) in ["image", "weights", "bias"].iter().enumerate() {
        let count = at[part].len();
        for k in (0..count).step_by((count / 20).max(1)) {
            let moved = |by: f64| {
                let mut at = at.clone();
                at[part][k] += by;
                layer.loss(&at)
            };
            let difference = (moved(by)? - moved(-by)?) / (2.0 * by);
            let apart = (found[part][k] - difference).abs() / (1.0 + difference.abs());
            if apart > 1e-6 {
                return Err(format!(
                    "{name}, element {k}: {}, and by differences {difference}",
                    found[part][k]
                )
                .into());
            }
            worst = worst.max(apart);
        }
    }
    println!("largest difference from central differences: {worst:.1e}");
    Ok(())
}
