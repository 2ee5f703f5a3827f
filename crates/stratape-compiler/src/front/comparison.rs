//! `<`, `partial_cmp` and `cmp` of structs, tuples, lists, options and enums: by the module's own `impl`, or part by part, in the
//! order in which the parts are declared.

use std::sync::Arc;

use proc_macro2::Span;
use syn::Result;
use syn::spanned::Spanned;

use super::Lowerer;
use super::control::lv_of;
use super::iter::Iter;
use super::method::list_of;
use super::pattern::part_count;
use super::val::{Kind, LValue, Val};
use stratape_ir::{Binary, Compare, Int, Op, Scalar, Struct, ValueId};

/// An `Option<Ordering>` as it is found out: whether there is one, and which.
type Found = (ValueId, ValueId);

/// The library's struct that turns comparisons round.
const REVERSE: &str = "Reverse";

impl Lowerer<'_> {
    /// `std::cmp::Reverse(val)`; `None` if the path is another, or one of the module's own.
    pub(super) fn reversed_key(&self, path: &syn::ExprPath, args: &[Val]) -> Option<Val> {
        let [arg] = args else { return None };
        let named = path.path.segments.last().is_some_and(|last| last.ident == REVERSE);
        if !named || self.module.structs.contains_key(REVERSE) {
            return None;
        }
        let fields = vec![("0".to_owned(), self.type_of(arg)?)];
        let def = Struct { name: REVERSE.to_owned(), fields, tuple: true };
        Some(Val::Parts(Kind::Struct(Arc::new(def)), vec![arg.clone()]))
    }

    /// Whether a comparison of this value is one of its parts, or a method of the module's.
    pub(super) fn is_compared_by(&self, val: &Val, method: &str) -> bool {
        self.has_parts(val)
            || self.owner_of(val).is_some_and(|owner| self.own_method(&owner, method).is_some())
    }

    /// `a < b` and its like.
    pub(super) fn is_ordered(
        &mut self,
        sign: Compare,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Result<ValueId> {
        let (some, order) = self.order_of(a, b, span)?;
        let zero = self.order(0, span);
        let holds = self.b.compare(sign, order, zero, span);
        Ok(self.b.binary(Binary::BitAnd, some, holds, span))
    }

    /// `a.partial_cmp(&b)` and its like, of what has parts, unless the module says how; `None` for other methods.
    pub(super) fn compared_by_method(
        &mut self,
        a: &Val,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let (name, span) = (call.method.to_string(), call.span());
        let compares = matches!(
            name.as_str(),
            "partial_cmp" | "cmp" | "eq" | "ne" | "lt" | "le" | "gt" | "ge"
        );
        let own = self.owner_of(a).is_some_and(|owner| self.own_method(&owner, &name).is_some());
        let (true, false, Some(b)) = (compares && self.has_parts(a), own, call.args.first()) else {
            return Ok(None);
        };
        let b = self.operand(b)?;
        let sign = match name.as_str() {
            "partial_cmp" => return self.partial_comparison(a, &b, span).map(Some),
            "cmp" => return self.comparison(a, &b, span).map(Some),
            "eq" | "ne" => {
                let same = self.equal(a, &b, span)?;
                let same = if name == "ne" { self.b.not(same, span) } else { same };
                return Ok(Some(Val::Scalar(same)));
            }
            "lt" => Compare::Lt,
            "le" => Compare::Le,
            "gt" => Compare::Gt,
            _ => Compare::Ge,
        };
        Ok(Some(Val::Scalar(self.is_ordered(sign, a, &b, span)?)))
    }

    /// `a.partial_cmp(&b)`
    pub(super) fn partial_comparison(&mut self, a: &Val, b: &Val, span: Span) -> Result<Val> {
        let (some, order) = self.order_of(a, b, span)?;
        Ok(Self::some_if(some, Val::Scalar(order)))
    }

    /// `a.cmp(&b)`
    pub(super) fn comparison(&mut self, a: &Val, b: &Val, span: Span) -> Result<Val> {
        Ok(Val::Scalar(self.order_of(a, b, span)?.1))
    }

    fn order_of(&mut self, a: &Val, b: &Val, span: Span) -> Result<Found> {
        let (a, b) = (&self.resolved(a.clone(), span)?, &self.resolved(b.clone(), span)?);
        if matches!((a, b), (Val::Never | Val::Unit, _) | (_, Val::Never | Val::Unit)) {
            return Ok(self.equally(span));
        }
        if self.owner_of(a).is_some_and(|owner| owner == REVERSE) {
            let (a, b) = (self.part(a, 0, span)?, self.part(b, 0, span)?);
            return self.order_of(&b, &a, span);
        }
        if let Some(owner) = self.owner_of(a)
            && let Some(function) = self.own_method(&owner, "partial_cmp")
        {
            let args = vec![Val::Ref(lv_of(a.clone())), Val::Ref(lv_of(b.clone()))];
            let option = self.expand_method(&owner, &function, args, span)?;
            return self.found(&option, span);
        }
        if let (Some(choice), Some(_)) = (self.choice_of(a), self.choice_of(b)) {
            let mut so_far = self.compared_tags(choice.name == "Result", a, b, span)?;
            for (index, variant) in choice.variants.iter().enumerate() {
                for part in variant.first..variant.first + variant.fields.len() {
                    let is = self.is_variant(&choice, a, index, span)?;
                    let (part_a, part_b) = (self.part(a, part, span)?, self.part(b, part, span)?);
                    so_far = self.then_by(so_far, Some(is), &part_a, &part_b, span)?;
                }
            }
            return Ok(so_far);
        }
        if let (Some(a), Some(b)) = (list_of(a), list_of(b)) {
            return self.compared_lists(&a, &b, span);
        }
        if self.has_parts(a) {
            let mut so_far = self.equally(span);
            for index in 0..part_count(a, 0) {
                let (part_a, part_b) = (self.part(a, index, span)?, self.part(b, index, span)?);
                so_far = self.then_by(so_far, None, &part_a, &part_b, span)?;
            }
            return Ok(so_far);
        }
        let (a, b) = (self.scalar(a.clone(), span)?, self.scalar(b.clone(), span)?);
        self.unify(a, b, span)?;
        let option = self.partial_ordering(a, b, span);
        self.found(&option, span)
    }

    fn equally(&mut self, span: Span) -> Found {
        (self.b.bool(true, span), self.order(0, span))
    }

    /// The parts of an `Option<Ordering>`.
    fn found(&mut self, option: &Val, span: Span) -> Result<Found> {
        let (some, order) = (self.part(option, 0, span)?, self.part(option, 1, span)?);
        Ok((self.scalar(some, span)?, self.scalar(order, span)?))
    }

    /// How two values compare by their variants. `Ok` comes before `Err`, whose tag is the lesser.
    fn compared_tags(&mut self, turned: bool, a: &Val, b: &Val, span: Span) -> Result<Found> {
        let ty = Scalar::Int(Int::Isize);
        let mut tags = Vec::new();
        for val in if turned { [b, a] } else { [a, b] } {
            let tag = self.part(val, 0, span)?;
            let tag = self.scalar(tag, span)?;
            tags.push(match self.ty(tag) {
                known if known == ty => tag,
                _ => self.b.emit(Op::Cast(tag, ty), ty, span),
            });
        }
        let yes = self.b.bool(true, span);
        Ok((yes, self.ordering_value(tags[0], tags[1], false, span)))
    }

    /// What is known, and where that is `Equal`, how two more parts compare.
    fn then_by(
        &mut self,
        (some, order): Found,
        only_if: Option<ValueId>,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Result<Found> {
        let zero = self.order(0, span);
        let equal = self.b.compare(Compare::Eq, order, zero, span);
        let mut open = self.b.binary(Binary::BitAnd, some, equal, span);
        if let Some(only_if) = only_if {
            open = self.b.binary(Binary::BitAnd, open, only_if, span);
        }
        let pair = |(some, order): Found| Self::tuple(vec![Val::Scalar(some), Val::Scalar(order)]);
        let val = self.branch(
            open,
            span,
            |me| Ok(pair(me.order_of(a, b, span)?)),
            |_| Ok(pair((some, order))),
        )?;
        self.found(&val, span)
    }

    fn compared_lists(&mut self, a: &LValue, b: &LValue, span: Span) -> Result<Found> {
        let live = self.live.len();
        let (some, order) = self.equally(span);
        let (some, order) = (self.new_var(some), self.new_var(order));
        let pairs = Iter::Zip(Box::new(Iter::Slice(a.clone())), Box::new(Iter::Slice(b.clone())));
        self.each(&pairs, None, &[], span, &mut |me, item| {
            let Val::Parts(Kind::Tuple, parts) = item else { return Ok(()) };
            let so_far = (me.get(some), me.get(order));
            let next = me.then_by(so_far, None, &parts[0], &parts[1], span)?;
            me.set(some, next.0);
            me.set(order, next.1);
            Ok(())
        })?;
        let so_far = (self.get(some), self.get(order));
        let (len_a, len_b) = (self.len_of(a, span)?, self.len_of(b, span)?);
        let found = self.then_by(so_far, None, &Val::Scalar(len_a), &Val::Scalar(len_b), span);
        self.live.truncate(live);
        found
    }
}
