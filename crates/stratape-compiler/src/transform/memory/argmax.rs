//! Argmax: a running maximum also carries the index of its winner, and is loaded from there after the loop.
//!
//! ```text
//! for i { best = if x[i] > best then x[i] else best }   →   for i { …; at = if x[i] > best then i else at }; best = x[at]
//! ```
//!
//! So is one that is written `best = best.max(x[i])`, or with `min`: the candidate won where the result is not `best`.
//!
//! Without it the adjoint of `best` has to follow every choice, one saved bit per iteration. With it, the adjoint goes straight to one element;
//! the carried number serves comparisons only, and has no adjoint. The loaded value has the same bits.
//!
//! Legal where the candidate is a load from memory that the loop does not write, at an index that can be recomputed from the counter, and the
//! carried value is otherwise used in comparisons and selections alone. Pays always (docs/performance.md: logsum, nn). Runs after
//! `if_conversion`, which makes the choice a selection.

use crate::driver::{Context, Pass, Promise};
use crate::transform::canonical::written;
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Binary, Block, Carried, Compare, Function, If, Loop, Math, Merge, Op, Place, Range, Scalar,
    Step, Stmt, StmtId, Substitution, Unary, ValueId, defined, walk,
};

/// The pass.
pub const ARGMAX: Pass = Pass {
    name: "argmax",
    after: &["if_conversion"],
    promise: Promise::SameBits,
    required: false,
    run: argmax,
};

/// Rewrites running choices.
fn argmax(function: &mut Function, cx: &mut Context<'_>) {
    let definitions = DefUse::new(function);
    let mut body = std::mem::take(&mut function.body);
    let mut substitution = Substitution::default();
    block(function, &mut body, &definitions, &mut substitution, cx);
    substitution.apply(&mut body);
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
    function.body = body;
}

fn block(
    function: &mut Function,
    nodes: &mut Block,
    definitions: &DefUse,
    substitution: &mut Substitution,
    cx: &mut Context<'_>,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, inner, definitions, substitution, cx);
        }
        let Stmt::Loop(mut repeat) = node else {
            out.push(node);
            continue;
        };
        let found: Vec<(usize, Choice)> = (0..repeat.carried.len())
            .filter_map(|at| Some((at, choice(function, definitions, &repeat, at)?)))
            .collect();
        let mut after = Vec::new();
        for (at, choice) in found {
            cx.applied(repeat.span, "carries the position of its running choice");
            let nodes =
                rewrite(function, definitions, &mut repeat, at, &choice, &mut out, substitution);
            after.extend(nodes);
        }
        out.push(Stmt::Loop(repeat));
        out.extend(after);
    }
    *nodes = out;
}

/// `next = if condition { candidate } else { inside }`
struct Choice {
    /// What chooses; none for a minimum or maximum, which chooses by itself: its first operand, if that is the result.
    condition: Option<ValueId>,
    /// Whether the condition chooses the candidate.
    takes: bool,
    place: Place,
}

fn choice(function: &Function, definitions: &DefUse, node: &Loop, at: usize) -> Option<Choice> {
    let carried = node.carried[at];
    if !function.ty(carried.inside).is_float() || !matches!(node.range, Range::UpTo { .. }) {
        return None;
    }
    let (condition, candidate, takes) = node.body.iter().find_map(|item| match item {
        Stmt::Let { value, op: Op::Select(c, a, b) } if *value == carried.next => {
            if *b == carried.inside {
                Some((Some(*c), *a, true))
            } else if *a == carried.inside {
                Some((Some(*c), *b, false))
            } else {
                None
            }
        }
        Stmt::Let { value, op: Op::Math(Math::Min | Math::Max, operands) }
            if *value == carried.next =>
        {
            let candidate = operands.iter().find(|operand| **operand != carried.inside)?;
            // What is equal goes to the first.
            let takes = operands[0] == *candidate;
            operands.contains(&carried.inside).then_some((None, *candidate, takes))
        }
        _ => None,
    })?;
    let Some(Op::Load(place)) = definitions.op(candidate) else { return None };
    // What is read after the loop must be what was read inside.
    if written(&node.body).contains(&place.object) {
        return None;
    }
    // Its other uses must be comparisons.
    let mut others = 0;
    walk(&node.body, &mut |item| {
        let compares = match item {
            Stmt::Let { value, op: Op::Math(..) } => *value == carried.next,
            Stmt::Let { op, .. } => {
                matches!(op, Op::Compare(..) | Op::TotalCmp { .. } | Op::Select(..))
            }
            _ => false,
        };
        item.for_each_operand(&mut |value| {
            others += usize::from(value == carried.inside && !compares);
        });
    });
    let fits = others == 0 && recomputable(definitions, node, place);
    fits.then(|| Choice { condition, takes, place: place.clone() })
}

/// Whether the indices of a place are arithmetic on the counter and on what does not change.
fn recomputable(definitions: &DefUse, node: &Loop, place: &Place) -> bool {
    let inner = defined(&node.body);
    place.path.iter().all(|step| match step {
        Step::Index(index) => index_recomputable(definitions, node, &inner, *index),
        Step::Field(_) => true,
    })
}

