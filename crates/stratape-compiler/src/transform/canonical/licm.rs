//! Loop-invariant code motion.
//!
//! ```text
//! for i in a..b { c = x[k]; e = exp(c); y[i] = e }   →   if a < b { c = x[k]; e = exp(c); for i in a..b { y[i] = e } }
//! ```
//!
//! Operations that cannot panic and whose derivative is constant always move. A load moves if nothing in the loop writes its object. Where
//! moving could introduce a panic, the loop must be known to run at least once: its bounds are literals, or those of a loop around it;
//! otherwise the loop and what was moved are put under the condition that it runs, as above. Products and slow operations are guarded in the
//! same way: zero, the adjoint of what a loop that does not run would have computed, times an infinite factor is NaN.
//!
//! Pays most for adjoints: a load outside the loop has its adjoint summed in a register instead of memory. Runs after `scalar_promotion`.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use crate::transform::canonical::written;
use crate::transform::{integers, is_cheap, is_product, is_total, literals, runs};
use stratape_ir::{
    Block, Check, Compare, Function, If, Loop, Merge, Op, Range, Scalar, Stmt, StmtId, ValueId,
    defined, made, swapped,
};

/// The pass.
pub const LICM: Pass = Pass {
    name: "licm",
    after: &["scalar_promotion"],
    promise: Promise::SameBits,
    required: false,
    run: licm,
};

/// Moves operations out of loops.
fn licm(function: &mut Function, _cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let integers = integers(&body);
    let literals = literals(function, &body);
    Hoister { function, around: Vec::new(), integers, literals }.block(&mut body);
    function.body = body;
}

struct Hoister<'a> {
    function: &'a mut Function,
    /// Bounds of the loops around, which are known to be running.
    around: Vec<(ValueId, ValueId)>,
    integers: HashMap<ValueId, i128>,
    literals: HashSet<ValueId>,
}

impl Hoister<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut out = Block::new();
        for mut node in std::mem::take(block) {
            if let Stmt::Loop(repeat) = &mut node {
                if let Range::UpTo { from, to } = repeat.range {
                    self.around.push((from, to));
                    self.block(&mut repeat.body);
                    self.around.pop();
                } else {
                    self.block(&mut repeat.body);
                }
                let runs = self.runs(repeat);
                if !runs && self.needs_guard(repeat) {
                    node = self.guarded(repeat, &mut out);
                } else {
                    out.extend(self.invariant(repeat, runs));
                }
            } else {
                for inner in node.blocks_mut() {
                    self.block(inner);
                }
            }
            out.push(node);
        }
        *block = out;
    }

    fn runs(&self, node: &Loop) -> bool {
        let Range::UpTo { from, to } = node.range else { return true };
        self.around.contains(&(from, to)) || runs(&self.integers, from, to)
    }

    /// Whether loads or products would move out of a loop if it were known to run.
    fn needs_guard(&self, node: &Loop) -> bool {
        if node.exit.is_some() || node.trips.is_some() {
            return false;
        }
        let moved = self.invariant(&mut node.clone(), true);
        moved.iter().any(|item| match item {
            Stmt::Let { op: Op::Load(_), .. } => true,
            Stmt::Let { value, op } => is_product(op, self.function.ty(*value), &self.literals),
            _ => false,
        })
    }

    /// A loop under the condition that it runs, with its invariant operations before it.
    fn guarded(&mut self, node: &mut Loop, before: &mut Block) -> Stmt {
        let Range::UpTo { from, to } = node.range else {
            return Stmt::Loop(Box::new(node.clone()));
        };
        let mut then = self.invariant(node, true);
        let condition = self.function.new_value(Scalar::Bool, node.span);
        before.push(Stmt::Let { value: condition, op: Op::Compare(Compare::Lt, from, to) });
        let mut merges = Vec::new();
        for carried in &mut node.carried {
            let inner = self.function.new_value_like(carried.after);
            merges.push(Merge { value: carried.after, then: inner, other: carried.init });
            carried.after = inner;
        }
        let span = node.span;
        then.push(Stmt::Loop(Box::new(node.clone())));
        Stmt::If(Box::new(If {
            id: StmtId::NONE,
            condition,
            then,
            other: Block::new(),
            merges,
            span,
        }))
    }

    /// Takes the invariant operations out of a loop's own block.
    fn invariant(&self, node: &mut Loop, runs: bool) -> Vec<Stmt> {
        let mut inner = defined(&node.body);
        inner.insert(node.counter);
        inner.extend(node.carried.iter().map(|carried| carried.inside));
        let written = written(&node.body);
        let (local, swapped) = (made(&node.body), swapped(&node.body));
        let mut moved = Vec::new();
        // Loads that panic only move if nothing before them in the iteration could have acted.
        let mut first = true;
        let mut kept = Block::new();
        for item in std::mem::take(&mut node.body) {
            let moves = match &item {
                Stmt::Let { value, op } => {
                    let mut invariant = true;
                    op.for_each_operand(&mut |operand| invariant &= !inner.contains(&operand));
                    invariant
                        && match op {
                            Op::Load(place) => {
                                runs && first
                                    && !written.contains(&place.object)
                                    && !local.contains(&place.object)
                            }
                            Op::Len(place) => {
                                !local.contains(&place.object) && !swapped.contains(&place.object)
                            }
                            op if is_total(op, self.function.ty(*value)) => {
                                let product =
                                    is_product(op, self.function.ty(*value), &self.literals);
                                runs || (is_cheap(op) && !product)
                            }
                            _ => runs && first,
                        }
                }
                _ => false,
            };
            if moves {
                if let Stmt::Let { value, .. } = &item {
                    inner.remove(value);
                }
                moved.push(item);
            } else {
                first &= match &item {
                    Stmt::Let { .. } | Stmt::New { .. } => true,
                    // Of several panics another may come first.
                    Stmt::Check { check, .. } => {
                        !matches!(check, Check::Assert { prints: true, .. })
                    }
                    _ => false,
                };
                kept.push(item);
            }
        }
        node.body = kept;
        moved
    }
}
