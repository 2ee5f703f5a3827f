//! Lists whose length changes: an object that may be longer than the list, and a variable that holds the length. Where it gets too short, a longer
//! one takes its place.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::control::lv_of;
use super::infer::Class;
use super::iter::Iter;
use super::moves::LENGTH_METHODS;
use super::val::{Kind, LValue, Memory, Val, Window};
use super::{Lowerer, exits, unsupported};
use stratape_ir::{
    Binary, Check, Compare, Init, Op, Origin, Place, Range, Scalar, Stmt, Type, ValueId,
};

impl Lowerer<'_> {
    /// `Vec::new()` and other functions that make lists.
    pub(super) fn list_function(
        &mut self,
        name: &str,
        args: Vec<Val>,
        at: Span,
        span: Span,
    ) -> Result<Val> {
        let mut args = args.into_iter();
        match (name, args.next()) {
            ("new", None) | ("default", None) => self.fresh_list(span),
            ("with_capacity", Some(_)) => self.fresh_list(span),
            ("from" | "from_iter", Some(Val::Iter(iter))) => self.collect_list(&iter, span),
            ("from_iter", Some(val)) => {
                let iter = self.iterator(val, span)?;
                self.collect_list(&iter, span)
            }
            ("from", Some(val)) => {
                let list = self.own_list(&val, true, span)?;
                Ok(Val::Place(LValue::Memory(list)))
            }
            // `Vec::len` and other methods as functions.
            (method, Some(receiver)) if args.len() == 0 => {
                self.method_as_function(receiver, &syn::Ident::new(method, at), span)
            }
            _ => Err(unsupported(
                at,
                &format!("`Vec::{name}`"),
                "use `Vec::new`, `Vec::with_capacity`, `Vec::from`, `vec![…]` or `collect`",
            )),
        }
    }

    /// An empty list of elements whose type will show.
    pub(super) fn fresh_list(&mut self, span: Span) -> Result<Val> {
        let item = self.fresh(Class::Any);
        let ty = Type::Vec(Box::new(Type::Scalar(item)));
        let object = self.new_local(ty.clone(), span);
        let (len, zero) = (self.b.usize(0, span), self.b.new_value(item, span));
        self.b.node(Stmt::Let { value: zero, op: Op::Int(0) });
        self.untyped.push((zero, item));
        let init = Init::Repeat(Box::new(Init::Value(zero)), len);
        self.b.node(Stmt::New { object, init });
        let len = Some(self.new_var(len));
        Ok(Val::Place(LValue::Memory(Memory { len, ..Memory::whole(object, ty) })))
    }

    /// A list with elements of the type that has shown since it was bound.
    pub(super) fn retyped(&self, val: Val) -> Val {
        let now = |memory: Memory| {
            let whole = memory.len.is_some() && memory.place.path.is_empty();
            let known = &self.b.function.objects[memory.place.object.index()].ty;
            let ty = if whole { known.clone() } else { memory.ty.clone() };
            LValue::Memory(Memory { ty, ..memory })
        };
        match val {
            Val::Place(LValue::Memory(memory)) => Val::Place(now(memory)),
            Val::Ref(LValue::Memory(memory)) => Val::Ref(now(memory)),
            val => val,
        }
    }

    /// Gives the elements of lists that were made empty their type, now that all types are known.
    pub(super) fn settle_empty_lists(&mut self) {
        for (value, ty) in std::mem::take(&mut self.untyped) {
            if self.infer.class(ty) == Some(Class::Any) {
                // Nothing was ever put there.
                let float = Scalar::Float(stratape_ir::Float::F64);
                let _ = self.infer.unify(ty, float, Span::call_site());
            }
            let op = self.zero_op(ty);
            self.b.redefine(value, &op);
        }
    }

    /// Gives the elements of an empty list the type that has shown.
    pub(super) fn retype(&mut self, memory: &Memory, item: &Type, span: Span) -> Result<()> {
        let unknown = matches!(memory.ty.element(), Some(Type::Scalar(scalar))
            if self.infer.class(*scalar) == Some(Class::Any));
        if !unknown || matches!(item, Type::Scalar(_)) || !memory.place.path.is_empty() {
            return Ok(());
        }
        let object = memory.place.object;
        self.b.function.objects[object.index()].ty = Type::Vec(Box::new(item.clone()));
        self.b.open();
        let init = self.zero_init(item, span)?;
        let before = self.b.close();
        self.b.remake(object, before, init);
        Ok(())
    }

    /// A method that changes the length of a list.
    pub(super) fn length_method(
        &mut self,
        memory: &Memory,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let (name, span) = (call.method.to_string(), call.span());
        if !LENGTH_METHODS.contains(&name.as_str()) {
            return Ok(None);
        }
        let local = self.b.function.objects[memory.place.object.index()].origin == Origin::Local;
        let Some(var) = memory.len else {
            if local && !memory.place.path.is_empty() && matches!(memory.ty, Type::Vec(_)) {
                return self.length_method_inside(memory, call);
            }
            return Err(unsupported(
                call.method.span(),
                "a change of the length of this list",
                "make a list of the function's own (`let mut v = Vec::new();`, `let mut v = x.to_vec();`), and change that",
            ));
        };
        let one = || {
            let missing = || Error::new(span, format!("`{name}` takes an argument"));
            call.args.first().ok_or_else(missing)
        };
        match name.as_str() {
            "push" => {
                let val = self.expr(one()?)?;
                self.push(memory, val, span)?;
            }
            "pop" => return self.pop(memory, span).map(Some),
            "clear" => {
                let zero = self.b.usize(0, span);
                self.set(var, zero);
            }
            "truncate" => {
                let len = self.usize_expr(one()?)?;
                let len = self.int_method("min", vec![self.get(var), len], span);
                self.set(var, len);
            }
            "resize" => {
                let len = self.usize_expr(one()?)?;
                let Some(fill) = call.args.get(1) else {
                    return Err(Error::new(span, "`resize` takes two arguments"));
                };
                let fill = self.expr(fill)?;
                self.resize(memory, len, &fill, span)?;
            }
            "extend" | "extend_from_slice" | "append" => {
                let val = self.expr(one()?)?;
                let source = val.clone();
                let iter = self.iterator(val, span)?;
                self.extend(memory, &iter, span)?;
                if let ("append", Val::Ref(LValue::Memory(Memory { len: Some(other), .. }))) =
                    (name.as_str(), source)
                {
                    let zero = self.b.usize(0, span);
                    self.set(other, zero);
                }
            }
            "swap_remove" => {
                let index = self.usize_expr(one()?)?;
                return self.swap_remove(memory, index, span).map(Some);
            }
            _ => return self.edit_method(memory, call),
        }
        Ok(Some(Val::Unit))
    }

    /// The variable of a list that changes its length, and the list as it is typed by now.
    pub(super) fn growing(&self, memory: &Memory, span: Span) -> Result<(super::VarId, LValue)> {
        let Some(var) = memory.len else { return Err(Error::new(span, "a `Vec` was expected")) };
        let mut memory = memory.clone();
        if memory.place.path.is_empty() {
            memory.ty = self.b.function.objects[memory.place.object.index()].ty.clone();
        }
        Ok((var, LValue::Memory(memory)))
    }

    /// The variable of a list's length and the list, which has room for one more value.
    pub(super) fn room_for_one(
        &mut self,
        memory: &Memory,
        val: &Val,
        span: Span,
    ) -> Result<(super::VarId, LValue)> {
        if let Some(item) = self.type_in_memory(val) {
            self.retype(memory, &item, span)?;
        }
        let (var, list) = self.growing(memory, span)?;
        let (len, one) = (self.get(var), self.b.usize(1, span));
        let more = self.b.binary(Binary::Add, len, one, span);
        if !self.reserved.contains(&memory.place.object) {
            self.reserve(&list, more, span)?;
        }
        Ok((var, list))
    }

    pub(super) fn push(&mut self, memory: &Memory, val: Val, span: Span) -> Result<()> {
        let (var, list) = self.room_for_one(memory, &val, span)?;
        let (len, one) = (self.get(var), self.b.usize(1, span));
        let more = self.b.binary(Binary::Add, len, one, span);
        let place = self.element_unchecked(&list, len, span)?;
        self.write_parts(&place, val, span)?;
        self.set(var, more);
        Ok(())
    }

    pub(super) fn pop(&mut self, memory: &Memory, span: Span) -> Result<Val> {
        let (var, list) = self.growing(memory, span)?;
        let (len, zero, one) = (self.get(var), self.b.usize(0, span), self.b.usize(1, span));
        let some = self.b.compare(Compare::Gt, len, zero, span);
        let last = self.int_method("saturating_sub", vec![len, one], span);
        self.set(var, last);
        let val = self.branch(
            some,
            span,
            |me| {
                let place = me.element_unchecked(&list, last, span)?;
                me.taken_out(&place, span)
            },
            |_| Ok(Val::Never),
        )?;
        Ok(Self::some_if(some, val))
    }

    fn swap_remove(&mut self, memory: &Memory, index: ValueId, span: Span) -> Result<Val> {
        let (var, list) = self.growing(memory, span)?;
        let (len, one) = (self.get(var), self.b.usize(1, span));
        let at = self.b.at(span);
        self.b.node(Stmt::Check { check: Check::Bounds { index, len }, span: at });
        let last = self.b.binary(Binary::Sub, len, one, span);
        let (place, end) = (
            self.element_unchecked(&list, index, span)?,
            self.element_unchecked(&list, last, span)?,
        );
        let (removed, moved) = (self.taken_out(&place, span)?, self.taken_out(&end, span)?);
        self.write_parts(&place, moved, span)?;
        self.set(var, last);
        Ok(removed)
    }

    fn resize(&mut self, memory: &Memory, to: ValueId, fill: &Val, span: Span) -> Result<()> {
        if let Some(item) = self.type_in_memory(fill) {
            self.retype(memory, &item, span)?;
        }
        let (var, list) = self.growing(memory, span)?;
        self.reserve(&list, to, span)?;
        let range = Range::UpTo { from: self.get(var), to };
        self.repeat(range, false, None, &[], span, |me, at| {
            let place = me.element_unchecked(&list, at, span)?;
            let item = me.clone_of(&lv_of(fill.clone()), span)?;
            me.write_parts(&place, item, span)
        })?;
        self.set(var, to);
        Ok(())
    }

    fn extend(&mut self, memory: &Memory, iter: &Iter, span: Span) -> Result<()> {
        let (var, list) = self.growing(memory, span)?;
        let mut newly = false;
        if iter.is_visited() {
            let more = self.iter_len(iter, span)?;
            let most = self.b.binary(Binary::Add, self.get(var), more, span);
            self.reserve(&list, most, span)?;
            newly = self.reserved.insert(memory.place.object);
        }
        let looped = self.each(iter, None, &[], span, &mut |me, item| {
            let item = me.value_of(item, span)?;
            me.push(memory, item, span)
        });
        if newly {
            self.reserved.remove(&memory.place.object);
        }
        looped.map(|_| ())
    }

    /// What an element holds, which is not needed there any more: lists in it leave empty ones behind.
    pub(super) fn taken_out(&mut self, lv: &LValue, span: Span) -> Result<Val> {
        match lv {
            LValue::Memory(memory) if matches!(memory.ty, Type::Vec(_)) => self.taken(memory, span),
            LValue::Memory(memory) if !memory.ty.is_fixed() => {
                let (kind, count) = match &memory.ty {
                    Type::Struct(def) => (self.module.kind_of(def), def.fields.len()),
                    Type::Tuple(items) => (Kind::Tuple, items.len()),
                    _ => return self.read(lv, span),
                };
                let mut parts = Vec::new();
                for index in 0..count {
                    let part = self.field_of(lv, index, span)?;
                    parts.push(self.taken_out(&part, span)?);
                }
                Ok(Val::Parts(kind, parts))
            }
            LValue::Parts(kind, parts) => {
                let parts =
                    parts.iter().map(|part| self.taken_out(part, span)).collect::<Result<_>>()?;
                Ok(Val::Parts(kind.clone(), parts))
            }
            lv => self.read(lv, span),
        }
    }

    /// Moves the elements of a list to another.
    fn move_elements(&mut self, target: &LValue, source: &LValue, span: Span) -> Result<()> {
        let (from, to) = (self.b.usize(0, span), self.len_of(source, span)?);
        self.repeat(Range::UpTo { from, to }, false, None, &[], span, |me, counter| {
            let item = me.element_unchecked(source, counter, span)?;
            let val = me.taken_out(&item, span)?;
            let place = me.element_unchecked(target, counter, span)?;
            me.write_parts(&place, val, span)
        })?;
        Ok(())
    }

    /// Sees to it that an object has room for a list of a length.
    fn reserve(&mut self, list: &LValue, len: ValueId, span: Span) -> Result<()> {
        let LValue::Memory(memory) = list else { return Ok(()) };
        if self.b.remake_unused(memory.place.object, len) {
            return Ok(());
        }
        let room = self.b.emit(Op::Len(memory.place.clone()), Scalar::USIZE, span);
        let short = self.b.compare(Compare::Lt, room, len, span);
        self.branch(
            short,
            span,
            |me| {
                let two = me.b.usize(2, span);
                let twice = me.b.binary(Binary::Mul, two, room, span);
                let room = me.int_method("max", vec![twice, len], span);
                let longer = me.zeros(&memory.ty, room, span)?;
                me.move_elements(&LValue::Memory(longer.clone()), list, span)?;
                me.change_places(memory, &longer);
                if memory.ty.element().is_some_and(|item| !item.is_fixed() && is_emptied(item)) {
                    me.b.function.emptied.insert(longer.place.object);
                }
                Ok(Val::Unit)
            },
            |_| Ok(Val::Unit),
        )?;
        Ok(())
    }

    /// Lowers a loop, with room made before it for what every iteration pushes.
    pub(super) fn with_room(
        &mut self,
        body: &syn::Block,
        iter: &Iter,
        span: Span,
        lower: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        let (mut made, mut later) = (Vec::new(), Vec::new());
        if exits::of_block(body).is_empty() && iter.has_positions() {
            for (name, count) in pushed_always(body) {
                let Some(binding) = self.lookup(&name) else { continue };
                let Val::Place(LValue::Memory(memory @ Memory { len: Some(var), .. })) =
                    binding.val.clone()
                else {
                    continue;
                };
                if self.reserved.contains(&memory.place.object) {
                    continue;
                }
                let (_, list) = self.growing(&memory, span)?;
                let trips = self.iter_len(iter, span)?;
                let times = self.b.usize(count, span);
                let more = self.b.binary(Binary::Mul, times, trips, span);
                let most = self.b.binary(Binary::Add, self.get(var), more, span);
                let remade = self.b.remake_unused(memory.place.object, most);
                if !remade && self.has_unknown_items(&list) {
                    later.push((memory.clone(), self.get(var), most));
                } else if !remade {
                    self.reserve(&list, most, span)?;
                }
                self.reserved.insert(memory.place.object);
                made.push(memory.place.object);
            }
        }
        if !later.is_empty() {
            self.b.open();
        }
        let val = lower(self);
        made.iter().for_each(|object| _ = self.reserved.remove(object));
        if !later.is_empty() {
            // What the loop pushes has shown what elements look like that are moved to a longer list before it.
            let block = self.b.close();
            for (memory, len, most) in later {
                let (var, list) = self.growing(&memory, span)?;
                let after = self.get(var);
                self.set(var, len);
                self.reserve(&list, most, span)?;
                self.set(var, after);
            }
            block.into_iter().for_each(|node| self.b.node(node));
        }
        val
    }

    /// Whether nothing has been put into a list yet that shows the type of its elements.
    fn has_unknown_items(&self, list: &LValue) -> bool {
        matches!(list, LValue::Memory(memory) if matches!(memory.ty.element(), Some(Type::Scalar(scalar))
            if self.infer.class(*scalar) == Some(Class::Any)))
    }

    /// `collect` into a `Vec`: of the items a filter lets through, if there is one.
    pub(super) fn collect_list(&mut self, iter: &Iter, span: Span) -> Result<Val> {
        if !iter.is_visited() {
            // How many there are shows when they have all been made.
            let val = self.fresh_list(span)?;
            if let Val::Place(LValue::Memory(list)) = &val {
                self.extend(list, iter, span)?;
            }
            return Ok(self.retyped(val));
        }
        let len = self.iter_len(iter, span)?;
        let item = self.fresh(Class::Any);
        let object = self.new_local(Type::Vec(Box::new(Type::Scalar(item))), span);
        let zero = self.b.usize(0, span);
        let var = (!iter.has_positions()).then(|| self.new_var(zero));
        let mut found: Option<Type> = None;
        self.b.open();
        let looped =
            self.repeat(Range::UpTo { from: zero, to: len }, false, None, &[], span, |me, at| {
                me.visit(iter, at, span, &mut |me, item| {
                    let item = me.value_of(item, span)?;
                    let Some(ty) = me.type_in_memory(&item) else {
                        return Err(unsupported(
                            span,
                            "`collect` of this",
                            "collect numbers, tuples, structs, arrays or lists of them",
                        ));
                    };
                    let at = var.map_or(at, |var| me.get(var));
                    let list = Memory::whole(object, Type::Vec(Box::new(ty.clone())));
                    found = Some(ty);
                    let place = me.element_unchecked(&LValue::Memory(list), at, span)?;
                    me.write_parts(&place, item, span)?;
                    if let Some(var) = var {
                        let one = me.b.usize(1, span);
                        let next = me.b.binary(Binary::Add, at, one, span);
                        me.set(var, next);
                    }
                    Ok(())
                })
            });
        let block = self.b.close();
        looped?;
        let item = found.unwrap_or(Type::Scalar(item));
        let ty = Type::Vec(Box::new(item.clone()));
        self.b.function.objects[object.index()].ty = ty.clone();
        let init = self.zero_init(&item, span)?;
        self.b.node(Stmt::New { object, init: Init::Repeat(Box::new(init), len) });
        block.into_iter().for_each(|node| self.b.node(node));
        let window = var.map(|var| Window { start: zero, len: self.get(var) });
        let memory = Memory { place: Place::whole(object), ty, window, len: None };
        Ok(Val::Place(LValue::Memory(memory)))
    }
}

