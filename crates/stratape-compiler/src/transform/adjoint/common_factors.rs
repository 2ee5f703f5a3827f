//! Takes common factors out of sums of adjoints.
//!
//! ```text
//! a = d1 * s; b = d2 * s; x += a * p + b * q   →   x += s * (d1 * p + d2 * q)
//! ```
//!
//! The chain rule multiplies a scale into each adjoint before it is spread over what the value was computed from, and multiplies what was scaled in the forward half
//! once more. Seen as sums of products of what was not computed so, the same scale stands in all terms, and the sums that are left are often the same.
//!
//! Legal for adjoints of `f64`, whose last bits are free, and for factors far from overflow. A block is rewritten as a whole, and the result kept if it has fewer
//! operations (docs/performance.md: fem). Runs after `reciprocal`, so that quotients are products, before `fold_coefficients`, which collects numbers and signs.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cheapest::{cost, each_block, literals, uses_of};
use super::fold_coefficients::is_moderate;
use crate::driver::{Context, Pass, Promise};
use stratape_ir::{
    Binary, Block, Float, Function, Op, Scalar, SourceId, Stmt, Substitution, Unary, ValueId,
};

/// The pass.
pub const COMMON_FACTORS: Pass = Pass {
    name: "common_factors",
    after: &["reciprocal"],
    promise: Promise::AdjointBits,
    required: false,
    run: common_factors,
};

/// Longer products are not taken apart.
const FACTORS: usize = 8;
/// Nor longer sums.
const TERMS: usize = 32;
const DOUBLE: Scalar = Scalar::Float(Float::F64);

/// Factors the sums of each block.
fn common_factors(function: &mut Function, cx: &mut Context<'_>) {
    let literals = literals(function);
    let mut fewer = 0;
    each_block(function, &mut |function, nodes, outs| {
        let before = cost(function, nodes, outs);
        let (out, substitution) = factored(function, &literals, nodes, outs);
        let now: Vec<ValueId> = outs.iter().map(|out| substitution.get(*out)).collect();
        let after = cost(function, &out, &now);
        if after >= before {
            return Substitution::default();
        }
        fewer += before - after;
        *nodes = out;
        substitution
    });
    if fewer > 0 {
        let text =
            format!("common factors are taken out of sums of adjoints: {fewer} operations less");
        cx.applied(function.span, text);
    }
}

/// A block with its sums factored.
fn factored(
    function: &mut Function,
    literals: &HashMap<ValueId, f64>,
    nodes: &Block,
    outs: &[ValueId],
) -> (Block, Substitution) {
    let open = open(function, nodes);
    let mut factoring = Factoring {
        inner: inner(&open, &uses_of(nodes, outs)),
        open,
        function,
        literals,
        known: HashMap::new(),
        numbers: HashMap::new(),
        substitution: Substitution::default(),
        out: Block::new(),
    };
    nodes.iter().for_each(|node| factoring.node(node));
    let Factoring { mut out, substitution, .. } = factoring;
    substitution.apply(&mut out);
    (out, substitution)
}

/// The sums that are used once, by another sum.
fn inner(open: &HashMap<ValueId, Op>, uses: &HashMap<ValueId, usize>) -> HashSet<ValueId> {
    let is_sum = |op: &Op| matches!(op, Op::Binary(Binary::Add | Binary::Sub, ..));
    let mut inner = HashSet::new();
    for op in open.values().filter(|op| is_sum(op)) {
        op.for_each_operand(&mut |value| {
            if open.get(&value).is_some_and(is_sum) && uses.get(&value) == Some(&1) {
                inner.insert(value);
            }
        });
    }
    inner
}

/// The sums, differences, products and negations of adjoints in a block.
fn open(function: &Function, nodes: &Block) -> HashMap<ValueId, Op> {
    let fits = |node: &Stmt| match node {
        Stmt::Let { value, op } => {
            let known = &function.values[value.index()];
            let arithmetic = matches!(
                op,
                Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) | Op::Unary(Unary::Neg, _)
            );
            (known.adjoint && known.ty == DOUBLE && arithmetic).then(|| (*value, op.clone()))
        }
        _ => None,
    };
    nodes.iter().filter_map(fits).collect()
}

