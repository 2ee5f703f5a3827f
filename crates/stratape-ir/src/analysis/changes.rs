//! Changes: whether memory may be written between two loads, or between a store and a load.
//!
//! A write comes between if it may come later than the first and hit its place, and the load may come later than it and hit the
//! place that was written (`overwrite`). Loops around both are in one iteration, and so is whatever comes between them.

use std::collections::{HashMap, HashSet};

use super::affine::Affine;
use super::overwrite::{Access, may_hit};
use super::reload_safety::Finder;
use crate::{Function, Init, ObjectId, Place, Stmt, ValueId, made_twice, swapped, walk};

/// The loads and writes of a function.
#[derive(Debug)]
pub struct Changes {
    loads: HashMap<ValueId, Access>,
    /// Where values are stored, in the blocks that define them.
    stores: HashMap<ValueId, Vec<Access>>,
    writes: HashMap<ObjectId, Vec<Access>>,
    /// Objects that are copies of whole others, and are never written.
    copies: HashMap<ObjectId, Access>,
    /// How objects are made that are never written.
    fixed: HashMap<ObjectId, Init>,
    swapped: HashSet<ObjectId>,
}

impl Changes {
    /// Collects them.
    pub fn new(function: &Function) -> Self {
        let mut finder = Finder::default();
        finder.block(&function.body);
        let reads = finder.reads.into_values().flatten();
        let loads = reads.filter_map(|access| Some((access.value?, access))).collect();
        let mut stores: HashMap<ValueId, Vec<Access>> = HashMap::new();
        for store in finder.stored {
            if let Some(value) = store.value {
                stores.entry(value).or_default().push(store);
            }
        }
        let made_twice = made_twice(&function.body);
        let stays = |object: &ObjectId| {
            let writes = finder.writes.get(object).into_iter().flatten();
            !made_twice.contains(object) && writes.count() == 0
        };
        let swapped = swapped(&function.body);
        let mut fixed = HashMap::new();
        walk(&function.body, &mut |node| {
            if let Stmt::New { object, init } = node
                && stays(object)
                && !swapped.contains(object)
            {
                fixed.insert(*object, init.clone());
            }
        });
        let copies = finder.copied.into_iter().filter(|(object, _)| stays(object)).collect();
        Self { loads, stores, copies, fixed, writes: finder.writes, swapped }
    }

    /// How a list is made that is never written.
    pub fn fixed(&self, object: ObjectId) -> Option<&Init> {
        self.fixed.get(&object)
    }

    /// Whether a list is exchanged with others: its length may change.
    pub fn is_swapped(&self, object: ObjectId) -> bool {
        self.swapped.contains(&object)
    }

    /// Whether two values that are loaded from one place of an object may be different for a write between them: the one that stands first in
    /// the program is loaded, the place is written, the other is loaded.
    pub fn between(&self, affine: &Affine<'_>, a: ValueId, b: ValueId) -> bool {
        let (Some(a), Some(b)) = (self.loads.get(&a), self.loads.get(&b)) else { return true };
        let (first, second) = if a.at <= b.at { (a, b) } else { (b, a) };
        self.hit(affine, first, second)
    }

    /// Whether a load reads what was stored where a value was defined, at the place that `is_place` knows: nothing is written there between.
    pub fn reads_stored(
        &self,
        affine: &Affine<'_>,
        value: ValueId,
        load: ValueId,
        mut is_place: impl FnMut(&Place) -> bool,
    ) -> bool {
        let Some(load) = self.loads.get(&load) else { return false };
        let stores = self.stores.get(&value).into_iter().flatten();
        stores.filter(|store| store.at < load.at).any(|store| {
            store.place.object == load.place.object
                && is_place(&store.place)
                && !self.hit(affine, store, load)
        })
    }

    /// Whether a load reads from a copy what another has read from the object itself, at the same place: nothing is written there before the copy is made.
    pub fn reads_copy(&self, affine: &Affine<'_>, original: ValueId, load: ValueId) -> bool {
        let (Some(first), Some(load)) = (self.loads.get(&original), self.loads.get(&load)) else {
            return false;
        };
        let Some(copy) = self.copies.get(&load.place.object) else { return false };
        let writes = self.writes.get(&first.place.object).into_iter().flatten();
        copy.place.object == first.place.object
            && first.at < copy.at
            && first.around.loops.starts_with(&copy.around.loops)
            && writes
                .filter(|write| write.at <= copy.at)
                .all(|write| !may_hit(affine, first, write, copy.around.loops.len()))
    }

    /// Whether a write may come between two accesses to one place, of which the first stands first.
    fn hit(&self, affine: &Affine<'_>, first: &Access, second: &Access) -> bool {
        let pairs = first.around.loops.iter().zip(&second.around.loops);
        let common = pairs.take_while(|(one, other)| one == other).count();
        let around = &first.around.loops[..common];
        let writes = self.writes.get(&first.place.object);
        writes.into_iter().flatten().any(|write| {
            write.around.loops.starts_with(around)
                && may_hit(affine, first, write, common)
                && may_hit(affine, write, second, common)
        })
    }
}
