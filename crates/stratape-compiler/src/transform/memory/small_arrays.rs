//! Small arrays in registers: a local array of a few elements becomes so many values, and the short loops over it are unrolled.
//!
//! LLVM does the same, but derivatives are made before: what is read from an array in a loop is saved or made again through memory, where values
//! are weighed one by one.
//!
//! ```text
//! new @d = [0.0; _];  for i in 0..3 { @d[i] = @x[i] - @y[i] };  s = @d[0] * @d[1]   →   d0 = @x[0] - @y[0];  d1 = …;  s = d0 * d1
//! ```
//!
//! Legal for an array that is made of values, that is only read and written element by element, at places that are numbers once the loops over it are
//! unrolled, and that is not written in a loop that stays. A place may be looked up in a table of constants, which is looked up here then. Pays up to a number
//! of statements ([`Target::unrolled_statements`]).

mod unroll;

use std::collections::{BTreeSet, HashMap};

pub(crate) use self::unroll::Unroller;
use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::analysis::{Affine, DefUse};
use stratape_ir::{
    Binary, Block, Extent, Function, If, Init, Loop, Merge, ObjectId, Op, Place, Scalar, Step,
    Stmt, Substitution, Type, ValueId, made_twice, walk,
};

/// The pass.
pub const SMALL_ARRAYS: Pass = Pass {
    name: "small_arrays",
    after: &["forward_copies"],
    promise: Promise::SameBits,
    required: false,
    run: small_arrays,
};

fn small_arrays(function: &mut Function, cx: &mut Context<'_>) {
    let mut tried = BTreeSet::new();
    while let Some((object, loops)) = find(function, cx.target, &tried) {
        tried.insert(object);
        let span = function.objects[object.index()].span;
        let definitions = DefUse::new(function);
        let tables = tables(function, &definitions);
        let mut substitution = Substitution::default();
        let mut body = std::mem::take(&mut function.body);
        with_block(&mut body, object, &mut |block, at| {
            let rest = block.split_off(at + 1);
            let (loops, numbers, tables) = (&loops, HashMap::new(), tables.clone());
            let mut unroller =
                Unroller { function, definitions: &definitions, loops, numbers, tables };
            unroller.block(rest, &mut substitution, block);
        });
        function.body = body;
        substitute(function, &substitution);
        if replace(function, object) {
            cx.applied(span, "the elements of an array are values");
        }
    }
}

/// Replaces also what blocks around the array's own hand on.
fn substitute(function: &mut Function, substitution: &Substitution) {
    substitution.apply(&mut function.body);
    function.results.iter_mut().for_each(|value| *value = substitution.get(*value));
}

/// The block that makes an object, and where.
fn with_block(block: &mut Block, object: ObjectId, f: &mut dyn FnMut(&mut Block, usize)) {
    let makes = |node: &Stmt| matches!(node, Stmt::New { object: made, .. } if *made == object);
    if let Some(at) = block.iter().position(makes) {
        f(block, at);
        return;
    }
    for node in block {
        node.blocks_mut().into_iter().for_each(|inner| with_block(inner, object, f));
    }
}

/// An array that can be replaced, and the loops that are unrolled for it.
fn find(
    function: &Function,
    target: &Target,
    tried: &BTreeSet<ObjectId>,
) -> Option<(ObjectId, BTreeSet<ValueId>)> {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let twice = made_twice(&function.body);
    let tables = tables(function, &definitions);
    let mut found = None;
    each_block(&function.body, &mut |block| {
        for (at, node) in block.iter().enumerate() {
            let Stmt::New { object, init } = node else { continue };
            if found.is_some() || tried.contains(object) || twice.contains(object) {
                continue;
            }
            let ty = &function.objects[object.index()].ty;
            let small = shape(ty).is_some_and(|count| count <= target.small_array);
            let values = matches!(init, Init::Copy(_)) || is_made_of_values(init);
            if !small || function.kept.contains(object) || !values {
                continue;
            }
            let mut search = Search {
                function,
                definitions: &definitions,
                affine: &affine,
                tables: &tables,
                object: *object,
                loops: BTreeSet::new(),
            };
            let fits = search.block(&block[at + 1..], &mut Vec::new()).is_some();
            if fits && search.cost(&block[at + 1..], target).is_some() {
                found = Some((*object, search.loops));
            }
        }
    });
    found
}

