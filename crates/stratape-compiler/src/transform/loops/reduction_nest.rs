//! Recognises a loop around a nest that does nothing but sum: what `interchange` and `unroll_and_jam` work on.

use stratape_ir::analysis::only_term;
use stratape_ir::{Function, Loop, Scalar, Stmt, ValueId};

/// A nest of loops that only sums.
pub(super) struct Nest<'n> {
    /// The loops, outermost first.
    pub(super) levels: Vec<&'n Loop>,
    pub(super) term: ValueId,
    pub(super) subtract: bool,
}

impl<'n> Nest<'n> {
    /// Reads a nest in which each level only hands a sum on to the next.
    pub(super) fn read(function: &Function, outermost: &'n Loop) -> Option<Self> {
        let mut levels = Vec::new();
        let mut level = outermost;
        loop {
            let [carried] = level.carried[..] else { return None };
            if !level.is_plain() || !function.ty(carried.inside).is_float() {
                return None;
            }
            levels.push(level);
            let inner = level.body.iter().position(|node| matches!(node, Stmt::Loop(_)));
            let lets = |nodes: &[Stmt]| nodes.iter().all(|node| matches!(node, Stmt::Let { .. }));
            let Some(at) = inner else {
                let term = only_term(level, &carried).filter(|_| lets(&level.body))?;
                return Some(Self { levels, term: term.value, subtract: term.subtract });
            };
            let Stmt::Loop(next) = &level.body[at] else { return None };
            let hands_on = next
                .carried
                .first()
                .is_some_and(|inner| inner.init == carried.inside && inner.after == carried.next);
            let others = uses(&level.body[..at], carried.inside);
            if !hands_on || others > 0 || at + 1 != level.body.len() || !lets(&level.body[..at]) {
                return None;
            }
            level = next;
        }
    }

    pub(super) fn innermost(&self) -> &'n Loop {
        self.levels[self.levels.len() - 1]
    }
}

/// How often nodes use a value themselves.
fn uses(nodes: &[Stmt], value: ValueId) -> usize {
    let mut uses = 0;
    for node in nodes {
        node.for_each_operand(&mut |other| uses += usize::from(other == value));
    }
    uses
}

/// The body of a loop that carries nothing, in three: before the nest, the nest, after it.
pub(super) fn parts<'n>(
    function: &Function,
    node: &'n Loop,
) -> Option<(&'n [Stmt], &'n Loop, &'n [Stmt])> {
    let plain = node.carried.is_empty()
        && node.is_plain()
        && !node.reversed
        && function.ty(node.counter) == Scalar::USIZE;
    if !plain {
        return None;
    }
    let at = node.body.iter().position(|node| matches!(node, Stmt::Loop(_)))?;
    let Stmt::Loop(nest) = &node.body[at] else { return None };
    let (before, after) = (&node.body[..at], &node.body[at + 1..]);
    let pure = before.iter().all(|node| matches!(node, Stmt::Let { .. }));
    let stores = after.iter().all(|node| {
        matches!(node, Stmt::Let { .. } | Stmt::Store { .. } | Stmt::Accumulate { .. })
    });
    (pure && stores).then_some((before, nest, after))
}
