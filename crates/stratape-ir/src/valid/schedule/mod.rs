//! Schedules: a lowered loop runs as its clauses say, and its body allows it.

use std::collections::BTreeMap;

use super::Fault;
use crate::analysis::{Affine, Use, is_sum, keeps_sums, only_term, strided, uses};
use crate::{
    Function, Init, Loop, Op, Parts, Place, Polynomial, Range, RecordId, Rotation, Scalar, Simd,
    Stmt, Strip, Type, View, walk,
};

pub(super) fn check(function: &Function, affine: &Affine<'_>) -> Result<(), Fault> {
    let checker = Checker { function, affine };
    let mut outcome = Ok(());
    let mut lowered = false;
    let mut in_regions: BTreeMap<RecordId, usize> = BTreeMap::new();
    walk(&function.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        if let Some(schedule) = &node.schedule
            && outcome.is_ok()
        {
            lowered |= schedule.strip.is_some();
            let region = schedule.strip.as_ref().and_then(|strip| strip.region);
            region.into_iter().for_each(|record| *in_regions.entry(record).or_default() += 1);
            outcome = checker.repeat(node);
        }
    });
    outcome?;
    let mut outcome = Ok(());
    // What is pushed to a region is popped from one, and the other way round.
    walk(&function.body, &mut |node| {
        if let Stmt::Push { record, .. } | Stmt::Pop { record, .. } = node {
            let claimed = function.records[record.index()].region;
            if lowered && claimed != in_regions.contains_key(record) && outcome.is_ok() {
                outcome =
                    fault(format!("{record:?} lies in a region in one place, not in another"));
            }
        }
    });
    outcome
}

fn fault<T>(message: String) -> Result<T, Fault> {
    Err(Fault::new("schedule", message))
}

struct Checker<'a> {
    function: &'a Function,
    affine: &'a Affine<'a>,
}

