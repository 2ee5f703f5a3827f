//! Pairs: what all threads of a kernel add to each element, each thread sums for its own.
//!
//! Where every thread `i` of `n` goes through all `j` of `n`, it adds to its own shadow and to those of all others: `n²` additions in which threads meet. What thread `j` would add to
//! element `i` is what this thread computes with `i` and `j` exchanged:
//!
//! ```text
//! if i < n { for j in 0..n { @dx[j] += f(x[i], x[j]) } }   →   if i < n { for j in 0..n { own += f(x[j], x[i]) }; @dx[i] += own }
//! ```
//!
//! The value must be computed from memory that nobody writes, by indices that are `i`, `j` or the same for all threads. Values that were computed already are found again, up to their sign: where
//! the interaction is symmetric, as distances are, nothing is computed twice. All of this holds if the grid has a thread for each `i`; the kernel asks at run time, and adds as before otherwise.
//!
//! More threads than elements share the work if the blocks along the other axis of the grid take a slice of the `j` each, `b * c .. min(b * c + c, n)` for the block `b`. They have the pairs of all `i`
//! with those of their slice; after the exchange, those of their slice with all `i`, and each adds what it has. All pairs are taken once if the slices reach `n`, which is asked as well.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::{
    Axis, Binary, Block, Builtin, Carried, Compare, Function, If, Init, Loop, Merge, ObjectId, Op,
    Origin, Param, Place, Range, Scalar, SourceId, Step, Stmt, StmtId, Unary, ValueId, copy, walk,
};

/// The pass.
pub const GATHER_PAIRS: Pass = Pass {
    name: "gather_pairs",
    after: &["dce"],
    promise: Promise::AdjointBits,
    required: false,
    run: gather_pairs,
};

