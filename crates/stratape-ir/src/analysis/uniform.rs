//! Uniformity: which values are the same for all threads of a block.
//!
//! Those that come to a statement together are meant, in step: a value varies if it is made of a thread's index, of what a shuffle or an atomic operation gives, of memory that
//! threads write or read at places that vary; if a branch hands it out on whose condition they differ; or if a loop leaves it which they leave at different times. Whether all threads
//! of a block come to a statement is another question.

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
            this.block(function, &function.body);
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

    fn block(&mut self, function: &Function, block: &Block) {
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
                    // Threads that are still in the loop have run it equally often.
                    if let Range::UpTo { from, to } = repeat.range
                        && !self.value(if repeat.reversed { to } else { from })
                    {
                        self.vary(repeat.counter);
                    }
                    let together = self.loops(repeat);
                    if !together {
                        repeat.trips.into_iter().for_each(|trips| self.vary(trips));
                    }
                    for carried in &repeat.carried {
                        if !self.value(carried.init) || !self.value(carried.next) {
                            self.vary(carried.inside);
                            self.vary(carried.after);
                        }
                        if !together {
                            self.vary(carried.after);
                        }
                    }
                    self.block(function, &repeat.body);
                }
                Stmt::If(branch) => {
                    let varies = !self.value(branch.condition);
                    self.block(function, &branch.then);
                    self.block(function, &branch.other);
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
