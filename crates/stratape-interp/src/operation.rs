//! Evaluates one [`Op`].

use super::machine::Machine;
use super::number::{Operation, apply, round};
use super::{Datum, Number, Observer, Trap, fault, integer};
use stratape_ir::{Binary, Compare, Float, Math, Op, Scalar, Unary, ValueId};

impl<N: Number, O: Observer> Machine<'_, N, O> {
    /// The value of an operation whose result has the given type.
    pub(super) fn evaluate(&self, op: &Op, ty: Scalar) -> Result<Datum<N>, Trap> {
        match op {
            Op::Float(number, text) => Ok(Datum::Float(N::constant(literal(*number, text, ty)))),
            Op::Int(number) => Ok(Datum::Int(*number)),
            Op::Bool(value) => Ok(Datum::Bool(*value)),
            Op::Const(tokens) => {
                let number = self.constant(&tokens.to_string())?;
                Ok(match ty {
                    Scalar::Int(_) => Datum::Int(number as i128),
                    Scalar::Bool => Datum::Bool(number != 0.0),
                    Scalar::Float(width) => Datum::Float(N::constant(round(number, width))),
                    Scalar::Infer(_) => Datum::Float(N::constant(number)),
                })
            }
            Op::Unary(sign, a) => unary(*sign, self.get(*a)?, self.ty(*a)?),
            Op::Binary(sign, a, b) => binary(*sign, self.get(*a)?, self.get(*b)?, self.ty(*a)?),
            Op::Compare(sign, a, b) => {
                Ok(Datum::Bool(compare(*sign, self.get(*a)?, self.get(*b)?)?))
            }
            Op::TotalCmp { less, a, b } => {
                let order = self.float(*a)?.value().total_cmp(&self.float(*b)?.value());
                Ok(Datum::Bool(if *less { order.is_lt() } else { order.is_gt() }))
            }
            Op::Math(function, args) => self.math(*function, args),
            Op::Method(name, args) => self.method(name, args),
            Op::Cast(a, to) => cast(self.get(*a)?, *to),
            Op::Select(condition, a, b) => {
                let (a, b) = (self.get(*a)?, self.get(*b)?);
                Ok(if self.bool(*condition)? { a } else { b })
            }
            Op::Load(place) => match self.memory(place)?.datum() {
                Some(datum) => Ok(datum),
                None => fault(format!("{place:?} holds more than one value")),
            },
            Op::Len(place) => match self.memory(place)? {
                super::Memory::List(items) => Ok(Datum::Int(items.len() as i128)),
                _ => fault(format!("{place:?} has no length")),
            },
            Op::Builtin(_) => Err(Trap::Unknown("a kernel, which `simt` runs".to_owned())),
        }
    }

    fn math(&self, function: Math, args: &[ValueId]) -> Result<Datum<N>, Trap> {
        let Some((first, rest)) = args.split_first() else {
            return fault(format!("{function:?} of nothing"));
        };
        let width = width(self.ty(*first)?)?;
        let mut numbers = vec![self.float(*first)?];
        let operation = match (function, rest) {
            (Math::Powi, [n]) => match i32::try_from(self.int(*n)?) {
                Ok(n) => Operation::Powi(n),
                Err(_) => return fault("powi takes an i32"),
            },
            _ => {
                for arg in rest {
                    numbers.push(self.float(*arg)?);
                }
                Operation::Math(function)
            }
        };
        Ok(Datum::Float(apply(operation, &numbers, width)?))
    }

    fn method(&self, name: &str, args: &[ValueId]) -> Result<Datum<N>, Trap> {
        let Some(first) = args.first() else {
            return fault(format!("method `{name}` of nothing"));
        };
        match (self.get(*first)?, self.ty(*first)?) {
            (Datum::Float(number), ty) if args.len() == 1 => {
                predicate(name, number.value(), ty).map(Datum::Bool)
            }
            (Datum::Int(_), Scalar::Int(int)) => {
                let mut numbers = Vec::with_capacity(args.len());
                for arg in args {
                    numbers.push(self.int(*arg)?);
                }
                Ok(match integer::method(name, &numbers, int)? {
                    integer::Answer::Int(number) => Datum::Int(number),
                    integer::Answer::Bool(value) => Datum::Bool(value),
                })
            }
            (_, ty) => Err(Trap::Unknown(format!("method `{name}` of {ty}"))),
        }
    }
}

