//! Slow operations that an inner loop repeats for every iteration of the outer one are done once
//! for each of its own, before both, into a table.
//!
//! `for i in … { for j in … { s += w[i * n + j] * (p[j] / 255.0) } }` divides each `p[j]` as often as there
//! are rows. Nothing changes in the numbers: the operations and their operands are the same.

use std::collections::HashMap;

use crate::driver::{Context, Pass, Promise};
use crate::transform::memory::{Chain, Outer, table};
use crate::transform::{integers, is_cheap};
use stratape_ir::{Block, Function, Init, Loop, Op, Range, Scalar, Stmt, Type, ValueId};

/// The pass.
pub const PRECOMPUTE: Pass = Pass {
    name: "precompute",
    after: &["licm"],
    promise: Promise::SameBits,
    required: false,
    run: precompute,
};

/// Makes tables.
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
        let Some(chain) = Chain::read(function, &outer, inner) else { continue };
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
            let len = Op::Method("saturating_sub".to_owned(), vec![to, from]);
            let len = function.define(before, Scalar::USIZE, len, span);
            let init = Init::Repeat(Box::new(Init::Value(zero)), len);
            before.push(Stmt::New { object, init });
            let fill = chain.fill(function, inner, value, object);
            chain.guard(function, fill, before);
        }
    }
}
