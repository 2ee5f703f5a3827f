//! Shadows that can be stored to instead of added to, where the caller wants them overwritten.
//!
//! ```text
//! for c in 0..⌈(n ∸ t) / d⌉ { @dx[b·n + t + c·d] += v }  …  @dx[b·n + at] += w     →   @dx[b·n + t + c·d] = v  …  @dx[b·n + at] += w
//! ```
//!
//! An element belongs to one thread (`lower/atomics`). If all loops around an addition are digits of its index, it comes to each element at most once; where the shadow starts as zeros,
//! and the addition is the first that comes to its elements, a store does the same, and reads nothing. If the digits take all their values, with no condition but the bounds of
//! rows and of the list, all elements below a product of extents are stored to: if that reaches the length, the zeros need not be written, either. Both hold for grids along one axis, which the launch knows.

use std::collections::{HashMap, HashSet};

use crate::lower::{Digits, Known, Owners, Part, agree};
use stratape_ir::analysis::{DefUse, Polynomial};
use stratape_ir::{
    Axis, Binary, Block, Builtin, Compare, Function, Loop, ObjectId, Op, Origin, Param, Place,
    Range, SourceId, Step, Stmt, Unary, ValueId, walk,
};

/// How a shadow is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// Every element is stored to before it is added to.
    Stored,
    /// The same, and all elements are stored to if none of these products is less than their number.
    Covered(Vec<Vec<Factor>>),
}

/// A number that a launch knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Threads of a block.
    Threads,
    /// Blocks of the grid.
    Blocks,
    /// A literal.
    Number(u64),
    /// The number at a position among the parameters.
    Value(usize),
    /// The length of the slice at a position.
    Len(usize),
}

/// What of a gradient can be stored to.
#[derive(Debug, Default)]
pub(super) struct Stores {
    /// The shadows.
    pub(super) shadows: HashMap<ObjectId, Fresh>,
    /// The additions that become stores, by their addresses in the function.
    pub(super) additions: HashSet<*const Stmt>,
}

/// A statement around another one.
#[derive(Clone, Copy)]
enum Around<'a> {
    If(ValueId, bool),
    Loop(&'a Loop),
}

/// An addition to a shadow.
struct Addition<'a> {
    node: &'a Stmt,
    place: &'a Place,
    around: Vec<Around<'a>>,
    /// How its element belongs to a thread: by its first index, and by all of them.
    owned: [Option<Digits>; 2],
}

/// The shadows of a gradient that can be stored to.
pub(super) fn fresh(function: &Function) -> Stores {
    let definitions = DefUse::new(function);
    let owners = Owners::new(function, &definitions);
    let mut additions: HashMap<ObjectId, Vec<Addition<'_>>> = HashMap::new();
    collect(&owners, &function.body, &mut Vec::new(), &mut Known::default(), &mut additions);
    let mut others: HashSet<ObjectId> = HashSet::new();
    walk(&function.body, &mut |node| match node {
        // Atomic additions are the other way, for grids of several axes.
        Stmt::Accumulate { .. } | Stmt::Atomic(_) | Stmt::Barrier(_) => {}
        node => {
            others.extend(node.written().into_iter().map(|place| place.object));
            others.extend(node.read().into_iter().map(|place| place.object));
        }
    });
    let finder = Finder { function, owners: &owners };
    let mut stores = Stores::default();
    for param in &function.params {
        let Param::Object(object) = param else { continue };
        let Some(of) = function.objects[object.index()].shadow_of else { continue };
        let is_read = function.objects[of.index()].origin == Origin::Ref;
        let Some(additions) = additions.get(object).filter(|_| is_read) else { continue };
        if others.contains(object) {
            continue;
        }
        let found = [0, 1].into_iter().find_map(|whole| finder.shadow(additions, whole));
        if let Some((fresh, first)) = found {
            stores.shadows.insert(*object, fresh);
            stores.additions.extend(first);
        }
    }
    stores
}

