//! What a file imports from the standard library means the same wherever its text is read; and a gradient is a function like others.

use std::f64::consts::{PI, TAU};
use std::{iter, mem};
use stratape::{differentiable, gradient};

#[differentiable]
pub(crate) fn wave(x: f64) -> f64 {
    (TAU * x).sin() * PI
}

#[gradient]
pub(crate) fn halvings(x: f64, n: usize) -> f64 {
    iter::successors(Some(x), |v| Some(v * 0.5)).take(n).sum::<f64>() + wave(x)
}

pub(crate) mod constants {
    use std::f64::consts::*;

    #[stratape::differentiable]
    pub(crate) fn turned(x: f64) -> f64 {
        x * FRAC_PI_2 + SQRT_2
    }
}

pub(crate) mod inner {
    use super::*;

    #[differentiable]
    pub(crate) fn shifted(x: f64) -> f64 {
        let (mut a, mut b) = (x, PI);
        mem::swap(&mut a, &mut b);
        a * b
    }

    #[gradient]
    pub(crate) fn twice(x: f64) -> f64 {
        halvings(x, 2) * halvings(x, 3) + shifted(x)
    }
}

/// Two functions of one name in a file: each has what its own module imports.
pub(crate) mod circle {
    use std::f64::consts::PI;

    #[stratape::differentiable]
    pub(crate) fn area(r: f64) -> f64 {
        PI * r * r
    }
}

pub(crate) mod square {
    const PI: f64 = 4.0;

    #[stratape::differentiable(halves)]
    pub(crate) fn area(r: f64) -> f64 {
        PI * r * r
    }
}

pub(crate) use circle::area;

/// The name of a macro that everyone uses, and names that are words of the language.
#[gradient]
pub(crate) fn line(r#match: &[f64], r#loop: f64) -> f64 {
    r#match[0] * r#match[1] * r#loop
}

#[gradient]
pub(crate) fn r#move(x: &[f64]) -> f64 {
    line(x, 3.0) * area(x[0]) * square::area(x[1])
}