/// Whether an element leaves nothing but empty lists behind when it is taken out.
fn is_emptied(ty: &Type) -> bool {
    match ty {
        Type::Tuple(items) => items.iter().all(is_emptied),
        Type::Struct(def) => def.fields.iter().all(|(_, item)| is_emptied(item)),
        Type::Vec(_) => true,
        ty => ty.is_fixed(),
    }
}

/// Lists that a loop's body pushes to in its own statements and changes nowhere else, by their names, and how often.
fn pushed_always(body: &syn::Block) -> Vec<(String, usize)> {
    let name_of = |expr: &syn::Expr| match expr {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let mut pushed: Vec<(String, usize)> = Vec::new();
    for stmt in &body.stmts {
        if let syn::Stmt::Expr(syn::Expr::MethodCall(call), _) = stmt
            && call.method == "push"
            && let Some(name) = name_of(&call.receiver)
        {
            match pushed.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => pushed.push((name, 1)),
            }
        }
    }
    pushed.retain(|(name, count)| mentions(body, name) == *count);
    pushed
}

/// How often a name is mentioned.
fn mentions(body: &syn::Block, name: &str) -> usize {
    let words = super::mention::words_of(quote::ToTokens::to_token_stream(body));
    words.iter().filter(|(word, _)| word == name).count()
}
