//! Positions in a triangle: an integer that grows by a little more, or a little less, in every iteration becomes a function of the counter.
//!
//! ```text
//! for j in 0..n, at = a { for i in j + 1..n { …x[at + i - j - 1]… }; next = at + (n - j - 1) } at <- next
//! →  for j in 0..n { at = a + j * (n - 1) - j * (j - 1) / 2; … }
//! ```
//!
//! The second half of `induction`, for loops in which the growth is not the same in every iteration but a polynomial of the first degree in the counter: rows of a triangle that is stored without gaps.
//! Legal as there; sums that wrap where a part of them is negative are right in the end.

use std::collections::HashMap;

use crate::driver::Context;
use crate::transform::index;
use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Binary, Block, Carried, Function, Loop, Op, Range, Scalar, SourceId, Stmt, Substitution,
    ValueId, walk,
};

/// What an integer grows by: in the first iteration, and more in each.
struct Growth {
    first: Polynomial,
    more: i128,
}

/// Rewrites the integers that walk through triangles.
pub(super) fn triangles(function: &mut Function, cx: &mut Context<'_>) {
    let found = {
        let definitions = DefUse::new(function);
        let affine = Affine::new(function, &definitions);
        let mut found: HashMap<ValueId, Growth> = HashMap::new();
        walk(&function.body, &mut |node| {
            let Stmt::Loop(node) = node else { return };
            for carried in &node.carried {
                if let Some(growth) = growth(function, &affine, node, carried) {
                    cx.applied(node.span, "a position in a triangle is computed from the counter");
                    found.insert(carried.inside, growth);
                }
            }
        });
        found
    };
    if found.is_empty() {
        return;
    }
    let mut substitution = Substitution::default();
    let mut body = std::mem::take(&mut function.body);
    rewrite(function, &found, &mut body, &mut substitution);
    substitution.apply(&mut body);
    function.body = body;
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
}

fn growth(
    function: &Function,
    affine: &Affine<'_>,
    node: &Loop,
    carried: &Carried,
) -> Option<Growth> {
    let stored = function.checkpoints.iter().any(|(counter, _)| *counter == node.counter);
    let usize = |value: ValueId| function.ty(value) == Scalar::USIZE;
    let from_zero = affine.counted(node.counter)?.from.as_number() == Some(0);
    if !node.is_plain() || node.reversed || stored || !from_zero {
        return None;
    }
    if !usize(node.counter) || !usize(carried.inside) {
        return None;
    }
    let added = |(a, b): (&ValueId, &ValueId)| (*a == carried.inside).then_some(*b);
    let step = node.body.iter().find_map(|item| match item {
        Stmt::Let { value, op: Op::Binary(Binary::Add, a, b) } if *value == carried.next => {
            added((a, b)).or_else(|| added((b, a)))
        }
        _ => None,
    })?;
    let (more, first) = polynomial(affine, node.counter, step, 8).split(node.counter)?;
    let more = more.as_number().filter(|more| *more != 0)?;
    // Narrower integers wrap earlier.
    let fits = |symbol| usize(symbol) && affine.is_invariant(symbol, node.counter);
    let fits = first.symbols().all(fits);
    fits.then_some(Growth { first, more })
}

/// An integer as a polynomial, with differences that are not negative while a loop runs.
fn polynomial(affine: &Affine<'_>, counter: ValueId, value: ValueId, fuel: usize) -> Polynomial {
    let of = |value: ValueId| polynomial(affine, counter, value, fuel - 1);
    match affine.op(value) {
        Some(Op::Binary(sign @ (Binary::Add | Binary::Mul), a, b)) if fuel > 0 => match sign {
            Binary::Add => of(*a).plus(&of(*b)),
            _ => of(*a).times(&of(*b)),
        },
        Some(Op::Method(name, operands)) if fuel > 0 && name == "saturating_sub" => {
            let [a, b] = operands[..] else { return Polynomial::symbol(value) };
            let difference = of(a).minus(&of(b));
            match affine.extreme(&difference, counter, false) {
                Some(least) if affine.is_at_least(&least, 0) => difference,
                _ => Polynomial::symbol(value),
            }
        }
        _ => affine.of(value),
    }
}

fn rewrite(
    function: &mut Function,
    found: &HashMap<ValueId, Growth>,
    nodes: &mut Block,
    substitution: &mut Substitution,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            rewrite(function, found, inner, substitution);
        }
        let Stmt::Loop(mut inner) = node else {
            out.push(node);
            continue;
        };
        let Range::UpTo { to, .. } = inner.range else {
            out.push(Stmt::Loop(inner));
            continue;
        };
        let mut after = Block::new();
        for carried in std::mem::take(&mut inner.carried) {
            let Some(growth) = found.get(&carried.inside) else {
                inner.carried.push(carried);
                continue;
            };
            let first = index(function, &growth.first, &mut out);
            let grows = (carried.init, first, growth.more);
            let mut start = Block::new();
            let now = position(function, inner.counter, grows, &mut start);
            let last = position(function, to, grows, &mut after);
            for (value, other) in [(now, carried.inside), (last, carried.after)] {
                function.values[value.index()].name = function.values[other.index()].name.clone();
                substitution.value(other, value);
            }
            start.append(&mut inner.body);
            inner.body = start;
        }
        out.push(Stmt::Loop(inner));
        out.append(&mut after);
    }
    *nodes = out;
}

/// Where an integer is after so many iterations.
fn position(
    function: &mut Function,
    done: ValueId,
    (init, first, more): (ValueId, ValueId, i128),
    out: &mut Block,
) -> ValueId {
    let mut define = |op: Op| function.define(out, Scalar::USIZE, op, SourceId::NONE);
    let wrapping = |name: &str, a, b| Op::Method(name.to_owned(), vec![a, b]);
    // done * (done - 1) / 2 as a product of two integers, of which neither wraps before the whole does.
    let (one, two) = (define(Op::Int(1)), define(Op::Int(2)));
    let half = define(Op::Binary(Binary::Div, done, two));
    let before = define(wrapping("wrapping_sub", done, one));
    let odd = define(Op::Binary(Binary::BitOr, before, one));
    let triangle = define(wrapping("wrapping_mul", half, odd));
    let times = define(Op::Int(i128::from(more.unsigned_abs() as u64)));
    let triangle = define(wrapping("wrapping_mul", triangle, times));
    let straight = define(wrapping("wrapping_mul", done, first));
    let name = if more < 0 { "wrapping_sub" } else { "wrapping_add" };
    let grown = define(wrapping(name, straight, triangle));
    define(Op::Binary(Binary::Add, init, grown))
}
