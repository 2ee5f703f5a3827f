//! Which loops may run in any order.
//!
//! A loop may if
//!
//! - it has no `exit`: every iteration is run;
//! - every carried value is a [sum](super::is_sum) of adjoints that no iteration reads;
//! - each object from outside is only read; or it holds adjoints and is only added to; or each iteration keeps to an element of its
//!   own; or it holds adjoints, and such elements lie apart from all others, which are only read or only added to ([`Split`]). Primal memory
//!   that is added to counts as stored to: not a bit of it may change;
//! - nothing is pushed, saved or called. Records are popped by the number of the iteration, not by the order of the run.

use std::collections::HashSet;

use super::access_groups::strided;
use super::affine::Affine;
use super::reduction::is_sum;
use crate::{Block, Check, Function, Loop, ObjectId, Op, Range, Split, Stmt, walk};

/// Whether the iterations of a loop, each run once and with its own records, leave the same memory and the same results in any order, up to
/// the rounding of adjoints.
pub fn is_reorderable(function: &Function, affine: &Affine<'_>, node: &Loop) -> bool {
    node.exit.is_none()
        && matches!(node.range, Range::UpTo { .. })
        && node.carried.iter().all(|carried| function.is_free(carried) && is_sum(node, carried))
        && !acts(&node.body)
        && Uses::of(function, node, |_| true).commute(affine)
}

/// Whether a body does what must be done in order: leave something on the tape, or call something.
fn acts(body: &Block) -> bool {
    let mut acts = false;
    walk(body, &mut |item| {
        acts |= matches!(
            item,
            Stmt::Push { .. }
                | Stmt::Call(_)
                | Stmt::Save { .. }
                | Stmt::Restore { .. }
                | Stmt::Refill { .. }
        );
    });
    acts
}

/// Whether the iterations of a loop meet in the memory of adjoints only so that their order does not matter. Of the rest of
/// memory, nothing is said.
pub fn adjoints_commute(function: &Function, affine: &Affine<'_>, node: &Loop) -> bool {
    Uses::of(function, node, |object| function.holds_adjoints(object)).commute(affine)
}

/// How a loop uses the objects from outside it.
struct Uses<'a> {
    function: &'a Function,
    node: &'a Loop,
    /// Read as a whole, copied or passed to a call: its elements cannot be told apart.
    whole: HashSet<ObjectId>,
    read: HashSet<ObjectId>,
    added: HashSet<ObjectId>,
    stored: HashSet<ObjectId>,
}

impl<'a> Uses<'a> {
    fn of(function: &'a Function, node: &'a Loop, matters: impl Fn(ObjectId) -> bool) -> Self {
        let mut uses = Self {
            function,
            node,
            whole: HashSet::new(),
            read: HashSet::new(),
            added: HashSet::new(),
            stored: HashSet::new(),
        };
        let mut own = HashSet::new();
        walk(&node.body, &mut |item| uses.add(item, &mut own));
        let all = [&mut uses.whole, &mut uses.read, &mut uses.added, &mut uses.stored];
        for set in all {
            set.retain(|object| !own.contains(object) && matters(*object));
        }
        uses
    }

    fn add(&mut self, item: &Stmt, own: &mut HashSet<ObjectId>) {
        match item {
            Stmt::New { object, init } => {
                own.insert(*object);
                // Zeros like another object take its length alone, which does not change.
                self.whole.extend(init.copied().iter().map(|place| place.object));
            }
            Stmt::Restore { object, .. } => {
                own.insert(*object);
            }
            Stmt::Let { op: Op::Load(place), .. } => {
                self.read.insert(place.object);
            }
            Stmt::Accumulate { place, .. } if self.function.holds_adjoints(place.object) => {
                self.added.insert(place.object);
            }
            Stmt::Accumulate { place, .. } => {
                self.read.insert(place.object);
                self.stored.insert(place.object);
            }
            Stmt::Store { place, .. } => {
                self.stored.insert(place.object);
            }
            Stmt::Call(_) | Stmt::Save { .. } | Stmt::Refill { .. } | Stmt::Swap { .. } => {
                self.whole.extend(item.read().iter().map(|place| place.object));
                self.whole.extend(item.written().iter().map(|place| place.object));
                self.stored.extend(item.written().iter().map(|place| place.object));
            }
            Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                self.whole.extend(objects.iter().map(|(_, object)| *object));
            }
            _ => {}
        }
    }

    /// Whether the iterations leave the same in any order.
    fn commute(&self, affine: &Affine<'_>) -> bool {
        let written: HashSet<ObjectId> = self.added.union(&self.stored).copied().collect();
        written.into_iter().all(|object| {
            let only_added = !self.stored.contains(&object)
                && !self.read.contains(&object)
                && !self.whole.contains(&object);
            if only_added {
                return true;
            }
            if self.whole.contains(&object) {
                return false;
            }
            let apart = || {
                self.function.holds_adjoints(object)
                    && Split::find(affine, self.node, object).is_some()
            };
            keeps_to_own_element(affine, self.node, object) || apart()
        })
    }
}

/// Whether every access to an object is at one index that no other iteration has.
fn keeps_to_own_element(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> bool {
    let (mut own, mut fits) = (None, true);
    walk(&node.body, &mut |item| {
        for place in item.read().into_iter().chain(item.written()) {
            if place.object == object {
                let found = strided(affine, node.counter, place).filter(|(stride, _)| *stride != 0);
                fits &= found.is_some() && own.get_or_insert_with(|| found.clone()) == &found;
            }
        }
    });
    own.is_some() && fits
}
