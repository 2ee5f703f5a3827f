//! Lists that are handed on in a loop that is taken out: `prev = now; now = next`. A list that is moved leaves an empty one behind for a moment, which a slice cannot
//! be. What the moves come to is written as exchanges instead.
//!
//! ```text
//! new @e = vec![0.0; 0]; swap @now, @e; swap @prev, @e; swap @now, @next   →   swap @now, @prev; swap @now, @next
//! ```
//!
//! `@next` is left with the list that `@prev` had, and must not be used again.

use std::collections::HashSet;

use stratape_ir::{Block, Init, ObjectId, Op, Place, Stmt, ValueId, walk};

/// Rewrites the moves of a block and of those inside. `own`: the objects that are made in the loop; `zeros`: the values that are 0.
pub(super) fn close_gaps(block: &mut Block, own: &HashSet<ObjectId>, zeros: &HashSet<ValueId>) {
    for node in block.iter_mut() {
        node.blocks_mut().into_iter().for_each(|inner| close_gaps(inner, own, zeros));
    }
    let mut start = 0;
    while start < block.len() {
        let run = &block[start..];
        let length = run.iter().take_while(|node| is_move(node, zeros)).count();
        if let Some(exchanges) = exchanges(block, start, start + length, own) {
            let end = start + exchanges.len();
            block.splice(start..start + length, exchanges);
            start = end;
        } else {
            start += length;
        }
        start += 1;
    }
}

/// Whether a statement is part of moving lists: an exchange, an empty list, a length, a constant.
fn is_move(node: &Stmt, zeros: &HashSet<ValueId>) -> bool {
    match node {
        Stmt::Let { op: Op::Len(place), .. } => place.path.is_empty(),
        Stmt::Let { op, .. } => op.is_constant(),
        Stmt::New { init: Init::Repeat(_, len), .. } => zeros.contains(len),
        Stmt::Swap { a, b } => a.path.is_empty() && b.path.is_empty(),
        _ => false,
    }
}

/// The exchanges that a run of statements comes to, behind the lengths and constants in it; none if it leaves a list empty that is used again, or no list is empty in between.
fn exchanges(
    block: &Block,
    start: usize,
    end: usize,
    own: &HashSet<ObjectId>,
) -> Option<Vec<Stmt>> {
    // What each object holds: the list that another one held, or an empty one.
    let mut held: Vec<(ObjectId, Option<ObjectId>)> = Vec::new();
    let mut empty = HashSet::new();
    let mut out = Vec::new();
    for node in &block[start..end] {
        match node {
            Stmt::New { object, .. } => {
                empty.insert(*object);
                held.push((*object, None));
            }
            Stmt::Swap { a, b } => {
                let [a, b] = [a.object, b.object].map(|object| {
                    held.iter().position(|(known, _)| *known == object).unwrap_or_else(|| {
                        held.push((object, Some(object)));
                        held.len() - 1
                    })
                });
                (held[a].1, held[b].1) = (held[b].1, held[a].1);
            }
            // Before the exchanges, a list is where it was.
            Stmt::Let { value, op: Op::Len(place) } => {
                let known = held.iter().find(|(object, _)| *object == place.object);
                let list = known.map_or(Some(place.object), |(_, list)| *list);
                let op = list.map_or(Op::Int(0), |list| Op::Len(Place::whole(list)));
                out.push(Stmt::Let { value: *value, op });
            }
            node => out.push(node.clone()),
        }
    }
    if empty.is_empty() || held.iter().all(|(object, _)| own.contains(object)) {
        return None;
    }
    let gone = |object: ObjectId| {
        let made_here = block[..end]
            .iter()
            .any(|node| matches!(node, Stmt::New { object: made, .. } if *made == object));
        made_here && !is_used(&block[end..], object)
    };
    let mut wanted = Vec::new();
    for (object, list) in &held {
        match list {
            // Whoever is not used again may hold anything.
            _ if gone(*object) => {}
            None => return None,
            Some(list) => wanted.push((*object, *list)),
        }
    }
    if empty.iter().any(|object| !gone(*object)) {
        return None;
    }
    let mut now: Vec<(ObjectId, ObjectId)> =
        held.iter().filter(|(object, _)| !empty.contains(object)).map(|(o, _)| (*o, *o)).collect();
    for (object, list) in wanted {
        let at = now.iter().position(|(known, _)| *known == object)?;
        let from = now.iter().position(|(_, held)| *held == list)?;
        if at != from {
            (now[at].1, now[from].1) = (now[from].1, now[at].1);
            out.push(Stmt::Swap { a: Place::whole(object), b: Place::whole(now[from].0) });
        }
    }
    Some(out)
}

/// Whether statements use an object.
fn is_used(nodes: &[Stmt], object: ObjectId) -> bool {
    let mut used = false;
    walk(nodes, &mut |node| {
        let mut places = node.read();
        places.extend(node.written());
        if let Stmt::Let { op: Op::Len(place), .. } = node {
            places.push(place);
        }
        used |= node.uses_whole(object) || places.iter().any(|place| place.object == object);
    });
    used
}