/// A product of values, and how often it is taken.
#[derive(Clone, Debug)]
struct Term {
    factors: Vec<ValueId>,
    number: f64,
}

struct Factoring<'a> {
    function: &'a mut Function,
    literals: &'a HashMap<ValueId, f64>,
    /// What may be taken apart.
    open: HashMap<ValueId, Op>,
    /// Sums that are used once, by another sum.
    inner: HashSet<ValueId>,
    /// What is computed already.
    known: HashMap<(Binary, ValueId, ValueId), ValueId>,
    numbers: HashMap<u64, ValueId>,
    substitution: Substitution,
    out: Block,
}

impl Factoring<'_> {
    fn node(&mut self, node: &Stmt) {
        if let Stmt::Let { value, op } = node {
            let sum = matches!(op, Op::Binary(Binary::Add | Binary::Sub, ..));
            if sum
                && self.open.contains_key(value)
                && !self.inner.contains(value)
                && let Some(factored) = self.factored(*value)
            {
                self.substitution.value(*value, factored);
                return;
            }
            if let Op::Binary(sign, a, b) = op
                && self.function.ty(*value) == DOUBLE
                && self.function.values[value.index()].adjoint
            {
                let key = key(*sign, self.substitution.get(*a), self.substitution.get(*b));
                self.known.entry(key).or_insert(*value);
            }
        }
        self.out.push(node.clone());
    }

    /// A sum, written with its common factors taken out.
    fn factored(&mut self, sum: ValueId) -> Option<ValueId> {
        let mut terms = BTreeMap::new();
        self.collect(sum, 1.0, true, &mut terms)?;
        terms.retain(|_, number| *number != 0.0);
        if terms.len() < 2 {
            return None;
        }
        let terms = terms.into_iter().map(|(factors, number)| Term { factors, number }).collect();
        let (value, number) = self.sum(terms);
        Some(self.times(value, number))
    }

    /// Adds up the terms of a sum.
    fn collect(
        &self,
        value: ValueId,
        sign: f64,
        outermost: bool,
        terms: &mut BTreeMap<Vec<ValueId>, f64>,
    ) -> Option<()> {
        match self.open.get(&value) {
            Some(Op::Binary(found @ (Binary::Add | Binary::Sub), a, b))
                if outermost || self.inner.contains(&value) =>
            {
                self.collect(*a, sign, false, terms)?;
                let other = if *found == Binary::Sub { -sign } else { sign };
                self.collect(*b, other, false, terms)
            }
            _ => {
                let mut term = Term { factors: Vec::new(), number: sign };
                if !self.product(value, &mut term) {
                    term = Term { factors: vec![self.substitution.get(value)], number: sign };
                }
                term.factors.sort_unstable();
                *terms.entry(term.factors).or_insert(0.0) += term.number;
                (terms.len() <= TERMS).then_some(())
            }
        }
    }

    /// Multiplies a value into a product, taken apart; not if it becomes too long.
    fn product(&self, value: ValueId, term: &mut Term) -> bool {
        if let Some(number) = self.literals.get(&value) {
            term.number *= number;
            return *number == 0.0 || is_moderate(term.number);
        }
        match self.open.get(&value) {
            Some(Op::Binary(Binary::Mul, a, b)) => self.product(*a, term) && self.product(*b, term),
            Some(Op::Binary(Binary::Add, a, b)) if a == b => {
                term.number *= 2.0;
                self.product(*a, term)
            }
            Some(Op::Unary(Unary::Neg, a)) => {
                term.number = -term.number;
                self.product(*a, term)
            }
            _ => {
                term.factors.push(self.substitution.get(value));
                term.factors.len() <= FACTORS
            }
        }
    }

    /// Writes a sum: a value, and the number it is to be multiplied by.
    fn sum(&mut self, mut terms: Vec<Term>) -> (ValueId, f64) {
        loop {
            if let [only] = &terms[..] {
                let number = only.number;
                let factors = only.factors.clone();
                return (self.multiplied(&factors), number);
            }
            let common = intersection(&terms);
            if !common.is_empty() {
                terms.iter_mut().for_each(|term| without(term, &common));
                let (value, number) = self.sum(terms);
                let scale = self.multiplied(&common);
                return (self.emit(Binary::Mul, scale, value), number);
            }
            let Some(factor) = frequent(&terms) else {
                return self.added(terms);
            };
            let (some, mut rest): (Vec<Term>, Vec<Term>) =
                terms.into_iter().partition(|term| term.factors.contains(&factor));
            let (value, number) = self.sum(some);
            rest.push(Term { factors: vec![value], number });
            terms = rest;
        }
    }

    /// Adds terms that have nothing in common.
    fn added(&mut self, mut terms: Vec<Term>) -> (ValueId, f64) {
        terms.sort_by(|a, b| a.factors.cmp(&b.factors));
        let size = terms[0].number.abs();
        let alike = terms.iter().all(|term| term.number.abs().to_bits() == size.to_bits());
        let scale = if alike { size } else { 1.0 };
        let parts: Vec<(ValueId, bool)> = terms
            .iter()
            .map(|term| {
                let product = self.multiplied(&term.factors);
                (self.times(product, (term.number / scale).abs()), term.number < 0.0)
            })
            .collect();
        let first = parts.iter().position(|(_, negative)| !negative);
        let opposite = first.is_none();
        let first = first.unwrap_or(0);
        let mut sum = parts[first].0;
        for (at, (value, negative)) in parts.iter().enumerate() {
            if at != first {
                let sign = if *negative == opposite { Binary::Add } else { Binary::Sub };
                sum = self.emit(sign, sum, *value);
            }
        }
        (sum, if opposite { -scale } else { scale })
    }

    fn multiplied(&mut self, factors: &[ValueId]) -> ValueId {
        let Some((first, rest)) = factors.split_first() else { return self.number(1.0) };
        rest.iter().fold(*first, |product, factor| self.emit(Binary::Mul, product, *factor))
    }

    fn times(&mut self, value: ValueId, number: f64) -> ValueId {
        if number.to_bits() == 1.0_f64.to_bits() {
            return value;
        }
        let number = self.number(number);
        self.emit(Binary::Mul, value, number)
    }

    fn number(&mut self, number: f64) -> ValueId {
        if let Some(known) = self.numbers.get(&number.to_bits()) {
            return *known;
        }
        let value = self.function.new_value(DOUBLE, SourceId::NONE);
        self.out.push(Stmt::Let { value, op: Op::Float(number, format!("{number:?}")) });
        self.numbers.insert(number.to_bits(), value);
        value
    }

    fn emit(&mut self, sign: Binary, a: ValueId, b: ValueId) -> ValueId {
        let key = key(sign, a, b);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let value = self.function.new_value(DOUBLE, SourceId::NONE);
        self.function.values[value.index()].adjoint = true;
        self.out.push(Stmt::Let { value, op: Op::Binary(sign, a, b) });
        self.known.insert(key, value);
        value
    }
}

