//! Common-subexpression elimination, with store-to-load forwarding.
//!
//! ```text
//! a = x[i]; b = x[i]; p = a * a; q = b * b   →   a = x[i]; p = a * a      (b is a, q is p)
//! ```
//!
//! A load is shared as long as nothing in between may have written its object.
//!
//! Two versions. In a function that is still to be differentiated (`cse`), an arm of a branch does not share a float that was computed outside
//! it, unless its derivative is constant. Shared, its adjoint would be propagated outside the arm, as zero where the arm is not taken; and zero
//! times an infinite derivative is NaN: `if x.exp() < 1e9 { s += x.exp(); }`. In a gradient (`gradient_cse`) arms share everything.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use crate::transform::{is_cheap, is_product};
use stratape_ir::{
    Binary, Block, Function, ObjectId, Op, Stmt, Substitution, Value, ValueId, swapped, walk,
};

/// The pass.
pub const CSE: Pass =
    Pass { name: "cse", after: &[], promise: Promise::SameBits, required: false, run: cse };

/// Eliminates common subexpressions of a function that is to be differentiated.
fn cse(function: &mut Function, _cx: &mut Context<'_>) {
    share_all(function, false);
}

/// The pass.
pub const GRADIENT_CSE: Pass = Pass {
    name: "gradient_cse",
    after: &[],
    promise: Promise::AdjointBits,
    required: false,
    run: cse_of_gradient,
};

/// Eliminates common subexpressions of a gradient.
fn cse_of_gradient(function: &mut Function, _cx: &mut Context<'_>) {
    share_all(function, true);
}

fn share_all(function: &mut Function, into_arms: bool) {
    let mut body = std::mem::take(&mut function.body);
    let literals = crate::transform::literals(function, &body);
    let substitution = Substitution::default();
    let (scales, swapped) = (HashSet::new(), swapped(&body));
    let mut sharer =
        ValueNumbering { function, substitution, into_arms, literals, scales, swapped };
    sharer.block(&mut body, &mut Table::default());
    let substitution = sharer.substitution;
    substitution.apply(&mut body);
    function.body = body;
    function.substitute_slots(|value| substitution.get(value));
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
}

#[derive(Clone, Default)]
struct Table {
    pure: HashMap<String, ValueId>,
    loads: HashMap<String, (ValueId, ObjectId)>,
}

impl Table {
    fn forget(&mut self, objects: &HashSet<ObjectId>) {
        self.loads.retain(|_, (_, object)| !objects.contains(object));
    }
}

struct ValueNumbering<'a> {
    function: &'a mut Function,
    substitution: Substitution,
    /// Whether arms share what was computed outside.
    into_arms: bool,
    literals: HashSet<ValueId>,
    /// Floats whose partial derivatives are not constants.
    scales: HashSet<ValueId>,
    /// Lists that are exchanged with others: their lengths change.
    swapped: HashSet<ObjectId>,
}

impl ValueNumbering<'_> {
    /// What an arm can share.
    fn arm(&self, table: &Table) -> Table {
        let mut inner = table.clone();
        if !self.into_arms {
            inner.pure.retain(|_, value| !self.scales.contains(value));
        }
        inner
    }

    fn block(&mut self, block: &mut Block, table: &mut Table) {
        let mut kept = Block::new();
        for mut node in std::mem::take(block) {
            node.for_each_operand_mut(&mut |value| *value = self.substitution.get(*value));
            match &mut node {
                Stmt::Let { value, op } if self.known(*value, op, table) => {
                    continue;
                }
                Stmt::Loop(repeat) => {
                    let written = written(&repeat.body);
                    table.forget(&written);
                    let mut inner = table.clone();
                    self.block(&mut repeat.body, &mut inner);
                    for carried in &mut repeat.carried {
                        carried.next = self.substitution.get(carried.next);
                    }
                    repeat.exit = repeat.exit.map(|exit| self.substitution.get(exit));
                }
                Stmt::If(branch) => {
                    self.block(&mut branch.then, &mut self.arm(table));
                    self.block(&mut branch.other, &mut self.arm(table));
                    for merge in &mut branch.merges {
                        merge.then = self.substitution.get(merge.then);
                        merge.other = self.substitution.get(merge.other);
                    }
                    let mut objects = written(&branch.then);
                    objects.extend(written(&branch.other));
                    table.forget(&objects);
                }
                _ => {}
            }
            let objects: HashSet<ObjectId> =
                node.written().iter().map(|place| place.object).collect();
            table.forget(&objects);
            if let Stmt::Store { place, value } = &node {
                // What was stored is what a load will find.
                let key = format!("{} {:?}", self.function.ty(*value), Op::Load(place.clone()));
                table.loads.insert(key, (*value, place.object));
            }
            kept.push(node);
        }
        *block = kept;
    }

    /// Whether an operation was done before; then its value stands for this one.
    fn known(&mut self, value: ValueId, op: &Op, table: &mut Table) -> bool {
        if let Op::Method(name, operands) = op
            && matches!(name.as_str(), "min" | "max")
            && operands.len() == 2
            && operands[0] == operands[1]
        {
            self.substitution.value(value, operands[0]);
            return true;
        }
        let key = match op {
            // Sums and products of two are the same either way, bit for bit.
            Op::Binary(sign @ (Binary::Add | Binary::Mul), a, b) if b < a => {
                format!("{} {:?}", self.function.ty(value), Op::Binary(*sign, *b, *a))
            }
            // Their tokens know where they stand in the source.
            Op::Const(tokens) => format!("{} const {tokens}", self.function.ty(value)),
            op => format!("{} {op:?}", self.function.ty(value)),
        };
        let found = match op {
            Op::Load(place) | Op::Len(place)
                if matches!(op, Op::Load(_)) || self.swapped.contains(&place.object) =>
            {
                let found = table.loads.get(&key).map(|(value, _)| *value);
                if found.is_none() {
                    table.loads.insert(key, (value, place.object));
                }
                found
            }
            _ => {
                let found = table.pure.get(&key).copied();
                if found.is_none() {
                    table.pure.insert(key, value);
                    let ty = self.function.ty(value);
                    if ty.is_float() && (!is_cheap(op) || is_product(op, ty, &self.literals)) {
                        self.scales.insert(value);
                    }
                }
                found
            }
        };
        let Some(found) = found else { return false };
        self.substitution.value(value, found);
        let Value { name, adjoint, .. } = self.function.values[value.index()].clone();
        let known = &mut self.function.values[found.index()];
        known.name = known.name.take().or(name);
        // A value of the primal keeps its bits, though an adjoint is computed in the same way.
        known.adjoint &= adjoint;
        true
    }
}

/// Objects a block may write.
pub(crate) fn written(block: &Block) -> HashSet<ObjectId> {
    let mut objects = HashSet::new();
    walk(block, &mut |node| {
        objects.extend(node.written().iter().map(|place| place.object));
    });
    objects
}
