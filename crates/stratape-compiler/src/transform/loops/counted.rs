//! Loops that run until an index reaches a bound count how often they run.
//!
//! ```text
//! loop j = t { c = j < n;  if c { … j' = j + d };  exit if !c }   →   for k in 0..⌈(n ∸ t) / d⌉ { j = t + k · d; … }
//! ```
//!
//! So a kernel takes the elements of a list in strides of its grid, written with `while`. Nothing is saved for a counted loop, and the index is seen to go in strides.
//!
//! Legal where the loop does nothing but ask before it runs a branch, the bound and the stride do not change, and the stride is known to be positive: a number of threads or blocks, a
//! literal, or a product of such. The index must not wrap. For kernels: the loops of other functions are rotated.

use std::collections::{HashMap, HashSet};

use super::rotate::{Way, parts, ways};
use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Binary, Block, Builtin, Carried, Compare, Function, Loop, Op, Origin, Range, Scalar, Stmt,
    Substitution, Unary, ValueId, defined, used,
};

/// The pass.
pub const COUNTED: Pass = Pass {
    name: "counted",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: counted,
};

fn counted(function: &mut Function, cx: &mut Context<'_>) {
    let definitions = DefUse::new(function);
    let uses = used(&function.body);
    let body = std::mem::take(&mut function.body);
    let mut counter = Counter {
        function,
        definitions: &definitions,
        uses: &uses,
        on: HashSet::new(),
        substitution: Substitution::default(),
        cx,
    };
    let mut body = counter.block(body);
    let substitution = counter.substitution;
    substitution.apply(&mut body);
    function.body = body;
}

struct Counter<'a, 'c> {
    function: &'a mut Function,
    definitions: &'a DefUse,
    uses: &'a HashSet<ValueId>,
    /// Truths that loops carry for as long as they go on.
    on: HashSet<ValueId>,
    substitution: Substitution,
    cx: &'a mut Context<'c>,
}

/// A loop whose index goes from a start to a bound.
struct Strided {
    ways: Vec<Way>,
    /// Which of the ways is the index.
    index: usize,
    bound: ValueId,
    stride: ValueId,
}

