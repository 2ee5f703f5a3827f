//! somier: the forces of springs between the nodes of a grid of 8 by 8 by 8.

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

use grid::{CELLS, SIDE, somier, somier_grad};

#[stratape::differentiable]
mod grid {
    //! The primal, with the spring between two nodes as a function of its own.

    pub(super) const SIDE: usize = 8;
    pub(super) const CELLS: usize = SIDE * SIDE * SIDE;
    const PLANE: usize = SIDE * SIDE;

    #[gradient(wrt(x))]
    pub(super) fn somier(x: &[f64], s: &[f64]) -> f64 {
        let mut f = vec![0.0; 3 * CELLS];
        for i in 1..SIDE - 1 {
            for j in 1..SIDE - 1 {
                for k in 1..SIDE - 1 {
                    let p = (i * SIDE + j) * SIDE + k;
                    pull(x, &mut f, p, p - PLANE);
                    pull(x, &mut f, p, p + PLANE);
                    pull(x, &mut f, p, p - SIDE);
                    pull(x, &mut f, p, p + SIDE);
                    pull(x, &mut f, p, p - 1);
                    pull(x, &mut f, p, p + 1);
                }
            }
        }
        let mut sum = 0.0;
        for k in 0..3 * CELLS {
            sum += s[k] * f[k];
        }
        sum
    }

    /// The force on `p` of the spring to `q`.
    fn pull(x: &[f64], f: &mut [f64], p: usize, q: usize) {
        let dx = x[q] - x[p];
        let dy = x[CELLS + q] - x[CELLS + p];
        let dz = x[2 * CELLS + q] - x[2 * CELLS + p];
        let l = (dx * dx + dy * dy + dz * dz).sqrt();
        f[p] += 2.5 * (l - 1.0) * dx / l;
        f[CELLS + p] += 2.5 * (l - 1.0) * dy / l;
        f[2 * CELLS + p] += 2.5 * (l - 1.0) * dz / l;
    }
}

/// The adjoints of the forces are known beforehand: one pass. Planes of fixed size, one
/// reciprocal a spring on the adjoint's side.
fn shaped(x: &[f64], dx: &mut [f64], s: &[f64], seed: f64) -> f64 {
    let [x, s] = [x, s].map(|array| {
        array.as_chunks::<CELLS>().0.as_array::<3>().expect("three coordinates a node")
    });
    let dx = dx.as_chunks_mut::<CELLS>().0.as_mut_array::<3>().expect("three coordinates a node");
    let mut f = [[0.0; CELLS]; 3];
    for i in 1..SIDE - 1 {
        for j in 1..SIDE - 1 {
            for k in 1..SIDE - 1 {
                let p = (i * SIDE + j) * SIDE + k;
                let here = [x[0][p], x[1][p], x[2][p]];
                let pulled = [seed * s[0][p], seed * s[1][p], seed * s[2][p]];
                let mut force = [0.0; 3];
                let mut adjoint = [0.0; 3];
                for q in [p - SIDE * SIDE, p + SIDE * SIDE, p - SIDE, p + SIDE, p - 1, p + 1] {
                    let d = [x[0][q] - here[0], x[1][q] - here[1], x[2][q] - here[2]];
                    let l = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
                    let inverse = 1.0 / l;
                    let stretch = 2.5 * (l - 1.0) * inverse;
                    let along = pulled[0] * d[0] + pulled[1] * d[1] + pulled[2] * d[2];
                    let turn = 2.5 * along * (inverse * inverse * inverse);
                    for c in 0..3 {
                        force[c] += 2.5 * (l - 1.0) * d[c] / l;
                        let change = stretch * pulled[c] + turn * d[c];
                        dx[c][q] += change;
                        adjoint[c] -= change;
                    }
                }
                for c in 0..3 {
                    f[c][p] = force[c];
                    dx[c][p] += adjoint[c];
                }
            }
        }
    }
    let mut sum = 0.0;
    for (s, f) in s.as_flattened().iter().zip(f.as_flattened()) {
        sum += s * f;
    }
    sum
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([x], [s]) = (inputs.active(), inputs.constant());
        let [dx] = shadows.each();
        adjoint(x, dx, s, 1.0)
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(6);
    let mut x = vec![0.0; 3 * CELLS];
    for i in 0..SIDE {
        for j in 0..SIDE {
            for k in 0..SIDE {
                let p = (i * SIDE + j) * SIDE + k;
                x[p] = i as f64 + numbers.within(-0.1, 0.1);
                x[CELLS + p] = j as f64 + numbers.within(-0.1, 0.1);
                x[2 * CELLS + p] = k as f64 + numbers.within(-0.1, 0.1);
            }
        }
    }
    let s = numbers.array(3 * CELLS, -1.0, 1.0);
    Program {
        name: "somier",
        inputs: Inputs { active: vec![x], constant: vec![s], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let ([x], [s]) = (inputs.active(), inputs.constant());
            somier(x, s)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(somier_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: -2.076_319_168_609_886_7,
            sum: 0.0,
            norm: 87.342_234_391_814_53,
            weighted: -93.207_987_475_933_68,
        }),
    }
}
