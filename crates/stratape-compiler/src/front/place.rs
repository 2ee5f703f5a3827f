//! Places: indexing, fields, reading and writing.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::aggregate::stored_enum;
use super::exchange::repeats_lists;
use super::generic::base_name;
use super::infer::Class;
use super::unnamed::{given, structs};
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, left_to_rustc, unsupported};
use crate::library;
use stratape_ir::{Extent, Init, Object, Op, Origin, Range, Step, Stmt, Type, ValueId};

impl Lowerer<'_> {
    /// The number a value is, read from its place if need be.
    pub(super) fn scalar(&mut self, val: Val, span: Span) -> Result<ValueId> {
        match val {
            Val::Scalar(value) => Ok(value),
            Val::Place(LValue::Var(var)) | Val::Ref(LValue::Var(var)) => Ok(self.get(var)),
            Val::Place(LValue::Value(val)) | Val::Ref(LValue::Value(val)) => {
                self.scalar(*val, span)
            }
            Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory)) => {
                match memory.ty.scalar() {
                    Some(ty) => {
                        let value = self.b.emit(Op::Load(memory.place), ty, span);
                        if let Type::Enum(name) = memory.ty {
                            self.enums.insert(value, name);
                        }
                        Ok(value)
                    }
                    None => Err(Error::new(
                        span,
                        format!("a number was expected, found `{}`", memory.ty),
                    )),
                }
            }
            Val::Parts(..) | Val::Place(LValue::Parts(..)) | Val::Ref(LValue::Parts(..)) => {
                Err(Error::new(span, "a number was expected, found a tuple or struct"))
            }
            Val::Place(LValue::Pointer(pointer)) | Val::Ref(LValue::Pointer(pointer)) => {
                let target = self.target_of(&pointer, span)?;
                self.scalar(Val::Place(target), span)
            }
            Val::Place(LValue::Either(condition, a, b))
            | Val::Ref(LValue::Either(condition, a, b)) => {
                let val = self.with_either(condition, (&a, &b), span, &mut |me, lv| {
                    Ok(Val::Scalar(me.scalar(Val::Place(lv.clone()), span)?))
                })?;
                self.scalar(val, span)
            }
            Val::Place(LValue::Later(_)) | Val::Ref(LValue::Later(_)) => {
                self.read_unknown = true;
                self.scalar(Val::Never, span)
            }
            Val::Never => {
                let ty = self.fresh(Class::Any);
                Ok(self.zero(ty, span))
            }

            Val::Unit => Err(Error::new(span, "a number was expected, found `()`")),
            Val::Function(path) if !self.is_function(&path) => {
                let path = quote::ToTokens::to_token_stream(&path);
                Err(left_to_rustc(span, format!("`#[gradient]` cannot find `{path}`")))
            }
            Val::Closure(_) | Val::Function(_) => {
                Err(left_to_rustc(span, "a number was expected, found a function"))
            }
            Val::Iter(_) => Err(Error::new(
                span,
                "a number was expected, found an iterator: end it with `sum`, `product`, `fold` or the like",
            )),
            Val::Ordering(a, b, total) => Ok(self.ordering_value(a, b, total, span)),
        }
    }

    /// A value on its own: places are read, arrays copied; references stay.
    pub(super) fn rvalue(&mut self, val: Val, span: Span) -> Result<Val> {
        match val {
            Val::Place(lv) => self.moved(&lv, span),
            Val::Parts(Kind::Choice(choice), mut parts) if parts.iter().any(holds_place) => {
                // Read now, if there is something to read: what is in memory may change.
                let kind = Kind::Choice(choice.clone());
                for (index, variant) in choice.variants.iter().enumerate() {
                    let range = variant.first..variant.first + variant.fields.len();
                    if !parts[range.clone()].iter().any(holds_place) {
                        continue;
                    }
                    let whole = Val::Parts(kind.clone(), parts.clone());
                    let is = self.is_variant(&choice, &whole, index, span)?;
                    let fields = Self::tuple(parts[range.clone()].to_vec());
                    let read = self.branch(is, span, |_| Ok(fields), |_| Ok(Val::Never))?;
                    if let Val::Parts(_, read) = read {
                        parts.splice(range, read);
                    }
                }
                Ok(Val::Parts(kind, parts))
            }
            Val::Parts(kind, parts) => {
                let parts =
                    parts.into_iter().map(|part| self.rvalue(part, span)).collect::<Result<_>>()?;
                Ok(Val::Parts(kind, parts))
            }
            other => Ok(other),
        }
    }

    /// A value on its own that can be joined with another: orderings are numbers.
    pub(super) fn settled(&mut self, val: Val, span: Span) -> Result<Val> {
        match self.rvalue(val, span)? {
            val @ Val::Ordering(..) => Ok(Val::Scalar(self.scalar(val, span)?)),
            Val::Parts(kind, parts) => {
                let parts = parts.into_iter().map(|part| self.settled(part, span));
                let val = Val::Parts(kind, parts.collect::<Result<_>>()?);
                if repeats_lists(&val) { self.cloned(val, span) } else { Ok(val) }
            }
            // Its length is that of now: the variable that holds it may be gone.
            Val::Place(LValue::Memory(memory)) if memory.len.is_some() => {
                let window = self.extent(&memory, span);
                Ok(Val::Place(LValue::Memory(Memory { window, len: None, ..memory })))
            }
            other => Ok(other),
        }
    }

    /// What a variable that holds a reference refers to; anything else as it is.
    pub(super) fn resolved(&mut self, val: Val, span: Span) -> Result<Val> {
        match val {
            Val::Place(LValue::Pointer(pointer)) | Val::Ref(LValue::Pointer(pointer)) => {
                Ok(Val::Ref(self.target_of(&pointer, span)?))
            }
            Val::Place(LValue::Later(_)) | Val::Ref(LValue::Later(_)) => {
                self.read_unknown = true;
                Ok(Val::Never)
            }
            Val::Place(LValue::Value(val)) => self.resolved(*val, span),
            other => Ok(other),
        }
    }

    /// Reads a place, whole.
    pub(super) fn read(&mut self, lv: &LValue, span: Span) -> Result<Val> {
        match lv {
            LValue::Var(var) => Ok(Val::Scalar(self.get(*var))),
            LValue::Value(val) => self.rvalue((**val).clone(), span),
            LValue::Later(_) => {
                self.read_unknown = true;
                Ok(Val::Never)
            }
            LValue::Pointer(pointer) => Ok(Val::Ref(self.target_of(pointer, span)?)),
            LValue::Either(_, a, _) if is_slice(a) => Ok(Val::Ref(lv.clone())),
            LValue::Either(condition, a, b) => {
                self.with_either(*condition, (a, b), span, &mut |me, lv| me.read(lv, span))
            }
            LValue::Parts(kind, parts) => {
                let parts =
                    parts.iter().map(|part| self.read(part, span)).collect::<Result<_>>()?;
                Ok(Val::Parts(kind.clone(), parts))
            }
            LValue::Memory(memory) => match &memory.ty {
                Type::Scalar(_) | Type::Enum(_) => {
                    Ok(Val::Scalar(self.scalar(Val::Place(lv.clone()), span)?))
                }
                Type::Tuple(items) => {
                    let parts = (0..items.len())
                        .map(|index| {
                            let part = self.field_of(lv, index, span)?;
                            self.read(&part, span)
                        })
                        .collect::<Result<_>>()?;
                    Ok(Val::Parts(Kind::Tuple, parts))
                }
                Type::Struct(def) => {
                    let parts = (0..def.fields.len())
                        .map(|index| {
                            let part = self.field_of(lv, index, span)?;
                            self.read(&part, span)
                        })
                        .collect::<Result<_>>()?;
                    Ok(Val::Parts(self.module.kind_of(def), parts))
                }
                // A `Vec` moves, it is not copied.
                Type::Vec(_) => Ok(Val::Place(lv.clone())),
                Type::Array(..) => self.copy_array(memory, span),
                Type::Slice(_) => Ok(Val::Ref(lv.clone())),
            },
        }
    }

    /// What `clone` makes of a place: `Vec`s in it are copied too.
    pub(super) fn clone_of(&mut self, lv: &LValue, span: Span) -> Result<Val> {
        if let Some(buffer) = self.cloned_buffer(lv, span)? {
            return Ok(buffer);
        }
        let count = match lv {
            LValue::Parts(_, parts) => parts.len(),
            LValue::Memory(Memory { ty: Type::Struct(def), .. }) => def.fields.len(),
            LValue::Memory(Memory { ty: Type::Tuple(items), .. }) => items.len(),
            LValue::Memory(memory @ Memory { ty: Type::Vec(_) | Type::Slice(_), .. }) => {
                return self.copy_array(&memory.clone(), span);
            }
            LValue::Either(condition, a, b) => {
                let each = &mut |me: &mut Self, lv: &LValue| me.clone_of(lv, span);
                return self.with_either(*condition, (a, b), span, each);
            }
            LValue::Value(val) => match &**val {
                Val::Place(lv) | Val::Ref(lv) => return self.clone_of(&lv.clone(), span),
                Val::Parts(_, parts) => parts.len(),
                _ => return self.read(lv, span),
            },
            _ => return self.read(lv, span),
        };
        let kind = match lv {
            LValue::Parts(kind, _) => kind.clone(),
            LValue::Memory(Memory { ty: Type::Struct(def), .. }) => self.module.kind_of(def),
            LValue::Value(val) => match &**val {
                Val::Parts(kind, _) => kind.clone(),
                _ => Kind::Tuple,
            },
            _ => Kind::Tuple,
        };
        let mut parts = Vec::new();
        for index in 0..count {
            let part = self.field_of(lv, index, span)?;
            parts.push(self.clone_of(&part, span)?);
        }
        Ok(Val::Parts(kind, parts))
    }

    /// A new object with what a part of another holds.
    pub(super) fn copy_array(&mut self, memory: &Memory, span: Span) -> Result<Val> {
        let ty = match (&memory.ty, memory.window) {
            (Type::Slice(item), _) => Type::Vec(item.clone()),
            (ty, _) => ty.clone(),
        };
        let object = self.new_local(ty.clone(), span);
        if self.written_as_vec.contains(&memory.place.object) && memory.place.path.is_empty() {
            self.written_as_vec.insert(object);
        }
        match self.extent(memory, span) {
            None => self.b.node(Stmt::New { object, init: Init::Copy(memory.place.clone()) }),
            Some(window) => {
                let Some(item) = ty.element().cloned() else {
                    return Err(Error::new(span, "a list was expected"));
                };
                let zero = self.zero_init(&item, span)?;
                self.b.node(Stmt::New { object, init: Init::Repeat(Box::new(zero), window.len) });
                let target = LValue::Memory(Memory::whole(object, ty.clone()));
                let source = LValue::Memory(memory.clone());
                self.copy_elements(&target, &source, window.len, span)?;
            }
        }
        Ok(Val::Place(LValue::Memory(Memory::whole(object, ty))))
    }

    /// An object of the function's own, to be named by the variable it is bound to.
    pub(super) fn new_local(&mut self, ty: Type, span: Span) -> stratape_ir::ObjectId {
        let span = self.b.at(span);
        self.b.function.new_object(Object {
            ty,
            origin: Origin::Local,
            name: String::new(),
            shadow_of: None,
            span,
        })
    }

    pub(super) fn copy_elements(
        &mut self,
        target: &LValue,
        source: &LValue,
        len: ValueId,
        span: Span,
    ) -> Result<()> {
        let from = self.b.usize(0, span);
        let range = Range::UpTo { from, to: len };
        self.repeat(range, false, None, &[], span, |me, counter| {
            let item = me.element_unchecked(source, counter, span)?;
            let val = me.clone_of(&item, span)?;
            let place = me.element_unchecked(target, counter, span)?;
            me.write_parts(&place, val, span)
        })?;
        Ok(())
    }

    /// Writes a value to a place, part by part.
    pub(super) fn write_parts(&mut self, lv: &LValue, val: Val, span: Span) -> Result<()> {
        if matches!(val, Val::Never) {
            if self.read_unknown && is_open(lv) {
                self.unknown_written.get_or_insert(span);
            }
            return Ok(());
        }
        match lv {
            LValue::Later(number) => {
                let val = self.rvalue(val, span)?;
                Err(self.found_shape(*number, &val, span))
            }
            LValue::Pointer(pointer) => {
                let val = self.rvalue(val, span)?;
                self.redirect(pointer, val, span)
            }
            LValue::Either(condition, a, b) => {
                let val = self.rvalue(val, span)?;
                self.with_either(*condition, (a, b), span, &mut |me, lv| {
                    me.write_parts(lv, val.clone(), span)?;
                    Ok(Val::Unit)
                })?;
                Ok(())
            }
            LValue::Value(_) if matches!(val, Val::Unit) => Ok(()),
            LValue::Value(held) if matches!(**held, Val::Never) => Ok(()),
            LValue::Var(var) => {
                let value = self.scalar(val, span)?;
                self.unify(self.get(*var), value, span)?;
                // Each assignment is a value of its own, so that it can carry the variable's name.
                self.set(*var, value);
                Ok(())
            }
            LValue::Parts(_, parts) => {
                // Two variants of a choice may stand for one list, which cannot change places with both.
                let val = if repeats_lists(&val) { self.cloned(val, span)? } else { val };
                for (index, part) in parts.iter().enumerate() {
                    let item = self.part_of(&val, index, span)?;
                    self.write_parts(part, item, span)?;
                }
                Ok(())
            }
            LValue::Value(_) => {
                Err(Error::new(span, "this is not a place that can be assigned to"))
            }
            LValue::Memory(memory) => match &memory.ty {
                Type::Scalar(_) | Type::Enum(_) => {
                    if matches!(memory.ty, Type::Enum(_)) && !self.holds_discriminants(memory) {
                        return Err(stored_enum(span));
                    }
                    let value = self.scalar(val, span)?;
                    if let Some(ty) = memory.ty.scalar() {
                        self.expect(value, ty, span)?;
                    }
                    self.b.node(Stmt::Store { place: memory.place.clone(), value });
                    Ok(())
                }
                Type::Tuple(items) => self.write_fields(lv, items.len(), &val, span),
                Type::Struct(def) => self.write_fields(lv, def.fields.len(), &val, span),
                Type::Vec(_) => {
                    let val = self.as_vec(val, span)?;
                    self.assign_list(memory, &val, span)
                }
                Type::Array(..) | Type::Slice(_) => {
                    if matches!(val, Val::Never) {
                        return Ok(());
                    }
                    let (Val::Place(source) | Val::Ref(source)) = val else {
                        return Err(Error::new(span, "an array was expected"));
                    };
                    if !self.is_as_long(memory, &source) {
                        return Err(unsupported(
                            span,
                            "a list of another length here",
                            "write the type of the list where it is made, as in `let mut v: Vec<f64> = Vec::from([…])`",
                        ));
                    }
                    let len = self.len_of(&source, span)?;
                    self.copy_elements(lv, &source, len, span)
                }
            },
        }
    }

    /// Whether what is assigned to a list of fixed length has that length: arrays do, and `vec![…]` is held as one.
    fn is_as_long(&self, memory: &Memory, source: &LValue) -> bool {
        match (&memory.ty, self.type_of(&Val::Place(source.clone()))) {
            (Type::Array(_, Extent::Known(n)), Some(Type::Array(_, Extent::Known(m)))) => *n == m,
            (Type::Array(..), Some(Type::Vec(_) | Type::Slice(_))) => false,
            _ => true,
        }
    }

    /// Whether memory of an enum's type is emitted as integers: the function's own arrays are.
    fn holds_discriminants(&self, memory: &Memory) -> bool {
        let object = &self.b.function.objects[memory.place.object.index()];
        let mut held = HashSet::new();
        structs(&object.ty, &mut held);
        object.origin == Origin::Local && held.is_disjoint(&given(&self.b.function))
    }

    fn write_fields(&mut self, lv: &LValue, count: usize, val: &Val, span: Span) -> Result<()> {
        for index in 0..count {
            let item = self.part_of(val, index, span)?;
            let part = self.field_of(lv, index, span)?;
            self.write_parts(&part, item, span)?;
        }
        Ok(())
    }

    pub(super) fn part_of(&mut self, val: &Val, index: usize, span: Span) -> Result<Val> {
        match val {
            Val::Parts(_, parts) => match parts.get(index) {
                Some(part) => Ok(part.clone()),
                None => Err(Error::new(span, "a tuple of another length was expected")),
            },
            Val::Place(lv) | Val::Ref(lv) => Ok(Val::Place(self.field_of(lv, index, span)?)),
            Val::Never => Ok(Val::Never),
            _ => Err(Error::new(span, "a tuple or struct was expected")),
        }
    }

    /// A part of a value by its position, as a pattern takes it apart.
    pub(super) fn part(&mut self, val: &Val, index: usize, span: Span) -> Result<Val> {
        match val {
            Val::Ref(LValue::Value(inner)) => {
                // A reference in a value that is referred to is one already.
                let part = self.part(&inner.clone(), index, span)?;
                Ok(match part {
                    Val::Ref(_) => part,
                    part => Val::Ref(super::control::lv_of(part)),
                })
            }
            Val::Ref(lv) => Ok(Val::Ref(self.field_of(lv, index, span)?)),
            _ => self.part_of(val, index, span),
        }
    }

    /// A field by its position.
    pub(super) fn field_of(&mut self, lv: &LValue, index: usize, span: Span) -> Result<LValue> {
        let missing = || Error::new(span, "there is no such field");
        match lv {
            LValue::Parts(_, parts) => parts.get(index).cloned().ok_or_else(missing),
            LValue::Memory(memory) => {
                let ty = memory.ty.field(index).ok_or_else(missing)?.clone();
                let place = memory.place.with(Step::Field(index));
                Ok(LValue::Memory(Memory { place, ty, window: None, len: None }))
            }
            LValue::Value(val) => match &**val {
                Val::Parts(_, parts) => parts
                    .get(index)
                    .map(|part| super::control::lv_of(part.clone()))
                    .ok_or_else(missing),
                Val::Place(lv) | Val::Ref(lv) => self.field_of(&lv.clone(), index, span),
                Val::Never => Ok(LValue::Value(Box::new(Val::Never))),
                _ => Err(missing()),
            },
            LValue::Pointer(pointer) => {
                let target = self.target_of(pointer, span)?;
                self.field_of(&target, index, span)
            }
            LValue::Later(_) => {
                self.read_unknown = true;
                Ok(LValue::Value(Box::new(Val::Never)))
            }
            LValue::Either(condition, a, b) => {
                let each = &mut |me: &mut Self, lv: &LValue| me.field_of(lv, index, span);
                self.part_of_either(*condition, (a, b), each)
            }
            LValue::Var(_) => Err(missing()),
        }
    }

    /// The field with a name.
    pub(super) fn field_named(&mut self, lv: &LValue, member: &syn::Member) -> Result<LValue> {
        let span = member.span();
        let name = match member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => return self.field_of(lv, index.index as usize, span),
        };
        let def = match Self::representative(lv) {
            LValue::Parts(Kind::Struct(def), _) => def.clone(),
            LValue::Memory(Memory { ty: Type::Struct(def), .. }) => def.clone(),
            LValue::Value(val) => match &**val {
                Val::Parts(Kind::Struct(def), _) => def.clone(),
                _ => return Err(Error::new(span, "only structs have named fields")),
            },
            _ => return Err(Error::new(span, "only structs have named fields")),
        };
        match def.fields.iter().position(|(field, _)| *field == name) {
            Some(index) => self.field_of(lv, index, span),
            None if library::is_known(base_name(&def.name)) => {
                self.seeming_field(lv, base_name(&def.name), &name, span)
            }
            None => match self.dereferenced(&Val::Ref(lv.clone()), span)? {
                Some(Val::Ref(inner) | Val::Place(inner)) => self.field_named(&inner, member),
                _ => Err(Error::new(span, format!("`{}` has no field `{name}`", def.name))),
            },
        }
    }
}

