//! Strips: what is seen through views, and what is split.

use super::{Checker, fault};
use crate::analysis::{checks_later, strided};
use crate::valid::Fault;
use crate::{
    Init, Loop, ObjectId, Op, Place, Polynomial, Scalar, Split, Stmt, Strip, Type, View, walk,
};

impl Checker<'_> {
    /// Whether a view covers an access.
    pub(super) fn sees(&self, node: &Loop, strip: &Strip, place: &Place) -> bool {
        let Some((stride, base)) = strided(self.affine, node.counter, place) else { return false };
        strip.views.iter().any(|view| {
            let offset = base.minus(&view.base).as_number();
            view.object == place.object
                && view.stride == stride
                && offset.is_some_and(|offset| (0..stride).contains(&offset))
        })
    }

    pub(super) fn strip(&self, node: &Loop, strip: &Strip) -> Result<(), Fault> {
        if !(strip.views.is_empty() && strip.splits.is_empty()) {
            self.no_checks(node)?;
        }
        for view in &strip.views {
            self.view(node, strip, view)?;
        }
        for split in &strip.splits {
            self.split(node, strip, split)?;
        }
        let mut outcome = Ok(());
        walk(&node.body, &mut |item| {
            if outcome.is_ok() {
                outcome = self.keeps_to_views(node, strip, item);
            }
        });
        outcome?;
        self.region(node, strip)
    }

    /// Views are sliced when the strip begins: a check inside it would come too late, unless it is asked for all iterations before.
    fn no_checks(&self, node: &Loop) -> Result<(), Fault> {
        match checks_later(self.affine, node) {
            false => Ok(()),
            true => {
                fault(format!("the loop over {:?} slices its views before it checks", node.counter))
            }
        }
    }

    fn view(&self, node: &Loop, strip: &Strip, view: &View) -> Result<(), Fault> {
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
        Ok(())
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

    /// Whether the two sides of an object do not meet, and each is seen as the clause says.
    fn split(&self, node: &Loop, strip: &Strip, split: &Split) -> Result<(), Fault> {
        let object = split.object;
        let twice = strip.splits.iter().filter(|other| other.object == object).count() > 1;
        if twice || Split::find(self.affine, node, object).as_ref() != Some(split) {
            return fault(format!("{object:?} cannot be split so"));
        }
        let mut pivot = false;
        for view in strip.views.iter().filter(|view| view.object == object) {
            let is_pivot = view.base == split.pivot;
            let fits = view.stride == 1
                && view.side == Some(split.side(is_pivot))
                && (is_pivot || (split.others_read && !view.mutable));
            if !fits {
                return fault(format!("a view of {object:?} looks at the wrong side"));
            }
            pivot |= is_pivot && view.mutable;
        }
        match pivot {
            true => Ok(()),
            false => fault(format!("{object:?} is split, and its pivot is not viewed")),
        }
    }

    /// An object that is written has one view, and every access goes through it; what is seen through other views is only read.
    fn keeps_to_views(&self, node: &Loop, strip: &Strip, item: &Stmt) -> Result<(), Fault> {
        let is_split = |object: ObjectId| strip.splits.iter().any(|split| split.object == object);
        let views = strip.views.iter().filter(|view| !is_split(view.object));
        for view in views {
            let object = view.object;
            let fits = match item {
                _ if view.mutable => self.goes_through(node, strip, item, object),
                item => item.written().iter().all(|place| place.object != object),
            };
            if !fits {
                return fault(format!("{object:?} is accessed beside its view: {item:?}"));
            }
        }
        Ok(())
    }

    /// Whether a statement accesses an object through views alone.
    fn goes_through(&self, node: &Loop, strip: &Strip, item: &Stmt, object: ObjectId) -> bool {
        let seen = |place: &Place| place.object != object || self.sees(node, strip, place);
        match item {
            Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
            | Stmt::Store { place, .. }
            | Stmt::Accumulate { place, .. } => seen(place),
            Stmt::New { init: Init::Copy(place), .. } => seen(place),
            item => !item.uses_whole(object),
        }
    }
}
