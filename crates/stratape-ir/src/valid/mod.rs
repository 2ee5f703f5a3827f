//! The checker: run after every pass, it proves what later passes rely on.
//!
//! - Every value is defined once, before its uses, in a block that encloses them; the same for objects.
//! - Every record that is popped meets its push. What a block does to the tape is read as a
//!   sequence of pushes and pops, where a loop or a branch counts as one item that pushes or pops
//!   whole sequences. Items that push go on a stack; an item that pops must be the mirror image
//!   of the stack's top: the same record, the same number of slots, a loop for a loop, a branch for
//!   a branch, their blocks mirrored in turn. At the end of the function the stack is empty.

use std::collections::HashSet;

use crate::{Block, Function, Half, Loop, ObjectId, Op, Param, Place, RecordId, Stmt, ValueId};

/// Checks a function.
///
/// # Errors
/// A sentence on what is wrong: a fault of the compiler, never of its user.
pub fn check(function: &Function) -> Result<(), String> {
    check_definitions(function)?;
    balanced(&function.body)
}

/// Whether a block takes all that it leaves on the tape.
fn balanced(block: &Block) -> Result<(), String> {
    let stack = tape_effect(block)?;
    if stack.is_empty() { Ok(()) } else { Err(format!("records stay on the tape: {stack:?}")) }
}

/// Checks the two halves of a function that calls itself: what the first leaves on the tape is what the second takes.
///
/// # Errors
/// A sentence on what is wrong: a fault of the compiler, never of its user.
pub fn check_halves(forward: &Function, backward: &Function) -> Result<(), String> {
    check_definitions(forward)?;
    check_definitions(backward)?;
    balanced(&forward.body.iter().chain(&backward.body).cloned().collect())
}

/// Checks the definitions of a function, but not its tape: half a gradient, or a function that is none.
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_definitions(function: &Function) -> Result<(), String> {
    let mut scope = Scope {
        function,
        values: HashSet::new(),
        objects: HashSet::new(),
        defined: HashSet::new(),
    };
    for param in &function.params {
        match param {
            Param::Value(value) => scope.define(*value)?,
            Param::Object(object) => {
                scope.objects.insert(*object);
            }
        }
    }
    scope.block(&function.body, &function.results)
}

struct Scope<'a> {
    function: &'a Function,
    values: HashSet<ValueId>,
    objects: HashSet<ObjectId>,
    defined: HashSet<ValueId>,
}

impl Scope<'_> {
    fn define(&mut self, value: ValueId) -> Result<(), String> {
        self.values.insert(value);
        if self.defined.insert(value) { Ok(()) } else { Err(format!("{value:?} is defined twice")) }
    }

    fn visible(&self, value: ValueId) -> Result<(), String> {
        if self.values.contains(&value) {
            Ok(())
        } else {
            let name = self.function.values[value.index()].name.as_deref().unwrap_or("unnamed");
            Err(format!("{value:?} ({name}) is used where it is not defined"))
        }
    }

    fn place(&self, place: &Place) -> Result<(), String> {
        if !self.objects.contains(&place.object) {
            let name = &self.function.objects[place.object.index()].name;
            return Err(format!("{:?} ({name}) is used where it does not exist", place.object));
        }
        match self.function.place_type(place) {
            Some(_) => Ok(()),
            None => Err(format!("{place:?} leads nowhere")),
        }
    }

    fn block(&mut self, block: &Block, ends: &[ValueId]) -> Result<(), String> {
        let (values, objects) = (self.values.clone(), self.objects.clone());
        for node in block {
            self.node(node)?;
        }
        ends.iter().try_for_each(|value| self.visible(*value))?;
        self.values = values;
        self.objects = objects;
        Ok(())
    }

    fn node(&mut self, node: &Stmt) -> Result<(), String> {
        match node {
            Stmt::Loop(node) => return self.repeat(node),
            Stmt::If(node) => {
                self.visible(node.condition)?;
                let thens: Vec<_> = node.merges.iter().map(|merge| merge.then).collect();
                let others: Vec<_> = node.merges.iter().map(|merge| merge.other).collect();
                self.block(&node.then, &thens)?;
                self.block(&node.other, &others)?;
                return node.merges.iter().try_for_each(|merge| self.define(merge.value));
            }
            Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
            | Stmt::Store { place, .. }
            | Stmt::Accumulate { place, .. } => self.place(place)?,
            Stmt::New { init, .. } => {
                let mut objects = Vec::new();
                init.clone().for_each_object_mut(&mut |object| objects.push(*object));
                objects.into_iter().try_for_each(|object| self.place(&Place::whole(object)))?;
                init.copied().into_iter().try_for_each(|place| self.place(place))?;
            }
            Stmt::Call(_) | Stmt::Save { .. } => {
                node.read().into_iter().try_for_each(|place| self.place(place))?;
            }
            _ => {}
        }
        let mut result = Ok(());
        node.for_each_operand(&mut |value| {
            if result.is_ok() {
                result = self.visible(value);
            }
        });
        result?;
        if let Stmt::New { object, .. } | Stmt::Restore { object, .. } = node {
            self.objects.insert(*object);
        }
        let mut results = Vec::new();
        node.for_each_result(&mut |value| results.push(value));
        results.into_iter().try_for_each(|value| self.define(value))
    }

    fn repeat(&mut self, node: &Loop) -> Result<(), String> {
        if let crate::Range::UpTo { from, to } = node.range {
            self.visible(from)?;
            self.visible(to)?;
        }
        node.carried.iter().try_for_each(|carried| self.visible(carried.init))?;
        let values = self.values.clone();
        self.define(node.counter)?;
        node.carried.iter().try_for_each(|carried| self.define(carried.inside))?;
        let mut ends: Vec<_> = node.carried.iter().map(|carried| carried.next).collect();
        ends.extend(node.exit);
        self.block(&node.body, &ends)?;
        self.values = values;
        node.carried.iter().try_for_each(|carried| self.define(carried.after))?;
        node.trips.into_iter().try_for_each(|trips| self.define(trips))
    }
}

