//! States: lists whose older versions the backward half has again, so that what was read from them need not be saved use by use.
//!
//! *Kept.* A list that is made in a block is gone when the backward half of that block runs. A copy of what it held in the end goes to the tape at
//! the end of the block, and is there again at the beginning of the backward half.
//!
//! *Rewound.* A list that both halves see, and that the iterations of a loop overwrite, goes back in time with the backward half, in a copy of its
//! own. Before a statement of the loop's body overwrites a part of it, that part goes to the tape; the backward half puts it back,
//!
//! - *late*, after the backward half of the statement, which therefore sees what the list held after it; or
//! - *early*, before it, so that it sees what the list held before. What the statement itself leaves on the tape would lie above: it must leave nothing.
//!
//! ```text
//! for t { for i { … @u[i] … @next[i] = x };  save @u;  for i { @u[i] = @next[i] } }
//! →  new @u' = @u;  for t reversed { …  refill @u';  for i { … @u'[i] … } }
//! ```
//!
//! A list that is gone is kept first, and rewound from there.
//!
//! *Copied.* In a block that holds both halves, a list that a loop overwrites is copied before it, to memory: what stands before the loop finds there, on the
//! way back, what it has read.
//!
//! The point may be a single statement of the body, or all of it from the first write on. Two lists that are exchanged in the body are rewound together, by
//! exchanging them again. A load is served if the list holds, when the backward half asks, what it has read ([`Versions`]). Of the ways that there
//! are for a list, the save plan tries each, and takes the one with the cheapest minimum cut.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::again::is_plain;
use super::weights::Weights;
use super::{Facts, Findings};
use crate::driver::Target;
use stratape_ir::analysis::{Hull, Versions};
use stratape_ir::{
    Block, Extent, Loop, ObjectId, Scalar, Stmt, Type, ValueId, defined, made_twice, walk,
};

/// A way to have older versions of lists.
#[derive(Clone, Debug)]
pub(in crate::ad) struct State {
    /// The lists: one, or those that are exchanged with each other.
    pub(super) objects: BTreeSet<ObjectId>,
    /// Whether a copy of what the list holds in the end is kept: it is gone when the backward half runs.
    pub(super) kept: bool,
    /// How they are rewound.
    pub(super) rewind: Option<Rewind>,
    /// The loop before which a copy is made that both halves see, by its counter.
    pub(super) copied: Option<ValueId>,
    /// The loads that it serves.
    pub(super) loads: HashSet<ValueId>,
    /// What it costs, on the scale of [`Target::operation_cost`].
    pub(super) cost: u64,
}

/// How lists are rewound.
#[derive(Clone, Debug)]
pub(super) struct Rewind {
    /// The loop, by its counter.
    pub(super) counter: ValueId,
    /// Whether the backward half of a point sees what was there before it.
    pub(super) early: bool,
    pub(super) points: Vec<Point>,
}

/// Where a part of a list is saved: before a statement of the loop's body.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) object: ObjectId,
    /// The statement, by its place in the body.
    pub(super) at: usize,
    /// Whether it stands for all that follows in the body, not for the one statement.
    pub(super) rest: bool,
    /// What is saved; all of it, if `None`.
    pub(super) hull: Option<Hull>,
}

/// A loop in which lists may be rewound.
struct Candidate<'a> {
    node: &'a Loop,
    /// The number of the loop's statement.
    at: usize,
    /// The loops around it, outermost first; whether each runs in parallel, the loop itself last.
    around: Vec<ValueId>,
    parallel: Vec<bool>,
    /// How many of the loops around it hold both halves.
    homes: usize,
}

impl Candidate<'_> {
    /// The statements of the body, by number.
    fn piece(&self, from: usize, to: usize) -> Range<usize> {
        let before: usize = self.node.body[..from].iter().map(Versions::size).sum();
        let size: usize = self.node.body[from..to].iter().map(Versions::size).sum();
        let start = self.at + 1 + before;
        start..start + size
    }

    fn body(&self) -> Range<usize> {
        self.piece(0, self.node.body.len())
    }
}

