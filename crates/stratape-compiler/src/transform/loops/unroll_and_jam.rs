//! Unroll-and-jam for ordered sums.
//!
//! A float sum that must keep its order runs at one addition per latency (4 cycles). Eight such sums over the same inner loop, from eight
//! iterations of the outer loop, are independent of each other: interleaving them hides the latency without changing a bit of any of them.
//!
//! ```text
//! for i in 0..n { s = b[i]; for j in 0..m { s += w[m * i + j] * x[j] } out[i] = f(s) }
//! →  for i in 0..n step 8 { s0..s7 = b[i]..b[i+7]; for j in 0..m { s0 += w[m * i + j] * x[j]; …; s7 += … } out[i]..out[i+7] = … }
//!    the remaining rows as before
//! ```
//!
//! Where an iteration does more with its sum than to store it, as one does whose result goes on the tape, the sums are taken in a loop of their own first ([`split`]).
//!
//! Legal where the outer iterations are independent (nothing is carried, each stores to an element of its own that no other reads) and the
//! inner range does not depend on `i`. Pays from `Target::jam_iterations` and up to `Target::jam_operations` float operations
//! (docs/performance.md). Done on the gradient, for sums of the primal: adjoints have no order to keep. Not inside parallel loops, whose memory
//! is divided by the form of their indices.

mod split;

use std::collections::HashSet;

use super::reduction_nest::{Nest, parts};
use super::{find_loops, replace_loops};
use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::analysis::{Affine, Polynomial, strided};
use stratape_ir::{
    Binary, Block, Carried, Function, Loop, Op, Place, Range, Scalar, Step, Stmt, Substitution,
    ValueId, copy, defined, walk,
};

/// The pass.
pub const UNROLL_AND_JAM: Pass = Pass {
    name: "unroll_and_jam",
    after: &["dce"],
    promise: Promise::SameBits,
    required: false,
    run: unroll_and_jam,
};

/// Unrolls and jams loops.
fn unroll_and_jam(function: &mut Function, cx: &mut Context<'_>) {
    let mut divided = HashSet::new();
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && node.parallel.is_some()
        {
            divided.extend(defined(&node.body));
        }
    });
    let target = cx.target;
    split::split(function, &divided, target);
    let found = find_loops(function, |affine, node| {
        if divided.contains(&node.counter) { None } else { fits(function, affine, node, target) }
    });
    let mut body = std::mem::take(&mut function.body);
    replace_loops(&mut body, &found, &mut |node, rows| {
        let rows_of = jammed(function, node, *rows)?;
        cx.applied(node.span, format!("unrolled by {rows} and jammed"));
        Some(rows_of)
    });
    function.body = body;
}

/// By how much a loop is unrolled, if it can be jammed.
fn fits(function: &Function, affine: &Affine<'_>, node: &Loop, target: &Target) -> Option<i128> {
    let parts = parts(function, node).or_else(|| split::sums_alone(function, node))?;
    rows(function, affine, node, parts, target)
}

/// The same, for the parts of its body.
fn rows(
    function: &Function,
    affine: &Affine<'_>,
    node: &Loop,
    (before, nest, after): (&[Stmt], &Loop, &[Stmt]),
    target: &Target,
) -> Option<i128> {
    let nest = Nest::read(function, nest)?;
    let [inner] = nest.levels[..] else { return None };
    let [sum] = inner.carried[..] else { return None };
    let Range::UpTo { from, to } = inner.range else { return None };
    let ordered = !function.values[sum.inside.index()].adjoint && !inner.reversed;
    let fixed = |value: ValueId| affine.is_invariant(value, node.counter);
    let size = inner.body.iter().filter(|item| is_work(function, item)).count();
    if !ordered || !fixed(from) || !fixed(to) || size > target.jam_operations {
        return None;
    }
    let trips = |counter: ValueId| affine.counted(counter)?.extent.as_ref()?.as_number();
    if trips(inner.counter).is_some_and(|trips| trips < target.jam_iterations) {
        return None;
    }
    let all = || before.iter().chain(after).chain(&inner.body);
    let stored: Vec<&Place> = after
        .iter()
        .filter_map(|item| match item {
            Stmt::Store { place, .. } => Some(place),
            _ => None,
        })
        .collect();
    let added = after.iter().any(|item| matches!(item, Stmt::Accumulate { .. }));
    let own = stored.iter().all(|place| is_own(affine, node.counter, place));
    let elsewhere = all().any(|item| match item {
        Stmt::Let { op: Op::Load(other), .. } => stored
            .iter()
            .any(|place| place.object == other.object && !is_same(affine, place, other)),
        _ => false,
    });
    let twice = (1..stored.len())
        .any(|at| stored[..at].iter().any(|place| place.object == stored[at].object));
    if added || !own || elsewhere || twice {
        return None;
    }
    match trips(node.counter) {
        Some(trips) if trips < target.jam_rows => None,
        // Nothing is left over, if possible.
        Some(trips) => Some(
            (5..=target.jam_rows).rev().find(|rows| trips % rows == 0).unwrap_or(target.jam_rows),
        ),
        None => Some(target.jam_rows),
    }
}

