//! Variables whose shape shows only where they are first written: `let y;`, `let mut best = None;`, what `break` and `return` hand out.
//!
//! A variable has to exist before the loops and branches that write it. So the first write of one of unknown shape notes the shape
//! and gives up; the function is then lowered again from the start, with the shape known. Variables are told apart by their number, in
//! the order in which they are made.

use proc_macro2::Span;
use syn::{Error, Result};

use super::infer::Class;
use super::val::{Kind, LValue, Memory, Val, VarId, Window};
use super::{Lowerer, unsupported};
use stratape_ir::{Init, Object, ObjectId, Origin, Place, Scalar, Step, Stmt, Type};

/// How often a function is lowered before it is given up.
pub(super) const PASSES: usize = 500;

/// What a variable holds.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Unit,
    /// A number; an enum's discriminant has a name.
    Number(Scalar, Class, Option<String>),
    Parts(Kind, Vec<Shape>),
    /// An array of the variable's own.
    Memory(Type),
    /// A reference to a part of an object, by the object's number.
    Pointer {
        object: u32,
        steps: Vec<Option<usize>>,
        ty: Type,
        window: bool,
    },
    /// One of several such references.
    Among(Vec<Shape>),
    /// A shared reference to a value.
    Held(Box<Shape>),
    /// Not known yet, a part of something that is.
    Later,
}

impl Shape {
    /// Whether a part is still to be found.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Later => true,
            Self::Parts(_, parts) => parts.iter().any(Self::is_open),
            Self::Held(inner) => inner.is_open(),
            _ => false,
        }
    }
}

/// A variable that holds a reference to a part of one object: which part may change.
#[derive(Clone, Debug)]
pub(super) enum Pointer {
    Into {
        /// The object's number among those that are not made for such variables.
        object: u32,
        steps: Vec<PointerStep>,
        ty: Type,
        window: Option<(VarId, VarId)>,
    },
    /// A shared reference to a value, held as the value.
    Held(LValue),
    /// One of several references into objects: the number of the one it is, and what each of them would be.
    Among { number: u32, which: VarId, slots: Vec<Pointer> },
}

/// A step of the way into the object.
#[derive(Clone, Copy, Debug)]
pub(super) enum PointerStep {
    Index(VarId),
    Field(usize),
}

