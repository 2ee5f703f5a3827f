//! rosenbrock: the valley in many dimensions, a sum over neighbours.

use super::numbers::Numbers;
use super::program::{Inputs, Program, of_one_slice};
use super::{LANES, blocks, blocks_mut};

#[stratape::gradient]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() - 1 {
        let t = x[i + 1] - x[i] * x[i];
        let u = 1.0 - x[i];
        sum += 100.0 * t * t + u * u;
    }
    sum
}

/// One pass over pairs of neighbours: the adjoint of a plain sum is the seed from the start. The
/// terms of a block are computed side by side and added in order; what a block sends one entry
/// further waits in lanes until the entry's own part is there.
fn shaped(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
    let n = x.len() - 1;
    let dx = &mut dx[..=n];
    let (here, next) = (&x[..n], &x[1..]);
    let mut sum = 0.0;
    let mut carried = 0.0;
    let pairs = blocks(here).iter().zip(blocks(next));
    for ((here, next), dx) in pairs.zip(blocks_mut(&mut dx[..n])) {
        let mut terms = [0.0; LANES];
        let mut forward = [0.0; LANES];
        for l in 0..LANES {
            let t = next[l] - here[l] * here[l];
            let u = 1.0 - here[l];
            terms[l] = 100.0 * t * t + u * u;
            forward[l] = 200.0 * seed * t;
            dx[l] -= 2.0 * (forward[l] * here[l] + seed * u);
        }
        dx[0] += carried;
        for l in 1..LANES {
            dx[l] += forward[l - 1];
        }
        carried = forward[LANES - 1];
        for term in terms {
            sum += term;
        }
    }
    for i in n - n % LANES..n {
        let t = next[i] - here[i] * here[i];
        let u = 1.0 - here[i];
        sum += 100.0 * t * t + u * u;
        let forward = 200.0 * seed * t;
        dx[i] += carried - 2.0 * (forward * here[i] + seed * u);
        carried = forward;
    }
    dx[n] += carried;
    sum
}

pub(super) fn program(n: usize) -> Program {
    let mut numbers = Numbers::from_seed(17);
    let x = numbers.array(n, -1.0, 1.0);
    Program {
        name: "rosenbrock",
        inputs: Inputs { active: vec![x], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let [x] = inputs.active();
            rosenbrock(x)
        }),
        by_hand: Some(of_one_slice(shaped)),
        ours: of_one_slice(rosenbrock_grad),
        state_bytes: None,
        expected: None,
    }
}
