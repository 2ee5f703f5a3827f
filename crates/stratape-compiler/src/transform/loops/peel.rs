//! Loop peeling at edges.
//!
//! ```text
//! for i in 0..n { if i > 0 { A } if i + 1 < n { B } }
//! →  if n >= 2 { B at i = 0; for i in 1..n-1 { A; B }; A at i = n-1 } else { the loop as it was }
//! ```
//!
//! The conditions hold for all but the first and the last iterations. Those are taken out of the loop, each with its conditions decided; in the
//! loop that is left the conditions are gone, and its body can be vectorised. Iterations and their order stay the same.
//!
//! Legal for a loop over a range without exit and without inner loops, for conditions that compare the counter with a number a known distance
//! from an end of the range. A condition on differences that may wrap is decided between the edges only. Pays up to `Target::peel_iterations`
//! at one end and `Target::peel_statements` copied statements (docs/performance.md: pathfinder). Runs after `cse`.

use std::collections::HashMap;

mod wrapped;

use self::wrapped::Remainder;
use super::{find_loops, has_room, replace_loops, shifted};
use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::analysis::{Affine, Polynomial};
use stratape_ir::{
    Binary, Block, Carried, Compare, Function, If, Loop, Merge, Op, Range, Scalar, Stmt, StmtId,
    Substitution, ValueId, copy,
};

/// The pass.
pub const PEEL: Pass =
    Pass { name: "peel", after: &["cse"], promise: Promise::SameBits, required: false, run: peel };

/// Peels loops at their edges.
fn peel(function: &mut Function, cx: &mut Context<'_>) {
    let target = cx.target;
    let cuts = find_loops(function, |affine, node| find(function, affine, node, target));
    let mut body = std::mem::take(&mut function.body);
    let mut substitution = Substitution::default();
    replace_loops(&mut body, &cuts, &mut |node, cut| {
        let parts = in_three(function, node, cut, target, &mut substitution)?;
        cx.applied(
            node.span,
            format!("peeled {} iterations at the start, {} at the end", cut.head, cut.tail),
        );
        Some(parts)
    });
    substitution.apply(&mut body);
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
    function.body = body;
}

/// Where a loop is cut, and what is known of its conditions.
struct Cut {
    head: i128,
    tail: i128,
    conditions: Vec<Condition>,
    remainders: Vec<Remainder>,
}

/// A condition that compares the counter with a number near an end of its range.
struct Condition {
    value: ValueId,
    sign: Compare,
    edge: Edge,
    /// What it is between the edges.
    between: bool,
    /// What is compared.
    sides: [ValueId; 2],
    /// Whether it is what it seems near the edges too, where differences may wrap.
    exact: bool,
}

/// A number near an end of a range.
#[derive(Clone, Copy)]
enum Edge {
    /// So much above the first number.
    Above(i128),
    /// So much below the end.
    Below(i128),
}

/// The iterations of a part of a loop.
#[derive(Clone, Copy)]
enum Part {
    /// One, so many after the first.
    Head(i128),
    Between,
    /// One, so many before the end.
    Tail(i128),
}

impl Condition {
    /// What it is there, if that is known. Heads come before all tails.
    fn at(&self, part: Part) -> Option<bool> {
        match (part, self.edge) {
            (Part::Between, _) => Some(self.between),
            _ if !self.exact => None,
            (Part::Head(after), Edge::Above(above)) => Some(self.sign.holds(&after, &above)),
            (Part::Tail(before), Edge::Below(below)) => Some(self.sign.holds(&below, &before)),
            _ => Some(self.between),
        }
    }
}