fn index_recomputable(
    definitions: &DefUse,
    node: &Loop,
    inner: &std::collections::HashSet<ValueId>,
    index: ValueId,
) -> bool {
    if index == node.counter
        || (!inner.contains(&index) && !node.carried.iter().any(|c| c.inside == index))
    {
        return true;
    }
    match definitions.op(index) {
        Some(Op::Int(_)) => true,
        Some(Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b)) => {
            index_recomputable(definitions, node, inner, *a)
                && index_recomputable(definitions, node, inner, *b)
        }
        Some(Op::Cast(a, _)) => index_recomputable(definitions, node, inner, *a),
        _ => false,
    }
}

/// Makes the loop carry the winner's counter; returns what follows the loop.
fn rewrite(
    function: &mut Function,
    definitions: &DefUse,
    node: &mut Loop,
    at: usize,
    choice: &Choice,
    before: &mut Block,
    substitution: &mut Substitution,
) -> Vec<Stmt> {
    let span = node.span;
    let carried = node.carried[at];
    let ty = function.ty(node.counter);
    let new = |function: &mut Function, ty: Scalar| function.new_value(ty, span);
    let (none, start) = (new(function, Scalar::Bool), new(function, ty));
    before.push(Stmt::Let { value: none, op: Op::Bool(false) });
    before.push(Stmt::Let { value: start, op: Op::Int(0) });
    // Whether there is a winner, and its counter.
    let (some_in, some_next, some) =
        (new(function, Scalar::Bool), new(function, Scalar::Bool), new(function, Scalar::Bool));
    let (best_in, best_next, best) = (new(function, ty), new(function, ty), new(function, ty));
    let yes = new(function, Scalar::Bool);
    node.body.push(Stmt::Let { value: yes, op: Op::Bool(true) });
    let condition = choice.condition.unwrap_or_else(|| takes_first(function, node, carried));
    let pick = |a: ValueId, b: ValueId| {
        if choice.takes { Op::Select(condition, a, b) } else { Op::Select(condition, b, a) }
    };
    node.body.push(Stmt::Let { value: some_next, op: pick(yes, some_in) });
    node.body.push(Stmt::Let { value: best_next, op: pick(node.counter, best_in) });
    node.carried.push(Carried { init: none, inside: some_in, next: some_next, after: some });
    node.carried.push(Carried { init: start, inside: best_in, next: best_next, after: best });
    // What the loop left is read again where the winner stood.
    let mut then = Block::new();
    let path = choice
        .place
        .path
        .iter()
        .map(|step| match step {
            Step::Index(index) => {
                Step::Index(again(function, definitions, node, *index, best, &mut then))
            }
            Step::Field(field) => Step::Field(*field),
        })
        .collect();
    let read = function.new_value_like(carried.after);
    then.push(Stmt::Let { value: read, op: Op::Load(Place { object: choice.place.object, path }) });
    let result = function.new_value_like(carried.after);
    substitution.value(carried.after, result);
    let merges = vec![Merge { value: result, then: read, other: carried.init }];
    vec![Stmt::If(Box::new(If {
        id: StmtId::NONE,
        condition: some,
        then,
        other: Block::new(),
        merges,
        span,
    }))]
}

/// Whether a minimum or maximum is its first operand, at the end of the body: the same number, and the same bits, since zeros have signs.
fn takes_first(function: &mut Function, node: &mut Loop, carried: Carried) -> ValueId {
    let next = carried.next;
    let first = node.body.iter().find_map(|item| match item {
        Stmt::Let { value, op: Op::Math(_, operands) } if *value == next => Some(operands[0]),
        _ => None,
    });
    let first = first.unwrap_or(carried.inside);
    let mut emit = |op| function.define(&mut node.body, Scalar::Bool, op, node.span);
    let equal = emit(Op::Compare(Compare::Eq, next, first));
    let sides = [(next, first), (first, next)];
    let [less, greater] = sides.map(|(a, b)| emit(Op::TotalCmp { less: true, a, b }));
    let differ = emit(Op::Binary(Binary::BitOr, less, greater));
    let same = emit(Op::Unary(Unary::Not, differ));
    emit(Op::Binary(Binary::BitAnd, equal, same))
}

/// An index as it was in the winner's iteration.
fn again(
    function: &mut Function,
    definitions: &DefUse,
    node: &Loop,
    index: ValueId,
    best: ValueId,
    out: &mut Block,
) -> ValueId {
    if index == node.counter {
        return best;
    }
    if !defined(&node.body).contains(&index) {
        return index;
    }
    let Some(mut op) = definitions.op(index).cloned() else { return index };
    op.for_each_operand_mut(&mut |operand| {
        *operand = again(function, definitions, node, *operand, best, out);
    });
    let value = function.new_value_like(index);
    out.push(Stmt::Let { value, op });
    value
}