/// The ways there are, list by list.
pub(super) fn states(
    facts: &Facts<'_>,
    found: &Findings,
    target: &Target,
    weights: &Weights,
) -> BTreeMap<ObjectId, Vec<Rc<State>>> {
    let Some(versions) = facts.versions else { return BTreeMap::new() };
    let mut finder = Finder {
        facts,
        found,
        target,
        weights,
        versions,
        states: BTreeMap::new(),
        at: 0,
        made: HashMap::new(),
        twice: made_twice(&facts.function.body),
    };
    finder.copies(&facts.function.body, 1);
    finder.block(&facts.function.body, &mut Vec::new(), &mut Vec::new(), true);
    finder.states
}

struct Finder<'a> {
    facts: &'a Facts<'a>,
    found: &'a Findings,
    target: &'a Target,
    weights: &'a Weights,
    versions: &'a Versions<'a>,
    states: BTreeMap<ObjectId, Vec<Rc<State>>>,
    at: usize,
    /// For each local so far, the number of loops around where it is made.
    made: HashMap<ObjectId, usize>,
    /// Locals that are made in two places.
    twice: HashSet<ObjectId>,
}

impl<'a> Finder<'a> {
    /// The lists that loops of a block overwrite which holds both halves, copied before. `at` is the number of its first statement.
    fn copies(&mut self, block: &Block, mut at: usize) {
        let first = at;
        for node in block {
            match node {
                Stmt::Loop(writer) => {
                    let mut written = BTreeSet::new();
                    walk(&writer.body, &mut |node| {
                        written.extend(node.written().into_iter().map(|place| place.object));
                    });
                    for object in written {
                        self.copy(object, writer, first..at);
                    }
                }
                Stmt::If(inner) => {
                    let arms = [(&inner.then, 1), (&inner.other, 1 + size(&inner.then))];
                    for (arm, offset) in arms {
                        if self.is_home(arm) {
                            self.copies(arm, at + offset);
                        }
                    }
                }
                _ => {}
            }
            at += Versions::size(node);
        }
    }

    /// Whether a block holds both halves: then all its values are there in the end.
    fn is_home(&self, block: &Block) -> bool {
        let mut values = Vec::new();
        block.iter().for_each(|node| node.for_each_result(&mut |value| values.push(value)));
        !values.is_empty() && values.iter().all(|value| self.found.homes.contains(value))
    }

    /// `before` is what of the block stands before the loop: outside of the block the copy is not there.
    fn copy(&mut self, object: ObjectId, writer: &Loop, before: Range<usize>) {
        let known = &self.facts.function.objects[object.index()];
        let Some((scalars, each)) = self.items(object) else { return };
        let fits = self.found.home_objects.contains(&object)
            && is_plain(&known.ty, true)
            && !self.facts.clobbers.is_swapped(object);
        if !fits {
            return;
        }
        let served = |load: &ValueId| {
            let position = self.versions.position(*load);
            position.is_some_and(|own| before.contains(&own))
                && !self.is_early(*load)
                && !self.versions.hit_later(*load, 0, &(0..before.end))
        };
        let loads: HashSet<ValueId> = self.versions.loads(object).filter(served).collect();
        if loads.is_empty() {
            return;
        }
        let len = self.fixed_len(object).unwrap_or(UNKNOWN_LEN);
        let cost = len * scalars * each + self.call(object, None);
        let (objects, copied) = (BTreeSet::from([object]), Some(writer.counter));
        let state = State { objects, kept: false, rewind: None, copied, loads, cost };
        self.states.entry(object).or_default().push(Rc::new(state));
    }

