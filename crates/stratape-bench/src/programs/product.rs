//! product: of a million factors near one.

use super::numbers::Numbers;
use super::program::{Gradient, Inputs, Program};

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

type Adjoint = fn(&[f64], &mut [f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([x], [dx]) = (inputs.active(), shadows.each());
        adjoint(x, dx, 1.0)
    })
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
        shaped: calling(shaped),
        ours: Some(calling(product_grad)),
        tape_bytes: Some(stratape::__private::take_last_bytes),
        expected: None,
    }
}
