//! Copies of blocks, with values and objects of their own.

use std::collections::HashMap;

use super::{Block, Function, ObjectId, Stmt, Substitution, ValueId, defined, walk};

/// A copy of a block in which everything it defines is new; what stands for a value is in the map.
pub fn copy(function: &mut Function, block: &Block) -> (Block, HashMap<ValueId, ValueId>) {
    let mut values = HashMap::new();
    let mut all: Vec<ValueId> = defined(block).into_iter().collect();
    all.sort_unstable();
    for value in all {
        values.insert(value, function.new_value_like(value));
    }
    let mut objects: HashMap<ObjectId, ObjectId> = HashMap::new();
    walk(block, &mut |node| {
        if let Stmt::New { object, .. } | Stmt::Restore { object, .. } = node {
            let known = function.objects[object.index()].clone();
            objects.insert(*object, function.new_object(known));
        }
    });
    let mut substitution = Substitution::default();
    values.iter().for_each(|(from, to)| substitution.value(*from, *to));
    objects.iter().for_each(|(from, to)| substitution.object(*from, *to));
    let mut copy = block.clone();
    substitution.apply(&mut copy);
    rename(&mut copy, &values, &objects);
    (copy, values)
}

fn rename(
    block: &mut Block,
    values: &HashMap<ValueId, ValueId>,
    objects: &HashMap<ObjectId, ObjectId>,
) {
    let new = |value: &mut ValueId| *value = values.get(value).copied().unwrap_or(*value);
    for node in block {
        match node {
            Stmt::Let { value, .. } => new(value),
            Stmt::Pop { values, .. } => values.iter_mut().for_each(new),
            Stmt::Call(call) => call.results.iter_mut().for_each(new),
            Stmt::Atomic(atomic) => atomic.old.iter_mut().for_each(new),
            Stmt::Shuffle(shuffle) => new(&mut shuffle.value),
            Stmt::New { object, .. } | Stmt::Restore { object, .. } => {
                *object = objects.get(object).copied().unwrap_or(*object);
            }
            Stmt::Loop(node) => {
                new(&mut node.counter);
                for carried in &mut node.carried {
                    new(&mut carried.inside);
                    new(&mut carried.after);
                }
                node.trips.iter_mut().for_each(new);
            }
            Stmt::If(node) => node.merges.iter_mut().for_each(|merge| new(&mut merge.value)),
            Stmt::Store { .. }
            | Stmt::Accumulate { .. }
            | Stmt::Swap { .. }
            | Stmt::Check { .. }
            | Stmt::Push { .. }
            | Stmt::Save { .. }
            | Stmt::Refill { .. }
            | Stmt::Barrier(_) => {}
        }
        for inner in node.blocks_mut() {
            rename(inner, values, objects);
        }
    }
}
