//! Functions that go by halves.

use std::f64::consts::PI;
use stratape::differentiable;

use crate::shapes::{Point, Real};

/// Calls itself.
#[differentiable]
pub fn product(x: &[f64]) -> f64 {
    if x.len() < 2 {
        return x.iter().product();
    }
    let (left, right) = x.split_at(x.len() / 2);
    product(left) * product(right)
}

/// Nobody could be asked for `PI`.
#[differentiable(halves)]
fn turn(angle: f64, times: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..times {
        sum += (angle * PI * i as f64).sin();
    }
    sum
}

/// Its signature is known when `Real` is.
#[differentiable(halves)]
pub fn scale(y: &mut [Real], by: Real) {
    for v in y.iter_mut() {
        *v = *v * by + turn(by, 3);
    }
}

/// Cannot go by halves, and calls those that do.
#[differentiable]
pub fn spin(p: &Point, n: usize) -> Real {
    turn(p.x, n) * p.y + crate::series::turn(p.y, 2)
}

/// These call each other: one of them does not wait for the other.
#[differentiable]
pub fn even(x: f64, n: usize) -> f64 {
    if n == 0 { x } else { x * odd(x, n - 1) }
}

#[differentiable(halves)]
pub fn odd(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { (0.5 * x).sin() + even(x, n - 1) }
}

#[differentiable(halves)]
pub fn narrow(x: &[f32], k: &[usize]) -> f32 {
    let mut sum = 0.0;
    for i in 0..k.len() {
        sum += x[k[i]] * x[i];
    }
    sum
}

/// Has no derivative, and needs no module to say so.
#[stratape::constant]
pub fn coarse(x: f64, k: &[usize]) -> f64 {
    (x * k.len() as f64).floor() + x
}

/// What the library does not know.
pub mod by_hand {
    /// As if it came from another crate.
    pub mod foreign {
        pub fn norm(x: &[f64]) -> f64 {
            x.iter().map(|v| v * v).sum::<f64>().sqrt()
        }
    }

    #[stratape::pullback(of = foreign::norm)]
    pub fn norm_back(x: &[f64], dx: &mut [f64], seed: f64) {
        let length = foreign::norm(x);
        for (d, v) in dx.iter_mut().zip(x) {
            *d += 3.0 * seed * v / length;
        }
    }

    pub fn grow(y: &mut [f64], by: f64, n: usize) {
        y[n] *= by;
    }

    /// Ten times what is right, to tell it from what the compiler would find.
    #[stratape::pullback(of = grow)]
    pub fn grow_back(y: &mut [f64], dy: &mut [f64], by: f64, n: usize) -> f64 {
        let dby = 10.0 * dy[n] * y[n] / by;
        dy[n] *= by;
        dby
    }
}

/// A module whose functions are text, and call some that are not.
#[differentiable]
pub mod tree {
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Leaf {
        pub weight: f64,
        pub at: f64,
    }

    fn fall(x: f64, n: usize) -> f64 {
        if n == 0 { x } else { 0.5 * x + fall(x * x, n - 1) }
    }

    #[constant]
    fn level(x: f64) -> f64 {
        x.floor()
    }

    /// Nothing but its text can take structs.
    pub fn sway(leaves: &[Leaf], n: usize) -> f64 {
        let mut sum = 0.0;
        for leaf in leaves {
            sum += leaf.weight * fall(leaf.at, n) + level(leaf.at);
        }
        sum
    }

    /// Calls itself and shares what `sway` calls.
    pub fn bend(x: f64, n: usize) -> f64 {
        if n < 2 { fall(x, 2) } else { bend(x, n - 1) + x * bend(x, n - 2) }
    }
}
