//! Builds functions: blocks open and close in the order of the program, and operations on
//! constants are folded where that changes no bit.

use std::collections::{HashMap, HashSet};

use super::{
    Binary, Block, Compare, Float, Function, If, Init, Loop, Merge, ObjectId, Op, Scalar, SourceId,
    Stmt, Unary, ValueId, walk,
};

/// A function under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    /// The function.
    pub function: Function,
    open: Vec<Block>,
    constants: HashMap<ValueId, Op>,
    /// Integers that are less than the largest of their type.
    with_next: HashSet<ValueId>,
}

impl Builder {
    /// Starts with an empty body.
    pub fn new(function: Function) -> Self {
        Self {
            function,
            open: vec![Block::new()],
            constants: HashMap::new(),
            with_next: HashSet::new(),
        }
    }

    /// Hands out the function, its outermost block as its body.
    pub fn finish(mut self) -> Function {
        self.function.body = self.open.pop().unwrap_or_default();
        self.function
    }

    /// Opens an inner block.
    pub fn open(&mut self) {
        self.open.push(Block::new());
    }

    /// Closes the innermost block.
    pub fn close(&mut self) -> Block {
        self.open.pop().unwrap_or_default()
    }

    /// Opens a block that was closed, to add to it.
    pub fn reopen(&mut self, block: Block) {
        self.open.push(block);
    }

    /// How many blocks are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Appends a node to the innermost block.
    pub fn node(&mut self, node: Stmt) {
        if let Some(block) = self.open.last_mut() {
            block.push(node);
        }
    }

    /// Makes the elements of a list, that was made empty in a block that is open, of something else; `before` is put before it.
    pub fn remake(&mut self, object: ObjectId, before: Block, item: Init) {
        for block in &mut self.open {
            let Some((at, len)) = made_at(block, object) else { continue };
            block[at] = Stmt::New { object, init: Init::Repeat(Box::new(item), len) };
            block.splice(at..at, before);
            return;
        }
    }

    /// Gives a list that was made in the innermost block another length, if nothing has used it since.
    pub fn remake_unused(&mut self, object: ObjectId, len: ValueId) -> bool {
        let Some(block) = self.open.last_mut() else { return false };
        let Some((at, _)) = made_at(block, object) else { return false };
        let mut used = false;
        walk(&block[at + 1..], &mut |node| {
            used |= node.uses_whole(object);
            used |= matches!(node, Stmt::Let { op: Op::Len(place), .. } if place.object == object);
            used |= node.read().iter().chain(&node.written()).any(|place| place.object == object);
        });
        if used {
            return false;
        }
        if let Stmt::New { init: Init::Repeat(item, _), .. } = block.remove(at) {
            block.push(Stmt::New { object, init: Init::Repeat(item, len) });
        }
        true
    }

    /// Defines a literal anew, in the outermost block.
    pub fn redefine(&mut self, value: ValueId, op: &Op) {
        self.constants.insert(value, op.clone());
        self.open.iter_mut().for_each(|block| redefine(block, value, op));
    }

    /// The literal a value is, if it is one.
    pub fn constant(&self, value: ValueId) -> Option<&Op> {
        self.constants.get(&value)
    }

    /// Whether an integer is known to be less than the largest of its type: a length, a counter, a remainder.
    pub fn has_next(&self, value: ValueId) -> bool {
        self.with_next.contains(&value)
    }

    /// Notes that an integer is less than the largest of its type.
    pub fn note_next(&mut self, value: ValueId) {
        self.with_next.insert(value);
    }

    /// Defines a value by an operation.
    pub fn emit(&mut self, op: Op, ty: Scalar, span: SourceId) -> ValueId {
        if let Some(known) = self.fold(&op, ty) {
            return match known {
                Folded::Value(value) => value,
                Folded::Op(op) => self.define(op, ty, span),
            };
        }
        self.define(op, ty, span)
    }

    fn define(&mut self, op: Op, ty: Scalar, span: SourceId) -> ValueId {
        let value = self.function.new_value(ty, span);
        if op.is_constant() {
            self.constants.insert(value, op.clone());
        }
        let small = |value: &ValueId| {
            self.has_next(*value)
                || matches!(self.constant(*value), Some(Op::Int(number)) if *number < i8::MAX.into())
        };
        let less = match &op {
            Op::Len(_) => true,
            Op::Binary(Binary::Rem, ..) => matches!(ty, Scalar::Int(int) if !int.signed()),
            Op::Method(name, operands) if name == "min" => operands.iter().any(small),
            _ => false,
        };
        if less {
            self.note_next(value);
        }
        self.node(Stmt::Let { value, op });
        value
    }

