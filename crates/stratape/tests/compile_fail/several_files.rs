use stratape::{differentiable, gradient};
use std::f64::consts::PI;

const G: f64 = 9.81;

#[differentiable]
fn weight(mass: f64) -> f64 {
    mass * G
}

#[differentiable]
fn turn(x: f64) -> f64 {
    x * PI
}

fn helper(x: f64) -> f64 {
    x
}

#[differentiable]
fn calls_a_plain_function(x: f64) -> f64 {
    helper(x)
}

#[differentiable]
fn names_something_in_a_message(x: f64) -> f64 {
    assert!(x > 0.0, "not {}", helper(x));
    x
}

#[differentiable]
fn imports_inside(x: f64) -> f64 {
    use self::helper as other;
    other(x)
}

#[derive(Clone, Copy)]
#[differentiable]
pub struct Pair(pub f64, pub f64);

#[differentiable(halves)]
fn takes_a_struct(p: &Pair) -> f64 {
    p.0
}

/// The error points into its text, not at those who call it.
#[differentiable]
fn outside_the_language(x: f64) -> f64 {
    x.to_bits() as f64
}

#[gradient]
fn calls_it(x: f64) -> f64 {
    outside_the_language(x)
}

mod inner {
    #[stratape::gradient]
    fn calls_a_plain_function_above(x: f64) -> f64 {
        super::helper(x)
    }
}

mod waiting {
    use stratape::differentiable;

    #[differentiable]
    pub fn even(x: f64, n: usize) -> f64 {
        if n == 0 { x } else { odd(x, n - 1) }
    }

    #[differentiable]
    pub fn odd(x: f64, n: usize) -> f64 {
        if n == 0 { 1.0 } else { even(x, n - 1) }
    }
}

fn main() {}
