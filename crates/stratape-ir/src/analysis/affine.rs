//! Integers as polynomials in loop counters and values that do not change, and what follows from the loops and branches around them.
//!
//! `i * m + (j + 1)` is the polynomial `i·m + j + 1`. Sums, differences and products of at least 32 bits are looked into; narrower ones may
//! wrap within the bounds of a list and stay symbols. Facts are polynomials that are at least 0: a loop that runs has an extent of at least 1,
//! a branch that is taken has its condition.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{DefUse, Definition};
use crate::{Binary, Block, Compare, Function, Op, Polynomial, Range, Scalar, Stmt, ValueId};

/// A loop over a range.
#[derive(Clone, Debug)]
pub struct Counted {
    /// First number.
    pub from: Polynomial,
    /// Number of iterations, if the bounds are known in this form.
    pub extent: Option<Polynomial>,
    /// Whether it counts down.
    pub reversed: bool,
}

impl Counted {
    /// The greatest number it takes, if it runs.
    pub fn last(&self) -> Option<Polynomial> {
        Some(self.from.plus(&self.extent.as_ref()?.minus(&Polynomial::number(1))))
    }
}

/// The polynomials of a function's integers.
#[derive(Debug)]
pub struct Affine<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    loops: HashMap<ValueId, Counted>,
    /// For each value, the loops around its definition, outermost first, by their counters.
    around: HashMap<ValueId, Vec<ValueId>>,
    /// What has been asked for before: an index of a loop that is written out is a chain as long as the loop.
    known: RefCell<HashMap<ValueId, Polynomial>>,
}

impl<'a> Affine<'a> {
    /// Reads the loops of a function.
    pub fn new(function: &'a Function, definitions: &'a DefUse) -> Self {
        let mut affine = Self {
            function,
            definitions,
            loops: HashMap::new(),
            around: HashMap::new(),
            known: RefCell::default(),
        };
        affine.block(&function.body, &mut Vec::new());
        affine
    }

    fn block(&mut self, block: &Block, around: &mut Vec<ValueId>) {
        for node in block {
            node.for_each_result(&mut |value| {
                self.around.insert(value, around.clone());
            });
            if let Stmt::Loop(node) = node {
                let counted = match node.range {
                    Range::UpTo { from, to } => {
                        let (from, to) = (self.of(from), self.of(to));
                        Counted { extent: Some(to.minus(&from)), from, reversed: node.reversed }
                    }
                    Range::Forever => {
                        Counted { from: Polynomial::number(0), extent: None, reversed: false }
                    }
                };
                self.loops.insert(node.counter, counted);
                around.push(node.counter);
                self.around.insert(node.counter, around.clone());
                for carried in &node.carried {
                    self.around.insert(carried.inside, around.clone());
                }
                self.block(&node.body, around);
                around.pop();
            } else {
                for inner in node.blocks() {
                    self.block(inner, around);
                }
            }
        }
    }

    /// An integer as a polynomial.
    pub fn of(&self, value: ValueId) -> Polynomial {
        // Chains are as long as what was unrolled: no recursion.
        let mut asked = vec![value];
        while let Some(value) = asked.last().copied() {
            let waiting = asked.len();
            if !self.known.borrow().contains_key(&value) {
                let known = self.known.borrow();
                let operands = self.operands(value);
                asked.extend(operands.into_iter().flatten().filter(|it| !known.contains_key(it)));
            }
            if asked.len() == waiting {
                asked.pop();
                self.learn(value);
            }
        }
        self.known.borrow().get(&value).cloned().unwrap_or_else(|| Polynomial::symbol(value))
    }

