//! Loop interchange for reductions: independent ordered sums are computed side by side in an array.
//!
//! ```text
//! for x { sum = b; for k { sum += w[k] * input[x + k] } out[x] = f(sum) }
//! →  for x { sums[x] = b }
//!    for k { for x { sums[x] += w[k] * input[x + k] } }
//!    for x { out[x] = f(sums[x]) }
//! ```
//!
//! Each sum keeps its order, so no bit changes, but the innermost loop now runs over independent sums and neighbours in memory, and LLVM
//! vectorises it. The reverse pass gains as much: the adjoint of `w[k]` is a sum over a row, that of `input` an addition of rows.
//!
//! Legal where the loop over `x` carries nothing and reads nothing that it writes but its own element, the bounds of the nest inside do not depend on `x`, and its
//! terms read memory at `x` plus something. Pays from `Target::interchange_iterations`; a loop that may be longer than
//! `Target::interchange_tile` runs in tiles, whose sums stay in L1. Runs after `scalar_promotion`, which makes `out[x] += …` such a sum.

use std::collections::HashSet;

use super::reduction_nest::{Nest, parts};
use super::{find_loops, parallel_loops, replace_loops};
use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::analysis::{Affine, Polynomial, strided};
use stratape_ir::{
    Binary, Block, Extent, Function, Init, Loop, Object, ObjectId, Op, Origin, Place, Range,
    Scalar, Step, Stmt, Substitution, Type, ValueId, copy,
};

/// The pass.
pub const INTERCHANGE: Pass = Pass {
    name: "interchange",
    after: &["scalar_promotion"],
    promise: Promise::SameBits,
    required: false,
    run: interchange,
};

/// Interchanges loops. Not where loops run in parallel: a row in tiles is no longer seen to belong to one iteration.
fn interchange(function: &mut Function, cx: &mut Context<'_>) {
    // Where every loop that can is to run in parallel, which ones these are is found out later.
    if function.parallel {
        return;
    }
    let (target, parallel) = (cx.target, parallel_loops(function));
    let found = find_loops(function, |affine, node| {
        let found = fits(function, affine, node, target)?;
        (!parallel.contains(&node.counter)).then_some(found)
    });
    let mut body = std::mem::take(&mut function.body);
    let mut rows = Block::new();
    replace_loops(&mut body, &found, &mut |node, trips| {
        let parts = tiled(function, node, *trips, target.interchange_tile, &mut rows)?;
        cx.applied(node.span, "interchanged with the reduction inside");
        Some(parts)
    });
    body.splice(0..0, rows);
    function.body = body;
}

/// How often a loop runs, if that is known.
type Trips = Option<i128>;

/// The values that depend on the loop's counter.
fn dependent(node: &Loop, before: &[Stmt], nest: &Nest<'_>) -> HashSet<ValueId> {
    let mut found = HashSet::from([node.counter]);
    let levels = nest.levels.iter().flat_map(|level| level.body.iter());
    for node in before.iter().chain(levels) {
        if let Stmt::Let { value, op } = node {
            let mut depends = false;
            op.for_each_operand(&mut |operand| depends |= found.contains(&operand));
            if depends {
                found.insert(*value);
            }
        }
    }
    found
}

