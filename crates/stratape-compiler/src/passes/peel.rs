//! Loops that ask in every iteration whether they are at an edge ask only at the edges.
//!
//! `for i in 0..n { if i > 0 { … } if i + 1 < n { … } }`: the conditions hold for all but the first and
//! the last iterations. The loop is cut in three; in the middle one the conditions are gone, and its body can
//! be vectorised. The iterations and their order stay the same.

use std::collections::HashMap;

use crate::analysis::{Affine, Definitions};
use crate::ir::{
    Binary, Block, Carried, Compare, Function, If, Loop, Merge, Node, Op, Range, Scalar,
    Substitution, ValueId, copy,
};

/// At most so many iterations are peeled from an end.
const MOST: i128 = 4;

/// Bodies of more nodes are not copied.
const LARGEST: usize = 120;

/// Cuts loops at their edges.
pub fn peel(function: &mut Function) {
    let cuts = {
        let definitions = Definitions::new(function);
        let affine = Affine::new(function, &definitions);
        let mut cuts = HashMap::new();
        crate::ir::walk(&function.body, &mut |node| {
            if let Node::Loop(node) = node
                && let Some(cut) = find(function, &affine, &definitions, node)
            {
                cuts.insert(node.counter, cut);
            }
        });
        cuts
    };
    let mut body = std::mem::take(&mut function.body);
    let mut substitution = Substitution::default();
    block(function, &cuts, &mut body, &mut substitution);
    substitution.apply(&mut body);
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
    function.body = body;
}

/// Where a loop is cut, and what its conditions are in between.
struct Cut {
    head: i128,
    tail: i128,
    known: Vec<(ValueId, bool)>,
}

fn find(
    function: &Function,
    affine: &Affine<'_>,
    definitions: &Definitions,
    node: &Loop,
) -> Option<Cut> {
    let Range::UpTo { from, to } = node.range else { return None };
    let has_loops = node.body.iter().any(|item| matches!(item, Node::Loop(_)));
    if node.exit.is_some() || has_loops || function.ty(node.counter) != Scalar::USIZE {
        return None;
    }
    let mut count = 0;
    crate::ir::walk(&node.body, &mut |_| count += 1);
    if count > LARGEST {
        return None;
    }
    let (from, to) = (affine.of(from), affine.of(to));
    let mut cut = Cut { head: 0, tail: 0, known: Vec::new() };
    for item in &node.body {
        // Only what decides a branch is worth a cut.
        let Node::If(branch) = item else { continue };
        let Some(Op::Compare(sign, a, b)) = definitions.op(branch.condition) else { continue };
        let difference = affine.of(*a).minus(&affine.of(*b));
        let Some((factor, rest)) = difference.split(node.counter) else { continue };
        // The condition as `counter sign edge`.
        let (sign, edge) = match factor.as_number() {
            Some(1) => (*sign, crate::analysis::Polynomial::default().minus(&rest)),
            Some(-1) => (opposite(*sign), rest),
            _ => continue,
        };
        let above = edge.minus(&from).as_number().filter(|edge| (-1..=MOST).contains(edge));
        let below = to.minus(&edge).as_number().filter(|edge| (0..=MOST).contains(edge));
        let decided = match (sign, above, below) {
            (Compare::Gt, Some(above), _) => Some((above + 1, 0, true)),
            (Compare::Ge, Some(above), _) => Some((above, 0, true)),
            (Compare::Lt, Some(above), _) => Some((above, 0, false)),
            (Compare::Le, Some(above), _) => Some((above + 1, 0, false)),
            (Compare::Eq, Some(above), _) => Some((above + 1, 0, false)),
            (Compare::Ne, Some(above), _) => Some((above + 1, 0, true)),
            (Compare::Lt, _, Some(below)) => Some((0, below, true)),
            (Compare::Le, _, Some(below)) if below > 0 => Some((0, below - 1, true)),
            (Compare::Ge, _, Some(below)) => Some((0, below, false)),
            (Compare::Gt, _, Some(below)) if below > 0 => Some((0, below - 1, false)),
            (Compare::Eq, _, Some(below)) => Some((0, below, false)),
            (Compare::Ne, _, Some(below)) => Some((0, below, true)),
            _ => None,
        };
        if let Some((head, tail, value)) = decided {
            cut.head = cut.head.max(head);
            cut.tail = cut.tail.max(tail);
            cut.known.push((branch.condition, value));
        }
    }
    (!cut.known.is_empty() && cut.head + cut.tail > 0).then_some(cut)
}

