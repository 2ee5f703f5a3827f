//! Shadows: objects that hold the adjoints of other objects. How they are made, addressed, and emptied into what their object was made from.

use super::Reverse;
use stratape_ir::SourceId;
use stratape_ir::{
    Extent, Init, Loop, Object, ObjectId, Op, Place, Range, Scalar, Step, Stmt, Type, ValueId,
};

impl Reverse<'_> {
    /// A shadow for an object, not made yet.
    pub(super) fn new_shadow(&mut self, object: ObjectId, origin: stratape_ir::Origin) -> ObjectId {
        let known = self.b.function.objects[object.index()].clone();
        let shadow = self.b.function.new_object(Object {
            ty: known.ty,
            origin,
            name: format!("d{}", known.name.trim_start_matches("r#")),
            shadow_of: Some(object),
            span: known.span,
        });
        if self.facts.function.shared.contains(&object) {
            self.b.function.shared.insert(shadow);
        }
        self.shadows.insert(object, shadow);
        shadow
    }

    /// The same place in the shadow, with indices as the backward half has them.
    pub(super) fn shadow_place(&mut self, place: &Place) -> Option<Place> {
        let shadow = *self.shadows.get(&place.object)?;
        Some(self.backward_place(place).of(shadow))
    }

    /// A place with indices as the backward half has them.
    pub(super) fn backward_place(&mut self, place: &Place) -> Place {
        let path = place
            .path
            .iter()
            .map(|step| match step {
                Step::Index(index) => Step::Index(self.primal(*index)),
                Step::Field(index) => Step::Field(*index),
            })
            .collect();
        Place { object: place.object, path }
    }

    /// Makes the shadow of a local whose block begins to be run backward: zeros, in the shape the
    /// local was made with.
    pub(super) fn make_shadow(&mut self, object: ObjectId, init: &Init) {
        let shadow = self.new_shadow(object, stratape_ir::Origin::Local);
        let ty = self.b.function.objects[object.index()].ty.clone();
        let init = match (self.facts.shapes.lengths.get(&object).copied(), &ty) {
            _ if self.is_home(object) => Init::ZeroLike(object),
            (Some(len), Type::Vec(item)) => {
                let len = self.primal(len);
                Init::Repeat(Box::new(self.fixed_zeros(item)), len)
            }
            _ => self.zeros(&ty, init),
        };
        self.b.node(Stmt::New { object: shadow, init });
    }

    /// Makes a list in the shadow of a list of lists: zeros, in the length that the list had in the end.
    pub(super) fn make_row(&mut self, place: &Place, len: ValueId) {
        if self.is_home(place.object) {
            return;
        }
        let Some(ty) = self.facts.function.place_type(place) else { return };
        let (Some(target), Some(item)) = (self.shadow_place(place), ty.element()) else { return };
        let len = self.primal(len);
        let init = Init::Repeat(Box::new(self.fixed_zeros(item)), len);
        let known = &self.b.function.objects[target.object.index()];
        let row = self.b.function.new_object(Object {
            ty: ty.clone(),
            origin: stratape_ir::Origin::Local,
            name: format!("{}_row", known.name),
            shadow_of: None,
            span: known.span,
        });
        self.b.node(Stmt::New { object: row, init });
        self.b.node(Stmt::Swap { a: target, b: Place::whole(row) });
    }

    fn zeros(&mut self, ty: &Type, init: &Init) -> Init {
        match (ty, init) {
            (Type::Vec(item), Init::Repeat(inner, len)) => {
                let len = self.primal(*len);
                Init::Repeat(Box::new(self.zeros(item, inner)), len)
            }
            (Type::Vec(item), Init::Copy(place)) => {
                let len = self.len_of_shadow(place);
                Init::Repeat(Box::new(self.fixed_zeros(item)), len)
            }
            (ty, _) => self.fixed_zeros(ty),
        }
    }

    /// The length of a list that is copied: its shadow has the same, and is there.
    fn len_of_shadow(&mut self, place: &Place) -> ValueId {
        let place = match (self.shadow_place(place), self.facts.shapes.lengths.get(&place.object)) {
            (Some(place), _) => place,
            // A row without floats that matter has none, and may be gone.
            (None, Some(len)) if place.path.is_empty() => return self.primal(*len),
            (None, _) => self.backward_place(place),
        };
        self.b.emit(Op::Len(place), Scalar::USIZE, SourceId::NONE)
    }

    pub(super) fn fixed_zeros(&mut self, ty: &Type) -> Init {
        match ty {
            Type::Scalar(Scalar::Float(_)) => {
                Init::Value(self.zero(ty.scalar().unwrap_or(Scalar::Bool)))
            }
            Type::Scalar(Scalar::Bool) => Init::Value(self.b.bool(false, SourceId::NONE)),
            Type::Scalar(scalar) => Init::Value(self.b.int(0, *scalar, SourceId::NONE)),
            Type::Enum(_) => {
                Init::Value(self.b.int(0, Scalar::Int(stratape_ir::Int::Isize), SourceId::NONE))
            }
            Type::Array(item, _) | Type::Slice(item) => {
                Init::Fill(Box::new(self.fixed_zeros(item)))
            }
            Type::Vec(item) => {
                let len = self.b.usize(0, SourceId::NONE);
                Init::Repeat(Box::new(self.fixed_zeros(item)), len)
            }
            Type::Tuple(items) => {
                Init::Items(items.iter().map(|item| self.fixed_zeros(item)).collect())
            }
            Type::Struct(def) => {
                Init::Items(def.fields.iter().map(|(_, ty)| self.fixed_zeros(ty)).collect())
            }
        }
    }

    /// The adjoint of making an object: what its shadow holds goes to what it was made from.
    pub(super) fn propagate_init(&mut self, place: &Place, ty: &Type, init: &Init) {
        match init {
            Init::Value(value) => {
                if self.active(*value) {
                    let ty = self.ty(*value);
                    let d = self.b.emit(Op::Load(place.clone()), ty, SourceId::NONE);
                    self.add(*value, d);
                }
            }
            Init::Items(items) => {
                for (index, item) in items.iter().enumerate() {
                    let (step, ty) = match ty {
                        Type::Array(item, _) | Type::Vec(item) | Type::Slice(item) => {
                            (Step::Index(self.b.usize(index, SourceId::NONE)), (**item).clone())
                        }
                        ty => match ty.field(index) {
                            Some(field) => (Step::Field(index), field.clone()),
                            None => continue,
                        },
                    };
                    self.propagate_init(&place.with(step), &ty, item);
                }
            }
            Init::Fill(item) | Init::Repeat(item, _) => {
                if !self.init_is_active(item) {
                    return;
                }
                let Some(inner) = ty.element().cloned() else { return };
                let len = self.len_of(place, ty);
                let mut touched = Vec::new();
                self.active_values(item, &mut touched);
                touched.sort_unstable();
                touched.dedup();
                self.over_elements(place, len, touched, &mut |me, element| {
                    me.propagate_init(&element, &inner, item);
                });
            }
            Init::Copy(source) => {
                if let Some(target) = self.shadow_place(source) {
                    self.add_memory(&target, place, ty);
                }
            }
            Init::ZeroLike(_) => {}
        }
    }

    fn init_is_active(&self, init: &Init) -> bool {
        match init {
            Init::Value(value) => self.active(*value),
            Init::Items(items) => items.iter().any(|item| self.init_is_active(item)),
            Init::Fill(item) | Init::Repeat(item, _) => self.init_is_active(item),
            Init::Copy(place) => self.shadows.contains_key(&place.object),
            Init::ZeroLike(_) => false,
        }
    }

    fn len_of(&mut self, place: &Place, ty: &Type) -> ValueId {
        match ty {
            Type::Array(_, Extent::Known(n)) => self.b.usize(*n, SourceId::NONE),
            _ => self.b.emit(Op::Len(place.clone()), Scalar::USIZE, SourceId::NONE),
        }
    }

    /// Adds one place of memory to another of the same type, float by float.
    fn add_memory(&mut self, target: &Place, source: &Place, ty: &Type) {
        match ty {
            Type::Scalar(scalar) if scalar.is_float() => {
                let value = self.b.emit(Op::Load(source.clone()), *scalar, SourceId::NONE);
                self.b.node(Stmt::Accumulate { place: target.clone(), value, subtract: false });
            }
            Type::Scalar(_) | Type::Enum(_) => {}
            Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) if item.has_float() => {
                let len = self.len_of(source, ty);
                let object = target.clone();
                self.over_elements(source, len, Vec::new(), &mut |me, element| {
                    let Some(step) = element.path.last() else { return };
                    me.add_memory(&object.with(step.clone()), &element, item);
                });
            }
            Type::Array(..) | Type::Slice(_) | Type::Vec(_) => {}
            Type::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    let step = Step::Field(index);
                    self.add_memory(&target.with(step.clone()), &source.with(step), item);
                }
            }
            Type::Struct(def) => {
                for (index, (_, item)) in def.fields.iter().enumerate() {
                    let step = Step::Field(index);
                    self.add_memory(&target.with(step.clone()), &source.with(step), item);
                }
            }
        }
    }

    /// A loop over the elements of a list; the adjoints of `touched` may be added to in it.
    fn over_elements(
        &mut self,
        place: &Place,
        len: ValueId,
        touched: Vec<ValueId>,
        body: &mut dyn FnMut(&mut Self, Place),
    ) {
        let span = SourceId::NONE;
        let counter = self.b.function.new_value(Scalar::USIZE, span);
        let from = self.b.usize(0, span);
        let scope = self.enter_loop(touched);
        body(self, place.with(Step::Index(counter)));
        let (block, carried, substitution) = self.leave_loop(scope);
        let node = Loop {
            counter,
            range: Range::UpTo { from, to: len },
            reversed: false,
            unordered: true,
            carried,
            exit: None,
            trips: None,
            parallel: None,
            schedule: None,
            body: block,
            span,
        };
        self.append_loop(node, &substitution);
    }

    /// The values in an object's first contents that adjoints flow to.
    fn active_values(&self, init: &Init, values: &mut Vec<ValueId>) {
        match init {
            Init::Value(value) if self.active(*value) => values.push(*value),
            Init::Items(items) => items.iter().for_each(|item| self.active_values(item, values)),
            Init::Fill(item) | Init::Repeat(item, _) => self.active_values(item, values),
            Init::Value(_) | Init::Copy(_) | Init::ZeroLike(_) => {}
        }
    }
}
