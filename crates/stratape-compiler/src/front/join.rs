//! What two arms of a branch yield, as one.

use std::collections::HashMap;

use proc_macro2::Span;
use syn::Result;

use super::references::alike;
use super::val::{LValue, Memory, Val, Window};
use super::{Lowerer, unsupported};
use stratape_ir::{Merge, Object, Origin, Scalar, Step, Stmt, Type, ValueId, made};

/// What joins the values of two arms.
pub(super) struct Joiner<'a> {
    /// What the branch is on.
    pub(super) condition: ValueId,
    pub(super) merges: Vec<Merge>,
    pub(super) then: &'a mut stratape_ir::Block,
    pub(super) other: &'a mut stratape_ir::Block,
    pub(super) span: Span,
}

impl Lowerer<'_> {
    /// Whether two types are the same, as far as their numbers are known.
    fn of_one_shape(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Scalar(a), Type::Scalar(b)) => {
                let (a, b) = (self.infer.resolve(*a), self.infer.resolve(*b));
                a == b || matches!(a, Scalar::Infer(_)) || matches!(b, Scalar::Infer(_))
            }
            (Type::Array(a, n), Type::Array(b, m)) => n == m && self.of_one_shape(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.of_one_shape(a, b))
            }
            (a, b) => a == b,
        }
    }
}

