//! Bounds-check elimination for checks that the range of a loop implies.
//!
//! ```text
//! for j in 0..n { check j < n; a = x[j]; … }   →   for j in 0..n { a = x[j]; … }
//! ```
//!
//! Such checks come from `let row = &x[a..b]; … row[j] …`: the front end resolves the slice to an offset and keeps its bounds as a check.
//!
//! Legal when both are numbers (of a loop that was unrolled), or the index is the counter of an enclosing loop plus some polynomial, and the end of
//! the loop's range plus the same polynomial is at most the length. Pays because a loop that contains a check has no views (`strip_mine`). Runs after `cse`, so that equal lengths are one
//! value.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Affine, DefUse};
use stratape_ir::{Block, Check, Function, Range, Scalar, Stmt, ValueId};

/// The pass.
pub const BOUNDS: Pass = Pass {
    name: "bounds",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: bounds,
};

/// Drops checks that always hold.
fn bounds(function: &mut Function, _cx: &mut Context<'_>) {
    let needless = {
        let definitions = DefUse::new(function);
        let affine = Affine::new(function, &definitions);
        let mut finder = Finder { function, affine: &affine, needless: HashSet::new() };
        finder.block(&function.body, &mut Vec::new());
        finder.needless
    };
    drop_from(&mut function.body, &needless);
}

struct Finder<'a> {
    function: &'a Function,
    affine: &'a Affine<'a>,
    /// Index and length of checks that always hold where they stand.
    needless: HashSet<(ValueId, ValueId)>,
}

impl Finder<'_> {
    fn block(&mut self, block: &Block, around: &mut Vec<(ValueId, ValueId)>) {
        for node in block {
            if let Stmt::Check { check: Check::Bounds { index, len }, .. } = node
                && self.holds(*index, *len, around)
            {
                self.needless.insert((*index, *len));
            }
            if let Stmt::Loop(node) = node {
                let counted = match node.range {
                    Range::UpTo { to, .. } if self.function.ty(node.counter) == Scalar::USIZE => {
                        Some(to)
                    }
                    _ => None,
                };
                around.extend(counted.map(|to| (node.counter, to)));
                self.block(&node.body, around);
                around.truncate(around.len() - usize::from(counted.is_some()));
            } else {
                for inner in node.blocks() {
                    self.block(inner, around);
                }
            }
        }
    }

    /// Whether index and length are numbers that agree; or the index is a counter plus something, and the end of its range plus that is at
    /// most the length.
    fn holds(&self, index: ValueId, len: ValueId, around: &[(ValueId, ValueId)]) -> bool {
        let (index, len) = (self.affine.of(index), self.affine.of(len));
        if let (Some(index), Some(len)) = (index.as_number(), len.as_number()) {
            return 0 <= index && index < len;
        }
        around.iter().any(|(counter, to)| {
            let Some((factor, rest)) = index.split(*counter) else { return false };
            factor.as_number() == Some(1)
                && self.affine.is_at_least(&len.minus(&self.affine.of(*to)).minus(&rest), 0)
        })
    }
}

fn drop_from(block: &mut Block, needless: &HashSet<(ValueId, ValueId)>) {
    block.retain(|node| {
        !matches!(node, Stmt::Check { check: Check::Bounds { index, len }, .. }
            if needless.contains(&(*index, *len)))
    });
    for node in block {
        for inner in node.blocks_mut() {
            drop_from(inner, needless);
        }
    }
}
