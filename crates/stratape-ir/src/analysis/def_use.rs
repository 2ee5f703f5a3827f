//! Definitions: where each value and object is defined, and how many loops are around it.

use std::collections::HashMap;

use crate::{Block, Function, ObjectId, Op, Param, Stmt, ValueId};

/// How a value is defined.
#[derive(Clone, Debug)]
pub enum Definition {
    /// A parameter.
    Param,
    /// An operation.
    Op(Op),
    /// A loop's counter.
    Counter,
    /// What an iteration sees of a carried value.
    Inside,
    /// What a loop leaves, a merge of a branch, a count of iterations: the end of inner blocks.
    Outcome,
    /// A record of the tape.
    Popped,
}

/// The definition of every value and object, and how deep in loops it sits.
#[derive(Clone, Debug, Default)]
pub struct DefUse {
    values: HashMap<ValueId, (Definition, usize)>,
    objects: HashMap<ObjectId, usize>,
}

impl DefUse {
    /// Collects the definitions of a function.
    pub fn new(function: &Function) -> Self {
        let mut table = Self::default();
        for param in &function.params {
            match param {
                Param::Value(value) => {
                    table.values.insert(*value, (Definition::Param, 0));
                }
                Param::Object(object) => {
                    table.objects.insert(*object, 0);
                }
            }
        }
        table.block(&function.body, 0);
        table
    }

    fn block(&mut self, block: &Block, depth: usize) {
        for node in block {
            match node {
                Stmt::Let { value, op } => {
                    self.values.insert(*value, (Definition::Op(op.clone()), depth));
                }
                Stmt::Pop { values, .. } => {
                    for value in values {
                        self.values.insert(*value, (Definition::Popped, depth));
                    }
                }
                Stmt::New { object, .. } => {
                    self.objects.insert(*object, depth);
                }
                _ => node.for_each_result(&mut |value| {
                    self.values.insert(value, (Definition::Outcome, depth));
                }),
            }
            let inner = depth + usize::from(matches!(node, Stmt::Loop(_)));
            if let Stmt::Loop(node) = node {
                self.values.insert(node.counter, (Definition::Counter, inner));
                for carried in &node.carried {
                    self.values.insert(carried.inside, (Definition::Inside, inner));
                }
            }
            for block in node.blocks() {
                self.block(block, inner);
            }
        }
    }

    /// How a value is defined.
    pub fn of(&self, value: ValueId) -> &Definition {
        self.values.get(&value).map_or(&Definition::Param, |(definition, _)| definition)
    }

    /// The operation that defines a value, if one does.
    pub fn op(&self, value: ValueId) -> Option<&Op> {
        match self.of(value) {
            Definition::Op(op) => Some(op),
            _ => None,
        }
    }

    /// How many loops enclose the definition.
    pub fn depth(&self, value: ValueId) -> usize {
        self.values.get(&value).map_or(0, |(_, depth)| *depth)
    }
}
