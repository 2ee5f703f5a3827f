//! product: of a million factors near one.

use super::numbers::Numbers;
use super::program::{Inputs, Program, of_one_slice};

#[stratape::gradient]
fn product(x: &[f64]) -> f64 {
    let mut product = 1.0;
    for i in 0..x.len() {
        product *= x[i];
    }
    product
}

/// The partial products are saved; the reverse pass multiplies from the other end.
fn shaped(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
    let mut product = 1.0;
    let step = |x| {
        let before = product;
        product *= x;
        before
    };
    let saved: Vec<f64> = x.iter().map(step).collect();
    let mut adjoint = seed;
    for ((dx, x), before) in dx.iter_mut().zip(x).zip(&saved).rev() {
        *dx += adjoint * before;
        adjoint *= x;
    }
    product
}

pub(super) fn program(n: usize) -> Program {
    let mut numbers = Numbers::from_seed(12);
    let x = numbers.array(n, 0.999, 1.001);
    Program {
        name: "product",
        inputs: Inputs { active: vec![x], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let [x] = inputs.active();
            product(x)
        }),
        by_hand: Some(of_one_slice(shaped)),
        ours: of_one_slice(product_grad),
        state_bytes: None,
        expected: None,
    }
}
