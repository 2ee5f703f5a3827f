//! Changes: whether memory may be written between two loads.
//!
//! A write comes between if it may come later than the first load and hit its place, and the second load may come later than it and hit the
//! place that was written (`overwrite`). Loops around both loads are in one iteration, and so is whatever comes between them.

use std::collections::{HashMap, HashSet};

use super::affine::Affine;
use super::overwrite::{Access, may_hit};
use super::reload_safety::Finder;
use crate::{Function, ObjectId, ValueId, swapped};

/// The loads and writes of a function.
#[derive(Debug)]
pub struct Changes {
    loads: HashMap<ValueId, Access>,
    writes: HashMap<ObjectId, Vec<Access>>,
    swapped: HashSet<ObjectId>,
}

impl Changes {
    /// Collects them.
    pub fn new(function: &Function) -> Self {
        let mut finder = Finder::default();
        finder.block(&function.body);
        let reads = finder.reads.into_values().flatten();
        let loads = reads.filter_map(|access| Some((access.value?, access))).collect();
        Self { loads, writes: finder.writes, swapped: swapped(&function.body) }
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
