//! Footprints: how the iterations of a loop use memory from outside it.
//!
//! Memory that is written can be divided among the iterations if each keeps to a *window* of its own: the
//! elements from `stride * i + base` up to the same of the next iteration. The counters of inner loops are replaced by the extremes of their
//! ranges, as [polynomials](super::Affine).
//!
//! ```text
//! for i { for j in 0..m { y[m * i + j] = … } }        footprint of y in iteration i: [m·i, m·i + m), a window with stride m and base 0
//! ```

use std::collections::BTreeMap;

use super::affine::Affine;
use super::context::Around;
use crate::SourceId;
use crate::{
    Block, Check, Function, Init, Loop, ObjectId, Op, Place, Slice, Step, Stmt, ValueId, made,
};
use crate::{Polynomial, Window};

/// How iterations use an object.
#[derive(Clone, Debug)]
pub enum Use {
    /// It is only read.
    Read,
    /// Each keeps to a window of its own.
    Window(Window),
    /// It is only added to.
    Sum,
    /// Otherwise.
    Mixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Add,
}

/// An access to an object, as seen from a loop around it.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) kind: Kind,
    /// The first index, and the number of elements from there on if not one. None: the whole object.
    pub(super) at: Option<(ValueId, Option<ValueId>)>,
    /// The loops and branches between.
    around: Around,
    /// Where it is written in the source, as far as is known.
    pub(super) span: SourceId,
}

/// How a loop uses each object from outside it.
pub fn uses(function: &Function, affine: &Affine<'_>, node: &Loop) -> BTreeMap<ObjectId, Use> {
    accesses(function, node)
        .into_iter()
        .map(|(object, accesses)| (object, classify(affine, node.counter, &accesses)))
        .collect()
}

/// The window that a loop's accesses to an object keep to, whatever they do there.
pub fn window_of(
    function: &Function,
    affine: &Affine<'_>,
    node: &Loop,
    object: ObjectId,
) -> Option<Window> {
    window(affine, node.counter, accesses(function, node).get(&object)?)
}

/// Whether a loop does nothing with an object but add to it.
pub fn only_adds(function: &Function, node: &Loop, object: ObjectId) -> bool {
    let accesses = accesses(function, node);
    let mine = accesses.get(&object).into_iter().flatten();
    mine.into_iter().all(|access| access.kind == Kind::Add)
}

pub(super) fn classify(affine: &Affine<'_>, counter: ValueId, accesses: &[Access]) -> Use {
    if accesses.iter().all(|access| access.kind == Kind::Read) {
        return Use::Read;
    }
    if let Some(window) = window(affine, counter, accesses) {
        return Use::Window(window);
    }
    let added = accesses.iter().all(|access| access.kind == Kind::Add);
    if added { Use::Sum } else { Use::Mixed }
}

/// The window that all accesses keep to.
fn window(affine: &Affine<'_>, counter: ValueId, accesses: &[Access]) -> Option<Window> {
    let spans: Vec<Reach> =
        accesses.iter().map(|access| Reach::of(affine, counter, access)).collect::<Option<_>>()?;
    let stride = spans.first()?.stride.clone();
    let same = spans.iter().all(|reach| reach.stride == stride);
    // A stride whose sign cannot be seen is positive where there is an access.
    let forward = affine.is_at_least(&stride, 0)
        || accesses.iter().all(|access| is_positive(affine, counter, access, &stride));
    if !same || stride == Polynomial::default() || !forward {
        return None;
    }
    let fits = |base: &Polynomial| {
        spans.iter().zip(accesses).all(|(reach, access)| {
            let positive =
                |polynomial: &Polynomial| is_positive(affine, counter, access, polynomial);
            let one = Polynomial::number(1);
            positive(&reach.low.minus(base).plus(&one))
                && positive(&base.plus(&stride).minus(&reach.high))
        })
    };
    let base = spans.iter().map(|reach| &reach.low).find(|base| fits(base))?.clone();
    Some(Window { stride, base })
}

/// Whether a polynomial is at least 1 where an access is executed: every loop around it runs then, and its branches are taken.
fn is_positive(
    affine: &Affine<'_>,
    counter: ValueId,
    access: &Access,
    polynomial: &Polynomial,
) -> bool {
    let facts: Vec<Polynomial> = access
        .around
        .facts(affine)
        .chain(affine.runs(counter))
        .filter(|fact| fact.symbols().all(|symbol| affine.is_invariant(symbol, counter)))
        .collect();
    affine.follows(polynomial, 1, &facts)
}

/// The elements an access can reach in iteration `i`: from `stride * i + low` to `stride * i + high`.
struct Reach {
    stride: Polynomial,
    low: Polynomial,
    high: Polynomial,
}

