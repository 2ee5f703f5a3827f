//! Elements and parts of lists, and the checks that go with them.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::val::{LValue, Memory, Val, Window};
use super::{Lowerer, unsupported};
use crate::library;
use stratape_ir::{Binary, Check, Compare, Extent, Op, Scalar, Step, Stmt, Type, ValueId};

impl Lowerer<'_> {
    /// The length of a list.
    pub(super) fn len_of(&mut self, lv: &LValue, span: Span) -> Result<ValueId> {
        match lv {
            LValue::Memory(Memory { len: Some(var), .. }) => Ok(self.get(*var)),
            LValue::Memory(memory) => match (&memory.ty, memory.window) {
                (_, Some(window)) => Ok(window.len),
                (Type::Array(_, Extent::Known(n)), None) => Ok(self.b.usize(*n, span)),
                (Type::Array(_, Extent::Const(tokens)), None) => {
                    Ok(self.b.emit(Op::Const(tokens.clone()), Scalar::USIZE, span))
                }
                (Type::Slice(_) | Type::Vec(_), None) => {
                    Ok(self.b.emit(Op::Len(memory.place.clone()), Scalar::USIZE, span))
                }
                _ => Err(Error::new(span, "a slice, array or `Vec` was expected")),
            },
            LValue::Either(condition, a, b) => {
                let each = &mut |me: &mut Self, lv: &LValue| me.len_of(lv, span).map(Val::Scalar);
                let len = self.with_either(*condition, (a, b), span, each)?;
                self.scalar(len, span)
            }
            LValue::Value(val) => match &**val {
                Val::Place(lv) | Val::Ref(lv) => self.len_of(&lv.clone(), span),
                _ => Err(Error::new(span, "a slice, array or `Vec` was expected")),
            },
            _ => Err(Error::new(span, "a slice, array or `Vec` was expected")),
        }
    }

    /// An element, checked against the window it is taken from; the object's own length is
    /// checked by the access itself.
    pub(super) fn element(&mut self, lv: &LValue, index: ValueId, span: Span) -> Result<LValue> {
        if let LValue::Memory(memory @ Memory { window: Some(_), .. })
        | LValue::Memory(memory @ Memory { len: Some(_), .. }) = lv
        {
            let len = self.len_of(&LValue::Memory(memory.clone()), span)?;
            let span = self.b.at(span);
            self.b.node(Stmt::Check { check: Check::Bounds { index, len }, span });
        }
        if let LValue::Either(..) = lv {
            let len = self.len_of(lv, span)?;
            let span = self.b.at(span);
            self.b.node(Stmt::Check { check: Check::Bounds { index, len }, span });
        }
        self.element_unchecked(lv, index, span)
    }

    /// An element whose index is known to be within the window.
    pub(super) fn element_unchecked(
        &mut self,
        lv: &LValue,
        index: ValueId,
        span: Span,
    ) -> Result<LValue> {
        match lv {
            LValue::Memory(memory) => {
                let Some(item) = memory.ty.element() else {
                    return Err(Error::new(span, format!("`{}` cannot be indexed", memory.ty)));
                };
                let index = match memory.window {
                    Some(window) => self.b.binary(Binary::Add, window.start, index, span),
                    None => index,
                };
                let place = memory.place.with(Step::Index(index));
                Ok(LValue::Memory(Memory { place, ty: item.clone(), window: None, len: None }))
            }
            LValue::Either(condition, a, b) => {
                let each = &mut |me: &mut Self, lv: &LValue| me.element_unchecked(lv, index, span);
                self.part_of_either(*condition, (a, b), each)
            }
            LValue::Value(val) => match &**val {
                Val::Place(lv) | Val::Ref(lv) => self.element_unchecked(&lv.clone(), index, span),
                _ => Err(Error::new(span, "only slices, arrays and `Vec`s can be indexed")),
            },
            _ => Err(Error::new(span, "only slices, arrays and `Vec`s can be indexed")),
        }
    }

    /// A part of a list, checked to lie within it.
    pub(super) fn window(
        &mut self,
        lv: &LValue,
        from: ValueId,
        to: ValueId,
        checked: bool,
        span: Span,
    ) -> Result<LValue> {
        let len = self.len_of(lv, span)?;
        if checked {
            let at = self.b.at(span);
            self.b.node(Stmt::Check { check: Check::Range { from, to, len }, span: at });
        }
        let count = self.b.binary(Binary::Sub, to, from, span);
        self.window_of(lv, from, count, span)
    }

    /// A part of a list that is known to lie within it, by its start and length.
    pub(super) fn window_of(
        &mut self,
        lv: &LValue,
        from: ValueId,
        len: ValueId,
        span: Span,
    ) -> Result<LValue> {
        match lv {
            LValue::Memory(memory) => {
                let Some(item) = memory.ty.element() else {
                    return Err(Error::new(span, format!("`{}` cannot be sliced", memory.ty)));
                };
                let start = match memory.window {
                    Some(window) => self.b.binary(Binary::Add, window.start, from, span),
                    None => from,
                };
                Ok(LValue::Memory(Memory {
                    place: memory.place.clone(),
                    ty: Type::Slice(Box::new(item.clone())),
                    window: Some(Window { start, len }),
                    len: None,
                }))
            }
            LValue::Either(condition, a, b) => {
                let each = &mut |me: &mut Self, lv: &LValue| me.window_of(lv, from, len, span);
                self.part_of_either(*condition, (a, b), each)
            }
            LValue::Value(val) => match &**val {
                Val::Place(lv) | Val::Ref(lv) => self.window_of(&lv.clone(), from, len, span),
                _ => Err(Error::new(span, "only slices, arrays and `Vec`s can be sliced")),
            },
            _ => Err(Error::new(span, "only slices, arrays and `Vec`s can be sliced")),
        }
    }

    /// `base[index]`, an element or a part.
    pub(super) fn index(&mut self, expr: &syn::ExprIndex) -> Result<Val> {
        let base = self.operand(&expr.expr)?;
        let span = expr.span();
        if let Val::Scalar(value) = &base
            && self.constants.contains(value)
        {
            return Err(unsupported(
                expr.expr.span(),
                "a list as a constant from elsewhere",
                "make it a `const` of a `#[stratape::differentiable] mod`, or a parameter",
            ));
        }
        if matches!(base, Val::Never) {
            return Ok(Val::Never);
        }
        if let Some(owner) = self.owner_of(&base).filter(|owner| library::is_known(owner)) {
            return self.element_of(base, &owner, expr);
        }
        if let Some(val) = self.indexed(&base, &expr.index, span)? {
            return Ok(val);
        }
        if let Some(owner) = self.owner_of(&base) {
            return Err(unsupported(
                expr.expr.span(),
                &format!("an index of `{owner}`"),
                "implement `Index` for it in this module, or index one of its fields",
            ));
        }
        self.index_into(base, &expr.index, span)
    }

    /// An element or a part of a list.
    pub(super) fn index_into(&mut self, base: Val, at: &Expr, span: Span) -> Result<Val> {
        let (Val::Place(lv) | Val::Ref(lv)) = base else {
            return Err(Error::new(span, "only slices, arrays and `Vec`s can be indexed"));
        };
        if let Some(range) = as_range(at) {
            return Ok(Val::Place(self.sub_slice(range, &lv, span)?));
        }
        let val = self.expr(at)?;
        let index = self.scalar(val, at.span())?;
        self.expect(index, Scalar::USIZE, at.span())?;
        Ok(Val::Place(self.element(&lv, index, span)?))
    }

    /// An element of a type of another crate, by one number or by two: `m[(i, j)]`, `m[[i, j]]`.
    fn element_of(&mut self, base: Val, owner: &str, expr: &syn::ExprIndex) -> Result<Val> {
        let span = expr.span();
        let (method, at): (_, Vec<&Expr>) = match &*expr.index {
            Expr::Tuple(pair) if pair.elems.len() == 2 => {
                ("index_pair", pair.elems.iter().collect())
            }
            Expr::Array(pair) if pair.elems.len() == 2 => {
                ("index_pair", pair.elems.iter().collect())
            }
            Expr::Array(one) if one.elems.len() == 1 => ("index", one.elems.iter().collect()),
            index => ("index", vec![index]),
        };
        let mut args = Vec::new();
        for at in at {
            args.push(Val::Scalar(self.usize_expr(at)?));
        }
        let lv = super::control::lv_of(base);
        let found = self.seeming(&lv, owner, method, args, span)?;
        let unknown =
            || unsupported(expr.index.span(), "this index", "use one number, or a pair of numbers");
        found.map(Val::Place).ok_or_else(unknown)
    }

    /// The part of a list that a range takes.
    fn sub_slice(&mut self, range: &syn::ExprRange, lv: &LValue, span: Span) -> Result<LValue> {
        let from = match &range.start {
            Some(start) => self.usize_expr(start)?,
            None => self.b.usize(0, span),
        };
        let Some(end) = &range.end else {
            let to = self.len_of(lv, span)?;
            return self.window(lv, from, to, range.start.is_some(), span);
        };
        let to = self.usize_expr(end)?;
        if let syn::RangeLimits::HalfOpen(_) = range.limits {
            return self.window(lv, from, to, true, span);
        }
        let (last, one) = (to, self.b.usize(1, span));
        let to = self.b.binary(Binary::Add, last, one, span);
        self.check_closed_range(lv, from, last, to, span)?;
        self.window(lv, from, to, false, span)
    }

    /// Runs tokens that panic, as the standard library would, where a condition does not hold.
    pub(super) fn run_unless(
        &mut self,
        condition: ValueId,
        otherwise: TokenStream,
        names: &[(&str, ValueId)],
        span: Span,
    ) {
        let names = names.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let otherwise = self.b.opaque(otherwise);
        let check =
            Check::Assert { condition, otherwise, names, objects: Vec::new(), prints: false };
        let span = self.b.at(span);
        self.b.node(Stmt::Check { check, span });
    }

    /// The check of `from..=last`, in the words of the standard library.
    fn check_closed_range(
        &mut self,
        lv: &LValue,
        from: ValueId,
        last: ValueId,
        to: ValueId,
        span: Span,
    ) -> Result<()> {
        let len = self.len_of(lv, span)?;
        let ordered = self.b.compare(Compare::Le, from, to, span);
        let inside = self.b.compare(Compare::Le, to, len, span);
        let condition = self.b.binary(Binary::BitAnd, ordered, inside, span);
        let names = [("__from", from), ("__last", last), ("__len", len)];
        let otherwise = quote!(let _ = &[(); usize::MAX][..__len][__from..=__last]);
        self.run_unless(condition, otherwise, &names, span);
        Ok(())
    }

    /// An expression of type `usize`.
    pub(super) fn usize_expr(&mut self, expr: &Expr) -> Result<ValueId> {
        let val = self.expr(expr)?;
        let value = self.scalar(val, expr.span())?;
        self.expect(value, Scalar::USIZE, expr.span())?;
        Ok(value)
    }
}

/// The range an expression is, through parentheses.
pub(super) fn as_range(expr: &Expr) -> Option<&syn::ExprRange> {
    match expr {
        Expr::Range(range) => Some(range),
        Expr::Paren(inner) => as_range(&inner.expr),
        Expr::Group(inner) => as_range(&inner.expr),
        _ => None,
    }
}
