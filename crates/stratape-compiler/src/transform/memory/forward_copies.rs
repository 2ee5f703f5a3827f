//! Copies that nobody needs: what is read from a copy is read from where it came from, and what is only copied further is made in its place.
//!
//! Structs and arrays are copied where a program passes them, binds them or builds others from them. Most copies are never written, or are all that is
//! left of what they were made from. LLVM sees that too, but derivatives are made before: what is read from a copy would be saved, where memory
//! that is still there is read again.
//!
//! ```text
//! new @p = copy of @nodes[a];  x = @p[0]                 →  x = @nodes[a][0]
//! new @t = [0.0; _];  new @c = copy of @t;  @c[i] = …    →  new @c = [0.0; _];  @c[i] = …
//! new @t = [u, v];  new @m = [copy of @t, …]             →  new @m = [[u, v], …]
//! ```
//!
//! Legal for a copy that is never written while what it came from is not written in its life either; for one whose origin is used nowhere afterwards;
//! and for a part of an object that was made of values and never written. A copy out of bounds panics: it is read from its origin only if that happens in every case. Always pays.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use crate::tapeflow::contains;
use stratape_ir::{
    Block, Check, Function, Init, ObjectId, Op, Origin, Place, Step, Stmt, Substitution, walk,
};

/// The pass.
pub const FORWARD_COPIES: Pass = Pass {
    name: "forward_copies",
    after: &[],
    promise: Promise::SameBits,
    required: false,
    run: forward_copies,
};

fn forward_copies(function: &mut Function, cx: &mut Context<'_>) {
    // Each round does away with at least one copy.
    while let Some(change) = find(function) {
        let object = match &change {
            Change::Inline(object, ..) | Change::Alias(object, _) | Change::Read(object, _) => {
                *object
            }
        };
        cx.applied(function.objects[object.index()].span, "a copy is left out");
        apply(function, change);
    }
    drop_unused(function);
}

/// Leaves out what is made of values and used nowhere, as the parts are that others were built from.
fn drop_unused(function: &mut Function) {
    let mut used: HashSet<ObjectId> = function.kept.iter().copied().collect();
    used.extend(function.strided_copies.values().map(|copy| copy.of));
    walk(&function.body, &mut |node| {
        used.extend(node.written().into_iter().chain(node.read()).map(|place| place.object));
        match node {
            Stmt::Let { op: Op::Len(place), .. } => {
                used.insert(place.object);
            }
            Stmt::New { init, .. } => mentioned(init, &mut used),
            Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                used.extend(objects.iter().map(|(_, object)| *object));
            }
            _ => {}
        }
    });
    each_block(&mut function.body, &mut |block| {
        block.retain(|node| match node {
            Stmt::New { object, init } => used.contains(object) || !is_made(init),
            _ => true,
        });
    });
}

/// The objects that another is made from.
fn mentioned(init: &Init, used: &mut HashSet<ObjectId>) {
    match init {
        Init::Copy(place) => {
            used.insert(place.object);
        }
        Init::ZeroLike(object) => {
            used.insert(*object);
        }
        Init::Items(items) => items.iter().for_each(|item| mentioned(item, used)),
        Init::Fill(item) | Init::Repeat(item, _) => mentioned(item, used),
        Init::Value(_) => {}
    }
}

/// What is done about a copy.
enum Change {
    /// An object is made of what another was made of.
    Inline(ObjectId, Init),
    /// An object is another that is used nowhere afterwards.
    Alias(ObjectId, ObjectId),
    /// What is read from an object is read from a place.
    Read(ObjectId, Place),
}

/// What is known of an object.
#[derive(Default)]
struct Known {
    made: usize,
    written: bool,
    /// Printed, passed to a function, exchanged, or used for its shape.
    whole: bool,
}

