//! Dead initialisation: a list whose elements are all written before they are read is not filled first. In a shadow, the first addition to an
//! element becomes a store.
//!
//! ```text
//! new y = vec![0.0; n]; for i in 0..n { y[i] = … }         →   new y unfilled; for i in 0..n { y[i] = … }
//! new dy = zeros;       for i in 0..n { dy[i] += d }       →   new dy unfilled; for i in 0..n { dy[i] = d }
//! ```
//!
//! A *frontier* is followed through the function: all elements before it have been written. A loop that stores at the frontier advances it; a
//! loop around such loops advances it by as much in each of its iterations. Legal if every read is before the frontier, or the frontier has
//! reached the end of the list by then. `0 + d` is `d` up to the sign of a zero, so additions become stores for adjoints only. Runs after
//! `reorderable`: in an unordered loop, what the loop itself writes cannot be read.

use std::collections::HashSet;

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Block, Check, Function, Init, Loop, ObjectId, Op, Place, Range, Scalar, Step, Stmt, Type,
    ValueId, swapped,
};

/// The pass.
pub const DEAD_INIT: Pass = Pass {
    name: "dead_init",
    after: &["reorderable"],
    promise: Promise::AdjointBits,
    required: false,
    run: dead_init,
};

/// Marks lists whose initial contents are dead, and makes stores of first additions.
fn dead_init(function: &mut Function, cx: &mut Context<'_>) {
    let found = {
        let definitions = DefUse::new(function);
        let affine = Affine::new(function, &definitions);
        let mut found = Vec::new();
        let swapped = swapped(&function.body);
        look((function, &swapped), &affine, &function.body, &mut found);
        found
    };
    let mut body = std::mem::take(&mut function.body);
    for (object, first) in found {
        function.unfilled.insert(object);
        let known = &function.objects[object.index()];
        cx.applied(
            known.span,
            format!("`{}` is written before it is read: not filled", known.name),
        );
        let mut first = first.into_iter().peekable();
        let mut seen = 0;
        store(&mut body, object, &mut seen, &mut |number| first.next_if_eq(&number).is_some());
    }
    function.body = body;
}

/// The lists made in a block or inside it, each with the numbers of its additions that are first.
fn look(
    (function, swapped): (&Function, &HashSet<ObjectId>),
    affine: &Affine<'_>,
    block: &Block,
    found: &mut Vec<(ObjectId, Vec<usize>)>,
) {
    for (at, node) in block.iter().enumerate() {
        for inner in node.blocks() {
            look((function, swapped), affine, inner, found);
        }
        let Stmt::New { object, init } = node else { continue };
        let known = &function.objects[object.index()];
        let is_list =
            matches!(&known.ty, Type::Vec(item) if item.scalar().is_some_and(Scalar::is_float));
        // What a list is exchanged for is written elsewhere.
        if !is_list || function.kept.contains(object) || swapped.contains(object) {
            continue;
        }
        let len = match init {
            Init::Repeat(_, len) => Some(affine.of(*len)),
            Init::ZeroLike(like) if swapped.contains(like) => None,
            Init::ZeroLike(like) => len_of(affine, &function.body, *like),
            _ => continue,
        };
        // Zero and an adjoint are that adjoint; of the primal, not even the sign of a zero may change.
        let adds = known.shadow_of.is_some();
        let mut cover = Cover { len, adds, ..Cover::new(affine, *object) };
        let all = cover.block(&block[at + 1..], Frontier::default()).is_some();
        if all && (cover.first.is_empty() || !cover.strayed) {
            found.push((*object, cover.first));
        }
    }
}

/// The length a list was made with.
fn len_of(affine: &Affine<'_>, body: &Block, object: ObjectId) -> Option<Polynomial> {
    let mut len = None;
    stratape_ir::walk(body, &mut |node| match node {
        Stmt::New { object: made, init: Init::Repeat(_, count) } if *made == object => {
            len = Some(affine.of(*count));
        }
        _ => {}
    });
    len
}

