//! The equation of state as a kernel: against the run, and against differences.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Random, close};
use stratape::gpu::{Device, Grid};
use stratape_lulesh::kernel::{equation_of_state, equation_of_state_grad};

const ELEMENTS: usize = 500;

/// Energy, pressure, viscosity, old and new volume, and the two parts of the viscosity.
fn lists(random: &mut Random) -> [Vec<f64>; 7] {
    let mut list = |low, high| (0..ELEMENTS).map(|_| random.within(low, high)).collect();
    let (energy, pressure, viscosity) = (list(0.5, 3.0), list(0.1, 2.0), list(0.0, 0.3));
    [energy, pressure, viscosity, list(0.8, 1.1), list(0.8, 1.1), list(0.0, 0.1), list(0.0, 0.2)]
}

/// The energies after a step from these.
fn energies(gpu: &Device, grid: &Grid, start: &[f64], lists: &[Vec<f64>; 7]) -> Vec<f64> {
    let [_, pressure, viscosity, old, new, linear, quadratic] = lists;
    let mut energy = gpu.upload(start).unwrap();
    let (mut pressure, mut viscosity) =
        (gpu.upload(pressure).unwrap(), gpu.upload(viscosity).unwrap());
    let (mut sound, mut new) = (gpu.zeros(ELEMENTS).unwrap(), gpu.upload(new).unwrap());
    let (old, linear, quadratic) =
        (gpu.upload(old).unwrap(), gpu.upload(linear).unwrap(), gpu.upload(quadratic).unwrap());
    let passed = (
        &mut energy,
        &mut pressure,
        &mut viscosity,
        &mut sound,
        &old,
        &mut new,
        &linear,
        &quadratic,
    );
    equation_of_state::launch(gpu, grid, passed).unwrap();
    assert!(sound.download().unwrap().iter().all(|sound| *sound > 0.0));
    energy.download().unwrap()
}

#[test]
fn the_gradient_is_that_of_differences() {
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(ELEMENTS.div_ceil(64)).threads(64);
    let mut random = Random::new(7);
    for _ in 0..3 {
        let lists = lists(&mut random);
        let [start, pressure, viscosity, old, new, linear, quadratic] = &lists;
        let weights: Vec<f64> = (0..ELEMENTS).map(|_| random.within(-1.0, 1.0)).collect();
        let (mut energy, mut by_energy) =
            (gpu.upload(start).unwrap(), gpu.upload(&weights).unwrap());
        let (mut pressure, mut viscosity) =
            (gpu.upload(pressure).unwrap(), gpu.upload(viscosity).unwrap());
        let (mut sound, mut new) = (gpu.zeros(ELEMENTS).unwrap(), gpu.upload(new).unwrap());
        let (old, linear, quadratic) =
            (gpu.upload(old).unwrap(), gpu.upload(linear).unwrap(), gpu.upload(quadratic).unwrap());
        let passed = (
            &mut energy,
            &mut by_energy,
            &mut pressure,
            &mut viscosity,
            &mut sound,
            &old,
            &mut new,
            &linear,
            &quadratic,
        );
        equation_of_state_grad::launch(&gpu, &grid, passed).unwrap();
        assert_eq!(energy.download().unwrap(), energies(&gpu, &grid, start, &lists));
        let found = by_energy.download().unwrap();
        let moved = |by: f64| {
            let start: Vec<f64> = start.iter().map(|energy| energy + by).collect();
            energies(&gpu, &grid, &start, &lists)
        };
        // Each energy depends on its own alone.
        let (up, down) = (moved(1e-6), moved(-1e-6));
        for element in 0..ELEMENTS {
            let expected = weights[element] * (up[element] - down[element]) / 2e-6;
            close("∂e", found[element], expected, 1e-6);
        }
    }
}