    fn block(
        &mut self,
        block: &'a Block,
        around: &mut Vec<ValueId>,
        parallel: &mut Vec<bool>,
        home: bool,
    ) {
        for node in block {
            self.at += 1;
            match node {
                Stmt::New { object, .. } if !self.found.home_objects.contains(object) => {
                    self.made.insert(*object, around.len());
                    self.keep(*object, around);
                }
                Stmt::Loop(inner) => {
                    let is_home = home && self.found.homes.contains(&inner.counter);
                    parallel.push(inner.parallel.is_some());
                    if !is_home {
                        let homes = around.iter().take_while(|c| self.found.homes.contains(c));
                        let homes = homes.count();
                        let (around, parallel) = (around.clone(), parallel.clone());
                        let at = self.at;
                        self.rewind(&Candidate { node: inner, at, around, parallel, homes });
                    }
                    around.push(inner.counter);
                    self.block(&inner.body, around, parallel, is_home);
                    around.pop();
                    parallel.pop();
                }
                Stmt::If(inner) => {
                    self.block(&inner.then, around, parallel, home);
                    self.block(&inner.other, around, parallel, home);
                }
                _ => {}
            }
        }
    }

    /// The scalars in an element of a list whose copies can go to the tape, and what saving one costs.
    fn items(&self, object: ObjectId) -> Option<(u64, u64)> {
        let known = &self.facts.function.objects[object.index()];
        if self.twice.contains(&object) {
            return None;
        }
        let item = match &known.ty {
            Type::Vec(item) | Type::Array(item, _) | Type::Slice(item) => item,
            _ => return None,
        };
        let (mut count, mut inner) = (1_u64, &**item);
        while let Type::Array(item, len) = inner {
            let Extent::Known(len) = len else { return None };
            count = count.saturating_mul(*len as u64);
            inner = item;
        }
        match inner.scalar()? {
            ty @ (Scalar::Float(_) | Scalar::Int(_)) => Some((count, self.target.state_cost(ty))),
            _ => None,
        }
    }

    /// How many elements a list has, as far as its type says.
    fn fixed_len(&self, object: ObjectId) -> Option<u64> {
        match &self.facts.function.objects[object.index()].ty {
            Type::Array(_, Extent::Known(len)) => Some(*len as u64),
            _ => None,
        }
    }

    fn is_array(&self, object: ObjectId) -> bool {
        matches!(self.facts.function.objects[object.index()].ty, Type::Array(..))
    }

    /// What a copy costs beside its elements. Loops of which nothing is known count as ten iterations, and run for more.
    fn call(&self, object: ObjectId, hull: Option<&Hull>) -> u64 {
        let one = hull.is_some_and(|hull| hull.counters.is_empty());
        if one || self.fixed_len(object).is_some() {
            return self.target.state_call;
        }
        self.target.state_call * UNKNOWN_LEN / self.target.assumed_iterations as u64
    }

    /// What keeping a local of a block costs, if it can be kept.
    fn cost_of_keeping(&self, object: ObjectId, around: &[ValueId]) -> Option<u64> {
        let known = &self.facts.function.objects[object.index()];
        let (scalars, each) = self.items(object)?;
        let fits = is_plain(&known.ty, true)
            && (self.is_array(object) || scalars == 1)
            && !self.facts.clobbers.is_swapped(object)
            && !self.facts.function.kept.contains(&object);
        if !fits {
            return None;
        }
        let len = self.fixed_len(object).unwrap_or_else(|| {
            let hulls = self.versions.hulls(object, around.len(), &(0..usize::MAX));
            let lens = hulls.iter().flatten().map(|hull| self.weights.within(&hull.counters));
            lens.max().unwrap_or(UNKNOWN_LEN)
        });
        let weight = self.weights.within(around);
        Some((len * scalars * each + self.call(object, None)).saturating_mul(weight))
    }

    /// The loads that find in the end what they have read.
    fn served_by_keeping(&self, object: ObjectId) -> impl Iterator<Item = ValueId> {
        let fits = |load: &ValueId| self.facts.clobbers.within_life(*load) && !self.is_early(*load);
        self.versions.loads(object).filter(fits)
    }

    /// A local of a block, kept at its end.
    fn keep(&mut self, object: ObjectId, around: &[ValueId]) {
        let Some(cost) = self.cost_of_keeping(object, around) else { return };
        let loads: HashSet<ValueId> = self.served_by_keeping(object).collect();
        if loads.is_empty() {
            return;
        }
        let objects = BTreeSet::from([object]);
        let state = State { objects, kept: true, rewind: None, copied: None, loads, cost };
        self.states.entry(object).or_default().push(Rc::new(state));
    }

