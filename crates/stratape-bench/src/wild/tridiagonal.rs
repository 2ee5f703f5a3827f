//! tridiagonal: implicit steps of diffusion, a tridiagonal system in each, and the distance of their end from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[stratape::differentiable]
mod diffusion {
    /// Thomas' algorithm.
    pub(super) fn solve(lower: &[f64], diagonal: &[f64], upper: &[f64], rhs: &[f64]) -> Vec<f64> {
        let n = rhs.len();
        let mut c = vec![0.0; n];
        let mut x = vec![0.0; n];
        c[0] = upper[0] / diagonal[0];
        x[0] = rhs[0] / diagonal[0];
        for i in 1..n {
            let pivot = diagonal[i] - lower[i] * c[i - 1];
            c[i] = upper[i] / pivot;
            x[i] = (rhs[i] - lower[i] * x[i - 1]) / pivot;
        }
        for i in (0..n - 1).rev() {
            x[i] -= c[i] * x[i + 1];
        }
        x
    }

    #[gradient(wrt(initial, diffusivity))]
    pub(super) fn misfit(
        initial: &[f64],
        diffusivity: &[f64],
        target: &[f64],
        dt: f64,
        steps: usize,
    ) -> f64 {
        let n = initial.len();
        let mut lower = vec![0.0; n];
        let mut diagonal = vec![1.0; n];
        let mut upper = vec![0.0; n];
        for i in 1..n {
            let exchange = 0.5 * dt * (diffusivity[i - 1] + diffusivity[i]);
            lower[i] = -exchange;
            upper[i - 1] = -exchange;
            diagonal[i - 1] += exchange;
            diagonal[i] += exchange;
        }
        let mut u = initial.to_vec();
        for _ in 0..steps {
            let solved = solve(&lower, &diagonal, &upper, &u);
            u.copy_from_slice(&solved);
        }
        u.iter().zip(target).map(|(u, t)| (u - t) * (u - t)).sum()
    }
}

/// The adjoint of a solution is a solution; the matrix is its own transpose.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    initial: &[f64],
    dinitial: &mut [f64],
    diffusivity: &[f64],
    ddiffusivity: &mut [f64],
    target: &[f64],
    dt: f64,
    steps: usize,
    seed: f64,
) -> f64 {
    let n = initial.len();
    let mut lower = vec![0.0; n];
    let mut diagonal = vec![1.0; n];
    let mut upper = vec![0.0; n];
    for i in 1..n {
        let exchange = 0.5 * dt * (diffusivity[i - 1] + diffusivity[i]);
        lower[i] = -exchange;
        upper[i - 1] = -exchange;
        diagonal[i - 1] += exchange;
        diagonal[i] += exchange;
    }
    let mut states = vec![initial.to_vec()];
    for step in 0..steps {
        states.push(diffusion::solve(&lower, &diagonal, &upper, &states[step]));
    }
    let mut misfit = 0.0;
    let mut du = vec![0.0; n];
    for ((du, u), target) in du.iter_mut().zip(&states[steps]).zip(target) {
        misfit += (u - target) * (u - target);
        *du = 2.0 * seed * (u - target);
    }
    for u in states[1..].iter().rev() {
        du = diffusion::solve(&lower, &diagonal, &upper, &du);
        for i in 1..n {
            // Flows from one cell to the next, as their difference does.
            let dexchange = -(du[i] - du[i - 1]) * (u[i] - u[i - 1]);
            ddiffusivity[i - 1] += 0.5 * dt * dexchange;
            ddiffusivity[i] += 0.5 * dt * dexchange;
        }
    }
    for (dinitial, du) in dinitial.iter_mut().zip(&du) {
        *dinitial += du;
    }
    misfit
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], f64, usize, f64) -> f64;

fn calling(adjoint: Adjoint, steps: usize) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([u, k], [target]) = (inputs.active(), inputs.constant());
        let [du, dk] = shadows.each();
        adjoint(u, du, k, dk, target, DT, steps, 1.0)
    }
}

const DT: f64 = 0.1;

pub(super) fn program(scale: Scale) -> Program {
    let (n, steps) = (scale.or_small(200, 13), scale.or_small(40, 4));
    let mut numbers = Numbers::from_seed(122);
    let initial = numbers.array(n, 0.0, 1.0);
    let diffusivity = numbers.array(n, 0.5, 2.0);
    let target = numbers.array(n, 0.0, 1.0);
    let inputs =
        Inputs { active: vec![initial, diffusivity], constant: vec![target], ..Inputs::default() };
    let primal = move |inputs: &mut Inputs| {
        let ([initial, diffusivity], [target]) = (inputs.active(), inputs.constant());
        diffusion::misfit(initial, diffusivity, target, DT, steps)
    };
    Program::new("tridiagonal", inputs, primal, calling(diffusion::misfit_grad, steps))
        .with_by_hand(calling(by_hand, steps))
        .with_state((steps - 1) * n * size_of::<f64>())
}
