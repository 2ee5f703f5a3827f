//! Free bits: what the backward half computes again for derivatives alone need not have the last bits that it had.
//!
//! ```text
//! a: f64 = x / d;  g: ~f64 = s * a          →   a: ~f64 = x / d;  g: ~f64 = s * a
//! ```
//!
//! The passes for adjoints then apply to it: divisions are shared, factors folded, sums added up in any order.
//!
//! Legal for a float that reaches nothing but adjoints and shadows, by operations whose results change by little if it changes by little: no comparison, no rounding to integers,
//! nothing that is not defined beyond some number (`sqrt`, `ln`, `acos`), no memory of the primal. Always pays. Runs before all other passes of a gradient that ask which bits are free.

use std::collections::HashSet;

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
    let mut exact = uses.exact;
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
}

impl<'a> Uses<'a> {
    fn of(function: &'a Function) -> Self {
        let sources = vec![Vec::new(); function.values.len()];
        let exact = function.results.iter().copied().collect();
        let mut uses = Self { function, computed: Vec::new(), sources, exact };
        walk(&function.body, &mut |node| uses.statement(node));
        uses
    }

    fn statement(&mut self, node: &Stmt) {
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

    fn operation(&mut self, value: ValueId, op: &Op) {
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
