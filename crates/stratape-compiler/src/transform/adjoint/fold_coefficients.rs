//! Folds constant coefficients and signs of adjoints.
//!
//! ```text
//! a = 0.5 * d; b = 2.0 * a; x += -b   →   x -= d
//! ```
//!
//! The rules of differentiation leave halves beside doubles and negations beside subtractions. Here an adjoint is seen as a number times
//! another value; products multiply the numbers, sums of one value add them, and a minus goes into the sum or the accumulation it ends in.
//! A product with the number zero, as of the entries of a constant matrix, is zero and joins no sum. A quotient by a number is a product, and a number that several products of one value end in is multiplied once ([`shared`]).
//! Legal for adjoints, whose last bits are free, and for coefficients far from overflow.
//!
//! Taking a coefficient out of a value that is used twice may cost a multiplication instead of saving one, so each block is rewritten with
//! three degrees of freedom, and the version with the fewest operations is kept (docs/performance.md: gravity, nbody, somier). Runs after
//! `gradient_cse`, before a `dce`.

mod shared;

use std::collections::{HashMap, HashSet};

use super::cheapest::{cost, drop_dead, each_block, literals, uses_of};
use crate::driver::{Context, Pass, Promise};
use stratape_ir::{Binary, Block, Float, Function, Op, Scalar, Stmt, Substitution, Unary, ValueId};

/// The pass.
pub const FOLD_COEFFICIENTS: Pass = Pass {
    name: "fold_coefficients",
    after: &["gradient_cse"],
    promise: Promise::AdjointBits,
    required: false,
    run: fold_coefficients,
};

/// Folds coefficients, block by block.
fn fold_coefficients(function: &mut Function, _cx: &mut Context<'_>) {
    let literals = literals(function);
    each_block(function, &mut |function, nodes, outs| fold(function, &literals, nodes, outs));
}

/// Folds a block. `outs` is what is used of its values after its end: what stands for them now is returned.
fn fold(
    function: &mut Function,
    literals: &HashMap<ValueId, f64>,
    nodes: &mut Block,
    outs: &[ValueId],
) -> Substitution {
    let uses = uses_of(nodes, outs);
    let mut best: Option<(Block, Substitution)> = None;
    let mut least = cost(function, nodes, outs);
    for freedom in [Freedom::Signs, Freedom::UsedOnce, Freedom::All] {
        let mut mover = Mover {
            function,
            literals,
            uses: &uses,
            freedom,
            scaled: HashMap::new(),
            multiples: HashMap::new(),
            opposites: HashMap::new(),
            products: HashMap::new(),
            zeros: HashSet::new(),
            substitution: Substitution::default(),
            out: Block::new(),
        };
        nodes.iter().for_each(|node| mover.node(node));
        let Mover { mut out, substitution, .. } = mover;
        substitution.apply(&mut out);
        let outs: Vec<ValueId> = outs.iter().map(|out| substitution.get(*out)).collect();
        let cost = cost(function, &out, &outs);
        if cost < least {
            least = cost;
            best = Some((out, substitution));
        }
    }
    let mut folded = Substitution::default();
    if let Some((out, substitution)) = best {
        (*nodes, folded) = (out, substitution);
    }
    let outs: Vec<ValueId> = outs.iter().map(|out| folded.get(*out)).collect();
    // What was folded leaves operations behind, which would count as uses.
    drop_dead(function, nodes, &outs);
    shared::multiply_once(function, literals, nodes, &uses_of(nodes, &outs));
    folded
}

#[derive(Clone, Copy, PartialEq)]
enum Freedom {
    /// Only signs are taken out of values.
    Signs,
    /// And factors of values that are used once.
    UsedOnce,
    /// And of all others, of the primal's too.
    All,
}

/// A number times a value.
#[derive(Clone, Copy)]
struct Scaled {
    factor: f64,
    base: ValueId,
}

/// What is computed of two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key(Binary, ValueId, ValueId);

struct Mover<'a> {
    function: &'a mut Function,
    literals: &'a HashMap<ValueId, f64>,
    uses: &'a HashMap<ValueId, usize>,
    freedom: Freedom,
    scaled: HashMap<ValueId, Scaled>,
    /// Values that have been multiplied by a number, by its magnitude: the product, and whether the number is negative.
    multiples: HashMap<(ValueId, u64), (ValueId, bool)>,
    /// Products that are minus another.
    opposites: HashMap<ValueId, ValueId>,
    products: HashMap<Key, ValueId>,
    /// Products with zero.
    zeros: HashSet<ValueId>,
    substitution: Substitution,
    out: Block,
}

