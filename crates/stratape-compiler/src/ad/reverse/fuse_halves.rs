//! Fusion of the two halves of a loop or branch; home blocks.
//!
//! A *home* is a block that holds both halves of what it computes, in one scope, so that values of the forward half are still available in the
//! backward half. The function's own block is one. Fusion makes more of them. Take a block `before; L; after`, where `L` is a loop or a branch.
//! Its gradient is `before; L; after; after'; L'; before'`. If `after'` needs nothing that `L` and `after` compute (the loop ends in a plain
//! sum, say, whose adjoint is known beforehand), it can run early: `before; after'; L; L'; after; before'`, and `L; L'` can become one loop
//! whose body is a home: nothing is saved, nothing recomputed.
//!
//! Legal where `after'` uses no value of `L` and `after`, reads no memory that `L`, `after` or anything later writes, and uses nothing that is saved or
//! that a call is passed. For a loop, besides, backward iterations must not depend on the adjoints of later ones, since they come in the forward order:
//! every carried adjoint passes unchanged, and the iterations of the loop *as it was fused* meet in shadows only so that their order does not
//! matter ([`adjoints_commute`]). The attempt is written and tested; if it fails, it is dropped.
//!
//! Pays always: for gravity, somier, mttkrp, nbody and rosenbrock there is no tape at all (docs/performance.md).

use std::collections::{HashMap, HashSet};

use super::Reverse;
use super::records::{copy_before, save};
use crate::transform::canonical::written;
use stratape_ir::analysis::adjoints_commute;
use stratape_ir::analysis::{Affine, DefUse};
use stratape_ir::{
    Check, Function, Half, If, Loop, ObjectId, Op, Range, Stmt, StmtId, ValueId, defined, made,
    swapped, used, walk,
};

/// Which blocks were fused, and which values that needs early.
#[derive(Clone, Debug, Default)]
pub(in crate::ad) struct Fusion {
    /// For each block that was looked at: where it is fused, if anywhere, and how.
    decided: HashMap<Home, Option<Place>>,
    /// Values asked for by what runs early: they must not be saved.
    early: HashSet<ValueId>,
    /// While something is written that is to run early: what it must not ask for, and whether it did.
    forbidden: Vec<(HashSet<ValueId>, bool)>,
}

impl Fusion {
    /// Notes that a value of a home block is used.
    pub(super) fn asked_home(&mut self, value: ValueId) {
        for (forbidden, asked) in &mut self.forbidden {
            *asked |= forbidden.contains(&value);
        }
    }

    /// Notes that a value of an inner block is used.
    pub(super) fn asked_inner(&mut self, value: ValueId) {
        if !self.forbidden.is_empty() {
            self.early.insert(value);
        }
    }

    /// Whether a value is asked for before the loop that would save it has run.
    pub(super) fn is_early(&self, value: ValueId) -> bool {
        self.early.contains(&value)
    }
}

/// The statement of a block that is fused.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    /// Whether what follows it and does not depend on it comes first.
    reordered: bool,
}

/// What is not defined yet where a backward half runs early.
struct Later {
    values: HashSet<ValueId>,
    objects: HashSet<ObjectId>,
    /// What is written from there on.
    written: HashSet<ObjectId>,
}

/// A block that holds both halves of what it computes, by what it is the block of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Home {
    /// The function.
    Function,
    /// A loop, by its counter.
    Loop(ValueId),
    /// An arm of a branch.
    Arm(StmtId, bool),
}

/// A block with all that follows a statement, and depends neither on it nor on what stays behind, before it; and where the statement is then.
/// `None` if nothing can be moved.
fn independent_first(block: &[Stmt], at: usize) -> Option<(Vec<Stmt>, usize)> {
    let (before, rest) = block.split_at(at);
    let (mut first, mut stay): (Vec<Stmt>, Vec<Stmt>) = (before.to_vec(), Vec::new());
    let mut effects = Effects::default();
    for node in rest {
        let own = Effects::of(node);
        if stay.is_empty() || !own.movable || effects.asserts || own.depends_on(&effects) {
            effects.add(own);
            stay.push(node.clone());
        } else {
            first.push(node.clone());
        }
    }
    let at_now = first.len();
    first.extend(stay);
    (at_now > at).then_some((first, at_now))
}

