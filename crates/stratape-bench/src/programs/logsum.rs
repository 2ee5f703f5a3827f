//! logsum: the logarithm of a sum of exponentials, with the maximum subtracted.

use super::numbers::Numbers;
use super::program::{Expected, Inputs, Program, of_one_slice};
use super::{LANES, blocks, blocks_mut};

const LENGTH: usize = 10_000;

#[stratape::gradient]
fn logsum(x: &[f64]) -> f64 {
    let mut max = x[0];
    for i in 1..x.len() {
        if x[i] > max {
            max = x[i];
        }
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] - max).exp();
    }
    total.ln() + max
}

/// The exponentials are kept, and of the maximum its index. The adjoint of the maximum is a sum
/// whose order is free: it runs in lanes.
fn shaped(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
    assert_eq!(x.len(), dx.len(), "a shadow for every entry");
    let mut largest = 0;
    let mut max = x[0];
    for (i, &value) in x.iter().enumerate() {
        if value > max {
            max = value;
            largest = i;
        }
    }
    let mut total = 0.0;
    let step = |value: &f64| {
        let e = (value - max).exp();
        total += e;
        e
    };
    let e: Vec<f64> = x.iter().map(step).collect();

    let scale = seed / total;
    let mut sums = [0.0; LANES];
    for (e, dx) in blocks(&e).iter().zip(blocks_mut(dx)) {
        for l in 0..LANES {
            let adjoint = scale * e[l];
            dx[l] += adjoint;
            sums[l] += adjoint;
        }
    }
    let done = x.len() - x.len() % LANES;
    let mut rest = 0.0;
    for (e, dx) in e[done..].iter().zip(&mut dx[done..]) {
        *dx += scale * e;
        rest += scale * e;
    }
    dx[largest] += seed - sums.iter().sum::<f64>() - rest;
    total.ln() + max
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(3);
    let x = numbers.array(LENGTH, -5.0, 5.0);
    Program {
        name: "logsum",
        inputs: Inputs { active: vec![x], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let [x] = inputs.active();
            logsum(x)
        }),
        by_hand: Some(of_one_slice(shaped)),
        ours: of_one_slice(logsum_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: 11.864_036_501_854_965,
            sum: 1.0,
            norm: 0.022_706_327_688_417_627,
            weighted: -0.003_985_836_744_192_593,
        }),
    }
}
