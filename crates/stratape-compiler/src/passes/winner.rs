//! A running maximum remembers where it was found.
//!
//! `if x[i] > best { best = x[i] }` carries a number whose adjoint would have to follow every choice, one
//! saved bit an iteration. The loop is made to carry the winner's counter as well; after the loop the number
//! is read again from where the winner stood. It has the same bits, and its adjoint goes straight to that one
//! element; the carried number itself serves comparisons only, and has no adjoint.

use super::written;
use crate::analysis::Definitions;
use crate::ir::{
    Binary, Block, Carried, Function, If, Loop, Merge, Node, Op, Place, Range, Scalar, Step,
    Substitution, ValueId, defined, walk,
};

/// Rewrites running choices.
pub fn winner(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let unwritten = written(&body);
    let definitions = {
        let mut probe = function.clone();
        probe.body = body.clone();
        Definitions::new(&probe)
    };
    let mut substitution = Substitution::default();
    block(
        function,
        &mut body,
        &Facts { definitions: &definitions, written: &unwritten },
        &mut substitution,
    );
    substitution.apply(&mut body);
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
    function.body = body;
}

struct Facts<'a> {
    definitions: &'a Definitions,
    written: &'a std::collections::HashSet<crate::ir::ObjectId>,
}

fn block(
    function: &mut Function,
    nodes: &mut Block,
    facts: &Facts<'_>,
    substitution: &mut Substitution,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, inner, facts, substitution);
        }
        let Node::Loop(mut repeat) = node else {
            out.push(node);
            continue;
        };
        let found: Vec<(usize, Choice)> = (0..repeat.carried.len())
            .filter_map(|at| Some((at, choice(function, facts, &repeat, at)?)))
            .collect();
        let mut after = Vec::new();
        for (at, choice) in found {
            let nodes = rewrite(function, facts, &mut repeat, at, &choice, &mut out, substitution);
            after.extend(nodes);
        }
        out.push(Node::Loop(repeat));
        out.extend(after);
    }
    *nodes = out;
}

/// `next = if condition { candidate } else { inside }`
struct Choice {
    condition: ValueId,
    /// Whether the condition chooses the candidate.
    takes: bool,
    place: Place,
}

fn choice(function: &Function, facts: &Facts<'_>, node: &Loop, at: usize) -> Option<Choice> {
    let carried = node.carried[at];
    if !function.ty(carried.inside).is_float() || !matches!(node.range, Range::UpTo { .. }) {
        return None;
    }
    let (condition, candidate, takes) = node.body.iter().find_map(|item| match item {
        Node::Let { value, op: Op::Select(c, a, b) } if *value == carried.next => {
            if *b == carried.inside {
                Some((*c, *a, true))
            } else if *a == carried.inside {
                Some((*c, *b, false))
            } else {
                None
            }
        }
        _ => None,
    })?;
    let Some(Op::Load(place)) = facts.definitions.op(candidate) else { return None };
    if facts.written.contains(&place.object) && !written_before_only(node, place) {
        return None;
    }
    // Its other uses must be comparisons.
    let mut others = 0;
    walk(&node.body, &mut |item| {
        let compares = matches!(
            item,
            Node::Let { op: Op::Compare(..) | Op::TotalCmp { .. } | Op::Select(..), .. }
        );
        item.for_each_operand(&mut |value| {
            others += usize::from(value == carried.inside && !compares);
        });
    });
    let fits = others == 0 && recomputable(facts, node, place);
    fits.then(|| Choice { condition, takes, place: place.clone() })
}

/// Nothing in the loop writes the object; what is read after the loop is what was read inside.
fn written_before_only(node: &Loop, place: &Place) -> bool {
    !written(&node.body).contains(&place.object)
}

/// Whether the indices of a place are arithmetic on the counter and on what does not change.
fn recomputable(facts: &Facts<'_>, node: &Loop, place: &Place) -> bool {
    let inner = defined(&node.body);
    place.path.iter().all(|step| match step {
        Step::Index(index) => index_recomputable(facts, node, &inner, *index),
        Step::Field(_) => true,
    })
}

fn index_recomputable(
    facts: &Facts<'_>,
    node: &Loop,
    inner: &std::collections::HashSet<ValueId>,
    index: ValueId,
) -> bool {
    if index == node.counter
        || (!inner.contains(&index) && !node.carried.iter().any(|c| c.inside == index))
    {
        return true;
    }
    match facts.definitions.op(index) {
        Some(Op::Int(_)) => true,
        Some(Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b)) => {
            index_recomputable(facts, node, inner, *a) && index_recomputable(facts, node, inner, *b)
        }
        Some(Op::Cast(a, _)) => index_recomputable(facts, node, inner, *a),
        _ => false,
    }
}

/// Lets the loop carry the winner; returns what follows the loop.
fn rewrite(
    function: &mut Function,
    facts: &Facts<'_>,
    node: &mut Loop,
    at: usize,
    choice: &Choice,
    before: &mut Block,
    substitution: &mut Substitution,
) -> Vec<Node> {
    let span = node.span;
    let carried = node.carried[at];
    let ty = function.ty(node.counter);
    let new = |function: &mut Function, ty: Scalar| function.new_value(ty, span);
    let (none, start) = (new(function, Scalar::Bool), new(function, ty));
    before.push(Node::Let { value: none, op: Op::Bool(false) });
    before.push(Node::Let { value: start, op: Op::Int(0) });
    // Whether there is a winner, and its counter.
    let (some_in, some_next, some) =
        (new(function, Scalar::Bool), new(function, Scalar::Bool), new(function, Scalar::Bool));
    let (best_in, best_next, best) = (new(function, ty), new(function, ty), new(function, ty));
    let yes = new(function, Scalar::Bool);
    node.body.push(Node::Let { value: yes, op: Op::Bool(true) });
    let pick = |a: ValueId, b: ValueId| {
        if choice.takes {
            Op::Select(choice.condition, a, b)
        } else {
            Op::Select(choice.condition, b, a)
        }
    };
    node.body.push(Node::Let { value: some_next, op: pick(yes, some_in) });
    node.body.push(Node::Let { value: best_next, op: pick(node.counter, best_in) });
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
                Step::Index(again(function, facts, node, *index, best, &mut then))
            }
            Step::Field(field) => Step::Field(*field),
        })
        .collect();
    let read = function.new_value_like(carried.after);
    then.push(Node::Let { value: read, op: Op::Load(Place { object: choice.place.object, path }) });
    let result = function.new_value_like(carried.after);
    substitution.value(carried.after, result);
    let merges = vec![Merge { value: result, then: read, other: carried.init }];
    vec![Node::If(Box::new(If { condition: some, then, other: Block::new(), merges, span }))]
}

/// An index as it was in the winner's iteration.
fn again(
    function: &mut Function,
    facts: &Facts<'_>,
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
    let Some(op) = facts.definitions.op(index).cloned() else { return index };
    let mut op = op;
    op.for_each_operand_mut(&mut |operand| {
        *operand = again(function, facts, node, *operand, best, out);
    });
    let value = function.new_value_like(index);
    out.push(Node::Let { value, op });
    value
}
