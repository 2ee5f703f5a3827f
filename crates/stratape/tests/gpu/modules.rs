//! Kernels in a module under `#[differentiable]`, with functions, structs and constants of the module.

use crate::differences::{agree, numbers};
use stratape::gpu::{Device, Grid};

/// Of another module, which the one below asks for.
#[stratape::device]
pub(crate) fn damped(x: f64) -> f64 {
    x / (1.0 + x * x)
}

#[stratape::differentiable]
mod diffusion {
    use super::damped;
    use stratape::gpu::{self, Device, GpuError, Grid};

    pub(crate) const HALF: f64 = 0.5;

    #[derive(Clone, Copy)]
    pub(crate) struct Material {
        pub(crate) conductivity: f64,
        pub(crate) capacity: f64,
    }

    impl Material {
        fn rate(&self) -> f64 {
            self.conductivity / self.capacity
        }

        #[gradient]
        pub(crate) fn squared(&self, factor: f64) -> f64 {
            factor * self.rate() * self.rate()
        }
    }

    #[device]
    fn index() -> usize {
        thread_idx().x + block_idx().x * block_dim().x
    }

    fn bend(u: &[f64], i: usize) -> f64 {
        u[i - 1] - 2.0 * u[i] + u[i + 1]
    }

    #[stratape::kernel]
    #[gradient]
    pub(crate) fn step(next: &mut [f64], now: &[f64], material: Material) {
        let i = index();
        if i > 0 && i + 1 < now.len() {
            next[i] = damped(now[i]) + HALF * material.rate() * bend(now, i);
        }
    }

    #[gradient]
    pub(crate) fn roughness(
        gpu: &Device,
        start: &[f64],
        rate: f64,
        steps: usize,
    ) -> Result<f64, GpuError> {
        let mut now = gpu.upload(start)?;
        let mut next = gpu.upload(start)?;
        let material = Material { conductivity: rate, capacity: 2.0 };
        for _ in 0..steps {
            step::launch(gpu, Grid::blocks(2).threads(8), (&mut next, &now, material))?;
            std::mem::swap(&mut now, &mut next);
        }
        gpu::dot(&now, &now)
    }
}

use diffusion::{Material, roughness, roughness_grad, step, step_grad};

#[test]
fn a_kernel_and_its_gradient() {
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(2).threads(8);
    let n = 13;
    let run = |at: &[f64]| {
        let (now, mut next) = (gpu.upload(&at[2..]).unwrap(), gpu.zeros(n).unwrap());
        let material = Material { conductivity: at[0], capacity: at[1] };
        step::launch(&gpu, &grid, (&mut next, &now, material)).unwrap();
        next.download().unwrap().iter().enumerate().map(|(k, x)| k as f64 * x).sum()
    };
    let at = numbers(n + 2);
    let weights: Vec<f64> = (0..n).map(|k| k as f64).collect();
    let (now, mut next) = (gpu.upload(&at[2..]).unwrap(), gpu.zeros(n).unwrap());
    let (mut dnext, mut dnow) = (gpu.upload(&weights).unwrap(), gpu.zeros(n).unwrap());
    let mut dmaterial = gpu.zeros(2).unwrap();
    let material = Material { conductivity: at[0], capacity: at[1] };
    let arguments = (&mut next, &mut dnext, &now, &mut dnow, material, &mut dmaterial);
    step_grad::launch(&gpu, &grid, arguments).unwrap();
    let found = [dmaterial.download().unwrap(), dnow.download().unwrap()].concat();
    agree(run, &at, &found, 1e-6);
}

#[test]
fn a_host_function_beside_its_kernel() {
    let gpu = Device::new().unwrap();
    let at = numbers(12);
    let run = |at: &[f64]| roughness(&gpu, &at[1..], at[0], 3).unwrap();
    let mut dstart = vec![0.0; 11];
    let (_, drate) = roughness_grad(&gpu, &at[1..], &mut dstart, at[0], 3, 1.0).unwrap();
    agree(run, &at, &[&[drate], &dstart[..]].concat(), 1e-6);
}

#[stratape::differentiable]
mod alone {
    #[stratape::kernel]
    #[gradient(name = doubled_back)]
    pub(super) fn doubled(y: &mut [f32]) {
        y[thread_idx().x] *= 2.0;
    }
}

#[test]
fn nothing_from_outside() {
    let gpu = Device::new().unwrap();
    let (mut y, mut dy) = (gpu.upload(&[1.0; 3]).unwrap(), gpu.upload(&[1.5; 3]).unwrap());
    alone::doubled::launch(&gpu, Grid::blocks(1).threads(3), (&mut y,)).unwrap();
    alone::doubled_back::launch(&gpu, Grid::blocks(1).threads(3), (&mut y, &mut dy)).unwrap();
    assert_eq!(dy.download().unwrap(), [3.0; 3]);
    assert_eq!(y.download().unwrap(), [4.0; 3]);
}

#[allow(unused_qualifications)]
#[stratape::differentiable]
mod outer {
    use stratape::gpu::{self, Device, GpuError, Grid};

    #[gradient]
    pub(crate) fn sum_of_squares(gpu: &Device, x: &[f64], factor: f64) -> Result<f64, GpuError> {
        let mut x = gpu.upload(x)?;
        let grid = Grid::blocks(1).threads(x.len());
        inner::squares::launch(gpu, grid, (&mut x, inner::Factor(factor)))?;
        gpu::sum(&x)
    }

    pub(crate) mod inner {
        #[derive(Clone, Copy)]
        pub(crate) struct Factor(pub(crate) f64);

        fn square(x: f64) -> f64 {
            x * x
        }

        #[stratape::kernel]
        #[gradient]
        pub(crate) fn squares(y: &mut [f64], factor: Factor) {
            let i = thread_idx().x;
            y[i] = factor.0 * square(y[i]);
        }
    }
}

#[test]
fn a_kernel_of_an_inner_module() {
    let gpu = Device::new().unwrap();
    let (mut y, mut dy) = (gpu.upload(&[2.0, 3.0]).unwrap(), gpu.upload(&[1.0, 1.0]).unwrap());
    let (grid, mut dfactor) = (Grid::blocks(1).threads(2), gpu.zeros(1).unwrap());
    let arguments = (&mut y, &mut dy, outer::inner::Factor(0.5), &mut dfactor);
    outer::inner::squares_grad::launch(&gpu, grid, arguments).unwrap();
    assert_eq!(y.download().unwrap(), [2.0, 4.5]);
    assert_eq!(dfactor.download().unwrap(), [13.0]);
    assert_eq!(dy.download().unwrap(), [2.0, 3.0]);
    let mut dx = [0.0; 2];
    let found = outer::sum_of_squares_grad(&gpu, &[2.0, 3.0], &mut dx, 0.5, 1.0);
    assert_eq!((found.unwrap(), dx), ((6.5, 13.0), [2.0, 3.0]));
}
