//! cutoff: the Lennard-Jones energy of particles in a periodic box, with a cut-off.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient(wrt(positions, sigma))]
fn energy(positions: &[[f64; 3]], sigma: f64, side: f64, cutoff: f64) -> f64 {
    let mut energy = 0.0;
    for i in 0..positions.len() {
        for j in i + 1..positions.len() {
            let mut square = 0.0;
            for axis in 0..3 {
                let mut distance = positions[i][axis] - positions[j][axis];
                distance -= side * (distance / side).round();
                square += distance * distance;
            }
            if square > cutoff * cutoff {
                continue;
            }
            let six = (sigma * sigma / square).powi(3);
            energy += 4.0 * (six * six - six);
        }
    }
    energy
}

/// Pair by pair, forward and back at once.
fn by_hand(
    positions: &[[f64; 3]],
    dpositions: &mut [[f64; 3]],
    sigma: f64,
    side: f64,
    cutoff: f64,
    seed: f64,
) -> (f64, f64) {
    let (mut energy, mut dsigma) = (0.0, 0.0);
    for i in 0..positions.len() {
        for j in i + 1..positions.len() {
            let mut apart = [0.0; 3];
            let mut square = 0.0;
            for axis in 0..3 {
                let distance = positions[i][axis] - positions[j][axis];
                apart[axis] = distance - side * (distance / side).round();
                square += apart[axis] * apart[axis];
            }
            if square > cutoff * cutoff {
                continue;
            }
            let six = (sigma * sigma / square).powi(3);
            energy += 4.0 * (six * six - six);
            let dsix = 4.0 * seed * (2.0 * six - 1.0);
            dsigma += dsix * 6.0 * six / sigma;
            let dsquare = -dsix * 3.0 * six / square;
            for axis in 0..3 {
                dpositions[i][axis] += 2.0 * dsquare * apart[axis];
                dpositions[j][axis] -= 2.0 * dsquare * apart[axis];
            }
        }
    }
    (energy, dsigma)
}

type Adjoint = fn(&[[f64; 3]], &mut [[f64; 3]], f64, f64, f64, f64) -> (f64, f64);

const CUTOFF: f64 = 2.5;

fn calling(adjoint: Adjoint, side: f64) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([positions, sigma], [dpositions, dsigma]) = (inputs.active(), shadows.each());
        let (positions, dpositions) = (positions.as_chunks().0, dpositions.as_chunks_mut().0);
        let (value, by_sigma) = adjoint(positions, dpositions, sigma[0], side, CUTOFF, 1.0);
        dsigma[0] += by_sigma;
        value
    }
}

/// A crystal, its atoms a little out of place.
pub(super) fn program(scale: Scale) -> Program {
    let edge = scale.or_small(7, 4);
    let side = 1.3 * edge as f64;
    let mut numbers = Numbers::from_seed(117);
    let mut positions = Vec::new();
    for atom in 0..edge.pow(3) {
        for cell in [atom % edge, atom / edge % edge, atom / edge / edge] {
            positions.push(1.3 * cell as f64 + numbers.within(-0.1, 0.1));
        }
    }
    let inputs = Inputs { active: vec![positions, vec![1.0]], ..Inputs::default() };
    let primal = move |inputs: &mut Inputs| {
        let [positions, sigma] = inputs.active();
        energy(positions.as_chunks().0, sigma[0], side, CUTOFF)
    };
    Program::new("cutoff", inputs, primal, calling(energy_grad, side))
        .with_by_hand(calling(by_hand, side))
        .with_state(0)
}
