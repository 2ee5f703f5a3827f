//! Records: writes the forward half with its pushes.
//!
//! What a loop's body saves is one record, pushed at the end of each iteration. A saved value inside a
//! branch leaves it by a merge (zero where the other arm ran), so that the record of an iteration has
//! the same slots whatever path it took.

use std::collections::{HashMap, HashSet};

use super::Facts;
use super::call::propagates;
use super::rewind::PointId;
use super::save_plan::Plan;
use super::states::Point;
use crate::transform::index;
use stratape_ir::SourceId;
use stratape_ir::{
    Argument, Block, Call, Function, If, Int, Loop, Merge, ObjectId, Op, Place, Polynomial, Record,
    RecordId, Scalar, Slice, Stmt, StmtId, ValueId,
};

/// Where the saved values of the forward half went.
#[derive(Clone, Debug, Default)]
pub(in crate::ad) struct Saved {
    /// For each loop that saves (by its counter): the record, and the values in its slots.
    pub(super) records: HashMap<ValueId, (RecordId, Vec<ValueId>)>,
    /// For each arm (by its branch in the original): values that come out, and as what.
    pub(super) exports: HashMap<(StmtId, bool), Vec<(ValueId, ValueId)>>,
    /// For each call of the original: the slices it was passed that are copied, by their
    /// positions among the arguments.
    pub(super) copies: HashMap<StmtId, Vec<(usize, RecordId)>>,
    /// For each point at which a part of a list is saved: the record.
    pub(super) points: HashMap<PointId, RecordId>,
    /// For each list that is kept: the record.
    pub(super) kept: HashMap<ObjectId, RecordId>,
    /// For each list that is copied to memory: the copy.
    pub(super) copied: HashMap<ObjectId, ObjectId>,
}

impl Saved {
    /// What a value of an arm comes out of it as.
    pub(super) fn exported(&self, value: ValueId) -> Option<ValueId> {
        let mut all = self.exports.values().flatten();
        all.find(|(inner, _)| *inner == value).map(|(_, outer)| *outer)
    }
}

/// A piece of the forward half with its pushes.
pub(super) fn save(
    nodes: &[Stmt],
    plan: &Plan,
    facts: &Facts<'_>,
    homes: &HashSet<ObjectId>,
    function: &mut Function,
    saved: &mut Saved,
) -> Block {
    Saver { plan, facts, homes, function, saved }.block(nodes, None).0
}

/// A whole body with its pushes, and the values of it that are to be saved by its own record.
pub(super) fn save_all(
    nodes: &[Stmt],
    plan: &Plan,
    facts: &Facts<'_>,
    function: &mut Function,
    saved: &mut Saved,
) -> (Block, Vec<ValueId>) {
    Saver { plan, facts, homes: &HashSet::new(), function, saved }.block(nodes, None)
}

/// Copies to memory what a loop is about to overwrite.
pub(super) fn copy_before(
    plan: &Plan,
    counter: ValueId,
    function: &mut Function,
    saved: &mut Saved,
    out: &mut Block,
) {
    for state in plan.states.iter().filter(|state| state.copied == Some(counter)) {
        for object in &state.objects {
            let (copy, made) = function.new_copy(*object);
            out.push(made);
            saved.copied.insert(*object, copy);
        }
    }
}

struct Saver<'a> {
    plan: &'a Plan,
    facts: &'a Facts<'a>,
    homes: &'a HashSet<ObjectId>,
    function: &'a mut Function,
    saved: &'a mut Saved,
}

