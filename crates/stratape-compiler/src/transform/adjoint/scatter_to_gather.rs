//! Turns the scatter `d[i ± k] += …`, the adjoint of a stencil, into a gather.
//!
//! ```text
//! for i in a..b { d[i - 1] += f(i); d[i] += g(i); d[i + 1] += h(i) }
//! →  the elements at both ends as before;  for m in a+1..b-1 { d[m] += f(m + 1) + g(m) + h(m - 1) }
//! ```
//!
//! Each element is then read and written once, and iterations no longer touch each other's memory, so that LLVM vectorises the loop.
//!
//! Legal for an unordered loop that carries nothing, where `d` is not stored to and not read (or only on the other side of a [`Split`]), and
//! what is added is computed from memory that the loop does not write. Each term is computed once per neighbour, so it must be cheap
//! (`Target::gather_operations`), the distance short (`gather_distance`) and the loop long (`gather_iterations`). Runs after `reorderable`; not
//! in functions with parallel loops.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::loops::{find_loops, has_room, parallel_loops, replace_loops, shifted};
use crate::transform::{is_cheap, is_total};
use stratape_ir::analysis::{Affine, Polynomial, Split, strided};
use stratape_ir::{
    Binary, Block, Function, If, Loop, ObjectId, Op, Place, Range, Scalar, Stmt, StmtId,
    Substitution, Unary, ValueId, copy,
};

/// The pass.
pub const SCATTER_TO_GATHER: Pass = Pass {
    name: "scatter_to_gather",
    after: &["reorderable"],
    promise: Promise::AdjointBits,
    required: false,
    run: scatter_to_gather,
};

/// Turns scatters into gathers. Not where loops run in parallel: what an iteration adds at the ends of a row is no longer seen to belong to it.
fn scatter_to_gather(function: &mut Function, cx: &mut Context<'_>) {
    let (target, parallel) = (cx.target, parallel_loops(function));
    let found = find_loops(function, |affine, node| {
        if parallel.contains(&node.counter) { None } else { find(function, affine, node, target) }
    });
    let mut body = std::mem::take(&mut function.body);
    replace_loops(&mut body, &found, &mut |node, groups| {
        let parts = gathered(function, node, groups)?;
        cx.applied(node.span, "scattered additions to neighbours gathered");
        Some(parts)
    });
    function.body = body;
}

/// An addition to an element near the counter.
struct Scattered {
    /// Its position in the loop's body.
    at: usize,
    place: Place,
    value: ValueId,
    subtract: bool,
    /// How far it is below the farthest one.
    below: i128,
}

/// Additions to neighbours in one object.
type Group = Vec<Scattered>;

fn find(
    function: &Function,
    affine: &Affine<'_>,
    node: &Loop,
    target: &Target,
) -> Option<Vec<Group>> {
    let fits = node.is_plain()
        && node.carried.is_empty()
        && node.unordered
        && function.ty(node.counter) == Scalar::USIZE;
    let extent = affine.counted(node.counter)?.extent.as_ref().and_then(Polynomial::as_number);
    if !fits || extent.is_some_and(|extent| extent < target.gather_iterations) {
        return None;
    }
    let plain = |item: &Stmt| match item {
        Stmt::Let { value, op } => {
            matches!(op, Op::Load(_))
                || is_total(op, function.ty(*value))
                || matches!(function.ty(*value), Scalar::Int(_))
        }
        Stmt::Accumulate { .. } | Stmt::Store { .. } => true,
        _ => false,
    };
    if !node.body.iter().all(plain) {
        return None;
    }
    let mut objects: Vec<ObjectId> = node
        .body
        .iter()
        .filter_map(|item| match item {
            Stmt::Accumulate { place, .. } => Some(place.object),
            _ => None,
        })
        .collect();
    objects.sort_unstable();
    objects.dedup();
    let mut groups = Vec::new();
    for object in objects {
        if is_free(affine, node, object) {
            groups.extend(neighbours(affine, node, object, target));
        }
    }
    groups.retain(|group| is_worth(function, node, group, target));
    (!groups.is_empty()).then_some(groups)
}

