//! The adjoint of calls the compiler does not look into.
//!
//! A call with a pullback: the pullback is called with what the function was passed (its `&mut`
//! slices as the function left them), each slice of floats followed by its shadow, and the adjoint
//! of the result last; it returns the adjoints of the float scalars. A call without derivative: what it
//! wrote depends on nothing, so the shadow of what it wrote is zeroed.

use super::{Facts, Reverse};
use stratape_ir::{
    Argument, Call, Half, Init, Loop, Object, ObjectId, Op, Origin, Scalar, Slice, Step, Stmt,
    StmtId, Type, ValueId,
};

/// Whether adjoints pass through a call.
pub(super) fn propagates(facts: &Facts<'_>, call: &Call) -> bool {
    call.results.iter().any(|value| facts.activity.value(*value))
        || call.slices().any(|slice| slice.mutable && facts.activity.object(slice.place.object))
}

impl Reverse<'_> {
    pub(super) fn call(&mut self, call: &Call) {
        match &call.pullback {
            // What a recursive function has pushed must be taken from the tape in any case.
            Some(pullback) if propagates(self.facts, call) || call.recursion.is_some() => {
                self.pull_back(call, pullback.clone());
            }
            Some(_) => {}
            None => {
                for slice in call.slices().filter(|slice| slice.mutable) {
                    self.clear_shadow(slice);
                }
            }
        }
    }

    fn pull_back(&mut self, call: &Call, pullback: stratape_ir::Opaque) {
        let mut restored: Vec<(usize, ObjectId)> = Vec::new();
        // What was saved last is on top.
        for (position, record) in
            self.saved.copies.get(&call.id).cloned().unwrap_or_default().into_iter().rev()
        {
            let Argument::Slice(slice) = &call.arguments[position] else { continue };
            let Some(item) = self.element_type(slice) else { continue };
            let object = self.b.function.new_object(Object {
                ty: Type::Vec(Box::new(item)),
                origin: Origin::Local,
                name: "copy".to_owned(),
                shadow_of: None,
                span: call.span,
            });
            self.b.node(Stmt::Restore { record, object });
            restored.push((position, object));
        }
        let mut arguments = Vec::new();
        let mut floats = Vec::new();
        for (position, argument) in call.arguments.iter().enumerate() {
            match argument {
                Argument::Value(value) => {
                    if self.ty(*value).is_float() {
                        floats.push(*value);
                    }
                    arguments.push(Argument::Value(self.primal(*value)));
                }
                Argument::Slice(slice) if call.recursion.is_some() => {
                    // The backward half of a recursive function reads nothing but the tape and its shadows.
                    if self.element_type(slice).is_some_and(|ty| ty.has_float()) {
                        let there = self.backward_slice(slice);
                        let shadow = self.shadow_slice(slice, &there, &there);
                        arguments.push(Argument::Slice(shadow));
                    }
                }
                Argument::Slice(slice) => {
                    let copy =
                        restored.iter().find(|(at, _)| *at == position).map(|(_, object)| *object);
                    let there = self.backward_slice(slice);
                    let passed = match copy {
                        Some(object) => Slice {
                            place: stratape_ir::Place::whole(object),
                            part: None,
                            mutable: slice.mutable,
                        },
                        None => there.clone(),
                    };
                    arguments.push(Argument::Slice(passed.clone()));
                    if self.element_type(slice).is_some_and(|ty| ty.has_float()) {
                        arguments.push(Argument::Slice(self.shadow_slice(slice, &there, &passed)));
                    }
                }
            }
        }
        for result in call.seeded(|value| self.ty(value).is_float()) {
            let seed = match self.adjoints.remove(&result) {
                Some(seed) => seed,
                None => self.zero(self.ty(result)),
            };
            arguments.push(Argument::Value(seed));
        }
        let mut results = Vec::new();
        for value in &floats {
            let adjoint = self.b.function.new_value(self.ty(*value), call.span);
            results.push(self.is_adjoint(adjoint));
        }
        self.b.node(Stmt::Call(Box::new(Call {
            id: StmtId::NONE,
            function: pullback,
            arguments,
            results: results.clone(),
            pullback: None,
            recursion: call.recursion.clone().map(|(name, _)| (name, Half::Backward)),
            span: call.span,
        })));
        self.add_all(floats.into_iter().zip(results).collect());
    }

    fn element_type(&self, slice: &Slice) -> Option<Type> {
        self.facts.function.place_type(&slice.place)?.element().cloned()
    }

    /// A slice with indices as the backward half has them.
    fn backward_slice(&mut self, slice: &Slice) -> Slice {
        let place = self.backward_place(&slice.place);
        let part = slice.part.map(|(start, len)| (self.primal(start), self.primal(len)));
        Slice { place, part, mutable: slice.mutable }
    }

    /// The shadow of a slice; zeros that are thrown away, if no adjoint flows through its memory.
    fn shadow_slice(&mut self, slice: &Slice, there: &Slice, passed: &Slice) -> Slice {
        if let Some(shadow) = self.shadows.get(&slice.place.object).copied() {
            return Slice { place: there.place.of(shadow), part: there.part, mutable: true };
        }
        let item = self.element_type(slice).unwrap_or(Type::Scalar(Scalar::Bool));
        let span = stratape_ir::SourceId::NONE;
        let len = match passed.part {
            Some((_, len)) => len,
            None => self.b.emit(Op::Len(passed.place.clone()), Scalar::USIZE, span),
        };
        let zero = self.fixed_zeros(&item);
        let object = self.b.function.new_object(Object {
            ty: Type::Vec(Box::new(item)),
            origin: Origin::Local,
            name: "unused".to_owned(),
            shadow_of: None,
            span,
        });
        self.b.node(Stmt::New { object, init: Init::Repeat(Box::new(zero), len) });
        Slice { place: stratape_ir::Place::whole(object), part: None, mutable: true }
    }

    fn clear_shadow(&mut self, slice: &Slice) {
        let Some(shadow) = self.shadows.get(&slice.place.object).copied() else { return };
        let Some(ty) = self.element_type(slice).and_then(|item| item.scalar()) else { return };
        if !ty.is_float() {
            return;
        }
        let span = stratape_ir::SourceId::NONE;
        let there = self.backward_slice(slice);
        let place = there.place.of(shadow);
        let (from, to): (ValueId, ValueId) = match there.part {
            Some((start, len)) => {
                (start, self.b.binary(stratape_ir::Binary::Add, start, len, span))
            }
            None => {
                (self.b.usize(0, span), self.b.emit(Op::Len(place.clone()), Scalar::USIZE, span))
            }
        };
        let counter = self.b.function.new_value(Scalar::USIZE, span);
        self.b.open();
        let zero = self.zero(ty);
        self.b.node(Stmt::Store { place: place.with(Step::Index(counter)), value: zero });
        let body = self.b.close();
        let node = Loop::over(counter, (from, to), body, span);
        self.b.repeat(Loop { unordered: true, ..node });
    }
}
