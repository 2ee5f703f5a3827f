//! Lists that go back in time, as the gradient is written: the copies they are in, and what is put back where.
//!
//! The forward half leaves parts of lists on the tape at the *points* of a loop's body (`records`); the backward half takes them in the opposite order. What is put back
//! early lies at the top only if nothing between has left anything there ([`fits`]).

use std::collections::BTreeSet;
use std::rc::Rc;

use super::records::Saved;
use super::save_plan::{Plan, Purpose, StateChoice};
use super::states::{Point, State};
use super::{Facts, Reverse};
use stratape_ir::{
    Half, Init, Loop, Object, ObjectId, Op, Origin, Place, RecordId, Scalar, SourceId, Stmt, Type,
    ValueId, defined, walk,
};

/// Whether nothing lies on the tape above what is put back early.
pub(super) fn fits(facts: &Facts<'_>, plan: &Plan) -> bool {
    let mut fits = true;
    walk(&facts.function.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        let points = plan.points(node.counter);
        for (order, (_, early, point)) in points.iter().enumerate() {
            if !early {
                continue;
            }
            let end = if point.rest { node.body.len() } else { point.at + 1 };
            let covered = &node.body[point.at..end];
            let above = points[order + 1..].iter().any(|(_, early, other)| {
                let inside = (point.at..end).contains(&other.at);
                inside && !(*early && other.rest == point.rest)
            });
            fits &= !above && !covered.iter().any(|node| leaves(facts, plan, node));
        }
    });
    fits
}

/// Whether a statement leaves something on the tape.
fn leaves(facts: &Facts<'_>, plan: &Plan, node: &Stmt) -> bool {
    let inner = match node {
        Stmt::Loop(inner) => {
            let values = defined(&inner.body);
            let carried = inner.carried.iter().any(|carried| plan.saved.contains(&carried.inside));
            carried
                || values.iter().any(|value| plan.saved.contains(value))
                || !plan.points(inner.counter).is_empty()
        }
        // What an arm saves leaves it, and goes with the record of the loop around.
        Stmt::Call(call) => call.pullback.is_some() && super::call::propagates(facts, call),
        Stmt::New { object, .. } => plan.keeps(*object),
        _ => false,
    };
    inner
        || node.uses_tape(Half::Forward)
        || node.blocks().into_iter().flatten().any(|node| leaves(facts, plan, node))
}

impl Plan {
    /// Whether a list is kept at the end of the block that makes it.
    pub(super) fn keeps(&self, object: ObjectId) -> bool {
        let keeps = |state: &Rc<State>| state.kept && state.objects.contains(&object);
        self.states.iter().any(keeps)
    }

    /// The points of a loop's body in the order in which they leave something on the tape: the number of each, whether it is early, the point.
    pub(super) fn points(&self, counter: ValueId) -> Vec<(PointId, bool, &Point)> {
        let mut points = Vec::new();
        for (number, state) in self.states.iter().enumerate() {
            if let Some(rewind) = &state.rewind
                && rewind.counter == counter
            {
                let all = rewind.points.iter().enumerate();
                points.extend(all.map(|(at, point)| ((number, at), rewind.early, point)));
            }
        }
        points.sort_by_key(|(id, early, point)| (point.at, *early, *id));
        points
    }

    /// Whether an object is rewound in a loop.
    fn rewinds(&self, counter: ValueId, object: ObjectId) -> bool {
        self.states.iter().any(|state| {
            let here = state.rewind.as_ref().is_some_and(|rewind| rewind.counter == counter);
            here && state.objects.contains(&object)
        })
    }

    /// What was decided for lists.
    pub(super) fn choices_of_states(&self, saved: &Saved) -> Vec<StateChoice> {
        let mut choices = Vec::new();
        for (number, state) in self.states.iter().enumerate() {
            let spared: BTreeSet<ValueId> =
                state.loads.intersection(&self.without_states).copied().collect();
            let mut choice = |record: Option<&RecordId>, purpose: Purpose| {
                let spared = spared.iter().copied().collect();
                choices.extend(record.map(|record| StateChoice {
                    record: *record,
                    purpose,
                    spared,
                }));
            };
            if state.kept {
                state
                    .objects
                    .iter()
                    .for_each(|object| choice(saved.kept.get(object), Purpose::Kept));
            }
            let points = state.rewind.iter().flat_map(|rewind| 0..rewind.points.len());
            points.for_each(|at| choice(saved.points.get(&(number, at)), Purpose::Rewound));
        }
        choices
    }
}

