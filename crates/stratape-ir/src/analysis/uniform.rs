//! Uniformity: which values are the same for all threads of a block.
//!
//! A value varies if it is made of a thread's index, of what a shuffle or an atomic operation gives, of memory that threads write or read at places that vary, or
//! under a condition that varies; and whatever is carried by a loop that threads leave at different times.

use std::collections::HashSet;

use crate::{Block, Function, Loop, ObjectId, Op, Origin, Range, Stmt, ValueId};

/// What is known of the values of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Uniform {
    varying: HashSet<ValueId>,
    grew: bool,
}

impl Uniform {
    /// Analyses a kernel.
    pub fn new(function: &Function) -> Self {
        let mut this = Self::default();
        loop {
            this.grew = false;
            this.block(function, &function.body, false);
            if !this.grew {
                return this;
            }
        }
    }

    /// Whether all threads of a block that compute a value compute the same.
    pub fn value(&self, value: ValueId) -> bool {
        !self.varying.contains(&value)
    }

    /// Whether all threads of a block that run a loop run it equally often.
    pub fn loops(&self, node: &Loop) -> bool {
        let range = match node.range {
            Range::UpTo { from, to } => self.value(from) && self.value(to),
            Range::Forever => true,
        };
        range && node.exit.is_none_or(|exit| self.value(exit))
    }

    fn vary(&mut self, value: ValueId) {
        self.grew |= self.varying.insert(value);
    }

    /// `apart`: whether threads may be in different iterations or arms.
    fn block(&mut self, function: &Function, block: &Block, apart: bool) {
        for node in block {
            match node {
                Stmt::Let { value, op } => {
                    let mut varies = match op {
                        Op::Builtin(builtin) => !builtin.is_uniform(),
                        Op::Load(place) => !self.holds_same(function, place.object),
                        _ => false,
                    };
                    op.for_each_operand(&mut |operand| varies |= !self.value(operand));
                    if varies {
                        self.vary(*value);
                    }
                }
                Stmt::Loop(repeat) => {
                    let apart = apart || !self.loops(repeat);
                    if let Range::UpTo { from, .. } = repeat.range
                        && (!self.value(from) || apart)
                    {
                        self.vary(repeat.counter);
                    }
                    if apart {
                        self.vary(repeat.counter);
                        repeat.trips.into_iter().for_each(|trips| self.vary(trips));
                    }
                    for carried in &repeat.carried {
                        if !self.value(carried.init) || !self.value(carried.next) {
                            self.vary(carried.inside);
                            self.vary(carried.after);
                        }
                        if apart {
                            self.vary(carried.after);
                        }
                    }
                    self.block(function, &repeat.body, apart);
                }
                Stmt::If(branch) => {
                    let varies = !self.value(branch.condition);
                    self.block(function, &branch.then, apart || varies);
                    self.block(function, &branch.other, apart || varies);
                    for merge in &branch.merges {
                        if varies || !self.value(merge.then) || !self.value(merge.other) {
                            self.vary(merge.value);
                        }
                    }
                }
                Stmt::Pop { values, .. } => {
                    for value in values {
                        let restored = function.values[value.index()].stands_for;
                        if restored.is_none_or(|of| !self.value(of)) {
                            self.vary(*value);
                        }
                    }
                }
                Stmt::Atomic(_) | Stmt::Shuffle(_) | Stmt::Call(_) => {
                    node.for_each_result(&mut |value| self.vary(value));
                }
                _ => {}
            }
        }
    }

    /// Whether threads that read one place of an object read the same: nobody writes it.
    fn holds_same(&self, function: &Function, object: ObjectId) -> bool {
        function.objects[object.index()].origin == Origin::Ref
    }
}