impl Saver<'_> {
    /// The block with its pushes, and the values of it that are to be saved; of a loop, by its counter, or of an arm.
    fn block(&mut self, block: &[Stmt], counter: Option<ValueId>) -> (Block, Vec<ValueId>) {
        let mut out = Block::new();
        let mut values = Vec::new();
        let plan = self.plan;
        let points = counter.map(|counter| plan.points(counter)).unwrap_or_default();
        for (at, node) in block.iter().enumerate() {
            for (id, _, point) in points.iter().filter(|(_, _, point)| point.at == at) {
                self.point(*id, point, &mut out);
            }
            match node {
                Stmt::Loop(node) => {
                    copy_before(self.plan, node.counter, self.function, self.saved, &mut out);
                    out.push(Stmt::Loop(Box::new(self.repeat(node))));
                }
                Stmt::If(node) => {
                    let (node, exported) = self.branch(node);
                    out.push(Stmt::If(Box::new(node)));
                    values.extend(exported);
                }
                Stmt::Call(call) => {
                    out.push(node.clone());
                    out.extend(self.copies(call));
                }
                node => out.push(node.clone()),
            }
            node.for_each_result(&mut |value| {
                if self.plan.saved.contains(&value) {
                    values.push(value);
                }
            });
        }
        (out, values)
    }

    /// Copies of what a call was passed, where its pullback will ask for it and it will be gone.
    fn copies(&mut self, call: &Call) -> Vec<Stmt> {
        let mut nodes = Vec::new();
        if call.pullback.is_none() || call.recursion.is_some() || !propagates(self.facts, call) {
            return nodes;
        }
        let mut copied = Vec::new();
        for (position, argument) in call.arguments.iter().enumerate() {
            let Argument::Slice(slice) = argument else { continue };
            let object = slice.place.object;
            if self.homes.contains(&object) && !self.facts.clobbers.passed(call, object) {
                continue;
            }
            let record = self.copy_record();
            nodes.push(Stmt::Save { record, slice: Slice { mutable: false, ..slice.clone() } });
            copied.push((position, record));
        }
        self.saved.copies.insert(call.id, copied);
        nodes
    }

    /// A kind of record of its own, for a copy of a list.
    fn copy_record(&mut self) -> RecordId {
        self.function.records.push(Record::new(Vec::new(), Vec::new()));
        RecordId((self.function.records.len() - 1) as u32)
    }

    /// Saves a part of a list that is about to be overwritten.
    fn point(&mut self, id: PointId, point: &Point, out: &mut Block) {
        let part = point.hull.as_ref().map(|hull| {
            let one = Polynomial::number(1);
            if hull.partly {
                let end = hull.last.plus(&one);
                return self.within(point.object, &hull.first, &end, out);
            }
            let first = self.index(&hull.first, out);
            let len = hull.last.minus(&hull.first).plus(&one);
            (first, self.index(&len, out))
        });
        let record = self.copy_record();
        let slice = Slice { place: Place::whole(point.object), part, mutable: false };
        out.push(Stmt::Save { record, slice });
        self.saved.points.insert(id, record);
    }

    /// The part of a list that a range covers which may reach beyond it: where it begins, and how long it is.
    fn within(
        &mut self,
        object: ObjectId,
        first: &Polynomial,
        end: &Polynomial,
        out: &mut Block,
    ) -> (ValueId, ValueId) {
        let len = self.op(Op::Len(Place::whole(object)), out);
        let start = self.not_negative(first, out);
        let end = self.not_negative(end, out);
        let end = self.op(Op::Method("min".to_owned(), vec![end, len]), out);
        if first.as_number() == Some(0) {
            return (start, end);
        }
        (start, self.op(Op::Method("saturating_sub".to_owned(), vec![end, start]), out))
    }

    /// An index, or 0 where it is negative.
    fn not_negative(&mut self, polynomial: &Polynomial, out: &mut Block) -> ValueId {
        let is_natural = |symbol: &ValueId| match self.function.ty(*symbol) {
            Scalar::Int(int) => !int.signed(),
            _ => false,
        };
        let natural = polynomial
            .terms()
            .all(|(symbols, factor)| factor > 0 && symbols.iter().all(is_natural));
        let index = self.index(polynomial, out);
        if natural {
            return index;
        }
        let signed = Scalar::Int(Int::Isize);
        let mut define = |op: Op, ty: Scalar| self.function.define(out, ty, op, SourceId::NONE);
        let index = define(Op::Cast(index, signed), signed);
        let zero = define(Op::Int(0), signed);
        let index = define(Op::Method("max".to_owned(), vec![index, zero]), signed);
        define(Op::Cast(index, Scalar::USIZE), Scalar::USIZE)
    }

    /// An index, exact where it lies in a list.
    fn index(&mut self, polynomial: &Polynomial, out: &mut Block) -> ValueId {
        index(self.function, polynomial, out)
    }

    fn op(&mut self, op: Op, out: &mut Block) -> ValueId {
        self.function.define(out, Scalar::USIZE, op, SourceId::NONE)
    }

    /// Saves the lists that a block makes and that are kept.
    fn keep(&mut self, block: &[Stmt], out: &mut Block) {
        for node in block {
            let Stmt::New { object, .. } = node else { continue };
            if self.plan.keeps(*object) {
                let record = self.copy_record();
                let place = Place::whole(*object);
                let slice = Slice { place, part: None, mutable: false };
                out.push(Stmt::Save { record, slice });
                self.saved.kept.insert(*object, record);
            }
        }
    }

    fn repeat(&mut self, node: &Loop) -> Loop {
        let (mut body, mut values) = self.block(&node.body, Some(node.counter));
        let insides = node.carried.iter().map(|carried| carried.inside);
        values.extend(insides.filter(|inside| self.plan.saved.contains(inside)));
        if !values.is_empty() {
            let function = &mut *self.function;
            let types = values.iter().map(|value| function.ty(*value)).collect();
            function.records.push(Record::new(values.clone(), types));
            let record = RecordId((function.records.len() - 1) as u32);
            body.push(Stmt::Push { record, values: values.clone() });
            self.saved.records.insert(node.counter, (record, values));
        }
        self.keep(&node.body, &mut body);
        Loop { body, ..node.clone() }
    }

    fn branch(&mut self, node: &If) -> (If, Vec<ValueId>) {
        let (mut then, from_then) = self.block(&node.then, None);
        let (mut other, from_other) = self.block(&node.other, None);
        self.keep(&node.then, &mut then);
        self.keep(&node.other, &mut other);
        let mut merges = node.merges.clone();
        let mut exported = Vec::new();
        let mut tables = [Vec::new(), Vec::new()];
        // One slot serves both arms where the types agree: only one of them runs. Not in a kernel: one arm may hold a number on which all threads agree,
        // such as how often a loop with barriers ran, and the other one on which they do not.
        let apart = self.function.kernel;
        let mut left = from_other;
        for value in from_then {
            let ty = self.function.ty(value);
            let alike = |other: &ValueId| !apart && self.function.ty(*other) == ty;
            let partner = left.iter().position(alike);
            let partner = partner.map(|at| left.remove(at));
            let dummy = partner.unwrap_or_else(|| self.zero(ty, &mut other));
            let out = self.function.new_value_like(value);
            merges.push(Merge { value: out, then: value, other: dummy });
            tables[0].push((value, out));
            if let Some(partner) = partner {
                tables[1].push((partner, out));
            }
            exported.push(out);
        }
        for value in left {
            let ty = self.function.ty(value);
            let dummy = self.zero(ty, &mut then);
            let out = self.function.new_value_like(value);
            merges.push(Merge { value: out, then: dummy, other: value });
            tables[1].push((value, out));
            exported.push(out);
        }
        let [of_then, of_other] = tables;
        self.saved.exports.insert((node.id, true), of_then);
        self.saved.exports.insert((node.id, false), of_other);
        (If { then, other, merges, ..node.clone() }, exported)
    }

    fn zero(&mut self, ty: Scalar, block: &mut Block) -> ValueId {
        self.function.define(block, ty, Op::zero(ty), SourceId::NONE)
    }
}