/// A gradient as it runs where all its shadows are to be overwritten, and how each of these is written, by position: what tests run without a device.
pub fn overwriting(gradient: &Function) -> (Function, HashMap<usize, Fresh>) {
    let stores = fresh(gradient);
    let mut function = gradient.clone();
    let mut body = std::mem::take(&mut function.body);
    store(&mut function, &gradient.body, &mut body, &stores);
    function.body = body;
    let position = |object: &ObjectId| {
        gradient.params.iter().position(|one| *one == Param::Object(*object)).unwrap_or_default()
    };
    let shadows = stores.shadows.iter().map(|(object, fresh)| (position(object), fresh.clone()));
    (function, shadows.collect())
}

/// Turns additions of a copy of a block into stores.
fn store(function: &mut Function, block: &Block, copy: &mut Block, stores: &Stores) {
    let mut out = Block::new();
    for (node, mut copy) in block.iter().zip(std::mem::take(copy)) {
        for (inner, copy) in node.blocks().into_iter().zip(copy.blocks_mut()) {
            store(function, inner, copy, stores);
        }
        match &copy {
            Stmt::Accumulate { place, value, subtract }
                if stores.additions.contains(&std::ptr::from_ref(node)) =>
            {
                let op = Op::Unary(Unary::Neg, *value);
                let value = match subtract {
                    true => function.define(&mut out, function.ty(*value), op, SourceId::NONE),
                    false => *value,
                };
                out.push(Stmt::Store { place: place.clone(), value });
            }
            _ => out.push(copy),
        }
    }
    *copy = out;
}

fn collect<'a>(
    owners: &Owners<'_>,
    block: &'a Block,
    around: &mut Vec<Around<'a>>,
    known: &mut Known,
    additions: &mut HashMap<ObjectId, Vec<Addition<'a>>>,
) {
    for node in block {
        match node {
            Stmt::Accumulate { place, .. } => {
                let owned = [false, true].map(|whole| owners.digits(place, known, whole));
                let addition = Addition { node, place, around: around.clone(), owned };
                additions.entry(place.object).or_default().push(addition);
            }
            Stmt::If(branch) => {
                for (holds, block) in [(true, &branch.then), (false, &branch.other)] {
                    around.push(Around::If(branch.condition, holds));
                    owners.under(branch.condition, holds, known, &mut |known| {
                        collect(owners, block, around, known, additions);
                    });
                    around.pop();
                }
            }
            Stmt::Loop(repeat) => {
                around.push(Around::Loop(repeat));
                owners.during(repeat, known, &mut |known| {
                    collect(owners, &repeat.body, around, known, additions);
                });
                around.pop();
            }
            _ => {}
        }
    }
}

/// The indices that are not 0 in a grid along one axis.
const ALONG_X: [Builtin; 2] = [Builtin::ThreadIdx(Axis::X), Builtin::BlockIdx(Axis::X)];

/// What separates additions that never come to the same number: what is added to the index, and what follows it.
type Class = (Polynomial, Vec<i128>);

struct Finder<'a> {
    function: &'a Function,
    owners: &'a Owners<'a>,
}

