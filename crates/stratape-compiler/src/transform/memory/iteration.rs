//! What one iteration of a loop computed, computed again after the loop.
//!
//! ```text
//! for i { …; d = @x[i] - p; e = d * d; … }   →   for i { … };  d' = @x[at] - p; e' = d' * d'      for the iteration `at`
//! ```
//!
//! Possible for what is computed from the counter, from values of outside, and from memory that the loop does not write: by operations, and by
//! branches and loops of nothing but such operations. What the iteration got from the one before is not there any more.
//!
//! Outcomes of branches may be known: then the values of the arm that was taken are computed without the branch.

use std::collections::{HashMap, HashSet};

use crate::transform::canonical::written;
use stratape_ir::{
    Block, Check, Function, Loop, ObjectId, Op, Stmt, Substitution, ValueId, copy, defined, made,
    walk,
};

/// A loop, one iteration of which is to be computed again.
pub(super) struct Iteration<'a> {
    counter: ValueId,
    /// What is defined inside, with the statement that does it.
    definitions: HashMap<ValueId, &'a Stmt>,
    /// What differs from iteration to iteration.
    inside: HashSet<ValueId>,
    /// Memory that may hold something else by now.
    changed: HashSet<ObjectId>,
}

impl<'a> Iteration<'a> {
    pub(super) fn of(node: &'a Loop) -> Self {
        let mut definitions = HashMap::new();
        walk(&node.body, &mut |item| {
            item.for_each_result(&mut |value| {
                definitions.insert(value, item);
            });
        });
        let mut inside = defined(&node.body);
        inside.extend(node.carried.iter().map(|carried| carried.inside));
        let mut changed: HashSet<ObjectId> = written(&node.body).into_iter().collect();
        changed.extend(made(&node.body));
        Self { counter: node.counter, definitions, inside, changed }
    }

    /// The statement of the loop that defines a value.
    pub(super) fn definition(&self, value: ValueId) -> Option<&'a Stmt> {
        self.definitions.get(&value).copied()
    }

    /// Whether a value can be computed again, where branches on some conditions are known to have gone one way.
    pub(super) fn can_compute(&self, value: ValueId, known: &[(ValueId, bool)]) -> bool {
        self.reaches(value, known, &mut HashSet::new())
    }

    fn reaches(
        &self,
        value: ValueId,
        known: &[(ValueId, bool)],
        seen: &mut HashSet<ValueId>,
    ) -> bool {
        if value == self.counter || !self.inside.contains(&value) || !seen.insert(value) {
            return true;
        }
        let Some(node) = self.definition(value) else { return false };
        if let Some(chosen) = chosen(node, value, known) {
            return self.reaches(chosen, known, seen);
        }
        let fits = match node {
            Stmt::Let { .. } | Stmt::If(_) | Stmt::Loop(_) => self.is_pure(node),
            _ => false,
        };
        fits && outer_operands(node).into_iter().all(|one| self.reaches(one, known, seen))
    }

    /// Whether a statement computes values and does nothing else, from memory that is still there.
    fn is_pure(&self, node: &Stmt) -> bool {
        let mut pure = true;
        walk(std::slice::from_ref(node), &mut |item| {
            pure &= match item {
                Stmt::Let { op: Op::Load(place) | Op::Len(place), .. } => {
                    !self.changed.contains(&place.object)
                }
                Stmt::Let { .. } | Stmt::If(_) => true,
                Stmt::Loop(node) => node.parallel.is_none(),
                Stmt::Check { check, .. } => !matches!(check, Check::Assert { .. }),
                _ => false,
            };
        });
        pure
    }
}

/// What a branch yields for a value, or a selection, if its outcome is known.
fn chosen(node: &Stmt, value: ValueId, known: &[(ValueId, bool)]) -> Option<ValueId> {
    let outcome = |condition: ValueId| {
        known.iter().find(|(other, _)| *other == condition).map(|(_, outcome)| *outcome)
    };
    let (condition, then, other) = match node {
        Stmt::If(branch) => {
            let merge = branch.merges.iter().find(|merge| merge.value == value)?;
            (branch.condition, merge.then, merge.other)
        }
        Stmt::Let { op: Op::Select(condition, then, other), .. } => (*condition, *then, *other),
        _ => return None,
    };
    Some(if outcome(condition)? { then } else { other })
}

/// What a statement uses and does not define.
fn outer_operands(node: &Stmt) -> Vec<ValueId> {
    let own = defined(&vec![node.clone()]);
    let mut operands = Vec::new();
    walk(std::slice::from_ref(node), &mut |item| {
        item.for_each_operand(&mut |value| {
            if !own.contains(&value) {
                operands.push(value);
            }
        });
    });
    operands
}

/// The statements that compute an iteration again.
pub(super) struct Again<'a, 'b> {
    iteration: &'b Iteration<'a>,
    known: &'b [(ValueId, bool)],
    values: HashMap<ValueId, ValueId>,
    pub(super) block: Block,
}

impl<'a, 'b> Again<'a, 'b> {
    /// The iteration whose counter is `at`.
    pub(super) fn new(
        iteration: &'b Iteration<'a>,
        at: ValueId,
        known: &'b [(ValueId, bool)],
    ) -> Self {
        let values = HashMap::from([(iteration.counter, at)]);
        Self { iteration, known, values, block: Block::new() }
    }

    /// What stands for a value that [can be computed](Iteration::can_compute).
    pub(super) fn value(&mut self, function: &mut Function, value: ValueId) -> ValueId {
        if let Some(known) = self.values.get(&value) {
            return *known;
        }
        if !self.iteration.inside.contains(&value) {
            return value;
        }
        let Some(node) = self.iteration.definition(value) else { return value };
        if let Some(chosen) = chosen(node, value, self.known) {
            let new = self.value(function, chosen);
            self.values.insert(value, new);
            return new;
        }
        let mut substitution = Substitution::default();
        for operand in outer_operands(node) {
            let new = self.value(function, operand);
            if new != operand {
                substitution.value(operand, new);
            }
        }
        let (mut block, values) = copy(function, &vec![node.clone()]);
        substitution.apply(&mut block);
        self.block.extend(block);
        self.values.extend(values);
        self.values.get(&value).copied().unwrap_or(value)
    }
}
