//! Versions of memory: which loads find in a list what it held at some moment, and which part of it a piece of the program writes.
//!
//! Statements are numbered in the order of the text, from 1, outer ones before those inside; a piece of the program is a range of numbers.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::affine::Affine;
use super::overwrite::{Access, may_hit};
use super::reload_safety::Finder;
use super::{DefUse, Polynomial};
use crate::{Function, ObjectId, Step, Stmt, ValueId, walk};

/// The accesses of a function to its memory.
#[derive(Debug)]
pub struct Versions<'a> {
    affine: Affine<'a>,
    reads: HashMap<ObjectId, Vec<Access>>,
    writes: HashMap<ObjectId, Vec<Access>>,
    /// For each load, its object and its place in `reads`.
    loads: HashMap<ValueId, (ObjectId, usize)>,
    /// The loops that may end early, by their counters.
    exits: HashSet<ValueId>,
}

/// The part of a list that a write touches while inner loops run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hull {
    /// The first index.
    pub first: Polynomial,
    /// The last index, inclusive.
    pub last: Polynomial,
    /// The counters of the loops that move the index.
    pub counters: Vec<ValueId>,
    /// Whether some of it may be written where the rest is not, and may lie beyond the list.
    pub partly: bool,
}

/// A part of a list that one piece of the program writes.
struct Part {
    hull: Hull,
    /// The conditions under which it is written.
    conditions: Vec<(ValueId, bool)>,
    /// Whether it is written by one statement, or by all iterations of one loop.
    single: bool,
}

impl Hull {
    /// Whether it is the same part, however it is written.
    fn is_same(&self, other: &Self) -> bool {
        (&self.first, &self.last) == (&other.first, &other.last)
    }

    /// Notes the loops of another piece of it: those of the longer piece stand for its length.
    fn moved_by(&mut self, counters: Vec<ValueId>) {
        if counters.len() > self.counters.len() {
            self.counters = counters;
        }
    }
}

impl<'a> Versions<'a> {
    /// Reads a function.
    pub fn new(function: &'a Function, definitions: &'a DefUse) -> Self {
        let mut finder = Finder::default();
        finder.block(&function.body);
        let Finder { reads, writes, .. } = finder;
        let mut loads = HashMap::new();
        for (object, reads) in &reads {
            for (position, read) in reads.iter().enumerate() {
                loads.extend(read.value.map(|value| (value, (*object, position))));
            }
        }
        let mut exits = HashSet::new();
        walk(&function.body, &mut |node| {
            if let Stmt::Loop(node) = node
                && node.exit.is_some()
            {
                exits.insert(node.counter);
            }
        });
        Self { affine: Affine::new(function, definitions), reads, writes, loads, exits }
    }

    /// How many statements there are in one, itself included.
    pub fn size(node: &Stmt) -> usize {
        1 + node.blocks().into_iter().flatten().map(Self::size).sum::<usize>()
    }

    /// Where a load stands.
    pub fn position(&self, load: ValueId) -> Option<usize> {
        Some(self.read(load)?.at)
    }

    /// The loads from an object.
    pub fn loads(&self, object: ObjectId) -> impl Iterator<Item = ValueId> {
        self.reads.get(&object).into_iter().flatten().filter_map(|read| read.value)
    }

    /// Where an object is written.
    pub fn writes(&self, object: ObjectId) -> impl Iterator<Item = usize> {
        self.writes.get(&object).into_iter().flatten().map(|write| write.at)
    }

    /// Whether a write in a piece of the program may come later than a load and hit what it has read, in the same iteration of the outermost loops.
    pub fn hit_later(&self, load: ValueId, outermost: usize, piece: &Range<usize>) -> bool {
        self.any(load, piece, |read, write| may_hit(&self.affine, read, write, outermost))
    }

    /// Whether a write in a piece of the program may come before a load and hit what it reads, in the same iteration of the outermost loops.
    pub fn hit_before(&self, load: ValueId, outermost: usize, piece: &Range<usize>) -> bool {
        self.any(load, piece, |read, write| may_hit(&self.affine, write, read, outermost))
    }

    fn any(
        &self,
        load: ValueId,
        piece: &Range<usize>,
        hits: impl Fn(&Access, &Access) -> bool,
    ) -> bool {
        let Some(read) = self.read(load) else { return true };
        let writes = self.writes.get(&read.place.object).into_iter().flatten();
        writes.filter(|write| piece.contains(&write.at)).any(|write| hits(read, write))
    }

