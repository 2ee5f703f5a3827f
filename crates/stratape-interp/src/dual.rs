//! Forward derivatives: a value and its tangent, by rules written from calculus.
//!
//! Where a function has no derivative, one is chosen:
//! - `abs` at zero: 0; `signum`, `floor`, `ceil`, `round`, `trunc`, `div_euclid`: 0; `fract`: 1;
//! - `max`, `min`: of the argument that is returned, the first one in a tie;
//! - `clamp`: of what is returned, and inside or at the bounds that is `self`;
//! - `hypot` at the origin: 0; `powf` with exponent zero, in its base: 0; at base zero, in its exponent: 0;
//! - everything else as the formula gives it in floating point: `sqrt` at zero is infinitely steep.
//!
//! An argument whose tangent is zero contributes nothing, however steep the function.

use std::f64::consts::{LN_2, LN_10, PI};

use super::{Number, Operation};
use stratape_ir::{Binary, Math};

/// A value and its derivative along one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// Its derivative.
    pub tangent: f64,
}

impl Dual {
    /// A value that changes at a rate.
    pub fn new(value: f64, tangent: f64) -> Self {
        Self { value, tangent }
    }

    /// The tangent's share in a result that changes `slope` times as fast.
    fn times(self, slope: f64) -> f64 {
        if self.tangent == 0.0 { 0.0 } else { slope * self.tangent }
    }
}

impl Number for Dual {
    fn constant(value: f64) -> Self {
        Self { value, tangent: 0.0 }
    }

    fn value(self) -> f64 {
        self.value
    }

    fn result(value: f64, operation: Operation, args: &[Self]) -> Self {
        let tangent = match *args {
            [a] => a.times(slope(operation, a.value)),
            [a, b] => tangent_of_two(operation, a, b),
            [a, b, c] => match operation {
                Operation::Math(Math::MulAdd) => a.times(b.value) + b.times(a.value) + c.tangent,
                Operation::Math(Math::Clamp) if a.value < b.value => b.tangent,
                Operation::Math(Math::Clamp) if a.value > c.value => c.tangent,
                Operation::Math(Math::Clamp) => a.tangent,
                _ => f64::NAN,
            },
            _ => f64::NAN,
        };
        Self { value, tangent }
    }
}

/// The derivative of a function of one argument.
fn slope(operation: Operation, x: f64) -> f64 {
    let function = match operation {
        Operation::Neg => return -1.0,
        Operation::Cast => return 1.0,
        Operation::Powi(0) => return 0.0,
        Operation::Powi(n) => return f64::from(n) * x.powi(n.saturating_sub(1)),
        Operation::Math(function) => function,
        Operation::Binary(_) => return f64::NAN,
    };
    match function {
        Math::Sqrt => 0.5 / x.sqrt(),
        Math::Cbrt => 1.0 / (3.0 * x.cbrt() * x.cbrt()),
        Math::Exp | Math::ExpM1 => x.exp(),
        Math::Exp2 => LN_2 * x.exp2(),
        Math::Ln => 1.0 / x,
        Math::Ln1p => 1.0 / (1.0 + x),
        Math::Log2 => 1.0 / (LN_2 * x),
        Math::Log10 => 1.0 / (LN_10 * x),
        Math::Sin => x.cos(),
        Math::Cos => -x.sin(),
        Math::Tan => 1.0 / (x.cos() * x.cos()),
        Math::Asin => 1.0 / ((1.0 - x) * (1.0 + x)).sqrt(),
        Math::Acos => -1.0 / ((1.0 - x) * (1.0 + x)).sqrt(),
        Math::Atan => 1.0 / (1.0 + x * x),
        Math::Sinh => x.cosh(),
        Math::Cosh => x.sinh(),
        Math::Tanh => 1.0 / (x.cosh() * x.cosh()),
        Math::Asinh => 1.0 / x.hypot(1.0),
        Math::Acosh => 1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt()),
        Math::Atanh => 1.0 / ((1.0 - x) * (1.0 + x)),
        Math::Abs if x == 0.0 => 0.0,
        Math::Abs => x.signum(),
        Math::Signum
        | Math::Floor
        | Math::Ceil
        | Math::Round
        | Math::RoundTiesEven
        | Math::Trunc => 0.0,
        Math::Fract => 1.0,
        Math::Recip => -1.0 / (x * x),
        Math::ToRadians => PI / 180.0,
        Math::ToDegrees => 180.0 / PI,
        Math::Log
        | Math::Hypot
        | Math::Atan2
        | Math::Powi
        | Math::Powf
        | Math::Copysign
        | Math::Min
        | Math::Max
        | Math::Clamp
        | Math::MulAdd
        | Math::DivEuclid
        | Math::RemEuclid => f64::NAN,
    }
}

fn tangent_of_two(operation: Operation, a: Dual, b: Dual) -> f64 {
    let (x, y) = (a.value, b.value);
    match operation {
        Operation::Binary(Binary::Add) => a.tangent + b.tangent,
        Operation::Binary(Binary::Sub) => a.tangent - b.tangent,
        Operation::Binary(Binary::Mul) => a.times(y) + b.times(x),
        Operation::Binary(Binary::Div) => a.times(1.0 / y) - b.times(x / (y * y)),
        Operation::Binary(Binary::Rem) => a.tangent - b.times(((x - x % y) / y).round()),
        Operation::Math(Math::RemEuclid) => {
            a.tangent - b.times(((x - x.rem_euclid(y)) / y).round())
        }
        Operation::Math(Math::DivEuclid) => 0.0,
        Operation::Math(Math::Log) => {
            a.times(1.0 / (x * y.ln())) - b.times(x.ln() / (y * y.ln() * y.ln()))
        }
        Operation::Math(Math::Hypot) => match x.hypot(y) {
            0.0 => 0.0,
            norm => a.times(x / norm) + b.times(y / norm),
        },
        Operation::Math(Math::Atan2) => {
            let square = x * x + y * y;
            a.times(y / square) - b.times(x / square)
        }
        Operation::Math(Math::Powf) => {
            let in_base = if y == 0.0 { 0.0 } else { y * x.powf(y - 1.0) };
            let in_exponent = if x == 0.0 && y > 0.0 { 0.0 } else { x.powf(y) * x.ln() };
            a.times(in_base) + b.times(in_exponent)
        }
        Operation::Math(Math::Copysign) => {
            a.times(if x.is_sign_negative() == y.is_sign_negative() { 1.0 } else { -1.0 })
        }
        Operation::Math(Math::Min) => returned(a, b, x <= y).tangent,
        Operation::Math(Math::Max) => returned(a, b, x >= y).tangent,
        _ => f64::NAN,
    }
}

/// Which of two arguments `min` or `max` returns: a NaN only beside another one.
fn returned(a: Dual, b: Dual, first: bool) -> Dual {
    if first || b.value.is_nan() { a } else { b }
}
