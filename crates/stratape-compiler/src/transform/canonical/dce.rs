//! Dead-code elimination: drops values, carried values, merges and empty loops that nothing uses.
//!
//! Live is what results, memory, checks, conditions and operations that can panic need, and what that is computed from. A value that is only
//! handed on from iteration to iteration is dead. An operation that can panic stays, used or not. Repeated until nothing changes. Required on
//! gradients: the reverse walk leaves index arithmetic behind for adjoints that turned out to be zero.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use crate::transform::is_total;
use stratape_ir::{Block, Function, Range, Stmt, ValueId, walk};

/// The pass.
pub const DCE: Pass =
    Pass { name: "dce", after: &[], promise: Promise::SameBits, required: true, run: dce };

/// Drops unused values, carried values and merges.
fn dce(function: &mut Function, _cx: &mut Context<'_>) {
    loop {
        let live = live(function);
        let mut body = std::mem::take(&mut function.body);
        let before = size(&body);
        block(function, &mut body, &live);
        let after = size(&body);
        function.body = body;
        if before == after {
            return;
        }
    }
}

/// The values that are needed.
fn live(function: &Function) -> HashSet<ValueId> {
    let mut needs: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    let mut left = function.results.clone();
    walk(&function.body, &mut |node| match node {
        Stmt::Let { value, op } if is_total(op, function.ty(*value)) => {
            let operands = needs.entry(*value).or_default();
            op.for_each_operand(&mut |operand| operands.push(operand));
        }
        Stmt::If(node) => {
            left.push(node.condition);
            for merge in &node.merges {
                needs.insert(merge.value, vec![merge.then, merge.other]);
            }
        }
        Stmt::Loop(node) => {
            if let Range::UpTo { from, to } = node.range {
                left.extend([from, to]);
            }
            left.extend(node.exit);
            for carried in &node.carried {
                needs.insert(carried.inside, vec![carried.init, carried.next]);
                needs.insert(carried.after, vec![carried.init, carried.next]);
            }
        }
        _ => node.for_each_operand(&mut |operand| left.push(operand)),
    });
    let mut live = HashSet::new();
    while let Some(value) = left.pop() {
        if live.insert(value) {
            left.extend(needs.get(&value).into_iter().flatten());
        }
    }
    live
}

fn size(block: &Block) -> usize {
    let mut count = 0;
    walk(block, &mut |node| {
        count += 1;
        match node {
            Stmt::Loop(node) => count += node.carried.len(),
            Stmt::If(node) => count += node.merges.len(),
            _ => {}
        }
    });
    count
}

fn block(function: &Function, nodes: &mut Block, live: &HashSet<ValueId>) {
    for node in nodes.iter_mut() {
        for inner in node.blocks_mut() {
            block(function, inner, live);
        }
        match node {
            Stmt::Loop(node) => node
                .carried
                .retain(|carried| live.contains(&carried.after) || live.contains(&carried.inside)),
            Stmt::If(node) => node.merges.retain(|merge| live.contains(&merge.value)),
            _ => {}
        }
    }
    nodes.retain(|node| match node {
        Stmt::Let { value, op } => live.contains(value) || !is_total(op, function.ty(*value)),
        Stmt::If(node) => {
            !(node.then.is_empty() && node.other.is_empty() && node.merges.is_empty())
        }
        Stmt::Loop(node) => {
            !(node.body.is_empty()
                && node.carried.is_empty()
                && node.trips.is_none_or(|trips| !live.contains(&trips))
                && matches!(node.range, Range::UpTo { .. }))
        }
        _ => true,
    });
}
