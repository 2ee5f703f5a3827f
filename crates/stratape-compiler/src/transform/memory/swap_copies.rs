//! Copies that become exchanges: a list that is copied to another, and is not read before it is filled anew, is exchanged with it.
//!
//! ```text
//! for k in 0..n { @before[k] = @now[k] };  for k in 0..n { @now[k] = @next[k] }   →   swap @before, @now;  swap @now, @next
//! ```
//!
//! Time steps are often written so. An exchange copies nothing, and neither does its adjoint, which is the same exchange of the shadows; that of a copy adds one shadow to the
//! other and clears it.
//!
//! Legal for two local lists of numbers of the same length, all of which is copied, if after it the origin is read nowhere: its block ends, in which it was made,
//! or all of it is copied to before anything else touches it. Always pays. Runs after `localize`, which has no eye for lists that are exchanged.

use std::collections::{HashMap, HashSet};

use super::forward_copies::mentions;
use super::localize::special;
use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Block, Check, Compare, Function, Init, Loop, ObjectId, Op, Origin, Place, Range, Step, Stmt,
    Type, ValueId, walk,
};

/// The pass.
pub const SWAP_COPIES: Pass = Pass {
    name: "swap_copies",
    after: &["localize"],
    promise: Promise::SameBits,
    required: false,
    run: swap_copies,
};

fn swap_copies(function: &mut Function, cx: &mut Context<'_>) {
    if !function.checkpoints.is_empty() {
        return;
    }
    let found = {
        let definitions = DefUse::new(function);
        let finder = Finder {
            function,
            definitions: &definitions,
            special: special(function),
            lengths: lengths(function),
        };
        let mut found = HashMap::new();
        finder.block(&function.body, &mut found);
        found
    };
    replace(&mut function.body, &found, cx);
}

/// Puts exchanges in the place of the copying loops that were found.
fn replace(block: &mut Block, found: &HashMap<ValueId, Copied>, cx: &mut Context<'_>) {
    for node in block {
        if let Stmt::Loop(inner) = node
            && let Some(Copied { from, to, .. }) = found.get(&inner.counter)
        {
            cx.applied(
                inner.span,
                "exchanged with the list it was copied from, which is not read again",
            );
            *node = Stmt::Swap { a: Place::whole(*to), b: Place::whole(*from) };
            continue;
        }
        for inner in node.blocks_mut() {
            replace(inner, found, cx);
        }
    }
}

/// The values that are the length of a list.
fn lengths(function: &Function) -> HashMap<ObjectId, HashSet<ValueId>> {
    let mut lengths: HashMap<ObjectId, HashSet<ValueId>> = HashMap::new();
    walk(&function.body, &mut |node| match node {
        Stmt::Let { value, op: Op::Len(place) } if place.path.is_empty() => {
            lengths.entry(place.object).or_default().insert(*value);
        }
        Stmt::New { object, init: Init::Repeat(_, length) } => {
            lengths.entry(*object).or_default().insert(*length);
        }
        _ => {}
    });
    lengths
}

/// One list that is copied to another, element by element.
struct Copied {
    from: ObjectId,
    to: ObjectId,
    end: ValueId,
}

struct Finder<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    special: HashSet<ObjectId>,
    lengths: HashMap<ObjectId, HashSet<ValueId>>,
}

impl Finder<'_> {
    fn block(&self, block: &Block, found: &mut HashMap<ValueId, Copied>) {
        let mut here: HashSet<ObjectId> = HashSet::new();
        for (at, node) in block.iter().enumerate() {
            if let Stmt::New { object, .. } = node {
                here.insert(*object);
            }
            for inner in node.blocks() {
                self.block(inner, found);
            }
            if let Stmt::Loop(inner) = node
                && let Some(copied) = self.copied(inner)
                && self.is_whole(&copied, &block[..at])
                && self.is_dead(copied.from, &block[at + 1..], &here)
            {
                found.insert(inner.counter, copied);
            }
        }
    }

    /// The lists, if a loop copies one to the other and does nothing else.
    fn copied(&self, node: &Loop) -> Option<Copied> {
        let Range::UpTo { from: start, to: end } = node.range else { return None };
        let [Stmt::Let { value, op: Op::Load(read) }, Stmt::Store { place, value: stored }] =
            node.body.as_slice()
        else {
            return None;
        };
        let element = |place: &Place| matches!(place.path.as_slice(), [Step::Index(index)] if *index == node.counter);
        let from_zero = matches!(self.definitions.op(start), Some(Op::Int(0)));
        let fits = node.is_plain()
            && node.carried.is_empty()
            && from_zero
            && value == stored
            && element(read)
            && element(place)
            && read.object != place.object
            && self.is_list(read.object)
            && self.is_list(place.object);
        let types = [read, place].map(|place| &self.function.objects[place.object.index()].ty);
        (fits && types[0] == types[1]).then_some(Copied {
            from: read.object,
            to: place.object,
            end,
        })
    }

    fn is_list(&self, object: ObjectId) -> bool {
        let known = &self.function.objects[object.index()];
        known.origin == Origin::Local
            && matches!(&known.ty, Type::Vec(item) if matches!(**item, Type::Scalar(_)))
            && !self.special.contains(&object)
    }

    /// Whether two lists have the length that a loop runs to: by how they were made, or as was checked before.
    fn is_whole(&self, copied: &Copied, before: &[Stmt]) -> bool {
        let none = HashSet::new();
        let [from, to] =
            [copied.from, copied.to].map(|list| self.lengths.get(&list).unwrap_or(&none));
        let checked = |node: &Stmt| {
            let Stmt::Check { check: Check::Library { condition, .. }, .. } = node else {
                return false;
            };
            let Some(Op::Compare(Compare::Eq, a, b)) = self.definitions.op(*condition) else {
                return false;
            };
            (from.contains(a) && to.contains(b)) || (from.contains(b) && to.contains(a))
        };
        (from.contains(&copied.end) || to.contains(&copied.end))
            && (!from.is_disjoint(to) || before.iter().any(checked))
    }

    /// Whether what a list holds is not read in the rest of its block, and not after it.
    fn is_dead(&self, list: ObjectId, rest: &[Stmt], here: &HashSet<ObjectId>) -> bool {
        for (at, node) in rest.iter().enumerate() {
            if let Stmt::Let { op: Op::Len(_), .. } = node {
                continue;
            }
            if let Stmt::Loop(inner) = node
                && let Some(copied) = self.copied(inner)
                && copied.to == list
            {
                return self.is_whole(&copied, &rest[..at]);
            }
            if mentions(node, list) {
                return false;
            }
        }
        here.contains(&list)
    }
}