fn find(function: &Function) -> Option<Change> {
    let mut known: HashMap<ObjectId, Known> = HashMap::new();
    walk(&function.body, &mut |node| {
        for place in node.written() {
            known.entry(place.object).or_default().written = true;
        }
        match node {
            Stmt::New { object, init } => {
                known.entry(*object).or_default().made += 1;
                shapes(init, &mut |object| known.entry(object).or_default().whole = true);
            }
            Stmt::Swap { a, b } => {
                for place in [a, b] {
                    known.entry(place.object).or_default().whole = true;
                }
            }
            Stmt::Call(call) => {
                for slice in call.slices() {
                    known.entry(slice.place.object).or_default().whole = true;
                }
            }
            Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                for (_, object) in objects {
                    known.entry(*object).or_default().whole = true;
                }
            }
            _ => {}
        }
    });
    let special: HashSet<ObjectId> = function
        .kept
        .iter()
        .chain(function.strided_copies.keys())
        .chain(function.strided_copies.values().map(|copy| &copy.of))
        .chain(&function.unfilled)
        .chain(&function.emptied)
        .chain(&function.sums)
        .copied()
        .collect();
    let finder = Finder { function, known, special };
    finder.block(&function.body)
}

struct Finder<'a> {
    function: &'a Function,
    known: HashMap<ObjectId, Known>,
    special: HashSet<ObjectId>,
}

impl Finder<'_> {
    fn block(&self, block: &Block) -> Option<Change> {
        // What the objects of this block are made of.
        let mut inits: HashMap<ObjectId, &Init> = HashMap::new();
        for (position, node) in block.iter().enumerate() {
            if let Stmt::New { object, init } = node {
                let rest = &block[position + 1..];
                if let Some(change) = self.copy(*object, init, rest, &inits) {
                    return Some(change);
                }
                inits.insert(*object, init);
            }
            if let Some(change) = node.blocks().into_iter().find_map(|inner| self.block(inner)) {
                return Some(change);
            }
        }
        None
    }

    fn is_ordinary(&self, object: ObjectId) -> bool {
        self.function.objects[object.index()].origin == Origin::Local
            && !self.special.contains(&object)
            && self.known.get(&object).is_some_and(|known| known.made == 1)
    }

    fn copy(
        &self,
        object: ObjectId,
        init: &Init,
        rest: &[Stmt],
        inits: &HashMap<ObjectId, &Init>,
    ) -> Option<Change> {
        if !self.is_ordinary(object) {
            return None;
        }
        if let Some(inlined) = self.inlined(init, inits) {
            return Some(Change::Inline(object, inlined));
        }
        let Init::Copy(origin) = init else { return None };
        let ty = |object: ObjectId| &self.function.objects[object.index()].ty;
        let unused = !rest.iter().any(|node| mentions(node, origin.object));
        if origin.path.is_empty()
            && unused
            && inits.contains_key(&origin.object)
            && self.is_ordinary(origin.object)
            && ty(object) == ty(origin.object)
        {
            return Some(Change::Alias(object, origin.object));
        }
        let known = &self.known[&object];
        let writes = |node: &Stmt| writes(node, origin.object);
        let fits = !known.written
            && !known.whole
            && self.function.place_type(origin) == Some(ty(object))
            && !rest.iter().any(writes);
        let indexed = origin.path.iter().any(|step| matches!(step, Step::Index(_)));
        // One that is out of bounds panics, and must go on doing so.
        let reads = |node: &Stmt| matches!(node, Stmt::Let { op: Op::Load(place), .. } if place.object == object);
        (fits && (!indexed || rest.iter().any(reads))).then(|| Change::Read(object, origin.clone()))
    }

    /// An initial value with what parts of it are copied from, if that changes anything.
    fn inlined(&self, init: &Init, inits: &HashMap<ObjectId, &Init>) -> Option<Init> {
        match init {
            Init::Copy(origin) => {
                let made = inits.get(&origin.object).filter(|_| origin.path.is_empty())?;
                let known = self.known.get(&origin.object)?;
                let fits = self.is_ordinary(origin.object) && !known.written && is_made(made);
                fits.then(|| (*made).clone())
            }
            Init::Items(items) => {
                let mut changed = false;
                let all = items.iter().map(|item| match self.inlined(item, inits) {
                    Some(item) => {
                        changed = true;
                        item
                    }
                    None => item.clone(),
                });
                let all = all.collect();
                changed.then_some(Init::Items(all))
            }
            Init::Fill(item) => Some(Init::Fill(Box::new(self.inlined(item, inits)?))),
            _ => None,
        }
    }
}