fn find(function: &Function, affine: &Affine<'_>, node: &Loop, target: &Target) -> Option<Cut> {
    let Range::UpTo { from, to } = node.range else { return None };
    let has_loops = node.body.iter().any(|item| matches!(item, Stmt::Loop(_)));
    if node.exit.is_some() || has_loops || function.ty(node.counter) != Scalar::USIZE {
        return None;
    }
    let (from, to) = (affine.of(from), affine.of(to));
    let mut cut = Cut { head: 0, tail: 0, conditions: Vec::new(), remainders: Vec::new() };
    for remainder in wrapped::find(affine, node, (&from, &to), target) {
        cut.head = cut.head.max(remainder.head());
        cut.tail = cut.tail.max(remainder.tail());
        cut.remainders.push(remainder);
    }
    for item in &node.body {
        // Only what decides a branch is worth a cut.
        let Stmt::If(branch) = item else { continue };
        let Some(Op::Compare(sign, a, b)) = affine.op(branch.condition) else { continue };
        let difference = affine.of(*a).minus(&affine.of(*b));
        let Some((factor, rest)) = difference.split(node.counter) else { continue };
        // The condition as `counter sign edge`.
        let (sign, edge) = match factor.as_number() {
            Some(1) => (*sign, Polynomial::default().minus(&rest)),
            Some(-1) => (sign.turned(), rest),
            _ => continue,
        };
        let above = edge
            .minus(&from)
            .as_number()
            .filter(|edge| (-1..=target.peel_iterations).contains(edge));
        let below =
            to.minus(&edge).as_number().filter(|edge| (0..=target.peel_iterations).contains(edge));
        // Iterations until the condition has the value it keeps; it has it before the last ones.
        let (edge, until, between) = match (sign, above, below) {
            (Compare::Gt | Compare::Ne, Some(above), _) => (Edge::Above(above), above + 1, true),
            (Compare::Ge, Some(above), _) => (Edge::Above(above), above, true),
            (Compare::Lt, Some(above), _) => (Edge::Above(above), above, false),
            (Compare::Le | Compare::Eq, Some(above), _) => (Edge::Above(above), above + 1, false),
            (Compare::Lt | Compare::Ne, _, Some(below)) => (Edge::Below(below), below, true),
            (Compare::Le, _, Some(below)) if below > 0 => (Edge::Below(below), below - 1, true),
            (Compare::Ge | Compare::Eq, _, Some(below)) => (Edge::Below(below), below, false),
            (Compare::Gt, _, Some(below)) if below > 0 => (Edge::Below(below), below - 1, false),
            _ => continue,
        };
        match edge {
            Edge::Above(_) => cut.head = cut.head.max(until),
            Edge::Below(_) => cut.tail = cut.tail.max(until),
        }
        let (value, sides) = (branch.condition, [*a, *b]);
        cut.conditions.push(Condition { value, sign, edge, between, sides, exact: false });
    }
    let counter = Polynomial::symbol(node.counter);
    let facts = [
        to.minus(&from).minus(&Polynomial::number(cut.head + cut.tail)),
        counter.minus(&from),
        to.minus(&counter).minus(&Polynomial::number(1)),
    ];
    for condition in &mut cut.conditions {
        condition.exact = condition.sides.iter().all(|side| affine.is_exact(*side, &facts));
    }
    let edges = usize::try_from(cut.head + cut.tail).ok()?;
    (edges > 0 && edges * nodes_in(&node.body) <= target.peel_statements).then_some(cut)
}

fn nodes_in(block: &Block) -> usize {
    let mut nodes = 0;
    stratape_ir::walk(block, &mut |_| nodes += 1);
    nodes
}

/// The loop in three parts, if it is long enough for that; else as it was.
fn in_three(
    function: &mut Function,
    node: &Loop,
    cut: &Cut,
    target: &Target,
    substitution: &mut Substitution,
) -> Option<Block> {
    // A loop inside may have been cut before: what it leaves has another name by now, and it has grown.
    let mut node = node.clone();
    substitution.apply(&mut node.body);
    node.carried.iter_mut().for_each(|carried| carried.next = substitution.get(carried.next));
    let node = &node;
    if (cut.head + cut.tail) as usize * nodes_in(&node.body) > target.peel_statements {
        return None;
    }
    let Range::UpTo { from, to } = node.range else { return None };
    let span = node.span;
    let mut out = Block::new();
    let condition = has_room(function, node, cut.head + cut.tail, &mut out)?;
    let mut then = Block::new();
    let define = |function: &mut Function, out: &mut Block, op: Op| {
        function.define(out, Scalar::USIZE, op, span)
    };
    let head = define(function, &mut then, Op::Int(cut.head));
    let tail = define(function, &mut then, Op::Int(cut.tail));
    let first = define(function, &mut then, Op::Binary(Binary::Add, from, head));
    let second = define(function, &mut then, Op::Binary(Binary::Sub, to, tail));

    let heads = (0..cut.head).map(Part::Head);
    let tails = (1..=cut.tail).rev().map(Part::Tail);
    let mut parts: Vec<Part> = heads.chain([Part::Between]).chain(tails).collect();
    if node.reversed {
        parts.reverse();
    }
    let mut entering: Vec<ValueId> = node.carried.iter().map(|carried| carried.init).collect();
    for part in parts {
        let (start, distance, sign) = match part {
            Part::Between => {
                then.push(between(function, node, (first, second), &mut entering, cut));
                continue;
            }
            Part::Head(after) => (from, after, Binary::Add),
            Part::Tail(before) => (to, before, Binary::Sub),
        };
        let counter = shifted(function, start, (sign, distance), span, &mut then);
        then.extend(one(function, node, counter, &mut entering, cut, part));
    }
    let merges = node
        .carried
        .iter()
        .zip(entering)
        .map(|(old, after)| {
            let value = function.new_value_like(old.after);
            substitution.value(old.after, value);
            Merge { value, then: after, other: old.after }
        })
        .collect();
    // The merges' own operands are not to be replaced: the loop as it was keeps its names.
    let mut kept = node.clone();
    let mut renamed: Vec<Merge> = merges;
    for (carried, merge) in kept.carried.iter_mut().zip(&mut renamed) {
        carried.after = function.new_value_like(carried.after);
        merge.other = carried.after;
    }
    let other = vec![Stmt::Loop(Box::new(kept))];
    out.push(Stmt::If(Box::new(If {
        id: StmtId::NONE,
        condition,
        then,
        other,
        merges: renamed,
        span,
    })));
    Some(out)
}

