//! The reverse walk: writes the backward half.
//!
//! The forward half is walked from its end. The adjoint of a value is a value too; each use adds
//! to it, and the definition propagates it to the operands. Around loops and branches adjoints are
//! carried and merged like any variable. A carried adjoint that no iteration changes (that of a plain
//! sum) is recognised as invariant and is not carried.
//!
//! ```text
//! y = x * x; s = s0 + y          →   …; ds0 += ds; dy += ds;  dx += dy * x; dx += dy * x
//! ```
//!
//! The walk runs twice, without a plan (the dry run: forward values are used freely and noted in `needed`) and with one.

mod again;
mod call;
mod control;
mod fuse_halves;
pub(super) mod halves;
mod kernel;
mod min_cut;
mod outcomes;
mod propagate;
mod records;
mod rewind;
pub(super) mod save_plan;
mod shadow;
mod states;
mod weights;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::fuse_halves::{Fusion, Home};
use self::records::Saved;
use self::save_plan::{Plan, StateChoice};
use super::{Activity, Output, Shapes};
use stratape_ir::analysis::{DefUse, ReloadSafety, Versions};
use stratape_ir::{
    Binary, Builder, Function, ObjectId, Op, Origin, Param, Scalar, SourceId, Stmt, ValueId,
    seeded, walk,
};

/// What is known of the function to differentiate.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) function: &'a Function,
    pub(super) activity: &'a Activity,
    pub(super) definitions: &'a DefUse,
    pub(super) clobbers: &'a ReloadSafety,
    /// What is known of older versions of memory; `None` if nothing is to rest on it.
    pub(super) versions: Option<&'a Versions<'a>>,
    pub(super) inputs: &'a HashSet<Param>,
    /// The shapes that locals which are exchanged with others have in the end.
    pub(super) shapes: &'a Shapes,
}

impl Facts<'_> {
    /// Whether threads of a kernel wait for each other, or exchange numbers.
    fn cooperates(&self) -> bool {
        let mut found = false;
        walk(&self.function.body, &mut |node| {
            found |= matches!(node, Stmt::Barrier(_) | Stmt::Shuffle(_));
        });
        found
    }
}

/// The gradient under construction.
#[derive(Clone)]
pub(super) struct Reverse<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) b: Builder,
    /// The adjoint of each value so far.
    pub(super) adjoints: BTreeMap<ValueId, ValueId>,
    /// What stands for a forward value here.
    pub(super) here: HashMap<ValueId, ValueId>,
    pub(super) shadows: HashMap<ObjectId, ObjectId>,
    /// What stands for locals that were made again.
    pub(super) again: HashMap<ObjectId, ObjectId>,
    /// The copies of lists that go back in time.
    pub(super) backs: HashMap<ObjectId, ObjectId>,
    /// What both halves can see: the values and objects of blocks that hold both.
    pub(super) homes: HashSet<ValueId>,
    pub(super) home_objects: HashSet<ObjectId>,
    /// Values asked for that are not there: noted in the dry run.
    pub(super) needed: HashSet<ValueId>,
    pub(super) fusion: Fusion,
    pub(super) plan: Option<&'a Plan>,
    pub(super) saved: Saved,
}

/// What the dry run finds out.
#[derive(Debug)]
pub(super) struct Findings {
    /// The values the backward half asks for.
    pub(super) needed: HashSet<ValueId>,
    pub(super) homes: HashSet<ValueId>,
    pub(super) home_objects: HashSet<ObjectId>,
    pub(super) fusion: Fusion,
}

/// The dry run.
pub(super) fn explore(facts: &Facts<'_>) -> Findings {
    let mut reverse = Reverse::new(facts, None, Fusion::default());
    reverse.run();
    let Reverse { needed, homes, home_objects, fusion, .. } = reverse;
    Findings { needed, homes, home_objects, fusion }
}

/// The whole gradient.
pub(super) fn reverse(
    facts: &Facts<'_>,
    plan: &Plan,
    fusion: Fusion,
) -> (Function, Vec<Output>, Vec<StateChoice>) {
    let mut reverse = Reverse::new(facts, Some(plan), fusion);
    let outputs = reverse.run();
    let states = plan.choices_of_states(&reverse.saved);
    (reverse.b.finish(), outputs, states)
}

