//! Free bits: what the backward half computes again for derivatives alone need not have the last bits that it had.
//!
//! ```text
//! a: f64 = x / d;  g: ~f64 = s * a          →   a: ~f64 = x / d;  g: ~f64 = s * a
//! ```
//!
//! The passes for adjoints then apply to it: divisions are shared, factors folded, sums added up in any order.
//!
//! Legal for a float that reaches nothing but adjoints and shadows, by operations whose results change by little if it changes by little: no comparison, no rounding to integers,
//! nothing that is not defined beyond some number (`sqrt`, `ln`, `acos`), no divisor that is a difference, which may vanish, no memory of the primal. Always pays. Runs before all other passes of a gradient that ask which bits are free.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::{Binary, Function, Math, Op, Stmt, Unary, ValueId, walk};

/// The pass.
pub const FREE_BITS: Pass = Pass {
    name: "free_bits",
    after: &["gradient_cse"],
    promise: Promise::AdjointBits,
    required: false,
    run: free_bits,
};

fn free_bits(function: &mut Function, _cx: &mut Context<'_>) {
    let uses = Uses::of(function);
    let vanishing = uses.vanishing();
    let mut exact = uses.exact;
    exact.extend(vanishing);
    let mut waiting: Vec<ValueId> = exact.iter().copied().collect();
    while let Some(value) = waiting.pop() {
        for source in uses.sources.get(value.index()).into_iter().flatten() {
            if exact.insert(*source) {
                waiting.push(*source);
            }
        }
    }
    for value in uses.computed {
        function.values[value.index()].adjoint |= !exact.contains(&value);
    }
}

/// What is made of what.
struct Uses<'a> {
    function: &'a Function,
    /// Floats of the primal that are computed.
    computed: Vec<ValueId>,
    /// For each of them, the values that must be exact if it must.
    sources: Vec<Vec<ValueId>>,
    /// Values that must be exact, whatever they are used for besides.
    exact: HashSet<ValueId>,
    /// What is divided by.
    divisors: Vec<ValueId>,
    operations: HashMap<ValueId, &'a Op>,
}

impl<'a> Uses<'a> {
    fn of(function: &'a Function) -> Self {
        let sources = vec![Vec::new(); function.values.len()];
        let exact = function.results.iter().copied().collect();
        let mut uses = Self {
            function,
            computed: Vec::new(),
            sources,
            exact,
            divisors: Vec::new(),
            operations: HashMap::new(),
        };
        walk(&function.body, &mut |node| uses.statement(node));
        uses
    }

