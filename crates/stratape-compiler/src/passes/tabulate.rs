//! Slow operations that an inner loop repeats for every iteration of the outer one are done once
//! for each of its own, before both, into a table.
//!
//! `for i in … { for j in … { s += w[i * n + j] * (p[j] / 255.0) } }` divides each `p[j]` as often as there
//! are rows. Nothing changes in the numbers: the operations and their operands are the same.

use std::collections::{HashMap, HashSet};

use super::{integers, is_cheap, is_total, runs, written};
use crate::ir::{
    Binary, Block, Compare, Function, If, Init, Loop, Node, Object, ObjectId, Op, Origin, Place,
    Range, Scalar, Step, Type, ValueId, defined, made, used,
};

/// Makes tables.
pub fn tabulate(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let integers = integers(&body);
    block(function, &mut body, &integers);
    function.body = body;
}

fn block(function: &mut Function, nodes: &mut Block, integers: &HashMap<ValueId, i128>) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        if let Node::Loop(outer) = &mut node {
            tables(function, outer, integers, &mut out);
        }
        for inner in node.blocks_mut() {
            block(function, inner, integers);
        }
        out.push(node);
    }
    *nodes = out;
}

/// Makes the tables of the loops directly inside a loop.
fn tables(
    function: &mut Function,
    outer: &mut Loop,
    integers: &HashMap<ValueId, i128>,
    before: &mut Block,
) {
    let Range::UpTo { from: outer_from, to: outer_to } = outer.range else { return };
    let mut inside = defined(&outer.body);
    inside.insert(outer.counter);
    inside.extend(outer.carried.iter().map(|carried| carried.inside));
    let changed = written(&outer.body);
    let made = made(&outer.body);
    let runs = runs(integers, outer_from, outer_to);
    for item in &mut outer.body {
        let Node::Loop(inner) = item else { continue };
        let Range::UpTo { from, to } = inner.range else { continue };
        // A loop that may end early does not do every operation of its range.
        if inner.exit.is_some() || outer.exit.is_some() {
            continue;
        }
        if inside.contains(&from)
            || inside.contains(&to)
            || function.ty(inner.counter) != Scalar::USIZE
        {
            continue;
        }
        let chain = chain(function, inner, &inside, &changed, &made);
        for value in roots(function, inner, &chain) {
            let fill = fill(function, inner, &chain, value, (from, to), before);
            guard(function, (outer_from, outer_to), runs, fill, before);
        }
    }
}

/// The operations of an inner loop that depend on its counter, and on nothing of the outer loop.
fn chain(
    function: &Function,
    inner: &Loop,
    inside: &HashSet<ValueId>,
    changed: &HashSet<ObjectId>,
    made: &HashSet<ObjectId>,
) -> HashMap<ValueId, Op> {
    let mut chain = HashMap::new();
    for item in &inner.body {
        let Node::Let { value, op } = item else { continue };
        let mut fits = match op {
            Op::Load(place) => !changed.contains(&place.object) && !made.contains(&place.object),
            Op::Len(place) => !made.contains(&place.object),
            op => {
                is_total(op, function.ty(*value)) || matches!(function.ty(*value), Scalar::Int(_))
            }
        };
        op.for_each_operand(&mut |operand| {
            fits = fits
                && (operand == inner.counter
                    || chain.contains_key(&operand)
                    || !inside.contains(&operand));
        });
        if fits {
            chain.insert(*value, op.clone());
        }
    }
    chain
}

/// The slow floats of a chain that something outside it uses.
fn roots(function: &Function, inner: &Loop, chain: &HashMap<ValueId, Op>) -> Vec<ValueId> {
    let mut wanted = HashSet::new();
    for item in &inner.body {
        let in_chain = matches!(item, Node::Let { value, .. } if chain.contains_key(value));
        if !in_chain {
            wanted.extend(used(&vec![item.clone()]));
        }
    }
    wanted.extend(inner.carried.iter().map(|carried| carried.next));
    let mut found: Vec<ValueId> = wanted
        .into_iter()
        .filter(|value| function.ty(*value).is_float() && is_slow(chain, *value))
        .collect();
    found.sort_unstable();
    found
}

