//! Buffers that iterations do not share: a list that each iteration of a loop fills before it reads it is made in the iteration.
//!
//! Programs make a buffer once and use it for every item, to save allocations. Its contents then look like a state that iterations hand on to each
//! other: they would be saved before they are overwritten, and the two halves of the loop could not be fused.
//!
//! ```text
//! new @b = vec![0.0; n];  for i { for j { @b[j] = … };  … @b[j] … }   →   for i { new @b = vec![0.0; n];  for j { @b[j] = … };  … }
//! ```
//!
//! Legal if nothing outside the loop touches the buffer, but for its length, and every read in the body comes after a write to the same element in the same
//! iteration: either of all elements in turn, as [`Cover`] follows them, or inside inner loops for each of which that holds. So what the buffer
//! is filled with first is never read, in the new place as in the old.
//!
//! Of the loops where this is legal the outermost is taken: what an inner one makes is gone, and saved or made again for each of its iterations.

use std::collections::{HashMap, HashSet};

use super::dead_init::Cover;
use crate::driver::{Context, Pass, Promise};
use crate::tapeflow::contains;
use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Block, Extent, Function, Init, Loop, ObjectId, Op, Origin, Place, Stmt, Substitution, Type,
    ValueId, made_twice, swapped, walk,
};

/// The pass.
pub const LOCALIZE: Pass = Pass {
    name: "localize",
    after: &["forward_copies"],
    promise: Promise::SameBits,
    required: false,
    run: localize,
};

fn localize(function: &mut Function, cx: &mut Context<'_>) {
    let special = special(function);
    let mut with_lengths = function.clone();
    lengths(&mut with_lengths, &special);
    let found = {
        let definitions = DefUse::new(&with_lengths);
        let affine = Affine::new(&with_lengths, &definitions);
        let finder = Finder { function: &with_lengths, affine: &affine, special };
        let mut found = Vec::new();
        finder.block(&with_lengths.body, false, &mut found);
        found
    };
    if found.is_empty() {
        return;
    }
    *function = with_lengths;
    // Those of one loop stay in order.
    for (object, counter) in found.into_iter().rev() {
        let known = &function.objects[object.index()];
        let message = format!("`{}` is filled by each iteration before it is read", known.name);
        cx.applied(known.span, message);
        if let Some(made) = take(&mut function.body, object) {
            put(&mut function.body, counter, made);
        }
    }
}

/// A list has the length that it was made with, also where it is not there; and what runs over the length of one buffer may fill another.
fn lengths(function: &mut Function, special: &HashSet<ObjectId>) {
    let mut lens = HashMap::new();
    walk(&function.body, &mut |node| {
        if let Stmt::New { object, init: Init::Repeat(_, len) } = node
            && is_buffer(function, *object, special)
        {
            lens.insert(*object, *len);
        }
    });
    let mut known = Substitution::default();
    drop_lengths(&mut function.body, &lens, &mut known);
    known.apply(&mut function.body);
}

/// Whether an object is a local list or array of numbers of which nothing special is known.
fn is_buffer(function: &Function, object: ObjectId, special: &HashSet<ObjectId>) -> bool {
    let known = &function.objects[object.index()];
    let item = match &known.ty {
        Type::Vec(item) | Type::Array(item, Extent::Known(_)) => item.scalar(),
        _ => None,
    };
    known.origin == Origin::Local && item.is_some() && !special.contains(&object)
}

/// A buffer, and the loop that it belongs to, by its counter.
type Found = (ObjectId, ValueId);

/// Objects of which more is known than the statements say.
pub(super) fn special(function: &Function) -> HashSet<ObjectId> {
    let copies = &function.strided_copies;
    let mut special = made_twice(&function.body);
    special.extend(swapped(&function.body));
    special.extend(function.kept.iter().chain(copies.keys()));
    special.extend(copies.values().map(|copy| copy.of));
    special.extend(function.unfilled.iter().chain(&function.emptied).chain(&function.sums));
    // A length that is returned stays a value of its own.
    walk(&function.body, &mut |node| match node {
        Stmt::Let { value, op: Op::Len(place) } if function.results.contains(value) => {
            special.insert(place.object);
        }
        Stmt::New { init: Init::ZeroLike(like), .. } => {
            special.insert(*like);
        }
        _ => {}
    });
    special
}

struct Finder<'a> {
    function: &'a Function,
    affine: &'a Affine<'a>,
    special: HashSet<ObjectId>,
}

