//! gravity: the softened potential of 512 bodies in the plane, over all ordered pairs.

use super::numbers::Numbers;
use super::program::{Expected, Inputs, Program, of_one_slice};
use super::{LANES, blocks, blocks_mut};

const BODIES: usize = 512;
const SOFTENING: f64 = 1e-3;

#[stratape::gradient]
fn gravity(x: &[f64]) -> f64 {
    let mut energy = 0.0;
    for i in 0..BODIES {
        for j in 0..BODIES {
            let dx = x[2 * i] - x[2 * j];
            let dy = x[2 * i + 1] - x[2 * j + 1];
            energy += -1.0 / (dx * dx + dy * dy + SOFTENING).sqrt();
        }
    }
    energy
}

/// One pass: the adjoint of a plain sum is the seed from the start, so nothing is saved. Blocks of
/// pairs let the roots and divisions run side by side, while the terms are added in their order.
fn shaped(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
    let (mut xs, mut ys) = ([0.0; BODIES], [0.0; BODIES]);
    for ((px, py), point) in xs.iter_mut().zip(&mut ys).zip(x.chunks_exact(2)) {
        (*px, *py) = (point[0], point[1]);
    }
    let (mut gx, mut gy) = ([0.0; BODIES], [0.0; BODIES]);
    let mut energy = 0.0;
    for i in 0..BODIES {
        let (mut pull_x, mut pull_y) = ([0.0; LANES], [0.0; LANES]);
        let points = blocks(&xs).iter().zip(blocks(&ys));
        let adjoints = blocks_mut(&mut gx).iter_mut().zip(blocks_mut(&mut gy));
        for ((bx, by), (gx, gy)) in points.zip(adjoints) {
            let mut terms = [0.0; LANES];
            for l in 0..LANES {
                let (ex, ey) = (xs[i] - bx[l], ys[i] - by[l]);
                let inverse = 1.0 / (ex * ex + ey * ey + SOFTENING).sqrt();
                terms[l] = -inverse;
                let pull = seed * (inverse * inverse * inverse);
                pull_x[l] += pull * ex;
                pull_y[l] += pull * ey;
                gx[l] -= pull * ex;
                gy[l] -= pull * ey;
            }
            for term in terms {
                energy += term;
            }
        }
        gx[i] += pull_x.iter().sum::<f64>();
        gy[i] += pull_y.iter().sum::<f64>();
    }
    for ((point, gx), gy) in dx.chunks_exact_mut(2).zip(&gx).zip(&gy) {
        point[0] += gx;
        point[1] += gy;
    }
    energy
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(1);
    let x = numbers.array(2 * BODIES, 0.0, 1.0);
    Program {
        name: "gravity",
        inputs: Inputs { active: vec![x], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let [x] = inputs.active();
            gravity(x)
        }),
        by_hand: Some(of_one_slice(shaped)),
        ours: of_one_slice(gravity_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: -754_725.261_134_026,
            sum: 0.0,
            norm: 88_986.166_747_584_21,
            weighted: 80_624.504_915_036_86,
        }),
    }
}