    fn read(&self, load: ValueId) -> Option<&Access> {
        let (object, position) = self.loads.get(&load)?;
        self.reads.get(object)?.get(*position)
    }

    /// The parts of a list that a piece of the program writes, in terms of what is known outside all but the outermost loops. `None` if that
    /// cannot be told, or if most of a part is not written.
    pub fn hulls(
        &self,
        object: ObjectId,
        outermost: usize,
        piece: &Range<usize>,
    ) -> Option<Vec<Hull>> {
        let mut parts: Vec<Part> = Vec::new();
        let writes = self.writes.get(&object).into_iter().flatten();
        for write in writes.filter(|write| piece.contains(&write.at)) {
            let hull = self.hull(write, outermost)?;
            let inner = write.around.loops.get(outermost..)?;
            let conditions = write.around.conditions.clone();
            let single = inner.len() <= 1 && inner == hull.counters.as_slice() && !hull.partly;
            parts.push(Part { hull, conditions, single });
        }
        while self.join(&mut parts) {}
        let mut hulls: Vec<Hull> = Vec::new();
        for Part { hull, .. } in parts {
            match hulls.iter_mut().find(|other| other.is_same(&hull)) {
                Some(other) => {
                    other.moved_by(hull.counters);
                    other.partly |= hull.partly;
                }
                None => hulls.push(hull),
            }
        }
        Some(hulls)
    }

    /// Makes one part of two, of which one begins where the other ends: what a peeled loop writes.
    ///
    /// Both are written under the same conditions, by one statement or by all iterations of one loop, and neither has less than no elements. So
    /// one that is not written is empty, and both together are within the list.
    fn join(&self, parts: &mut Vec<Part>) -> bool {
        let one = Polynomial::number(1);
        let adjoin = |a: &Part, b: &Part| {
            let facts: Vec<Polynomial> = a
                .conditions
                .iter()
                .filter_map(|(condition, holds)| self.affine.fact(*condition, *holds))
                .collect();
            let whole = |part: &Part| {
                let len = part.hull.last.minus(&part.hull.first).plus(&one);
                part.single && self.affine.follows(&len, 0, &facts)
            };
            b.hull.first.minus(&a.hull.last) == one
                && a.conditions == b.conditions
                && whole(a)
                && whole(b)
        };
        let pairs = (0..parts.len()).flat_map(|a| (0..parts.len()).map(move |b| (a, b)));
        let Some((a, b)) = pairs.into_iter().find(|(a, b)| adjoin(&parts[*a], &parts[*b])) else {
            return false;
        };
        let second = parts[b].hull.clone();
        parts[a].hull.last = second.last;
        parts[a].hull.moved_by(second.counters);
        parts.remove(b);
        true
    }

    fn hull(&self, write: &Access, outermost: usize) -> Option<Hull> {
        let Some(Step::Index(index)) = write.place.path.first() else { return None };
        let index = self.affine.of(*index);
        let inner = write.around.loops.get(outermost..)?;
        let (mut counters, mut dense) = (Vec::new(), false);
        for counter in inner {
            let step = index.split(*counter)?.0;
            counters.extend((step != Polynomial::default()).then_some(*counter));
            dense |= step.as_number().is_some_and(|step| (1..=WIDEST_STEP).contains(&step.abs()));
        }
        let (first, last) = self.affine.extremes(&index, inner)?;
        let known = first
            .symbols()
            .chain(last.symbols())
            .all(|symbol| inner.iter().all(|counter| self.affine.is_invariant(symbol, *counter)));
        let fits = known && (dense || counters.is_empty());
        let partly = self.is_partial(write, inner);
        fits.then_some(Hull { first, last, counters, partly })
    }

    /// Whether some iterations of inner loops may write, and others not: under a condition that changes, after an exit, or where how often one loop
    /// runs depends on another.
    fn is_partial(&self, write: &Access, inner: &[ValueId]) -> bool {
        let settled =
            |value: ValueId| inner.iter().all(|counter| self.affine.is_invariant(value, *counter));
        let runs_alike = |counter: &ValueId| {
            let Some(counted) = self.affine.counted(*counter) else { return false };
            let mut bounds =
                counted.from.symbols().chain(counted.extent.iter().flat_map(Polynomial::symbols));
            !self.exits.contains(counter) && bounds.all(settled)
        };
        !write.around.conditions.iter().all(|(condition, _)| settled(*condition))
            || !inner.iter().all(runs_alike)
    }
}

/// The widest step of an innermost index between elements that are written: what lies between is copied in vain.
const WIDEST_STEP: i128 = 4;