impl Lowerer<'_> {
    /// A variable whose shape is to be found.
    pub(super) fn later(&mut self, span: Span) -> Result<LValue> {
        let number = self.laters;
        self.laters += 1;
        match self.shapes.get(&number).cloned() {
            Some(shape @ Shape::Pointer { .. }) => self.place_among(number, &[shape], span),
            Some(Shape::Among(shapes)) => self.place_among(number, &shapes, span),
            Some(shape) => self.place_of(&shape, span),
            None => Ok(LValue::Later(number)),
        }
    }

    /// A variable that holds one of several references.
    fn place_among(&mut self, number: u32, shapes: &[Shape], span: Span) -> Result<LValue> {
        let mut slots = Vec::new();
        for shape in shapes {
            if let LValue::Pointer(slot) = self.place_of(shape, span)? {
                slots.push(*slot);
            }
        }
        let first = self.b.usize(0, span);
        let which = self.new_var(first);
        Ok(LValue::Pointer(Box::new(Pointer::Among { number, which, slots })))
    }

    /// Notes the shape of a variable, from the first value written to it.
    pub(super) fn found_shape(&mut self, number: u32, val: &Val, span: Span) -> Error {
        match self.shape_of(val, span) {
            Ok(shape) => {
                self.found = Some((number, shape));
                Error::new(span, "the shape of a variable is not known yet")
            }
            Err(error) => error,
        }
    }

    fn shape_of(&self, val: &Val, span: Span) -> Result<Shape> {
        Ok(match val {
            Val::Unit => Shape::Unit,
            Val::Never => Shape::Later,
            Val::Scalar(value) => {
                let ty = self.ty(*value);
                let class = self.infer.class(ty).unwrap_or(Class::Any);
                Shape::Number(ty, class, self.enums.get(value).cloned())
            }
            Val::Ordering(..) => {
                let ty = Scalar::Int(stratape_ir::Int::Isize);
                Shape::Number(ty, Class::Int, Some("Ordering".to_owned()))
            }
            Val::Parts(kind, parts) => {
                let parts = parts.iter().map(|part| self.shape_of(part, span));
                Shape::Parts(kind.clone(), parts.collect::<Result<_>>()?)
            }
            Val::Place(LValue::Var(var)) => self.shape_of(&Val::Scalar(self.get(*var)), span)?,
            Val::Place(LValue::Parts(kind, parts)) => {
                let parts = parts.iter().map(|part| self.shape_of(&Val::Place(part.clone()), span));
                Shape::Parts(kind.clone(), parts.collect::<Result<_>>()?)
            }
            Val::Place(LValue::Memory(memory)) if self.is_written_as_vec(val) => {
                let Some(item) = memory.ty.element() else { return Ok(Shape::Later) };
                Shape::Memory(Type::Vec(Box::new(item.clone())))
            }
            Val::Place(LValue::Memory(memory)) if memory.ty.is_fixed() => {
                Shape::Memory(memory.ty.clone())
            }
            Val::Place(LValue::Memory(_)) => match self.retyped(val.clone()) {
                Val::Place(LValue::Memory(memory)) => self.shape_in_memory(&memory.ty, span)?,
                _ => Shape::Later,
            },
            Val::Place(LValue::Value(val)) => self.shape_of(val, span)?,
            Val::Place(LValue::Later(_)) => Shape::Later,
            Val::Ref(LValue::Value(val)) => Shape::Held(Box::new(self.shape_of(val, span)?)),
            Val::Ref(LValue::Memory(memory)) => {
                let steps = memory.place.path.iter().map(|step| match step {
                    Step::Index(_) => None,
                    Step::Field(index) => Some(*index),
                });
                Shape::Pointer {
                    object: self.object_number(memory.place.object),
                    steps: steps.collect(),
                    ty: memory.ty.clone(),
                    window: matches!(memory.ty, Type::Slice(_))
                        || memory.window.is_some()
                        || memory.len.is_some(),
                }
            }
            _ => return Err(not_assigned_later(span)),
        })
    }

    /// The shape of a variable that holds what memory of a type holds.
    fn shape_in_memory(&self, ty: &Type, span: Span) -> Result<Shape> {
        let parts = |kind, types: &mut dyn Iterator<Item = &Type>| {
            let parts = types.map(|ty| self.shape_in_memory(ty, span));
            Ok(Shape::Parts(kind, parts.collect::<Result<_>>()?))
        };
        Ok(match ty {
            Type::Struct(def) if !ty.is_fixed() => {
                return parts(self.module.kind_of(def), &mut def.fields.iter().map(|(_, ty)| ty));
            }
            Type::Tuple(items) if !ty.is_fixed() => return parts(Kind::Tuple, &mut items.iter()),
            Type::Scalar(scalar) => {
                Shape::Number(*scalar, self.infer.class(*scalar).unwrap_or(Class::Any), None)
            }
            Type::Enum(name) => {
                let ty = Scalar::Int(stratape_ir::Int::Isize);
                Shape::Number(ty, Class::Int, Some(name.clone()))
            }
            Type::Slice(item) => Shape::Memory(Type::Vec(item.clone())),
            ty if ty.is_fixed() || matches!(ty, Type::Vec(_)) => Shape::Memory(ty.clone()),
            _ => return Err(not_assigned_later(span)),
        })
    }

    /// Variables of a shape, all zero.
    fn place_of(&mut self, shape: &Shape, span: Span) -> Result<LValue> {
        Ok(match shape {
            Shape::Unit => LValue::Value(Box::new(Val::Unit)),
            Shape::Later => self.later(span)?,
            Shape::Number(ty, class, name) => {
                let ty = match ty {
                    Scalar::Infer(_) => self.fresh(*class),
                    known => *known,
                };
                let zero = self.zero(ty, span);
                if let Some(name) = name {
                    self.enums.insert(zero, name.clone());
                }
                LValue::Var(self.new_var(zero))
            }
            Shape::Parts(kind, parts) => {
                let parts = parts.iter().map(|part| self.place_of(part, span));
                let parts = parts.collect::<Result<_>>()?;
                LValue::Parts(kind.clone(), parts)
            }
            Shape::Memory(ty) => {
                let ty = self.fresh_type(ty);
                let object = self.b.function.new_object(Object {
                    ty: ty.clone(),
                    origin: Origin::Local,
                    name: String::new(),
                    shadow_of: None,
                    span: self.module.sources.id(span),
                });
                self.made_later.push(object);
                let whole = Memory::whole(object, ty.clone());
                if let Type::Vec(item) = &ty {
                    self.copied_out.insert(object);
                    let (zero, item) = (self.b.usize(0, span), self.zero_init(item, span)?);
                    let init = Init::Repeat(Box::new(item), zero);
                    self.b.node(Stmt::New { object, init });
                    return Ok(LValue::Memory(Memory { len: Some(self.new_var(zero)), ..whole }));
                }
                let init = self.zero_init(&ty, span)?;
                self.b.node(Stmt::New { object, init });
                LValue::Memory(whole)
            }
            Shape::Among(_) => {
                return Err(Error::new(span, "a reference of another kind was expected"));
            }
            Shape::Held(inner) => {
                LValue::Pointer(Box::new(Pointer::Held(self.place_of(inner, span)?)))
            }
            Shape::Pointer { object, steps, ty, window } => {
                let zero = self.b.usize(0, span);
                let steps = steps.iter().map(|step| match step {
                    Some(field) => PointerStep::Field(*field),
                    None => PointerStep::Index(self.new_var(zero)),
                });
                let steps = steps.collect();
                let window = window.then(|| (self.new_var(zero), self.new_var(zero)));
                let ty = self.fresh_type(ty);
                LValue::Pointer(Box::new(Pointer::Into { object: *object, steps, ty, window }))
            }
        })
    }

    /// A type found in an earlier pass, whose open numbers mean nothing in this one.
    pub(super) fn fresh_type(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Scalar(Scalar::Infer(_)) => Type::Scalar(self.fresh(Class::Any)),
            Type::Array(item, extent) => {
                Type::Array(Box::new(self.fresh_type(item)), extent.clone())
            }
            Type::Slice(item) => Type::Slice(Box::new(self.fresh_type(item))),
            Type::Vec(item) => Type::Vec(Box::new(self.fresh_type(item))),
            Type::Tuple(items) => {
                Type::Tuple(items.iter().map(|item| self.fresh_type(item)).collect())
            }
            known => known.clone(),
        }
    }

    /// The number of an object that stays the same when variables are given memory.
    fn object_number(&self, object: ObjectId) -> u32 {
        let made = self.made_later.iter().filter(|made| made.0 < object.0).count();
        object.0 - made as u32
    }

    fn object_of(&self, number: u32) -> Option<ObjectId> {
        let count = self.b.function.objects.len() as u32;
        let own = (0..count).map(ObjectId).filter(|object| !self.made_later.contains(object));
        own.into_iter().nth(number as usize)
    }

    /// A variable that holds a reference and may come to hold another.
    pub(super) fn pointer(&mut self, memory: &Memory, span: Span) -> Result<LValue> {
        let number = self.laters;
        self.laters += 1;
        if let Some(Shape::Among(shapes)) = self.shapes.get(&number).cloned() {
            let place = self.place_among(number, &shapes, span)?;
            let val = Val::Ref(LValue::Memory(memory.clone()));
            self.write_parts(&place, val, span)?;
            return Ok(place);
        }
        let slots = vec![self.slot(memory, span)?];
        let first = self.b.usize(0, span);
        let which = self.new_var(first);
        Ok(LValue::Pointer(Box::new(Pointer::Among { number, which, slots })))
    }

    /// A reference to a part of one object.
    fn slot(&mut self, memory: &Memory, span: Span) -> Result<Pointer> {
        let window = match (self.extent(memory, span), &memory.ty) {
            (None, Type::Slice(_)) => {
                let start = self.b.usize(0, span);
                let len = self.len_of(&LValue::Memory(memory.clone()), span)?;
                Some(Window { start, len })
            }
            (window, _) => window,
        };
        let steps = memory.place.path.iter().map(|step| match step {
            Step::Index(index) => PointerStep::Index(self.new_var(*index)),
            Step::Field(index) => PointerStep::Field(*index),
        });
        let steps = steps.collect();
        let window = window.map(|window| (self.new_var(window.start), self.new_var(window.len)));
        let object = self.object_number(memory.place.object);
        let ty = memory.ty.clone();
        Ok(Pointer::Into { object, steps, ty, window })
    }

    /// What a reference that is held refers to now.
    pub(super) fn target_of(&mut self, pointer: &Pointer, span: Span) -> Result<LValue> {
        let (object, steps, ty, window) = match pointer {
            Pointer::Held(lv) => {
                let val = self.read(lv, span)?;
                return Ok(LValue::Value(Box::new(val)));
            }
            Pointer::Among { which, slots, .. } => {
                return self.among(self.get(*which), slots, span);
            }
            Pointer::Into { object, steps, ty, window } => (object, steps, ty, window),
        };
        let Some(object) = self.object_of(*object) else {
            return Err(Error::new(span, "what this refers to is not known"));
        };
        let mut place = Place::whole(object);
        for step in steps {
            place = place.with(match step {
                PointerStep::Index(var) => Step::Index(self.get(*var)),
                PointerStep::Field(index) => Step::Field(*index),
            });
        }
        let window =
            window.map(|(start, len)| Window { start: self.get(start), len: self.get(len) });
        Ok(LValue::Memory(Memory { place, ty: ty.clone(), window, len: None }))
    }

    /// Lets a variable refer to one of the places it may refer to, or notes one more.
    fn redirect_among(
        &mut self,
        number: u32,
        which: VarId,
        slots: &[Pointer],
        val: Val,
        span: Span,
    ) -> Result<()> {
        let memory = match val {
            Val::Ref(LValue::Either(condition, a, b)) => {
                self.with_either(condition, (&a, &b), span, &mut |me, lv| {
                    me.redirect_among(number, which, slots, Val::Ref(lv.clone()), span)?;
                    Ok(Val::Unit)
                })?;
                return Ok(());
            }
            Val::Ref(LValue::Memory(memory)) => memory,
            _ => {
                return Err(unsupported(
                    span,
                    "a variable that refers now to this, now to that",
                    "let it refer to lists, to parts of them, or to their elements; or choose by `if`",
                ));
            }
        };
        let Some(at) = slots.iter().position(|slot| self.fits_slot(slot, &memory)) else {
            let mut shapes: Vec<Shape> = slots.iter().filter_map(Self::shape_of_slot).collect();
            shapes.push(self.shape_of(&Val::Ref(LValue::Memory(memory)), span)?);
            self.found = Some((number, Shape::Among(shapes)));
            return Err(Error::new(span, "the shape of a variable is not known yet"));
        };
        self.redirect(&slots[at], Val::Ref(LValue::Memory(memory)), span)?;
        let at = self.b.usize(at, span);
        self.set(which, at);
        Ok(())
    }

    /// Whether a reference goes the way of a slot, but for indices.
    fn fits_slot(&self, slot: &Pointer, memory: &Memory) -> bool {
        let Pointer::Into { object, steps, window, .. } = slot else { return false };
        let same = |(step, new): (&PointerStep, &Step)| match (step, new) {
            (PointerStep::Index(_), Step::Index(_)) => true,
            (PointerStep::Field(a), Step::Field(b)) => a == b,
            _ => false,
        };
        self.object_of(*object) == Some(memory.place.object)
            && steps.len() == memory.place.path.len()
            && steps.iter().zip(&memory.place.path).all(same)
            && (window.is_some() || memory.window.is_none())
    }

    fn shape_of_slot(slot: &Pointer) -> Option<Shape> {
        let Pointer::Into { object, steps, ty, window } = slot else { return None };
        let steps = steps.iter().map(|step| match step {
            PointerStep::Index(_) => None,
            PointerStep::Field(index) => Some(*index),
        });
        let (steps, ty) = (steps.collect(), ty.clone());
        Some(Shape::Pointer { object: *object, steps, ty, window: window.is_some() })
    }

    /// Lets a variable refer to something else.
    pub(super) fn redirect(&mut self, pointer: &Pointer, val: Val, span: Span) -> Result<()> {
        let (object, steps, window) = match pointer {
            Pointer::Held(lv) => {
                let (Val::Ref(source) | Val::Place(source)) = val else {
                    return self.write_parts(lv, val, span);
                };
                let val = self.read(&source, span)?;
                return self.write_parts(lv, val, span);
            }
            Pointer::Among { number, which, slots } => {
                return self.redirect_among(*number, *which, slots, val, span);
            }
            Pointer::Into { object, steps, window, .. } => (object, steps, window),
        };
        let other = || {
            unsupported(
                span,
                "variables that refer now to one array, now to another",
                "write through the reference with `*`, or choose between arrays by an index or by `if`",
            )
        };
        let Val::Ref(LValue::Memory(memory)) = val else { return Err(other()) };
        if self.object_of(*object) != Some(memory.place.object)
            || steps.len() != memory.place.path.len()
        {
            return Err(other());
        }
        for (step, new) in steps.iter().zip(&memory.place.path) {
            match (step, new) {
                (PointerStep::Index(var), Step::Index(index)) => self.set(*var, *index),
                (PointerStep::Field(a), Step::Field(b)) if a == b => {}
                _ => return Err(other()),
            }
        }
        match (window, memory.window) {
            (None, None) => {}
            (Some((start, len)), Some(new)) => {
                self.set(*start, new.start);
                self.set(*len, new.len);
            }
            (Some((start, len)), None) => {
                let zero = self.b.usize(0, span);
                let whole = self.len_of(&LValue::Memory(memory), span)?;
                self.set(*start, zero);
                self.set(*len, whole);
            }
            _ => return Err(other()),
        }
        Ok(())
    }
}

fn not_assigned_later(span: Span) -> Error {
    unsupported(
        span,
        "this as the value of a variable that is assigned later, or of several branches",
        "use numbers, tuples, structs, lists, arrays of fixed length, and references into one array",
    )
}
