//! Unrolled loops: their iterations one after the other, with what is then a number, and what tables of constants hold there.

use std::collections::{BTreeSet, HashMap};

use super::{Tables, position};
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Binary, Block, Function, Loop, Op, Range, Scalar, Stmt, Substitution, ValueId, copy,
};

/// Writes the short loops over an array one iteration after the other.
pub(crate) struct Unroller<'a> {
    pub(crate) function: &'a mut Function,
    pub(crate) definitions: &'a DefUse,
    pub(crate) loops: &'a BTreeSet<ValueId>,
    /// The counters of loops that are being unrolled, and what is computed from them.
    pub(crate) numbers: HashMap<ValueId, i128>,
    pub(crate) tables: Tables,
}

impl Unroller<'_> {
    /// Writes statements with their loops unrolled.
    pub(crate) fn block(&mut self, block: Block, substitution: &mut Substitution, out: &mut Block) {
        for node in block {
            match node {
                Stmt::Loop(inner) if self.loops.contains(&inner.counter) => {
                    self.repeat(&inner, substitution, out);
                }
                Stmt::If(mut inner) => {
                    inner.condition = substitution.get(inner.condition);
                    for arm in [&mut inner.then, &mut inner.other] {
                        let mut now = Block::new();
                        self.block(std::mem::take(arm), substitution, &mut now);
                        *arm = now;
                    }
                    out.push(Stmt::If(inner));
                }
                node => {
                    let mut one = vec![node];
                    substitution.apply(&mut one);
                    if !self.looked_up(&one[0], None, substitution) {
                        out.extend(one);
                    }
                }
            }
        }
    }

    /// Whether a statement reads a table at places that are numbers; what it reads stands for its value, or for the one it was made from.
    fn looked_up(
        &self,
        node: &Stmt,
        original: Option<ValueId>,
        substitution: &mut Substitution,
    ) -> bool {
        let Stmt::Let { value, op: Op::Load(place) } = node else { return false };
        let Some(table) = self.tables.get(&place.object) else { return false };
        let ty = &self.function.objects[place.object.index()].ty;
        let Some(at) = position(&|index| self.number(index), ty, &place.path) else { return false };
        substitution.value(original.unwrap_or(*value), table[at]);
        true
    }

    /// The iterations of a loop one after the other, each with names of its own.
    fn repeat(&mut self, node: &Loop, substitution: &mut Substitution, out: &mut Block) {
        let Range::UpTo { from, to } = node.range else { return };
        let (from, to) = (substitution.get(from), substitution.get(to));
        let (Some(from), Some(to)) = (self.number(from), self.number(to)) else {
            return self.copied(&Stmt::Loop(Box::new(node.clone())), substitution, out);
        };
        let mut current: Vec<ValueId> =
            node.carried.iter().map(|carried| substitution.get(carried.init)).collect();
        let ty = self.function.ty(node.counter);
        let mut rounds: Vec<i128> = (from..to).collect();
        if node.reversed {
            rounds.reverse();
        }
        for round in rounds {
            let counter = self.function.define(out, ty, Op::Int(round), node.span);
            self.numbers.insert(counter, round);
            let mut inner = substitution.clone();
            inner.value(node.counter, counter);
            for (carried, now) in node.carried.iter().zip(&current) {
                inner.value(carried.inside, *now);
            }
            self.iteration(&node.body, &mut inner, out);
            current = node.carried.iter().map(|carried| inner.get(carried.next)).collect();
        }
        for (carried, now) in node.carried.iter().zip(current) {
            substitution.value(carried.after, now);
        }
    }

    fn iteration(&mut self, block: &Block, substitution: &mut Substitution, out: &mut Block) {
        for node in block {
            match node {
                Stmt::Loop(inner) if self.loops.contains(&inner.counter) => {
                    self.repeat(inner, substitution, out);
                }
                Stmt::If(inner) => {
                    let mut inner = (**inner).clone();
                    inner.condition = substitution.get(inner.condition);
                    for arm in [&mut inner.then, &mut inner.other] {
                        let mut now = Block::new();
                        self.iteration(&std::mem::take(arm), substitution, &mut now);
                        *arm = now;
                    }
                    for merge in &mut inner.merges {
                        merge.then = substitution.get(merge.then);
                        merge.other = substitution.get(merge.other);
                        let own = self.function.new_value_like(merge.value);
                        substitution.value(merge.value, own);
                        merge.value = own;
                    }
                    out.push(Stmt::If(Box::new(inner)));
                }
                Stmt::New { object, .. } => {
                    let mut one = vec![node.clone()];
                    substitution.apply(&mut one);
                    let known = self.function.objects[object.index()].clone();
                    let own = self.function.new_object(known);
                    if let Some(Stmt::New { object, .. }) = one.first_mut() {
                        *object = own;
                    }
                    if let Some(table) = self.tables.get(object) {
                        self.tables.insert(own, table.clone());
                    }
                    substitution.object(*object, own);
                    out.extend(one);
                }
                node => self.copied(node, substitution, out),
            }
        }
    }

    /// A statement with names of its own.
    fn copied(&mut self, node: &Stmt, substitution: &mut Substitution, out: &mut Block) {
        let mut one = vec![node.clone()];
        substitution.apply(&mut one);
        if let Stmt::Let { value, .. } = node
            && self.looked_up(&one[0], Some(*value), substitution)
        {
            return;
        }
        let (copied, values) = copy(self.function, &one);
        for (before, now) in values {
            substitution.value(before, now);
        }
        if let [Stmt::Let { value, op }] = &copied[..]
            && let Some(number) = self.evaluated(op)
        {
            self.numbers.insert(*value, number);
        }
        out.extend(copied);
    }

    /// A number that is known once counters are.
    fn number(&self, value: ValueId) -> Option<i128> {
        match self.numbers.get(&value) {
            Some(number) => Some(*number),
            None => self.evaluated(self.definitions.op(value)?),
        }
    }

    fn evaluated(&self, op: &Op) -> Option<i128> {
        match op {
            Op::Int(number) => Some(*number),
            Op::Binary(sign, a, b) => {
                let (a, b) = (self.number(*a)?, self.number(*b)?);
                match sign {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    Binary::Mul => a.checked_mul(b),
                    _ => None,
                }
            }
            Op::Cast(a, Scalar::Int(_)) => self.number(*a),
            _ => None,
        }
    }
}
