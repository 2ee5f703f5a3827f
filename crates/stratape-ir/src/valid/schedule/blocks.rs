//! Blocks: what a block can hold, what is summed in it, what waits for its end.

use std::collections::BTreeSet;

use super::{Checker, fault};
use crate::analysis::{asked_first, keeps_sums, only_term, strided};
use crate::valid::Fault;
use crate::{Loop, ObjectId, Op, Place, Polynomial, Rotation, Simd, Step, Stmt, Strip, defined};

impl Checker<'_> {
    pub(super) fn simd(&self, node: &Loop, strip: &Strip, simd: &Simd) -> Result<(), Fault> {
        if simd.width < 2 || (node.reversed && !node.unordered) {
            return fault(format!("the loop over {:?} cannot run in blocks", node.counter));
        }
        self.reductions(node, simd)?;
        for rotation in &simd.rotations {
            self.rotation(node, rotation, simd.width)?;
        }
        for (at, item) in node.body.iter().enumerate() {
            let fits = match item {
                Stmt::Let { op: Op::Load(place), .. } => self.sees(node, strip, place),
                Stmt::Let { .. } => true,
                Stmt::Accumulate { place, .. } => {
                    rotates(simd, at) || self.sees(node, strip, place)
                }
                Stmt::Store { place, .. } => self.sees(node, strip, place),
                // That it goes to the strip's region is checked with the region.
                Stmt::Push { .. } | Stmt::Pop { .. } => strip.region.is_some(),
                Stmt::Check { check, .. } => {
                    asked_first(self.affine, node.counter, check).is_some()
                }
                _ => false,
            };
            if !fits {
                return fault(format!("a block cannot hold {item:?}"));
            }
        }
        self.waiting(node, strip, simd)
    }

    fn reductions(&self, node: &Loop, simd: &Simd) -> Result<(), Fault> {
        if simd.reductions.len() != node.carried.len() {
            return fault("a carried value is no reduction".to_owned());
        }
        for (carried, sum) in node.carried.iter().zip(&simd.reductions) {
            let is_term = only_term(node, carried)
                .is_some_and(|term| (term.value, term.subtract) == (sum.term, sum.subtract));
            if !is_term || (sum.reassociate && !self.function.is_free(carried)) {
                return fault(format!("{:?} is not reduced so", carried.inside));
            }
        }
        Ok(())
    }

    fn rotation(&self, node: &Loop, rotation: &Rotation, width: usize) -> Result<(), Fault> {
        for (at, distance) in &rotation.additions {
            let Some(Stmt::Accumulate { place, .. }) = node.body.get(*at) else {
                return fault(format!("statement {at} is no addition"));
            };
            let base = rotation.base.plus(&Polynomial::number(*distance as i128));
            let fits = place.object == rotation.object
                && place.path.len() == 1
                && strided(self.affine, node.counter, place) == Some((1, base))
                && *distance <= width;
            if !fits {
                return fault(format!("{place:?} does not rotate at distance {distance}"));
            }
        }
        let nearest = rotation.additions.first().map(|(_, distance)| *distance);
        if nearest != Some(0) || !rotation.additions.is_sorted_by_key(|(_, distance)| *distance) {
            return fault(format!("a rotation of {:?} out of order", rotation.object));
        }
        Ok(())
    }

    /// Whether nobody looks at what additions have not brought yet, and sums of the primal keep their order.
    fn waiting(&self, node: &Loop, strip: &Strip, simd: &Simd) -> Result<(), Fault> {
        let rotating = simd.rotations.iter().flat_map(|rotation| &rotation.additions);
        let all: Vec<usize> =
            simd.delayed.iter().copied().chain(rotating.map(|(at, _)| *at)).collect();
        let mut objects = BTreeSet::new();
        for (number, at) in all.iter().enumerate() {
            let Some(Stmt::Accumulate { place, .. }) = node.body.get(*at) else {
                return fault(format!("statement {at} is no addition"));
            };
            if all[..number].contains(at) {
                return fault(format!("statement {at} waits twice"));
            }
            let inside = |step: &Step| matches!(step, Step::Index(index) if defined(&node.body).contains(index));
            if place.path.iter().skip(1).any(inside) {
                return fault(format!("{place:?} is not known after the block"));
            }
            self.is_unseen(node, strip, place, rotates(simd, *at))?;
            objects.insert(place.object);
        }
        objects.retain(|object| !self.function.holds_adjoints(*object));
        match objects.into_iter().find(|object| !self.keeps_order(node, simd, *object)) {
            None => Ok(()),
            Some(object) => fault(format!("sums of the primal in {object:?} are reordered")),
        }
    }

    /// Whether the block neither reads nor stores to the object of an addition that waits. Of an object that is split, the addition is on one
    /// side, and what is read or stored to on the other.
    fn is_unseen(
        &self,
        node: &Loop,
        strip: &Strip,
        place: &Place,
        rotates: bool,
    ) -> Result<(), Fault> {
        let touched = node.body.iter().any(|item| match item {
            Stmt::Let { op: Op::Load(other), .. } | Stmt::Store { place: other, .. } => {
                other.object == place.object
            }
            _ => false,
        });
        let split = strip.splits.iter().find(|split| split.object == place.object);
        let aside = split.is_some_and(|split| {
            let found = strided(self.affine, node.counter, place);
            found.is_some_and(|(_, base)| base != split.pivot) && !split.others_read
        });
        let viewed = strip.views.iter().any(|view| view.object == place.object);
        match (touched || (rotates && viewed)) && !aside {
            false => Ok(()),
            true => fault(format!("{place:?} is read before what is added to it arrives")),
        }
    }

    /// Whether each element of an object of the primal is added to by one iteration, and in the order of its statements: of those that meet in an
    /// element all wait, or none does. What rotates with others would be summed up before it is added.
    fn keeps_order(&self, node: &Loop, simd: &Simd, object: ObjectId) -> bool {
        let additions = node.body.iter().enumerate().filter_map(|(at, item)| match item {
            Stmt::Accumulate { place, .. } if place.object == object => {
                Some((at, strided(self.affine, node.counter, place)))
            }
            _ => None,
        });
        let all: Vec<(usize, Option<(i128, Polynomial)>)> = additions.collect();
        let pairs = all.iter().enumerate().all(|(number, (first, index))| {
            let mut later = all[number + 1..].iter().filter(|(_, other)| other == index);
            later.all(|(second, _)| arrive_in_order(simd, *first, *second))
        });
        let mut rotations = simd.rotations.iter().filter(|rotation| rotation.object == object);
        let alone = rotations.all(|rotation| rotation.additions.len() == 1);
        alone && pairs && keeps_sums(self.affine, node, object)
    }
}

/// Whether an addition is one of a rotation.
fn rotates(simd: &Simd, at: usize) -> bool {
    let mut additions = simd.rotations.iter().flat_map(|rotation| &rotation.additions);
    additions.any(|(one, _)| *one == at)
}

/// Whether of two additions to one element the first arrives first: at the end of a block come the rotations, in their order, then what is delayed.
fn arrive_in_order(simd: &Simd, first: usize, second: usize) -> bool {
    let rotating = simd.rotations.iter().flat_map(|rotation| &rotation.additions);
    let arriving: Vec<usize> =
        rotating.map(|(at, _)| *at).chain(simd.delayed.iter().copied()).collect();
    let number = |at: usize| arriving.iter().position(|one| *one == at);
    match (number(first), number(second)) {
        (None, None) => true,
        (Some(early), Some(late)) => early < late,
        _ => false,
    }
}
