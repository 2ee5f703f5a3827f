//! Whether two values are the same number, one of them in the half that pushes, the other in the half that pops.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::conditions::Conditions;
use crate::analysis::{Affine, Changes, DefUse, Definition};
use crate::{
    Function, If, Init, Merge, Op, Place, Polynomial, Scalar, Step, Stmt, Unary, ValueId, walk,
};

/// The two sides of a mirror.
pub(super) struct Same<'a> {
    pub(super) push: (&'a Function, &'a DefUse),
    pub(super) pop: (&'a Function, &'a DefUse),
    /// Their integers as polynomials.
    pub(super) affine: (&'a Affine<'a>, &'a Affine<'a>),
    /// The writes of the half that pushes, once somebody asks.
    pub(super) changes: OnceCell<Changes>,
    /// The outcomes of its branches, once somebody asks: the condition, and what they are if it holds and if not.
    pub(super) outcomes: OnceCell<HashMap<ValueId, (ValueId, [ValueId; 2])>>,
    /// What was compared already.
    pub(super) seen: RefCell<HashMap<(ValueId, ValueId), bool>>,
    /// Counters of loops that mirror each other, by that of the loop that pops.
    pub(super) counters: HashMap<ValueId, ValueId>,
    /// The arms around, in the half that pushes and in the one that pops, outermost first.
    pub(super) arms: Vec<(&'a If, &'a If, bool)>,
}

/// Enough to compare what indices and bounds are computed from.
const DEPTH: usize = 24;

