//! Passes that make a function simpler, or a gradient faster, without changing a bit of the value, nor a panic.

mod apart;
mod bounds;
mod chain;
mod collapse;
mod distribute;
mod factor;
mod gather;
mod hoist;
mod interchange;
mod jam;
mod nest;
mod order;
mod overwrite;
mod peel;
mod promote;
mod prune;
mod reciprocal;
mod select;
mod share;
mod tabulate;
mod winner;

pub use self::apart::apart;
pub use self::bounds::bounds;
pub use self::collapse::collapse;
pub use self::distribute::distribute;
pub use self::factor::factor;
pub use self::gather::gather;
pub use self::hoist::hoist;
pub use self::interchange::interchange;
pub use self::jam::jam;
pub(crate) use self::order::adjoints_commute;
pub use self::order::order;
pub use self::overwrite::overwrite;
pub use self::peel::peel;
pub use self::promote::promote;
pub use self::prune::prune;
pub use self::reciprocal::reciprocal;
pub use self::select::select;
pub(crate) use self::share::written;
pub use self::share::{share, share_of_gradient};
pub use self::tabulate::tabulate;
pub use self::winner::winner;

use std::collections::{HashMap, HashSet};

use proc_macro2::Span;

use crate::analysis::{Affine, Definitions};
use crate::ir::{
    Binary, Block, Compare, Function, Loop, Math, Node, Op, Range, Scalar, Unary, ValueId, walk,
};

/// All of them, in the order in which they help each other.
pub fn simplify(function: &mut Function) {
    if function.plain {
        prune(function);
        return;
    }
    share(function);
    bounds(function);
    peel(function);
    share(function);
    collapse(function);
    interchange(function);
    apart(function);
    promote(function);
    hoist(function);
    share(function);
    select(function);
    share(function);
    winner(function);
    tabulate(function);
    share(function);
    prune(function);
}

/// What a gradient goes through before it is emitted.
pub fn finish(gradient: &mut Function) {
    if gradient.plain {
        prune(gradient);
        order(gradient);
        return;
    }
    share_of_gradient(gradient);
    reciprocal(gradient);
    factor(gradient);
    prune(gradient);
    // Once for the loops that are gathered, and in the end for those that were made.
    order(gradient);
    gather(gradient);
    overwrite(gradient);
    distribute(gradient);
    jam(gradient);
    share_of_gradient(gradient);
    prune(gradient);
    order(gradient);
}

