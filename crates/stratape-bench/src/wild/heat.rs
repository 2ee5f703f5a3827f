//! heat: explicit steps of heat conduction in a plate, and the distance from what was measured at their end.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

const RATE: f64 = 0.2;

#[gradient(wrt(initial, conductivity))]
fn misfit(
    initial: &[f64],
    conductivity: &[f64],
    measured: &[f64],
    width: usize,
    height: usize,
    steps: usize,
) -> f64 {
    let mut u = initial.to_vec();
    let mut next = initial.to_vec();
    for _ in 0..steps {
        for y in 1..height - 1 {
            for x in 1..width - 1 {
                let i = y * width + x;
                let laplacian = u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4.0 * u[i];
                next[i] = u[i] + RATE * conductivity[i] * laplacian;
            }
        }
        u.copy_from_slice(&next);
    }
    u.iter().zip(measured).map(|(u, m)| (u - m).powi(2)).sum()
}

/// Keeps the state before every step.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    initial: &[f64],
    dinitial: &mut [f64],
    conductivity: &[f64],
    dconductivity: &mut [f64],
    measured: &[f64],
    width: usize,
    height: usize,
    steps: usize,
    seed: f64,
) -> f64 {
    let mut states = vec![initial.to_vec()];
    for step in 0..steps {
        let u = &states[step];
        let mut next = u.clone();
        for y in 1..height - 1 {
            for x in 1..width - 1 {
                let i = y * width + x;
                let laplacian = u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4.0 * u[i];
                next[i] += RATE * conductivity[i] * laplacian;
            }
        }
        states.push(next);
    }
    let mut misfit = 0.0;
    let mut du = vec![0.0; initial.len()];
    for ((du, u), measured) in du.iter_mut().zip(&states[steps]).zip(measured) {
        misfit += (u - measured) * (u - measured);
        *du = 2.0 * seed * (u - measured);
    }
    for u in states[..steps].iter().rev() {
        let mut dbefore = du.clone();
        for y in 1..height - 1 {
            for x in 1..width - 1 {
                let i = y * width + x;
                let laplacian = u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4.0 * u[i];
                dconductivity[i] += RATE * du[i] * laplacian;
                let through = RATE * conductivity[i] * du[i];
                dbefore[i - 1] += through;
                dbefore[i + 1] += through;
                dbefore[i - width] += through;
                dbefore[i + width] += through;
                dbefore[i] -= 4.0 * through;
            }
        }
        du = dbefore;
    }
    for (dinitial, du) in dinitial.iter_mut().zip(&du) {
        *dinitial += du;
    }
    misfit
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], usize, usize, usize, f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([u, k], [measured], [sizes]) = (inputs.active(), inputs.constant(), inputs.indices());
        let [du, dk] = shadows.each();
        adjoint(u, du, k, dk, measured, sizes[0], sizes[1], sizes[2], 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (width, height) = (scale.or_small(64, 9), scale.or_small(48, 7));
    let steps = scale.or_small(20, 5);
    let mut numbers = Numbers::from_seed(110);
    let initial = numbers.array(width * height, 0.0, 1.0);
    let conductivity = numbers.array(width * height, 0.5, 1.0);
    let measured = numbers.array(width * height, 0.0, 1.0);
    let inputs = Inputs {
        active: vec![initial, conductivity],
        constant: vec![measured],
        indices: vec![vec![width, height, steps]],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([u, k], [measured], [sizes]) = (inputs.active(), inputs.constant(), inputs.indices());
        misfit(u, k, measured, sizes[0], sizes[1], sizes[2])
    };
    Program::new("heat", inputs, primal, calling(misfit_grad)).with_by_hand(calling(by_hand))
}