/// Makes stores of the additions to an object with the numbers that `is_first` picks; tells whether there were any. A loop that stores has
/// to be proved reorderable anew.
fn store(
    nodes: &mut Block,
    object: ObjectId,
    seen: &mut usize,
    is_first: &mut dyn FnMut(usize) -> bool,
) -> bool {
    let mut changed = false;
    for node in nodes {
        if let Stmt::Accumulate { place, value, subtract: false } = node
            && place.object == object
        {
            if is_first(*seen) {
                *node = Stmt::Store { place: place.clone(), value: *value };
                changed = true;
            }
            *seen += 1;
        }
        let mut inside = false;
        for inner in node.blocks_mut() {
            inside |= store(inner, object, seen, is_first);
        }
        if let Stmt::Loop(node) = node
            && inside
        {
            node.unordered = false;
        }
        changed |= inside;
    }
    changed
}

/// How far a list is written.
#[derive(Clone, Debug, Default, PartialEq)]
struct Frontier {
    /// All before it can be read.
    read: Polynomial,
    /// All before it are written when the loops around are done.
    write: Polynomial,
}

/// A walk along the uses of a list.
#[derive(Clone)]
pub(super) struct Cover<'a> {
    affine: &'a Affine<'a>,
    object: ObjectId,
    len: Option<Polynomial>,
    /// Whether a first addition can be a store.
    adds: bool,
    /// Polynomials that are at least 0 here.
    facts: Vec<Polynomial>,
    /// Counters that stand for another value.
    known: Vec<(ValueId, Polynomial)>,
    /// Only how far writes go is asked.
    dry: bool,
    /// Nothing moves the frontier here.
    fixed: bool,
    /// Additions so far, and those of them that are the first to an element.
    seen: usize,
    first: Vec<usize>,
    /// Whether something was stored beyond the frontier.
    strayed: bool,
}

impl<'a> Cover<'a> {
    /// A walk that begins where nothing is written yet.
    pub(super) fn new(affine: &'a Affine<'a>, object: ObjectId) -> Self {
        Self {
            affine,
            object,
            len: None,
            adds: false,
            facts: Vec::new(),
            known: Vec::new(),
            dry: false,
            fixed: false,
            seen: 0,
            first: Vec::new(),
            strayed: false,
        }
    }

    /// The walk along a list of known length.
    pub(super) fn of_length(self, len: Polynomial) -> Self {
        Self { len: Some(len), ..self }
    }

    /// Whether all that some nodes read they have written before.
    pub(super) fn reads_what_it_wrote(mut self, nodes: &[Stmt]) -> bool {
        self.block(nodes, Frontier::default()).is_some()
    }

    /// Where the frontier is after some nodes; `None` if something is read beyond it.
    fn block(&mut self, nodes: &[Stmt], mut frontier: Frontier) -> Option<Frontier> {
        for node in nodes {
            frontier = self.node(node, frontier)?;
        }
        Some(frontier)
    }

    fn node(&mut self, node: &Stmt, frontier: Frontier) -> Option<Frontier> {
        match node {
            Stmt::Let { op: Op::Load(place), .. } if place.object == self.object => {
                self.is_before(place, &frontier.read).then_some(frontier)
            }
            Stmt::Store { place, .. } if place.object == self.object => {
                if self.is_at(place, &frontier.write) {
                    return Some(advanced(frontier));
                }
                self.strayed |= !self.is_before(place, &frontier.read);
                Some(frontier)
            }
            Stmt::Accumulate { place, subtract, .. } if place.object == self.object => {
                let number = self.seen;
                self.seen += usize::from(!subtract);
                if self.adds && !subtract && self.is_at(place, &frontier.write) {
                    if !self.dry {
                        self.first.push(number);
                    }
                    return Some(advanced(frontier));
                }
                self.is_before(place, &frontier.read).then_some(frontier)
            }
            Stmt::Loop(node) => self.repeat(node, frontier),
            Stmt::If(node) => {
                let before = self.clone();
                let branches = [(true, &node.then), (false, &node.other)];
                let mut ends = Vec::new();
                for (holds, block) in branches {
                    ends.push(self.given(self.affine.fact(node.condition, holds), |me| {
                        me.block(block, frontier.clone())
                    })?);
                }
                if ends[0] == ends[1] {
                    return ends.pop();
                }
                // A frontier that only one of them moves on stays.
                *self = Self { fixed: true, ..before.clone() };
                for (holds, block) in branches {
                    self.given(self.affine.fact(node.condition, holds), |me| {
                        me.block(block, frontier.clone())
                    })?;
                }
                self.fixed = before.fixed;
                Some(frontier)
            }
            node => {
                let whole = node
                    .read()
                    .into_iter()
                    .chain(node.written())
                    .any(|place| place.object == self.object)
                    || matches!(node, Stmt::New { init, .. }
                        if init.copied().iter().any(|place| place.object == self.object))
                    || matches!(node, Stmt::Check { check: Check::Assert { objects, .. }, .. }
                        if objects.iter().any(|(_, object)| *object == self.object));
                (!whole || self.is_complete(&frontier.read)).then_some(frontier)
            }
        }
    }

