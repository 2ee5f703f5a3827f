//! Atomics: which adjoints several threads of a kernel may add to at once.
//!
//! What several threads read, their backward halves add to. The addition must be atomic, unless no two threads meet in one element:
//!
//! ```text
//! @dx[i] += d      i = thread_idx.x + block_idx.x * block_dim.x     →   stays, if the grid has no other axis; atomic otherwise
//! @dx[0] += d                                                       →   atomic add @dx[0], d
//! ```
//!
//! An index is *owned* by a thread if it is a number in mixed radix whose digits determine the thread: `c·(d₀ + r₀·d₁ + r₀·r₁·d₂ + …) + offset`, where each digit
//! is below its radix: an index of a thread or a block, the counter of a loop, or a sum of such which a guard keeps below a bound (`if x < width`). Axes that
//! do not occur must have one thread and one block: what the launch decides is asked at run time, once for each kernel. Two additions to one object must be owned in the same
//! way: their offsets differ by less than `c`. Within a block, of shared memory, the digits need to determine the thread alone.
//!
//! A thread's own locals are never shared. Plain additions of the primal are the user's: two threads that meet there race.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Affine, DefUse, Definition, Polynomial, Uniform};
use stratape_ir::{
    Atomic, AtomicOp, Axis, Binary, Block, Builtin, Compare, Function, ObjectId, Op, Origin, Place,
    Scalar, SourceId, Step, Stmt, ValueId,
};

/// The pass.
pub const ATOMICS: Pass = Pass {
    name: "atomics",
    after: &["dce"],
    promise: Promise::AdjointBits,
    required: true,
    run: atomics,
};

/// How threads meet in what they add to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sharing {
    /// Each element belongs to one thread, if these numbers of threads and blocks are 1.
    Owned(BTreeSet<Builtin>),
    /// Several threads may add to one element.
    Shared,
}

fn atomics(function: &mut Function, cx: &mut Context<'_>) {
    let found = {
        let definitions = DefUse::new(function);
        let mut finder = Finder::new(function, &definitions);
        finder.block(&function.body, &mut Vec::new());
        finder.sharing()
    };
    let mut body = std::mem::take(&mut function.body);
    let uniform = Uniform::new(&Function { body: body.clone(), ..function.clone() });
    let mut writer = Writer { function, uniform, conditions: BTreeMap::new(), head: Block::new() };
    writer.block(&mut body, &found);
    let mut head = writer.head;
    head.append(&mut body);
    function.body = head;
    for (object, sharing) in &found {
        let known = &function.objects[object.index()];
        let (name, span) = (known.name.clone(), known.span);
        match sharing {
            Sharing::Shared => cx.missed(
                span,
                format!("several threads may add to one element of `{name}`: atomic additions"),
            ),
            Sharing::Owned(_) => cx.applied(
                span,
                format!("each element of `{name}` belongs to one thread: plain additions"),
            ),
        }
    }
}

/// An index in mixed radix.
#[derive(Clone, Debug, PartialEq)]
struct Digits {
    /// The stride of the least digit.
    least: i128,
    /// The digits and their strides.
    digits: Vec<(ValueId, Polynomial)>,
    offset: Polynomial,
    ones: BTreeSet<Builtin>,
}

struct Finder<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    affine: Affine<'a>,
    /// One value for each builtin, and for the length of each object.
    canonical: HashMap<String, ValueId>,
    /// The additions to each object: how they are owned, if they are.
    additions: BTreeMap<ObjectId, Vec<Option<Digits>>>,
}

impl<'a> Finder<'a> {
    fn new(function: &'a Function, definitions: &'a DefUse) -> Self {
        let affine = Affine::new(function, definitions);
        let mut finder = Self {
            function,
            definitions,
            affine,
            canonical: HashMap::new(),
            additions: BTreeMap::new(),
        };
        stratape_ir::walk(&function.body, &mut |node| {
            if let Stmt::Let { value, op: op @ (Op::Builtin(_) | Op::Len(_) | Op::Const(_)) } = node
            {
                finder.canonical.entry(format!("{op:?}")).or_insert(*value);
            }
        });
        finder
    }

    /// Whether threads other than its own can see an object.
    fn is_communal(&self, object: ObjectId) -> bool {
        self.function.shared.contains(&object)
            || self.function.objects[object.index()].origin == Origin::RefMut
    }

