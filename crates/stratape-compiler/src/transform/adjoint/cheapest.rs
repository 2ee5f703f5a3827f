//! Blocks rewritten one by one, where that leaves fewer operations.

use std::collections::{HashMap, HashSet};

use crate::transform::is_total;
use stratape_ir::{Binary, Block, Function, Op, Stmt, Substitution, ValueId, used, walk};

/// Rewrites a block, given what is used of its values after its end; returns what stands for them now.
pub(super) type Rewrite<'a> = dyn FnMut(&mut Function, &mut Block, &[ValueId]) -> Substitution + 'a;

/// Rewrites the blocks of a function, inner ones first.
pub(super) fn each_block(function: &mut Function, rewrite: &mut Rewrite<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let outs = function.results.clone();
    let rewritten = inside(function, &mut body, &outs, rewrite);
    function.body = body;
    for result in &mut function.results {
        *result = rewritten.get(*result);
    }
}

fn inside(
    function: &mut Function,
    nodes: &mut Block,
    outs: &[ValueId],
    rewrite: &mut Rewrite<'_>,
) -> Substitution {
    for node in nodes.iter_mut() {
        match node {
            Stmt::Loop(node) => {
                let outs: Vec<ValueId> =
                    node.carried.iter().map(|carried| carried.next).chain(node.exit).collect();
                let rewritten = inside(function, &mut node.body, &outs, rewrite);
                for carried in &mut node.carried {
                    carried.next = rewritten.get(carried.next);
                }
                node.exit = node.exit.map(|exit| rewritten.get(exit));
            }
            Stmt::If(node) => {
                let then: Vec<ValueId> = node.merges.iter().map(|merge| merge.then).collect();
                let other: Vec<ValueId> = node.merges.iter().map(|merge| merge.other).collect();
                let then = inside(function, &mut node.then, &then, rewrite);
                let other = inside(function, &mut node.other, &other, rewrite);
                for merge in &mut node.merges {
                    merge.then = then.get(merge.then);
                    merge.other = other.get(merge.other);
                }
            }
            _ => {}
        }
    }
    rewrite(function, nodes, outs)
}

/// The float literals of a function.
pub(super) fn literals(function: &Function) -> HashMap<ValueId, f64> {
    let mut literals = HashMap::new();
    walk(&function.body, &mut |node| {
        if let Stmt::Let { value, op: Op::Float(number, _) } = node {
            literals.insert(*value, *number);
        }
    });
    literals
}

/// How often the values of a block are used.
pub(super) fn uses_of(nodes: &Block, outs: &[ValueId]) -> HashMap<ValueId, usize> {
    let mut uses = HashMap::new();
    walk(nodes, &mut |node| {
        node.for_each_operand(&mut |value| *uses.entry(value).or_default() += 1);
    });
    outs.iter().for_each(|out| *uses.entry(*out).or_default() += 1);
    uses
}

/// Operations of a block that something needs, a division for four; those of the blocks inside are not counted.
pub(super) fn cost(function: &Function, nodes: &Block, outs: &[ValueId]) -> usize {
    let needed = needed(function, nodes, outs);
    let operations = nodes.iter().filter_map(|node| match node {
        Stmt::Let { value, op } if needed.contains(value) && function.ty(*value).is_float() => {
            Some(op)
        }
        _ => None,
    });
    operations
        .map(|op| match op {
            Op::Binary(Binary::Div, ..) => 4,
            Op::Binary(..) | Op::Unary(..) => 1,
            _ => 0,
        })
        .sum()
}

/// Drops what nothing needs of a block.
pub(super) fn drop_dead(function: &Function, nodes: &mut Block, outs: &[ValueId]) {
    let needed = needed(function, nodes, outs);
    nodes.retain(|node| !is_dead(function, node, &needed));
}

/// What something needs of the values of a block.
fn needed(function: &Function, nodes: &Block, outs: &[ValueId]) -> HashSet<ValueId> {
    let mut needed: HashSet<ValueId> = outs.iter().copied().collect();
    for node in nodes {
        for inner in node.blocks() {
            needed.extend(used(inner));
        }
    }
    for node in nodes.iter().rev() {
        if !is_dead(function, node, &needed) {
            node.for_each_operand(&mut |value| {
                needed.insert(value);
            });
        }
    }
    needed
}

/// Whether an operation is for nothing: its value is not needed, and it cannot panic.
fn is_dead(function: &Function, node: &Stmt, needed: &HashSet<ValueId>) -> bool {
    matches!(node, Stmt::Let { value, op } if !needed.contains(value) && is_total(op, function.ty(*value)))
}