fn each_block<'a>(block: &'a Block, f: &mut dyn FnMut(&'a Block)) {
    f(block);
    for node in block {
        node.blocks().into_iter().for_each(|inner| each_block(inner, f));
    }
}

/// How many numbers an array holds, if it holds nothing else.
fn shape(ty: &Type) -> Option<usize> {
    matches!(ty, Type::Array(..)).then(|| ty.numbers()).flatten()
}

/// What the arrays hold that are made of constants and never written.
pub(crate) type Tables = HashMap<ObjectId, Vec<ValueId>>;

fn tables(function: &Function, definitions: &DefUse) -> Tables {
    let mut tables = Tables::new();
    let mut changed = BTreeSet::new();
    walk(&function.body, &mut |node| {
        changed.extend(node.written().into_iter().map(|place| place.object));
        let Stmt::New { object, init } = node else { return };
        let ty = &function.objects[object.index()].ty;
        if shape(ty).is_none() || function.kept.contains(object) || !is_made_of_values(init) {
            return;
        }
        let mut values = Vec::new();
        spread(init, ty, &mut values);
        let constant = |value: &ValueId| {
            matches!(definitions.op(*value), Some(Op::Int(_) | Op::Float(..) | Op::Bool(_)))
        };
        if values.iter().all(constant) {
            tables.insert(*object, values);
        }
    });
    walk(&function.body, &mut |node| {
        changed.extend(tables.keys().filter(|table| node.uses_whole(**table)));
    });
    tables.retain(|table, _| !changed.contains(table));
    tables
}

fn is_made_of_values(init: &Init) -> bool {
    match init {
        Init::Value(_) => true,
        Init::Items(items) => items.iter().all(is_made_of_values),
        Init::Fill(item) => is_made_of_values(item),
        Init::Repeat(..) | Init::Copy(_) | Init::ZeroLike(_) => false,
    }
}

struct Search<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    affine: &'a Affine<'a>,
    tables: &'a Tables,
    object: ObjectId,
    /// The loops that are to be unrolled.
    loops: BTreeSet<ValueId>,
}