impl Finder<'_> {
    /// The buffers made in a block or inside it.
    fn block(&self, block: &Block, in_loop: bool, found: &mut Vec<Found>) {
        for (at, node) in block.iter().enumerate() {
            if let Stmt::New { object, init } = node
                && let Some(len) = self.len(*object, init)
                && let Some(counter) = self.place(*object, &len, &block[at + 1..], in_loop)
            {
                found.push((*object, counter));
            }
            let in_loop = in_loop || matches!(node, Stmt::Loop(_));
            for inner in node.blocks() {
                self.block(inner, in_loop, found);
            }
        }
    }

    /// The length of a buffer that is filled with one number.
    fn len(&self, object: ObjectId, init: &Init) -> Option<Polynomial> {
        if !is_buffer(self.function, object, &self.special) {
            return None;
        }
        let is_value = |init: &Init| matches!(init, Init::Value(_));
        match (&self.function.objects[object.index()].ty, init) {
            (Type::Vec(_), Init::Repeat(first, len)) if is_value(first) => {
                Some(self.affine.of(*len))
            }
            (Type::Array(_, Extent::Known(len)), Init::Fill(first)) if is_value(first) => {
                Some(Polynomial::number(*len as i128))
            }
            _ => None,
        }
    }

    /// The outermost loop whose iterations fill a buffer before they read it, if it is used in that loop alone.
    fn place(
        &self,
        object: ObjectId,
        len: &Polynomial,
        block: &[Stmt],
        in_loop: bool,
    ) -> Option<ValueId> {
        let mut users = block.iter().filter(|node| touches(node, object));
        let (Some(Stmt::Loop(node)), None) = (users.next(), users.next()) else { return None };
        let list = matches!(self.function.objects[object.index()].ty, Type::Vec(_));
        let pays = !list || !in_loop || has_nest(node);
        if pays && self.is_filled(object, len, &node.body) {
            return Some(node.counter);
        }
        self.place(object, len, &node.body, true)
    }

    /// Whether all that statements read of a buffer they have written before.
    fn is_filled(&self, object: ObjectId, len: &Polynomial, block: &Block) -> bool {
        if Cover::new(self.affine, object).of_length(len.clone()).reads_what_it_wrote(block) {
            return true;
        }
        block.iter().filter(|node| touches(node, object)).all(|node| match node {
            Stmt::Loop(node) => self.is_filled(object, len, &node.body),
            Stmt::If(node) => {
                self.is_filled(object, len, &node.then) && self.is_filled(object, len, &node.other)
            }
            _ => false,
        })
    }
}

/// Whether a statement has anything to do with an object but for its length.
fn touches(node: &Stmt, object: ObjectId) -> bool {
    let is_it = |place: &Place| place.object == object;
    contains(node, &|node| {
        node.uses_whole(object)
            || node.written().into_iter().any(is_it)
            || node.read().into_iter().any(is_it)
    })
}

/// Whether a loop has loops inside loops: one more buffer costs little beside these.
fn has_nest(node: &Loop) -> bool {
    let is_loop = |node: &Stmt| matches!(node, Stmt::Loop(_));
    let nested = |node: &Stmt| match node {
        Stmt::Loop(node) => node.body.iter().any(|inner| contains(inner, &is_loop)),
        _ => false,
    };
    node.body.iter().any(|inner| contains(inner, &nested))
}

/// Takes away the statement that makes an object.
fn take(block: &mut Block, object: ObjectId) -> Option<Stmt> {
    let is_it = |node: &Stmt| matches!(node, Stmt::New { object: made, .. } if *made == object);
    if let Some(at) = block.iter().position(is_it) {
        return Some(block.remove(at));
    }
    block.iter_mut().flat_map(Stmt::blocks_mut).find_map(|inner| take(inner, object))
}

/// Puts a statement at the beginning of a loop's body.
fn put(block: &mut Block, counter: ValueId, made: Stmt) {
    for node in block {
        if let Stmt::Loop(node) = node
            && node.counter == counter
        {
            node.body.insert(0, made);
            return;
        }
        for inner in node.blocks_mut() {
            put(inner, counter, made.clone());
        }
    }
}

fn drop_lengths(block: &mut Block, lens: &HashMap<ObjectId, ValueId>, known: &mut Substitution) {
    block.retain(|node| match node {
        Stmt::Let { value, op: Op::Len(place) } => match lens.get(&place.object) {
            Some(len) => {
                known.value(*value, *len);
                false
            }
            None => true,
        },
        _ => true,
    });
    for node in block {
        for inner in node.blocks_mut() {
            drop_lengths(inner, lens, known);
        }
    }
}