/// A state of the plan, and a point of it.
pub(super) type PointId = (usize, usize);

impl Reverse<'_> {
    /// Makes the copies that go back in time, before the first statement in which they do.
    pub(super) fn make_backs(&mut self, node: &Stmt) {
        let Some(plan) = self.plan else { return };
        for state in &plan.states {
            let Some(rewind) = &state.rewind else { continue };
            if !has_loop(node, rewind.counter) {
                continue;
            }
            for object in &state.objects {
                // What was kept goes back itself.
                if state.kept || self.backs.contains_key(object) {
                    continue;
                }
                let (back, made) = self.b.function.new_copy(*object);
                self.b.node(made);
                self.backs.insert(*object, back);
            }
        }
    }

    /// Has the lists again that were kept at the end of a block.
    pub(super) fn restore_kept(&mut self, block: &[Stmt]) {
        let Some(plan) = self.plan else { return };
        for node in block.iter().rev() {
            let Stmt::New { object, .. } = node else { continue };
            if !plan.keeps(*object) {
                continue;
            }
            let Some(record) = self.saved.kept.get(object).copied() else { continue };
            let known = self.facts.function.objects[object.index()].clone();
            let ty = known.ty.clone();
            let restored = self.b.function.new_object(Object { origin: Origin::Local, ..known });
            if let Some(init) = self.empty_array(&ty) {
                self.b.node(Stmt::New { object: restored, init });
                self.b.node(Stmt::Refill { record, place: Place::whole(restored) });
            } else {
                self.b.node(Stmt::Restore { record, object: restored });
            }
            self.again.insert(*object, restored);
            self.backs.insert(*object, restored);
        }
    }

    /// Walks the body of a loop from its end, putting back what its points have saved.
    pub(super) fn rewound_body(&mut self, node: &Loop) {
        let plan = self.plan;
        let points = plan.map(|plan| plan.points(node.counter)).unwrap_or_default();
        for (id, early, point) in points.iter().rev() {
            if *early && point.rest {
                self.refill(*id, point);
            }
        }
        self.begin(&node.body);
        for (at, statement) in node.body.iter().enumerate().rev() {
            for (id, early, point) in points.iter().rev() {
                if *early && !point.rest && point.at == at {
                    self.refill(*id, point);
                }
            }
            if let (Some(plan), Stmt::Swap { a, b }) = (plan, statement)
                && plan.rewinds(node.counter, a.object)
                && let (Some(a), Some(b)) = (self.backs.get(&a.object), self.backs.get(&b.object))
            {
                let (a, b) = (Place::whole(*a), Place::whole(*b));
                self.b.node(Stmt::Swap { a, b });
            }
            self.node(statement);
            for (id, early, point) in points.iter().rev() {
                if !*early && point.at == at {
                    self.refill(*id, point);
                }
            }
        }
    }

    /// An array of zeros, if the type is one.
    fn empty_array(&mut self, ty: &Type) -> Option<Init> {
        let Type::Array(item, _) = ty else { return None };
        let inner = match item.scalar() {
            Some(Scalar::Float(_)) => Init::Value(self.zero(item.scalar()?)),
            Some(ty) => Init::Value(self.b.emit(Op::Int(0), ty, SourceId::NONE)),
            None => self.empty_array(item)?,
        };
        Some(Init::Fill(Box::new(inner)))
    }

    fn refill(&mut self, id: PointId, point: &Point) {
        let record = self.saved.points.get(&id).copied();
        let back = self.backs.get(&point.object).copied();
        if let (Some(record), Some(back)) = (record, back) {
            self.b.node(Stmt::Refill { record, place: Place::whole(back) });
        }
    }
}

fn has_loop(node: &Stmt, counter: ValueId) -> bool {
    matches!(node, Stmt::Loop(inner) if inner.counter == counter)
        || node.blocks().into_iter().flatten().any(|node| has_loop(node, counter))
}
