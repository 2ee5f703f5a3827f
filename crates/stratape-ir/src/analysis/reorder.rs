//! Which loops may run in any order.
//!
//! A loop may if
//!
//! - it has no `exit`: every iteration is run;
//! - every carried value is a sum of adjoints that no iteration reads: `inside` is used once, in
//!   `next = inside ± term`, and `next` is used by nothing but the loop itself;
//! - each object from outside is only read; or it holds adjoints and is only added to; or each iteration keeps to an element of its
//!   own; or it holds adjoints, and what is added to lies apart from the elements that are read or stored to. Primal memory that
//!   is added to counts as stored to: not a bit of it may change;
//! - nothing is pushed, saved or called. Records are popped by the number of the iteration, not by the order of the run.

use std::collections::HashSet;

use super::affine::Affine;
use crate::{
    Binary, Block, Carried, Check, Function, Loop, ObjectId, Op, Range, Split, Step, Stmt, ValueId,
    walk,
};

/// Whether the iterations of a loop, each run once and with its own records, leave the same memory and the same results in any order, up to
/// the rounding of adjoints.
pub fn is_reorderable(function: &Function, affine: &Affine<'_>, node: &Loop) -> bool {
    node.exit.is_none()
        && matches!(node.range, Range::UpTo { .. })
        && node.carried.iter().all(|carried| is_hidden_sum(function, node, carried))
        && !acts(&node.body)
        && Uses::of(function, node, |_| true).commute(affine)
}

/// Whether a carried value is a sum of adjoints that nothing in the loop looks at.
fn is_hidden_sum(function: &Function, node: &Loop, carried: &Carried) -> bool {
    let adjoint = |value: ValueId| function.values[value.index()].adjoint;
    if !adjoint(carried.inside) {
        return false;
    }
    let (mut inside, mut next, mut is_sum) = (0, 0, false);
    walk(&node.body, &mut |item| {
        item.for_each_operand(&mut |value| {
            inside += usize::from(value == carried.inside);
            next += usize::from(value == carried.next);
        });
    });
    for item in &node.body {
        if let Stmt::Let { value, op: Op::Binary(sign, a, b) } = item
            && *value == carried.next
        {
            is_sum = match sign {
                Binary::Add => *a == carried.inside || *b == carried.inside,
                Binary::Sub => *a == carried.inside,
                _ => false,
            };
        }
    }
    for other in &node.carried {
        inside += usize::from(other.next == carried.inside);
        next += usize::from(other.next == carried.next);
    }
    is_sum && inside == 1 && next == 1
}

/// Whether a body does what must be done in order: leave something on the tape, or call something.
fn acts(body: &Block) -> bool {
    let mut acts = false;
    walk(body, &mut |item| {
        acts |= matches!(
            item,
            Stmt::Push { .. } | Stmt::Call(_) | Stmt::Save { .. } | Stmt::Restore { .. }
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
            Stmt::Call(_) | Stmt::Save { .. } => {
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
                    && Split::find(affine, self.node, object)
                        .is_some_and(|split| !split.others_read)
            };
            keeps_to_own_element(affine, self.node, object) || apart()
        })
    }
}

/// Whether every access to an object is at one index that no other iteration has.
fn keeps_to_own_element(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> bool {
    let mut index = None;
    let mut fits = true;
    walk(&node.body, &mut |item| {
        for place in item.read().into_iter().chain(item.written()) {
            if place.object != object {
                continue;
            }
            let Some(Step::Index(first)) = place.path.first() else {
                fits = false;
                continue;
            };
            let polynomial = affine.of(*first);
            match &index {
                None => index = Some(polynomial),
                Some(known) => fits &= *known == polynomial,
            }
        }
    });
    let Some(index) = index.filter(|_| fits) else { return false };
    let Some((factor, rest)) = index.split(node.counter) else { return false };
    factor.as_number().is_some_and(|factor| factor != 0)
        && rest.symbols().all(|symbol| affine.is_invariant(symbol, node.counter))
}
