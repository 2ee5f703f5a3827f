//! Methods of slices that look at parts, or move elements.

use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::control::lv_of;
use super::index::as_range;
use super::iter::Iter;
use super::val::{LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Compare, Range, Type, ValueId};

impl Lowerer<'_> {
    /// A method of a slice beyond the common ones; `None` if there is no such.
    pub(super) fn rare_slice_method(
        &mut self,
        lv: &LValue,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let span = call.span();
        let name = call.method.to_string();
        let arg = |index: usize| {
            call.args
                .get(index)
                .ok_or_else(|| Error::new(span, format!("`{name}` takes more arguments")))
        };
        Ok(Some(match name.as_str() {
            "get" | "get_mut" => self.get_part(lv, arg(0)?, span)?,
            "first_mut" | "last_mut" => {
                let (len, zero) = (self.len_of(lv, span)?, self.b.usize(0, span));
                let some = self.b.compare(Compare::Gt, len, zero, span);
                let index = match name.as_str() {
                    "first_mut" => zero,
                    _ => self.less_one(len, span),
                };
                Self::some_if(some, Val::Ref(self.element_unchecked(lv, index, span)?))
            }
            "split_first" | "split_first_mut" | "split_last" | "split_last_mut" => {
                let (len, zero) = (self.len_of(lv, span)?, self.b.usize(0, span));
                let some = self.b.compare(Compare::Gt, len, zero, span);
                let (left, one) = (self.less_one(len, span), self.b.usize(1, span));
                let (index, from) =
                    if name.starts_with("split_first") { (zero, one) } else { (left, zero) };
                let item = self.element_unchecked(lv, index, span)?;
                let rest = self.window_of(lv, from, left, span)?;
                Self::some_if(some, Self::tuple(vec![Val::Ref(item), Val::Ref(rest)]))
            }
            "split_at_checked" | "split_at_mut_checked" => {
                let at = self.usize_expr(arg(0)?)?;
                let (len, zero) = (self.len_of(lv, span)?, self.b.usize(0, span));
                let some = self.b.compare(Compare::Le, at, len, span);
                let rest = self.int_method("saturating_sub", vec![len, at], span);
                let left = self.window_of(lv, zero, at, span)?;
                let right = self.window_of(lv, at, rest, span)?;
                Self::some_if(some, Self::tuple(vec![Val::Ref(left), Val::Ref(right)]))
            }
            "reverse" => {
                let (len, two) = (self.len_of(lv, span)?, self.b.usize(2, span));
                let half = self.b.binary(Binary::Div, len, two, span);
                let (zero, last) = (self.b.usize(0, span), self.less_one(len, span));
                self.repeat(
                    Range::UpTo { from: zero, to: half },
                    false,
                    None,
                    &[],
                    span,
                    |me, at| {
                        let back = me.b.binary(Binary::Sub, last, at, span);
                        let a = me.element_unchecked(lv, at, span)?;
                        let b = me.element_unchecked(lv, back, span)?;
                        me.exchange(&a, &b, span)
                    },
                )?;
                Val::Unit
            }
            "rotate_left" | "rotate_right" => {
                let by = self.usize_expr(arg(0)?)?;
                let len = self.len_of(lv, span)?;
                let fits = self.b.compare(Compare::Le, by, len, span);
                let method = &call.method;
                let otherwise = quote!(::std::vec![(); __len].#method(__by));
                self.run_unless(fits, otherwise, &[("__len", len), ("__by", by)], span);
                let by = match name.as_str() {
                    "rotate_left" => by,
                    _ => self.b.binary(Binary::Sub, len, by, span),
                };
                let old = self.copied_list(lv, span)?;
                let zero = self.b.usize(0, span);
                self.repeat(
                    Range::UpTo { from: zero, to: len },
                    false,
                    None,
                    &[],
                    span,
                    |me, at| {
                        let moved = me.b.binary(Binary::Add, at, by, span);
                        let from = me.b.binary(Binary::Rem, moved, len, span);
                        me.copy_element(lv, at, &old, from, span)
                    },
                )?;
                Val::Unit
            }
            "copy_within" => {
                let range = self.part_bounds(arg(0)?, lv, span)?;
                let to = self.usize_expr(arg(1)?)?;
                let (from, end) = range;
                let source = self.window(lv, from, end, true, span)?;
                let (len, count) = (self.len_of(lv, span)?, self.len_of(&source, span)?);
                let room = self.int_method("saturating_sub", vec![len, count], span);
                let fits = self.b.compare(Compare::Le, to, room, span);
                let check = stratape_ir::Check::Library {
                    condition: fits,
                    message: "dest is out of bounds".to_owned(),
                };
                let at = self.b.at(span);
                self.b.node(stratape_ir::Stmt::Check { check, span: at });
                let old = self.copied_list(&source, span)?;
                let zero = self.b.usize(0, span);
                self.repeat(
                    Range::UpTo { from: zero, to: count },
                    false,
                    None,
                    &[],
                    span,
                    |me, at| {
                        let target = me.b.binary(Binary::Add, to, at, span);
                        me.copy_element(lv, target, &old, at, span)
                    },
                )?;
                Val::Unit
            }
            "swap_with_slice" => {
                let (Val::Ref(other) | Val::Place(other)) = self.operand(arg(0)?)? else {
                    return Err(Error::new(span, "a slice was expected"));
                };
                let (a, b) = (self.len_of(lv, span)?, self.len_of(&other, span)?);
                let same = self.b.compare(Compare::Eq, a, b, span);
                let otherwise =
                    quote!(::std::vec![(); __a].swap_with_slice(&mut ::std::vec![(); __b]));
                self.run_unless(same, otherwise, &[("__a", a), ("__b", b)], span);
                let zero = self.b.usize(0, span);
                self.repeat(
                    Range::UpTo { from: zero, to: a },
                    false,
                    None,
                    &[],
                    span,
                    |me, at| {
                        let x = me.element_unchecked(lv, at, span)?;
                        let y = me.element_unchecked(&other, at, span)?;
                        me.exchange(&x, &y, span)
                    },
                )?;
                Val::Unit
            }
            "fill_with" => {
                let f = self.operand(arg(0)?)?;
                self.each(&Iter::Slice(lv.clone()), None, &[], span, &mut |me, item| {
                    let val = me.apply(&f, Vec::new(), span)?;
                    me.write_parts(&lv_of(item), val, span)
                })?;
                Val::Unit
            }
            "contains" => {
                let wanted = self.expr(arg(0)?)?;
                self.any_element(lv, span, |me, item| me.equal(&item, &wanted, span))?
            }
            "starts_with" | "ends_with" => {
                let (Val::Ref(other) | Val::Place(other)) = self.operand(arg(0)?)? else {
                    return Err(Error::new(span, "a slice was expected"));
                };
                let (len, count) = (self.len_of(lv, span)?, self.len_of(&other, span)?);
                let room = self.b.compare(Compare::Le, count, len, span);
                let from = match name.as_str() {
                    "starts_with" => self.b.usize(0, span),
                    _ => self.int_method("saturating_sub", vec![len, count], span),
                };
                let part = self.window_of(lv, from, count, span)?;
                self.branch(
                    room,
                    span,
                    |me| {
                        let same = me.equal(&Val::Ref(part), &Val::Ref(other), span)?;
                        Ok(Val::Scalar(same))
                    },
                    |me| Ok(Val::Scalar(me.b.bool(false, span))),
                )?
            }
            "partition_point" => {
                let f = self.operand(arg(0)?)?;
                Val::Scalar(self.partition_point(lv, span, |me, item| {
                    let holds = me.apply(&f, vec![item], span)?;
                    me.scalar(holds, span)
                })?)
            }
            "concat" => self.concat(lv, span)?,
            "front" | "front_mut" | "back" | "back_mut" => self.front_and_back(lv, &name, span)?,
            "binary_search" | "binary_search_by" | "binary_search_by_key" => {
                return self.binary_search(lv, call);
            }
            "make_contiguous" => Val::Ref(lv.clone()),
            "shrink_to_fit" | "reserve" | "reserve_exact" => Val::Unit,
            name if name.starts_with("sort") => return self.sort(lv, call),
            "is_sorted" | "is_sorted_by_key" => return self.slice_is_sorted(lv, call),
            _ => return Ok(None),
        }))
    }

    /// One less than a length, zero for none.
    fn less_one(&mut self, len: ValueId, span: Span) -> ValueId {
        let one = self.b.usize(1, span);
        self.int_method("saturating_sub", vec![len, one], span)
    }

    /// `get(i)` and `get(a..b)`
    fn get_part(&mut self, lv: &LValue, arg: &Expr, span: Span) -> Result<Val> {
        let len = self.len_of(lv, span)?;
        if as_range(arg).is_none() {
            let index = self.usize_expr(arg)?;
            let some = self.b.compare(Compare::Lt, index, len, span);
            let item = self.element_unchecked(lv, index, span)?;
            return Ok(Self::some_if(some, Val::Ref(item)));
        }
        let (from, to) = self.part_bounds(arg, lv, span)?;
        let ordered = self.b.compare(Compare::Le, from, to, span);
        let inside = self.b.compare(Compare::Le, to, len, span);
        let some = self.b.binary(Binary::BitAnd, ordered, inside, span);
        let count = self.int_method("saturating_sub", vec![to, from], span);
        let part = self.window_of(lv, from, count, span)?;
        Ok(Self::some_if(some, Val::Ref(part)))
    }

    /// The bounds that a range means in a list.
    pub(super) fn part_bounds(
        &mut self,
        arg: &Expr,
        lv: &LValue,
        span: Span,
    ) -> Result<(ValueId, ValueId)> {
        let Some(range) = as_range(arg) else {
            return Err(unsupported(arg.span(), "a range as a value", "write the range here"));
        };
        let from = match &range.start {
            Some(start) => self.usize_expr(start)?,
            None => self.b.usize(0, span),
        };
        let to = match (&range.end, &range.limits) {
            (None, _) => self.len_of(lv, span)?,
            (Some(end), syn::RangeLimits::HalfOpen(_)) => self.usize_expr(end)?,
            (Some(end), syn::RangeLimits::Closed(_)) => {
                let last = self.usize_expr(end)?;
                self.next(last, span)
            }
        };
        Ok((from, to))
    }

    /// Exchanges what two places hold.
    pub(super) fn exchange(&mut self, a: &LValue, b: &LValue, span: Span) -> Result<()> {
        let (old_a, old_b) = (self.taken_out(a, span)?, self.taken_out(b, span)?);
        self.write_parts(a, old_b, span)?;
        self.write_parts(b, old_a, span)
    }

    /// `list[at] = source[from]`
    pub(super) fn copy_element(
        &mut self,
        list: &LValue,
        at: ValueId,
        source: &LValue,
        from: ValueId,
        span: Span,
    ) -> Result<()> {
        let item = self.element_unchecked(source, from, span)?;
        let val = self.read(&item, span)?;
        let place = self.element_unchecked(list, at, span)?;
        self.write_parts(&place, val, span)
    }

    /// A new list with what a slice holds.
    pub(super) fn copied_list(&mut self, lv: &LValue, span: Span) -> Result<LValue> {
        let (zero, len) = (self.b.usize(0, span), self.len_of(lv, span)?);
        let part = self.window_of(lv, zero, len, span)?;
        Ok(lv_of(self.clone_of(&part, span)?))
    }

    /// Whether a test holds for one of the elements; the rest is not asked.
    fn any_element(
        &mut self,
        lv: &LValue,
        span: Span,
        test: impl Fn(&mut Self, Val) -> Result<ValueId>,
    ) -> Result<Val> {
        let live = self.live.len();
        let no = self.b.bool(false, span);
        let var = self.new_var(no);
        self.each(&Iter::Slice(lv.clone()), None, &[], span, &mut |me, item| {
            let found = me.get(var);
            let now = me.branch(
                found,
                span,
                |_| Ok(Val::Scalar(found)),
                |me| Ok(Val::Scalar(test(me, item)?)),
            )?;
            let now = me.scalar(now, span)?;
            me.set(var, now);
            Ok(())
        })?;
        let found = self.get(var);
        self.live.truncate(live);
        Ok(Val::Scalar(found))
    }

    /// The first position at which a test fails, by halving.
    pub(super) fn partition_point(
        &mut self,
        lv: &LValue,
        span: Span,
        test: impl Fn(&mut Self, Val) -> Result<ValueId>,
    ) -> Result<ValueId> {
        let live = self.live.len();
        let (zero, len) = (self.b.usize(0, span), self.len_of(lv, span)?);
        let (low, high) = (self.new_var(zero), self.new_var(len));
        self.repeat_while(
            span,
            |me| Ok(me.b.compare(Compare::Lt, me.get(low), me.get(high), span)),
            |me| {
                let sum = me.b.binary(Binary::Add, me.get(low), me.get(high), span);
                let two = me.b.usize(2, span);
                let middle = me.b.binary(Binary::Div, sum, two, span);
                let item = me.element_unchecked(lv, middle, span)?;
                let holds = test(me, Val::Ref(item))?;
                let one = me.b.usize(1, span);
                let after = me.b.binary(Binary::Add, middle, one, span);
                let next_low = me.b.select(holds, after, me.get(low), span);
                let next_high = me.b.select(holds, me.get(high), middle, span);
                me.set(low, next_low);
                me.set(high, next_high);
                Ok(())
            },
        )?;
        let found = self.get(low);
        self.live.truncate(live);
        Ok(found)
    }

    /// A `Vec` of the elements of arrays of one length.
    fn concat(&mut self, lv: &LValue, span: Span) -> Result<Val> {
        let missing = || unsupported(span, "`concat` of this", "use it on a list of lists");
        let LValue::Memory(Memory { ty, .. }) = lv else { return Err(missing()) };
        if let Some(Type::Vec(_) | Type::Slice(_)) = ty.element() {
            let rows = self.iterator(Val::Ref(lv.clone()), span)?;
            return self.collect_list(&Iter::FlatMap(Box::new(rows), None, false), span);
        }
        let Some(Type::Array(item, _)) = ty.element().cloned() else { return Err(missing()) };
        let zero = self.b.usize(0, span);
        let first = self.element_unchecked(lv, zero, span)?;
        let (rows, columns) = (self.len_of(lv, span)?, self.len_of(&first, span)?);
        let len = self.b.binary(Binary::Mul, rows, columns, span);
        let init = self.zero_init(&item, span)?;
        let vec = Type::Vec(item);
        let init = stratape_ir::Init::Repeat(Box::new(init), len);
        let list = self.new_array(vec, init, span);
        let target = lv_of(list.clone());
        self.repeat(Range::UpTo { from: zero, to: rows }, false, None, &[], span, |me, row| {
            let source = me.element_unchecked(lv, row, span)?;
            let start = me.b.binary(Binary::Mul, row, columns, span);
            me.repeat(
                Range::UpTo { from: zero, to: columns },
                false,
                None,
                &[],
                span,
                |me, at| {
                    let to = me.b.binary(Binary::Add, start, at, span);
                    me.copy_element(&target, to, &source, at, span)
                },
            )?;
            Ok(())
        })?;
        Ok(list)
    }

    /// A loop that runs as long as a condition holds, without jumps of the user's.
    pub(super) fn repeat_while(
        &mut self,
        span: Span,
        condition: impl FnOnce(&mut Self) -> Result<ValueId>,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.frames.push(super::control::Frame::default());
        let live = self.live.len();
        self.going(span);
        let looped = self.repeat(Range::Forever, false, None, &[], span, |me, _| {
            let holds = condition(me)?;
            me.branch(
                holds,
                span,
                |me| body(me).map(|()| Val::Unit),
                |me| {
                    let broke = me.frame().loops.last().and_then(|frame| frame.broke);
                    me.jump(broke, span);
                    Ok(Val::Unit)
                },
            )?;
            Ok(())
        });
        self.frames.pop();
        self.live.truncate(live);
        looped.map(|_| ())
    }
}