impl Joiner<'_> {
    /// One value from those of the two arms.
    pub(super) fn join(&mut self, lower: &mut Lowerer<'_>, a: Val, b: Val) -> Result<Val> {
        match (a, b) {
            (Val::Never, Val::Never) => Ok(Val::Never),
            (Val::Unit, _) | (_, Val::Unit) => Ok(Val::Unit),
            (Val::Scalar(a), Val::Scalar(b)) => {
                Ok(Val::Scalar(lower.merge(a, b, &mut self.merges, self.span)?))
            }
            (Val::Parts(kind, a), Val::Parts(_, b)) if a.len() == b.len() => {
                let mut parts = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    parts.push(self.join(lower, a, b)?);
                }
                Ok(Val::Parts(kind, parts))
            }
            (Val::Never, val) => self.alone(lower, val, false),
            (val, Val::Never) => self.alone(lower, val, true),
            (Val::Place(LValue::Memory(a)), Val::Place(LValue::Memory(b)))
                if a.ty.is_fixed() && lower.of_one_shape(&a.ty, &b.ty) =>
            {
                // Owned arrays: one that both arms fill.
                lower.unify_types(&a.ty.clone(), &b.ty.clone(), self.span)?;
                let joined = self.joined(lower, &a.ty)?;
                if [&a, &b].iter().all(|one| lower.written_as_vec.contains(&one.place.object)) {
                    lower.written_as_vec.insert(joined.place.object);
                }
                self.fill(lower, &joined, &a, true)?;
                self.fill(lower, &joined, &b, false)?;
                Ok(Val::Place(LValue::Memory(joined)))
            }
            (Val::Place(LValue::Memory(a)), Val::Place(LValue::Memory(b)))
                if is_list(&a) && is_list(&b) =>
            {
                self.join_lists(lower, Some(&a), Some(&b))
            }
            (Val::Ref(LValue::Memory(a)), Val::Ref(LValue::Memory(b))) if alike(&a, &b) => {
                Ok(Val::Ref(LValue::Memory(self.join_references(lower, a, b)?)))
            }
            (Val::Ref(LValue::Var(a)), Val::Ref(LValue::Var(b))) if a == b => {
                Ok(Val::Ref(LValue::Var(a)))
            }
            (Val::Ref(a), Val::Ref(b))
                if (matches!(a, LValue::Value(_)) || matches!(b, LValue::Value(_)))
                    && !holds_list(&Val::Ref(a.clone()))
                    && !holds_list(&Val::Ref(b.clone())) =>
            {
                // What a reference to a value is, is never written.
                let a = self.read_in(lower, &a, true)?;
                let b = self.read_in(lower, &b, false)?;
                Ok(Val::Ref(LValue::Value(Box::new(self.join(lower, a, b)?))))
            }
            (Val::Ref(a), Val::Ref(b)) => self.either(lower, self.condition, &a, &b),
            _ => Err(unsupported(
                self.span,
                "a branch that yields a reference in one arm only, or a closure",
                "let both arms yield numbers, tuples, structs or arrays, or branch around the use",
            )),
        }
    }

    /// A value that exists only where one arm ran; the other never gets here.
    pub(super) fn alone(
        &mut self,
        lower: &mut Lowerer<'_>,
        val: Val,
        from_then: bool,
    ) -> Result<Val> {
        match val {
            Val::Scalar(value) => {
                let block = if from_then { &mut *self.other } else { &mut *self.then };
                lower.b.reopen(std::mem::take(block));
                let ty = lower.b.function.ty(value);
                let dummy = lower.zero(ty, self.span);
                *block = lower.b.close();
                let (then, other) = if from_then { (value, dummy) } else { (dummy, value) };
                Ok(Val::Scalar(lower.merge(then, other, &mut self.merges, self.span)?))
            }
            Val::Parts(kind, parts) => {
                let parts = parts
                    .into_iter()
                    .map(|part| self.alone(lower, part, from_then))
                    .collect::<Result<_>>()?;
                Ok(Val::Parts(kind, parts))
            }
            Val::Ref(LValue::Value(val)) => {
                Ok(Val::Ref(LValue::Value(Box::new(self.alone(lower, *val, from_then)?))))
            }
            Val::Ref(lv @ (LValue::Memory(_) | LValue::Either(..))) => {
                Ok(Val::Ref(self.handed_out(lower, &lv, from_then)?))
            }
            Val::Place(LValue::Memory(memory)) if memory.ty.is_fixed() => {
                let block = if from_then { &*self.then } else { &*self.other };
                if !made(block).contains(&memory.place.object) {
                    return Ok(Val::Place(LValue::Memory(memory)));
                }
                let joined = self.joined(lower, &memory.ty)?;
                if lower.written_as_vec.contains(&memory.place.object) {
                    lower.written_as_vec.insert(joined.place.object);
                }
                self.fill(lower, &joined, &memory, from_then)?;
                Ok(Val::Place(LValue::Memory(joined)))
            }
            Val::Place(LValue::Memory(memory)) if is_list(&memory) => {
                let block = if from_then { &*self.then } else { &*self.other };
                if !made(block).contains(&memory.place.object) {
                    let memory = self.window_alone(lower, memory, from_then)?;
                    return Ok(Val::Place(LValue::Memory(memory)));
                }
                match from_then {
                    true => self.join_lists(lower, Some(&memory), None),
                    false => self.join_lists(lower, None, Some(&memory)),
                }
            }
            other => Ok(other),
        }
    }

    /// A list from outside the arms, of which one arm found the extent.
    fn window_alone(
        &mut self,
        lower: &mut Lowerer<'_>,
        memory: Memory,
        from_then: bool,
    ) -> Result<Memory> {
        let Some(window) = memory.window else { return Ok(memory) };
        let mut number = |value| match self.alone(lower, Val::Scalar(value), from_then)? {
            Val::Scalar(value) => Ok::<_, syn::Error>(value),
            _ => Ok(value),
        };
        let window = Window { start: number(window.start)?, len: number(window.len)? };
        Ok(Memory { window: Some(window), ..memory })
    }

    /// A list that takes the place of those that the arms yield.
    fn join_lists(
        &mut self,
        lower: &mut Lowerer<'_>,
        then: Option<&Memory>,
        other: Option<&Memory>,
    ) -> Result<Val> {
        let span = self.span;
        let both = [then, other];
        let item = both.iter().flatten().find_map(|memory| memory.ty.element().cloned());
        let Some(item) = item else { return Ok(Val::Unit) };
        // Their lengths may differ: `vec![a, b]` is held as an array.
        if let [Some(a), Some(b)] = both
            && let (Some(a), Some(b)) = (a.ty.element().cloned(), b.ty.element().cloned())
        {
            lower.unify_types(&a, &b, span)?;
        }
        let exact = both.iter().flatten().all(|list| list.window.is_none() && list.len.is_none());
        let joined = lower.empty(&Type::Vec(Box::new(item)), span)?;
        let mut lens = Vec::new();
        for (memory, in_then) in both.into_iter().zip([true, false]) {
            let block = if in_then { &mut *self.then } else { &mut *self.other };
            lower.b.reopen(std::mem::take(block));
            lens.push(match memory {
                Some(memory) => {
                    let val = Val::Place(LValue::Memory(memory.clone()));
                    let list = lower.own_list(&val, true, span)?;
                    let len = lower.len_of(&LValue::Memory(list.clone()), span)?;
                    lower.change_places(&joined, &list);
                    len
                }
                None => lower.b.usize(0, span),
            });
            *block = lower.b.close();
        }
        let window = match exact {
            true => None,
            false => {
                let len = lower.merge(lens[0], lens[1], &mut self.merges, span)?;
                Some(Window { start: lower.b.usize(0, span), len })
            }
        };
        Ok(Val::Place(LValue::Memory(Memory { window, ..joined })))
    }

    /// Memory of a fixed type before the branch, for what its arms make.
    fn joined(&self, lower: &mut Lowerer<'_>, ty: &Type) -> Result<Memory> {
        let object = lower.b.function.new_object(Object {
            ty: ty.clone(),
            origin: Origin::Local,
            name: "joined".to_owned(),
            shadow_of: None,
            span: lower.module.sources.id(self.span),
        });
        let init = lower.zero_init(ty, self.span)?;
        lower.b.node(Stmt::New { object, init });
        Ok(Memory::whole(object, ty.clone()))
    }

    /// Copies what an arm has made, at its end.
    fn fill(
        &mut self,
        lower: &mut Lowerer<'_>,
        joined: &Memory,
        made: &Memory,
        in_then: bool,
    ) -> Result<()> {
        let block = if in_then { &mut *self.then } else { &mut *self.other };
        lower.b.reopen(std::mem::take(block));
        let made = Val::Ref(LValue::Memory(made.clone()));
        lower.write_parts(&LValue::Memory(joined.clone()), made, self.span)?;
        *block = lower.b.close();
        Ok(())
    }
}

