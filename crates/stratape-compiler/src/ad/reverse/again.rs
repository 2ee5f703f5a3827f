//! Locals that are made again: what an array that is gone held is had by filling another one in the same way.
//!
//! An array that is made and filled in a block is gone when the backward half of that block runs. Saving what was read from it would save
//! each element once for each use. Where all that it was filled from is there, or can be had, the statements that fill it are cheaper:
//!
//! ```text
//! new @c = [0.0; 3];  for j { x = @x[i, j] - @m[j]; @c[j] = x }   …   uses of @c[j]
//! →  in the backward half of the block, first:  new @c' = [0.0; 3];  for j { x' = @x[i, j] - @m[j]; @c'[j] = x' }
//! ```
//!
//! A [`Recipe`] holds those statements and no others: the writes to the array, what they compute with, and the loops and branches around them. What it
//! needs from outside are values, which the save plan provides like any other, and memory that is still there. A load can then be read
//! again if no write comes between it and the end of the array's life ([`ReloadSafety::within_life`]).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::weights::Weights;
use super::{Facts, Findings, Reverse};
use crate::driver::Target;
use stratape_ir::analysis::ReloadSafety;
use stratape_ir::{
    Block, Init, Loop, ObjectId, Op, Place, Range, Step, Stmt, Substitution, Type, ValueId, copy,
    defined, made, made_twice, walk,
};

/// How a local is made again.
#[derive(Clone, Debug, Default)]
pub(in crate::ad) struct Recipe {
    /// The statements that make and fill it; it is made by the first.
    block: Block,
    /// The values from outside that they use.
    pub(super) inputs: BTreeSet<ValueId>,
    /// Other locals that are made again for it.
    pub(super) locals: BTreeSet<ObjectId>,
    /// What running them costs, on the scale of [`Target::operation_cost`].
    pub(super) cost: u64,
}

/// The recipes of a function's locals.
pub(super) fn recipes(
    facts: &Facts<'_>,
    clobbers: &ReloadSafety,
    found: &Findings,
    target: &Target,
    weights: &Weights,
) -> HashMap<ObjectId, Recipe> {
    let unfit = made_twice(&facts.function.body);
    let mut cook = Cook { facts, clobbers, found, target, weights, unfit };
    walk(&facts.function.body, &mut |node| cook.note(node));
    cook.unfit.extend(facts.function.kept.iter().copied());
    // Other threads fill them, too.
    cook.unfit.extend(facts.function.shared.iter().copied());
    let mut recipes = HashMap::new();
    cook.blocks(&facts.function.body, 1, &mut recipes);
    // What is made from others is there if these are, and what its values are read from comes before it: none is made from itself.
    let read: HashMap<ObjectId, HashSet<ObjectId>> =
        recipes.iter().map(|(object, recipe)| (*object, cook.read_for(&recipe.inputs))).collect();
    let mut settled: HashMap<ObjectId, Recipe> = HashMap::new();
    loop {
        let is_ready = |object: &ObjectId, recipe: &Recipe| {
            recipe.locals.iter().all(|other| settled.contains_key(other))
                && read[object].iter().all(|other| !recipes.contains_key(other))
        };
        let ready: Vec<ObjectId> = recipes
            .iter()
            .filter(|(object, recipe)| is_ready(object, recipe))
            .map(|(object, _)| *object)
            .collect();
        if ready.is_empty() {
            return settled;
        }
        for object in ready {
            settled.extend(recipes.remove_entry(&object));
        }
    }
}

struct Cook<'a> {
    facts: &'a Facts<'a>,
    clobbers: &'a ReloadSafety,
    found: &'a Findings,
    target: &'a Target,
    weights: &'a Weights,
    /// Objects that are used in ways that a recipe does not know.
    unfit: HashSet<ObjectId>,
}

