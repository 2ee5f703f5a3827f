//! matdescent: the squared length of a matrix times a vector.

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

const SIZE: usize = 400;

#[stratape::gradient(wrt(a))]
fn matdescent(a: &[f64], v: &[f64]) -> f64 {
    let mut out = vec![0.0; SIZE];
    for i in 0..SIZE {
        for j in 0..SIZE {
            out[i] += a[i * SIZE + j] * v[j];
        }
    }
    let mut loss = 0.0;
    for i in 0..SIZE {
        loss += out[i] * out[i];
    }
    loss
}

/// Row by row: once a row's product is known, so is its adjoint.
fn shaped(a: &[f64], da: &mut [f64], v: &[f64], seed: f64) -> f64 {
    let v: &[f64; SIZE] = v.as_array().expect("a vector of the matrix's width");
    let (rows, _) = a.as_chunks::<SIZE>();
    let (shadows, _) = da.as_chunks_mut::<SIZE>();
    let mut loss = 0.0;
    for (row, shadow) in rows.iter().zip(shadows) {
        let mut out = 0.0;
        for (a, v) in row.iter().zip(v) {
            out += a * v;
        }
        loss += out * out;
        let adjoint = 2.0 * seed * out;
        for (da, v) in shadow.iter_mut().zip(v) {
            *da += adjoint * v;
        }
    }
    loss
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([a], [v]) = (inputs.active(), inputs.constant());
        let [da] = shadows.each();
        adjoint(a, da, v, 1.0)
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(4);
    let a = numbers.array(SIZE * SIZE, -1.0, 1.0);
    let v = numbers.array(SIZE, -1.0, 1.0);
    Program {
        name: "matdescent",
        inputs: Inputs { active: vec![a], constant: vec![v], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let ([a], [v]) = (inputs.active(), inputs.constant());
            matdescent(a, v)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(matdescent_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: 21_084.997_145_479_8,
            sum: 1_481.009_746_452_952_9,
            norm: 3_305.525_946_656_7,
            weighted: -11.960_259_520_423_309,
        }),
    }
}
