//! Loop fusion of sums: ordered sums over the same range, one after the other, become one loop.
//!
//! ```text
//! for j in 0..n { s += a[j] * x[j] }  …  for j in 0..n { t += b[j] * x[j] }
//! →  for j in 0..n { s += a[j] * x[j]; t += b[j] * x[j] }  …
//! ```
//!
//! A float sum that must keep its order runs at one addition per latency (4 cycles). Sums of one loop are independent of each other and hide each other's latency, as the
//! rows of `unroll_and_jam` do, and what they all read is loaded once. The backward loop then adds to the shadow of `x` once for all of them.
//!
//! Legal where the second loop uses nothing that the first one, or a statement in between that cannot move before it, defines, and no memory is written in between
//! that the second loop reads: both do nothing but compute values. Each sum has the terms and the order that it had. Pays inside another loop, for loops long enough that
//! LLVM does not unroll them (`Target::strip_iterations`), as long as their values fit in registers (`Target::fused_statements`). Runs after `cse` and whatever looks for
//! the shape of a single sum (`interchange`, `argmax`, `precompute`).

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::{integers, trips};
use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Block, Check, Function, Loop, ObjectId, Op, Range, Stmt, Substitution, ValueId, walk,
};

/// The pass.
pub const LOOP_FUSION: Pass = Pass {
    name: "loop_fusion",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: fuse,
};

fn fuse(function: &mut Function, cx: &mut Context<'_>) {
    let sums = sums(function, cx.target);
    if sums.len() < 2 {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    let mut substitution = Substitution::default();
    Fuser { sums: &sums, target: cx.target }.block(&mut body, false, &mut substitution, cx);
    substitution.apply(&mut body);
    function.body = body;
}

/// A loop of ordered sums: its counter, where it starts, and where it ends.
type Sums = Vec<(ValueId, Polynomial, Polynomial)>;

/// The loops that compute ordered sums and nothing else.
fn sums(function: &Function, target: &Target) -> Sums {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let numbers = integers(&function.body);
    let mut sums = Sums::new();
    walk(&function.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        let Range::UpTo { from, to } = node.range else { return };
        let short =
            trips(&numbers, &node.range).is_some_and(|trips| trips < target.strip_iterations);
        let stored = function.checkpoints.iter().any(|(counter, _)| *counter == node.counter);
        let fits = node.is_plain()
            && !node.unordered
            && !node.carried.is_empty()
            && node.carried.iter().all(|carried| function.ty(carried.inside).is_float())
            && node.body.iter().all(|item| matches!(item, Stmt::Let { .. }));
        if fits && !short && !stored {
            sums.push((node.counter, affine.of(from), affine.of(to)));
        }
    });
    sums
}

struct Fuser<'a> {
    sums: &'a Sums,
    target: &'a Target,
}

impl Fuser<'_> {
    fn block(
        &self,
        block: &mut Block,
        repeated: bool,
        substitution: &mut Substitution,
        cx: &mut Context<'_>,
    ) {
        let mut at = 0;
        while at < block.len() {
            while repeated && let Some((other, before)) = self.partner(block, at) {
                let Stmt::Loop(second) = block.remove(other) else { break };
                let mut early: Block = Vec::new();
                for index in before.into_iter().rev() {
                    early.insert(0, block.remove(index));
                }
                cx.applied(second.span, "summed in one loop with the sum before it");
                if let Stmt::Loop(first) = &mut block[at] {
                    substitution.value(second.counter, first.counter);
                    first.body.extend(second.body);
                    first.carried.extend(second.carried);
                }
                let moved = early.len();
                block.splice(at..at, early);
                at += moved;
            }
            let repeated = repeated || matches!(block[at], Stmt::Loop(_));
            for inner in block[at].blocks_mut() {
                self.block(inner, repeated, substitution, cx);
            }
            at += 1;
        }
    }

    /// The next loop that can become one with that at a position, and the positions of the statements in between that move before both.
    fn partner(&self, block: &Block, at: usize) -> Option<(usize, Vec<usize>)> {
        let Stmt::Loop(first) = &block[at] else { return None };
        let range = self.sums.iter().find(|(counter, ..)| *counter == first.counter)?;
        let mut results = HashSet::new();
        block[at].for_each_result(&mut |value| {
            results.insert(value);
        });
        let mut changed = HashSet::new();
        for (other, node) in block.iter().enumerate().skip(at + 1) {
            if let Stmt::Loop(second) = node
                && let Some(found) =
                    self.sums.iter().find(|(counter, ..)| *counter == second.counter)
                && (&found.1, &found.2) == (&range.1, &range.2)
                && first.reversed == second.reversed
                && size(first) + size(second) <= self.target.fused_statements
                && let Some(before) = before(block, (at, other), &results, &changed)
            {
                return Some((other, before));
            }
            if acts(node) {
                return None;
            }
            changed.extend(changes(node));
        }
        None
    }
}

/// The positions of what a loop uses of the statements between another one and itself, if that can move before both.
fn before(
    block: &Block,
    (first, second): (usize, usize),
    results: &HashSet<ValueId>,
    changed: &HashSet<ObjectId>,
) -> Option<Vec<usize>> {
    let mut needed = uses(&block[second]);
    let unchanged = |node: &Stmt| {
        let mut unchanged = true;
        walk(std::slice::from_ref(node), &mut |node| {
            if let Stmt::Let { op: Op::Load(place) | Op::Len(place), .. } = node {
                unchanged &= !changed.contains(&place.object);
            }
        });
        unchanged
    };
    let mut moved = Vec::new();
    let mut free = unchanged(&block[second]);
    for at in (first + 1..second).rev() {
        let mut defines = false;
        block[at].for_each_result(&mut |value| defines |= needed.contains(&value));
        if defines {
            free &= matches!(block[at], Stmt::Let { .. }) && unchanged(&block[at]);
            needed.extend(uses(&block[at]));
            moved.insert(0, at);
        }
    }
    (free && needed.is_disjoint(results)).then_some(moved)
}

/// The values that a statement and what is inside it use.
fn uses(node: &Stmt) -> HashSet<ValueId> {
    let mut values = HashSet::new();
    walk(std::slice::from_ref(node), &mut |node| {
        node.for_each_operand(&mut |value| {
            values.insert(value);
        });
    });
    values
}

/// The objects that a statement makes or may write.
fn changes(node: &Stmt) -> HashSet<ObjectId> {
    let mut objects = HashSet::new();
    walk(std::slice::from_ref(node), &mut |node| {
        objects.extend(node.written().iter().map(|place| place.object));
        if let Stmt::New { object, .. } | Stmt::Restore { object, .. } = node {
            objects.insert(*object);
        }
    });
    objects
}

/// Whether a statement does what cannot be put off: nothing passes it.
fn acts(node: &Stmt) -> bool {
    let mut acts = false;
    walk(std::slice::from_ref(node), &mut |node| {
        acts |= match node {
            Stmt::Check { check, .. } => matches!(check, Check::Assert { prints: true, .. }),
            Stmt::Let { .. }
            | Stmt::Store { .. }
            | Stmt::Accumulate { .. }
            | Stmt::New { .. }
            | Stmt::Swap { .. }
            | Stmt::Loop(_)
            | Stmt::If(_) => false,
            _ => true,
        };
    });
    acts
}

/// The operations of a loop that are not constants.
fn size(node: &Loop) -> usize {
    let counts = |item: &&Stmt| !matches!(item, Stmt::Let { op, .. } if op.is_constant());
    node.body.iter().filter(counts).count()
}