/// A literal by its text, which may carry underscores and a suffix.
pub(crate) fn literal(number: f64, text: &str, ty: Scalar) -> f64 {
    let text: String = text.chars().filter(|c| *c != '_' && !c.is_whitespace()).collect();
    let digits = text.trim_end_matches("f32").trim_end_matches("f64");
    match ty {
        Scalar::Float(Float::F32) => f64::from(digits.parse::<f32>().unwrap_or(number as f32)),
        _ => digits.parse::<f64>().unwrap_or(number),
    }
}

fn width(ty: Scalar) -> Result<Float, Trap> {
    match ty {
        Scalar::Float(width) => Ok(width),
        _ => fault(format!("arithmetic of floats on {ty}")),
    }
}

fn unary<N: Number>(sign: Unary, a: Datum<N>, ty: Scalar) -> Result<Datum<N>, Trap> {
    match (sign, a, ty) {
        (Unary::Neg, Datum::Float(a), _) => {
            Ok(Datum::Float(apply(Operation::Neg, &[a], width(ty)?)?))
        }
        (Unary::Neg, Datum::Int(a), Scalar::Int(int)) => Ok(Datum::Int(integer::neg(a, int)?)),
        (Unary::Not, Datum::Int(a), Scalar::Int(int)) => Ok(Datum::Int(integer::not(a, int))),
        (Unary::Not, Datum::Bool(a), _) => Ok(Datum::Bool(!a)),
        _ => fault(format!("{sign:?} of {ty}")),
    }
}

/// `a op b`, where `a` has the given type.
pub(super) fn binary<N: Number>(
    sign: Binary,
    a: Datum<N>,
    b: Datum<N>,
    ty: Scalar,
) -> Result<Datum<N>, Trap> {
    match (a, b, ty) {
        (Datum::Float(a), Datum::Float(b), _) => {
            Ok(Datum::Float(apply(Operation::Binary(sign), &[a, b], width(ty)?)?))
        }
        (Datum::Int(a), Datum::Int(b), Scalar::Int(int)) => {
            Ok(Datum::Int(integer::binary(sign, a, b, int)?))
        }
        (Datum::Bool(a), Datum::Bool(b), _) => match sign {
            Binary::BitAnd => Ok(Datum::Bool(a & b)),
            Binary::BitOr => Ok(Datum::Bool(a | b)),
            Binary::BitXor => Ok(Datum::Bool(a ^ b)),
            _ => fault(format!("{sign:?} of booleans")),
        },
        _ => fault(format!("{sign:?} of {a:?} and {b:?} as {ty}")),
    }
}

fn compare<N: Number>(sign: Compare, a: Datum<N>, b: Datum<N>) -> Result<bool, Trap> {
    match (a, b) {
        (Datum::Float(a), Datum::Float(b)) => Ok(sign.holds(&a.value(), &b.value())),
        (Datum::Int(a), Datum::Int(b)) => Ok(sign.holds(&a, &b)),
        (Datum::Bool(a), Datum::Bool(b)) => Ok(sign.holds(&a, &b)),
        _ => fault(format!("{a:?} compared with {b:?}")),
    }
}

fn cast<N: Number>(a: Datum<N>, to: Scalar) -> Result<Datum<N>, Trap> {
    match (a, to) {
        (Datum::Float(a), Scalar::Float(width)) => {
            Ok(Datum::Float(apply(Operation::Cast, &[a], width)?))
        }
        (Datum::Float(a), Scalar::Int(int)) => Ok(Datum::Int(integer::from_float(a.value(), int))),
        // In one step: by way of f64 a large number would be rounded twice.
        (Datum::Int(a), Scalar::Float(Float::F32)) => {
            Ok(Datum::Float(N::constant(f64::from(a as f32))))
        }
        (Datum::Int(a), Scalar::Float(Float::F64)) => Ok(Datum::Float(N::constant(a as f64))),
        (Datum::Int(a), Scalar::Int(int)) => Ok(Datum::Int(integer::wrap(a, int))),
        (Datum::Bool(a), Scalar::Int(_)) => Ok(Datum::Int(i128::from(a))),
        (Datum::Bool(a), Scalar::Bool) => Ok(Datum::Bool(a)),
        _ => fault(format!("{a:?} as {to}")),
    }
}

pub(super) fn predicate(name: &str, a: f64, ty: Scalar) -> Result<bool, Trap> {
    Ok(match name {
        "is_nan" => a.is_nan(),
        "is_finite" => a.is_finite(),
        "is_infinite" => a.is_infinite(),
        "is_sign_negative" => a.is_sign_negative(),
        "is_sign_positive" => a.is_sign_positive(),
        "is_normal" if ty == Scalar::Float(Float::F32) => (a as f32).is_normal(),
        "is_normal" => a.is_normal(),
        _ => return Err(Trap::Unknown(format!("method `{name}` of {ty}"))),
    })
}
