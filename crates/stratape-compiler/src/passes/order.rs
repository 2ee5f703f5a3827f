//! Which loops of a gradient may run in any order.
//!
//! The backward half runs loops from their end because adjoints of later iterations may be needed
//! by earlier ones. Where nothing is carried but sums of adjoints, and memory is only added to, or each
//! iteration keeps to its own element, that is not so.

use std::collections::HashSet;

use crate::analysis::{Affine, Definitions, Split};
use crate::ir::{Binary, Block, Function, Loop, Node, ObjectId, Op, Step, ValueId, walk};

/// Marks them.
pub fn order(function: &mut Function) {
    let definitions = Definitions::new(function);
    let mut free = HashSet::new();
    {
        let affine = Affine::new(function, &definitions);
        walk(&function.body, &mut |node| {
            if let Node::Loop(node) = node
                && is_free(function, &affine, node)
            {
                free.insert(node.counter);
            }
        });
    }
    mark(&mut function.body, &free);
}

fn mark(block: &mut Block, free: &HashSet<ValueId>) {
    for node in block {
        if let Node::Loop(node) = node {
            node.unordered |= free.contains(&node.counter);
        }
        for inner in node.blocks_mut() {
            mark(inner, free);
        }
    }
}

fn is_free(function: &Function, affine: &Affine<'_>, node: &Loop) -> bool {
    if node.exit.is_some() {
        return false;
    }
    for carried in &node.carried {
        if !function.values[carried.inside.index()].adjoint {
            return false;
        }
        let mut uses = 0;
        let mut is_sum = false;
        walk(&node.body, &mut |item| {
            item.for_each_operand(&mut |value| uses += usize::from(value == carried.inside));
            if let Node::Let { value, op: Op::Binary(sign, a, b) } = item {
                is_sum |= *value == carried.next
                    && match sign {
                        Binary::Add => *a == carried.inside || *b == carried.inside,
                        Binary::Sub => *a == carried.inside,
                        _ => false,
                    };
            }
        });
        if uses != 1 || !is_sum {
            return false;
        }
    }
    memory_is_free(affine, node)
}

/// Whether iterations meet in memory only by adding to it.
fn memory_is_free(affine: &Affine<'_>, node: &Loop) -> bool {
    let mut own = HashSet::new();
    let (mut read, mut added, mut stored) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut simple = true;
    walk(&node.body, &mut |item| match item {
        Node::New { object, .. } => {
            own.insert(*object);
        }
        Node::Let { op: Op::Load(place), .. } => {
            read.insert(place.object);
        }
        Node::Accumulate { place, .. } => {
            added.insert(place.object);
        }
        Node::Store { place, .. } => {
            stored.insert(place.object);
        }
        Node::Push { .. } | Node::Call(_) | Node::Save { .. } | Node::Restore { .. } => {
            simple = false;
        }
        _ => {}
    });
    if !simple {
        return false;
    }
    let shared: HashSet<ObjectId> = added
        .iter()
        .chain(&stored)
        .copied()
        .filter(|object| !own.contains(object))
        .filter(|object| stored.contains(object) || read.contains(object))
        .collect();
    shared.into_iter().all(|object| {
        keeps_to_own_element(affine, node, object)
            || Split::find(affine, node, object).is_some_and(|split| !split.others_read)
    })
}

/// Whether every access to an object is at one index that no other iteration has.
fn keeps_to_own_element(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> bool {
    let mut index = None;
    let mut fits = true;
    walk(&node.body, &mut |item| {
        let mut places = item.read().into_iter().chain(item.written());
        let Some(place) = places.find(|place| place.object == object) else { return };
        let Some(Step::Index(first)) = place.path.first() else {
            fits = false;
            return;
        };
        let polynomial = affine.of(*first);
        match &index {
            None => index = Some(polynomial),
            Some(known) => fits &= *known == polynomial,
        }
    });
    let Some(index) = index.filter(|_| fits) else { return false };
    let Some((factor, rest)) = index.split(node.counter) else { return false };
    factor.as_number().is_some_and(|factor| factor != 0)
        && rest.symbols().all(|symbol| affine.is_invariant(symbol, node.counter))
}