/// A copy of a loop for the iterations between its edges; `entering` is what it carries in, then what it leaves.
fn between(
    function: &mut Function,
    node: &Loop,
    (from, to): (ValueId, ValueId),
    entering: &mut [ValueId],
    cut: &Cut,
) -> Stmt {
    let counter = function.new_value_like(node.counter);
    let mut inner = Substitution::default();
    let mut carried = Vec::new();
    for (old, init) in node.carried.iter().zip(&mut *entering) {
        let inside = function.new_value_like(old.inside);
        let after = function.new_value_like(old.after);
        inner.value(old.inside, inside);
        carried.push(Carried { init: *init, inside, next: old.next, after });
        *init = after;
    }
    let body = iteration(function, node, counter, inner, cut, Part::Between, |settled| {
        carried.iter_mut().for_each(|carried| carried.next = settled(carried.next));
    });
    let range = Range::UpTo { from, to };
    Stmt::Loop(Box::new(Loop { counter, range, carried, body, ..node.clone() }))
}

/// A copy of one iteration, outside the loop.
fn one(
    function: &mut Function,
    node: &Loop,
    counter: ValueId,
    entering: &mut [ValueId],
    cut: &Cut,
    part: Part,
) -> Block {
    let mut inner = Substitution::default();
    for (old, init) in node.carried.iter().zip(&*entering) {
        inner.value(old.inside, *init);
    }
    iteration(function, node, counter, inner, cut, part, |settled| {
        for (old, left) in node.carried.iter().zip(entering) {
            *left = settled(old.next);
        }
    })
}

/// A copy of a loop's body with its conditions decided. `leave` is told what stands for its values at the end.
fn iteration(
    function: &mut Function,
    node: &Loop,
    counter: ValueId,
    mut inner: Substitution,
    cut: &Cut,
    part: Part,
    leave: impl FnOnce(&dyn Fn(ValueId) -> ValueId),
) -> Block {
    let (mut body, values) = copy(function, &node.body);
    let here = |value: ValueId| values.get(&value).copied().unwrap_or(value);
    inner.value(node.counter, counter);
    let known = cut
        .conditions
        .iter()
        .filter_map(|condition| Some((here(condition.value), condition.at(part)?)));
    decide(&mut body, &known.collect(), &mut inner);
    let known = cut
        .remainders
        .iter()
        .map(|remainder| (here(remainder.value), remainder.at(part, counter, &here)))
        .collect();
    wrapped::settle(function, &mut body, &known, &mut inner);
    inner.apply(&mut body);
    leave(&|value| inner.get(here(value)));
    body
}

/// Replaces branches whose condition is known by the arm that is taken.
fn decide(block: &mut Block, known: &HashMap<ValueId, bool>, settled: &mut Substitution) {
    let mut out = Block::new();
    for node in std::mem::take(block) {
        match node {
            Stmt::If(branch) if known.contains_key(&branch.condition) => {
                let then = known[&branch.condition];
                for merge in &branch.merges {
                    settled.value(merge.value, if then { merge.then } else { merge.other });
                }
                out.extend(if then { branch.then } else { branch.other });
            }
            node => out.push(node),
        }
    }
    *block = out;
}
