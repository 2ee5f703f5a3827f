//! Lowering: how each loop of a gradient runs, as [schedules](stratape_ir::Schedule) of the language.
//!
//! | pass | decides |
//! |---|---|
//! | `atomics` | which adjoints threads of a kernel add to atomically |
//! | `privatize` | which loops are cut into parts, what each part shares, has a window of, or has a copy of |
//! | [`regions`](crate::tapeflow) | which records lie side by side |
//! | `strip_mine` | which loops run in strips, and what they view |
//! | `vector_reduction` | which strips run in blocks, with `rotating_accumulate` for additions to neighbours |
//!
//! The passes read the loops as they stand, and write clauses of schedules; the interpreter obeys these, back ends print them. They run in this
//! order.

mod atomics;
mod privatize;
mod rotating_accumulate;
mod strip_mine;
mod vector_reduction;

use std::collections::{HashMap, HashSet};

pub use self::atomics::ATOMICS;
pub(crate) use self::atomics::{Digits, Known, Owners, Part, agree};
pub use self::privatize::PRIVATIZE;
pub use self::strip_mine::STRIP_MINE;
pub(crate) use self::strip_mine::longest_in_triangle;
pub use self::vector_reduction::VECTOR_REDUCTION;

use crate::transform::trips;
use stratape_ir::analysis::{Affine, DefUse, Polynomial, strided};
use stratape_ir::{
    Block, Function, Loop, ObjectId, Place, Scalar, Schedule, Stmt, Strip, ValueId, View,
};

/// What lowering asks of a function.
pub(crate) struct Facts<'a> {
    pub(crate) function: &'a Function,
    pub(crate) affine: Affine<'a>,
    integers: HashMap<ValueId, i128>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(function: &'a Function, definitions: &'a DefUse) -> Self {
        Self {
            function,
            affine: Affine::new(function, definitions),
            integers: crate::transform::integers(&function.body),
        }
    }

    /// How often a loop runs, if literals say so.
    pub(crate) fn trips(&self, node: &Loop) -> Option<usize> {
        let trips = trips(&self.integers, &node.range)?;
        usize::try_from(trips).ok().filter(|trips| *trips > 0)
    }

    /// Whether a place is an element of one of a strip's views.
    pub(crate) fn sees(&self, strip: &Strip, counter: ValueId, place: &Place) -> bool {
        matching(self.function, &self.affine, strip.views.iter(), counter, place).is_some()
    }

    /// A list's first index as `stride * counter + base`.
    pub(crate) fn first_index(
        &self,
        place: &Place,
        counter: ValueId,
    ) -> Option<(i128, Polynomial)> {
        first_index(self.function, &self.affine, place, counter)
    }
}

/// The view that a place is an element of: its number, and what the place adds to `stride * counter`.
pub(crate) fn matching<'v>(
    function: &Function,
    affine: &Affine<'_>,
    mut views: impl Iterator<Item = &'v View> + Clone,
    counter: ValueId,
    place: &Place,
) -> Option<(usize, Polynomial)> {
    if views.clone().all(|view| view.object != place.object) {
        return None;
    }
    let (stride, base) = first_index(function, affine, place, counter)?;
    let number = views.position(|view| {
        view.object == place.object && view.stride == stride && {
            let offset = base.minus(&view.base).as_number();
            offset.is_some_and(|offset| (0..stride).contains(&offset))
        }
    })?;
    Some((number, base))
}

/// A list's first index as `stride * counter + base`.
pub(crate) fn first_index(
    function: &Function,
    affine: &Affine<'_>,
    place: &Place,
    counter: ValueId,
) -> Option<(i128, Polynomial)> {
    let (stride, base) = strided(affine, counter, place)?;
    let sizes = base.symbols().all(|symbol| function.ty(symbol) == Scalar::USIZE);
    (stride >= 1 && sizes).then_some((stride, base))
}

/// The loops around a statement, as far as they matter to what is inside.
#[derive(Default)]
pub(crate) struct Enclosing {
    /// Objects that are viewed by strips.
    pub(crate) viewed: Vec<ObjectId>,
    /// Objects of which a part sees its window.
    pub(crate) divided: HashSet<ObjectId>,
}

/// Calls `f` with every loop of a block and what is around it, outer loops first. `f` returns the strip it runs in.
pub(crate) fn each_loop<'b>(
    block: &'b Block,
    around: &mut Enclosing,
    f: &mut dyn FnMut(&'b Loop, &Enclosing) -> Option<Strip>,
) {
    for node in block {
        let (viewed, divided) = (around.viewed.len(), around.divided.clone());
        if let Stmt::Loop(node) = node {
            if let Some(parts) = node.schedule.as_ref().and_then(|known| known.parts.as_ref()) {
                around.divided.extend(parts.windows.iter().map(|(object, _)| *object));
            }
            if let Some(strip) = f(node, around) {
                around.viewed.extend(strip.views.iter().map(|view| view.object));
            }
        }
        for inner in node.blocks() {
            each_loop(inner, around, f);
        }
        around.viewed.truncate(viewed);
        around.divided = divided;
    }
}

/// Changes the schedules of loops, by their counters.
pub(crate) fn reschedule(block: &mut Block, change: &mut dyn FnMut(ValueId, &mut Schedule)) {
    for node in block {
        if let Stmt::Loop(node) = node {
            let mut schedule = node.schedule.take().map(|known| *known).unwrap_or_default();
            change(node.counter, &mut schedule);
            node.schedule = (schedule != Schedule::default()).then(|| Box::new(schedule));
        }
        for inner in node.blocks_mut() {
            reschedule(inner, change);
        }
    }
}
