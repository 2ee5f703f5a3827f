//! One division instead of several: adjoints divided by the same number are multiplied by its reciprocal.
//!
//! ```text
//! p = da / x; q = db / x   →   r = 1.0 / x; p = da * r; q = db * r
//! ```
//!
//! A reciprocal that the primal has computed already is reused. Legal for adjoints, whose last bits are free. Pays from two divisions in one
//! block, or one if the reciprocal is there. Runs after `gradient_cse`, so that equal divisors are one value.

use std::collections::HashMap;

use super::cheapest::literals;
use crate::driver::{Context, Pass, Promise};
use stratape_ir::SourceId;
use stratape_ir::{Binary, Block, Function, Op, Scalar, Stmt, Unary, ValueId};

/// The pass.
pub const RECIPROCAL: Pass = Pass {
    name: "reciprocal",
    after: &["gradient_cse"],
    promise: Promise::AdjointBits,
    required: false,
    run: reciprocal,
};

/// Replaces divisions of adjoints.
fn reciprocal(function: &mut Function, _cx: &mut Context<'_>) {
    let literals = literals(function);
    let mut body = std::mem::take(&mut function.body);
    block(function, &literals, &mut body);
    function.body = body;
}

fn block(function: &mut Function, literals: &HashMap<ValueId, f64>, nodes: &mut Block) {
    // How often adjoints are divided by each value, in this block.
    let mut divided: HashMap<ValueId, usize> = HashMap::new();
    for node in nodes.iter() {
        if let Stmt::Let { value, op: Op::Binary(Binary::Div, _, divisor) } = node
            && function.values[value.index()].adjoint
        {
            *divided.entry(*divisor).or_default() += 1;
        }
    }
    // Reciprocals at hand, and their signs.
    let mut known: HashMap<ValueId, ValueId> = HashMap::new();
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, literals, inner);
        }
        if let Stmt::Let { value, op: Op::Binary(Binary::Div, a, divisor) } = &node {
            let (value, a, divisor) = (*value, *a, *divisor);
            let ty = function.ty(value);
            let wanted = divided.get(&divisor).copied().unwrap_or(0);
            let numerator = literals.get(&a).copied();
            if function.values[value.index()].adjoint {
                if let Some(reciprocal) = known.get(&divisor) {
                    out.push(Stmt::Let { value, op: Op::Binary(Binary::Mul, a, *reciprocal) });
                    continue;
                }
                if wanted >= 2 {
                    let one = function.new_value(ty, SourceId::NONE);
                    out.push(Stmt::Let { value: one, op: Op::Float(1.0, "1.0".to_owned()) });
                    let reciprocal = new_adjoint(function, ty);
                    out.push(Stmt::Let {
                        value: reciprocal,
                        op: Op::Binary(Binary::Div, one, divisor),
                    });
                    known.insert(divisor, reciprocal);
                    out.push(Stmt::Let { value, op: Op::Binary(Binary::Mul, a, reciprocal) });
                    continue;
                }
            } else if wanted > 0 && ty.is_float() {
                if numerator == Some(1.0) {
                    known.insert(divisor, value);
                } else if numerator == Some(-1.0) {
                    let opposite = new_adjoint(function, ty);
                    known.insert(divisor, opposite);
                    out.push(node);
                    out.push(Stmt::Let { value: opposite, op: Op::Unary(Unary::Neg, value) });
                    continue;
                }
            }
        }
        out.push(node);
    }
    *nodes = out;
}

fn new_adjoint(function: &mut Function, ty: Scalar) -> ValueId {
    let value = function.new_value(ty, SourceId::NONE);
    function.values[value.index()].adjoint = true;
    value
}