impl<'a> Finder<'a> {
    /// Whether a shadow can be stored to, and the additions that do.
    fn shadow(
        &self,
        additions: &[Addition<'a>],
        whole: usize,
    ) -> Option<(Fresh, Vec<*const Stmt>)> {
        let owned: Vec<&Digits> = additions
            .iter()
            .map(|addition| addition.owned[whole].as_ref())
            .collect::<Option<_>>()?;
        if !owned.iter().all(|a| owned.iter().all(|b| agree(a, b))) {
            return None;
        }
        let mut classes: Vec<(Class, Vec<(&Addition<'a>, &Digits)>)> = Vec::new();
        for (addition, digits) in additions.iter().zip(owned) {
            let tail = match whole {
                0 => self.tail(addition.place),
                _ => Some(Vec::new()),
            };
            // The only addition may go on with any index.
            let tail = tail.or_else(|| (additions.len() == 1).then(Vec::new))?;
            let class = (digits.offset.clone(), tail);
            match classes.iter_mut().find(|(other, _)| *other == class) {
                Some((_, members)) => members.push((addition, digits)),
                None => classes.push((class, vec![(addition, digits)])),
            }
        }
        let mut first = Vec::new();
        let mut covered = Some(Vec::new());
        for (_, members) in &classes {
            let ((store, digits), later) = members.split_first()?;
            let once = store.around.iter().all(|around| match around {
                Around::Loop(repeat) => counts(digits, repeat),
                Around::If(..) => true,
            });
            // In the loops that both are in, the same iteration comes to an element.
            let after = later.iter().all(|(addition, digits)| {
                let common =
                    store.around.iter().zip(&addition.around).map_while(|pair| match pair {
                        (Around::Loop(a), Around::Loop(b)) if a.counter == b.counter => {
                            Some(Some(*a))
                        }
                        (Around::If(a, x), Around::If(b, y)) if a == b && x == y => Some(None),
                        _ => None,
                    });
                common.flatten().all(|repeat| counts(digits, repeat))
            });
            if !once || !after {
                return None;
            }
            first.push(std::ptr::from_ref(store.node));
            covered = covered.and_then(|mut all| {
                all.extend(self.covered(store, digits)?);
                Some(all)
            });
        }
        // A number of each element for each class.
        let ty = &self.function.objects[additions.first()?.place.object.index()].ty;
        let arity = usize::from(ty.element()?.scalar().is_some());
        let covered = covered.filter(|_| whole == 0 && classes.len() == arity);
        Some((covered.map_or(Fresh::Stored, Fresh::Covered), first))
    }

    /// The steps behind the first, if they are numbers.
    fn tail(&self, place: &Place) -> Option<Vec<i128>> {
        let step = |step: &Step| match step {
            Step::Index(index) => self.owners.polynomial(*index).as_number(),
            Step::Field(_) => None,
        };
        place.path.get(1..)?.iter().map(step).collect()
    }

    /// Products none of which is less than the length if an addition comes to all elements.
    fn covered(&self, addition: &Addition<'_>, digits: &Digits) -> Option<Vec<Vec<Factor>>> {
        if digits.least != 1 || digits.offset != Polynomial::default() {
            return None;
        }
        let mut guards = Vec::new();
        for around in &addition.around {
            match around {
                Around::If(condition, true) => self.guards(*condition, &mut guards)?,
                Around::If(_, false) => return None,
                Around::Loop(_) => {}
            }
        }
        // All numbers below `full` are taken by what the digits are together.
        let mut full = Polynomial::number(1);
        let mut together = Polynomial::default();
        let mut below = Vec::new();
        let mut last = None;
        for digit in &digits.digits {
            let symbol = match digit.part {
                // In a grid along one axis, the only number along another one is 0.
                Part::Own(own) if !ALONG_X.contains(&own) => continue,
                Part::Own(own) => self.owners.symbol(own)?,
                Part::Turn(counter) => counter,
                Part::Quotient(..) | Part::Rest(..) => return None,
            };
            if digit.stride != full || last.is_some() {
                return None;
            }
            below.push((full.clone(), together.clone()));
            let (extent, factor) = match digit.part {
                Part::Own(Builtin::ThreadIdx(axis)) => (Builtin::BlockDim(axis), Factor::Threads),
                Part::Own(_) => (Builtin::GridDim(Axis::X), Factor::Blocks),
                _ => {
                    full = self.turns(symbol, addition, &full, &together, &below)?;
                    together = together.plus(&digit.stride.times(&Polynomial::symbol(symbol)));
                    continue;
                }
            };
            match self.owners.symbol(extent) {
                Some(extent) => full = full.times(&Polynomial::symbol(extent)),
                // The kernel does not mention it: no other digit is above.
                None => last = Some(factor),
            }
            together = together.plus(&digit.stride.times(&Polynomial::symbol(symbol)));
        }
        let mut all = self.product(&full)?;
        all.extend(last);
        let mut products = vec![all];
        for (small, bound) in guards {
            let (stride, _) = below
                .iter()
                .find(|(stride, lower)| small.times(stride) == together.minus(lower))?;
            products.push(self.product(&bound.times(stride))?);
        }
        Some(products)
    }

    /// What the digits take with the turns of a loop, all numbers below `full` being taken by those before.
    fn turns(
        &self,
        counter: ValueId,
        addition: &Addition<'_>,
        full: &Polynomial,
        together: &Polynomial,
        below: &[(Polynomial, Polynomial)],
    ) -> Option<Polynomial> {
        let repeat = addition.around.iter().find_map(|around| match around {
            Around::Loop(repeat) if repeat.counter == counter => Some(repeat),
            _ => None,
        })?;
        let Range::UpTo { to, .. } = repeat.range else { return None };
        if repeat.exit.is_some() {
            return None;
        }
        let turns = self.owners.polynomial(to);
        if self.owners.is_constant(&turns) {
            return Some(full.times(&turns));
        }
        // Strides from what the digits before are, up to a bound.
        let (left, by) = self.method(to, "div_ceil")?;
        let (bound, start) = self.method(left, "saturating_sub")?;
        let [bound, start, by] = [bound, start, by].map(|one| self.owners.polynomial(one));
        let fits = |(stride, lower): &&(Polynomial, Polynomial)| {
            by.times(stride) == *full && start.times(stride) == together.minus(lower)
        };
        let (stride, _) = below.iter().find(fits)?;
        self.owners.is_constant(&bound).then(|| bound.times(stride))
    }

    fn method(&self, value: ValueId, wanted: &str) -> Option<(ValueId, ValueId)> {
        match self.owners.op(self.owners.same(value))? {
            Op::Method(name, operands) if name == wanted => {
                Some((*operands.first()?, *operands.get(1)?))
            }
            _ => None,
        }
    }

    /// What must be less than what for a condition to hold in a grid along one axis.
    fn guards(&self, condition: ValueId, out: &mut Vec<(Polynomial, Polynomial)>) -> Option<()> {
        match self.owners.op(condition)? {
            Op::Bool(true) => Some(()),
            Op::Binary(Binary::BitAnd, a, b) => {
                self.guards(*a, out)?;
                self.guards(*b, out)
            }
            Op::Compare(Compare::Lt, a, b) => {
                let bound = self.owners.polynomial(*b);
                out.push((self.owners.polynomial(*a), bound));
                Some(())
            }
            Op::Compare(Compare::Eq, extent, one) => {
                let one = self.owners.polynomial(*one).as_number() == Some(1);
                (one && self.is_other_extent(*extent)).then_some(())
            }
            _ => None,
        }
    }

    /// Whether a number is made of extents along other axes than the first.
    fn is_other_extent(&self, value: ValueId) -> bool {
        match self.owners.op(value) {
            Some(Op::Builtin(Builtin::BlockDim(axis) | Builtin::GridDim(axis))) => *axis != Axis::X,
            Some(Op::Binary(Binary::Mul, a, b)) => {
                self.is_other_extent(*a) && self.is_other_extent(*b)
            }
            _ => false,
        }
    }

    /// A product of numbers that a launch knows.
    fn product(&self, polynomial: &Polynomial) -> Option<Vec<Factor>> {
        let mut terms = polynomial.terms();
        let (Some((symbols, factor)), None) = (terms.next(), terms.next()) else { return None };
        let mut product = vec![Factor::Number(u64::try_from(factor).ok()?)];
        for symbol in symbols {
            product.push(self.factor(*symbol)?);
        }
        Some(product)
    }

    fn factor(&self, symbol: ValueId) -> Option<Factor> {
        let position = |wanted: Param| self.function.params.iter().position(|one| *one == wanted);
        match self.owners.op(symbol) {
            None => {
                let natural = self.owners.is_natural(symbol);
                position(Param::Value(symbol)).filter(|_| natural).map(Factor::Value)
            }
            Some(Op::Builtin(Builtin::BlockDim(Axis::X))) => Some(Factor::Threads),
            Some(Op::Builtin(Builtin::GridDim(Axis::X))) => Some(Factor::Blocks),
            Some(Op::Builtin(Builtin::BlockDim(_) | Builtin::GridDim(_))) => {
                Some(Factor::Number(1))
            }
            Some(Op::Len(place)) if place.path.is_empty() => {
                position(Param::Object(place.object)).map(Factor::Len)
            }
            _ => None,
        }
    }
}

/// Whether the counter of a loop is a digit.
fn counts(digits: &Digits, repeat: &Loop) -> bool {
    digits.digits.iter().any(|digit| digit.part == Part::Turn(repeat.counter))
}