    fn block(&mut self, block: &Block, conditions: &mut Vec<(ValueId, bool)>) {
        for node in block {
            match node {
                Stmt::Accumulate { place, .. }
                    if self.is_communal(place.object)
                        && self.function.holds_adjoints(place.object) =>
                {
                    let owned = self.owned(place, conditions);
                    self.additions.entry(place.object).or_default().push(owned);
                }
                Stmt::Atomic(atomic) if self.function.holds_adjoints(atomic.place.object) => {
                    self.additions.entry(atomic.place.object).or_default().push(None);
                }
                Stmt::If(branch) => {
                    for (holds, inner) in [(true, &branch.then), (false, &branch.other)] {
                        let since = conditions.len();
                        self.conditions(branch.condition, holds, conditions);
                        self.block(inner, conditions);
                        conditions.truncate(since);
                    }
                }
                Stmt::Loop(repeat) => self.block(&repeat.body, conditions),
                _ => {}
            }
        }
    }

    /// A condition, and those that it is made of.
    fn conditions(&self, value: ValueId, holds: bool, out: &mut Vec<(ValueId, bool)>) {
        out.push((value, holds));
        match self.definitions.op(value) {
            Some(Op::Binary(Binary::BitAnd, a, b)) if holds => {
                self.conditions(*a, true, out);
                self.conditions(*b, true, out);
            }
            Some(Op::Binary(Binary::BitOr, a, b)) if !holds => {
                self.conditions(*a, false, out);
                self.conditions(*b, false, out);
            }
            Some(Op::Unary(stratape_ir::Unary::Not, a)) => self.conditions(*a, !holds, out),
            Some(Op::Select(c, a, b)) => {
                let literal = |value: &ValueId, is: bool| matches!(self.definitions.op(*value), Some(Op::Bool(known)) if *known == is);
                if holds && literal(b, false) {
                    self.conditions(*c, true, out);
                    self.conditions(*a, true, out);
                } else if !holds && literal(a, true) {
                    self.conditions(*c, false, out);
                    self.conditions(*b, false, out);
                }
            }
            _ => {}
        }
    }

    /// A polynomial in which builtins and lengths that are the same number are the same symbol.
    fn unified(&self, polynomial: &Polynomial) -> Polynomial {
        let mut sum = Polynomial::default();
        for (symbols, factor) in polynomial.terms() {
            let product = symbols.iter().fold(Polynomial::number(factor), |product, symbol| {
                product.times(&Polynomial::symbol(self.same(*symbol)))
            });
            sum = sum.plus(&product);
        }
        sum
    }

    fn same(&self, value: ValueId) -> ValueId {
        let restored = self.function.values[value.index()].stands_for.unwrap_or(value);
        let Some(op) = self.definitions.op(restored) else { return restored };
        self.canonical.get(&format!("{op:?}")).copied().unwrap_or(restored)
    }

    fn builtin(&self, value: ValueId) -> Option<Builtin> {
        match self.definitions.op(value) {
            Some(Op::Builtin(builtin)) => Some(*builtin),
            _ => None,
        }
    }

    /// Whether all threads of a grid see the same number.
    fn is_uniform(&self, value: ValueId) -> bool {
        match self.definitions.of(value) {
            Definition::Param => true,
            Definition::Op(Op::Builtin(builtin)) => {
                !matches!(builtin, Builtin::ThreadIdx(_) | Builtin::BlockIdx(_))
            }
            Definition::Op(Op::Load(place)) => {
                let mut uniform = self.function.objects[place.object.index()].origin == Origin::Ref;
                place.for_each_operand(&mut |index| uniform &= self.is_uniform(index));
                uniform
            }
            Definition::Op(op) => {
                let mut uniform = true;
                op.for_each_operand(&mut |operand| uniform &= self.is_uniform(operand));
                uniform
            }
            _ => false,
        }
    }

    fn is_constant(&self, polynomial: &Polynomial) -> bool {
        polynomial.symbols().all(|symbol| self.is_uniform(symbol))
    }