impl Lowerer<'_> {
    /// A field that a type of another crate has through `Deref`, or an element it has through `Index`.
    pub(super) fn seeming(
        &mut self,
        lv: &LValue,
        owner: &str,
        method: &str,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Option<LValue>> {
        let key = (owner.to_owned(), method.to_owned());
        let Some(function) = self.module.methods.get(&key).cloned() else { return Ok(None) };
        let mut all = vec![Val::Ref(lv.clone())];
        all.extend(args);
        let label = format!("{owner}::{method}");
        let val = self.expand(&label, &function.sig, &function.block, all, span)?;
        Ok(Some(super::control::lv_of(val)))
    }

    fn seeming_field(
        &mut self,
        lv: &LValue,
        owner: &str,
        name: &str,
        span: Span,
    ) -> Result<LValue> {
        let found = self.seeming(lv, owner, &format!("field_{name}"), Vec::new(), span)?;
        found.ok_or_else(|| Error::new(span, format!("`{owner}` has no field `{name}`")))
    }
}

/// Whether a place is a part of a list.
fn is_slice(lv: &LValue) -> bool {
    match lv {
        LValue::Memory(memory) => matches!(memory.ty, Type::Slice(_)),
        LValue::Either(_, a, _) => is_slice(a),
        _ => false,
    }
}

/// Whether a part of a value is still to be read.
fn holds_place(val: &Val) -> bool {
    match val {
        Val::Place(_) => true,
        Val::Parts(_, parts) => parts.iter().any(holds_place),
        _ => false,
    }
}

/// Whether a place has a part whose shape is not known yet.
fn is_open(lv: &LValue) -> bool {
    match lv {
        LValue::Later(_) => true,
        LValue::Parts(_, parts) => parts.iter().any(is_open),
        _ => false,
    }
}