/// What a node does to the tape.
#[derive(Clone, Debug, PartialEq)]
enum Effect {
    Record(RecordId, usize),
    Loop(Vec<Effect>),
    If(Vec<Effect>, Vec<Effect>),
    Call(String),
}

fn called(call: &crate::Call) -> Effect {
    Effect::Call(call.recursion.as_ref().map(|(name, _)| name.clone()).unwrap_or_default())
}

/// The pushes a block leaves behind.
fn tape_effect(block: &Block) -> Result<Vec<Effect>, String> {
    let mut stack = Vec::new();
    for node in block {
        match node {
            Stmt::Push { record, values } => stack.push(Effect::Record(*record, values.len())),
            Stmt::Save { record, .. } => stack.push(Effect::Record(*record, 0)),
            Stmt::Call(call) if node.uses_tape(Half::Forward) => stack.push(called(call)),
            Stmt::Loop(_) | Stmt::If(_)
                if node.uses_tape(Half::Forward) && !node.uses_tape(Half::Backward) =>
            {
                let mut blocks = node.blocks().into_iter().map(tape_effect);
                let first = blocks.next().transpose()?.unwrap_or_default();
                stack.push(match blocks.next().transpose()? {
                    Some(second) => Effect::If(first, second),
                    None => Effect::Loop(first),
                });
            }
            Stmt::Loop(_) | Stmt::If(_) if node.uses_tape(Half::Forward) => {
                for inner in node.blocks() {
                    let left = tape_effect(inner)?;
                    if !left.is_empty() {
                        return Err(format!("a block that pushes and pops leaves {left:?}"));
                    }
                }
            }
            Stmt::Pop { .. }
            | Stmt::Restore { .. }
            | Stmt::Call(_)
            | Stmt::Loop(_)
            | Stmt::If(_)
                if node.uses_tape(Half::Backward) =>
            {
                let popped = popped(node);
                let top = stack.pop();
                if top.as_ref() != Some(&popped) {
                    return Err(format!("{popped:?} is popped where {top:?} was pushed last"));
                }
            }
            _ => {}
        }
    }
    Ok(stack)
}

/// What a node that only pops expects on the tape, as it was pushed.
fn popped(node: &Stmt) -> Effect {
    let sequence = |block: &Block| -> Vec<Effect> {
        block.iter().rev().filter(|node| node.uses_tape(Half::Backward)).map(popped).collect()
    };
    match node {
        Stmt::Loop(node) => Effect::Loop(sequence(&node.body)),
        Stmt::If(node) => Effect::If(sequence(&node.then), sequence(&node.other)),
        Stmt::Pop { record, values } => Effect::Record(*record, values.len()),
        Stmt::Restore { record, .. } => Effect::Record(*record, 0),
        Stmt::Call(call) => called(call),
        _ => Effect::Loop(Vec::new()),
    }
}