/// The loops that something is found for, by their counters.
fn find_loops<T>(
    function: &Function,
    find: impl Fn(&Affine<'_>, &Loop) -> Option<T>,
) -> HashMap<ValueId, T> {
    let definitions = Definitions::new(function);
    let affine = Affine::new(function, &definitions);
    let mut found = HashMap::new();
    walk(&function.body, &mut |node| {
        if let Node::Loop(node) = node
            && let Some(what) = find(&affine, node)
        {
            found.insert(node.counter, what);
        }
    });
    found
}

/// Puts other nodes in the place of the loops that were found.
fn replace_loops<T>(
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
            Node::Loop(node) => found.get(&node.counter).and_then(|what| replace(node, what)),
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
fn has_room(function: &mut Function, node: &Loop, least: i128, out: &mut Block) -> Option<ValueId> {
    let Range::UpTo { from, to } = node.range else { return None };
    let span = node.span;
    let least = function.define(out, Scalar::USIZE, Op::Int(least), span);
    let length = Op::Method("saturating_sub".to_owned(), vec![to, from]);
    let length = function.define(out, Scalar::USIZE, length, span);
    Some(function.define(out, Scalar::Bool, Op::Compare(Compare::Ge, length, least), span))
}

/// A number so far above another, or below it.
fn shifted(
    function: &mut Function,
    start: ValueId,
    (sign, distance): (Binary, i128),
    span: Span,
    out: &mut Block,
) -> ValueId {
    if distance == 0 {
        return start;
    }
    let distance = function.define(out, Scalar::USIZE, Op::Int(distance), span);
    function.define(out, Scalar::USIZE, Op::Binary(sign, start, distance), span)
}

/// Whether a function has loops that run in parallel.
fn has_parallel_loops(function: &Function) -> bool {
    let mut found = function.parallel;
    walk(&function.body, &mut |node| {
        found |= matches!(node, Node::Loop(node) if node.parallel.is_some());
    });
    found
}

/// The integers that are literals.
pub(crate) fn integers(block: &Block) -> HashMap<ValueId, i128> {
    let mut integers = HashMap::new();
    walk(block, &mut |node| {
        if let Node::Let { value, op: Op::Int(number) } = node {
            integers.insert(*value, *number);
        }
    });
    integers
}

/// Whether a range of literals holds something.
pub(crate) fn runs(integers: &HashMap<ValueId, i128>, from: ValueId, to: ValueId) -> bool {
    matches!((integers.get(&from), integers.get(&to)), (Some(from), Some(to)) if from < to)
}

/// Whether computing an operation in vain does no harm but its time: it cannot panic.
pub(crate) fn is_total(op: &Op, ty: Scalar) -> bool {
    match op {
        Op::Float(..) | Op::Int(_) | Op::Bool(_) | Op::Const(_) | Op::Len(_) => true,
        Op::Unary(Unary::Not, _)
        | Op::Compare(..)
        | Op::TotalCmp { .. }
        | Op::Cast(..)
        | Op::Select(..) => true,
        Op::Unary(Unary::Neg, _) => ty.is_float(),
        Op::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor, ..) => true,
        Op::Binary(..) => ty.is_float(),
        Op::Math(Math::Clamp, _) | Op::Load(_) => false,
        Op::Math(..) => true,
        Op::Method(name, _) => matches!(
            name.as_str(),
            "min"
                | "max"
                | "saturating_add"
                | "saturating_sub"
                | "saturating_mul"
                | "wrapping_add"
                | "wrapping_sub"
                | "wrapping_mul"
                | "is_nan"
                | "is_finite"
                | "is_infinite"
                | "is_sign_negative"
                | "is_sign_positive"
                | "count_ones"
                | "leading_zeros"
                | "trailing_zeros"
                | "is_power_of_two"
                | "signum"
        ),
    }
}

/// The floats that are made of finite literals, constants and integers alone: no derivative passes through them.
pub(crate) fn literals(function: &Function, block: &Block) -> HashSet<ValueId> {
    let mut literals = HashSet::new();
    walk(block, &mut |node| {
        let Node::Let { value, op } = node else { return };
        let known = match op {
            Op::Float(number, _) => number.is_finite(),
            Op::Const(tokens) => {
                let text = tokens.to_string();
                !text.ends_with("INFINITY") && !text.ends_with("NAN")
            }
            Op::Cast(a, _) => matches!(function.ty(*a), Scalar::Int(_)) || literals.contains(a),
            Op::Unary(Unary::Neg, a) => literals.contains(a),
            Op::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div, a, b) => {
                literals.contains(a) && literals.contains(b)
            }
            _ => false,
        };
        if known && !matches!(function.ty(*value), Scalar::Int(_)) {
            literals.insert(*value);
        }
    });
    literals
}

/// Whether an operation is a product of two floats that only the run knows. Each is the derivative by the other, and may be
/// infinite where the product is not wanted; zero times it would be no number.
pub(crate) fn is_product(op: &Op, ty: Scalar, literals: &HashSet<ValueId>) -> bool {
    let unknown = |value: &ValueId| !literals.contains(value);
    match op {
        Op::Binary(Binary::Mul, a, b) => ty.is_float() && unknown(a) && unknown(b),
        Op::Math(Math::MulAdd, args) => {
            args.iter().take(2).filter(|value| unknown(value)).count() > 1
        }
        _ => false,
    }
}

/// Whether an operation costs so little that doing it in vain is better than a branch.
pub(crate) fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Binary(Binary::Div | Binary::Rem, ..) => false,
        Op::Math(function, _) => matches!(
            function,
            Math::Abs
                | Math::Min
                | Math::Max
                | Math::Copysign
                | Math::Signum
                | Math::Floor
                | Math::Ceil
                | Math::Trunc
        ),
        _ => true,
    }
}
