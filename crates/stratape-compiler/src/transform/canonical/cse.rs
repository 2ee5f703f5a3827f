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
//! times an infinite derivative is NaN: `if x.exp() < 1e9 { s += x.exp(); }`. In a gradient (`gradient_cse`) arms share everything; and an arm shares what that of an
//! earlier branch with the same condition computed, as the two halves of a branch in a block that holds both: what the branch yields stands for it, and slow operations
//! are yielded for that.
//!
//! ```text
//! if c { a = sqrt(x) } merge a' = a | 0;  …  if c { b = sqrt(x); d = y / b }   →   …  if c { d = y / a' }
//! ```

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use crate::transform::{is_cheap, is_product};
use stratape_ir::{
    Binary, Block, Function, If, Merge, ObjectId, Op, Place, Scalar, Stmt, Substitution, Value,
    ValueId, defined, swapped, walk,
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
    let (arm, wanted) = (Arm::default(), Vec::new());
    let mut sharer = ValueNumbering {
        function,
        substitution,
        into_arms,
        literals,
        scales,
        swapped,
        arm,
        wanted,
    };
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

/// What an arm of a branch computed, for the arms of later branches with the same condition.
#[derive(Clone, Default)]
struct Arm {
    /// Its operations, what they are, and the branch, by its position in the block.
    done: HashMap<String, (ValueId, usize)>,
    /// Values that are the same as one of its own where the condition is what it was: those that the branch yields, and those of later arms.
    same: HashMap<ValueId, ValueId>,
    /// Which of them the branch yields, by its own.
    yielded: HashMap<ValueId, ValueId>,
}

/// A value of an arm that a later arm asks for.
struct Wanted {
    branch: usize,
    inner: ValueId,
    outer: ValueId,
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
    /// What arms of earlier branches with the same condition computed, where that of a later one is read.
    arm: Arm,
    /// What the earlier branches are to yield besides.
    wanted: Vec<Wanted>,
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
        let mut arms: HashMap<ValueId, [Arm; 2]> = HashMap::new();
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
                    let earlier = arms.entry(branch.condition).or_default();
                    self.arms(branch, table, earlier, &mut kept);
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

    /// Shares inside the arms of a branch; in a gradient also with the arms of branches before it in the same block that have the same condition.
    fn arms(&mut self, branch: &mut If, table: &Table, earlier: &mut [Arm; 2], kept: &mut Block) {
        for (first, known) in [true, false].into_iter().zip(earlier) {
            let mut inner = self.arm(table);
            let block = if first { &mut branch.then } else { &mut branch.other };
            let around = std::mem::replace(&mut self.arm, std::mem::take(known));
            let wanted = std::mem::take(&mut self.wanted);
            self.block(block, &mut inner);
            for want in std::mem::replace(&mut self.wanted, wanted) {
                self.yields(kept, first, &want);
            }
            *known = std::mem::replace(&mut self.arm, around);
            if !self.into_arms {
                continue;
            }
            let own = defined(block);
            for (key, value) in inner.pure {
                if own.contains(&value) && !known.done.contains_key(&key) {
                    known.done.insert(key, (value, kept.len()));
                }
            }
            for merge in &branch.merges {
                let inside = if first { merge.then } else { merge.other };
                let inside = self.substitution.get(inside);
                let inside = known.same.get(&inside).copied().unwrap_or(inside);
                known.same.insert(merge.value, inside);
                known.yielded.entry(inside).or_insert(merge.value);
            }
        }
    }

    /// Has an earlier branch yield a value of one of its arms; what stands for it after the other arm is not used.
    fn yields(&mut self, kept: &mut Block, first: bool, want: &Wanted) {
        let Some(Stmt::If(branch)) = kept.get_mut(want.branch) else { return };
        let ty = self.function.ty(want.inner);
        let zero = if ty.is_float() { Op::Float(0.0, "0.0".to_owned()) } else { Op::Int(0) };
        let other = if first { &mut branch.other } else { &mut branch.then };
        let zero = self.function.define(other, ty, zero, branch.span);
        let (then, other) = if first { (want.inner, zero) } else { (zero, want.inner) };
        branch.merges.push(Merge { value: want.outer, then, other });
    }

    /// What two operations have in common that are the same.
    fn key(&self, value: ValueId, op: &Op) -> String {
        match op {
            // Sums and products of two are the same either way, bit for bit.
            Op::Binary(sign @ (Binary::Add | Binary::Mul), a, b) if b < a => {
                format!("{} {:?}", self.function.ty(value), Op::Binary(*sign, *b, *a))
            }
            // Their tokens know where they stand in the source.
            Op::Const(tokens) => format!("{} const {tokens}", self.function.ty(value)),
            op => format!("{} {op:?}", self.function.ty(value)),
        }
    }

    /// Whether an operation was done in this arm, or in that of an earlier branch with the same condition, on values that are the same there.
    fn known_in_arm(&mut self, value: ValueId, op: &Op, table: &mut Table) -> Option<ValueId> {
        if self.arm.done.is_empty() {
            return None;
        }
        let mut inside = op.clone();
        inside.for_each_operand_mut(&mut |operand| {
            *operand = self.arm.same.get(operand).copied().unwrap_or(*operand);
        });
        let key = self.key(value, &inside);
        let found = table.pure.get(&key).copied();
        let found = found.or_else(|| self.of_earlier_arm(&key, value, op));
        if found.is_none() {
            table.pure.insert(key, value);
        }
        found
    }

    /// What an arm of an earlier branch with the same condition computed by an operation, as this arm sees it: `None` if it is to be computed again.
    fn of_earlier_arm(&mut self, key: &str, value: ValueId, op: &Op) -> Option<ValueId> {
        let (inner, branch) = *self.arm.done.get(key)?;
        if let Some(outer) = self.arm.yielded.get(&inner) {
            return Some(*outer);
        }
        let ty = self.function.ty(inner);
        if is_cheap(op) || !(ty.is_float() || matches!(ty, Scalar::Int(_))) {
            // A register for it costs as much. What is computed from it is still known.
            self.arm.same.insert(value, inner);
            return None;
        }
        let outer = self.function.new_value_like(inner);
        self.wanted.push(Wanted { branch, inner, outer });
        self.arm.same.insert(outer, inner);
        self.arm.yielded.insert(inner, outer);
        Some(outer)
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
        let key = self.key(value, op);
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
                let found = found.or_else(|| self.known_in_arm(value, op, table));
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
        // A value of the primal keeps its bits, though an adjoint is computed in the same way. What memory of adjoints holds is an adjoint.
        let holds = |place: &Place| self.function.holds_adjoints(place.object);
        let adjoint = adjoint || matches!(op, Op::Load(place) if holds(place));
        let known = &mut self.function.values[found.index()];
        known.name = known.name.take().or(name);
        known.adjoint &= adjoint;
        if let Some(inner) = self.arm.same.get(&found) {
            self.function.values[inner.index()].adjoint &= adjoint;
        }
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
