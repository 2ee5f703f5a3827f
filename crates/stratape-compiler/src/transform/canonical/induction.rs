//! Induction variables: an integer that grows by the same amount in every iteration becomes a function of the counter.
//!
//! ```text
//! for i in 0..n, at = a { …w[at + j]…; next = at + w } at <- next
//! →  for i in 0..n { at = a + i * w; …w[at + j]… }; at = a + n * w
//! ```
//!
//! Index analysis sees through the counter of a loop, not through what is carried from one iteration to the next: a row offset that is
//! carried hides which row an iteration touches, and must be saved for the backward half. Inner loops come first, so that an offset
//! that goes through two loops is rewritten in both.
//!
//! Legal where the loop runs to the end of its range, and the variable is a `usize` that grows by an invariant in every iteration: it then
//! has the same values as before, and overflows where it did before. Runs before everything that asks for indices.

use std::collections::{HashMap, HashSet};

use super::triangle::triangles;
use crate::driver::{Context, Pass, Promise};
use stratape_ir::{
    Binary, Block, Carried, Function, Loop, Op, Range, Scalar, SourceId, Stmt, Substitution,
    ValueId, defined,
};

/// The pass.
pub const INDUCTION: Pass = Pass {
    name: "induction",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: induction,
};

/// Rewrites induction variables.
fn induction(function: &mut Function, cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let mut rewriter = Rewriter { function: &mut *function, ops: HashMap::new(), cx: &mut *cx };
    let mut substitution = Substitution::default();
    rewriter.block(&mut body, &mut substitution);
    substitution.apply(&mut body);
    function.body = body;
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
    triangles(function, cx);
}

struct Rewriter<'a, 'c> {
    function: &'a mut Function,
    /// The operations seen so far.
    ops: HashMap<ValueId, Op>,
    cx: &'a mut Context<'c>,
}

impl Rewriter<'_, '_> {
    fn block(&mut self, nodes: &mut Block, substitution: &mut Substitution) {
        let mut out = Block::new();
        for mut node in std::mem::take(nodes) {
            node.for_each_operand_mut(&mut |value| *value = substitution.get(*value));
            if let Stmt::Let { value, op } = &node {
                self.ops.insert(*value, op.clone());
            }
            for inner in node.blocks_mut() {
                self.block(inner, substitution);
            }
            let Stmt::Loop(mut repeat) = node else {
                node.for_each_operand_mut(&mut |value| *value = substitution.get(*value));
                out.push(node);
                continue;
            };
            // What inner loops leave has another name by now.
            for carried in &mut repeat.carried {
                carried.next = substitution.get(carried.next);
            }
            let after = self.repeat(&mut repeat, &mut out, substitution);
            out.push(Stmt::Loop(repeat));
            out.extend(after);
        }
        *nodes = out;
    }

    /// Takes the induction variables of a loop out of what it carries; returns what computes their last values.
    fn repeat(
        &mut self,
        node: &mut Loop,
        before: &mut Block,
        substitution: &mut Substitution,
    ) -> Block {
        let Range::UpTo { from, to } = node.range else { return Block::new() };
        if node.exit.is_some() || self.function.ty(node.counter) != Scalar::USIZE {
            return Block::new();
        }
        let mut after = Block::new();
        let mut inside = defined(&node.body);
        inside.insert(node.counter);
        inside.extend(node.carried.iter().map(|carried| carried.inside));
        for carried in std::mem::take(&mut node.carried) {
            let step = self
                .step(node, &carried)
                .and_then(|step| self.hoisted(step, node, &inside, before, 8));
            let Some(step) = step else {
                node.carried.push(carried);
                continue;
            };
            let span = node.span;
            self.cx.applied(span, "an index that is carried is computed from the counter");
            // How many iterations have been run, and how many there are.
            let (first, zero) = (from, self.is_zero(from));
            let mut start = Block::new();
            let done = match (node.reversed, zero) {
                (false, true) => node.counter,
                (false, false) => {
                    self.define(&mut start, Op::Binary(Binary::Sub, node.counter, first), span)
                }
                (true, _) => {
                    let one = self.define(&mut start, Op::Int(1), span);
                    let last = self.define(&mut start, Op::Binary(Binary::Sub, to, one), span);
                    self.define(&mut start, Op::Binary(Binary::Sub, last, node.counter), span)
                }
            };
            let grown = self.define(&mut start, Op::Binary(Binary::Mul, done, step), span);
            let now = Op::Binary(Binary::Add, carried.init, grown);
            let now = self.define(&mut start, now, span);
            self.name_like(now, carried.inside);
            substitution.value(carried.inside, now);
            start.append(&mut node.body);
            node.body = start;
            let trips = match zero {
                true => to,
                false => {
                    let length = Op::Method("saturating_sub".to_owned(), vec![to, first]);
                    self.define(&mut after, length, span)
                }
            };
            let grown = self.define(&mut after, Op::Binary(Binary::Mul, trips, step), span);
            let last = Op::Binary(Binary::Add, carried.init, grown);
            let last = self.define(&mut after, last, span);
            self.name_like(last, carried.after);
            substitution.value(carried.after, last);
        }
        substitution.apply(&mut node.body);
        for carried in &mut node.carried {
            carried.next = substitution.get(carried.next);
        }
        after
    }

    fn define(&mut self, out: &mut Block, op: Op, span: SourceId) -> ValueId {
        let value = self.function.define(out, Scalar::USIZE, op.clone(), span);
        self.ops.insert(value, op);
        value
    }

    fn name_like(&mut self, value: ValueId, other: ValueId) {
        self.function.values[value.index()].name = self.function.values[other.index()].name.clone();
    }

    fn is_zero(&self, value: ValueId) -> bool {
        matches!(self.ops.get(&value), Some(Op::Int(0)))
    }

    /// What is added to a carried value in every iteration.
    fn step(&self, node: &Loop, carried: &Carried) -> Option<ValueId> {
        if self.function.ty(carried.inside) != Scalar::USIZE {
            return None;
        }
        let own = node.body.iter().find_map(|item| match item {
            Stmt::Let { value, op: Op::Binary(Binary::Add, a, b) } if *value == carried.next => {
                Some((*a, *b))
            }
            _ => None,
        });
        let (a, b) = own?;
        match (a == carried.inside, b == carried.inside) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        }
    }

    /// A value that is the same in every iteration, where it can be had before the loop without a panic of its own.
    fn hoisted(
        &mut self,
        value: ValueId,
        node: &Loop,
        inside: &HashSet<ValueId>,
        before: &mut Block,
        fuel: usize,
    ) -> Option<ValueId> {
        if fuel == 0 || !inside.contains(&value) {
            return (fuel > 0).then_some(value);
        }
        let op = self.ops.get(&value)?.clone();
        let fits = op.is_constant()
            || matches!(op, Op::Binary(Binary::Add | Binary::Mul, ..))
            || matches!(&op, Op::Method(name, _) if name == "saturating_sub");
        if !fits || self.function.ty(value) != Scalar::USIZE {
            return None;
        }
        let mut operands = Vec::new();
        op.for_each_operand(&mut |operand| operands.push(operand));
        let mut moved = HashMap::new();
        for operand in operands {
            moved.insert(operand, self.hoisted(operand, node, inside, before, fuel - 1)?);
        }
        let mut op = op;
        op.for_each_operand_mut(&mut |operand| {
            *operand = moved.get(operand).copied().unwrap_or(*operand);
        });
        Some(self.define(before, op, node.span))
    }
}
