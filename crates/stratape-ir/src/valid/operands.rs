//! Types of operations: which operands each takes, and what it gives.

use super::types::{Types, agree, is_float, is_int};
use crate::{Binary, Int, Math, Op, Scalar, Unary, ValueId};

impl Types<'_> {
    /// Whether an operation has operands that it takes, and a result of a type.
    pub(super) fn op(&self, op: &Op, ty: Scalar) -> bool {
        let same = |a: &ValueId, b: &ValueId| self.agree(*a, *b) && self.is(*a, ty);
        match op {
            Op::Float(..) => is_float(ty),
            Op::Int(number) => match ty {
                Scalar::Int(int) => {
                    let (least, greatest) = int.bounds();
                    (least..=greatest).contains(number)
                }
                ty => is_int(ty),
            },
            Op::Bool(_) => agree(ty, Scalar::Bool),
            Op::Const(_) => true,
            Op::Builtin(_) => agree(ty, Scalar::USIZE),
            Op::Unary(Unary::Neg, a) => self.is(*a, ty) && has_negatives(ty),
            Op::Unary(Unary::Not, a) => self.is(*a, ty) && !matches!(ty, Scalar::Float(_)),
            Op::Binary(Binary::Shl | Binary::Shr, a, b) => {
                self.is(*a, ty) && is_int(ty) && is_int(self.ty(*b))
            }
            Op::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor, a, b) => {
                same(a, b) && !matches!(ty, Scalar::Float(_))
            }
            Op::Binary(_, a, b) => same(a, b) && ty != Scalar::Bool,
            Op::Compare(_, a, b) => self.agree(*a, *b) && agree(ty, Scalar::Bool),
            Op::TotalCmp { a, b, .. } => {
                self.agree(*a, *b) && is_float(self.ty(*a)) && agree(ty, Scalar::Bool)
            }
            Op::Math(Math::Powi, args) => {
                let [a, n] = args[..] else { return false };
                is_float(ty) && self.is(a, ty) && self.is(n, Scalar::Int(Int::I32))
            }
            Op::Math(function, args) => {
                is_float(ty)
                    && args.len() == function.arity()
                    && args.iter().all(|arg| self.is(*arg, ty))
            }
            Op::Method(name, args) => self.method(name, args, ty),
            Op::Cast(a, to) => agree(ty, *to) && can_be_cast(self.ty(*a), *to),
            Op::Select(c, a, b) => self.is(*c, Scalar::Bool) && same(a, b),
            Op::Load(place) => self.held(place).is_some_and(|held| agree(held, ty)),
            Op::Len(place) => {
                let list = self.function.place_type(place);
                list.is_some_and(|list| list.element().is_some()) && agree(ty, Scalar::USIZE)
            }
        }
    }

    /// Operands of methods are of one type, which is that of the result unless the method has another.
    fn method(&self, name: &str, args: &[ValueId], ty: Scalar) -> bool {
        let Some(first) = args.first() else { return false };
        let alike = args.iter().all(|arg| self.agree(*first, *arg));
        match name {
            name if name.starts_with("is_") => alike && agree(ty, Scalar::Bool),
            "pow" | "rotate_left" | "rotate_right" | "wrapping_shl" | "wrapping_shr" => {
                let [a, exponent] = args else { return false };
                is_int(ty) && self.is(*a, ty) && self.is(*exponent, Scalar::Int(Int::U32))
            }
            "count_ones" | "count_zeros" | "leading_zeros" | "trailing_zeros" | "ilog2"
            | "ilog10" | "leading_ones" | "trailing_ones" => {
                alike && is_int(self.ty(*first)) && agree(ty, Scalar::Int(Int::U32))
            }
            "abs_diff" | "unsigned_abs" => alike && is_magnitude(self.ty(*first), ty),
            _ => alike && self.is(*first, ty),
        }
    }
}

/// Whether a type has numbers below 0.
fn has_negatives(ty: Scalar) -> bool {
    match ty {
        Scalar::Int(int) => int.signed(),
        Scalar::Float(_) | Scalar::Infer(_) => true,
        Scalar::Bool => false,
    }
}

/// Whether Rust has the cast.
fn can_be_cast(from: Scalar, to: Scalar) -> bool {
    match (from, to) {
        (Scalar::Infer(_), _) | (_, Scalar::Infer(_)) => true,
        (Scalar::Bool, to) => !to.is_float(),
        (_, to) => to != Scalar::Bool,
    }
}

/// Whether a type holds the distances between integers of another: it has as many bits, and no sign.
fn is_magnitude(of: Scalar, ty: Scalar) -> bool {
    match (of, ty) {
        (Scalar::Int(of), Scalar::Int(ty)) => {
            let sizes = [Int::Isize, Int::Usize];
            !ty.signed() && of.bits() == ty.bits() && sizes.contains(&of) == sizes.contains(&ty)
        }
        (of, ty) => is_int(of) && is_int(ty),
    }
}