impl Counter<'_, '_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::new();
        for mut node in block {
            if let Stmt::Loop(repeat) = &node {
                self.note(repeat);
            }
            if let Stmt::Loop(repeat) = node {
                match self.strided(&repeat) {
                    Some(strided) => self.count(*repeat, strided, &mut out),
                    None => {
                        let mut repeat = repeat;
                        repeat.body = self.block(std::mem::take(&mut repeat.body));
                        out.push(Stmt::Loop(repeat));
                    }
                }
                continue;
            }
            for inner in node.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            out.push(node);
        }
        out
    }

    fn is_true(&self, value: ValueId) -> bool {
        self.on.contains(&value) || matches!(self.definitions.op(value), Some(Op::Bool(true)))
    }

    /// Notes what is true in a loop because it goes on.
    fn note(&mut self, node: &Loop) {
        let Some(Op::Unary(Unary::Not, on)) = node.exit.and_then(|exit| self.definitions.op(exit))
        else {
            return;
        };
        for carried in &node.carried {
            if carried.next == *on && self.is_true(carried.init) {
                self.on.insert(carried.inside);
            }
        }
    }

    fn strided(&self, node: &Loop) -> Option<Strided> {
        let ways = ways(self.definitions, self.uses, node, &|value| self.is_true(value))?;
        let (branch, _) = parts(&node.body)?;
        let (small, bound) = match self.definitions.op(branch.condition)? {
            Op::Compare(Compare::Lt, a, b) => (*a, *b),
            Op::Compare(Compare::Gt, a, b) => (*b, *a),
            _ => return None,
        };
        let index = ways.iter().position(|way| way.carried.inside == small)?;
        let way = &ways[index];
        let inner = defined(&node.body);
        let stride = match self.definitions.op(way.next)? {
            Op::Binary(Binary::Add, a, b) if *a == small => *b,
            Op::Binary(Binary::Add, a, b) if *b == small => *a,
            _ => return None,
        };
        let mut fixed = inner;
        fixed.extend(node.carried.iter().map(|carried| carried.inside));
        let fits = self.function.ty(small) == Scalar::USIZE
            && way.left.is_none()
            && self.is_fixed(bound, &fixed)
            && self.is_fixed(stride, &fixed)
            && self.is_positive(stride);
        fits.then_some(Strided { ways, index, bound, stride })
    }

    /// Whether a value can be had before a loop that defines others.
    fn is_fixed(&self, value: ValueId, inner: &HashSet<ValueId>) -> bool {
        if !inner.contains(&value) {
            return true;
        }
        let Some(op) = self.definitions.op(value) else { return false };
        let fits = match op {
            Op::Load(place) => self.function.objects[place.object.index()].origin == Origin::Ref,
            // What cannot fail, whether the loop runs or not.
            Op::Binary(Binary::Add | Binary::Mul, ..) | Op::Builtin(_) | Op::Len(_) => true,
            Op::Method(name, _) => matches!(name.as_str(), "saturating_sub" | "min" | "max"),
            op => op.is_constant(),
        };
        let mut fixed = fits;
        op.for_each_operand(&mut |operand| fixed &= self.is_fixed(operand, inner));
        fixed
    }

    fn is_positive(&self, value: ValueId) -> bool {
        match self.definitions.op(value) {
            Some(Op::Int(number)) => *number > 0,
            Some(Op::Builtin(Builtin::BlockDim(_) | Builtin::GridDim(_) | Builtin::WarpSize)) => {
                true
            }
            Some(Op::Binary(Binary::Mul, a, b)) => self.is_positive(*a) && self.is_positive(*b),
            Some(Op::Binary(Binary::Add, a, b)) => self.is_positive(*a) || self.is_positive(*b),
            _ => false,
        }
    }

    /// Computes a value before a loop that defines others.
    fn hoisted(
        &mut self,
        value: ValueId,
        inner: &HashSet<ValueId>,
        known: &mut HashMap<ValueId, ValueId>,
        out: &mut Block,
    ) -> ValueId {
        if !inner.contains(&value) {
            return value;
        }
        if let Some(known) = known.get(&value) {
            return *known;
        }
        let Some(mut op) = self.definitions.op(value).cloned() else { return value };
        op.for_each_operand_mut(&mut |operand| {
            *operand = self.hoisted(*operand, inner, known, out);
        });
        let span = self.function.values[value.index()].span;
        let copy = self.function.define(out, self.function.ty(value), op, span);
        known.insert(value, copy);
        copy
    }

    fn count(&mut self, node: Loop, strided: Strided, out: &mut Block) {
        let Strided { ways, index, bound, stride } = strided;
        let span = node.span;
        self.cx.applied(span, "the loop counts how often it runs");
        let mut inner = defined(&node.body);
        inner.extend(node.carried.iter().map(|carried| carried.inside));
        let mut known = HashMap::new();
        let bound = self.hoisted(bound, &inner, &mut known, out);
        let stride = self.hoisted(stride, &inner, &mut known, out);
        let start = ways[index].carried.init;
        let mut define =
            |out: &mut Block, op: Op| self.function.define(out, Scalar::USIZE, op, span);
        let method = |name: &str, a, b| Op::Method(name.to_owned(), vec![a, b]);
        let from = define(out, Op::Int(0));
        let left = define(out, method("saturating_sub", bound, start));
        let to = define(out, method("div_ceil", left, stride));
        let counter = self.function.new_value(Scalar::USIZE, span);
        let mut body = Block::new();
        let mut define =
            |out: &mut Block, op: Op| self.function.define(out, Scalar::USIZE, op, span);
        let grown = define(&mut body, Op::Binary(Binary::Mul, counter, stride));
        let now = define(&mut body, Op::Binary(Binary::Add, start, grown));
        let mut after = Block::new();
        let grown = define(&mut after, Op::Binary(Binary::Mul, to, stride));
        let end = define(&mut after, Op::Binary(Binary::Add, start, grown));
        let name = self.function.values[ways[index].carried.inside.index()].name.clone();
        self.function.values[now.index()].name = name;
        let mut carried = Vec::new();
        for (at, way) in ways.iter().enumerate() {
            let old = way.carried;
            if at == index {
                self.substitution.value(old.inside, now);
                self.substitution.value(old.after, end);
                continue;
            }
            if let Some(left) = way.left {
                self.substitution.value(old.after, left);
            }
            if way.next == old.inside {
                self.substitution.value(old.inside, old.init);
                if way.left.is_none() {
                    self.substitution.value(old.after, old.init);
                }
                continue;
            }
            let after = match way.left {
                Some(_) => self.function.new_value_like(old.after),
                None => old.after,
            };
            carried.push(Carried { next: way.next, after, ..old });
        }
        let mut before = node.body;
        before.pop();
        if let Some(Stmt::If(branch)) = before.pop() {
            body.append(&mut before);
            body.extend(branch.then);
        }
        let body = self.block(body);
        out.push(Stmt::Loop(Box::new(Loop {
            counter,
            range: Range::UpTo { from, to },
            carried,
            exit: None,
            trips: None,
            body,
            ..node
        })));
        out.append(&mut after);
    }
}
