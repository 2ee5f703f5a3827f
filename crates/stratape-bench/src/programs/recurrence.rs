//! recurrence: a chain of a million dependent steps, the tape's own case.

use super::Scale;
use super::program::{Gradient, Inputs, Program};

#[stratape::gradient]
fn recurrence(x0: f64, a: f64, b: f64, n: usize) -> f64 {
    let mut x = x0;
    for _ in 0..n {
        x = a * x.sin() + b * x * x;
    }
    x
}

/// Each step's state and sine are saved; the cosine belongs to no chain, so the reverse pass
/// computes it.
fn shaped(x0: f64, a: f64, b: f64, n: usize, seed: f64) -> (f64, f64, f64, f64) {
    let mut x = x0;
    let step = |_| {
        let (before, sin) = (x, x.sin());
        x = a * sin + b * x * x;
        [before, sin]
    };
    let saved: Vec<[f64; 2]> = (0..n).map(step).collect();
    let (mut dx, mut da, mut db) = (seed, 0.0, 0.0);
    for [x, sin] in saved.iter().rev() {
        da += dx * sin;
        db += dx * (x * x);
        dx *= a * x.cos() + 2.0 * b * x;
    }
    (x, dx, da, db)
}

type Adjoint = fn(f64, f64, f64, usize, f64) -> (f64, f64, f64, f64);

fn calling(adjoint: Adjoint, n: usize) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([p], [d]) = (inputs.active(), shadows.each());
        let (value, dx0, da, db) = adjoint(p[0], p[1], p[2], n, 1.0);
        d[0] += dx0;
        d[1] += da;
        d[2] += db;
        value
    })
}

/// A start and parameters for which the state falls slowly to a fixed point at one, and the
/// adjoint with it: neither grows, neither decays to nothing within a million steps.
fn parameters() -> [f64; 3] {
    let slope = 1.0 - 1e-6;
    let (sin, cos) = 1.0_f64.sin_cos();
    let a = (2.0 - slope) / (2.0 * sin - cos);
    [1.2, a, 1.0 - a * sin]
}

pub(super) fn steps(scale: Scale) -> usize {
    scale.of(1_000_000)
}

pub(super) fn program(n: usize) -> Program {
    Program {
        name: "recurrence",
        inputs: Inputs { active: vec![parameters().to_vec()], ..Inputs::default() },
        primal: Box::new(move |inputs| {
            let [p] = inputs.active();
            recurrence(p[0], p[1], p[2], n)
        }),
        by_hand: Some(calling(shaped, n)),
        ours: calling(recurrence_grad, n),
        state_bytes: None,
        expected: None,
    }
}
