//! The backward half.
//!
//! The forward half is walked from its end. The adjoint of a value is a value too; each use adds
//! to it, and its definition hands it on to the operands. Around loops and branches adjoints are
//! carried and merged like any variable. A carried adjoint that no iteration changes (that of a plain
//! sum) is found to be constant and is no longer carried.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::Span;

use super::Output;
use super::choose::Plan;
use super::home::Fusion;
use super::save::{Saved, address};
use crate::analysis::{Activity, Clobbers, Definitions};
use crate::ir::{
    Binary, Block, Builder, Carried, Function, If, Loop, Merge, Node, ObjectId, Op, Origin, Param,
    Range, Scalar, Substitution, ValueId,
};

/// What is known of the function to differentiate.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) function: &'a Function,
    pub(super) activity: &'a Activity,
    pub(super) definitions: &'a Definitions,
    pub(super) clobbers: &'a Clobbers,
    pub(super) inputs: &'a HashSet<Param>,
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

/// The dry run for a function in two halves, which share nothing but the tape.
pub(super) fn explore_split(facts: &Facts<'_>) -> Findings {
    let mut reverse = Reverse::new(facts, None, Fusion::default());
    reverse.backward_function(None);
    let Reverse { needed, homes, home_objects, fusion, .. } = reverse;
    Findings { needed, homes, home_objects, fusion }
}

/// Both halves as functions.
pub(super) fn split(facts: &Facts<'_>, plan: &Plan) -> (Function, Function) {
    let mut forward = facts.function.clone();
    let mut saved = Saved::default();
    let (mut body, values) =
        super::save::save_all(&facts.function.body, plan, facts, &mut forward, &mut saved);
    let record = (!values.is_empty()).then(|| {
        let types = values.iter().map(|value| forward.ty(*value)).collect();
        forward.records.push(crate::ir::Record { slots: values.clone(), types });
        let record = crate::ir::RecordId((forward.records.len() - 1) as u32);
        body.push(Node::Push { record, values: values.clone() });
        (record, values)
    });
    forward.body = body;
    let mut reverse = Reverse::new(facts, Some(plan), Fusion::default());
    reverse.b = Builder::new(Function { body: Block::new(), ..forward.clone() });
    reverse.saved = saved;
    reverse.backward_function(record);
    (forward, reverse.b.finish())
}

/// The whole gradient.
pub(super) fn reverse(facts: &Facts<'_>, plan: &Plan, fusion: Fusion) -> (Function, Vec<Output>) {
    let mut reverse = Reverse::new(facts, Some(plan), fusion);
    let outputs = reverse.run();
    (reverse.b.finish(), outputs)
}

impl<'a> Reverse<'a> {
    fn new(facts: &'a Facts<'a>, plan: Option<&'a Plan>, fusion: Fusion) -> Self {
        let mut function = facts.function.clone();
        function.body.clear();
        Self {
            facts,
            b: Builder::new(function),
            adjoints: BTreeMap::new(),
            here: HashMap::new(),
            shadows: HashMap::new(),
            homes: HashSet::new(),
            home_objects: HashSet::new(),
            needed: HashSet::new(),
            fusion,
            plan,
            saved: Saved::default(),
        }
    }

