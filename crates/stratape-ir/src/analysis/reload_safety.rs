//! Reload safety: whether memory still holds, at the end of the function, what a load has read or a store has written; and whether an element
//! is stored more than once.
//!
//! A write destroys what a load has read if it comes later and hits the same place. It comes later in the same iteration of all loops around
//! both, or in a later iteration of one of them. For each of these cases the indices are compared as [polynomials](super::Affine), with the
//! facts of the loops and branches around them:
//!
//! ```text
//! write − read = stride · steps + difference + [−down, up]      steps ≥ 1 in a later iteration, 0 in the same
//! ```
//!
//! where `down` and `up` are what inner counters can contribute. Where it cannot be proved that this is never 0, the memory counts as
//! overwritten.

use std::collections::{HashMap, HashSet};

use super::DefUse;
use super::affine::Affine;
use super::context::Around;
use crate::Polynomial;
use crate::{Block, Call, Function, Init, ObjectId, Op, Place, Step, Stmt, StmtId, ValueId};

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
    /// Locals no element of which is stored twice.
    once: HashSet<ObjectId>,
}

#[derive(Debug)]
struct Access {
    value: Option<ValueId>,
    place: Place,
    /// Position in the order of the program.
    at: usize,
    around: Around,
    /// Whether it stores one value.
    store: bool,
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
        Self { all: false, loads, kept, passed, once: once.collect() }
    }

    /// Whether no element of a local is stored twice: before, it holds a literal, and nothing is added to it.
    pub fn once(&self, object: ObjectId) -> bool {
        self.once.contains(&object)
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
    pub fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Whether what a load has read may be gone at the end.
    pub fn load(&self, value: ValueId) -> bool {
        self.all || self.loads.contains(&value)
    }
}

fn may_overwrite(affine: &Affine<'_>, read: &Access, write: &Access) -> bool {
    may_hit(affine, read, write, 0)
}

/// Whether a write may come later than an access and hit the same place, in the same iteration of the outermost loops.
fn may_hit(affine: &Affine<'_>, first: &Access, write: &Access, outermost: usize) -> bool {
    let (loops, others) = (&first.around.loops, &write.around.loops);
    let common = loops.iter().zip(others).take_while(|(a, b)| a == b).count();
    // Branches that exclude each other, in all iterations of some loops.
    let exclude = |loops: &[ValueId]| {
        first.around.conditions.iter().any(|(condition, holds)| {
            write.around.conditions.contains(&(*condition, !holds))
                && loops.iter().all(|counter| affine.is_invariant(*condition, *counter))
        })
    };
    // In the same iteration of all common loops, a write that stands later in the program.
    if write.at > first.at && !exclude(&[]) && !differ(affine, first, write, common, None) {
        return true;
    }
    // In a later iteration of one of them.
    (outermost..common).any(|level| {
        !exclude(&loops[level..common]) && !differ(affine, first, write, level, Some(loops[level]))
    })
}

/// Whether two accesses hit different places, given that the first `same` loops are in the same
/// iteration, and the next one (if given) is in a later iteration for the write.
fn differ(
    affine: &Affine<'_>,
    read: &Access,
    write: &Access,
    same: usize,
    later: Option<ValueId>,
) -> bool {
    let steps = read.place.path.iter().zip(&write.place.path);
    for (a, b) in steps {
        match (a, b) {
            (Step::Field(a), Step::Field(b)) if a != b => return true,
            (Step::Index(a), Step::Index(b)) => {
                let (a, b) = (affine.of(*a), affine.of(*b));
                if indices_differ(affine, (&a, read), (&b, write), same, later) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn indices_differ(
    affine: &Affine<'_>,
    (read_index, read): (&Polynomial, &Access),
    (write_index, write): (&Polynomial, &Access),
    same: usize,
    later: Option<ValueId>,
) -> bool {
    let mut read_rest = read_index.clone();
    let mut write_rest = write_index.clone();
    let first_free = same + usize::from(later.is_some());
    // What inner counters can add: at least `-down`, at most `up`.
    let (mut down, mut up) = (Polynomial::default(), Polynomial::default());
    for (access, rest, sign_of_read) in
        [(read, &mut read_rest, true), (write, &mut write_rest, false)]
    {
        // Innermost first: the bounds of an inner loop may use outer counters.
        for counter in access.around.loops[first_free..].iter().rev() {
            let Some((factor, without)) = rest.split(*counter) else { return false };
            if factor == Polynomial::default() {
                *rest = without;
                continue;
            }
            let Some(counted) = affine.counted(*counter) else { return false };
            let Some(extent) = &counted.extent else { return false };
            if !is_natural(affine, &factor) {
                return false;
            }
            let span = factor.times(&extent.minus(&Polynomial::number(1)));
            if sign_of_read {
                down = down.plus(&span);
            } else {
                up = up.plus(&span);
            }
            *rest = without.plus(&factor.times(&counted.from));
        }
    }
    let stride = match later {
        None => Polynomial::default(),
        Some(counter) => {
            let (Some((a, read_without)), Some((b, write_without))) =
                (read_rest.split(counter), write_rest.split(counter))
            else {
                return false;
            };
            if a != b {
                return false;
            }
            read_rest = read_without;
            write_rest = write_without;
            match affine.counted(counter) {
                Some(counted) if counted.reversed => Polynomial::default().minus(&a),
                Some(_) => a,
                None => return false,
            }
        }
    };
    let difference = write_rest.minus(&read_rest);
    // The symbols that are left must mean the same for both accesses, also those that cancel.
    let common: &[ValueId] = &read.around.loops[..same];
    let settled =
        |symbol: ValueId| {
            common.contains(&symbol)
                || read.around.loops.iter().chain(&write.around.loops).all(|counter| {
                    common.contains(counter) || affine.is_invariant(symbol, *counter)
                })
        };
    let all = [&read_rest, &write_rest, &stride, &down, &up];
    if !all.into_iter().flat_map(Polynomial::symbols).all(settled) {
        return false;
    }
    // write - read = stride * steps + difference + [-down, up], with steps >= 1 (or 0, in the same iteration).
    if down.as_number() == Some(0)
        && up.as_number() == Some(0)
        && let (Some(stride), Some(difference)) = (stride.as_number(), difference.as_number())
    {
        return match (stride, later) {
            (0, _) | (_, None) => difference != 0,
            (stride, Some(_)) => difference % stride != 0 || -difference / stride < 1,
        };
    }
    let facts = read.around.facts(affine).chain(write.around.facts(affine));
    let facts: Vec<Polynomial> = facts.filter(|fact| fact.symbols().all(settled)).collect();
    let positive = |polynomial: &Polynomial| affine.follows(polynomial, 1, &facts);
    let above = difference.minus(&down);
    let below = Polynomial::default().minus(&difference).minus(&up);
    let grows = affine.is_at_least(&stride, 0) && positive(&stride.plus(&above));
    let opposite = Polynomial::default().minus(&stride);
    let shrinks = affine.is_at_least(&opposite, 0) && positive(&opposite.plus(&below));
    grows || shrinks
}

fn is_natural(affine: &Affine<'_>, polynomial: &Polynomial) -> bool {
    affine.is_at_least(polynomial, 0)
}

#[derive(Default)]
struct Finder {
    reads: HashMap<ObjectId, Vec<Access>>,
    writes: HashMap<ObjectId, Vec<Access>>,
    stored: Vec<Access>,
    /// What calls are passed.
    calls: Vec<(StmtId, Access)>,
    at: usize,
    around: Around,
    /// Locals made of literals, and the number of loops around that.
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

    fn block(&mut self, block: &Block) {
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
