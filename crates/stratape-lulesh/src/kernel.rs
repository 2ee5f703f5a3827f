//! The equation of state as a kernel for GPUs: one thread an element.
//!
//! It is the same function of one element as in [`evolve`](crate::evolve). The derivative is that with respect to the energies, all else being constant: what other tools show of LULESH on GPUs.
//!
//! ```
//! use stratape::gpu::{Device, Grid};
//! use stratape_lulesh::kernel::{equation_of_state, equation_of_state_grad};
//!
//! let gpu = Device::new()?; // the emulator, where there is no device
//! let elements = 1000;
//! let list = |value: f64| gpu.upload(&vec![value; elements]);
//! let (mut energy, mut pressure, mut viscosity, mut sound) =
//!     (list(2.0)?, list(1.3)?, list(0.1)?, list(0.0)?);
//! let (old_volume, mut volume, linear, quadratic) = (list(0.99)?, list(0.98)?, list(0.01)?, list(0.02)?);
//! let mut by_energy = list(1.0)?; // the weights of the energies afterwards
//! let grid = Grid::blocks(elements.div_ceil(128)).threads(128);
//! equation_of_state_grad::launch(
//!     &gpu,
//!     grid,
//!     (
//!         &mut energy, &mut by_energy, &mut pressure, &mut viscosity, &mut sound, &old_volume,
//!         &mut volume, &linear, &quadratic,
//!     ),
//! )?;
//! assert!(by_energy.download()?.iter().all(|by| (0.9..1.1).contains(by)));
//! # Ok::<(), stratape::gpu::GpuError>(())
//! ```

use crate::material::{Material, after_step, settled};
use crate::viscosity::Viscosity;

/// Energy, pressure, viscosity and speed of sound of every element after a step that changed relative volumes from `old_volume` to `volume`.
#[stratape::kernel]
#[gradient(wrt(energy))]
pub fn equation_of_state(
    energy: &mut [f64],
    pressure: &mut [f64],
    viscosity: &mut [f64],
    sound: &mut [f64],
    old_volume: &[f64],
    volume: &mut [f64],
    linear: &[f64],
    quadratic: &[f64],
) {
    let element = thread_idx().x + block_idx().x * block_dim().x;
    if element < energy.len() {
        let now = volume[element];
        let old = Material {
            energy: energy[element],
            pressure: pressure[element],
            viscosity: viscosity[element],
            sound: sound[element],
        };
        let of_shock = Viscosity { linear: linear[element], quadratic: quadratic[element] };
        let new = after_step(old, now, now - old_volume[element], of_shock);
        energy[element] = new.energy;
        pressure[element] = new.pressure;
        viscosity[element] = new.viscosity;
        sound[element] = new.sound;
        volume[element] = settled(now);
    }
}
