//! Patterns: names bound to the parts of a value, and places assigned from them.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, Result, Token};

use super::choice::member_name;
use super::fits::is_rest_of_slice;
use super::matching::names_of;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, left_to_rustc, unsupported};
use stratape_ir::{Binary, Extent, Type};

impl Lowerer<'_> {
    /// Binds a pattern that fits whatever comes, as in `let`: capitals are names of variables too.
    pub(super) fn bind_surely(&mut self, pat: &Pat, val: Val) -> Result<()> {
        let before = std::mem::replace(&mut self.certainly_fits, true);
        let bound = self.bind(pat, val);
        self.certainly_fits = before;
        bound
    }

    /// Binds the names of a pattern to the parts of a value that fits it.
    pub(super) fn bind(&mut self, pat: &Pat, val: Val) -> Result<()> {
        let span = pat.span();
        let val = self.resolved(val, span)?;
        match pat {
            Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Rest(_) => Ok(()),
            Pat::Ident(name) if !self.is_binding(name) => Ok(()),
            Pat::Ident(name) => {
                let bound = match name.by_ref {
                    Some(_) => Val::Ref(super::control::lv_of(val.clone())),
                    None => {
                        let bound = self.rvalue(val.clone(), span)?;
                        self.owned_as(&name.ident.to_string(), bound, span)?
                    }
                };
                let mutable = name.mutability.is_some();
                self.bind_name(&name.ident.to_string(), bound, mutable, span)?;
                match &name.subpat {
                    Some((_, inner)) if !matches!(**inner, Pat::Rest(_)) => self.bind(inner, val),
                    _ => Ok(()),
                }
            }
            Pat::Type(typed) => {
                if let Some(ty) = self.annotation(&typed.ty)? {
                    self.expect_type(&val, &ty, span)?;
                }
                self.bind(&typed.pat, val)
            }
            Pat::Paren(inner) => self.bind(&inner.pat, val),
            Pat::Reference(inner) => {
                let val = match val {
                    Val::Ref(lv) => Val::Place(lv),
                    other => other,
                };
                self.bind(&inner.pat, val)
            }
            Pat::Tuple(tuple) => self.bind_items(&tuple.elems, &val, span),
            Pat::TupleStruct(tuple) => match self.variant_named(&tuple.path) {
                Some((choice, index)) => {
                    let variant = &choice.variants[index];
                    let items = spread(&tuple.elems, is_rest, variant.fields.len(), span)?;
                    for (at, item) in items {
                        let part = self.part(&val, variant.first + at, span)?;
                        self.bind(item, part)?;
                    }
                    Ok(())
                }
                None => {
                    self.known_variant(&val, span)?;
                    self.bind_items(&tuple.elems, &val, span)
                }
            },
            Pat::Struct(fields) => self.bind_fields(fields, &val),
            Pat::Slice(slice) => self.bind_slice(slice, val),
            Pat::Or(or) => self.bind_one_of(&or.cases.iter().collect::<Vec<_>>(), &val, span),
            _ => Err(unsupported(
                span,
                "this pattern",
                "bind names, tuples, structs, slices and variants",
            )),
        }
    }

    fn bind_items(&mut self, items: &Items<Pat>, val: &Val, span: Span) -> Result<()> {
        for (index, item) in spread(items, is_rest, part_count(val, items.len()), span)? {
            let part = self.part(val, index, span)?;
            self.bind(item, part)?;
        }
        Ok(())
    }

    fn bind_fields(&mut self, fields: &syn::PatStruct, val: &Val) -> Result<()> {
        let variant = self.variant_named(&fields.path);
        if variant.is_none() {
            self.known_variant(val, fields.span())?;
        }
        for field in &fields.fields {
            let part = match &variant {
                Some((choice, index)) => {
                    let (variant, span) = (&choice.variants[*index], field.span());
                    let name = member_name(&field.member);
                    let Some(at) = variant.fields.iter().position(|known| *known == name) else {
                        return Err(left_to_rustc(span, format!("there is no field `{name}`")));
                    };
                    self.part(val, variant.first + at, span)?
                }
                None => self.named_part(val, &field.member)?,
            };
            self.bind(&field.pat, part)?;
        }
        Ok(())
    }

    /// The field of a struct, as a pattern takes it.
    pub(super) fn named_part(&mut self, val: &Val, member: &syn::Member) -> Result<Val> {
        match val {
            Val::Ref(lv) => Ok(Val::Ref(self.field_named(&lv.clone(), member)?)),
            Val::Place(lv) => Ok(Val::Place(self.field_named(&lv.clone(), member)?)),
            Val::Parts(..) => {
                let lv = LValue::Value(Box::new(val.clone()));
                Ok(Val::Place(self.field_named(&lv, member)?))
            }
            Val::Never => Ok(Val::Never),
            _ => Err(Error::new(member.span(), "a struct was expected")),
        }
    }

    fn bind_slice(&mut self, slice: &syn::PatSlice, val: Val) -> Result<()> {
        let span = slice.span();
        if matches!(val, Val::Never) {
            return slice.elems.iter().try_for_each(|item| self.bind(item, Val::Never));
        }
        // Behind `*x` and `x[..]` is a slice itself: its numbers are copied.
        let reference = matches!(val, Val::Ref(_));
        let is_slice = matches!(val, Val::Place(LValue::Memory(Memory { ty: Type::Slice(_), .. })));
        let lv = super::control::lv_of(val);
        let len = self.len_of(&lv, span)?;
        for (position, item) in slice.elems.iter().enumerate() {
            let part = if is_rest_of_slice(item) {
                if matches!(item, Pat::Rest(_)) {
                    continue;
                }
                let (from, named) = (self.b.usize(position, span), slice.elems.len() - 1);
                let named = self.b.usize(named, span);
                let count = self.b.binary(Binary::Sub, len, named, span);
                let part = self.window_of(&lv, from, count, span)?;
                if reference || is_slice {
                    Val::Ref(part)
                } else {
                    return Err(unsupported(
                        item.span(),
                        "the rest of an array by value",
                        "match on a reference to it",
                    ));
                }
            } else {
                let place = self.slice_item(&lv, slice, position, len, span)?;
                if reference { Val::Ref(place) } else { Val::Place(place) }
            };
            self.bind(item, part)?;
        }
        Ok(())
    }

    /// Binds the names of the first of several patterns that fits; all bind the same.
    fn bind_one_of(&mut self, cases: &[&Pat], val: &Val, span: Span) -> Result<()> {
        let Some((first, rest)) = cases.split_first() else { return Ok(()) };
        let mut names: Vec<(String, bool)> = Vec::new();
        names_of(first, &mut |pat| {
            if self.is_binding(pat) {
                names.push((pat.ident.to_string(), pat.mutability.is_some()));
            }
        });
        let fits = if rest.is_empty() || names.is_empty() { None } else { self.fits(first, val)? };
        let Some(fits) = fits else { return self.bind(first, val.clone()) };
        let bound = |me: &mut Self| {
            let vals = names
                .iter()
                .map(|(name, _)| me.lookup(name).map_or(Val::Never, |binding| binding.val.clone()));
            Self::tuple(vals.collect())
        };
        let parts = self.branch(
            fits,
            span,
            |me| {
                me.scoped(|me| {
                    me.bind(first, val.clone())?;
                    Ok(bound(me))
                })
            },
            |me| {
                me.scoped(|me| {
                    me.bind_one_of(rest, val, span)?;
                    Ok(bound(me))
                })
            },
        )?;
        let Val::Parts(_, parts) = parts else { return Ok(()) };
        for ((name, mutable), part) in names.iter().zip(parts) {
            self.bind_name(name, part, *mutable, span)?;
        }
        Ok(())
    }

    /// Assigns to an expression that is a place, or to a pattern of them.
    pub(super) fn assign(&mut self, target: &Expr, val: Val) -> Result<()> {
        let span = target.span();
        match target {
            Expr::Infer(_) => Ok(()),
            Expr::Paren(inner) => self.assign(&inner.expr, val),
            Expr::Group(inner) => self.assign(&inner.expr, val),
            Expr::Tuple(tuple) => self.assign_items(&tuple.elems, &val, span),
            Expr::Call(call) => self.assign_items(&call.args, &val, span),
            Expr::Struct(fields) => {
                let lv = super::control::lv_of(val);
                for field in &fields.fields {
                    let part = self.field_named(&lv, &field.member)?;
                    let part = self.read(&part, span)?;
                    self.assign(&field.expr, part)?;
                }
                Ok(())
            }
            Expr::Array(array) => {
                let lv = super::control::lv_of(val);
                let count = array_length(&lv).unwrap_or(array.elems.len());
                for (position, item) in spread(&array.elems, is_rest_expr, count, span)? {
                    let index = self.b.usize(position, span);
                    let part = self.element(&lv, index, span)?;
                    let part = self.read(&part, span)?;
                    self.assign(item, part)?;
                }
                Ok(())
            }
            // A field that holds a reference comes to hold another.
            Expr::Field(field) if matches!(val, Val::Ref(_)) => match self.field(field)? {
                Some((LValue::Pointer(pointer), _)) => self.redirect(&pointer, val, span),
                _ => Err(unsupported(
                    span,
                    "a field that changes what it refers to",
                    "make a new struct, or write through the reference with `*`",
                )),
            },
            Expr::Path(path) if self.held(path).is_some() => match self.held(path) {
                Some(place) => self.write_parts(&place, val, span),
                None => Ok(()),
            },
            Expr::Path(_) if matches!(self.operand(target)?, Val::Ref(_)) => Err(unsupported(
                span,
                "a variable that refers to one number or struct first, and to another later",
                "let it refer to elements of a list, choose by `if` where it is used, or write through it with `*`",
            )),
            _ => {
                let place = self.place(target)?;
                if let (LValue::Parts(Kind::Struct(_) | Kind::Tuple, _), Val::Scalar(_)) =
                    (&place, &val)
                {
                    return Err(Error::new(span, "a struct or tuple was expected"));
                }
                self.write_parts(&place, val, span)?;
                self.name_assigned(target, &place);
                Ok(())
            }
        }
    }

    /// The variable that holds a reference, if an expression is one.
    pub(super) fn held_pointer(&self, expr: &Expr) -> Option<LValue> {
        let Expr::Path(path) = expr else { return None };
        self.held(path).filter(|lv| matches!(lv, LValue::Pointer(_)))
    }

    /// The variable that holds a reference, or has no shape yet.
    fn held(&self, path: &syn::ExprPath) -> Option<LValue> {
        let name = path.path.get_ident()?.to_string();
        match &self.lookup(&name)?.val {
            Val::Place(lv @ (LValue::Pointer(_) | LValue::Later(_))) => Some(lv.clone()),
            _ => None,
        }
    }

    fn assign_items(&mut self, items: &Items<Expr>, val: &Val, span: Span) -> Result<()> {
        for (index, item) in spread(items, is_rest_expr, part_count(val, items.len()), span)? {
            let part = self.part(val, index, item.span())?;
            self.assign(item, part)?;
        }
        Ok(())
    }

    /// A value assigned to a variable takes its name, for the reader of what is emitted.
    fn name_assigned(&mut self, target: &Expr, place: &LValue) {
        if let (Expr::Path(path), LValue::Var(var)) = (target, place) {
            let value = self.get(*var);
            let known = &mut self.b.function.values[value.index()].name;
            if let (None, Some(name)) = (&known, path.path.get_ident()) {
                *known = Some(name.to_string());
            }
        }
    }
}

