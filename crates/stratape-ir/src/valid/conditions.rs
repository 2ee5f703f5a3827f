//! Conditions of one half, as far as they are known without running it.

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

    /// The condition without the operands that do not matter: `c` of `c & true`.
    pub(super) fn core(&self, value: ValueId) -> ValueId {
        let mut value = value;
        for _ in 0..DEPTH {
            let Some(Op::Binary(sign, a, b)) = self.definitions.op(value) else { break };
            let neutral = match sign {
                Binary::BitAnd => true,
                Binary::BitOr | Binary::BitXor => false,
                _ => break,
            };
            value = match (self.outcome(*a), self.outcome(*b)) {
                (Some(known), _) if known == neutral => *b,
                (_, Some(known)) if known == neutral => *a,
                _ => break,
            };
        }
        value
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
