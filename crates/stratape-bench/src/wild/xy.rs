//! xy: the energy of planar spins on a periodic square lattice with a coupling for each bond, in a field.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient]
fn energy(angles: &[f64], right: &[f64], down: &[f64], field: f64, side: usize) -> f64 {
    let mut energy = 0.0;
    for row in 0..side {
        for column in 0..side {
            let here = row * side + column;
            let next = row * side + (column + 1) % side;
            let below = (row + 1) % side * side + column;
            energy -= right[here] * (angles[here] - angles[next]).cos();
            energy -= down[here] * (angles[here] - angles[below]).cos();
            energy -= field * angles[here].cos();
        }
    }
    energy
}

/// Bond by bond, forward and back at once.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    angles: &[f64],
    dangles: &mut [f64],
    right: &[f64],
    dright: &mut [f64],
    down: &[f64],
    ddown: &mut [f64],
    field: f64,
    side: usize,
    seed: f64,
) -> (f64, f64) {
    let (mut energy, mut dfield) = (0.0, 0.0);
    for row in 0..side {
        for column in 0..side {
            let here = row * side + column;
            let next = row * side + (column + 1) % side;
            let below = (row + 1) % side * side + column;
            let (sin, cos) = (angles[here] - angles[next]).sin_cos();
            energy -= right[here] * cos;
            dright[here] -= seed * cos;
            dangles[here] += seed * right[here] * sin;
            dangles[next] -= seed * right[here] * sin;
            let (sin, cos) = (angles[here] - angles[below]).sin_cos();
            energy -= down[here] * cos;
            ddown[here] -= seed * cos;
            dangles[here] += seed * down[here] * sin;
            dangles[below] -= seed * down[here] * sin;
            let (sin, cos) = angles[here].sin_cos();
            energy -= field * cos;
            dfield -= seed * cos;
            dangles[here] += seed * field * sin;
        }
    }
    (energy, dfield)
}

type Adjoint =
    fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], &mut [f64], f64, usize, f64) -> (f64, f64);

fn calling(adjoint: Adjoint, side: usize) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([a, r, d, field], [da, dr, dd, dfield]) = (inputs.active(), shadows.each());
        let (value, by_field) = adjoint(a, da, r, dr, d, dd, field[0], side, 1.0);
        dfield[0] += by_field;
        value
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let side = scale.or_small(40, 7);
    let mut numbers = Numbers::from_seed(118);
    let angles = numbers.array(side * side, -3.0, 3.0);
    let right = numbers.array(side * side, 0.5, 1.5);
    let down = numbers.array(side * side, 0.5, 1.5);
    let inputs = Inputs { active: vec![angles, right, down, vec![0.2]], ..Inputs::default() };
    let primal = move |inputs: &mut Inputs| {
        let [angles, right, down, field] = inputs.active();
        energy(angles, right, down, field[0], side)
    };
    Program::new("xy", inputs, primal, calling(energy_grad, side))
        .with_by_hand(calling(by_hand, side))
        .with_state(0)
}
