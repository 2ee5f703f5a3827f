//! Splits a loop in two, so that its ordered sums can be jammed: one that sums, one that does the rest.
//!
//! ```text
//! for i in 0..n { s = b[i]; for j in 0..m { s += w[m * i + j] * x[j] }; y = tanh(s); push y; out[i] = y }
//! →  for i in 0..n { s = b[i]; for j in 0..m { s += w[m * i + j] * x[j] }; sums[i] = s }
//!    for i in 0..n { y = tanh(sums[i]); push y; out[i] = y }
//! ```
//!
//! Legal where the rest writes nothing that the sums are computed from, and where each iteration has an element of some list to itself, so that the list of sums need not be longer. What panics before a sum does so in the first loop.

use std::collections::HashSet;

use super::{is_own, rows};
use crate::driver::Target;
use crate::transform::canonical::written;
use crate::transform::loops::reduction_nest::parts;
use crate::transform::loops::{find_loops, replace_loops};
use crate::transform::memory::table;
use stratape_ir::analysis::Affine;
use stratape_ir::{
    Binary, Block, Function, Half, Init, Loop, ObjectId, Op, Place, Polynomial, Range, Scalar,
    Step, Stmt, Substitution, Type, ValueId, copy, made, swapped, walk,
};

/// A body in three, where the first may check something and the last do anything: what is before the nest, the nest, what is after it.
type Parts<'n> = (&'n [Stmt], &'n Loop, &'n [Stmt]);

/// Splits the loops of which the first half can be jammed, but for those inside parallel loops.
pub(super) fn split(function: &mut Function, divided: &HashSet<ValueId>, target: &Target) {
    let found = find_loops(function, |affine, node| {
        if divided.contains(&node.counter) || parts(function, node).is_some() {
            return None;
        }
        let (before, nest, after) = any_parts(function, node)?;
        let on_tape = after.iter().any(|item| item.uses_tape(Half::Forward));
        if !on_tape || !is_independent(affine, node, (before, nest, after)) {
            return None;
        }
        rows(function, affine, node, (before, nest, &[]), target)?;
        walked(affine, node)
    });
    let mut body = std::mem::take(&mut function.body);
    replace_loops(&mut body, &found, &mut |node, walked| halves(function, node, *walked));
    function.body = body;
}

/// The parts of the loop that sums.
pub(super) fn sums_alone<'n>(function: &Function, node: &'n Loop) -> Option<Parts<'n>> {
    let (before, nest, after) = any_parts(function, node)?;
    let stores = after.iter().all(|item| matches!(item, Stmt::Let { .. } | Stmt::Store { .. }));
    stores.then_some((before, nest, after))
}

fn any_parts<'n>(function: &Function, node: &'n Loop) -> Option<Parts<'n>> {
    let plain = node.carried.is_empty()
        && node.is_plain()
        && !node.reversed
        && node.schedule.is_none()
        && function.ty(node.counter) == Scalar::USIZE;
    let at = node.body.iter().position(|item| matches!(item, Stmt::Loop(_)))?;
    let Stmt::Loop(nest) = &node.body[at] else { return None };
    let (before, after) = (&node.body[..at], &node.body[at + 1..]);
    let pure = before.iter().all(|item| matches!(item, Stmt::Let { .. } | Stmt::Check { .. }));
    (plain && pure).then_some((before, nest, after))
}

