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

/// Keeps the state after every step. What a cell passes on to its neighbours is put down once, and gathered from there.
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
    let (cells, inner) = (initial.len(), width - 2);
    let mut states: Vec<f64> = Vec::with_capacity(steps * cells);
    let mut next = initial.to_vec();
    for step in 0..steps {
        let u = if step == 0 { initial } else { &states[(step - 1) * cells..] };
        for row in (1..height - 1).map(|y| y * width + 1) {
            let (out, k) = (&mut next[row..][..inner], &conductivity[row..][..inner]);
            let [here, left, right, above, below] =
                [row, row - 1, row + 1, row - width, row + width].map(|at| &u[at..][..inner]);
            for x in 0..inner {
                let laplacian = left[x] + right[x] + above[x] + below[x] - 4.0 * here[x];
                out[x] = here[x] + RATE * k[x] * laplacian;
            }
        }
        states.extend_from_slice(&next);
    }
    let mut misfit = 0.0;
    let mut du = vec![0.0; cells];
    for ((du, u), measured) in du.iter_mut().zip(&next).zip(measured) {
        misfit += (u - measured) * (u - measured);
        *du = 2.0 * seed * (u - measured);
    }

    // Zero at the edges, which are not stepped.
    let mut passed = vec![0.0; cells];
    for step in (0..steps).rev() {
        let u = if step == 0 { initial } else { &states[(step - 1) * cells..] };
        for row in (1..height - 1).map(|y| y * width + 1) {
            let (passed, du) = (&mut passed[row..][..inner], &du[row..][..inner]);
            let (k, dk) = (&conductivity[row..][..inner], &mut dconductivity[row..][..inner]);
            let [here, left, right, above, below] =
                [row, row - 1, row + 1, row - width, row + width].map(|at| &u[at..][..inner]);
            for x in 0..inner {
                let laplacian = left[x] + right[x] + above[x] + below[x] - 4.0 * here[x];
                let dstep = RATE * du[x];
                passed[x] = k[x] * dstep;
                dk[x] += dstep * laplacian;
            }
        }
        for row in (1..height - 1).map(|y| y * width + 1) {
            let du = &mut du[row..][..inner];
            let [here, left, right, above, below] =
                [row, row - 1, row + 1, row - width, row + width].map(|at| &passed[at..][..inner]);
            for x in 0..inner {
                du[x] += left[x] + right[x] + above[x] + below[x] - 4.0 * here[x];
            }
        }
        for x in 1..width - 1 {
            du[x] += passed[width + x];
            du[cells - width + x] += passed[cells - 2 * width + x];
        }
        for row in (1..height - 1).map(|y| y * width) {
            du[row] += passed[row + 1];
            du[row + width - 1] += passed[row + width - 2];
        }
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
    Program::new("heat", inputs, primal, calling(misfit_grad))
        .with_by_hand(calling(by_hand))
        .with_state((steps - 1) * (width - 2) * (height - 2) * size_of::<f64>())
}