/// Items with commas between.
type Items<T> = Punctuated<T, Token![,]>;

/// The items of a pattern with the positions of the parts they take; `..` stands for those
/// that no item takes.
pub(super) fn spread<T>(
    items: &Items<T>,
    is_rest: fn(&T) -> bool,
    count: usize,
    span: Span,
) -> Result<Vec<(usize, &T)>> {
    let rest = items.iter().position(is_rest);
    let named = items.len() - usize::from(rest.is_some());
    if named > count || (rest.is_none() && named != count) {
        return Err(Error::new(span, format!("a pattern for {count} parts was expected")));
    }
    let position = |index: usize| match rest {
        Some(rest) if index > rest => count - (items.len() - index),
        _ => index,
    };
    let taken = items.iter().enumerate().filter(|(_, item)| !is_rest(item));
    Ok(taken.map(|(index, item)| (position(index), item)).collect())
}

pub(super) fn is_rest(pat: &Pat) -> bool {
    matches!(pat, Pat::Rest(_))
}

fn is_rest_expr(expr: &Expr) -> bool {
    matches!(expr, Expr::Range(range) if range.start.is_none() && range.end.is_none())
}

/// The number of parts of a tuple or struct.
pub(super) fn part_count(val: &Val, otherwise: usize) -> usize {
    match val {
        Val::Parts(_, parts) => parts.len(),
        Val::Place(lv) | Val::Ref(lv) => match lv {
            LValue::Parts(_, parts) => parts.len(),
            LValue::Value(val) => part_count(val, otherwise),
            LValue::Either(_, a, _) => part_count(&Val::Place((**a).clone()), otherwise),
            LValue::Memory(Memory { ty: Type::Tuple(items), .. }) => items.len(),
            LValue::Memory(Memory { ty: Type::Struct(def), .. }) => def.fields.len(),
            _ => otherwise,
        },
        _ => otherwise,
    }
}

/// The length of an array that is known here.
fn array_length(lv: &LValue) -> Option<usize> {
    match lv {
        LValue::Memory(Memory { ty: Type::Array(_, Extent::Known(n)), .. }) => Some(*n),
        _ => None,
    }
}
