//! Marks the loops of a gradient that may run in any order.
//!
//! ```text
//! for i in 0..n reversed { dx[i] += d }   →   for i in 0..n reversed unordered { dx[i] += d }
//! ```
//!
//! The backward half runs loops from their end because adjoints of later iterations may be needed by earlier ones. Where nothing is carried but
//! sums of adjoints, and iterations meet in memory only by adding adjoints to it, they are not, and the loop can run upwards, in blocks, with
//! reassociated sums. What the mark claims, and what it needs, is in [`stratape_ir::analysis::is_reorderable`]; it is proved of the loop as it
//! stands each time the pass runs, and marks that no longer hold are removed. The validator repeats the proof, the interpreter runs marked
//! loops in shuffled orders.
//!
//! Runs after `dce`: once for `scatter_to_gather`, once more at the end for loops that were made since.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Affine, DefUse, is_reorderable};
use stratape_ir::{Block, Function, Stmt, ValueId, walk};

/// The pass.
pub const REORDERABLE: Pass = Pass {
    name: "reorderable",
    after: &["dce"],
    promise: Promise::AdjointBits,
    required: true,
    run: reorderable,
};

/// Marks them, and no others.
fn reorderable(function: &mut Function, _cx: &mut Context<'_>) {
    let mut free = HashSet::new();
    if !function.plain {
        let definitions = DefUse::new(function);
        let affine = Affine::new(function, &definitions);
        walk(&function.body, &mut |node| {
            if let Stmt::Loop(node) = node
                && is_reorderable(function, &affine, node)
            {
                free.insert(node.counter);
            }
        });
    }
    mark(&mut function.body, &free);
}

fn mark(block: &mut Block, free: &HashSet<ValueId>) {
    for node in block {
        if let Stmt::Loop(node) = node {
            node.unordered = free.contains(&node.counter);
        }
        for inner in node.blocks_mut() {
            mark(inner, free);
        }
    }
}