fn is_slow(chain: &HashMap<ValueId, Op>, value: ValueId) -> bool {
    let Some(op) = chain.get(&value) else { return false };
    let mut slow = !is_cheap(op);
    op.for_each_operand(&mut |operand| slow = slow || is_slow(chain, operand));
    slow
}

/// Makes the table of one value, and lets the inner loop read it.
fn fill(
    function: &mut Function,
    inner: &mut Loop,
    chain: &HashMap<ValueId, Op>,
    value: ValueId,
    (from, to): (ValueId, ValueId),
    before: &mut Block,
) -> Node {
    let span = inner.span;
    let ty = function.ty(value);
    let name = function.values[value.index()].name.clone().unwrap_or_else(|| "table".to_owned());
    let object = function.new_object(Object {
        ty: Type::Vec(Box::new(Type::Scalar(ty))),
        origin: Origin::Local,
        name,
        shadow_of: None,
        span,
    });
    let (zero, len) = (function.new_value(ty, span), function.new_value(Scalar::USIZE, span));
    before.push(Node::Let { value: zero, op: Op::Float(0.0, "0.0".to_owned()) });
    before.push(Node::Let {
        value: len,
        op: Op::Method("saturating_sub".to_owned(), vec![to, from]),
    });
    before.push(Node::New { object, init: Init::Repeat(Box::new(Init::Value(zero)), len) });

    let counter = function.new_value_like(inner.counter);
    let mut body = Block::new();
    let mut again = HashMap::from([(inner.counter, counter)]);
    let computed = compute(function, chain, value, &mut again, &mut body);
    let index = offset(function, counter, from, &mut body);
    let place = Place::whole(object).with(Step::Index(index));
    body.push(Node::Store { place, value: computed });

    let mut reads = Block::new();
    let index = offset(function, inner.counter, from, &mut reads);
    let place = Place::whole(object).with(Step::Index(index));
    let at = inner
        .body
        .iter()
        .position(|item| matches!(item, Node::Let { value: other, .. } if *other == value));
    if let Some(at) = at {
        inner.body[at] = Node::Let { value, op: Op::Load(place) };
        inner.body.splice(at..at, reads);
    }
    Node::Loop(Box::new(Loop::over(counter, (from, to), body, span)))
}

fn offset(function: &mut Function, counter: ValueId, from: ValueId, out: &mut Block) -> ValueId {
    let index = function.new_value(Scalar::USIZE, function.values[counter.index()].span);
    out.push(Node::Let { value: index, op: Op::Binary(Binary::Sub, counter, from) });
    index
}

fn compute(
    function: &mut Function,
    chain: &HashMap<ValueId, Op>,
    value: ValueId,
    again: &mut HashMap<ValueId, ValueId>,
    out: &mut Block,
) -> ValueId {
    if let Some(known) = again.get(&value) {
        return *known;
    }
    let Some(op) = chain.get(&value) else { return value };
    let mut op = op.clone();
    op.for_each_operand_mut(&mut |operand| {
        *operand = compute(function, chain, *operand, again, out);
    });
    let new = function.new_value_like(value);
    out.push(Node::Let { value: new, op });
    again.insert(value, new);
    new
}

/// A table is filled only if the outer loop runs.
fn guard(
    function: &mut Function,
    (from, to): (ValueId, ValueId),
    runs: bool,
    fill: Node,
    before: &mut Block,
) {
    let span = proc_macro2::Span::call_site();
    if runs {
        before.push(fill);
        return;
    }
    let condition = function.new_value(Scalar::Bool, span);
    before.push(Node::Let { value: condition, op: Op::Compare(Compare::Lt, from, to) });
    before.push(Node::If(Box::new(If {
        condition,
        then: vec![fill],
        other: Block::new(),
        merges: Vec::new(),
        span,
    })));
}
