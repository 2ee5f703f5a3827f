//! The equation of state of LULESH: the kernel that others differentiate, with respect to the energies.

use stratape::gpu::{Device, GpuError, Grid};
use stratape_lulesh::kernel::{equation_of_state, equation_of_state_grad};

use super::{Times, median, upload};

/// A cube of 50³ elements.
pub(super) fn size_50(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    of_size(gpu, if small { 8 } else { 50 })
}

/// A cube of 100³ elements.
pub(super) fn size_100(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    of_size(gpu, if small { 10 } else { 100 })
}

fn of_size(gpu: &Device, edge: usize) -> Result<Times, GpuError> {
    let n = edge.pow(3);
    let grid = Grid::blocks(n.div_ceil(128)).threads(128);
    let constant = |value: f64| gpu.upload(&vec![value; n]);
    let (mut energy, mut pressure) = (upload(gpu, n, 1)?, upload(gpu, n, 2)?);
    let (mut viscosity, mut sound) = (upload(gpu, n, 3)?, upload(gpu, n, 4)?);
    // Half of the elements are compressed.
    let (old_volume, mut volume) = (constant(0.9)?, constant(0.4)?);
    let (linear, quadratic) = (upload(gpu, n, 6)?, upload(gpu, n, 7)?);
    let changed: Vec<f64> = super::uniform(n, 5).iter().map(|by| 0.89 + 0.02 * by).collect();
    volume.write(&changed)?;
    let mut by_energy = constant(1.0)?;
    let kernel = median(gpu, || {
        let lists = (
            &mut energy,
            &mut pressure,
            &mut viscosity,
            &mut sound,
            &old_volume,
            &mut volume,
            &linear,
            &quadratic,
        );
        equation_of_state::launch(gpu, &grid, lists)
    })?;
    let gradient = median(gpu, || {
        let lists = (
            &mut energy,
            &mut by_energy,
            &mut pressure,
            &mut viscosity,
            &mut sound,
            &old_volume,
            &mut volume,
            &linear,
            &quadratic,
        );
        equation_of_state_grad::launch(gpu, &grid, lists)
    })?;
    Ok(Times { kernel, gradient })
}