    /// Sums and differences that divisors are made of and that may vanish: with other last bits they might where they do not, or not where they do.
    fn vanishing(&self) -> Vec<ValueId> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut waiting = self.divisors.clone();
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.operations.get(&value) {
                Some(Op::Binary(Binary::Add | Binary::Sub, ..)) if !self.is_positive(value, 8) => {
                    found.push(value);
                }
                // What changes a little in its argument changes it by a little part of itself.
                Some(Op::Math(Math::Exp | Math::Exp2 | Math::Cosh, _)) => {}
                _ => waiting.extend(self.sources.get(value.index()).into_iter().flatten()),
            }
        }
        found
    }

    fn is_length(&self, value: ValueId) -> bool {
        let value = self.function.values[value.index()].stands_for.unwrap_or(value);
        matches!(self.operations.get(&value), Some(Op::Math(Math::Hypot, _)))
    }

    /// Whether a value is a sum, without cancellation, of numbers that are not negative.
    fn is_positive(&self, value: ValueId, fuel: u32) -> bool {
        match self.operations.get(&value) {
            _ if fuel == 0 => false,
            Some(Op::Float(number, _)) => *number >= 0.0,
            Some(Op::Binary(Binary::Mul, a, b)) if a == b => true,
            Some(Op::Binary(Binary::Add | Binary::Mul | Binary::Div, a, b)) => {
                self.is_positive(*a, fuel - 1) && self.is_positive(*b, fuel - 1)
            }
            Some(Op::Math(math, _)) => matches!(
                math,
                Math::Exp | Math::Exp2 | Math::Cosh | Math::Abs | Math::Sqrt | Math::Hypot
            ),
            _ => false,
        }
    }

    fn statement(&mut self, node: &'a Stmt) {
        match node {
            Stmt::Let { value, op } => self.operation(*value, op),
            Stmt::Store { place, .. } | Stmt::Accumulate { place, .. }
                if self.function.holds_adjoints(place.object) => {}
            Stmt::Loop(inner) => {
                for carried in &inner.carried {
                    let ends = [carried.inside, carried.after];
                    for to in ends {
                        self.computes(
                            to,
                            &[carried.init, carried.next, carried.inside, carried.after],
                        );
                    }
                }
                self.exact.extend(inner.exit);
            }
            Stmt::If(branch) => {
                for merge in &branch.merges {
                    self.computes(merge.value, &[merge.then, merge.other]);
                }
            }
            other => other.for_each_operand(&mut |value| {
                self.exact.insert(value);
            }),
        }
    }

    fn operation(&mut self, value: ValueId, op: &'a Op) {
        self.operations.insert(value, op);
        match op {
            // A part of a length is at most 1, but its reciprocal may be out of range.
            Op::Binary(Binary::Div, _, divisor) if self.is_length(*divisor) => {
                self.exact.insert(value);
            }
            Op::Binary(Binary::Div, _, divisor) => self.divisors.push(*divisor),
            Op::Math(Math::Recip, operands) => self.divisors.push(operands[0]),
            Op::Math(Math::Powi, operands) => {
                let exponent = self.operations.get(&operands[1]);
                if !matches!(exponent, Some(Op::Int(number)) if *number >= 0) {
                    self.divisors.push(operands[0]);
                }
            }
            _ => {}
        }
        match op {
            Op::Unary(Unary::Neg, a) => self.computes(value, &[*a]),
            Op::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div, a, b)
            | Op::Select(_, a, b) => self.computes(value, &[*a, *b]),
            Op::Math(math, operands) if is_smooth(*math) => self.computes(value, operands),
            op => {
                op.for_each_operand(&mut |operand| {
                    self.exact.insert(operand);
                });
                if matches!(op, Op::Math(..)) {
                    self.computes(value, &[]);
                }
            }
        }
    }

    /// A value of which little changes if little of others does.
    fn computes(&mut self, value: ValueId, of: &[ValueId]) {
        let is_float = |value: ValueId| self.function.ty(value).is_float();
        if !is_float(value) || self.function.values[value.index()].adjoint {
            return;
        }
        self.computed.push(value);
        self.sources[value.index()].extend(of.iter().filter(|one| is_float(**one)));
    }
}

/// Whether a function has no jumps, and a value for every number.
fn is_smooth(math: Math) -> bool {
    match math {
        Math::Abs
        | Math::Exp
        | Math::Exp2
        | Math::ExpM1
        | Math::Cbrt
        | Math::Sin
        | Math::Cos
        | Math::Atan
        | Math::Sinh
        | Math::Cosh
        | Math::Tanh
        | Math::Asinh
        | Math::Hypot
        | Math::Powi
        | Math::Recip
        | Math::ToRadians
        | Math::ToDegrees
        | Math::MulAdd => true,
        Math::Sqrt
        | Math::Ln
        | Math::Ln1p
        | Math::Log2
        | Math::Log10
        | Math::Log
        | Math::Tan
        | Math::Asin
        | Math::Acos
        | Math::Acosh
        | Math::Atanh
        | Math::Atan2
        | Math::Powf
        | Math::Signum
        | Math::Copysign
        | Math::Min
        | Math::Max
        | Math::Clamp
        | Math::Floor
        | Math::Ceil
        | Math::Round
        | Math::RoundTiesEven
        | Math::Trunc
        | Math::Fract
        | Math::DivEuclid
        | Math::RemEuclid => false,
    }
}
