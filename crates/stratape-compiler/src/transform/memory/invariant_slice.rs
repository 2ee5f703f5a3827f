//! The slice of an inner loop that is invariant in the loop around it, and tables that hold its results.
//!
//! A *chain* is made of the operations that depend on the inner loop's counter and on nothing of the outer loop. They can be done as well in
//! another loop over the same range, before the outer one or after it, if that one runs at all. Used by `precompute` and `invariant_factor`.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::transform::canonical::written;
use crate::transform::{is_total, runs};
use stratape_ir::{
    Binary, Block, Compare, Function, If, Loop, Object, ObjectId, Op, Origin, Place, Range, Scalar,
    SourceId, Step, Stmt, StmtId, Type, ValueId, defined, made, swapped, used,
};

/// A loop with loops inside that may repeat something.
pub(crate) struct Outer {
    range: (ValueId, ValueId),
    /// Whether it is known to run.
    runs: bool,
    /// What may change from one iteration to the next.
    inside: HashSet<ValueId>,
    changed: HashSet<ObjectId>,
    made: HashSet<ObjectId>,
    swapped: HashSet<ObjectId>,
}

impl Outer {
    /// Reads a loop. One that may end early does not do every operation of its range.
    pub(crate) fn read(node: &Loop, integers: &HashMap<ValueId, i128>) -> Option<Self> {
        let Range::UpTo { from, to } = node.range else { return None };
        if node.exit.is_some() {
            return None;
        }
        let mut inside = defined(&node.body);
        inside.insert(node.counter);
        inside.extend(node.carried.iter().map(|carried| carried.inside));
        Some(Self {
            range: (from, to),
            runs: runs(integers, from, to),
            inside,
            changed: written(&node.body),
            made: made(&node.body),
            swapped: swapped(&node.body),
        })
    }
}

/// The operations of an inner loop that are the same in every iteration of the outer.
pub(crate) struct InvariantSlice<'a> {
    outer: &'a Outer,
    counter: ValueId,
    range: (ValueId, ValueId),
    ops: HashMap<ValueId, Op>,
}

impl<'a> InvariantSlice<'a> {
    /// Reads an inner loop, if it goes through the same range in every iteration of the outer.
    pub(crate) fn read(function: &Function, outer: &'a Outer, inner: &Loop) -> Option<Self> {
        let Range::UpTo { from, to } = inner.range else { return None };
        let fixed = !outer.inside.contains(&from) && !outer.inside.contains(&to);
        if !fixed || inner.exit.is_some() || function.ty(inner.counter) != Scalar::USIZE {
            return None;
        }
        let mut chain =
            Self { outer, counter: inner.counter, range: (from, to), ops: HashMap::new() };
        for item in &inner.body {
            let Stmt::Let { value, op } = item else { continue };
            let mut fits = match op {
                Op::Load(place) => {
                    !outer.changed.contains(&place.object) && !outer.made.contains(&place.object)
                }
                Op::Len(place) => {
                    !outer.made.contains(&place.object) && !outer.swapped.contains(&place.object)
                }
                op => {
                    let ty = function.ty(*value);
                    is_total(op, ty) || matches!(ty, Scalar::Int(_))
                }
            };
            op.for_each_operand(&mut |operand| fits = fits && chain.is_fixed(operand));
            if fits {
                chain.ops.insert(*value, op.clone());
            }
        }
        Some(chain)
    }

    /// Whether a value of the inner loop is the same in every iteration of the outer.
    pub(crate) fn is_fixed(&self, value: ValueId) -> bool {
        value == self.counter
            || self.ops.contains_key(&value)
            || !self.outer.inside.contains(&value)
    }