    fn fold(&self, op: &Op, ty: Scalar) -> Option<Folded> {
        let known = |value: &ValueId| self.constants.get(value);
        let integer = |value: &ValueId| match known(value) {
            Some(Op::Int(n)) => Some(*n),
            _ => None,
        };
        match op {
            Op::Unary(Unary::Not, a) => match known(a)? {
                Op::Bool(b) => Some(Folded::Op(Op::Bool(!b))),
                _ => None,
            },
            Op::Binary(Binary::Add, a, b) if integer(b) == Some(0) => Some(Folded::Value(*a)),
            Op::Binary(Binary::Add, a, b) if integer(a) == Some(0) => Some(Folded::Value(*b)),
            Op::Binary(Binary::Sub, a, b) if integer(b) == Some(0) => Some(Folded::Value(*a)),
            Op::Binary(Binary::Mul, a, b) if integer(b) == Some(1) => Some(Folded::Value(*a)),
            Op::Binary(Binary::Mul, a, b) if integer(a) == Some(1) => Some(Folded::Value(*b)),
            Op::Binary(sign, a, b) => {
                // Whether a result fits is for the type to say; if it is not known yet, only small ones do.
                let most = match ty {
                    Scalar::Int(int) => int.bounds().1,
                    _ => i128::from(i8::MAX),
                };
                let (a, b) = (integer(a)?, integer(b)?);
                let result = match sign {
                    Binary::Add => a.checked_add(b)?,
                    Binary::Sub => a.checked_sub(b)?,
                    Binary::Mul => a.checked_mul(b)?,
                    _ => return None,
                };
                (0..=most).contains(&result).then_some(Folded::Op(Op::Int(result)))
            }
            Op::Compare(sign, a, b) => {
                let (a, b) = (integer(a)?, integer(b)?);
                Some(Folded::Op(Op::Bool(sign.holds(&a, &b))))
            }
            Op::Select(c, a, b) => match known(c) {
                Some(Op::Bool(c)) => Some(Folded::Value(if *c { *a } else { *b })),
                _ if a == b => Some(Folded::Value(*a)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A float literal.
    pub fn float(&mut self, number: f64, ty: Scalar, span: SourceId) -> ValueId {
        let text = match ty {
            Scalar::Float(Float::F32) => format!("{:?}", number as f32),
            _ => format!("{number:?}"),
        };
        self.emit(Op::Float(number, text), ty, span)
    }

    /// An integer literal.
    pub fn int(&mut self, number: i128, ty: Scalar, span: SourceId) -> ValueId {
        self.emit(Op::Int(number), ty, span)
    }

    /// A `usize` literal.
    pub fn usize(&mut self, number: usize, span: SourceId) -> ValueId {
        self.int(number as i128, Scalar::USIZE, span)
    }

    /// A boolean literal.
    pub fn bool(&mut self, value: bool, span: SourceId) -> ValueId {
        self.emit(Op::Bool(value), Scalar::Bool, span)
    }

    /// `a op b`, of the type of `a`.
    pub fn binary(&mut self, sign: Binary, a: ValueId, b: ValueId, span: SourceId) -> ValueId {
        let ty = self.function.ty(a);
        self.emit(Op::Binary(sign, a, b), ty, span)
    }

    /// A comparison.
    pub fn compare(&mut self, sign: Compare, a: ValueId, b: ValueId, span: SourceId) -> ValueId {
        self.emit(Op::Compare(sign, a, b), Scalar::Bool, span)
    }

    /// `!a`
    pub fn not(&mut self, a: ValueId, span: SourceId) -> ValueId {
        let ty = self.function.ty(a);
        self.emit(Op::Unary(Unary::Not, a), ty, span)
    }

    /// A value that is `then` where the condition holds, `other` elsewhere.
    pub fn select(&mut self, c: ValueId, then: ValueId, other: ValueId, span: SourceId) -> ValueId {
        let ty = self.function.ty(then);
        self.emit(Op::Select(c, then, other), ty, span)
    }

    /// Appends a branch; merges of two literals become the condition itself or its opposite.
    pub fn branch(&mut self, mut node: If) -> Vec<(ValueId, ValueId)> {
        let mut replaced = Vec::new();
        let condition = node.condition;
        let span = node.span;
        let mut kept = Vec::new();
        for merge in std::mem::take(&mut node.merges) {
            let literal = |value| match self.constants.get(&value) {
                Some(Op::Bool(b)) => Some(*b),
                _ => None,
            };
            match (literal(merge.then), literal(merge.other)) {
                (Some(true), Some(false)) => replaced.push((merge.value, true)),
                (Some(false), Some(true)) => replaced.push((merge.value, false)),
                _ => kept.push(merge),
            }
        }
        node.merges = kept;
        if !(node.merges.is_empty() && node.then.is_empty() && node.other.is_empty()) {
            self.node(Stmt::If(Box::new(node)));
        }
        replaced
            .into_iter()
            .map(|(value, same)| (value, if same { condition } else { self.not(condition, span) }))
            .collect()
    }

    /// Makes the atomic operation that was appended last one of the whole block, of whose result nobody asks.
    pub fn combine_in_block(&mut self) {
        if let Some(Stmt::Atomic(atomic)) = self.open.last_mut().and_then(|block| block.last_mut())
        {
            (atomic.block, atomic.old) = (true, None);
        }
    }

    /// Appends a loop.
    pub fn repeat(&mut self, node: Loop) {
        self.node(Stmt::Loop(Box::new(node)));
    }

    /// A merge of two values, not yet in a branch.
    pub fn merge(&mut self, then: ValueId, other: ValueId, span: SourceId) -> Merge {
        let ty = self.function.ty(then);
        Merge { value: self.function.new_value(ty, span), then, other }
    }
}

/// Where a block makes a list, and how long.
fn made_at(block: &Block, object: ObjectId) -> Option<(usize, ValueId)> {
    let length = |node: &Stmt| match node {
        Stmt::New { object: made, init: Init::Repeat(_, len) } if *made == object => Some(*len),
        _ => None,
    };
    block.iter().enumerate().find_map(|(at, node)| Some((at, length(node)?)))
}

fn redefine(block: &mut Block, value: ValueId, op: &Op) {
    for node in block {
        if let Stmt::Let { value: found, op: old } = node
            && *found == value
        {
            *old = op.clone();
        }
        node.blocks_mut().into_iter().for_each(|inner| redefine(inner, value, op));
    }
}

enum Folded {
    Value(ValueId),
    Op(Op),
}