fn fits(function: &Function, affine: &Affine<'_>, node: &Loop, target: &Target) -> Option<Trips> {
    let trips = affine.counted(node.counter)?.extent.as_ref().and_then(Polynomial::as_number);
    if trips.is_some_and(|trips| trips < target.interchange_iterations) {
        return None;
    }
    let (before, nest, after) = parts(function, node)?;
    let nest = Nest::read(function, nest)?;
    let dependent = dependent(node, before, &nest);
    let written: Vec<&Place> = after.iter().flat_map(Stmt::written).collect();
    let mut reads_rows = false;
    for (depth, level) in nest.levels.iter().enumerate() {
        let Range::UpTo { from, to } = level.range else { return None };
        if dependent.contains(&from) || dependent.contains(&to) {
            return None;
        }
        let is_innermost = depth + 1 == nest.levels.len();
        for item in &level.body {
            let Stmt::Let { value, op } = item else { continue };
            if !dependent.contains(value) {
                continue;
            }
            match op {
                // Memory at the counter plus something, in the innermost loop alone.
                Op::Load(place) => {
                    let (last, rest) = place.path.split_last()?;
                    let Step::Index(index) = last else { return None };
                    let (factor, _) = affine.of(*index).split(node.counter)?;
                    let others = rest.iter().any(
                        |step| matches!(step, Step::Index(index) if dependent.contains(index)),
                    );
                    if factor.as_number() != Some(1) || others || !is_innermost {
                        return None;
                    }
                    reads_rows = true;
                }
                _ if function.ty(*value).is_float() && !is_innermost => return None,
                Op::Math(..) => return None,
                _ => {}
            }
        }
    }
    // An iteration may read the element it will store to, before its sum.
    let is_own = |place: &Place| {
        let mut others = written.iter().filter(|other| other.object == place.object);
        let own = strided(affine, node.counter, place).is_some_and(|(stride, _)| stride != 0);
        own && place.path.len() == 1 && others.all(|other| *other == place)
    };
    let is_written = |place: &Place| written.iter().any(|other| other.object == place.object);
    let reads = |item: &Stmt, own_too: bool| match item {
        Stmt::Let { op: Op::Load(place), .. } => is_written(place) && !(own_too && is_own(place)),
        Stmt::Let { op: Op::Len(place), .. } => is_written(place),
        _ => false,
    };
    let mut inside = after.iter().chain(nest.levels.iter().flat_map(|level| &level.body));
    let reads_its_own =
        before.iter().any(|item| reads(item, true)) || inside.any(|item| reads(item, false));
    (reads_rows && !reads_its_own).then_some(trips)
}

/// A loop as three, in tiles if it may be long; the memory of the sums goes to `rows`.
fn tiled(
    function: &mut Function,
    node: &Loop,
    trips: Trips,
    tile_len: i128,
    rows: &mut Block,
) -> Option<Block> {
    let len = trips.filter(|trips| *trips <= tile_len);
    let (span, usize) = (node.span, Scalar::USIZE);
    let Some(len) = len else {
        let Range::UpTo { from, to } = node.range else { return None };
        let define = |function: &mut Function, out: &mut Block, op: Op| {
            function.define(out, usize, op, span)
        };
        let mut out = Block::new();
        let tile = define(function, &mut out, Op::Int(tile_len));
        let zero = define(function, &mut out, Op::Int(0));
        let len = Op::Method("saturating_sub".to_owned(), vec![to, from]);
        let len = define(function, &mut out, len);
        let last = define(function, &mut out, Op::Int(tile_len - 1));
        let most = Op::Method("saturating_add".to_owned(), vec![len, last]);
        let most = define(function, &mut out, most);
        let tiles = define(function, &mut out, Op::Binary(Binary::Div, most, tile));
        let counter = function.new_value(usize, span);
        let mut body = Block::new();
        let offset = define(function, &mut body, Op::Binary(Binary::Mul, tile, counter));
        let start = define(function, &mut body, Op::Binary(Binary::Add, from, offset));
        let left = define(function, &mut body, Op::Binary(Binary::Sub, to, start));
        let count = Op::Method("min".to_owned(), vec![left, tile]);
        let count = define(function, &mut body, count);
        let end = define(function, &mut body, Op::Binary(Binary::Add, start, count));
        let part = Loop { range: Range::UpTo { from: start, to: end }, ..node.clone() };
        body.extend(exchanged(function, &part, tile_len, rows)?);
        out.push(Stmt::Loop(Box::new(Loop::over(counter, (zero, tiles), body, span))));
        return Some(out);
    };
    exchanged(function, node, len, rows)
}

