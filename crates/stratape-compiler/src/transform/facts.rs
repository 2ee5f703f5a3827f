//! Properties of single operations and blocks that several passes ask for: can it panic, is it cheap, may its derivative be infinite.

use std::collections::{HashMap, HashSet};

use stratape_ir::{Binary, Block, Function, Math, Op, Range, Scalar, Stmt, Unary, ValueId, walk};

/// The integers that are literals.
pub(crate) fn integers(block: &Block) -> HashMap<ValueId, i128> {
    let mut integers = HashMap::new();
    walk(block, &mut |node| {
        if let Stmt::Let { value, op: Op::Int(number) } = node {
            integers.insert(*value, *number);
        }
    });
    integers
}

/// From where to where a range of literals goes: how many numbers are in it, which may be negative.
pub(crate) fn trips(integers: &HashMap<ValueId, i128>, range: &Range) -> Option<i128> {
    let Range::UpTo { from, to } = range else { return None };
    integers.get(to).zip(integers.get(from)).map(|(to, from)| to - from)
}

/// Whether a range of literals is not empty.
pub(crate) fn runs(integers: &HashMap<ValueId, i128>, from: ValueId, to: ValueId) -> bool {
    trips(integers, &Range::UpTo { from, to }).is_some_and(|trips| trips > 0)
}

/// Whether an operation cannot panic: executing it in vain costs nothing but time.
pub(crate) fn is_total(op: &Op, ty: Scalar) -> bool {
    match op {
        Op::Float(..) | Op::Int(_) | Op::Bool(_) | Op::Const(_) | Op::Len(_) | Op::Builtin(_) => {
            true
        }
        Op::Unary(Unary::Not, _)
        | Op::Compare(..)
        | Op::TotalCmp { .. }
        | Op::Cast(..)
        | Op::Select(..) => true,
        Op::Unary(Unary::Neg, _) => ty.is_float(),
        Op::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor, ..) => true,
        Op::Binary(..) => ty.is_float(),
        Op::Math(Math::Clamp, _) | Op::Load(_) => false,
        Op::Math(..) => true,
        Op::Method(name, _) => matches!(
            name.as_str(),
            "min"
                | "max"
                | "saturating_add"
                | "saturating_sub"
                | "saturating_mul"
                | "wrapping_add"
                | "wrapping_sub"
                | "wrapping_mul"
                | "is_nan"
                | "is_finite"
                | "is_infinite"
                | "is_sign_negative"
                | "is_sign_positive"
                | "count_ones"
                | "leading_zeros"
                | "trailing_zeros"
                | "is_power_of_two"
                | "signum"
        ),
    }
}

/// The floats that are made of finite literals, constants and integers alone: no derivative passes through them.
pub(crate) fn literals(function: &Function, block: &Block) -> HashSet<ValueId> {
    let mut literals = HashSet::new();
    walk(block, &mut |node| {
        let Stmt::Let { value, op } = node else { return };
        let known = match op {
            Op::Float(number, _) => number.is_finite(),
            Op::Const(constant) => {
                let text = &constant.text;
                !text.ends_with("INFINITY") && !text.ends_with("NAN")
            }
            Op::Cast(a, _) => matches!(function.ty(*a), Scalar::Int(_)) || literals.contains(a),
            Op::Unary(Unary::Neg, a) => literals.contains(a),
            Op::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div, a, b) => {
                literals.contains(a) && literals.contains(b)
            }
            _ => false,
        };
        if known && !matches!(function.ty(*value), Scalar::Int(_)) {
            literals.insert(*value);
        }
    });
    literals
}

/// Whether an operation is a product of two floats that are not constants. Each is the derivative with respect to the other, and may be
/// infinite where the product is not used; zero times it would be NaN.
pub(crate) fn is_product(op: &Op, ty: Scalar, literals: &HashSet<ValueId>) -> bool {
    let unknown = |value: &ValueId| !literals.contains(value);
    match op {
        Op::Binary(Binary::Mul, a, b) => ty.is_float() && unknown(a) && unknown(b),
        Op::Math(Math::MulAdd, args) => {
            args.iter().take(2).filter(|value| unknown(value)).count() > 1
        }
        _ => false,
    }
}

/// Whether an operation costs so little that executing it in vain is better than a branch.
pub(crate) fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Binary(Binary::Div | Binary::Rem, ..) => false,
        Op::Math(function, _) => matches!(
            function,
            Math::Abs
                | Math::Min
                | Math::Max
                | Math::Copysign
                | Math::Signum
                | Math::Floor
                | Math::Ceil
                | Math::Trunc
        ),
        _ => true,
    }
}
