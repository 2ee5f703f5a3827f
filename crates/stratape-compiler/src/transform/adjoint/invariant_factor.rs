//! Takes factors that do not change in the outer loop out of sums of adjoints: `Σ c·t` becomes `c · Σ t`.
//!
//! ```text
//! for l { for j { …; dc[j] += da[j] * (b[l] * d[l][j]); dd[l][j] += da[j] * c[j] * b[l] } }
//! →  for j { products[j] = da[j] * c[j] }
//!    sums = 0
//!    for l { for j { …; sums[j] += b[l] * d[l][j]; dd[l][j] += products[j] * b[l] } }
//!    for j { dc[j] += da[j] * sums[j] }
//! ```
//!
//! Legal for adjoints, whose last bits are free, where nothing else in the outer loop touches the shadow. The sums are used only if the outer
//! loop has run: nothing is added, and nothing can panic, where nothing did before.
//!
//! Pays where the inner loop is short (`Target::factor_row`), so that sums and products are arrays on the stack, which LLVM promotes to
//! registers if they are very short, and from `Target::factor_terms` terms (docs/performance.md: mttkrp). The size of a constant of the user's
//! is known to rustc alone: then both versions are emitted under a condition that rustc decides. Runs after `fold_coefficients`; not in
//! functions with parallel loops.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::loops::parallel_loops;
use crate::transform::memory::{InvariantSlice, Outer, Replay, table};
use crate::transform::{integers, trips};
use stratape_ir::{
    Binary, Block, Check, Compare, Extent, Function, Half, If, Init, Loop, Merge, ObjectId, Op,
    Place, Range, Scalar, SourceId, Stmt, StmtId, Type, ValueId, copy, walk,
};

/// The pass.
pub const INVARIANT_FACTOR: Pass = Pass {
    name: "invariant_factor",
    after: &["fold_coefficients"],
    promise: Promise::AdjointBits,
    required: false,
    run: invariant_factor,
};

/// Takes factors out of sums. Not where loops run in parallel: their memory is divided by what is added where.
fn invariant_factor(function: &mut Function, cx: &mut Context<'_>) {
    let parallel = parallel_loops(function);
    let mut body = std::mem::take(&mut function.body);
    let integers = integers(&body);
    let (mut constants, mut conditions) = (HashSet::new(), HashMap::new());
    walk(&body, &mut |node| match node {
        Stmt::Let { value, op: Op::Const(_) } => constants.extend([*value]),
        Stmt::Let { value, op: Op::Compare(Compare::Lt, a, b) } => {
            conditions.insert(*value, (*a, *b));
        }
        _ => {}
    });
    let mut found = Vec::new();
    Factoring {
        target: cx.target,
        function,
        parallel,
        integers,
        constants,
        conditions,
        found: &mut found,
    }
    .block(&mut body);
    for span in found {
        cx.applied(span, "factors that all terms of a sum share multiply the sum");
    }
    function.body = body;
}

/// A sum of adjoints in an inner loop, by the position of its addition.
struct Sum {
    at: usize,
    place: Place,
    subtract: bool,
    /// What is the same in every term.
    factor: ValueId,
    rest: ValueId,
    product: ValueId,
}

struct Factoring<'a> {
    target: &'a Target,
    function: &'a mut Function,
    parallel: HashSet<ValueId>,
    /// The loops that were rewritten.
    found: &'a mut Vec<SourceId>,
    integers: HashMap<ValueId, i128>,
    /// Constants that the compiler does not look into.
    constants: HashSet<ValueId>,
    /// What is less than what if a value is true.
    conditions: HashMap<ValueId, (ValueId, ValueId)>,
}