impl<'a> Reverse<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, plan: Option<&'a Plan>, fusion: Fusion) -> Self {
        let mut function = facts.function.clone();
        function.body.clear();
        Self {
            facts,
            b: Builder::new(function),
            adjoints: BTreeMap::new(),
            here: HashMap::new(),
            shadows: HashMap::new(),
            again: HashMap::new(),
            backs: HashMap::new(),
            homes: HashSet::new(),
            home_objects: HashSet::new(),
            needed: HashSet::new(),
            fusion,
            plan,
            saved: Saved::default(),
        }
    }

    /// Writes the backward half after the forward half, and completes the signature.
    fn run(&mut self) -> Vec<Output> {
        let function = self.facts.function;
        let mut params = Vec::new();
        let mut returned: HashMap<Param, ObjectId> = HashMap::new();
        for param in &function.params {
            params.push(*param);
            let object = match param {
                Param::Object(object) => object,
                Param::Value(value) => {
                    self.homes.insert(*value);
                    continue;
                }
            };
            self.home_objects.insert(*object);
            let origin = function.objects[object.index()].origin;
            if !self.facts.inputs.contains(param) {
                if self.facts.activity.object(*object) {
                    // Not an input, yet derivatives pass through its memory.
                    let shadow = self.new_shadow(*object, Origin::Local);
                    self.b.node(Stmt::New {
                        object: shadow,
                        init: stratape_ir::Init::ZeroLike(*object),
                    });
                }
                continue;
            }
            if origin == Origin::Owned {
                let shadow = self.new_shadow(*object, Origin::Local);
                self.b
                    .node(Stmt::New { object: shadow, init: stratape_ir::Init::ZeroLike(*object) });
                returned.insert(*param, shadow);
            } else {
                let shadow = self.new_shadow(*object, Origin::RefMut);
                params.push(Param::Object(shadow));
            }
        }
        for result in seeded(&function.results, |value| function.ty(value).is_float()) {
            let seed = self.b.function.new_value(function.ty(result), SourceId::NONE);
            self.b.function.values[seed.index()].name = Some("seed".to_owned());
            params.push(Param::Value(seed));
            self.add(result, seed);
        }
        self.b.function.params = params;
        self.home(Home::Function, &function.body);
        let mut outputs = Vec::new();
        let mut results = function.results.clone();
        for param in &function.params {
            match param {
                Param::Value(value) if self.facts.inputs.contains(param) => {
                    let ty = function.ty(*value);
                    let adjoint = match self.adjoints.get(value) {
                        Some(adjoint) => *adjoint,
                        None => self.zero(ty),
                    };
                    results.push(adjoint);
                    outputs.push(Output::Value(adjoint));
                }
                _ => outputs.extend(returned.get(param).map(|object| Output::Object(*object))),
            }
        }
        self.b.function.results = results;
        self.b.function.kept = returned.into_values().collect();
        outputs
    }

    pub(super) fn active(&self, value: ValueId) -> bool {
        self.facts.activity.value(value)
    }

    pub(super) fn ty(&self, value: ValueId) -> Scalar {
        self.facts.function.ty(value)
    }

    pub(super) fn span(&self, value: ValueId) -> SourceId {
        self.b.function.values[value.index()].span
    }

    pub(super) fn is_home(&self, object: ObjectId) -> bool {
        self.home_objects.contains(&object)
    }

    /// The literal a forward value is, if it is one.
    pub(super) fn literal(&self, value: ValueId) -> Option<&Op> {
        self.facts.definitions.op(value).filter(|op| op.is_constant())
    }

    /// What stands for a forward value in the backward half.
    pub(super) fn primal(&mut self, value: ValueId) -> ValueId {
        if let Some(here) = self.here.get(&value) {
            return *here;
        }
        if let Some(op) = self.literal(value).cloned() {
            let (ty, span) = (self.ty(value), self.span(value));
            return self.b.emit(op, ty, span);
        }
        if self.homes.contains(&value) {
            self.fusion.asked_home(value);
            return value;
        }
        self.needed.insert(value);
        self.fusion.asked_inner(value);
        value
    }

    /// Adds to the adjoint of a value.
    pub(super) fn add(&mut self, value: ValueId, part: ValueId) {
        if !self.active(value) {
            return;
        }
        let sum = match self.adjoints.get(&value) {
            None => part,
            Some(so_far) if matches!(self.b.constant(*so_far), Some(Op::Float(0.0, _))) => part,
            Some(so_far) => {
                let sum = self.b.binary(Binary::Add, *so_far, part, SourceId::NONE);
                self.is_adjoint(sum)
            }
        };
        self.adjoints.insert(value, sum);
    }

    /// Walks nodes from their end.
    pub(super) fn block(&mut self, block: &[Stmt]) {
        self.begin(block);
        for node in block.iter().rev() {
            self.node(node);
        }
    }

    /// Writes what must precede the backward half of a block: recomputed values, shadows of its locals.
    pub(super) fn begin(&mut self, block: &[Stmt]) {
        for node in block {
            match node {
                Stmt::Let { value, op } => {
                    self.recompute(*value, op);
                }
                Stmt::If(node) => {
                    for merge in &node.merges {
                        self.recompute_outcome(merge.value);
                    }
                }
                Stmt::New { object, init }
                    if self.facts.activity.object(*object)
                        && !self.shadows.contains_key(object) =>
                {
                    self.make_shadow(*object, init);
                }
                _ => {}
            }
        }
        for node in block {
            if let Stmt::New { object, .. } = node {
                self.make_again(*object);
            }
        }
    }

    /// Recomputes a forward value, and first what it is computed from: a value that is read from
    /// where it was stored may need an index that the program computes only afterwards.
    fn recompute(&mut self, value: ValueId, op: &Op) {
        let Some(plan) = self.plan else { return };
        if !plan.recomputed.contains(&value) || self.here.contains_key(&value) {
            return;
        }
        let mut op = plan.reloads.get(&value).unwrap_or(op).clone();
        let mut operands = Vec::new();
        op.for_each_operand(&mut |operand| operands.push(operand));
        for operand in operands {
            match self.facts.definitions.op(operand).cloned() {
                Some(before) => self.recompute(operand, &before),
                None => self.recompute_outcome(operand),
            }
            self.take_from_arm(operand);
        }
        if let Op::Load(place) | Op::Len(place) = &mut op {
            let copied = self.saved.copied.get(&place.object);
            let back = self.backs.get(&place.object).or(copied).copied();
            if let Some(back) = back.filter(|_| plan.versions.contains(&value)) {
                place.object = back;
            } else if let Some(there) = self.make_again(place.object) {
                place.object = there;
            }
        }
        op.for_each_operand_mut(&mut |operand| *operand = self.primal(*operand));
        let (ty, span) = (self.ty(value), self.span(value));
        let again = self.b.emit(op, ty, span);
        let name = self.b.function.values[value.index()].name.clone();
        let known = &mut self.b.function.values[again.index()].name;
        if known.is_none() {
            *known = name;
        }
        self.here.insert(value, again);
    }

    /// Computes the outcome of a branch again, by choosing.
    fn recompute_outcome(&mut self, value: ValueId) {
        let outcome = self.plan.and_then(|plan| plan.outcomes.get(&value));
        if let Some(outcome) = outcome {
            self.recompute(value, outcome);
        }
    }

    /// Has a value that was saved in an arm of a branch where the outcome is chosen.
    fn take_from_arm(&mut self, value: ValueId) {
        let saved = self.plan.is_some_and(|plan| plan.saved.contains(&value));
        if !saved || self.here.contains_key(&value) || self.homes.contains(&value) {
            return;
        }
        // It has left as many arms as there are around it.
        let mut outer = value;
        while !self.here.contains_key(&outer)
            && let Some(next) = self.saved.exported(outer)
        {
            outer = next;
        }
        if outer != value {
            let here = self.primal(outer);
            self.here.insert(value, here);
        }
    }

    pub(super) fn node(&mut self, node: &Stmt) {
        match node {
            Stmt::Let { value, op } => {
                if let Some(place) = self.facts.shapes.rows.get(value) {
                    self.make_row(place, *value);
                }
                let Some(d) = self.adjoints.remove(value) else { return };
                match op {
                    Op::Load(place) => {
                        if let Some(place) = self.shadow_place(place) {
                            self.b.node(Stmt::Accumulate { place, value: d, subtract: false });
                        }
                    }
                    op => self.propagate(*value, op, d),
                }
            }
            Stmt::Store { place, value } => {
                // What was there before has an adjoint of its own, unless it was a literal.
                let before = !self.facts.clobbers.once(place.object);
                let Some(place) = self.float_shadow(place) else { return };
                let ty = self.ty(*value);
                let span = self.span(*value);
                if self.active(*value) {
                    let d = self.b.emit(Op::Load(place.clone()), ty, span);
                    self.add(*value, d);
                }
                if before {
                    let zero = self.zero(ty);
                    self.b.node(Stmt::Store { place, value: zero });
                }
            }
            Stmt::Accumulate { place, value, subtract } => {
                self.accumulated(place, *value, *subtract);
            }
            // Minima and maxima of active numbers are refused beforehand.
            Stmt::Atomic(atomic) => self.accumulated(&atomic.place, atomic.value, false),
            Stmt::Barrier(barrier) => self.b.node(Stmt::Barrier(barrier.clone())),
            Stmt::Shuffle(shuffle) => self.shuffled(shuffle),
            Stmt::New { object, init } => {
                if let Some(shadow) = self.shadows.get(object).copied() {
                    let ty = self.facts.function.objects[object.index()].ty.clone();
                    self.propagate_init(&stratape_ir::Place::whole(shadow), &ty, init);
                }
            }
            Stmt::Swap { a, b } => {
                if let (Some(a), Some(b)) = (self.shadow_place(a), self.shadow_place(b)) {
                    self.b.node(Stmt::Swap { a, b });
                }
            }
            Stmt::Loop(inner) => {
                self.make_backs(node);
                self.repeat(inner);
            }
            Stmt::If(inner) => {
                self.make_backs(node);
                self.branch(inner);
            }
            Stmt::Call(call) => self.call(call),
            Stmt::Check { .. } => {}
            // A function that uses the tape is not differentiated.
            Stmt::Push { .. }
            | Stmt::Pop { .. }
            | Stmt::Save { .. }
            | Stmt::Restore { .. }
            | Stmt::Refill { .. } => {}
        }
    }

    /// The adjoint of `place += value`.
    fn accumulated(&mut self, place: &stratape_ir::Place, value: ValueId, subtract: bool) {
        if !self.active(value) {
            return;
        }
        let Some(place) = self.float_shadow(place) else { return };
        let (ty, span) = (self.ty(value), self.span(value));
        let mut d = self.b.emit(Op::Load(place), ty, span);
        if subtract {
            d = self.b.emit(Op::Unary(stratape_ir::Unary::Neg, d), ty, span);
        }
        self.add(value, d);
    }

    /// The place in the shadow, where a float is held.
    fn float_shadow(&mut self, place: &stratape_ir::Place) -> Option<stratape_ir::Place> {
        let ty = self.facts.function.place_type(place)?.scalar()?;
        if !ty.is_float() {
            return None;
        }
        self.shadow_place(place)
    }

    /// Marks a value as an adjoint.
    pub(super) fn is_adjoint(&mut self, value: ValueId) -> ValueId {
        self.b.function.values[value.index()].adjoint = true;
        value
    }

    pub(super) fn name_adjoint(&mut self, adjoint: ValueId, value: ValueId) {
        let name = self.b.function.values[value.index()]
            .name
            .as_ref()
            .map(|name| format!("d{}", name.trim_start_matches("r#")));
        self.b.function.values[adjoint.index()].name = name;
        self.is_adjoint(adjoint);
    }
}