    fn repeat(&mut self, node: &Loop, frontier: Frontier) -> Option<Frontier> {
        let step = self.step(node, &frontier).filter(|step| *step != Polynomial::default());
        let (Some(step), Range::UpTo { from, to }) = (step, node.range) else {
            let fixed = std::mem::replace(&mut self.fixed, true);
            self.block(&node.body, frontier.clone())?;
            self.fixed = fixed;
            return Some(frontier);
        };
        let (from, to) = (self.of(from), self.of(to));
        let done = Polynomial::symbol(node.counter).minus(&from);
        let write = frontier.write.plus(&step.times(&done));
        // Where iterations come in another order, only what was written before the loop can be read.
        let ordered = !node.reversed && !node.unordered && frontier.read == frontier.write;
        let read = if ordered { write.clone() } else { frontier.read.clone() };
        let left = to.minus(&Polynomial::symbol(node.counter)).minus(&Polynomial::number(1));
        let end = self.given(Some(left), |me| {
            me.given(Some(done), |me| me.block(&node.body, Frontier { read, write: write.clone() }))
        })?;
        if !self.dry && end.write != write.plus(&step) {
            return None;
        }
        let end = frontier.write.plus(&step.times(&to.minus(&from)));
        let read = if frontier.read == frontier.write { end.clone() } else { frontier.read };
        Some(Frontier { read, write: end })
    }

    /// How far an iteration of a loop moves the frontier, if each does so as the first.
    fn step(&self, node: &Loop, frontier: &Frontier) -> Option<Polynomial> {
        let Range::UpTo { from, .. } = node.range else { return None };
        if node.exit.is_some() || self.fixed {
            return None;
        }
        let mut dry = Self { dry: true, ..self.clone() };
        dry.known.push((node.counter, self.of(from)));
        let end = dry.block(&node.body, frontier.clone())?;
        let step = end.write.minus(&frontier.write);
        let same = step.symbols().all(|symbol| self.affine.is_invariant(symbol, node.counter));
        (same && self.affine.is_at_least(&step, 0)).then_some(step)
    }

    /// Goes on with one more fact.
    fn given<T>(&mut self, fact: Option<Polynomial>, f: impl FnOnce(&mut Self) -> T) -> T {
        let count = self.facts.len();
        self.facts.extend(fact);
        let result = f(self);
        self.facts.truncate(count);
        result
    }

    fn of(&self, value: ValueId) -> Polynomial {
        let mut polynomial = self.affine.of(value);
        for (counter, stands_for) in self.known.iter().rev() {
            if let Some((factor, rest)) = polynomial.split(*counter) {
                polynomial = rest.plus(&factor.times(stands_for));
            }
        }
        polynomial
    }

    fn is_at(&self, place: &Place, frontier: &Polynomial) -> bool {
        !self.fixed && matches!(place.path[..], [Step::Index(index)] if self.of(index) == *frontier)
    }

    fn is_before(&self, place: &Place, frontier: &Polynomial) -> bool {
        let [Step::Index(index)] = place.path[..] else { return self.is_complete(frontier) };
        self.dry
            || self.is_complete(frontier)
            || self.affine.follows(&frontier.minus(&self.of(index)), 1, &self.facts)
    }

    fn is_complete(&self, frontier: &Polynomial) -> bool {
        self.dry
            || self.len.as_ref().is_some_and(|len| self.affine.is_at_least(&frontier.minus(len), 0))
    }
}

/// The frontier after a write to the element it is at.
fn advanced(frontier: Frontier) -> Frontier {
    let next = frontier.write.plus(&Polynomial::number(1));
    let read = if frontier.read == frontier.write { next.clone() } else { frontier.read };
    Frontier { read, write: next }
}
