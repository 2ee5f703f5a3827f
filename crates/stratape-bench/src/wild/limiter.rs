//! limiter: Burgers' equation by a scheme of second order with a flux limiter, and the distance of its end from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale};

#[stratape::differentiable]
mod scheme {
    fn minmod(a: f64, b: f64) -> f64 {
        if a * b <= 0.0 {
            0.0
        } else if a.abs() < b.abs() {
            a
        } else {
            b
        }
    }

    /// The flux of Lax and Friedrichs between two cells.
    fn flux(left: f64, right: f64) -> f64 {
        let speed = left.abs().max(right.abs());
        0.25 * (left * left + right * right) - 0.5 * speed * (right - left)
    }

    #[gradient(wrt(initial))]
    pub(super) fn misfit(initial: &[f64], target: &[f64], ratio: f64, steps: usize) -> f64 {
        let n = initial.len();
        let mut u = initial.to_vec();
        for _ in 0..steps {
            let slopes: Vec<f64> = (0..n)
                .map(|i| {
                    let (left, right) = (u[(i + n - 1) % n], u[(i + 1) % n]);
                    minmod(u[i] - left, right - u[i])
                })
                .collect();
            let fluxes: Vec<f64> = (0..n)
                .map(|i| {
                    let next = (i + 1) % n;
                    flux(u[i] + 0.5 * slopes[i], u[next] - 0.5 * slopes[next])
                })
                .collect();
            for i in 0..n {
                u[i] -= ratio * (fluxes[i] - fluxes[(i + n - 1) % n]);
            }
        }
        u.iter().zip(target).map(|(u, t)| (u - t).powi(2)).sum()
    }
}

const RATIO: f64 = 0.2;

pub(super) fn program(scale: Scale) -> Program {
    let (n, steps) = (scale.or_small(200, 17), scale.or_small(50, 6));
    let mut numbers = Numbers::from_seed(120);
    let wave = |i: usize| (i as f64 / n as f64 * std::f64::consts::TAU).sin();
    let initial = (0..n).map(|i| 1.0 + 0.5 * wave(i) + numbers.within(-0.1, 0.1)).collect();
    let target = numbers.array(n, 0.5, 1.5);
    Program::new(
        "limiter",
        Inputs { active: vec![initial], constant: vec![target], ..Inputs::default() },
        move |inputs| {
            let ([initial], [target]) = (inputs.active(), inputs.constant());
            scheme::misfit(initial, target, RATIO, steps)
        },
        move |inputs, shadows| {
            let ([initial], [target]) = (inputs.active(), inputs.constant());
            let [dinitial] = shadows.each();
            scheme::misfit_grad(initial, dinitial, target, RATIO, steps, 1.0)
        },
    )
}
