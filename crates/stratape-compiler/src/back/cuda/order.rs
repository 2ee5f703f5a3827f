//! In which order threads add: what a launch that asks for the same bits in every run can have.
//!
//! Atomic additions of floats arrive in any order, and each order rounds otherwise. If nothing in the kernel reads what they add to, they can be written down, thread by thread, and be
//! carried out in a fixed order after the kernel. Additions to integers, and extremes, are the same in any order. The rest has an order that only one thread at a time would give.

use std::collections::{BTreeSet, HashMap};

use stratape_ir::{
    Atomic, AtomicOp, Axis, Binary, Block, Builtin, Compare, Function, If, ObjectId, Op, Place,
    Range, Scalar, Stmt, ValueId,
};

/// What there is to do about the order of additions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing: it is the same in every run.
    Free,
    /// They are written down and carried out afterwards; at most so many by a thread, if that is known.
    Logged(Option<usize>),
    /// It cannot be had; why.
    Refused(String),
}

/// The order of a kernel whose grid extends along x alone, or along any axes.
pub(crate) fn order(function: &Function, along_x: bool) -> Order {
    let mut finder = Finder {
        function,
        along_x,
        ops: HashMap::new(),
        added: BTreeSet::new(),
        touched: BTreeSet::new(),
        refused: None,
        additions: Some(0),
    };
    stratape_ir::walk(&function.body, &mut |node| {
        if let Stmt::Let { value, op } = node {
            finder.ops.insert(*value, op);
        }
    });
    finder.block(&function.body, Some(1));
    let name = |object: &ObjectId| function.objects[object.index()].name.clone();
    if let Some(why) = finder.refused {
        return Order::Refused(why);
    }
    if finder.added.is_empty() {
        return Order::Free;
    }
    if let Some(object) = finder.added.iter().find(|object| finder.touched.contains(object)) {
        let name = name(object);
        return Order::Refused(format!(
            "several threads add to elements of `{name}`, which the kernel also reads or overwrites"
        ));
    }
    Order::Logged(finder.additions)
}

/// Whether an atomic operation adds floats, so that the order matters.
pub(super) fn is_ordered(function: &Function, atomic: &Atomic) -> bool {
    atomic.op == AtomicOp::Add && function.ty(atomic.value).is_float() && atomic.old.is_none()
}

/// The memory that a statement reads or writes, inner ones apart.
pub(crate) fn touched(node: &Stmt) -> BTreeSet<ObjectId> {
    let mut places: Vec<&Place> = node.read();
    places.extend(node.written());
    if let Stmt::New { init, .. } = node {
        places.extend(init.copied());
    }
    places.into_iter().map(|place| place.object).collect()
}

struct Finder<'a> {
    function: &'a Function,
    along_x: bool,
    ops: HashMap<ValueId, &'a Op>,
    /// Global memory that floats are added to.
    added: BTreeSet<ObjectId>,
    /// Memory that is read or overwritten.
    touched: BTreeSet<ObjectId>,
    refused: Option<String>,
    /// Additions of a thread so far.
    additions: Option<usize>,
}

impl Finder<'_> {
    /// Statements that run so many times, if that is known.
    fn block(&mut self, block: &Block, times: Option<usize>) {
        for node in block {
            match node {
                Stmt::Atomic(atomic) => self.atomic(atomic, times),
                Stmt::If(branch) => self.branch(branch, times),
                Stmt::Loop(repeat) => {
                    let trips = match repeat.range {
                        Range::UpTo { from, to } => self
                            .number(to)
                            .zip(self.number(from))
                            .and_then(|(to, from)| usize::try_from((to - from).max(0)).ok()),
                        Range::Forever => None,
                    };
                    let all = times.zip(trips).and_then(|(times, trips)| times.checked_mul(trips));
                    self.block(&repeat.body, all);
                }
                // The sum does not depend on whether these come before those that are written down: they do.
                Stmt::Accumulate { .. } | Stmt::Barrier(_) => {}
                node => self.touched.extend(touched(node)),
            }
        }
    }

    fn branch(&mut self, branch: &If, times: Option<usize>) {
        let known = self.truth(branch.condition);
        if known != Some(false) {
            self.block(&branch.then, times);
        }
        if known != Some(true) {
            self.block(&branch.other, times);
        }
    }

    fn atomic(&mut self, atomic: &Atomic, times: Option<usize>) {
        let object = atomic.place.object;
        let name = &self.function.objects[object.index()].name;
        if atomic.old.is_some() {
            self.refused = Some(format!(
                "what an atomic operation on `{name}` returns depends on which thread comes first"
            ));
        } else if is_ordered(self.function, atomic) {
            if self.function.shared.contains(&object) {
                self.refused =
                    Some(format!("several threads add to elements of `{name}` in shared memory"));
            }
            self.added.insert(object);
            let sum = self.additions.zip(times).and_then(|(sum, times)| sum.checked_add(times));
            self.additions = sum;
        }
    }

    /// A number that is the same in all launches of this kind.
    fn number(&self, value: ValueId) -> Option<i128> {
        match self.ops.get(&value)? {
            Op::Int(number) => Some(*number),
            Op::Builtin(
                Builtin::BlockDim(Axis::Y | Axis::Z) | Builtin::GridDim(Axis::Y | Axis::Z),
            ) => self.along_x.then_some(1),
            Op::Binary(Binary::Mul, a, b) => self.number(*a)?.checked_mul(self.number(*b)?),
            Op::Binary(Binary::Add, a, b) => self.number(*a)?.checked_add(self.number(*b)?),
            Op::Binary(Binary::Sub, a, b) => self.number(*a)?.checked_sub(self.number(*b)?),
            _ => None,
        }
    }

    fn truth(&self, value: ValueId) -> Option<bool> {
        match self.ops.get(&value)? {
            Op::Bool(known) => Some(*known),
            Op::Compare(Compare::Eq, a, b) if self.function.ty(*a) != Scalar::Bool => {
                Some(self.number(*a)? == self.number(*b)?)
            }
            _ => None,
        }
    }
}
