//! Drops stores into a shadow that nobody reads before its end.
//!
//! ```text
//! for t in (0..steps).rev() { new dnext = zeros; …; for i in 0..n { d = dnext[i]; dnext[i] = 0.0; … } }   →   … for i in 0..n { d = dnext[i]; … } …
//! ```
//!
//! The adjoint of a store takes what its element has and leaves zero behind, for the adjoint of what lay there before. Where the list was made in the same iteration, that is nobody's.
//!
//! Legal for shadows made in the block: from its end backwards, up to what reads them, stores and additions to them are dropped. In the loop that reads last, a store is dropped where each iteration keeps to an
//! element of its own and reads it first. Indices were checked in the forward half. Runs before `reorderable`: a loop that only reads a list may be gathered from it.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Affine, DefUse, strided};
use stratape_ir::{Block, Function, Init, Loop, ObjectId, Op, Place, Stmt, ValueId, walk};

/// The pass.
pub const DEAD_STORES: Pass = Pass {
    name: "dead_stores",
    after: &["dce"],
    promise: Promise::AdjointBits,
    required: false,
    run: dead_stores,
};

/// What is dropped: stores into an object in the loop with a counter.
type Dropped = HashSet<(ObjectId, ValueId)>;

/// Drops the stores.
fn dead_stores(function: &mut Function, cx: &mut Context<'_>) {
    let mut dropped = Dropped::new();
    {
        let definitions = DefUse::new(function);
        let affine = Affine::new(function, &definitions);
        look(function, &affine, &function.body, &mut dropped);
    }
    if dropped.is_empty() {
        return;
    }
    let mut named: Vec<ObjectId> = dropped.iter().map(|(object, _)| *object).collect();
    named.sort_unstable();
    named.dedup();
    for object in named {
        let known = &function.objects[object.index()];
        cx.applied(
            known.span,
            format!("`{}` ends here: what is left in it is not stored", known.name),
        );
    }
    let mut body = std::mem::take(&mut function.body);
    drop_stores(&mut body, &dropped, &HashSet::new());
    function.body = body;
}

/// Looks for the shadows made in a block and inside it.
fn look(function: &Function, affine: &Affine<'_>, block: &Block, dropped: &mut Dropped) {
    for (at, node) in block.iter().enumerate() {
        for inner in node.blocks() {
            look(function, affine, inner, dropped);
        }
        let Stmt::New { object, .. } = node else { continue };
        let special = function.kept.contains(object) || function.emptied.contains(object);
        if function.objects[object.index()].shadow_of.is_none() || special {
            continue;
        }
        for later in block[at + 1..].iter().rev() {
            if !uses(later, *object) {
                continue;
            }
            match later {
                Stmt::Loop(inner) if only_writes(later, *object) => {
                    dropped.insert((*object, inner.counter));
                    continue;
                }
                Stmt::Loop(inner) if reads_its_own(affine, inner, *object) => {
                    dropped.insert((*object, inner.counter));
                }
                _ => {}
            }
            break;
        }
    }
}

/// Whether a statement, or one inside it, has to do with an object.
fn uses(node: &Stmt, object: ObjectId) -> bool {
    let mut found = false;
    walk(std::slice::from_ref(node), &mut |item| {
        let places = item.read().into_iter().chain(item.written());
        found |= places.into_iter().any(|place| place.object == object) || copies(item, object);
    });
    found
}

/// Whether a statement makes something of an object, or gives it out whole.
fn copies(item: &Stmt, object: ObjectId) -> bool {
    match item {
        Stmt::New { object: made, init } => {
            let like = matches!(init, Init::ZeroLike(like) if *like == object);
            *made == object || like || init.copied().iter().any(|place| place.object == object)
        }
        Stmt::Restore { object: made, .. } => *made == object,
        _ => false,
    }
}

/// Whether a statement does nothing with an object but store and add to it.
fn only_writes(node: &Stmt, object: ObjectId) -> bool {
    let mut only = true;
    walk(std::slice::from_ref(node), &mut |item| {
        let read = item.read().iter().any(|place| place.object == object);
        let written = item.written().iter().any(|place| place.object == object);
        let plain = matches!(item, Stmt::Store { .. } | Stmt::Accumulate { .. });
        only &= !read && !copies(item, object) && (!written || plain);
    });
    only
}

/// Whether each iteration of a loop keeps to one element of an object, of its own, and reads it before it stores there.
fn reads_its_own(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> bool {
    let mut place: Option<&Place> = None;
    let mut stored = false;
    for item in &node.body {
        if !uses(item, object) {
            continue;
        }
        let this = match item {
            Stmt::Let { op: Op::Load(this), .. } if !stored => this,
            Stmt::Store { place: this, .. } => {
                stored = true;
                this
            }
            _ => return false,
        };
        if place.is_some_and(|place| place != this) {
            return false;
        }
        place = Some(this);
    }
    let own = |place: &Place| {
        place.path.len() == 1
            && strided(affine, node.counter, place).is_some_and(|(stride, _)| stride != 0)
    };
    stored && place.is_some_and(own)
}

/// Drops the stores in the loops that were found. `inside` holds the objects of those around.
fn drop_stores(nodes: &mut Block, dropped: &Dropped, inside: &HashSet<ObjectId>) {
    nodes.retain(|node| match node {
        Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
            !inside.contains(&place.object)
        }
        _ => true,
    });
    for node in nodes {
        let mut here = inside.clone();
        if let Stmt::Loop(node) = node {
            here.extend(
                dropped
                    .iter()
                    .filter(|(_, counter)| *counter == node.counter)
                    .map(|(object, _)| *object),
            );
        }
        for inner in node.blocks_mut() {
            drop_stores(inner, dropped, &here);
        }
    }
}