    /// How many numbers a digit can be, and its least; no number if there may be any. Nothing if it is no digit.
    fn range(&self, symbol: ValueId) -> Option<(Polynomial, Option<Polynomial>)> {
        let zero = Polynomial::default();
        let size = |builtin: Builtin| {
            let value = self.canonical.get(&format!("{:?}", Op::Builtin(builtin)));
            value.map(|value| Polynomial::symbol(*value))
        };
        match self.builtin(symbol) {
            Some(Builtin::ThreadIdx(axis)) => return Some((zero, size(Builtin::BlockDim(axis)))),
            Some(Builtin::BlockIdx(axis)) => return Some((zero, size(Builtin::GridDim(axis)))),
            _ => {}
        }
        let counted = self.affine.counted(symbol)?;
        let (from, extent) = (self.unified(&counted.from), counted.extent.as_ref());
        let extent = extent.map(|extent| self.unified(extent));
        Some((from.clone(), extent.filter(|one| self.is_constant(one) && self.is_constant(&from))))
            .filter(|(from, _)| self.is_constant(from))
    }

    /// The index of a place as digits that determine the thread.
    fn owned(&self, place: &Place, conditions: &[(ValueId, bool)]) -> Option<Digits> {
        let Some(Step::Index(index)) = place.path.first() else { return None };
        let mut offset = self.unified(&self.affine.of(*index));
        let mut left: Vec<(ValueId, Polynomial)> = Vec::new();
        let symbols: BTreeSet<ValueId> =
            offset.symbols().filter(|symbol| !self.is_uniform(*symbol)).collect();
        for symbol in symbols {
            let (factor, rest) = offset.split(symbol)?;
            let (from, _) = self.range(symbol)?;
            if !self.is_constant(&factor) {
                return None;
            }
            offset = rest.plus(&factor.times(&from));
            left.push((symbol, factor));
        }
        let numbers = left.iter().filter_map(|(_, stride)| stride.as_number());
        let least = numbers.min().filter(|least| *least > 0)?;
        let guards: Vec<Polynomial> = conditions
            .iter()
            .filter_map(|(condition, holds)| self.affine.fact(*condition, *holds))
            .map(|fact| self.unified(&fact))
            .collect();
        // The strides that the next digit may have, and what the digits so far are together.
        let mut next = vec![Polynomial::number(least)];
        let mut together = Polynomial::default();
        let mut digits = Vec::new();
        while !left.is_empty() {
            let fits = |(_, stride): &(ValueId, Polynomial)| {
                next.iter().any(|one| match (one.as_number(), stride.as_number()) {
                    (Some(least), Some(stride)) => stride >= least,
                    _ => one == stride,
                })
            };
            let size = |one: &(ValueId, Polynomial)| one.1.as_number().unwrap_or(i128::MAX);
            let found = left.iter().enumerate().filter(|(_, one)| fits(one));
            let (at, _) = found.min_by_key(|(_, one)| size(one))?;
            let (symbol, stride) = left.remove(at);
            let (from, extent) = self.range(symbol)?;
            let digit = Polynomial::symbol(symbol).minus(&from);
            together = together.plus(&stride.times(&digit));
            next = extent.map(|extent| stride.times(&extent)).into_iter().collect();
            // A guard `together < bound`, where the digits are counted one by one.
            for guard in &guards {
                let bound = guard.plus(&together).plus(&Polynomial::number(1));
                if least == 1 && self.is_constant(&bound) {
                    next.push(bound);
                }
            }
            digits.push((symbol, stride));
        }
        let seen: BTreeSet<Builtin> =
            digits.iter().filter_map(|(symbol, _)| self.builtin(*symbol)).collect();
        let mut ones = BTreeSet::new();
        for axis in Axis::ALL {
            if !seen.contains(&Builtin::ThreadIdx(axis)) {
                ones.insert(Builtin::BlockDim(axis));
            }
            if !seen.contains(&Builtin::BlockIdx(axis))
                && !self.function.shared.contains(&place.object)
            {
                ones.insert(Builtin::GridDim(axis));
            }
        }
        digits.sort_by_key(|(symbol, _)| *symbol);
        // Blocks of one thread are not worth a second version.
        (!ones.contains(&Builtin::BlockDim(Axis::X))).then_some(Digits {
            least,
            digits,
            offset,
            ones,
        })
    }

