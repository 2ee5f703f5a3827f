//! Precomputes slow operations of an inner loop that every iteration of the outer loop would repeat, into a table.
//!
//! ```text
//! for i { for j in 0..m { s += w[i * m + j] * (p[j] / 255.0) } }
//! →  for j in 0..m { q[j] = p[j] / 255.0 }   for i { for j in 0..m { s += w[i * m + j] * q[j] } }
//! ```
//!
//! Operations and operands are the same, so no bit changes. Legal for a chain of operations that depends on the inner counter and on nothing
//! the outer loop changes ([`invariant_slice`](super::invariant_slice)); the table is filled only if the outer loop runs. Pays where the chain
//! holds a division or a library function (docs/performance.md: nn). Runs after `licm`.

use std::collections::HashMap;

use crate::driver::{Context, Pass, Promise};
use crate::transform::memory::{InvariantSlice, Outer, table};
use crate::transform::{integers, is_cheap};
use stratape_ir::{Block, Function, Init, Loop, Op, Range, Stmt, Type, ValueId};

/// The pass.
pub const PRECOMPUTE: Pass = Pass {
    name: "precompute",
    after: &["licm"],
    promise: Promise::SameBits,
    required: false,
    run: precompute,
};

/// Precomputes into tables.
fn precompute(function: &mut Function, cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let integers = integers(&body);
    block(function, &mut body, &integers, cx);
    function.body = body;
}

fn block(
    function: &mut Function,
    nodes: &mut Block,
    integers: &HashMap<ValueId, i128>,
    cx: &mut Context<'_>,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        if let Stmt::Loop(outer) = &mut node {
            tables(function, outer, integers, &mut out, cx);
        }
        for inner in node.blocks_mut() {
            block(function, inner, integers, cx);
        }
        out.push(node);
    }
    *nodes = out;
}

/// Makes the tables of the loops directly inside a loop.
fn tables(
    function: &mut Function,
    node: &mut Loop,
    integers: &HashMap<ValueId, i128>,
    before: &mut Block,
    cx: &mut Context<'_>,
) {
    let Some(outer) = Outer::read(node, integers) else { return };
    for item in &mut node.body {
        let Stmt::Loop(inner) = item else { continue };
        let Range::UpTo { from, to } = inner.range else { continue };
        let Some(chain) = InvariantSlice::read(function, &outer, inner) else { continue };
        for value in chain.wanted(function, inner) {
            if !chain.has(value, &|op| !is_cheap(op)) {
                continue;
            }
            let (ty, span) = (function.ty(value), inner.span);
            cx.applied(
                span,
                "operations that every outer iteration repeats are done once, into a table",
            );
            let name = function.values[value.index()].name.clone();
            let name = name.as_deref().unwrap_or("table");
            let object = table(function, name, Type::Vec(Box::new(Type::Scalar(ty))), inner);
            let zero = function.define(before, ty, Op::Float(0.0, "0.0".to_owned()), span);
            let len = chain.table_len(function, (from, to), value, before);
            let init = Init::Repeat(Box::new(Init::Value(zero)), len);
            before.push(Stmt::New { object, init });
            let fill = chain.fill(function, inner, value, object);
            chain.guard(function, fill, before);
        }
    }
}