    /// The integers that the polynomial of an integer is made of.
    fn operands(&self, value: ValueId) -> [Option<ValueId>; 2] {
        match self.definitions.of(value) {
            // Small integers may wrap within the bounds of a list.
            Definition::Op(Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b))
                if self.bits(value) >= 32 =>
            {
                [Some(*a), Some(*b)]
            }
            Definition::Op(Op::Method(name, operands)) if name == "strict_add" => {
                [operands.first().copied(), operands.get(1).copied()]
            }
            // An index that lost its sign would be out of bounds; one that lost bits need not.
            Definition::Op(Op::Cast(a, Scalar::Int(to)))
                if self.bits(*a) <= to.bits() && self.bits(*a) > 0 =>
            {
                [Some(*a), None]
            }
            _ => [None, None],
        }
    }

    /// Finds the polynomial of an integer whose operands are known.
    fn learn(&self, value: ValueId) {
        let mut known = self.known.borrow_mut();
        if known.contains_key(&value) {
            return;
        }
        let of = |operand: Option<ValueId>| known.get(&operand?);
        let op = self.definitions.of(value);
        let [a, b] = self.operands(value);
        let found = match (op, of(a), of(b)) {
            (Definition::Op(Op::Int(number)), ..) => Polynomial::number(*number),
            (Definition::Op(Op::Binary(Binary::Add, ..)), Some(a), Some(b)) => a.plus(b),
            (Definition::Op(Op::Method(..)), Some(a), Some(b)) => a.plus(b),
            (Definition::Op(Op::Binary(Binary::Sub, ..)), Some(a), Some(b)) => a.minus(b),
            (Definition::Op(Op::Binary(Binary::Mul, ..)), Some(a), Some(b)) => a.times(b),
            (Definition::Op(Op::Cast(..)), Some(a), _) => a.clone(),
            _ => Polynomial::symbol(value),
        };
        let found = if found.is_small() { found } else { Polynomial::symbol(value) };
        known.insert(value, found);
    }

    /// The function.
    pub fn function(&self) -> &'a Function {
        self.function
    }

    /// The operation that defines a value, if one does.
    pub fn op(&self, value: ValueId) -> Option<&'a Op> {
        self.definitions.op(value)
    }

    /// The bits of an integer; 0 for other values.
    fn bits(&self, value: ValueId) -> u32 {
        match self.function.ty(value) {
            Scalar::Int(int) => int.bits(),
            _ => 0,
        }
    }

    /// Whether an integer is its polynomial even where differences wrap, as they do in release builds: they do not, given
    /// polynomials that are at least 0.
    pub fn is_exact(&self, value: ValueId, facts: &[Polynomial]) -> bool {
        match self.definitions.of(value) {
            Definition::Op(Op::Binary(sign, a, b)) => {
                (*sign != Binary::Sub || self.follows(&self.of(value), 0, facts))
                    && self.is_exact(*a, facts)
                    && self.is_exact(*b, facts)
            }
            Definition::Op(Op::Cast(a, _)) => self.is_exact(*a, facts),
            _ => true,
        }
    }

    /// Whether a polynomial is at least a number, given others that are at least 0.
    pub fn follows(&self, polynomial: &Polynomial, least: i128, facts: &[Polynomial]) -> bool {
        if self.is_at_least(polynomial, least) {
            return true;
        }
        facts.iter().enumerate().any(|(at, fact)| {
            let rest = polynomial.minus(fact);
            self.is_at_least(&rest, least)
                || facts[at..].iter().any(|other| self.is_at_least(&rest.minus(other), least))
        })
    }

    /// What a condition says of the integers it compares, if it is true or if it is false: a polynomial that is at least 0.
    pub fn fact(&self, condition: ValueId, holds: bool) -> Option<Polynomial> {
        let Definition::Op(Op::Compare(sign, a, b)) = self.definitions.of(condition) else {
            return None;
        };
        let sign = if holds { *sign } else { sign.negated() };
        let (great, small, equal) = match sign {
            Compare::Gt => (*a, *b, 1),
            Compare::Ge => (*a, *b, 0),
            Compare::Lt => (*b, *a, 1),
            Compare::Le => (*b, *a, 0),
            Compare::Eq | Compare::Ne => return None,
        };
        let integers = matches!(self.function.ty(*a), Scalar::Int(_));
        if !integers || !self.is_exact(small, &[]) || !self.is_exact(great, &[]) {
            return None;
        }
        let difference = |value: ValueId| match self.definitions.of(value) {
            Definition::Op(Op::Method(name, operands)) if name == "saturating_sub" => {
                Some(self.of(*operands.first()?).minus(&self.of(*operands.get(1)?)))
            }
            _ => None,
        };
        // A difference that may be cut off at 0 is not less than the difference.
        let small = difference(small).unwrap_or_else(|| self.of(small));
        let least = small.plus(&Polynomial::number(equal));
        // A difference that is greater than 0 was not cut off at 0.
        let positive = least.as_number().is_some_and(|least| least > 0);
        let great = difference(great).filter(|_| positive).unwrap_or_else(|| self.of(great));
        Some(great.minus(&least))
    }

    /// What a loop says that runs: a polynomial that is at least 0.
    pub fn runs(&self, counter: ValueId) -> Option<Polynomial> {
        Some(self.counted(counter)?.extent.as_ref()?.minus(&Polynomial::number(1)))
    }

    /// The loop with a counter.
    pub fn counted(&self, counter: ValueId) -> Option<&Counted> {
        self.loops.get(&counter)
    }

    /// The least or the greatest that a polynomial becomes while a loop runs, in terms of what is known outside it.
    pub fn extreme(
        &self,
        polynomial: &Polynomial,
        counter: ValueId,
        greatest: bool,
    ) -> Option<Polynomial> {
        let (factor, rest) = polynomial.split(counter)?;
        if factor == Polynomial::default() {
            return Some(rest);
        }
        let opposite = Polynomial::default().minus(&factor);
        let grows = self.is_at_least(&factor, 0);
        if !grows && !self.is_at_least(&opposite, 0) {
            return None;
        }
        let counted = self.counted(counter)?;
        let at = if grows == greatest { counted.last()? } else { counted.from.clone() };
        Some(rest.plus(&factor.times(&at)))
    }

    /// The least and the greatest that a polynomial becomes while loops run, outermost first.
    pub fn extremes(
        &self,
        polynomial: &Polynomial,
        loops: &[ValueId],
    ) -> Option<(Polynomial, Polynomial)> {
        let (mut least, mut greatest) = (polynomial.clone(), polynomial.clone());
        // Innermost first: the bounds of an inner loop may use outer counters.
        for counter in loops.iter().rev() {
            least = self.extreme(&least, *counter, false)?;
            greatest = self.extreme(&greatest, *counter, true)?;
        }
        Some((least, greatest))
    }

    /// Whether a value is the same in all iterations of a loop.
    pub fn is_invariant(&self, value: ValueId, counter: ValueId) -> bool {
        !self.around.get(&value).is_some_and(|around| around.contains(&counter))
    }

    /// Whether a polynomial is at least a number, as far as can be seen from its signs.
    pub fn is_at_least(&self, polynomial: &Polynomial, least: i128) -> bool {
        match polynomial.as_number() {
            Some(number) => number >= least,
            None => {
                polynomial.is_at_least(least)
                    && polynomial.symbols().all(|symbol| self.is_natural(symbol))
            }
        }
    }

    /// Whether a value is never negative.
    pub fn is_natural(&self, value: ValueId) -> bool {
        matches!(self.function.ty(value), Scalar::Int(int) if !int.signed())
    }
}
