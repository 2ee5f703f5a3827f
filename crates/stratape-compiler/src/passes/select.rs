//! Branches that only choose between values become selections, which vectorise.
//!
//! A selection computes both arms, and its adjoint hands zero to the arm that was not taken. Zero times a derivative must be zero
//! there, so no operation moves out of a branch whose derivative may be infinite, or none at all, where the branch would not have done it:
//! products of two values stay, as do quotients, roots and their like, which are not cheap.

use std::collections::HashSet;

use super::{is_product, literals};
use crate::ir::{Block, Function, If, Node, Op, ValueId};

/// At most so many operations of both arms are done in vain.
const LIMIT: usize = 4;

/// Turns small branches into selections.
pub fn select(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let literals = literals(function, &body);
    block(function, &mut body, &literals);
    function.body = body;
}

fn block(function: &Function, nodes: &mut Block, literals: &HashSet<ValueId>) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, inner, literals);
        }
        match node {
            Node::If(branch) if is_small(function, &branch, literals) => {
                let branch = *branch;
                out.extend(branch.then);
                out.extend(branch.other);
                out.extend(branch.merges.into_iter().map(|merge| Node::Let {
                    value: merge.value,
                    op: Op::Select(branch.condition, merge.then, merge.other),
                }));
            }
            node => out.push(node),
        }
    }
    *nodes = out;
}

fn is_small(function: &Function, branch: &If, literals: &HashSet<ValueId>) -> bool {
    let (then, other) = (&branch.then, &branch.other);
    let mut count = 0;
    then.iter().chain(other).all(|node| match node {
        Node::Let { value, op } => {
            count += usize::from(!op.is_constant());
            super::is_total(op, function.ty(*value))
                && super::is_cheap(op)
                && !is_product(op, function.ty(*value), literals)
                && count <= LIMIT
        }
        _ => false,
    })
}