    /// Writes the backward half as a function of its own: of the scalars, the shadows and the seed.
    fn backward_function(&mut self, record: Option<(crate::ir::RecordId, Vec<ValueId>)>) {
        let function = self.facts.function;
        let mut params = Vec::new();
        for param in &function.params {
            match param {
                Param::Value(value) => {
                    self.homes.insert(*value);
                    params.push(*param);
                }
                Param::Object(object) if self.facts.inputs.contains(param) => {
                    let shadow = self.new_shadow(*object, Origin::Exclusive);
                    params.push(Param::Object(shadow));
                }
                Param::Object(_) => {}
            }
        }
        if let Some(result) = function.results.first() {
            let seed = self.b.function.new_value(function.ty(*result), Span::call_site());
            self.b.function.values[seed.index()].name = Some("seed".to_owned());
            params.push(Param::Value(seed));
            if self.active(*result) {
                self.adjoints.insert(*result, seed);
            }
        }
        self.b.function.params = params;
        if let Some((record, slots)) = record {
            let values: Vec<_> =
                slots.iter().map(|slot| self.b.function.new_value_like(*slot)).collect();
            self.here.extend(slots.into_iter().zip(values.iter().copied()));
            self.b.node(Node::Pop { record, values });
        }
        self.block(&function.body);
        let mut results = Vec::new();
        for param in &function.params {
            if let Param::Value(value) = param
                && self.facts.inputs.contains(param)
            {
                results.push(match self.adjoints.get(value) {
                    Some(adjoint) => *adjoint,
                    None => self.zero(function.ty(*value)),
                });
            }
        }
        self.b.function.results = results;
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
                    self.b.node(Node::New {
                        object: shadow,
                        init: crate::ir::Init::ZeroLike(*object),
                    });
                }
                continue;
            }
            if origin == Origin::Owned {
                let shadow = self.new_shadow(*object, Origin::Local);
                self.b.node(Node::New { object: shadow, init: crate::ir::Init::ZeroLike(*object) });
                returned.insert(*param, shadow);
            } else {
                let shadow = self.new_shadow(*object, Origin::Exclusive);
                params.push(Param::Object(shadow));
            }
        }
        if let Some(result) = function.results.first() {
            let seed = self.b.function.new_value(function.ty(*result), Span::call_site());
            self.b.function.values[seed.index()].name = Some("seed".to_owned());
            params.push(Param::Value(seed));
            if self.active(*result) {
                self.adjoints.insert(*result, seed);
            }
        }
        self.b.function.params = params;
        self.home(&function.body);
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

    pub(super) fn span(&self, value: ValueId) -> Span {
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
                let sum = self.b.binary(Binary::Add, *so_far, part, Span::call_site());
                self.is_adjoint(sum)
            }
        };
        self.adjoints.insert(value, sum);
    }

    /// Walks nodes from their end.
    pub(super) fn block(&mut self, block: &[Node]) {
        self.begin(block);
        for node in block.iter().rev() {
            self.node(node);
        }
    }

    /// What must be there before a block is run backward: recomputed values, shadows of its locals.
    pub(super) fn begin(&mut self, block: &[Node]) {
        for node in block {
            match node {
                Node::Let { value, op } => {
                    self.recompute(*value, op);
                }
                Node::New { object, init }
                    if self.facts.activity.object(*object)
                        && !self.shadows.contains_key(object) =>
                {
                    self.make_shadow(*object, init);
                }
                _ => {}
            }
        }
    }

    /// Computes a forward value again, and first what it is computed from: a value that is read from
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
            if let Some(before) = self.facts.definitions.op(operand).cloned() {
                self.recompute(operand, &before);
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

    pub(super) fn node(&mut self, node: &Node) {
        match node {
            Node::Let { value, op } => {
                let Some(d) = self.adjoints.remove(value) else { return };
                match op {
                    Op::Load(place) => {
                        if let Some(place) = self.shadow_place(place) {
                            self.b.node(Node::Accumulate { place, value: d, subtract: false });
                        }
                    }
                    op => self.propagate(*value, op, d),
                }
            }
            Node::Store { place, value } => {
                let Some(place) = self.float_shadow(place) else { return };
                let ty = self.ty(*value);
                let span = self.span(*value);
                if self.active(*value) {
                    let d = self.b.emit(Op::Load(place.clone()), ty, span);
                    self.add(*value, d);
                }
                let zero = self.zero(ty);
                self.b.node(Node::Store { place, value: zero });
            }
            Node::Accumulate { place, value, subtract } => {
                if !self.active(*value) {
                    return;
                }
                let Some(place) = self.float_shadow(place) else { return };
                let (ty, span) = (self.ty(*value), self.span(*value));
                let mut d = self.b.emit(Op::Load(place), ty, span);
                if *subtract {
                    d = self.b.emit(Op::Unary(crate::ir::Unary::Neg, d), ty, span);
                }
                self.add(*value, d);
            }
            Node::New { object, init } => {
                if let Some(shadow) = self.shadows.get(object).copied() {
                    let ty = self.facts.function.objects[object.index()].ty.clone();
                    self.propagate_init(&crate::ir::Place::whole(shadow), &ty, init);
                }
            }
            Node::Loop(node) => self.repeat(node),
            Node::If(node) => self.branch(node),
            Node::Call(call) => self.call(call),
            Node::Check { .. }
            | Node::Push { .. }
            | Node::Pop { .. }
            | Node::Save { .. }
            | Node::Restore { .. } => {}
        }
    }

    /// The place in the shadow, where a float is held.
    fn float_shadow(&mut self, place: &crate::ir::Place) -> Option<crate::ir::Place> {
        let ty = self.facts.function.place_type(place)?.scalar()?;
        if !ty.is_float() {
            return None;
        }
        self.shadow_place(place)
    }

    /// Starts the body of a loop in which the adjoints of `touched` may change.
    pub(super) fn enter_loop(&mut self, touched: Vec<ValueId>) -> LoopScope {
        let outer = std::mem::take(&mut self.adjoints);
        let mut insides = Vec::new();
        for value in touched {
            let inside = self.b.function.new_value_like(value);
            self.name_adjoint(inside, value);
            self.adjoints.insert(value, inside);
            insides.push((value, inside));
        }
        self.b.open();
        LoopScope { outer, insides }
    }

    /// Ends the body: adjoints that changed are carried, the others are what they were before.
    pub(super) fn leave_loop(&mut self, scope: LoopScope) -> (Block, Vec<Carried>, Substitution) {
        let body = self.b.close();
        let inner = std::mem::replace(&mut self.adjoints, scope.outer);
        let mut carried = Vec::new();
        let mut substitution = Substitution::default();
        for (value, inside) in scope.insides {
            let next = inner.get(&value).copied().unwrap_or(inside);
            let init = self.adjoints.get(&value).copied();
            if next == inside {
                if let Some(init) = init {
                    substitution.value(inside, init);
                }
                continue;
            }
            let init = match init {
                Some(init) => init,
                None => self.zero(self.ty(value)),
            };
            let after = self.b.function.new_value_like(inside);
            carried.push(Carried { init, inside, next, after });
            self.adjoints.insert(value, after);
        }
        (body, carried, substitution)
    }

    /// Marks a value as an adjoint.
    pub(super) fn is_adjoint(&mut self, value: ValueId) -> ValueId {
        self.b.function.values[value.index()].adjoint = true;
        value
    }

    pub(super) fn name_adjoint(&mut self, adjoint: ValueId, value: ValueId) {
        let name =
            self.b.function.values[value.index()].name.as_ref().map(|name| format!("d{name}"));
        self.b.function.values[adjoint.index()].name = name;
        self.is_adjoint(adjoint);
    }

    /// Appends a loop of the backward half.
    pub(super) fn append_loop(&mut self, node: Loop, substitution: &Substitution) {
        if node.body.is_empty() && node.carried.is_empty() {
            return;
        }
        let mut block = vec![Node::Loop(Box::new(node))];
        substitution.apply(&mut block);
        block.into_iter().for_each(|node| self.b.node(node));
    }

    /// Values from outside that a body may add adjoints to.
    pub(super) fn touched(
        &self,
        used: HashSet<ValueId>,
        defined: &HashSet<ValueId>,
    ) -> Vec<ValueId> {
        let mut touched: Vec<_> = used
            .into_iter()
            .filter(|value| self.active(*value) && !defined.contains(value))
            .collect();
        touched.sort_unstable();
        touched
    }

    fn repeat(&mut self, node: &Loop) {
        let span = node.span;
        let counter = self.b.function.new_value_like(node.counter);
        self.here.insert(node.counter, counter);
        let (scope, flows) = self.enter_body(node);
        if let Some((record, slots)) = self.saved.records.get(&node.counter).cloned() {
            let values: Vec<_> =
                slots.iter().map(|slot| self.b.function.new_value_like(*slot)).collect();
            self.here.extend(slots.into_iter().zip(values.iter().copied()));
            self.b.node(Node::Pop { record, values });
        }
        self.block(&node.body);
        let ended = self.leave_body(scope, flows);
        if ended.body.is_empty() && ended.carried.is_empty() {
            self.add_all(ended.inits);
            return;
        }
        let (range, reversed) = self.backward_range(node);
        let node = Loop {
            counter,
            range,
            reversed,
            unordered: false,
            carried: ended.carried,
            exit: None,
            trips: None,
            body: ended.body,
            span,
        };
        self.append_loop(node, &ended.substitution);
        self.add_all(ended.inits);
    }

    /// Starts the body of a loop's backward half: the adjoint of what the loop leaves enters as
    /// the adjoint of what an iteration hands on.
    pub(super) fn enter_body(&mut self, node: &Loop) -> (LoopScope, Vec<Flow>) {
        let mut used = crate::ir::used(&node.body);
        used.extend(node.carried.iter().map(|carried| carried.next));
        let mut defined = crate::ir::defined(&node.body);
        defined.extend(node.carried.iter().map(|carried| carried.inside));
        let touched = self.touched(used, &defined);
        let mut flows = Vec::new();
        for carried in &node.carried {
            if self.active(carried.inside) || self.active(carried.after) {
                let init = self.adjoints.remove(&carried.after);
                flows.push(Flow {
                    primal: *carried,
                    init,
                    inside: carried.inside,
                    next: carried.inside,
                });
            }
        }
        let scope = self.enter_loop(touched);
        for flow in &mut flows {
            flow.inside = self.b.function.new_value_like(flow.primal.inside);
            self.name_adjoint(flow.inside, flow.primal.inside);
        }
        for flow in &flows {
            self.add(flow.primal.next, flow.inside);
        }
        (scope, flows)
    }

    /// Ends it: the adjoint of what an iteration saw goes to the one before.
    pub(super) fn leave_body(&mut self, scope: LoopScope, mut flows: Vec<Flow>) -> Ended {
        for flow in &mut flows {
            flow.next = match self.adjoints.remove(&flow.primal.inside) {
                Some(next) => next,
                None => self.zero(self.ty(flow.primal.inside)),
            };
        }
        let (body, mut carried, mut substitution) = self.leave_loop(scope);
        let mut inits = Vec::new();
        for Flow { primal, init, inside, next } in flows {
            let init = match init {
                Some(init) => init,
                None => self.zero(self.ty(primal.inside)),
            };
            if next == inside {
                substitution.value(inside, init);
                inits.push((primal.init, init));
            } else {
                let after = self.b.function.new_value_like(inside);
                carried.push(Carried { init, inside, next, after });
                inits.push((primal.init, after));
            }
        }
        Ended { body, carried, substitution, inits }
    }

    /// Hands on what a loop leaves, once the loop stands.
    pub(super) fn add_all(&mut self, parts: Vec<(ValueId, ValueId)>) {
        for (value, part) in parts {
            self.add(value, part);
        }
    }

    /// The iterations that were run, in the opposite order.
    fn backward_range(&mut self, node: &Loop) -> (Range, bool) {
        let span = node.span;
        match (node.range, node.trips) {
            (Range::UpTo { from, to }, None) => {
                (Range::UpTo { from: self.primal(from), to: self.primal(to) }, !node.reversed)
            }
            (Range::UpTo { from, to }, Some(trips)) => {
                let ty = self.ty(from);
                let trips = self.primal(trips);
                let count = if ty == Scalar::USIZE {
                    trips
                } else {
                    self.b.emit(Op::Cast(trips, ty), ty, span)
                };
                if node.reversed {
                    let to = self.primal(to);
                    let from = self.b.binary(Binary::Sub, to, count, span);
                    (Range::UpTo { from, to }, false)
                } else {
                    let from = self.primal(from);
                    let to = self.b.binary(Binary::Add, from, count, span);
                    (Range::UpTo { from, to }, true)
                }
            }
            (Range::Forever, trips) => {
                let from = self.b.usize(0, span);
                let to = match trips {
                    Some(trips) => self.primal(trips),
                    None => from,
                };
                (Range::UpTo { from, to }, true)
            }
        }
    }

    fn branch(&mut self, node: &If) {
        let (then, other, merges) = self.arms(node, &mut |me, then, block| {
            if let Some(exports) = me.saved.exports.get(&(address(node), then)).cloned() {
                for (inner, outer) in exports {
                    let here = me.primal(outer);
                    me.here.insert(inner, here);
                }
            }
            me.block(block);
        });
        if then.is_empty() && other.is_empty() && merges.is_empty() {
            return;
        }
        // Asked for only now: a branch without adjoints does not need it.
        let condition = self.primal(node.condition);
        self.b.node(Node::If(Box::new(If { condition, then, other, merges, span: node.span })));
    }

    /// Both arms of a branch, written by `write`, and the merges of their adjoints.
    pub(super) fn arms(
        &mut self,
        node: &If,
        write: &mut dyn FnMut(&mut Self, bool, &[Node]),
    ) -> (Block, Block, Vec<Merge>) {
        let mut merged = Vec::new();
        for merge in &node.merges {
            if let Some(d) = self.adjoints.remove(&merge.value) {
                merged.push((*merge, d));
            }
        }
        let base = self.adjoints.clone();
        let mut arm = |me: &mut Self, is_then: bool| {
            me.adjoints = base.clone();
            me.b.open();
            for (merge, d) in &merged {
                me.add(if is_then { merge.then } else { merge.other }, *d);
            }
            write(me, is_then, if is_then { &node.then } else { &node.other });
            (me.b.close(), std::mem::take(&mut me.adjoints))
        };
        let (mut then, adjoints_then) = arm(self, true);
        let (mut other, adjoints_other) = arm(self, false);
        let inner: HashSet<ValueId> = crate::ir::defined(&node.then)
            .into_iter()
            .chain(crate::ir::defined(&node.other))
            .collect();
        let mut values: Vec<ValueId> =
            adjoints_then.keys().chain(adjoints_other.keys()).copied().collect();
        values.sort_unstable();
        values.dedup();
        let mut merges = Vec::new();
        self.adjoints = base;
        for value in values {
            if inner.contains(&value) {
                continue;
            }
            let (a, b) = (adjoints_then.get(&value).copied(), adjoints_other.get(&value).copied());
            if a == b {
                self.adjoints.extend(a.map(|same| (value, same)));
                continue;
            }
            let ty = self.ty(value);
            let a = a.unwrap_or_else(|| self.zero_in(&mut then, ty));
            let b = b.unwrap_or_else(|| self.zero_in(&mut other, ty));
            let out = self.b.function.new_value(ty, node.span);
            self.name_adjoint(out, value);
            merges.push(Merge { value: out, then: a, other: b });
            self.adjoints.insert(value, out);
        }
        (then, other, merges)
    }

    pub(super) fn zero_in(&mut self, block: &mut Block, ty: Scalar) -> ValueId {
        self.b.reopen(std::mem::take(block));
        let zero = self.zero(ty);
        *block = self.b.close();
        zero
    }
}

/// The body of a loop of the backward half, while it is open.
#[derive(Debug)]
pub(super) struct LoopScope {
    outer: BTreeMap<ValueId, ValueId>,
    insides: Vec<(ValueId, ValueId)>,
}

/// The adjoint of a carried value, through the body of a loop.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) primal: Carried,
    init: Option<ValueId>,
    pub(super) inside: ValueId,
    next: ValueId,
}

/// The body of a loop of the backward half, complete.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) body: Block,
    pub(super) carried: Vec<Carried>,
    pub(super) substitution: Substitution,
    /// What enters the first iteration, and what is added to its adjoint after the loop.
    pub(super) inits: Vec<(ValueId, ValueId)>,
}
