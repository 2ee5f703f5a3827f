//! Outcomes of branches that the backward half can have again by computing both arms and choosing.
//!
//! ```text
//! if c { a = x * y } else { b = √x } merge v = a | b   →   a' = x * y;  b' = √x;  v' = if c then a' else b'
//! ```
//!
//! Legal where nothing in the arms that the outcome depends on can fail, or reads memory: the arm that was not run is computed in vain. Considered where that costs
//! no more than saving the outcome would (`rays`, where most arms are not run, took 1.3 times as long otherwise), and weighed then as any other value.

use std::collections::{HashMap, HashSet};

use super::Facts;
use crate::driver::Target;
use stratape_ir::analysis::Definition;
use stratape_ir::{Block, Function, Merge, Op, Scalar, Stmt, ValueId, defined};

/// The outcomes of a function that can be had again, and the operation that chooses each.
pub(super) fn outcomes(facts: &Facts<'_>, target: &Target) -> HashMap<ValueId, Op> {
    let mut found = HashMap::new();
    if !facts.function.plain && !facts.function.kernel {
        block(facts, target, &facts.function.body, &mut found);
    }
    found
}

fn block(facts: &Facts<'_>, target: &Target, nodes: &Block, found: &mut HashMap<ValueId, Op>) {
    for node in nodes {
        node.blocks().into_iter().for_each(|inner| block(facts, target, inner, found));
        let Stmt::If(node) = node else { continue };
        let mut inner = defined(&node.then);
        inner.extend(defined(&node.other));
        for merge in &node.merges {
            // What other branches depend on is told from the tape, the same in both halves.
            let float = facts.function.ty(merge.value).is_float();
            if float && is_free(facts, target, &inner, merge, found) {
                found.insert(merge.value, Op::Select(node.condition, merge.then, merge.other));
            }
        }
    }
}

/// Whether both arms can be computed as far as an outcome needs them, whichever was run.
fn is_free(
    facts: &Facts<'_>,
    target: &Target,
    inner: &HashSet<ValueId>,
    merge: &Merge,
    found: &HashMap<ValueId, Op>,
) -> bool {
    let mut left = vec![merge.then, merge.other];
    let mut seen = HashSet::new();
    let (mut cost, most) = (0, target.saving_cost(facts.function.ty(merge.value)));
    while let Some(value) = left.pop() {
        if !inner.contains(&value) || !seen.insert(value) {
            continue;
        }
        if facts.clobbers.kept(value).is_some() {
            return false;
        }
        match (facts.definitions.of(value), found.get(&value)) {
            (Definition::Op(op), _) if cannot_fail(facts.function, op) => {
                cost += target.operation_cost(op, facts.function);
                op.for_each_operand(&mut |operand| left.push(operand));
            }
            (Definition::Outcome, Some(choice)) => {
                choice.for_each_operand(&mut |operand| left.push(operand));
            }
            _ => return false,
        }
    }
    cost <= most
}

/// Whether an operation yields something whatever it is given.
fn cannot_fail(function: &Function, op: &Op) -> bool {
    match op {
        Op::Float(..) | Op::Int(_) | Op::Bool(_) | Op::Compare(..) | Op::Select(..) => true,
        Op::Unary(_, a) | Op::Binary(_, a, _) => {
            matches!(function.ty(*a), Scalar::Float(_) | Scalar::Bool)
        }
        Op::Math(..) | Op::Cast(..) => true,
        _ => false,
    }
}