fn gather_pairs(function: &mut Function, cx: &mut Context<'_>) {
    if !function.kernel {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    let facts = Facts::new(function, &body);
    let mut zeros = Block::new();
    let mut at = 0;
    while at < body.len() {
        let (before, rest) = body.split_at_mut(at);
        if let Some(Stmt::If(branch)) = rest.first_mut()
            && let Some((thread, count)) = facts.guard(branch)
        {
            let mut asked = None;
            for position in 0..branch.then.len() {
                let (earlier, now) = branch.then.split_at_mut(position);
                let Some(Stmt::Loop(node)) = now.first_mut() else { continue };
                let Some(slices) = facts.runs_over(node, count, before) else { continue };
                let scope = [&*before, &*earlier];
                let original = node.clone();
                let found = facts.exchange(function, node, (thread, &mut zeros), &scope);
                let Some(sums) = found else { continue };
                let name = &function.objects[sums[0].0.object.index()].name;
                cx.applied(
                    node.span,
                    format!("what threads add to `{name}` by pairs, each sums for its own element"),
                );
                let covers = function.new_value(Scalar::Bool, node.span);
                asked = Some((covers, slices));
                node.body.retain(|stmt| facts.is_scattered(stmt, node.counter).is_none());
                let (other, copied) = copy(function, &vec![Stmt::Loop(original.clone())]);
                let mut merges = Vec::new();
                for (carried, old) in node.carried.iter_mut().zip(&original.carried) {
                    carried.after = function.new_value_like(old.after);
                    let other = copied[&old.after];
                    merges.push(Merge { value: old.after, then: carried.after, other });
                }
                let (span, gathered) = (node.span, Stmt::Loop(node.clone()));
                let mut then = vec![gathered];
                for (place, sum) in sums {
                    let path = facts.by_thread(function, &place.path, thread, &mut then);
                    let place = Place { path, ..place };
                    then.push(Stmt::Accumulate { place, value: sum, subtract: false });
                }
                branch.then[position] = Stmt::If(Box::new(If {
                    id: StmtId::NONE,
                    condition: covers,
                    then,
                    other,
                    merges,
                    span,
                }));
                // One loop for each guard: more are rare, and their sums would have to be kept apart.
                break;
            }
            if let Some((covers, slices)) = asked {
                let question = ask(function, covers, count, slices);
                let len = question.len();
                body.splice(at..at, question);
                at += len;
            }
        }
        at += 1;
    }
    // What sums begin with stands in front of everything.
    zeros.append(&mut body);
    function.body = zeros;
}

/// What the threads of a block take of the numbers below a count.
#[derive(Clone, Copy)]
enum Slices {
    /// All of them.
    Whole,
    /// So many, from that times the number of the block along the second axis.
    Of(ValueId),
}

/// Whether there is a thread for each number below a count, and none along other axes but for blocks that take slices.
fn ask(function: &mut Function, covers: ValueId, count: ValueId, slices: Slices) -> Block {
    let span = SourceId::NONE;
    let mut block = Block::new();
    let mut emit = |op: Op, ty: Scalar| {
        let value = function.new_value(ty, span);
        block.push(Stmt::Let { value, op });
        value
    };
    let dim = |make: fn(Axis) -> Builtin, axis| Op::Builtin(make(axis));
    let threads = emit(dim(Builtin::BlockDim, Axis::X), Scalar::USIZE);
    let blocks = emit(dim(Builtin::GridDim, Axis::X), Scalar::USIZE);
    let all = emit(Op::Binary(Binary::Mul, threads, blocks), Scalar::USIZE);
    let one = emit(Op::Int(1), Scalar::USIZE);
    let mut holds = emit(Op::Compare(Compare::Ge, all, count), Scalar::Bool);
    for axis in [Axis::Y, Axis::Z] {
        for make in [Builtin::BlockDim as fn(Axis) -> Builtin, Builtin::GridDim] {
            let extent = emit(dim(make, axis), Scalar::USIZE);
            let fits = match slices {
                Slices::Of(slice) if make(axis) == Builtin::GridDim(Axis::Y) => {
                    let reached = emit(Op::Binary(Binary::Mul, extent, slice), Scalar::USIZE);
                    let all = emit(Op::Compare(Compare::Ge, reached, count), Scalar::Bool);
                    // A slice that is longer than all may make the product wrap.
                    let short = emit(Op::Compare(Compare::Le, slice, count), Scalar::Bool);
                    emit(Op::Binary(Binary::BitAnd, all, short), Scalar::Bool)
                }
                _ => emit(Op::Compare(Compare::Eq, extent, one), Scalar::Bool),
            };
            holds = emit(Op::Binary(Binary::BitAnd, holds, fits), Scalar::Bool);
        }
    }
    let yes = emit(Op::Bool(true), Scalar::Bool);
    block.push(Stmt::Let { value: covers, op: Op::Binary(Binary::BitAnd, holds, yes) });
    block
}

struct Facts {
    ops: HashMap<ValueId, Op>,
    params: HashSet<ValueId>,
    /// Objects that something writes to, after they are made.
    written: HashSet<ObjectId>,
    /// Objects that are read.
    read: HashSet<ObjectId>,
    /// Locals that hold what is at another place, and never change.
    copies: HashMap<ObjectId, Place>,
    /// Shadows of parameters that are only read.
    shadows: HashSet<ObjectId>,
}

impl Facts {
    fn new(function: &Function, body: &Block) -> Self {
        let mut facts = Self {
            ops: HashMap::new(),
            params: HashSet::new(),
            written: HashSet::new(),
            read: HashSet::new(),
            copies: HashMap::new(),
            shadows: HashSet::new(),
        };
        for param in &function.params {
            match param {
                Param::Value(value) => drop(facts.params.insert(*value)),
                Param::Object(object) => {
                    let of = function.objects[object.index()].shadow_of;
                    if of.is_some_and(|of| function.objects[of.index()].origin == Origin::Ref) {
                        facts.shadows.insert(*object);
                    }
                }
            }
        }
        let mut made: HashMap<ObjectId, usize> = HashMap::new();
        walk(body, &mut |node| match node {
            Stmt::Let { value, op } => {
                if let Op::Load(place) = op {
                    facts.read.insert(place.object);
                }
                facts.ops.insert(*value, op.clone());
            }
            Stmt::New { object, init } => {
                *made.entry(*object).or_default() += 1;
                if let Init::Copy(place) = init {
                    facts.copies.insert(*object, place.clone());
                    facts.read.insert(place.object);
                }
            }
            Stmt::Loop(_) | Stmt::If(_) => {}
            Stmt::Accumulate { place, .. } => drop(facts.written.insert(place.object)),
            other => {
                facts.written.extend(other.written().into_iter().map(|place| place.object));
                facts.read.extend(other.read().into_iter().map(|place| place.object));
            }
        });
        let (written, communal) = (&facts.written, &function.shared);
        facts.copies.retain(|object, _| {
            made[object] == 1 && !written.contains(object) && !communal.contains(object)
        });
        facts
    }

    fn builtin(&self, value: ValueId) -> Option<Builtin> {
        match self.ops.get(&value)? {
            Op::Builtin(builtin) => Some(*builtin),
            _ => None,
        }
    }

    /// `if i < n`: the number of the thread in a grid of one axis, and the count.
    fn guard(&self, branch: &If) -> Option<(ValueId, ValueId)> {
        let Op::Compare(Compare::Lt, thread, count) = self.ops.get(&branch.condition)? else {
            return None;
        };
        let Op::Binary(Binary::Add, a, b) = self.ops.get(thread)? else { return None };
        let in_block = |value| self.builtin(value) == Some(Builtin::ThreadIdx(Axis::X));
        let (_, start) = [(*a, *b), (*b, *a)].into_iter().find(|(own, _)| in_block(*own))?;
        let Op::Binary(Binary::Mul, a, b) = self.ops.get(&start)? else { return None };
        let found = [self.builtin(*a)?, self.builtin(*b)?];
        let (block, threads) = (Builtin::BlockIdx(Axis::X), Builtin::BlockDim(Axis::X));
        let starts = found == [block, threads] || found == [threads, block];
        (starts && self.is_same_for_all(*count)).then_some((*thread, *count))
    }

    /// What a loop takes of the numbers below a count, if it is all or the slice of the block, and it does nothing that others wait for.
    fn runs_over(&self, node: &Loop, count: ValueId, before: &[Stmt]) -> Option<Slices> {
        let Range::UpTo { from, to } = node.range else { return None };
        let whole = matches!(self.ops.get(&from), Some(Op::Int(0))) && self.is_same(to, count);
        let slices = match whole {
            true => Slices::Whole,
            false => Slices::Of(self.slice(from, to, count, before)?),
        };
        let mut plain = true;
        walk(&node.body, &mut |stmt| {
            plain &= matches!(
                stmt,
                Stmt::Let { .. }
                    | Stmt::Accumulate { .. }
                    | Stmt::Store { .. }
                    | Stmt::New { .. }
                    | Stmt::Check { .. }
                    | Stmt::If(_)
            );
        });
        (plain && node.exit.is_none() && node.trips.is_none()).then_some(slices)
    }

    /// Whether two values are one, or the length of one list.
    fn is_same(&self, one: ValueId, other: ValueId) -> bool {
        let lengths = (self.ops.get(&one), self.ops.get(&other));
        one == other || matches!(lengths, (Some(Op::Len(a)), Some(Op::Len(b))) if a == b)
    }

    /// The length `c` of slices `b * c .. min(b * c + c, count)`, `b` the number of the block along the second axis. It is known before the guard.
    fn slice(
        &self,
        from: ValueId,
        to: ValueId,
        count: ValueId,
        before: &[Stmt],
    ) -> Option<ValueId> {
        let either = |(a, b): (ValueId, ValueId)| [(a, b), (b, a)];
        let Op::Binary(Binary::Mul, a, b) = self.ops.get(&from)? else { return None };
        let block = |value| self.builtin(value) == Some(Builtin::BlockIdx(Axis::Y));
        let (_, slice) = either((*a, *b)).into_iter().find(|(own, _)| block(*own))?;
        let Op::Method(name, ends) = self.ops.get(&to)? else { return None };
        let ([a, b], "min") = (&ends[..], name.as_str()) else { return None };
        let (end, _) = either((*a, *b)).into_iter().find(|(_, most)| self.is_same(*most, count))?;
        let Op::Binary(Binary::Add, a, b) = self.ops.get(&end)? else { return None };
        let ends = either((*a, *b)).contains(&(from, slice));
        let is_it = |stmt: &Stmt| matches!(stmt, Stmt::Let { value, .. } if *value == slice);
        let known = self.params.contains(&slice) || before.iter().any(is_it);
        (ends && known && self.is_same_for_all(slice)).then_some(slice)
    }

    /// An addition to a shadow by the counter of a loop: its place.
    fn is_scattered<'s>(&self, stmt: &'s Stmt, counter: ValueId) -> Option<&'s Place> {
        let Stmt::Accumulate { place, .. } = stmt else { return None };
        let fits = self.shadows.contains(&place.object) && !self.read.contains(&place.object);
        let (first, rest) = place.path.split_first()?;
        let constant = |step: &Step| match step {
            Step::Field(_) => true,
            Step::Index(value) => matches!(self.ops.get(value), Some(Op::Int(_))),
        };
        (fits && *first == Step::Index(counter) && rest.iter().all(constant)).then_some(place)
    }

    /// The path of a scattered addition, by the thread instead of the counter. Constants are made anew.
    fn by_thread(
        &self,
        function: &mut Function,
        path: &[Step],
        thread: ValueId,
        block: &mut Block,
    ) -> Vec<Step> {
        let mut steps = vec![Step::Index(thread)];
        for step in path.iter().skip(1) {
            steps.push(match step {
                Step::Index(old) => {
                    let value = function.new_value_like(*old);
                    let op = self.ops.get(old).cloned().unwrap_or(Op::Int(0));
                    block.push(Stmt::Let { value, op });
                    Step::Index(value)
                }
                field => field.clone(),
            });
        }
        steps
    }

    /// Whether a value is the same in every thread of the grid.
    fn is_same_for_all(&self, value: ValueId) -> bool {
        if self.params.contains(&value) {
            return true;
        }
        let Some(op) = self.ops.get(&value) else { return false };
        let mut same = match op {
            Op::Builtin(builtin) => {
                !matches!(builtin, Builtin::ThreadIdx(_) | Builtin::BlockIdx(_))
            }
            Op::Load(place) => {
                !self.written.contains(&place.object) && !self.copies.contains_key(&place.object)
            }
            _ => true,
        };
        op.for_each_operand(&mut |operand| same = same && self.is_same_for_all(operand));
        same
    }

    /// Adds to a loop the sums of what others would add to this thread's elements: the places by the counter, and the values after the loop.
    fn exchange(
        &self,
        function: &mut Function,
        node: &mut Loop,
        (thread, zeros): (ValueId, &mut Block),
        scope: &[&[Stmt]],
    ) -> Option<Vec<(Place, ValueId)>> {
        let mut twin = Exchange {
            facts: self,
            thread,
            counter: node.counter,
            known: HashMap::new(),
            done: HashMap::new(),
            made: Block::new(),
            function,
        };
        for block in scope {
            block.iter().for_each(|stmt| twin.note(stmt));
        }
        node.body.iter().for_each(|stmt| twin.note(stmt));
        let mut sums: Vec<(Place, bool, ValueId)> = Vec::new();
        for stmt in &node.body {
            if let (Some(place), Stmt::Accumulate { value, subtract, .. }) =
                (self.is_scattered(stmt, node.counter), stmt)
            {
                let (negative, found) = twin.of(*value)?;
                sums.push((place.clone(), negative != *subtract, found));
            }
        }
        if sums.is_empty() {
            return None;
        }
        let mut places = Vec::new();
        let (mut made, function) = (twin.made, twin.function);
        for (place, negative, value) in sums {
            let ty = function.ty(value);
            let [init, inside, next, after] = [(); 4].map(|()| function.new_value(ty, node.span));
            let sign = if negative { Binary::Sub } else { Binary::Add };
            made.push(Stmt::Let { value: next, op: Op::Binary(sign, inside, value) });
            node.carried.push(Carried { init, inside, next, after });
            zeros.push(Stmt::Let { value: init, op: Op::Float(0.0, "0.0".to_owned()) });
            places.push((place, after));
        }
        node.body.append(&mut made);
        Some(places)
    }
}

