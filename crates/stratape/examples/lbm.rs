//! A flow through a channel by the lattice-Boltzmann method (D2Q9): a kernel for a step, and the gradient of the momentum behind an obstacle with respect to the first state and the relaxation rate.
//!
//! `cargo run --release --example lbm -p stratape` runs on the first CUDA device, or on the emulator; `-- WIDTH HEIGHT STEPS` chooses the size.

use std::time::Instant;

use stratape::gpu::{Buffer, Device, GpuError, Grid, dot, fresh};

/// The nine directions in which particles move, what they weigh at rest, and the direction that is opposite to each.
#[stratape::device]
const DX: [i32; 9] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
#[stratape::device]
const DY: [i32; 9] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
#[stratape::device]
const WEIGHT: [f64; 9] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];
#[stratape::device]
const OPPOSITE: [usize; 9] = [0, 3, 4, 1, 2, 7, 8, 5, 6];

/// Particles of a cell collide, or are thrown back by a wall, and move on to the neighbours. The channel is closed to a ring in both directions.
#[stratape::kernel]
#[gradient(wrt(next, f, omega))]
fn step(next: &mut [f64], f: &[f64], wall: &[u32], omega: f64, width: usize, height: usize) {
    let cell = thread_idx().x + block_idx().x * block_dim().x;
    let cells = width * height;
    if cell < cells {
        let mut own = [0.0; 9];
        let (mut density, mut jx, mut jy) = (0.0, 0.0, 0.0);
        for q in 0..9 {
            own[q] = f[q * cells + cell];
            density += own[q];
            jx += own[q] * DX[q] as f64;
            jy += own[q] * DY[q] as f64;
        }
        let (ux, uy) = (jx / density, jy / density);
        let (x, y) = (cell % width, cell / width);
        for q in 0..9 {
            let mut moving = own[OPPOSITE[q]];
            if wall[cell] == 0 {
                let along = 3.0 * (DX[q] as f64 * ux + DY[q] as f64 * uy);
                let speed = ux * ux + uy * uy;
                let rest = WEIGHT[q] * density * (1.0 + along + 0.5 * along * along - 1.5 * speed);
                moving = own[q] + omega * (rest - own[q]);
            }
            let to_x = (x as i32 + DX[q] + width as i32) as usize % width;
            let to_y = (y as i32 + DY[q] + height as i32) as usize % height;
            next[q * cells + to_y * width + to_x] = moving;
        }
    }
}

/// The channel, its walls, and what is asked of it.
struct Channel {
    gpu: Device,
    grid: Grid,
    width: usize,
    height: usize,
    steps: usize,
    wall: Buffer<u32>,
    /// The momentum behind the obstacle is the product of the last state and these.
    probe: Buffer<f64>,
}

impl Channel {
    fn new(gpu: &Device, width: usize, height: usize, steps: usize) -> Result<Self, GpuError> {
        let cells = width * height;
        let is_wall = |cell: usize| {
            let (x, y) = (cell % width, cell / width);
            y == 0 || y == height - 1 || (x == width / 4 && y >= height / 3 && y < 2 * height / 3)
        };
        let wall: Vec<u32> = (0..cells).map(|cell| u32::from(is_wall(cell))).collect();
        let at = width / 4 + 2;
        let probe: Vec<f64> = (0..9 * cells)
            .map(|k| if k % width == at { f64::from(DX[k / cells]) } else { 0.0 })
            .collect();
        Ok(Self {
            grid: Grid::blocks(cells.div_ceil(64)).threads(64),
            wall: gpu.upload(&wall)?,
            probe: gpu.upload(&probe)?,
            gpu: gpu.clone(),
            width,
            height,
            steps,
        })
    }

    /// A flow to the right, with a disturbance.
    fn first(&self) -> Vec<f64> {
        let cells = self.width * self.height;
        let one = |k: usize| {
            let (q, cell) = (k / cells, k % cells);
            let wave = ((cell * 13) % 29) as f64 / 29.0;
            WEIGHT[q] * (1.0 + 0.02 * wave) * (1.0 + 0.2 * f64::from(DX[q]))
        };
        (0..9 * cells).map(one).collect()
    }

    /// All states, from the first to the last.
    fn states(&self, first: &[f64], omega: f64) -> Result<Vec<Buffer<f64>>, GpuError> {
        let mut states = vec![self.gpu.upload(first)?];
        for k in 0..self.steps {
            let mut next = self.gpu.zeros(first.len())?;
            let arguments = (&mut next, &states[k], &self.wall, omega, self.width, self.height);
            step::launch(&self.gpu, &self.grid, arguments)?;
            states.push(next);
        }
        Ok(states)
    }

    fn momentum(&self, first: &[f64], omega: f64) -> Result<f64, GpuError> {
        dot(&self.states(first, omega)?[self.steps], &self.probe)
    }

    /// The derivatives with respect to the first state, and to the relaxation rate.
    fn gradient(&self, first: &[f64], omega: f64) -> Result<(Vec<f64>, f64), GpuError> {
        let states = self.states(first, omega)?;
        let (mut scratch, mut domega) = (self.gpu.zeros(first.len())?, self.gpu.zeros(1)?);
        let (mut dnext, mut df) = (self.gpu.zeros(first.len())?, self.gpu.zeros(first.len())?);
        dnext.copy_from(&self.probe)?;
        for state in states.iter().rev().skip(1) {
            step_grad::launch(
                &self.gpu,
                &self.grid,
                (
                    &mut scratch,
                    &mut dnext,
                    state,
                    fresh(&mut df),
                    &self.wall,
                    omega,
                    &mut domega,
                    self.width,
                    self.height,
                ),
            )?;
            std::mem::swap(&mut dnext, &mut df);
        }
        Ok((dnext.download()?, domega.download()?[0]))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { [24, 12, 6] } else { [512, 256, 50] };
    let mut sizes = usual;
    for (size, text) in sizes.iter_mut().zip(std::env::args().skip(1)) {
        *size = text.parse()?;
    }
    let [width, height, steps] = sizes;
    println!("on {gpu}: {width} × {height} cells, {steps} steps");
    let channel = Channel::new(&gpu, width, height, steps)?;
    let (first, omega) = (channel.first(), 1.2);
    println!("momentum behind the obstacle: {:.6}", channel.momentum(&first, omega)?);
    let start = Instant::now();
    let (dfirst, domega) = channel.gradient(&first, omega)?;
    println!(
        "its gradient, {} numbers: {:.1} ms",
        dfirst.len(),
        1e3 * start.elapsed().as_secs_f64()
    );

    let by = 1e-5;
    let difference = (channel.momentum(&first, omega + by)?
        - channel.momentum(&first, omega - by)?)
        / (2.0 * by);
    println!("d/d(relaxation rate): {domega:.9}, from differences {difference:.9}");
    let mut worst = (domega - difference).abs() / (1.0 + difference.abs());
    // Some of the elements of the first state, those of all directions among them.
    for at in (0..first.len()).step_by((first.len() / 20).max(1)) {
        let moved = |by: f64| {
            let mut first = first.clone();
            first[at] += by;
            channel.momentum(&first, omega)
        };
        let difference = (moved(by)? - moved(-by)?) / (2.0 * by);
        worst = worst.max((dfirst[at] - difference).abs() / (1.0 + difference.abs()));
    }
    println!("largest difference from central differences: {worst:.1e}");
    if worst > 1e-6 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
