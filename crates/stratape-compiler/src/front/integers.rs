//! Methods of integers and bools beyond the plain ones: those that yield an `Option`, a pair, or another type.

use proc_macro2::Span;
use syn::Result;

use super::Lowerer;
use super::choice::Choice;
use super::val::{Kind, Val};
use stratape_ir::{Binary, Compare, Int, Op, Scalar, ValueId};

/// The name of the type of a failed conversion.
pub(super) const CONVERSION: &str = "TryFromIntError";

impl Lowerer<'_> {
    /// A method of an integer whose result is no plain number; `None` if it is another.
    pub(super) fn rare_integer_method(
        &mut self,
        name: &str,
        args: &[ValueId],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some(first) = args.first().copied() else { return Ok(None) };
        let Some(int) = self.integer_type(first) else { return Ok(None) };
        if let Some(plain) = name.strip_prefix("checked_") {
            return self.checked(plain, args, int, span);
        }
        if let Some(plain) = name.strip_prefix("overflowing_") {
            return self.overflowing(plain, args, int, span);
        }
        Ok(None)
    }

    /// The type of an integer, which is `i32` if nothing says another.
    fn integer_type(&self, value: ValueId) -> Option<Int> {
        match self.ty(value) {
            Scalar::Int(int) => Some(int),
            _ => None,
        }
    }

    fn method_of_two(&mut self, name: &str, a: ValueId, b: ValueId, span: Span) -> ValueId {
        self.int_method(name, vec![a, b], span)
    }

    /// Whether the exact result of an operation fits the type: computed in 128 bits.
    fn exact(
        &mut self,
        sign: Binary,
        a: ValueId,
        b: ValueId,
        result: ValueId,
        span: Span,
    ) -> ValueId {
        let wide = Scalar::Int(Int::I128);
        let [a, b, result] =
            [a, b, result].map(|value| self.b.emit(Op::Cast(value, wide), wide, span));
        let exact = self.b.binary(sign, a, b, span);
        self.b.compare(Compare::Eq, exact, result, span)
    }

    fn checked(
        &mut self,
        name: &str,
        args: &[ValueId],
        int: Int,
        span: Span,
    ) -> Result<Option<Val>> {
        let [a, b] = *args else { return Ok(None) };
        if int.bits() > 64 {
            return Ok(None);
        }
        self.unify(a, b, span)?;
        let sign = match name {
            "add" => Binary::Add,
            "sub" => Binary::Sub,
            "mul" => Binary::Mul,
            "div" | "rem" => return self.checked_division(name, a, b, int, span).map(Some),
            _ => return Ok(None),
        };
        let result = self.method_of_two(&format!("wrapping_{name}"), a, b, span);
        let fits = self.exact(sign, a, b, result, span);
        Ok(Some(Self::some_if(fits, Val::Scalar(result))))
    }

    fn checked_division(
        &mut self,
        name: &str,
        a: ValueId,
        b: ValueId,
        int: Int,
        span: Span,
    ) -> Result<Val> {
        let ty = Scalar::Int(int);
        let zero = self.b.int(0, ty, span);
        let mut fits = self.b.compare(Compare::Ne, b, zero, span);
        if int.signed() {
            let (least, minus) = (self.b.int(int.bounds().0, ty, span), self.b.int(-1, ty, span));
            let (x, y) = (
                self.b.compare(Compare::Ne, a, least, span),
                self.b.compare(Compare::Ne, b, minus, span),
            );
            let safe = self.b.binary(Binary::BitOr, x, y, span);
            fits = self.b.binary(Binary::BitAnd, fits, safe, span);
        }
        let sign = if name == "div" { Binary::Div } else { Binary::Rem };
        let val = self.branch(
            fits,
            span,
            |me| Ok(Val::Scalar(me.b.binary(sign, a, b, span))),
            |_| Ok(Val::Never),
        )?;
        Ok(Self::some_if(fits, val))
    }

    fn overflowing(
        &mut self,
        name: &str,
        args: &[ValueId],
        int: Int,
        span: Span,
    ) -> Result<Option<Val>> {
        let [a, b] = *args else { return Ok(None) };
        let sign = match name {
            "add" => Binary::Add,
            "sub" => Binary::Sub,
            "mul" => Binary::Mul,
            _ => return Ok(None),
        };
        if int.bits() > 64 {
            return Ok(None);
        }
        self.unify(a, b, span)?;
        let result = self.method_of_two(&format!("wrapping_{name}"), a, b, span);
        let fits = self.exact(sign, a, b, result, span);
        let over = self.b.not(fits, span);
        Ok(Some(Self::tuple(vec![Val::Scalar(result), Val::Scalar(over)])))
    }

    /// `T::try_from(value)` of integers.
    pub(super) fn tried_from(&mut self, value: ValueId, to: Scalar, span: Span) -> Val {
        let result = self.b.emit(Op::Cast(value, to), to, span);
        let wide = Scalar::Int(Int::I128);
        let [a, b] = [value, result].map(|value| self.b.emit(Op::Cast(value, wide), wide, span));
        let fits = self.b.compare(Compare::Eq, a, b, span);
        let error = self.b.usize(0, span);
        self.enums.insert(error, CONVERSION.to_owned());
        let parts = vec![Val::Scalar(fits), Val::Scalar(error), Val::Scalar(result)];
        Val::Parts(Kind::Choice(Choice::result()), parts)
    }

    /// `condition.then(…)` and `condition.then_some(…)`
    pub(super) fn bool_method(
        &mut self,
        name: &str,
        condition: ValueId,
        arg: &Val,
        span: Span,
    ) -> Result<Option<Val>> {
        let val = match name {
            "then_some" => arg.clone(),
            "then" => self.branch(
                condition,
                span,
                |me| me.apply(arg, Vec::new(), span),
                |_| Ok(Val::Never),
            )?,
            _ => return Ok(None),
        };
        Ok(Some(Self::some_if(condition, val)))
    }
}
