//! Patterns: names bound to the parts of a value, and places assigned from them.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, Result, Token};

use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Extent, Type};

impl Lowerer<'_> {
    /// Binds the names of a pattern that always fits.
    pub(super) fn bind(&mut self, pat: &Pat, val: Val) -> Result<()> {
        let span = pat.span();
        match pat {
            Pat::Wild(_) => Ok(()),
            Pat::Ident(name) => {
                if let Some((token, _)) = &name.subpat {
                    return Err(unsupported(
                        token.span(),
                        "`@` patterns",
                        "bind the name with `let`",
                    ));
                }
                let val = match name.by_ref {
                    Some(_) => Val::Ref(super::control::lv_of(val)),
                    None => {
                        let val = self.rvalue(val, span)?;
                        self.held(&name.ident.to_string(), val, span)?
                    }
                };
                self.bind_name(&name.ident.to_string(), val, name.mutability.is_some());
                Ok(())
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
            Pat::TupleStruct(tuple) => self.bind_items(&tuple.elems, &val, span),
            Pat::Struct(fields) => self.bind_fields(fields, &val),
            Pat::Slice(slice) => {
                let lv = super::control::lv_of(val);
                let whole = !slice.elems.iter().any(is_rest);
                let count = match &lv {
                    LValue::Memory(Memory { ty: Type::Array(_, Extent::Const(_)), .. })
                        if whole =>
                    {
                        Some(slice.elems.len())
                    }
                    lv => array_length(lv),
                };
                let Some(count) = count else {
                    return Err(unsupported(span, "slice patterns", "take the elements by index"));
                };
                for (position, item) in spread(&slice.elems, is_rest, count, span)? {
                    let index = self.b.usize(position, span);
                    let place = self.element(&lv, index, span)?;
                    self.bind(item, Val::Place(place))?;
                }
                Ok(())
            }
            _ => Err(unsupported(
                span,
                "this pattern",
                "bind names, tuples and structs, and use `match` on integers",
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
        let span = fields.span();
        let (lv, reference) = match val {
            Val::Ref(lv) => (lv.clone(), true),
            Val::Place(lv) => (lv.clone(), false),
            Val::Parts(..) => (LValue::Value(Box::new(val.clone())), false),
            _ => return Err(Error::new(span, "a struct was expected")),
        };
        for field in &fields.fields {
            let place = self.field_named(&lv, &field.member)?;
            let val = if reference { Val::Ref(place) } else { Val::Place(place) };
            self.bind(&field.pat, val)?;
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
            Expr::Path(_) if matches!(self.operand(target)?, Val::Ref(_)) => Err(unsupported(
                span,
                "variables that change what they refer to",
                "write through the reference with `*`, or choose between arrays by an index or by `if`",
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

type Items<T> = Punctuated<T, Token![,]>;

/// The items of a pattern with the positions of the parts they take; `..` stands for those
/// that no item takes.
fn spread<T>(
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

fn is_rest(pat: &Pat) -> bool {
    matches!(pat, Pat::Rest(_))
}

fn is_rest_expr(expr: &Expr) -> bool {
    matches!(expr, Expr::Range(range) if range.start.is_none() && range.end.is_none())
}

/// The number of parts of a tuple or struct.
fn part_count(val: &Val, otherwise: usize) -> usize {
    match val {
        Val::Parts(_, parts) => parts.len(),
        Val::Place(lv) | Val::Ref(lv) => match lv {
            LValue::Parts(_, parts) => parts.len(),
            LValue::Value(val) => part_count(val, otherwise),
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
