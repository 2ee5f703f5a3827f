//! Whether a value fits a pattern.
//!
//! The test of a pattern is one condition. What lies behind a tag or a length is looked at only where these fit, so that no
//! memory is read that is not there. Binding the names (`pattern.rs`) comes after, where the condition holds.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Pat, Result};

use super::choice::member_name;
use super::control::lv_of;
use super::pattern::{is_rest, part_count, spread};
use super::val::{LValue, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Compare, Op, Stmt, ValueId};

impl Lowerer<'_> {
    /// Whether a value fits a pattern; `None` if it always does.
    pub(super) fn fits(&mut self, pat: &Pat, val: &Val) -> Result<Option<ValueId>> {
        let span = pat.span();
        let val = &self.resolved(val.clone(), span)?;
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => Ok(None),
            Pat::Paren(inner) => self.fits(&inner.pat, val),
            Pat::Type(typed) => self.fits(&typed.pat, val),
            Pat::Reference(inner) => {
                let val = match val {
                    Val::Ref(lv) => Val::Place(lv.clone()),
                    other => other.clone(),
                };
                self.fits(&inner.pat, &val)
            }
            Pat::Ident(name) if self.is_binding(name) => match &name.subpat {
                Some((_, pat)) => self.fits(pat, val),
                None => Ok(None),
            },
            Pat::Ident(name) => {
                let ident = &name.ident;
                self.fits_path(&syn::parse_quote!(#ident), val)
            }
            Pat::Path(path) => self.fits_path(path, val),
            Pat::Lit(lit) => self.equals(&Expr::Lit(lit.clone()), val).map(Some),
            Pat::Range(range) => self.within(range, val),
            Pat::Or(or) => {
                let mut any: Option<ValueId> = None;
                for case in &or.cases {
                    let fits = match any {
                        None => self.fits(case, val)?,
                        Some(before) => {
                            let not = self.b.not(before, span);
                            let next = self.also(not, span, |me| me.fits(case, val))?;
                            Some(self.or(before, next, span))
                        }
                    };
                    let Some(fits) = fits else { return Ok(None) };
                    any = Some(fits);
                }
                Ok(any)
            }
            Pat::Tuple(tuple) => {
                let items =
                    spread(&tuple.elems, is_rest, part_count(val, tuple.elems.len()), span)?;
                self.all_fit(None, items, val, span)
            }
            Pat::TupleStruct(tuple) => match self.variant_named(&tuple.path) {
                Some((choice, index)) => {
                    let is = self.is_variant(&choice, val, index, span)?;
                    let variant = &choice.variants[index];
                    let items = spread(&tuple.elems, is_rest, variant.fields.len(), span)?;
                    let items = items.into_iter().map(|(at, pat)| (variant.first + at, pat));
                    self.all_fit(Some(is), items.collect(), val, span)
                }
                None => {
                    self.known_variant(val, span)?;
                    let count = part_count(val, tuple.elems.len());
                    let items = spread(&tuple.elems, is_rest, count, span)?;
                    self.all_fit(None, items, val, span)
                }
            },
            Pat::Struct(fields) => self.fits_fields(fields, val),
            Pat::Slice(slice) => self.fits_slice(slice, val),
            _ => Err(unsupported(
                span,
                "this pattern",
                "match on numbers, ranges, tuples, structs, enums and slices",
            )),
        }
    }

    /// Whether parts of a value fit their patterns, looked at in turn.
    fn all_fit(
        &mut self,
        mut so_far: Option<ValueId>,
        items: Vec<(usize, &Pat)>,
        val: &Val,
        span: Span,
    ) -> Result<Option<ValueId>> {
        for (index, pat) in items {
            so_far = self.both(so_far, span, |me| {
                let part = me.part(val, index, span)?;
                me.fits(pat, &part)
            })?;
        }
        Ok(so_far)
    }

    fn fits_fields(&mut self, fields: &syn::PatStruct, val: &Val) -> Result<Option<ValueId>> {
        let span = fields.span();
        if let Some((choice, index)) = self.variant_named(&fields.path) {
            let is = self.is_variant(&choice, val, index, span)?;
            let variant = &choice.variants[index];
            let mut items = Vec::new();
            for field in &fields.fields {
                let name = member_name(&field.member);
                if let Some(at) = variant.fields.iter().position(|known| *known == name) {
                    items.push((variant.first + at, &*field.pat));
                }
            }
            return self.all_fit(Some(is), items, val, span);
        }
        self.known_variant(val, span)?;
        let mut so_far = None;
        for field in &fields.fields {
            so_far = self.both(so_far, span, |me| {
                let part = me.named_part(val, &field.member)?;
                me.fits(&field.pat, &part)
            })?;
        }
        Ok(so_far)
    }

    fn fits_slice(&mut self, slice: &syn::PatSlice, val: &Val) -> Result<Option<ValueId>> {
        let span = slice.span();
        let lv = lv_of(val.clone());
        let rest = slice.elems.iter().position(is_rest_of_slice);
        let named = slice.elems.len() - usize::from(rest.is_some());
        let len = self.len_of(&lv, span)?;
        let count = self.b.usize(named, span);
        let sign = if rest.is_some() { Compare::Ge } else { Compare::Eq };
        let fits = self.b.compare(sign, len, count, span);
        let mut so_far = match self.b.constant(fits) {
            Some(Op::Bool(true)) => None,
            _ => Some(fits),
        };
        for (position, pat) in slice.elems.iter().enumerate() {
            if is_rest_of_slice(pat) {
                continue;
            }
            so_far = self.both(so_far, span, |me| {
                let item = me.slice_item(&lv, slice, position, len, span)?;
                let item = match val {
                    Val::Ref(_) => Val::Ref(item),
                    _ => Val::Place(item),
                };
                me.fits(pat, &item)
            })?;
        }
        Ok(so_far)
    }

    /// The element that an item of a slice pattern stands for, in a list that is long enough.
    pub(super) fn slice_item(
        &mut self,
        lv: &LValue,
        slice: &syn::PatSlice,
        position: usize,
        len: ValueId,
        span: Span,
    ) -> Result<LValue> {
        let rest = slice.elems.iter().position(is_rest_of_slice);
        let index = match rest {
            Some(rest) if position > rest => {
                let back = self.b.usize(slice.elems.len() - position, span);
                self.b.binary(Binary::Sub, len, back, span)
            }
            _ => self.b.usize(position, span),
        };
        self.element_unchecked(lv, index, span)
    }

    /// Both a condition, if there is one, and another that is looked at only where the first holds.
    fn both(
        &mut self,
        first: Option<ValueId>,
        span: Span,
        second: impl FnOnce(&mut Self) -> Result<Option<ValueId>>,
    ) -> Result<Option<ValueId>> {
        let Some(first) = first else { return second(self) };
        self.also(first, span, second).map(Some)
    }

    /// `first && second`
    fn also(
        &mut self,
        first: ValueId,
        span: Span,
        second: impl FnOnce(&mut Self) -> Result<Option<ValueId>>,
    ) -> Result<ValueId> {
        match self.b.constant(first) {
            Some(Op::Bool(true)) => {
                return match second(self)? {
                    Some(second) => Ok(second),
                    None => Ok(first),
                };
            }
            Some(Op::Bool(false)) => return Ok(first),
            _ => {}
        }
        self.b.open();
        let tested = second(self);
        let block = self.b.close();
        let Some(second) = tested? else { return Ok(first) };
        if block.iter().all(is_harmless) {
            block.into_iter().for_each(|node| self.b.node(node));
            return Ok(self.b.binary(Binary::BitAnd, first, second, span));
        }
        let both = self.branch(
            first,
            span,
            |me| {
                block.into_iter().for_each(|node| me.b.node(node));
                Ok(Val::Scalar(second))
            },
            |me| Ok(Val::Scalar(me.b.bool(false, span))),
        )?;
        self.scalar(both, span)
    }

    fn fits_path(&mut self, path: &syn::ExprPath, val: &Val) -> Result<Option<ValueId>> {
        let span = path.span();
        if let Some((choice, index)) = self.variant_named(&path.path)
            && self.choice_of(val).is_some()
        {
            return self.is_variant(&choice, val, index, span).map(Some);
        }
        self.equals(&Expr::Path(path.clone()), val).map(Some)
    }

    fn equals(&mut self, expr: &Expr, val: &Val) -> Result<ValueId> {
        let span = expr.span();
        let other = self.expr(expr)?;
        self.equal(val, &other, span)
    }

    fn within(&mut self, range: &syn::ExprRange, val: &Val) -> Result<Option<ValueId>> {
        let span = range.span();
        let value = self.scalar(val.clone(), span)?;
        let mut condition: Option<ValueId> = None;
        if let Some(start) = &range.start {
            let from = self.number(start)?;
            self.unify(value, from, span)?;
            condition = Some(self.b.compare(Compare::Ge, value, from, span));
        }
        if let Some(end) = &range.end {
            let to = self.number(end)?;
            self.unify(value, to, span)?;
            let sign = match range.limits {
                syn::RangeLimits::HalfOpen(_) => Compare::Lt,
                syn::RangeLimits::Closed(_) => Compare::Le,
            };
            let below = self.b.compare(sign, value, to, span);
            condition = Some(match condition {
                Some(condition) => self.b.binary(Binary::BitAnd, condition, below, span),
                None => below,
            });
        }
        Ok(condition)
    }

    /// Refuses a pattern of a variant that is not known by this name.
    pub(super) fn known_variant(&self, val: &Val, span: Span) -> Result<()> {
        match self.choice_of(val) {
            Some(choice) => Err(unsupported(
                span,
                &format!("a variant of `{}` by this name", choice.name),
                "write `Enum::Variant`",
            )),
            None => Ok(()),
        }
    }

    /// Whether an identifier in a pattern is a new name, not a constant or a variant.
    pub(super) fn is_binding(&self, pat: &syn::PatIdent) -> bool {
        let name = pat.ident.to_string();
        if pat.by_ref.is_some() || pat.mutability.is_some() || pat.subpat.is_some() {
            return true;
        }
        // What begins with a capital is a constant or a variant.
        let constant = name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_')
            || name.starts_with(char::is_uppercase);
        (!constant || self.certainly_fits)
            && !self.module.structs.contains_key(&name)
            && !self.module.constants.contains_key(&name)
            && self.variant_named(&pat.ident.clone().into()).is_none()
    }
}

/// `..` in a slice pattern, also where it is bound to a name.
pub(super) fn is_rest_of_slice(pat: &Pat) -> bool {
    match pat {
        Pat::Rest(_) => true,
        Pat::Ident(name) => {
            name.subpat.as_ref().is_some_and(|(_, pat)| matches!(**pat, Pat::Rest(_)))
        }
        _ => false,
    }
}

/// Whether executing a statement in vain does no harm.
fn is_harmless(node: &Stmt) -> bool {
    match node {
        Stmt::Let { op, .. } => match op {
            Op::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor, ..) => true,
            Op::Unary(stratape_ir::Unary::Not, _) => true,
            Op::Compare(..) | Op::Select(..) => true,
            Op::Len(place) => place.path.is_empty(),
            op => op.is_constant(),
        },
        _ => false,
    }
}