impl Checker<'_> {
    fn repeat(&self, node: &Loop) -> Result<(), Fault> {
        let Some(schedule) = &node.schedule else { return Ok(()) };
        let counted = matches!(node.range, Range::UpTo { .. });
        if !counted || node.exit.is_some() || node.trips.is_some() {
            return fault(format!("the loop over {:?} ends when it will", node.counter));
        }
        match (&schedule.strip, &schedule.simd) {
            (Some(strip), None) => self.strip(node, strip)?,
            (Some(strip), Some(simd)) => {
                self.strip(node, strip)?;
                self.simd(node, strip, simd)?;
            }
            (None, Some(_)) => return fault("blocks without strips".to_owned()),
            (None, None) => {}
        }
        schedule.parts.as_ref().map_or(Ok(()), |parts| self.parts(node, parts))
    }

    /// Whether a view covers an access.
    fn sees(&self, node: &Loop, strip: &Strip, place: &Place) -> bool {
        let Some((stride, base)) = strided(self.affine, node.counter, place) else { return false };
        strip.views.iter().any(|view| {
            let offset = base.minus(&view.base).as_number();
            view.object == place.object
                && view.stride == stride
                && offset.is_some_and(|offset| (0..stride).contains(&offset))
        })
    }

    /// Whether every iteration accesses the first element and the last that a view has for it: then slicing it panics only where an access
    /// would.
    fn is_accessed(&self, node: &Loop, view: &View) -> bool {
        let at = |offset: i128| {
            node.body.iter().any(|item| {
                let place = match item {
                    Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
                    | Stmt::Store { place, .. }
                    | Stmt::Accumulate { place, .. }
                    | Stmt::New { init: Init::Copy(place), .. } => place,
                    _ => return false,
                };
                let wanted = view.base.plus(&Polynomial::number(offset));
                place.object == view.object
                    && strided(self.affine, node.counter, place) == Some((view.stride, wanted))
            })
        };
        at(0) && at(view.stride - 1)
    }

    fn strip(&self, node: &Loop, strip: &Strip) -> Result<(), Fault> {
        for view in &strip.views {
            let ty = &self.function.objects[view.object.index()].ty;
            let is_list = matches!(ty, Type::Slice(_) | Type::Vec(_) | Type::Array(..));
            let fixed = view.base.symbols().all(|symbol| {
                self.affine.is_invariant(symbol, node.counter)
                    && self.function.ty(symbol) == Scalar::USIZE
            });
            if !is_list || view.stride < 1 || !fixed {
                return fault(format!("{:?} cannot be viewed so", view.object));
            }
            if !self.is_accessed(node, view) {
                return fault(format!("a view of {:?} that no iteration fills", view.object));
            }
            let writers = strip.views.iter().filter(|other| {
                other.object == view.object && other.side == view.side && other != &view
            });
            if view.mutable && writers.count() > 0 {
                return fault(format!("{:?} is written through one of two views", view.object));
            }
            let split = strip.splits.iter().any(|split| split.object == view.object);
            if view.side.is_some() != split {
                return fault(format!("a side of {:?}, which is not split", view.object));
            }
        }
        // Whoever writes goes through the view, if there is one.
        let mut outcome = Ok(());
        walk(&node.body, &mut |item| {
            let (Stmt::Store { place, .. } | Stmt::Accumulate { place, .. }) = item else { return };
            let viewed = strip.views.iter().any(|view| view.object == place.object);
            let split = strip.splits.iter().any(|split| split.object == place.object);
            if viewed && !split && !self.sees(node, strip, place) && outcome.is_ok() {
                outcome = fault(format!("{place:?} is written beside its view"));
            }
        });
        outcome?;
        let records: Vec<RecordId> = node
            .body
            .iter()
            .filter_map(|item| match item {
                Stmt::Push { record, .. } | Stmt::Pop { record, .. } => Some(*record),
                _ => None,
            })
            .collect();
        match (strip.region, &records[..]) {
            (Some(region), [record]) if region == *record => {
                match self.function.records[record.index()].region {
                    true => Ok(()),
                    false => fault(format!("{record:?} has no regions")),
                }
            }
            (None, []) => Ok(()),
            _ => fault(format!("the loop over {:?} has another record", node.counter)),
        }
    }

    fn simd(&self, node: &Loop, strip: &Strip, simd: &Simd) -> Result<(), Fault> {
        if simd.width < 2 || (node.reversed && !node.unordered) {
            return fault(format!("the loop over {:?} cannot run in blocks", node.counter));
        }
        if simd.reductions.len() != node.carried.len() {
            return fault("a carried value is no reduction".to_owned());
        }
        for (carried, sum) in node.carried.iter().zip(&simd.reductions) {
            let adjoint = self.function.values[carried.inside.index()].adjoint;
            let is_term = only_term(node, carried)
                .is_some_and(|term| (term.value, term.subtract) == (sum.term, sum.subtract));
            if !is_term || (sum.reassociate && !adjoint) {
                return fault(format!("{:?} is not reduced so", carried.inside));
            }
        }
        for rotation in &simd.rotations {
            self.rotation(node, rotation, simd.width)?;
        }
        for (at, item) in node.body.iter().enumerate() {
            let rotates = simd
                .rotations
                .iter()
                .any(|rotation| rotation.additions.iter().any(|(one, _)| *one == at));
            let fits = match item {
                Stmt::Let { op: Op::Load(place), .. } => self.sees(node, strip, place),
                Stmt::Let { .. } => true,
                Stmt::Accumulate { place, .. } => rotates || self.sees(node, strip, place),
                Stmt::Store { place, .. } => self.sees(node, strip, place),
                Stmt::Push { record, .. } | Stmt::Pop { record, .. } => {
                    strip.region == Some(*record)
                }
                _ => false,
            };
            if !fits {
                return fault(format!("a block cannot hold {item:?}"));
            }
        }
        for at in &simd.delayed {
            let Some(Stmt::Accumulate { place, .. }) = node.body.get(*at) else {
                return fault(format!("statement {at} is no addition"));
            };
            let touched = node.body.iter().any(|item| match item {
                Stmt::Let { op: Op::Load(other), .. } | Stmt::Store { place: other, .. } => {
                    other.object == place.object
                }
                _ => false,
            });
            if touched {
                return fault(format!("{place:?} is read before what is added to it arrives"));
            }
        }
        Ok(())
    }

    fn rotation(&self, node: &Loop, rotation: &Rotation, width: usize) -> Result<(), Fault> {
        let adjoint = self.function.holds_adjoints(rotation.object);
        if !adjoint && !keeps_sums(self.affine, node, rotation.object) {
            return fault(format!("sums of the primal in {:?} are reordered", rotation.object));
        }
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

    fn parts(&self, node: &Loop, parts: &Parts) -> Result<(), Fault> {
        if node.parallel.is_none() {
            return fault(format!("the loop over {:?} is not parallel", node.counter));
        }
        for carried in &node.carried {
            let adjoint = self.function.values[carried.inside.index()].adjoint;
            if !adjoint || !is_sum(node, carried) {
                return fault(format!("parts cannot each have a part of {:?}", carried.inside));
            }
        }
        for (object, found) in uses(self.function, self.affine, node) {
            let window = parts.windows.iter().find(|(other, _)| *other == object);
            let fits = match found {
                Use::Read => true,
                Use::Window(own) => window.is_some_and(|(_, window)| *window == own),
                Use::Sum => parts.private.contains(&object) || window.is_some(),
                Use::Mixed => false,
            };
            if !fits {
                return fault(format!("parts meet in {object:?}"));
            }
        }
        Ok(())
    }
}