/// A loop of at most `len` iterations, which runs, as three.
fn exchanged(function: &mut Function, node: &Loop, len: i128, rows: &mut Block) -> Option<Block> {
    let (before, nest, after) = parts(function, node)?;
    let nest = Nest::read(function, nest)?;
    let dependent = dependent(node, before, &nest);
    let Range::UpTo { from, .. } = node.range else { return None };
    let [sum] = nest.levels[0].carried[..] else { return None };
    let ty = function.ty(sum.after);
    let name = function.values[sum.after.index()].name.clone().unwrap_or_else(|| "sum".to_owned());
    let span = node.span;
    let object = function.new_object(Object {
        ty: Type::Array(Box::new(Type::Scalar(ty)), Extent::Known(len as usize)),
        origin: Origin::Local,
        name: format!("{name}s"),
        shadow_of: None,
        span,
    });
    let zero = function.new_value(ty, span);
    rows.push(Stmt::Let { value: zero, op: Op::Float(0.0, "0.0".to_owned()) });
    rows.push(Stmt::New { object, init: Init::Fill(Box::new(Init::Value(zero))) });

    // The first values.
    let mut body = before.to_vec();
    let place = sum_at(function, object, node.counter, from, &mut body);
    body.push(Stmt::Store { place, value: sum.init });
    let first = renamed(function, node, &body);

    // The sums: what does not depend on the counter stays where it was, the rest goes into the loop inside.
    let innermost = nest.innermost();
    let mut body: Block = before.iter().filter(|item| depends(item, &dependent)).cloned().collect();
    for level in &nest.levels {
        let moved = level.body.iter().filter(|item| depends(item, &dependent));
        let own = level.carried.first().map(|carried| carried.next);
        body.extend(
            moved
                .filter(|item| !matches!(item, Stmt::Let { value, .. } if Some(*value) == own))
                .cloned(),
        );
    }
    let place = sum_at(function, object, node.counter, from, &mut body);
    body.push(Stmt::Accumulate { place, value: nest.term, subtract: nest.subtract });
    let row = renamed(function, node, &body);
    let next = innermost.carried.first().map(|carried| carried.next);
    let mut inner: Block = invariant(&innermost.body, &dependent)
        .filter(|item| !matches!(item, Stmt::Let { value, .. } if Some(*value) == next))
        .cloned()
        .collect();
    inner.push(row);
    let mut sums =
        Stmt::Loop(Box::new(Loop { carried: Vec::new(), body: inner, ..innermost.clone() }));
    for level in nest.levels.iter().rev().skip(1) {
        let mut body: Block = invariant(&level.body, &dependent).cloned().collect();
        body.push(sums);
        sums = Stmt::Loop(Box::new(Loop { carried: Vec::new(), body, ..(*level).clone() }));
    }

    // What is done with them.
    let mut body = before.to_vec();
    let place = sum_at(function, object, node.counter, from, &mut body);
    body.push(Stmt::Let { value: sum.after, op: Op::Load(place) });
    body.extend(after.iter().cloned());
    let last = Stmt::Loop(Box::new(Loop { body, ..node.clone() }));

    // Values before the nest that do not depend on the counter, for those of its operations that use them.
    let mut nodes: Block =
        before.iter().filter(|item| !depends(item, &dependent)).cloned().collect();
    nodes.push(sums);
    let (nodes, _) = copy(function, &nodes);
    let mut out = vec![first];
    out.extend(nodes);
    out.push(last);
    Some(out)
}

fn depends(node: &Stmt, dependent: &HashSet<ValueId>) -> bool {
    matches!(node, Stmt::Let { value, .. } if dependent.contains(value))
}

/// The operations of a level that do not depend on the counter.
fn invariant<'n>(
    body: &'n Block,
    dependent: &'n HashSet<ValueId>,
) -> impl Iterator<Item = &'n Stmt> {
    body.iter().filter(|item| matches!(item, Stmt::Let { .. }) && !depends(item, dependent))
}

/// The place of a counter's sum.
fn sum_at(
    function: &mut Function,
    object: ObjectId,
    counter: ValueId,
    from: ValueId,
    out: &mut Block,
) -> Place {
    let span = function.values[counter.index()].span;
    let index = Op::Binary(Binary::Sub, counter, from);
    let index = function.define(out, Scalar::USIZE, index, span);
    Place::whole(object).with(Step::Index(index))
}

/// The loop with another body, in which all that is defined is new.
fn renamed(function: &mut Function, node: &Loop, body: &Block) -> Stmt {
    let (mut body, _) = copy(function, body);
    let counter = function.new_value_like(node.counter);
    let mut substitution = Substitution::default();
    substitution.value(node.counter, counter);
    substitution.apply(&mut body);
    Stmt::Loop(Box::new(Loop { counter, body, ..node.clone() }))
}