/// Whether what comes after the sums writes nothing that they are computed from: other objects, or a part of a list that lies before or behind all that they read of it.
fn is_independent(affine: &Affine<'_>, node: &Loop, (before, nest, after): Parts<'_>) -> bool {
    let written = written(&after.to_vec());
    let mut stores: Vec<&Place> = Vec::new();
    let mut elsewhere = HashSet::new();
    for item in after {
        match item {
            Stmt::Store { place, .. } => stores.push(place),
            item => elsewhere.extend(written_by(item)),
        }
    }
    let span = |place: &Place, loops: &[ValueId]| {
        let [Step::Index(at)] = place.path[..] else { return None };
        affine.extremes(&affine.of(at), loops)
    };
    let below = |a: &Polynomial, b: &Polynomial| affine.is_at_least(&b.minus(a), 1);
    let apart = |read: &Place, store: &Place| {
        let (Some(read), Some(store)) =
            (span(read, &[node.counter, nest.counter]), span(store, &[node.counter]))
        else {
            return false;
        };
        below(&read.1, &store.0) || below(&store.1, &read.0)
    };
    let mut independent = true;
    let mut read = |item: &Stmt| {
        for place in item.read() {
            independent &= !written.contains(&place.object)
                || !elsewhere.contains(&place.object)
                    && stores
                        .iter()
                        .all(|store| store.object != place.object || apart(place, store));
        }
    };
    before.iter().for_each(&mut read);
    walk(&nest.body, &mut |item| read(item));
    independent
}

/// What a statement writes, with the blocks inside it.
fn written_by(item: &Stmt) -> HashSet<ObjectId> {
    written(&vec![item.clone()])
}

/// A list of which each iteration needs an element of its own: there are no more iterations than elements, or one panics. So many sums are enough.
fn walked(affine: &Affine<'_>, node: &Loop) -> Option<ObjectId> {
    let made = made(&node.body);
    let accessed = node.body.iter().find_map(|item| match item {
        Stmt::Let { op: Op::Load(place), .. } | Stmt::Store { place, .. }
            if is_own(affine, node.counter, place) && !made.contains(&place.object) =>
        {
            Some(place.object)
        }
        _ => None,
    });
    let swapped = swapped(&node.body);
    accessed.filter(|object| !swapped.contains(object))
}

/// The loop that sums, and the one that does the rest.
fn halves(function: &mut Function, node: &Loop, walked: ObjectId) -> Option<Block> {
    let Range::UpTo { from, to } = node.range else { return None };
    let (before, nest, after) = any_parts(function, node)?;
    let [sum] = nest.carried[..] else { return None };
    let (ty, span) = (function.ty(sum.after), node.span);

    let mut out = Block::new();
    let len = Op::Method("saturating_sub".to_owned(), vec![to, from]);
    let len = function.define(&mut out, Scalar::USIZE, len, span);
    let all = Op::Len(Place::whole(walked));
    let all = function.define(&mut out, Scalar::USIZE, all, span);
    let least = Op::Method("min".to_owned(), vec![len, all]);
    let len = function.define(&mut out, Scalar::USIZE, least, span);
    let zero = function.define(&mut out, ty, Op::Float(0.0, "0.0".to_owned()), span);
    let sums = table(function, "sums", Type::Vec(Box::new(Type::Scalar(ty))), node);
    function.unfilled.insert(sums);
    out.push(Stmt::New { object: sums, init: Init::Repeat(Box::new(Init::Value(zero)), len) });

    let mut first = before.to_vec();
    first.push(Stmt::Loop(Box::new(nest.clone())));
    let at = Op::Binary(Binary::Sub, node.counter, from);
    let at = function.define(&mut first, Scalar::USIZE, at, span);
    let place = Place::whole(sums).with(Step::Index(at));
    first.push(Stmt::Store { place, value: sum.after });
    let counter = function.new_value_like(node.counter);
    let (mut first, _) = copy(function, &first);
    let mut here = Substitution::default();
    here.value(node.counter, counter);
    here.apply(&mut first);
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (from, to), first, span))));

    let mut rest: Block =
        before.iter().filter(|item| matches!(item, Stmt::Let { .. })).cloned().collect();
    let at = Op::Binary(Binary::Sub, node.counter, from);
    let at = function.define(&mut rest, Scalar::USIZE, at, span);
    let place = Place::whole(sums).with(Step::Index(at));
    rest.push(Stmt::Let { value: sum.after, op: Op::Load(place) });
    rest.extend(after.iter().cloned());
    out.push(Stmt::Loop(Box::new(Loop { body: rest, ..node.clone() })));
    Some(out)
}