/// Whether a statement is an operation on floats.
fn is_work(function: &Function, node: &Stmt) -> bool {
    matches!(node, Stmt::Let { value, op } if function.ty(*value).is_float() && !op.is_constant())
}

/// Whether each iteration accesses an element of its own at a place.
fn is_own(affine: &Affine<'_>, counter: ValueId, place: &Place) -> bool {
    place.path.len() == 1 && strided(affine, counter, place).is_some_and(|(stride, _)| stride != 0)
}

fn is_same(affine: &Affine<'_>, a: &Place, b: &Place) -> bool {
    let indices = |place: &Place| -> Vec<Option<Polynomial>> {
        let of = |step: &Step| match step {
            Step::Index(index) => Some(affine.of(*index)),
            Step::Field(_) => None,
        };
        place.path.iter().map(of).collect()
    };
    a.object == b.object && indices(a) == indices(b)
}

/// A loop over several rows at once, then one over the rest.
fn jammed(function: &mut Function, node: &Loop, rows: i128) -> Option<Block> {
    let Range::UpTo { from, to } = node.range else { return None };
    let span = node.span;
    let define = |function: &mut Function, out: &mut Block, op: Op| {
        function.define(out, Scalar::USIZE, op, span)
    };
    let mut out = Block::new();
    let zero = define(function, &mut out, Op::Int(0));
    let width = define(function, &mut out, Op::Int(rows));
    let len = Op::Method("saturating_sub".to_owned(), vec![to, from]);
    let len = define(function, &mut out, len);
    let blocks = define(function, &mut out, Op::Binary(Binary::Div, len, width));
    let done = define(function, &mut out, Op::Binary(Binary::Mul, blocks, width));
    let rest = define(function, &mut out, Op::Binary(Binary::Add, from, done));

    let parts = parts(function, node).or_else(|| split::sums_alone(function, node));
    let (before, nest, after) = parts?;
    let [sum] = nest.carried[..] else { return None };
    let counter = function.new_value(Scalar::USIZE, span);
    let mut body = Block::new();
    let offset = define(function, &mut body, Op::Binary(Binary::Mul, counter, width));
    let start = define(function, &mut body, Op::Binary(Binary::Add, from, offset));
    let shared = function.new_value_like(nest.counter);
    let mut sums = Block::new();
    let mut carried = Vec::new();
    let mut ends = Block::new();
    for row in 0..rows {
        let row = define(function, &mut body, Op::Int(row));
        let row = define(function, &mut body, Op::Binary(Binary::Add, start, row));
        // What stands for the loop's values in this row.
        let mut here = Substitution::default();
        here.value(node.counter, row);
        let add = |function: &mut Function, nodes: &[Stmt], here: &mut Substitution| {
            let mut nodes = nodes.to_vec();
            here.apply(&mut nodes);
            let (nodes, values) = copy(function, &nodes);
            values.into_iter().for_each(|(from, to)| here.value(from, to));
            nodes
        };
        body.extend(add(function, before, &mut here));
        let init = here.get(sum.init);
        let (inside, last) =
            (function.new_value_like(sum.inside), function.new_value_like(sum.after));
        here.value(sum.inside, inside);
        here.value(nest.counter, shared);
        sums.extend(add(function, &nest.body, &mut here));
        carried.push(Carried { init, inside, next: here.get(sum.next), after: last });
        here.value(sum.after, last);
        ends.extend(add(function, after, &mut here));
    }
    let nest = Loop { counter: shared, carried, body: sums, ..nest.clone() };
    body.push(Stmt::Loop(Box::new(nest)));
    body.extend(ends);
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (zero, blocks), body, span))));
    let range = Range::UpTo { from: rest, to };
    out.push(Stmt::Loop(Box::new(Loop { range, ..node.clone() })));
    Some(out)
}
