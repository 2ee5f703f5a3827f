//! The equation of state of an ideal gas, integrated over a step.

use crate::viscosity::Viscosity;
use stratape::checkpoint::Snapshot;
use stratape::differentiable;

#[differentiable]
const SMALLEST_ENERGY: f64 = 1e-7;
#[differentiable]
const SMALLEST_PRESSURE: f64 = 1e-7;
#[differentiable]
const SMALLEST_VISCOSITY: f64 = 1e-7;
#[differentiable]
const SMALLEST_STRAIN: f64 = 1e-10;
#[differentiable]
const LOWEST_PRESSURE: f64 = 0.0;
#[differentiable]
const LOWEST_ENERGY: f64 = -1e15;
#[differentiable]
const DENSEST: f64 = 1e-9;
#[differentiable]
const THINNEST: f64 = 1e9;
/// γ − 1 of a gas of single atoms.
#[differentiable]
const GAMMA_MINUS_ONE: f64 = 2.0 / 3.0;

/// The state of the material in one element.
#[differentiable]
#[derive(Clone, Copy, Debug, Default, PartialEq, Snapshot)]
pub struct Material {
    /// Internal energy, per initial volume.
    pub energy: f64,
    /// Pressure.
    pub pressure: f64,
    /// Artificial viscosity.
    pub viscosity: f64,
    /// Speed of sound.
    pub sound: f64,
}

/// The pressure at an energy and a compression, and its derivative with respect to the energy.
#[differentiable]
fn pressure(energy: f64, compression: f64, volume: f64) -> (f64, f64) {
    let slope = GAMMA_MINUS_ONE * (compression + 1.0);
    let mut pressure = slope * energy;
    if pressure.abs() < SMALLEST_PRESSURE {
        pressure = 0.0;
    }
    if volume >= THINNEST {
        pressure = 0.0;
    }
    if pressure < LOWEST_PRESSURE {
        pressure = LOWEST_PRESSURE;
    }
    (pressure, slope)
}

#[differentiable]
fn sound_speed(energy: f64, volume: f64, slope: f64, pressure: f64) -> f64 {
    let squared = GAMMA_MINUS_ONE * energy + volume * volume * slope * pressure;
    if squared <= 0.1111111e-36 { 0.3333333e-18 } else { squared.sqrt() }
}

#[differentiable]
fn cut(energy: f64) -> f64 {
    let energy = if energy.abs() < SMALLEST_ENERGY { 0.0 } else { energy };
    energy.max(LOWEST_ENERGY)
}

/// The material after a step in which its relative volume became `volume`, having changed by `change`.
#[differentiable]
pub(crate) fn after_step(
    before: Material,
    volume: f64,
    change: f64,
    viscosity: Viscosity,
) -> Material {
    let volume = volume.clamp(DENSEST, THINNEST);
    let mut old = before.pressure;
    let mut compression = 1.0 / volume - 1.0;
    let mut half_compression = 1.0 / (volume - 0.5 * change) - 1.0;
    if volume <= DENSEST {
        half_compression = compression;
    }
    if volume >= THINNEST {
        old = 0.0;
        compression = 0.0;
        half_compression = 0.0;
    }
    let stress = old + before.viscosity;
    let compressing = change <= 0.0;

    // Half a step.
    let mut energy = (before.energy - 0.5 * change * stress).max(LOWEST_ENERGY);
    let (half_pressure, slope) = pressure(energy, half_compression, volume);
    let half_volume = 1.0 / (1.0 + half_compression);
    let half_viscosity = if compressing {
        sound_speed(energy, half_volume, slope, half_pressure) * viscosity.linear
            + viscosity.quadratic
    } else {
        0.0
    };
    let half_stress = half_pressure + half_viscosity;

    // The whole step, from both ends …
    energy = cut(energy + 0.5 * change * (3.0 * stress - 4.0 * half_stress));
    let (new_pressure, slope) = pressure(energy, compression, volume);
    let new_viscosity = if compressing {
        sound_speed(energy, volume, slope, new_pressure) * viscosity.linear + viscosity.quadratic
    } else {
        0.0
    };

    // … and corrected by its end.
    let end_stress = new_pressure + new_viscosity;
    energy = cut(energy - (7.0 * stress - 8.0 * half_stress + end_stress) * change * (1.0 / 6.0));
    let (new_pressure, slope) = pressure(energy, compression, volume);
    let sound = sound_speed(energy, volume, slope, new_pressure);
    let mut new_viscosity = half_viscosity;
    if compressing {
        new_viscosity = sound * viscosity.linear + viscosity.quadratic;
        if new_viscosity.abs() < SMALLEST_VISCOSITY {
            new_viscosity = 0.0;
        }
    }
    Material { energy, pressure: new_pressure, viscosity: new_viscosity, sound }
}

/// A relative volume, exactly 1 where it is 1 but for round-off.
#[differentiable]
pub(crate) fn settled(volume: f64) -> f64 {
    if (volume - 1.0).abs() < SMALLEST_STRAIN { 1.0 } else { volume }
}
