//! Lists that change places in a loop that is taken out. The body is handed the lists from outside as slices, which keep their lengths: so the elements
//! change places, one by one.

use std::collections::HashSet;

use stratape_ir::{
    Block, Check, Compare, Extent, Function, Loop, ObjectId, Op, Place, Scalar, SourceId, Step,
    Stmt, Type,
};

/// Writes out the exchanges of lists from outside.
pub(super) fn exchange_elements(
    function: &mut Function,
    block: &mut Block,
    own: &HashSet<ObjectId>,
    span: SourceId,
) {
    for mut node in std::mem::take(block) {
        for inner in node.blocks_mut() {
            exchange_elements(function, inner, own, span);
        }
        match node {
            Stmt::Swap { a, b } if !own.contains(&a.object) || !own.contains(&b.object) => {
                lists(function, block, (&a, &b), span);
            }
            node => block.push(node),
        }
    }
}

fn lists(function: &mut Function, out: &mut Block, (a, b): (&Place, &Place), span: SourceId) {
    let len = |place: &Place| Op::Len(place.clone());
    let (first, second) = (
        function.define(out, Scalar::USIZE, len(a), span),
        function.define(out, Scalar::USIZE, len(b), span),
    );
    let same = Op::Compare(Compare::Eq, first, second);
    let condition = function.define(out, Scalar::Bool, same, span);
    let message = "a list from outside a loop under `#[checkpoint]` keeps its length".to_owned();
    out.push(Stmt::Check { check: Check::Library { condition, message }, span });
    let item = function.place_type(a).and_then(Type::element).cloned();
    let Some(item) = item else { return };
    elements(function, out, (a, b), &item, first, span);
}

fn elements(
    function: &mut Function,
    out: &mut Block,
    (a, b): (&Place, &Place),
    item: &Type,
    len: stratape_ir::ValueId,
    span: SourceId,
) {
    let counter = function.new_value(Scalar::USIZE, span);
    let from = function.define(out, Scalar::USIZE, Op::Int(0), span);
    let mut body = Block::new();
    let at = Step::Index(counter);
    parts(function, &mut body, (&a.with(at.clone()), &b.with(at)), item, span);
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (from, len), body, span))));
}

/// Exchanges all numbers of two places.
fn parts(
    function: &mut Function,
    out: &mut Block,
    (a, b): (&Place, &Place),
    ty: &Type,
    span: SourceId,
) {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => {
            let Some(scalar) = ty.scalar() else { return };
            let first = function.define(out, scalar, Op::Load(a.clone()), span);
            let second = function.define(out, scalar, Op::Load(b.clone()), span);
            out.push(Stmt::Store { place: a.clone(), value: second });
            out.push(Stmt::Store { place: b.clone(), value: first });
        }
        Type::Array(item, extent) => {
            let op = match extent {
                Extent::Known(n) => Op::Int(*n as i128),
                Extent::Const(tokens) => Op::Const(tokens.clone()),
            };
            let len = function.define(out, Scalar::USIZE, op, span);
            elements(function, out, (a, b), item, len, span);
        }
        Type::Tuple(items) => {
            for (field, item) in items.iter().enumerate() {
                let step = Step::Field(field);
                parts(function, out, (&a.with(step.clone()), &b.with(step)), item, span);
            }
        }
        Type::Struct(def) => {
            for (field, (_, item)) in def.fields.iter().enumerate() {
                let step = Step::Field(field);
                parts(function, out, (&a.with(step.clone()), &b.with(step)), item, span);
            }
        }
        // Of lists inside lists, the front exchanges none.
        Type::Slice(_) | Type::Vec(_) => {}
    }
}
