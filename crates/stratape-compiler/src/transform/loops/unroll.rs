//! Unrolling: the sums of short loops are written out.
//!
//! ```text
//! s = 0.0; for d in 0..3 { r = @x[i, d] - @y[d]; s += r * r }   →   r0 = @x[i, 0] - @y[0]; …; s = 0.0 + r0 * r0 + r1 * r1 + r2 * r2
//! ```
//!
//! LLVM does the same, but derivatives are made before: what the iterations compute are then values of the loop around, which are weighed one by
//! one, and kept in registers where that loop holds both halves.
//!
//! Legal always: the statements and their order stay. Done for innermost loops that carry something and whose number of iterations is a small
//! literal, inside another loop: memory that is written there is left to loops of rows. Runs after [`small_arrays`](crate::transform::memory), which
//! unrolls what is done with local arrays, and before loops are interchanged and split.

use std::collections::{BTreeSet, HashMap};

use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::memory::Unroller;
use crate::transform::{integers, trips};
use stratape_ir::analysis::DefUse;
use stratape_ir::{Block, Function, Loop, Stmt, Substitution, ValueId, walk};

/// The pass.
pub const UNROLL: Pass = Pass {
    name: "unroll",
    after: &["small_arrays"],
    promise: Promise::SameBits,
    required: false,
    run: unroll,
};

fn unroll(function: &mut Function, cx: &mut Context<'_>) {
    let numbers = integers(&function.body);
    let mut loops = BTreeSet::new();
    walk(&function.body, &mut |node| {
        let Stmt::Loop(around) = node else { return };
        walk(&around.body, &mut |node| {
            if let Stmt::Loop(node) = node
                && is_short(function, node, &numbers, cx.target)
            {
                loops.insert(node.counter);
            }
        });
    });
    if loops.is_empty() {
        return;
    }
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && loops.contains(&node.counter)
        {
            cx.applied(node.span, "the iterations of a short loop are written out");
        }
    });
    let definitions = DefUse::new(function);
    let mut substitution = Substitution::default();
    let body = std::mem::take(&mut function.body);
    let body = blocks(function, &definitions, &loops, body, &mut substitution);
    function.body = body;
    substitution.apply(&mut function.body);
    function.results.iter_mut().for_each(|value| *value = substitution.get(*value));
}

fn is_short(
    function: &Function,
    node: &Loop,
    numbers: &HashMap<ValueId, i128>,
    target: &Target,
) -> bool {
    let Some(count) = trips(numbers, &node.range) else { return false };
    let statements =
        node.body.iter().filter(|item| !matches!(item, Stmt::Let { op, .. } if op.is_constant()));
    let only_values = node.body.iter().all(|item| matches!(item, Stmt::Let { .. }));
    let stored = function.checkpoints.iter().any(|(counter, _)| *counter == node.counter);
    (1..target.strip_iterations).contains(&count)
        && node.is_plain()
        && !stored
        && only_values
        && !node.carried.is_empty()
        && statements.count() * usize::try_from(count).unwrap_or(usize::MAX)
            <= target.short_loop_statements
}

/// Blocks with their short loops written out.
fn blocks(
    function: &mut Function,
    definitions: &DefUse,
    loops: &BTreeSet<ValueId>,
    block: Block,
    substitution: &mut Substitution,
) -> Block {
    let mut out = Block::new();
    for mut node in block {
        if matches!(&node, Stmt::Loop(inner) if loops.contains(&inner.counter)) {
            let (numbers, tables) = (HashMap::new(), HashMap::new());
            let mut unroller = Unroller { function, definitions, loops, numbers, tables };
            unroller.block(vec![node], substitution, &mut out);
            continue;
        }
        for inner in node.blocks_mut() {
            *inner = blocks(function, definitions, loops, std::mem::take(inner), substitution);
        }
        out.push(node);
    }
    out
}