    fn is_early(&self, load: ValueId) -> bool {
        self.found.fusion.is_early(load)
    }

    /// The lists that a loop overwrites, rewound in each of the ways there are.
    fn rewind(&mut self, candidate: &Candidate<'_>) {
        let mut written = BTreeSet::new();
        let mut exchanged: Vec<(ObjectId, ObjectId)> = Vec::new();
        walk(&candidate.node.body, &mut |node| match node {
            Stmt::Swap { a, b } => exchanged.push((a.object, b.object)),
            node => written.extend(node.written().into_iter().map(|place| place.object)),
        });
        for object in written {
            let mut group = BTreeSet::from([object]);
            loop {
                let before = group.len();
                for (a, b) in &exchanged {
                    if group.contains(a) || group.contains(b) {
                        group.extend([*a, *b]);
                    }
                }
                if group.len() == before {
                    break;
                }
            }
            if self.is_fit(candidate, &group) {
                for (early, rest) in [(false, false), (false, true), (true, false), (true, true)] {
                    self.way(candidate, &group, early, rest);
                }
            }
        }
    }

    fn is_fit(&self, candidate: &Candidate<'_>, group: &BTreeSet<ObjectId>) -> bool {
        let body = candidate.body();
        let alone = group.len() == 1;
        group.iter().all(|object| {
            let known = &self.facts.function.objects[object.index()];
            let home = self.found.home_objects.contains(object);
            let fits = (home || (alone && self.made.contains_key(object)))
                && is_plain(&known.ty, true)
                && self.items(*object).is_some();
            // What runs in parallel with others has no order to go back in.
            let around = self.owner(candidate, *object);
            let fits = fits && !candidate.parallel[around..].contains(&true);
            // Lists that are exchanged are written in this loop alone, or before, and exchanged as a whole by the body itself.
            let outside = self.versions.writes(*object).any(|at| !body.contains(&at));
            fits && (alone || (!outside && self.is_exchanged_plainly(candidate, *object)))
        })
    }

    /// How many loops are around the block from which on an object goes back in time.
    fn owner(&self, candidate: &Candidate<'_>, object: ObjectId) -> usize {
        match self.found.home_objects.contains(&object) {
            true => candidate.homes,
            false => self.made.get(&object).copied().unwrap_or(candidate.around.len()),
        }
    }

    fn is_exchanged_plainly(&self, candidate: &Candidate<'_>, object: ObjectId) -> bool {
        let mut all = 0;
        walk(&self.facts.function.body, &mut |node| {
            if let Stmt::Swap { a, b } = node {
                all += usize::from(a.object == object || b.object == object);
            }
        });
        let plain = candidate.node.body.iter().filter(|node| {
            matches!(node, Stmt::Swap { a, b }
                if a.path.is_empty() && b.path.is_empty() && (a.object == object || b.object == object))
        });
        plain.count() == all
    }