/// Whether additions to an object can be moved within the loop: it is not read there, or elsewhere in it.
fn is_free(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> bool {
    let (mut loaded, mut stored) = (false, false);
    for item in &node.body {
        match item {
            Stmt::Let { op: Op::Load(place), .. } => loaded |= place.object == object,
            Stmt::Store { place, .. } => stored |= place.object == object,
            _ => {}
        }
    }
    !stored
        && (!loaded || Split::find(affine, node, object).is_some_and(|split| !split.others_read))
}

/// The additions to an object, in groups a known distance apart.
fn neighbours(affine: &Affine<'_>, node: &Loop, object: ObjectId, target: &Target) -> Vec<Group> {
    let mut groups: Vec<(Polynomial, Group)> = Vec::new();
    for (at, item) in node.body.iter().enumerate() {
        let Stmt::Accumulate { place, value, subtract } = item else { continue };
        if place.object != object || place.path.len() != 1 {
            continue;
        }
        let Some((1, base)) = strided(affine, node.counter, place) else { continue };
        let mut one =
            Scattered { at, place: place.clone(), value: *value, subtract: *subtract, below: 0 };
        // Below the first of a group, for now.
        let near = |first: &Polynomial| {
            first
                .minus(&base)
                .as_number()
                .filter(|distance| distance.abs() <= target.gather_distance / 2)
        };
        match groups.iter_mut().find_map(|(first, group)| Some((near(first)?, group))) {
            Some((below, group)) => {
                one.below = below;
                group.push(one);
            }
            None => groups.push((base, vec![one])),
        }
    }
    groups.into_iter().filter_map(|(_, group)| measured(group)).collect()
}

/// A group with its distances from the farthest, if there are any.
fn measured(mut group: Group) -> Option<Group> {
    let farthest = group.iter().map(|one| one.below).min()?;
    group.iter_mut().for_each(|one| one.below -= farthest);
    group.iter().any(|one| one.below > 0).then_some(group)
}

/// The operations of the loop's body that an addition depends on: their positions, in order.
fn cone(node: &Loop, at: usize) -> Vec<usize> {
    let mut needed: HashSet<ValueId> = HashSet::new();
    node.body[at].for_each_operand(&mut |value| {
        needed.insert(value);
    });
    let mut found = Vec::new();
    for (position, item) in node.body[..at].iter().enumerate().rev() {
        let Stmt::Let { value, op } = item else { continue };
        if needed.contains(value) {
            op.for_each_operand(&mut |operand| {
                needed.insert(operand);
            });
            found.push(position);
        }
    }
    found.reverse();
    found
}

/// Whether the terms of a group are cheap to compute, from memory that the loop does not change.
fn is_worth(function: &Function, node: &Loop, group: &Group, target: &Target) -> bool {
    let stored: HashSet<ObjectId> = node
        .body
        .iter()
        .flat_map(Stmt::written)
        .map(|place| place.object)
        .filter(|object| group.iter().all(|one| one.place.object != *object))
        .collect();
    let mut all: HashSet<usize> = HashSet::new();
    for one in group {
        all.extend(cone(node, one.at));
    }
    let mut floats = 0;
    for position in all {
        let Stmt::Let { value, op } = &node.body[position] else { continue };
        match op {
            Op::Load(place) if stored.contains(&place.object) => return false,
            Op::Load(_) => {}
            op if function.ty(*value).is_float() || matches!(op, Op::Compare(..)) => {
                if !is_cheap(op) {
                    return false;
                }
                floats += 1;
            }
            _ => {}
        }
    }
    floats <= target.gather_operations
}

/// A loop, its gathered additions apart, if it is long enough for that; else as it was.
fn gathered(function: &mut Function, node: &Loop, groups: &[Group]) -> Option<Block> {
    let Range::UpTo { from, to } = node.range else { return None };
    let span = node.span;
    let widest = groups.iter().flatten().map(|one| one.below).max()?;
    let mut out = Block::new();
    let condition = has_room(function, node, 2 * widest, &mut out)?;

    let taken: HashSet<usize> = groups.iter().flatten().map(|one| one.at).collect();
    let mut then = Block::new();
    let mut rest = node.clone();
    let mut at = 0..;
    rest.body.retain(|_| at.next().is_some_and(|at| !taken.contains(&at)));
    if rest.body.iter().any(|item| !item.written().is_empty()) {
        then.extend(again(function, &Stmt::Loop(Box::new(rest))));
    }
    for group in groups {
        add_group(function, node, group, (from, to), &mut then);
    }
    let other = again(function, &Stmt::Loop(Box::new(node.clone())));
    let branch = If { id: StmtId::NONE, condition, then, other, merges: Vec::new(), span };
    out.push(Stmt::If(Box::new(branch)));
    Some(out)
}

fn again(function: &mut Function, node: &Stmt) -> Block {
    copy(function, &vec![node.clone()]).0
}

/// The loop that gathers a group, and the additions at both ends.
fn add_group(
    function: &mut Function,
    node: &Loop,
    group: &Group,
    (from, to): (ValueId, ValueId),
    out: &mut Block,
) {
    let span = node.span;
    let widest = group.iter().map(|one| one.below).max().unwrap_or(0);
    // At the beginning, what reaches below the first element that all send to.
    for number in 0..widest {
        let counter = shifted(function, from, (Binary::Add, number), span, out);
        for one in group.iter().filter(|one| number < one.below) {
            let (place, value) = sent(function, node, one, counter, out);
            out.push(Stmt::Accumulate { place, value, subtract: one.subtract });
        }
    }
    // At the end, what reaches beyond the last of them. Not after the loop: LLVM would take values out of its last iteration,
    // and no longer vectorise it.
    for before in (1..=widest).rev() {
        let counter = shifted(function, to, (Binary::Sub, before), span, out);
        for one in group.iter().filter(|one| widest - before >= one.below) {
            let (place, value) = sent(function, node, one, counter, out);
            out.push(Stmt::Accumulate { place, value, subtract: one.subtract });
        }
    }
    let counter = function.new_value_like(node.counter);
    let end = shifted(function, to, (Binary::Sub, widest), span, out);
    let mut body = Block::new();
    let mut sum: Option<(Place, ValueId)> = None;
    for one in group {
        let neighbour = shifted(function, counter, (Binary::Add, one.below), span, &mut body);
        let (place, value) = sent(function, node, one, neighbour, &mut body);
        let next = match sum {
            None if one.subtract => (Op::Unary(Unary::Neg, value), place),
            None => {
                sum = Some((place, value));
                continue;
            }
            Some((place, before)) => {
                let sign = if one.subtract { Binary::Sub } else { Binary::Add };
                (Op::Binary(sign, before, value), place)
            }
        };
        let total = function.new_value_like(value);
        function.values[total.index()].adjoint = true;
        body.push(Stmt::Let { value: total, op: next.0 });
        sum = Some((next.1, total));
    }
    if let Some((place, value)) = sum {
        body.push(Stmt::Accumulate { place, value, subtract: false });
    }
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (from, end), body, span))));
}

/// Computes what an iteration adds: where, and what.
fn sent(
    function: &mut Function,
    node: &Loop,
    one: &Scattered,
    counter: ValueId,
    out: &mut Block,
) -> (Place, ValueId) {
    let nodes: Block = cone(node, one.at).iter().map(|at| node.body[*at].clone()).collect();
    let (mut nodes, mut values) = copy(function, &nodes);
    let mut here = Substitution::default();
    here.value(node.counter, counter);
    here.apply(&mut nodes);
    out.extend(nodes);
    values.insert(node.counter, counter);
    let of = |value: ValueId| values.get(&value).copied().unwrap_or(value);
    let mut place = one.place.clone();
    place.for_each_operand_mut(&mut |index| *index = of(*index));
    (place, of(one.value))
}
