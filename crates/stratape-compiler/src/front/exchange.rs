//! Lists that move: one that is assigned, exchanged or taken changes places with another (`swap`), and nothing is copied.
//!
//! A `Vec` is an object of the language. Which ones are assigned or change their length is found in the text ([`Moves`](super::moves::Moves)).

use proc_macro2::Span;
use syn::{Error, Result};

use super::generic::base_name;
use super::join::owns_list;
use super::val::{Kind, LValue, Memory, Val, Window};
use super::{Lowerer, left_to_rustc, unsupported};
use stratape_ir::{Init, ObjectId, Origin, Scalar, Step, Stmt, Type, ValueId};

impl Lowerer<'_> {
    /// The part of an object that is the list, if that is not all of it.
    pub(super) fn extent(&mut self, memory: &Memory, span: Span) -> Option<Window> {
        let var = match (memory.window, memory.len) {
            (Some(window), _) => return Some(window),
            (None, None) => return None,
            (None, Some(var)) => var,
        };
        Some(Window { start: self.b.usize(0, span), len: self.get(var) })
    }

    /// An empty list, or one of zeros.
    pub(super) fn zeros(&mut self, ty: &Type, len: ValueId, span: Span) -> Result<Memory> {
        let item = ty.element().cloned().unwrap_or(Type::Scalar(Scalar::USIZE));
        let init = self.zero_init(&item, span)?;
        let object = self.new_local(ty.clone(), span);
        self.b.node(Stmt::New { object, init: Init::Repeat(Box::new(init), len) });
        Ok(Memory::whole(object, ty.clone()))
    }

    pub(super) fn empty(&mut self, ty: &Type, span: Span) -> Result<Memory> {
        let zero = self.b.usize(0, span);
        self.zeros(ty, zero, span)
    }

    pub(super) fn change_places(&mut self, a: &Memory, b: &Memory) {
        if a.place != b.place {
            self.b.node(Stmt::Swap { a: a.place.clone(), b: b.place.clone() });
        }
    }

    /// Whether a list can change places with others: it is a local, or a part of what is behind `&mut`.
    fn can_be_exchanged(&self, memory: &Memory) -> bool {
        let origin = self.b.function.objects[memory.place.object.index()].origin;
        matches!(memory.ty, Type::Vec(_))
            && (origin == Origin::Local
                || (origin == Origin::RefMut && !memory.place.path.is_empty()))
    }

    /// A value that leaves its place. A list that is assigned again later leaves an empty one behind.
    pub(super) fn moved(&mut self, lv: &LValue, span: Span) -> Result<Val> {
        match lv {
            // A guard looks at it, and leaves it where it is.
            LValue::Memory(_) if self.looking => self.read(lv, span),
            // Shared memory that has just been made: the variable is the memory.
            LValue::Memory(memory) if self.is_new_shared(memory) => Ok(Val::Place(lv.clone())),
            // The variable may be assigned while its value is in use.
            LValue::Memory(memory)
                if matches!(memory.ty, Type::Vec(_))
                    && self.copied_out.contains(&memory.place.object) =>
            {
                self.clone_of(lv, span)
            }
            LValue::Memory(memory) if self.reassigned.contains(&memory.place.object) => {
                match memory.ty {
                    Type::Vec(_) if memory.place.path.is_empty() => self.taken(memory, span),
                    _ => self.read(lv, span),
                }
            }
            LValue::Parts(kind, parts) => {
                let each = parts.iter().enumerate();
                let parts = each.map(|(at, part)| match self.borrows(kind, at, part) {
                    true => Ok(Val::Ref(part.clone())),
                    false => self.moved(part, span),
                });
                let parts = parts.collect::<Result<_>>()?;
                Ok(Val::Parts(kind.clone(), parts))
            }
            lv => self.read(lv, span),
        }
    }

    /// From now on the lists in a value are copied when they leave it: those of one variant are there while the value is another.
    fn copy_out(&mut self, val: &Val) {
        match val {
            Val::Place(LValue::Memory(memory)) if matches!(memory.ty, Type::Vec(_)) => {
                self.copied_out.insert(memory.place.object);
            }
            Val::Parts(_, parts) => parts.iter().for_each(|part| self.copy_out(part)),
            _ => {}
        }
    }

    /// What `clone` makes of a value: each list in it is an object of its own.
    pub(super) fn cloned(&mut self, val: Val, span: Span) -> Result<Val> {
        match val {
            Val::Place(lv) if owns_list(&Val::Place(lv.clone())) => self.clone_of(&lv, span),
            Val::Parts(kind, parts) => {
                let parts = parts.into_iter().map(|part| self.cloned(part, span));
                Ok(Val::Parts(kind, parts.collect::<Result<_>>()?))
            }
            val => Ok(val),
        }
    }

    /// Whether a part of a struct is a reference to a list or a struct, which stay where they are.
    pub(super) fn borrows(&self, kind: &Kind, at: usize, part: &LValue) -> bool {
        let Kind::Struct(def) = kind else { return false };
        let borrowed = self.module.borrowed.get(base_name(&def.name));
        let stays = match part {
            LValue::Parts(..) => true,
            LValue::Memory(memory) => matches!(memory.ty, Type::Vec(_)),
            _ => false,
        };
        stays && borrowed.is_some_and(|borrowed| borrowed.contains(&at))
    }

    /// Several lists that are about to be assigned to places they may come from: each in an object of its own.
    pub(super) fn detached(&mut self, val: Val, span: Span) -> Result<Val> {
        match val {
            Val::Parts(kind, parts) => {
                let each = parts.into_iter().map(|part| match &part {
                    Val::Place(LValue::Memory(memory))
                        if matches!(memory.ty, Type::Vec(_)) && self.can_be_exchanged(memory) =>
                    {
                        self.taken(&memory.clone(), span)
                    }
                    Val::Parts(..) => self.detached(part, span),
                    Val::Place(LValue::Memory(memory)) if !memory.ty.is_fixed() => {
                        self.clone_of(&LValue::Memory(memory.clone()), span)
                    }
                    _ => Ok(part),
                });
                Ok(Val::Parts(kind, each.collect::<Result<_>>()?))
            }
            val => Ok(val),
        }
    }

    /// What `mem::take` makes of a list.
    pub(super) fn taken(&mut self, memory: &Memory, span: Span) -> Result<Val> {
        let extent = self.extent(memory, span);
        let fresh = self.empty(&memory.ty, span)?;
        self.change_places(memory, &fresh);
        if let Some(var) = memory.len {
            let zero = self.b.usize(0, span);
            self.set(var, zero);
        }
        Ok(Val::Place(LValue::Memory(Memory { window: extent, ..fresh })))
    }

    /// Exchanges two places if they are lists.
    pub(super) fn exchanged(&mut self, a: &syn::Expr, b: &syn::Expr, span: Span) -> Result<bool> {
        let (a, b) = (self.operand(a)?, self.operand(b)?);
        let (Val::Place(a), Val::Place(b)) = (a, b) else { return Ok(false) };
        let is_list =
            |lv: &LValue| matches!(lv, LValue::Memory(memory) if matches!(memory.ty, Type::Vec(_)));
        if !is_list(&a) || !is_list(&b) {
            return Ok(false);
        }
        let places = [Val::Ref(a), Val::Ref(b)];
        self.exchange_lists("swap", &places, span).map(|done| done.is_some())
    }

    /// Whether a value is a list that was written as `vec![…]`, of which the length is taken for known so far.
    pub(super) fn is_written_as_vec(&self, val: &Val) -> bool {
        matches!(val, Val::Place(LValue::Memory(memory))
            if matches!(memory.ty, Type::Array(..))
                && memory.place.path.is_empty()
                && self.written_as_vec.contains(&memory.place.object))
    }

    /// Lists that were written as `vec![…]` as ones that can be assigned another length; anything else as it is.
    pub(super) fn as_vec(&mut self, val: Val, span: Span) -> Result<Val> {
        match &val {
            Val::Parts(..) => {
                let Val::Parts(kind, parts) = val else { return Ok(val) };
                let parts = parts.into_iter().map(|part| self.as_vec(part, span));
                Ok(Val::Parts(kind, parts.collect::<Result<_>>()?))
            }
            Val::Place(LValue::Memory(memory)) if self.is_written_as_vec(&val) => {
                let list = self.copy_of_list(&memory.clone(), span)?;
                Ok(Val::Place(LValue::Memory(list)))
            }
            _ => Ok(val),
        }
    }

    /// A list of a function's own, with nothing behind its end unless `roomy`.
    pub(super) fn own_list(&mut self, val: &Val, roomy: bool, span: Span) -> Result<Memory> {
        let (Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory))) = val else {
            return Err(left_to_rustc(span, "a `Vec` was expected"));
        };
        let local = self.b.function.objects[memory.place.object.index()].origin == Origin::Local;
        let exact = memory.window.is_none() && memory.len.is_none();
        let owned = matches!(val, Val::Place(_)) && matches!(memory.ty, Type::Vec(_));
        if owned && local && memory.place.path.is_empty() && (roomy || exact) {
            return Ok(memory.clone());
        }
        let memory = memory.clone();
        self.copy_of_list(&memory, span)
    }

    /// A `Vec` with the elements of any list.
    pub(super) fn copy_of_list(&mut self, memory: &Memory, span: Span) -> Result<Memory> {
        let Some(item) = memory.ty.element().cloned() else {
            return Err(left_to_rustc(span, "a list was expected"));
        };
        let lv = LValue::Memory(memory.clone());
        let len = self.len_of(&lv, span)?;
        let copy = self.zeros(&Type::Vec(Box::new(item)), len, span)?;
        self.copy_elements(&LValue::Memory(copy.clone()), &lv, len, span)?;
        Ok(copy)
    }

    /// `list = val`
    pub(super) fn assign_list(&mut self, target: &Memory, val: &Val, span: Span) -> Result<()> {
        if matches!(val, Val::Never) {
            return Ok(());
        }
        self.expect_type(val, &target.ty, span)?;
        let val = &self.retyped(val.clone());
        if !self.can_be_exchanged(target) {
            return Err(unsupported(
                span,
                "assigning a whole `Vec` here",
                "copy with `copy_from_slice`, or write the elements",
            ));
        }
        let source = self.own_list(val, target.len.is_some(), span)?;
        let len = self.len_of(&LValue::Memory(source.clone()), span)?;
        self.change_places(target, &source);
        if let Some(var) = target.len {
            self.set(var, len);
        }
        Ok(())
    }

    /// `mem::swap`, `mem::replace` and `mem::take` of lists; `None` for other places.
    pub(super) fn exchange_lists(
        &mut self,
        name: &str,
        args: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        if args
            .iter()
            .any(|arg| matches!(arg, Val::Ref(lv @ LValue::Either(..)) if !self.is_fixed_place(lv)))
        {
            return Err(unsupported(
                span,
                "exchanging what one of several references refers to",
                "exchange the references (`&mut a` of variables that hold them), or copy with `copy_from_slice`",
            ));
        }
        let list = |val: &Val| match val {
            Val::Ref(LValue::Memory(memory)) if matches!(memory.ty, Type::Vec(_)) => {
                Some(memory.clone())
            }
            _ => None,
        };
        if let Some(Val::Ref(LValue::Memory(memory))) = args.first()
            && matches!(memory.ty, Type::Array(..))
            && self.written_as_vec.contains(&memory.place.object)
        {
            return Err(unsupported(
                span,
                "moving this list",
                "write its type where it is made, as in `let mut v: Vec<f64> = Vec::from([…])`",
            ));
        }
        let Some(first) = args.first().and_then(list) else { return Ok(None) };
        let second = args.get(1).and_then(list);
        for memory in [Some(&first), second.as_ref()].into_iter().flatten() {
            if !self.can_be_exchanged(memory) {
                return Err(unsupported(
                    span,
                    "swapping a parameter",
                    "copy it with `to_vec()`, and swap the copy",
                ));
            }
        }
        // Two rows of one list may be the same.
        let apart = second.as_ref().is_none_or(|second| {
            first.place.object != second.place.object
                || first
                    .place
                    .path
                    .iter()
                    .chain(&second.place.path)
                    .all(|step| matches!(step, Step::Field(_)))
        });
        match (name, second, args) {
            ("swap", Some(second), _) => {
                self.unify_types(&first.ty, &second.ty, span)?;
                match (first.len, second.len) {
                    (Some(a), Some(b)) => {
                        let (len_a, len_b) = (self.get(a), self.get(b));
                        self.change_places(&first, &second);
                        self.set(a, len_b);
                        self.set(b, len_a);
                    }
                    (None, None) if apart => self.change_places(&first, &second),
                    _ => {
                        let (a, b) = (self.taken(&first, span)?, self.taken(&second, span)?);
                        self.assign_list(&first, &b, span)?;
                        self.assign_list(&second, &a, span)?;
                    }
                }
                Ok(Some(Val::Unit))
            }
            ("take", None, [_]) => self.taken(&first, span).map(Some),
            ("replace", _, [_, new]) => {
                let old = self.taken(&first, span)?;
                self.assign_list(&first, new, span)?;
                Ok(Some(old))
            }
            _ => Err(Error::new(span, format!("`{name}` takes other arguments"))),
        }
    }

    /// Whether what a place holds has a fixed size.
    fn is_fixed_place(&self, lv: &LValue) -> bool {
        self.type_of(&Val::Place(lv.clone())).is_none_or(|ty| ty.is_fixed())
    }

    /// A value as a variable or field of a name holds it.
    pub(super) fn owned_as(&mut self, name: &str, val: Val, span: Span) -> Result<Val> {
        self.owned_under(&[name], val, span)
    }

    /// The parts of a tuple or of a value with variants, as a variable holds them.
    fn parts_of_owned(
        &mut self,
        kind: &Kind,
        names: &[&str],
        mut parts: Vec<Val>,
        span: Span,
    ) -> Result<Vec<Val>> {
        let Kind::Choice(choice) = kind else {
            let owned = parts.into_iter().enumerate().map(|(at, part)| {
                let at = at.to_string();
                let names: Vec<&str> = names.iter().copied().chain([at.as_str()]).collect();
                self.owned_under(&names, part, span)
            });
            return owned.collect();
        };
        let moves = self.moves.last();
        let assigned =
            moves.is_some_and(|moves| names.iter().any(|name| moves.assigned.contains(*name)));
        // What a pattern binds of an option in its place may grow there, under any name.
        let grows = moves.filter(|moves| moves.in_place);
        let grown = grows.and_then(|moves| moves.resized.iter().next().cloned());
        let names: Vec<&str> = names.iter().copied().chain(grown.as_deref()).collect();
        // The lists of other variants, which it may come to hold.
        for variant in choice.variants.iter().filter(|_| assigned) {
            for (part, ty) in parts[variant.first..].iter_mut().zip(&variant.types) {
                if matches!((&*part, ty), (Val::Never, Type::Vec(_))) {
                    *part = Val::Place(LValue::Memory(self.empty(ty, span)?));
                }
            }
        }
        let owned = parts.into_iter().map(|part| self.owned_under(&names, part, span));
        let owned: Vec<Val> = owned.collect::<Result<_>>()?;
        owned.iter().for_each(|part| self.copy_out(part));
        Ok(owned)
    }

    /// A value as a field holds it, of a variable or of a field of one: the names down to it.
    fn owned_under(&mut self, names: &[&str], val: Val, span: Span) -> Result<Val> {
        let memory = match val {
            Val::Parts(Kind::Struct(def), parts) => {
                let mut held = Vec::new();
                for (part, (field, _)) in parts.into_iter().zip(&def.fields) {
                    let names: Vec<&str> = names.iter().copied().chain([field.as_str()]).collect();
                    held.push(self.owned_under(&names, part, span)?);
                }
                return Ok(Val::Parts(Kind::Struct(def), held));
            }
            Val::Parts(kind, parts) => {
                let parts = self.parts_of_owned(&kind, names, parts, span)?;
                return Ok(Val::Parts(kind, parts));
            }
            Val::Place(LValue::Memory(memory)) if memory.place.path.is_empty() => memory,
            val => return Ok(val),
        };
        let object = memory.place.object;
        let whole = self.b.function.objects[object.index()].ty.clone();
        let is_list = matches!(whole, Type::Vec(_)) || self.written_as_vec.contains(&object);
        let moves = self.moves.last();
        let fields = &names[1..];
        let elsewhere = &self.module.field_moves;
        let resized = moves.is_some_and(|moves| {
            let lends = self.module.lends_lists;
            names
                .iter()
                .any(|name| moves.resized.contains(*name) || (lends && moves.lent.contains(*name)))
        }) || fields.iter().any(|name| elsewhere.resized.contains(*name));
        // Whoever assigns the whole assigns its parts.
        let assigned = moves.is_some_and(|moves| {
            names.iter().any(|name| moves.assigned.contains(*name) || moves.lent.contains(*name))
        }) || fields.iter().any(|name| elsewhere.assigned.contains(*name));
        if !is_list || !(resized || assigned || memory.len.is_some()) {
            return Ok(Val::Place(LValue::Memory(memory)));
        }
        let ty = if memory.window.is_none() { whole } else { memory.ty.clone() };
        let val = Val::Place(LValue::Memory(Memory { ty, ..memory }));
        let mut list = self.own_list(&val, true, span)?;
        if assigned {
            self.reassigned.insert(list.place.object);
        }
        if resized || list.len.is_some() {
            let len = self.len_of(&LValue::Memory(list.clone()), span)?;
            list = Memory { window: None, len: Some(self.new_var(len)), ..list };
        } else if list.window.is_some() && assigned {
            list = self.copy_of_list(&list, span)?;
            self.reassigned.insert(list.place.object);
        }
        Ok(Val::Place(LValue::Memory(list)))
    }
}

/// Whether one list occurs twice in a value.
pub(super) fn repeats_lists(val: &Val) -> bool {
    fn repeats(val: &Val, seen: &mut Vec<ObjectId>) -> bool {
        match val {
            Val::Parts(_, parts) => parts.iter().any(|part| repeats(part, seen)),
            Val::Place(LValue::Memory(memory)) if matches!(memory.ty, Type::Vec(_)) => {
                let again = seen.contains(&memory.place.object);
                seen.push(memory.place.object);
                again
            }
            _ => false,
        }
    }
    repeats(val, &mut Vec::new())
}
