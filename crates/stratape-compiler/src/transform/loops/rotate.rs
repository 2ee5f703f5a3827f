//! Loops that ask first become loops that ask last, behind a question of their own.
//!
//! ```text
//! loop { c = cond(x);  if c { … x' };  exit if !c }   →   c = cond(x);  if c { loop { … x';  c' = cond(x');  exit if !c' } }
//! ```
//!
//! What a `while` runs stands in a branch otherwise, as one statement: what it overwrites could be saved before all of it or after all of it, but not in
//! between. And its last iteration, which does nothing, is one iteration less.
//!
//! Legal where nothing but the condition stands before the branch, and what the loop leaves is what the last iteration was handed. Left alone inside branches, and
//! where the first answer is known: both halves of a gradient must come to it in the same way.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Block, Carried, Function, If, Loop, Merge, Op, Range, Stmt, StmtId, Substitution, Unary,
    ValueId, copy, defined, used, walk,
};

/// The pass.
pub const ROTATE: Pass = Pass {
    name: "rotate",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: rotate,
};

fn rotate(function: &mut Function, cx: &mut Context<'_>) {
    let mut uses = used(&function.body);
    uses.extend(&function.results);
    let definitions = DefUse::new(function);
    let body = std::mem::take(&mut function.body);
    let rotate = Rotate { definitions: &definitions, uses: &uses };
    function.body = rotate.block(function, body, false, cx);
}

struct Rotate<'a> {
    definitions: &'a DefUse,
    /// The values that are used anywhere.
    uses: &'a HashSet<ValueId>,
}

/// What becomes of a value that a loop carries.
pub(super) struct Way {
    pub(super) carried: Carried,
    /// What an iteration that runs hands on.
    pub(super) next: ValueId,
    /// What the loop leaves, if not what it would hand to the next iteration.
    pub(super) left: Option<ValueId>,
}

impl Rotate<'_> {
    fn block(
        &self,
        function: &mut Function,
        block: Block,
        in_branch: bool,
        cx: &mut Context<'_>,
    ) -> Block {
        let mut out = Block::new();
        for mut node in block {
            // The question would be one in an arm, whose answer leaves it as something else than it is there.
            let in_branch = in_branch || matches!(node, Stmt::If(_));
            for inner in node.blocks_mut() {
                *inner = self.block(function, std::mem::take(inner), in_branch, cx);
            }
            match node {
                Stmt::Loop(node) => match self.ways(&node).filter(|_| !in_branch) {
                    Some(ways) => {
                        cx.applied(node.span, "the loop asks at the end whether it goes on");
                        turn(function, *node, ways, &mut out);
                    }
                    None => out.push(Stmt::Loop(node)),
                },
                node => out.push(node),
            }
        }
        out
    }

    /// What becomes of the values that a loop carries, if it can be rotated.
    fn ways(&self, node: &Loop) -> Option<Vec<Way>> {
        let known = |value: ValueId| truth(self.definitions, value) == Some(true);
        let ways = ways(self.definitions, self.uses, node, &known)?;
        let (branch, before) = parts(&node.body)?;
        let known = self.is_known(before, branch.condition, &node.carried);
        (!known).then_some(ways)
    }
}

/// What becomes of the values that a loop carries, if it asks first whether to go on and runs a branch where it does.
pub(super) fn ways(
    definitions: &DefUse,
    uses: &HashSet<ValueId>,
    node: &Loop,
    is_true: &dyn Fn(ValueId) -> bool,
) -> Option<Vec<Way>> {
    let trips = node.trips.is_none_or(|trips| !uses.contains(&trips));
    let fits = matches!(node.range, Range::Forever)
        && node.parallel.is_none()
        && !uses.contains(&node.counter)
        && trips;
    let exit = node.exit.filter(|_| fits)?;
    let (branch, before) = parts(&node.body)?;
    let inner = defined(&node.body);
    let insides: Vec<ValueId> = node.carried.iter().map(|carried| carried.inside).collect();
    let outer = |value: ValueId| !inner.contains(&value) && !insides.contains(&value);
    let merge = |value: ValueId| branch.merges.iter().find(|merge| merge.value == value);
    // The loop goes on exactly where the condition holds.
    let Some(Op::Unary(Unary::Not, on)) = definitions.op(exit) else { return None };
    let on = merge(*on)?;
    let always = |value: ValueId| {
        truth(definitions, value) == Some(true)
            || node.carried.iter().any(|carried| {
                carried.inside == value && is_true(carried.init) && carried.next == on.value
            })
    };
    if truth(definitions, on.other) != Some(false) || !always(on.then) {
        return None;
    }
    let mut ways = Vec::new();
    for carried in &node.carried {
        let (next, left) = match merge(carried.next) {
            Some(merge) if merge.other == carried.inside => (merge.then, None),
            Some(merge) if outer(merge.other) => (merge.then, Some(merge.other)),
            None if carried.next == carried.inside || outer(carried.next) => {
                (carried.next, outer(carried.next).then_some(carried.next))
            }
            _ => return None,
        };
        ways.push(Way { carried: *carried, next, left });
    }
    // What comes after the branch is the question whether to go on, and nothing more; what comes before it has no effect.
    let last = matches!(node.body.last(), Some(Stmt::Let { value, .. }) if *value == exit);
    (last && before.iter().all(computes)).then_some(ways)
}

