//! Sorting: a list of positions is sorted, and the elements are moved by it.
//!
//! The positions are integers, so nothing of the sort itself has a derivative; that of moving the elements is exact. It is a merge sort
//! from below, stable and of as many comparisons as Rust's own, up to a factor. `sort_unstable` and its like are stable too.

use proc_macro2::Span;
use syn::Result;
use syn::spanned::Spanned;

use super::Lowerer;
use super::control::lv_of;
use super::val::{LValue, Val};
use stratape_ir::{Binary, Compare, Init, Range, Scalar, Type, ValueId};

/// Whether the first of two elements comes after the second.
type After<'a, 'm> = &'a dyn Fn(&mut Lowerer<'m>, Val, Val) -> Result<ValueId>;

impl<'m> Lowerer<'m> {
    /// `sort`, `sort_by`, `sort_by_key` and the unstable ones; `None` if it is another method.
    pub(super) fn sort(&mut self, lv: &LValue, call: &syn::ExprMethodCall) -> Result<Option<Val>> {
        let span = call.span();
        let name = call.method.to_string().replace("_unstable", "").replace("_cached", "");
        let f = match (name.as_str(), call.args.first()) {
            ("sort", None) => None,
            ("sort_by" | "sort_by_key", Some(arg)) => Some(self.operand(arg)?),
            _ => return Ok(None),
        };
        let after = |me: &mut Self, a: Val, b: Val| match &f {
            Some(f) if name == "sort_by" => {
                let ordering = me.apply(f, vec![a, b], span)?;
                me.is_greater(ordering, span)
            }
            Some(f) => {
                let (a, b) = (me.apply(f, vec![a], span)?, me.apply(f, vec![b], span)?);
                me.above(a, b, span)
            }
            None => me.above(a, b, span),
        };
        let order = self.sorted_positions(lv, span, &after)?;
        let old = self.copied_list(lv, span)?;
        let (zero, len) = (self.b.usize(0, span), self.len_of(lv, span)?);
        self.repeat(Range::UpTo { from: zero, to: len }, false, None, &[], span, |me, at| {
            let from = me.position_at(&order, at, span)?;
            me.copy_element(lv, at, &old, from, span)
        })?;
        Ok(Some(Val::Unit))
    }

    /// `a > b` of numbers with a total order.
    fn above(&mut self, a: Val, b: Val, span: Span) -> Result<ValueId> {
        if self.is_compared_by(&a, "partial_cmp") {
            return self.is_ordered(Compare::Gt, &a, &b, span);
        }
        let (a, b) = (self.scalar(a, span)?, self.scalar(b, span)?);
        self.unify(a, b, span)?;
        if self.is_float(a) {
            return Err(super::left_to_rustc(span, "floats have no total order: use `total_cmp`"));
        }
        Ok(self.b.compare(Compare::Gt, a, b, span))
    }

    fn position_at(&mut self, order: &LValue, at: ValueId, span: Span) -> Result<ValueId> {
        let place = self.element_unchecked(order, at, span)?;
        self.scalar(Val::Place(place), span)
    }

    fn put(&mut self, list: &LValue, at: ValueId, value: ValueId, span: Span) -> Result<()> {
        let place = self.element_unchecked(list, at, span)?;
        self.write_parts(&place, Val::Scalar(value), span)
    }

    fn positions(&mut self, len: ValueId, span: Span) -> LValue {
        let zero = self.b.usize(0, span);
        let ty = Type::Vec(Box::new(Type::Scalar(Scalar::USIZE)));
        lv_of(self.new_array(ty, Init::Repeat(Box::new(Init::Value(zero)), len), span))
    }

    /// The positions of the elements in their order.
    fn sorted_positions(
        &mut self,
        lv: &LValue,
        span: Span,
        after: After<'_, 'm>,
    ) -> Result<LValue> {
        let (zero, len) = (self.b.usize(0, span), self.len_of(lv, span)?);
        let (order, merged) = (self.positions(len, span), self.positions(len, span));
        let all = Range::UpTo { from: zero, to: len };
        self.repeat(all, false, None, &[], span, |me, at| me.put(&order, at, at, span))?;
        let (one, two) = (self.b.usize(1, span), self.b.usize(2, span));
        let live = self.live.len();
        let width = self.new_var(one);
        self.repeat_while(
            span,
            |me| Ok(me.b.compare(Compare::Lt, me.get(width), len, span)),
            |me| {
                let half = me.get(width);
                let whole = me.b.binary(Binary::Mul, half, two, span);
                let runs = me.int_method("div_ceil", vec![len, whole], span);
                let range = Range::UpTo { from: zero, to: runs };
                me.repeat(range, false, None, &[], span, |me, run| {
                    let start = me.b.binary(Binary::Mul, run, whole, span);
                    let middle = me.b.binary(Binary::Add, start, half, span);
                    let middle = me.int_method("min", vec![middle, len], span);
                    let end = me.b.binary(Binary::Add, start, whole, span);
                    let end = me.int_method("min", vec![end, len], span);
                    me.merge_runs(lv, (&order, &merged), [start, middle, end], span, after)
                })?;
                me.repeat(all, false, None, &[], span, |me, at| {
                    let position = me.position_at(&merged, at, span)?;
                    me.put(&order, at, position, span)
                })?;
                me.set(width, whole);
                Ok(())
            },
        )?;
        self.live.truncate(live);
        Ok(order)
    }

    /// Merges two runs of positions that are sorted each.
    fn merge_runs(
        &mut self,
        lv: &LValue,
        (order, merged): (&LValue, &LValue),
        [start, middle, end]: [ValueId; 3],
        span: Span,
        after: After<'_, 'm>,
    ) -> Result<()> {
        let (left, right) = (self.new_var(start), self.new_var(middle));
        self.repeat(Range::UpTo { from: start, to: end }, false, None, &[], span, |me, at| {
            let (i, j) = (me.get(left), me.get(right));
            let some_left = me.b.compare(Compare::Lt, i, middle, span);
            let some_right = me.b.compare(Compare::Lt, j, end, span);
            let from_left = me.branch(
                some_left,
                span,
                |me| {
                    me.branch(
                        some_right,
                        span,
                        |me| {
                            let (i, j) =
                                (me.position_at(order, i, span)?, me.position_at(order, j, span)?);
                            let a = me.element_unchecked(lv, i, span)?;
                            let b = me.element_unchecked(lv, j, span)?;
                            let later = after(me, Val::Ref(a), Val::Ref(b))?;
                            Ok(Val::Scalar(me.b.not(later, span)))
                        },
                        |me| Ok(Val::Scalar(me.b.bool(true, span))),
                    )
                },
                |me| Ok(Val::Scalar(me.b.bool(false, span))),
            )?;
            let from_left = me.scalar(from_left, span)?;
            let source = me.b.select(from_left, i, j, span);
            let position = me.position_at(order, source, span)?;
            me.put(merged, at, position, span)?;
            let one = me.b.usize(1, span);
            let (next_i, next_j) =
                (me.b.binary(Binary::Add, i, one, span), me.b.binary(Binary::Add, j, one, span));
            let i = me.b.select(from_left, next_i, i, span);
            let j = me.b.select(from_left, j, next_j, span);
            me.set(left, i);
            me.set(right, j);
            Ok(())
        })?;
        Ok(())
    }

    /// `is_sorted` and its like of a slice.
    pub(super) fn slice_is_sorted(
        &mut self,
        lv: &LValue,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        let name = call.method.to_string();
        self.search(&super::iter::Iter::Slice(lv.clone()), &name, &args, call)
    }
}
