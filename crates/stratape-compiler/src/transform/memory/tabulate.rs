//! Computes what depends on an element that an index list picks once for each element, into a table.
//!
//! ```text
//! for i in 0..n { k = group[i]; y += x[i] * exp(scale[k]) }
//! →  if n / 2 >= scale.len() {
//!        for i in 0..n { seen[group[i]] = true }
//!        for k in 0..scale.len() { if seen[k] { table[k] = exp(scale[k]) } }
//!        for i in 0..n { y += x[i] * table[group[i]] }
//!    } else { as before }
//! ```
//!
//! Operations and operands are the same, so no bit changes. Legal where the loop writes neither the list nor what the index is computed from. Branches that depend on the element alone are taken for
//! each element as they were for each iteration; elements that no iteration picks are left alone, so that nothing is computed that was not, and no derivative is.
//!
//! Pays where functions of the library or divisions are saved, and at run time if the loop has at least two iterations for an element. The backward half gains as much: the adjoint of the table is
//! summed, and the operations are differentiated once for each element. The bodies of a loop are then two; of several indices the one with the most to save is taken. Runs after `if_conversion`.

mod picked;

use std::collections::HashMap;

use self::picked::Picked;
use super::table;
use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::{
    Binary, Block, Compare, Extent, Function, If, Init, Loop, Merge, ObjectId, Op, Place, Range,
    Scalar, SourceId, Step, Stmt, StmtId, Type, ValueId, copy,
};

/// The pass.
pub const TABULATE: Pass = Pass {
    name: "tabulate",
    after: &["if_conversion"],
    promise: Promise::SameBits,
    required: false,
    run: tabulate,
};

/// Computes tables before loops.
fn tabulate(function: &mut Function, cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    block(function, &mut body, cx);
    function.body = body;
}

fn block(function: &mut Function, nodes: &mut Block, cx: &mut Context<'_>) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        let new = match &node {
            Stmt::Loop(node) => tabulated(function, node, cx.target),
            _ => None,
        };
        let Some(new) = new else {
            node.blocks_mut().into_iter().for_each(|inner| block(function, inner, cx));
            out.push(node);
            continue;
        };
        if let Stmt::Loop(node) = &node {
            cx.applied(
                node.span,
                "what depends on an element picked by an index is computed once for each element, if there are at least two iterations for one",
            );
        }
        out.extend(new);
    }
    *nodes = out;
}

/// A loop after its tables, or as it is where they do not pay.
fn tabulated(function: &mut Function, node: &Loop, target: &Target) -> Option<Block> {
    let Range::UpTo { from, to } = node.range else { return None };
    if !node.is_plain() || node.schedule.is_some() || function.ty(node.counter) != Scalar::USIZE {
        return None;
    }
    let picked = Picked::best(function, node, target)?;
    let span = node.span;

    let mut out = Block::new();
    let usize_of = |function: &mut Function, out: &mut Block, op: Op| {
        function.define(out, Scalar::USIZE, op, span)
    };
    // No index is beyond the shortest of those that every iteration reads.
    let mut len: Option<ValueId> = None;
    for list in &picked.lists {
        let this = usize_of(function, &mut out, Op::Len(Place::whole(*list)));
        len = Some(match len {
            Some(len) => {
                usize_of(function, &mut out, Op::Method("min".to_owned(), vec![len, this]))
            }
            None => this,
        });
    }
    let len = len?;
    let trips = Op::Method("saturating_sub".to_owned(), vec![to, from]);
    let trips = usize_of(function, &mut out, trips);
    let two = usize_of(function, &mut out, Op::Int(2));
    let half = usize_of(function, &mut out, Op::Binary(Binary::Div, trips, two));
    let pays = Op::Compare(Compare::Ge, half, len);
    let condition = function.define(&mut out, Scalar::Bool, pays, span);

    let (other, values) = copy(function, &vec![Stmt::Loop(Box::new(node.clone()))]);
    let mut then = Block::new();
    let seen = seen(function, node, &picked, len, &mut then);
    let tables = fill(function, node, &picked, (seen, len), &mut then);
    let mut new = node.clone();
    picked.read_from(function, &mut new.body, &tables);
    let mut merges = Vec::new();
    for carried in &mut new.carried {
        let inner = function.new_value_like(carried.after);
        let other = values.get(&carried.after).copied().unwrap_or(carried.init);
        merges.push(Merge { value: carried.after, then: inner, other });
        carried.after = inner;
    }
    then.push(Stmt::Loop(Box::new(new)));
    out.push(Stmt::If(Box::new(If { id: StmtId::NONE, condition, then, other, merges, span })));
    Some(out)
}