/// An operation, its operands in one order if either is right.
fn key(sign: Binary, a: ValueId, b: ValueId) -> (Binary, ValueId, ValueId) {
    match sign {
        Binary::Add | Binary::Mul if b < a => (sign, b, a),
        _ => (sign, a, b),
    }
}

/// The factors that all terms have.
fn intersection(terms: &[Term]) -> Vec<ValueId> {
    let mut common = terms[0].factors.clone();
    for term in &terms[1..] {
        let mut left = term.factors.clone();
        common.retain(|factor| {
            let at = left.iter().position(|other| other == factor);
            at.map(|at| left.swap_remove(at)).is_some()
        });
    }
    common
}

fn without(term: &mut Term, common: &[ValueId]) {
    for factor in common {
        if let Some(at) = term.factors.iter().position(|other| other == factor) {
            term.factors.remove(at);
        }
    }
}

/// The factor that the most terms have, if several have one.
fn frequent(terms: &[Term]) -> Option<ValueId> {
    let mut counts: BTreeMap<ValueId, usize> = BTreeMap::new();
    for term in terms {
        let mut own = term.factors.clone();
        own.dedup();
        own.into_iter().for_each(|factor| *counts.entry(factor).or_default() += 1);
    }
    let most = counts.values().copied().max().filter(|most| *most > 1)?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(factor, _)| factor)
}
