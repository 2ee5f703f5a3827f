//! `Ordering` as a value: a number below, at or above zero.
//!
//! The comparison itself is kept as long as it can be ([`Val::Ordering`]), since `max_by` and sorting ask for one sign alone.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::val::Val;
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Compare, Int, Op, Scalar, ValueId};

/// The type of an ordering's number.
const NUMBER: Scalar = Scalar::Int(Int::Isize);

impl Lowerer<'_> {
    /// An ordering by its number.
    pub(super) fn order(&mut self, number: i128, span: Span) -> ValueId {
        let value = self.b.int(number, NUMBER, span);
        self.enums.insert(value, "Ordering".to_owned());
        value
    }

    /// `Ordering::Less` and its like.
    pub(super) fn ordering_named(&mut self, name: &str, span: Span) -> Option<Val> {
        let number = match name {
            "Less" => -1,
            "Equal" => 0,
            "Greater" => 1,
            _ => return None,
        };
        Some(Val::Scalar(self.order(number, span)))
    }

    /// Whether `a` is less than `b`, or greater.
    pub(super) fn sign_of(
        &mut self,
        (a, b, total): (ValueId, ValueId, bool),
        less: bool,
        span: Span,
    ) -> ValueId {
        if total && self.is_float(a) {
            return self.b.emit(Op::TotalCmp { less, a, b }, Scalar::Bool, span);
        }
        self.b.compare(if less { Compare::Lt } else { Compare::Gt }, a, b, span)
    }

    /// How two numbers compare, as a number.
    pub(super) fn ordering_value(
        &mut self,
        a: ValueId,
        b: ValueId,
        total: bool,
        span: Span,
    ) -> ValueId {
        let less = self.sign_of((a, b, total), true, span);
        let greater = self.sign_of((a, b, total), false, span);
        let (minus, zero, plus) = (self.order(-1, span), self.order(0, span), self.order(1, span));
        let above = self.b.select(greater, plus, zero, span);
        let value = self.b.select(less, minus, above, span);
        self.enums.insert(value, "Ordering".to_owned());
        value
    }

    /// Whether an ordering is `Greater`.
    pub(super) fn is_greater(&mut self, val: Val, span: Span) -> Result<ValueId> {
        if let Val::Ordering(a, b, total) = val {
            return Ok(self.sign_of((a, b, total), false, span));
        }
        let value = self.ordering(val, span)?;
        let zero = self.order(0, span);
        Ok(self.b.compare(Compare::Gt, value, zero, span))
    }

    /// The number of an ordering.
    fn ordering(&mut self, val: Val, span: Span) -> Result<ValueId> {
        let value = self.scalar(val, span)?;
        if self.enums.get(&value).is_some_and(|name| name == "Ordering") {
            return Ok(value);
        }
        Err(Error::new(span, "an `Ordering` was expected, as from `a.total_cmp(b)` or `a.cmp(b)`"))
    }

    /// `a.partial_cmp(&b)`: nothing where one of them is NaN.
    pub(super) fn partial_ordering(&mut self, a: ValueId, b: ValueId, span: Span) -> Val {
        let comparable = if self.is_float(a) {
            let (below, above) =
                (self.b.compare(Compare::Le, a, b, span), self.b.compare(Compare::Ge, a, b, span));
            self.b.binary(Binary::BitOr, below, above, span)
        } else {
            self.b.bool(true, span)
        };
        Self::some_if(comparable, Val::Ordering(a, b, false))
    }

    /// A method of an ordering.
    pub(super) fn ordering_method(&mut self, val: Val, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        let name = call.method.to_string();
        let sign = match name.as_str() {
            "is_lt" => Compare::Lt,
            "is_le" => Compare::Le,
            "is_gt" => Compare::Gt,
            "is_ge" => Compare::Ge,
            "is_eq" => Compare::Eq,
            "is_ne" => Compare::Ne,
            "clone" => return Ok(val),
            "reverse" => {
                if let Val::Ordering(a, b, total) = val {
                    return Ok(Val::Ordering(b, a, total));
                }
                let value = self.ordering(val, span)?;
                let zero = self.order(0, span);
                let turned = self.b.binary(Binary::Sub, zero, value, span);
                self.enums.insert(turned, "Ordering".to_owned());
                return Ok(Val::Scalar(turned));
            }
            "then" | "then_with" => {
                let Some(arg) = call.args.first() else {
                    return Err(Error::new(span, format!("`{name}` takes an argument")));
                };
                let value = self.ordering(val, span)?;
                let next = self.operand(arg)?;
                let zero = self.order(0, span);
                let decided = self.b.compare(Compare::Ne, value, zero, span);
                return self.branch(
                    decided,
                    span,
                    |_| Ok(Val::Scalar(value)),
                    |me| if name == "then" { Ok(next) } else { me.apply(&next, Vec::new(), span) },
                );
            }
            _ => {
                return Err(unsupported(
                    call.method.span(),
                    &format!("the method `{name}` of `Ordering`"),
                    "use `is_lt` and its like, `reverse`, `then`, `then_with` or `match`",
                ));
            }
        };
        match (&val, sign) {
            (Val::Ordering(a, b, total), Compare::Lt) => {
                Ok(Val::Scalar(self.sign_of((*a, *b, *total), true, span)))
            }
            (Val::Ordering(a, b, total), Compare::Gt) => {
                Ok(Val::Scalar(self.sign_of((*a, *b, *total), false, span)))
            }
            _ => {
                let value = self.ordering(val, span)?;
                let zero = self.order(0, span);
                Ok(Val::Scalar(self.b.compare(sign, value, zero, span)))
            }
        }
    }
}
