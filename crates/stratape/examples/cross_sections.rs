//! Macroscopic cross-sections as neutron transport looks them up (the kernel of XSBench): for each energy a search in the table of every nuclide, and an interpolation. The gradient
//! with respect to tables and densities is scattered to the entries that the search has found.
//!
//! `cargo run --release --example cross_sections -p stratape` runs on the first CUDA device, or on the emulator; `-- LOOKUPS` chooses how many.

use std::time::Instant;

use stratape::gpu::{Device, Grid};

const NUCLIDES: usize = 12;
const POINTS: usize = 64;
/// Total, elastic, absorption, fission, and neutrons from fission.
const CHANNELS: usize = 5;

/// The last point of a table that is not above an energy, but for the last one.
#[stratape::device]
fn search(energies: &[f64], energy: f64) -> usize {
    let (mut low, mut high) = (0, energies.len() - 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if energies[middle] > energy {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[stratape::kernel]
#[gradient(wrt(found, tables, density))]
fn lookup(
    found: &mut [[f64; CHANNELS]],
    energy: &[f64],
    energies: &[f64],
    tables: &[[f64; CHANNELS]],
    density: &[f64],
) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < energy.len() {
        let mut sums = [0.0; CHANNELS];
        for nuclide in 0..NUCLIDES {
            let first = nuclide * POINTS;
            let at = first + search(&energies[first..first + POINTS], energy[i]);
            let part = (energies[at + 1] - energy[i]) / (energies[at + 1] - energies[at]);
            for channel in 0..CHANNELS {
                let (low, high) = (tables[at][channel], tables[at + 1][channel]);
                sums[channel] += density[nuclide] * (high - part * (high - low));
            }
        }
        found[i] = sums;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { 500 } else { 2_000_000 };
    let n: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => usual,
    };
    println!("on {gpu}: {n} lookups in {NUCLIDES} tables of {POINTS} points");
    let one = |k: usize| ((k * 7919 + 17) % 1009) as f64 / 1009.0;
    // Rising, and other ones for each nuclide.
    let energies: Vec<f64> = (0..NUCLIDES * POINTS)
        .map(|k| ((k % POINTS) as f64 + 0.9 * one(k)) / POINTS as f64)
        .collect();
    let tables: Vec<[f64; CHANNELS]> =
        (0..NUCLIDES * POINTS).map(|k| std::array::from_fn(|c| one(CHANNELS * k + c))).collect();
    let density: Vec<f64> = (0..NUCLIDES).map(|k| 0.5 + one(3 * k)).collect();
    let energy: Vec<f64> = (0..n).map(|k| 0.02 + 0.95 * one(5 * k)).collect();
    let weights: [f64; CHANNELS] = [1.0, -0.5, 0.25, 2.0, 0.75];

    let (e, t) = (gpu.upload(&energies)?, gpu.upload(&tables)?);
    let (d, at) = (gpu.upload(&density)?, gpu.upload(&energy)?);
    let (mut found, mut dfound) = (gpu.zeros(n)?, gpu.upload(&vec![weights; n])?);
    let (mut dtables, mut ddensity) = (gpu.alloc_like(&t)?, gpu.alloc_like(&d)?);
    let grid = Grid::blocks(n.div_ceil(128)).threads(128);
    let start = Instant::now();
    let arguments = (&mut found, &mut dfound, &at, &e, &t, &mut dtables, &d, &mut ddensity);
    lookup_grad::launch(&gpu, &grid, arguments)?;
    gpu.synchronize()?;
    println!("lookups and gradient: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());

    // Every lookup is linear in the entries beside its energy, and in the densities.
    let mut wanted_tables = vec![0.0; tables.len()];
    let mut wanted_density = vec![0.0; NUCLIDES];
    for energy in energy {
        for nuclide in 0..NUCLIDES {
            let own = nuclide * POINTS..(nuclide + 1) * POINTS;
            let above = energies[own.clone()].partition_point(|known| *known <= energy);
            let high = own.start + above.clamp(1, POINTS - 1);
            let part = (energies[high] - energy) / (energies[high] - energies[high - 1]);
            wanted_tables[high - 1] += density[nuclide] * part;
            wanted_tables[high] += density[nuclide] * (1.0 - part);
            for (channel, weight) in weights.iter().enumerate() {
                let (low, high) = (tables[high - 1][channel], tables[high][channel]);
                wanted_density[nuclide] += weight * (part * low + (1.0 - part) * high);
            }
        }
    }
    let mut worst = 0.0_f64;
    let mut compare = |found: f64, wanted: f64| {
        worst = worst.max((found - wanted).abs() / (1.0 + wanted.abs()));
    };
    for (found, wanted) in dtables.download()?.iter().zip(wanted_tables) {
        for (found, weight) in found.iter().zip(weights) {
            compare(*found, wanted * weight);
        }
    }
    for (found, wanted) in ddensity.download()?.iter().zip(wanted_density) {
        compare(*found, wanted);
    }
    println!("largest difference from sums on the host: {worst:.1e}");
    if worst > 1e-10 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
