//! Loops and branches of the backward half.
//!
//! A loop runs over the iterations that were run, in the opposite direction. Adjoints of outer values that the body adds to are carried around
//! it, and merged after branches, like any variable; an adjoint that no iteration changes is not carried.

use std::collections::{BTreeMap, HashSet};

use super::Reverse;
use stratape_ir::{
    Binary, Block, Carried, If, Loop, Merge, Op, Range, Scalar, Stmt, StmtId, Substitution, ValueId,
};

impl Reverse<'_> {
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

    /// Appends a loop of the backward half.
    pub(super) fn append_loop(&mut self, node: Loop, substitution: &Substitution) {
        if node.body.is_empty() && node.carried.is_empty() {
            return;
        }
        let mut block = vec![Stmt::Loop(Box::new(node))];
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

    pub(super) fn repeat(&mut self, node: &Loop) {
        let span = node.span;
        let counter = self.b.function.new_value_like(node.counter);
        self.here.insert(node.counter, counter);
        let (scope, flows) = self.enter_body(node);
        self.restore_kept(&node.body);
        if let Some((record, slots)) = self.saved.records.get(&node.counter).cloned() {
            let values: Vec<_> =
                slots.iter().map(|slot| self.b.function.new_restored(*slot)).collect();
            self.here.extend(slots.into_iter().zip(values.iter().copied()));
            self.b.node(Stmt::Pop { record, values });
        }
        self.rewound_body(node);
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
            parallel: node.parallel,
            schedule: None,
            body: ended.body,
            span,
        };
        self.append_loop(node, &ended.substitution);
        self.add_all(ended.inits);
    }

    /// Starts the body of a loop's backward half: the adjoint of what the loop leaves enters as
    /// the adjoint of what an iteration hands on.
    pub(super) fn enter_body(&mut self, node: &Loop) -> (LoopScope, Vec<Flow>) {
        let mut used = stratape_ir::used(&node.body);
        used.extend(node.carried.iter().map(|carried| carried.next));
        let mut defined = stratape_ir::defined(&node.body);
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

    pub(super) fn branch(&mut self, node: &If) {
        let (then, other, merges) = self.arms(node, &mut |me, then, block| {
            me.restore_kept(block);
            if let Some(exports) = me.saved.exports.get(&(node.id, then)).cloned() {
                for (inner, outer) in exports {
                    let here = me.primal(outer);
                    me.here.insert(inner, here);
                }
            }
            me.block(block);
        });
        // What is only computed again in an arm is for nobody.
        let idle = |arm: &Block| arm.iter().all(|node| matches!(node, Stmt::Let { .. }));
        if idle(&then) && idle(&other) && merges.is_empty() {
            return;
        }
        // Asked for only now: a branch without adjoints does not need it.
        let condition = self.primal(node.condition);
        self.b.node(Stmt::If(Box::new(If {
            id: StmtId::NONE,
            condition,
            then,
            other,
            merges,
            span: node.span,
        })));
    }

    /// Both arms of a branch, written by `write`, and the merges of their adjoints.
    pub(super) fn arms(
        &mut self,
        node: &If,
        write: &mut dyn FnMut(&mut Self, bool, &[Stmt]),
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
        let inner: HashSet<ValueId> = stratape_ir::defined(&node.then)
            .into_iter()
            .chain(stratape_ir::defined(&node.other))
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
