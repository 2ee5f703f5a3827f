//! Parts: what parts share, divide, or have of their own.

use super::{Checker, fault};
use crate::analysis::{Use, is_sum, only_adds, uses, window_of};
use crate::valid::Fault;
use crate::{Loop, ObjectId, Parts};

impl Checker<'_> {
    pub(super) fn parts(&self, node: &Loop, parts: &Parts) -> Result<(), Fault> {
        if node.parallel.is_none() {
            return fault(format!("the loop over {:?} is not parallel", node.counter));
        }
        for carried in &node.carried {
            if !self.function.is_free(carried) || !is_sum(node, carried) {
                return fault(format!("parts cannot each have a part of {:?}", carried.inside));
            }
        }
        self.clauses(node, parts)?;
        for (object, found) in uses(self.function, self.affine, node) {
            let divided = parts.windows.iter().any(|(other, _)| *other == object);
            let fits = match found {
                Use::Read => true,
                Use::Window(_) => divided || parts.private.contains(&object),
                Use::Sum => parts.private.contains(&object),
                Use::Mixed => false,
            };
            if !fits {
                return fault(format!("parts meet in {object:?}"));
            }
        }
        Ok(())
    }

    /// Whether each object has one clause, and it is one that the accesses prove.
    fn clauses(&self, node: &Loop, parts: &Parts) -> Result<(), Fault> {
        let mut known: Vec<ObjectId> = Vec::new();
        let windows = parts.windows.iter().map(|(object, _)| *object);
        for object in windows.chain(parts.private.iter().copied()) {
            if known.contains(&object) {
                return fault(format!("{object:?} has two clauses"));
            }
            known.push(object);
        }
        for (object, window) in &parts.windows {
            if window_of(self.function, self.affine, node, *object).as_ref() != Some(window) {
                return fault(format!("iterations leave their windows of {object:?}"));
            }
        }
        for object in &parts.private {
            let holds = self.function.holds_adjoints(*object);
            if !holds || !only_adds(self.function, node, *object) {
                return fault(format!("parts cannot each have a copy of {object:?}"));
            }
        }
        Ok(())
    }
}