/// `a sign b` as `b sign' a`.
fn opposite(sign: Compare) -> Compare {
    match sign {
        Compare::Lt => Compare::Gt,
        Compare::Le => Compare::Ge,
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
        same => same,
    }
}

fn block(
    function: &mut Function,
    cuts: &HashMap<ValueId, Cut>,
    nodes: &mut Block,
    substitution: &mut Substitution,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, cuts, inner, substitution);
        }
        match node {
            Node::Loop(node) => match cuts.get(&node.counter) {
                Some(cut) => in_three(function, &node, cut, &mut out, substitution),
                None => out.push(Node::Loop(node)),
            },
            node => out.push(node),
        }
    }
    *nodes = out;
}

/// The loop in three parts, if it is long enough for that; else as it was.
fn in_three(
    function: &mut Function,
    node: &Loop,
    cut: &Cut,
    out: &mut Block,
    substitution: &mut Substitution,
) {
    let Range::UpTo { from, to } = node.range else { return };
    let span = node.span;
    let emit = |function: &mut Function, ty: Scalar, block: &mut Block, op: Op| {
        let value = function.new_value(ty, span);
        block.push(Node::Let { value, op });
        value
    };
    let both = emit(function, Scalar::USIZE, out, Op::Int(cut.head + cut.tail));
    let length =
        emit(function, Scalar::USIZE, out, Op::Method("saturating_sub".to_owned(), vec![to, from]));
    let condition = emit(function, Scalar::Bool, out, Op::Compare(Compare::Ge, length, both));
    let mut then = Block::new();
    let head = emit(function, Scalar::USIZE, &mut then, Op::Int(cut.head));
    let tail = emit(function, Scalar::USIZE, &mut then, Op::Int(cut.tail));
    let first = emit(function, Scalar::USIZE, &mut then, Op::Binary(Binary::Add, from, head));
    let second = emit(function, Scalar::USIZE, &mut then, Op::Binary(Binary::Sub, to, tail));

    let mut parts = vec![(from, first, false), (first, second, true), (second, to, false)];
    if node.reversed {
        parts.reverse();
    }
    let mut entering: Vec<ValueId> = node.carried.iter().map(|carried| carried.init).collect();
    for (from, to, middle) in parts {
        let empty = (cut.head == 0 && to == first) || (cut.tail == 0 && from == second);
        if empty && !middle {
            continue;
        }
        let mut part = part(function, node, (from, to), &mut entering, middle.then_some(cut));
        then.append(&mut part);
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
    let other = vec![Node::Loop(Box::new(kept))];
    out.push(Node::If(Box::new(If { condition, then, other, merges: renamed, span })));
}

/// A copy of a loop for a part of its range; `entering` is what it carries in, then what it leaves.
fn part(
    function: &mut Function,
    node: &Loop,
    (from, to): (ValueId, ValueId),
    entering: &mut [ValueId],
    cut: Option<&Cut>,
) -> Block {
    let (body, values) = copy(function, &node.body);
    let here = |value: ValueId| values.get(&value).copied().unwrap_or(value);
    let counter = function.new_value_like(node.counter);
    let mut inner = Substitution::default();
    inner.value(node.counter, counter);
    let mut carried = Vec::new();
    for (old, init) in node.carried.iter().zip(entering) {
        let inside = function.new_value_like(old.inside);
        let after = function.new_value_like(old.after);
        inner.value(old.inside, inside);
        carried.push(Carried { init: *init, inside, next: here(old.next), after });
        *init = after;
    }
    let range = Range::UpTo { from, to };
    let mut part = Loop { counter, range, carried, body, ..node.clone() };
    if let Some(cut) = cut {
        let known: HashMap<ValueId, bool> =
            cut.known.iter().map(|(value, known)| (here(*value), *known)).collect();
        decide(&mut part.body, &known, &mut inner);
    }
    let mut part = vec![Node::Loop(Box::new(part))];
    inner.apply(&mut part);
    part
}

/// Replaces branches whose condition is known by the arm that is taken.
fn decide(block: &mut Block, known: &HashMap<ValueId, bool>, settled: &mut Substitution) {
    let mut out = Block::new();
    for node in std::mem::take(block) {
        match node {
            Node::If(branch) if known.contains_key(&branch.condition) => {
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