/// What statements do that others may depend on.
#[derive(Default)]
struct Effects {
    defined: HashSet<ValueId>,
    used: HashSet<ValueId>,
    read: HashSet<ObjectId>,
    written: HashSet<ObjectId>,
    /// Whether nothing happens that others can tell the time of. Of several panics another may come first.
    movable: bool,
    /// Whether something is asserted or printed: what comes later may panic too, and must do so later.
    asserts: bool,
}

impl Effects {
    fn of(node: &Stmt) -> Self {
        let block = vec![node.clone()];
        let mut effects = Self { movable: true, ..Self::default() };
        (effects.defined, effects.used) = (defined(&block), used(&block));
        (effects.written, effects.read) = (written(&block), HashSet::new());
        effects.written.extend(made(&block));
        walk(&block, &mut |node| {
            effects.read.extend(node.read().into_iter().map(|place| place.object));
            match node {
                Stmt::Let { op: Op::Len(place), .. } => {
                    effects.read.insert(place.object);
                }
                Stmt::Let { .. } | Stmt::Store { .. } | Stmt::Accumulate { .. } | Stmt::If(_) => {}
                Stmt::Loop(node) => effects.movable &= node.exit.is_none() && node.trips.is_none(),
                Stmt::Check { check: Check::Assert { .. } | Check::Library { .. }, .. } => {
                    (effects.asserts, effects.movable) = (true, false);
                }
                // Checks come in the order of the program. Calls, exchanges, and locals, which are left where they are for the sake of their shadows.
                _ => effects.movable = false,
            }
        });
        effects
    }

    fn depends_on(&self, other: &Self) -> bool {
        let touched = |objects: &HashSet<ObjectId>| !objects.is_disjoint(&other.written);
        !self.used.is_disjoint(&other.defined)
            || touched(&self.read)
            || touched(&self.written)
            || !self.written.is_disjoint(&other.read)
    }

    fn add(&mut self, other: Self) {
        self.defined.extend(other.defined);
        self.used.extend(other.used);
        self.read.extend(other.read);
        self.written.extend(other.written);
        self.asserts |= other.asserts;
    }
}