impl Reach {
    fn of(affine: &Affine<'_>, counter: ValueId, access: &Access) -> Option<Self> {
        let (index, len) = access.at?;
        let first = affine.of(index);
        let last = match len {
            Some(len) => first.plus(&affine.of(len)).minus(&Polynomial::number(1)),
            None => first.clone(),
        };
        let (mut low, mut high) = (first, last);
        // Innermost first: the bounds of an inner loop may use outer counters.
        for inner in access.around.loops.iter().rev() {
            low = extreme(affine, *inner, &low, false)?;
            high = extreme(affine, *inner, &high, true)?;
        }
        let (stride, low) = low.split(counter)?;
        let (steeper, mut high) = high.split(counter)?;
        // What the upper end gains from one iteration to the next, it has gained most of in the last.
        let gain = steeper.minus(&stride);
        if gain != Polynomial::default() {
            high = high.plus(&extreme(
                affine,
                counter,
                &gain.times(&Polynomial::symbol(counter)),
                true,
            )?);
        }
        let settled = |polynomial: &Polynomial| {
            polynomial.symbols().all(|symbol| affine.is_invariant(symbol, counter))
        };
        (settled(&stride) && settled(&low) && settled(&high)).then_some(Self { stride, low, high })
    }
}

/// The least or the greatest a polynomial can be in the iterations of a loop.
fn extreme(
    affine: &Affine<'_>,
    counter: ValueId,
    polynomial: &Polynomial,
    greatest: bool,
) -> Option<Polynomial> {
    let (factor, rest) = polynomial.split(counter)?;
    if factor == Polynomial::default() {
        return Some(rest);
    }
    let counted = affine.counted(counter)?;
    let grows = affine.is_at_least(&factor, 0);
    if !grows && !affine.is_at_least(&Polynomial::default().minus(&factor), 0) {
        return None;
    }
    let at = if grows == greatest {
        counted.from.plus(counted.extent.as_ref()?).minus(&Polynomial::number(1))
    } else {
        counted.from.clone()
    };
    Some(rest.plus(&factor.times(&at)))
}

/// The accesses of a loop's body to each object from outside.
pub(super) fn accesses(function: &Function, node: &Loop) -> BTreeMap<ObjectId, Vec<Access>> {
    let mut finder = Finder { function, found: BTreeMap::new(), around: Around::default() };
    finder.block(&node.body);
    for own in made(&node.body) {
        finder.found.remove(&own);
    }
    finder.found
}

struct Finder<'a> {
    function: &'a Function,
    found: BTreeMap<ObjectId, Vec<Access>>,
    around: Around,
}

impl Finder<'_> {
    fn access(
        &mut self,
        object: ObjectId,
        kind: Kind,
        at: Option<(ValueId, Option<ValueId>)>,
        span: SourceId,
    ) {
        let access = Access { kind, at, around: self.around.clone(), span };
        self.found.entry(object).or_default().push(access);
    }

    fn place(&mut self, place: &Place, kind: Kind, span: SourceId) {
        let at = match place.path.first() {
            Some(Step::Index(index)) => Some((*index, None)),
            _ => None,
        };
        self.access(place.object, kind, at, span);
    }

    fn slice(&mut self, slice: &Slice, span: SourceId) {
        let kind = if slice.mutable { Kind::Write } else { Kind::Read };
        match slice.part {
            Some((start, len)) if slice.place.path.is_empty() => {
                self.access(slice.place.object, kind, Some((start, Some(len))), span);
            }
            _ => self.place(&slice.place, kind, span),
        }
    }

    fn init(&mut self, init: &Init, span: SourceId) {
        match init {
            Init::Items(items) => items.iter().for_each(|item| self.init(item, span)),
            Init::Fill(item) | Init::Repeat(item, _) => self.init(item, span),
            Init::Copy(place) => self.place(place, Kind::Read, span),
            Init::ZeroLike(object) => self.access(*object, Kind::Read, None, span),
            Init::Value(_) => {}
        }
    }

    fn block(&mut self, block: &Block) {
        for node in block {
            self.node(node);
            for (inside, block) in self.around.blocks(node) {
                let outside = std::mem::replace(&mut self.around, inside);
                self.block(block);
                self.around = outside;
            }
        }
    }

    fn node(&mut self, node: &Stmt) {
        let of = |value: &ValueId| self.function.values[value.index()].span;
        match node {
            Stmt::Let { value, op: Op::Load(place) } => {
                let span = of(value);
                self.place(place, Kind::Read, span);
            }
            // The length of a whole list is that of all its parts together, and known.
            Stmt::Let { value, op: Op::Len(place) } if !place.path.is_empty() => {
                let span = of(value);
                self.place(place, Kind::Read, span);
            }
            Stmt::Store { place, value } => {
                let span = of(value);
                self.place(place, Kind::Write, span);
            }
            Stmt::Accumulate { place, value, .. } => {
                let span = of(value);
                self.place(place, Kind::Add, span);
            }
            Stmt::New { object, init } => {
                let span = self.function.objects[object.index()].span;
                self.init(init, span);
            }
            Stmt::Swap { a, b } => {
                self.access(a.object, Kind::Write, None, SourceId::NONE);
                self.access(b.object, Kind::Write, None, SourceId::NONE);
            }
            Stmt::Refill { place, .. } => {
                self.access(place.object, Kind::Write, None, SourceId::NONE);
            }
            Stmt::Call(call) => call.slices().for_each(|slice| self.slice(slice, call.span)),
            Stmt::Save { slice, .. } => self.slice(slice, SourceId::NONE),
            Stmt::Check { check: Check::Assert { objects, .. }, span } => {
                for (_, object) in objects {
                    self.access(*object, Kind::Read, None, *span);
                }
            }
            _ => {}
        }
    }
}
