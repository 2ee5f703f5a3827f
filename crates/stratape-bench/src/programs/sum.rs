//! sum: of a million numbers, the least there is to differentiate.

use super::numbers::Numbers;
use super::program::{Inputs, Program, of_one_slice};

#[stratape::gradient]
fn sum(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i];
    }
    sum
}

/// One pass: the adjoints fill the time that the ordered sum waits.
fn shaped(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
    let mut sum = 0.0;
    for (x, dx) in x.iter().zip(dx) {
        sum += x;
        *dx += seed;
    }
    sum
}

pub(super) fn program(n: usize) -> Program {
    let mut numbers = Numbers::from_seed(13);
    let x = numbers.array(n, -1.0, 1.0);
    Program {
        name: "sum",
        inputs: Inputs { active: vec![x], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let [x] = inputs.active();
            sum(x)
        }),
        by_hand: Some(of_one_slice(shaped)),
        ours: of_one_slice(sum_grad),
        state_bytes: None,
        expected: None,
    }
}