/// Values with the thread and the counter of a loop exchanged.
struct Exchange<'a> {
    facts: &'a Facts,
    thread: ValueId,
    counter: ValueId,
    /// Values that can be had in the loop, by what they are.
    known: HashMap<String, ValueId>,
    done: HashMap<ValueId, (bool, ValueId)>,
    made: Block,
    function: &'a mut Function,
}

impl Exchange<'_> {
    /// What a place is, where copies are seen through.
    fn place(&self, place: &Place) -> Place {
        match self.facts.copies.get(&place.object) {
            Some(of) => {
                let path = of.path.iter().chain(&place.path).cloned().collect();
                self.place(&Place { object: of.object, path })
            }
            None => place.clone(),
        }
    }

    /// Constant indices by their numbers, since each has several values.
    fn key(&self, op: &Op) -> String {
        let Op::Load(place) = op else { return format!("{op:?}") };
        let place = self.place(place);
        let steps = place.path.iter().map(|step| match step {
            Step::Index(value) => match self.facts.ops.get(value) {
                Some(Op::Int(n)) => format!("[{n}]"),
                _ => format!("[{value:?}]"),
            },
            Step::Field(at) => format!(".{at}"),
        });
        format!("load {:?}{}", place.object, steps.collect::<String>())
    }

    fn note(&mut self, stmt: &Stmt) {
        if let Stmt::Let { value, op } = stmt {
            let key = self.key(op);
            self.known.entry(key).or_insert(*value);
        }
    }

    fn emit(&mut self, op: Op, ty: Scalar) -> ValueId {
        let key = self.key(&op);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let value = self.function.new_value(ty, SourceId::NONE);
        self.made.push(Stmt::Let { value, op });
        self.known.insert(key, value);
        value
    }

    /// A value of this thread that is another's with thread and counter exchanged: whether it is negated, and which.
    fn of(&mut self, value: ValueId) -> Option<(bool, ValueId)> {
        if value == self.thread {
            return Some((false, self.counter));
        }
        if value == self.counter {
            return Some((false, self.thread));
        }
        if let Some(done) = self.done.get(&value) {
            return Some(*done);
        }
        if self.facts.is_same_for_all(value) {
            return Some((false, value));
        }
        let op = self.facts.ops.get(&value)?.clone();
        let ty = self.function.ty(value);
        let found = match op {
            Op::Load(place) => {
                let place = self.place(&place);
                if self.facts.written.contains(&place.object) {
                    return None;
                }
                let mut path = Vec::new();
                for step in &place.path {
                    path.push(match step {
                        Step::Index(index) => Step::Index(self.plain(*index)?),
                        field => field.clone(),
                    });
                }
                (false, self.emit(Op::Load(Place { path, ..place }), ty))
            }
            Op::Unary(Unary::Neg, a) if ty.is_float() => {
                let (negative, a) = self.of(a)?;
                (!negative, a)
            }
            Op::Binary(sign, a, b) if ty.is_float() => self.float(sign, a, b, ty)?,
            Op::Builtin(_) => return None,
            op => {
                let mut operands = Vec::new();
                op.for_each_operand(&mut |operand| operands.push(operand));
                let mut to = HashMap::new();
                for operand in operands {
                    to.insert(operand, self.plain(operand)?);
                }
                let mut op = op;
                op.for_each_operand_mut(&mut |operand| *operand = to[operand]);
                (false, self.emit(op, ty))
            }
        };
        self.done.insert(value, found);
        Some(found)
    }

    /// The same, without a sign.
    fn plain(&mut self, value: ValueId) -> Option<ValueId> {
        let (negative, found) = self.of(value)?;
        if !negative {
            return Some(found);
        }
        let ty = self.function.ty(found);
        Some(self.emit(Op::Unary(Unary::Neg, found), ty))
    }

    fn float(
        &mut self,
        sign: Binary,
        a: ValueId,
        b: ValueId,
        ty: Scalar,
    ) -> Option<(bool, ValueId)> {
        let ((na, a), (nb, b)) = (self.of(a)?, self.of(b)?);
        Some(match sign {
            Binary::Mul => {
                let turned = self.known.get(&self.key(&Op::Binary(Binary::Mul, b, a))).copied();
                let product =
                    turned.unwrap_or_else(|| self.emit(Op::Binary(Binary::Mul, a, b), ty));
                (na != nb, product)
            }
            Binary::Div => (na != nb, self.emit(Op::Binary(Binary::Div, a, b), ty)),
            Binary::Add | Binary::Sub => {
                // `±(a ± b)`
                let nb = nb != (sign == Binary::Sub);
                if na == nb {
                    let turned = self.known.get(&self.key(&Op::Binary(Binary::Add, b, a))).copied();
                    let sum =
                        turned.unwrap_or_else(|| self.emit(Op::Binary(Binary::Add, a, b), ty));
                    (na, sum)
                } else {
                    let turned = self.known.get(&self.key(&Op::Binary(Binary::Sub, b, a))).copied();
                    match turned {
                        Some(turned) => (!na, turned),
                        None => (na, self.emit(Op::Binary(Binary::Sub, a, b), ty)),
                    }
                }
            }
            _ => {
                let neg = |me: &mut Self, negative: bool, value| match negative {
                    true => me.emit(Op::Unary(Unary::Neg, value), ty),
                    false => value,
                };
                let (a, b) = (neg(self, na, a), neg(self, nb, b));
                (false, self.emit(Op::Binary(sign, a, b), ty))
            }
        })
    }
}
