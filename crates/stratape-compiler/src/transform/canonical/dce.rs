//! Dead-code elimination: drops values, carried values, merges and empty loops that nothing uses.
//!
//! Legal for operations that cannot panic; one that can stays, used or not. Repeated until nothing changes. Required on gradients: the reverse
//! walk leaves index arithmetic behind for adjoints that turned out to be zero.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise};
use stratape_ir::{Block, Function, Stmt, ValueId, used, walk};

/// The pass.
pub const DCE: Pass =
    Pass { name: "dce", after: &[], promise: Promise::SameBits, required: true, run: dce };

/// Drops unused values, carried values and merges.
fn dce(function: &mut Function, _cx: &mut Context<'_>) {
    loop {
        let mut wanted = used(&function.body);
        wanted.extend(function.results.iter().copied());
        let mut body = std::mem::take(&mut function.body);
        let counts = count_uses(&body, &function.results);
        let before = size(&body);
        block(function, &mut body, &wanted, &counts);
        let after = size(&body);
        function.body = body;
        if before == after {
            return;
        }
    }
}

type Counts = std::collections::HashMap<ValueId, usize>;

fn count_uses(body: &Block, results: &[ValueId]) -> Counts {
    let mut counts = Counts::new();
    walk(body, &mut |node| {
        node.for_each_operand(&mut |value| *counts.entry(value).or_default() += 1);
    });
    for result in results {
        *counts.entry(*result).or_default() += 1;
    }
    counts
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

fn block(function: &Function, nodes: &mut Block, wanted: &HashSet<ValueId>, counts: &Counts) {
    for node in nodes.iter_mut() {
        for inner in node.blocks_mut() {
            block(function, inner, wanted, counts);
        }
        match node {
            Stmt::Loop(node) => node.carried.retain(|carried| {
                let inner = counts.get(&carried.inside).copied().unwrap_or(0);
                let feeds_itself = inner == 0 || (inner == 1 && carried.next == carried.inside);
                wanted.contains(&carried.after) || !feeds_itself
            }),
            Stmt::If(node) => node.merges.retain(|merge| wanted.contains(&merge.value)),
            _ => {}
        }
    }
    nodes.retain(|node| match node {
        Stmt::Let { value, op } => {
            wanted.contains(value) || !crate::transform::is_total(op, function.ty(*value))
        }
        Stmt::If(node) => {
            !(node.then.is_empty() && node.other.is_empty() && node.merges.is_empty())
        }
        Stmt::Loop(node) => {
            !(node.body.is_empty()
                && node.carried.is_empty()
                && node.trips.is_none_or(|trips| !wanted.contains(&trips))
                && matches!(node.range, stratape_ir::Range::UpTo { .. }))
        }
        _ => true,
    });
}
