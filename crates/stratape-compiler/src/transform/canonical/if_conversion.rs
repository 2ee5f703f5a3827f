//! If-conversion: a branch that only chooses between values becomes selections, which vectorise.
//!
//! ```text
//! if c { a = x * 2.0 } else { b = -x } merge m = a | b   →   a = x * 2.0; b = -x; m = if c then a else b
//! ```
//!
//! A selection computes both arms, and its adjoint hands zero to the arm that was not taken. Zero times a derivative must be zero there, so no
//! operation leaves a branch whose derivative may be infinite or NaN where the branch would not have executed it: products of two values stay,
//! as do quotients, roots and library functions, which are not cheap. Pays up to `Target::if_conversion_operations` operations. Runs after
//! `licm`.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::{is_product, literals};
use stratape_ir::{Block, Function, If, Op, Stmt, ValueId};

/// The pass.
pub const IF_CONVERSION: Pass = Pass {
    name: "if_conversion",
    after: &["licm"],
    promise: Promise::SameBits,
    required: false,
    run: if_conversion,
};

/// Turns small branches into selections.
fn if_conversion(function: &mut Function, cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let literals = literals(function, &body);
    block(function, &mut body, &literals, cx.target);
    function.body = body;
}

fn block(function: &Function, nodes: &mut Block, literals: &HashSet<ValueId>, target: &Target) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, inner, literals, target);
        }
        match node {
            Stmt::If(branch) if is_small(function, &branch, literals, target) => {
                let branch = *branch;
                out.extend(branch.then);
                out.extend(branch.other);
                out.extend(branch.merges.into_iter().map(|merge| Stmt::Let {
                    value: merge.value,
                    op: Op::Select(branch.condition, merge.then, merge.other),
                }));
            }
            node => out.push(node),
        }
    }
    *nodes = out;
}

fn is_small(
    function: &Function,
    branch: &If,
    literals: &HashSet<ValueId>,
    target: &Target,
) -> bool {
    let (then, other) = (&branch.then, &branch.other);
    let mut count = 0;
    then.iter().chain(other).all(|node| match node {
        Stmt::Let { value, op } => {
            count += usize::from(!op.is_constant());
            crate::transform::is_total(op, function.ty(*value))
                && crate::transform::is_cheap(op)
                && !is_product(op, function.ty(*value), literals)
                && count <= target.if_conversion_operations
        }
        _ => false,
    })
}