impl Same<'_> {
    /// Whether `a`, of the half that pushes, is `b`, of the half that pops.
    pub(super) fn values(&self, a: ValueId, b: ValueId) -> bool {
        self.seen.borrow_mut().clear();
        self.limited(a, b, DEPTH)
    }

    /// How a value comes to be on either side, for messages.
    pub(super) fn describe(&self, value: ValueId, pops: bool) -> String {
        let (function, definitions) = if pops { self.pop } else { self.push };
        let known = &function.values[value.index()];
        format!("{value:?} ({:?}, for {:?})", definitions.of(value), known.stands_for)
    }

    /// Whether a number of the half that pops is zero, perhaps as what the arms around have left.
    pub(super) fn is_zero(&self, value: ValueId) -> bool {
        let value = if self.is_whole() { self.within_arms(value) } else { value };
        matches!(self.pop.1.op(value), Some(Op::Int(0)))
    }

    /// What an outcome of the branches around is in their arms, in the half that pushes.
    fn within_arms(&self, value: ValueId) -> ValueId {
        let mut value = value;
        for (branch, _, then) in &self.arms {
            if let Some(merge) = branch.merges.iter().find(|merge| merge.value == value) {
                value = if *then { merge.then } else { merge.other };
            }
        }
        value
    }

    fn limited(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        if fuel == 0 {
            return false;
        }
        if let Some(known) = self.seen.borrow().get(&(a, b)) {
            return *known;
        }
        let same = self.compare(a, b, fuel);
        self.seen.borrow_mut().insert((a, b), same);
        same
    }

    fn compare(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        // What stands for it in the half that pushes.
        let there = match (self.counters.get(&b), self.pop.1.of(b)) {
            (Some(counter), _) => Some(*counter),
            (None, Definition::Popped) => self.pop.0.values[b.index()].stands_for,
            // Two functions share what they are both passed.
            (None, known) => {
                Some(b).filter(|_| self.is_whole() || matches!(known, Definition::Param))
            }
        };
        if there.is_some_and(|there| self.is_one(a, there, fuel)) {
            return true;
        }
        let ends = (self.settled(a, false), self.settled(b, true));
        if ends != (None, None) && self.limited(ends.0.unwrap_or(a), ends.1.unwrap_or(b), fuel - 1)
        {
            return true;
        }
        let alike = match (self.push.1.op(a), self.pop.1.op(b)) {
            (Some(x), Some(y)) => {
                self.ops(x, y, &mut |a, b| self.limited(a, b, fuel - 1))
                    && self.push.0.ty(a) == self.pop.0.ty(b)
                    && (!self.is_read(x) || (self.is_whole() && self.keeps(a, b)))
            }
            _ => false,
        };
        alike
            || self.is_folded(a, b, fuel)
            || self.polynomials(a, b, fuel)
            || self.is_read_back(a, b, fuel)
            || self.is_copied(a, b, fuel)
            || self.is_remade(a, b, fuel)
    }

    /// Whether both are read from the same place of two lists that are made alike, and are never written.
    fn is_remade(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        let (Some(Op::Load(one)), Some(Op::Load(other))) = (self.push.1.op(a), self.pop.1.op(b))
        else {
            return false;
        };
        if !self.is_whole() || one.object == other.object {
            return false;
        }
        let objects = &self.push.0.objects;
        if objects[one.object.index()].ty != objects[other.object.index()].ty {
            return false;
        }
        let known = self.changes();
        let mut same = |a, b| self.limited(a, b, fuel - 1);
        let moved = Place { object: other.object, ..one.clone() };
        known
            .fixed(one.object)
            .zip(known.fixed(other.object))
            .is_some_and(|(one, other)| inits(one, other, &mut same))
            && places(&moved, other, &mut same)
    }

    /// What the outcome of a branch is within the arms around, where one is of a branch on the same condition.
    fn settled(&self, value: ValueId, pops: bool) -> Option<ValueId> {
        if pops && !self.is_whole() {
            return None;
        }
        let outcomes = self.outcomes.get_or_init(|| {
            let mut outcomes = HashMap::new();
            walk(&self.push.0.body, &mut |node| {
                if let Stmt::If(branch) = node {
                    let all = branch.merges.iter();
                    let ends = |merge: &Merge| (branch.condition, [merge.then, merge.other]);
                    outcomes.extend(all.map(|merge| (merge.value, ends(merge))));
                }
            });
            outcomes
        });
        let (condition, ends) = outcomes.get(&value)?;
        let known = |condition: ValueId| {
            let arms = self.arms.iter();
            let mut arms = arms.map(|(push, pop, then)| (if pops { pop } else { push }, *then));
            arms.find(|(branch, _)| branch.condition == condition).map(|(_, then)| then)
        };
        let holds = known(*condition).or_else(|| match self.push.1.op(*condition) {
            Some(Op::Unary(Unary::Not, opposite)) => known(*opposite).map(|then| !then),
            _ => None,
        })?;
        Some(if holds { ends[0] } else { ends[1] })
    }

    /// Whether one is read from a list, and the other from a copy that was made before the list was overwritten.
    fn is_copied(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        let (Some(Op::Load(read)), Some(Op::Load(copied))) = (self.push.1.op(a), self.pop.1.op(b))
        else {
            return false;
        };
        let there = Place { object: copied.object, ..read.clone() };
        self.is_whole()
            && places(&there, copied, &mut |a, b| self.limited(a, b, fuel - 1))
            && self.changes().reads_copy(self.affine.0, a, b)
    }

    /// Whether a value was stored, and is read back from where it still is.
    fn is_read_back(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        let Some(Op::Load(read)) = self.pop.1.op(b) else { return false };
        let mut same = |a, b| self.limited(a, b, fuel - 1);
        let is_place = |stored: &Place| places(stored, read, &mut same);
        self.is_whole() && self.changes().reads_stored(self.affine.0, a, b, is_place)
    }

    /// Whether a value was folded when it was computed again: comparisons of literals, what is made of them, and what they choose.
    fn is_folded(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        let push = Conditions { definitions: self.push.1, affine: self.affine.0 };
        let pop = Conditions { definitions: self.pop.1, affine: self.affine.1 };
        let (x, y) = (push.core(a), pop.core(b));
        if (x, y) != (a, b) {
            return self.limited(x, y, fuel - 1);
        }
        let conditions = self.push.0.ty(a) == Scalar::Bool && self.pop.0.ty(b) == Scalar::Bool;
        let outcome = conditions.then(|| push.outcome(x)).flatten();
        outcome.is_some() && outcome == pop.outcome(y)
    }

    /// Whether two integers are the same polynomial in numbers that are the same: what is computed again may have been folded.
    fn polynomials(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        let (x, y) = (self.affine.0.of(a), self.affine.1.of(b));
        let known: Vec<ValueId> = x.symbols().collect();
        let mut renamed = Polynomial::default();
        for (symbols, factor) in y.terms() {
            let mut term = Polynomial::number(factor);
            for symbol in symbols {
                // The value itself is not made of others.
                let alone = *symbol == b && known.contains(&a);
                let same = |known: &&ValueId| !alone && self.limited(**known, *symbol, fuel - 1);
                let found = known.iter().find(same).map(|known| Polynomial::symbol(*known));
                let Some(found) = found.or_else(|| self.popped(*symbol)) else { return false };
                term = term.times(&found);
            }
            renamed = renamed.plus(&term);
        }
        renamed == x
    }

    /// What an integer that is popped is made of, in the half that pushes, within the arms around.
    fn popped(&self, value: ValueId) -> Option<Polynomial> {
        if !matches!(self.pop.1.of(value), Definition::Popped) {
            return None;
        }
        let there = self.pop.0.values[value.index()].stands_for?;
        Some(self.affine.0.of(self.within_arms(there)))
    }

    /// Whether two values of the half that pushes are one number: one is what the other is after an arm, or both are computed alike.
    fn is_one(&self, a: ValueId, b: ValueId, fuel: usize) -> bool {
        if a == b {
            return true;
        }
        if fuel == 0 {
            return false;
        }
        if let Some(settled) = self.settled(b, false)
            && self.is_one(a, settled, fuel - 1)
        {
            return true;
        }
        let integers = matches!(self.push.0.ty(a), Scalar::Int(_));
        if integers && self.affine.0.of(a) == self.affine.0.of(b) {
            return true;
        }
        match (self.push.1.op(a), self.push.1.op(b)) {
            (Some(x), Some(y)) => {
                self.ops(x, y, &mut |a, b| self.is_one(a, b, fuel - 1))
                    && self.push.0.ty(a) == self.push.0.ty(b)
                    && (!self.is_read(x) || self.keeps(a, b))
            }
            _ => false,
        }
    }

    /// Whether both halves are one function. Between two functions, whoever calls them may write what he passes.
    fn is_whole(&self) -> bool {
        std::ptr::eq(self.push.0, self.pop.0)
    }

    /// Whether an operation reads what may change: an element, or the length of a list that is exchanged with others.
    fn is_read(&self, op: &Op) -> bool {
        match op {
            Op::Load(_) => true,
            Op::Len(place) => self.changes().is_swapped(place.object),
            _ => false,
        }
    }

    fn changes(&self) -> &Changes {
        self.changes.get_or_init(|| Changes::new(self.push.0))
    }

    /// Whether nothing is written between two loads of one place, in the function that pushes.
    fn keeps(&self, a: ValueId, b: ValueId) -> bool {
        !self.changes().between(self.affine.0, a, b)
    }

    /// Whether two operations are the same one on operands that are the same numbers; of loads, that they look at one place.
    fn ops(&self, x: &Op, y: &Op, same: &mut dyn FnMut(ValueId, ValueId) -> bool) -> bool {
        match (x, y) {
            (Op::Float(a, s), Op::Float(b, t)) => a.to_bits() == b.to_bits() && s == t,
            (Op::Int(a), Op::Int(b)) => a == b,
            (Op::Bool(a), Op::Bool(b)) => a == b,
            (Op::Const(a), Op::Const(b)) => a == b,
            (Op::Builtin(a), Op::Builtin(b)) => a == b,
            (Op::Unary(s, a), Op::Unary(t, b)) => s == t && same(*a, *b),
            (Op::Binary(s, a, b), Op::Binary(t, c, d)) => s == t && same(*a, *c) && same(*b, *d),
            (Op::Compare(s, a, b), Op::Compare(t, c, d)) => s == t && same(*a, *c) && same(*b, *d),
            (Op::TotalCmp { less: s, a, b }, Op::TotalCmp { less: t, a: c, b: d }) => {
                s == t && same(*a, *c) && same(*b, *d)
            }
            (Op::Math(s, a), Op::Math(t, b)) => s == t && all(a, b, same),
            (Op::Method(s, a), Op::Method(t, b)) => s == t && all(a, b, same),
            (Op::Cast(a, s), Op::Cast(b, t)) => s == t && same(*a, *b),
            (Op::Select(a, b, c), Op::Select(d, e, f)) => {
                same(*a, *d) && same(*b, *e) && same(*c, *f)
            }
            (Op::Load(a), Op::Load(b)) | (Op::Len(a), Op::Len(b)) => places(a, b, same),
            _ => false,
        }
    }
}

fn all(a: &[ValueId], b: &[ValueId], same: &mut dyn FnMut(ValueId, ValueId) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b))
}

/// Whether two lists are made of the same numbers.
fn inits(a: &Init, b: &Init, same: &mut dyn FnMut(ValueId, ValueId) -> bool) -> bool {
    match (a, b) {
        (Init::Value(a), Init::Value(b)) => same(*a, *b),
        (Init::Items(a), Init::Items(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| inits(a, b, same))
        }
        (Init::Fill(a), Init::Fill(b)) => inits(a, b, same),
        (Init::Repeat(a, m), Init::Repeat(b, n)) => same(*m, *n) && inits(a, b, same),
        _ => false,
    }
}

fn places(a: &Place, b: &Place, same: &mut dyn FnMut(ValueId, ValueId) -> bool) -> bool {
    a.object == b.object
        && a.path.len() == b.path.len()
        && a.path.iter().zip(&b.path).all(|pair| match pair {
            (Step::Index(a), Step::Index(b)) => same(*a, *b),
            (Step::Field(a), Step::Field(b)) => a == b,
            _ => false,
        })
}