impl Mover<'_> {
    fn node(&mut self, node: &Stmt) {
        match node {
            Stmt::Let { value, op } if self.function.ty(*value).is_float() => {
                let adjoint = self.function.values[value.index()].adjoint;
                if !adjoint {
                    self.out.push(node.clone());
                    if self.freedom == Freedom::All
                        && let Some(scaled) = self.written_as(op)
                    {
                        self.scaled.insert(*value, scaled);
                    }
                    return;
                }
                if self.is_zero_product(op) {
                    self.zeros.insert(*value);
                    self.keep(*value, &Op::Float(0.0, "0.0".to_owned()));
                    return;
                }
                match self.without_zeros(op).or_else(|| self.seen_as(*value, op)) {
                    Some(scaled) if is_moderate(scaled.factor) => self.define(*value, scaled),
                    _ => self.keep(*value, op),
                }
            }
            Stmt::Accumulate { value, .. } if self.zeros.contains(value) => {}
            Stmt::Accumulate { place, value, subtract } => {
                let (place, mut value, mut subtract) = (place.clone(), *value, *subtract);
                if let Some(opposite) = self.opposite(value) {
                    (value, subtract) = (opposite, !subtract);
                }
                self.out.push(Stmt::Accumulate { place, value, subtract });
            }
            _ => self.out.push(node.clone()),
        }
    }

    fn is_zero(&self, value: ValueId) -> bool {
        self.zeros.contains(&value) || self.literals.get(&value) == Some(&0.0)
    }

    /// Whether an operation is zero times something.
    fn is_zero_product(&self, op: &Op) -> bool {
        match *op {
            Op::Binary(Binary::Mul, a, b) => self.is_zero(a) || self.is_zero(b),
            Op::Binary(Binary::Add | Binary::Sub, a, b) => self.is_zero(a) && self.is_zero(b),
            Op::Unary(Unary::Neg, a) => self.is_zero(a),
            _ => false,
        }
    }

    /// A sum of which one term is zero.
    fn without_zeros(&self, op: &Op) -> Option<Scaled> {
        match *op {
            Op::Binary(Binary::Add | Binary::Sub, a, b) if self.is_zero(b) => Some(self.taken(a)),
            Op::Binary(Binary::Add, a, b) if self.is_zero(a) => Some(self.taken(b)),
            Op::Binary(Binary::Sub, a, b) if self.is_zero(a) => {
                let Scaled { factor, base } = self.taken(b);
                Some(Scaled { factor: -factor, base })
            }
            _ => None,
        }
    }

    /// An operation with a literal, or a sign, as a scaled operand.
    fn written_as(&self, op: &Op) -> Option<Scaled> {
        let of = |factor: f64, value: ValueId| {
            let Scaled { factor: inner, base } = self.taken(value);
            Some(Scaled { factor: factor * inner, base })
        };
        match *op {
            Op::Unary(Unary::Neg, a) => of(-1.0, a),
            Op::Binary(Binary::Div, a, b) if !self.literals.contains_key(&a) => {
                let divisor = self.literals.get(&b).filter(|divisor| is_moderate(**divisor))?;
                of(divisor.recip(), a)
            }
            Op::Binary(Binary::Mul, a, b) => match (self.literals.get(&a), self.literals.get(&b)) {
                (Some(_), Some(_)) | (None, None) => None,
                (Some(factor), None) => of(*factor, b),
                (None, Some(factor)) => of(*factor, a),
            },
            _ => None,
        }
    }

    /// An adjoint as a number times something; what it multiplies is computed, if it is new.
    fn seen_as(&mut self, value: ValueId, op: &Op) -> Option<Scaled> {
        if let Some(scaled) = self.written_as(op) {
            return Some(scaled);
        }
        let Op::Binary(operation, a, b) = *op else { return None };
        let (mut left, mut right) = (self.taken(a), self.taken(b));
        let (factor, operation) = match operation {
            Binary::Mul => (left.factor * right.factor, Binary::Mul),
            Binary::Div => (left.factor / right.factor, Binary::Div),
            Binary::Add | Binary::Sub if left.base == right.base => {
                let sign = if operation == Binary::Add { 1.0 } else { -1.0 };
                let factor = left.factor + sign * right.factor;
                return (factor != 0.0).then_some(Scaled { factor, base: left.base });
            }
            Binary::Add if left.factor == -right.factor => {
                if left.factor < 0.0 {
                    (left, right) = (right, left);
                }
                (left.factor, Binary::Sub)
            }
            Binary::Sub if left.factor == -right.factor => (left.factor, Binary::Add),
            Binary::Add | Binary::Sub if left.factor == right.factor => (left.factor, operation),
            _ => return None,
        };
        let base = self.binary(value, operation, left.base, right.base);
        Some(Scaled { factor, base })
    }

    /// A value without the factor that may be taken out of it.
    fn taken(&self, value: ValueId) -> Scaled {
        let whole = match self.opposites.get(&value) {
            Some(opposite) => Scaled { factor: -1.0, base: *opposite },
            None => Scaled { factor: 1.0, base: value },
        };
        let Some(scaled) = self.scaled.get(&value).copied() else { return whole };
        let once = self.uses.get(&value) == Some(&1);
        let free = match self.freedom {
            Freedom::Signs => scaled.factor == -1.0,
            Freedom::UsedOnce => scaled.factor == -1.0 || once,
            Freedom::All => true,
        };
        if free || scaled.factor == 1.0 { scaled } else { whole }
    }

    /// What a value is minus of.
    fn opposite(&self, value: ValueId) -> Option<ValueId> {
        let negated = self.scaled.get(&value).filter(|scaled| scaled.factor == -1.0);
        negated.map(|scaled| scaled.base).or_else(|| self.opposites.get(&value).copied())
    }

    /// The sum, difference, product or quotient of two values, computed before or now.
    fn binary(&mut self, like: ValueId, operation: Binary, a: ValueId, b: ValueId) -> ValueId {
        let (first, second) = match operation {
            Binary::Mul | Binary::Add => (a.min(b), a.max(b)),
            _ => (a, b),
        };
        let key = Key(operation, first, second);
        if let Some(known) = self.products.get(&key) {
            return *known;
        }
        let value = self.function.new_value_like(like);
        self.out.push(Stmt::Let { value, op: Op::Binary(operation, a, b) });
        self.products.insert(key, value);
        value
    }

    /// Defines a value as what it has been seen as.
    fn define(&mut self, value: ValueId, scaled: Scaled) {
        let Scaled { factor, base } = scaled;
        self.scaled.insert(value, scaled);
        if factor == 1.0 {
            self.substitution.value(value, base);
            return;
        }
        // The same number times the same value, or minus that.
        let key = (base, factor.abs().to_bits());
        let multiple = if factor == -1.0 { None } else { self.multiples.get(&key).copied() };
        match multiple {
            Some((known, negative)) if negative == (factor < 0.0) => {
                self.substitution.value(value, known);
                return;
            }
            Some((known, _)) => {
                self.opposites.insert(value, known);
                self.out.push(Stmt::Let { value, op: Op::Unary(Unary::Neg, known) });
                return;
            }
            None if factor == -1.0 => {}
            None => {
                self.multiples.insert(key, (value, factor < 0.0));
            }
        }
        let op = if factor == -1.0 {
            Op::Unary(Unary::Neg, base)
        } else if factor == 2.0 {
            Op::Binary(Binary::Add, base, base)
        } else {
            let number = self.function.new_value_like(value);
            self.function.values[number.index()].name = None;
            let text = match self.function.ty(value) {
                Scalar::Float(Float::F32) => format!("{:?}", factor as f32),
                _ => format!("{factor:?}"),
            };
            self.out.push(Stmt::Let { value: number, op: Op::Float(factor, text) });
            Op::Binary(Binary::Mul, base, number)
        };
        self.out.push(Stmt::Let { value, op });
    }

    /// Leaves an operation as it is, but for a minus that a sum can take.
    fn keep(&mut self, value: ValueId, op: &Op) {
        let op = match *op {
            Op::Binary(operation @ (Binary::Add | Binary::Sub), a, b) => {
                match (operation, self.opposite(a), self.opposite(b)) {
                    (Binary::Add, _, Some(b)) => Op::Binary(Binary::Sub, a, b),
                    (Binary::Add, Some(a), None) => Op::Binary(Binary::Sub, b, a),
                    (Binary::Sub, _, Some(b)) => Op::Binary(Binary::Add, a, b),
                    _ => op.clone(),
                }
            }
            _ => op.clone(),
        };
        self.out.push(Stmt::Let { value, op });
    }
}

/// Whether a factor is far from what a narrow float cannot hold.
pub(super) fn is_moderate(factor: f64) -> bool {
    (1e-12..=1e12).contains(&factor.abs())
}