impl Reverse<'_> {
    /// Writes both halves of a block into the one that is open.
    pub(super) fn home(&mut self, home: Home, block: &[Stmt]) {
        for node in block {
            node.for_each_result(&mut |value| {
                self.homes.insert(value);
            });
            if let Stmt::New { object, .. } = node {
                self.home_objects.insert(*object);
            }
        }
        let at = match self.fusion.decided.get(&home) {
            Some(decided) => *decided,
            None => {
                let found = self.find_fusion(block);
                self.fusion.decided.insert(home, found);
                found
            }
        };
        match at {
            Some(place) => {
                let fused = self.fused(block, place);
                debug_assert!(fused, "what was found possible once is possible again");
            }
            None => {
                self.forward(block);
                self.block(block);
            }
        }
    }

    /// The first node of a block that can be fused.
    fn find_fusion(&mut self, block: &[Stmt]) -> Option<Place> {
        // What threads do together keeps its place.
        if self.facts.function.plain || self.facts.cooperates() {
            return None;
        }
        for (at, node) in block.iter().enumerate() {
            if !matches!(node, Stmt::Loop(_) | Stmt::If(_)) || !self.carries_adjoints(node) {
                continue;
            }
            // For loops alone: a branch has little on the tape, and gains nothing (black_scholes: 1.1 of the time).
            let ways: &[bool] =
                if matches!(node, Stmt::Loop(_)) { &[false, true] } else { &[false] };
            for reordered in ways.iter().copied() {
                let place = Place { at, reordered };
                let mut attempt = self.clone();
                if attempt.fused(block, place) {
                    // What inner blocks decided holds as well.
                    self.fusion.decided.extend(attempt.fusion.decided);
                    self.fusion.early.extend(attempt.fusion.early);
                    return Some(place);
                }
            }
        }
        None
    }

    fn carries_adjoints(&self, node: &Stmt) -> bool {
        let block = vec![node.clone()];
        let mut active = false;
        walk(&block, &mut |node| {
            node.for_each_result(&mut |value| active |= self.active(value));
            active |= node.written().iter().any(|place| self.facts.activity.object(place.object));
        });
        active
    }

    /// Appends a piece of the forward half.
    fn forward(&mut self, nodes: &[Stmt]) {
        let block = match self.plan {
            Some(plan) => save(
                nodes,
                plan,
                self.facts,
                &self.home_objects,
                &mut self.b.function,
                &mut self.saved,
            ),
            None => nodes.to_vec(),
        };
        block.into_iter().for_each(|node| self.b.node(node));
    }

    /// Writes both halves of a block with the node at a position fused. False if that is not possible.
    fn fused(&mut self, block: &[Stmt], place: Place) -> bool {
        if place.reordered {
            return independent_first(block, place.at)
                .is_some_and(|(block, at)| self.fused(&block, Place { at, reordered: false }));
        }
        let (before, rest) = block.split_at(place.at);
        let Some((node, after)) = rest.split_first() else { return false };
        let makes_shadow = |node: &Stmt| matches!(node, Stmt::New { object, .. } if self.facts.activity.object(*object));
        // What acts outside of the program does so in reverse order in the backward half, after all of the forward half: never iteration for iteration.
        let mut outside = false;
        walk(std::slice::from_ref(node), &mut |node| {
            outside |= matches!(node, Stmt::Call(call) if call.acts_outside());
        });
        if outside {
            return false;
        }
        // What a call leaves on the tape cannot be taken before it is left, nor what it is passed before it is there.
        let mut calls = false;
        walk(after, &mut |node| {
            calls |= matches!(node, Stmt::Call(_)) || node.uses_tape(Half::Forward);
        });
        // A shadow has the length that its list has in the end: it cannot be made before lists are exchanged.
        if calls || after.iter().any(makes_shadow) || !swapped(&rest.to_vec()).is_empty() {
            return false;
        }
        self.forward(before);
        self.shadows_of(before);
        let mut later = HashSet::new();
        for node in rest {
            node.for_each_result(&mut |value| {
                later.insert(value);
            });
        }
        self.fusion.forbidden.push((later.clone(), false));
        let already = self.fusion.early.clone();
        for node in after.iter().rev() {
            self.node(node);
        }
        let asked = self.fusion.forbidden.pop().is_some_and(|(_, asked)| asked);
        let rest = rest.to_vec();
        let later = Later { values: later, objects: made(&rest), written: written(&rest) };
        if asked || !self.early_can_be_recomputed(&already, &later) {
            return false;
        }
        self.spread_early(&already);
        if let (Stmt::Loop(node), Some(plan)) = (node, self.plan) {
            let mut copies = Vec::new();
            let function = &mut self.b.function;
            copy_before(plan, node.counter, function, &mut self.saved, &mut copies);
            copies.into_iter().for_each(|node| self.b.node(node));
        }
        let fits = match node {
            Stmt::Loop(node) => self.fuse_loop(node),
            Stmt::If(node) => self.fuse_branch(node),
            _ => false,
        };
        if !fits {
            return false;
        }
        self.forward(after);
        self.block(before);
        true
    }

    /// Shadows of a block's locals, before anything adds to them.
    fn shadows_of(&mut self, block: &[Stmt]) {
        for node in block {
            if let Stmt::New { object, init } = node
                && self.facts.activity.object(*object)
                && !self.shadows.contains_key(object)
            {
                self.make_shadow(*object, init);
            }
        }
    }

    /// Whether what runs early asks only for what can be computed from values that are there by then.
    fn early_can_be_recomputed(&self, already: &HashSet<ValueId>, later: &Later) -> bool {
        let mut known = HashMap::new();
        let mut new = self.fusion.early.difference(already);
        new.all(|value| self.can_be_recomputed(*value, later, &mut known))
    }

    /// What early values are computed from is early too.
    fn spread_early(&mut self, already: &HashSet<ValueId>) {
        let mut new: Vec<ValueId> = self.fusion.early.difference(already).copied().collect();
        while let Some(value) = new.pop() {
            let Some(op) = self.facts.definitions.op(value) else { continue };
            op.for_each_operand(&mut |operand| {
                if self.fusion.early.insert(operand) {
                    new.push(operand);
                }
            });
        }
    }

    fn can_be_recomputed(
        &self,
        value: ValueId,
        later: &Later,
        known: &mut HashMap<ValueId, bool>,
    ) -> bool {
        if let Some(known) = known.get(&value) {
            return *known;
        }
        let found = self.recomputes(value, later, known);
        known.insert(value, found);
        found
    }

    fn recomputes(
        &self,
        value: ValueId,
        later: &Later,
        known: &mut HashMap<ValueId, bool>,
    ) -> bool {
        use stratape_ir::analysis::Definition;
        if self.homes.contains(&value) {
            return !later.values.contains(&value) || self.literal(value).is_some();
        }
        match self.facts.definitions.of(value) {
            Definition::Param | Definition::Counter => true,
            Definition::Op(op) => {
                let made = |object: &ObjectId| {
                    self.home_objects.contains(object) && !later.objects.contains(object)
                };
                let there = match op {
                    Op::Load(place) => {
                        made(&place.object)
                            && !later.written.contains(&place.object)
                            && !self.facts.clobbers.load(value)
                    }
                    Op::Len(place) => {
                        made(&place.object) && !self.facts.clobbers.is_swapped(place.object)
                    }
                    _ => true,
                };
                let mut all = there;
                op.for_each_operand(&mut |operand| {
                    all = all && self.can_be_recomputed(operand, later, known);
                });
                all
            }
            Definition::Inside | Definition::Outcome | Definition::Popped => false,
        }
    }

    /// One loop for both halves.
    fn fuse_loop(&mut self, node: &Loop) -> bool {
        if node.exit.is_some() || !matches!(node.range, Range::UpTo { .. }) {
            return false;
        }
        let (scope, flows) = self.enter_body(node);
        self.homes.insert(node.counter);
        self.homes.extend(node.carried.iter().map(|carried| carried.inside));
        self.home(Home::Loop(node.counter), &node.body);
        let passes =
            flows.iter().all(|flow| self.adjoints.get(&flow.primal.inside) == Some(&flow.inside));
        let ended = self.leave_body(scope, flows);
        let mut carried = node.carried.clone();
        carried.extend(ended.carried);
        let fused = Loop { carried, body: ended.body, ..node.clone() };
        // Asked once, of the loop with the program's own values: with what is recomputed in their place, equal indices no longer look equal.
        let commutes = self.plan.is_some() || self.shadows_commute(&fused);
        if !passes || !commutes {
            return false;
        }
        self.append_loop(fused, &ended.substitution);
        self.add_all(ended.inits);
        true
    }

    /// Whether the order in which the iterations of a loop come does not matter to shadows.
    fn shadows_commute(&self, node: &Loop) -> bool {
        // What is defined outside the loop does not change in it: the loop alone tells enough.
        let function =
            Function { body: vec![Stmt::Loop(Box::new(node.clone()))], ..self.b.function.clone() };
        let definitions = DefUse::new(&function);
        let affine = Affine::new(&function, &definitions);
        adjoints_commute(&function, &affine, node)
    }

    /// One branch for both halves.
    fn fuse_branch(&mut self, node: &If) -> bool {
        let (then, other, adjoints) =
            self.arms(node, &mut |me, then, block| me.home(Home::Arm(node.id, then), block));
        let mut merges = node.merges.clone();
        merges.extend(adjoints);
        let fused = If { then, other, merges, ..node.clone() };
        self.b.node(Stmt::If(Box::new(fused)));
        true
    }
}