impl Search<'_> {
    /// Whether all uses of the object fit, in the loops that are around.
    fn block(&mut self, block: &[Stmt], around: &mut Vec<ValueId>) -> Option<()> {
        for node in block {
            match node {
                Stmt::Let { op: Op::Load(place), .. } if place.object == self.object => {
                    self.reads(place, around)?;
                }
                Stmt::Store { place, .. } | Stmt::Accumulate { place, .. }
                    if place.object == self.object =>
                {
                    self.loops.extend(around.iter().copied());
                    self.reads(place, around)?;
                }
                Stmt::Let { op: Op::Len(place), .. } if place.object == self.object => return None,
                node if node.uses_whole(self.object) => return None,
                Stmt::Loop(inner) => {
                    around.push(inner.counter);
                    self.block(&inner.body, around)?;
                    around.pop();
                }
                Stmt::If(inner) => {
                    self.block(&inner.then, around)?;
                    self.block(&inner.other, around)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    /// Notes the loops that move an access to a single element.
    fn reads(&mut self, place: &Place, around: &[ValueId]) -> Option<()> {
        let scalar = self.function.place_type(place)?.scalar();
        self.moved(place, around)?;
        scalar.map(|_| ())
    }

    fn moved(&mut self, place: &Place, around: &[ValueId]) -> Option<()> {
        for step in &place.path {
            let Step::Index(index) = step else { continue };
            for symbol in self.affine.of(*index).symbols() {
                if let Some(at) = around.iter().position(|counter| *counter == symbol) {
                    self.loops.extend(&around[..=at]);
                    continue;
                }
                let Some(Op::Load(place)) = self.definitions.op(symbol) else { return None };
                if !self.tables.contains_key(&place.object) {
                    return None;
                }
                self.moved(place, around)?;
            }
        }
        Some(())
    }

    /// The statements there are once the loops are unrolled, if they can be and are not too many.
    fn cost(&self, block: &[Stmt], target: &Target) -> Option<usize> {
        let mut all: usize = 0;
        for node in block {
            match node {
                Stmt::Loop(inner) if self.loops.contains(&inner.counter) => {
                    all += self.cost_of_loop(inner, target)?;
                }
                Stmt::If(inner) => {
                    all += self.cost(&inner.then, target)? + self.cost(&inner.other, target)?;
                }
                _ => {}
            }
        }
        (all <= target.unrolled_statements).then_some(all)
    }

    fn cost_of_loop(&self, node: &Loop, target: &Target) -> Option<usize> {
        let stored = self.function.checkpoints.iter().any(|(counter, _)| *counter == node.counter);
        let plain =
            node.exit.is_none() && node.trips.is_none() && node.parallel.is_none() && !stored;
        let counted = self.affine.counted(node.counter).filter(|_| plain)?;
        // At most so often, whatever the loops around it count.
        let loops: Vec<ValueId> = self.loops.iter().copied().collect();
        let known = |symbol: &ValueId| loops.contains(symbol);
        let extent = counted.extent.as_ref()?;
        if !extent.symbols().chain(counted.from.symbols()).all(|symbol| known(&symbol)) {
            return None;
        }
        let mut most = extent.clone();
        for _ in 0..loops.len() {
            for counter in &loops {
                most = self.affine.extreme(&most, *counter, true)?;
            }
        }
        let trips = usize::try_from(most.as_number()?.max(0)).ok()?;
        if trips > target.unrolled_iterations {
            return None;
        }
        let mut inside: usize = 0;
        for item in &node.body {
            inside += match item {
                Stmt::Loop(inner) if self.loops.contains(&inner.counter) => {
                    self.cost_of_loop(inner, target)?
                }
                Stmt::If(inner) => {
                    let arms = self.cost(&inner.then, target)? + self.cost(&inner.other, target)?;
                    arms + stratape_ir::analysis::Versions::size(item)
                }
                item => stratape_ir::analysis::Versions::size(item),
            };
        }
        trips.checked_mul(inside)
    }
}

/// Puts values in the place of the elements of an array. False, and nothing is changed, if one of its places is not a number.
fn replace(function: &mut Function, object: ObjectId) -> bool {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let mut places: HashMap<Place, usize> = HashMap::new();
    let mut fits = true;
    let ty = function.objects[object.index()].ty.clone();
    walk(&function.body, &mut |node| {
        for place in node.written().into_iter().chain(node.read()) {
            if place.object == object && !places.contains_key(place) {
                match position(&|index| affine.of(index).as_number(), &ty, &place.path) {
                    Some(at) => places.extend([(place.clone(), at)]),
                    None => fits = false,
                }
            }
        }
    });
    if !fits {
        return false;
    }
    let mut substitution = Substitution::default();
    let mut body = std::mem::take(&mut function.body);
    with_block(&mut body, object, &mut |block, at| {
        let rest = block.split_off(at + 1);
        let Some(Stmt::New { init, .. }) = block.pop() else { return };
        let mut values = Vec::new();
        match &init {
            Init::Copy(place) => load(function, place, &ty, block, &mut values),
            init => spread(init, &ty, &mut values),
        }
        let mut elements = Elements { function, places: &places, values, object };
        elements.block(rest, &mut substitution, block);
    });
    function.body = body;
    substitute(function, &substitution);
    true
}

/// Which number of something a path leads to, counted through all of it.
fn position(number: &dyn Fn(ValueId) -> Option<i128>, ty: &Type, path: &[Step]) -> Option<usize> {
    let Some((step, rest)) = path.split_first() else { return ty.scalar().map(|_| 0) };
    match (step, ty) {
        (Step::Index(index), Type::Array(item, Extent::Known(len))) => {
            let index = usize::try_from(number(*index)?).ok().filter(|at| at < len)?;
            Some(index * item.numbers()? + position(number, item, rest)?)
        }
        (Step::Field(at), _) => {
            let before: Option<usize> = (0..*at).map(|field| ty.field(field)?.numbers()).sum();
            Some(before? + position(number, ty.field(*at)?, rest)?)
        }
        _ => None,
    }
}

/// Reads every number of a place.
fn load(
    function: &mut Function,
    place: &Place,
    ty: &Type,
    out: &mut Block,
    values: &mut Vec<ValueId>,
) {
    let span = function.objects[place.object.index()].span;
    if let Some(scalar) = ty.scalar() {
        values.push(function.define(out, scalar, Op::Load(place.clone()), span));
    } else if let Type::Array(item, Extent::Known(len)) = ty {
        for at in 0..*len {
            let index = function.define(out, Scalar::USIZE, Op::Int(at as i128), span);
            load(function, &place.with(Step::Index(index)), item, out, values);
        }
    } else {
        let fields = (0..).map_while(|field| Some((field, ty.field(field)?)));
        for (field, ty) in fields {
            load(function, &place.with(Step::Field(field)), ty, out, values);
        }
    }
}

/// The values that something is made of, one for each of its numbers.
fn spread(init: &Init, ty: &Type, values: &mut Vec<ValueId>) {
    match (init, ty) {
        (Init::Value(value), _) => values.push(*value),
        (Init::Items(items), Type::Array(item, _)) => {
            items.iter().for_each(|init| spread(init, item, values));
        }
        (Init::Items(items), _) => {
            for (at, init) in items.iter().enumerate() {
                if let Some(ty) = ty.field(at) {
                    spread(init, ty, values);
                }
            }
        }
        (Init::Fill(init), Type::Array(item, Extent::Known(len))) => {
            (0..*len).for_each(|_| spread(init, item, values));
        }
        _ => {}
    }
}

struct Elements<'a> {
    function: &'a mut Function,
    places: &'a HashMap<Place, usize>,
    /// What the elements are at this point of the program.
    values: Vec<ValueId>,
    object: ObjectId,
}

impl Elements<'_> {
    fn block(&mut self, block: Block, substitution: &mut Substitution, out: &mut Block) {
        for node in block {
            let mut one = vec![node];
            substitution.apply(&mut one);
            for mut node in one {
                let at = |place: &Place| self.places.get(place).copied();
                match &mut node {
                    Stmt::Let { value, op: Op::Load(place) } if place.object == self.object => {
                        if let Some(at) = at(place) {
                            substitution.value(*value, self.values[at]);
                        }
                        continue;
                    }
                    Stmt::Store { place, value } if place.object == self.object => {
                        if let Some(at) = at(place) {
                            self.values[at] = *value;
                        }
                        continue;
                    }
                    Stmt::Accumulate { place, value, subtract } if place.object == self.object => {
                        if let Some(at) = at(place) {
                            let sign = if *subtract { Binary::Sub } else { Binary::Add };
                            let sum = self.function.new_value_like(*value);
                            let op = Op::Binary(sign, self.values[at], *value);
                            out.push(Stmt::Let { value: sum, op });
                            self.values[at] = sum;
                        }
                        continue;
                    }
                    Stmt::Loop(inner) => {
                        let mut now = Block::new();
                        self.block(std::mem::take(&mut inner.body), substitution, &mut now);
                        inner.body = now;
                    }
                    Stmt::If(inner) => self.branch(inner, substitution),
                    _ => {}
                }
                out.push(node);
            }
        }
    }

    /// Both arms, each with elements of its own; those that differ are merged.
    fn branch(&mut self, node: &mut If, substitution: &mut Substitution) {
        let before = self.values.clone();
        let mut ends = Vec::new();
        for arm in [&mut node.then, &mut node.other] {
            let mut now = Block::new();
            self.values.clone_from(&before);
            self.block(std::mem::take(arm), substitution, &mut now);
            *arm = now;
            ends.push(self.values.clone());
        }
        self.values = before;
        for (at, value) in self.values.iter_mut().enumerate() {
            let (then, other) = (ends[0][at], ends[1][at]);
            if then == other {
                *value = then;
                continue;
            }
            let merged = self.function.new_value_like(then);
            node.merges.push(Merge { value: merged, then, other });
            *value = merged;
        }
    }
}
