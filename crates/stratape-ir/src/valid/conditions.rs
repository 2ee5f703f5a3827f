//! Conditions of one half, as far as they are known without running it, and what they choose.

use crate::analysis::{Affine, DefUse};
use crate::{Binary, Op, Unary, ValueId};

/// How the conditions of a function come to be.
pub(super) struct Conditions<'a> {
    pub(super) definitions: &'a DefUse,
    pub(super) affine: &'a Affine<'a>,
}

/// Nobody nests more of them.
const DEPTH: usize = 32;

impl Conditions<'_> {
    /// What a condition comes to, if that follows from literals alone.
    pub(super) fn outcome(&self, value: ValueId) -> Option<bool> {
        self.limited(value, DEPTH)
    }

    /// A value without what does not matter: `c` of `c & true`, `x` of `if true { x } else { y }` and of `if c { x } else { x }`.
    pub(super) fn core(&self, value: ValueId) -> ValueId {
        let mut value = value;
        for _ in 0..DEPTH {
            let Some(inner) = self.definitions.op(value).and_then(|op| self.inner(op)) else {
                break;
            };
            value = inner;
        }
        value
    }

    /// The one operand that an operation yields.
    fn inner(&self, op: &Op) -> Option<ValueId> {
        let (sign, a, b) = match op {
            Op::Select(_, a, b) if a == b => return Some(*a),
            Op::Select(condition, a, b) => {
                return self.outcome(*condition).map(|holds| if holds { *a } else { *b });
            }
            Op::Binary(sign, a, b) => (sign, a, b),
            _ => return None,
        };
        let neutral = match sign {
            Binary::BitAnd => true,
            Binary::BitOr | Binary::BitXor => false,
            _ => return None,
        };
        match (self.outcome(*a), self.outcome(*b)) {
            (Some(known), _) if known == neutral => Some(*b),
            (_, Some(known)) if known == neutral => Some(*a),
            _ => None,
        }
    }

    fn limited(&self, value: ValueId, fuel: usize) -> Option<bool> {
        let fuel = fuel.checked_sub(1)?;
        match self.definitions.op(value)? {
            Op::Bool(outcome) => Some(*outcome),
            Op::Compare(sign, a, b) => {
                let number = |value: ValueId| self.affine.of(value).as_number();
                Some(sign.holds(&number(*a)?, &number(*b)?))
            }
            Op::Unary(Unary::Not, a) => Some(!self.limited(*a, fuel)?),
            Op::Binary(sign, a, b) => {
                let (a, b) = (self.limited(*a, fuel), self.limited(*b, fuel));
                match sign {
                    Binary::BitAnd if a == Some(false) || b == Some(false) => Some(false),
                    Binary::BitAnd => Some(a? & b?),
                    Binary::BitOr if a == Some(true) || b == Some(true) => Some(true),
                    Binary::BitOr => Some(a? | b?),
                    Binary::BitXor => Some(a? ^ b?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
