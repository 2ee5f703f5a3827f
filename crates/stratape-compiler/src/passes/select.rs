//! Branches that only choose between values become selections, which vectorise.

use crate::ir::{Block, Function, Node, Op};

/// At most so many operations of both arms are done in vain.
const LIMIT: usize = 4;

/// Turns small branches into selections.
pub fn select(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    block(function, &mut body);
    function.body = body;
}

fn block(function: &Function, nodes: &mut Block) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, inner);
        }
        match node {
            Node::If(branch) if is_small(function, &branch.then, &branch.other) => {
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

fn is_small(function: &Function, then: &Block, other: &Block) -> bool {
    let mut count = 0;
    then.iter().chain(other).all(|node| match node {
        Node::Let { value, op } => {
            count += usize::from(!op.is_constant());
            super::is_total(op, function.ty(*value)) && super::is_cheap(op) && count <= LIMIT
        }
        _ => false,
    })
}