/// Whether something is made of values alone, and of no list.
fn is_made(init: &Init) -> bool {
    match init {
        Init::Value(_) => true,
        Init::Items(items) => items.iter().all(is_made),
        Init::Fill(item) => is_made(item),
        Init::Repeat(..) | Init::Copy(_) | Init::ZeroLike(_) => false,
    }
}

/// The objects whose shapes something is made after.
fn shapes(init: &Init, f: &mut dyn FnMut(ObjectId)) {
    match init {
        Init::ZeroLike(object) => f(*object),
        Init::Items(items) => items.iter().for_each(|item| shapes(item, f)),
        Init::Fill(item) | Init::Repeat(item, _) => shapes(item, f),
        Init::Value(_) | Init::Copy(_) => {}
    }
}

fn writes(node: &Stmt, object: ObjectId) -> bool {
    contains(node, &|node| node.written().iter().any(|place| place.object == object))
}

/// Whether a statement has anything to do with an object.
pub(super) fn mentions(node: &Stmt, object: ObjectId) -> bool {
    contains(node, &|node| {
        let touched = |place: &Place| place.object == object;
        let len = matches!(node, Stmt::Let { op: Op::Len(place), .. } if touched(place));
        len || node.uses_whole(object)
            || node.written().into_iter().any(touched)
            || node.read().into_iter().any(touched)
    })
}

fn apply(function: &mut Function, change: Change) {
    match change {
        Change::Inline(object, init) => {
            each_block(&mut function.body, &mut |block| {
                for node in block.iter_mut() {
                    if let Stmt::New { object: made, init: old } = node
                        && *made == object
                    {
                        old.clone_from(&init);
                    }
                }
            });
        }
        Change::Alias(object, origin) => {
            drop_new(&mut function.body, object);
            let named = function.objects[object.index()].clone();
            let known = &mut function.objects[origin.index()];
            (known.name, known.span) = (named.name, named.span);
            let mut substitution = Substitution::default();
            substitution.object(object, origin);
            substitution.apply(&mut function.body);
        }
        Change::Read(object, origin) => {
            drop_new(&mut function.body, object);
            let redirect = |place: &mut Place| {
                if place.object == object {
                    let mut path = origin.path.clone();
                    path.append(&mut place.path);
                    *place = Place { path, ..origin.clone() };
                }
            };
            each_block(&mut function.body, &mut |block| {
                for node in block.iter_mut() {
                    match node {
                        Stmt::Let { op: Op::Load(place) | Op::Len(place), .. } => redirect(place),
                        Stmt::New { init, .. } => redirect_init(init, &redirect),
                        _ => {}
                    }
                }
            });
        }
    }
}

fn redirect_init(init: &mut Init, redirect: &dyn Fn(&mut Place)) {
    match init {
        Init::Copy(place) => redirect(place),
        Init::Items(items) => items.iter_mut().for_each(|item| redirect_init(item, redirect)),
        Init::Fill(item) | Init::Repeat(item, _) => redirect_init(item, redirect),
        Init::Value(_) | Init::ZeroLike(_) => {}
    }
}

fn drop_new(body: &mut Block, object: ObjectId) {
    each_block(body, &mut |block| {
        block.retain(|node| !matches!(node, Stmt::New { object: made, .. } if *made == object));
    });
}

fn each_block(block: &mut Block, f: &mut dyn FnMut(&mut Block)) {
    f(block);
    for node in block {
        for inner in node.blocks_mut() {
            each_block(inner, f);
        }
    }
}
