//! `insert`, `remove`, `retain`, `drain` and what else changes a list in its middle: the elements behind move.
//!
//! A `VecDeque` is such a list too. Its front is the list's first element, so that taking it moves the others.

use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::iter::Iter;
use super::val::{LValue, Memory, Val, VarId};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Check, Compare, Range, Stmt, Type, ValueId};

impl Lowerer<'_> {
    /// A method that inserts elements into a list, or takes some out; `None` for other methods.
    pub(super) fn edit_method(
        &mut self,
        memory: &Memory,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let (name, span) = (call.method.to_string(), call.span());
        let arg = |index: usize| {
            let missing = || Error::new(span, format!("`{name}` takes more arguments"));
            call.args.get(index).ok_or_else(missing)
        };
        let zero = self.b.usize(0, span);
        Ok(Some(match name.as_str() {
            "push_back" => {
                let val = self.expr(arg(0)?)?;
                self.push(memory, val, span)?;
                Val::Unit
            }
            "pop_back" => self.pop(memory, span)?,
            "push_front" => {
                let val = self.expr(arg(0)?)?;
                self.insert(memory, zero, val, span)?;
                Val::Unit
            }
            "pop_front" => {
                let (var, _) = self.growing(memory, span)?;
                let some = self.b.compare(Compare::Gt, self.get(var), zero, span);
                let take = |me: &mut Self| me.remove(memory, zero, span);
                let val = self.branch(some, span, take, |_| Ok(Val::Never))?;
                Self::some_if(some, val)
            }
            "insert" => {
                let at = self.usize_expr(arg(0)?)?;
                let val = self.expr(arg(1)?)?;
                let (var, _) = self.growing(memory, span)?;
                let len = self.get(var);
                let inside = self.b.compare(Compare::Le, at, len, span);
                let otherwise = quote!(::std::vec![(); __len].insert(__at, ()));
                self.run_unless(inside, otherwise, &[("__len", len), ("__at", at)], span);
                self.insert(memory, at, val, span)?;
                Val::Unit
            }
            "remove" if self.module.has_deques => {
                return Err(unsupported(
                    call.method.span(),
                    "`remove` beside a `VecDeque`, whose `remove` yields an `Option`",
                    "use `drain(i..=i).next()`, which is the same for both",
                ));
            }
            "remove" => {
                let at = self.usize_expr(arg(0)?)?;
                let (var, _) = self.growing(memory, span)?;
                let len = self.get(var);
                let inside = self.b.compare(Compare::Lt, at, len, span);
                let otherwise = quote!(let _: () = ::std::vec![(); __len].remove(__at));
                self.run_unless(inside, otherwise, &[("__len", len), ("__at", at)], span);
                self.remove(memory, at, span)?
            }
            "retain" | "retain_mut" => {
                let f = self.operand(arg(0)?)?;
                self.keep_if(memory, span, |me, item, _| me.asked(&f, &item, span))?;
                Val::Unit
            }
            "dedup" | "dedup_by" | "dedup_by_key" => {
                let f = match call.args.first() {
                    Some(f) => Some(self.operand(f)?),
                    None => None,
                };
                let by_key = name == "dedup_by_key";
                self.keep_if(memory, span, |me, item, before| match before {
                    None => Ok(me.b.bool(true, span)),
                    Some(before) => {
                        let same = match &f {
                            None => me.equal(&item, &before, span)?,
                            Some(f) if by_key => {
                                let (a, b) = (
                                    me.apply(f, vec![item], span)?,
                                    me.apply(f, vec![before], span)?,
                                );
                                me.equal(&a, &b, span)?
                            }
                            Some(f) => {
                                let same = me.apply(f, vec![item, before], span)?;
                                me.scalar(same, span)?
                            }
                        };
                        Ok(me.b.not(same, span))
                    }
                })?;
                Val::Unit
            }
            "drain" => {
                let (var, list) = self.growing(memory, span)?;
                let (from, to) = self.part_bounds(arg(0)?, &list, span)?;
                let len = self.get(var);
                let at = self.b.at(span);
                self.b.node(Stmt::Check { check: Check::Range { from, to, len }, span: at });
                let taken = self.take_part(&list, from, to, span)?;
                let count = self.b.binary(Binary::Sub, to, from, span);
                let left = self.b.binary(Binary::Sub, len, count, span);
                self.shift(&list, (from, left), count, span)?;
                self.set(var, left);
                Val::Iter(Box::new(Iter::Copied(Box::new(Iter::Slice(taken)))))
            }
            "split_off" => {
                let at = self.usize_expr(arg(0)?)?;
                let (var, list) = self.growing(memory, span)?;
                let len = self.get(var);
                let inside = self.b.compare(Compare::Le, at, len, span);
                let otherwise = quote!(let _ = ::std::vec![(); __len].split_off(__at));
                self.run_unless(inside, otherwise, &[("__len", len), ("__at", at)], span);
                let taken = self.take_part(&list, at, len, span)?;
                self.set(var, at);
                Val::Place(taken)
            }
            _ => return Ok(None),
        }))
    }

    /// Puts a value before the element at a position that is known to be there, or behind the last.
    fn insert(&mut self, memory: &Memory, at: ValueId, val: Val, span: Span) -> Result<()> {
        let (var, list) = self.room_for_one(memory, &val, span)?;
        let (len, one) = (self.get(var), self.b.usize(1, span));
        self.repeat(Range::UpTo { from: at, to: len }, true, None, &[], span, |me, from| {
            let to = me.b.binary(Binary::Add, from, one, span);
            me.move_element(&list, from, to, span)
        })?;
        let place = self.element_unchecked(&list, at, span)?;
        self.write_parts(&place, val, span)?;
        let more = self.b.binary(Binary::Add, len, one, span);
        self.set(var, more);
        Ok(())
    }

    /// Takes out the element at a position that is known to be there.
    fn remove(&mut self, memory: &Memory, at: ValueId, span: Span) -> Result<Val> {
        let (var, list) = self.growing(memory, span)?;
        let place = self.element_unchecked(&list, at, span)?;
        let removed = self.taken_out(&place, span)?;
        let one = self.b.usize(1, span);
        let last = self.b.binary(Binary::Sub, self.get(var), one, span);
        self.shift(&list, (at, last), one, span)?;
        self.set(var, last);
        Ok(removed)
    }

    /// Fills a range of positions with the elements so many places behind.
    fn shift(
        &mut self,
        list: &LValue,
        (from, to): (ValueId, ValueId),
        by: ValueId,
        span: Span,
    ) -> Result<()> {
        self.repeat(Range::UpTo { from, to }, false, None, &[], span, |me, at| {
            let behind = me.b.binary(Binary::Add, at, by, span);
            me.move_element(list, behind, at, span)
        })?;
        Ok(())
    }

    fn move_element(
        &mut self,
        list: &LValue,
        from: ValueId,
        to: ValueId,
        span: Span,
    ) -> Result<()> {
        let source = self.element_unchecked(list, from, span)?;
        let val = self.taken_out(&source, span)?;
        let target = self.element_unchecked(list, to, span)?;
        self.write_parts(&target, val, span)
    }

    /// A list of what a range of positions holds, which is not needed there any more.
    fn take_part(
        &mut self,
        list: &LValue,
        from: ValueId,
        to: ValueId,
        span: Span,
    ) -> Result<LValue> {
        let count = self.b.binary(Binary::Sub, to, from, span);
        let item = match list {
            LValue::Memory(memory) => memory.ty.element().cloned(),
            _ => None,
        };
        let Some(item) = item else { return Err(Error::new(span, "a `Vec` was expected")) };
        let taken = LValue::Memory(self.zeros(&Type::Vec(Box::new(item)), count, span)?);
        let zero = self.b.usize(0, span);
        self.repeat(Range::UpTo { from: zero, to: count }, false, None, &[], span, |me, at| {
            let source = me.b.binary(Binary::Add, from, at, span);
            let source = me.element_unchecked(list, source, span)?;
            let val = me.taken_out(&source, span)?;
            let target = me.element_unchecked(&taken, at, span)?;
            me.write_parts(&target, val, span)
        })?;
        Ok(taken)
    }

    /// Drops the elements for which a test, which is shown the last one that stays too, does not hold.
    fn keep_if(
        &mut self,
        memory: &Memory,
        span: Span,
        test: impl Fn(&mut Self, Val, Option<Val>) -> Result<ValueId>,
    ) -> Result<()> {
        let (var, list) = self.growing(memory, span)?;
        let (zero, one) = (self.b.usize(0, span), self.b.usize(1, span));
        let live = self.live.len();
        let kept = self.new_var(zero);
        let range = Range::UpTo { from: zero, to: self.get(var) };
        self.repeat(range, false, None, &[], span, |me, at| {
            let item = me.element_unchecked(&list, at, span)?;
            let count = me.get(kept);
            let keeps = me.keeps(&list, &item, kept, span, &test)?;
            me.branch(
                keeps,
                span,
                |me| {
                    me.move_element(&list, at, count, span)?;
                    let next = me.b.binary(Binary::Add, count, one, span);
                    me.set(kept, next);
                    Ok(Val::Unit)
                },
                |_| Ok(Val::Unit),
            )?;
            Ok(())
        })?;
        let count = self.get(kept);
        self.live.truncate(live);
        self.set(var, count);
        Ok(())
    }

    /// Whether an element stays, by a test that is shown the last one that did, if there is one.
    fn keeps(
        &mut self,
        list: &LValue,
        item: &LValue,
        kept: VarId,
        span: Span,
        test: &impl Fn(&mut Self, Val, Option<Val>) -> Result<ValueId>,
    ) -> Result<ValueId> {
        let (zero, one) = (self.b.usize(0, span), self.b.usize(1, span));
        let some = self.b.compare(Compare::Gt, self.get(kept), zero, span);
        let answer = self.branch(
            some,
            span,
            |me| {
                let last = me.b.binary(Binary::Sub, me.get(kept), one, span);
                let before = me.element_unchecked(list, last, span)?;
                let before = Some(Val::Ref(before));
                Ok(Val::Scalar(test(me, Val::Ref(item.clone()), before)?))
            },
            |me| Ok(Val::Scalar(test(me, Val::Ref(item.clone()), None)?)),
        )?;
        self.scalar(answer, span)
    }

    /// A method that changes the length of a list inside another: the list is taken out, changed, and put back.
    pub(super) fn length_method_inside(
        &mut self,
        memory: &Memory,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let span = call.span();
        let taken = self.taken(memory, span)?;
        let list = self.own_list(&taken, true, span)?;
        let len = self.len_of(&LValue::Memory(list.clone()), span)?;
        let live = self.live.len();
        let list = Memory { window: None, len: Some(self.new_var(len)), ..list };
        let val = self.length_method(&list, call)?;
        let val = match val {
            Some(val) => Some(self.rvalue(val, span)?),
            None => None,
        };
        let changed = Val::Place(LValue::Memory(list));
        let changed = self.retyped(changed);
        self.assign_list(memory, &changed, span)?;
        self.live.truncate(live);
        Ok(val)
    }

    /// `binary_search` and its like: the position that the library finds, or where the element would go.
    pub(super) fn binary_search(
        &mut self,
        lv: &LValue,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let (name, span) = (call.method.to_string(), call.span());
        let (first, second) = (call.args.first(), call.args.get(1));
        let wanted = match (name.as_str(), first, second) {
            ("binary_search", Some(wanted), None)
            | ("binary_search_by_key", Some(wanted), Some(_)) => Some(self.operand(wanted)?),
            ("binary_search_by", Some(_), None) => None,
            _ => return Ok(None),
        };
        let f = match (name.as_str(), first, second) {
            ("binary_search_by", Some(f), _) | ("binary_search_by_key", _, Some(f)) => {
                Some(self.operand(f)?)
            }
            _ => None,
        };
        let order = |me: &mut Self, item: Val| -> Result<ValueId> {
            let found = match &f {
                Some(f) => me.apply(f, vec![item], span)?,
                None => item,
            };
            let found = match &wanted {
                Some(wanted) => me.comparison(&found, wanted, span)?,
                None => found,
            };
            me.scalar(found, span)
        };
        let live = self.live.len();
        let (zero, one, two) =
            (self.b.usize(0, span), self.b.usize(1, span), self.b.usize(2, span));
        let len = self.len_of(lv, span)?;
        let (base, size) = (self.new_var(zero), self.new_var(len));
        self.repeat_while(
            span,
            |me| Ok(me.b.compare(Compare::Gt, me.get(size), one, span)),
            |me| {
                let half = me.b.binary(Binary::Div, me.get(size), two, span);
                let middle = me.b.binary(Binary::Add, me.get(base), half, span);
                let item = me.element_unchecked(lv, middle, span)?;
                let order = order(me, Val::Ref(item))?;
                let none = me.order(0, span);
                let beyond = me.b.compare(Compare::Gt, order, none, span);
                let next = me.b.select(beyond, me.get(base), middle, span);
                me.set(base, next);
                let left = me.b.binary(Binary::Sub, me.get(size), half, span);
                me.set(size, left);
                Ok(())
            },
        )?;
        let at = self.get(base);
        self.live.truncate(live);
        let some = self.b.compare(Compare::Gt, len, zero, span);
        // An empty list has room at its start.
        let order = self.branch(
            some,
            span,
            |me| {
                let item = me.element_unchecked(lv, at, span)?;
                Ok(Val::Scalar(order(me, Val::Ref(item))?))
            },
            |me| Ok(Val::Scalar(me.order(1, span))),
        )?;
        let (order, none) = (self.scalar(order, span)?, self.order(0, span));
        let equal = self.b.compare(Compare::Eq, order, none, span);
        let below = self.b.compare(Compare::Lt, order, none, span);
        let after = self.b.binary(Binary::Add, at, one, span);
        let place = self.b.select(below, after, at, span);
        let parts = vec![Val::Scalar(equal), Val::Scalar(place), Val::Scalar(at)];
        let kind = super::val::Kind::Choice(super::choice::Choice::result());
        Ok(Some(Val::Parts(kind, parts)))
    }

    /// `front`, `back` and the mutable ones of a `VecDeque`.
    pub(super) fn front_and_back(&mut self, lv: &LValue, name: &str, span: Span) -> Result<Val> {
        let (len, zero) = (self.len_of(lv, span)?, self.b.usize(0, span));
        let some = self.b.compare(Compare::Gt, len, zero, span);
        let at = match name {
            "front" | "front_mut" => zero,
            _ => {
                let one = self.b.usize(1, span);
                self.int_method("saturating_sub", vec![len, one], span)
            }
        };
        let item = self.element_unchecked(lv, at, span)?;
        Ok(Self::some_if(some, Val::Ref(item)))
    }
}