    fn way(
        &mut self,
        candidate: &Candidate<'_>,
        group: &BTreeSet<ObjectId>,
        early: bool,
        rest: bool,
    ) {
        let body = &candidate.node.body;
        let inner = candidate.around.len() + 1;
        let mut points = Vec::new();
        let (mut cost, mut kept): (u64, u64) = (0, 0);
        let first = group.iter().next();
        let home = first.is_some_and(|object| self.found.home_objects.contains(object));
        for object in group {
            let Some((scalars, each)) = self.items(*object) else { return };
            let writers = (0..body.len()).filter(|at| {
                let piece = candidate.piece(*at, *at + 1);
                !matches!(body[*at], Stmt::Swap { .. })
                    && self.versions.writes(*object).any(|write| piece.contains(&write))
            });
            let mut writers: Vec<usize> = writers.collect();
            if rest {
                // What is exchanged on the way is not where it was.
                if group.len() > 1 {
                    return;
                }
                writers.truncate(1);
            }
            let mut most = 1;
            for at in writers {
                let end = if rest { body.len() } else { at + 1 };
                let later = defined(&body[at..].to_vec());
                let hulls = self.versions.hulls(*object, inner, &candidate.piece(at, end));
                let known = hulls.filter(|hulls| {
                    let mut symbols = hulls
                        .iter()
                        .flat_map(|hull| hull.first.symbols().chain(hull.last.symbols()));
                    symbols.all(|symbol| !later.contains(&symbol))
                });
                let parts = match (known, self.is_array(*object)) {
                    (Some(hulls), _) => hulls.into_iter().map(Some).collect(),
                    (None, true) => vec![None],
                    (None, false) => return,
                };
                for hull in parts {
                    let fixed = self.fixed_len(*object);
                    let moved = hull.as_ref().map(|hull| self.weights.within(&hull.counters));
                    let len = moved.into_iter().chain(fixed).min().unwrap_or(UNKNOWN_LEN);
                    most = most.max(len);
                    cost +=
                        (len * scalars * each).saturating_add(self.call(*object, hull.as_ref()));
                    points.push(Point { object: *object, at, rest, hull });
                }
            }
            // The copy that goes back in time, made once.
            let own = self.owner(candidate, *object);
            kept += self.cost_of_keeping(*object, &candidate.around[..own]).unwrap_or(0);
            cost += (most * scalars * each + self.call(*object, None)) / 10;
        }
        if points.is_empty() {
            return;
        }
        let served = |load: &ValueId| self.serves(candidate, group, early, rest, *load);
        let loads = group.iter().flat_map(|object| self.versions.loads(*object)).filter(served);
        let mut loads: HashSet<ValueId> = loads.collect();
        if loads.is_empty() {
            return;
        }
        if !home {
            // What is read outside the loop, in the end.
            let body = candidate.body();
            let outside = |load: &ValueId| {
                self.versions.position(*load).is_some_and(|at| !body.contains(&at))
            };
            let all = group.iter().flat_map(|object| self.served_by_keeping(*object));
            loads.extend(all.filter(outside));
        }
        points.sort_by_key(|point| point.at);
        let rewind = Rewind { counter: candidate.node.counter, early, points };
        let mut around = candidate.around.clone();
        around.push(candidate.node.counter);
        let cost = cost.saturating_mul(self.weights.within(&around));
        let cost = cost.saturating_add(if home { 0 } else { kept });
        let objects = group.clone();
        let rewind = Some(rewind);
        let state = State { objects, kept: !home, rewind, copied: None, loads, cost };
        let state = Rc::new(state);
        for object in group {
            self.states.entry(*object).or_default().push(Rc::clone(&state));
        }
    }

    /// Whether the backward half finds what a load has read.
    fn serves(
        &self,
        candidate: &Candidate<'_>,
        group: &BTreeSet<ObjectId>,
        early: bool,
        rest: bool,
        load: ValueId,
    ) -> bool {
        let (versions, body) = (self.versions, candidate.body());
        let Some(at) = versions.position(load).filter(|at| body.contains(at)) else { return false };
        let inner = candidate.around.len() + 1;
        let alone = group.iter().next().filter(|_| group.len() == 1);
        let outside = [0..body.start, body.end..usize::MAX];
        if self.is_early(load)
            || alone.is_some_and(|object| {
                let own = self.owner(candidate, *object);
                outside.iter().any(|piece| versions.hit_later(load, own, piece))
            })
        {
            return false;
        }
        if rest {
            return match early {
                true => !versions.hit_before(load, inner, &body),
                false => !versions.hit_later(load, inner, &body),
            };
        }
        // Read where the body's own values are computed again: before anything is rewound.
        let nodes = &candidate.node.body;
        let Some(own) = (0..nodes.len()).find(|own| candidate.piece(*own, own + 1).contains(&at))
        else {
            return false;
        };
        if matches!(nodes[own], Stmt::Let { .. }) {
            return !versions.hit_later(load, inner, &body);
        }
        let piece = candidate.piece(own, own + 1);
        match early {
            true => !versions.hit_before(load, inner, &piece),
            false => !versions.hit_later(load, inner, &piece),
        }
    }
}

/// The statements of a block.
fn size(block: &Block) -> usize {
    block.iter().map(Versions::size).sum()
}

/// The length of a list of which nothing is known: that of a loop.
const UNKNOWN_LEN: u64 = 10;