/// Whether a value is a truth that is written down.
fn truth(definitions: &DefUse, value: ValueId) -> Option<bool> {
    match definitions.op(value) {
        Some(Op::Bool(truth)) => Some(*truth),
        _ => None,
    }
}

impl Rotate<'_> {
    /// Whether a part of the first question can be answered here, so that it need not be asked.
    fn is_known(&self, before: &[Stmt], condition: ValueId, carried: &[Carried]) -> bool {
        let first = |value: ValueId| {
            let init = carried.iter().find(|carried| carried.inside == value);
            init.map_or(value, |carried| carried.init)
        };
        let constant = |value: ValueId| self.is_constant(first(value));
        let mut known = constant(condition);
        walk(before, &mut |node| {
            known |= match node {
                Stmt::Let { op: Op::Binary(_, a, b) | Op::Compare(_, a, b), .. } => {
                    constant(*a) && constant(*b)
                }
                Stmt::Let { op: Op::Unary(_, a), .. } => constant(*a),
                Stmt::Let { op: Op::Select(a, ..), .. } => constant(*a),
                Stmt::If(node) => constant(node.condition),
                _ => false,
            };
        });
        known
    }

    /// Whether a value is a number or a truth that is known here.
    fn is_constant(&self, value: ValueId) -> bool {
        match self.definitions.op(value) {
            Some(Op::Int(_) | Op::Bool(_) | Op::Const(_)) => true,
            Some(Op::Compare(_, a, b) | Op::Binary(_, a, b)) => {
                self.is_constant(*a) && self.is_constant(*b)
            }
            Some(Op::Unary(_, a) | Op::Cast(a, _)) => self.is_constant(*a),
            _ => false,
        }
    }
}

/// Whether a statement computes values, and does nothing else.
fn computes(node: &Stmt) -> bool {
    match node {
        Stmt::Let { .. } => true,
        Stmt::If(node) => node.then.iter().chain(&node.other).all(computes),
        _ => false,
    }
}

/// The branch of a body, the last statement but one, and what stands before it.
pub(super) fn parts(body: &Block) -> Option<(&If, &[Stmt])> {
    let [before @ .., Stmt::If(branch), Stmt::Let { .. }] = &body[..] else { return None };
    branch.other.is_empty().then_some((branch, before))
}

fn turn(function: &mut Function, node: Loop, ways: Vec<Way>, out: &mut Block) {
    let mut body = node.body;
    body.pop();
    let Some(Stmt::If(branch)) = body.pop() else { return };
    let condition = body;
    let bool = function.ty(branch.condition);
    // The question before the first iteration …
    let mut first = Substitution::default();
    for way in &ways {
        first.value(way.carried.inside, way.carried.init);
    }
    let asked = ask(function, &condition, &first, branch.condition, out);
    // … and the one after each. What the condition computes is there in the iteration as well.
    let mut next = Substitution::default();
    for way in &ways {
        next.value(way.carried.inside, way.next);
    }
    let mut body = condition.clone();
    body.extend(branch.then);
    let on = ask(function, &condition, &next, branch.condition, &mut body);
    let exit = function.define(&mut body, bool, Op::Unary(Unary::Not, on), branch.span);
    let mut carried = Vec::new();
    let mut merges = Vec::new();
    for way in ways {
        let after = function.new_value_like(way.carried.after);
        let init = way.carried.init;
        let (then, other) = match way.left {
            Some(left) => (left, left),
            None => (after, init),
        };
        carried.push(Carried { after, next: way.next, ..way.carried });
        merges.push(Merge { value: way.carried.after, then, other });
    }
    let trips = node.trips.map(|trips| function.new_value_like(trips));
    let inner = Loop { body, exit: Some(exit), carried, trips, ..node };
    out.push(Stmt::If(Box::new(If {
        id: StmtId::NONE,
        condition: asked,
        then: vec![Stmt::Loop(Box::new(inner))],
        other: Block::new(),
        merges,
        span: branch.span,
    })));
}

/// Asks the condition of a loop with other values in the place of what it carries.
fn ask(
    function: &mut Function,
    condition: &Block,
    instead: &Substitution,
    asked: ValueId,
    out: &mut Block,
) -> ValueId {
    let (mut copied, mut values) = copy(function, condition);
    instead.apply(&mut copied);
    out.append(&mut copied);
    values.remove(&asked).unwrap_or_else(|| instead.get(asked))
}
