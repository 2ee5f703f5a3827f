//! Reload safety: whether memory still holds, at the end of the function, what a load has read or a store has written; and whether an element
//! is stored more than once.
//!
//! A write destroys what a load has read if it comes later and hits the same place (`overwrite`). Where it cannot be proved that no write does,
//! the memory counts as overwritten.

use std::collections::{HashMap, HashSet};

use super::DefUse;
use super::affine::Affine;
use super::context::Around;
use super::overwrite::{Access, may_hit};
use crate::{Block, Call, Function, Init, ObjectId, Op, Place, Stmt, StmtId, ValueId, swapped};

/// Which memory still holds at the end of the function what was read from it or stored to it.
#[derive(Clone, Debug, Default)]
pub struct ReloadSafety {
    /// Whether all memory counts as overwritten.
    all: bool,
    loads: HashSet<ValueId>,
    /// Values that were stored, and are still there at the end.
    kept: HashMap<ValueId, Place>,
    /// Objects passed to calls that may be written afterwards.
    passed: HashSet<(StmtId, ObjectId)>,
    /// Loads from locals that hold what was read until their life ends.
    within_life: HashSet<ValueId>,
    /// Locals no element of which is stored twice.
    once: HashSet<ObjectId>,
    /// Lists that are exchanged with others.
    swapped: HashSet<ObjectId>,
}

impl ReloadSafety {
    /// Analyses a function.
    pub fn new(function: &Function, definitions: &DefUse) -> Self {
        let mut finder = Finder::default();
        finder.block(&function.body);
        let affine = Affine::new(function, definitions);
        let mut loads = HashSet::new();
        for (object, reads) in &finder.reads {
            let Some(writes) = finder.writes.get(object) else { continue };
            for read in reads {
                if writes.iter().any(|write| may_overwrite(&affine, read, write)) {
                    loads.extend(read.value);
                }
            }
        }
        let mut within_life = HashSet::new();
        for (object, depth) in &finder.made {
            let writes = finder.writes.get(object);
            for read in finder.reads.get(object).into_iter().flatten() {
                let mut writes = writes.into_iter().flatten();
                if !writes.any(|write| may_hit(&affine, read, write, *depth)) {
                    within_life.extend(read.value);
                }
            }
        }
        let mut kept = HashMap::new();
        for stored in &finder.stored {
            let Some(writes) = finder.writes.get(&stored.place.object) else { continue };
            if let Some(value) = stored.value
                && !writes.iter().any(|write| may_overwrite(&affine, stored, write))
            {
                kept.insert(value, stored.place.clone());
            }
        }
        let mut passed = HashSet::new();
        for (call, access) in &finder.calls {
            let writes = finder.writes.get(&access.place.object);
            if writes.into_iter().flatten().any(|write| may_overwrite(&affine, access, write)) {
                passed.insert((*call, access.place.object));
            }
        }
        let once = finder.locals.iter().filter_map(|(object, depth)| {
            let writes = finder.writes.get(object)?;
            let twice = writes.iter().any(|first| {
                !first.store || writes.iter().any(|second| may_hit(&affine, first, second, *depth))
            });
            (!twice).then_some(*object)
        });
        let swapped = swapped(&function.body);
        Self { all: false, loads, kept, passed, within_life, once: once.collect(), swapped }
    }

    /// Whether no element of a local is stored twice: before, it holds a literal, and nothing is added to it.
    pub fn once(&self, object: ObjectId) -> bool {
        self.once.contains(&object)
    }

    /// Whether the local that a load reads from holds what was read until its life ends, where the block ends that makes it.
    pub fn within_life(&self, load: ValueId) -> bool {
        self.within_life.contains(&load)
    }

    /// Whether what a call was passed may be gone at the end.
    pub fn passed(&self, call: &Call, object: ObjectId) -> bool {
        self.all || call.id == StmtId::NONE || self.passed.contains(&(call.id, object))
    }

    /// Where a value was stored, in the block that defines it, and still is at the end.
    pub fn kept(&self, value: ValueId) -> Option<&Place> {
        self.kept.get(&value)
    }

    /// Assumes that all memory is overwritten: for a function whose caller is unknown, or whose gradient is to rest on no proof.
    pub fn everything(function: &Function) -> Self {
        Self { all: true, swapped: swapped(&function.body), ..Self::default() }
    }

    /// Whether a list is exchanged with others: its length may be another at the end.
    pub fn is_swapped(&self, object: ObjectId) -> bool {
        self.swapped.contains(&object)
    }

    /// Whether what a load has read may be gone at the end.
    pub fn load(&self, value: ValueId) -> bool {
        self.all || self.loads.contains(&value)
    }
}

fn may_overwrite(affine: &Affine<'_>, read: &Access, write: &Access) -> bool {
    may_hit(affine, read, write, 0)
}

/// The accesses of a function.
#[derive(Default)]
pub(super) struct Finder {
    pub(super) reads: HashMap<ObjectId, Vec<Access>>,
    pub(super) writes: HashMap<ObjectId, Vec<Access>>,
    /// Values that are stored in the block that defines them.
    pub(super) stored: Vec<Access>,
    /// Objects that are made as copies of whole others: where the copy is made, and of what.
    pub(super) copied: Vec<(ObjectId, Access)>,
    /// What calls are passed.
    calls: Vec<(StmtId, Access)>,
    at: usize,
    around: Around,
    /// Locals, and the number of loops around where they are made; of them those made of literals.
    made: HashMap<ObjectId, usize>,
    locals: HashMap<ObjectId, usize>,
    literals: HashSet<ValueId>,
}

impl Finder {
    fn access(&self, value: Option<ValueId>, place: &Place) -> Access {
        let around = self.around.clone();
        Access { value, place: place.clone(), at: self.at, around, store: false }
    }

    fn is_literal(&self, init: &Init) -> bool {
        match init {
            Init::Value(value) => self.literals.contains(value),
            Init::Items(items) => items.iter().all(|item| self.is_literal(item)),
            Init::Fill(item) | Init::Repeat(item, _) => self.is_literal(item),
            Init::Copy(_) | Init::ZeroLike(_) => false,
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        let mut defined = HashSet::new();
        for node in block {
            node.for_each_result(&mut |value| {
                defined.insert(value);
            });
            self.at += 1;
            if let Stmt::Let { value, op: Op::Load(place) } = node {
                let access = self.access(Some(*value), place);
                self.reads.entry(place.object).or_default().push(access);
            }
            if let Stmt::Call(call) = node {
                for slice in call.slices() {
                    let access = self.access(None, &slice.place);
                    self.calls.push((call.id, access));
                }
            }
            if let Stmt::Store { place, value } = node
                && defined.contains(value)
            {
                self.stored.push(self.access(Some(*value), place));
            }
            for place in node.written() {
                let store = matches!(node, Stmt::Store { .. });
                let access = Access { store, ..self.access(None, place) };
                self.writes.entry(place.object).or_default().push(access);
            }
            if let Stmt::New { object, init } = node {
                self.made.insert(*object, self.around.loops.len());
                if let Init::Copy(place) = init
                    && place.path.is_empty()
                {
                    self.copied.push((*object, self.access(None, place)));
                }
            }
            match node {
                Stmt::Let { value, op } if op.is_constant() => {
                    self.literals.insert(*value);
                }
                Stmt::New { object, init } if self.is_literal(init) => {
                    self.locals.insert(*object, self.around.loops.len());
                }
                _ => {}
            }
            for (inside, block) in self.around.blocks(node) {
                let outside = std::mem::replace(&mut self.around, inside);
                self.block(block);
                self.around = outside;
            }
        }
    }
}