impl Cook<'_> {
    fn note(&mut self, node: &Stmt) {
        match node {
            Stmt::Swap { a, b } => self.unfit.extend([a.object, b.object]),
            Stmt::Call(call) => {
                let written = call.slices().filter(|slice| slice.mutable);
                self.unfit.extend(written.map(|slice| slice.place.object));
            }
            Stmt::Restore { object, .. } => {
                self.unfit.insert(*object);
            }
            _ => {}
        }
    }

    /// The objects that values are read from, or what they are computed from.
    fn read_for(&self, values: &BTreeSet<ValueId>) -> HashSet<ObjectId> {
        let mut objects = HashSet::new();
        let mut seen = HashSet::new();
        let mut left: Vec<ValueId> = values.iter().copied().collect();
        while let Some(value) = left.pop() {
            let Some(op) = self.facts.definitions.op(value).filter(|_| seen.insert(value)) else {
                continue;
            };
            if let Op::Load(place) | Op::Len(place) = op {
                objects.insert(place.object);
            }
            op.for_each_operand(&mut |operand| left.push(operand));
        }
        objects
    }

    fn blocks(&self, block: &Block, weight: u64, recipes: &mut HashMap<ObjectId, Recipe>) {
        for (position, node) in block.iter().enumerate() {
            if let Stmt::New { object, .. } = node
                && !self.found.home_objects.contains(object)
                && let Some(mut recipe) = self.recipe(*object, &block[position..])
            {
                recipe.cost = recipe.cost.saturating_mul(weight);
                recipes.insert(*object, recipe);
            }
            let inner = weight.saturating_mul(self.trips(node));
            for block in node.blocks() {
                self.blocks(block, inner, recipes);
            }
        }
    }

    fn trips(&self, node: &Stmt) -> u64 {
        match node {
            Stmt::Loop(node) => self.weights.trips(node.counter),
            _ => 1,
        }
    }

    /// How an object is made that the first of the statements makes, if they do nothing else to it than fill it.
    fn recipe(&self, object: ObjectId, block: &[Stmt]) -> Option<Recipe> {
        let known = &self.facts.function.objects[object.index()];
        if self.unfit.contains(&object) || !is_plain(&known.ty, true) {
            return None;
        }
        let writers: Block = block.iter().filter(|node| makes(node, object)).cloned().collect();
        let mut needed = HashSet::new();
        loop {
            let before = needed.len();
            for node in &writers {
                self.need(node, object, &mut needed)?;
            }
            if needed.len() == before {
                break;
            }
        }
        let mut recipe = Recipe::default();
        for node in &writers {
            recipe.block.extend(self.kept(node, object, &needed));
        }
        let inside = defined(&recipe.block);
        recipe.inputs = needed.into_iter().filter(|value| !inside.contains(value)).collect();
        self.check(&recipe.block, object, 1, &mut recipe.locals, &mut recipe.cost)?;
        // What is made on the way, in an iteration say, is not there when the filling begins.
        let passing = made(&writers);
        recipe.locals.iter().all(|other| !passing.contains(other)).then_some(recipe)
    }

    /// Notes what a statement needs that is kept.
    fn need(&self, node: &Stmt, object: ObjectId, needed: &mut HashSet<ValueId>) -> Option<()> {
        match node {
            Stmt::New { object: made, init } if *made == object => init_values(init, needed),
            Stmt::Store { place, value } | Stmt::Accumulate { place, value, .. }
                if place.object == object =>
            {
                needed.insert(*value);
                indices(place, needed);
                Some(())
            }
            Stmt::Let { value, op } => {
                if needed.contains(value) {
                    op.for_each_operand(&mut |operand| {
                        needed.insert(operand);
                    });
                }
                Some(())
            }
            Stmt::Loop(inner) => {
                let results = inner.carried.iter().any(|carried| needed.contains(&carried.after));
                if !(makes(node, object) || results || defines(&inner.body, needed)) {
                    return Some(());
                }
                let Range::UpTo { from, to } = inner.range else { return None };
                if inner.exit.is_some() || inner.trips.is_some() {
                    return None;
                }
                needed.extend([from, to]);
                for carried in &inner.carried {
                    if needed.contains(&carried.inside) || needed.contains(&carried.after) {
                        needed.extend([carried.init, carried.next, carried.inside]);
                    }
                }
                // From the end: what is needed by what comes later is found at once.
                inner.body.iter().rev().try_for_each(|node| self.need(node, object, needed))
            }
            Stmt::If(inner) => {
                let merged = inner.merges.iter().any(|merge| needed.contains(&merge.value));
                let inside = defines(&inner.then, needed) || defines(&inner.other, needed);
                if !(makes(node, object) || merged || inside) {
                    return Some(());
                }
                needed.insert(inner.condition);
                for merge in &inner.merges {
                    if needed.contains(&merge.value) {
                        needed.extend([merge.then, merge.other]);
                    }
                }
                let arms = inner.then.iter().rev().chain(inner.other.iter().rev());
                arms.into_iter().try_for_each(|node| self.need(node, object, needed))
            }
            Stmt::Call(call) => {
                let asked = call.results.iter().any(|result| needed.contains(result));
                (!asked).then_some(())
            }
            _ => Some(()),
        }
    }

    /// What of a statement is kept.
    fn kept(&self, node: &Stmt, object: ObjectId, needed: &HashSet<ValueId>) -> Option<Stmt> {
        let all = |block: &Block| -> Block {
            block.iter().filter_map(|node| self.kept(node, object, needed)).collect()
        };
        match node {
            Stmt::New { object: made, .. } => (*made == object).then(|| node.clone()),
            Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
                (place.object == object).then(|| node.clone())
            }
            Stmt::Let { value, .. } => needed.contains(value).then(|| node.clone()),
            Stmt::Loop(inner) => {
                let body = all(&inner.body);
                let wanted = |value: &ValueId| needed.contains(value);
                let carried: Vec<_> = inner
                    .carried
                    .iter()
                    .filter(|carried| wanted(&carried.inside) || wanted(&carried.after))
                    .copied()
                    .collect();
                if body.is_empty() && carried.is_empty() {
                    return None;
                }
                let (parallel, schedule) = (None, None);
                let inner = Loop { body, carried, parallel, schedule, ..(**inner).clone() };
                Some(Stmt::Loop(Box::new(inner)))
            }
            Stmt::If(inner) => {
                let (then, other) = (all(&inner.then), all(&inner.other));
                let mut inner = (**inner).clone();
                inner.merges.retain(|merge| needed.contains(&merge.value));
                if then.is_empty() && other.is_empty() && inner.merges.is_empty() {
                    return None;
                }
                (inner.then, inner.other) = (then, other);
                Some(Stmt::If(Box::new(inner)))
            }
            _ => None,
        }
    }

    /// Whether what the statements read is there in the backward half; what they cost.
    fn check(
        &self,
        block: &Block,
        object: ObjectId,
        weight: u64,
        locals: &mut BTreeSet<ObjectId>,
        cost: &mut u64,
    ) -> Option<()> {
        for node in block {
            match node {
                Stmt::Let { value, op } => {
                    if let Op::Load(place) | Op::Len(place) = op {
                        self.readable(*value, op, place, object, locals)?;
                    }
                    *cost += self.target.operation_cost(op, self.facts.function) * weight;
                }
                Stmt::New { .. } => {
                    let ty = &self.facts.function.objects[object.index()].ty;
                    let list = matches!(ty, Type::Vec(_));
                    *cost += if list { NEW_LIST_COST } else { NEW_COST } * weight;
                }
                Stmt::Store { .. } | Stmt::Accumulate { .. } => *cost += STORE_COST * weight,
                Stmt::Loop(inner) => {
                    let weight = weight.saturating_mul(self.trips(node));
                    self.check(&inner.body, object, weight, locals, cost)?;
                }
                Stmt::If(node) => {
                    self.check(&node.then, object, weight, locals, cost)?;
                    self.check(&node.other, object, weight, locals, cost)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn readable(
        &self,
        value: ValueId,
        op: &Op,
        place: &Place,
        object: ObjectId,
        locals: &mut BTreeSet<ObjectId>,
    ) -> Option<()> {
        if place.object == object {
            return Some(());
        }
        let is_load = matches!(op, Op::Load(_));
        if self.found.home_objects.contains(&place.object) {
            let gone = match is_load {
                true => self.clobbers.load(value),
                false => self.clobbers.is_swapped(place.object),
            };
            return (!gone).then_some(());
        }
        if is_load && self.clobbers.within_life(value) {
            locals.insert(place.object);
            return Some(());
        }
        None
    }
}

/// What making an array costs, beside its elements; what a list costs, which takes memory from a pool; and what writing an element does.
const NEW_COST: u64 = 100;
const NEW_LIST_COST: u64 = 2000;
const STORE_COST: u64 = 10;

/// Whether a type is scalars in arrays, or a list of such.
pub(super) fn is_plain(ty: &Type, outermost: bool) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(item, _) => is_plain(item, false),
        Type::Vec(item) | Type::Slice(item) => outermost && is_plain(item, false),
        _ => false,
    }
}

/// Whether a statement makes an object or writes to it.
fn makes(node: &Stmt, object: ObjectId) -> bool {
    let own = match node {
        Stmt::New { object: made, .. } => *made == object,
        node => node.written().iter().any(|place| place.object == object),
    };
    own || node.blocks().into_iter().flatten().any(|inner| makes(inner, object))
}

fn defines(block: &Block, needed: &HashSet<ValueId>) -> bool {
    defined(block).iter().any(|value| needed.contains(value))
}

fn indices(place: &Place, needed: &mut HashSet<ValueId>) {
    for step in &place.path {
        if let Step::Index(index) = step {
            needed.insert(*index);
        }
    }
}

/// The values that an object is made of, if it is not made of other memory.
fn init_values(init: &Init, needed: &mut HashSet<ValueId>) -> Option<()> {
    match init {
        Init::Value(value) => {
            needed.insert(*value);
            Some(())
        }
        Init::Items(items) => items.iter().try_for_each(|item| init_values(item, needed)),
        Init::Fill(item) => init_values(item, needed),
        Init::Repeat(item, len) => {
            needed.insert(*len);
            init_values(item, needed)
        }
        Init::Copy(_) | Init::ZeroLike(_) => None,
    }
}

impl Reverse<'_> {
    /// Makes a local again, if the plan says so and it is not there yet. Returns what stands for it.
    pub(super) fn make_again(&mut self, object: ObjectId) -> Option<ObjectId> {
        if let Some(again) = self.again.get(&object) {
            return Some(*again);
        }
        let recipe = self.plan?.again.get(&object)?.clone();
        let mut substitution = Substitution::default();
        for other in &recipe.locals {
            let there = self.make_again(*other)?;
            substitution.object(*other, there);
        }
        for input in &recipe.inputs {
            if let Some(op) = self.facts.definitions.op(*input).cloned() {
                self.recompute(*input, &op);
            }
            let there = self.primal(*input);
            if there != *input {
                substitution.value(*input, there);
            }
        }
        let (mut block, _) = copy(&mut self.b.function, &recipe.block);
        substitution.apply(&mut block);
        let Some(Stmt::New { object: made, .. }) = block.first() else { return None };
        let made = *made;
        block.into_iter().for_each(|node| self.b.node(node));
        self.again.insert(object, made);
        Some(made)
    }
}