impl Factoring<'_> {
    /// Whether something was done in a block. What encloses it is left alone: it would be emitted four times.
    fn block(&mut self, nodes: &mut Block) -> bool {
        let mut done = false;
        let mut out = Block::new();
        for mut node in std::mem::take(nodes) {
            let mut done_inside = false;
            for inner in node.blocks_mut() {
                done_inside |= self.block(inner);
            }
            done |= done_inside;
            let new = match &node {
                Stmt::Loop(node) if !done_inside && !self.parallel.contains(&node.counter) => {
                    self.outer(node).inspect(|_| self.found.push(node.span))
                }
                _ => None,
            };
            done |= new.is_some();
            match new {
                Some(nodes) => out.extend(nodes),
                None => out.push(node),
            }
        }
        *nodes = out;
        done
    }

    /// A loop with the factored sums of the loops directly inside it in arrays of their own.
    fn outer(&mut self, node: &Loop) -> Option<Block> {
        let trips = trips(&self.integers, &node.range);
        if !node.is_plain() || trips.is_some_and(|trips| trips < self.target.factor_terms) {
            return None;
        }
        let outer = Outer::read(node, &self.integers)?;
        let touched = touched(&node.body);
        let (mut before, mut after) = (Block::new(), Block::new());
        let mut new = node.clone();
        // The pops of a branch would not meet the pushes of a loop.
        let has_records = node
            .body
            .iter()
            .any(|item| item.uses_tape(Half::Forward) || item.uses_tape(Half::Backward));
        let mut length = None;
        for (inner, first) in self.loops(&mut new.body, None, &mut true) {
            let Range::UpTo { to, .. } = inner.range else { continue };
            let is_unknown = !self.integers.contains_key(&to);
            if !self.is_short(to)
                || (is_unknown && has_records)
                || length.is_some_and(|length| length != to)
            {
                continue;
            }
            let Some(chain) = InvariantSlice::read(self.function, &outer, inner) else { continue };
            let sums = self.sums(&chain, inner, &touched);
            if sums.is_empty() {
                continue;
            }
            length = Some(to);
            let mut elsewhere = self.keep_sums(&chain, inner, &sums, (&mut before, &mut after));
            // A table is filled early: what can panic must not go before what others can see.
            if first {
                elsewhere.extend(self.keep_products(&chain, inner, &mut before));
            }
            chain.drop_unused(inner, &elsewhere);
        }
        let length = length?;
        before.push(Stmt::Loop(Box::new(new)));
        before.append(&mut after);
        Some(match self.integers.contains_key(&length) {
            true => before,
            false => self.either(length, node, before),
        })
    }

    /// The loops of a block, and of branches taken if a loop in them runs; whether nothing has been done before each.
    fn loops<'n>(
        &self,
        body: &'n mut Block,
        only: Option<(ValueId, ValueId)>,
        first: &mut bool,
    ) -> Vec<(&'n mut Loop, bool)> {
        let mut found = Vec::new();
        for item in body {
            match item {
                Stmt::Let { .. } | Stmt::New { .. } | Stmt::Pop { .. } => continue,
                Stmt::Loop(inner) => {
                    if let Range::UpTo { from, to } = inner.range
                        && only.is_none_or(|only| only == (from, to))
                    {
                        found.push((&mut **inner, *first));
                    }
                }
                Stmt::If(node) if only.is_none() && node.other.is_empty() => {
                    let condition = self.conditions.get(&node.condition);
                    if condition.is_some() {
                        found.extend(self.loops(&mut node.then, condition.copied(), first));
                    }
                }
                _ => {}
            }
            *first = false;
        }
        found
    }

    /// Whether an inner loop may be short enough, by its end.
    fn is_short(&self, to: ValueId) -> bool {
        match self.integers.get(&to) {
            Some(to) => (1..=self.target.factor_row).contains(to),
            None => self.constants.contains(&to),
        }
    }

    /// The sums of an inner loop that have a factor to take out.
    fn sums(
        &self,
        chain: &InvariantSlice<'_>,
        inner: &Loop,
        touched: &HashMap<ObjectId, usize>,
    ) -> Vec<Sum> {
        let simple = inner.body.iter().all(|item| {
            matches!(item, Stmt::Let { .. } | Stmt::Store { .. } | Stmt::Accumulate { .. })
        });
        if !simple || !inner.is_plain() {
            return Vec::new();
        }
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        let mut products = HashMap::new();
        for item in &inner.body {
            item.for_each_operand(&mut |value| *uses.entry(value).or_default() += 1);
            if let Stmt::Let { value, op: Op::Binary(Binary::Mul, a, b) } = item
                && self.function.values[value.index()].adjoint
                && self.function.ty(*value).is_float()
            {
                products.insert(*value, (*a, *b));
            }
        }
        inner.carried.iter().for_each(|carried| *uses.entry(carried.next).or_default() += 1);
        let sum = |(at, item): (usize, &Stmt)| {
            let Stmt::Accumulate { place, value, subtract } = item else { return None };
            let (a, b) = *products.get(value)?;
            let (factor, rest) = match (chain.is_fixed(a), chain.is_fixed(b)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => return None,
            };
            let mut fixed = true;
            place.for_each_operand(&mut |index| fixed &= chain.is_fixed(index));
            let alone = uses.get(value) == Some(&1) && touched.get(&place.object) == Some(&1);
            let (place, subtract, product) = (place.clone(), *subtract, *value);
            (fixed && alone).then_some(Sum { at, place, subtract, factor, rest, product })
        };
        inner.body.iter().enumerate().filter_map(sum).collect()
    }

    /// Keeps the sums of an inner loop aside; tells what is computed for them after the outer.
    fn keep_sums(
        &mut self,
        chain: &InvariantSlice<'_>,
        inner: &mut Loop,
        sums: &[Sum],
        (before, after): (&mut Block, &mut Block),
    ) -> Vec<ValueId> {
        let mut elsewhere = Vec::new();
        let mut kept = Block::new();
        for (at, item) in std::mem::take(&mut inner.body).into_iter().enumerate() {
            let Some(sum) = sums.iter().find(|sum| sum.at == at) else {
                let gone = matches!(&item, Stmt::Let { value, .. }
                    if sums.iter().any(|sum| sum.product == *value));
                if !gone {
                    kept.push(item);
                }
                continue;
            };
            let name = format!("{}_sums", self.function.objects[sum.place.object.index()].name);
            let row = self.row(&name, sum.product, inner, before);
            self.function.sums.insert(row);
            let place = chain.entry(self.function, row, inner.counter, &mut kept);
            kept.push(Stmt::Accumulate { place, value: sum.rest, subtract: false });
            let last = self.last(chain, inner, sum, row);
            chain.guard(self.function, last, after);
            elsewhere.push(sum.factor);
            sum.place.for_each_operand(&mut |index| elsewhere.push(index));
        }
        inner.body = kept;
        elsewhere
    }

    /// Keeps the products aside that an inner loop repeats; tells which.
    fn keep_products(
        &mut self,
        chain: &InvariantSlice<'_>,
        inner: &mut Loop,
        before: &mut Block,
    ) -> Vec<ValueId> {
        let is_product = |op: &Op| matches!(op, Op::Binary(Binary::Mul | Binary::Div, ..));
        let mut products = chain.wanted(self.function, inner);
        products.retain(|value| chain.has(*value, &is_product));
        for value in &products {
            let row = self.row("products", *value, inner, before);
            let fill = chain.fill(self.function, inner, *value, row);
            chain.guard(self.function, fill, before);
        }
        products
    }

    /// Makes an array of zeros, for values like one.
    fn row(&mut self, name: &str, like: ValueId, inner: &Loop, before: &mut Block) -> ObjectId {
        let ty = self.function.ty(like);
        let len = match inner.range {
            Range::UpTo { to, .. } => self.integers.get(&to).copied(),
            Range::Forever => None,
        };
        let len = len.unwrap_or(self.target.factor_row) as usize;
        let array = Type::Array(Box::new(Type::Scalar(ty)), Extent::Known(len));
        let object = table(self.function, name, array, inner);
        let zero = Op::Float(0.0, "0.0".to_owned());
        let zero = self.function.define(before, ty, zero, inner.span);
        before.push(Stmt::New { object, init: Init::Fill(Box::new(Init::Value(zero))) });
        object
    }

    /// The loop that multiplies the sums.
    fn last(&mut self, chain: &InvariantSlice<'_>, inner: &Loop, sum: &Sum, row: ObjectId) -> Stmt {
        let mut again = Replay::new(self.function, chain, inner);
        let factor = again.value(self.function, sum.factor);
        let mut place = sum.place.clone();
        place.for_each_operand_mut(&mut |index| *index = again.value(self.function, *index));
        let from = chain.entry(self.function, row, again.counter, &mut again.body);
        let rest = self.function.new_value_like(sum.product);
        again.body.push(Stmt::Let { value: rest, op: Op::Load(from) });
        let value = self.function.new_value_like(sum.product);
        again.body.push(Stmt::Let { value, op: Op::Binary(Binary::Mul, factor, rest) });
        again.body.push(Stmt::Accumulate { place, value, subtract: sum.subtract });
        again.over(inner)
    }

    /// What was made of a loop if a constant is small, else the loop.
    fn either(&mut self, length: ValueId, node: &Loop, mut then: Block) -> Block {
        let (other, values) = copy(self.function, &vec![Stmt::Loop(Box::new(node.clone()))]);
        let mut merges = Vec::new();
        for item in &mut then {
            let Stmt::Loop(new) = item else { continue };
            if new.counter != node.counter {
                continue;
            }
            for carried in &mut new.carried {
                let inner = self.function.new_value_like(carried.after);
                let other = values.get(&carried.after).copied().unwrap_or(carried.init);
                merges.push(Merge { value: carried.after, then: inner, other });
                carried.after = inner;
            }
        }
        let mut out = Block::new();
        let most = self.function.define(
            &mut out,
            Scalar::USIZE,
            Op::Int(self.target.factor_row),
            node.span,
        );
        let short = Op::Compare(Compare::Le, length, most);
        let condition = self.function.define(&mut out, Scalar::Bool, short, node.span);
        out.push(Stmt::If(Box::new(If {
            id: StmtId::NONE,
            condition,
            then,
            other,
            merges,
            span: node.span,
        })));
        out
    }
}

/// How many nodes make each object, read it or write it.
fn touched(body: &Block) -> HashMap<ObjectId, usize> {
    let mut touched: HashMap<ObjectId, usize> = HashMap::new();
    walk(body, &mut |node| {
        let mut objects: HashSet<ObjectId> =
            node.read().into_iter().chain(node.written()).map(|place| place.object).collect();
        match node {
            Stmt::New { object, init } => {
                objects.insert(*object);
                objects.extend(init.copied().iter().map(|place| place.object));
            }
            Stmt::Restore { object, .. } => {
                objects.insert(*object);
            }
            Stmt::Check { check: Check::Assert { objects: named, .. }, .. } => {
                objects.extend(named.iter().map(|(_, object)| *object));
            }
            _ => {}
        }
        objects.into_iter().for_each(|object| *touched.entry(object).or_default() += 1);
    });
    touched
}
