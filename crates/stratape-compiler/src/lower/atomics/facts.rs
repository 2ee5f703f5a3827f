//! What holds where a thread adds to a shadow: the conditions it came through, the loops it is in.

use super::owners::Owners;
use stratape_ir::analysis::Polynomial;
use stratape_ir::{Binary, Compare, Loop, Math, Op, Range, Unary, ValueId};

/// What is known at a statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Polynomials that are at least 0.
    pub(super) facts: Vec<Polynomial>,
    /// Conditions, and whether they hold.
    pub(super) truths: Vec<(ValueId, bool)>,
}

impl Known {
    /// Runs `with` where more is known than here.
    fn within(&mut self, more: Self, with: &mut dyn FnMut(&mut Self)) {
        let (facts, truths) = (self.facts.len(), self.truths.len());
        self.facts.extend(more.facts);
        self.truths.extend(more.truths);
        with(self);
        self.facts.truncate(facts);
        self.truths.truncate(truths);
    }
}

impl Owners<'_> {
    /// Runs `with` with what is known where a condition holds, or where it does not.
    pub(crate) fn under(
        &self,
        condition: ValueId,
        holds: bool,
        known: &mut Known,
        with: &mut dyn FnMut(&mut Known),
    ) {
        known.within(self.of_condition(condition, holds), with);
    }

    /// Runs `with` with what is known in a loop.
    pub(crate) fn during(
        &self,
        repeat: &Loop,
        known: &mut Known,
        with: &mut dyn FnMut(&mut Known),
    ) {
        let facts = self.of_turn(repeat, repeat.counter);
        known.within(Known { facts, truths: Vec::new() }, with);
    }

    /// What a condition says, and those that it is made of.
    fn of_condition(&self, condition: ValueId, holds: bool) -> Known {
        let mut known = Known::default();
        self.condition(condition, holds, &mut known);
        known
    }

    fn condition(&self, value: ValueId, holds: bool, out: &mut Known) {
        let value = self.same(value);
        out.truths.push((value, holds));
        out.facts.extend(self.affine.fact(value, holds).map(|fact| self.unified(&fact)));
        let literal = |value: &ValueId, is: bool| matches!(self.op(*value), Some(Op::Bool(known)) if *known == is);
        match self.op(value) {
            Some(Op::Compare(Compare::Lt, a, b)) if holds => self.less(*a, *b, out),
            Some(Op::Compare(Compare::Gt, a, b)) if holds => self.less(*b, *a, out),
            Some(Op::Compare(Compare::Ge, a, b)) if !holds => self.less(*a, *b, out),
            Some(Op::Compare(Compare::Le, a, b)) if !holds => self.less(*b, *a, out),
            Some(Op::Binary(Binary::BitAnd, a, b)) if holds => {
                self.condition(*a, true, out);
                self.condition(*b, true, out);
            }
            Some(Op::Binary(Binary::BitOr, a, b)) if !holds => {
                self.condition(*a, false, out);
                self.condition(*b, false, out);
            }
            Some(Op::Unary(Unary::Not, a)) => self.condition(*a, !holds, out),
            Some(Op::Select(c, a, b)) => {
                if holds && literal(b, false) {
                    self.condition(*c, true, out);
                    self.condition(*a, true, out);
                } else if !holds && literal(a, true) {
                    self.condition(*c, false, out);
                    self.condition(*b, false, out);
                }
            }
            _ => {}
        }
        // A loop that picks one of its turns, and says whether it did.
        if let (true, Some((_, (repeat, symbol)))) =
            (holds, self.picked.iter().find(|(flag, _)| *flag == value))
        {
            out.facts.extend(self.of_turn(repeat, *symbol));
        }
    }

    fn less(&self, small: ValueId, great: ValueId, out: &mut Known) {
        if self.affine.is_natural(small) && self.affine.is_exact(small, &[]) {
            let small = self.unified(&self.affine.of(small));
            self.below(&small, great, 4, &mut out.facts);
        }
    }

    /// What a loop says of a number that its counter took.
    pub(super) fn of_turn(&self, repeat: &Loop, turn: ValueId) -> Vec<Polynomial> {
        let mut facts = Vec::new();
        if let Range::UpTo { to, .. } = repeat.range
            && self.affine.is_natural(repeat.counter)
        {
            self.below(&Polynomial::symbol(turn), to, 4, &mut facts);
        }
        facts
    }

    /// Polynomials that are at least 0 if a natural number is less than a bound.
    fn below(&self, small: &Polynomial, bound: ValueId, fuel: usize, out: &mut Vec<Polynomial>) {
        let bound = self.same(bound);
        let polynomial = |value: ValueId| {
            let exact = self.affine.is_exact(value, &[]);
            exact.then(|| self.unified(&self.affine.of(value)))
        };
        if let Some(bound) = polynomial(bound) {
            out.push(bound.minus(small).minus(&Polynomial::number(1)));
        }
        if fuel == 0 || !self.affine.is_natural(bound) {
            return;
        }
        match self.op(bound) {
            Some(Op::Math(Math::Min, operands)) => {
                for operand in operands {
                    self.below(small, *operand, fuel - 1, out);
                }
            }
            Some(Op::Method(name, operands)) => match (name.as_str(), &operands[..]) {
                // What is greater than a natural number was not cut off at 0.
                ("saturating_sub", [a, b]) => {
                    if let Some(b) = polynomial(*b) {
                        self.below(&small.plus(&b), *a, fuel - 1, out);
                    }
                }
                ("min", [a, b]) => {
                    self.below(small, *a, fuel - 1, out);
                    self.below(small, *b, fuel - 1, out);
                }
                ("div_ceil", [a, b]) => {
                    if let Some(b) = polynomial(*b) {
                        self.below(&small.times(&b), *a, fuel - 1, out);
                    }
                }
                _ => {}
            },
            // small < ⌊a / b⌋ if and only if small · b + b − 1 < a.
            Some(Op::Binary(Binary::Div, a, b)) => {
                if let Some(b) = polynomial(*b) {
                    let last = small.times(&b).plus(&b).minus(&Polynomial::number(1));
                    self.below(&last, *a, fuel - 1, out);
                }
            }
            _ => {}
        }
    }
}
