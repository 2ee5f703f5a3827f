//! What the interpreter computes with: operations on floats, and their values.

use std::fmt;

use super::{Trap, fault};
use stratape_ir::{Binary, Float, Math};

/// An operation that takes floats and gives a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// `-a`
    Neg,
    /// Arithmetic on two operands.
    Binary(Binary),
    /// A function of the library, other than `powi`.
    Math(Math),
    /// `a.powi(n)`
    Powi(i32),
    /// `a as f32`, `a as f64`
    Cast,
}

/// A float of the interpreted program: a value, and whatever else travels with it.
pub trait Number: Copy + fmt::Debug {
    /// A number that depends on nothing.
    fn constant(value: f64) -> Self;

    /// The value.
    fn value(self) -> f64;

    /// The result of an operation whose value is computed already.
    fn result(value: f64, operation: Operation, args: &[Self]) -> Self;
}

impl Number for f64 {
    fn constant(value: f64) -> Self {
        value
    }

    fn value(self) -> f64 {
        self
    }

    fn result(value: f64, _: Operation, _: &[Self]) -> Self {
        value
    }
}

/// Applies an operation to numbers of one width.
///
/// ```
/// use stratape_interp::{Dual, Operation, apply};
/// use stratape_ir::{Float, Math};
///
/// let sine = apply(Operation::Math(Math::Sin), &[Dual::new(0.0, 2.0)], Float::F64)?;
/// assert_eq!(sine, Dual::new(0.0, 2.0));
/// # Ok::<(), stratape_interp::Trap>(())
/// ```
///
/// # Errors
///
/// The operation is none of such numbers.
pub fn apply<N: Number>(operation: Operation, args: &[N], width: Float) -> Result<N, Trap> {
    let values: Vec<f64> = args.iter().map(|arg| arg.value()).collect();
    Ok(N::result(evaluate(operation, &values, width)?, operation, args))
}

/// The value of an operation on numbers of one width.
pub(crate) fn evaluate(operation: Operation, args: &[f64], width: Float) -> Result<f64, Trap> {
    match width {
        Float::F32 => evaluate_f32(operation, args),
        Float::F64 => evaluate_f64(operation, args),
    }
}

/// A number rounded to a width.
pub(super) fn round(value: f64, width: Float) -> f64 {
    match width {
        Float::F32 => f64::from(value as f32),
        Float::F64 => value,
    }
}

macro_rules! evaluate {
    ($evaluate:ident, $one:ident, $two:ident, $ty:ty) => {
        fn $evaluate(operation: Operation, args: &[f64]) -> Result<f64, Trap> {
            let value = match *args {
                [a] => $one(operation, a as $ty),
                [a, b] => $two(operation, a as $ty, b as $ty),
                [a, b, c] => {
                    let (a, b, c) = (a as $ty, b as $ty, c as $ty);
                    match operation {
                        Operation::Math(Math::MulAdd) => Some(a.mul_add(b, c)),
                        Operation::Math(Math::Clamp) if b <= c => Some(a.clamp(b, c)),
                        Operation::Math(Math::Clamp) => {
                            return Err(Trap::Panic(format!(
                                "min > max, or either was NaN. min = {b:?}, max = {c:?}"
                            )));
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            match value {
                #[allow(
                    clippy::useless_conversion,
                    reason = "the types come from the macro's user"
                )]
                Some(value) => Ok(f64::from(value)),
                None => fault(format!("{operation:?} of {} floats", args.len())),
            }
        }

        fn $one(operation: Operation, a: $ty) -> Option<$ty> {
            let function = match operation {
                Operation::Neg => return Some(-a),
                Operation::Powi(n) => return Some(a.powi(n)),
                Operation::Cast => return Some(a),
                Operation::Math(function) => function,
                Operation::Binary(_) => return None,
            };
            Some(match function {
                Math::Sqrt => a.sqrt(),
                Math::Cbrt => a.cbrt(),
                Math::Exp => a.exp(),
                Math::Exp2 => a.exp2(),
                Math::ExpM1 => a.exp_m1(),
                Math::Ln => a.ln(),
                Math::Ln1p => a.ln_1p(),
                Math::Log2 => a.log2(),
                Math::Log10 => a.log10(),
                Math::Sin => a.sin(),
                Math::Cos => a.cos(),
                Math::Tan => a.tan(),
                Math::Asin => a.asin(),
                Math::Acos => a.acos(),
                Math::Atan => a.atan(),
                Math::Sinh => a.sinh(),
                Math::Cosh => a.cosh(),
                Math::Tanh => a.tanh(),
                Math::Asinh => a.asinh(),
                Math::Acosh => a.acosh(),
                Math::Atanh => a.atanh(),
                Math::Abs => a.abs(),
                Math::Signum => a.signum(),
                Math::Floor => a.floor(),
                Math::Ceil => a.ceil(),
                Math::Round => a.round(),
                Math::RoundTiesEven => a.round_ties_even(),
                Math::Trunc => a.trunc(),
                Math::Fract => a.fract(),
                Math::Recip => a.recip(),
                Math::ToRadians => a.to_radians(),
                Math::ToDegrees => a.to_degrees(),
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
                | Math::RemEuclid => return None,
            })
        }

        fn $two(operation: Operation, a: $ty, b: $ty) -> Option<$ty> {
            Some(match operation {
                Operation::Binary(Binary::Add) => a + b,
                Operation::Binary(Binary::Sub) => a - b,
                Operation::Binary(Binary::Mul) => a * b,
                Operation::Binary(Binary::Div) => a / b,
                Operation::Binary(Binary::Rem) => a % b,
                Operation::Math(Math::Log) => a.log(b),
                Operation::Math(Math::Hypot) => a.hypot(b),
                Operation::Math(Math::Atan2) => a.atan2(b),
                Operation::Math(Math::Powf) => a.powf(b),
                Operation::Math(Math::Copysign) => a.copysign(b),
                Operation::Math(Math::Min) => a.min(b),
                Operation::Math(Math::Max) => a.max(b),
                Operation::Math(Math::DivEuclid) => a.div_euclid(b),
                Operation::Math(Math::RemEuclid) => a.rem_euclid(b),
                _ => return None,
            })
        }
    };
}

evaluate!(evaluate_f32, one_f32, two_f32, f32);
evaluate!(evaluate_f64, one_f64, two_f64, f64);
