//! Rotations: additions to neighbours that go through memory once.

use super::access::out_of_bounds;
use super::machine::Machine;
use super::operation::binary;
use super::scheduled::{sign, zero};
use super::{Datum, Memory, Number, Observer, Trap, fault};
use stratape_ir::{Binary, Loop, ObjectId, Rotation, Scalar, Stmt};

/// Additions that rotate through a block: for each what is carried from the block before, and the terms of this one.
pub(super) struct Rotating<N> {
    pub(super) carried: Vec<Vec<Datum<N>>>,
    pub(super) terms: Vec<Vec<Datum<N>>>,
    /// What waits for the elements ahead, in the iterations left over.
    pub(super) waiting: Vec<Datum<N>>,
}

impl<N: Number, O: Observer> Machine<'_, N, O> {
    /// Adds what waits for the element of an iteration, and moves the rest one closer.
    pub(super) fn let_go(
        &mut self,
        node: &Loop,
        rotation: &Rotation,
        rotating: &mut Rotating<N>,
        counter: i128,
    ) -> Result<(), Trap> {
        let ty = self.addition(node, rotation.additions[0].0)?.1;
        let index = self.index(1, counter, &rotation.base)?;
        let now = rotating.waiting.remove(0);
        rotating.waiting.push(zero(ty));
        self.add_to(rotation.object, index, now, Binary::Add, ty)
    }

    pub(super) fn begin(
        &self,
        node: &Loop,
        rotation: &Rotation,
        width: usize,
    ) -> Result<Rotating<N>, Trap> {
        let Some((at, _)) = rotation.additions.first() else {
            return fault("a rotation of nothing");
        };
        let ty = self.addition(node, *at)?.1;
        let farthest = rotation.farthest();
        if farthest > width {
            return fault(format!("a rotation reaches {farthest} beyond a block of {width}"));
        }
        let carried =
            rotation.additions.iter().map(|(_, distance)| vec![zero(ty); *distance]).collect();
        let terms = vec![Vec::new(); rotation.additions.len()];
        Ok(Rotating { carried, terms, waiting: vec![zero(ty); farthest + 1] })
    }

    /// The end of a block: terms go to the elements they are for, what reaches beyond the block is carried on.
    pub(super) fn turn(
        &mut self,
        node: &Loop,
        rotation: &Rotation,
        rotating: &mut Rotating<N>,
        start: i128,
        width: usize,
    ) -> Result<(), Trap> {
        let first = self.index(1, start, &rotation.base)?;
        for (number, (at, _)) in rotation.additions.iter().enumerate() {
            let terms = std::mem::take(&mut rotating.terms[number]);
            if terms.is_empty() {
                continue;
            }
            let (subtract, ty) = self.addition(node, *at)?;
            let mut all = std::mem::take(&mut rotating.carried[number]);
            all.extend(terms);
            rotating.carried[number] = all.split_off(width);
            for (lane, term) in all.into_iter().enumerate() {
                let index = first + lane as i128;
                self.add_to(rotation.object, index, term, sign(subtract), ty)?;
            }
        }
        Ok(())
    }

    /// Whether a statement subtracts, and the type of what it adds.
    pub(super) fn addition(&self, node: &Loop, at: usize) -> Result<(bool, Scalar), Trap> {
        match node.body.get(at) {
            Some(Stmt::Accumulate { value, subtract, .. }) => Ok((*subtract, self.ty(*value)?)),
            _ => fault(format!("statement {at} is no addition")),
        }
    }

    pub(super) fn add_at(
        &mut self,
        node: &Loop,
        rotation: &Rotation,
        at: usize,
        counter: i128,
        term: Datum<N>,
    ) -> Result<(), Trap> {
        let (subtract, ty) = self.addition(node, at)?;
        let index = self.index(1, counter, &rotation.base)?;
        self.add_to(rotation.object, index, term, sign(subtract), ty)
    }

    pub(super) fn add_to(
        &mut self,
        object: ObjectId,
        index: i128,
        term: Datum<N>,
        sign: Binary,
        ty: Scalar,
    ) -> Result<(), Trap> {
        let Some(Some(Memory::List(items))) = self.objects.get_mut(object.index()) else {
            return fault(format!("{object:?} has no elements"));
        };
        let len = items.len() as i128;
        let slot = usize::try_from(index).ok().and_then(|index| items.get_mut(index));
        let Some(slot) = slot else {
            return Err(Trap::Panic(out_of_bounds(index, len)));
        };
        let Some(old) = slot.datum() else { return fault("more than one value") };
        *slot = binary(sign, old, term, ty)?.into();
        Ok(())
    }
}