    /// Whether a value is computed in the chain, by an operation of a kind or from one.
    pub(crate) fn has(&self, value: ValueId, kind: &dyn Fn(&Op) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            if seen.insert(value)
                && let Some(op) = self.ops.get(&value)
            {
                if kind(op) {
                    return true;
                }
                op.for_each_operand(&mut |operand| left.push(operand));
            }
        }
        false
    }

    /// The floats of the chain that something outside it uses.
    pub(crate) fn wanted(&self, function: &Function, inner: &Loop) -> Vec<ValueId> {
        let mut wanted = HashSet::new();
        for item in &inner.body {
            let in_chain = matches!(item, Stmt::Let { value, .. } if self.ops.contains_key(value));
            if !in_chain {
                wanted.extend(used(&vec![item.clone()]));
            }
        }
        wanted.extend(inner.carried.iter().map(|carried| carried.next));
        let mut found: Vec<ValueId> = wanted
            .into_iter()
            .filter(|value| self.ops.contains_key(value) && function.ty(*value).is_float())
            .collect();
        found.sort_unstable();
        found
    }

    /// Fills the table of one value, and lets the inner loop read it.
    pub(crate) fn fill(
        &self,
        function: &mut Function,
        inner: &mut Loop,
        value: ValueId,
        table: ObjectId,
    ) -> Stmt {
        let mut again = Replay::new(function, self, inner);
        let computed = again.value(function, value);
        let place = self.entry(function, table, again.counter, &mut again.body);
        again.body.push(Stmt::Store { place, value: computed });

        let mut reads = Block::new();
        let place = self.entry(function, table, inner.counter, &mut reads);
        let at = inner
            .body
            .iter()
            .position(|item| matches!(item, Stmt::Let { value: other, .. } if *other == value));
        if let Some(at) = at {
            inner.body[at] = Stmt::Let { value, op: Op::Load(place) };
            inner.body.splice(at..at, reads);
        }
        again.over(inner)
    }

    /// The length of a table for a value: no more than is filled. If the outer loop does not run, nothing is; if a list is shorter than the
    /// range, the panic for it comes before its end.
    pub(crate) fn table_len(
        &self,
        function: &mut Function,
        (from, to): (ValueId, ValueId),
        value: ValueId,
        out: &mut Block,
    ) -> ValueId {
        let span = SourceId::NONE;
        let len = Op::Method("saturating_sub".to_owned(), vec![to, from]);
        let mut len = function.define(out, Scalar::USIZE, len, span);
        if let Some(list) = self.walked(value) {
            let all = function.define(out, Scalar::USIZE, Op::Len(Place::whole(list)), span);
            let least = Op::Method("min".to_owned(), vec![len, all]);
            len = function.define(out, Scalar::USIZE, least, span);
        }
        match self.condition(function, out) {
            Some(condition) => {
                let zero = function.define(out, Scalar::USIZE, Op::Int(0), span);
                function.define(out, Scalar::USIZE, Op::Select(condition, len, zero), span)
            }
            None => len,
        }
    }

    /// A list of which a value needs a different element in each iteration.
    fn walked(&self, value: ValueId) -> Option<ObjectId> {
        let found = Cell::new(None);
        let moves = |index: ValueId| {
            index == self.counter
                || matches!(self.ops.get(&index), Some(Op::Binary(Binary::Add, a, b))
                    if *a == self.counter || *b == self.counter)
        };
        self.has(value, &|op| {
            if let Op::Load(place) = op
                && let Some(Step::Index(index)) = place.path.first()
                && moves(*index)
            {
                found.set(Some(place.object));
            }
            false
        });
        found.get()
    }

    /// Whether the outer loop runs, where that is not known.
    fn condition(&self, function: &mut Function, out: &mut Block) -> Option<ValueId> {
        let (from, to) = self.outer.range;
        let runs = Op::Compare(Compare::Lt, from, to);
        (!self.outer.runs).then(|| function.define(out, Scalar::Bool, runs, SourceId::NONE))
    }

    /// Puts something where it is done only if the outer loop runs.
    pub(crate) fn guard(&self, function: &mut Function, node: Stmt, out: &mut Block) {
        let Some(condition) = self.condition(function, out) else {
            out.push(node);
            return;
        };
        let span = SourceId::NONE;
        let (then, other, merges) = (vec![node], Block::new(), Vec::new());
        out.push(Stmt::If(Box::new(If { id: StmtId::NONE, condition, then, other, merges, span })));
    }

    /// Drops operations of the inner loop that nothing in it uses any more, as far as they are done for other values elsewhere:
    /// what panics still does.
    pub(crate) fn drop_unused(&self, inner: &mut Loop, elsewhere: &[ValueId]) {
        let mut done = HashSet::new();
        let mut left = elsewhere.to_vec();
        while let Some(value) = left.pop() {
            if let Some(op) = self.ops.get(&value)
                && done.insert(value)
            {
                op.for_each_operand(&mut |operand| left.push(operand));
            }
        }
        let mut needed: HashSet<ValueId> =
            inner.carried.iter().map(|carried| carried.next).collect();
        for item in std::mem::take(&mut inner.body).into_iter().rev() {
            let drops = matches!(&item, Stmt::Let { value, .. }
                if done.contains(value) && !needed.contains(value));
            if !drops {
                item.for_each_operand(&mut |operand| needed.extend([operand]));
                inner.body.push(item);
            }
        }
        inner.body.reverse();
    }

    /// The place of a counter in a table.
    pub(crate) fn entry(
        &self,
        function: &mut Function,
        table: ObjectId,
        counter: ValueId,
        out: &mut Block,
    ) -> Place {
        let span = function.values[counter.index()].span;
        let offset = Op::Binary(Binary::Sub, counter, self.range.0);
        let index = function.define(out, Scalar::USIZE, offset, span);
        Place::whole(table).with(Step::Index(index))
    }
}

/// A loop over the range of a chain, with some of it done again.
pub(crate) struct Replay<'a> {
    chain: &'a InvariantSlice<'a>,
    pub(crate) counter: ValueId,
    pub(crate) body: Block,
    known: HashMap<ValueId, ValueId>,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(
        function: &mut Function,
        chain: &'a InvariantSlice<'_>,
        inner: &Loop,
    ) -> Self {
        let counter = function.new_value_like(inner.counter);
        let known = HashMap::from([(inner.counter, counter)]);
        Self { chain, counter, body: Block::new(), known }
    }

    /// A value of the chain, computed here.
    pub(crate) fn value(&mut self, function: &mut Function, value: ValueId) -> ValueId {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let Some(op) = self.chain.ops.get(&value) else { return value };
        let mut op = op.clone();
        op.for_each_operand_mut(&mut |operand| *operand = self.value(function, *operand));
        let new = function.new_value_like(value);
        self.body.push(Stmt::Let { value: new, op });
        self.known.insert(value, new);
        new
    }

    pub(crate) fn over(self, inner: &Loop) -> Stmt {
        Stmt::Loop(Box::new(Loop::over(self.counter, self.chain.range, self.body, inner.span)))
    }
}

/// A local for a table.
pub(crate) fn table(function: &mut Function, name: &str, ty: Type, inner: &Loop) -> ObjectId {
    function.new_object(Object {
        ty,
        origin: Origin::Local,
        name: name.to_owned(),
        shadow_of: None,
        span: inner.span,
    })
}