    /// What is to be done for each object.
    fn sharing(self) -> BTreeMap<ObjectId, Sharing> {
        let of = |additions: &[Option<Digits>]| {
            let owned: Option<Vec<&Digits>> = additions.iter().map(Option::as_ref).collect();
            let owned = owned.filter(|owned| agree(owned));
            owned.map_or(Sharing::Shared, |owned| {
                Sharing::Owned(owned.iter().flat_map(|one| one.ones.iter().copied()).collect())
            })
        };
        self.additions.iter().map(|(object, additions)| (*object, of(additions))).collect()
    }
}

/// Whether indices of several additions belong to the same threads.
fn agree(owned: &[&Digits]) -> bool {
    owned.iter().all(|a| {
        owned.iter().all(|b| {
            let apart = a.offset.minus(&b.offset).as_number();
            a.digits == b.digits
                && a.least == b.least
                && apart.is_some_and(|apart| apart == 0 || apart.abs() < a.least)
        })
    })
}

struct Writer<'a> {
    function: &'a mut Function,
    uniform: Uniform,
    /// The conditions under which elements belong to threads.
    conditions: BTreeMap<Vec<Builtin>, ValueId>,
    /// Where they are computed.
    head: Block,
}

impl Writer<'_> {
    /// Whether all threads of a block that come to a place together come to the same.
    fn is_uniform(&self, place: &Place) -> bool {
        let mut uniform = true;
        place.for_each_operand(&mut |index| uniform &= self.uniform.value(index));
        uniform
    }

    fn block(&mut self, block: &mut Block, found: &BTreeMap<ObjectId, Sharing>) {
        for node in block {
            for inner in node.blocks_mut() {
                self.block(inner, found);
            }
            let Stmt::Accumulate { place, value, subtract } = node else { continue };
            let Some(sharing) = found.get(&place.object) else { continue };
            let ones = match sharing {
                Sharing::Owned(ones) if ones.is_empty() => continue,
                Sharing::Owned(ones) => Some(ones),
                Sharing::Shared => None,
            };
            let (place, value) = (place.clone(), *value);
            let (mut added, mut atomic) = (value, Block::new());
            if *subtract {
                let ty = self.function.ty(value);
                let op = Op::Unary(stratape_ir::Unary::Neg, value);
                added = self.function.define(&mut atomic, ty, op, SourceId::NONE);
                self.function.values[added.index()].adjoint = true;
            }
            let add = Atomic {
                op: AtomicOp::Add,
                place: place.clone(),
                value: added,
                old: None,
                block: false,
                warp: self.is_uniform(&place),
            };
            atomic.push(Stmt::Atomic(Box::new(add)));
            let plain = vec![Stmt::Accumulate { place, value, subtract: *subtract }];
            let (condition, then, other) = match ones {
                Some(ones) => (self.condition(ones), plain, atomic),
                None if atomic.len() == 1 => {
                    *node = atomic.remove(0);
                    continue;
                }
                None => {
                    let op = Op::Bool(true);
                    let at = SourceId::NONE;
                    (
                        self.function.define(&mut self.head, Scalar::Bool, op, at),
                        atomic,
                        Block::new(),
                    )
                }
            };
            *node = Stmt::branch(condition, then, other);
        }
    }

    /// Whether numbers of threads and blocks are 1.
    fn condition(&mut self, ones: &BTreeSet<Builtin>) -> ValueId {
        let key: Vec<Builtin> = ones.iter().copied().collect();
        if let Some(known) = self.conditions.get(&key) {
            return *known;
        }
        let (function, head, at) = (&mut *self.function, &mut self.head, SourceId::NONE);
        let mut product = None;
        for builtin in &key {
            let size = function.define(head, Scalar::USIZE, Op::Builtin(*builtin), at);
            product = Some(match product {
                None => size,
                Some(so_far) => {
                    let op = Op::Binary(Binary::Mul, so_far, size);
                    function.define(head, Scalar::USIZE, op, at)
                }
            });
        }
        let one = function.define(head, Scalar::USIZE, Op::Int(1), at);
        let op = Op::Compare(Compare::Eq, product.unwrap_or(one), one);
        let condition = function.define(head, Scalar::Bool, op, at);
        self.conditions.insert(key, condition);
        condition
    }
}
