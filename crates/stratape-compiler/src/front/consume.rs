//! What ends a chain of iterators: sums, folds, extremes.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::generic::base_name;
use super::impls::SUMMED;
use super::items::type_text;
use super::iter::Iter;
use super::val::Val;
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Compare, Op, Range, Stmt, Type, ValueId};

impl Lowerer<'_> {
    pub(super) fn consume(
        &mut self,
        iter: &Iter,
        name: &str,
        args: Vec<Val>,
        call: &syn::ExprMethodCall,
    ) -> Result<Val> {
        let span = call.span();
        if let Some(val) = self.search(iter, name, &args, call)? {
            return Ok(val);
        }
        if let Some(val) = self.trying_method(iter, name, &args, call)? {
            return Ok(val);
        }
        let mut args = args.into_iter();
        let mut one =
            || args.next().ok_or_else(|| Error::new(span, format!("`{name}` takes an argument")));
        match name {
            "sum" | "product" => self.sum(iter, name == "product", call),
            "count" => {
                let zero = self.b.usize(0, span);
                let var = self.new_var(zero);
                self.each(iter, None, &[], span, &mut |me, _| {
                    let one = me.b.usize(1, span);
                    let next = me.b.binary(Binary::Add, me.get(var), one, span);
                    me.set(var, next);
                    Ok(())
                })?;
                Ok(Val::Scalar(self.get(var)))
            }
            "for_each" => {
                let f = one()?;
                self.each(iter, None, &[], span, &mut |me, item| {
                    me.apply(&f, vec![item], span).map(|_| ())
                })?;
                Ok(Val::Unit)
            }
            "fold" => {
                let (init, f) = (one()?, one()?);
                let init = self.rvalue(init, span)?;
                let init = self.as_vec(init, span)?;
                let state = self.variable(init, span)?;
                let lv = super::control::lv_of(state.clone());
                self.each(iter, None, &[], span, &mut |me, item| {
                    let now = me.read(&lv, span)?;
                    let next = me.apply(&f, vec![now, item], span)?;
                    let next = me.rvalue(next, span)?;
                    let next = me.detached(next, span)?;
                    me.write_parts(&lv, next, span)
                })?;
                self.rvalue(state, span)
            }
            "max_by" | "min_by" => {
                let f = one()?;
                self.extreme(iter, &f, name == "max_by", span)
            }
            "max" | "min" => {
                let method = Val::Function(syn::parse_quote!(Ord::cmp));
                self.extreme(iter, &method, name == "max", span)
            }
            "all" | "any" => {
                let f = one()?;
                let all = name == "all";
                let start = self.b.bool(all, span);
                let var = self.new_var(start);
                if !iter.is_visited() {
                    self.each_until(iter, span, &mut |me, item, end| {
                        let answer = me.apply(&f, vec![item], span)?;
                        let answer = me.scalar(answer, span)?;
                        me.set(var, answer);
                        let known = if all { me.b.not(answer, span) } else { answer };
                        me.branch(
                            known,
                            span,
                            |me| {
                                me.jump(Some(end), span);
                                Ok(Val::Unit)
                            },
                            |_| Ok(Val::Unit),
                        )?;
                        Ok(())
                    })?;
                    return Ok(Val::Scalar(self.get(var)));
                }
                self.each(iter, None, &[], span, &mut |me, item| {
                    let now = me.get(var);
                    // As in Rust, the closure is not asked again once the answer is known.
                    let asked = if all { now } else { me.b.not(now, span) };
                    me.branch(
                        asked,
                        span,
                        |me| {
                            let answer = me.apply(&f, vec![item], span)?;
                            let answer = me.scalar(answer, span)?;
                            me.set(var, answer);
                            Ok(Val::Unit)
                        },
                        |_| Ok(Val::Unit),
                    )?;
                    Ok(())
                })?;
                Ok(Val::Scalar(self.get(var)))
            }
            "unzip" if iter.has_positions() => self.unzip(iter, span),
            "unzip" => {
                let pairs = super::control::lv_of(self.collect_list(iter, span)?);
                self.unzip(&Iter::Copied(Box::new(Iter::Slice(pairs))), span)
            }
            "collect" if collects_options(call) => self.collect_options(iter, span),
            "collect" => match self.own_collection(iter, call)? {
                Some(val) => Ok(val),
                None => self.collect_list(iter, span),
            },
            "into_par_iter" | "par_iter" | "par_iter_mut" | "par_chunks" | "par_chunks_mut"
            | "par_bridge" => Err(super::threads_elsewhere(call.method.span(), name)),
            _ => Err(unsupported(
                call.method.span(),
                &format!("the iterator method `{name}`"),
                "write a `for` loop, or `collect` the items and go on from there",
            )),
        }
    }

    /// What a struct's `FromIterator` makes of the items; `None` if it has none.
    fn own_collection(&mut self, iter: &Iter, call: &syn::ExprMethodCall) -> Result<Option<Val>> {
        let Some(turbofish) = &call.turbofish else { return Ok(None) };
        let Some(syn::GenericArgument::Type(written)) = turbofish.args.first() else {
            return Ok(None);
        };
        let owner = self.module.type_name(&type_text(written));
        let Some(function) = self.own_method(&owner, "from_iter") else { return Ok(None) };
        self.certain(&owner, "from_iter", false, call.method.span())?;
        let args = vec![Val::Iter(Box::new(iter.clone()))];
        let made = match self.module.read_type(written).map(|written| written.ty) {
            Ok(Type::Struct(def)) => {
                let label = format!("{owner}::from_iter");
                self.expand_associated(&label, &function, &def, args, call.span())
            }
            // `Array1<_>`
            _ => self.expand_method(&owner, &function, args, call.span()),
        };
        made.map(Some)
    }

    /// `sum` and `product` as a struct has them; `None` if it has not.
    pub(super) fn sum_of_structs(
        &mut self,
        iter: &Iter,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Result<Option<Val>> {
        let Type::Struct(def) = ty else { return Ok(None) };
        let owner = base_name(&def.name);
        let key = (owner.to_owned(), format!("{name}{SUMMED}"));
        let Some(function) = self.module.methods.get(&key).cloned() else { return Ok(None) };
        self.certain(owner, &key.1, false, span)?;
        let label = format!("{owner}::{name}");
        let args = vec![Val::Iter(Box::new(iter.clone()))];
        self.expand_associated(&label, &function, def, args, span).map(Some)
    }

    fn sum(&mut self, iter: &Iter, product: bool, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        let name = if product { "product" } else { "sum" };
        let mut ty = None;
        if let Some(turbofish) = &call.turbofish
            && let Some(syn::GenericArgument::Type(written)) = turbofish.args.first()
        {
            let written = self.module.read_type(written)?.ty;
            if let Some(val) = self.sum_of_structs(iter, name, &written, span)? {
                return Ok(val);
            }
            ty = written.scalar();
        }
        // What the items are shows when the first is made.
        let number = self.laters;
        self.laters += 1;
        if let Some(super::Shape::Unit) = self.shapes.get(&number) {
            return self.sum_of_options(iter, product, span);
        }
        if let Some(super::Shape::Memory(item)) = self.shapes.get(&number).cloned()
            && let Some(val) = self.sum_of_structs(iter, name, &item, span)?
        {
            return Ok(val);
        }
        let ty = match ty {
            Some(ty) => ty,
            None => self.fresh(super::Class::Any),
        };
        // What the items are shows when the first one is made, so the start is written afterwards.
        let start = self.b.new_value(ty, span);
        let var = self.new_var(start);
        self.b.open();
        let looped = self.each(iter, None, &[], span, &mut |me, item| {
            if let Some(owner) = me.owner_of(&item)
                && me.module.methods.contains_key(&(owner, format!("{name}{SUMMED}")))
                && let Some(ty) = me.type_of(&item)
            {
                me.found = Some((number, super::Shape::Memory(ty)));
                return Err(Error::new(span, "the type of the items is not known yet"));
            }
            if me.choice_of(&item).is_some_and(|choice| choice.is_library()) {
                me.found = Some((number, super::Shape::Unit));
                return Err(Error::new(span, "the type of the items is not known yet"));
            }
            let item = me.scalar(item, span)?;
            let ty = me.unify(me.get(var), item, span)?;
            let sign = Self::sign_of_sum(product);
            let next = me.b.emit(Op::Binary(sign, me.get(var), item), ty, span);
            me.set(var, next);
            Ok(())
        });
        let block = self.b.close();
        looped?;
        let op = self.start_of_sum(ty, product);
        self.b.node(Stmt::Let { value: start, op });
        block.into_iter().for_each(|node| self.b.node(node));
        Ok(Val::Scalar(self.get(var)))
    }

    pub(super) fn sign_of_sum(product: bool) -> Binary {
        if product { Binary::Mul } else { Binary::Add }
    }

    /// What a sum or product begins with; Rust's own sums of floats begin at -0.0.
    pub(super) fn start_of_sum(&self, ty: stratape_ir::Scalar, product: bool) -> Op {
        match (self.infer.is_int(ty), product) {
            (true, false) => Op::Int(0),
            (true, true) => Op::Int(1),
            (false, false) => Op::Float(-0.0, "-0.0".to_owned()),
            (false, true) => Op::Float(1.0, "1.0".to_owned()),
        }
    }

    /// `max_by` and `min_by`. Over the elements of a slice the position is carried, not the value:
    /// the derivative then goes to one element, whatever the number of iterations.
    fn extreme(&mut self, iter: &Iter, f: &Val, max: bool, span: Span) -> Result<Val> {
        if !iter.has_positions() {
            return self.extreme_driven(iter, f, max, span);
        }
        let len = self.iter_len(iter, span)?;
        let zero = self.b.usize(0, span);
        let some = self.b.compare(Compare::Gt, len, zero, span);
        if let Some(lv) = iter.elements().cloned() {
            let best = self.new_var(zero);
            let one = self.b.usize(1, span);
            let rest = Range::UpTo { from: one, to: len };
            self.repeat(rest, false, None, &[], span, |me, counter| {
                let so_far = me.element_unchecked(&lv, me.get(best), span)?;
                let item = me.element_unchecked(&lv, counter, span)?;
                let replaces = me.replaces(f, max, Val::Ref(so_far), Val::Ref(item), span)?;
                let next = me.b.select(replaces, counter, me.get(best), span);
                me.set(best, next);
                Ok(())
            })?;
            let best = self.get(best);
            let place = self.element_unchecked(&lv, best, span)?;
            let val = match iter {
                Iter::Copied(_) => Val::Place(place),
                _ => Val::Ref(place),
            };
            return Ok(Self::some_if(some, val));
        }
        // The first item starts; it exists only if there is one at all.
        let mut first = None;
        let mut shape = None;
        self.branch(
            some,
            span,
            |me| {
                me.visit(iter, zero, span, &mut |me, item| {
                    let val = me.value_of(item, span)?;
                    shape = Some(val.clone());
                    first = Some(val);
                    Ok(())
                })?;
                Ok(first.take().unwrap_or(Val::Unit))
            },
            |_| Ok(Val::Never),
        )
        .and_then(|val| {
            let val = self.as_vec(val, span)?;
            let state = self.variable(val, span)?;
            let lv = super::control::lv_of(state.clone());
            let one = self.b.usize(1, span);
            let rest = Range::UpTo { from: one, to: len };
            self.repeat(rest, false, None, &[], span, |me, counter| {
                me.visit(iter, counter, span, &mut |me, item| {
                    let item = me.value_of(item, span)?;
                    let now = me.read(&lv, span)?;
                    let replaces = me.replaces(f, max, now, item.clone(), span)?;
                    me.branch(
                        replaces,
                        span,
                        |me| {
                            me.write_parts(&lv, item, span)?;
                            Ok(Val::Unit)
                        },
                        |_| Ok(Val::Unit),
                    )?;
                    Ok(())
                })
            })?;
            let val = self.rvalue(state, span)?;
            Ok(Self::some_if(some, val))
        })
    }

    /// An item with all references read.
    pub(super) fn value_of(&mut self, item: Val, span: Span) -> Result<Val> {
        match item {
            Val::Ref(lv) | Val::Place(lv) => {
                let val = self.read(&lv, span)?;
                self.as_vec(val, span)
            }
            Val::Parts(kind, parts) => {
                let parts = parts
                    .into_iter()
                    .map(|part| self.value_of(part, span))
                    .collect::<Result<_>>()?;
                Ok(Val::Parts(kind, parts))
            }
            other => Ok(other),
        }
    }

    /// Whether an item takes the place of the best so far: for a maximum, unless it is less; for a minimum,
    /// if it is less.
    pub(super) fn replaces(
        &mut self,
        f: &Val,
        max: bool,
        so_far: Val,
        item: Val,
        span: Span,
    ) -> Result<ValueId> {
        let ordering = self.apply(f, vec![so_far, item], span)?;
        let greater = self.is_greater(ordering, span)?;
        Ok(if max { self.b.not(greater, span) } else { greater })
    }
}

/// Whether `collect` is told to make an `Option` or `Result` of a list.
fn collects_options(call: &syn::ExprMethodCall) -> bool {
    let Some(turbofish) = &call.turbofish else { return false };
    match turbofish.args.first() {
        Some(syn::GenericArgument::Type(syn::Type::Path(path))) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Option" || last.ident == "Result"),
        _ => false,
    }
}
