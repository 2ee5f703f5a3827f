//! Slow operations that an inner loop repeats for every iteration of the outer one are done once
//! for each of its own, before both, into a table.
//!
//! `for i in … { for j in … { s += w[i * n + j] * (p[j] / 255.0) } }` divides each `p[j]` as often as there
//! are rows. Nothing changes in the numbers: the operations and their operands are the same.

use std::collections::HashMap;

use super::chain::{Chain, Outer, table};
use super::{integers, is_cheap};
use crate::ir::{Block, Function, Init, Loop, Node, Op, Range, Scalar, Type, ValueId};

/// Makes tables.
pub fn tabulate(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let integers = integers(&body);
    block(function, &mut body, &integers);
    function.body = body;
}

fn block(function: &mut Function, nodes: &mut Block, integers: &HashMap<ValueId, i128>) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        if let Node::Loop(outer) = &mut node {
            tables(function, outer, integers, &mut out);
        }
        for inner in node.blocks_mut() {
            block(function, inner, integers);
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
) {
    let Some(outer) = Outer::read(node, integers) else { return };
    for item in &mut node.body {
        let Node::Loop(inner) = item else { continue };
        let Range::UpTo { from, to } = inner.range else { continue };
        let Some(chain) = Chain::read(function, &outer, inner) else { continue };
        for value in chain.wanted(function, inner) {
            if !chain.has(value, &|op| !is_cheap(op)) {
                continue;
            }
            let (ty, span) = (function.ty(value), inner.span);
            let name = function.values[value.index()].name.clone();
            let name = name.as_deref().unwrap_or("table");
            let object = table(function, name, Type::Vec(Box::new(Type::Scalar(ty))), inner);
            let zero = function.define(before, ty, Op::Float(0.0, "0.0".to_owned()), span);
            let len = Op::Method("saturating_sub".to_owned(), vec![to, from]);
            let len = function.define(before, Scalar::USIZE, len, span);
            let init = Init::Repeat(Box::new(Init::Value(zero)), len);
            before.push(Node::New { object, init });
            let fill = chain.fill(function, inner, value, object);
            chain.guard(function, fill, before);
        }
    }
}
