//! nbody: the softened potential of bodies in space, each pair once.

use super::numbers::Numbers;
use super::program::{Gradient, Inputs, Program};
use super::{LANES, blocks, blocks_mut};

pub(super) const SOFTENING: f64 = 1e-2;

#[stratape::gradient]
fn nbody(x: &[f64], n: usize) -> f64 {
    let mut energy = 0.0;
    for i in 0..n {
        for j in i + 1..n {
            let dx = x[3 * i] - x[3 * j];
            let dy = x[3 * i + 1] - x[3 * j + 1];
            let dz = x[3 * i + 2] - x[3 * j + 2];
            energy -= 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
        }
    }
    energy
}

/// One pass, nothing saved: the adjoint of a plain sum is the seed from the start. Blocks of pairs
/// run side by side, and their terms are added in order.
fn shaped(x: &[f64], dx: &mut [f64], n: usize, seed: f64) -> f64 {
    let [xs, ys, zs]: [Vec<f64>; 3] =
        [0, 1, 2].map(|c| x.chunks_exact(3).take(n).map(|point| point[c]).collect());
    let [mut gx, mut gy, mut gz] = [0, 1, 2].map(|_| vec![0.0; n]);
    let mut energy = 0.0;
    for i in 0..n {
        let (x, y, z) = (xs[i], ys[i], zs[i]);
        let later = i + 1..n;
        let points = blocks(&xs[later.clone()]).iter().zip(blocks(&ys[later.clone()]));
        let points = points.zip(blocks(&zs[later.clone()]));
        let adjoints = blocks_mut(&mut gx[later.clone()]).iter_mut();
        let adjoints = adjoints.zip(blocks_mut(&mut gy[later.clone()]));
        let adjoints = adjoints.zip(blocks_mut(&mut gz[later.clone()]));
        let (mut px, mut py, mut pz) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for (((bx, by), bz), ((gx, gy), gz)) in points.zip(adjoints) {
            let (mut ex, mut ey, mut ez) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            let (mut terms, mut pulls) = ([0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                (ex[l], ey[l], ez[l]) = (x - bx[l], y - by[l], z - bz[l]);
                let square = ex[l] * ex[l] + ey[l] * ey[l] + ez[l] * ez[l];
                terms[l] = 1.0 / (square + SOFTENING).sqrt();
                pulls[l] = seed * (terms[l] * terms[l] * terms[l]);
            }
            for (e, p, g) in [(ex, &mut px, gx), (ey, &mut py, gy), (ez, &mut pz, gz)] {
                for l in 0..LANES {
                    p[l] += pulls[l] * e[l];
                    g[l] -= pulls[l] * e[l];
                }
            }
            for term in terms {
                energy -= term;
            }
        }
        for j in n - later.len() % LANES..n {
            let (ex, ey, ez) = (x - xs[j], y - ys[j], z - zs[j]);
            let term = 1.0 / (ex * ex + ey * ey + ez * ez + SOFTENING).sqrt();
            energy -= term;
            let pull = seed * (term * term * term);
            for (e, p, g) in
                [(ex, &mut px, &mut gx), (ey, &mut py, &mut gy), (ez, &mut pz, &mut gz)]
            {
                p[0] += pull * e;
                g[j] -= pull * e;
            }
        }
        gx[i] += px.iter().sum::<f64>();
        gy[i] += py.iter().sum::<f64>();
        gz[i] += pz.iter().sum::<f64>();
    }
    for (i, point) in dx.chunks_exact_mut(3).enumerate().take(n) {
        point[0] += gx[i];
        point[1] += gy[i];
        point[2] += gz[i];
    }
    energy
}

type Adjoint = fn(&[f64], &mut [f64], usize, f64) -> f64;

fn calling(adjoint: Adjoint, n: usize) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([x], [dx]) = (inputs.active(), shadows.each());
        adjoint(x, dx, n, 1.0)
    })
}

pub(super) fn program(n: usize) -> Program {
    let mut numbers = Numbers::from_seed(14);
    let x = numbers.array(3 * n, 0.0, 1.0);
    Program {
        name: "nbody",
        inputs: Inputs { active: vec![x], ..Inputs::default() },
        primal: Box::new(move |inputs| {
            let [x] = inputs.active();
            nbody(x, n)
        }),
        by_hand: Some(calling(shaped, n)),
        ours: calling(nbody_grad, n),
        state_bytes: None,
        expected: None,
    }
}