pub(super) fn replace_in(val: &mut Val, replaced: &HashMap<ValueId, ValueId>) {
    match val {
        Val::Scalar(value) => *value = replaced.get(value).copied().unwrap_or(*value),
        Val::Parts(_, parts) => parts.iter_mut().for_each(|part| replace_in(part, replaced)),
        Val::Ref(lv) | Val::Place(lv) => replace_in_place(lv, replaced),
        _ => {}
    }
}

fn replace_in_place(lv: &mut LValue, replaced: &HashMap<ValueId, ValueId>) {
    match lv {
        LValue::Value(inner) => replace_in(inner, replaced),
        LValue::Parts(_, parts) => {
            parts.iter_mut().for_each(|part| replace_in_place(part, replaced));
        }
        LValue::Either(condition, a, b) => {
            *condition = replaced.get(condition).copied().unwrap_or(*condition);
            replace_in_place(a, replaced);
            replace_in_place(b, replaced);
        }
        LValue::Memory(memory) => {
            let now = |value: &mut ValueId| *value = replaced.get(value).copied().unwrap_or(*value);
            if let Some(window) = &mut memory.window {
                now(&mut window.start);
                now(&mut window.len);
            }
            for step in &mut memory.place.path {
                if let Step::Index(index) = step {
                    now(index);
                }
            }
        }
        _ => {}
    }
}

/// Whether reading a value would take a list away from it, or from what it refers to.
pub(super) fn holds_list(val: &Val) -> bool {
    has_list(val, true)
}

/// Whether a value has a list that is its own.
pub(super) fn owns_list(val: &Val) -> bool {
    has_list(val, false)
}

/// Whether there is a list in a value, behind references too or not.
fn has_list(val: &Val, behind: bool) -> bool {
    let in_place = |lv: &LValue| has_list(&Val::Place(lv.clone()), behind);
    match val {
        Val::Parts(_, parts) => parts.iter().any(|part| has_list(part, behind)),
        Val::Ref(_) if !behind => false,
        Val::Place(lv) | Val::Ref(lv) => match lv {
            LValue::Memory(memory) => !memory.ty.is_fixed(),
            LValue::Parts(_, parts) => parts.iter().any(in_place),
            LValue::Value(val) => has_list(val, behind),
            LValue::Either(_, a, b) => in_place(a) || in_place(b),
            LValue::Var(_) | LValue::Later(_) | LValue::Pointer(_) => false,
        },
        _ => false,
    }
}

/// Whether memory is a `Vec`, or was written as one.
fn is_list(memory: &Memory) -> bool {
    matches!(memory.ty, Type::Vec(_) | Type::Array(..))
}