/// Marks the elements that are picked. What is beyond a list is left to the loop, which panics.
fn seen(
    function: &mut Function,
    node: &Loop,
    picked: &Picked,
    len: ValueId,
    out: &mut Block,
) -> ObjectId {
    let span = node.span;
    let seen = table(function, "seen", Type::Vec(Box::new(Type::Scalar(Scalar::Bool))), node);
    let no = function.define(out, Scalar::Bool, Op::Bool(false), span);
    out.push(Stmt::New { object: seen, init: Init::Repeat(Box::new(Init::Value(no)), len) });
    let Range::UpTo { from, to } = node.range else { return seen };
    let counter = function.new_value_like(node.counter);
    let mut body = Block::new();
    let mut known = HashMap::from([(node.counter, counter)]);
    let index = picked.index_again(function, picked.index, &mut known, &mut body);
    let inside = Op::Compare(Compare::Lt, index, len);
    let inside = function.define(&mut body, Scalar::Bool, inside, span);
    let mut mark = Block::new();
    let yes = function.define(&mut mark, Scalar::Bool, Op::Bool(true), span);
    let place = Place::whole(seen).with(Step::Index(index));
    mark.push(Stmt::Store { place, value: yes });
    body.push(Stmt::branch(inside, mark, Block::new()));
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (from, to), body, span))));
    seen
}

/// A table for each type of float: where each value lies.
type Tables = HashMap<ValueId, (ObjectId, Option<usize>)>;

/// Fills the tables.
fn fill(
    function: &mut Function,
    node: &Loop,
    picked: &Picked,
    (seen, len): (ObjectId, ValueId),
    out: &mut Block,
) -> Tables {
    let span = node.span;
    let mut by_type: Vec<(Scalar, Vec<ValueId>)> = Vec::new();
    for value in &picked.wanted {
        let ty = function.ty(*value);
        match by_type.iter_mut().find(|(known, _)| *known == ty) {
            Some((_, values)) => values.push(*value),
            None => by_type.push((ty, vec![*value])),
        }
    }
    let mut tables = Tables::new();
    for (ty, values) in by_type {
        let zero = function.define(out, ty, Op::Float(0.0, "0.0".to_owned()), span);
        let (mut of, mut init) = (Type::Scalar(ty), Init::Value(zero));
        // The values of an element lie side by side: one look into the list finds them all.
        if values.len() > 1 {
            of = Type::Array(Box::new(of), Extent::Known(values.len()));
            init = Init::Fill(Box::new(init));
        }
        let object = table(function, "table", Type::Vec(Box::new(of)), node);
        out.push(Stmt::New { object, init: Init::Repeat(Box::new(init), len) });
        let alone = values.len() == 1;
        for (at, value) in values.into_iter().enumerate() {
            tables.insert(value, (object, (!alone).then_some(at)));
        }
    }

    let first = function.define(out, Scalar::USIZE, Op::Int(0), span);
    let element = function.new_value(Scalar::USIZE, span);
    let mut body = Block::new();
    let place = Place::whole(seen).with(Step::Index(element));
    let is_seen = function.define(&mut body, Scalar::Bool, Op::Load(place), span);
    let mut known = HashMap::from([(picked.index, element)]);
    let computed = picked.again(function, &node.body, &tables, &mut known);
    body.push(Stmt::branch(is_seen, computed, Block::new()));
    out.push(Stmt::Loop(Box::new(Loop::over(element, (first, len), body, span))));
    tables
}

/// Where a value of an element lies.
fn entry(
    function: &mut Function,
    (object, at): (ObjectId, Option<usize>),
    element: ValueId,
    out: &mut Block,
) -> Place {
    let place = Place::whole(object).with(Step::Index(element));
    let Some(at) = at else { return place };
    let at = function.define(out, Scalar::USIZE, Op::Int(at as i128), SourceId::NONE);
    place.with(Step::Index(at))
}
