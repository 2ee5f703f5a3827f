//! Finding loops, and replacing them by other statements.

use std::collections::{HashMap, HashSet};

use stratape_ir::analysis::{Affine, DefUse};
use stratape_ir::{
    Binary, Block, Compare, Function, Loop, Op, Range, Scalar, SourceId, Stmt, ValueId, walk,
};

/// The loops that something is found for, by their counters.
pub(crate) fn find_loops<T>(
    function: &Function,
    find: impl Fn(&Affine<'_>, &Loop) -> Option<T>,
) -> HashMap<ValueId, T> {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let mut found = HashMap::new();
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && let Some(what) = find(&affine, node)
        {
            found.insert(node.counter, what);
        }
    });
    found
}

/// Puts other nodes in the place of the loops that were found.
pub(crate) fn replace_loops<T>(
    nodes: &mut Block,
    found: &HashMap<ValueId, T>,
    replace: &mut dyn FnMut(&Loop, &T) -> Option<Block>,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            replace_loops(inner, found, replace);
        }
        let replaced = match &node {
            Stmt::Loop(node) => found.get(&node.counter).and_then(|what| replace(node, what)),
            _ => None,
        };
        match replaced {
            Some(nodes) => out.extend(nodes),
            None => out.push(node),
        }
    }
    *nodes = out;
}

/// Whether a loop over a range has at least so many iterations, as a value at the end of a block.
pub(crate) fn has_room(
    function: &mut Function,
    node: &Loop,
    least: i128,
    out: &mut Block,
) -> Option<ValueId> {
    let Range::UpTo { from, to } = node.range else { return None };
    let span = node.span;
    let least = function.define(out, Scalar::USIZE, Op::Int(least), span);
    let length = Op::Method("saturating_sub".to_owned(), vec![to, from]);
    let length = function.define(out, Scalar::USIZE, length, span);
    Some(function.define(out, Scalar::Bool, Op::Compare(Compare::Ge, length, least), span))
}

/// A number so far above another, or below it.
pub(crate) fn shifted(
    function: &mut Function,
    start: ValueId,
    (sign, distance): (Binary, i128),
    span: SourceId,
    out: &mut Block,
) -> ValueId {
    if distance == 0 {
        return start;
    }
    let distance = function.define(out, Scalar::USIZE, Op::Int(distance), span);
    function.define(out, Scalar::USIZE, Op::Binary(sign, start, distance), span)
}

/// The counters of the loops that run in parallel, of those inside them, and of those around them: their memory is divided by what their
/// indices are, or would be.
pub(crate) fn parallel_loops(function: &Function) -> HashSet<ValueId> {
    fn block(nodes: &Block, inside: bool, found: &mut HashSet<ValueId>) -> bool {
        let mut any = false;
        for node in nodes {
            let mut here = false;
            let parallel = matches!(node, Stmt::Loop(node) if node.parallel.is_some());
            for inner in node.blocks() {
                here |= block(inner, inside || parallel, found);
            }
            here |= parallel;
            if let Stmt::Loop(node) = node
                && (here || inside)
            {
                found.insert(node.counter);
            }
            any |= here;
        }
        any
    }
    let mut found = HashSet::new();
    block(&function.body, false, &mut found);
    found
}
