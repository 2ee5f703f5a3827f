//! Sums in memory whose place is within its list whether the loop that adds to it runs or not.
//!
//! In `y = vec![0.0; n * m]` and loops `i in 0..n`, `j in 0..m` the place `y[i * m + j]` is one of the list's: reading it before a loop inside, and
//! storing to it after, cannot panic.

use std::collections::{HashMap, HashSet};

use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Binary, Block, Extent, Function, Init, ObjectId, Op, Place, Range, Scalar, Step, Stmt, Type,
    ValueId, made_twice, swapped, walk,
};

/// What is known of a loop's sums.
#[derive(Default)]
pub(super) struct InBounds {
    pub(super) places: Vec<Place>,
    /// Their indices, and what these are computed from in the loop: none overflows.
    pub(super) indices: HashSet<ValueId>,
}

/// The places within their lists that loops add to, by the loops' counters.
pub(super) fn in_bounds(function: &Function) -> HashMap<ValueId, InBounds> {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let mut lengths = HashMap::new();
    walk(&function.body, &mut |node| {
        let Stmt::New { object, init } = node else { return };
        let length = match (&function.objects[object.index()].ty, init) {
            (Type::Vec(_), Init::Repeat(_, len)) => affine.of(*len),
            (Type::Array(_, Extent::Known(len)), _) => Polynomial::number(*len as i128),
            _ => return,
        };
        lengths.insert(*object, length);
    });
    for object in made_twice(&function.body).union(&swapped(&function.body)) {
        lengths.remove(object);
    }
    let mut finder = Finder { affine, lengths, found: HashMap::new() };
    finder.block(&function.body, &mut Vec::new());
    finder.found
}

struct Finder<'a> {
    affine: Affine<'a>,
    lengths: HashMap<ObjectId, Polynomial>,
    found: HashMap<ValueId, InBounds>,
}

impl Finder<'_> {
    fn block(&mut self, block: &Block, around: &mut Vec<ValueId>) {
        for node in block {
            let Stmt::Loop(inner) = node else {
                for arm in node.blocks() {
                    self.block(arm, around);
                }
                continue;
            };
            let mut known = InBounds::default();
            for item in &inner.body {
                if let Stmt::Accumulate { place, .. } = item {
                    self.place(place, inner.counter, around, &mut known);
                }
            }
            if !known.places.is_empty() && matches!(inner.range, Range::UpTo { .. }) {
                self.found.insert(inner.counter, known);
            }
            around.push(inner.counter);
            self.block(&inner.body, around);
            around.pop();
        }
    }

    fn place(&self, place: &Place, counter: ValueId, around: &[ValueId], known: &mut InBounds) {
        let ([Step::Index(index)], Some(length)) =
            (&place.path[..], self.lengths.get(&place.object))
        else {
            return;
        };
        let mut indices = HashSet::new();
        let polynomial = self.affine.of(*index);
        if !self.is_sum(*index, counter, &mut indices)
            || polynomial.symbols().any(|symbol| symbol == counter)
        {
            return;
        }
        let Some((least, greatest)) = self.affine.extremes(&polynomial, around) else { return };
        let facts: Vec<Polynomial> =
            around.iter().filter_map(|counter| self.affine.runs(*counter)).collect();
        if self.affine.follows(&least, 0, &facts)
            && self.affine.follows(&length.minus(&greatest), 1, &facts)
        {
            known.places.push(place.clone());
            known.indices.extend(indices);
        }
    }

    /// Whether an index is a sum of products of natural numbers from outside of a loop: no part of it is greater than the whole.
    fn is_sum(&self, value: ValueId, counter: ValueId, inside: &mut HashSet<ValueId>) -> bool {
        if self.affine.function().ty(value) != Scalar::USIZE {
            return false;
        }
        if self.affine.is_invariant(value, counter) {
            return true;
        }
        let outside = |value: ValueId| {
            self.affine.is_invariant(value, counter)
                && self.affine.function().ty(value) == Scalar::USIZE
        };
        let fits = match self.affine.op(value) {
            Some(Op::Binary(Binary::Add, a, b)) => {
                self.is_sum(*a, counter, inside) && self.is_sum(*b, counter, inside)
            }
            Some(Op::Binary(Binary::Mul, a, b)) => outside(*a) && outside(*b),
            Some(Op::Int(_)) => true,
            _ => false,
        };
        if fits {
            inside.insert(value);
        }
        fits
    }
}
